use super::*;
use proptest::prelude::*;

/// All numbers, taken in pieces of `most`.
fn read(page: &[u8], mut runs: Runs, most: usize, count: usize) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let start = numbers.len();
        match runs.next(page, most.min(count - start))? {
            Piece::Same(number, times) => numbers.resize(start + times, number),
            Piece::Packed(packed, times) => {
                numbers.resize(start + times, 0);
                packed.each(page, &mut numbers[start..], |number| number)?;
            }
        }
    }
    Some(numbers)
}

/// A run as the format's description writes it, bit by bit.
fn write(page: &mut Vec<u8>, width: u32, numbers: &[u32], packed: bool) {
    let mut header = if packed { (numbers.len() / 8) << 1 | 1 } else { numbers.len() << 1 };
    while header >= 0x80 {
        page.push((header & 0x7f) as u8 | 0x80);
        header >>= 7;
    }
    page.push(header as u8);
    if packed {
        let bits: Vec<bool> =
            numbers.iter().flat_map(|number| (0..width).map(move |bit| number >> bit & 1 == 1)).collect();
        page.extend(
            bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))),
        );
    } else {
        page.extend(&numbers[0].to_le_bytes()[..width.div_ceil(8) as usize]);
    }
}

proptest! {
    #[test]
    fn numbers_come_back(
        width in 0_u32..=32,
        runs in prop::collection::vec((any::<bool>(), 1_usize..30, any::<u32>()), 1..8),
        before in 0_usize..4,
        most in 1_usize..70,
    ) {
        let mut page = vec![0xff; before];
        let mut numbers = Vec::new();
        for (packed, length, seed) in runs {
            let of = |i: usize| seed.rotate_left(i as u32 * 7) & ((1_u64 << width) - 1) as u32;
            let run: Vec<u32> =
                if packed { (0..8 * length).map(of).collect() } else { vec![of(0); length] };
            write(&mut page, width, &run, packed);
            numbers.extend(run);
        }
        let all = Runs::new(width, before, page.len()).unwrap();
        prop_assert_eq!(read(&page, all, most, numbers.len()), Some(numbers.clone()));
        // Not one more, and none from a page that is cut.
        prop_assert!(read(&page, Runs::new(width, before, page.len()).unwrap(), most, numbers.len() + 1).is_none());
        if width > 0 {
            let cut = &page[..page.len() - 1];
            prop_assert!(read(cut, Runs::new(width, before, cut.len()).unwrap(), most, numbers.len()).is_none());
        }
    }

    #[test]
    fn no_bytes_make_it_fail(page in prop::collection::vec(any::<u8>(), 0..60), width in 0_u32..40, most in 1_usize..90) {
        if let Some(runs) = Runs::new(width, 0, page.len()) {
            let _ = read(&page, runs, most, 5000);
        }
    }
}

#[test]
fn single_bits_come_back() {
    let numbers = read(&[0, 0b1010_0110, 1], Runs::bits(1, 3).unwrap(), 5, 16).unwrap();
    assert_eq!(numbers, [0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert!(read(&[1], Runs::bits(0, 1).unwrap(), 3, 9).is_none());
}
