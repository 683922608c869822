//! Our ids in those places of a booking that have no element for them: other references, remittance
//! information, free texts. Only complete ids count. Pure functions.

use domain::rail_ids::{self, ReportIds};

use super::xml_read::Element;

/// Digits of our UUIDs.
const ID_DIGITS: usize = 32;
/// Digits of our message ids, before a hyphen and the number of payments.
const MESSAGE_DIGITS: usize = 24;
/// Maximum length of that number.
const MAX_COUNT_DIGITS: usize = 6;
/// More different ids than an attempt and its payment name nothing.
const MAX_IDS: usize = 2;

/// Adds the ids that the texts of a transaction contain, and those of its booking if it is the only
/// one there. Our ids in elements of their own are never replaced, nor does a text count beside an
/// EndToEndId of someone else; but a return (`is_return`) may have one that the bank chose for it.
pub(super) fn complete(
    ids: &mut ReportIds,
    details: &Element,
    booking: Option<&Element>,
    is_return: bool,
) {
    let has_own =
        (ids.end_to_end.is_some() && !is_return) || ids.strong().any(rail_ids::looks_like_ours);
    let (mut found, mut messages) = (Vec::new(), Vec::new());
    for text in texts_with_ids(details, booking) {
        let words = text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-');
        for word in words {
            if found.len() > MAX_IDS && messages.len() > 1 {
                return;
            }
            if let Some(id) = id(word).filter(|_| found.len() <= MAX_IDS) {
                if !found.contains(&id) {
                    found.push(id);
                }
            } else if messages.len() <= 1 && is_message(word) && !messages.contains(&word) {
                messages.push(word);
            }
        }
    }
    if !has_own && (1..=MAX_IDS).contains(&found.len()) {
        let mut found = found.into_iter();
        ids.instruction = found.next();
        // An attempt and its payment: the two have to fit.
        ids.uetr = found.next().or_else(|| ids.uetr.take());
    }
    if let ([only], None) = (messages.as_slice(), &ids.message) {
        ids.message = Some((*only).to_owned());
    }
}

/// The texts of a transaction and its booking that may contain an id.
fn texts_with_ids<'a>(details: &'a Element, booking: Option<&'a Element>) -> Vec<&'a str> {
    let under = |path: &'a [&'a str]| details.at(path).into_iter().flat_map(|it| &it.children);
    let refs = under(&["Refs"]);
    let own = under(&["Refs"]).filter(|it| it.name == "Prtry").filter_map(|it| it.child("Ref"));
    let free = under(&["RmtInf"]).filter(|it| it.name == "Ustrd");
    let structured = under(&["RmtInf"])
        .filter(|it| it.name == "Strd")
        .flat_map(|it| it.at(&["CdtrRefInf", "Ref"]).into_iter().chain(it.all("AddtlRmtInf")));
    let notes = details.all("RtrInf").flat_map(|it| it.all("AddtlInf"));
    let notes = notes.chain(details.all("AddtlTxInf"));
    let of_booking =
        booking.into_iter().flat_map(|it| it.all("NtryRef").chain(it.all("AddtlNtryInf")));
    let all = refs.chain(own).chain(free).chain(structured).chain(notes).chain(of_booking);
    all.map(|element| element.text.as_str()).filter(|text| !text.is_empty()).collect()
}

/// A complete UUID, also after a label (`EREF-…`).
fn id(word: &str) -> Option<String> {
    let is_id = |digits: &str| {
        digits.len() == ID_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let plain = word.replace('-', "");
    let labelled = || word.rsplit('-').next().filter(|last| is_id(last)).map(str::to_owned);
    if is_id(&plain) { Some(plain) } else { labelled() }
}

/// A complete id of one of our messages.
fn is_message(word: &str) -> bool {
    word.split_once('-').is_some_and(|(digits, count)| {
        digits.len() == MESSAGE_DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && (1..=MAX_COUNT_DIGITS).contains(&count.len())
            && count.bytes().all(|byte| byte.is_ascii_digit())
    })
}
