//! Shows a run's progress and stops it when asked: everything shown is public.

use crate::exit::Exit;
use barkeep::accounting::{Epsilon, Steps};
use barkeep::data::Records;
use barkeep::{Outcome, Plan, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A bar with steps, the ε they cost so far and their acceptance.
pub(crate) struct Progress {
    bar: ProgressBar,
    accepted: AtomicU64,
    /// Pairs of a number of steps, of all chains together, and the ε they cost; in increasing order, as far as known.
    spent: Arc<Mutex<Vec<(Steps, Epsilon)>>>,
    /// ε of the whole plan; none for a baseline.
    whole: Option<Epsilon>,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// A bar for a plan; hidden where the standard error is not a terminal. The first Ctrl-C stops the run
    /// before its next step, a second one ends the program.
    pub(crate) fn new(plan: &Plan) -> Result<Self, Exit> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .map_err(|_| Exit::Input("cannot watch for Ctrl-C".to_owned()))?;
        let total = plan.steps().0 * plan.chains();
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
        let style =
            ProgressStyle::with_template("{bar:30} {human_pos} of {human_len} steps, {msg}, {eta} left")
                .map_err(|_| Exit::Input("the progress bar's template is faulty".to_owned()))?;
        bar.set_style(style);
        let spent = Arc::new(Mutex::new(Vec::new()));
        if !bar.is_hidden() {
            // Accounting for a part of the decisions can take longer than making them all: the run does not wait for it.
            let (known, spending) = (Arc::clone(&spent), plan.spending());
            std::thread::spawn(move || {
                for part in spending {
                    known.lock().unwrap_or_else(PoisonError::into_inner).push(part);
                }
            });
        }
        let whole = plan.epsilon();
        Ok(Self { bar, accepted: AtomicU64::new(0), spent, whole, stop })
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether a person asked for the end.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Watch for Progress {
    fn read(&self, records: Records) {
        self.bar.set_message(format!("reading, {records} records"));
    }

    fn step(&self, _chain: usize, outcome: Outcome) {
        let accepted = self.accepted.fetch_add(u64::from(outcome == Outcome::Accepted), Ordering::Relaxed);
        self.bar.inc(1);
        let steps = self.bar.position();
        // A message is text to build: not at every step.
        if !steps.is_multiple_of(16) {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a percentage for the eye")]
        let rate = 100.0 * accepted as f64 / steps.max(1) as f64;
        let known = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = known.iter().find(|(until, _)| steps <= until.0).map(|(_, epsilon)| *epsilon);
        drop(known);
        self.bar.set_message(match spent.or(self.whole) {
            Some(epsilon) => format!("epsilon at most {:.3}, accepted {rate:.0} %", epsilon.get()),
            None => format!("NOT PRIVATE, accepted {rate:.0} %"),
        });
    }

    fn stop(&self) -> bool {
        self.stopped()
    }
}
