//! Draws the protecting randomness: independent fair bits from ChaCha20, seeded by the operating system.

use crate::Refused;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A source of independent fair bits. The samplers are written against it, so that tests can feed chosen bits
/// and recover the exact probabilities that run.
pub(crate) trait Bits {
    /// Sixty-four independent fair bits.
    fn next_u64(&mut self) -> u64;

    /// An integer below `n`, each with probability exactly 1/n; 0 where `n` is 0.
    ///
    /// The answer is i when w·n ∈ [2⁶⁴i, 2⁶⁴(i+1)) for a uniform word w, refused where w·n is less than
    /// r = 2⁶⁴ mod n above the start. What is left of the interval has length 2⁶⁴ − r = ⌊2⁶⁴/n⌋·n, so it holds
    /// exactly ⌊2⁶⁴/n⌋ multiples of n: the same number of words for every i (Lemire 2019).
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        // 2⁶⁴ mod n < n: the division is needed only when the low word is below n.
        if (product as u64) < n {
            let refused = n.wrapping_neg() % n;
            while (product as u64) < refused {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
}

/// Protecting randomness: the only source of coins, noise and batches.
///
/// **Privacy.** The guarantee is computational in this one place: the output of ChaCha20 under a key of 256
/// bits from the operating system is taken to be indistinguishable from independent fair bits. The state leaves
/// in no form: no `Clone`, no `Debug`, no serialisation, and a word drawn does not reveal the next.
/// One seeded by [`NoiseRng::insecure_seed`] protects nothing, and says so through [`NoiseRng::is_insecure`].
pub struct NoiseRng {
    words: ChaCha20Rng,
    insecure: bool,
}

impl NoiseRng {
    /// Seeds from the operating system.
    ///
    /// # Errors
    /// [`Refused::Randomness`] when the operating system gives none.
    pub fn from_os() -> Result<Self, Refused> {
        let mut key = [0; 32];
        #[expect(clippy::disallowed_methods, reason = "the one place where protecting randomness is seeded")]
        getrandom::fill(&mut key).map_err(|_| Refused::Randomness)?;
        Ok(Self { words: ChaCha20Rng::from_seed(key), insecure: false })
    }

    /// ChaCha20 under a key that anyone can know: only [`insecure`](crate::insecure) calls this.
    pub(crate) fn of_known_key(key: [u8; 32]) -> Self {
        Self { words: ChaCha20Rng::from_seed(key), insecure: true }
    }

    /// Whether a number seeded it, so that nothing drawn with it is private.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Turns one source into as many as there are chains; a chain's bits do not depend on how many there are.
    ///
    /// **Privacy.** All streams share a key of 256 bits drawn from `self`, and differ in ChaCha's stream
    /// number, so they never overlap. The source is consumed and the key is new: splitting a stream again gives
    /// streams under another key.
    pub fn into_streams(mut self) -> impl Iterator<Item = NoiseRng> {
        let mut key = [0; 32];
        self.words.fill_bytes(&mut key);
        let insecure = self.insecure;
        (0..).map(move |number| {
            let mut words = ChaCha20Rng::from_seed(key);
            words.set_stream(number);
            NoiseRng { words, insecure }
        })
    }

    /// How many words were drawn, where a number seeded it; none otherwise.
    ///
    /// **Privacy.** How many words an exact draw takes depends on the value drawn, so the number is secret where the
    /// words protect.
    pub(crate) fn position(&self) -> Option<u128> {
        self.insecure.then(|| self.words.get_word_pos())
    }

    /// Continues after this many words, where a number seeded it; changes nothing otherwise.
    pub(crate) fn continue_from(&mut self, position: u128) {
        if self.insecure {
            self.words.set_word_pos(position);
        }
    }

    /// Sixty-four independent fair bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.words.next_u64()
    }

    /// An integer below `n`, each with probability exactly 1/n; 0 where `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        Bits::below(self, n)
    }
}

impl Bits for NoiseRng {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.words.next_u64()
    }
}

/// Chosen words, and how many of them were read. Reading past the end is a defect of the test.
#[cfg(test)]
pub(crate) struct Script {
    words: Vec<u64>,
    pub(crate) read: usize,
}

#[cfg(test)]
impl Script {
    pub(crate) fn new(words: impl Into<Vec<u64>>) -> Self {
        Self { words: words.into(), read: 0 }
    }
}

#[cfg(test)]
impl Bits for Script {
    fn next_u64(&mut self) -> u64 {
        self.read += 1;
        self.words[self.read - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seeded_source_gives_the_same_words_in_every_version() {
        // Printed by tests/tables/make_chacha.py, which follows the definition of ChaCha20.
        let mut rng = NoiseRng::insecure_seed(7);
        let words = [0x72c11db5558b8329, 0xaabd940189220690, 0xf9138c788e01050d, 0x1737f6fbaf723d88];
        assert_eq!([(); 4].map(|()| rng.next_u64()), words);
        let mut streams = NoiseRng::insecure_seed(7).into_streams();
        let words = [(); 3].map(|()| streams.next().expect("streams never end").next_u64());
        assert_eq!(words, [0xe3e915ed8b4f9046, 0xa93de82f3234950f, 0x9c42b19637a3b859]);
    }

    #[test]
    fn insecurity_is_inherited_and_the_operating_system_is_not_a_number() {
        assert!(NoiseRng::insecure_seed(0).is_insecure());
        assert!(NoiseRng::insecure_seed(0).into_streams().take(3).all(|stream| stream.is_insecure()));
        let [mut one, mut two] = [(); 2].map(|()| NoiseRng::from_os().expect("entropy"));
        assert!(!one.is_insecure());
        assert!((0..4).any(|_| one.next_u64() != two.next_u64()));
        assert!(!one.into_streams().next().expect("streams never end").is_insecure());
    }

    #[test]
    fn a_seeded_source_continues_where_it_was_and_no_other_says_where_it_is() {
        let mut rng = NoiseRng::insecure_seed(7);
        for _ in 0..37 {
            rng.next_u64();
        }
        let position = rng.position().expect("seeded");
        let next = [(); 40].map(|()| rng.next_u64());
        let mut again = NoiseRng::insecure_seed(7);
        again.continue_from(position);
        assert_eq!([(); 40].map(|()| again.next_u64()), next);
        assert_eq!(NoiseRng::from_os().expect("entropy").position(), None);
    }

    #[test]
    fn below_accepts_equally_many_words_for_every_value() {
        // The accepted words of value i are consecutive: find the first and the last by bisection.
        for n in [1_u64, 2, 3, 5, 6, 1000, (1 << 32) - 5, (1 << 63) + 1, u64::MAX] {
            let each = (1_u128 << 64) / u128::from(n);
            for i in [0, 1, n / 2, n - 1] {
                if i >= n {
                    continue;
                }
                // A word is accepted when the script's second word, which yields another value, stays unread.
                let value = |word: u64| {
                    let mut script = Script::new([word, u64::MAX]);
                    let value = Bits::below(&mut script, n);
                    (script.read == 1).then_some(value)
                };
                let start = (u128::from(i) << 64).div_ceil(u128::from(n));
                let end = (u128::from(i + 1) << 64).div_ceil(u128::from(n));
                // Refused words lie at the start of the range of i and are fewer than two.
                let refused = (start..(start + 2).min(end)).take_while(|&word| value(word as u64).is_none());
                let first = start + refused.count() as u128;
                assert_eq!(end - first, each, "n = {n}, i = {i}");
                assert_eq!(value(first as u64), Some(i));
                assert_eq!(value((end - 1) as u64), Some(i));
            }
        }
        assert_eq!(Bits::below(&mut Script::new([u64::MAX]), 0), 0);
    }
}
