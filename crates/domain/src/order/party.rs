//! The rules of the order that are the same for every country: people, documents, ways to reach them.

use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::country::Country;
use crate::e164::is_e164;
use crate::fault::Fault;
use crate::iso3166::is_alpha3;

/// Longest e-mail address (RFC 5321 section 4.5.3.1.3, less the angle brackets).
const EMAIL_MAX_BYTES: usize = 254;
/// Longest part before the at sign (RFC 5321 section 4.5.3.1.1).
const EMAIL_LOCAL_MAX_BYTES: usize = 64;
/// Longest label of a domain name (RFC 1035 section 2.3.4).
const DOMAIN_LABEL_MAX_BYTES: usize = 63;

/// A text of at most `max` characters (not bytes).
pub(super) fn check_length(field: &'static str, text: &str, max: usize) -> Option<Fault> {
    (text.chars().count() > max).then(|| {
        Fault::new(field, "string_too_long", format!("{field} must have at most {max} characters"))
            .with("max_length", max)
    })
}

/// A mobile number of the destination country.
pub(super) fn check_beneficiary_mobile(country: Country, number: &str) -> Option<Fault> {
    let rule = &country.rules().mobile;
    let right = number.strip_prefix(rule.prefix).is_some_and(rule.matches);
    (!right).then(|| {
        let message = format!("beneficiary_mobile must be a mobile number of {}: {}", country.alpha3(), rule.form);
        Fault::new("beneficiary_mobile", "invalid_mobile", message)
    })
}

/// Any number in E.164.
pub(super) fn check_sender_mobile(number: &str) -> Option<Fault> {
    let message = "sender_mobile must be in E.164 format: + and 7 to 15 digits with the country code";
    (!is_e164(number)).then(|| Fault::new("sender_mobile", "invalid_mobile", message))
}

/// A plausible e-mail address: one mailbox, one domain with a dot. Delivery is the only real proof.
pub(super) fn check_email(address: &str) -> Option<Fault> {
    let right = address.len() <= EMAIL_MAX_BYTES
        && address.rsplit_once('@').is_some_and(|(local, domain)| is_mailbox(local) && is_domain(domain));
    (!right).then(|| Fault::new("beneficiary_email", "invalid_email", "beneficiary_email must be an e-mail address"))
}

fn is_mailbox(local: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
    (1..=EMAIL_LOCAL_MAX_BYTES).contains(&local.len())
        && local.chars().all(plain)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
}

fn is_domain(domain: &str) -> bool {
    let label = |part: &str| {
        (1..=DOMAIN_LABEL_MAX_BYTES).contains(&part.len())
            && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let top = domain.rsplit('.').next().unwrap_or_default();
    domain.contains('.') && domain.split('.').all(label) && !top.bytes().all(|byte| byte.is_ascii_digit())
}

/// A date of birth before today.
pub(super) fn check_birthdate(date: Date, today: Date) -> Option<Fault> {
    (date >= today).then(|| Fault::new("sender_birthdate", "date_past", "sender_birthdate must be in the past"))
}

/// A document is good up to and with the day of its expiry.
pub(super) fn check_expiry(date: Date, today: Date) -> Option<Fault> {
    (date < today).then(|| {
        let message = "sender_identity_doc_exp is in the past: the identity document has expired";
        Fault::new("sender_identity_doc_exp", "document_expired", message).with("today", today)
    })
}

/// An ISO 3166-1 alpha-3 code.
pub(super) fn check_country(field: &'static str, code: &str) -> Option<Fault> {
    let message = || format!("{field} must be a country code of ISO 3166-1 alpha-3 in capital letters");
    (!is_alpha3(code)).then(|| Fault::new(field, "invalid_country", message()))
}

/// The relation as it is stored, or the fault.
pub(super) fn read_relation(given: &str, allowed: &BTreeSet<String>) -> Result<String, Fault> {
    let relation = given.to_lowercase();
    if allowed.contains(&relation) {
        return Ok(relation);
    }
    let list = allowed.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("sender_relation must be one of {list}");
    Err(Fault::new("sender_relation", "invalid_relation", message).with("allowed", list))
}
