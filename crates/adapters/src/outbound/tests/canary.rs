//! Distinctive secrets in every setting, all kinds of faults, all log levels: none of them is shown.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use testkit::connect_proxy::ConnectProxy;
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::tokens::{TokenClient, TokenFault, TokenServer};
use tracing::level_filters::LevelFilter;

use super::authority::Authority;
use super::*;
use crate::fetch::tests::serve;

/// A part of every secret.
const CANARY: &str = "canary";

/// What a subscriber writes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn authentications(token_url: &str) -> Vec<Authentication> {
    let secret = |name: &str| format!("{CANARY}-{name} +/=").into();
    let oauth = |grant, client_authentication| OAuth2 {
        token_url: token_url.to_owned(),
        grant,
        client_id: "corridor".to_owned(),
        client_secret: secret("client-secret"),
        client_authentication,
        scope: String::new(),
        audience: String::new(),
    };
    let password = Grant::Password { user: "user".to_owned(), password: secret("grant-password") };
    vec![
        Authentication::Basic { user: "user".to_owned(), password: secret("password") },
        Authentication::Bearer(secret("token")),
        Authentication::Header { name: "x-api-key".to_owned(), value: secret("value") },
        Authentication::Query { name: "app_id".to_owned(), value: secret("parameter") },
        Authentication::OAuth2(Box::new(oauth(
            Grant::ClientCredentials,
            ClientAuthentication::Basic,
        ))),
        Authentication::OAuth2(Box::new(oauth(password, ClientAuthentication::Body))),
    ]
}

/// All forms of the secrets.
fn forbidden() -> [String; 3] {
    use base64::Engine as _;
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    // Base64 of a text that begins with the canary, or has it after "user:".
    [CANARY.to_owned(), base64("canary"), base64("user:canary")[..12].to_owned()]
}

fn check(shown: &str) {
    for form in forbidden() {
        assert!(!shown.contains(&form), "{form} in {shown}");
    }
}

/// Sends a GET and a POST; returns all that their outcome shows.
async fn outcome(client: &Client, address: &str) -> String {
    let url = Url::parse(address).expect("a URL");
    let text = reqwest::header::HeaderValue::from_static("text/plain");
    let mut shown = format!("{client:?} {:?}", client.settings());
    for request in [Request::get(url.clone()), Request::post(url, text, "body")] {
        match client.send(request).await {
            Err(fault) => shown.push_str(&format!("{fault} {fault:?}")),
            Ok(answer) => {
                let body = answer.body(100_000).await.expect("a body");
                shown.push_str(&String::from_utf8_lossy(&body));
            }
        }
    }
    shown
}

#[tokio::test]
async fn no_secret_is_shown() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // While there is only one subscriber, whether a line is of interest is decided, for good, by the
    // subscriber of the thread that reaches it first: that of another test has none.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let guard = tracing::subscriber::set_default(subscriber);

    let echo = serve(|head| {
        let body = format!("{head}{head}");
        format!("HTTP/1.1 500 Error\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    })
    .await;
    let refusing = serve(|head| {
        format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\n\r\n{head}", head.len())
    })
    .await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent_url = format!("http://{}/", silent.local_addr().expect("an address"));
    let server = Authority::new().server(&["localhost"]);
    let certificates = FrontCertificates {
        certificate: &server.certificate,
        key: &server.key,
        client_authority: None,
    };
    let untrusted = TlsFront::start(&certificates, plain().await).await.expect("a front");
    let closed = "http://127.0.0.1:1/".to_owned();
    let addresses = [echo, refusing, closed, silent_url, https(untrusted.address())];

    let tokens = TokenServer::start(TokenClient {
        id: "corridor".to_owned(),
        secret: "another".to_owned(),
        user: None,
    })
    .await
    .expect("a token endpoint");
    for fault in [None, Some(TokenFault::Down), Some(TokenFault::EchoesRequest)] {
        tokens.set_fault(fault);
        let uses =
            |way: &Authentication| fault.is_none() || matches!(way, Authentication::OAuth2(_));
        for authentication in authentications(&tokens.token_url()).into_iter().filter(uses) {
            let settings = Settings {
                authentication,
                signing: Some(Signing::Hmac {
                    header: "x-signature".to_owned(),
                    secret: format!("{CANARY}-hmac").into(),
                    encoding: Encoding::Hex,
                }),
                request_timeout: Duration::from_millis(150),
                retries: 1,
                ..Settings::default()
            };
            for address in &addresses {
                let with_key = format!("{address}?key={CANARY}-query");
                check(&outcome(&client(&settings, &with_key), &with_key).await);
            }
        }
    }
    let proxy = ConnectProxy::start(&[], Some("user:other")).await.expect("a proxy");
    let url = format!("http://user:{CANARY}-proxy@{}", proxy.address());
    let settings = Settings { proxy: Proxy::Url(url.into()), ..Settings::default() };
    check(&outcome(&client(&settings, &addresses[4]), &addresses[4]).await);

    drop(guard);
    let log = String::from_utf8(log.0.lock().expect("not poisoned").clone()).expect("UTF-8");
    assert!(log.contains("TRACE") && log.contains("hyper"), "nothing was logged: {log}");
    for line in log.lines() {
        check(line);
    }
}

#[tokio::test]
async fn a_key_in_the_address_goes_to_its_own_host_alone() {
    let echo = |head: &str| {
        let first = head.lines().next().unwrap_or_default();
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{first}", first.len())
    };
    let (own, elsewhere) = (serve(echo).await, serve(echo).await);
    let authentication = Authentication::Query { name: "app_id".to_owned(), value: "a b&c".into() };
    let settings = Settings { authentication, ..Settings::default() };
    let client = Client::new(&settings, "rates", &[&own]).expect("a client");
    for (host, line) in [
        (&own, "GET /r?base=USD&app_id=a+b%26c HTTP/1.1"),
        (&elsewhere, "GET /r?base=USD HTTP/1.1"),
    ] {
        let fetched = crate::fetch::get(&client, &format!("{host}/r?base=USD"), 1_000).await;
        assert_eq!(String::from_utf8(fetched.expect("an answer").bytes).as_deref(), Ok(line));
    }
}
