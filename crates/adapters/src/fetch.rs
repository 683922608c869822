//! Fetching a document over HTTPS with a bound on its size and its time. It knows nothing of what is in it.

use std::time::Duration;

use futures_util::StreamExt as _;

/// Longest time for one document, connection and body together.
const FETCH_LIMIT_SECS: u64 = 120;

/// Why a document could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Neither HTTPS nor this very machine.
    #[error("{url}: only https is allowed (plain http to this machine itself excepted)")]
    NotHttps {
        /// The address.
        url: String,
    },
    /// The transport failed; `detail` names every cause.
    #[error("{url}: {detail}")]
    Transport {
        /// The address.
        url: String,
        /// The chain of causes.
        detail: String,
    },
    /// Another answer than 200.
    #[error("{url}: answered {status}")]
    Status {
        /// The address.
        url: String,
        /// HTTP status code.
        status: u16,
    },
    /// The body is larger than allowed.
    #[error("{url}: more than {max_bytes} bytes")]
    TooLarge {
        /// The address.
        url: String,
        /// The bound.
        max_bytes: usize,
    },
}

/// A fetched document.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) bytes: Vec<u8>,
    /// The `Last-Modified` header, where the server sends one.
    pub(crate) last_modified: Option<String>,
}

/// GETs `url`; only a complete 200 is an answer.
pub(crate) async fn get(client: &reqwest::Client, url: &str, max_bytes: usize) -> Result<Fetched, FetchError> {
    let transport = |error: reqwest::Error| FetchError::Transport { url: url.to_owned(), detail: causes(&error) };
    check_scheme(url)?;
    let request = client.get(url).timeout(Duration::from_secs(FETCH_LIMIT_SECS));
    let response = request.send().await.map_err(transport)?;
    if response.status() != reqwest::StatusCode::OK {
        return Err(FetchError::Status { url: url.to_owned(), status: response.status().as_u16() });
    }
    let last_modified = response.headers().get("last-modified").and_then(|value| value.to_str().ok());
    let last_modified = last_modified.map(str::to_owned);
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(transport)?;
        if bytes.len() + chunk.len() > max_bytes {
            return Err(FetchError::TooLarge { url: url.to_owned(), max_bytes });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched { bytes, last_modified })
}

pub(crate) fn check_scheme(url: &str) -> Result<(), FetchError> {
    let parsed = reqwest::Url::parse(url)
        .map_err(|error| FetchError::Transport { url: url.to_owned(), detail: error.to_string() })?;
    let here = matches!(parsed.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    if parsed.scheme() == "https" || (parsed.scheme() == "http" && here) {
        return Ok(());
    }
    Err(FetchError::NotHttps { url: url.to_owned() })
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

    /// A client as a service would hand it in.
    pub(crate) fn client() -> reqwest::Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().timeout(Duration::from_secs(10));
        builder.redirect(reqwest::redirect::Policy::none()).build().expect("client")
    }

    /// Serves one 200 with a header line and a body on a local port, and answers its address.
    pub(crate) async fn serve_once(header: &str, body: Vec<u8>) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
        let url = format!("http://{}/document", listener.local_addr().expect("address"));
        let head =
            format!("HTTP/1.1 200 OK\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("accept");
            let mut request = [0; 4096];
            let _ = socket.read(&mut request).await.expect("request");
            socket.write_all(head.as_bytes()).await.expect("head");
            // A client that has read enough hangs up; that is its right.
            let _ = socket.write_all(&body).await;
        });
        url
    }

    #[tokio::test]
    async fn a_body_beyond_the_bound_is_refused() {
        let url = serve_once("x-a: b", vec![b'x'; 2000]).await;
        let refused = get(&client(), &url, 1000).await.expect_err("too large");
        assert!(matches!(refused, FetchError::TooLarge { max_bytes: 1000, .. }), "{refused}");
    }
}
