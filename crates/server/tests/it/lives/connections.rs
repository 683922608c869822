//! Payments over banks as they are reached: client certificate, private authority and proxy, and OAuth 2
//! with its outages.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use domain::country::Country;
use testkit::bank::{BankConfig, SimulatedBank};
use testkit::connect_proxy::ConnectProxy;
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::tokens::{TokenClient, TokenFault, TokenServer};
use testkit::wait::AT_MOST;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Notify;

use crate::authority::Authority;
use crate::harness::{Bank, On, Setup, brisk, on_both_stores};

on_both_stores! {
    a_bank_behind_a_proxy_knows_us_by_our_certificate
    a_payment_waits_while_the_bank_takes_our_certificate_for_expired
    a_bank_with_oauth2_gets_each_payment_once
    a_bank_that_hangs_delays_no_payments_over_other_rails
}

const RAIL: &str = "pak-raast";

async fn bank() -> SimulatedBank {
    let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let bank =
        SimulatedBank::start(BankConfig { behaviour: brisk(), listen, ..BankConfig::default() });
    bank.await.expect("a bank")
}

/// An installation whose only rail leads to `url` by the table `outbound.bank`.
fn connected(url: &str, table: &[(&str, &str)]) -> Setup {
    over_https(Setup::new(), url, table)
}

/// The same, in an installation that is set up already.
pub fn over_https(setup: Setup, url: &str, table: &[(&str, &str)]) -> Setup {
    let rail = [
        ("transport", "https"),
        ("url", url),
        ("outbound", "bank"),
        ("debtor_name", "Demo Bank"),
        ("debtor_account", "1"),
        ("debtor_agent", "DEMOAEAD"),
        ("report_wait_s", "1"),
    ];
    let setup = setup.set("rails_enabled", &format!("[\"{RAIL}\"]"));
    let setup = rail
        .iter()
        .fold(setup, |setup, (key, value)| setup.set(&format!("rails.{RAIL}.{key}"), value));
    table
        .iter()
        .fold(setup, |setup, (key, value)| setup.set(&format!("outbound.bank.{key}"), value))
}

fn written(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A bank that takes messages and never answers, until it hangs up; with the number of those that
/// wait.
pub async fn hanging() -> (SocketAddr, Arc<AtomicUsize>, Arc<Notify>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let waiting = Arc::<AtomicUsize>::default();
    let hangs_up = Arc::<Notify>::default();
    let (count, end) = (waiting.clone(), hangs_up.clone());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (count, end) = (count.clone(), end.clone());
            tokio::spawn(async move {
                let mut head = [0; 4];
                let is_message = socket.read_exact(&mut head).await.is_ok() && head == *b"POST";
                count.fetch_add(usize::from(is_message), Ordering::SeqCst);
                let mut sink = tokio::io::sink();
                tokio::select! {
                    _ = tokio::io::copy(&mut socket, &mut sink) => {}
                    () = end.notified() => {}
                }
                count.fetch_sub(usize::from(is_message), Ordering::SeqCst);
            });
        }
    });
    (address, waiting, hangs_up)
}

async fn a_bank_that_hangs_delays_no_payments_over_other_rails(on: On) {
    let (address, waiting, hangs_up) = hanging().await;
    let setup = connected(&format!("http://{address}"), &[("authentication", "none")]);
    let setup = setup.set("rails_enabled", &format!("[\"{RAIL}\", \"ind-imps\"]"));
    let bank = Bank::alone(on, setup.set("engine.calls_in_flight", "16")).await;
    // As many as there are calls for one rail, and more payments that wait for one.
    let mut stuck = Vec::new();
    while waiting.load(Ordering::SeqCst) < 16 {
        stuck.push(bank.paid(Country::Pak, |order| order).await);
    }
    let id = bank.paid(Country::Ind, |order| order).await;
    bank.reaches(Country::Ind, &id, "succeeded").await;
    assert!(waiting.load(Ordering::SeqCst) >= 16, "none was given up before");
    let status = bank.record(Country::Pak, &stuck[0]).await["response"]["status"].clone();
    assert_eq!(status.text(), "queued");
    hangs_up.notify_waiters();
    bank.finish().await;
}

async fn a_bank_behind_a_proxy_knows_us_by_our_certificate(on: On) {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str, text: &str| written(directory.path(), name, text);
    let (of_bank, ours) = (Authority::new(), Authority::new());
    let server = of_bank.server(&["api.bank.example"]);
    let certificates = FrontCertificates {
        certificate: &server.certificate,
        key: &server.key,
        client_authority: Some(&ours.pem),
    };
    let simulated = bank().await;
    let front = TlsFront::start(&certificates, simulated.address().expect("it listens")).await;
    let front = front.expect("a front");
    let routes = [("api.bank.example:443", front.address())];
    let proxy = ConnectProxy::start(&routes, Some("corridor:pr0xy")).await.expect("a proxy");
    let issued = ours.client("corridor");
    let table = [
        ("certificate_file", at("client.pem", &issued.certificate)),
        ("key_file", at("client.key", &issued.key)),
        ("authority_file", at("bank.pem", &of_bank.pem)),
        ("system_authorities", "false".to_owned()),
        ("proxy", format!("http://corridor:pr0xy@{}", proxy.address())),
    ];
    let table = table.each_ref().map(|(key, value)| (*key, value.as_str()));
    let bank =
        Bank::alone(on, connected(&format!("https://api.bank.example/{RAIL}"), &table)).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(simulated.book(&id.replace('-', "")).expect("its book").len(), 1);
    assert!(proxy.targets().iter().all(|target| target == "api.bank.example:443"));
    assert!(!front.clients().is_empty());
    // The next certificate comes with the files, without a restart.
    let renewed = ours.client("renewed");
    at("client.pem", &renewed.certificate);
    at("client.key", &renewed.key);
    let known = front.clients();
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let is_new = testkit::wait::until_async(AT_MOST, || async {
        front.clients().iter().any(|client| !known.contains(client))
    });
    assert!(is_new.await);
    bank.finish().await;
}

async fn is_refused(front: &TlsFront, times: u64) {
    let before = front.refused();
    let refused = || std::future::ready(front.refused() >= before + times);
    assert!(testkit::wait::until_async(AT_MOST, refused).await, "it is tried {times} times more");
}

async fn a_payment_waits_while_the_bank_takes_our_certificate_for_expired(on: On) {
    const A_DAY: Duration = Duration::from_secs(86_400);
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str, text: &str| written(directory.path(), name, text);
    let (of_bank, ours) = (Authority::new(), Authority::new());
    let server = of_bank.server(&["localhost"]);
    let certificates = FrontCertificates {
        certificate: &server.certificate,
        key: &server.key,
        client_authority: Some(&ours.pem),
    };
    let simulated = bank().await;
    let front = TlsFront::start(&certificates, simulated.address().expect("it listens")).await;
    let front = front.expect("a front");
    let short = ours.client_for("corridor", A_DAY);
    let table = [
        ("certificate_file", at("client.pem", &short.certificate)),
        ("key_file", at("client.key", &short.key)),
        ("authority_file", at("bank.pem", &of_bank.pem)),
        ("system_authorities", "false".to_owned()),
    ];
    let table = table.each_ref().map(|(key, value)| (*key, value.as_str()));
    let url = format!("https://localhost:{}/{RAIL}", front.address().port());
    let bank = Bank::alone(on, connected(&url, &table)).await;
    let first = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &first, "succeeded").await;
    front.pass(2 * A_DAY);
    // What is sent over a connection that is being closed may have arrived: reports are asked for over new ones first.
    is_refused(&front, 1).await;
    let second = bank.paid(Country::Pak, |order| order).await;
    is_refused(&front, 2).await;
    assert!(simulated.book(&second.replace('-', "")).expect("its book").is_empty());
    let long = ours.client_for("renewed", 30 * A_DAY);
    at("client.pem", &long.certificate);
    at("client.key", &long.key);
    bank.reaches(Country::Pak, &second, "succeeded").await;
    for id in [first, second] {
        assert_eq!(simulated.book(&id.replace('-', "")).expect("its book").len(), 1, "{id}");
    }
    bank.finish().await;
}

/// A gateway that lets requests with a valid token through to the bank.
#[derive(Clone)]
struct Gateway {
    tokens: Arc<TokenServer>,
    upstream: SocketAddr,
    http: reqwest::Client,
}

impl Gateway {
    async fn start(tokens: Arc<TokenServer>, upstream: SocketAddr) -> SocketAddr {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let gateway = Gateway { tokens, upstream, http };
        let router = Router::new().fallback(let_through).with_state(gateway);
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }
}

async fn let_through(State(gateway): State<Gateway>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let given = head.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !given.is_some_and(|given| gateway.tokens.accepts(given)) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let url = format!("http://{}{}", gateway.upstream, head.uri);
    let forwarded = gateway.http.request(head.method, url).headers(without_host(head.headers));
    match forwarded.body(body).send().await {
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
        Ok(answer) => {
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.bytes().await.expect("a body");
            let mut response = (status, Body::from(body)).into_response();
            *response.headers_mut() = headers;
            response
        }
    }
}

fn without_host(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(header::HOST);
    headers
}

async fn a_bank_with_oauth2_gets_each_payment_once(on: On) {
    let client = TokenClient {
        id: "corridor".to_owned(),
        secret: "cl1ent".to_owned(),
        user: Some(("bank-user".to_owned(), "us3r".to_owned())),
    };
    let tokens = Arc::new(TokenServer::start(client).await.expect("a token endpoint"));
    let simulated = bank().await;
    let gateway = Gateway::start(tokens.clone(), simulated.address().expect("it listens")).await;
    let token_url = tokens.token_url();
    let table = [
        ("authentication", "oauth2"),
        ("grant", "password"),
        ("user", "bank-user"),
        ("password", "us3r"),
        ("token_url", &token_url),
        ("client_id", "corridor"),
        ("client_secret", "cl1ent"),
        ("client_authentication", "body"),
    ];
    let bank = Bank::alone(on, connected(&format!("http://{gateway}/{RAIL}"), &table)).await;
    let paid = async |bank: &Bank| {
        let id = bank.paid(Country::Pak, |order| order).await;
        bank.reaches(Country::Pak, &id, "succeeded").await;
        id
    };
    let first = paid(&bank).await;
    // The token ends in the middle of its life.
    tokens.revoke();
    let second = paid(&bank).await;
    // No token is to be had: nothing is sent until there is one again.
    tokens.set_fault(Some(TokenFault::Down));
    tokens.revoke();
    let third = bank.paid(Country::Pak, |order| order).await;
    let asked = tokens.forms().len();
    let refused = || async { tokens.forms().len() > asked + 1 };
    assert!(testkit::wait::until_async(AT_MOST, refused).await);
    assert!(simulated.book(&third.replace('-', "")).expect("its book").is_empty());
    tokens.set_fault(None);
    bank.reaches(Country::Pak, &third, "succeeded").await;
    for id in [first, second, third] {
        assert_eq!(simulated.book(&id.replace('-', "")).expect("its book").len(), 1, "{id}");
    }
    bank.finish().await;
}
