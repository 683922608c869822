//! HTTP exchanges with the provider: its documents, and a code for an ID token. Bounded in size and
//! time; no redirect is followed, and of an error answer only the OAuth error code and its description are logged, the
//! description without what the request proves itself with.

use domain::identity::{IdentityFault, SignInAnswer};
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::metadata::{ClientAuthentication, Metadata};
use super::{Settings, away, refused, told};
use crate::fetch;
use crate::outbound::address::shown_text;
use crate::outbound::{BodyFault, Client, Request, oauth};

/// Maximum size of an answer, in bytes.
const ANSWER_MAX_BYTES: usize = 256 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// A provider's answer when rate limited.
const TOO_MANY: u16 = 429;

/// The token endpoint's answer. The access token in it is never used.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// Fetches a document of the provider.
pub(super) async fn get(client: &Client, url: &str) -> Result<Vec<u8>, IdentityFault> {
    let fetched = fetch::get(client, url, ANSWER_MAX_BYTES).await;
    fetched.map(|document| document.bytes).map_err(|error| away(error.to_string()))
}

/// Exchanges a code for the ID token.
pub(super) async fn redeem(
    client: &Client,
    metadata: &Metadata,
    settings: &Settings,
    given: &SignInAnswer,
) -> Result<String, IdentityFault> {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", given.code.as_str()),
        ("redirect_uri", given.redirect_uri.as_str()),
        ("code_verifier", given.verifier.as_str()),
    ];
    let mut authorization = None;
    let way = metadata.client_authentication(settings)?;
    match settings.client_secret.as_ref().zip(way) {
        None => fields.push(("client_id", &settings.client_id)),
        Some((secret, ClientAuthentication::Basic)) => {
            authorization = Some(oauth::basic(&settings.client_id, secret).map_err(away)?);
        }
        Some((secret, ClientAuthentication::Post)) => {
            fields.extend([
                ("client_id", settings.client_id.as_str()),
                ("client_secret", secret.expose_secret()),
            ]);
        }
    }
    let url = Url::parse(&metadata.token_endpoint).map_err(|error| away(error.to_string()))?;
    let mut request = Request::post(url, FORM, oauth::form(&fields)).header(ACCEPT, JSON);
    if let Some(value) = authorization {
        request = request.header(AUTHORIZATION, value);
    }
    let url = shown_text(&metadata.token_endpoint);
    let silent = |why: String| away(format!("{url}: {why}"));
    let answer = client.send(request).await;
    let answer = answer.map_err(|fault| silent(fault.to_string()))?;
    let status = answer.status().as_u16();
    let body = answer.body(ANSWER_MAX_BYTES).await.map_err(|fault| match fault {
        BodyFault::TooLarge => silent(format!("more than {ANSWER_MAX_BYTES} bytes")),
        BodyFault::Broken(why) => silent(why),
    })?;
    if (400..500).contains(&status) && status != TOO_MANY {
        let code = oauth::error_code(&body);
        let why = description(&body, settings, given);
        return Err(refused(format!("{url}: refused the code with {status}, {code}{why}")));
    }
    if status != 200 {
        return Err(silent(format!("answered {status}")));
    }
    let tokens: Tokens = serde_json::from_slice(&body)
        .map_err(|_| silent("its answer contains no ID token".to_owned()))?;
    Ok(tokens.id_token)
}

/// `: "…"` with the provider's own description of its refusal (RFC 6749, section 5.2), which may
/// repeat the request; empty if there is none.
fn description(body: &[u8], settings: &Settings, given: &SignInAnswer) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        error_description: String,
    }
    let Ok(Refusal { error_description: mut text }) = serde_json::from_slice(body) else {
        return String::new();
    };
    let secret = settings.client_secret.as_ref().map(|secret| secret.expose_secret());
    let secrets = [Some(given.code.as_str()), Some(&given.verifier), secret];
    for secret in secrets.into_iter().flatten().filter(|secret| !secret.is_empty()) {
        let encoded = oauth::form(&[("", secret)]);
        let encoded = encoded.trim_start_matches('=');
        text = text.replace(secret, "…").replace(encoded, "…");
    }
    match text.trim() {
        "" => String::new(),
        text => format!(": {:?}", told(text)),
    }
}

#[cfg(test)]
mod tests {
    use domain::identity::NameClaim;

    use super::*;

    #[test]
    fn a_description_is_shortened_and_holds_no_secret() {
        let settings = Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "corridor".to_owned(),
            client_secret: Some("s3cret/value".into()),
            client_authentication: None,
            claim: NameClaim::Email,
            outbound: crate::outbound::Settings::default(),
        };
        let given = SignInAnswer {
            redirect_uri: "https://bank.example/callback".to_owned(),
            code: "the-code".to_owned(),
            issuer: None,
            verifier: "the-verifier".to_owned(),
            nonce: "n".to_owned(),
        };
        let long = format!(r#"{{"error_description":"{}"}}"#, "x".repeat(5_000));
        for (body, expected) in [
            (
                r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret\r\nTrace: 1"}"#,
                r#": "AADSTS7000215: Invalid client secret  Trace: 1""#,
            ),
            (
                r#"{"error_description":"code the-code, verifier the-verifier"}"#,
                r#": "code …, verifier …""#,
            ),
            (r#"{"error_description":"secret s3cret/value s3cret%2Fvalue"}"#, r#": "secret … …""#),
            (r#"{"error_description":"  "}"#, ""),
            (r#"{"error_description":["a"]}"#, ""),
            (r#"{"error":"invalid_grant"}"#, ""),
            ("<html>", ""),
        ] {
            assert_eq!(description(body.as_bytes(), &settings, &given), expected, "{body}");
        }
        assert!(description(long.as_bytes(), &settings, &given).len() < 300);
    }
}
