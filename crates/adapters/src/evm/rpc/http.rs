//! JSON-RPC over HTTP. It follows no redirect, repeats no request, reads a bounded answer only, and
//! never logs the node's URL: it often contains a key.

use domain::ports::BoxFuture;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::health::ASKED_MAX;
use super::{Transport, TransportFault, clean};
use crate::outbound::{self, BodyFault, Client, Fault, Request, SetupError};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Connection settings of a node.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The configuration's name for the URL.
    pub key: String,
    /// Its URL, which may contain a key.
    pub url: SecretString,
    pub outbound: outbound::Settings,
    /// Maximum size of an answer.
    pub max_answer_bytes: usize,
}

/// A node over HTTP.
pub struct HttpTransport {
    client: Client,
    url: Url,
    max_answer_bytes: usize,
}

impl HttpTransport {
    /// Opens no connection yet.
    pub fn new(settings: &HttpSettings) -> Result<HttpTransport, SetupError> {
        let HttpSettings { key, url, outbound, max_answer_bytes } = settings;
        let url = url.expose_secret();
        let not_url = |_| SetupError { key: key.clone(), rule: "is not a URL".to_owned() };
        let url = Url::parse(url).map_err(not_url)?;
        // Nodes have their keys in the path. The longest text first: nothing of it remains.
        let path = url.path().trim_matches('/');
        let hidden: Vec<&str> = std::iter::once(path).chain(path.split('/')).collect();
        let outbound =
            outbound::Settings { pause_max: ASKED_MAX.to_duration(), ..outbound.clone() };
        let client = Client::hiding(&outbound, key, &[url.as_str()], &hidden)?;
        Ok(HttpTransport { client, url, max_answer_bytes: *max_answer_bytes })
    }

    async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, TransportFault> {
        let too_large = TransportFault::TooLarge { max_bytes: self.max_answer_bytes };
        let request = Request::post(self.url.clone(), JSON, body);
        let answer = self.client.send(request).await.map_err(|fault| match fault {
            Fault::Paused { status, left } => {
                TransportFault::Busy { status, retry_after: Some(left) }
            }
            Fault::NotSent(why) | Fault::Unclear(why) => TransportFault::Failed(why),
        })?;
        let status = answer.status();
        let asked = answer.asked_pause();
        if status == StatusCode::TOO_MANY_REQUESTS || asked.is_some() {
            let busy = TransportFault::Busy { status: status.as_u16(), retry_after: asked };
            // Some send the refusal of a large answer with this status.
            let body = answer.body(self.max_answer_bytes).await;
            return body.ok().filter(|body| is_about_the_size(body)).ok_or(busy);
        }
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            return Err(too_large);
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or("no content type").to_owned();
        let body = answer.body(self.max_answer_bytes).await.map_err(|fault| match fault {
            BodyFault::TooLarge => too_large,
            BodyFault::Broken(why) => TransportFault::Failed(why),
        })?;
        let is_json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        match status.is_success() {
            true if is_json => Ok(body),
            true => Err(self.failed(format!("HTTP {status} with {kind} instead of JSON"))),
            // Some nodes send JSON-RPC errors with an HTTP error status, and what stands before a
            // node sends JSON of its own.
            false => match refusal(&body) {
                Some(Refusal::JsonRpc) => Ok(body),
                Some(Refusal::Text(why)) => Err(self.failed(format!("HTTP {status}: {why}"))),
                None => Err(self.failed(format!("HTTP {status}"))),
            },
        }
    }

    fn failed(&self, why: String) -> TransportFault {
        TransportFault::Failed(clean(&self.client.masked(why)))
    }
}

/// Whether a body is a JSON-RPC error about the size of the answer, or some that contain one.
fn is_about_the_size(body: &[u8]) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    let all = body.as_array().map_or(std::slice::from_ref(&body), Vec::as_slice);
    all.iter().any(|answer| super::answer::names_size(&answer["error"]))
}

/// What a JSON body with an HTTP error status says.
enum Refusal {
    JsonRpc,
    Text(String),
}

fn refusal(body: &[u8]) -> Option<Refusal> {
    let body: Value = serde_json::from_slice(body).ok()?;
    if body.is_array() || body["jsonrpc"].is_string() || body["error"].is_object() {
        return Some(Refusal::JsonRpc);
    }
    let text = ["message", "error", "detail"].into_iter().find_map(|name| body[name].as_str())?;
    Some(Refusal::Text(text.to_owned()))
}

impl Transport for HttpTransport {
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        Box::pin(self.post(body))
    }

    fn masked(&self, text: String) -> String {
        self.client.masked(text)
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
