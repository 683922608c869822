//! Text in a rail's character set, with transliteration of everything outside it.
//!
//! Stored values are never changed, and the message decides about lengths.

use any_ascii::any_ascii_char;
use icu_properties::CodePointSetData;
use icu_properties::props::{EmojiModifier, ExtendedPictographic, RegionalIndicator};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::characters::{is_gap, is_ignorable};

/// Character set of a rail (`rails.….character_set`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CharacterSet {
    /// SWIFT's x set: letters, digits, `/-?:().,'+` and the space. Every bank accepts it.
    #[default]
    SwiftX,
    /// Printable ASCII: the space to the tilde (U+0020 to U+007E).
    Ascii,
    /// ISO 8859-1: Western European letters too.
    Latin1,
    /// Everything that ISO 20022 permits: the text is sent as stored.
    Unicode,
}

impl CharacterSet {
    /// The text in this set, at most `max_chars` characters long, trimmed and without repeated
    /// spaces. Letters outside the set are transliterated, punctuation without an equivalent
    /// becomes `.`, pictures and flags are left out; a text left without a letter or digit is empty.
    pub fn spell(self, text: &str, max_chars: usize) -> String {
        let mut out = String::with_capacity(text.len());
        for character in text.nfc() {
            match character {
                hidden if is_ignorable(hidden) => {}
                gap if is_gap(gap) => {
                    if !out.ends_with(' ') {
                        out.push(' ');
                    }
                }
                control if control.is_control() => out.push('.'),
                taken if self.takes(taken) => out.push(taken),
                picture if is_picture(picture) => {}
                other => self.transliterate(other, &mut out),
            }
        }
        let said: String = out.trim().chars().take(max_chars).collect();
        let says = said.chars().any(char::is_alphanumeric);
        if says { said.trim_end().to_owned() } else { String::new() }
    }

    /// Whether a name can be transmitted: it has a letter, and every word of it keeps a letter or a
    /// digit.
    pub fn can_name(self, name: &str) -> bool {
        let mut words = name
            .split_whitespace()
            .filter(|word| word.chars().any(char::is_alphanumeric))
            .peekable();
        name.chars().any(char::is_alphabetic)
            && words.peek().is_some()
            && words.all(|word| !self.spell(word, usize::MAX).is_empty())
    }

    /// Whether the text is in this set as it stands.
    pub fn contains(self, text: &str) -> bool {
        text.chars().all(|character| self.takes(character))
    }

    fn takes(self, character: char) -> bool {
        match self {
            CharacterSet::SwiftX => {
                character.is_ascii_alphanumeric() || "/-?:().,'+ ".contains(character)
            }
            CharacterSet::Ascii => matches!(character, ' '..='~'),
            CharacterSet::Latin1 => matches!(character, ' '..='~' | '\u{A1}'..='\u{FF}'),
            CharacterSet::Unicode => true,
        }
    }

    fn transliterate(self, character: char, out: &mut String) {
        let spelling = any_ascii_char(character);
        // Non-Latin letters and marks are left out; a placeholder shows a dropped symbol.
        if spelling.is_empty() && !character.is_alphabetic() && !is_combining_mark(character) {
            out.push('.');
        }
        out.extend(spelling.chars().map(|sign| match sign {
            taken if self.takes(taken) => taken,
            // Only the x set lacks some of ASCII.
            '&' => '+',
            '_' => '-',
            '`' => '\'',
            _ => '.',
        }));
    }
}

/// Whether a character is an emoji or a part of one, whose name would be taken for text.
fn is_picture(character: char) -> bool {
    !character.is_ascii()
        && (CodePointSetData::new::<ExtendedPictographic>().contains(character)
            || CodePointSetData::new::<RegionalIndicator>().contains(character)
            || CodePointSetData::new::<EmojiModifier>().contains(character)
            || any_ascii_char(character).starts_with(':') && !character.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::CharacterSet::{Ascii, Latin1, SwiftX, Unicode};

    #[test]
    fn text_is_transliterated_to_the_x_set_and_truncated() {
        for (text, max, said) in [
            ("Muḥammad  Ali", 140, "Muhammad Ali"),
            ("Nguyễn Thị Đào", 140, "Nguyen Thi Dao"),
            ("Nguye\u{302}\u{303}n", 140, "Nguyen"),
            ("Müller & Söhne_GmbH", 140, "Muller + Sohne-GmbH"),
            ("Straße 5\r\n<b>", 140, "Strasse 5 .b."),
            ("O’Brien–Smith", 140, "O'Brien-Smith"),
            ("\u{202E}evil\u{202C}", 140, "evil"),
            ("=HYPERLINK(\"x\")", 140, ".HYPERLINK(.x.)"),
            ("ﬁnance №5", 140, "finance No5"),
            ("abc def", 4, "abc"),
            ("ßßß", 5, "sssss"),
            ("   ", 35, ""),
            ("...", 35, ""),
            ("\u{7F}a", 35, ".a"),
        ] {
            assert_eq!(SwiftX.spell(text, max), said, "{text}");
        }
    }

    #[test]
    fn pictures_are_left_out() {
        for (text, said) in [
            ("Ayesha 🌹 Khan", "Ayesha Khan"),
            ("Ayesha🌹", "Ayesha"),
            ("Khan 🇵🇰", "Khan"),
            ("👍🏽 Asha 👩\u{200D}⚕\u{FE0F}", "Asha"),
            ("🏙", ""),
            ("☎ 12", "12"),
            ("№5 at 20°", "No5 at 20deg"),
        ] {
            for set in [SwiftX, Ascii] {
                assert_eq!(set.spell(text, 140), said, "{set:?} {text}");
            }
        }
        assert!(!SwiftX.can_name("🌹") && SwiftX.can_name("Asha 🌹"));
    }

    /// The scripts of the seven countries, and of the senders' countries.
    #[test]
    fn names_of_other_scripts_are_transliterated() {
        for (name, said) in [
            ("আবদুল করিম", "abdul krim"),
            ("राम कुमार", "ram kumar"),
            ("नेपाल शर्मा", "nepal srma"),
            ("محمد علی", "mhmd 'ly"),
            ("عائشہ", "'i'shh"),
            ("مُحَمَّد", "muhamad"),
            ("Иван Щербаков", "Ivan Shcherbakov"),
            ("李小龍", "LiXiaoLong"),
            ("김철수", "GimCheolSu"),
        ] {
            assert_eq!(SwiftX.spell(name, 140), said, "{name}");
            assert!(SwiftX.can_name(name), "{name}");
        }
    }

    #[test]
    fn a_wider_set_keeps_more() {
        let text = "Müller & Đào <আ>";
        for (set, said) in [
            (SwiftX, "Muller + Dao .a."),
            (Ascii, "Muller & Dao <a>"),
            (Latin1, "Müller & Dào <a>"),
            (Unicode, "Müller & Đào <আ>"),
        ] {
            assert_eq!(set.spell(text, 140), said, "{set:?}");
        }
        // Truncates characters, not bytes, and never sends text direction controls.
        assert_eq!(Unicode.spell("আবদুল", 3), "আবদ");
        assert_eq!(Unicode.spell("a\u{202E}b\u{1}", 9), "ab.");
        // Invisible characters are never sent, in any set: the screened text is the sent text.
        for set in [SwiftX, Ascii, Latin1, Unicode] {
            assert_eq!(
                set.spell("A\u{34F}s\u{3164}h\u{115F}a\u{E0001}\u{2800}Khan\u{180E}", 140),
                "Asha Khan",
                "{set:?}"
            );
        }
    }

    #[test]
    fn a_name_that_loses_a_word_cannot_be_transmitted() {
        let lost = "\u{E000}\u{E001}";
        for (name, can) in [
            ("Asha Khan", true),
            ("Asha - Khan", true),
            ("3M", true),
            ("7", false),
            ("", false),
            ("- .", false),
        ] {
            assert_eq!(SwiftX.can_name(name), can, "{name}");
        }
        // A rare ideograph without a reading.
        for name in [lost, "\u{3200C}", "Asha \u{3200C}"] {
            for set in [SwiftX, Ascii, Latin1] {
                assert!(!set.can_name(name), "{set:?}, {name}");
            }
        }
        assert!(Unicode.can_name("Asha \u{3200C}"));
    }
}
