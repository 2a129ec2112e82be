//! Adds integer sums over all records up, wherever the records are: the one way from a charged question to a secret sum.

use crate::records::faults::FaultSums;
use crate::records::rows::{Rows, Run};
use crate::records::stored::Stored;
use crate::sums::lattice::{Columns, Moments, Written, add_clipped};
use crate::sums::passes::{Asked, Buffer, GRAIN, Worker, sweep, sweep_in_runs};
use crate::sums::programs;
use crate::sums::terms::{COUNT, Terms, tile};
use crate::{Along, Clip, Refused, Term};
use barkeep_data::{Block, Unit};
use barkeep_machine::Program;
use barkeep_model::{Likelihood, Scratch};

/// What is added up over the records; all of it public.
#[derive(Clone, Copy)]
pub(crate) enum Summed<'a> {
    /// Clipped log-ratios, less what a path takes off, into the workers' moments.
    LogRatios { from: &'a [f64], to: &'a [f64], along: Option<Along<'a>>, clip: Clip },
    /// Clipped numbers that a program writes, into the workers' moments.
    Ratio { program: &'a Program, clip: Clip },
    /// Clipped terms, coordinate by coordinate, into the workers' sums. `terms` is `term`, checked.
    Terms { term: Term<'a>, terms: &'a Terms<'a>, clip: Clip },
    /// Clipped log-ratios less `centre`, candidate by candidate, into the workers' sums.
    Candidates { reference: &'a [f64], candidates: &'a [f64], centre: f64, clip: Clip },
    /// Clipped numbers less `centre`, program by program, into the workers' sums.
    Choices { programs: &'a [Program], centre: f64, clip: Clip },
}

impl<'a> Summed<'a> {
    /// The programs that run over rows; none where the likelihood is asked.
    fn programs(self) -> &'a [Program] {
        match self {
            Self::Ratio { program, .. } => std::slice::from_ref(program),
            Self::Choices { programs, .. } => programs,
            Self::Terms { terms, .. } => {
                terms.program().map_or(&[], |asked| std::slice::from_ref(&asked.term.row))
            }
            Self::LogRatios { .. } | Self::Candidates { .. } => &[],
        }
    }

    /// Whether the sum goes to the workers' moments.
    pub(crate) fn is_scalar(self) -> bool {
        match self {
            Self::LogRatios { .. } | Self::Ratio { .. } => true,
            Self::Terms { .. } | Self::Candidates { .. } | Self::Choices { .. } => false,
        }
    }
}

/// Records that can be asked, in whatever way they are kept.
///
/// **Privacy.** What [`add`](Sweep::add) leaves in the workers is a secret, and so is the number of records where neighbours add
/// or remove one. Whether it fails must not depend on what records say.
pub(crate) trait Sweep: Send + Sync {
    /// What a neighbouring data set differs in.
    fn unit(&self) -> Unit;

    /// The number of records, or of persons.
    fn records(&self) -> usize;

    /// The number of rows in this machine's memory at a time: what is worth sharing out among threads.
    fn rows(&self) -> usize;

    /// How many sums of faults there are, where they were counted.
    fn faults(&self) -> Option<usize>;

    /// Whether single records can be asked.
    fn takes_batches(&self) -> bool;

    /// Adds what every asked record, or person, contributes to the workers' sums or moments: exact integers, the same in
    /// total however records and workers are divided.
    ///
    /// # Errors
    /// [`Refused::Unasked`] if not every record could be asked; what was added up then means nothing.
    fn add(
        &self,
        summed: Summed<'_>,
        likelihood: &dyn Likelihood,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused>;
}

/// Records in memory, shared out among threads.
impl Sweep for Stored {
    fn unit(&self) -> Unit {
        self.unit()
    }

    fn records(&self) -> usize {
        self.records()
    }

    fn rows(&self) -> usize {
        self.rows()
    }

    fn faults(&self) -> Option<usize> {
        self.faults().map(FaultSums::width)
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn add(
        &self,
        summed: Summed<'_>,
        likelihood: &dyn Likelihood,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        let (blocks, persons) = (self.blocks(), self.persons());
        let programs = summed.programs();
        let columns = match summed {
            _ if !programs.is_empty() => programs.iter().map(programs::reads).max().unwrap_or(0),
            Summed::Terms { terms, .. } if terms.reads_all() => blocks.width(),
            Summed::LogRatios { .. }
            | Summed::Terms { .. }
            | Summed::Candidates { .. }
            | Summed::Ratio { .. }
            | Summed::Choices { .. } => likelihood.columns(),
        };
        let by_index = match summed {
            Summed::LogRatios { .. } | Summed::Candidates { .. } => likelihood.reads_levels(),
            Summed::Terms { terms, .. } if terms.program().is_none() => {
                likelihood.reads_levels() && terms.are_by_the_model()
            }
            Summed::Terms { .. } | Summed::Ratio { .. } | Summed::Choices { .. } => programs
                .iter()
                .all(|program| programs::takes_levels(program, |column| blocks.levels(column as usize))),
        };
        let asked = Asked { blocks, persons, positions, columns, by_index };
        match summed {
            Summed::LogRatios { from, to, along, clip } => {
                add_log_ratios(asked, likelihood, (from, to), along, clip, workers);
            }
            Summed::Terms { terms, clip, .. } => match (terms.program(), terms.is_counted(), self.faults()) {
                (Some(program), _, _) => {
                    programs::add_terms(asked, self.unit(), program, clip, workers)?;
                }
                (None, true, Some(counted)) => counted.add_to(workers),
                (None, true | false, _) => add_terms(asked, self.unit(), terms, clip, workers),
            },
            Summed::Ratio { program, clip } => programs::add_ratios(asked, program, clip, workers),
            Summed::Choices { programs, centre, clip } => {
                programs::add_choices(asked, programs, centre, clip, workers);
            }
            Summed::Candidates { reference, candidates, centre, clip } => {
                add_candidates(asked, likelihood, (reference, candidates), centre, clip, workers);
            }
        }
        Ok(())
    }
}

fn add_log_ratios(
    asked: Asked<'_>,
    likelihood: &dyn Likelihood,
    (from, to): (&[f64], &[f64]),
    along: Option<Along<'_>>,
    clip: Clip,
    workers: &mut [Worker],
) {
    workers.iter_mut().for_each(|worker| worker.fold.start(1));
    let mut affine = workers.first_mut().map(|worker| std::mem::take(&mut worker.affine)).unwrap_or_default();
    // Whatever a model says here, the columns are there and every record is clipped.
    let is_linear = along.is_none()
        && likelihood.affine_log_ratio(from, to, &mut affine)
        && affine.fits(affine.weights.len(), asked.columns);
    let add_run =
        |worker: &mut Worker, run: Run<'_>| is_linear && worker.moments.add_linear(run, &affine, clip);
    sweep_in_runs(asked, workers, GRAIN, add_run, |worker, block, ends| {
        let terms = worker.terms.sized(block.len());
        likelihood.log_ratio(block, from, to, terms, &mut worker.scratch);
        if let Some(along) = along {
            take_off(along, likelihood, block, terms, &mut worker.mixed, &mut worker.scratch);
        }
        let terms = match ends {
            None => terms,
            Some(ends) => {
                let persons = worker.mixed.sized(ends.persons());
                worker.fold.add_all(terms, 1, ends, persons);
                persons
            }
        };
        match asked.positions {
            None => worker.moments.add(terms, clip),
            Some(_) => worker.moments.add_with_squares(terms, clip),
        }
    });
    if let Some(worker) = workers.first_mut() {
        worker.affine = affine;
    }
}

/// Takes Σⱼ wⱼ·clip_b(∇ ln p(xᵢ|θⱼ)) off each record's term. A gradient without a finite norm counts as 0, as in a sum.
fn take_off(
    along: Along<'_>,
    likelihood: &dyn Likelihood,
    block: Block<'_>,
    terms: &mut [f64],
    room: &mut Buffer<f64>,
    scratch: &mut Scratch,
) {
    let (dimension, bound) = (likelihood.dimension().max(1), along.clip.get());
    let size = tile(dimension);
    for (tile, terms) in block.tiles(size).zip(terms.chunks_mut(size)) {
        let records = terms.len();
        for (theta, weights) in
            along.points.chunks_exact(dimension).zip(along.weights.chunks_exact(dimension))
        {
            let gradients = room.sized(records * dimension);
            likelihood.gradient(tile, theta, gradients, scratch);
            for (record, term) in terms.iter_mut().enumerate() {
                let entries = gradients.iter().skip(record).step_by(records);
                let (square, product) = entries
                    .zip(weights)
                    .fold((0.0, 0.0), |(square, product), (g, w)| (g * g + square, g * w + product));
                let norm = f64::sqrt(square);
                let factor = if norm > bound { bound / norm } else { 1.0 };
                *term -= if norm.is_finite() { factor * product } else { 0.0 };
            }
        }
    }
}

fn add_terms(asked: Asked<'_>, unit: Unit, summed: &Terms<'_>, clip: Clip, workers: &mut [Worker]) {
    let width = summed.width();
    workers.iter_mut().for_each(|worker| worker.fold.start(width + COUNT));
    if let Some((gram, one)) = summed.gram(clip) {
        workers.iter_mut().for_each(|worker| worker.open.start(width));
        // A person of one row is a record.
        let is_single = matches!(unit, Unit::Person { most_rows: Some(1) });
        sweep(asked, workers, GRAIN, |worker, block, ends| match ends {
            Some(ends) if !is_single => gram.add_persons(block, ends, clip.get(), one, worker),
            Some(_) | None => gram.add(block, clip.get(), one, worker),
        });
        return;
    }
    let (mut affine, mut line) = workers
        .first_mut()
        .map(|worker| (std::mem::take(&mut worker.affine), std::mem::take(&mut worker.line)))
        .unwrap_or_default();
    let is_affine = asked.persons.is_none() && summed.affine(&mut affine);
    let sloped = if asked.persons.is_none() { summed.sloped() } else { None };
    let on_line = sloped.is_some() && summed.slope_line(&mut line);
    // Adds terms of a known form, and says whether they are.
    let add_known = |worker: &mut Worker, rows: Rows<'_>| match sloped {
        _ if is_affine => {
            add_clipped(&Columns::new(rows, &affine), &mut worker.room_to_clip, &mut worker.sums, clip);
            true
        }
        Some(sloped) => {
            summed.add_sloped((sloped, on_line.then_some(&line)), rows, clip, worker);
            true
        }
        None => false,
    };
    let add_run = |worker: &mut Worker, run: Run<'_>| add_known(worker, Rows::Run(run));
    sweep_in_runs(asked, workers, summed.grain(), add_run, |worker, block, ends| {
        if !add_known(worker, Rows::Block(block)) {
            let size = tile(width);
            for (index, tile) in block.tiles(size).enumerate() {
                let ends = ends.map(|ends| ends.tile(index * size, tile.len()));
                let units = summed.write(tile, ends, worker);
                let gradients = Written::new(&worker.terms, units);
                add_clipped(&gradients, &mut worker.room_to_clip, &mut worker.sums, clip);
            }
        }
    });
    if let Some(worker) = workers.first_mut() {
        (worker.affine, worker.line) = (affine, line);
    }
}

fn add_candidates(
    asked: Asked<'_>,
    likelihood: &dyn Likelihood,
    (reference, candidates): (&[f64], &[f64]),
    centre: f64,
    clip: Clip,
    workers: &mut [Worker],
) {
    let dimension = likelihood.dimension().max(1);
    workers.iter_mut().for_each(|worker| worker.fold.start(candidates.len() / dimension));
    sweep(asked, workers, GRAIN, |worker, block, ends| {
        let terms = worker.terms.sized(block.len());
        for (index, (sum, candidate)) in
            worker.sums.iter_mut().zip(candidates.chunks_exact(dimension)).enumerate()
        {
            likelihood.log_ratio(block, reference, candidate, terms, &mut worker.scratch);
            let terms = match ends {
                None => &mut *terms,
                Some(ends) => {
                    let persons = worker.mixed.sized(ends.persons());
                    worker.fold.add(index, terms, ends, persons);
                    persons
                }
            };
            terms.iter_mut().for_each(|term| *term -= centre);
            let mut share = Moments::default();
            share.add(terms, clip);
            *sum += share.sum();
        }
        if let Some(ends) = ends {
            worker.fold.pass(ends);
        }
    });
}
