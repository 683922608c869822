//! Tokens of the payment API (specification: "Authentication"): creates them, and explains why one
//! is rejected.
//!
//! HS256 only (RFC 7515); the key is the SECRET KEY's own text. The service's verifier is
//! elsewhere: this module explains, it never authenticates.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use domain::hex::hex;
use domain::time::Timestamp;
use http_api::auth::SigningKey;
use http_api::auth::mint::{Grant, Minter};
use serde_json::{Map, Value};

use super::credentials::Credentials;
use config::Secret;

/// Lifetime of the tokens that the client creates for its own requests, in seconds.
pub const TOKEN_TTL_S: i64 = 120;
/// Maximum clock skew (`decisions.md`, "JWT").
const LEEWAY_S: i64 = 60;
/// Header members that are rejected (RFC 8725, and `decisions.md`).
const REFUSED_MEMBERS: [&str; 6] = ["jku", "jwk", "x5u", "x5c", "crit", "b64"];

/// A token for one request at `now` (UNIX seconds), valid `ttl_s`; with a body it attests it in the `hmac` claim.
pub fn mint(credentials: &Credentials, now: i64, ttl_s: i64, body: Option<&[u8]>) -> String {
    let secret = credentials.secret_key.expose().as_bytes();
    let minter = Minter::new(&credentials.access_key, secret, credentials.audience());
    let issued_at = Timestamp(now.saturating_mul(1_000_000));
    minter.token(Grant { body, roles: credentials.roles(), ..Grant::new(issued_at, ttl_s) })
}

/// The `hmac` claim of a body: HMAC-SHA256 in lower-case hex.
fn body_hmac(secret: &Secret, body: &[u8]) -> String {
    hex(&keyed(secret).sign(body))
}

fn keyed(secret: &Secret) -> SigningKey {
    SigningKey::new(secret.expose().as_bytes())
}

/// The expected values; a missing one is not checked.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// The current time, in UNIX seconds.
    pub now: i64,
    /// The URL that the token must name.
    pub url: Option<String>,
    /// The SECRET KEY that must have signed it.
    pub secret: Option<Secret>,
    /// The raw body of the request.
    pub body: Option<Vec<u8>>,
    /// Maximum lifetime, in seconds.
    pub max_age_s: i64,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The checked part: `header.alg`, `claims.exp`, `signature` …
    pub name: &'static str,
    /// `Some(true)` valid, `Some(false)` a reason for rejection, `None` not checked.
    pub passed: Option<bool>,
    /// The actual and the expected value.
    pub detail: String,
}

#[derive(Default)]
struct Report(Vec<Check>);

impl Report {
    fn say(&mut self, name: &'static str, passed: bool, detail: impl Into<String>) {
        self.0.push(Check { name, passed: Some(passed), detail: detail.into() });
    }

    fn skip(&mut self, name: &'static str, detail: impl Into<String>) {
        self.0.push(Check { name, passed: None, detail: detail.into() });
    }
}

/// The default maximum lifetime in seconds for the key that a token names: the key's use encodes
/// service and environment (`<tag>-<use>-<random>`). For an unreadable key it is the shortest.
pub fn usual_max_age_s(token: &str) -> i64 {
    let token = token.trim();
    let header =
        token.strip_prefix("Bearer ").unwrap_or(token).split('.').next().unwrap_or_default();
    let header = URL_SAFE_NO_PAD
        .decode(header)
        .ok()
        .and_then(|json| serde_json::from_slice::<Value>(&json).ok());
    let kid = header.as_ref().and_then(|header| header.get("kid")?.as_str()).unwrap_or_default();
    match kid.split('-').nth(1) {
        Some("test_pay" | "live_wallet") => 3_600,
        Some("test_wallet") => 24 * 3_600,
        _ => 300,
    }
}

/// Checks every part of a token and reports on each.
pub fn inspect(token: &str, expected: &Expected) -> Vec<Check> {
    let mut report = Report::default();
    let token = token.trim();
    let token = token.strip_prefix("Bearer ").unwrap_or(token);
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts[..] else {
        report.say(
            "form",
            false,
            format!("{} parts, a signed JWT has 3 (header.claims.signature)", parts.len()),
        );
        return report.0;
    };
    let (Some(header_members), Some(claim_members)) =
        (object(header, "header", &mut report), object(claims, "claims", &mut report))
    else {
        return report.0;
    };
    check_header(&header_members, &mut report);
    check_claims(&header_members, &claim_members, expected, &mut report);
    check_signature(token, signature, expected, &mut report);
    check_body(&claim_members, expected, &mut report);
    report.0
}

fn object(part: &str, name: &'static str, report: &mut Report) -> Option<Map<String, Value>> {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(part) else {
        report.say(name, false, "is not base64url without padding");
        return None;
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(members)) => Some(members),
        Ok(_) => {
            report.say(name, false, "is not a JSON object");
            None
        }
        Err(error) => {
            report.say(name, false, format!("is not JSON: {error}"));
            None
        }
    }
}

fn check_header(header: &Map<String, Value>, report: &mut Report) {
    let shown = |name: &str| header.get(name).map_or("missing".to_owned(), Value::to_string);
    let alg = header.get("alg").and_then(Value::as_str) == Some("HS256");
    report.say(
        "header.alg",
        alg,
        if alg { "HS256".to_owned() } else { format!("{}, must be \"HS256\"", shown("alg")) },
    );
    let typ = header.get("typ").and_then(Value::as_str) == Some("JWT");
    report.say(
        "header.typ",
        typ,
        if typ { "JWT".to_owned() } else { format!("{}, must be \"JWT\"", shown("typ")) },
    );
    match header.get("kid").and_then(Value::as_str) {
        Some(kid) => {
            let form = kid.splitn(3, '-').filter(|part| !part.is_empty()).count() == 3;
            let rule = if form { "" } else { ", must be <tag>-<use>-<random>" };
            report.say("header.kid", form, format!("{kid}{rule}"));
        }
        None => {
            report.say("header.kid", false, format!("{}, must be the access key", shown("kid")))
        }
    }
    let refused: Vec<&str> =
        REFUSED_MEMBERS.into_iter().filter(|name| header.contains_key(*name)).collect();
    if !refused.is_empty() {
        report.say("header", false, format!("unsupported members: {}", refused.join(", ")));
    }
}

fn check_claims(
    header: &Map<String, Value>,
    claims: &Map<String, Value>,
    expected: &Expected,
    report: &mut Report,
) {
    let shown = |name: &str| claims.get(name).map_or("missing".to_owned(), Value::to_string);
    let same =
        claims.get("sub").is_some_and(|sub| sub.is_string() && Some(sub) == header.get("kid"));
    report.say(
        "claims.sub",
        same,
        if same { "equals kid".to_owned() } else { format!("{}, must equal kid", shown("sub")) },
    );
    let number = |name: &str| claims.get(name).and_then(Value::as_i64);
    match number("exp") {
        Some(exp) if exp.saturating_add(LEEWAY_S) <= expected.now => {
            report.say(
                "claims.exp",
                false,
                format!("expired {} s ago", expected.now.saturating_sub(exp)),
            );
        }
        Some(exp) => report.say(
            "claims.exp",
            true,
            format!("{} s from now", exp.saturating_sub(expected.now)),
        ),
        None => report.say("claims.exp", false, format!("{}, must be UNIX seconds", shown("exp"))),
    }
    match number("iat") {
        Some(iat) if iat > expected.now.saturating_add(LEEWAY_S) => {
            let ahead = iat.saturating_sub(expected.now);
            report.say(
                "claims.iat",
                false,
                format!("{ahead} s in the future: check this machine's clock"),
            );
        }
        Some(iat) => {
            report.say("claims.iat", true, format!("{} s ago", expected.now.saturating_sub(iat)))
        }
        None => report.say("claims.iat", false, format!("{}, must be UNIX seconds", shown("iat"))),
    }
    if let (Some(exp), Some(iat)) = (number("exp"), number("iat")) {
        let life = exp.saturating_sub(iat);
        let allowed = life > 0 && life <= expected.max_age_s;
        report.say(
            "life",
            allowed,
            format!("exp - iat is {life} s, allowed are 1 to {} s", expected.max_age_s),
        );
    }
    for name in ["aud", "iss"] {
        check_url(
            if name == "aud" { "claims.aud" } else { "claims.iss" },
            claims.get(name),
            expected,
            report,
        );
    }
}

fn check_url(name: &'static str, claim: Option<&Value>, expected: &Expected, report: &mut Report) {
    let Some(claim) = claim else { return report.say(name, false, "missing, must be the API URL") };
    let Some(url) = &expected.url else {
        return report.skip(name, format!("{claim} (give --base-url to check it)"));
    };
    let trimmed = |text: &str| text.trim_end_matches('/').to_owned();
    let is_url = |value: &Value| value.as_str().is_some_and(|text| trimmed(text) == trimmed(url));
    let fits = match claim {
        Value::Array(several) if name == "claims.aud" => several.iter().any(is_url),
        one => is_url(one),
    };
    report.say(name, fits, if fits { url.clone() } else { format!("{claim}, must be \"{url}\"") });
}

fn check_signature(token: &str, signature: &str, expected: &Expected, report: &mut Report) {
    let Some(secret) = &expected.secret else {
        return report.skip("signature", "give the secret key to check it");
    };
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(signature) else {
        return report.say("signature", false, "is not base64url without padding");
    };
    let signed = token.rsplit_once('.').map_or("", |(signed, _)| signed);
    let right = keyed(secret).verifies(signed.as_bytes(), &bytes);
    report.say(
        "signature",
        right,
        if right { "made with this secret key" } else { "not made with this secret key" },
    );
}

fn check_body(claims: &Map<String, Value>, expected: &Expected, report: &mut Report) {
    let Some(claim) = claims.get("hmac").filter(|claim| !claim.is_null()) else {
        return report.skip("claims.hmac", "none (optional; a tenant can require it for POST)");
    };
    let Some(text) = claim.as_str() else {
        return report.say("claims.hmac", false, format!("{claim}, must be a text"));
    };
    let (Some(secret), Some(body)) = (&expected.secret, &expected.body) else {
        return report
            .skip("claims.hmac", format!("{text} (give the secret key and --body to check it)"));
    };
    let forms = [
        digits(text),
        STANDARD.decode(text).ok(),
        URL_SAFE.decode(text).ok(),
        URL_SAFE_NO_PAD.decode(text).ok(),
    ];
    let verifies = |bytes: &Vec<u8>| keyed(secret).verifies(body, bytes);
    let right = forms.iter().flatten().any(verifies);
    let detail = if right {
        "fits the body".to_owned()
    } else {
        format!(
            "does not fit the body of {} bytes, must be {}",
            body.len(),
            body_hmac(secret, body)
        )
    };
    report.say("claims.hmac", right, detail);
}

fn digits(text: &str) -> Option<Vec<u8>> {
    let lower = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if !lower || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests;
