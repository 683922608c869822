//! Masks personal data for lists: enough to distinguish, not enough to identify.

const HIDDEN: &str = "•••";
/// Visible characters at the end of an account number.
const SHOWN: usize = 4;

/// The first letter of each word of a name.
pub fn name(name: &str) -> String {
    let initials = name.split_whitespace().filter_map(|word| word.chars().next());
    let shown: Vec<String> = initials.map(|letter| format!("{letter}{HIDDEN}")).collect();
    if shown.is_empty() { HIDDEN.to_owned() } else { shown.join(" ") }
}

/// The first word of a name and the first letter of its last one.
pub fn short_name(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().unwrap_or(HIDDEN);
    match words.next_back().and_then(|last| last.chars().next()) {
        Some(letter) => format!("{first} {letter}."),
        None => first.to_owned(),
    }
}

/// The last characters of an account number, if enough remains hidden.
pub fn account(number: &str) -> String {
    let letters: Vec<char> = number.chars().collect();
    let shown = if letters.len() >= 2 * SHOWN { SHOWN } else { 0 };
    format!("{HIDDEN}{}", letters[letters.len() - shown..].iter().collect::<String>())
}

/// The last two digits of a telephone number.
pub fn phone(digits: &str) -> String {
    format!("{HIDDEN}{}", digits.get(digits.len().saturating_sub(2)..).unwrap_or_default())
}

/// The first letters of an e-mail address and of its domain.
pub fn email(address: &str) -> String {
    let (local, domain) = address.split_once('@').unwrap_or((address, ""));
    format!("{}@{}", name(local), name(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_characters_are_hidden() {
        assert_eq!(name("Ali  Khan Jr"), "A••• K••• J•••");
        assert_eq!((name(""), name("علي")), ("•••".to_owned(), "ع•••".to_owned()));
        assert_eq!(
            (short_name("Bilal Ahmed Sample"), short_name("Asha")),
            ("Bilal S.".to_owned(), "Asha".to_owned())
        );
        assert_eq!(account("PK36SCBL0000001123456702"), "•••6702");
        assert_eq!(
            (email("asha.k@example.com"), email("@")),
            ("a•••@e•••".into(), "•••@•••".into())
        );
        assert_eq!((account("1234567"), account("")), ("•••".to_owned(), "•••".to_owned()));
    }
}
