//! Fetches a document over HTTPS, bounded in size and time. Independent of the document's content.

use std::time::Duration;

use domain::ports::Answer;
use futures_util::StreamExt as _;
use reqwest::Url;
use reqwest::header::{LOCATION, USER_AGENT};

/// Timeout for one document, connection and body together.
const FETCH_LIMIT_SECS: u64 = 120;

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
    #[error("{url}: answered {status}")]
    Status { url: String, status: u16 },
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
        user_agent: &'a str,
        max_bytes: usize,
    ) -> Answer<'a, Result<Served, FetchError>>;
}

impl Transport for reqwest::Client {
    fn get<'a>(
        &'a self,
        url: &'a str,
        user_agent: &'a str,
        max_bytes: usize,
    ) -> Answer<'a, Result<Served, FetchError>> {
        Box::pin(async move {
            let at = parsed(url)?;
            let response =
                ask(reqwest::Client::get(self, at.clone()).header(USER_AGENT, user_agent), &at)
                    .await?;
            match location(&at, &response)? {
                Some(location) => Ok(Served::Redirect(location)),
                None => body(response, &at, max_bytes).await.map(Served::Document),
            }
        })
    }
}

/// Maximum number of redirects followed for one document.
const MAX_REDIRECTS: usize = 5;

/// GETs `url`; only a complete 200 counts, and no redirect is followed.
pub(crate) async fn get(
    client: &reqwest::Client,
    url: &str,
    max_bytes: usize,
) -> Result<Fetched, FetchError> {
    let at = parsed(url)?;
    let response = ask(client.get(at.clone()), &at).await?;
    body(response, &at, max_bytes).await
}

/// GETs `url` under Corridor's user agent, following redirects: each target must satisfy the same
/// rules as `url`, and only a chain that starts on this machine may end there. The client must not
/// carry credentials.
pub(crate) async fn get_following(
    client: &dyn Transport,
    url: &str,
    user_agent: &str,
    max_bytes: usize,
) -> Result<Fetched, FetchError> {
    let mut at = parsed(url)?;
    let begins_here = is_this_machine(&at);
    for _ in 0..=MAX_REDIRECTS {
        let location = match client.get(at.as_str(), user_agent, max_bytes).await? {
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
    Err(FetchError::Redirect {
        url: shown(&at),
        detail: format!("more than {MAX_REDIRECTS} redirects"),
    })
}

async fn ask(request: reqwest::RequestBuilder, at: &Url) -> Result<reqwest::Response, FetchError> {
    let answer = request.timeout(Duration::from_secs(FETCH_LIMIT_SECS)).send().await;
    answer.map_err(|error| transport(at, error))
}

/// The `Location` of a redirect; `None` for any other answer.
fn location(at: &Url, response: &reqwest::Response) -> Result<Option<String>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let wrong = |detail: &str| FetchError::Redirect { url: shown(at), detail: detail.to_owned() };
    let location = response.headers().get(LOCATION).ok_or_else(|| wrong("without a Location"))?;
    let location = location.to_str().map_err(|_| wrong("to a Location that is not text"))?;
    Ok(Some(location.to_owned()))
}

async fn body(
    response: reqwest::Response,
    at: &Url,
    max_bytes: usize,
) -> Result<Fetched, FetchError> {
    if response.status() != reqwest::StatusCode::OK {
        return Err(FetchError::Status { url: shown(at), status: response.status().as_u16() });
    }
    let last_modified =
        response.headers().get("last-modified").and_then(|value| value.to_str().ok());
    let last_modified = last_modified.map(str::to_owned);
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| transport(at, error))?;
        if bytes.len() + chunk.len() > max_bytes {
            return Err(FetchError::TooLarge { url: shown(at), max_bytes });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched { bytes, last_modified })
}

fn transport(at: &Url, error: reqwest::Error) -> FetchError {
    FetchError::Transport { url: shown(at), detail: causes(&error.without_url()) }
}

/// A URL without parts that may be secret: scheme, host and path.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Only a URL that cannot have a user name and password rejects their removal.
    let _ = (shown.set_username(""), shown.set_password(None));
    shown.to_string()
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
    if at.scheme() == "https" || (at.scheme() == "http" && is_this_machine(at)) {
        return Ok(());
    }
    Err(FetchError::NotHttps { url: shown(at) })
}

fn is_this_machine(at: &Url) -> bool {
    let host = at.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// An error with all its causes.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A client as a service would provide it.
    pub(crate) fn client() -> reqwest::Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().timeout(Duration::from_secs(10));
        builder.redirect(reqwest::redirect::Policy::none()).build().expect("client")
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
}
