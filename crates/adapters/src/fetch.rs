//! Fetches a document over HTTPS, bounded in size and time. Independent of the document's content.

use domain::characters::one_line;
use domain::ports::BoxFuture;
use reqwest::header::LOCATION;
use reqwest::{StatusCode, Url};
use serde_json::Value;

use crate::outbound::address::{is_allowed, is_this_machine, shown};
use crate::outbound::{self, BodyFault, Client, Request, Servers};

/// How much of a refusal is read, and how much of its texts is shown.
const MAX_REASON_BYTES: usize = 16 * 1024;
const MAX_REASON_CHARS: usize = 160;

/// Why a document could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Neither HTTPS nor this machine.
    #[error("{url}: only https is allowed (plain http to this machine itself excepted)")]
    NotHttps { url: String },
    /// The transport failed; `detail` names every cause.
    #[error("{url}: {detail}")]
    Transport {
        url: String,
        /// The chain of causes.
        detail: String,
    },
    /// A status other than 200.
    #[error("{url}: answered {status}{}", after_colon(reason))]
    Status {
        url: String,
        status: u16,
        /// The texts of the JSON that the server answered with, without the destination's secrets;
        /// empty = none.
        reason: String,
    },
    /// A redirect that is not followed.
    #[error("{url}: a redirect {detail}")]
    Redirect {
        /// The address that redirects.
        url: String,
        /// Why it is not followed.
        detail: String,
    },
    /// The body is larger than allowed.
    #[error("{url}: more than {max_bytes} bytes")]
    TooLarge { url: String, max_bytes: usize },
}

fn after_colon(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

#[derive(Debug)]
pub struct Fetched {
    pub bytes: Vec<u8>,
    /// The `Last-Modified` header, if the server sends one.
    pub last_modified: Option<String>,
}

/// A server's response to one GET.
#[derive(Debug)]
pub enum Served {
    Document(Fetched),
    /// A redirect to this `Location`, as sent.
    Redirect(String),
}

/// One GET without redirects. An HTTP client implements it; the simulator has servers of its own.
pub trait Transport: Send + Sync {
    /// GETs `url`, at most `max_bytes` of it.
    fn get<'a>(
        &'a self,
        url: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Served, FetchError>>;

    /// The transport for a document's configured address, if it has one of its own.
    fn of(&self, _address: &str) -> Option<&dyn Transport> {
        None
    }

    /// How many redirects of one document the configuration allows.
    fn redirects(&self) -> usize {
        0
    }

    /// A text of an answer with the secrets of its destination masked.
    fn masked(&self, text: String) -> String {
        text
    }
}

impl Transport for Client {
    fn get<'a>(
        &'a self,
        url: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Served, FetchError>> {
        Box::pin(async move {
            let at = parsed(url)?;
            let answer = self.send(Request::get(at.clone())).await;
            let answer = answer.map_err(|fault| transport(&at, fault.to_string()))?;
            match location(&at, &answer)? {
                Some(location) => Ok(Served::Redirect(location)),
                None if answer.status() == StatusCode::OK => {
                    body(answer, &at, max_bytes).await.map(Served::Document)
                }
                None => Err(self.refused(answer, &at).await),
            }
        })
    }

    fn redirects(&self) -> usize {
        self.settings().redirects
    }

    fn masked(&self, text: String) -> String {
        Client::masked(self, text)
    }
}

impl Transport for Servers {
    fn get<'a>(
        &'a self,
        url: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Served, FetchError>> {
        match self.client(url) {
            Some(client) => client.get(url, max_bytes),
            None => Box::pin(async move {
                Err(transport(&parsed(url)?, "there is no client for this address".to_owned()))
            }),
        }
    }

    fn of(&self, address: &str) -> Option<&dyn Transport> {
        self.client(address).map(|client| client as &dyn Transport)
    }
}

/// GETs `url`, following as many redirects as the settings of its client allow: each target must satisfy
/// the same rules as `url`, and only a chain that starts on this machine may end there. Only a complete
/// 200 counts.
pub(crate) async fn get(
    transport: &dyn Transport,
    url: &str,
    max_bytes: usize,
) -> Result<Fetched, FetchError> {
    let transport = transport.of(url).unwrap_or(transport);
    let redirects = transport.redirects();
    let mut at = parsed(url)?;
    let begins_here = is_this_machine(&at);
    for _ in 0..=redirects {
        let location = match transport.get(at.as_str(), max_bytes).await? {
            Served::Document(fetched) => return Ok(fetched),
            Served::Redirect(location) => location,
        };
        let wrong =
            |detail: &str| FetchError::Redirect { url: shown(&at), detail: detail.to_owned() };
        let target = at.join(&location).map_err(|_| wrong("to a Location that is not a URL"))?;
        check(&target)?;
        if is_this_machine(&target) && !begins_here {
            return Err(wrong("leads to this machine"));
        }
        at = target;
    }
    let detail = match redirects {
        0 => "is not followed".to_owned(),
        most => format!("more than {most} redirects"),
    };
    Err(FetchError::Redirect { url: shown(&at), detail })
}

/// The `Location` of a redirect; `None` for any other answer.
fn location(at: &Url, answer: &outbound::Answer) -> Result<Option<String>, FetchError> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let wrong = |detail: &str| FetchError::Redirect { url: shown(at), detail: detail.to_owned() };
    let location = answer.headers().get(LOCATION).ok_or_else(|| wrong("without a Location"))?;
    let location = location.to_str().map_err(|_| wrong("to a Location that is not text"))?;
    Ok(Some(location.to_owned()))
}

async fn body(answer: outbound::Answer, at: &Url, max_bytes: usize) -> Result<Fetched, FetchError> {
    let last_modified = answer.headers().get("last-modified").and_then(|value| value.to_str().ok());
    let last_modified = last_modified.map(str::to_owned);
    match answer.body(max_bytes).await {
        Ok(bytes) => Ok(Fetched { bytes, last_modified }),
        Err(BodyFault::TooLarge) => Err(FetchError::TooLarge { url: shown(at), max_bytes }),
        Err(BodyFault::Broken(detail)) => Err(transport(at, detail)),
    }
}

impl Client {
    /// Publishers state in the body why they refuse: a wrong key, a quota.
    async fn refused(&self, answer: outbound::Answer, at: &Url) -> FetchError {
        let status = answer.status().as_u16();
        let body = answer.body(MAX_REASON_BYTES).await.unwrap_or_default();
        let mut texts = Vec::new();
        if let Ok(body) = serde_json::from_slice(&body) {
            collect(body, &mut texts);
        }
        let reason = one_line(&self.masked(texts.join(", ")), MAX_REASON_CHARS);
        FetchError::Status { url: shown(at), status, reason }
    }
}

/// The texts and numbers of a JSON document.
fn collect(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.into_iter().for_each(|(_, item)| collect(item, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn transport(at: &Url, detail: String) -> FetchError {
    FetchError::Transport { url: shown(at), detail }
}

fn parsed(url: &str) -> Result<Url, FetchError> {
    let at = Url::parse(url).map_err(|error| FetchError::Transport {
        url: "an address".to_owned(),
        detail: error.to_string(),
    })?;
    check(&at)?;
    Ok(at)
}

pub(crate) fn check_scheme(url: &str) -> Result<(), FetchError> {
    parsed(url).map(drop)
}

fn check(at: &Url) -> Result<(), FetchError> {
    match is_allowed(at) {
        true => Ok(()),
        false => Err(FetchError::NotHttps { url: shown(at) }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A client as a service would provide it.
    pub(crate) fn client() -> Client {
        Client::new(&outbound::Settings::default(), "test", &[]).expect("client")
    }

    /// Serves every request, by its head, with a scripted answer; returns the server's URL.
    pub(crate) async fn serve(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.expect("accept");
                let mut request = [0; 4096];
                let read = socket.read(&mut request).await.expect("request");
                let head = String::from_utf8_lossy(&request[..read]).into_owned();
                // One request per connection, so that each answer is complete.
                let text = answer(&head).replacen("\r\n", "\r\nconnection: close\r\n", 1);
                socket.write_all(text.as_bytes()).await.expect("answer");
            }
        });
        url
    }

    /// Serves one 200 with a header line and a body on a local port; returns its URL.
    pub(crate) async fn serve_once(header: &str, body: Vec<u8>) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
        let url = format!("http://{}/document", listener.local_addr().expect("address"));
        let head = format!(
            "HTTP/1.1 200 OK\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("accept");
            let mut request = [0; 4096];
            let _ = socket.read(&mut request).await.expect("request");
            socket.write_all(head.as_bytes()).await.expect("head");
            // A client that has read enough may hang up.
            let _ = socket.write_all(&body).await;
        });
        url
    }

    #[tokio::test]
    async fn an_oversized_body_is_rejected() {
        let url = serve_once("x-a: b", vec![b'x'; 2000]).await;
        let refused = get(&client(), &url, 1000).await.expect_err("too large");
        assert!(matches!(refused, FetchError::TooLarge { max_bytes: 1000, .. }), "{refused}");
    }

    #[tokio::test]
    async fn a_refusal_is_quoted_without_the_key_that_it_repeats() {
        for (body, shown) in [
            (
                r#"{"error":{"code":"104","info":"quota of key s3cret used up"}}"#,
                ": 104, quota of key *** used up",
            ),
            ("<html>s3cret</html>", ""),
            ("", ""),
        ] {
            let url = serve(move |_| {
                let length = body.len();
                format!("HTTP/1.1 429 Too Many Requests\r\ncontent-length: {length}\r\n\r\n{body}")
            })
            .await;
            let value = "s3cret".to_owned().into();
            let authentication = outbound::Authentication::Query { name: "key".to_owned(), value };
            let settings = outbound::Settings { authentication, ..outbound::Settings::default() };
            let client = Client::new(&settings, "test", &[&url]).expect("client");
            let refused = get(&client, &url, 1000).await.expect_err("refused").to_string();
            assert!(refused.ends_with(&format!("answered 429{shown}")), "{refused}");
        }
    }
}
