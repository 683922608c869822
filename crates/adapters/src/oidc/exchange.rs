//! HTTP exchanges with the provider: its documents, and a code for an ID token. Bounded in size and
//! time; no redirect is followed, and of an error answer only the OAuth error code is logged.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::identity::{IdentityFault, SignInAnswer};
use futures_util::StreamExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::metadata::{ClientAuthentication, Metadata};
use super::{Settings, away, refused, told};
use crate::fetch;

/// Timeout for one exchange, connection and body together: a user is waiting for it.
const EXCHANGE_MAX: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes.
const ANSWER_MAX_BYTES: usize = 256 * 1024;

/// Characters that are encoded in a form: the tilde too, unlike in the rest of a URL.
const NOT_IN_FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// A provider's answer when rate limited.
const TOO_MANY: u16 = 429;

/// The token endpoint's answer. The access token in it is never used.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// The provider's error (RFC 6749, section 5.2).
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// Fetches a document of the provider.
pub(super) async fn get(client: &reqwest::Client, url: &str) -> Result<Vec<u8>, IdentityFault> {
    fetch::check_scheme(url).map_err(|error| away(error.to_string()))?;
    let (status, body) = answer(client.get(url).header("accept", "application/json"), url).await?;
    if status == 200 { Ok(body) } else { Err(away(format!("{url}: answered {status}"))) }
}

/// Exchanges a code for the ID token.
pub(super) async fn redeem(
    client: &reqwest::Client,
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
    let url = metadata.token_endpoint.as_str();
    let mut request = client.post(url).header("accept", "application/json");
    match (&settings.client_secret, metadata.authentication) {
        (None, _) => fields.push(("client_id", &settings.client_id)),
        (Some(secret), Some(ClientAuthentication::Basic)) => {
            request = request.header("authorization", basic(&settings.client_id, secret));
        }
        (Some(secret), Some(ClientAuthentication::Post)) => {
            fields.extend([
                ("client_id", settings.client_id.as_str()),
                ("client_secret", secret.expose_secret()),
            ]);
        }
        (Some(_), None) => {
            return Err(away(
                "its token endpoint takes neither client_secret_basic nor client_secret_post",
            ));
        }
    }
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let request =
        request.header("content-type", "application/x-www-form-urlencoded").body(pairs.join("&"));
    let (status, body) = answer(request, url).await?;
    if (400..500).contains(&status) && status != TOO_MANY {
        let error = serde_json::from_slice::<Refusal>(&body)
            .map_or_else(|_| "without a reason".to_owned(), |no| no.error);
        return Err(refused(format!("{url}: refused the code with {status}, {:?}", told(&error))));
    }
    if status != 200 {
        return Err(away(format!("{url}: answered {status}")));
    }
    let tokens: Tokens = serde_json::from_slice(&body)
        .map_err(|_| away(format!("{url}: its answer contains no ID token")))?;
    Ok(tokens.id_token)
}

async fn answer(
    request: reqwest::RequestBuilder,
    url: &str,
) -> Result<(u16, Vec<u8>), IdentityFault> {
    let silent =
        |error: reqwest::Error| away(format!("{url}: {}", fetch::causes(&error.without_url())));
    let response = request.timeout(EXCHANGE_MAX).send().await.map_err(silent)?;
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(silent)?;
        if bytes.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err(away(format!("{url}: more than {ANSWER_MAX_BYTES} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok((status, bytes))
}

/// Both parts are form-encoded first (RFC 6749, section 2.3.1), so a colon in either one is
/// unambiguous.
fn basic(client_id: &str, secret: &SecretString) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{}", encoded(client_id), encoded(secret.expose_secret())))
    )
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NOT_IN_FORM).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_in_a_secret_is_encoded() {
        let header = basic("corridor", &SecretString::from("a:b c~"));
        let plain = STANDARD.decode(header.strip_prefix("Basic ").expect("basic")).expect("base64");
        assert_eq!(plain, b"corridor:a%3Ab%20c%7E");
    }
}
