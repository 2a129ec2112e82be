//! Runs a plan over a table and says how far its posterior is from the one without privacy.

use super::laplace::Posterior;
use crate::experiment::{Cells, Values, values};
use crate::published::quartiles;
use barkeep::Plan;
use barkeep::curator::insecure::SharedTable;
use barkeep::diagnostics::Grade;
use barkeep::insecure::Insecure;
use std::time::Instant;

/// How one run did.
pub(crate) struct Score {
    /// Root mean square over parameters of the mean's error, in standard deviations without privacy.
    pub(crate) rms: f64,
    /// The same in reported standard deviations.
    pub(crate) own: f64,
    /// The share of 89 % intervals that hold the mean without privacy.
    pub(crate) cover: f64,
    /// The share of 95 % intervals that hold the true value; not a number where nobody knows it.
    pub(crate) truth: f64,
    /// The median over parameters of reported standard deviation over the one without privacy.
    pub(crate) width: f64,
    /// 0 trustworthy, 1 wide, 2 not to be trusted.
    pub(crate) grade: f64,
    /// Seconds of the run.
    pub(crate) seconds: f64,
    /// For each parameter the share of draws below its true value.
    pub(crate) ranks: Vec<f64>,
}

/// Runs a plan with seeded answers and scores it.
///
/// # Errors
/// A run that fails.
pub(crate) fn score(
    plan: &Plan,
    table: &SharedTable,
    posterior: &Posterior,
    truth: Option<&[f64]>,
    seed: u64,
) -> Result<Score, String> {
    let began = Instant::now();
    let start = vec![0.0; posterior.mean.len()];
    let plan = plan.replicate(&start, seed).map_err(|error| error.to_string())?;
    let run = plan.runner().run_shared(table, Insecure::seed(seed)).map_err(|error| error.to_string())?;
    let summary = run.summary();
    let seconds = began.elapsed().as_secs_f64();
    let d = posterior.mean.len();
    let lost = || "a run without draws".to_owned();
    let (mut square, mut own, mut cover, mut widths) = (0.0, 0.0, 0.0, Vec::new());
    for (j, parameter) in summary.parameters.iter().take(d).enumerate() {
        let mean = parameter.mean.ok_or_else(lost)?;
        let sd = parameter.sd.ok_or_else(lost)?;
        let [low, high] = parameter.interval_89.ok_or_else(lost)?;
        let off = mean - posterior.mean[j];
        square += (off / posterior.sd[j]).powi(2) / d as f64;
        own += (off / sd).powi(2) / d as f64;
        cover += f64::from(u8::from(low <= posterior.mean[j] && posterior.mean[j] <= high)) / d as f64;
        widths.push((high - low) / (2.0 * 1.598_193 * posterior.sd[j]));
    }
    let ranks: Vec<f64> = truth.map_or_else(Vec::new, |truth| {
        let below = |(j, x): (usize, &f64)| {
            let draws: Vec<f64> =
                run.draws.chains().iter().flat_map(|chain| chain.series(j, run.draws.warmup())).collect();
            draws.iter().filter(|draw| *draw < x).count() as f64 / draws.len().max(1) as f64
        };
        truth.iter().enumerate().map(below).collect()
    });
    let held = ranks.iter().filter(|rank| (0.025..=0.975).contains(*rank)).count() as f64;
    Ok(Score {
        rms: square.sqrt(),
        own: own.sqrt(),
        cover,
        truth: held / ranks.len() as f64,
        width: quartiles(&widths).ok_or_else(lost)?[1],
        grade: match summary.verdict.grade {
            Grade::Trustworthy => 0.0,
            Grade::Wide => 1.0,
            Grade::NotToBeTrusted => 2.0,
        },
        seconds,
        ranks,
    })
}

/// The numbers of a cell of runs.
pub(crate) fn kept(scores: &[Score]) -> Values {
    let of = |number: fn(&Score) -> f64| scores.iter().map(number).collect();
    values([
        ("rms", of(|score| score.rms)),
        ("own", of(|score| score.own)),
        ("cover", of(|score| score.cover)),
        ("truth", of(|score| score.truth)),
        ("width", of(|score| score.width)),
        ("grade", of(|score| score.grade)),
        ("seconds", of(|score| score.seconds)),
        ("ranks", scores.iter().flat_map(|score| score.ranks.clone()).collect()),
    ])
}

/// Runs of several cells together.
#[derive(Default)]
pub(crate) struct Pooled {
    rms: Vec<f64>,
    own: Vec<f64>,
    cover: Vec<f64>,
    truth: Vec<f64>,
    width: Vec<f64>,
    grade: Vec<f64>,
    seconds: Vec<f64>,
    pub(crate) ranks: Vec<f64>,
}

/// What a plan expects of the error.
pub(crate) fn promised(plan: &Plan) -> f64 {
    plan.expected().map_or(f64::NAN, |expected| expected.error)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn median(numbers: &[f64]) -> f64 {
    quartiles(numbers).map_or(f64::NAN, |[_, median, _]| median)
}

impl Pooled {
    /// Takes in the cells of these keys.
    pub(crate) fn of(cells: &Cells, keys: impl Iterator<Item = String>) -> Self {
        let mut all = Self::default();
        for key in keys {
            let named: [(&str, &mut Vec<f64>); 8] = [
                ("rms", &mut all.rms),
                ("own", &mut all.own),
                ("cover", &mut all.cover),
                ("truth", &mut all.truth),
                ("width", &mut all.width),
                ("grade", &mut all.grade),
                ("seconds", &mut all.seconds),
                ("ranks", &mut all.ranks),
            ];
            for (name, numbers) in named {
                numbers.extend_from_slice(cells.numbers(&key, name).unwrap_or_default());
            }
        }
        all
    }

    /// Takes in the runs of another pool.
    pub(crate) fn add(&mut self, other: &Self) {
        self.own.extend_from_slice(&other.own);
        self.grade.extend_from_slice(&other.grade);
    }

    pub(crate) fn len(&self) -> usize {
        self.rms.len()
    }

    /// The median run's error.
    pub(crate) fn run(&self) -> f64 {
        median(&self.rms)
    }

    /// The root mean square over all runs: far above [`Pooled::run`] where single runs drift.
    pub(crate) fn rms(&self) -> f64 {
        mean(&self.rms.iter().map(|rms| rms * rms).collect::<Vec<_>>()).sqrt()
    }

    pub(crate) fn cover(&self) -> f64 {
        mean(&self.cover)
    }

    pub(crate) fn truth(&self) -> f64 {
        mean(&self.truth)
    }

    pub(crate) fn width(&self) -> f64 {
        median(&self.width)
    }

    /// Error over what a plan, made now, expects of it.
    pub(crate) fn promise(&self, plan: &Plan) -> f64 {
        self.rms() / promised(plan)
    }

    pub(crate) fn seconds(&self) -> f64 {
        median(&self.seconds)
    }

    /// Shares of the three grades, in words.
    pub(crate) fn grades(&self) -> String {
        let share =
            |grade: f64| self.grade.iter().filter(|g| **g == grade).count() as f64 / self.len().max(1) as f64;
        format!("{:.0}/{:.0}/{:.0} %", 100.0 * share(0.0), 100.0 * share(1.0), 100.0 * share(2.0))
    }

    /// How verdicts match errors: of runs that are off by more than 3 reported standard deviations the share that is not called
    /// trustworthy, of runs below 1.5 the share that is called not to be trusted, each with its number of runs.
    pub(crate) fn verdicts(&self) -> String {
        let runs = || self.own.iter().zip(&self.grade);
        let share = |wrong: &dyn Fn(f64) -> bool, named: &dyn Fn(f64) -> bool| {
            let of = runs().filter(|(own, _)| wrong(**own)).count();
            let those = runs().filter(|(own, grade)| wrong(**own) && named(**grade)).count();
            (if of == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * those as f64 / of as f64) }, of)
        };
        let (warned, bad) = share(&|own| own > 3.0, &|grade| grade > 0.0);
        let (scared, good) = share(&|own| own < 1.5, &|grade| grade > 1.0);
        format!(
            "Of {bad} runs off by more than 3 reported standard deviations {warned} are not called trustworthy (aim: at \
             least 60 %); of {good} runs off by less than 1.5, {scared} are called not to be trusted (aim: at most 5 %)."
        )
    }
}
