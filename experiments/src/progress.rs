//! Shows how far an experiment has come, and stops it when asked.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a run reports about itself, and whether it may go on.
pub(crate) trait Watch: Sync {
    /// Takes a line about what happens.
    fn say(&self, line: &str);

    /// An experiment with this many cells to compute begins.
    fn begin(&self, experiment: &str, cells: usize);

    /// A cell was computed; `line` describes it.
    fn cell(&self, key: &str, line: &str);

    /// Whether to stop before the next cell.
    fn stop(&self) -> bool;
}

/// A bar on a terminal; lines where the standard error is none.
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Watches for Ctrl-C: the first one stops before the next cell, a second one ends the program. Known cells stay known.
    ///
    /// # Errors
    /// Ctrl-C cannot be watched.
    pub(crate) fn new() -> Result<Self, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos} of {len} cells, {eta} left, {msg}")
            .map_err(|_| "the progress bar's template is faulty".to_owned())?;
        bar.set_style(style);
        let shown = bar.clone();
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            shown.suspend(|| say("stopping when this cell is done; Ctrl-C again to stop now"));
        })
        .map_err(|_| "cannot watch for Ctrl-C".to_owned())?;
        Ok(Self { bar, stop })
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn say(&self, line: &str) {
        self.bar.suspend(|| say(line));
    }

    fn begin(&self, experiment: &str, cells: usize) {
        self.bar.reset();
        self.bar.set_length(cells as u64);
        self.bar.set_prefix(experiment.to_owned());
        self.bar.set_message("");
    }

    fn cell(&self, key: &str, line: &str) {
        if self.bar.is_hidden() {
            say(line);
        } else {
            self.bar.set_message(key.to_owned());
            self.bar.inc(1);
        }
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Writes a line for people. A closed standard error is no reason to fail.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
