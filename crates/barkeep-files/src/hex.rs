//! Writes bytes as hexadecimal digits and reads them back.

/// Bytes in hexadecimal digits.
#[must_use]
pub fn digits(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let half = |digit: u8| char::from(DIGITS[usize::from(digit & 15)]);
    bytes.iter().flat_map(|byte| [half(byte >> 4), half(*byte)]).collect()
}

/// The N bytes of 2N hexadecimal digits; none for anything else.
#[must_use]
pub fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    // A sign before a digit would parse as a number.
    if digits.len() != 2 * N || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        assert_eq!(digits(&[0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(bytes::<4>("0001abff"), Some([0, 1, 0xab, 0xff]));
        for wrong in ["", "0001abf", "0001abfg", "+001abff", "0001abff0", "é001abf"] {
            assert_eq!(bytes::<4>(wrong), None, "{wrong}");
        }
    }
}
