//! Sets the diffusions beside the best published samplers on the thesis' models, with one rule for all of them.
//!
//! Every chain has the whole budget, starts by the thesis' rule, and is judged by the thesis' MMD to 1000 exact draws; the
//! circle by the distance of its mean from the origin. The spec names the sampler and a starting point, nothing else.
//! What the rule uses is public: the number of records, the tempering, ε and δ, the model's expected information and prior.

use crate::easy_2d::quartiles;
use crate::replicate::{plan, runs};
use crate::thesis::{BY_MMD, CIRCLE, Case, Setting};
use barkeep::diagnostics::{Points, mmd::mmd};
use barkeep::{Plan, PublicRng};
use std::fmt::Write as _;
use std::io::Write;

const SAMPLERS: [&str; 2] = ["langevin", "underdamped"];
const EPSILONS: [f64; 4] = [1.0, 2.0, 4.0, 6.0];
const CIRCLE_EPSILONS: [f64; 3] = [0.5, 0.75, 1.0];
const SEED: u64 = 2026;

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

const CSV_HEADER: &str =
    "model,sampler,change,epsilon,steps,lower_quartile,median,upper_quartile,published\n";

/// Where the table is kept.
const CSV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/gradient-samplers.csv");

/// What is asked for: `--quick` takes few chains and one budget, `--off-by-two` the second table; names choose models.
/// The whole of the first table is kept as CSV.
pub(crate) fn write(out: &mut dyn Write, arguments: &[&str]) -> Result<(), String> {
    let has = |option: &str| arguments.contains(&option);
    let named: Vec<&str> = arguments.iter().copied().filter(|argument| !argument.starts_with("--")).collect();
    let chosen = |name: &str| named.is_empty() || named.contains(&name);
    let (chains, epsilons) = if has("--quick") { (4, &EPSILONS[..1]) } else { (20, &EPSILONS[..]) };
    let mut table = Table { out, csv: CSV_HEADER.to_owned(), chains };
    table.say("model          sampler       epsilon   steps   MMD: median [quartiles]     published")?;
    for setting in BY_MMD.iter().filter(|setting| chosen(setting.name)) {
        let case = setting.case(chains, SEED)?;
        if has("--off-by-two") {
            table.off_by_two(setting, &case)?;
            continue;
        }
        for sampler in SAMPLERS {
            for (k, &epsilon) in epsilons.iter().enumerate() {
                let published = setting.published.map(|published| published[k]);
                table.row(setting, &case, (sampler, "", ""), epsilon, published)?;
            }
        }
    }
    if chosen(CIRCLE.name) && !has("--off-by-two") {
        table.circle(has("--quick"))?;
    }
    if arguments.is_empty() {
        std::fs::write(CSV, &table.csv).map_err(|error| format!("{CSV}: {error}"))?;
    }
    Ok(())
}

/// The clip the rule takes at ε = 1, as the plan states it.
fn clip(setting: &Setting) -> Result<f64, String> {
    let plan = plan(&setting.spec("name = 'langevin'"), 1.0)?;
    let stated = plan.facts.iter().find(|(name, _)| name.starts_with("clip"));
    let number = stated.and_then(|(_, value)| value.split(' ').next()?.parse().ok());
    number.ok_or_else(|| "the plan states no clip".to_owned())
}

struct Table<'a> {
    out: &'a mut dyn Write,
    csv: String,
    chains: usize,
}

impl Table<'_> {
    fn say(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.out, "{line}").and_then(|()| self.out.flush()).map_err(|error| error.to_string())
    }

    /// Runs the chains and writes quartiles of their distances.
    fn row(
        &mut self,
        setting: &Setting,
        case: &Case,
        (sampler, keys, change): (&str, &str, &str),
        epsilon: f64,
        published: Option<f64>,
    ) -> Result<(), String> {
        let mut plan = plan(&setting.spec(&format!("name = '{sampler}'\n{keys}")), epsilon)?;
        let found = distances(setting, case, &mut plan)?;
        self.show((setting.name, sampler, change), epsilon, &plan, found, published)
    }

    fn show(
        &mut self,
        (name, sampler, change): (&str, &str, &str),
        epsilon: f64,
        plan: &Plan,
        found: Vec<f64>,
        published: Option<f64>,
    ) -> Result<(), String> {
        let [low, median, high] = quartiles(found);
        let published = published.map_or_else(String::new, |published| format!("{published:.3}"));
        self.say(&format!(
            "{name:<14} {sampler:<13} {epsilon:>6}  {:>6}   {median:.4} [{low:.4}, {high:.4}]    {published:<8} {change}",
            plan.steps
        ))?;
        let steps = plan.steps;
        // Writing to a string does not fail.
        let _ = writeln!(
            self.csv,
            "{name},{sampler},{change},{epsilon},{steps},{low},{median},{high},{published}"
        );
        Ok(())
    }

    /// The first budget again, with each constant a factor of two off.
    fn off_by_two(&mut self, setting: &Setting, case: &Case) -> Result<(), String> {
        for (name, change) in OFF_BY_TWO {
            let keys = match change {
                Change::Nothing => String::new(),
                Change::Key(keys) => keys.to_owned(),
                Change::Clip(factor) => format!("clip = {:?}", factor * clip(setting)?),
            };
            let published = setting.published.map(|published| published[0]);
            self.row(setting, case, ("langevin", &keys, name), EPSILONS[0], published)?;
        }
        Ok(())
    }

    /// The circle: distance of the mean from the origin, and the radius.
    fn circle(&mut self, quick: bool) -> Result<(), String> {
        self.say("\ncircle         sampler       epsilon   steps   error of the mean: median [quartiles]")?;
        let case = CIRCLE.case(self.chains, SEED)?;
        let radius = case.squares.sqrt();
        for sampler in SAMPLERS {
            for epsilon in CIRCLE_EPSILONS.into_iter().skip(if quick { 2 } else { 0 }) {
                let mut plan = plan(&CIRCLE.spec(&format!("name = '{sampler}'")), epsilon)?;
                let burn_in = usize::try_from(plan.burn_in).unwrap_or(usize::MAX);
                let draws = runs(&mut plan, &case.table, &case.starts, SEED)?;
                let (mut errors, mut squares) = (Vec::new(), 0.0);
                for draws in &draws {
                    let kept = draws.pooled(burn_in);
                    let count = (kept.len() / 2) as f64;
                    let mean = |j: usize| kept.iter().skip(j).step_by(2).sum::<f64>() / count;
                    errors.push(mean(0).hypot(mean(1)));
                    squares += kept.iter().map(|x| x * x).sum::<f64>() / count / self.chains as f64;
                }
                self.show(("circle", sampler, ""), epsilon, &plan, errors, None)?;
                self.say(&format!(
                    "               root mean squared radius {:.3}, exactly {radius:.3}",
                    squares.sqrt()
                ))?;
            }
        }
        Ok(())
    }
}

/// MMD of each chain, the plan's burn-in left out.
fn distances(setting: &Setting, case: &Case, plan: &mut Plan) -> Result<Vec<f64>, String> {
    let reference = Points::new(&case.reference, setting.dimension).ok_or("no exact draws")?;
    let burn_in = usize::try_from(plan.burn_in).unwrap_or(usize::MAX);
    let mut rng = PublicRng::new(SEED, 2);
    runs(plan, &case.table, &case.starts, SEED)?
        .iter()
        .map(|draws| {
            let kept = draws.pooled(burn_in);
            let kept = Points::new(&kept, setting.dimension).ok_or("a chain without draws")?;
            mmd(&kept, &reference, &mut rng).ok_or_else(|| "a chain that did not move".to_owned())
        })
        .collect()
}
