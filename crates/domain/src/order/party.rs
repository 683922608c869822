//! Order rules common to all countries: persons, documents, contact details.

use std::collections::BTreeSet;

use jiff::civil::{Date, date};

use crate::country::Country;
use crate::e164::is_e164;
use crate::email::is_email;
use crate::fault::Fault;
use crate::iso3166::is_alpha3;
use crate::rail_text::CharacterSet;

use super::EXTERNAL_ID_MAX_CHARS;

/// Earliest plausible date of birth of a sender.
const FIRST_BIRTHDATE: Date = date(1900, 1, 1);

/// Longest town and number of a document that every message carries (Max35Text).
pub(super) const RAIL_MAX_CHARS: usize = 35;

/// A town with a letter in the characters that every rail takes: networks refuse an address without
/// one.
pub(super) fn check_town(field: &'static str, town: &str) -> Option<Fault> {
    let said = CharacterSet::SwiftX.spell(town, RAIL_MAX_CHARS);
    (!said.chars().any(char::is_alphabetic)).then(|| {
        let message = format!("{field} must name a town: it has no letter that a bank takes");
        Fault::new(field, "unsupported_characters", message)
    })
}

/// A text of at most `max` characters (not bytes).
pub(super) fn check_length(field: &'static str, text: &str, max: usize) -> Option<Fault> {
    (text.chars().count() > max).then(|| {
        Fault::new(field, "string_too_long", format!("{field} must have at most {max} characters"))
            .with("max_length", max)
    })
}

pub(super) fn check_external_id(id: &str) -> Option<Fault> {
    if id.is_empty() {
        let message = "external_id must have at least 1 character";
        return Some(Fault::new("external_id", "string_too_short", message).with("min_length", 1));
    }
    check_length("external_id", id, EXTERNAL_ID_MAX_CHARS)
}

/// A mobile number of the destination country.
pub(super) fn check_beneficiary_mobile(country: Country, number: &str) -> Option<Fault> {
    let rule = &country.rules().mobile;
    let right = number.strip_prefix(rule.prefix).is_some_and(rule.matches);
    (!right).then(|| {
        let message = format!(
            "beneficiary_mobile must be a mobile number of {}: {}",
            country.alpha3(),
            rule.form
        );
        Fault::new("beneficiary_mobile", "invalid_mobile", message)
    })
}

/// Any country's E.164 number: the sender may live anywhere.
pub(super) fn check_sender_mobile(number: &str) -> Option<Fault> {
    let message =
        "sender_mobile must be in E.164 format: + and 7 to 15 digits with the country code";
    (!is_e164(number)).then(|| Fault::new("sender_mobile", "invalid_mobile", message))
}

/// A plausible e-mail address.
pub(super) fn check_email(address: &str) -> Option<Fault> {
    let message = "beneficiary_email must be an e-mail address";
    (!is_email(address)).then(|| Fault::new("beneficiary_email", "invalid_email", message))
}

/// A date of birth before today.
pub(super) fn check_birthdate(date: Date, today: Date) -> Option<Fault> {
    if date < FIRST_BIRTHDATE {
        let message = format!("sender_birthdate must be {FIRST_BIRTHDATE} or later");
        return Some(
            Fault::new("sender_birthdate", "greater_than_equal", message)
                .with("ge", FIRST_BIRTHDATE),
        );
    }
    (date >= today).then(|| {
        Fault::new("sender_birthdate", "date_past", "sender_birthdate must be in the past")
    })
}

/// A document is valid until the end of its expiry day.
pub(super) fn check_expiry(date: Date, today: Date) -> Option<Fault> {
    (date < today).then(|| {
        let message = "sender_identity_doc_exp is in the past: the identity document has expired";
        Fault::new("sender_identity_doc_exp", "document_expired", message).with("today", today)
    })
}

/// An ISO 3166-1 alpha-3 code.
pub(super) fn check_country(field: &'static str, code: &str) -> Option<Fault> {
    let message =
        || format!("{field} must be a country code of ISO 3166-1 alpha-3 in capital letters");
    (!is_alpha3(code)).then(|| Fault::new(field, "invalid_country", message()))
}

/// The relation in its stored form, or the fault.
pub(super) fn read_relation(given: &str, allowed: &BTreeSet<String>) -> Result<String, Fault> {
    let relation = given.to_lowercase();
    if allowed.contains(&relation) {
        return Ok(relation);
    }
    let list = allowed.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("sender_relation must be one of {list}");
    Err(Fault::new("sender_relation", "invalid_relation", message).with("allowed", list))
}
