//! Amounts of the wallet service: text of at most 12 digits and 6 decimals outside, millionths of a
//! unit inside.

/// Decimals of both stablecoins, and of every amount that the wallet service parses.
pub const DECIMALS: usize = 6;
/// Maximum number of digits before the decimal point.
pub const WHOLE_DIGITS: usize = 12;

/// Parses `^\d{1,12}(\.\d{1,6})?$`, greater than zero, as millionths (`decisions.md`, "Amounts").
pub fn parse(text: &str) -> Option<i64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > WHOLE_DIGITS || fraction.len() > DECIMALS {
        return None;
    }
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let minor: i64 = format!("{whole}{fraction:0<DECIMALS$}").parse().ok()?;
    Some(minor).filter(|minor| *minor > 0)
}

/// Formats millionths in the shortest exact form with at least two decimals: `25.00`, `0.000001`.
pub fn show(minor: i64) -> String {
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = DECIMALS + 1);
    let (whole, fraction) = digits.split_at(digits.len() - DECIMALS);
    let kept = fraction.trim_end_matches('0').len().max(2);
    let sign = if minor < 0 { "-" } else { "" };
    format!("{sign}{whole}.{}", &fraction[..kept])
}

/// The first two decimals, which select the sandbox's behaviour.
pub const fn cents(minor: i64) -> i64 {
    minor.rem_euclid(1_000_000) / 10_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_have_12_digits_and_6_decimals_and_are_positive() {
        for (text, minor) in [
            ("25", 25_000_000),
            ("25.0", 25_000_000),
            ("0025.5", 25_500_000),
            ("0.000001", 1),
            ("999999999999.999999", 999_999_999_999_999_999),
        ] {
            assert_eq!(parse(text), Some(minor), "{text}");
        }
        for wrong in [
            "",
            "0",
            "0.000000",
            "-1",
            "+1",
            "1.",
            ".5",
            "1.0000000",
            "1234567890123",
            "1e3",
            "1,5",
            "1.5.5",
            " 1",
            "1 ",
            "0x10",
            "NaN",
            "١٢",
            "1_000",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn amounts_print_in_their_shortest_form_with_two_decimals_at_least() {
        for (minor, text) in [
            (25_000_000, "25.00"),
            (1, "0.000001"),
            (25_100_000, "25.10"),
            (25_120_000, "25.12"),
            (25_123_000, "25.123"),
            (0, "0.00"),
            (-1, "-0.000001"),
        ] {
            assert_eq!(show(minor), text);
        }
    }

    proptest! {
        #[test]
        fn printed_amounts_round_trip(minor in 1_i64..1_000_000_000_000_000_000) {
            prop_assert_eq!(parse(&show(minor)), Some(minor));
        }

        #[test]
        fn the_grammar_matches_the_decisions(text in "[0-9]{0,14}(\\.[0-9]{0,8})?") {
            let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(w, f)| (w, Some(f)));
            let form = (1..=12).contains(&whole.len()) && fraction.is_none_or(|f| (1..=6).contains(&f.len()));
            let more_than_nothing = text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
            prop_assert_eq!(parse(&text).is_some(), form && more_than_nothing);
        }
    }
}
