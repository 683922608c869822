//! Words of names in a form in which spellings of the same name are equal: for screening, and for
//! operators' search.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::characters::{is_gap, is_ignorable};

/// A text without invisible characters, in Unicode's compatibility composition (full-width, circled
/// and mathematical letters become plain ones); gaps of every kind become spaces.
pub fn seen(written: &str) -> String {
    if written.is_ascii() {
        // Every character is visible, and its own composition.
        return written.replace(is_gap, " ");
    }
    let shown = written.chars().filter(|letter| !is_ignorable(*letter));
    let shown = shown.map(|letter| if is_gap(letter) { ' ' } else { letter });
    // Compatibility forms of fillers are ignorable too.
    shown.nfkc().filter(|letter| !is_ignorable(*letter)).collect()
}

/// Apostrophes and the letters that stand for ayn and hamza: they join their neighbours.
pub const fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '’' | '‘' | '`' | '´' | 'ʼ' | 'ʻ' | 'ʿ' | 'ʾ' | 'ʹ' | 'ʺ' | '′')
}

/// Whether a character is part of a word.
pub fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || is_combining_mark(letter) || is_apostrophe(letter)
}

/// A word in lower case without diacritics, in letters of its own script with spelling variants
/// normalised.
pub fn plain(word: &str) -> String {
    if word.is_ascii() {
        let letters = word.bytes().filter(u8::is_ascii_alphanumeric);
        return letters.map(|letter| char::from(letter.to_ascii_lowercase())).collect();
    }
    let mut out = String::with_capacity(word.len());
    for letter in
        word.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase)
    {
        match letter {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            // Arabic, Persian and Urdu keyboards produce different code points for the same letter.
            'ى' | 'ی' | 'ۍ' | 'ے' => out.push('ي'),
            'ک' => out.push('ك'),
            'ة' | 'ہ' | 'ھ' | 'ۃ' | 'ۀ' | 'ە' => out.push('ه'),
            'ٱ' => out.push('ا'),
            'ء' | 'ـ' => {}
            mark if is_combining_mark(mark) || is_apostrophe(mark) => {}
            other if other.is_alphanumeric() => out.push(other),
            _ => {}
        }
    }
    out
}

/// The words of a name, each in its plain form.
pub fn plain_words(name: &str) -> Vec<String> {
    let seen = seen(name);
    let words = seen.split(|letter: char| !is_of_word(letter)).map(plain);
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_read_as_any_other_text() {
        // A letter of another script leads the other way, and is taken off again.
        for code in 0..=0x7F {
            let text = format!("Bi{}al", char::from(code));
            let other = |read: fn(&str) -> String| read(&format!("{text}\u{4e2d}"));
            assert_eq!(format!("{}\u{4e2d}", seen(&text)), other(seen), "{code}");
            assert_eq!(format!("{}\u{4e2d}", plain(&text)), other(plain), "{code}");
        }
    }

    #[test]
    fn spellings_of_a_name_have_the_same_words() {
        for (written, words) in [
            ("  Bilal  KHAN ", vec!["bilal", "khan"]),
            ("Nguy\u{1ec5}n Th\u{1ecb} \u{110}\u{e0}o", vec!["nguyen", "thi", "dao"]),
            ("O\u{2019}Brien-Smith, Jr.", vec!["obrien", "smith", "jr"]),
            ("\u{200b}", vec![]),
        ] {
            assert_eq!(plain_words(written), words, "{written}");
        }
    }
}
