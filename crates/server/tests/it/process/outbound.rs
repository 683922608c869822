//! What a process calls, as a whole: the proxy of its environment, and no secret in anything it writes
//! or traces.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use base64::Engine as _;
use config::SECRET_KEYS;
use testkit::connect_proxy::ConnectProxy;
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::wait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::harness::{Installation, Process};
use super::load::Load;
use super::rig;
use crate::authority::Authority;

const RATES: &str = r#"{"base":"USD","as_of":"2099-01-01T00:00:00Z","rates":{"PKR":278.5}}"#;
const CANARY: &str = "canary7f3a";
/// The seed of an nkey, in the only form that it may have.
const NKEY_SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
/// The beginning of every configuration here.
const LOUD: &str = "environment = \"test\"\n[http]\nlisten = \"127.0.0.1:0\"\n[telemetry]\nlog_filter = \"trace\"\n";

/// Answers each request by its head, one a connection.
pub(super) async fn serve(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 16 * 1024];
            let read = socket.read(&mut request).await.unwrap_or(0);
            let text = answer(&String::from_utf8_lossy(&request[..read]));
            // A client that has read enough may hang up.
            let _sent = socket.write_all(text.as_bytes()).await;
            let _ended = socket.shutdown().await;
        }
    });
    address
}

pub(super) fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_of_the_environment_is_used_for_everything_but_this_machine() {
    let authority = Authority::new();
    let server = authority.server(&["rates.bank.example"]);
    let certificates = FrontCertificates {
        certificate: &server.certificate,
        key: &server.key,
        client_authority: None,
    };
    let upstream = serve(|_| http("200 OK", RATES)).await;
    let front = TlsFront::start(&certificates, upstream).await.expect("a front");
    let routes = [("rates.bank.example:443", front.address())];
    let proxy = ConnectProxy::start(&routes, None).await.expect("a proxy");
    let mut installation = Installation::configured(&format!(
        "[rates]\nsource = \"live\"\nsources = [\n\
         {{ location = \"https://rates.bank.example/r\" }}, {{ location = \"http://{upstream}/r\" }} ]\n"
    ));
    let path = installation.path().join("authority.pem");
    std::fs::write(&path, &authority.pem).expect("written");
    installation.set("CORRIDOR_OUTBOUND__DEFAULT__AUTHORITY_FILE", path.display().to_string());
    installation.set("HTTPS_PROXY", format!("http://{}", proxy.address()));
    installation.set("HTTP_PROXY", "http://127.0.0.1:1");
    // The rates are dated ahead, which the check states: both documents were read.
    let checked = installation.run(&["config", "check"]);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    for origin in ["https://rates.bank.example/r", &format!("http://{upstream}/r")] {
        assert!(said.contains(&format!("{origin}: USD/PKR is dated 2099")), "{origin}: {said}");
    }
    assert_eq!(proxy.targets(), ["rates.bank.example:443"]);
    installation.set("NO_PROXY", "bank.example");
    let around = installation.run(&["config", "check"]);
    let said = format!("{}{}", around.stdout, around.stderr);
    assert!(!said.contains("https://rates.bank.example/r: USD/PKR"), "{said}");
    assert_eq!(proxy.targets().len(), 1);
}

/// A collector of traces that keeps them. It refuses every fifth time, and repeats what it got.
async fn collector() -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let kept = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let of_server = kept.clone();
    let take = move |headers: axum::http::HeaderMap, body: Bytes| {
        let mut kept = of_server.lock().expect("not poisoned");
        kept.push(body.to_vec());
        let refused = kept.len() % 5 == 1;
        let status = if refused { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
        std::future::ready((status, if refused { format!("{headers:?}") } else { String::new() }))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = Router::new().fallback(take).layer(axum::extract::DefaultBodyLimit::disable());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, kept)
}

fn secret(name: &str) -> String {
    format!("{CANARY}-{name}")
}

/// A key of 32 bytes in Base64, which begins with the canary.
fn key(last: char) -> String {
    base64(&format!("{CANARY}{}", last.to_string().repeat(32 - CANARY.len())))
}

/// Each kind of authentication, with a rail of its own, and traces.
fn called(echo: SocketAddr, collector: SocketAddr) -> String {
    let rail = |id: &str, path: &str, table: &str| {
        format!(
            "[[rails]]\nid = \"{id}\"\ntransport = \"https\"\nurl = \"http://{echo}/{path}\"\noutbound = \"{table}\"\n\
             debtor_name = \"Demo Bank\"\ndebtor_account = \"1\"\ndebtor_agent = \"DEMOAEAD\"\nreport_wait_s = 0\n"
        )
    };
    format!(
        "environment = \"test\"\n[http]\nlisten = \"127.0.0.1:0\"\npublic_url = \"{public}\"\n\
         [limits]\nenabled = false\n[rates]\nsource = \"frozen\"\n[telemetry]\nlog_format = \"json\"\n\
         log_filter = \"trace\"\notlp_endpoint = \"http://{collector}/v1/traces?key={query}\"\noutbound = \"header\"\n\
         [screening.chain_analysis]\nurl = \"http://{echo}/analysis?key={query}\"\n\
         [outbound.basic]\nauthentication = \"basic\"\nuser = \"user\"\n\
         [outbound.bearer]\nauthentication = \"bearer\"\nsignature = \"hmac\"\n\
         [outbound.header]\nauthentication = \"header\"\nheader_name = \"x-api-key\"\n\
         [outbound.query]\nauthentication = \"query\"\nquery_name = \"app_id\"\n\
         [outbound.oauth]\nauthentication = \"oauth2\"\ntoken_url = \"http://{echo}/token\"\nclient_id = \"c\"\n\
         grant = \"password\"\nuser = \"user\"\n\
         [outbound.hooks]\n[webhooks]\noutbound = \"hooks\"\n{}{}{}{}{}",
        rail("pak-raast", "r1", "basic"),
        rail("pak-ibft", "r2", "bearer"),
        rail("pak-rtgs", "r3", "header"),
        rail("ind-imps", "r4", "oauth"),
        rail("npl-nchl-ips", "r5", "query"),
        public = rig::PUBLIC_URL,
        query = secret("query"),
    )
}

/// The secrets of [`called`]: dotted keys, and values.
fn secrets_of_called() -> Vec<(&'static str, String)> {
    let proxy = |name: &str| format!("http://user:{}@127.0.0.1:1", secret(name));
    vec![
        ("outbound.basic.password", secret("password")),
        ("outbound.basic.proxy", proxy("proxy")),
        ("outbound.hooks.proxy", proxy("hooks")),
        ("outbound.bearer.token", secret("token")),
        ("outbound.bearer.signature_secret", secret("hmac")),
        ("outbound.header.header_value", secret("value")),
        ("outbound.query.query_value", secret("parameter")),
        ("outbound.oauth.password", secret("grant")),
        ("outbound.oauth.client_secret", secret("client")),
        ("screening.chain_analysis.api_key", secret("analysis")),
        ("rates.token", secret("rates")),
        ("security.key_encryption_key", key('k')),
        ("security.previous_key_encryption_keys", format!("{} {}", key('p'), key('q'))),
        ("audit.signing_key", key('a')),
    ]
}

/// Every secret is a canary, every counterpart repeats what it gets, and every level is logged.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_logs_checks_traces_or_the_printed_configuration() {
    let echo = serve(|head| {
        let echoed = format!("{{\"error\":{:?},\"message\":{head:?}}}", head.replace('\n', " "));
        http(if head.contains("/r2") { "401 Unauthorized" } else { "500 Error" }, &echoed)
    })
    .await;
    let (collector, traces) = collector().await;
    let mut installation = Installation::configured(&called(echo, collector));
    for (key, value) in secrets_of_called() {
        let name = key.replace('.', "__").to_ascii_uppercase();
        installation.set(&format!("CORRIDOR_{name}"), value);
    }
    let (installation, api) = rig::found(installation, None);
    let mut said = commands(&installation);
    let wrong = installation.run(&["config", "check", "--set", "outbound.bearer.user=x"]);
    said.push_str(&wrong.stdout);
    said.push_str(&wrong.stderr);
    assert!(said.contains("rail round trip") || said.contains("pak-raast"), "{said}");
    let mut node = installation.serve("node", &[]);
    let load = Load::start(api, vec![node.address.clone()], 1, 7);
    let failed = |rail: &str| {
        node.process.log().lines().any(|line| line.contains(rail) && line.contains("\"WARN\""))
    };
    let rails = ["pak-raast", "pak-ibft", "pak-rtgs", "ind-imps", "npl-nchl-ips"];
    let all = wait::until(wait::AT_MOST, || rails.into_iter().all(&failed));
    assert!(all, "{}", node.process.log_tail());
    let has_paid = || std::future::ready(load.requests() > 20);
    assert!(wait::until_async(wait::AT_MOST, has_paid).await, "{}", node.process.log_tail());
    load.stop().await;
    let metrics = reqwest::Client::builder().no_proxy().build().expect("a client");
    let metrics = metrics.get(format!("{}/metrics", node.address)).send().await.expect("metrics");
    said.push_str(&metrics.text().await.expect("text"));
    said.push_str(&node.process.log());
    // The last traces are sent at the end.
    node.process.stop();
    names_no_canary(&said);
    let traced = traced(&traces);
    for span in ["submit", "request", "batch", "POST /v2/"] {
        assert!(traced.contains(span), "{span} in {} bytes of traces", traced.len());
    }
    names_no_canary(&traced);
}

/// All traces as text: their strings stand as they are in the messages.
fn traced(kept: &Mutex<Vec<Vec<u8>>>) -> String {
    let kept = kept.lock().expect("not poisoned");
    kept.iter().map(|body| format!("{}\n", String::from_utf8_lossy(body))).collect()
}

/// What the commands about a configuration write.
fn commands(installation: &Installation) -> String {
    let mut said = String::new();
    for args in [
        &["config", "print"][..],
        &["config", "print", "--output", "json"],
        &["config", "check"],
        &["doctor", "--deep"],
    ] {
        let done = installation.run(args);
        said.push_str(&done.stdout);
        said.push_str(&done.stderr);
    }
    said
}

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The forms of the canary: as it is, in Base64 from its beginning, and after `user:`.
fn forms() -> [String; 4] {
    let after_user = base64("user:canary7f3a")[..18].to_owned();
    [CANARY.to_owned(), after_user, base64(CANARY)[..12].to_owned(), NKEY_SEED.to_owned()]
}

fn names_no_canary(said: &str) {
    for form in forms() {
        let shown = said.lines().find(|line| line.contains(&form));
        assert_eq!(shown, None, "{form}");
    }
}

/// Writes what the failing parties refer to.
fn write_files(dir: &Path) {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n";
    let jwt = format!(
        "-----BEGIN NATS USER JWT-----\n{CANARY}.{CANARY}.{CANARY}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{NKEY_SEED}\n------END USER NKEY SEED------\n"
    );
    for (name, text) in [("not-a-key", key), ("nats.creds", &jwt)] {
        std::fs::write(dir.join(name), text).expect("written");
    }
    std::fs::create_dir_all(dir.join("shared")).expect("made");
}

/// A chain with failing nodes and these lines in its table of keys.
fn chains(echo: SocketAddr, keys: &str) -> String {
    let mut text = "[wallets]\nenabled = true\n".to_owned();
    for (section, chain_id, name) in
        [("chain", 1, "name = \"ethereum\"\n"), ("chains.second", 2, "")]
    {
        write!(
            text,
            "[{section}]\n{name}chain_id = {chain_id}\nnode_url = \"http://{echo}/{CANARY}\"\n\
             second_node_url = \"http://user:{CANARY}@{echo}/\"\nfurther_node_urls = \"http://{echo}/?k={CANARY}\"\n\
             plain_http_nodes = true\nusdc = \"0x00000000000000000000000000000000000000c0\"\n\
             [{section}.keys]\n{keys}\
             [[{section}.tenants]]\ntag = \"demobank\"\noperator = \"k1\"\ncompliance = \"k2\"\napprover = \"k3\"\n\
             admin = \"0x1000000000000000000000000000000000000001\"\n\
             treasury = \"0x1000000000000000000000000000000000000002\"\n"
        )
        .expect("written");
    }
    text
}

/// Nodes, key services, files, connectors, brokers and an identity provider, none of which works.
fn failing(echo: SocketAddr, dir: &Path) -> Vec<String> {
    let at = |name: &str| dir.join(name).display().to_string();
    let rail = |transport: &str| {
        format!(
            "[[rails]]\nid = \"pak-raast\"\ntransport = \"{transport}\"\ndebtor_name = \"Demo Bank\"\n\
             debtor_account = \"1\"\ndebtor_agent = \"DEMOAEAD\"\n"
        )
    };
    let sftp = format!(
        "{}[rails.sftp]\nhost = \"127.0.0.1\"\nport = {}\nuser = \"user\"\nhost_keys = [\"SHA256:{}\"]\n",
        rail("sftp"),
        echo.port(),
        "A".repeat(43)
    );
    let connector = format!(
        "{}url = \"http://{echo}\"\ntoken = \"{CANARY}\"\ncallback_secret = \"whsec_{}\"\npoll_reports = true\n",
        rail("connector"),
        base64(&format!("{CANARY}-{}", "x".repeat(32)))
    );
    let relay = |name: &str, login: &str| {
        format!(
            "[relay.{name}]\nservers = [\"nats://{echo}\"]\n{login}\nlisten = \"127.0.0.1:0\"\n"
        )
    };
    let pgp = format!(
        "{}directory = \"{}\"\n[rails.pgp]\nkey_file = \"{key}\"\nkey_passphrase = \"{CANARY}\"\nbank_key_files = [\"{key}\"]\n",
        rail("directory"),
        at("shared"),
        key = at("not-a-key")
    );
    let mut parties = vec![
        chains(echo, &format!("source = \"keystore\"\nkeystore_password = \"{CANARY}\"\n")),
        chains(
            echo,
            &format!(
                "source = \"pkcs11\"\npkcs11_module = \"{}\"\npkcs11_token = \"t\"\npkcs11_pin = \"{CANARY}\"\n",
                at("not-a-key")
            ),
        ),
        chains(
            echo,
            &format!(
                "source = \"aws_kms\"\nkms_region = \"r\"\nkms_endpoint = \"http://{echo}\"\n\
                 kms_access_key_id = \"id\"\nkms_secret_access_key = \"{CANARY}\"\nkms_session_token = \"{CANARY}\"\n"
            ),
        ),
        format!("{sftp}password = \"{CANARY}\"\n"),
        format!("{sftp}key_file = \"{}\"\nkey_passphrase = \"{CANARY}\"\n", at("not-a-key")),
        pgp,
        format!(
            "{connector}[console.oidc]\nissuer = \"http://{echo}\"\nclient_id = \"c\"\nclient_secret = \"{CANARY}\"\n"
        ),
        format!("[store]\nurl = \"postgres://user:{CANARY}@127.0.0.1:1/corridor\"\n"),
    ];
    parties.extend([
        relay("words", &format!("user = \"user\"\npassword = \"{CANARY}\"")),
        relay("tokens", &format!("token = \"{CANARY}\"")),
        relay("seeds", &format!("nkey_seed = \"{NKEY_SEED}\"")),
        relay("files", &format!("credentials_file = \"{}\"", at("nats.creds"))),
    ]);
    parties
}

/// All that an installation with a failing party writes.
fn said_about(party: &str, collector: SocketAddr) -> String {
    let otlp = format!("otlp_endpoint = \"http://{collector}/v1/traces\"\n");
    let installation = Installation::configured(&format!("{LOUD}{otlp}{party}"));
    let mut said = commands(&installation);
    assert!(!said.contains("unknown key"), "{said}");
    let mut listen = |mut process: Process| {
        let is_tried = || process.log().contains("WARN") || process.ended().is_some();
        assert!(wait::until(wait::AT_MOST, is_tried), "{party} {}", process.log_tail());
        if process.ended().is_none() {
            process.stop();
        }
        said.push_str(&process.log());
    };
    if party.starts_with("[relay.") {
        let made = installation.run(&["migrate"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        listen(installation.start("relay", &["relay", "run"], &[]));
    } else {
        let wallets = [("CORRIDOR_WALLETS__ENABLED", "true")];
        let wallets = if party.contains("[wallets]") { &wallets[..] } else { &[] };
        let (process, address) = installation.serve_or_end("node", wallets);
        if let Some(address) = address {
            // The identity provider is asked for its metadata.
            sign_in(address.trim_start_matches("http://"));
        }
        listen(process);
    }
    said
}

/// Goes to the identity provider, as a browser would.
fn sign_in(address: &str) {
    let mut stream = std::net::TcpStream::connect(address).expect("it serves");
    let ask =
        format!("GET /console/login/oidc HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("sent");
    // Whatever it answers: only what is logged counts.
    let _answered = stream.read_to_end(&mut Vec::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_party_that_fails_is_written() {
    let echo = serve(|head| http("500 Error", &format!("{{\"error\":{head:?}}}"))).await;
    let (collector, traces) = collector().await;
    let files = tempfile::tempdir().expect("a directory");
    write_files(files.path());
    let parties = failing(echo, files.path());
    let read = std::thread::scope(|scope| {
        let each = parties.iter().map(|party| scope.spawn(move || said_about(party, collector)));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|it| it.join().expect("no panic")).collect::<Vec<_>>()
    });
    read.iter().for_each(|said| names_no_canary(said));
    let traced = traced(&traces);
    assert!(!traced.is_empty(), "something is traced");
    names_no_canary(&traced);
}

/// The secrets of the reference that have a canary in these settings, as dotted keys.
fn covered(path: &str, value: &toml::Value, found: &mut BTreeSet<&'static str>) {
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                // Any rail, table, relay or chain.
                let is_any = ["outbound", "relay", "chains"].contains(&path);
                let name = if is_any { "*" } else { name };
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                covered(&path, value, found);
            }
        }
        toml::Value::Array(all) => {
            all.iter().for_each(|value| covered(&format!("{path}.*"), value, found));
        }
        toml::Value::String(text) if forms().iter().any(|form| text.contains(form)) => {
            found.extend(SECRET_KEYS.into_iter().filter(|key| *key == path));
        }
        _ => {}
    }
}

#[test]
fn every_secret_of_the_reference_has_a_canary() {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
    let files = tempfile::tempdir().expect("a directory");
    let mut found = BTreeSet::new();
    for party in failing(nowhere, files.path()) {
        let table: toml::Table = party.parse().expect("TOML");
        covered("", &toml::Value::Table(table), &mut found);
    }
    for (key, value) in secrets_of_called() {
        let value = key.rsplit('.').fold(toml::Value::String(value), |inner, name| {
            toml::Value::Table([(name.to_owned(), inner)].into_iter().collect())
        });
        covered("", &value, &mut found);
    }
    let missing: Vec<_> = SECRET_KEYS.iter().filter(|key| !found.contains(*key)).collect();
    assert!(missing.is_empty(), "secrets without a canary: {missing:?}");
    write_files(files.path());
    let credentials = std::fs::read_to_string(files.path().join("nats.creds")).expect("read");
    assert!(credentials.contains(CANARY) && credentials.contains(NKEY_SEED));
}
