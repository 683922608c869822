//! The names of several people in one field: of a joint account, beside `c/o` or `s/o`, in brackets.
//!
//! It works on written text and only adds texts to compare: the whole field stays one of them.

use super::letters::{is_of_word, plain};
use super::normal::is_in;
use super::titles::{HONORIFICS, JOINERS};
use super::words::PARTICLES;

/// What divides two people. Dashes do so between spaces.
const SIGNS: [char; 8] = ['&', '/', ';', '+', ',', ':', '|', '\\'];
const OPENING: &str = "([{<«“„\"";
const CLOSING: &str = ")]}>»”“\"";
/// A family name alone is compared as a part of the whole field.
const MIN_WORDS: usize = 2;

/// The names in a text; none if it is one name.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names = divided(text);
    for part in enclosed(text) {
        names.extend(divided(&part));
        let words: Vec<&str> = part.split_whitespace().collect();
        names.extend(is_name(&words).then(|| words.join(" ")));
    }
    names
}

/// The family name in `X family`, `Heirs of X` or `X Estate`; `None` if the text has other names.
pub(super) fn family(text: &str) -> Option<String> {
    const KIN: [&str; 14] = [
        "erben",
        "estate",
        "famiglia",
        "familia",
        "familie",
        "families",
        "famille",
        "family",
        "heirs",
        "herederos",
        "heritiers",
        "relatives",
        "succession",
        "sucesion",
    ];
    const MIN_LETTERS: usize = 5;
    let words: Vec<String> = text
        .split(|letter| !is_of_word(letter))
        .map(plain)
        .filter(|word| !word.is_empty() && !is_in(PARTICLES, word))
        .collect();
    let (kin, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| KIN.contains(&word.as_str()));
    let names: Vec<&String> = names.into_iter().filter(|word| !is_in(HONORIFICS, word)).collect();
    match names[..] {
        [name] if !kin.is_empty() && name.chars().count() >= MIN_LETTERS => Some(name.clone()),
        _ => None,
    }
}

fn is_name(words: &[&str]) -> bool {
    let says = |word: &&str| {
        let word = plain(word);
        word.chars().count() > 1 && !is_in(PARTICLES, &word)
    };
    words.len() >= MIN_WORDS && words.iter().any(says)
}

/// The names between signs and joining words; none if nothing divides the text.
fn divided(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let keys: Vec<String> = words.iter().map(|word| key(word)).collect();
    let mut names: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let joiner = joiner_words(&keys[at..]);
        let pieces: Vec<&str> = if joiner > 0 { vec![""; 2] } else { word.split(SIGNS).collect() };
        for (nth, piece) in pieces.into_iter().enumerate() {
            if nth > 0 {
                names.push(Vec::new());
            }
            if let Some(name) = names.last_mut().filter(|_| !piece.is_empty()) {
                name.push(piece);
            }
        }
        at += joiner.max(1);
    }
    if names.len() == 1 {
        return Vec::new();
    }
    names.iter().filter(|name| is_name(name)).map(|name| name.join(" ")).collect()
}

/// A word as [`JOINERS`] writes it: `S.O.` is `s/o`, and a dash alone is `-`.
fn key(word: &str) -> String {
    let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_empty() {
        let is_dash = word.chars().all(|sign| matches!(sign, '-' | '‐'..='―' | '−'));
        return if is_dash { "-".to_owned() } else { String::new() };
    }
    bare.split(['.', '/']).map(plain).collect::<Vec<_>>().join("/")
}

/// How many of the first words are one joiner (`s o` and `s / o` are `s/o`); 0 if they are none.
fn joiner_words(keys: &[String]) -> usize {
    const MOST: usize = 3;
    let is_joiner = |count: &usize| {
        let parts = keys[..*count].iter().filter(|key| !key.is_empty());
        let joined = parts.map(String::as_str).collect::<Vec<_>>().join("/");
        is_in(JOINERS, &joined)
    };
    (1..=keys.len().min(MOST)).rev().find(is_joiner).unwrap_or(0)
}

/// What stands outside of brackets and quotation marks, and what each pair encloses; nothing if the
/// text has none.
fn enclosed(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_inside = false;
    for sign in text.chars() {
        let is_end = is_inside && CLOSING.contains(sign);
        if is_end || !is_inside && OPENING.contains(sign) {
            is_inside = !is_inside;
            parts[0].push(' ');
            parts.extend(is_inside.then(String::new));
        } else {
            let at = if is_inside { parts.len() - 1 } else { 0 };
            parts[at].push(sign);
        }
    }
    // A nickname in apostrophes, which are also letters.
    let is_quoted = |word: &&str| {
        let is_sign = |letter: char| is_of_word(letter) && !letter.is_alphanumeric();
        word.len() > 2 && word.starts_with(is_sign) && word.ends_with(is_sign)
    };
    let outside = parts[0].split_whitespace().filter(|word| !is_quoted(word)).collect::<Vec<_>>();
    let outside = outside.join(" ");
    let is_whole = parts.len() == 1 && outside.split(' ').eq(text.split_whitespace());
    parts[0] = outside;
    if is_whole { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_named_by_one_word() {
        for (written, name) in [
            ("Petrovnik family", Some("petrovnik")),
            ("The Petrovnik Family", Some("petrovnik")),
            ("Heirs of Petrovnik", Some("petrovnik")),
            ("Estate of the late Petrovnik", Some("petrovnik")),
            ("Familia Petrovnik", Some("petrovnik")),
            ("Anna Petrovnik family", None),
            ("Family", None),
            ("Khan family", None),
            ("Petrovnik", None),
        ] {
            assert_eq!(family(written).as_deref(), name, "{written}");
        }
    }

    #[test]
    fn a_field_of_several_people_is_divided() {
        for (written, expected) in [
            ("Anna Petrova and Boris Ivanov", &["Anna Petrova", "Boris Ivanov"][..]),
            ("Anna Petrova/Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova, Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova – Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova s/o Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova S.O. Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova s o Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova S. / O. Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova née Ivanov", &["Anna Petrova"]),
            ("Anna Petrova (Boris Ivanov)", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna Petrova [Boris Ivanov", &["Anna Petrova", "Boris Ivanov"]),
            ("Anna \"Anya\" Petrova", &["Anna Petrova"]),
            ("Anna 'Anya' Petrova", &["Anna Petrova"]),
            ("Wife of Boris Ivanov", &["Boris Ivanov"]),
            ("Petrova, Anna", &[]),
            ("Petrova, A. B.", &[]),
            ("'Abd al-Rahman Qa'idi", &[]),
            ("Anna Petrova-Ivanova", &[]),
            ("Anna Petrova", &[]),
        ] {
            assert_eq!(names(written), expected, "{written}");
        }
    }
}
