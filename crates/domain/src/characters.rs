//! Which characters of a text are visible, and which must not occur in names, addresses and ids.
//! Decided by Unicode properties, never by a list of characters seen so far.

use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, GeneralCategory, NoncharacterCodePoint,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The blank Braille pattern: a symbol without visible dots.
const BRAILLE_BLANK: char = '\u{2800}';
/// Tag characters, used in flags: they carry invisible text.
const TAGS: std::ops::RangeInclusive<char> = '\u{E0000}'..='\u{E007F}';
/// Interlinear annotation marks: the text between them is displayed elsewhere or not at all.
const ANNOTATION: std::ops::RangeInclusive<char> = '\u{FFF9}'..='\u{FFFB}';

/// Whether a character is invisible and separates nothing (Unicode `Default_Ignorable_Code_Point`):
/// joiners, fillers, variation selectors, direction marks.
pub fn is_ignorable(character: char) -> bool {
    !character.is_ascii()
        && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// Whether a character is displayed as a gap between words.
pub fn is_gap(character: char) -> bool {
    character.is_whitespace() || character == BRAILLE_BLANK
}

/// Whether nothing of a text is visible: it is empty, or has no letter, number, punctuation mark or
/// symbol. Controls and private-use characters do not make a text blank: they are refused.
pub fn is_blank(text: &str) -> bool {
    !text.chars().any(is_seen)
}

fn is_seen(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_graphic()
            || (character.is_ascii_control() && !character.is_ascii_whitespace());
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let shows = matches!(
        category,
        GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::DecimalNumber
            | GeneralCategory::LetterNumber
            | GeneralCategory::OtherNumber
            | GeneralCategory::DashPunctuation
            | GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::ConnectorPunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation
            | GeneralCategory::MathSymbol
            | GeneralCategory::CurrencySymbol
            | GeneralCategory::ModifierSymbol
            | GeneralCategory::OtherSymbol
            | GeneralCategory::Control
            | GeneralCategory::PrivateUse
    );
    shows && !is_gap(character) && !is_ignorable(character)
}

/// The characters that [`is_forbidden`] refuses, worded for error messages.
pub const FORBIDDEN: &str =
    "bidirectional controls, line separators, private-use characters, tags or noncharacters";

/// Whether a character must not occur in a name, an address or an id: it changes the text
/// direction, ends the line, has a private meaning, or is a noncharacter.
pub fn is_forbidden(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    CodePointSetData::new::<BidiControl>().contains(character)
        || CodePointSetData::new::<NoncharacterCodePoint>().contains(character)
        || matches!(
            category,
            GeneralCategory::PrivateUse
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        )
        || TAGS.contains(&character)
        || ANNOTATION.contains(&character)
}

/// Whether a character must not occur within a line that is shown: a control character, or one that
/// [`is_forbidden`] refuses.
pub fn is_unshowable(character: char) -> bool {
    character.is_control() || is_forbidden(character)
}

/// At most `max_chars` characters of a text from outside, for one line: a bank's, a node's or a
/// browser's. Each unshowable character becomes a space.
pub fn one_line(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).map(|it| if is_unshowable(it) { ' ' } else { it }).collect()
}

/// A line that a user entered, trimmed; `None` unless it has 1 to `max_chars` characters, none of
/// them unshowable.
pub fn entered(text: &str, max_chars: usize) -> Option<&str> {
    let text = text.trim();
    let fits = (1..=max_chars).contains(&text.chars().count());
    (fits && !text.chars().any(is_unshowable)).then_some(text)
}

/// The text with the decimal digits of every script as ASCII digits: people type numbers in the
/// digits of their language.
pub fn with_ascii_digits(text: &str) -> String {
    text.chars().map(|character| ascii_digit(character).unwrap_or(character)).collect()
}

/// The digits of a script follow one another from zero, and so do the scripts of a run.
fn ascii_digit(character: char) -> Option<char> {
    if character.is_ascii() {
        return None;
    }
    let categories = CodePointMapData::<GeneralCategory>::new();
    let run = (0..=u32::from(character)).rev().map_while(char::from_u32);
    let run = run.take_while(|it| categories.get(*it) == GeneralCategory::DecimalNumber);
    let value = run.count().checked_sub(1)? % 10;
    char::from_digit(u32::try_from(value).ok()?, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_character_that_moves_ends_or_hides_text() {
        let hostile = [
            "\u{202E}", "\u{2066}", "\u{200F}", "\u{2028}", "\u{2029}", "\n", "\u{1b}", "\u{85}",
            "\u{E000}",
        ];
        for character in hostile {
            let text = format!("a{character}b");
            assert_eq!(one_line(&text, 9), "a b", "{character:?}");
            assert_eq!(entered(&text, 9), None, "{character:?}");
        }
        for text in ["رقم الحساب ۱۲۳", "Ça va – “oui”", "a\u{200C}b"] {
            assert_eq!((one_line(text, 99).as_str(), entered(text, 99)), (text, Some(text)));
        }
        assert_eq!(one_line("abc", 2), "ab");
        assert_eq!(
            (entered(" ab ", 2), entered("abc", 2), entered(" ", 2)),
            (Some("ab"), None, None)
        );
    }

    #[test]
    fn digits_of_every_script_become_ascii_digits() {
        for digits in [
            "٠١٢٣٤٥٦٧٨٩",
            "۰۱۲۳۴۵۶۷۸۹",
            "০১২৩৪৫৬৭৮৯",
            "०१२३४५६७८९",
            "０１２３４５６７８９",
            "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡",
        ] {
            assert_eq!(with_ascii_digits(digits), "0123456789", "{digits}");
        }
        for same in ["", "+971 50", "½²Ⅷ", "ش-7"] {
            assert_eq!(with_ascii_digits(same), same);
        }
    }

    #[test]
    fn a_text_without_visible_characters_is_blank() {
        let unseen = "\u{200B}\u{AD}\u{34F}\u{115F}\u{3164}\u{FFA0}\u{2800}\u{FE0F}\u{E0001}\u{301}\u{2028}\u{1D173}";
        for text in ["", " ", "\u{A0}\u{2003}", unseen] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in
            ["a", "-", "ش", "中", "\u{200B}.", "№", "😀", "\0", "\u{7}", "\u{9F}", "\u{E000}"]
        {
            assert!(!is_blank(text), "{text:?}");
        }
        assert!(unseen.chars().all(|it| is_blank(&it.to_string())));
    }

    #[test]
    fn misleading_characters_are_forbidden_and_those_of_languages_are_not() {
        let marks = ['\u{61C}', '\u{200E}', '\u{200F}'];
        let ranges = ('\u{202A}'..='\u{202E}')
            .chain('\u{2066}'..='\u{2069}')
            .chain('\u{E0000}'..='\u{E007F}');
        let plain = [
            '\u{E000}',
            '\u{F8FF}',
            '\u{F0000}',
            '\u{10FFFD}',
            '\u{FDD0}',
            '\u{FFFE}',
            '\u{FFFF}',
            '\u{1FFFF}',
        ];
        let others = ['\u{10FFFF}', '\u{2028}', '\u{2029}', '\u{FFF9}'];
        for character in marks.into_iter().chain(ranges).chain(plain).chain(others) {
            assert!(is_forbidden(character), "{character:?}");
        }
        // Joiners of Persian and Hindi, soft hyphens and the like are left out where names are
        // compared and sent.
        for character in "aé\u{200C}\u{200D}\u{200B}\u{AD}ش中😀‐’".chars() {
            assert!(!is_forbidden(character), "{character:?}");
        }
    }
}
