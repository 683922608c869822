//! Fuzz target of what senders type and browsers send.

use super::authorization;
use super::find::hash_in;
use super::form::Form;
use super::language::Language;
use super::{back, cookie};
use http::{HeaderMap, HeaderValue, header};

/// The bytes as each form of the page, as a typed hash, a cookie and a transfer's signature.
pub(crate) fn form(bytes: &[u8]) {
    if let Ok(sender) = Form::read(bytes) {
        for text in [&sender.first_name, &sender.last_name].into_iter().flatten() {
            assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{text:?}");
        }
    }
    match back::read(bytes) {
        Ok(address) => assert_ne!(address.to_string().len(), 0),
        Err(field) => assert!(field.is_wrong() && field.value.chars().count() <= 100),
    }
    let _signed = authorization::read(bytes);
    let Some(text) = crate::fuzz::text(bytes) else { return };
    if let Some(hash) = hash_in(text) {
        assert!(text.to_ascii_lowercase().contains(&hash.to_string()[2..]));
    }
    let _language = Language::parse(text);
    if let Ok(value) = HeaderValue::from_str(text) {
        let _submission = cookie::submission(&HeaderMap::from_iter([(header::COOKIE, value)]));
    }
}
