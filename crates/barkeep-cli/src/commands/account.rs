//! `barkeep account`: the accountant as a calculator, for people without code.

mod compose;
mod figures;
mod question;

use crate::exit::{Exit, print};
use barkeep::accounting::calibration::{self, Edge};
use barkeep::accounting::{Bracket, Contract, Delta, Epsilon, Error, Most, Query, Risk, Steps};
use clap::Args;
use compose::Composed;
use question::{Question, Unknown};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// Give any two of --steps, --epsilon and --delta; the third is computed, with its bracket. Lists (1e-5,1e-6) give a table.
#[derive(Args)]
pub(crate) struct Account {
    #[command(subcommand)]
    mechanism: Question,
    /// How often the mechanism is used; one number, or several separated by commas.
    #[arg(long, global = true, value_delimiter = ',')]
    steps: Vec<u64>,
    /// The bound on the privacy loss; one number, or several.
    #[arg(long, global = true, allow_hyphen_values = true, value_delimiter = ',')]
    epsilon: Vec<f64>,
    /// The probability with which epsilon may be exceeded; one number, or several.
    #[arg(long, global = true, allow_hyphen_values = true, value_delimiter = ',')]
    delta: Vec<f64>,
    /// Solves for a number of the mechanism; give --steps, --epsilon and --delta.
    #[arg(long, global = true)]
    solve: Option<Unknown>,
    /// How many records change together.
    #[arg(long, global = true)]
    group: Option<u64>,
    /// Says what the answer means for one person.
    #[arg(long, global = true)]
    meaning: bool,
    /// Writes delta at every epsilon to a file, .csv or .svg.
    #[arg(long, global = true)]
    curve: Option<PathBuf>,
    /// Writes the trade-off curve, true positives at every false-positive rate, to a file, .csv or .svg.
    #[arg(long, global = true)]
    trade_off: Option<PathBuf>,
    /// Prints JSON: one object, or a list of them for a table.
    #[arg(long, global = true)]
    json: bool,
}

/// All three numbers, given or found, and what was asked for besides.
#[derive(Serialize)]
struct Shown {
    steps: Steps,
    epsilon: Bracket,
    delta: Bracket,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    solved: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<Risk>,
    #[serde(skip)]
    found: Found,
}

/// Which of the three was computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Steps,
    Cost,
}

/// What was given of steps, ε and δ.
type Given = (Option<Steps>, Option<Epsilon>, Option<Delta>);

/// What is asked about: steps of a mechanism, or bills.
enum Subject {
    Mechanism(Box<Question>),
    Bills(Composed),
}

impl Account {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let answers = self.answers()?;
        if self.json {
            return print(&as_json(&answers).to_string());
        }
        match &answers[..] {
            [answer] => self.say(answer),
            many => table(many),
        }
    }

    /// What `--json` prints.
    pub(crate) fn to_json(&self) -> Result<serde_json::Value, Exit> {
        Ok(as_json(&self.answers()?))
    }

    /// Every answer; writes curves where they are asked for.
    fn answers(&self) -> Result<Vec<Shown>, Exit> {
        let subject = match &self.mechanism {
            Question::Compose { files, adaptive } => Subject::Bills(Composed::read(files, *adaptive)?),
            question => Subject::Mechanism(Box::new(question.clone())),
        };
        let mut answers = Vec::new();
        for (steps, epsilon, delta) in self.grid(&subject)? {
            answers.push(self.answer(&subject, steps, epsilon, delta)?);
        }
        if let [answer] = &answers[..]
            && (self.curve.is_some() || self.trade_off.is_some())
        {
            let curve = subject.curve(answer.steps)?;
            self.curve.iter().try_for_each(|path| figures::write_curve(path, &curve))?;
            self.trade_off.iter().try_for_each(|path| figures::write_trade_off(path, &curve))?;
        }
        Ok(answers)
    }

    /// Every combination of what was given.
    fn grid(&self, subject: &Subject) -> Result<Vec<Given>, Exit> {
        let epsilons =
            self.epsilon.iter().map(|epsilon| Epsilon::new(*epsilon)).collect::<Result<Vec<_>, _>>();
        let deltas = self.delta.iter().map(|delta| Delta::new(*delta)).collect::<Result<Vec<_>, _>>();
        let (epsilons, deltas) = (epsilons.map_err(refused)?, deltas.map_err(refused)?);
        // A diffusion time is a whole run unless steps say otherwise, and bills are one.
        let whole = match subject {
            Subject::Bills(_) => true,
            Subject::Mechanism(question) => {
                matches!(**question, Question::Langevin { .. })
                    && (self.solve == Some(Unknown::Clip) || epsilons.is_empty() || deltas.is_empty())
            }
        };
        let steps = match &self.steps[..] {
            [] if whole => vec![1],
            given => given.to_vec(),
        };
        let or_none = |many: usize| many.max(1);
        let mut all = Vec::new();
        for step in 0..or_none(steps.len()) {
            for epsilon in 0..or_none(epsilons.len()) {
                for delta in 0..or_none(deltas.len()) {
                    let steps = steps.get(step).copied().map(Steps);
                    all.push((steps, epsilons.get(epsilon).copied(), deltas.get(delta).copied()));
                }
            }
        }
        if all.len() > 1 && (self.curve.is_some() || self.trade_off.is_some()) {
            return Err(Exit::Input("a curve is drawn for one answer; give no lists with it".to_owned()));
        }
        Ok(all)
    }

    fn answer(
        &self,
        subject: &Subject,
        steps: Option<Steps>,
        epsilon: Option<Epsilon>,
        delta: Option<Delta>,
    ) -> Result<Shown, Exit> {
        let mut shown = match self.solve {
            Some(unknown @ (Unknown::Noise | Unknown::Clip | Unknown::Rate)) => {
                solved(subject, unknown, steps, epsilon, delta)?
            }
            Some(Unknown::Steps) | None => self.third(subject, steps, epsilon, delta)?,
        };
        if self.meaning && shown.solved.is_none() {
            shown.meaning = Some(subject.risk(shown.steps, shown.delta.upper)?);
        }
        Ok(shown)
    }

    /// The third of steps, ε and δ from the other two.
    fn third(
        &self,
        subject: &Subject,
        steps: Option<Steps>,
        epsilon: Option<Epsilon>,
        delta: Option<Delta>,
    ) -> Result<Shown, Exit> {
        let shown = |steps, epsilon, delta, method, found| Shown {
            steps,
            epsilon,
            delta,
            method,
            solved: None,
            meaning: None,
            found,
        };
        match (steps, epsilon, delta) {
            (Some(steps), None, Some(delta)) => {
                let (bracket, method) = match self.group {
                    None => subject.epsilon(steps, delta)?,
                    Some(size) => {
                        let found = subject.curve(steps)?.group_epsilon(size, delta).map_err(refused)?;
                        (Bracket::at_most(found.get()), GROUP)
                    }
                };
                Ok(shown(steps, bracket, Bracket::exact(delta.get()), method, Found::Cost))
            }
            (Some(steps), Some(epsilon), None) => {
                let (bracket, method) = match self.group {
                    None => subject.delta(steps, epsilon)?,
                    Some(size) => {
                        let found = subject.curve(steps)?.group_delta(size, epsilon).map_err(refused)?;
                        (Bracket::at_most(found), GROUP)
                    }
                };
                Ok(shown(steps, Bracket::exact(epsilon.get()), bracket, method, Found::Cost))
            }
            (None, Some(epsilon), Some(delta)) => {
                if self.group.is_some() {
                    return Err(Exit::Input(
                        "give --steps with --group: a group's price is computed, not bought".to_owned(),
                    ));
                }
                let Most { steps, method, .. } = subject.query()?.most(epsilon, delta).map_err(refused)?;
                let (epsilon, delta) = (Bracket::exact(epsilon.get()), Bracket::exact(delta.get()));
                Ok(shown(steps, epsilon, delta, method, Found::Steps))
            }
            (Some(_), Some(_), Some(_)) => Err(Exit::Input(
                "--steps, --epsilon and --delta are all given; leave one out to be computed".to_owned(),
            )),
            _ => Err(Exit::Input("give two of --steps, --epsilon and --delta".to_owned())),
        }
    }

    /// One answer, for a person.
    fn say(&self, answer: &Shown) -> Result<(), Exit> {
        if let Some(solved) = answer.solved {
            let name = match self.solve {
                Some(Unknown::Noise) | None => "noise",
                Some(Unknown::Clip) => "clip",
                Some(Unknown::Rate) => "rate",
                Some(Unknown::Steps) => "steps",
            };
            print(&format!("{name:<8} {}", number(solved)))?;
        }
        print(&format!("{:<8} {}", "steps", answer.steps.0))?;
        print(&format!("{:<8} {}", "epsilon", shown(answer.epsilon)))?;
        print(&format!("{:<8} {}", "delta", shown(answer.delta)))?;
        print(&format!("{:<8} {}", "method", answer.method))?;
        print(&match (answer.found, self.group) {
            (Found::Steps, _) => {
                format!("The budget pays for {} steps. More are not shown to stay within it.", answer.steps.0)
            }
            (Found::Cost, None) => {
                "After these steps, changing one record changes the probability of any outcome by at most a \
                 factor e^epsilon, up to delta."
                    .to_owned()
            }
            (Found::Cost, Some(size)) => format!(
                "After these steps, changing {size} records changes the probability of any outcome by at most a \
                 factor e^epsilon, up to delta."
            ),
        })?;
        answer.meaning.iter().flat_map(Risk::words).try_for_each(|sentence| print(&sentence))
    }
}

/// The least δ for which decisions are composed to say what they mean.
const SMALLEST_DELTA: f64 = 1e-100;

const GROUP: &str = "the exact curve, chained over the group";

impl Subject {
    fn query(&self) -> Result<Query, Exit> {
        match self {
            Self::Mechanism(question) => question.query().map_err(refused),
            Self::Bills(_) => {
                Err(Exit::Input("bills have their steps; give one of --epsilon and --delta".to_owned()))
            }
        }
    }

    fn contract(&self, steps: Steps) -> Result<Contract, Exit> {
        self.query()?.after(&[], steps).map_err(refused)
    }

    fn epsilon(&self, steps: Steps, delta: Delta) -> Result<(Bracket, &'static str), Exit> {
        match self {
            Self::Mechanism(_) => {
                let answer = self.query()?.epsilon(steps, delta).map_err(refused)?;
                Ok((answer.bracket, answer.method))
            }
            Self::Bills(bills) => bills.epsilon(delta).map_err(refused),
        }
    }

    fn delta(&self, steps: Steps, epsilon: Epsilon) -> Result<(Bracket, &'static str), Exit> {
        match self {
            Self::Mechanism(_) => {
                let answer = self.query()?.delta(steps, epsilon).map_err(refused)?;
                Ok((answer.bracket, answer.method))
            }
            Self::Bills(bills) => bills.delta(epsilon).map_err(refused),
        }
    }

    fn curve(&self, steps: Steps) -> Result<barkeep::accounting::PrivacyCurve, Exit> {
        match self {
            Self::Mechanism(_) => self.contract(steps)?.curve().map_err(refused),
            Self::Bills(bills) => bills.curve().map_err(refused),
        }
    }
}

impl Subject {
    /// What it means for one person, composed for about this δ.
    fn risk(&self, steps: Steps, delta: f64) -> Result<Risk, Exit> {
        let delta = Delta::new(delta.clamp(SMALLEST_DELTA, 0.5)).map_err(refused)?;
        match self {
            Self::Mechanism(_) => self.contract(steps)?.risk(delta).map_err(refused),
            Self::Bills(bills) => bills.risk(delta).map_err(refused),
        }
    }
}

/// The least noise, or the largest clip or rate, with which the steps fit the budget.
fn solved(
    subject: &Subject,
    unknown: Unknown,
    steps: Option<Steps>,
    epsilon: Option<Epsilon>,
    delta: Option<Delta>,
) -> Result<Shown, Exit> {
    let (Some(steps), Some(epsilon), Some(delta)) = (steps, epsilon, delta) else {
        return Err(Exit::Input(
            "--solve noise, clip or rate needs --steps, --epsilon and --delta".to_owned(),
        ));
    };
    let with = |value: f64| match subject {
        Subject::Mechanism(question) => question.with(unknown, value),
        Subject::Bills(_) => None,
    };
    if with(1.0).is_none() {
        return Err(Exit::Input("this mechanism has nothing of that kind to solve for".to_owned()));
    }
    let (edge, range) = match unknown {
        Unknown::Noise => (Edge::Least, (1e-3, 1e12)),
        Unknown::Clip => (Edge::Largest, (1e-12, 1e9)),
        Unknown::Rate | Unknown::Steps => (Edge::Largest, (1e-9, 1.0)),
    };
    let fits = |value: f64| match with(value) {
        Some(question) => question.query()?.fits(steps, epsilon, delta),
        None => Ok(false),
    };
    let found = calibration::edge(edge, range, fits).map_err(refused)?.ok_or_else(|| {
        Exit::Input("no value within reach meets this budget; lower --steps or raise the budget".to_owned())
    })?;
    let question = with(found).ok_or_else(|| Exit::Input("there is nothing to solve for".to_owned()))?;
    let answer = question.query().and_then(|query| query.epsilon(steps, delta)).map_err(refused)?;
    Ok(Shown {
        steps,
        epsilon: answer.bracket,
        delta: Bracket::exact(delta.get()),
        method: answer.method,
        solved: Some(found),
        meaning: None,
        found: Found::Cost,
    })
}

/// One object, or a list of them for a table.
fn as_json(answers: &[Shown]) -> serde_json::Value {
    match answers {
        [answer] => json!(answer),
        many => json!(many),
    }
}

/// Several answers, for a person.
fn table(answers: &[Shown]) -> Result<(), Exit> {
    let width = |cells: &dyn Fn(&Shown) -> String| answers.iter().map(|answer| cells(answer).len()).max();
    let steps = |answer: &Shown| answer.steps.0.to_string();
    let epsilon = |answer: &Shown| number(answer.epsilon.upper);
    let delta = |answer: &Shown| number(answer.delta.upper);
    let (first, second, third) =
        (width(&steps).unwrap_or(0).max(5), width(&epsilon).unwrap_or(0), width(&delta).unwrap_or(0));
    print(&format!("{:>first$}  {:>second$}  {:>third$}", "steps", "epsilon", "delta"))?;
    answers.iter().try_for_each(|answer| {
        let (steps, epsilon, delta) = (steps(answer), epsilon(answer), delta(answer));
        let solved = answer.solved.map_or_else(String::new, |solved| format!("  {}", number(solved)));
        print(&format!("{steps:>first$}  {epsilon:>second$}  {delta:>third$}{solved}"))
    })
}

fn shown(bracket: Bracket) -> String {
    match bracket.lower {
        Some(lower) if lower == bracket.upper => number(lower),
        Some(lower) => format!("{} (at least {})", number(bracket.upper), number(lower)),
        None => format!("{} (an upper bound)", number(bracket.upper)),
    }
}

fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        format!("{value:.9e}")
    } else {
        format!("{value:.10}")
    }
}

fn refused(error: Error) -> Exit {
    Exit::Input(error.to_string())
}
