//! Fuzz targets of what an identity provider sends: its description, its keys, ID tokens.

use domain::identity::NameClaim;
use domain::time::Timestamp;

use super::id_token::{Expected, IdToken};
use super::keys::KeySet;
use super::metadata::Metadata;
use super::{Settings, outbound};
use crate::fuzz::text;

const ISSUER: &str = "https://id.example.com";

/// Keys and a description: an accepted description leads to HTTPS only.
pub(crate) fn provider(bytes: &[u8]) {
    if let Ok(keys) = KeySet::read(bytes) {
        let _count = keys.count();
    }
    if let Ok(metadata) = Metadata::read(bytes, ISSUER) {
        assert!(metadata.token_endpoint.starts_with("https://"));
        assert!(metadata.jwks_uri.starts_with("https://"));
    }
}

/// A token: claims that are accepted name their issuer and a subject. Its signature is not part of it.
pub(crate) fn token(bytes: &[u8]) {
    let Some(token) = text(bytes).and_then(|text| IdToken::split(text.trim_end()).ok()) else {
        return;
    };
    let settings = Settings {
        issuer: ISSUER.to_owned(),
        client_id: "corridor".to_owned(),
        client_secret: None,
        client_authentication: None,
        claim: NameClaim::Email,
        outbound: outbound::Settings::default(),
    };
    let now = Timestamp(1_795_244_268_000_000);
    if let Ok(identity) = token.identity(&Expected { settings: &settings, nonce: "n-1", now }) {
        assert_eq!(identity.subject.issuer, ISSUER);
        assert!(!identity.subject.subject.is_empty());
        assert_ne!(identity.name.as_deref(), Ok(""));
    }
    let keys = KeySet::read(br#"{"keys":[]}"#).expect("a set without keys");
    assert!(keys.verify(&token).is_err());
}
