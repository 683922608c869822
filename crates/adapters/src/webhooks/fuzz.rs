//! Fuzz targets of webhooks: endpoints' URLs and answers, signatures of callbacks.

use std::net::IpAddr;

use super::address::outward;
use super::sender::denies;
use super::{Arrived, Reach, WebhookSecret, verify};
use crate::fuzz::text;

/// A URL that is accepted leads to a public address over HTTPS, and stays what it is when read again.
pub(crate) fn url(bytes: &[u8]) {
    let Some(base) = text(bytes) else { return };
    let Ok(url) = Reach::Internet.url(base, "/events") else { return };
    assert_eq!(url.scheme(), "https");
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
    assert!(url.path().ends_with("/events"), "{url}");
    let host = url.host_str().expect("a host");
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        assert_eq!(outward(address), Ok(()), "{url}");
    }
    assert!(!host.is_empty(), "{url}");
    assert_eq!(reqwest::Url::parse(url.as_str()).as_ref(), Ok(&url));
}

/// An answer's body and a callback's headers, each on a line of its own.
pub(crate) fn answer(bytes: &[u8]) {
    let _denied = denies(bytes);
    let Some(text) = text(bytes) else { return };
    let secret = WebhookSecret::parse(&WebhookSecret::text_of(&[7; 32])).expect("a secret");
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (id, timestamp, signature, body) = (line(), line(), line(), line().as_bytes());
    let arrived = Arrived { id, timestamp, signature, body };
    // No input can hold a signature of a secret that it does not know.
    assert!(verify(&[secret], &arrived, 1_795_244_268).is_err());
    if let Ok(other) = WebhookSecret::parse(id) {
        let signed = super::sign(&[other], "1", 1_795_244_268, body);
        assert!(signed.starts_with("v1,"));
    }
}
