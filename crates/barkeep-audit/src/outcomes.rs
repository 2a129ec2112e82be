//! Plays whole runs on files and attacks all they leave but the draws: which files, how long, what messages, what end.
//!
//! Nothing here is paid for, so nothing may differ: what is certified is ε = 0. A count of rows or a message that follows a record
//! would show at once, in every trial. A score is a number made from all of it, the same for the same
//! outcome; where the two worlds' outcomes differ, some threshold tells them apart.

use crate::evidence::{Claim, Effort, attack};
use crate::game::{Game, Source, World};
use crate::watched::{Place, Watched};
use crate::{Options, Row};
use barkeep::{Error, Folder, Plan, Spec};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Runs in each world, where none are asked for: files take a millisecond or so each.
const RUNS: u64 = 1000;

/// Twenty persons; the first says nothing readable and has forty rows in one world, and two ordinary rows in the other.
const SPEC: &str = "[data]\npath = 'RECORDS'\nperson = 'who'\npersons = 20\nmost_rows = 50\n[data.columns]\n\
    x = { min = -1, max = 1, invalid = 0 }\n[model]\nname = 'gaussian'\ncovariance = 1\n[privacy]\nepsilon = 1\n\
    delta = 1e-3\n[sampler]\nname = 'barker'\nproposal_sd = 0.02\nclip = 1\nstart = [0]\nsteps = 3\n";

/// The game, and the folder it plays in.
struct Outcomes {
    folder: PathBuf,
    plans: [Plan; 2],
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        // Failing to tidy up changes nothing that was found.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Outcomes {
    fn new(source: Source) -> Result<Self, Error> {
        let folder = std::env::temp_dir().join(format!(
            "barkeep-audit-{}-{}",
            std::process::id(),
            source.public_seed()
        ));
        let refuse = |error: std::io::Error| Error::Read {
            path: folder.display().to_string(),
            reason: error.kind().to_string(),
        };
        std::fs::create_dir_all(&folder).map_err(refuse)?;
        let plan = |world: World| {
            let path = folder.join(format!("records-{}.csv", world.index()));
            std::fs::write(&path, records(world)).map_err(refuse)?;
            Plan::new(Spec::parse(&SPEC.replace("RECORDS", &path.display().to_string()), Path::new(""))?)
        };
        let plans = [plan(World::First)?, plan(World::Second)?];
        Ok(Self { folder, plans })
    }

    /// What one run leaves, in words.
    fn outcome(&self, world: World, trial: u64) -> String {
        let out = self.folder.join(format!("out-{}-{trial}", world.index()));
        let plan = &self.plans[world.index()];
        let ended = Folder::claim(&out).and_then(|folder| folder.run(plan.runner()));
        let mut left = match ended {
            Ok(run) => format!("{:?} {}", run.steps_used, run.interrupted),
            Err(error) => error.to_string(),
        };
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&out).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_default();
            // Numbers computed from draws have as many digits as they have.
            let lines = text.iter().filter(|byte| **byte == b'\n').count();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let lines = if name.ends_with(".csv") { lines } else { 0 };
            let _ = write!(left, "; {name} {lines}");
        }
        let _ = std::fs::remove_dir_all(&out);
        left.replace(&format!("records-{}", world.index()), "records")
            .replace(&out.display().to_string(), "out")
    }
}

/// The records of a world.
fn records(world: World) -> String {
    let mut text = "who,x\n".to_owned();
    let own: &[&str] = match world {
        World::First => &["what", "", "NaN", "1e999"],
        World::Second => &["0.5", "0.25"],
    };
    let times = if world == World::First { 10 } else { 1 };
    (0..times).flat_map(|_| own).for_each(|cell| text.push_str(&format!("p,{cell}\n")));
    (1..20).for_each(|who| text.push_str(&format!("{who},0.1\n")));
    text
}

impl Game for Outcomes {
    fn play(&self, world: World, trials: Range<u64>, _source: Source) -> Result<Vec<f64>, Error> {
        Ok(trials.map(|trial| number(&self.outcome(world, trial))).collect())
    }
}

/// A number for a text: FNV-1a, the same for the same text.
fn number(text: &str) -> f64 {
    let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (digest >> 11) as f64
}

/// Attacks the outcomes of whole runs.
pub(crate) fn audit(
    options: Options<'_>,
    alpha: f64,
    source: Source,
    place: Place<'_>,
) -> Result<Row, Error> {
    let game = Outcomes::new(source)?;
    let Some(delta) = game.plans[0].delta() else { return Err(crate::nothing_to_audit()) };
    let effort = Effort { trials: options.trials.unwrap_or(RUNS).min(RUNS), alpha, source };
    let mechanism = "files, messages and exits of a run".to_owned();
    let watched = Watched::new(&game, &mechanism, effort, place);
    let audited = attack(&watched, Claim { delta, gaussian: false }, effort)?;
    Ok(Row {
        // Nothing of it is paid for, and nothing may show.
        certified: 0.0,
        delta: delta.get(),
        audited,
        trials: effort.trials,
        priced_as_released: true,
        mechanism,
    })
}
