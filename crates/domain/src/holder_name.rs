//! The name of a bank account's holder: whether it is plausible, and whether a rail can transmit it
//! as registered.
//!
//! Checked before any tokens move. A bank compares the name with that of its account, so a machine
//! transliteration of another script is not sufficient.

use unicode_normalization::char::is_combining_mark;

use crate::rail_text::CharacterSet;

/// Minimum number of letters.
pub const LETTERS_MIN: usize = 2;
/// Punctuation in names of persons and companies, with typographic variants.
const SIGNS: &str =
    "-/().,'+&\u{2018}\u{2019}\u{2BC}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{B7}";

/// Whether a rail with this character set can pay an account of this holder: the name has letters
/// and only punctuation that names have, each of its words survives in the rail's spelling, and its
/// letters are Latin unless the rail accepts all.
pub fn can_be_paid(set: CharacterSet, name: &str) -> bool {
    let letters = || name.chars().filter(|c| c.is_alphabetic() && !SIGNS.contains(*c));
    let is_of_names = |c: char| {
        c.is_alphanumeric() || c.is_whitespace() || is_combining_mark(c) || SIGNS.contains(c)
    };
    letters().count() >= LETTERS_MIN
        && name.chars().all(is_of_names)
        && (set == CharacterSet::Unicode || letters().all(is_latin))
        && set.can_name(name)
}

/// Whether a letter is Latin (Unicode 16, Blocks.txt: the blocks with Latin letters).
const fn is_latin(letter: char) -> bool {
    matches!(
        letter,
        'A'..='Z'
            | 'a'..='z'
            | '\u{AA}'
            | '\u{BA}'
            | '\u{C0}'..='\u{2AF}'
            | '\u{1D00}'..='\u{1D25}'
            | '\u{1D2C}'..='\u{1DBF}'
            | '\u{1E00}'..='\u{1EFF}'
            | '\u{2C60}'..='\u{2C7F}'
            | '\u{A720}'..='\u{A7FF}'
            | '\u{AB30}'..='\u{AB6F}'
            | '\u{FB00}'..='\u{FB06}'
            | '\u{FF21}'..='\u{FF3A}'
            | '\u{FF41}'..='\u{FF5A}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_persons_and_companies_in_latin_letters_can_be_paid() {
        for name in [
            "Asha Khan",
            "U Nu",
            "Nguyễn Thị Đào",
            "O’Brien-Smith, Jr.",
            "Müller & Söhne GmbH",
            "M/s Khan Traders (Pvt.) Ltd.",
            "3M Pakistan",
            "Dʼ Souza",
            "Ａｓｈａ Khan",
            "Ayesha  bint\u{A0}Ali",
        ] {
            for set in [
                CharacterSet::SwiftX,
                CharacterSet::Ascii,
                CharacterSet::Latin1,
                CharacterSet::Unicode,
            ] {
                assert!(can_be_paid(set, name), "{set:?}: {name}");
            }
        }
    }

    #[test]
    fn an_implausible_name_cannot_be_paid() {
        for name in [
            "",
            " ",
            "123",
            "0011 2345",
            "x",
            "- .",
            "<b>x</b>",
            "Asha <Khan>",
            "=cmd|Khan",
            "{{name}} Khan",
            "Asha Khan; DROP",
            "asha@example.com",
            "http://khan",
            "Asha \u{1F600} Khan",
            "Asha\u{200B}Khan",
            "\"Khan\"",
        ] {
            for set in [CharacterSet::SwiftX, CharacterSet::Unicode] {
                assert!(!can_be_paid(set, name), "{set:?}: {name:?}");
            }
        }
    }

    /// A transliteration table turns the first into "'i'shh khn": the bank refuses it after the
    /// tokens have moved.
    #[test]
    fn another_script_needs_a_rail_that_accepts_it() {
        for name in
            ["عائشہ خان", "李小龙", "আবদুল করিম", "राम कुमार", "Иван Щербаков", "김철수", "Asha خان"]
        {
            for set in [CharacterSet::SwiftX, CharacterSet::Ascii, CharacterSet::Latin1] {
                assert!(!can_be_paid(set, name), "{set:?}: {name}");
            }
            assert!(can_be_paid(CharacterSet::Unicode, name), "{name}");
        }
    }
}
