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

/// Keys of secrets as dotted paths; `*` stands for any rail, table or relay.
pub const SECRET_KEYS: [&str; 36] = [
    "store.url",
    "security.key_encryption_key",
    "security.previous_key_encryption_keys",
    "audit.signing_key",
    "rails.*.token",
    "rails.*.callback_secret",
    "rails.*.sftp.key_passphrase",
    "rails.*.sftp.password",
    "rails.*.pgp.key_passphrase",
    "outbound.*.proxy",
    "outbound.*.password",
    "outbound.*.token",
    "outbound.*.header_value",
    "outbound.*.query_value",
    "outbound.*.client_secret",
    "outbound.*.signature_secret",
    "relay.*.password",
    "relay.*.token",
    "relay.*.nkey_seed",
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
    "chains.*.node_url",
    "chains.*.second_node_url",
    "chains.*.further_node_urls",
    "chains.*.keys.keystore_password",
    "chains.*.keys.pkcs11_pin",
    "chains.*.keys.kms_secret_access_key",
    "chains.*.keys.kms_session_token",
];

/// The parameters of a PostgreSQL URL, as the store takes them.
pub const PARAMETERS: [&str; 22] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslnegotiation",
    "user",
    "password",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// Whether the key at `path` is a secret.
pub fn is_secret(path: &[String]) -> bool {
    SECRET_KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.split('.').collect();
        parts.len() == path.len()
            && parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name)
    })
}

/// A secret as in `config print`: `***`, except for the harmless parts of the URL of a store or a
/// proxy.
pub fn masked(path: &[String], text: &str) -> String {
    let is_store = path.first().is_some_and(|section| section == "store");
    let is_url = is_store || path.last().is_some_and(|key| key == "proxy");
    match text.split_once("://") {
        _ if text.is_empty() => String::new(),
        None if is_url => text.to_owned(),
        // Any other name may be a part of the password.
        Some(_) if is_store => masked_but(text, |name| PARAMETERS.contains(&name)),
        Some(_) if is_url => masked_url(text),
        _ => "***".to_owned(),
    }
}

/// A URL without user and parameters; any other text as it is.
pub fn masked_url(text: &str) -> String {
    masked_but(text, |_| true)
}

/// The same, with the names of these parameters only.
fn masked_but(text: &str, is_shown: impl Fn(&str) -> bool) -> String {
    match text.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", masked_address(rest, is_shown)),
        None => text.to_owned(),
    }
}

/// Whether it is clear where the password of a URL ends: at its only `@`, before any parameter.
pub fn is_clear(url: &str) -> bool {
    url.split_once('@')
        .is_none_or(|(credentials, rest)| !credentials.contains('?') && !rest.contains('@'))
}

/// The parts of a URL after its scheme, without user and parameters. All of it is masked if
/// a user or password with unescaped characters makes the parts ambiguous.
fn masked_address(rest: &str, is_shown: impl Fn(&str) -> bool) -> String {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (path, query) = path.split_once('?').map_or((path, None), |(path, q)| (path, Some(q)));
    let host = match authority.rsplit_once('@') {
        _ if authority.contains('?') => return "***".to_owned(),
        Some(_) if rest.matches('@').count() > 1 => return "***".to_owned(),
        Some((_, host)) => format!("***@{host}"),
        None if path.contains('@') => return "***".to_owned(),
        // It may be the beginning of a password instead of a port.
        None if authority.contains(':') && rest.contains('@') => return "***".to_owned(),
        None => authority.to_owned(),
    };
    let slash = if rest.contains('/') { "/" } else { "" };
    let query = query.map_or(String::new(), |query| format!("?{}", masked_query(query, is_shown)));
    format!("{host}{slash}{path}{query}")
}

/// The parameters of a URL, without the values of those that may be secret.
fn masked_query(query: &str, is_shown: impl Fn(&str) -> bool) -> String {
    let masked = query.split('&').map(|pair| match pair.split_once('=') {
        Some(("sslmode" | "sslrootcert" | "sslcert" | "sslkey", _)) => pair.to_owned(),
        Some((name, _)) if is_shown(name) => format!("{name}=***"),
        _ => "***".to_owned(),
    });
    masked.collect::<Vec<_>>().join("&")
}

/// Whether a store's URL contains a user or a password.
pub fn has_credentials(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let names = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, _)| name);
    url.contains('@') || names.into_iter().any(|name| ["user", "password"].contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn unescaped_characters_of_a_password_make_a_url_unclear() {
        for clear in [
            "postgres://me:pw@db:5432/corridor",
            "postgres://me:p%40w/x@one,two:5433/corridor?sslmode=require",
            "postgres://me:p#w%@db/c?application_name=a%40b",
            "postgres://db?sslmode=require",
            "postgresql://db",
        ] {
            assert!(is_clear(clear), "{clear}");
        }
        for unclear in [
            "me:p@w@db/c",
            "me:p@w/x@db/c",
            "me:p?w@db/c",
            "me:p@w?x=y@db/c",
            "me:p@w/x?y=z@db/c",
            "me@db/c?application_name=a@b",
            "db/c?user=me&password=p@w",
        ] {
            assert!(!is_clear(&format!("postgres://{unclear}")), "{unclear}");
        }
    }

    #[test]
    fn secrets_are_masked_and_addresses_keep_their_host() {
        for (key, text, shown) in [
            ("security.key_encryption_key", "abc", "***"),
            ("rates.token", "", ""),
            ("store.url", "sqlite:corridor.db", "sqlite:corridor.db"),
            ("store.url", "postgres://me:pw@db:5432/corridor", "postgres://***@db:5432/corridor"),
            (
                "store.url",
                "postgres://db/corridor?user=me&password=p@w&sslmode=verify-full",
                "postgres://db/corridor?user=***&password=***&sslmode=verify-full",
            ),
            (
                "store.url",
                "postgres://me@db/c?sslmode=require&sslcert=/c.pem&sslkey=/k.pem",
                "postgres://***@db/c?sslmode=require&sslcert=/c.pem&sslkey=/k.pem",
            ),
            ("store.url", "postgres://me:p?w@db/corridor?sslmode=require", "postgres://***"),
            ("store.url", "postgres://me:p/w@db/corridor", "postgres://***"),
            ("store.url", "postgres://me:p@w/x?y=z@db/c", "postgres://***"),
            ("store.url", "postgres://me:p@w@db/c", "postgres://***"),
            ("store.url", "postgres://me:p/w?x=y@db/c", "postgres://***"),
            ("store.url", "postgres://db/c?password=p&w=x", "postgres://db/c?password=***&***"),
            ("outbound.x.proxy", "http://proxy:1/?key=x", "http://proxy:1/?key=***"),
            ("store.url", "postgres://db?password=p@w", "postgres://***"),
            ("rails.pak-raast.token", "https://looks/like@address", "***"),
        ] {
            assert!(is_secret(&path(key)), "{key}");
            assert_eq!(masked(&path(key), text), shown, "{key}");
        }
        assert!(!is_secret(&path("http.listen")));
    }

    #[test]
    fn credentials_are_found_in_both_parts_of_an_address() {
        for url in ["postgres://me:pw@db/c", "postgres://db/c?sslmode=require&password=pw"] {
            assert!(has_credentials(url), "{url}");
        }
        assert!(!has_credentials("postgres://db/c?sslmode=require"));
        assert!(!has_credentials("sqlite:corridor.db"));
    }

    #[test]
    fn debug_never_shows_a_secret() {
        assert_eq!(format!("{:?} {:?}", Secret::new("s3cret"), Secret::default()), "*** none");
    }
}
