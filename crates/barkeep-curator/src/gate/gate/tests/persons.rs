//! Asks gates on tables of persons: a person is a record whose term is the sum over the person's rows, or their mean.

use super::*;
use crate::lattice::full_unit;
use crate::lattice::gram::{gram_reach, gram_unit, is_square};
use crate::sums::passes::Worker;
use crate::test_support::echo::{decoded, encode};
use crate::{Asked, Choose, PersonsBuilder, Shape, Table, Term};
use barkeep_machine::{self as machine, Fold};

/// The rows of each person.
type Rows = Vec<Vec<Vec<f64>>>;

/// A table of these persons, their rows in an order made from a seed that keeps each one's own. Names are in the order of
/// `persons` where `in_order`.
fn table_of(persons: &Rows, seed: u64, in_order: bool, most_rows: Option<u64>) -> Table {
    let schema = Schema::unbounded((0..persons[0][0].len()).map(|j| format!("x{j}"))).unwrap();
    let mut builder =
        PersonsBuilder::new(View::all(schema), Count::Exactly(persons.len()), most_rows).unwrap();
    let mut push = |who: usize, row: &Vec<f64>| {
        let row: Vec<f64> = row.iter().map(|&term| encode(term)).collect();
        builder.push_row(&format!("p{who}"), &row).unwrap();
    };
    let mut next = vec![0; persons.len()];
    if in_order {
        (0..persons.len()).for_each(|who| push(who, &persons[who][0]));
        next.fill(1);
    }
    let mut rng = NoiseRng::insecure_seed(seed);
    let mut left: Vec<usize> = (0..persons.len()).collect();
    while !left.is_empty() {
        let place = rng.below(left.len() as u64) as usize;
        let who = left[place];
        match persons[who].get(next[who]) {
            Some(row) => push(who, row),
            None => drop(left.swap_remove(place)),
        }
        next[who] += 1;
    }
    builder.finish().unwrap()
}

fn open_table(table: Table) -> Gate {
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table, privacy_model, Budget::not_private());
    Gate::open(&Arc::new(curator.unwrap()), NoiseRng::insecure_seed(5)).unwrap()
}

/// Persons of ordinary rows, a few of them with many.
fn persons(seed: u64, count: usize, dimension: usize, most: u64) -> Rows {
    let mut rng = NoiseRng::insecure_seed(seed);
    let mut term = |scale: f64| scale * (rng.below(1 << 40) as f64 / (1_u64 << 39) as f64 - 1.0);
    let mut lengths = NoiseRng::insecure_seed(seed ^ 7);
    (0..count)
        .map(|who| {
            let length = if who % 97 == 3 { 2500 } else { 1 + lengths.below(most) as usize };
            (0..length).map(|_| (0..dimension).map(|_| term(0.5)).collect()).collect()
        })
        .collect()
}

/// Each person as one record: the rows added from the first to the last.
fn added(persons: &Rows) -> Vec<Vec<f64>> {
    let add = |mut sum: Vec<f64>, row: &Vec<f64>| {
        sum.iter_mut().zip(row).for_each(|(sum, term)| *sum += term);
        sum
    };
    persons.iter().map(|rows| rows[1..].iter().fold(rows[0].clone(), add)).collect()
}

/// The sums behind a choice.
fn chosen(gate: &mut Gate) -> Vec<i64> {
    let curator = &*gate.curator;
    let programs = [0; 3].map(|_| Echo::of(1).ratio.clone());
    let question = Choose { ratios: &programs, offsets: &[0.0; 3], range: (-1.0, 1.5), power: 0.1 };
    let charged = curator.budget().charge(0, question.price(curator.privacy_model()).unwrap()).unwrap();
    let workers: &mut [Worker] = &mut gate.workers;
    curator.candidates(&charged, workers).unwrap().open().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn one_row_each_is_a_table_of_records(seed in any::<u64>(), records in 1_usize..3000, dimension in 1_usize..4) {
        let rows = rows(seed, records, dimension);
        let persons: Rows = rows.iter().map(|row| vec![row.clone()]).collect();
        let mut gate = open_table(table_of(&persons, seed, true, Some(1)));
        prop_assert_eq!(secrets(&mut gate, dimension, None), secrets(&mut open(&rows), dimension, None));
        let some: Vec<u32> = (0..records as u32).filter(|i| i % 3 == 0).collect();
        let expected = secrets(&mut open(&rows), dimension, Some(&some));
        prop_assert_eq!(secrets(&mut gate, dimension, Some(&some)), expected);
        prop_assert_eq!(chosen(&mut gate), chosen(&mut open(&rows)));
    }

    /// Whatever the order of the file and the number of threads, a person counts as one record of the added rows.
    #[test]
    fn rows_may_stand_anywhere(seed in any::<u64>(), count in 1_usize..800, dimension in 1_usize..4) {
        let persons = persons(seed, count, dimension, 60);
        let records = added(&persons);
        let expected = secrets(&mut open(&records), dimension, None);
        let some: Vec<u32> = (0..count as u32).rev().filter(|i| i % 2 == 1).collect();
        let of_some = secrets(&mut open(&records), dimension, Some(&some));
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut gate = open_table(table_of(&persons, seed ^ threads as u64, true, None));
                prop_assert_eq!(&secrets(&mut gate, dimension, None), &expected);
                prop_assert_eq!(&secrets(&mut gate, dimension, Some(&some)), &of_some);
                prop_assert_eq!(chosen(&mut gate), chosen(&mut open(&records)));
                // Persons in any order too: all of them are asked.
                let mut gate = open_table(table_of(&persons, seed ^ 99, false, None));
                prop_assert_eq!(&secrets(&mut gate, dimension, None), &expected);
                Ok(())
            })?;
        }
    }

    /// All rows of a person are replaced, by other numbers of any rows: the sums move by no more than a record may move them.
    #[test]
    fn replacing_a_whole_person_stays_within_reach(seed in any::<u64>(), count in 1_usize..40, dimension in 1_usize..4) {
        let mut persons: Rows = persons(seed, count, dimension, 9);
        persons.iter_mut().enumerate().for_each(|(who, person)| {
            person.extend(rows(seed ^ who as u64, 3, dimension));
        });
        let (before, _, vectors) = secrets(&mut open_table(table_of(&persons, 1, false, None)), dimension, None);
        let one = (seed % count as u64) as usize;
        let other = |length: usize, term: f64| vec![vec![term; dimension]; length];
        let mixed = EXTREMES.map(|extreme| vec![extreme; dimension]).to_vec();
        let blocks = EXTREMES.into_iter().flat_map(|extreme| [other(1, extreme), other(1500, extreme)]);
        for block in blocks.chain([other(3000, 1.0), other(2, -1.0), mixed]) {
            persons[one] = block;
            let mut gate = open_table(table_of(&persons, 2, false, None));
            let (after, _, neighbours) = secrets(&mut gate, dimension, None);
            prop_assert!((before - after).unsigned_abs() as f64 <= reach(Neighbours::Substitute));
            for (vector, neighbour) in vectors.iter().zip(&neighbours) {
                let moved: i128 = vector.iter().zip(neighbour).map(|(a, b)| i128::from(a - b).pow(2)).sum();
                prop_assert!(moved <= 1 << 62);
            }
        }
    }
}

/// The lattice sums of moments of columns with the number of rows, and of products.
fn averaged(gate: &mut Gate, dimension: usize, radius: f64) -> [Vec<i64>; 2] {
    let mut w = Writer::default();
    let z = decoded(&mut w, dimension);
    let mut powers = Vec::new();
    for (j, z) in z.iter().enumerate() {
        powers.push(Output::Dense(*z));
        if j % 2 == 0 {
            let square = w.mul(*z, *z);
            powers.push(Output::Dense(w.sub(square, 1.0)));
        }
    }
    let standard: Vec<Output> = z.iter().map(|z| Output::Dense(w.deviation(1.0 / 0.3, *z, 0.1))).collect();
    let [powers, products] = [powers, standard].map(|outputs| w.clone().finish(outputs).unwrap());
    // From 1 row to 9 the number of rows goes from −1 to 1.
    let width = powers.width() as u32;
    let mut w = Writer::default();
    let line = w.dot(-1.25, [(0.25, Source::Column(width))]);
    let one = w.number(1.0);
    let rows = w.cut(line, one);
    let square = w.mul(rows, rows);
    let last = w.sub(square, 1.0);
    let own = (0..width).map(Source::Column).chain([rows, last]).map(Output::Dense);
    let unit = w.finish(own).unwrap();
    let terms = [
        (machine::Term::new(powers, Fold::Mean, Some(unit)), Shape::Ball, ((dimension + 1) as f64).sqrt()),
        (machine::Term::new(products, Fold::Mean, None), Shape::Outer, radius),
    ];
    let curator = Arc::clone(&gate.curator);
    terms.map(|(term, shape, clip)| {
        let (term, clip) = (term.unwrap(), Clip::new(clip).unwrap());
        let term = Term::Program(Asked { term: &term, shape });
        let question = Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma: 0.0 };
        let charged = curator.budget().charge(0, question.price(curator.privacy_model()).unwrap()).unwrap();
        let widths = curator.widths(term).unwrap();
        curator.vector(&charged, widths, None, &mut gate.workers).unwrap().open().to_vec()
    })
}

/// What a person adds: the mean over rows of z, z² − 1 and of x·xᵀ, in floating point; the number of rows after the former.
fn means(rows: &[Vec<f64>], radius: f64) -> [Vec<f64>; 2] {
    let (count, dimension) = (rows.len() as f64, rows[0].len());
    let (mut powers, mut firsts, mut products) = (Vec::new(), vec![0.0; dimension], Vec::new());
    let mean = |each: &dyn Fn(&Vec<f64>) -> f64| rows.iter().map(each).sum::<f64>() / count;
    for j in 0..dimension {
        powers.push(mean(&|row| row[j]));
        if j % 2 == 0 {
            powers.push(mean(&|row| row[j] * row[j] - 1.0));
        }
    }
    let z = (2.0 * (count - 1.0) / 8.0 - 1.0).clamp(-1.0, 1.0);
    powers.extend([z, z * z - 1.0]);
    let standard = |row: &Vec<f64>, j: usize| {
        let length = row.iter().map(|x| ((x - 0.1) / 0.3).powi(2)).sum::<f64>().sqrt();
        (row[j] - 0.1) / 0.3 * (radius / length).min(1.0)
    };
    for (j, first) in firsts.iter_mut().enumerate() {
        *first = mean(&|row| standard(row, j));
        products.extend((j..dimension).map(|k| mean(&|row| standard(row, j) * standard(row, k))));
    }
    [powers, [firsts, products].concat()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Moments and products are means over each person's rows, whatever the order of the file and the number of threads.
    #[test]
    fn columns_are_averaged_by_person(seed in any::<u64>(), count in 1_usize..300, dimension in 1_usize..4) {
        const RADIUS: f64 = 1.5;
        let persons = persons(seed, count, dimension, 12);
        let found = averaged(&mut open_table(table_of(&persons, seed, true, None)), dimension, RADIUS);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let again = pool.install(|| {
            averaged(&mut open_table(table_of(&persons, seed ^ 9, false, None)), dimension, RADIUS)
        });
        prop_assert_eq!(&found[1], &again[1]);
        let units = [
            full_unit(Temper::NONE, Clip::new(((dimension + 1) as f64).sqrt()).unwrap()),
            gram_unit(RADIUS).unwrap(),
        ];
        for (kind, sums) in found.iter().enumerate() {
            for (k, sum) in sums.iter().enumerate() {
                let expected: f64 = persons.iter().map(|rows| means(rows, RADIUS)[kind][k]).sum();
                // Rounding takes up to a step of the lattice off each, and 1e-4 off products whose rows are integers.
                let slack = count as f64 * (1e-8 + if kind == 1 { 4e-4 } else { 0.0 });
                prop_assert!((*sum as f64 * units[kind] - expected).abs() < slack, "{} {}: {} {}", kind, k, sum, expected);
            }
        }
    }

    /// All rows of a person are replaced: moments move by what a record may move them, products too.
    #[test]
    fn replacing_a_whole_person_moves_means_no_further(seed in any::<u64>(), count in 1_usize..20, dimension in 1_usize..4) {
        const RADIUS: f64 = 2.5;
        let mut persons: Rows = persons(seed, count, dimension, 9);
        let before = averaged(&mut open_table(table_of(&persons, 1, false, None)), dimension, RADIUS);
        let one = (seed % count as u64) as usize;
        let axis = |j: usize| (0..dimension).map(|k| if j == k { 1e3 } else { 0.1 }).collect::<Vec<f64>>();
        let blocks = EXTREMES.into_iter().flat_map(|extreme| [1, 700].map(|length| vec![vec![extreme; dimension]; length]));
        let corners = [vec![axis(0)], vec![axis(dimension - 1); 40], (0..33).map(|i| axis(i % dimension)).collect()];
        for block in blocks.chain(corners) {
            persons[one] = block;
            let after = averaged(&mut open_table(table_of(&persons, 2, false, None)), dimension, RADIUS);
            let moved: i128 = before[0].iter().zip(&after[0]).map(|(a, b)| i128::from(a - b).pow(2)).sum();
            prop_assert!(moved <= 1 << 62);
            let weight = |k: usize| if is_square(k, dimension) { 1 } else { 2 };
            let pairs = before[1].iter().zip(&after[1]).enumerate();
            let moved: i128 = pairs.map(|(k, (a, b))| i128::from(a - b).pow(2) * weight(k)).sum();
            prop_assert!((moved as f64).sqrt() <= gram_reach(Neighbours::Substitute), "{}", moved);
        }
    }
}

#[test]
fn rows_beyond_the_first_do_not_count() {
    let persons: Rows = vec![vec![vec![0.25], vec![0.5], vec![0.125]], vec![vec![-0.5]]];
    let cut: Rows = vec![vec![vec![0.25], vec![0.5]], vec![vec![-0.5]]];
    let table = |persons, most| open_table(table_of(persons, 3, true, most));
    assert_eq!(secrets(&mut table(&persons, Some(2)), 1, None), secrets(&mut table(&cut, None), 1, None));
    assert_ne!(secrets(&mut table(&persons, None), 1, None), secrets(&mut table(&cut, None), 1, None));
}

#[test]
fn another_number_of_persons_is_refused() {
    let view = || View::all(Schema::unbounded(["x"]).unwrap());
    let mut builder = PersonsBuilder::new(view(), Count::Exactly(2), None).unwrap();
    builder.push_row("a", &[1.0]).unwrap();
    assert!(builder.finish().is_err());
    let mut builder = PersonsBuilder::new(view(), Count::Exactly(1), None).unwrap();
    builder.push_row("a", &[1.0]).unwrap();
    builder.push_row("a", &[2.0]).unwrap();
    assert!(builder.push_row("b", &[1.0]).is_err());
}
