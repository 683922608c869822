//! Serves one connection from its first byte to its last.

use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use super::discard::Discarded;
use super::guard::{Guard, OpenRequest, Waits};
use super::refusal::{Refusals, Refused};
use crate::request_id::RequestId;

/// Settings of a connection.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) waits: Waits,
    /// Maximum time until the client reads more of a response.
    pub(super) write: Duration,
    pub(super) refusals: Refusals,
}

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

pub(super) async fn run(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    http: &Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    terms: Terms,
    watcher: Watcher,
) -> Outcome {
    stream.set_nodelay(true)?;
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(terms.write));
    let stream = Box::pin(stream);
    match tls {
        None => speak(stream, peer, app, http, terms, watcher).await,
        Some(tls) => {
            let handshake = tokio::time::timeout(terms.waits.head, tls.accept(stream));
            speak(handshake.await??, peer, app, http, terms, watcher).await
        }
    }
}

async fn speak<S>(
    stream: S,
    peer: SocketAddr,
    app: Router,
    http: &Builder<TokioExecutor>,
    terms: Terms,
    watcher: Watcher,
) -> Outcome
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, requests) = Guard::new(stream, terms.waits, terms.refusals.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let open = requests.begin();
        let version = request.version();
        let refused = fault(&request).map(|message| refused(&request, message));
        let answer = match refused {
            Some(refused) => Err(terms.refusals.answer(&refused).map(Body::from)),
            None => {
                let mut request = request.map(|body| match version {
                    Version::HTTP_2 => Body::new(Discarded::new(Body::new(body))),
                    _ => Body::new(body),
                });
                request.extensions_mut().insert(ConnectInfo(peer));
                // A router is always ready.
                Ok(app.clone().call(request))
            }
        };
        async move {
            let response = match answer {
                Ok(response) => closing(response.await?, version),
                Err(refused) => refused,
            };
            Ok::<_, std::convert::Infallible>(response.map(|body| Answer { body, _open: open }))
        }
    });
    watcher.watch(http.serve_connection(TokioIo::new(stream), service).into_owned()).await
}

fn refused(request: &Request<Incoming>, message: &'static str) -> Refused {
    Refused {
        id: RequestId::of(request.headers()),
        ..Refused::malformed(message, request.uri().path())
    }
}

/// After these answers the rest of the request's body is not read: the connection ends.
fn closing<B>(mut response: Response<B>, version: Version) -> Response<B> {
    let ends =
        matches!(response.status(), StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    if ends && is_http_1(version) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn is_http_1(version: Version) -> bool {
    matches!(version, Version::HTTP_10 | Version::HTTP_11)
}

/// Checks what RFC 9112 forbids and hyper accepts.
fn fault<B>(request: &Request<B>) -> Option<&'static str> {
    if !is_http_1(request.version()) {
        return None;
    }
    host_fault(request.headers(), request.version()).or_else(|| coding_fault(request.headers()))
}

/// Section 3.2: exactly one valid Host in HTTP/1.1, at most one in HTTP/1.0.
fn host_fault(headers: &HeaderMap, version: Version) -> Option<&'static str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::HTTP_10 => None,
        (None, _) => Some("The request has no Host header"),
        (Some(_), Some(_)) => Some("The request has more than one Host header"),
        (Some(host), None) if is_host(host.as_bytes()) => None,
        (Some(_), None) => Some("The request's Host header is not valid"),
    }
}

/// A host with an optional port and nothing else.
fn is_host(value: &[u8]) -> bool {
    let Ok(authority) = Authority::try_from(value) else { return false };
    let text = authority.as_str();
    let port = text.strip_prefix(authority.host()).unwrap_or("x");
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    !authority.host().is_empty()
        && !text.contains('@')
        && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Section 6.1: the only supported coding is chunked, once.
fn coding_fault(headers: &HeaderMap) -> Option<&'static str> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let first = codings.next()?;
    let is_chunked = first.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    (!is_chunked || codings.next().is_some())
        .then_some("The request's Transfer-Encoding must be chunked, exactly once")
}

/// A response's body; its request stays open until the last part is sent.
struct Answer {
    body: Body,
    _open: OpenRequest,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(version: Version, headers: &[(&str, &str)]) -> Option<&'static str> {
        let mut request = Request::builder().version(version);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        fault(&request.body(()).expect("a request"))
    }

    #[test]
    fn http_1_1_needs_exactly_one_valid_host() {
        let eleven = |hosts: &[&str]| {
            let headers: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
            fault_of(Version::HTTP_11, &headers).is_none()
        };
        for good in
            ["x", "api.example.com", "api.example.com:8443", "127.0.0.1:80", "[::1]:80", "[::1]"]
        {
            assert!(eleven(&[good]), "{good}");
        }
        for bad in ["", "a b", "a@b", "http://a", "a/b", "a:b", "a:80:80"] {
            assert!(!eleven(&[bad]), "{bad}");
        }
        assert!(!eleven(&[]) && !eleven(&["a", "a"]));
        assert_eq!(fault_of(Version::HTTP_10, &[]), None);
        assert!(fault_of(Version::HTTP_10, &[("host", "a"), ("host", "a")]).is_some());
        assert_eq!(fault_of(Version::HTTP_2, &[]), None);
    }

    #[test]
    fn an_answer_that_leaves_the_body_unread_ends_the_connection() {
        let closes = |status, version| {
            let mut response = Response::new(());
            *response.status_mut() = status;
            closing(response, version).headers().contains_key(header::CONNECTION)
        };
        for status in [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::REQUEST_TIMEOUT] {
            assert!(closes(status, Version::HTTP_11) && closes(status, Version::HTTP_10));
            assert!(!closes(status, Version::HTTP_2), "forbidden there");
        }
        assert!(!closes(StatusCode::OK, Version::HTTP_11));
        assert!(!closes(StatusCode::BAD_REQUEST, Version::HTTP_11));
    }

    #[test]
    fn chunks_once_are_the_only_coding() {
        let coded = |values: &[&'static str]| {
            let mut headers = vec![("host", "x")];
            headers.extend(values.iter().map(|value| ("transfer-encoding", *value)));
            fault_of(Version::HTTP_11, &headers).is_none()
        };
        assert!(coded(&[]) && coded(&["chunked"]) && coded(&["Chunked"]));
        for values in
            [&["chunked", "chunked"][..], &["chunked, chunked"], &["gzip, chunked"], &["identity"]]
        {
            assert!(!coded(values), "{values:?}");
        }
    }
}
