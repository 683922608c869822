//! Hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Lower-case digits, two for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Parses exactly `BYTES` bytes of digits, in either case and without a prefix.
pub fn unhex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    if text.len() != 2 * BYTES {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out = [0; BYTES];
    for (byte, pair) in out.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_and_read_as_digits() {
        assert_eq!(hex(&[0, 0x0f, 0xa0, 0xff]), "000fa0ff");
        assert_eq!((unhex("000fA0ff"), unhex::<0>("")), (Some([0, 0x0f, 0xa0, 0xff]), Some([])));
        for wrong in
            ["", "0", "000", "00000", "0x00", "+100", "0g00", " 000", "\u{e9}00", "00\u{e9}"]
        {
            assert_eq!(unhex::<2>(wrong), None, "{wrong:?}");
        }
    }
}
