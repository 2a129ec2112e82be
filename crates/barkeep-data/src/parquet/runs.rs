//! Reads Parquet's mix of runs and bit-packed numbers, which holds indices of a dictionary and says which values are there.

/// Numbers of one page that are not read yet.
pub(super) struct Runs {
    width: u32,
    /// The next byte of the page that no run holds yet.
    at: usize,
    end: usize,
    run: Run,
}

enum Run {
    Same { number: u32, left: usize },
    Packed { bit: usize, left: usize },
}

/// Some numbers that follow each other.
pub(super) enum Piece {
    /// One number, this many times.
    Same(u32, usize),
    /// This many numbers from this bit of the page on.
    Packed(Packed, usize),
}

/// Where bit-packed numbers start, and how many bits each has.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    bit: usize,
    width: u32,
}

/// Numbers have at most this many bits.
const WIDEST: u32 = 32;

impl Runs {
    /// Numbers of `width` bits in a page's bytes from `at` to `end`; none if there are no such numbers.
    pub(super) fn new(width: u32, at: usize, end: usize) -> Option<Self> {
        let run = Run::Same { number: 0, left: 0 };
        (width <= WIDEST && at <= end).then_some(Self { width, at, end, run })
    }

    /// Single bits, without runs, from byte `at` to `end`.
    pub(super) fn bits(at: usize, end: usize) -> Option<Self> {
        let left = end.checked_sub(at)?.checked_mul(8)?;
        Some(Self { width: 1, at: end, end, run: Run::Packed { bit: at.checked_mul(8)?, left } })
    }

    /// The next numbers, at least one and at most `most`; none where there are no more.
    pub(super) fn next(&mut self, page: &[u8], most: usize) -> Option<Piece> {
        loop {
            match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => self.turn(page)?,
                Run::Same { number, left } => {
                    let count = most.min(*left);
                    *left -= count;
                    return Some(Piece::Same(*number, count));
                }
                Run::Packed { bit, left } => {
                    let packed = Packed { bit: *bit, width: self.width };
                    let count = most.min(*left);
                    *bit = bit.checked_add(count.checked_mul(self.width as usize)?)?;
                    *left -= count;
                    return Some(Piece::Packed(packed, count));
                }
            }
        }
    }

    /// Turns to the next run.
    fn turn(&mut self, page: &[u8]) -> Option<()> {
        let bytes = page.get(..self.end)?;
        let (mut header, mut shift) = (0_u64, 0);
        loop {
            let byte = *bytes.get(self.at)?;
            self.at += 1;
            // A header of more bits counts more numbers than a page can.
            header |= u64::from(byte & 0x7f).checked_shl(shift).filter(|_| shift < 63)?;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let length = usize::try_from(header >> 1).ok()?;
        self.run = if header & 1 == 0 {
            let size = self.width.div_ceil(8) as usize;
            let mut number = [0_u8; 4];
            number.get_mut(..size)?.copy_from_slice(bytes.get(self.at..self.at.checked_add(size)?)?);
            self.at += size;
            Run::Same { number: u32::from_le_bytes(number), left: length }
        } else {
            // The last run may be longer than the page: what is missing is nobody's.
            let size = length.checked_mul(self.width as usize)?.min(bytes.len() - self.at);
            let bit = self.at.checked_mul(8)?;
            self.at += size;
            let left = (size * 8).checked_div(self.width as usize).unwrap_or(length.checked_mul(8)?);
            Run::Packed { bit, left }
        };
        Some(())
    }
}

impl Packed {
    /// The `count` numbers from number `from` on, where each is a single bit: at most 57, the first in the lowest. Bits above them may
    /// be anything. None if the page ends before.
    #[inline]
    pub(super) fn bits(self, page: &[u8], from: usize, count: usize) -> Option<u64> {
        let bit = self.bit.checked_add(from)?;
        let rest = page.get(bit / 8..).filter(|rest| (bit % 8 + count).div_ceil(8) <= rest.len())?;
        Some(word(rest)? >> (bit % 8))
    }

    /// Writes what `look` makes of each number; none if the page ends before.
    #[inline]
    pub(super) fn each<T>(self, page: &[u8], out: &mut [T], mut look: impl FnMut(u32) -> T) -> Option<()> {
        let width = self.width as usize;
        let last = self.bit.checked_add(out.len().checked_mul(width)?)?;
        if last.div_ceil(8) > page.len() {
            return None;
        }
        if width == 1 && self.bit.is_multiple_of(8) {
            let bytes = page.get(self.bit / 8..)?;
            for (out, byte) in out.chunks_mut(8).zip(bytes) {
                for (place, out) in out.iter_mut().enumerate() {
                    *out = look(u32::from(byte >> place & 1));
                }
            }
            return Some(());
        }
        let mask = (1_u64 << self.width) - 1;
        let mut bit = self.bit;
        for out in out {
            // At most 7 bits below and 32 of the number: all in one word.
            #[expect(clippy::cast_possible_truncation, reason = "the mask has at most 32 bits")]
            let number = ((word(page.get(bit / 8..)?)? >> (bit % 8)) & mask) as u32;
            *out = look(number);
            bit += width;
        }
        Some(())
    }
}

/// The first eight bytes as a number, zeros where there are fewer.
#[inline]
fn word(bytes: &[u8]) -> Option<u64> {
    if let Some(word) = bytes.first_chunk::<8>() {
        return Some(u64::from_le_bytes(*word));
    }
    let mut word = [0_u8; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests;
