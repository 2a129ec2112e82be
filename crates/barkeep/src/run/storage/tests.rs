//! Checks that draws on the disk are those in memory, in every file and figure, and that a spool leaves nothing behind.

use super::spool::{Spool, Spooled};
use super::*;
use crate::public_rng::PublicRng;
use crate::run::draws::{Draws, Memory};
use crate::run::{MOST_COMPARED, Summary};
use barkeep_machine::Writer;
use barkeep_model::{GaussianMean, Gradient, Likelihood, Model};
use std::path::PathBuf;
use std::sync::Arc;

/// A model of two parameters with a quantity.
struct Two(GaussianMean, [String; 1]);

impl Likelihood for Two {
    fn dimension(&self) -> usize {
        2
    }
    fn columns(&self) -> usize {
        2
    }
    fn write_density(&self, theta: &[f64], w: &mut Writer) -> barkeep_machine::Source {
        self.0.write_density(theta, w)
    }
    fn has_gradient(&self) -> bool {
        true
    }
    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        self.0.write_gradient(theta, w)
    }
}

impl Model for Two {
    fn parameter_names(&self) -> &[String] {
        self.0.parameter_names()
    }
    fn column_names(&self) -> &[String] {
        self.0.column_names()
    }
    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.0.log_prior(theta)
    }
    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        self.0.prior_gradient(theta, out);
    }
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        self.0.simulate(theta, uniform, row);
    }
    fn quantity_names(&self) -> &[String] {
        &self.1
    }
    fn quantities(&self, theta: &[f64]) -> Vec<f64> {
        vec![theta[0].max(theta[1])]
    }
}

/// The same draws in memory and on the disk: an uneven number of pieces, chains of different lengths, one empty.
fn both(folder: &Path, lengths: &[usize]) -> (Draws, Spooled) {
    let model: Arc<dyn Model> =
        Arc::new(Two(GaussianMean::independent(&[1.0, 1.0], 1.0).unwrap(), ["larger".to_owned()]));
    let heading = Heading::new(vec!["a".to_owned(), "b".to_owned()]).unwrap();
    let mut heading = heading.with_quantities(model.quantity_names()).unwrap();
    heading.not_private = true;
    let memory = Memory::new(heading.clone(), Arc::clone(&model));
    let disk = Spool::new(folder, heading, model);
    let mut rng = PublicRng::new(5, 0);
    let (mut in_memory, mut on_disk) = (Vec::new(), Vec::new());
    for (index, length) in lengths.iter().enumerate() {
        let (mut one, mut other) = (memory.chain(index).unwrap(), disk.chain(index).unwrap());
        let mut state = [0.0, -1e300];
        for _ in 0..*length {
            let outcome = match rng.index(3) {
                0 => Outcome::Rejected,
                1 => Outcome::Moved,
                _ => Outcome::Accepted,
            };
            if outcome != Outcome::Rejected {
                state[0] = 0.9 * state[0] + rng.normal();
                state[1] = rng.normal();
            }
            one.take(&state, outcome).unwrap();
            other.take(&state, outcome).unwrap();
        }
        assert_eq!((one.taken(), other.taken()), (*length, *length));
        assert!(matches!(other.take(&[1.0], Outcome::Moved), Err(Error::Shape(_))));
        in_memory.push(one);
        on_disk.push(other);
    }
    (memory.end(in_memory, 70).unwrap(), disk.end(on_disk, 70).unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_spool_gives_back_what_memory_holds_and_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, disk) = both(folder.path(), &[PIECE + 300, 0, 2 * PIECE, 1]);
    assert_eq!(files(folder.path()).len(), 4);
    assert_eq!(disk.lengths(), memory.lengths());
    assert_eq!(Summary::of_run(&disk, 70, &[], None).unwrap(), Summary::new(&memory, 70));
    let mut written = Vec::new();
    for format in FORMATS {
        let paths = ["memory", "disk"].map(|name| folder.path().join(format!("{name}-{}", format.name)));
        format.write(&memory, &paths[0]).unwrap();
        format.write(&disk, &paths[1]).unwrap();
        let [one, other] = paths.each_ref().map(|path| std::fs::read(path).unwrap());
        assert!(one == other, "{}", format.name);
        written.extend(paths);
    }
    drop(disk);
    let mut left = files(folder.path());
    left.sort();
    written.sort();
    assert_eq!(left, written);
    for parameter in 0..2 {
        let read = parquet::series(&folder.path().join("disk-draws.parquet"), parameter, 4).unwrap();
        assert_eq!(read, memory.series(parameter, 70));
    }
    let read = parquet::series(&folder.path().join("disk-draws.parquet"), 2, 4).unwrap();
    assert_eq!(read, memory.quantity_series(0, 70));
    assert!(parquet::series(&folder.path().join("disk-draws.parquet"), 3, 4).is_err());
    assert!(parquet::series(&folder.path().join("disk-draws.parquet"), 0, 1).is_err());
    assert!(parquet::series(&folder.path().join("disk-draws.csv"), 0, 4).is_err());
}

#[test]
fn a_spool_begins_anew_over_what_a_killed_run_left() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".draws-1.partial"), vec![7; 100_000]).unwrap();
    let (memory, disk) = both(folder.path(), &[10, 20]);
    let mut piece = Piece::default();
    disk.read(0, 0, &mut piece).unwrap();
    let rows: Vec<f64> =
        memory.chains()[0].rows(0).flat_map(|row| [row[0], row[1], row[0].max(row[1])]).collect();
    assert_eq!(piece.values, rows);
    assert_eq!(piece.outcomes, memory.chains()[0].outcomes(0));
}

#[test]
fn a_spool_that_was_cut_or_overwritten_is_an_error_not_a_draw() {
    let folder = tempfile::tempdir().unwrap();
    let (_, disk) = both(folder.path(), &[10]);
    let path = folder.path().join(".draws-1.partial");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(disk.read(0, 0, &mut Piece::default()).is_err());
    std::fs::write(&path, vec![0; whole.len()]).unwrap();
    assert!(disk.read(0, 0, &mut Piece::default()).is_err());
    assert!(Summary::of_run(&disk, 0, &[], None).is_err());
}

#[test]
fn of_many_draws_location_is_that_of_all_and_convergence_of_every_kth() {
    let mut draws = Draws::new(vec!["a".to_owned()]).unwrap();
    let mut rng = PublicRng::new(3, 0);
    let (mut all, mut thinned) = (Vec::new(), Draws::new(vec!["a".to_owned()]).unwrap());
    for _ in 0..2 {
        let (mut chain, mut thin, mut state) = (draws.chain(), thinned.chain(), 0.0);
        for step in 1..=MOST_COMPARED / 2 + 1 {
            state = 0.2 * state + rng.normal();
            chain.push(&[state], Outcome::Moved).unwrap();
            all.push(state);
            if step % 2 == 0 {
                thin.push(&[state], Outcome::Moved).unwrap();
            }
        }
        draws.add(chain).unwrap();
        thinned.add(thin).unwrap();
    }
    let (summary, judged) = (Summary::new(&draws, 0), Summary::new(&thinned, 0));
    assert_eq!((summary.every, judged.every, summary.draws), (2, 1, MOST_COMPARED + 2));
    let (row, part) = (&summary.parameters[0], &judged.parameters[0]);
    assert_eq!((row.r_hat, row.ess_bulk, row.ess_tail), (part.r_hat, part.ess_bulk, part.ess_tail));
    // A chain that remembers 0.2 of itself is worth 0.8/1.2 of its draws; every second one remembers 0.04, and is worth
    // 0.96/1.04 of half of them: a lower bound.
    let size = row.ess_bulk.unwrap() / all.len() as f64;
    assert!(size < 0.5 && size > 0.42, "{size}");
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!((row.mean.unwrap() - mean).abs() < 1e-12);
    all.sort_unstable_by(f64::total_cmp);
    assert_eq!(row.q5, crate::diagnostics::moments::quantile(&all, 0.05));
    assert!(summary.to_string().contains("by one draw of 2"));
}
