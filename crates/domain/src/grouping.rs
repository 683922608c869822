//! Amounts as people read and write them: digits in groups of three.

/// Groups the digits of an amount: `-1,250,000.50 PKR`. A number without fraction and unit (a chain
/// id, a block) stays unchanged.
pub fn grouped(number: &str) -> String {
    let (sign, rest) = number.split_at(number.len() - number.trim_start_matches(['-', '+']).len());
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (whole, rest) = rest.split_at(digits);
    if !rest.starts_with(['.', ' ']) {
        return number.to_owned();
    }
    let mut text = String::from(sign);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (digits - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// The number without its commas; `None` if one of them is elsewhere than before a group of three
/// digits, so that `1,5` is never read as 15.
pub fn ungrouped(number: &str) -> Option<String> {
    let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default().len();
    let mut is_fine = !number[whole.len()..].contains(',');
    for group in groups {
        is_fine &= (1..=3).contains(&first) && group.len() == 3;
    }
    is_fine.then(|| number.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_and_identifiers_are_not() {
        for (number, shown) in [
            ("10000000.000000 USDT", "10,000,000.000000 USDT"),
            ("-1250000.5 PKR", "-1,250,000.5 PKR"),
            ("+999 VND", "+999 VND"),
            ("+1000 VND", "+1,000 VND"),
            ("123456", "123456"),
            ("none", "none"),
            ("", ""),
            ("12.50 USDC, 3.00 USDT", "12.50 USDC, 3.00 USDT"),
        ] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn commas_stand_before_three_digits() {
        for (number, read) in [
            ("1,000.50", Some("1000.50")),
            ("12,345,678", Some("12345678")),
            ("1000.5", Some("1000.5")),
            ("", Some("")),
            ("1,5", None),
            ("1,00,000", None),
            ("1000,000", None),
            (",100", None),
            ("1,000,", None),
            ("1.000,50", None),
            ("1.5,000", None),
        ] {
            assert_eq!(ungrouped(number).as_deref(), read, "{number}");
        }
    }
}
