//! The sender against an endpoint on this machine: its requests, its handling of answers, and
//! blocked targets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::ids::EventId;
use domain::webhook::SecretText;
use testkit::connect_proxy::ConnectProxy;
use testkit::receiver::{Reaction, ReceiverConfig, SimulatedReceiver, Verdict};
use testkit::tls_front::{FrontCertificates, TlsFront};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::*;
use crate::outbound::Identity;
use crate::outbound::tests::authority::{Authority, Issued};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const PATH: &str = "/webhooks/wallet/wallet-blocked";
const BODY: &str =
    r#"{"event_id":"e","event_type":"wallet.blocked","timestamp":"t","data":{"wallet_id":"w"}}"#;
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn settings(reach: Reach) -> Settings {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Settings::direct(reach, Vec::new())
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
        let settings = Settings::direct(Reach::Sandbox, roots);
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

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(1, 1, 1, 1));
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// An endpoint `bank.example` that demands client certificates of `ours`, has a certificate of its
/// own authority, and is known to the proxy only.
struct Proxied {
    receiver: SimulatedReceiver,
    of_bank: Authority,
    ours: Authority,
    front: TlsFront,
    proxy: ConnectProxy,
    directory: tempfile::TempDir,
}

impl Proxied {
    async fn new() -> Proxied {
        let (of_bank, ours) = (Authority::new(), Authority::new());
        let server = of_bank.server(&["bank.example"]);
        let certificates = FrontCertificates {
            certificate: &server.certificate,
            key: &server.key,
            client_authority: Some(&ours.pem),
        };
        let receiver = receiver().await;
        let front = TlsFront::start(&certificates, receiver.address()).await.expect("a front");
        let routes = [("bank.example:443", front.address())];
        let proxy = ConnectProxy::start(&routes, Some("corridor:pr0xy")).await.expect("a proxy");
        let directory = tempfile::tempdir().expect("a directory");
        Proxied { receiver, of_bank, ours, front, proxy, directory }
    }

    fn written(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    fn identity(&self, issued: &Issued) -> Identity {
        Identity {
            certificate_file: self.written("client.pem", &issued.certificate),
            key_file: self.written("client.key", &issued.key),
        }
    }

    /// Settings with the proxy at this host and a client certificate.
    fn settings(&self, proxy_host: &str, password: &str) -> Settings {
        let port = self.proxy.address().port();
        let outbound = outbound::Settings {
            identity: Some(self.identity(&self.ours.client("corridor"))),
            authority_file: Some(self.written("bank.pem", &self.of_bank.pem)),
            system_authorities: false,
            proxy: Proxy::Url(format!("http://corridor:{password}@{proxy_host}:{port}").into()),
            ..Settings::usual()
        };
        Settings { outbound, ..settings(Reach::Internet) }
    }
}

/// Resolves the proxy's name to this machine and all others to `found`.
fn finding(found: &'static [IpAddr]) -> Lookup {
    Arc::new(move |name| {
        let found = if name == "proxy.internal" { vec![HERE] } else { found.to_vec() };
        Box::pin(async move { Ok(found) })
    })
}

#[tokio::test]
async fn through_a_proxy_an_endpoint_knows_us_by_our_certificate() {
    let world = Proxied::new().await;
    let endpoint = endpoint("https://bank.example/in", &[SECRET]);
    for host in ["127.0.0.1", "proxy.internal"] {
        let settings = world.settings(host, "pr0xy");
        let sender = Sender::with(settings, finding(&[PUBLIC]), TRY_LIMIT).expect("a sender");
        let answer = sender.deliver(&endpoint, &message(1)).await;
        assert_eq!(answer.result, DeliveryResult::Received, "{host}: {answer:?}");
    }
    assert_eq!(world.proxy.targets(), ["bank.example:443"; 2]);
    assert_eq!(world.front.clients().len(), 2);
    assert_eq!(world.receiver.book().entries()[0].verdict, Verdict::Genuine);
    let wrong = Sender::with(world.settings("127.0.0.1", "wr0ngly"), finding(&[PUBLIC]), TRY_LIMIT);
    let answer = wrong.expect("a sender").deliver(&endpoint, &message(2)).await;
    assert!(!reason(&answer).contains("wr0ngly"), "{answer:?}");
}

#[tokio::test]
async fn an_internal_name_is_refused_before_the_proxy_hears_of_it() {
    const MIXED: &[IpAddr] = &[PUBLIC, HERE];
    const METADATA: &[IpAddr] = &[IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254))];
    const INTERNAL: &[IpAddr] = &[IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7))];
    let world = Proxied::new().await;
    for (base, found, why) in [
        ("https://bank.example", &[HERE][..], "loopback"),
        ("https://bank.example", INTERNAL, "private"),
        ("https://bank.example", METADATA, "link-local"),
        ("https://bank.example", MIXED, "loopback"),
        ("https://bank.example", &[], "no address"),
        ("https://proxy.internal", &[PUBLIC], "loopback"),
        ("https://PROXY.internal:3128", &[PUBLIC], "loopback"),
        ("https://10.0.0.7", &[PUBLIC], "private"),
        ("https://0x7f.1", &[PUBLIC], "loopback"),
    ] {
        for host in ["127.0.0.1", "proxy.internal"] {
            let settings = world.settings(host, "pr0xy");
            let sender = Sender::with(settings, finding(found), TRY_LIMIT).expect("a sender");
            let answer = sender.deliver(&endpoint(base, &[SECRET]), &message(1)).await;
            assert!(reason(&answer).contains(why), "{base} {found:?}: {answer:?}");
        }
    }
    assert_eq!(world.proxy.targets(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_hangs_in_resolution_takes_no_longer_than_an_attempt() {
    let world = Proxied::new().await;
    let lookup: Lookup = Arc::new(|_| Box::pin(std::future::pending()));
    let limit = Duration::from_millis(200);
    let sender = Sender::with(world.settings("127.0.0.1", "pr0xy"), lookup, limit);
    let answer = sender
        .expect("a sender")
        .deliver(&endpoint("https://bank.example", &[SECRET]), &message(1))
        .await;
    assert!(reason(&answer).contains("not resolved in time"), "{answer:?}");
}

#[tokio::test]
async fn a_rebound_name_meets_a_certificate_that_is_not_its_own() {
    let world = Proxied::new().await;
    // The proxy resolves it to an internal service, after the check.
    let internal = world.of_bank.server(&["vault.internal"]);
    let certificates = FrontCertificates {
        certificate: &internal.certificate,
        key: &internal.key,
        client_authority: None,
    };
    let inside = receiver().await;
    let front = TlsFront::start(&certificates, inside.address()).await.expect("a front");
    let routes = [("rebinding.example:443", front.address())];
    let proxy = ConnectProxy::start(&routes, None).await.expect("a proxy");
    let mut settings = world.settings("127.0.0.1", "pr0xy");
    settings.outbound.proxy = Proxy::Url(format!("http://{}", proxy.address()).into());
    let sender = Sender::with(settings, finding(&[PUBLIC]), TRY_LIMIT).expect("a sender");
    let endpoint = endpoint("https://rebinding.example", &[SECRET]);
    let answer = sender.deliver(&endpoint, &message(1)).await;
    assert!(reason(&answer).to_lowercase().contains("certificate"), "{answer:?}");
    assert_eq!(proxy.targets(), ["rebinding.example:443"]);
    assert!(inside.book().entries().is_empty(), "no request was sent");
}

#[tokio::test]
async fn a_renewed_client_certificate_is_used_without_a_restart() {
    let world = Proxied::new().await;
    let settings = world.settings("127.0.0.1", "pr0xy");
    world.identity(&Authority::new().client("stranger"));
    let sender = Sender::with(settings, finding(&[PUBLIC]), TRY_LIMIT).expect("a sender");
    let endpoint = endpoint("https://bank.example", &[SECRET]);
    let refused = sender.deliver(&endpoint, &message(1)).await;
    assert!(reason(&refused).contains("UnknownCA"), "{refused:?}");
    world.identity(&world.ours.client("corridor"));
    let answer = sender.deliver(&endpoint, &message(2)).await;
    assert_eq!(answer.result, DeliveryResult::Received, "{answer:?}");
}

#[test]
fn a_sender_has_no_credentials_for_headers_and_names_unusable_files() {
    let with = |change: fn(&mut outbound::Settings)| {
        let mut settings = settings(Reach::Internet);
        change(&mut settings.outbound);
        Sender::new(settings).expect_err("refused").to_string()
    };
    let bearer = with(|it| it.authentication = outbound::Authentication::Bearer("token".into()));
    assert!(bearer.contains("authentication: must be \"none\""), "{bearer}");
    let file = with(|it| it.authority_file = Some("/nowhere/ca.pem".into()));
    assert!(file.contains("authority_file: /nowhere/ca.pem"), "{file}");
    let proxy = with(|it| it.proxy = Proxy::Url("socks5://127.0.0.1".into()));
    assert!(proxy.contains("proxy"), "{proxy}");
}
