//! Reasons of a refusal that prove that the bank has the instruction: the refusal concerns its
//! repetition, and the first one may have been paid. In doubt, a reason proves it: a person decides.

use crate::policy::RailConfig;

/// ISO 20022 refusal reasons that prove that the bank already has the instruction: the refusal
/// concerns its repetition.
pub const DUPLICATE_REASONS: [&str; 7] = ["AM05", "DUPL", "DU01", "DU02", "DU03", "DU04", "DU05"];

/// Codes that leave the reason to the text.
const NARRATIVE_REASONS: [&str; 4] = ["NARR", "MS02", "MS03", "FF01"];
/// Parts of the words for a duplicate, in Latin letters: English and Romance languages, French,
/// Vietnamese, Turkish, Arabic.
const DUPLICATE_WORDS: [&str; 5] = ["DUPLI", "DOUBLON", "TRUNG LAP", "MUKERRER", "MKRR"];
/// Words of a text, in Latin letters, that may mean that the bank has the instruction, or that it
/// does not know.
const POSSESSION_WORDS: [&str; 24] = [
    "ALREADY",
    "UNIQUE",
    "PREVIOUS",
    "REPEAT",
    "USED BEFORE",
    "BEEN USED",
    "IN USE",
    "ID EXISTS",
    "REFERENCE EXISTS",
    "TRANSACTION EXISTS",
    "PAYMENT EXISTS",
    "IN PROCESS",
    "IN PROGRESS",
    "BEING PROCESSED",
    "UNDER PROCESS",
    "TIMEOUT",
    "TIME OUT",
    "TIMED OUT",
    "OUTCOME UNKNOWN",
    "DEJA",
    "BEREITS",
    "YA EXISTE",
    "TRUNG",
    "ZATEN",
];

/// Whether a reason means that the bank already has the instruction: a code of ISO's or of the
/// rail's profile, alone or in a bank's own words (`AM05 - duplication`, `DUPLICATE_FILE`).
pub fn is_duplicate(code: &str, rail: Option<&RailConfig>) -> bool {
    let code = code.trim().to_ascii_uppercase();
    names_duplicate(&code) || rail.is_some_and(|rail| rail.duplicate_reasons.contains(&code))
}

fn names_duplicate(upper: &str) -> bool {
    let mut words = upper.split(|sign: char| !sign.is_ascii_alphanumeric());
    DUPLICATE_WORDS.iter().any(|word| upper.contains(word))
        || words.any(|word| DUPLICATE_REASONS.contains(&word))
}

fn in_latin_letters(text: &str) -> String {
    any_ascii::any_ascii(text).to_ascii_uppercase()
}

/// Whether a bank's free text may mean that it already has what was sent.
pub fn mentions_possession(text: &str) -> bool {
    let text = in_latin_letters(text);
    names_duplicate(&text) || POSSESSION_WORDS.iter().any(|word| text.contains(word))
}

/// Whether the reasons of a refusal, or its text, mean that the bank already has the instruction. A
/// text decides less than a code: words that other texts may contain count only where no code of
/// ISO's states the reason.
pub fn proves_possession<'a>(
    codes: impl Iterator<Item = &'a String> + Clone,
    info: Option<&str>,
    rail: Option<&RailConfig>,
) -> bool {
    let is_narrative = |code: &str| {
        let code = code.trim().to_ascii_uppercase();
        let is_code = code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !is_code || NARRATIVE_REASONS.contains(&code.as_str())
    };
    codes.clone().any(|code| is_duplicate(code, rail))
        || info.is_some_and(|text| match codes.clone().all(|code| is_narrative(code)) {
            true => mentions_possession(text),
            false => names_duplicate(&in_latin_letters(text)),
        })
}
