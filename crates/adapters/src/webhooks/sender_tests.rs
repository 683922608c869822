//! The sender against an endpoint on this machine: its requests, its handling of answers, and
//! blocked targets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::ids::EventId;
use domain::webhook::SecretText;
use testkit::receiver::{Reaction, ReceiverConfig, SimulatedReceiver, Verdict};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const PATH: &str = "/webhooks/wallet/wallet-blocked";
const BODY: &str =
    r#"{"event_id":"e","event_type":"wallet.blocked","timestamp":"t","data":{"wallet_id":"w"}}"#;
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn settings(reach: Reach) -> Settings {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Settings { reach, roots: Vec::new() }
}

fn sender() -> Sender {
    Sender::new(settings(Reach::Sandbox)).expect("a sender")
}

/// A sender for which every name resolves to these addresses, one result after another.
fn sender_that_finds(
    reach: Reach,
    answers: &'static [&'static [IpAddr]],
) -> (Sender, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let answer = answers[count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)];
        Box::pin(async move { Ok(answer.to_vec()) })
    });
    (Sender::with(settings(reach), lookup, TRY_LIMIT).expect("a sender"), asked)
}

fn endpoint(url: &str, secrets: &[&str]) -> Endpoint {
    Endpoint {
        url: url.to_owned(),
        secrets: secrets.iter().map(|text| SecretText((*text).to_owned())).collect(),
    }
}

fn message(number: u128) -> Message {
    Message {
        id: EventId(uuid::Uuid::from_u128(number)),
        path: PATH.to_owned(),
        at: domain::ports::Clock::now(&testkit::bank::SystemClock),
        body: BODY.as_bytes().to_vec(),
        traceparent: Some(TRACE.to_owned()),
    }
}

async fn receiver() -> SimulatedReceiver {
    SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver")
}

fn reason(answer: &DeliveryAnswer) -> &str {
    match &answer.result {
        DeliveryResult::NotReceived(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_arrives_signed_with_its_trace_and_its_bytes() {
    let receiver = receiver().await;
    let endpoint = endpoint(&format!("{}/", receiver.url()), &[OTHER, SECRET]);
    let answer = sender().deliver(&endpoint, &message(1)).await;
    assert_eq!((&answer.result, answer.status), (&DeliveryResult::Received, Some(200)));
    assert!(answer.body.contains("processed_at") && answer.took > Span(0), "{answer:?}");
    let book = receiver.book();
    let entry = &book.entries()[0];
    assert_eq!((entry.verdict, entry.arrival.path.as_str()), (Verdict::Genuine, PATH));
    assert_eq!(entry.arrival.body, BODY.as_bytes());
    assert_eq!(entry.arrival.traceparent.as_deref(), Some(TRACE));
    let signature = entry.arrival.signature.as_deref().expect("signed");
    assert_eq!(signature.split(' ').count(), 2, "one signature for each secret: {signature}");
}

#[tokio::test]
async fn a_message_without_a_trace_gets_the_attempts() {
    const OF_THE_TRY: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let receiver = receiver().await;
    let endpoint = endpoint(&receiver.url(), &[SECRET]);
    let untraced = Message { traceparent: None, ..message(1) };
    sender().deliver(&endpoint, &untraced).await;
    let traced = sender().traced(|| Some(OF_THE_TRY.to_owned()));
    traced.deliver(&endpoint, &untraced).await;
    traced.deliver(&endpoint, &message(2)).await;
    let book = receiver.book();
    let traces: Vec<Option<&str>> =
        book.entries().iter().map(|entry| entry.arrival.traceparent.as_deref()).collect();
    assert_eq!(traces, [None, Some(OF_THE_TRY), Some(TRACE)]);
}

#[tokio::test]
async fn answers_are_judged_as_the_decisions_say() {
    let receiver = receiver().await;
    let refuse = |status, retry_after: Option<&str>| Reaction::Refuse {
        status,
        retry_after: retry_after.map(str::to_owned),
    };
    let now = message(1).at;
    let date = jiff::Timestamp::from_microsecond((now + Span::secs(90)).0).expect("an instant");
    let date = jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&date)
        .expect("a date");
    let sender = sender();
    for (reaction, status, received, retry_after) in [
        (Reaction::Take, 200, Some(true), None),
        (Reaction::Deny, 200, Some(false), None),
        (refuse(204, None), 204, Some(true), None),
        (refuse(500, None), 500, Some(false), None),
        (refuse(401, None), 401, Some(false), None),
        (refuse(410, None), 410, None, None),
        (refuse(429, Some("120")), 429, Some(false), Some(Span::secs(120))),
        (refuse(503, Some(&date)), 503, Some(false), Some(Span::secs(90))),
        (refuse(503, Some("later")), 503, Some(false), None),
        (Reaction::Redirect("http://127.0.0.1:1/".to_owned()), 302, Some(false), None),
    ] {
        receiver.script([reaction.clone()]);
        let answer = sender
            .deliver(&endpoint(&receiver.url(), &[SECRET]), &Message { at: now, ..message(1) })
            .await;
        assert_eq!(answer.status, Some(status), "{answer:?}");
        match received {
            Some(true) => assert_eq!(answer.result, DeliveryResult::Received, "{reaction:?}"),
            Some(false) => assert!(!reason(&answer).is_empty(), "{reaction:?}"),
            None => assert_eq!(answer.result, DeliveryResult::Gone, "{reaction:?}"),
        }
        let near = |wait: Span| {
            answer.retry_after.is_some_and(|found| (found.0 - wait.0).abs() <= 1_000_000)
        };
        assert!(retry_after.map_or(answer.retry_after.is_none(), near), "{reaction:?}: {answer:?}");
    }
}

#[test]
fn a_denial_is_understood_in_every_form() {
    for denial in [
        r#"{"received": false}"#,
        "\u{feff}{\"received\":false}",
        r#"{"received": "False"}"#,
        r#"{"received": 0}"#,
        r#"{"received": true, "received": false}"#,
        r#"{"received": false, "received": true}"#,
        r#"{"rec\u0065ived": false, "a": [{}]}"#,
        "\r\n{\"received\": false}\0\r\n\0",
        r#"{"received" : false, "log": "cut of"#,
        r#"{"received":"FALSE", "log": "#,
        r#"{"received":0,"#,
        r#"{"received": False}"#,
        r#"{"received": false"#,
        r#"[{"received": false}]"#,
    ] {
        assert!(denies(denial.as_bytes()), "{denial:?}");
    }
    let cut = format!(r#"{{"received": false, "log": "{}"}}"#, "x".repeat(ANSWER_MAX_BYTES));
    assert!(denies(&cut.as_bytes()[..ANSWER_MAX_BYTES]));
    assert!(denies(b"{\"log\": \"\xff\", \"received\": false}"));
}

#[test]
fn other_answers_deny_nothing() {
    for other in [
        "",
        "\u{feff}",
        "ok",
        "false",
        r#"{"received": true}"#,
        r#"{"received": 1}"#,
        r#"{"received": null}"#,
        r#"{"received": "no"}"#,
        r#"{"received": true, "last": {"received": false}}"#,
        r#"{"other": false}"#,
        r#"{"received": true, "log": "cut of"#,
        r#"{"received": falsehood"#,
        r#"{"received": 0.5, "#,
        r#"{"received": 01"#,
        r#"{"received""#,
        r#"{"received":"#,
    ] {
        assert!(!denies(other.as_bytes()), "{other:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let (here, elsewhere) = (receiver().await, receiver().await);
    here.script([Reaction::Redirect(format!("{}{PATH}", elsewhere.url()))]);
    let answer = sender().deliver(&endpoint(&here.url(), &[SECRET]), &message(1)).await;
    assert!(reason(&answer).contains("redirects are not followed"), "{answer:?}");
    assert!(elsewhere.book().entries().is_empty());
}

#[tokio::test]
async fn of_an_answer_without_end_only_the_beginning_is_read() {
    let receiver = receiver().await;
    receiver.script([Reaction::Flood]);
    let answer = sender().deliver(&endpoint(&receiver.url(), &[SECRET]), &message(1)).await;
    assert_eq!((answer.result, answer.body.len()), (DeliveryResult::Received, ANSWER_MAX_BYTES));
}

#[tokio::test]
async fn a_broken_connection_or_a_closed_port_is_not_a_delivery() {
    let receiver = receiver().await;
    receiver.script([Reaction::Close]);
    let sender = sender();
    let answer = sender.deliver(&endpoint(&receiver.url(), &[SECRET]), &message(1)).await;
    assert_eq!(answer.status, None);
    assert!(!reason(&answer).is_empty());
    let unused =
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("bound");
    let answer =
        sender.deliver(&endpoint(&format!("http://{unused}"), &[SECRET]), &message(1)).await;
    assert!(reason(&answer).to_lowercase().contains("refused"), "{answer:?}");
}

/// A server that answers every request with these bytes and closes.
async fn answering(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            // The sender may hang up while it is being answered.
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    address
}

/// Answers that break HTTP or end too early, and whether the message was received.
fn broken_answers() -> Vec<(&'static str, String, bool)> {
    let ok = |head: &str, body: &str| format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}");
    vec![
        ("nothing", String::new(), false),
        ("no HTTP", "HELLO\r\n\r\n".to_owned(), false),
        ("half a head", "HTTP/1.1 20".to_owned(), false),
        ("an old version", "HTTP/0.9 200 OK\r\n\r\n".to_owned(), false),
        ("no status", "HTTP/1.1 000 x\r\n\r\n".to_owned(), false),
        ("a long status", "HTTP/1.1 2000 x\r\n\r\n".to_owned(), false),
        ("another protocol", "HTTP/1.1 101 x\r\nupgrade: x\r\n\r\n".to_owned(), false),
        ("less than promised", ok("content-length: 5\r\n", "ok"), false),
        ("more than promised", ok("content-length: 2\r\n", "okHTTP/1.1 500 x\r\n\r\n"), true),
        ("two lengths", ok("content-length: 2\r\ncontent-length: 5\r\n", "ok"), false),
        ("a negative length", ok("content-length: -1\r\n", ""), false),
        ("a length beyond 64 bits", ok("content-length: 99999999999999999999\r\n", ""), false),
        ("no chunk", ok("transfer-encoding: chunked\r\n", "zz\r\n"), false),
        ("an endless chunk", ok("transfer-encoding: chunked\r\n", "ffffffffffffffffff\r\n"), false),
        ("a cut chunk", ok("transfer-encoding: chunked\r\n", "5\r\nok"), false),
        ("a megabyte of head", ok(&format!("x: {}\r\n", "a".repeat(1024 * 1024)), ""), false),
        ("a thousand headers", ok(&"a: b\r\n".repeat(1_000), ""), false),
        ("a NUL in a header", ok("x: a\0b\r\n", ""), false),
        ("a wait in no form", ok("retry-after: \u{1b}[2J\r\ncontent-length: 0\r\n", ""), false),
        (
            "a body in no encoding",
            ok("content-encoding: gzip\r\ncontent-length: 2\r\n", "\x1f\0"),
            true,
        ),
        (
            "a way into the network",
            "HTTP/1.1 307 x\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
            false,
        ),
    ]
}

#[tokio::test]
async fn an_answer_that_breaks_http_is_not_a_delivery() {
    let sender = sender();
    for (name, answer, received) in broken_answers() {
        let address = answering(answer.into_bytes()).await;
        let answer =
            sender.deliver(&endpoint(&format!("http://{address}"), &[SECRET]), &message(1)).await;
        assert_eq!(answer.result == DeliveryResult::Received, received, "{name}: {answer:?}");
        assert!(received || !reason(&answer).is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_receiver_that_refuses_tls_is_not_reached() {
    for answer in ["", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "\x15\x03\x01\0\x02\x02\x28"]
    {
        let address = answering(answer.as_bytes().to_vec()).await;
        let answer = sender()
            .deliver(&endpoint(&format!("https://{address}"), &[SECRET]), &message(1))
            .await;
        assert_eq!(answer.status, None, "{answer:?}");
        assert!(!reason(&answer).is_empty(), "{answer:?}");
    }
}

#[tokio::test]
async fn a_slow_or_trickling_receiver_times_out() {
    let receiver = receiver().await;
    receiver.script([Reaction::Drip, Reaction::TakeLate(Span::mins(5))]);
    let limit = Duration::from_millis(400);
    let sender = Sender::with(settings(Reach::Sandbox), system_lookup(), limit).expect("a sender");
    let endpoint = endpoint(&receiver.url(), &[SECRET]);
    let (first, second) = (message(1), message(2));
    let tries = futures_util::future::join(
        sender.deliver(&endpoint, &first),
        sender.deliver(&endpoint, &second),
    );
    let (dripped, late) =
        tokio::time::timeout(Duration::from_secs(20), tries).await.expect("in time");
    for answer in [&dripped, &late] {
        assert!(reason(answer).contains("no complete answer in time"), "{answer:?}");
        assert!(answer.took >= Span::millis(400), "{answer:?}");
    }
}

#[tokio::test]
async fn without_a_readable_secret_nothing_is_sent() {
    let receiver = receiver().await;
    let sender = sender();
    for (secrets, why) in [
        (&[][..], "no signing secret"),
        (&["whsec_!"], "unreadable"),
        (&[SECRET, "whsec_"], "unreadable"),
    ] {
        let answer = sender.deliver(&endpoint(&receiver.url(), secrets), &message(1)).await;
        assert!(reason(&answer).contains(why), "{answer:?}");
        assert!(!reason(&answer).contains("whsec_!"), "{answer:?}");
    }
    assert!(receiver.book().entries().is_empty());
}

#[tokio::test]
async fn in_internet_mode_no_internal_address_is_reached() {
    let receiver = receiver().await;
    let port = receiver.address().port();
    let sender = Sender::new(settings(Reach::Internet)).expect("a sender");
    for (base, why) in [
        (format!("http://127.0.0.1:{port}"), "https"),
        (format!("https://127.0.0.1:{port}"), "loopback"),
        (format!("https://2130706433:{port}"), "loopback"),
        (format!("https://[::ffff:127.0.0.1]:{port}"), "written as IPv6"),
        // A name is checked when the connection resolves it.
        (format!("https://localhost:{port}"), "loopback"),
    ] {
        let answer = sender.deliver(&endpoint(&base, &[SECRET]), &message(1)).await;
        assert!(reason(&answer).contains(why), "{base}: {answer:?}");
    }
    assert!(receiver.book().entries().is_empty());
}

#[tokio::test]
async fn a_name_that_changes_its_address_gains_nothing() {
    const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let receiver = receiver().await;
    let port = receiver.address().port();
    // An earlier check is irrelevant: only the connection's own resolution counts.
    let (sender, asked) = sender_that_finds(Reach::Internet, &[&[OUTSIDE], &[HERE]]);
    let base = format!("https://rebinding.example:{port}");
    for why in ["documentation", "loopback"] {
        let answer = sender.deliver(&endpoint(&base, &[SECRET]), &message(1)).await;
        assert!(reason(&answer).contains(why), "{answer:?}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(receiver.book().entries().is_empty());
    let (sender, _) = sender_that_finds(Reach::Sandbox, &[&[HERE]]);
    let answer = sender
        .deliver(&endpoint(&format!("http://bank.example:{port}"), &[SECRET]), &message(1))
        .await;
    assert_eq!(answer.result, DeliveryResult::Received, "a sandbox may");
}

#[tokio::test]
async fn connections_are_kept_for_the_next_event() {
    let receiver = receiver().await;
    let behind = receiver.address();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(relay(stream, behind));
        }
    });
    let (sender, endpoint) = (sender(), endpoint(&format!("http://{address}"), &[SECRET]));
    for number in 0..20 {
        assert_eq!(
            sender.deliver(&endpoint, &message(number)).await.result,
            DeliveryResult::Received
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    assert_eq!(receiver.book().taken().len(), 20);
}

async fn relay<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    mut stream: S,
    to: SocketAddr,
) {
    let mut behind = TcpStream::connect(to).await.expect("a connection");
    // Either side may close, which ends it.
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut behind).await;
}

/// An endpoint with TLS in front: its address, and its certification authority.
async fn tls(behind: SocketAddr) -> (SocketAddr, Certificate) {
    let issued =
        rcgen::generate_simple_self_signed(["bank.example".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)
        .expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust the certificate may close.
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(relay(stream, behind));
            }
        }
    });
    (address, Certificate::from_der(issued.cert.der()).expect("a certificate"))
}

#[tokio::test]
async fn over_https_only_a_trusted_receiver_gets_webhooks() {
    const HERE: &[IpAddr] = &[IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let receiver = receiver().await;
    let (address, root) = tls(receiver.address()).await;
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Ok(HERE.to_vec()) }));
    let of = |roots: Vec<Certificate>| {
        let settings = Settings { reach: Reach::Sandbox, roots };
        Sender::with(settings, lookup.clone(), TRY_LIMIT).expect("a sender")
    };
    let url = |name: &str| format!("https://{name}:{}", address.port());
    let answer = of(vec![root.clone()])
        .deliver(&endpoint(&url("bank.example"), &[SECRET]), &message(1))
        .await;
    assert_eq!(answer.result, DeliveryResult::Received);
    let stranger =
        of(Vec::new()).deliver(&endpoint(&url("bank.example"), &[SECRET]), &message(2)).await;
    assert!(reason(&stranger).to_lowercase().contains("certificate"), "{stranger:?}");
    let misnamed =
        of(vec![root]).deliver(&endpoint(&url("other.example"), &[SECRET]), &message(3)).await;
    assert!(reason(&misnamed).to_lowercase().contains("certificate"), "{misnamed:?}");
    assert_eq!(receiver.book().taken().len(), 1);
}
