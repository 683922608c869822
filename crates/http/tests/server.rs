//! The server loop over real sockets: slow, oversized, malformed and aborting clients. Waits for
//! conditions only.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::routing::{get, post};
use bytes::Bytes;
use domain::ports::{BoxFuture, Clock};
use domain::time::Timestamp;
use http::{Request, StatusCode};
use http_api::server::body::{BodyError, BodyLimits, collect};
use http_api::server::{Drained, HEAD_MAX_BYTES, Refusals, Settings, serve, tls_config};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// Short enough for a test, long enough for a regular client on a busy machine.
const SHORT: Duration = Duration::from_millis(300);

/// A clock that stands at 2026-11-25T12:00:00Z.
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp(1_795_608_000_000_000)
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Drained>,
    /// A request to `/held` arrived.
    arrived: Arc<Notify>,
    release: Arc<Notify>,
}

async fn start(settings: Settings) -> Running {
    let (arrived, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let app = Router::new()
        .route(
            "/peer",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() }),
        )
        .route("/body", post(read_body))
        .route("/held", get(held))
        .route("/endless", get(endless))
        .with_state((Arc::clone(&arrived), Arc::clone(&release)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let refusals = Refusals::new(Arc::new(Standing));
    let ended =
        tokio::spawn(serve(listener, app, settings, refusals, async move { drop(stopped.await) }));
    Running { address, stop, ended, arrived, release }
}

async fn held(State((arrived, release)): State<(Arc<Notify>, Arc<Notify>)>) -> &'static str {
    arrived.notify_one();
    release.notified().await;
    "held"
}

/// An endless response; `arrived` when its reader is gone.
async fn endless(State((arrived, _)): State<(Arc<Notify>, Arc<Notify>)>) -> Body {
    struct Left(Arc<Notify>);
    impl Drop for Left {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let chunk = Bytes::from_static(&[b'x'; 16 * 1024]);
    Body::from_stream(futures_util::stream::repeat_with({
        let left = Left(arrived);
        move || {
            let _kept = &left;
            Ok::<_, std::io::Error>(chunk.clone())
        }
    }))
}

async fn read_body(body: Body) -> (StatusCode, Bytes) {
    match collect(body, BodyLimits { max_bytes: 1_000, read_timeout: SHORT }).await {
        Ok(body) => (StatusCode::OK, body),
        Err(BodyError::TooLarge) => (StatusCode::PAYLOAD_TOO_LARGE, Bytes::new()),
        Err(BodyError::TooSlow) => (StatusCode::REQUEST_TIMEOUT, Bytes::new()),
        Err(BodyError::Broken) => (StatusCode::BAD_REQUEST, Bytes::new()),
    }
}

fn short() -> Settings {
    Settings { head_read_timeout: SHORT, idle_timeout: SHORT, ..Settings::default() }
}

async fn connect(server: &Running) -> TcpStream {
    TcpStream::connect(server.address).await.expect("a connection")
}

/// Reads until `enough` is true or the server closes the connection.
async fn read_until(stream: &mut TcpStream, enough: impl Fn(&str) -> bool) -> String {
    let mut seen = Vec::new();
    let reading = async {
        let mut buffer = [0; 4_096];
        while !enough(&String::from_utf8_lossy(&seen)) {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => seen.extend_from_slice(&buffer[..count]),
            }
        }
    };
    tokio::time::timeout(testkit::wait::AT_MOST, reading)
        .await
        .expect("an answer or a close in time");
    String::from_utf8_lossy(&seen).into_owned()
}

async fn until_closed(stream: &mut TcpStream) -> String {
    read_until(stream, |_| false).await
}

/// Sends `head`, then a byte now and then, until the server closes; returns the response.
async fn drip(stream: TcpStream, head: &[u8]) -> String {
    let (mut from, mut to) = stream.into_split();
    to.write_all(head).await.expect("a write");
    let dripping = async {
        let mut tick = tokio::time::interval(SHORT / 10);
        loop {
            tick.tick().await;
            if to.write_all(b"a").await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut said = Vec::new();
    let reading = async {
        let mut buffer = [0; 1_024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            said.extend_from_slice(&buffer[..count]);
        }
    };
    tokio::select! {
        () = dripping => {}
        closed = tokio::time::timeout(testkit::wait::AT_MOST, reading) => closed.expect("a close in time"),
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn requests_on_one_connection_are_answered_and_know_their_peer() {
    let server = start(Settings::default()).await;
    let mut stream = connect(&server).await;
    for _ in 0..2 {
        stream.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
        let answer = read_until(&mut stream, |seen| seen.ends_with("127.0.0.1")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
}

/// Checks a response against the format of the service that its path belongs to.
fn assert_own(answer: &str, status: &str, code: &str) {
    let (head, body) =
        answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
    assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
    for header in
        ["connection: close", "cache-control: no-store", "date: Wed, 25 Nov 2026 12:00:00 GMT"]
    {
        assert!(head.contains(header), "{header}: {answer}");
    }
    let body: serde_json::Value =
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    let told = body.get("detail").map_or(&body["error"], |detail| &detail["code"]);
    let id = body.get("detail").unwrap_or(&body)["request_id"].as_str().expect("an id");
    assert_eq!(told, code, "{answer}");
    assert!(head.contains(&format!("x-request-id: {id}")), "{answer}");
}

#[tokio::test]
async fn a_head_that_dribbles_in_is_cut() {
    let server = start(short()).await;
    for start in [&b"GET /peer HTTP/1.1\r\nhost: x\r\nx-slow: "[..], b"GET /"] {
        let answer = drip(connect(&server).await, start).await;
        assert_own(&answer, "408 Request Timeout", "head_too_slow");
    }
    // The next head has its own timeout.
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
    assert!(
        read_until(&mut stream, |seen| seen.ends_with("127.0.0.1"))
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert_own(
        &drip(stream, b"GET /v1/sdk/x HTTP/1.1\r\n").await,
        "408 Request Timeout",
        "INVALID_REQUEST",
    );
}

#[tokio::test]
async fn a_client_that_says_nothing_or_half_a_preface_is_cut() {
    let server = start(short()).await;
    for start in [&b""[..], b"P"] {
        let mut stream = connect(&server).await;
        stream.write_all(start).await.expect("a write");
        assert_eq!(until_closed(&mut stream).await, "", "{start:?}");
    }
    // Not a valid HTTP/1 request.
    let mut stream = connect(&server).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n").await.expect("a write");
    assert_own(&until_closed(&mut stream).await, "400 Bad Request", "malformed_request");
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_slow_answer_is_not() {
    let server = start(Settings { idle_timeout: SHORT, ..Settings::default() }).await;
    let mut idle = connect(&server).await;
    idle.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
    let mut waiting = connect(&server).await;
    waiting.write_all(b"GET /held HTTP/1.0\r\n\r\n").await.expect("a write");
    server.arrived.notified().await;
    // When the idle connection is closed, the timeout has passed for the other one too.
    assert!(until_closed(&mut idle).await.starts_with("HTTP/1.1 200"));
    server.release.notify_one();
    assert!(until_closed(&mut waiting).await.ends_with("held"));
}

/// Frames without requests keep no connection open.
#[tokio::test]
async fn an_idle_http2_connection_is_closed_although_its_client_pings() {
    let server = start(Settings { idle_timeout: SHORT, ..Settings::default() }).await;
    let (mut from, mut to) = connect(&server).await.into_split();
    to.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("a write");
    // SETTINGS without values, then PINGs.
    to.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.expect("a write");
    let pinging = async {
        let mut tick = tokio::time::interval(SHORT / 10);
        let mut ping = vec![0, 0, 8, 6, 0, 0, 0, 0, 0];
        ping.extend([7; 8]);
        while to.write_all(&ping).await.is_ok() {
            tick.tick().await;
        }
    };
    let closed = async {
        let mut buffer = [0; 4_096];
        while from.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    };
    let ended = async {
        tokio::select! { () = pinging => {}, () = closed => {} }
    };
    tokio::time::timeout(testkit::wait::AT_MOST, ended).await.expect("it is closed");
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_its_answer_is_cut() {
    let server = start(Settings { write_timeout: SHORT, ..Settings::default() }).await;
    let mut stalled = connect(&server).await;
    stalled.write_all(b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
    // It reads nothing and stays connected.
    tokio::time::timeout(testkit::wait::AT_MOST, server.arrived.notified())
        .await
        .expect("the answer was given up");
    drop(stalled);
}

#[tokio::test]
async fn a_head_beyond_the_limit_is_refused() {
    let server = start(Settings::default()).await;
    let line = "x".repeat(HEAD_MAX_BYTES);
    let many = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect::<String>();
    for head in [
        format!("GET /peer HTTP/1.1\r\nx: {line}\r\n\r\n"),
        format!("GET /peer HTTP/1.1\r\n{many}\r\n"),
    ] {
        let mut stream = connect(&server).await;
        // The server may close before it has read everything.
        drop(stream.write_all(head.as_bytes()).await);
        let answer = read_until(&mut stream, |seen| seen.contains("\r\n\r\n")).await;
        assert_own(&answer, "431 Request Header Fields Too Large", "head_too_large");
    }
    let half = "x".repeat(HEAD_MAX_BYTES / 2);
    for head in [
        format!("GET /{line} HTTP/1.1\r\nhost: x\r\n\r\n"),
        format!("GET /peer?{line}"),
        format!("GET /peer?{half} HTTP/1.1\r\nhost: x\r\nx: {half}\r\n\r\n"),
        format!("GET /peer HTTP/1.1\r\nhost: x\r\n\r\nGET /peer?{line}{line} HTTP/1.1\r\n\r\n"),
    ] {
        let mut stream = connect(&server).await;
        drop(stream.write_all(head.as_bytes()).await);
        let answer = read_until(&mut stream, |seen| seen.contains("uri_too_long")).await;
        let answer = answer.find("HTTP/1.1 414").map(|start| &answer[start..]).unwrap_or(&answer);
        assert_own(answer, "414 URI Too Long", "uri_too_long");
    }
    let fits = "x".repeat(HEAD_MAX_BYTES - 100);
    let mut stream = connect(&server).await;
    stream
        .write_all(format!("GET /peer HTTP/1.1\r\nhost: x\r\nx: {fits}\r\n\r\n").as_bytes())
        .await
        .expect("a write");
    assert!(
        read_until(&mut stream, |seen| seen.ends_with("127.0.0.1"))
            .await
            .starts_with("HTTP/1.1 200")
    );
}

/// The status line of the response to `request`, after which the client sends nothing if `end` is
/// set.
async fn status_of(server: &Running, request: &[u8], end: bool) -> String {
    let mut stream = connect(server).await;
    stream.write_all(request).await.expect("a write");
    if end {
        stream.shutdown().await.expect("a half-close");
    }
    let answer = read_until(&mut stream, |seen| seen.contains("\r\n\r\n")).await;
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn bodies_are_taken_whole_or_refused_for_a_reason() {
    let server = start(Settings::default()).await;
    let post = |headers: &str, body: &str| {
        format!("POST /body HTTP/1.1\r\nhost: x\r\n{headers}\r\n\r\n{body}").into_bytes()
    };
    let kilobyte = "x".repeat(1_000);
    let chunked = |size: usize| format!("{size:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(size));
    for (case, request, end, status) in [
        ("fits", post("content-length: 1000", &kilobyte), false, "200 OK"),
        ("chunks that fit", post("transfer-encoding: chunked", &chunked(1_000)), false, "200 OK"),
        (
            "announces too much and sends nothing",
            post("content-length: 1001", ""),
            false,
            "413 Payload Too Large",
        ),
        (
            "announces the impossible",
            post("content-length: 9223372036854775807", ""),
            false,
            "413 Payload Too Large",
        ),
        (
            "chunks too much",
            post("transfer-encoding: chunked", &chunked(1_001)),
            false,
            "413 Payload Too Large",
        ),
        (
            "announces more than it sends, and waits",
            post("content-length: 9", "x"),
            false,
            "408 Request Timeout",
        ),
        (
            "announces more than it sends, and ends",
            post("content-length: 9", "x"),
            true,
            "400 Bad Request",
        ),
        (
            "a chunk of no size",
            post("transfer-encoding: chunked", "z\r\n"),
            false,
            "400 Bad Request",
        ),
        (
            "two lengths",
            post("content-length: 1\r\ncontent-length: 2", "xx"),
            false,
            "400 Bad Request",
        ),
        ("a negative length", post("content-length: -1", ""), false, "400 Bad Request"),
        ("a length with a sign", post("content-length: +1", "x"), false, "400 Bad Request"),
        (
            "an unknown framing",
            post("transfer-encoding: chunked, gzip", "x"),
            false,
            "400 Bad Request",
        ),
        ("a space before the colon", post("content-length : 1", "x"), false, "400 Bad Request"),
        ("a folded header", post("x: a\r\n b\r\ncontent-length: 1", "x"), false, "400 Bad Request"),
    ] {
        assert_eq!(status_of(&server, &request, end).await, format!("HTTP/1.1 {status}"), "{case}");
    }
}

#[tokio::test]
async fn what_stands_behind_a_body_is_never_part_of_it() {
    let server = start(Settings::default()).await;
    let mut stream = connect(&server).await;
    let lying = b"POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabcdef\r\n\r\n";
    stream.write_all(lying).await.expect("a write");
    let answers = until_closed_or(&mut stream, "HTTP/1.1 400").await;
    assert!(
        answers.starts_with("HTTP/1.1 200 OK\r\n") && answers.contains("\r\n\r\nabc"),
        "{answers}"
    );
    assert!(!answers.contains("abcd"), "{answers}");
}

#[tokio::test]
async fn malformed_requests_are_answered_in_our_own_words() {
    let server = start(Settings::default()).await;
    let body = "3\r\nabc\r\n0\r\n\r\n";
    for (case, request) in [
        ("no host", "GET /peer HTTP/1.1\r\n\r\n".to_owned()),
        ("two hosts", "GET /peer HTTP/1.1\r\nhost: x\r\nhost: x\r\n\r\n".to_owned()),
        ("a host that is none", "GET /peer HTTP/1.1\r\nhost: a b\r\n\r\n".to_owned()),
        (
            "a length and chunks",
            format!(
                "POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 40\r\ntransfer-encoding: chunked\r\n\r\n{body}"
            ),
        ),
        (
            "chunks and a length",
            format!(
                "POST /body HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n{body}"
            ),
        ),
        (
            "chunks of chunks",
            format!(
                "POST /body HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, chunked\r\n\r\n{body}"
            ),
        ),
        (
            "chunks twice",
            format!(
                "POST /body HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n{body}"
            ),
        ),
        ("no request line", "what is this\r\n\r\n".to_owned()),
        ("a header without a name", "GET /peer HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n".to_owned()),
        (
            "a length that is none",
            "POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n".to_owned(),
        ),
        ("an old version", "GET /peer HTTP/3.7\r\nhost: x\r\n\r\n".to_owned()),
    ] {
        let mut stream = connect(&server).await;
        // An earlier request changes nothing.
        stream.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
        let first = read_until(&mut stream, |seen| seen.ends_with("127.0.0.1")).await;
        assert!(first.starts_with("HTTP/1.1 200"), "{case}: {first}");
        stream.write_all(request.as_bytes()).await.expect("a write");
        let answer = until_closed(&mut stream).await;
        assert_own(&answer, "400 Bad Request", "malformed_request");
    }
    let mut stream = connect(&server).await;
    let wallet = b"GET /v1/sdk/transactions HTTP/1.1\r\nhost: a b\r\nx-request-id: mine-1\r\n\r\n";
    stream.write_all(wallet).await.expect("a write");
    let answer = until_closed(&mut stream).await;
    assert_own(&answer, "400 Bad Request", "INVALID_REQUEST");
    assert!(answer.contains("\"request_id\":\"mine-1\""), "{answer}");
    for target in ["/v1/sdk/orders", "http://x/v1/sdk/orders?a=b"] {
        for body in ["", "{\r\n\"a\": \"/v2\"\r\n"] {
            let mut stream = connect(&server).await;
            let request = format!("POST {target} HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n{body}");
            stream.write_all(request.as_bytes()).await.expect("a write");
            assert_own(&until_closed(&mut stream).await, "400 Bad Request", "INVALID_REQUEST");
        }
    }
}

#[tokio::test]
async fn an_answer_that_leaves_the_body_unread_ends_the_connection() {
    let server = start(Settings::default()).await;
    let mut stream = connect(&server).await;
    let large = b"POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n";
    stream.write_all(large).await.expect("a write");
    let answer = read_until(&mut stream, |seen| seen.contains("\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

async fn until_closed_or(stream: &mut TcpStream, end: &str) -> String {
    read_until(stream, |seen| seen.contains(end)).await
}

#[tokio::test]
async fn a_body_that_dribbles_in_is_cut() {
    let server = start(Settings::default()).await;
    let head =
        b"POST /body HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 900\r\n\r\n";
    let answer = drip(connect(&server).await, head).await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
}

#[tokio::test]
async fn beyond_the_cap_a_connection_waits_for_a_slot() {
    let server = start(Settings { connections_max: 1, ..Settings::default() }).await;
    let mut first = connect(&server).await;
    first
        .write_all(b"GET /held HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .expect("a write");
    server.arrived.notified().await;
    let mut second = connect(&server).await;
    second.write_all(b"GET /peer HTTP/1.0\r\n\r\n").await.expect("a write");
    assert!(second.try_read(&mut [0; 1]).is_err(), "nothing is there to read");
    server.release.notify_one();
    assert!(until_closed(&mut first).await.ends_with("held"));
    assert!(until_closed(&mut second).await.ends_with("127.0.0.1"));
}

#[tokio::test]
async fn a_stop_lets_open_requests_finish_and_takes_no_new_ones() {
    let server = start(Settings::default()).await;
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /held HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
    server.arrived.notified().await;
    server.stop.send(()).expect("the server runs");
    let refused = async { while TcpStream::connect(server.address).await.is_ok() {} };
    tokio::time::timeout(testkit::wait::AT_MOST, refused)
        .await
        .expect("no new connections in time");
    server.release.notify_one();
    assert!(until_closed(&mut stream).await.ends_with("held"));
    assert_eq!(server.ended.await.expect("no panic"), Drained::Clean);
}

#[tokio::test]
async fn a_request_that_never_ends_is_cut_when_the_drain_is_over() {
    let server = start(Settings { drain_timeout: SHORT, ..Settings::default() }).await;
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /held HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("a write");
    server.arrived.notified().await;
    server.stop.send(()).expect("the server runs");
    assert_eq!(
        tokio::time::timeout(testkit::wait::AT_MOST, server.ended)
            .await
            .expect("in time")
            .expect("no panic"),
        Drained::Cut
    );
    assert_eq!(until_closed(&mut stream).await, "");
}

async fn get_over_http2<S>(stream: S) -> String
where
    S: tokio::io::AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let request = Request::get("http://x/peer").body(Empty::<Bytes>::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    drop(sender);
    connection.await.expect("no panic").expect("a clean end");
    String::from_utf8(body.to_vec()).expect("UTF-8")
}

#[tokio::test]
async fn http_2_is_spoken_without_and_with_tls() {
    let plain = start(Settings::default()).await;
    assert_eq!(get_over_http2(connect(&plain).await).await, "127.0.0.1");

    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = tls_config(certificate.as_bytes(), key.as_bytes()).expect("they fit");
    let secure = start(Settings { tls: Some(tls), ..short() }).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let name = "localhost".try_into().expect("a name");
    let stream = connector.connect(name, connect(&secure).await).await.expect("a handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    assert_eq!(get_over_http2(stream).await, "127.0.0.1");

    let mut silent = connect(&secure).await;
    assert_eq!(until_closed(&mut silent).await, "", "a handshake that never starts is cut");
    assert!(
        tls_config(b"", key.as_bytes()).is_err()
            && tls_config(certificate.as_bytes(), b"").is_err()
    );
}

/// A frame of HTTP/2 (RFC 9113, 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Requests cancelled at once, repeatedly (CVE-2023-44487): the connection ends, others continue.
#[tokio::test]
async fn who_keeps_taking_requests_back_is_cut_off() {
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: &[u8] = &[0, 0, 0, 11];
    const STREAMS: u32 = 20_000;
    let server = start(Settings::default()).await;
    let (mut from, mut to) = connect(&server).await.into_split();
    let flood = async move {
        // GET / of host "a" from HPACK's static table with END_STREAM and END_HEADERS; then
        // RST_STREAM with CANCEL.
        let request = [0x82, 0x86, 0x84, 0x41, 0x01, b'a'];
        let begun = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, &[])].concat();
        if to.write_all(&begun).await.is_err() {
            return;
        }
        for stream in (0..STREAMS).map(|number| number * 2 + 1) {
            let pair =
                [frame(1, 5, stream, &request), frame(3, 0, stream, &8_u32.to_be_bytes())].concat();
            if to.write_all(&pair).await.is_err() {
                return;
            }
        }
        // Keeps its side open, so that the server has to end it.
        std::future::pending::<()>().await;
    };
    let told = async {
        let mut said = Vec::new();
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            said.extend_from_slice(&buffer[..count]);
        }
        said
    };
    let both = async {
        tokio::select! {
            said = told => said,
            () = async { flood.await; std::future::pending().await } => Vec::new(),
        }
    };
    let said =
        tokio::time::timeout(testkit::wait::AT_MOST, both).await.expect("the server ends it");
    let mut reasons = Vec::new();
    let mut rest = said.as_slice();
    while let [a, b, c, kind, ..] = rest {
        let end = 9 + (usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c));
        if *kind == GOAWAY {
            // Beyond the last stream's number.
            reasons.extend(rest.get(13..17));
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    assert_eq!(reasons, [ENHANCE_YOUR_CALM]);
    assert_eq!(get_over_http2(connect(&server).await).await, "127.0.0.1");
}
