//! Access tokens of OAuth 2 (RFC 6749): fetched when needed, one fetch at a time, and kept until
//! shortly before they expire. Of a refusal only the error codes of the standard are shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::address::shown;
use super::fault::causes;
use super::settings::{ClientAuthentication, Grant, OAuth2, Settings};
use super::signing::Assertions;
use super::{BodyFault, client, pauses};

/// Maximum size of the token endpoint's answer, in bytes.
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// Lifetime of a token whose endpoint does not state one: short, because a payment with a token that
/// has ended has an unknown outcome at some banks.
const LIFETIME_UNSTATED: Duration = Duration::from_secs(60);
/// After a refusal (4xx) the endpoint is not asked for this long, twice as long after each further
/// one: servers lock a client or a user that fails too often.
const REFUSED_FOR: Duration = Duration::from_secs(5);
/// Longest of these pauses, unless the endpoint asks for a longer one.
const REFUSED_FOR_MAX: Duration = Duration::from_secs(300);
/// A token is renewed this long before its end, or after nine tenths of a shorter life.
const RENEWED_BEFORE: Duration = Duration::from_secs(30);
/// Characters that are encoded in a form: the tilde too, unlike in the rest of a URL.
const NOT_IN_FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');
/// The type of assertions that are JWTs (RFC 7523, section 2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The error codes of RFC 6749 (4.1.2.1, 5.2) and RFC 8707.
const ERROR_CODES: [&str; 10] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
    "access_denied",
    "server_error",
    "temporarily_unavailable",
];

/// The value of the `Authorization` header, and until when it is used.
pub(super) struct Token {
    pub authorization: HeaderValue,
    until: Instant,
}

pub(super) struct Tokens {
    oauth: OAuth2,
    url: Url,
    request_timeout: Duration,
    pause_max: Duration,
    held: Mutex<Held>,
    /// Number of failed fetches: callers that waited for a failed one share its result.
    failures: AtomicU64,
}

#[derive(Default)]
struct Held {
    token: Option<Arc<Token>>,
    fault: String,
    /// Refusals in a row.
    refusals: u32,
    /// Until when the endpoint is not asked.
    rests_until: Option<Instant>,
}

/// Why the endpoint gave out none.
struct NoToken {
    why: String,
    /// How long not to ask again, at the endpoint's request.
    asked: Option<Duration>,
    is_refusal: bool,
}

impl From<String> for NoToken {
    fn from(why: String) -> NoToken {
        NoToken { why, asked: None, is_refusal: false }
    }
}

impl Held {
    /// The endpoint may ask for a pause as any other server may: one that is asked again before it is
    /// over may lock the client.
    fn failed(&mut self, url: &Url, fault: NoToken, pause_max: Duration) {
        let NoToken { why, asked, is_refusal } = fault;
        let asked = asked.map(|asked| asked.min(pause_max));
        self.token = None;
        self.fault = format!("the token endpoint {}: {why}", shown(url));
        let pause = if is_refusal {
            self.refusals = self.refusals.saturating_add(1);
            let doubled = REFUSED_FOR.saturating_mul(1 << (self.refusals - 1).min(16));
            Some(asked.unwrap_or_default().max(doubled.min(REFUSED_FOR_MAX)))
        } else {
            asked
        };
        self.rests_until = pause.and_then(|pause| Instant::now().checked_add(pause));
    }
}

/// The token endpoint's answer. Some endpoints write the lifetime as a text.
#[derive(Deserialize)]
struct Written {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: serde_json::Value,
}

impl Tokens {
    pub(super) fn new(oauth: &OAuth2, url: Url, settings: &Settings) -> Tokens {
        Tokens {
            oauth: oauth.clone(),
            url,
            request_timeout: settings.request_timeout,
            pause_max: settings.pause_max,
            held: Mutex::default(),
            failures: AtomicU64::new(0),
        }
    }

    /// A token that has not expired.
    pub(super) async fn token(
        &self,
        http: &reqwest::Client,
        assertions: Option<&Assertions>,
    ) -> Result<Arc<Token>, String> {
        let before = self.failures.load(Ordering::Acquire);
        let mut held = self.held.lock().await;
        if let Some(token) = held.token.as_ref().filter(|token| Instant::now() < token.until) {
            return Ok(Arc::clone(token));
        }
        let rests = held.rests_until.is_some_and(|until| Instant::now() < until);
        if rests || self.failures.load(Ordering::Acquire) > before {
            return Err(held.fault.clone());
        }
        match self.fetch(http, assertions).await {
            Ok(token) => {
                let token = Arc::new(token);
                *held = Held { token: Some(Arc::clone(&token)), ..Held::default() };
                Ok(token)
            }
            Err(fault) => {
                held.failed(&self.url, fault, self.pause_max);
                self.failures.fetch_add(1, Ordering::Release);
                Err(held.fault.clone())
            }
        }
    }

    /// A server refused this token: the next request gets another one.
    pub(super) async fn forget(&self, refused: &Arc<Token>) {
        let mut held = self.held.lock().await;
        if held.token.as_ref().is_some_and(|token| Arc::ptr_eq(token, refused)) {
            held.token = None;
        }
    }

    async fn fetch(
        &self,
        http: &reqwest::Client,
        assertions: Option<&Assertions>,
    ) -> Result<Token, NoToken> {
        let began = Instant::now();
        let assertion = assertions.map(|it| it.sign(client::now())).transpose()?;
        let OAuth2 { grant, client_id, client_secret, scope, audience, .. } = &self.oauth;
        let mut fields = Vec::new();
        match grant {
            Grant::ClientCredentials => fields.push(("grant_type", "client_credentials")),
            Grant::Password { user, password } => fields.extend([
                ("grant_type", "password"),
                ("username", user.as_str()),
                ("password", password.expose_secret()),
            ]),
        }
        let optional = [("scope", scope.as_str()), ("audience", audience.as_str())];
        fields.extend(optional.into_iter().filter(|(_, text)| !text.is_empty()));
        let mut request = http.post(self.url.clone()).timeout(self.request_timeout);
        let secret = client_secret.expose_secret();
        match (&self.oauth.client_authentication, &assertion) {
            (_, Some(assertion)) => fields.extend([
                ("client_id", client_id.as_str()),
                ("client_assertion_type", ASSERTION_TYPE),
                ("client_assertion", assertion.as_str()),
            ]),
            (ClientAuthentication::Basic, None) if !secret.is_empty() => {
                request = request.header(AUTHORIZATION, basic(client_id, client_secret)?);
            }
            (ClientAuthentication::Body, None) if !secret.is_empty() => {
                fields.extend([("client_id", client_id.as_str()), ("client_secret", secret)]);
            }
            _ => fields.push(("client_id", client_id)),
        }
        let request = request
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form(&fields));
        let silent = |error: reqwest::Error| causes(&error.without_url());
        let response = request.send().await.map_err(silent)?;
        let status = response.status();
        let asked = pauses::asked(status, response.headers());
        let body = client::read(response, ANSWER_MAX_BYTES).await.map_err(|fault| match fault {
            BodyFault::TooLarge => format!("more than {ANSWER_MAX_BYTES} bytes"),
            BodyFault::Broken(why) => why,
        })?;
        if !status.is_success() {
            let why = format!("answered {}, {}", status.as_u16(), error_code(&body));
            return Err(NoToken { why, asked, is_refusal: status.is_client_error() });
        }
        self.read(&body, began).map_err(|why| why.to_owned().into())
    }

    fn read(&self, body: &[u8], began: Instant) -> Result<Token, &'static str> {
        let written: Written =
            serde_json::from_slice(body).map_err(|_| "its answer contains no access token")?;
        let kind = written.token_type.as_deref().unwrap_or("bearer");
        if !kind.to_ascii_lowercase().starts_with("bearer") {
            return Err("its token is not a bearer token");
        }
        let lifetime = match &written.expires_in {
            serde_json::Value::Number(seconds) => whole_seconds(&seconds.to_string()),
            serde_json::Value::String(seconds) => whole_seconds(seconds.trim()),
            _ => None,
        };
        let lifetime = lifetime.map_or(LIFETIME_UNSTATED, Duration::from_secs);
        let margin = RENEWED_BEFORE.min(lifetime / 10);
        let until = began.checked_add(lifetime - margin).ok_or("its token has no end")?;
        let value = format!("Bearer {}", written.access_token);
        let mut authorization =
            HeaderValue::try_from(value).map_err(|_| "its token is not a valid header value")?;
        authorization.set_sensitive(true);
        Ok(Token { authorization, until })
    }
}

/// A lifetime without its fraction: `3600`, `3600.0`.
fn whole_seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    whole.parse().ok().filter(|_| fraction.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The error of an endpoint, if it is one of the standard: any other text may repeat the request.
pub(crate) fn error_code(body: &[u8]) -> &'static str {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let refusal = serde_json::from_slice::<Refusal>(body).ok();
    let code =
        refusal.and_then(|refusal| ERROR_CODES.into_iter().find(|code| **code == refusal.error));
    code.unwrap_or("without a reason")
}

/// The value of a client's `Authorization` header.
pub(crate) fn basic(client_id: &str, secret: &SecretString) -> Result<HeaderValue, String> {
    let encoded = STANDARD.encode(pair(client_id, secret));
    let mut value =
        HeaderValue::try_from(format!("Basic {encoded}")).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Both parts are form-encoded first (RFC 6749, section 2.3.1), so a colon in either one is
/// unambiguous.
pub(super) fn pair(client_id: &str, secret: &SecretString) -> String {
    format!("{}:{}", encoded(client_id), encoded(secret.expose_secret()))
}

/// A form as a request's body.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NOT_IN_FORM).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_in_a_secret_is_encoded() {
        let header = basic("corridor", &SecretString::from("a:b c~")).expect("a header");
        let text = header.to_str().expect("text");
        let plain = STANDARD.decode(text.strip_prefix("Basic ").expect("basic")).expect("base64");
        assert_eq!(plain, b"corridor:a%3Ab%20c%7E");
    }

    #[test]
    fn an_endpoint_is_not_asked_again_before_the_time_that_it_states() {
        let url = Url::parse("https://bank.example/token").expect("a URL");
        let (hour, minute) = (Duration::from_secs(3_600), Duration::from_secs(60));
        for (asked, is_refusal, refusals, least, most) in [
            (Some(hour), true, 1, hour, hour),
            (Some(hour), false, 0, hour, hour),
            (Some(24 * hour), false, 0, 2 * hour, 2 * hour),
            (Some(minute), true, 10, REFUSED_FOR_MAX, REFUSED_FOR_MAX),
            (None, true, 1, REFUSED_FOR, REFUSED_FOR),
        ] {
            let mut held = Held { refusals: u32::saturating_sub(refusals, 1), ..Held::default() };
            let begun = Instant::now();
            let fault = NoToken { why: String::new(), asked, is_refusal };
            held.failed(&url, fault, 2 * hour);
            let until = held.rests_until.expect("a pause");
            assert!(until >= begun + least && until <= Instant::now() + most, "{asked:?}");
        }
    }

    #[test]
    fn only_codes_of_the_standard_are_shown() {
        for (body, shown) in [
            (r#"{"error":"invalid_client","error_description":"secret s3cret"}"#, "invalid_client"),
            (r#"{"error":"wrong secret s3cret"}"#, "without a reason"),
            ("<html>s3cret</html>", "without a reason"),
        ] {
            assert_eq!(error_code(body.as_bytes()), shown);
        }
    }
}
