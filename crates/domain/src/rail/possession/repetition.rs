//! Descriptions of a repetition in a bank's own words: "duplicate", "received before", "identical
//! payment found", "reference reused". Languages: English, those of the payees' countries, in their
//! own scripts and romanised, and those of many payers. Pure functions.

use icu_properties::CodePointMapData;
use icu_properties::props::Script;
use unicode_normalization::UnicodeNormalization as _;

use super::words;
use super::{
    ALREADY_WORDS, CREDIT_STEMS, DEED_STEMS, DUPLICATE_WORDS, FAILURES, NEAR, NEGATIONS,
    OTHER_NOUNS, PAYMENT_NOUNS, SUCCESS_WORDS, begins_a_word, in_latin_letters,
};

/// Scripts of the languages whose words are known here.
const SCRIPTS: [Script; 9] = [
    Script::Latin,
    Script::Arabic,
    Script::Devanagari,
    Script::Bengali,
    Script::Sinhala,
    Script::Tamil,
    Script::Han,
    Script::Common,
    Script::Inherited,
];
/// How many words "unable" may stand before "existing": "unable to find existing account", but not
/// "unable to process record exists".
const UNABLE_WITHIN: usize = 3;
/// How many words ahead an identity names its payment: "same reference number".
const AHEAD: usize = 2;

/// Whether a text calls something a duplicate, in any language.
pub(super) fn is_named(text: &str) -> bool {
    let latin = in_latin_letters(text);
    let mut every = latin.split(' ');
    let is_double =
        |word: &str| word.starts_with("DOPPEL") && !begins_a_word(word, &words::DOPPEL_OF_OTHERS);
    every.any(|word| is_abbreviation(word) || is_double(word))
        || begins_a_word(&latin, &words::DUPLICATES)
        || contains_any(text, &words::DUPLICATES_ELSEWHERE)
}

/// `DUP`, alone or with a number.
fn is_abbreviation(word: &str) -> bool {
    let digits = word.strip_prefix("DUP");
    digits.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether words about the payment describe a repetition, in Latin letters. Each clause counts by
/// itself: "not processed: reference already used".
pub(super) fn is_described(text: &str) -> bool {
    clauses(text).iter().any(|clause| {
        let words: Vec<&str> = clause.split(' ').collect();
        (0..words.len()).any(|at| {
            is_repeated_deed(&words, at)
                || is_same_payment(&words, at)
                || is_repeated_payment(&words, at)
                || is_reused(&words, at)
        }) || begins_a_word(clause, &words::REPETITIONS)
    })
}

/// Whether a text without a code that states the reason may mean that the bank knows the payment:
/// words for "already", "twice" and "in process" that other texts may contain.
pub(super) fn may_be_known(text: &str) -> bool {
    let clauses = clauses(text);
    clauses.iter().any(|clause| says_it_exists(clause))
        || clauses.iter().any(|clause| begins_a_word(clause, &words::KNOWN))
        || contains_any(text, &words::KNOWN_ELSEWHERE)
        || words::HAPPENED_IN_LATIN.iter().any(|(of, perfect)| {
            clauses.iter().any(|clause| begins_a_word(clause, &[of]) && clause.contains(perfect))
        })
        || text.split(SIGNS).any(|clause| folded(clause).ends_with(words::BEFORE_IN_ARABIC))
}

/// "Record exists" and "failed because the reference exists", but not "account does not exist" and
/// "unable to find existing account".
fn says_it_exists(clause: &str) -> bool {
    let words: Vec<&str> = clause.split(' ').collect();
    let is_negative = |word: &&str| NEGATIONS.contains(word) || words::DENIALS.contains(word);
    let is_unable = |at: usize| words[at.saturating_sub(UNABLE_WITHIN)..at].contains(&"UNABLE");
    !words.iter().any(is_negative)
        && words.iter().enumerate().any(|(at, word)| {
            (word.starts_with("EXIST") || word.starts_with("ESISTE")) && !is_unable(at)
        })
}

/// Whether a text says that the bank had the message, and not only something like it: "duplicate" alone,
/// or with a noun for the message or the payment, in one clause without a negation.
pub(super) fn is_of_message(text: &str) -> bool {
    clauses(text).iter().any(|clause| {
        let words: Vec<&str> = clause.split(' ').collect();
        let is_alone = words.len() == 1;
        DUPLICATE_WORDS.iter().any(|word| clause.contains(word))
            && (is_alone || words.iter().any(is_payment))
            && !words.iter().any(|word| turns(word) || is_other(word))
    })
}

/// Whether a text has letters of a script in which no word is known: it may mean anything.
pub(super) fn is_unread(text: &str) -> bool {
    let scripts = CodePointMapData::<Script>::new();
    text.chars().any(|sign| sign.is_alphabetic() && !SCRIPTS.contains(&scripts.get(sign)))
}

/// Signs that end a clause.
const SIGNS: [char; 17] =
    [':', ';', ',', '.', '(', ')', '[', ']', '!', '?', '|', '،', '؛', '۔', '।', '。', '\n'];

/// The clauses of a text.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(" - ")
        .flat_map(|part| part.split(|sign| SIGNS.contains(&sign) || matches!(sign, '–' | '—')))
}

/// The clauses of a text, each in capital Latin letters.
pub(super) fn clauses(text: &str) -> Vec<String> {
    let latin = |clause: &str| {
        let clause = format!(" {}", in_latin_letters(clause));
        let joined = words::PREFIXES.iter().fold(clause, |clause, (apart, joined)| {
            clause.replace(&format!(" {apart}"), &format!(" {joined}"))
        });
        joined.trim().to_owned()
    };
    parts(text).map(latin).filter(|clause| !clause.is_empty()).collect()
}

/// Whether a text contains one of the words, in whatever form their letters are encoded. One that
/// starts with a space starts a word.
pub(super) fn contains_any(text: &str, words: &[&str]) -> bool {
    if text.is_ascii() {
        return false;
    }
    let text = format!(" {} ", folded(text));
    words.iter().any(|word| text.contains(&folded(word)))
}

/// A text without the differences between writers of the same letters: compatibility forms, Persian
/// and Arabic letters, vowel signs, joiners.
fn folded(text: &str) -> String {
    let is_kept = |sign: &char| !matches!(sign, '\u{640}' | '\u{64B}'..='\u{652}' | '\u{670}' | '\u{200B}'..='\u{200F}');
    let fold = |sign: char| match sign {
        'ي' | 'ى' => 'ی',
        'ك' => 'ک',
        'ة' | 'ہ' | 'ۃ' | 'ھ' | 'ە' => 'ه',
        'أ' | 'إ' | 'ٱ' | 'آ' => 'ا',
        other => other,
    };
    let text: String = text.nfkc().filter(is_kept).map(fold).collect();
    // "Already", in Chinese.
    ["已经", "已經", "已被"].iter().fold(text, |text, already| text.replace(already, "已"))
}

pub(super) fn turns(word: &&str) -> bool {
    NEGATIONS.contains(word) || FAILURES.contains(word) || words::MORE_FAILURES.contains(word)
}

/// Whether a word begins with one of these.
pub(super) fn is_of(word: &str, stems: &[&str]) -> bool {
    let whole = format!("{word} ");
    stems.iter().any(|stem| whole.starts_with(stem))
}

/// Whether it is a noun for the payment, its message or its reference; parties are none.
pub(super) fn is_payment(word: &&str) -> bool {
    let is_excluded = |word: &str| words::PARTIES.contains(&word) || words::NEUTRAL.contains(&word);
    let is_noun = |word: &str| PAYMENT_NOUNS.contains(&word) && !is_excluded(word);
    is_noun(word)
        || word.strip_suffix('S').is_some_and(is_noun)
        || words::SUBMISSIONS.contains(word)
        || is_of(word, &words::COMPOUNDS)
}

pub(super) fn is_other(word: &&str) -> bool {
    OTHER_NOUNS.contains(word) || words::PARTIES.contains(word)
}

/// The words near one, before and after.
fn around<'a, 'b>(words: &'a [&'b str], at: usize) -> (&'a [&'b str], &'a [&'b str]) {
    let (before, rest) = words.split_at(at);
    (&before[before.len().saturating_sub(NEAR)..], rest.get(1..).unwrap_or_default())
}

/// "Received before", "sent twice", "submitted again", but not "received before cut-off" and "may be
/// submitted again".
fn is_repeated_deed(words: &[&str], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let (before, after) = around(words, at);
    let is_credit = is_of(word, &CREDIT_STEMS);
    let is_deed = is_credit
        || [&SUCCESS_WORDS[..], &DEED_STEMS, &words::DEEDS].iter().any(|stems| is_of(word, stems));
    let is_turned = before.iter().any(turns)
        || after.first().is_some_and(turns)
        || words::NEGATIVE_ENDINGS.iter().any(|ending| word.ends_with(ending));
    let is_others = !is_credit
        && before.iter().any(|word| OTHER_NOUNS.contains(word))
        && !before.iter().any(is_payment);
    if !is_deed || is_turned || is_others {
        return false;
    }
    let is_already =
        |word: &&str| ALREADY_WORDS.contains(word) || words::MORE_ALREADY.contains(word);
    let is_asked = before.last() == Some(&"BE") || after.first() == Some(&"WERDEN");
    let is_before = |far: usize| {
        let follows = after.get(far + 1).is_none_or(|next| words::AFTER_BEFORE.contains(next));
        after.get(far).is_some_and(|word| words::BEFORE.contains(word)) && follows
    };
    let mut around = before.iter().chain(after.iter().take(2));
    around.any(is_already)
        || (0..=AHEAD).any(is_before)
        || !is_asked && after.iter().take(2).any(|word| words::AGAIN.contains(word))
}

/// "Identical payment", "payment identical to", "same reference", but not "identical names" and "same
/// day payment".
fn is_same_payment(words: &[&str], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let (before, after) = around(words, at);
    let (ahead, behind) = match word {
        _ if is_of(word, &words::IDENTICAL) => (NEAR, NEAR),
        _ if words::SAME.contains(word) => (AHEAD, 0),
        _ if words::SAME_BEHIND.contains(word) => (0, AHEAD),
        _ => return false,
    };
    if before.iter().any(turns) || after.first().is_some_and(turns) {
        return false;
    }
    // The nearest noun is what is the same.
    let is_noun = |word: &&str| is_payment(word) || is_other(word);
    let next = after.iter().take(ahead).position(is_noun).map(|far| (far, after[far]));
    let last = before.iter().rev().take(behind).position(is_noun);
    let last = last.map(|far| (far, before[before.len() - 1 - far]));
    let nearest = [next, last].into_iter().flatten().min_by_key(|(far, _)| *far);
    nearest.is_some_and(|(_, noun)| !is_other(&noun))
}

/// "Repeated message", "payment doubled", but not "repeated failed attempts".
fn is_repeated_payment(words: &[&str], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let (before, after) = around(words, at);
    let is_near = after.iter().take(AHEAD).chain(before.iter().rev().take(AHEAD)).any(is_payment);
    is_of(word, &words::REPEATED) && is_near && !before.iter().any(turns)
}

/// "Reference reused", "UETR is not unique", "resubmitted", but not "account used by another customer"
/// and "can be resubmitted".
fn is_reused(words: &[&str], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let (before, after) = around(words, at);
    let last = before.iter().rev().find(|word| is_payment(word) || is_other(word));
    if last.is_some_and(is_other) || after.first().is_some_and(is_other) {
        return false;
    }
    let rest = words.get(at..).unwrap_or_default().join(" ") + " ";
    let is_again = is_of(word, &words::RESUBMITTED)
        && !before.iter().any(turns)
        && !before.last().is_some_and(|word| words::REQUESTING.contains(word))
        && !after.first().is_some_and(|word| words::REQUESTED.contains(word));
    is_again || words::REUSED.iter().any(|phrase| rest.starts_with(phrase))
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
