//! Answers questions from standard input, one JSON object a line, and says how long each took: for comparisons.
//!
//! `{"step": CONTRACT, "steps": 1000, "delta": 1e-6}` asks for ε; with `epsilon` in the place of one of the others, for that.
//! `{"step": CONTRACT, "risk": true}` asks what the step means for one person, composed for `delta`, or 1e-6. CONTRACT is what [`Contract`] reads: a list of pairs of a cost and how often it is paid within one step.

use std::io::{BufRead, Write};
use std::time::Instant;

use barkeep_accounting::{Contract, Delta, Epsilon, Error, Query, Steps};
use serde::Deserialize;
use serde_json::{Value, json};

/// Seconds for which a question is asked again and again.
const REPEATED: f64 = 0.1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    step: Contract,
    steps: Option<u64>,
    epsilon: Option<f64>,
    delta: Option<f64>,
    #[serde(default)]
    risk: bool,
}

impl Question {
    fn answer(&self) -> Result<Value, Error> {
        if self.risk {
            return Ok(json!({ "risk": self.step.risk(Delta::new(self.delta.unwrap_or(1e-6))?)? }));
        }
        let query = Query::new(self.step.parts().to_vec())?;
        let epsilon = self.epsilon.map(Epsilon::new).transpose()?;
        let delta = self.delta.map(Delta::new).transpose()?;
        let answer = match (self.steps.map(Steps), epsilon, delta) {
            (Some(steps), None, Some(delta)) => query.epsilon(steps, delta)?,
            (Some(steps), Some(epsilon), None) => query.delta(steps, epsilon)?,
            (None, Some(epsilon), Some(delta)) => {
                let most = query.most(epsilon, delta)?;
                return Ok(json!({ "steps": most.steps, "method": most.method }));
            }
            _ => return Ok(json!({ "error": "give two of steps, epsilon and delta" })),
        };
        Ok(json!({ "lower": answer.bracket.lower, "upper": answer.bracket.upper, "method": answer.method }))
    }
}

/// Seconds this thread has run, where Linux counts them, else seconds that have passed since `begin`.
fn clock(begin: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    ran.map_or_else(|| begin.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}

/// The answer and its mean time over several runs: the clock ticks in milliseconds.
fn timed(question: &Question) -> (Result<Value, Error>, f64) {
    let begin = Instant::now();
    let (start, mut runs) = (clock(begin), 0.0);
    loop {
        let answer = question.answer();
        runs += 1.0;
        let passed = clock(begin) - start;
        if passed > REPEATED {
            return (answer, passed / runs);
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        let (answer, seconds) = timed(&question);
        let mut answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        answer["seconds"] = json!(seconds);
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
