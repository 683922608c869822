//! Creates tokens for the command line, the load generator and tests. The service itself signs only
//! the sandbox's onboarding token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::hex::hex;
use domain::time::Timestamp;

use super::key::SigningKey;
use crate::write;

/// Signs tokens of one access key; header and HMAC state are prepared once.
#[derive(Clone, Debug)]
pub struct Minter {
    access_key: String,
    api_url: String,
    secret: SigningKey,
    /// The encoded header with its dot.
    header: String,
}

/// The variable parts of a token.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// `iat`, truncated to seconds.
    pub issued_at: Timestamp,
    /// `exp − iat` in seconds.
    pub lifetime_s: i64,
    /// The raw body that `hmac` covers.
    pub body: Option<&'a [u8]>,
    /// `roles`; empty for no claim.
    pub roles: &'a [&'a str],
}

impl<'a> Grant<'a> {
    /// A token without `hmac` and roles.
    pub const fn new(issued_at: Timestamp, lifetime_s: i64) -> Grant<'a> {
        Grant { issued_at, lifetime_s, body: None, roles: &[] }
    }
}

impl Minter {
    /// A minter for the key with this secret and the API at `api_url`.
    pub fn new(access_key: impl Into<String>, secret: &[u8], api_url: impl Into<String>) -> Minter {
        let access_key = access_key.into();
        let header = write::object(|header| {
            header.text("alg", "HS256");
            header.text("typ", "JWT");
            header.text("kid", &access_key);
        });
        let header = format!("{}.", URL_SAFE_NO_PAD.encode(header));
        Minter { access_key, api_url: api_url.into(), secret: SigningKey::new(secret), header }
    }

    pub fn token(&self, grant: Grant<'_>) -> String {
        let iat = grant.issued_at.unix_seconds();
        let claims = write::object(|claims| {
            claims.text("sub", &self.access_key);
            claims.integer("iat", iat);
            claims.integer("exp", iat.saturating_add(grant.lifetime_s));
            claims.text("aud", &self.api_url);
            claims.text("iss", &self.api_url);
            if let Some(body) = grant.body {
                claims.text("hmac", &hex(&self.secret.sign(body)));
            }
            if !grant.roles.is_empty() {
                claims.array("roles", |roles| grant.roles.iter().for_each(|role| roles.text(role)));
            }
        });
        let mut token = String::with_capacity(self.header.len() + claims.len() * 4 / 3 + 64);
        token.push_str(&self.header);
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = self.secret.sign(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        token
    }

    /// The value of an `authorization` header with a token.
    pub fn authorization(&self, grant: Grant<'_>) -> String {
        format!("Bearer {}", self.token(grant))
    }
}
