//! Hands gradients to the clip a few coordinates at a time: written before, or computed on the spot.

use super::together::LANES;
use crate::records::rows::{Rows, Stacked};
use barkeep_data::{Block, Levels};
use barkeep_model::{Affine, Sloped};
use barkeep_num::vector::fearless_simd::{Simd, f64x8, prelude::*};

/// How many records are clipped at a time: what is kept of each between two passes stays in the first cache, and what is read
/// of each column is long enough for the machine to see it coming.
pub(crate) const TILE: usize = 512;

/// The gradients of some records.
pub(crate) trait Gradients {
    /// The number of records, at most 2^17.
    fn records(&self) -> usize;

    /// Whether all coordinates are shown at once.
    fn are_few(&self) -> bool;

    /// What the coordinates of `length` records from `start` on are to be multiplied by, where they are not yet.
    fn slopes(&self, _start: usize, _length: usize) -> Option<Slope<'_>> {
        None
    }

    /// Shows the coordinates of `length` records from `start` on, all there are or some of one block, each once and in order.
    fn show(&self, start: usize, length: usize, look: &mut impl Look);
}

/// Slopes of some records.
pub(crate) struct Slope<'a> {
    pub(super) slopes: &'a [f64],
    /// The last coordinate, which is not shown and not multiplied; empty where there is none.
    pub(super) others: &'a [f64],
}

/// What is shown coordinates.
pub(crate) trait Look {
    /// Takes K coordinates, the first of which has this place.
    fn coordinates<const K: usize, C: Coordinate>(&mut self, first: usize, coordinates: [C; K]);

    /// Takes the coordinates of a category's levels, the first of which has this place: of each record one of them is 1
    /// or none, by the index, and the others are 0.
    fn levels(&mut self, first: usize, levels: Levels<'_>);
}

/// One coordinate of some records' gradients.
pub(crate) trait Coordinate: Copy {
    /// That of records in one block.
    type Part: Part;

    /// That of `length` records from `start` on, which are in one block, where a loop can see that there are as many.
    fn part(self, start: usize, length: usize) -> Self::Part;
}

/// One coordinate of some records of a block.
pub(crate) trait Part: Copy {
    /// That of record `i`.
    fn at(&self, i: usize) -> f64;

    /// Those of a vector of records from `i` on.
    fn vector<S: Simd>(&self, simd: S, i: usize) -> f64x8<S>;
}

/// Numbers that were written before.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a>(pub(super) &'a [f64]);

impl Coordinate for Plain<'_> {
    type Part = Self;

    #[inline(always)]
    fn part(self, start: usize, length: usize) -> Self {
        Self(&self.0[start..][..length])
    }
}

impl Part for Plain<'_> {
    #[inline(always)]
    fn at(&self, i: usize) -> f64 {
        self.0[i]
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, i: usize) -> f64x8<S> {
        f64x8::from_slice(simd, &self.0[i..][..LANES])
    }
}

/// w·(x − c); w is 1 if `UNIT`, and the product then has the bits of x − c.
#[derive(Clone, Copy)]
struct Line<Values, const UNIT: bool> {
    values: Values,
    weight: f64,
    centre: f64,
}

impl<'a, const UNIT: bool> Coordinate for Line<Stacked<'a>, UNIT> {
    type Part = Line<Plain<'a>, UNIT>;

    #[inline(always)]
    fn part(self, start: usize, length: usize) -> Self::Part {
        let Self { values, weight, centre } = self;
        Line { values: Plain(values.part(start, length)), weight, centre }
    }
}

impl<const UNIT: bool> Part for Line<Plain<'_>, UNIT> {
    #[inline(always)]
    fn at(&self, i: usize) -> f64 {
        let deviation = self.values.at(i) - self.centre;
        if UNIT { deviation } else { self.weight * deviation }
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, i: usize) -> f64x8<S> {
        let deviation = self.values.vector(simd, i) - f64x8::splat(simd, self.centre);
        if UNIT { deviation } else { f64x8::splat(simd, self.weight) * deviation }
    }
}

/// A line in one column and, added in one rounding, a line in another.
#[derive(Clone, Copy)]
struct Leaning<Values>(Line<Values, false>, Line<Values, false>);

impl<'a> Coordinate for Leaning<Stacked<'a>> {
    type Part = Leaning<Plain<'a>>;

    #[inline(always)]
    fn part(self, start: usize, length: usize) -> Self::Part {
        Leaning(self.0.part(start, length), self.1.part(start, length))
    }
}

impl Part for Leaning<Plain<'_>> {
    #[inline(always)]
    fn at(&self, i: usize) -> f64 {
        self.1.weight.mul_add(self.1.values.at(i) - self.1.centre, self.0.at(i))
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, i: usize) -> f64x8<S> {
        let deviation = self.1.values.vector(simd, i) - f64x8::splat(simd, self.1.centre);
        f64x8::splat(simd, self.1.weight).mul_add_precise(deviation, self.0.vector(simd, i))
    }
}

/// 1, for each of some records.
#[derive(Clone, Copy)]
struct One;

impl Coordinate for One {
    type Part = Self;

    #[inline(always)]
    fn part(self, _start: usize, _length: usize) -> Self {
        self
    }
}

impl Part for One {
    #[inline(always)]
    fn at(&self, _i: usize) -> f64 {
        1.0
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, _i: usize) -> f64x8<S> {
        f64x8::splat(simd, 1.0)
    }
}

/// The most coordinates that are shown at once: as many as registers allow.
const FEW: usize = 4;

/// Shows `count` coordinates of one kind, the first of which has this place.
#[inline(always)]
fn show_each<C: Coordinate>(
    first: usize,
    count: usize,
    look: &mut impl Look,
    coordinate: impl Fn(usize) -> C,
) {
    let whole = count - count % FEW;
    for k in (0..whole).step_by(FEW) {
        look.coordinates(first + k, [coordinate(k), coordinate(k + 1), coordinate(k + 2), coordinate(k + 3)]);
    }
    let (first, k) = (first + whole, whole);
    match count % FEW {
        3 => look.coordinates(first, [coordinate(k), coordinate(k + 1), coordinate(k + 2)]),
        2 => look.coordinates(first, [coordinate(k), coordinate(k + 1)]),
        1 => look.coordinates(first, [coordinate(k)]),
        _ => {}
    }
}

/// Gradients that a model wrote, coordinate-major.
pub(crate) struct Written<'a> {
    terms: &'a [f64],
    records: usize,
}

impl<'a> Written<'a> {
    /// For at most 2^17 records.
    pub(crate) fn new(terms: &'a [f64], records: usize) -> Self {
        Self { terms, records }
    }

    fn dimension(&self) -> usize {
        self.terms.len().checked_div(self.records).unwrap_or(0)
    }
}

impl Gradients for Written<'_> {
    fn records(&self) -> usize {
        self.records
    }

    fn are_few(&self) -> bool {
        self.dimension() <= FEW
    }

    #[inline(always)]
    fn show(&self, start: usize, length: usize, look: &mut impl Look) {
        show_each(
            0,
            self.dimension(),
            look,
            #[inline(always)]
            |j| Plain(&self.terms[j * self.records + start..][..length]),
        );
    }
}

/// Gradients that are affine in the columns, never written as a whole.
pub(crate) struct Columns<'a> {
    rows: Rows<'a>,
    affine: &'a Affine,
}

impl<'a> Columns<'a> {
    /// For records of the model that `affine` comes from.
    pub(crate) fn new(rows: Rows<'a>, affine: &'a Affine) -> Self {
        Self { rows, affine }
    }

    #[inline(always)]
    fn line<const UNIT: bool>(&self, j: usize, start: usize, length: usize) -> Line<Stacked<'a>, UNIT> {
        let values = self.rows.column(j).from(start, length);
        Line { values, weight: self.affine.weights[j], centre: self.affine.centres[j] }
    }

    /// The lines from the one with this place on.
    #[inline(always)]
    fn show_lines<const UNIT: bool>(&self, from: usize, start: usize, length: usize, look: &mut impl Look) {
        show_each(
            from,
            self.affine.weights.len() - from,
            look,
            #[inline(always)]
            |k| self.line::<UNIT>(from + k, start, length),
        );
    }
}

impl Gradients for Columns<'_> {
    fn records(&self) -> usize {
        self.rows.len()
    }

    fn are_few(&self) -> bool {
        self.affine.weights.len() <= FEW
    }

    #[inline(always)]
    fn show(&self, start: usize, length: usize, look: &mut impl Look) {
        let Affine { weights, lean, .. } = self.affine;
        if *lean != 0.0 {
            // All of few coordinates are of one kind: a lean of 0 changes the sign of a zero, or a record that does not count.
            let leaning = if self.are_few() { weights.len() } else { 1 };
            show_each(
                0,
                leaning,
                look,
                #[inline(always)]
                |k| {
                    let weight = if k == 0 { *lean } else { 0.0 };
                    Leaning(self.line(k, start, length), Line { weight, ..self.line(1, start, length) })
                },
            );
            self.show_lines::<false>(leaning, start, length, look);
        } else if weights.iter().all(|weight| *weight == 1.0) {
            self.show_lines::<true>(0, start, length, look);
        } else {
            self.show_lines::<false>(0, start, length, look);
        }
    }
}

/// Gradients that are a slope times columns, never written as a whole.
#[derive(Clone, Copy)]
pub(crate) struct Slopes<'a> {
    block: Block<'a>,
    sloped: Sloped,
    slopes: &'a [f64],
    others: &'a [f64],
}

impl<'a> Slopes<'a> {
    /// For a block of the model that `sloped`, the slopes and the coordinate of its nuisance come from.
    pub(crate) fn new(block: Block<'a>, sloped: Sloped, slopes: &'a [f64], others: &'a [f64]) -> Self {
        Self { block, sloped, slopes, others }
    }
}

impl Gradients for Slopes<'_> {
    fn records(&self) -> usize {
        self.block.len()
    }

    fn are_few(&self) -> bool {
        false
    }

    fn slopes(&self, start: usize, length: usize) -> Option<Slope<'_>> {
        let others = if self.others.is_empty() { &[] } else { &self.others[start..][..length] };
        Some(Slope { slopes: &self.slopes[start..][..length], others })
    }

    #[inline(always)]
    fn show(&self, start: usize, length: usize, look: &mut impl Look) {
        let block = self.block.part(start, length);
        let Sloped { intercept, first, features, .. } = self.sloped;
        let skip = usize::from(intercept);
        if intercept {
            look.coordinates(0, [One]);
        }
        let mut k = 0;
        while k < features {
            if let Some(levels) = block.levels_from(first + k) {
                let count = levels.count.min(features - k);
                look.levels(skip + k, Levels { count, ..levels });
                k += count.max(1);
            } else {
                let run =
                    (k + 1..features).take_while(|k| block.levels_from(first + k).is_none()).count() + 1;
                show_each(
                    skip + k,
                    run,
                    look,
                    #[inline(always)]
                    |next| Plain(block.column(first + k + next)),
                );
                k += run;
            }
        }
    }
}
