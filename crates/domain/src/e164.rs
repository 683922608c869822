//! Telephone numbers in the international format (ITU-T E.164).
//!
//! Validates the format only, not whether the number is in service.

/// Minimum digits after the plus sign, country code included.
const MIN_DIGITS: usize = 7;
/// Maximum digits after the plus sign (E.164 section 6).
const MAX_DIGITS: usize = 15;

/// Whether `text` is `+` followed by 7 to 15 digits, the first not 0.
pub fn is_e164(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        (MIN_DIGITS..=MAX_DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_plus_and_digits() {
        for right in ["+971501234567", "+6591234567", "+1234567", "+123456789012345"] {
            assert!(is_e164(right), "{right}");
        }
        for wrong in [
            "",
            "+",
            "971501234567",
            "00971501234567",
            "+0501234567",
            "+123456",
            "+1234567890123456",
            "+97 150",
        ] {
            assert!(!is_e164(wrong), "{wrong}");
        }
    }
}
