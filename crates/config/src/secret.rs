//! Secret configuration values. They never appear in `Debug`, in `config print` or in an error.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

/// A secret text; empty means unset.
#[derive(Clone, Default)]
pub struct Secret(SecretString);

impl Secret {
    /// Creates a secret from its text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(SecretString::from(text.into()))
    }

    /// Whether it is unset.
    pub fn is_empty(&self) -> bool {
        self.0.expose_secret().is_empty()
    }

    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_empty() { "none" } else { "***" })
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

/// Keys of secrets as dotted paths; `*` stands for any rail.
pub const SECRET_KEYS: [&str; 15] = [
    "store.url",
    "security.key_encryption_key",
    "security.previous_key_encryption_keys",
    "audit.signing_key",
    "rails.*.token",
    "rates.token",
    "screening.chain_analysis.api_key",
    "console.oidc.client_secret",
    "chain.node_url",
    "chain.second_node_url",
    "chain.further_node_urls",
    "chain.keys.keystore_password",
    "chain.keys.pkcs11_pin",
    "chain.keys.kms_secret_access_key",
    "chain.keys.kms_session_token",
];

/// Whether the key at `path` is a secret.
pub fn is_secret(path: &[String]) -> bool {
    SECRET_KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.split('.').collect();
        parts.len() == path.len()
            && parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name)
    })
}

/// A secret as in `config print`: `***`, except for the harmless parts of a store's URL.
pub fn masked(path: &[String], text: &str) -> String {
    let is_store = path.first().is_some_and(|section| section == "store");
    match text.split_once("://") {
        _ if text.is_empty() => String::new(),
        None if is_store => text.to_owned(),
        Some((scheme, rest)) if is_store => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://***@{host}"),
            None => text.to_owned(),
        },
        _ => "***".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn secrets_are_masked_and_addresses_keep_their_host() {
        for (key, text, shown) in [
            ("security.key_encryption_key", "abc", "***"),
            ("rates.token", "", ""),
            ("store.url", "sqlite:corridor.db", "sqlite:corridor.db"),
            ("store.url", "postgres://me:pw@db:5432/corridor", "postgres://***@db:5432/corridor"),
            ("rails.pak-raast.token", "https://looks/like@address", "***"),
        ] {
            assert!(is_secret(&path(key)), "{key}");
            assert_eq!(masked(&path(key), text), shown, "{key}");
        }
        assert!(!is_secret(&path("http.listen")));
    }

    #[test]
    fn debug_never_shows_a_secret() {
        assert_eq!(format!("{:?} {:?}", Secret::new("s3cret"), Secret::default()), "*** none");
    }
}
