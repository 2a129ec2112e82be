//! Writes what a sum adds up: preconditioned gradients, their squares, or sufficient statistics.

mod checks;

use crate::error::question;
use crate::records::rows::Rows;
use crate::sums::coordinates::{Coordinate, powers_width, rows_coordinate, write_powers};
use crate::sums::fold::Ends;
use crate::sums::gram::{self, Gram, gram_width};
use crate::sums::lattice::{Lanes, MANY, Slopes, Whole, add_clipped};
use crate::sums::passes::{GRAIN, Worker};
use crate::sums::preconditions::{mix, stretch};
use crate::sums::programs;
use crate::sums::scores::{score_width, write_score};
use crate::{Asked, Centre, Clip, MOST_DIMENSIONS, Precondition, Refused, Shape, Term};
use barkeep_data::{BLOCK, Block, Schema, Unit};
use barkeep_model::{Affine, Centring, Given, Likelihood, Line, RecordStatistics, Scorer, Sloped};

use checks::{check_gradient, scorer};
pub(crate) use checks::{check_path, check_state};

/// What a sum adds up over records, checked against the model and the schema, both public.
pub(crate) struct Terms<'a> {
    likelihood: &'a dyn Likelihood,
    written: Written<'a>,
    width: usize,
    sums: usize,
}

/// What is written for each record.
enum Written<'a> {
    Gradient {
        theta: &'a [f64],
        precondition: Precondition<'a>,
    },
    Score {
        theta: &'a [f64],
        precondition: Precondition<'a>,
        weight: f64,
    },
    Statistics(Box<dyn RecordStatistics + 'a>),
    /// What was added up when the records were admitted.
    Counted,
    Program(Asked<'a>),
    Columns(&'a [Coordinate], Option<u64>),
    Gram(Gram<'a>),
    Centred(Box<Scorer<'a>>),
    Tail {
        scorer: Box<Scorer<'a>>,
        edges: &'a [f64],
    },
    Shifted {
        theta: &'a [f64],
        precondition: Precondition<'a>,
        clip: f64,
        centre: &'a [f64],
    },
    /// Less what is expected of each record.
    Expected {
        centring: Centring<'a>,
        given: &'a dyn Given,
    },
}

impl<'a> Terms<'a> {
    /// Checks what is asked for.
    ///
    /// # Errors
    /// [`Refused::Question`] for a state or a matrix that does not fit the model, a weight that is not above 0, statistics
    /// the model does not have, or more entries than the clip is proved for.
    pub(crate) fn new(
        term: Term<'a>,
        likelihood: &'a dyn Likelihood,
        schema: &'a Schema,
        unit: Unit,
    ) -> Result<Self, Refused> {
        let dimension = likelihood.dimension();
        let (written, width) = match term {
            Term::Gradient { theta, precondition } => {
                check_gradient(theta, precondition, dimension)?;
                (Written::Gradient { theta, precondition }, dimension)
            }
            Term::Score { theta, precondition, weight } => {
                check_gradient(theta, precondition, dimension)?;
                if !(weight.is_finite() && weight > 0.0) {
                    return Err(question("weight", "a finite number above 0"));
                }
                if score_width(dimension) > MOST_DIMENSIONS {
                    return Err(question(
                        "model",
                        "one with at most 89 parameters where moments are asked for",
                    ));
                }
                (Written::Score { theta, precondition, weight }, score_width(dimension))
            }
            Term::Faults => return Err(question("term", "asked of a table")),
            Term::Program(asked) => {
                let (width, sums) = programs::check(asked, schema.width(), unit)?;
                return Ok(Self { likelihood, written: Written::Program(asked), width, sums });
            }
            Term::Statistics => {
                let statistics =
                    likelihood.record_statistics(schema).map_err(|reason| question("model", reason))?;
                let width = statistics.width();
                if !(1..=MOST_DIMENSIONS).contains(&width) {
                    return Err(question("model", "one with at most 4096 statistics"));
                }
                (Written::Statistics(statistics), width)
            }
            Term::Columns { coordinates, most_rows } => {
                let width = powers_width(coordinates, most_rows);
                if !coordinates.iter().all(|one| one.fits(schema.width()))
                    || !(1..=MOST_DIMENSIONS).contains(&width)
                {
                    return Err(question(
                        "coordinates",
                        "at least one, each a finite map of a column of the table",
                    ));
                }
                (Written::Columns(coordinates, most_rows), width)
            }
            Term::Gram { coordinates, centres, spreads } => {
                let gram = Gram { coordinates, centres, spreads };
                gram.check(schema.width())?;
                let width = gram_width(coordinates.len());
                if !(1..=MOST_DIMENSIONS * MOST_DIMENSIONS).contains(&width) {
                    return Err(question("coordinates", "at least one"));
                }
                (Written::Gram(gram), width)
            }
            Term::Centred(score) => {
                let scorer = scorer(score, likelihood, schema)?;
                let width = scorer.width();
                (Written::Centred(Box::new(scorer)), width)
            }
            Term::Tail { score, edges } => {
                let ascending = edges.windows(2).all(|pair| pair[0] < pair[1]);
                if edges.is_empty() || edges.len() > MOST_DIMENSIONS || !ascending {
                    return Err(question("edges", "ascending numbers, at least one"));
                }
                (Written::Tail { scorer: Box::new(scorer(score, likelihood, schema)?), edges }, edges.len())
            }
            Term::Shifted { theta, precondition, clip, centre } => {
                check_gradient(theta, precondition, dimension)?;
                if !(clip.is_finite() && clip > 0.0) {
                    return Err(question("clip", "a finite number above 0"));
                }
                let written = match (centre, precondition) {
                    (Centre::Same(centre), _) => {
                        check_state("centre", centre, dimension)?;
                        Written::Shifted { theta, precondition, clip, centre }
                    }
                    (Centre::Expected, Precondition::Dense(whitening)) => {
                        let given = likelihood.given().map_err(|reason| question("model", reason))?;
                        Written::Expected { centring: Centring { theta, whitening, clip }, given }
                    }
                    (Centre::Expected, Precondition::Identity | Precondition::Diagonal(_)) => {
                        return Err(question("precondition", "a dense matrix where the centre is expected"));
                    }
                };
                (written, dimension)
            }
        };
        Ok(Self { likelihood, written, width, sums: width })
    }

    /// As many sums that were added up when the records were admitted: the curator's alone to ask for.
    pub(crate) fn counted(width: usize, likelihood: &'a dyn Likelihood) -> Self {
        Self { likelihood, written: Written::Counted, width, sums: width }
    }

    /// Whether the sums are known already.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self.written, Written::Counted)
    }

    /// The program that writes them, where one does.
    pub(crate) fn program(&self) -> Option<Asked<'a>> {
        let Written::Program(asked) = self.written else { return None };
        Some(asked)
    }

    /// The number of sums over records that the answer is made of.
    pub(crate) fn sums(&self) -> usize {
        self.sums
    }

    /// Entry `k` of the answer, in lattice steps, before noise.
    ///
    /// # Errors
    /// As [`Shape::unit`](crate::Shape): none for a question that was charged.
    pub(crate) fn entry(&self, k: usize, clip: Clip, sums: &[i64]) -> Result<i128, Refused> {
        if let Some(Asked { shape: shape @ Shape::ByGroup { .. }, .. }) = self.program() {
            return shape.between_groups(clip, sums);
        }
        Ok(sums.get(k).copied().unwrap_or(0).into())
    }

    /// The number of entries of one record's term.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether the terms are gradients affine in the columns; they are then described in `affine`.
    pub(crate) fn affine(&self, affine: &mut Affine) -> bool {
        let Written::Gradient { theta, precondition: Precondition::Identity } = self.written else {
            return false;
        };
        // Whatever a model says here, the columns are there and every coordinate is clipped.
        self.likelihood.affine_gradient(theta, affine) && affine.fits(self.width, self.likelihood.columns())
    }

    /// How the terms are gradients of slopes times columns, if they are.
    pub(crate) fn sloped(&self) -> Option<Sloped> {
        let Written::Gradient { precondition: Precondition::Identity, .. } = self.written else {
            return None;
        };
        // Whatever a model says here, the columns are there and every coordinate is clipped.
        self.likelihood.sloped().filter(|sloped| sloped.fits(self.width, self.likelihood.columns()))
    }

    /// Whether slopes are functions of a line, which is then written to `line`.
    pub(crate) fn slope_line(&self, line: &mut Line) -> bool {
        let Written::Gradient { theta, .. } = self.written else { return false };
        self.likelihood.slope_line(theta, line) && line.weights.len() <= self.likelihood.columns()
    }

    /// Adds the clipped terms of some records, which are as `sloped` says, to `worker.sums`. Where slopes are functions of `line`,
    /// norms are added up as it is, while columns are on their way from memory.
    pub(crate) fn add_sloped(
        &self,
        (sloped, line): (Sloped, Option<&Line>),
        rows: Rows<'_>,
        clip: Clip,
        worker: &mut Worker,
    ) {
        let mut lanes = Lanes::new();
        let mut add = |block: Block<'_>| self.add_block((sloped, line), block, clip, worker, &mut lanes);
        match rows {
            Rows::Block(block) => add(block),
            Rows::Run(run) => (0..run.blocks()).for_each(|index| add(run.block(index))),
        }
        lanes.add_to(&mut worker.sums);
    }

    /// Adds the clipped terms of a block's records to `lanes` or `worker.sums`.
    fn add_block(
        &self,
        (sloped, line): (Sloped, Option<&Line>),
        block: Block<'_>,
        clip: Clip,
        worker: &mut Worker,
        lanes: &mut Lanes,
    ) {
        let Written::Gradient { theta, .. } = self.written else { return };
        let Worker { terms, mixed, squares, scratch, room_to_clip, sums, .. } = worker;
        let records = block.len();
        let (slopes, squares) = (terms.sized(records), squares.sized(records));
        let others = mixed.sized(if sloped.nuisance { records } else { 0 });
        let mut columns = [&[][..]; MANY];
        let whole =
            line.and_then(|line| Whole::new(block, sloped, line, &mut columns)).map_or(0, |columns| {
                let whole = columns.predict(slopes, squares);
                let known = whole.min(others.len());
                let (slopes, others) = (&mut slopes[..whole], &mut others[..known]);
                if whole > 0 {
                    self.likelihood.slopes(block.part(0, whole), theta, true, slopes, others, scratch);
                    columns.add(slopes, &squares[..whole], others, clip, lanes);
                }
                whole
            });
        if whole < records {
            let block = block.part(whole, records - whole);
            let (slopes, others) = (&mut slopes[whole..], others.get_mut(whole..).unwrap_or_default());
            self.likelihood.slopes(block, theta, false, slopes, others, scratch);
            add_clipped(&Slopes::new(block, sloped, slopes, others), room_to_clip, sums, clip);
        }
    }

    /// Writes the terms of a tile's records, or of the persons that end in it, to `worker.terms`, and says how many.
    ///
    /// A person's term is the sum over the person's rows; a score squares the sum, not the rows. Coordinates and bins are
    /// averaged: the mean of vectors in a ball lies in it, so that a row's bound is a person's.
    pub(crate) fn write(&self, tile: Block<'_>, ends: Option<Ends<'_>>, worker: &mut Worker) -> usize {
        let dimension = self.likelihood.dimension();
        match &self.written {
            Written::Gradient { theta, precondition } => {
                self.gradient(tile, theta, *precondition, worker);
                by_person(tile, ends, dimension, worker)
            }
            Written::Score { theta, precondition, weight } => {
                self.gradient(tile, theta, *precondition, worker);
                let units = by_person(tile, ends, dimension, worker);
                let out = worker.mixed.sized(self.width * units);
                write_score(&worker.terms, dimension, units, *weight, out);
                std::mem::swap(&mut worker.terms, &mut worker.mixed);
                units
            }
            Written::Statistics(statistics) => {
                statistics.write(tile, worker.terms.sized(self.width * tile.len()));
                by_person(tile, ends, self.width, worker)
            }
            // Never written record by record here.
            Written::Counted | Written::Program(_) => 0,
            Written::Columns(coordinates, most_rows) => {
                let own = powers_width(coordinates, None);
                // All the room there will be: a buffer that grows does not keep its contents in place.
                worker.mixed.sized((self.width + COUNT) * tile.len());
                write_powers(coordinates, tile, worker.terms.sized((self.width + COUNT) * tile.len()));
                let units = mean_by_person(tile, ends, own, worker);
                if let Some(most) = most_rows {
                    write_rows(*most, own, units, worker);
                }
                worker.terms.sized(self.width * units);
                units
            }
            // Products have a sum of their own, in integers from the start.
            Written::Gram(_) => {
                worker.terms.sized(self.width * tile.len()).fill(0.0);
                by_person(tile, ends, self.width, worker)
            }
            Written::Centred(scorer) => {
                let terms = worker.terms.sized(self.width * tile.len());
                scorer.write(tile, terms, &mut worker.scratch, &mut worker.nodes);
                by_person(tile, ends, self.width, worker)
            }
            Written::Tail { scorer, edges } => {
                let terms = worker.terms.sized((self.width + COUNT) * tile.len());
                let bins = &mut terms[..self.width * tile.len()];
                scorer.write_tail(tile, edges, bins, &mut worker.scratch, &mut worker.nodes);
                let units = mean_by_person(tile, ends, self.width, worker);
                worker.terms.sized(self.width * units);
                units
            }
            Written::Shifted { theta, precondition, clip, centre } => {
                self.gradient(tile, theta, *precondition, worker);
                let units = by_person(tile, ends, self.width, worker);
                let same = |j: usize, _: usize| centre[j];
                shift(worker.terms.sized(self.width * units), units, *clip, same);
                units
            }
            Written::Expected { centring, given } => {
                let records = tile.len();
                let mut centres = vec![0.0; self.width * records];
                centring.write((self.likelihood, *given), tile, &mut centres, &mut worker.scratch);
                self.gradient(tile, centring.theta, Precondition::Dense(centring.whitening), worker);
                let own = |j: usize, i: usize| centres[j * records + i];
                shift(worker.terms.sized(self.width * records), records, centring.clip, own);
                by_person(tile, ends, self.width, worker)
            }
        }
    }

    /// The products that are summed and the integer that stands for 1, where the terms are products.
    pub(crate) fn gram(&self, clip: Clip) -> Option<(Gram<'a>, i64)> {
        let Written::Gram(gram) = self.written else { return None };
        Some((gram, gram::one(clip.get()).ok()?))
    }

    /// The fewest blocks worth a thread of their own: one where each record has nodes to go through.
    pub(crate) fn grain(&self) -> usize {
        match self.written {
            Written::Centred(_) | Written::Tail { .. } | Written::Expected { .. } => 1,
            Written::Gradient { .. }
            | Written::Score { .. }
            | Written::Statistics(_)
            | Written::Counted
            | Written::Program(_)
            | Written::Columns(..)
            | Written::Gram(_)
            | Written::Shifted { .. } => GRAIN,
        }
    }

    /// Whether they are gradients or scores that the model itself writes.
    pub(crate) fn are_by_the_model(&self) -> bool {
        match self.written {
            Written::Gradient { .. }
            | Written::Score { .. }
            | Written::Centred(_)
            | Written::Tail { .. }
            | Written::Expected { .. }
            | Written::Shifted { .. } => true,
            Written::Statistics(_)
            | Written::Counted
            | Written::Program(_)
            | Written::Columns(..)
            | Written::Gram(_) => false,
        }
    }

    /// Whether columns beyond the model's are read.
    pub(crate) fn reads_all(&self) -> bool {
        match self.written {
            Written::Columns(..) | Written::Gram(_) => true,
            Written::Gradient { .. }
            | Written::Score { .. }
            | Written::Statistics(_)
            | Written::Counted
            | Written::Program(_)
            | Written::Centred(_)
            | Written::Tail { .. }
            | Written::Expected { .. }
            | Written::Shifted { .. } => false,
        }
    }

    /// Whether entry `k` is a product of two different coordinates, which gets less noise.
    pub(crate) fn is_pair(&self, k: usize) -> bool {
        if let Some(Asked { term, shape: Shape::Outer }) = self.program() {
            return !gram::is_square(k, term.width());
        }
        let Written::Gram(gram) = &self.written else { return false };
        !gram::is_square(k, gram.coordinates.len())
    }

    /// Writes a block's preconditioned gradients to `worker.terms`.
    fn gradient(&self, block: Block<'_>, theta: &[f64], precondition: Precondition<'_>, worker: &mut Worker) {
        let (records, dimension) = (block.len(), self.likelihood.dimension());
        let terms = worker.terms.sized(dimension * records);
        self.likelihood.gradient(block, theta, terms, &mut worker.scratch);
        match precondition {
            Precondition::Identity => {}
            Precondition::Diagonal(entries) => stretch(entries, terms, records),
            Precondition::Dense(matrix) => {
                mix(matrix, terms, worker.mixed.sized(dimension * records), records);
                std::mem::swap(&mut worker.terms, &mut worker.mixed);
            }
        }
    }
}

/// Adds the `width` terms of each row in `worker.terms` up by person, where rows belong to persons; the number of units left.
fn by_person(tile: Block<'_>, ends: Option<Ends<'_>>, width: usize, worker: &mut Worker) -> usize {
    let Some(ends) = ends else { return tile.len() };
    let persons = ends.persons();
    worker.fold.add_all(&worker.terms, width, ends, worker.mixed.sized(width * persons));
    std::mem::swap(&mut worker.terms, &mut worker.mixed);
    persons
}

/// Numbers that are folded beside a term's own: the number of rows.
pub(crate) const COUNT: usize = 1;

/// Averages the `width` terms of each row in `worker.terms` over each person's rows, which has room for a number more; the number of
/// units left. The number of rows of each follows the terms.
fn mean_by_person(tile: Block<'_>, ends: Option<Ends<'_>>, width: usize, worker: &mut Worker) -> usize {
    let rows = tile.len();
    worker.terms.sized((width + COUNT) * rows)[width * rows..].fill(1.0);
    let units = by_person(tile, ends, width + COUNT, worker);
    if ends.is_some() {
        let (terms, counts) = worker.terms.sized((width + COUNT) * units).split_at_mut(width * units);
        for lane in terms.chunks_exact_mut(units.max(1)) {
            lane.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum /= count);
        }
    }
    units
}

/// Replaces the numbers of rows after `own` terms by their coordinate z, and writes z² − 1 after it.
fn write_rows(most: u64, own: usize, units: usize, worker: &mut Worker) {
    let lanes = worker.terms.sized((own + 2) * units);
    let (counts, squares) = lanes[own * units..].split_at_mut(units);
    for (count, square) in counts.iter_mut().zip(squares) {
        *count = rows_coordinate(*count, most);
        *square = *count * *count - 1.0;
    }
}

/// Shortens each record's gradient to a norm of at most `clip` and takes its centre off, given by entry and record; one that is
/// not finite becomes 0.
fn shift(terms: &mut [f64], records: usize, clip: f64, centre: impl Fn(usize, usize) -> f64) {
    for i in 0..records {
        let squares: f64 = terms.iter().skip(i).step_by(records).map(|x| x * x).sum();
        let length = squares.sqrt();
        let factor = if length > clip { clip / length } else { 1.0 };
        for (j, x) in terms.iter_mut().skip(i).step_by(records).enumerate() {
            *x = if length.is_finite() { *x * factor } else { 0.0 } - centre(j, i);
        }
    }
}

/// How many records' vectors of this width are written before they are added up: as many as stay in the first cache, but
/// enough to pay for a call.
pub(crate) fn tile(width: usize) -> usize {
    /// 20 KiB, less than half of a first cache.
    const VALUES: usize = 2560;
    (VALUES / width.max(1)).clamp(128, BLOCK).next_multiple_of(64)
}
