//! Spreads points evenly over the unit cube: Sobol's sequence, scrambled by public numbers.

/// Bits of an index that are used: 2^16 points.
const BITS: usize = 16;

/// The primitive polynomial of each coordinate after the first, and its first direction numbers: the first 36 rows of
/// `new-joe-kuo-6.21201` (Joe and Kuo, *Constructing Sobol sequences with better two-dimensional projections*, 2008).
const DIRECTIONS: [(u32, &[u32]); 36] = [
    (3, &[1]),
    (7, &[1, 3]),
    (11, &[1, 3, 1]),
    (13, &[1, 1, 1]),
    (19, &[1, 1, 3, 3]),
    (25, &[1, 3, 5, 13]),
    (37, &[1, 1, 5, 5, 17]),
    (41, &[1, 1, 5, 5, 5]),
    (47, &[1, 1, 7, 11, 19]),
    (55, &[1, 1, 5, 1, 1]),
    (59, &[1, 1, 1, 3, 11]),
    (61, &[1, 3, 5, 5, 31]),
    (67, &[1, 3, 3, 9, 7, 49]),
    (91, &[1, 1, 1, 15, 21, 21]),
    (97, &[1, 3, 1, 13, 27, 49]),
    (103, &[1, 1, 1, 15, 7, 5]),
    (109, &[1, 3, 1, 15, 13, 25]),
    (115, &[1, 1, 5, 5, 19, 61]),
    (131, &[1, 3, 7, 11, 23, 15, 103]),
    (137, &[1, 3, 7, 13, 13, 15, 69]),
    (143, &[1, 1, 3, 13, 7, 35, 63]),
    (145, &[1, 3, 5, 9, 1, 25, 53]),
    (157, &[1, 3, 1, 13, 9, 35, 107]),
    (167, &[1, 3, 1, 5, 27, 61, 31]),
    (171, &[1, 1, 5, 11, 19, 41, 61]),
    (185, &[1, 3, 5, 3, 3, 13, 69]),
    (191, &[1, 1, 7, 13, 1, 19, 1]),
    (193, &[1, 3, 7, 5, 13, 19, 59]),
    (203, &[1, 1, 3, 9, 25, 29, 41]),
    (211, &[1, 3, 5, 13, 23, 1, 55]),
    (213, &[1, 3, 7, 3, 13, 59, 17]),
    (229, &[1, 3, 1, 3, 5, 53, 69]),
    (239, &[1, 1, 5, 5, 23, 33, 13]),
    (241, &[1, 1, 7, 7, 1, 61, 123]),
    (247, &[1, 1, 7, 9, 13, 61, 49]),
    (253, &[1, 3, 3, 5, 3, 55, 33]),
];

/// A sequence of points in (0, 1)^d; any first 2^k of them are spread evenly.
pub(crate) struct Sobol {
    /// For each coordinate the directions of an index's bits; none where the table ends.
    directions: Vec<Option<[u32; BITS]>>,
}

impl Sobol {
    /// In this many dimensions. Those beyond the table's are pseudo-random.
    pub(crate) fn new(dimensions: usize) -> Self {
        let first = std::iter::once(Some(std::array::from_fn(|k| 1_u32 << (31 - k))));
        let others = DIRECTIONS.iter().map(|(polynomial, start)| Some(directions(*polynomial, start)));
        let directions = first.chain(others).chain(std::iter::repeat(None)).take(dimensions).collect();
        Self { directions }
    }

    /// Writes point i.
    pub(crate) fn point(&self, i: usize, out: &mut [f64]) {
        for (j, (directions, out)) in self.directions.iter().zip(out).enumerate() {
            let seed = mixed(j as u32 + 1);
            let bits = match directions {
                Some(directions) => {
                    let set = directions.iter().enumerate().filter(|(k, _)| i >> k & 1 == 1);
                    scrambled(set.fold(0, |bits, (_, direction)| bits ^ direction), seed)
                }
                None => mixed(seed ^ mixed(i as u32)),
            };
            *out = (f64::from(bits) + 0.5) / 4_294_967_296.0;
        }
    }
}

/// m_i = 2a₁m_{i−1} ⊕ 4a₂m_{i−2} ⊕ … ⊕ 2^s·m_{i−s} ⊕ m_{i−s}, shifted to the top of a word.
fn directions(polynomial: u32, start: &[u32]) -> [u32; BITS] {
    let degree = start.len();
    let mut numbers = start.to_vec();
    for i in degree..BITS {
        let mut next = numbers[i - degree] ^ (numbers[i - degree] << degree);
        for k in 1..degree {
            if polynomial >> (degree - k) & 1 == 1 {
                next ^= numbers[i - k] << k;
            }
        }
        numbers.push(next);
    }
    std::array::from_fn(|i| numbers[i] << (31 - i))
}

/// Permutes each bit by those above it (Owen's scrambling, by the hash of Laine and Karras 2011).
fn scrambled(bits: u32, seed: u32) -> u32 {
    let mut x = bits.reverse_bits().wrapping_add(seed);
    for factor in [0x6c50_b47c_u32, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6] {
        x ^= x.wrapping_mul(factor);
    }
    x.reverse_bits()
}

/// A word whose bits all depend on all of `x` (the last step of Appleby's MurmurHash3).
fn mixed(x: u32) -> u32 {
    let mut x = x.wrapping_mul(0x9e37_79b9);
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests;
