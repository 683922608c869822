//! Which characters of a text can be seen, and which may not stand in names, addresses and ids. By Unicode's properties,
//! never by a list of the characters that were met so far.

use icu_properties::props::{BidiControl, DefaultIgnorableCodePoint, GeneralCategory, NoncharacterCodePoint};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The blank pattern of Braille: a symbol that shows nothing.
const BRAILLE_BLANK: char = '\u{2800}';
/// Tags, of which flags are made: they carry text that nobody sees.
const TAGS: std::ops::RangeInclusive<char> = '\u{E0000}'..='\u{E007F}';
/// Marks of interlinear annotation: what stands between them is shown elsewhere or not at all.
const ANNOTATION: std::ops::RangeInclusive<char> = '\u{FFF9}'..='\u{FFFB}';

/// Whether a character shows nothing and parts nothing (Unicode `Default_Ignorable_Code_Point`): joiners, fillers,
/// variation selectors, direction marks.
pub fn is_ignorable(character: char) -> bool {
    !character.is_ascii() && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// Whether a character shows as a gap between words.
pub fn is_gap(character: char) -> bool {
    character.is_whitespace() || character == BRAILLE_BLANK
}

/// Whether nothing of a text can be seen: it is empty, or has neither a letter, a number, a sign nor a symbol. What may not
/// stand in any text (controls) or means what its sender alone knows (private use) makes it no blank one: it is refused.
pub fn is_blank(text: &str) -> bool {
    !text.chars().any(is_seen)
}

fn is_seen(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_graphic() || (character.is_ascii_control() && !character.is_ascii_whitespace());
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

/// What [`is_forbidden`] refuses, as error messages say it.
pub const FORBIDDEN: &str = "bidirectional controls, line separators, private-use characters, tags or noncharacters";

/// Whether a character may not stand in a name, an address or an id: it turns the direction of what others see, ends
/// the line, means what its sender alone knows, or is no character.
pub fn is_forbidden(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    CodePointSetData::new::<BidiControl>().contains(character)
        || CodePointSetData::new::<NoncharacterCodePoint>().contains(character)
        || matches!(
            category,
            GeneralCategory::PrivateUse | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator
        )
        || TAGS.contains(&character)
        || ANNOTATION.contains(&character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_which_nothing_is_seen_is_blank() {
        let unseen = "\u{200B}\u{AD}\u{34F}\u{115F}\u{3164}\u{FFA0}\u{2800}\u{FE0F}\u{E0001}\u{301}\u{2028}\u{1D173}";
        for text in ["", " ", "\u{A0}\u{2003}", unseen] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "-", "ش", "中", "\u{200B}.", "№", "😀", "\0", "\u{7}", "\u{9F}", "\u{E000}"] {
            assert!(!is_blank(text), "{text:?}");
        }
        assert!(unseen.chars().all(|it| is_blank(&it.to_string())));
    }

    #[test]
    fn what_misleads_the_reader_is_forbidden_and_what_languages_need_is_not() {
        let marks = ['\u{61C}', '\u{200E}', '\u{200F}'];
        let ranges = ('\u{202A}'..='\u{202E}').chain('\u{2066}'..='\u{2069}').chain('\u{E0000}'..='\u{E007F}');
        let plain =
            ['\u{E000}', '\u{F8FF}', '\u{F0000}', '\u{10FFFD}', '\u{FDD0}', '\u{FFFE}', '\u{FFFF}', '\u{1FFFF}'];
        let others = ['\u{10FFFF}', '\u{2028}', '\u{2029}', '\u{FFF9}'];
        for character in marks.into_iter().chain(ranges).chain(plain).chain(others) {
            assert!(is_forbidden(character), "{character:?}");
        }
        // Joiners of Persian and Hindi, soft hyphens and the like are left out where names are compared and sent.
        for character in "aé\u{200C}\u{200D}\u{200B}\u{AD}ش中😀‐’".chars() {
            assert!(!is_forbidden(character), "{character:?}");
        }
    }
}
