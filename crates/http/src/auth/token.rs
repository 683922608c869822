//! The three parts of a compact JWS (RFC 7515), parsed strictly. Independent of keys and clock.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use domain::decimal::{Decimal, Rounding};

use super::fault::AuthFault;
use crate::json::{self, Object, Value};

/// Members that would let a token bring its own key or demand unsupported rules (RFC 8725, 3.10).
const REFUSED_MEMBERS: [&str; 6] = ["jku", "jwk", "x5u", "x5c", "crit", "b64"];

/// UNIX time of the last second of the year 9999.
const UNIX_TIME_MAX_S: i64 = 253_402_300_799;

/// A parsed token, not yet verified.
#[derive(Debug)]
pub(super) struct Token<'a> {
    /// Header and claims as signed.
    pub signed: &'a [u8],
    pub header: Vec<u8>,
    pub claims: Vec<u8>,
    pub signature: Vec<u8>,
}

impl<'a> Token<'a> {
    pub(super) fn split(compact: &'a str) -> Result<Token<'a>, AuthFault> {
        let mut parts = compact.split('.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(AuthFault::Parts);
        };
        let signed = &compact.as_bytes()[..header.len() + 1 + claims.len()];
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| AuthFault::Base64);
        Ok(Token {
            signed,
            header: decode(header)?,
            claims: decode(claims)?,
            signature: decode(signature)?,
        })
    }

    /// Checks the header and returns its `kid`.
    pub(super) fn kid(&self) -> Result<String, AuthFault> {
        let header = object(&self.header)?;
        if REFUSED_MEMBERS.iter().any(|name| header.has(name)) {
            return Err(AuthFault::HeaderMember);
        }
        let text = |name| header.get(name).and_then(Value::as_str);
        if text("alg") != Some("HS256") {
            return Err(AuthFault::Alg);
        }
        if text("typ") != Some("JWT") {
            return Err(AuthFault::Typ);
        }
        text("kid").map(str::to_owned).ok_or(AuthFault::Kid)
    }
}

/// The claims, with types checked; the verifier checks their values.
#[derive(Debug)]
pub(super) struct Claims {
    pub sub: String,
    pub exp: i64,
    pub iat: i64,
    pub nbf: Option<i64>,
    pub aud: Vec<String>,
    pub iss: String,
    pub roles: Vec<String>,
    pub hmac: Option<[u8; 32]>,
}

impl Claims {
    pub(super) fn read(json: &[u8]) -> Result<Claims, AuthFault> {
        let claims = object(json)?;
        let text = |name| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Claims {
            sub: text("sub").ok_or(AuthFault::Sub)?,
            exp: claims.get("exp").and_then(unix_time).ok_or(AuthFault::Exp)?,
            iat: claims.get("iat").and_then(unix_time).ok_or(AuthFault::Iat)?,
            nbf: given(&claims, "nbf")
                .map(|value| unix_time(value).ok_or(AuthFault::Nbf))
                .transpose()?,
            aud: claims.get("aud").and_then(one_or_many).ok_or(AuthFault::Aud)?,
            iss: text("iss").ok_or(AuthFault::Iss)?,
            roles: roles(&claims)?,
            hmac: given(&claims, "hmac")
                .map(|value| hmac(value).ok_or(AuthFault::Hmac))
                .transpose()?,
        })
    }
}

fn object(json: &[u8]) -> Result<Object<'_>, AuthFault> {
    json::parse(json).ok().and_then(Value::into_object).ok_or(AuthFault::Json)
}

/// The value of an optional claim; null counts as absent, since serializers write unset values so.
fn given<'o, 'a>(claims: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    claims.get(name).filter(|value| **value != Value::Null)
}

/// A NumericDate (RFC 7519, section 2): a number, truncated to seconds.
fn unix_time(value: &Value<'_>) -> Option<i64> {
    let Value::Number(number) = value else {
        return None;
    };
    let seconds = Decimal::parse(number).ok()?.round(0, Rounding::Floor).to_minor(0)?;
    (1..=UNIX_TIME_MAX_S).contains(&seconds).then_some(seconds)
}

fn one_or_many(value: &Value<'_>) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.to_string()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

fn roles(claims: &Object<'_>) -> Result<Vec<String>, AuthFault> {
    let mut roles = match given(claims, "roles") {
        None => Vec::new(),
        Some(value @ Value::Array(_)) => one_or_many(value).ok_or(AuthFault::Roles)?,
        Some(_) => return Err(AuthFault::Roles),
    };
    match given(claims, "role") {
        None => {}
        Some(Value::String(role)) => roles.push(role.to_string()),
        Some(_) => return Err(AuthFault::Roles),
    }
    Ok(roles)
}

/// An HMAC-SHA256 value: 64 lower-case hexadecimal digits, or base64 or base64url with or without
/// padding.
fn hmac(value: &Value<'_>) -> Option<[u8; 32]> {
    let text = value.as_str()?;
    let bytes = match text.len() {
        64 => lower_case_hex(text)?,
        44 => STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?,
        43 => STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok()?,
        _ => return None,
    };
    bytes.try_into().ok()
}

fn lower_case_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    text.as_bytes()
        .chunks(2)
        .map(|pair| Some(digit(pair[0])? * 16 + digit(*pair.get(1)?)?))
        .collect()
}
