//! A client of both APIs as any bank would write one: signed requests over HTTP, errors in the
//! API's own words. It contains no rule of the service.

mod credentials;
mod error;
mod events;
mod files;
mod records;
mod token;
mod wallet;

#[cfg(test)]
mod scripted;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{Method, StatusCode, Url, header};

pub use credentials::{Credentials, GivenCredentials, sandbox_base_url};
pub use error::{ClientError, printable};
pub use events::{Event, EventStream};
pub use files::{DataDir, LastPayment, LastQuote, Sandbox, write_private};
pub use records::{Exact, OrderMembers, PaymentRecord, PaymentResponse, Quote, Recall, Seen};
pub use token::{Check, Expected, TOKEN_TTL_S, inspect, mint, usual_max_age_s};
pub use wallet::{Delivery, WalletEvent, segment};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of a whole request (not of streams).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a POST whose answer was lost, or that met a full queue, is repeated under the same
/// Idempotency-Key.
const POST_RETRIES: u32 = 2;
/// Delay before a repetition.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// A successful answer of the API.
#[derive(Clone, Debug)]
pub struct Answer {
    pub body: String,
    /// The `Date` header: the server's clock.
    pub date: Option<String>,
}

/// A signed API client.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    credentials: Credentials,
}

impl Client {
    /// A client for one environment. A TLS provider must already be installed.
    pub fn new(credentials: Credentials) -> Result<Client, ClientError> {
        Ok(Client { http: http_client()?, credentials })
    }

    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    pub async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Answer, ClientError> {
        let request = self.request(Method::GET, path, query, None)?.timeout(REQUEST_TIMEOUT);
        answer(self.send(request).await?).await
    }

    /// A POST of a JSON body, signed with an `hmac` claim. A lost answer is requested again under
    /// the same Idempotency-Key, so that the effect happens at most once.
    pub async fn post(&self, path: &str, body: &str) -> Result<Answer, ClientError> {
        let key = uuid::Uuid::new_v4().to_string();
        let mut tries = 0;
        loop {
            let request = self
                .request(Method::POST, path, &[], Some(body))?
                .timeout(REQUEST_TIMEOUT)
                .header("idempotency-key", &key)
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.to_owned());
            let outcome = match self.send(request).await {
                Ok(response) => answer(response).await,
                Err(error) => Err(error),
            };
            match outcome {
                Err(error) if error.may_be_repeated() && tries < POST_RETRIES => {
                    tries += 1;
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Opens `GET /v2/events`: from now on, or after the event of that `seq`.
    pub async fn events(&self, after: Option<u64>) -> Result<EventStream, ClientError> {
        let query: Vec<(&str, String)> =
            after.iter().map(|seq| ("after", seq.to_string())).collect();
        let request = self.request(Method::GET, "/v2/events", &query, None)?;
        let response = self.send(request.header(header::ACCEPT, "application/json")).await?;
        if response.status().is_success() {
            return Ok(EventStream::new(response));
        }
        Err(refusal(response).await)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&str>,
    ) -> Result<reqwest::RequestBuilder, ClientError> {
        let mut url =
            Url::parse(&format!("{}{path}", self.credentials.base_url)).map_err(|error| {
                ClientError::Usage(format!("base URL {:?}: {error}", self.credentials.base_url))
            })?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let token = mint(
            &self.credentials,
            Timestamp::now().as_second(),
            TOKEN_TTL_S,
            body.map(str::as_bytes),
        );
        Ok(self.http.request(method, url).bearer_auth(token))
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, ClientError> {
        request
            .send()
            .await
            .map_err(|error| ClientError::of_transport(&self.credentials.base_url, &error))
    }
}

/// An unsigned HTTP client, for health checks.
pub fn http_client() -> Result<reqwest::Client, ClientError> {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("corridor-cli/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ClientError::Usage(format!("HTTP client: {error}")))
}

async fn answer(response: reqwest::Response) -> Result<Answer, ClientError> {
    if !response.status().is_success() {
        return Err(refusal(response).await);
    }
    let date = response
        .headers()
        .get(header::DATE)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let url = response.url().to_string();
    let body = response.text().await.map_err(|error| ClientError::of_transport(&url, &error))?;
    Ok(Answer { body, date })
}

async fn refusal(response: reqwest::Response) -> ClientError {
    let status: StatusCode = response.status();
    let url = response.url().to_string();
    let text = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    let after = text(header::RETRY_AFTER.as_str()).and_then(|seconds| seconds.parse().ok());
    let id = text("x-request-id");
    match response.text().await {
        Ok(body) => ClientError::of_answer(status.as_u16(), id.as_deref(), &body).after(after),
        Err(error) => ClientError::of_transport(&url, &error),
    }
}
