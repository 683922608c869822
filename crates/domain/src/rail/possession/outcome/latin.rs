//! The same in Latin letters: in one clause, "payment done", "transaction processing", "result unknown",
//! "response not received", "reference is used". Pure functions.

use super::super::repetition::{is_of, is_other, is_payment, turns};
use super::super::{FILLERS, NEAR, NEGATIONS, PAYMENT_NOUNS, begins_a_word, words};

/// Nouns for what another bank answers: English, French, Spanish, Portuguese, Italian, German, Turkish,
/// Indonesian, Filipino.
const ANSWERS: [&str; 27] = [
    "RESPONSE",
    "REPLY",
    "ANSWER",
    "CONFIRMATION",
    "ACKNOWLEDGEMENT",
    "ACKNOWLEDGMENT",
    "ACK",
    "FEEDBACK",
    "REPONSE",
    "RESPUESTA",
    "CONFIRMACION",
    "RESPOSTA",
    "CONFIRMACAO",
    "RISPOSTA",
    "CONFERMA",
    "ANTWORT",
    "RUCKMELDUNG",
    "RUECKMELDUNG",
    "BESTATIGUNG",
    "BESTAETIGUNG",
    "YANIT",
    "CEVAP",
    "RESPON",
    "RESPONS",
    "JAWABAN",
    "TUGON",
    "SAGOT",
];
/// Words for "none" and "did not come", further ones than [`NEGATIONS`].
const MISSING: [&str; 26] = [
    "WITHOUT",
    "NEVER",
    "HASNT",
    "DIDNT",
    "MISSING",
    "OUTSTANDING",
    "AUCUN",
    "AUCUNE",
    "SANS",
    "SIN",
    "NINGUNA",
    "SEM",
    "NENHUMA",
    "SENZA",
    "NESSUNA",
    "NESSUN",
    "KEIN",
    "KEINE",
    "NICHT",
    "OHNE",
    "YOK",
    "ALINAMADI",
    "GELMEDI",
    "TIDAK",
    "BELUM",
    "WALANG",
];
/// What may be confirmed of a payment: not "confirmation of payee".
const CONFIRMED: [&str; 5] = ["CREDIT", "PAYMENT", "RECEIPT", "TRANSFER", "SETTLEMENT"];
/// What follows an answer that is about something else: "response code".
const OF_ANSWERS: [&str; 4] = ["CODE", "FORMAT", "TYPE", "FIELD"];

/// Nouns for an outcome.
const OUTCOMES: [&str; 14] = [
    "STATUS",
    "OUTCOME",
    "RESULT",
    "STATUT",
    "RESULTAT",
    "ESTADO",
    "RESULTADO",
    "STATO",
    "ESITO",
    "ERGEBNIS",
    "AUSGANG",
    "DURUM",
    "SONUC",
    "HASIL",
];
/// Beginnings of words for "unknown".
const UNKNOWN: [&str; 17] = [
    "UNKNOWN",
    "UNCERTAIN",
    "UNCLEAR",
    "INDETERMINATE",
    "UNDETERMINED",
    "UNCONFIRMED",
    "UNAVAILABLE",
    "INCONNU",
    "INCERT",
    "DESCONOCID",
    "DESCONHECID",
    "SCONOSCIUT",
    "UNBEKANNT",
    "UNKLAR",
    "UNGEWISS",
    "BELIRSIZ",
    "BILINM",
];

/// Words for "known", behind "not".
const DETERMINED: [&str; 6] =
    ["KNOWN", "CONFIRMED", "CLEAR", "AVAILABLE", "DETERMINED", "ESTABLISHED"];

/// Beginnings of words for what was done, at the end of their clause: English, German, Romance
/// languages, Turkish, Indonesian.
const DONE: [&str; 35] = [
    "COMPLETE ",
    "DONE ",
    "MADE ",
    "SENT ",
    "TRANSFERRED ",
    "TRANSFERED ",
    "REMITTED ",
    "RELEASED ",
    "DELIVERED ",
    "DEBITED ",
    "DEPOSITED ",
    "FINISHED ",
    "ERFOLGT ",
    "DURCHGEFUHRT ",
    "DURCHGEFUEHRT ",
    "ABGESCHLOSSEN ",
    "VERBUCHT ",
    "GEBUCHT ",
    "EFETUAD",
    "EFECTUAD",
    "EFFETTUAT",
    "ESEGUIT",
    "ACCREDITAT",
    "CONCLUID",
    "COMPLETAD",
    "COMPLETAT",
    "FINALIZAD",
    "TRANSFERID",
    "ABONAD",
    "ACREDITAD",
    "TAMAMLAND",
    "YAPILD",
    "GERCEKLES",
    "SELESAI ",
    "TERKIRIM ",
];
/// What may follow them.
const AFTER_DONE: [&str; 10] = [
    "ON",
    "VIA",
    "TODAY",
    "YESTERDAY",
    "ALREADY",
    "SUCCESSFULLY",
    "MANUALLY",
    "EARLIER",
    "HOY",
    "HOJE",
];
/// Words for payees behind "to": "transferred to beneficiary".
const PAYEES: [&str; 4] = ["BENEFICIARY", "PAYEE", "CREDITOR", "CUSTOMER"];
/// Beginnings of words that make it another report.
const REFUSED: [&str; 26] = [
    "REJECT",
    "REFUS",
    "DECLIN",
    "CANCEL",
    "RETURN",
    "REVERS",
    "RECALL",
    "FAIL",
    "ERROR",
    "INVALID",
    "WRONG",
    "INCORRECT",
    "ABLEHN",
    "ABGELEHN",
    "STORN",
    "RUCK",
    "RECHAZ",
    "ANUL",
    "DEVOL",
    "REJE",
    "RIFIUT",
    "RESPINT",
    "ANNUL",
    "TOLAK",
    "DITOLAK",
    "IPTAL",
];
/// Names of ids: "reference is used" shows that the bank has the payment.
const IDS: [&str; 15] = [
    "REFERENCE",
    "REF",
    "UETR",
    "ENDTOENDID",
    "ENDTOEND",
    "END",
    "E2EID",
    "E2E",
    "EID",
    "MSGID",
    "INSTRID",
    "TRN",
    "TXNID",
    "RRN",
    "UTR",
];
/// Words between an id's name and "used".
const FILLERS_OF_IDS: [&str; 9] = ["IS", "WAS", "HAS", "BEEN", "ID", "NUMBER", "NO", "NR", "CODE"];
/// Articles, before "transaction processing".
const ARTICLES: [&str; 6] = ["THE", "YOUR", "THIS", "A", "YR", "CREDIT"];
/// Words before "processing" that make it what is under way.
const PROGRESS: [&str; 4] = ["STILL", "UNDER", "CURRENTLY", "NOW"];

/// Phrases, from the beginning of a word, for a payment that was made, is open, or was not answered:
/// English; French; Vietnamese; Filipino.
const PHRASES: [&str; 54] = [
    "REPLAY ",
    "WENT THROUGH ",
    "AUCUN RETOUR ",
    "PAS DE RETOUR ",
    "SANS RETOUR ",
    "DANG XU LY",
    "DANG DUOC XU LY",
    "DANG CHO XU LY",
    "GIAO DICH DANG CHO",
    "LENH DANG CHO",
    "THANH TOAN DANG CHO",
    "CHO XU LY",
    "KHONG NHAN DUOC PHAN HOI",
    "KHONG NHAN DUOC TRA LOI",
    "KHONG CO PHAN HOI",
    "KHONG PHAN HOI",
    "KHONG TRA LOI",
    "CHUA NHAN DUOC PHAN HOI",
    "CHUA CO PHAN HOI",
    "CHUA PHAN HOI",
    "HET THOI GIAN CHO",
    "QUA THOI GIAN CHO",
    "HET THOI GIAN PHAN HOI",
    "GIAO DICH THANH CONG",
    "THANH TOAN THANH CONG",
    "CHUYEN TIEN THANH CONG",
    "CHUYEN KHOAN THANH CONG",
    "LENH THANH CONG",
    "GIAO DICH DA HOAN",
    "GIAO DICH HOAN TAT",
    "DA CHUYEN TIEN",
    "DA CHUYEN KHOAN",
    "DA DUOC CHUYEN",
    "DA TRA TIEN",
    "DA CHI TRA",
    "TRANG THAI KHONG XAC DINH",
    "TRANG THAI CHUA XAC DINH",
    "KET QUA KHONG XAC DINH",
    "KET QUA CHUA XAC DINH",
    "CHUA RO KET QUA",
    "HINDI TUMUGON",
    "HINDI SUMAGOT",
    "NAKABINBIN ANG TRANSA",
    "NAKABINBIN ANG BAYAD",
    "PINOPROSESO",
    "NA CREDIT NA",
    "NACREDIT NA",
    "NAI CREDIT NA",
    "NAICREDIT NA",
    "TAPOS NA ANG TRANSA",
    "TAPOS NA ANG BAYAD",
    "TAPOS NA ANG PAGBABAYAD",
    "NAPADALA NA",
    "NAILIPAT NA",
];
/// "Pending", beside a noun for the payment or as the whole clause: Filipino, Romance languages, German,
/// Turkish, Indonesian.
const OPEN: [&str; 18] = [
    "NAKABINBIN",
    "PENDIENTE",
    "PENDENTE",
    "EN ATTENTE",
    "EN COURS",
    "EN PROCESO",
    "EM PROCESSAMENTO",
    "EM CURSO",
    "IN CORSO",
    "IN SOSPESO",
    "IN BEARBEITUNG",
    "AUSSTEHEND",
    "IN VERARBEITUNG",
    "BEKLEMEDE",
    "ISLENIYOR",
    "TERTUNDA",
    "SEDANG DIPROSES",
    "DALAM PROSES",
];
/// Whether a clause says that the payment was made, that it is open, or that no answer came.
pub(super) fn is_left_open(clause: &str) -> bool {
    let words: Vec<&str> = clause.split(' ').collect();
    let is_of_payment = || words.iter().any(is_noun) || OPEN.contains(&clause);
    begins_a_word(clause, &PHRASES)
        || begins_a_word(clause, &OPEN) && is_of_payment() && !words.iter().any(is_others)
        || (0..words.len()).any(|at| {
            is_unanswered(&words, at)
                || is_unknown(&words, at)
                || is_processing(&words, at)
                || is_done(&words, at)
                || is_used(&words, at)
        })
}

fn is_noun(word: &&str) -> bool {
    PAYMENT_NOUNS.contains(word) || is_payment(word) || *word == "MONEY"
}

/// Whether it is a noun for what is not the payment.
fn is_others(word: &&str) -> bool {
    is_other(word) && !is_noun(word)
}

/// The words near one, before and after.
fn around<'a, 'b>(words: &'a [&'b str], at: usize) -> (&'a [&'b str], &'a [&'b str]) {
    let (before, rest) = words.split_at(at);
    (&before[before.len().saturating_sub(NEAR)..], rest.get(1..).unwrap_or_default())
}

/// "No confirmation from the bank" and "response not received", but not "no confirmation of payee" and
/// "response code not valid".
fn is_unanswered(words: &[&str], at: usize) -> bool {
    if !words.get(at).is_some_and(|word| ANSWERS.contains(word)) {
        return false;
    }
    let (before, after) = around(words, at);
    let is_missing = |word: &&str| NEGATIONS.contains(word) || MISSING.contains(word);
    let is_others = match after {
        ["OF", of, ..] => !CONFIRMED.contains(of),
        [next, ..] => OF_ANSWERS.contains(next),
        [] => false,
    };
    !is_others && before.iter().chain(after.iter().take(NEAR - 1)).any(is_missing)
}

/// "Result unknown" and "unclear status", but not "status of the account unknown".
fn is_unknown(words: &[&str], at: usize) -> bool {
    if !words.get(at).is_some_and(|word| OUTCOMES.contains(word)) {
        return false;
    }
    let (before, after) = around(words, at);
    let far = after.len().min(NEAR);
    let is_not_known = after[..far].iter().enumerate().any(|(at, word)| {
        let next = after[at + 1..].iter().find(|word| **word != "BE");
        *word == "NOT" && next.is_some_and(|next| DETERMINED.contains(next))
    });
    let mut near = before.iter().rev().take(1).chain(&after[..far]);
    (is_not_known || near.any(|word| is_of(word, &UNKNOWN))) && !words.iter().any(is_others)
}

/// "Transaction processing" and "is still processing" at the end of a clause, but not "error in
/// transaction processing".
fn is_processing(words: &[&str], at: usize) -> bool {
    let (before, ["PROCESSING"]) = words.split_at(at) else { return false };
    let is_subject = |word: &&str| {
        is_noun(word)
            || ARTICLES.contains(word)
            || PROGRESS.contains(word)
            || matches!(*word, "IS" | "STATUS" | "BANK")
    };
    before.iter().all(is_subject)
}

/// "Funds transferred" and "payment done on 3 May", but not "amount transferred exceeds the limit" and
/// "payment to be made".
fn is_done(words: &[&str], at: usize) -> bool {
    let (before, [word, after @ ..]) = words.split_at(at) else { return false };
    let is_end = match after {
        [] => true,
        ["TO", "THE", payee, ..] | ["TO", payee, ..] => PAYEES.contains(payee),
        [next, ..] => AFTER_DONE.contains(next),
    };
    is_of(word, &DONE)
        && is_end
        && before.iter().any(is_noun)
        && !matches!(before, [.., "BE"])
        && !words.iter().any(turns)
        && !words.iter().any(|word| is_of(word, &REFUSED))
        && !words::NEGATIVE_ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// "Reference is used" and "EndToEndId used", but not "wrong reference used".
fn is_used(words: &[&str], at: usize) -> bool {
    let (before, ["USED"]) = words.split_at(at) else { return false };
    let is_filler = |word: &&&str| FILLERS_OF_IDS.contains(word) || FILLERS.contains(word);
    let last = before.iter().rev().find(|word| !is_filler(word) && **word != "TO");
    last.is_some_and(|last| IDS.contains(last))
        && !before.iter().any(|word| is_of(word, &REFUSED) || *word == "NOT")
}
