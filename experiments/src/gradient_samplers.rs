//! Sets the diffusions beside the best published samplers on the thesis' models, with one rule for all of them.
//!
//! Every chain has the whole budget, starts by the thesis' rule, and is judged by the thesis' MMD to 1000 exact draws; the
//! circle by the distance of its mean from the origin. The spec names the sampler and a starting point, nothing else.
//! What the rule uses is public: the number of records, the tempering, ε and δ, the model's expected information and prior.
//!
//! `--quick` takes few chains and one budget, `--underdamped` the dynamics with momentum instead of `langevin`, `--off-by-two`
//! the second table; names choose models. The whole of a table is kept, chain by chain; `--resume` takes chains that are
//! kept as they are and adds what is missing.

use crate::easy_2d::quartiles;
use crate::replicate::{plan, runs};
use crate::thesis::{BY_MMD, CIRCLE, Case, Setting};
use barkeep::diagnostics::{Points, mmd::mmd};
use barkeep::{Plan, PublicRng};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::Write;

const EPSILONS: [f64; 4] = [1.0, 2.0, 4.0, 6.0];
const CIRCLE_EPSILONS: [f64; 3] = [0.5, 0.75, 1.0];
const SEED: u64 = 2026;
/// Chains of a cell: as many as the thesis has.
const CHAINS: usize = 20;
/// Chains of a quick look.
const QUICK: usize = 4;
/// Chains that show what a constant does a factor of two off.
const OFF: usize = 10;

/// What is a factor of two off, as keys of the sampler.
const OFF_BY_TWO: [(&str, Change); 11] = [
    ("the rule itself", Change::Nothing),
    ("clip halved", Change::Clip(0.5)),
    ("clip doubled", Change::Clip(2.0)),
    ("step halved", Change::Key("step = 0.5")),
    ("step doubled", Change::Key("step = 2.0")),
    ("information halved", Change::Key("fisher_scale = 0.5")),
    ("information doubled", Change::Key("fisher_scale = 2.0")),
    ("burn-in halved", Change::Key("burn_in_time = 5")),
    ("burn-in doubled", Change::Key("burn_in_time = 20")),
    ("longest time halved", Change::Key("time = 1000")),
    ("longest time doubled", Change::Key("time = 4000")),
];

#[derive(Clone, Copy)]
enum Change {
    Nothing,
    Key(&'static str),
    Clip(f64),
}

impl Change {
    /// As keys of the sampler.
    fn keys(self, setting: &Setting) -> Result<String, String> {
        match self {
            Self::Nothing => Ok(String::new()),
            Self::Key(keys) => Ok(keys.to_owned()),
            Self::Clip(factor) => Ok(format!("clip = {:?}", factor * clip(setting)?)),
        }
    }
}

/// The clip the rule takes at ε = 1, as the plan states it.
fn clip(setting: &Setting) -> Result<f64, String> {
    let plan = plan(&setting.spec("name = 'langevin'"), 1.0)?;
    let stated = plan.facts.iter().find(|(name, _)| name.starts_with("clip"));
    let number = stated.and_then(|(_, value)| value.split(' ').next()?.parse().ok());
    number.ok_or_else(|| "the plan states no clip".to_owned())
}

/// Where chains are kept.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/gradient-samplers-chains.csv");
const KEPT_HEADER: &str = "model,sampler,change,epsilon,chain,steps,distance,squared_radius\n";
/// Where the table is kept.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/gradient-samplers.csv");
const TABLE_HEADER: &str =
    "model,sampler,change,epsilon,chains,steps,lower_quartile,median,upper_quartile,published,radius\n";

/// Writes the table that is asked for.
pub(crate) fn write(out: &mut dyn Write, arguments: &[&str]) -> Result<(), String> {
    let has = |option: &str| arguments.contains(&option);
    let named: Vec<&str> = arguments.iter().copied().filter(|argument| !argument.starts_with("--")).collect();
    let chosen = |name: &str| named.is_empty() || named.contains(&name);
    let keep = !has("--quick") && (has("--resume") || named.is_empty());
    let kept = if keep && has("--resume") { read(KEPT)? } else { Vec::new() };
    if keep && kept.is_empty() {
        store(KEPT, KEPT_HEADER)?;
    }
    let mut table = Table { out, kept, keep };
    table.say(
        "model          sampler       epsilon  chains   steps   median [quartiles]          published",
    )?;
    // The largest models first.
    let mut settings: Vec<&Setting> =
        BY_MMD.iter().chain([&CIRCLE]).filter(|setting| chosen(setting.name)).collect();
    settings.sort_by_key(|setting| std::cmp::Reverse(setting.dimension));
    if has("--off-by-two") {
        for setting in settings.iter().filter(|setting| setting.published.is_some()) {
            let case = setting.case(OFF, SEED)?;
            for (name, change) in OFF_BY_TWO {
                let cell = Cell { setting, sampler: "langevin", change: name, epsilon: EPSILONS[0] };
                table.row(&cell, &change.keys(setting)?, &case)?;
            }
        }
        return Ok(());
    }
    let sampler = if has("--underdamped") { "underdamped" } else { "langevin" };
    for setting in settings {
        let epsilons = if setting.published.is_some() { &EPSILONS[..] } else { &CIRCLE_EPSILONS[..] };
        let case = setting.case(if has("--quick") { QUICK } else { CHAINS }, SEED)?;
        for &epsilon in epsilons.iter().filter(|epsilon| !has("--quick") || **epsilon == 1.0) {
            table.row(&Cell { setting, sampler, change: "", epsilon }, "", &case)?;
        }
    }
    Ok(())
}

/// A cell of the table: its chains differ in start and randomness only.
struct Cell<'a> {
    setting: &'a Setting,
    sampler: &'static str,
    change: &'static str,
    epsilon: f64,
}

impl Cell<'_> {
    /// What its rows begin with.
    fn key(&self) -> String {
        format!("{},{},{},{}", self.setting.name, self.sampler, self.change, self.epsilon)
    }

    fn published(&self) -> String {
        let position = EPSILONS.iter().position(|epsilon| *epsilon == self.epsilon);
        let published = self.setting.published.zip(position).map(|(published, k)| published[k]);
        published.map_or_else(String::new, |published| format!("{published:.3}"))
    }
}

/// A chain that was run: the key of its cell and its number; how many steps it had; how far it is from the truth, and the mean
/// of ‖θ‖².
struct Chain {
    key: String,
    number: usize,
    steps: u64,
    distance: f64,
    square: f64,
}

impl Chain {
    fn line(&self) -> String {
        let Self { key, number, steps, distance, square } = self;
        format!("{key},{number},{steps},{distance},{square}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.rsplitn(5, ',');
        let square = fields.next()?.parse().ok()?;
        let distance = fields.next()?.parse().ok()?;
        let steps = fields.next()?.parse().ok()?;
        let number = fields.next()?.parse().ok()?;
        Some(Self { key: fields.next()?.to_owned(), number, steps, distance, square })
    }
}

struct Table<'a> {
    out: &'a mut dyn Write,
    kept: Vec<Chain>,
    keep: bool,
}

impl Table<'_> {
    fn say(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.out, "{line}").and_then(|()| self.out.flush()).map_err(|error| error.to_string())
    }

    /// Runs the chains that are missing and writes quartiles of all their distances.
    fn row(&mut self, cell: &Cell<'_>, keys: &str, case: &Case) -> Result<(), String> {
        let Cell { setting, sampler, change, epsilon } = cell;
        let key = cell.key();
        let known = |number: usize| self.kept.iter().any(|chain| chain.key == key && chain.number == number);
        let missing: Vec<usize> = (0..case.starts.len()).filter(|number| !known(*number)).collect();
        let spec = setting.spec(&format!("name = '{sampler}'\n{keys}"));
        let steps = plan(&spec, *epsilon)?.steps;
        let run = |number: usize| -> Result<Chain, String> {
            // A thread for each chain is worth more than threads within a step.
            let alone =
                rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| error.to_string())?;
            let (distance, square) =
                alone.install(|| judge(setting, case, plan(&spec, *epsilon)?, number))?;
            let chain = Chain { key: key.clone(), number, steps, distance, square };
            if self.keep {
                append(KEPT, &chain.line())?;
            }
            Ok(chain)
        };
        let found: Vec<Chain> = missing.into_par_iter().map(run).collect::<Result<_, String>>()?;
        self.kept.extend(found);
        let chains: Vec<&Chain> = self.kept.iter().filter(|chain| chain.key == key).collect();
        let count = chains.len();
        let [low, median, high] = quartiles(chains.iter().map(|chain| chain.distance).collect());
        let square = chains.iter().map(|chain| chain.square).sum::<f64>() / count as f64;
        let published = cell.published();
        let mut line = format!(
            "{:<14} {sampler:<13} {epsilon:>6}  {count:>6}  {steps:>6}   {median:.4} [{low:.4}, {high:.4}]    {published:<8} {change}",
            setting.name
        );
        let mut radius = String::new();
        if setting.published.is_none() {
            radius = format!("{:.4}", square.sqrt());
            let _ = write!(line, "error of the mean; radius {radius}, exactly {:.4}", case.squares.sqrt());
        }
        self.say(line.trim_end())?;
        if self.keep {
            let row = format!("{key},{count},{steps},{low:.5},{median:.5},{high:.5},{published},{radius}\n");
            let others: Vec<String> =
                lines(TABLE)?.into_iter().filter(|line| !line.starts_with(&format!("{key},"))).collect();
            store(TABLE, &format!("{TABLE_HEADER}{}{row}", others.concat()))?;
        }
        Ok(())
    }
}

/// MMD to exact draws, or distance of the mean from the origin; and the mean of ‖θ‖². The plan's burn-in is left out.
fn judge(setting: &Setting, case: &Case, mut plan: Plan, number: usize) -> Result<(f64, f64), String> {
    let burn_in = usize::try_from(plan.burn_in).unwrap_or(usize::MAX);
    let seed = SEED + number as u64;
    let draws = runs(&mut plan, &case.table, &case.starts[number..=number], seed)?;
    let kept = draws.first().ok_or("no chain")?.pooled(burn_in);
    let count = (kept.len() / setting.dimension) as f64;
    let square = kept.iter().map(|x| x * x).sum::<f64>() / count;
    if setting.published.is_none() {
        let mean = |j: usize| kept.iter().skip(j).step_by(2).sum::<f64>() / count;
        return Ok((mean(0).hypot(mean(1)), square));
    }
    let reference = Points::new(&case.reference, setting.dimension).ok_or("no exact draws")?;
    let kept = Points::new(&kept, setting.dimension).ok_or("a chain without draws")?;
    let distance = mmd(&kept, &reference, &mut PublicRng::new(seed, 2));
    Ok((distance.ok_or("a chain that did not move")?, square))
}

/// The lines of a file after its header; none if there is no file.
fn lines(path: &str) -> Result<Vec<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().skip(1).map(|line| format!("{line}\n")).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

fn read(path: &str) -> Result<Vec<Chain>, String> {
    let parse =
        |line: String| Chain::parse(line.trim_end()).ok_or_else(|| format!("{path}: {line}is no chain"));
    lines(path)?.into_iter().map(parse).collect()
}

fn store(path: &str, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}

fn append(path: &str, line: &str) -> Result<(), String> {
    let file = std::fs::OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| format!("{path}: {error}"))
}
