//! Reasons of a refusal that prove that the bank has the instruction: the refusal concerns its
//! repetition, and the first one may have been paid. In doubt, a reason proves it: a person decides.

use std::ops::RangeInclusive;

use crate::policy::RailConfig;

/// ISO 20022 refusal reasons that prove that the bank already has the instruction: the refusal
/// concerns its repetition.
pub const DUPLICATE_REASONS: [&str; 7] = ["AM05", "DUPL", "DU01", "DU02", "DU03", "DU04", "DU05"];

/// Codes that leave the reason to the text.
const NARRATIVE_REASONS: [&str; 4] = [NARRATIVE, "MS02", "MS03", "FF01"];
/// The reason is in the text, also beside a code that states one.
pub const NARRATIVE: &str = "NARR";
/// Numbered codes of ISO 20022's external code set `ExternalStatusReason1Code` (as of 2026-11) that
/// state why a transfer is refused: letters, and the numbers behind them. Those of orders that went
/// well or are known already (`DS07`, `DS15`), and of tracking (`G000`, `S000`), are left out.
const STATED_REASONS: [(&str, &[RangeInclusive<u8>]); 19] = [
    ("AB", &[1..=11]),
    ("AC", &[1..=16]),
    ("AG", &[1..=13]),
    ("AM", &[1..=4, 6..=7, 9..=25]),
    ("BE", &[1..=1, 4..=23]),
    ("CH", &[3..=4, 7..=7, 9..=17, 20..=22]),
    ("DS", &[2..=2, 4..=4, 8..=14, 16..=17, 19..=23, 25..=27]),
    ("DT", &[1..=5]),
    ("ED", &[1..=1, 3..=3, 5..=6]),
    ("FF", &[2..=13]),
    ("ID", &[1..=1]),
    ("MD", &[1..=2, 5..=7]),
    ("RC", &[1..=12]),
    ("RR", &[1..=12]),
    ("SL", &[1..=3, 11..=14]),
    ("TA", &[1..=1]),
    ("TD", &[1..=3]),
    ("TM", &[1..=1]),
    ("TS", &[1..=4]),
];
/// The same without a number.
const STATED_WORDS: [&str; 21] = [
    "AGNT", "CERI", "CNOR", "CURR", "CUST", "DNOR", "DS0A", "DS0B", "DS0C", "DS0D", "DS0E", "DS0F",
    "DS0G", "DS0H", "DS0K", "ERIN", "FOCR", "FRAD", "LEGL", "NERI", "NOAS",
];
/// Parts of the words for a duplicate, in Latin letters: English and Romance languages, French,
/// Vietnamese, Turkish, Arabic.
const DUPLICATE_WORDS: [&str; 5] = ["DUPLI", "DOUBLON", "TRUNG LAP", "MUKERRER", "MKRR"];
/// Words of a text, in Latin letters, that may mean that the bank has the instruction, or that it
/// does not know: English, French, German, Spanish, Turkish, Vietnamese, Arabic, Hindi and Urdu,
/// Nepali, Bengali, Sinhala, Filipino.
const POSSESSION_WORDS: [&str; 40] = [
    "ALREADY",
    "ALRDY",
    "EARLIER",
    "DOUBLE",
    "DEEMED",
    "NO RESPONSE",
    "NO REPLY",
    "NO ANSWER",
    "NOT RESPOND",
    "AWAIT",
    "PENDING",
    "STATUS UNKNOWN",
    "UNKNOWN STATUS",
    "STATUS NOT KNOWN",
    "UNIQUE",
    "PREVIOUS",
    "REPEAT",
    "USED BEFORE",
    "BEEN USED",
    "IN USE",
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
    "DA TON TAI",
    "SBQ",
    "PHLE SE",
    "PHILE NAI",
    "ITIMDHYE",
    "DAENTMT",
    "UMIIRAL NA",
];

/// Beginnings of words (whole words: with a space) that may mean that it was paid, in Latin letters:
/// English, French, Spanish, German, Turkish, Indonesian, Filipino, Arabic, Hindi, Nepali and
/// Bengali, Urdu.
const SUCCESS_WORDS: [&str; 26] = [
    "SUCCESS ",
    "SUCCES ",
    "SUCCESSF",
    "SUCCESF",
    "CREDITED",
    "POSTED",
    "PAID",
    "COMPLETED",
    "EXECUTED",
    "PROCESSED",
    "SETTLED",
    "DISBURSED",
    "COLLECTED",
    "REUSSI",
    "EFFECTUE",
    "EXITO",
    "ERFOLGREICH",
    "AUSGEFUHRT",
    "AUSGEFUEHRT",
    "GUTGESCHRIEBEN",
    "BASARILI",
    "BERHASIL",
    "MATAGUMPAY",
    "BNJH",
    "SPHL",
    "KMYB",
];

/// Words that turn the word after them around, in the languages that write "exist".
const NEGATIONS: [&str; 10] =
    ["NO", "NOT", "NON", "NE", "N", "PAS", "NAO", "T", "DOESNT", "CANNOT"];

/// Words that turn a word of success around, further ones than [`NEGATIONS`].
const FAILURES: [&str; 25] = [
    "CANT", "COULDNT", "ISNT", "WASNT", "NEVER", "UNABLE", "WITHOUT", "MUST", "UNTIL", "UNLESS",
    "FAIL", "FAILED", "FAILS", "FAILURE", "SANS", "SIN", "NICHT", "KEIN", "OHNE", "KHONG", "TIDAK",
    "HINDI", "LM", "NHIN", "NHI",
];

/// How many words before a word of success may turn it around; so does one of [`FAILURES`] right behind
/// it, as in Hindi.
const TURNED_WITHIN: usize = 4;

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

/// A text in capital Latin letters, its words separated by single spaces.
fn in_latin_letters(text: &str) -> String {
    let text = any_ascii::any_ascii(text).to_ascii_uppercase();
    let words = text.split(|sign: char| !sign.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a bank's free text may mean that it already has what was sent, or has paid it. One that is
/// not of its encoding may mean anything.
pub fn mentions_possession(text: &str) -> bool {
    let is_broken = text.contains(char::REPLACEMENT_CHARACTER);
    let text = in_latin_letters(text);
    is_broken
        || names_duplicate(&text)
        || says_it_exists(&text)
        || says_it_is_paid(&text)
        || POSSESSION_WORDS.iter().any(|word| text.contains(word))
}

/// "Record exists", but not "account does not exist".
fn says_it_exists(text: &str) -> bool {
    let mut words = text.split(' ');
    words.clone().any(|word| word.starts_with("EXIST"))
        && !words.any(|word| NEGATIONS.contains(&word))
}

/// "Credit posted" and "credited, do not resend", but not "could not be credited".
fn says_it_is_paid(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let turns = |word: &&str| NEGATIONS.contains(word) || FAILURES.contains(word);
    words.iter().enumerate().any(|(at, word)| {
        let whole = format!("{word} ");
        SUCCESS_WORDS.iter().any(|known| whole.starts_with(known))
            && !words[at.saturating_sub(TURNED_WITHIN)..at].iter().any(turns)
            && !words.get(at + 1).is_some_and(|word| FAILURES.contains(word))
    })
}

/// Whether a code of the bank's own means that all is well: zeros, as in ISO 8583's response codes, or
/// words that say so.
fn is_of_success(code: &str) -> bool {
    let is_zeros = code.len() > 1 && code.bytes().all(|byte| byte == b'0');
    is_zeros || says_it_is_paid(&in_latin_letters(code))
}

/// Whether a code is one of ISO's that states why a transfer is refused. A bank's own codes may have
/// four characters, too.
pub fn states_reason(code: &str) -> bool {
    let code = code.trim().to_ascii_uppercase();
    let number = |letters: &str| {
        let digits = code.strip_prefix(letters).filter(|digits| digits.len() == 2)?;
        digits.parse::<u8>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_numbered = |(letters, numbers): &(&str, &[RangeInclusive<u8>])| {
        number(letters).is_some_and(|number| numbers.iter().any(|range| range.contains(&number)))
    };
    STATED_WORDS.contains(&code.as_str()) || STATED_REASONS.iter().any(is_numbered)
}

/// Whether a code leaves the reason to the text: one that says so, or a bank's own.
pub fn is_narrative(code: &str) -> bool {
    let upper = code.trim().to_ascii_uppercase();
    NARRATIVE_REASONS.contains(&upper.as_str()) || !states_reason(&upper)
}

/// Whether the reasons of a refusal, or its text, mean that the bank already has the instruction. A
/// text decides less than a code: words that other texts may contain count only where no code of
/// ISO's states the reason, where one says that the text does, and where the code would have the
/// payment sent over another rail.
pub fn proves_possession<'a>(
    codes: impl Iterator<Item = &'a String> + Clone,
    info: Option<&str>,
    rail: Option<&RailConfig>,
) -> bool {
    let is_open = codes.clone().all(|code| is_narrative(code));
    let is_retryable =
        |code: &str| rail.is_some_and(|rail| rail.retryable_reasons.contains(code.trim()));
    let decides_little =
        |code: &String| code.trim().eq_ignore_ascii_case(NARRATIVE) || is_retryable(code);
    let is_text_read = is_open || codes.clone().any(decides_little);
    codes.clone().any(|code| is_duplicate(code, rail))
        || is_open && codes.clone().any(|code| is_of_success(code.trim()))
        || info.is_some_and(|text| match is_text_read {
            true => mentions_possession(text),
            false => names_duplicate(&in_latin_letters(text)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_four_characters_is_not_yet_one_of_isos() {
        let stated = [
            "AC01", "AC16", "ac04 ", "AM04", "AM25", "BE01", "BE23", "RR04", "AG01", "AB08",
            "TM01", "DT01", "ED05", "FF05", "RC10", "CNOR", "CURR", "CUST", "DS0H", "SL02", "TS01",
            "MD07", "LEGL",
        ];
        let open = [
            "NARR", "narr", "MS02", "MS03", "FF01", "E001", "0094", "1234", "9999", "DUP1", "T123",
            "XX99", "AC00", "AC17", "AC99", "AC1", "AC+1", "AC 1", "ACO1", "AM08", "BE02", "U05",
            "R13", "M1", "S001", "G000", "DS07", "DS15", "ABCD", "", "ISO1", "AC01/1",
        ];
        let wrong = |codes: &[&'static str], is_narrative: bool| -> Vec<&'static str> {
            codes.iter().filter(|code| super::is_narrative(code) != is_narrative).copied().collect()
        };
        assert_eq!((wrong(&stated, false), wrong(&open, true)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_text_that_leaves_the_outcome_open_is_known_in_any_form() {
        let open = [
            "Time-out at beneficiary",
            "No response from beneficiary bank",
            "Deemed approved",
            "Status unknown",
            "TXN ALRDY EXISTS",
            "Record exists",
            "Payment was processed earlier",
            "double payment",
            "Giao dịch đã tồn tại",
            "المعاملة موجودة مسبقا",
            "लेनदेन पहले से मौजूद है",
            "کارروائی پہلے سے موجود ہے",
            "লেনদেন ইতিমধ্যে বিদ্যমান",
            "कारोबार पहिले नै भइसकेको छ",
            "ගනුදෙනුව දැනටමත් පවතී",
            "Umiiral na ang transaksyon",
            "Ce paiement existe déjà",
            "awaiting-confirmation",
            "Transaction successful",
            "Validation failed: transaction reference exists",
            "Unable to process, record exists",
            "Beneficiary credited, do not resend",
            "Paid manually, no further action",
            "Credited before cut-off",
            "Credit posted manually by branch",
            "Beneficiary was paid in cash",
            "Completed by operations",
            "Opération effectuée avec succès",
            "Zahlung ausgeführt",
            "İşlem başarılı",
            "Transaksi berhasil",
            "تمت العملية بنجاح",
            "लेनदेन सफल",
            "লেনদেন সফল হয়েছে",
            "کامیاب",
            "Fichier d\u{FFFD}j\u{FFFD} re\u{FFFD}u",
        ];
        let definite = [
            "Account does not exist",
            "Account doesn't exist",
            "Le compte n'existe pas",
            "No such account exists",
            "Beneficiary name mismatch",
            "Tài khoản không tồn tại",
            "Account closed",
            "Transaction unsuccessful",
            "Account moved to the successor bank",
            "Account could not be credited",
            "Credit failed, not posted",
            "Unable to be completed",
            "Incomplete address",
            "Paiement non effectué",
            "Zahlung nicht ausgeführt",
            "İşlem başarısız",
            "Account number must be completed before payment",
            "लेनदेन असफल",
            "ناکام",
        ];
        let read = |texts: &[&str], is_open: bool| -> Vec<String> {
            let wrong = texts.iter().filter(|text| mentions_possession(text) != is_open);
            wrong.map(|text| in_latin_letters(text)).collect()
        };
        assert_eq!((read(&open, true), read(&definite, false)), (Vec::new(), Vec::new()));
    }
}
