//! Personal data as lists show it: enough to tell two apart, not enough to know whose it is.

/// What stands for what is not shown.
const HIDDEN: &str = "•••";
/// Characters of an account's end that are shown.
const SHOWN: usize = 4;

/// The first letter of each word of a name.
pub fn name(name: &str) -> String {
    let initials = name.split_whitespace().filter_map(|word| word.chars().next());
    let shown: Vec<String> = initials.map(|letter| format!("{letter}{HIDDEN}")).collect();
    if shown.is_empty() { HIDDEN.to_owned() } else { shown.join(" ") }
}

/// The last characters of an account number, where enough stays hidden.
pub fn account(number: &str) -> String {
    let letters: Vec<char> = number.chars().collect();
    let shown = if letters.len() >= 2 * SHOWN { SHOWN } else { 0 };
    format!("{HIDDEN}{}", letters[letters.len() - shown..].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_shown() {
        assert_eq!(name("Ali  Khan Jr"), "A••• K••• J•••");
        assert_eq!((name(""), name("علي")), ("•••".to_owned(), "ع•••".to_owned()));
        assert_eq!(account("PK36SCBL0000001123456702"), "•••6702");
        assert_eq!((account("1234567"), account("")), ("•••".to_owned(), "•••".to_owned()));
    }
}
