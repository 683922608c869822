//! The ID token: parsed and, once its signature is verified, checked claim by claim (OpenID Connect
//! Core 1.0, sections 2 and 3.1.3.7). This module fetches nothing and holds no key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::identity::{Identity, IdentityFault, NameClaim, SUBJECT_MAX_BYTES, Subject};
use domain::time::Timestamp;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;

use super::keys::Algorithm;
use super::{Settings, refused, told};

/// Maximum difference between the provider's clock and ours.
const LEEWAY_S: i64 = 60;
/// Maximum age of a token that was issued for a code redeemed just now.
const AGE_MAX_S: i64 = 600;
/// Maximum length of a token.
const TOKEN_MAX_BYTES: usize = 64 * 1024;

/// A parsed token that is not verified yet.
pub(super) struct IdToken<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    /// Header and claims exactly as signed.
    pub(super) signed: &'a [u8],
    pub(super) signature: Vec<u8>,
    claims: Vec<u8>,
}

pub(super) struct Expected<'a> {
    pub(super) settings: &'a Settings,
    pub(super) nonce: &'a str,
    pub(super) now: Timestamp,
}

/// A token may name a key; an embedded key (`jwk`, `x5c` …) is ignored.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Critical extensions, none of which is supported (RFC 7515, section 4.1.11).
    crit: Option<serde_json::Value>,
}

/// One audience, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Some providers write it as a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Verified {
    Flag(bool),
    Text(String),
}

/// Whole seconds since 1970, rounded down; a provider may write fractions (RFC 7519, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Number")]
struct NumericDate(i64);

impl TryFrom<serde_json::Number> for NumericDate {
    type Error = &'static str;

    fn try_from(number: serde_json::Number) -> Result<NumericDate, &'static str> {
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let seconds = whole.parse::<u64>().ok().and_then(|it| i64::try_from(it).ok());
        let is_written_out = fraction.bytes().all(|byte| byte.is_ascii_digit());
        seconds
            .filter(|_| is_written_out)
            .map(NumericDate)
            .ok_or("not a time in seconds since 1970")
    }
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: NumericDate,
    iat: NumericDate,
    nbf: Option<NumericDate>,
    nonce: Option<String>,
    azp: Option<String>,
    email: Option<String>,
    email_verified: Option<Verified>,
    preferred_username: Option<String>,
    upn: Option<String>,
}

impl<'a> IdToken<'a> {
    pub(super) fn split(compact: &'a str) -> Result<IdToken<'a>, IdentityFault> {
        let unreadable = || refused("the ID token cannot be read");
        if compact.len() > TOKEN_MAX_BYTES {
            return Err(refused("the ID token is too long"));
        }
        let mut parts = compact.split('.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unreadable());
        };
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| unreadable());
        let read: Header = serde_json::from_slice(&bytes(header)?).map_err(|_| unreadable())?;
        if read.crit.is_some() {
            return Err(refused("the ID token requires unsupported extensions"));
        }
        let algorithm = Algorithm::parse(&read.alg).ok_or_else(|| {
            refused(format!(
                "the ID token is signed with {:?}, which is not accepted",
                told(&read.alg)
            ))
        })?;
        Ok(IdToken {
            algorithm,
            key_id: read.kid,
            signed: &compact.as_bytes()[..header.len() + 1 + claims.len()],
            signature: bytes(signature)?,
            claims: bytes(claims)?,
        })
    }

    /// The user who has signed in, by a token whose signature is verified.
    pub(super) fn identity(&self, expected: &Expected<'_>) -> Result<Identity, IdentityFault> {
        let claims: Claims = serde_json::from_slice(&self.claims).map_err(|error| {
            refused(format!(
                "the ID token's claims cannot be read (line {} column {})",
                error.line(),
                error.column()
            ))
        })?;
        claims.judge(expected)?;
        let claim = expected.settings.claim;
        let name = claims.name(claim);
        Ok(Identity { subject: Subject { issuer: claims.iss, subject: claims.sub }, name })
    }
}

impl Claims {
    /// The first failed check.
    fn judge(&self, expected: &Expected<'_>) -> Result<(), IdentityFault> {
        let Expected { settings, nonce, now } = expected;
        let now = now.unix_seconds();
        let said = self.nonce.as_deref().unwrap_or_default();
        let is_us = |client: &String| *client == settings.client_id;
        let several = matches!(&self.aud, Audience::Several(all) if all.len() > 1);
        let for_us = match &self.aud {
            Audience::One(one) => is_us(one),
            Audience::Several(all) => all.iter().any(is_us),
        };
        let subject = (1..=SUBJECT_MAX_BYTES).contains(&self.sub.len())
            && self.sub.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_control());
        let verdicts = [
            (self.iss == settings.issuer, "has an unexpected issuer"),
            (for_us, "has an unexpected audience"),
            (
                !several || self.azp.is_some(),
                "is for several audiences and names no authorized party",
            ),
            (self.azp.as_ref().is_none_or(is_us), "has an unexpected authorized party"),
            (now < self.exp.0.saturating_add(LEEWAY_S), "has expired"),
            (self.iat.0 <= now + LEEWAY_S, "was issued in the future"),
            (self.iat.0 >= now - AGE_MAX_S - LEEWAY_S, "was issued long ago"),
            (self.nbf.is_none_or(|from| from.0 <= now + LEEWAY_S), "is not valid yet"),
            (bool::from(said.as_bytes().ct_eq(nonce.as_bytes())), "has an unexpected nonce"),
            (subject, "has no usable subject"),
        ];
        match verdicts.into_iter().find(|(holds, _)| !holds) {
            Some((_, why)) => Err(refused(format!("the ID token {why}"))),
            None => Ok(()),
        }
    }

    fn name(&self, claim: NameClaim) -> Result<String, String> {
        let said = match claim {
            NameClaim::Email => {
                let verified = match &self.email_verified {
                    Some(Verified::Flag(flag)) => *flag,
                    Some(Verified::Text(text)) => text == "true",
                    None => false,
                };
                if self.email.is_some() && !verified {
                    return Err(
                        "the provider does not vouch for the e-mail address (email_verified)"
                            .to_owned(),
                    );
                }
                self.email.as_deref()
            }
            NameClaim::PreferredUsername => self.preferred_username.as_deref(),
            NameClaim::Upn => self.upn.as_deref(),
            NameClaim::Subject => Some(self.sub.as_str()),
        };
        let kept = said.and_then(|text| claim.kept(text));
        kept.ok_or_else(|| format!("the ID token has no usable claim {:?}", claim.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::NumericDate;

    #[test]
    fn times_are_whole_seconds_however_the_provider_writes_them() {
        for text in ["1796000000", "1796000000.0", "1796000000.75"] {
            let read: NumericDate = serde_json::from_str(text).expect(text);
            assert_eq!(read, NumericDate(1_796_000_000), "{text}");
        }
        for text in ["-1", "-0.5", "1e400", "\"1796000000\"", "null", "99999999999999999999"] {
            assert!(serde_json::from_str::<NumericDate>(text).is_err(), "{text}");
        }
    }
}
