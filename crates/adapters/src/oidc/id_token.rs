//! The ID token: parsed and, once its signature is verified, checked claim by claim (OpenID Connect
//! Core 1.0, sections 2 and 3.1.3.7). This module fetches nothing and holds no key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::identity::{Identity, IdentityFault, NameClaim, SUBJECT_MAX_BYTES, Subject};
use domain::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use super::keys::Algorithm;
use super::{Settings, refused, told};

/// Maximum difference between the provider's clock and ours.
const LEEWAY_S: i64 = 60;
/// Maximum age of a token that was issued for a code redeemed just now.
const AGE_MAX_S: i64 = 600;
/// Maximum length of a token.
const TOKEN_MAX_BYTES: usize = 64 * 1024;
/// Parts of an encrypted token (RFC 7516, section 3.1); a signed one has three.
const ENCRYPTED_PARTS: usize = 5;

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
    /// Those that may name the user have any form: only the configured one is read, and only to bind a
    /// user. Some providers write a list, or a number.
    email: Option<Value>,
    email_verified: Option<Value>,
    preferred_username: Option<Value>,
    upn: Option<Value>,
}

/// Whether a claim has the form that it needs.
type ClaimCheck = fn(&Value) -> bool;

/// The first claim, of those that every token is judged by, that is missing or has another form.
fn unreadable_claim(claims: &[u8]) -> Option<&'static str> {
    fn is<T: serde::de::DeserializeOwned>(value: &Value) -> bool {
        serde_json::from_value::<T>(value.clone()).is_ok()
    }
    let all: Value = serde_json::from_slice(claims).ok()?;
    let checks: [(&str, ClaimCheck); 8] = [
        ("iss", is::<String>),
        ("sub", is::<String>),
        ("aud", is::<Audience>),
        ("exp", is::<NumericDate>),
        ("iat", is::<NumericDate>),
        ("nbf", is::<Option<NumericDate>>),
        ("nonce", is::<Option<String>>),
        ("azp", is::<Option<String>>),
    ];
    let unreadable = checks.into_iter().find(|(name, fits)| !fits(&all[*name]));
    unreadable.map(|(name, _)| name)
}

impl<'a> IdToken<'a> {
    pub(super) fn split(compact: &'a str) -> Result<IdToken<'a>, IdentityFault> {
        let unreadable = || refused("the ID token cannot be read");
        if compact.len() > TOKEN_MAX_BYTES {
            return Err(refused("the ID token is too long"));
        }
        if compact.split('.').count() == ENCRYPTED_PARTS {
            return Err(refused(
                "the ID token is encrypted, which is not supported: have the provider sign it only",
            ));
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
            refused(match unreadable_claim(&self.claims) {
                Some(name) => {
                    format!("the ID token's claim {name:?} is missing or has an unexpected form")
                }
                None => format!(
                    "the ID token's claims cannot be read (line {} column {})",
                    error.line(),
                    error.column()
                ),
            })
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
                // Some providers write it as a text.
                let verified = match &self.email_verified {
                    Some(Value::Bool(flag)) => *flag,
                    Some(Value::String(text)) => text == "true",
                    _ => false,
                };
                if self.email.is_some() && !verified {
                    return Err(
                        "the provider does not vouch for the e-mail address (email_verified)"
                            .to_owned(),
                    );
                }
                self.email.as_ref()
            }
            NameClaim::PreferredUsername => self.preferred_username.as_ref(),
            NameClaim::Upn => self.upn.as_ref(),
            NameClaim::Subject => return kept(claim, &self.sub),
        };
        match said {
            Some(Value::String(text)) => kept(claim, text),
            None => Err(format!("the ID token has no usable claim {:?}", claim.name())),
            Some(_) => Err(format!("the ID token's claim {:?} is not a text", claim.name())),
        }
    }
}

/// The stored form of a name.
fn kept(claim: NameClaim, text: &str) -> Result<String, String> {
    let kept = claim.kept(text);
    kept.ok_or_else(|| format!("the ID token has no usable claim {:?}", claim.name()))
}

#[cfg(test)]
mod tests {
    use domain::identity::{Identity, NameClaim};
    use domain::time::Timestamp;
    use serde_json::{Value, json};

    use super::{Algorithm, Expected, IdToken, NumericDate, Settings};

    const NOW_S: i64 = 1_796_000_000;

    /// What a verified token with these claims besides the usual ones says.
    fn identity(claim: NameClaim, more: Value) -> Result<Identity, String> {
        let mut claims = json!({
            "iss": "https://id.example", "sub": "00u1", "aud": "corridor", "exp": NOW_S + 60,
            "iat": NOW_S, "nonce": "n",
        });
        let Value::Object(more) = more else { panic!("an object") };
        claims.as_object_mut().expect("an object").extend(more);
        let token = IdToken {
            algorithm: Algorithm::Es256,
            key_id: None,
            signed: b"",
            signature: Vec::new(),
            claims: claims.to_string().into_bytes(),
        };
        let settings = Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "corridor".to_owned(),
            client_secret: None,
            client_authentication: None,
            claim,
            outbound: crate::outbound::Settings::default(),
        };
        let now = Timestamp(NOW_S * 1_000_000);
        let expected = Expected { settings: &settings, nonce: "n", now };
        token.identity(&expected).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_claim_that_names_users_is_judged_only_where_it_is_configured() {
        let odd = [json!(["a@bank.example"]), json!(5), json!({}), json!(true), Value::Null];
        for value in odd {
            let more = json!({
                "email": value, "preferred_username": value, "upn": value, "email_verified": 1,
            });
            let subject = identity(NameClaim::Subject, more.clone()).expect("not concerned");
            assert_eq!(subject.name.as_deref(), Ok("00u1"), "{more}");
            for claim in [NameClaim::Email, NameClaim::PreferredUsername, NameClaim::Upn] {
                let bound = identity(claim, more.clone()).expect("its subject is known");
                assert_eq!(bound.subject.subject, "00u1");
                let why = bound.name.expect_err("names no user");
                assert!(why.contains(claim.name()), "{more}: {why}");
            }
        }
        for (verified, expected) in [
            (json!(true), true),
            (json!("true"), true),
            (json!(false), false),
            (json!("TRUE"), false),
            (json!(1), false),
            (json!("1"), false),
            (json!(["true"]), false),
            (Value::Null, false),
        ] {
            let more = json!({"email": "a@bank.example", "email_verified": verified});
            let found = identity(NameClaim::Email, more.clone()).expect("its subject is known");
            assert_eq!(found.name.is_ok(), expected, "{more}");
        }
    }

    #[test]
    fn a_claim_that_every_token_is_judged_by_is_named() {
        for (claim, value) in [
            ("iss", json!(["https://id.example"])),
            ("sub", json!(17)),
            ("sub", Value::Null),
            ("aud", json!({"corridor": true})),
            ("exp", json!("1796000000")),
            ("iat", json!(-1)),
            ("nbf", json!("now")),
            ("nonce", json!(["n"])),
            ("azp", json!(["corridor"])),
        ] {
            let fault = identity(NameClaim::Subject, json!({claim: value})).expect_err(claim);
            assert!(fault.contains(&format!("claim {claim:?}")), "{fault}");
        }
    }

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
