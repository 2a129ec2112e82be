//! Centres scores by the law of a record's responses given its other columns.
//!
//! With u = W∇ℓ, m(x) = E_θ[clip_c(u) | x] over responses made up for each record. **Privacy.** A record's m depends on that record's
//! columns, θ and public numbers alone: made-up responses follow from the model's text and the record itself, in the same number for
//! every record. So clip_c(u) − m is a term of the record's own, and is clipped like any other.

use barkeep_data::Block;
use barkeep_machine::{Source, Writer};

use super::Likelihood;
use crate::Scratch;

/// Why most models have none.
pub(super) const NO_RESPONSES: &str =
    "needs a regression by formula, a text, or a model that simulates its own records by inversion";

/// Responses of single records, given their other columns.
pub trait Given: Send + Sync {
    /// How many made-up responses stand for the law of one record; the same for all.
    fn stand_ins(&self) -> usize;

    /// How many shifts a record takes.
    fn shifts(&self) -> usize;

    /// Makes up responses of every record at θ, one record after the other.
    ///
    /// `shifts` has numbers in (0, 1) for each record, [`shifts`](Given::shifts) of them; without them all are one half. Averaged
    /// over shifts, weighted sums over responses are expectations, for functions with kinks too.
    fn make_up(
        &self,
        block: Block<'_>,
        theta: &[f64],
        shifts: Option<&[f64]>,
        out: &mut StandIns,
        scratch: &mut Scratch,
    );

    /// Writes m of a record to a program; `None` where no program can.
    fn write_expected(&self, centring: Centring<'_>, w: &mut Writer) -> Option<Vec<Source>>;

    /// Moves responses into the declared bounds, as reading does.
    fn admit(&self, made_up: &mut StandIns);
}

/// Made-up records: those of each record one after the other.
#[derive(Debug, Clone, Default)]
pub struct StandIns {
    /// Column by column.
    pub values: Vec<f64>,
    /// Weights, which add up to 1 for each record.
    pub weights: Vec<f64>,
}

/// How scores are whitened, clipped and centred.
#[derive(Debug, Clone, Copy)]
pub struct Centring<'a> {
    /// The state θ.
    pub theta: &'a [f64],
    /// W, row by row.
    pub whitening: &'a [f64],
    /// c.
    pub clip: f64,
}

impl Centring<'_> {
    /// Records whose responses are made up at once.
    const AT_ONCE: usize = 64;

    /// Writes m of each record, entry j of record i to `out[j·len + i]`.
    pub fn write(
        &self,
        (likelihood, given): (&dyn Likelihood, &dyn Given),
        block: Block<'_>,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (d, each, records) = (self.theta.len(), given.stand_ins(), block.len());
        if d == 0 {
            return;
        }
        let mut made_up = StandIns::default();
        let (mut scores, mut whitened) = (Vec::new(), vec![0.0; d]);
        for (part, tile) in block.tiles(Self::AT_ONCE).enumerate() {
            given.make_up(tile, self.theta, None, &mut made_up, scratch);
            given.admit(&mut made_up);
            let count = tile.len() * each;
            scores.resize(d * count, 0.0);
            likelihood.gradient(Block::over(&made_up.values, count, count), self.theta, &mut scores, scratch);
            for i in 0..tile.len() {
                let at = part * Self::AT_ONCE + i;
                (0..d).for_each(|j| out[j * records + at] = 0.0);
                for (k, weight) in made_up.weights[i * each..(i + 1) * each].iter().enumerate() {
                    let score = |j: usize| scores[j * count + i * each + k];
                    for (row, out) in self.whitening.chunks_exact(d).zip(&mut whitened) {
                        *out = (0..d).map(|j| row[j] * score(j)).sum();
                    }
                    let length = whitened.iter().map(|x| x * x).sum::<f64>().sqrt();
                    // What is not finite counts as 0.
                    let factor = if length.is_finite() { (self.clip / length).min(1.0) } else { 0.0 };
                    for (j, x) in whitened.iter().enumerate() {
                        let x = if length.is_finite() { *x } else { 0.0 };
                        out[j * records + at] += weight * factor * x;
                    }
                }
            }
        }
    }
}
