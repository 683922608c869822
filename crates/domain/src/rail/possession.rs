//! Reasons of a refusal that prove that the bank has the instruction: the refusal concerns its
//! repetition, and the first one may have been paid. In doubt, a reason proves it: a person decides.

mod outcome;
mod repetition;
mod words;

use std::ops::RangeInclusive;

use crate::policy::RailConfig;

/// ISO 20022 refusal reasons that prove that the bank already has the instruction: the refusal
/// concerns its repetition.
pub const DUPLICATE_REASONS: [&str; 7] = ["AM05", "DUPL", "DU01", "DU02", "DU03", "DU04", "DU05"];

/// Codes that leave the reason to the text.
const NARRATIVE_REASONS: [&str; 5] = [NARRATIVE, "MS02", "MS03", "FF01", "FF02"];
/// The reason is in the text, also beside a code that states one.
pub const NARRATIVE: &str = "NARR";
/// Numbered codes of ISO 20022's external code set `ExternalStatusReason1Code` (as of 2026-11) that
/// state why a transfer is refused: letters, and the numbers behind them. Those of orders that went
/// well or are known already (`DS07`, `TS01`, `DS15`), and of tracking (`G000`, `S000`), are left out.
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
    ("TS", &[2..=4]),
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
const POSSESSION_WORDS: [&str; 47] = [
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
    "GIAO DICH TRUNG",
    "THAM CHIEU TRUNG",
    "THANH TOAN TRUNG",
    "LENH TRUNG",
    "TRUNG GIAO DICH",
    "TRUNG LENH",
    "TRUNG MA GIAO DICH",
    "TRUNG SO THAM CHIEU",
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

/// Nouns for the payment, in Latin letters: English, French, Spanish, Portuguese, German, Turkish,
/// Filipino, Indonesian. Plurals are those of a bank's rules.
const PAYMENT_NOUNS: [&str; 43] = [
    "PAYMENT",
    "PYMT",
    "PMT",
    "TRANSACTION",
    "TXN",
    "TRX",
    "TRANSFER",
    "CREDIT",
    "REMITTANCE",
    "PAYOUT",
    "FILE",
    "MESSAGE",
    "INSTRUCTION",
    "ORDER",
    "REFERENCE",
    "REF",
    "UETR",
    "ENDTOENDID",
    "INSTRID",
    "MSGID",
    "RRN",
    "UTR",
    "BENEFICIARY",
    "FUNDS",
    "AMOUNT",
    "PAIEMENT",
    "VIREMENT",
    "OPERATION",
    "FICHIER",
    "PAGO",
    "TRANSFERENCIA",
    "TRANSACCION",
    "OPERACION",
    "ORDEN",
    "PAGAMENTO",
    "TRANSACAO",
    "OPERACAO",
    "ZAHLUNG",
    "UBERWEISUNG",
    "ISLEM",
    "ODEME",
    "TRANSAKSI",
    "PEMBAYARAN",
];
/// The same in texts whose other words are not compared in their places: Arabic, Hindi and Nepali,
/// Urdu, Bengali, Sinhala, Filipino.
const PAYMENT_NOUNS_ELSEWHERE: [&str; 17] = [
    "معامل",
    "عملي",
    "دفع",
    "تحويل",
    "حوال",
    "लेनदेन",
    "भुगतान",
    "कारोबार",
    "भुक्तानी",
    "لین دین",
    "کارروائی",
    "ادائیگی",
    "লেনদেন",
    "পেমেন্ট",
    "ගනුදෙනු",
    "ගෙවීම",
    "transaksyon",
];
/// Nouns for what is not the payment: "account already exists" (also `a/c`).
const OTHER_NOUNS: [&str; 24] = [
    "ACCOUNT", "ACCT", "C", "IBAN", "WALLET", "CUSTOMER", "CLIENT", "MANDATE", "LIMIT", "KYC",
    "CLOSURE", "CARD", "ALIAS", "PROFILE", "COMPTE", "CUENTA", "CONTA", "CLIENTE", "LIMITE",
    "LIMITES", "KONTO", "KUNDE", "HESAP", "REKENING",
];
/// Words for "already" and "earlier", in Latin letters.
const ALREADY_WORDS: [&str; 17] = [
    "ALREADY",
    "ALRDY",
    "EARLIER",
    "PREVIOUSLY",
    "TWICE",
    "DEJA",
    "PRECEDEMMENT",
    "YA",
    "PREVIAMENTE",
    "ANTERIORMENTE",
    "JA",
    "BEREITS",
    "SCHON",
    "ZATEN",
    "ONCE",
    "SUDAH",
    "TELAH",
];
/// Beginnings of words that mean that money came, also to an account, beside a word for "already":
/// further ones than [`SUCCESS_WORDS`].
const CREDIT_STEMS: [&str; 12] = [
    "CREDITED",
    "PAID",
    "DISBURSED",
    "CREDITE ",
    "CREDITEE ",
    "PAYE ",
    "PAYEE ",
    "ABONAD",
    "ACREDITAD",
    "CREDITAD",
    "GUTGESCHRIEBEN",
    "DIKREDIT",
];
/// Beginnings of words for what was done with a payment, further ones than [`SUCCESS_WORDS`].
const DEED_STEMS: [&str; 37] = [
    "EXIST ",
    "EXISTS ",
    "EXISTE ",
    "EXISTED ",
    "EXISTIERT",
    "RECEIVED",
    "REALISE",
    "SUBMITTED",
    "USED ",
    "UTILISE",
    "UTILIZAD",
    "USAD",
    "REGLE ",
    "EXECUTE ",
    "EXECUTEE ",
    "TRAITE ",
    "TRAITEE ",
    "RECU ",
    "RECUE ",
    "PAGAD",
    "PAGA ",
    "PAGO ",
    "PROCESAD",
    "PROCESSAD",
    "EJECUTAD",
    "EXECUTAD",
    "LIQUIDAD",
    "RECIBID",
    "RECEBID",
    "REALIZAD",
    "VERARBEITET",
    "BEZAHLT",
    "VORHANDEN",
    "ISLEN",
    "ODEN",
    "DIPROSES",
    "DIBAYAR",
];
/// Those that also stand in rules: "payment received after cut-off".
const DEEDS_OF_RULES: [&str; 10] = [
    "RECEIVED",
    "SUBMITTED",
    "RECU ",
    "RECUE ",
    "RECIBID",
    "RECEBID",
    "PAGO ",
    "COMPLETED",
    "COLLECTED",
    "USED ",
];
/// Phrases, from the beginning of a word, that mean a repetition or an outcome that the bank does not
/// know.
const CERTAIN_PHRASES: [&str; 40] = [
    "NO RESPONSE",
    "NO REPLY",
    "NO ANSWER",
    "NOT RESPOND",
    "TIMEOUT",
    "TIME OUT ",
    "TIMED OUT",
    "STATUS UNKNOWN",
    "UNKNOWN STATUS",
    "STATUS NOT KNOWN",
    "OUTCOME UNKNOWN",
    "UNKNOWN OUTCOME",
    "DEEMED APPROVED",
    "DEEMED ACCEPTED",
    "DEEMED SUCCESS",
    "DEEMED CREDITED",
    "DEEMED PAID",
    "DOUBLE PAYMENT",
    "DOUBLE TRANSACTION",
    "REPEAT PAYMENT",
    "REPEATED PAYMENT",
    "REPEAT TRANSACTION",
    "REPEATED TRANSACTION",
    "DOPPELT",
    "SANS REPONSE",
    "PAS DE REPONSE",
    "AUCUNE REPONSE",
    "SIN RESPUESTA",
    "SEM RESPOSTA",
    "KEINE ANTWORT",
    "GIAO DICH TRUNG",
    "GIAO DICH BI TRUNG",
    "GIAO DICH DA TON TAI",
    "DA XU LY",
    "DA DUOC XU LY",
    "DA THANH TOAN",
    "DA DUOC THANH TOAN",
    "DA GHI CO",
    "DA DUOC GHI CO",
    "TIDAK ADA RESPON",
];
/// What a payment that is not done may be, right behind its noun.
const OPEN_PHRASES: [&str; 7] = [
    "PENDING",
    "AWAIT",
    "IN PROCESS",
    "IN PROGRESS",
    "BEING PROCESSED",
    "UNDER PROCESS",
    "EN COURS",
];
/// Words between a noun and the state.
const FILLERS: [&str; 8] = ["IS", "WAS", "STILL", "ALREADY", "STATUS", "CURRENTLY", "EST", "ID"];
/// Words that make "be processed" a forecast, not a rule.
const FORECASTS: [&str; 4] = ["WILL", "SHALL", "MAY", "MIGHT"];
/// How many words around one for a deed are compared with it.
const NEAR: usize = 4;

/// Whether a reason means that the bank already has the instruction: a code of ISO's or of the
/// rail's profile, alone or in a bank's own words (`AM05 - duplication`, `DUPLICATE_FILE`).
pub fn is_duplicate(code: &str, rail: Option<&RailConfig>) -> bool {
    let code = code.trim().to_ascii_uppercase();
    names_duplicate(&code) || rail.is_some_and(|rail| rail.duplicate_reasons.contains(&code))
}

/// Whether a code or a text says that the bank had this message before, so that it pays once: one of
/// ISO's codes or of the profile's, or plain words for a duplicate message. Words that only resemble
/// them do not.
pub fn names_repeated_message(text: &str, rail: Option<&RailConfig>) -> bool {
    let code = text.trim().to_ascii_uppercase();
    in_latin_letters(text).split(' ').any(|word| DUPLICATE_REASONS.contains(&word))
        || rail.is_some_and(|rail| rail.duplicate_reasons.contains(&code))
        || repetition::is_of_message(text)
}

fn names_duplicate(text: &str) -> bool {
    let latin = in_latin_letters(text);
    DUPLICATE_WORDS.iter().any(|word| latin.contains(word))
        || latin.split(' ').any(|word| DUPLICATE_REASONS.contains(&word))
        || repetition::is_named(text)
}

/// A text in capital Latin letters, its words separated by single spaces. "Not a duplicate" and "does
/// not match" are the same in Vietnamese, and name none.
fn in_latin_letters(text: &str) -> String {
    let text = any_ascii::any_ascii(text).to_ascii_uppercase();
    let words = text.split(|sign: char| !sign.is_ascii_alphanumeric());
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.replace("KHONG TRUNG", "KHONG").replace("KHONG BI TRUNG", "KHONG")
}

/// Whether a bank's free text may mean that it already has what was sent, or has paid it. One that is
/// not of its encoding, or in a script in which no word is known, may mean anything.
pub fn mentions_possession(text: &str) -> bool {
    let is_broken = text.contains(char::REPLACEMENT_CHARACTER) || repetition::is_unread(text);
    let latin = in_latin_letters(text);
    is_broken
        || names_duplicate(text)
        || repetition::is_described(text)
        || repetition::may_be_known(text)
        || outcome::is_left_open(text)
        || says_it_is_paid(&latin)
        || is_certain(&latin)
        || POSSESSION_WORDS.iter().any(|word| latin.contains(word))
}

/// Whether a bank's free text beside a code of ISO's that states the reason means that it already has
/// what was sent, or has paid it: words about the payment itself, not those that a text about the
/// account may contain ("account already closed").
fn confirms_possession(text: &str) -> bool {
    let is_elsewhere = PAYMENT_NOUNS_ELSEWHERE.iter().any(|noun| text.contains(noun));
    if text.contains(char::REPLACEMENT_CHARACTER) || is_elsewhere && mentions_possession(text) {
        return true;
    }
    names_duplicate(text) || repetition::is_described(text) || is_certain(&in_latin_letters(text))
}

/// Whether a text in Latin letters states a repetition, a payment that was made or an open one in words
/// about the payment itself.
fn is_certain(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    begins_a_word(text, &CERTAIN_PHRASES)
        || (0..words.len()).any(|at| names_deed(&words, at) || names_open_payment(&words, at))
}

/// Whether one of the phrases stands in a text, from the beginning of a word.
fn begins_a_word(text: &str, phrases: &[&str]) -> bool {
    let text = format!(" {text} ");
    phrases.iter().any(|phrase| text.contains(&format!(" {phrase}")))
}

/// "Already processed" and "transaction successful", but not "account already exists" and "payment
/// received after cut-off".
fn names_deed(words: &[&str], at: usize) -> bool {
    let Some((before, [word, after @ ..])) = words.split_at_checked(at) else { return false };
    let whole = format!("{word} ");
    let is_of = |stems: &[&str]| stems.iter().any(|stem| whole.starts_with(stem));
    let turns = |word: &&str| NEGATIONS.contains(word) || FAILURES.contains(word);
    let near = &before[before.len().saturating_sub(NEAR)..];
    let is_turned = near.iter().any(turns) || after.first().is_some_and(turns);
    let is_credit = is_of(&CREDIT_STEMS);
    if is_turned || !(is_credit || is_of(&SUCCESS_WORDS) || is_of(&DEED_STEMS)) {
        return false;
    }
    let is_others = !is_credit && near.iter().any(|word| OTHER_NOUNS.contains(word));
    let mut around = near.iter().chain(after.iter().take(2));
    if around.any(|word| ALREADY_WORDS.contains(word)) {
        return !is_others;
    }
    let is_rule = match before {
        [.., forecast, "BE"] => !FORECASTS.contains(forecast),
        _ => is_of(&DEEDS_OF_RULES) && !is_completed_payment(near, word),
    };
    let is_payments = before.is_empty() || near.iter().any(|word| PAYMENT_NOUNS.contains(word));
    is_payments && !is_rule && !is_others && (!before.is_empty() || is_of(&SUCCESS_WORDS))
}

/// "Payment completed", but not "credit of a completed form".
fn is_completed_payment(near: &[&str], word: &str) -> bool {
    let last = near.iter().rev().find(|word| !FILLERS.contains(word));
    word == "COMPLETED" && last.is_some_and(|last| PAYMENT_NOUNS.contains(last))
}

/// "Transaction is still pending", but not "activation pending".
fn names_open_payment(words: &[&str], at: usize) -> bool {
    let Some((noun, rest)) = words.get(at..).and_then(<[_]>::split_first) else { return false };
    let state: Vec<&str> =
        rest.iter().skip_while(|word| FILLERS.contains(word)).take(2).copied().collect();
    let state = state.join(" ");
    PAYMENT_NOUNS.contains(noun) && OPEN_PHRASES.iter().any(|open| state.starts_with(open))
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

/// Whether a code is about the format of a file or message, which says little of its payments.
fn is_of_format(code: &str) -> bool {
    let code = code.trim().to_ascii_uppercase();
    code.starts_with("FF") && states_reason(&code)
}

/// Whether a code leaves the reason to the text: one that says so, or a bank's own.
pub fn is_narrative(code: &str) -> bool {
    let upper = code.trim().to_ascii_uppercase();
    NARRATIVE_REASONS.contains(&upper.as_str()) || !states_reason(&upper)
}

/// Whether the reasons of a refusal, or its text, mean that the bank already has the instruction. A
/// text decides less than a code: words that other texts may contain count only where no code of
/// ISO's states the reason of the payment. Beside one, where another code says that the text decides,
/// or the code would have the payment sent over another rail, words about the payment itself count.
pub fn proves_possession<'a>(
    codes: impl Iterator<Item = &'a String> + Clone,
    info: Option<&str>,
    rail: Option<&RailConfig>,
) -> bool {
    let is_open = codes.clone().all(|code| is_narrative(code) || is_of_format(code));
    let is_retryable =
        |code: &str| rail.is_some_and(|rail| rail.retryable_reasons.contains(code.trim()));
    let decides_little =
        |code: &String| code.trim().eq_ignore_ascii_case(NARRATIVE) || is_retryable(code);
    codes.clone().any(|code| is_duplicate(code, rail))
        || is_open && codes.clone().any(|code| is_of_success(code.trim()))
        || info.is_some_and(|text| match is_open {
            true => mentions_possession(text),
            false if codes.clone().any(decides_little) => confirms_possession(text),
            false => names_duplicate(text),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_four_characters_is_not_yet_one_of_isos() {
        let stated = [
            "AC01", "AC16", "ac04 ", "AM04", "AM25", "BE01", "BE23", "RR04", "AG01", "AB08",
            "TM01", "DT01", "ED05", "FF05", "RC10", "CNOR", "CURR", "CUST", "DS0H", "SL02", "TS04",
            "MD07", "LEGL",
        ];
        let open = [
            "NARR", "narr", "MS02", "MS03", "FF01", "E001", "0094", "1234", "9999", "DUP1", "T123",
            "XX99", "AC00", "AC17", "AC99", "AC1", "AC+1", "AC 1", "ACO1", "AM08", "BE02", "U05",
            "R13", "M1", "S001", "G000", "DS07", "DS15", "TS01", "ABCD", "", "ISO1", "AC01/1",
        ];
        let wrong = |codes: &[&'static str], is_narrative: bool| -> Vec<&'static str> {
            codes.iter().filter(|code| super::is_narrative(code) != is_narrative).copied().collect()
        };
        assert_eq!((wrong(&stated, false), wrong(&open, true)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn only_plain_words_say_that_the_bank_had_the_message() {
        let strict = [
            "AM05",
            "DU03",
            "am05 - duplication",
            "DUPLICATE_FILE",
            "Duplicate",
            "Duplicate message",
            "Transaction is a duplicate",
            "Opération en doublon: pago duplicado",
        ];
        let loose = [
            "Not a duplicate transaction",
            "No duplicate found",
            "Doppelname",
            "DUP",
            "Second payment",
            "Duplicate beneficiary name",
            "Duplicate account number",
            "Reference reused",
            "AC04",
            "Dohri adayegi",
            "Duplex Street 4",
        ];
        let wrong = |texts: &[&'static str], expected: bool| -> Vec<&'static str> {
            let names = |text: &&str| names_repeated_message(text, None) != expected;
            texts.iter().copied().filter(names).collect()
        };
        assert_eq!((wrong(&strict, true), wrong(&loose, false)), (Vec::new(), Vec::new()));
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
            "Unable to process record exists",
            "Failed because the reference exists",
            "Account does not match, reference exists",
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
            "Account doesnt exist",
            "Account doesnot exist",
            "Such accounts dont exist",
            "Account didn't exist",
            "Account never existed",
            "Unable to find existing account",
            "Konto existiert nicht",
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

    #[test]
    fn beside_a_stated_reason_only_words_about_the_payment_itself_count() {
        let confirm = [
            "already credited",
            "Already processed",
            "ALRDY PAID",
            "already executed",
            "Payment already settled",
            "transaction already exists",
            "Payment was already received",
            "a payment already received",
            "file already received",
            "Reference already used",
            "EndToEndId already exists",
            "Previously processed",
            "Payment was processed earlier",
            "Account already credited",
            "Beneficiary was credited, do not resend",
            "Transaction successful",
            "Payment completed",
            "Credit posted",
            "Paid at counter",
            "Credited before cut-off",
            "Payment will be processed next day",
            "paid twice",
            "double payment",
            "DUPLICATE",
            "AM05: see text",
            "Timeout, outcome unknown",
            "Request timed out",
            "No response from beneficiary bank",
            "Beneficiary bank did not respond",
            "Deemed approved",
            "Transaction is still pending",
            "same payment is being processed",
            "Payment status: pending",
            "Paiement déjà effectué",
            "Virement déjà traité",
            "déjà payé",
            "Compte déjà crédité",
            "Ce paiement existe déjà",
            "Opération en doublon",
            "Aucune réponse de la banque",
            "Pago ya procesado",
            "La transferencia ya fue ejecutada",
            "ya existe la operación",
            "Cuenta ya abonada",
            "Sin respuesta del banco",
            "Sans réponse",
            "Paiement réalisé",
            "Virement exécuté",
            "Pago realizado",
            "Pagamento realizado",
            "Keine Antwort",
            "Unknown outcome",
            "Tidak ada respon",
            "Đã thanh toán",
            "Lệnh đã xử lý",
            "Đã ghi có",
            "Pagamento já processado",
            "já foi pago",
            "Transação já existe",
            "Pagamento já liquidado",
            "Sem resposta do banco",
            "Zahlung bereits ausgeführt",
            "bereits gutgeschrieben",
            "Doppelt eingereicht",
            "İşlem zaten işlendi",
            "Transaksi sudah diproses",
            "Giao dịch đã tồn tại",
            "Giao dịch đã được xử lý",
            "المعاملة موجودة مسبقا",
            "लेनदेन पहले से मौजूद है",
            "لین دین پہلے سے موجود ہے",
            "লেনদেন ইতিমধ্যে বিদ্যমান",
            "कारोबार पहिले नै भइसकेको छ",
            "ගනුදෙනුව දැනටමත් පවතී",
            "Umiiral na ang transaksyon",
        ];
        let ordinary = [
            "Account already closed",
            "the account was already closed",
            "Account already blocked by court order",
            "Account already exists under another name",
            "A/C already exists",
            "Cut-off time already passed",
            "Cut-off already reached",
            "Cut-off time outside of hours",
            "Limit already exceeded",
            "Daily limit already used",
            "Mandate already cancelled",
            "Beneficiary already deceased",
            "Account closed earlier this year",
            "Previous account number",
            "Please send earlier",
            "KYC pending",
            "Account pending activation",
            "Refused pending identification",
            "Number not in use",
            "IBAN in use by another customer",
            "Bank in process of liquidation",
            "Account closure in progress",
            "Unique identification number is wrong",
            "Double-check the IBAN",
            "received after cut-off",
            "Payment received after cut-off",
            "Payments received after 16:00 are processed next day",
            "Account not credited",
            "could not be credited",
            "Transaction unsuccessful",
            "Payment not processed",
            "Payment can only be processed on business days",
            "Transaction to be completed by branch",
            "Account blocked until KYC is completed",
            "Account does not exist",
            "No such account exists",
            "Deemed dormant",
            "Awaiting documents of the customer",
            "Compte déjà clôturé",
            "Le compte est déjà bloqué",
            "Heure limite déjà dépassée",
            "Paiement non effectué",
            "La cuenta ya está cerrada",
            "Cuenta ya cancelada",
            "Hora de corte ya pasada",
            "La cuenta ya no existe",
            "Conta já encerrada",
            "O horário limite já passou",
            "Konto bereits geschlossen",
            "Annahmeschluss bereits vorbei",
            "Hesap zaten kapalı",
            "Rekening sudah ditutup",
            "Tài khoản đã đóng",
            "الحساب مغلق مسبقا",
            "खाता पहले से बंद है",
            "",
        ];
        let mut config = crate::test_values::rail("pak-raast");
        config.retryable_reasons = ["TM01".to_owned()].into();
        for codes in [&["AC04", "NARR"][..], &["TM01"], &["TM01", "narr"]] {
            let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
            let read = |texts: &[&'static str], is_proof: bool| -> Vec<&'static str> {
                let proves = |text| proves_possession(codes.iter(), Some(text), Some(&config));
                texts.iter().filter(|text| proves(text) != is_proof).copied().collect()
            };
            let wrong = (read(&confirm, true), read(&ordinary, false));
            assert_eq!(wrong, (Vec::new(), Vec::new()), "{codes:?}");
        }
        // What counts beside a definite code counts without one.
        for codes in [&["NARR"][..], &["E001"], &["MS03"], &["FF01"], &[]] {
            let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
            let proves = |text| proves_possession(codes.iter(), Some(text), Some(&config));
            let wrong: Vec<&str> = confirm.into_iter().filter(|text| !proves(text)).collect();
            assert_eq!(wrong, Vec::<&str>::new(), "{codes:?}");
        }
        // Where no definite code stands, broad words count as well.
        for codes in [&["NARR"][..], &["E001"], &["MS03"], &["E001", "NARR"]] {
            let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
            for text in ["Already there", "Sent earlier", "pending", "number in use"] {
                assert!(proves_possession(codes.iter(), Some(text), None), "{codes:?} {text}");
            }
        }
    }
}
