//! What a process calls, as a whole: the proxy of its environment, and no secret in anything it writes.

use base64::Engine as _;
use testkit::connect_proxy::ConnectProxy;
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::wait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::harness::Installation;
use crate::authority::Authority;

const RATES: &str = r#"{"base":"USD","as_of":"2099-01-01T00:00:00Z","rates":{"PKR":278.5}}"#;
const CANARY: &str = "canary7f3a";

/// Answers each request by its head, one a connection.
pub(super) async fn serve(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> std::net::SocketAddr {
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

/// Every secret is a canary, every counterpart repeats what it gets, and every level is logged.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_logs_checks_or_the_printed_configuration() {
    let echo = serve(|head| {
        let echoed = format!("{{\"error\":{:?},\"message\":{head:?}}}", head.replace('\n', " "));
        http(if head.contains("/r2") { "401 Unauthorized" } else { "500 Error" }, &echoed)
    })
    .await;
    let secret = |name: &str| format!("{CANARY}-{name}");
    let rail = |id: &str, path: &str, table: &str| {
        format!(
            "[[rails]]\nid = \"{id}\"\ntransport = \"https\"\nurl = \"http://{echo}/{path}\"\noutbound = \"{table}\"\n\
             debtor_name = \"Demo Bank\"\ndebtor_account = \"1\"\ndebtor_agent = \"DEMOAEAD\"\nreport_wait_s = 0\n"
        )
    };
    let config = format!(
        "environment = \"test\"\n[http]\nlisten = \"127.0.0.1:0\"\n[telemetry]\nlog_format = \"json\"\n\
         log_filter = \"trace\"\notlp_endpoint = \"http://{echo}/v1/traces?key={query}\"\noutbound = \"header\"\n\
         [screening.chain_analysis]\nurl = \"http://{echo}/analysis?key={query}\"\n\
         [outbound.basic]\nauthentication = \"basic\"\nuser = \"user\"\n\
         [outbound.bearer]\nauthentication = \"bearer\"\nsignature = \"hmac\"\n\
         [outbound.header]\nauthentication = \"header\"\nheader_name = \"x-api-key\"\n\
         [outbound.query]\nauthentication = \"query\"\nquery_name = \"app_id\"\n\
         [outbound.oauth]\nauthentication = \"oauth2\"\ntoken_url = \"http://{echo}/token\"\nclient_id = \"c\"\n\
         grant = \"password\"\nuser = \"user\"\n{}{}{}{}{}",
        rail("pak-raast", "r1", "basic"),
        rail("pak-ibft", "r2", "bearer"),
        rail("pak-rtgs", "r3", "header"),
        rail("ind-imps", "r4", "oauth"),
        rail("npl-nchl-ips", "r5", "query"),
        query = secret("query"),
    );
    let mut installation = Installation::configured(&config);
    for (key, name) in [
        ("OUTBOUND__BASIC__PASSWORD", "password"),
        ("OUTBOUND__BASIC__PROXY", "proxy"),
        ("OUTBOUND__BEARER__TOKEN", "token"),
        ("OUTBOUND__BEARER__SIGNATURE_SECRET", "hmac"),
        ("OUTBOUND__HEADER__HEADER_VALUE", "value"),
        ("OUTBOUND__QUERY__QUERY_VALUE", "parameter"),
        ("OUTBOUND__OAUTH__PASSWORD", "grant"),
        ("OUTBOUND__OAUTH__CLIENT_SECRET", "client"),
        ("SCREENING__CHAIN_ANALYSIS__API_KEY", "analysis"),
        ("RATES__TOKEN", "rates"),
    ] {
        let value = match name {
            "proxy" => format!("http://user:{}@127.0.0.1:1", secret(name)),
            _ => secret(name),
        };
        installation.set(&format!("CORRIDOR_{key}"), value);
    }
    let mut said = commands(&installation);
    let wrong = installation.run(&["config", "check", "--set", "outbound.bearer.user=x"]);
    said.push_str(&wrong.stdout);
    said.push_str(&wrong.stderr);
    assert!(said.contains("rail round trip") || said.contains("pak-raast"), "{said}");
    let mut node = installation.serve("node", &[]);
    let failed = |rail: &str| {
        node.process.log().lines().any(|line| line.contains(rail) && line.contains("\"WARN\""))
    };
    let rails = ["pak-raast", "pak-ibft", "pak-rtgs", "ind-imps", "npl-nchl-ips"];
    let all = wait::until(wait::AT_MOST, || rails.into_iter().all(&failed));
    assert!(all, "{}", node.process.log_tail());
    let metrics = reqwest::Client::builder().no_proxy().build().expect("a client");
    let metrics = metrics.get(format!("{}/metrics", node.address)).send().await.expect("metrics");
    said.push_str(&metrics.text().await.expect("text"));
    said.push_str(&node.process.log());
    node.process.stop();
    names_no_canary(&said);
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

fn names_no_canary(said: &str) {
    for form in [
        CANARY.to_owned(),
        base64("user:canary7f3a")[..18].to_owned(),
        base64(CANARY)[..12].to_owned(),
    ] {
        let shown = said.lines().find(|line| line.contains(&form));
        assert_eq!(shown, None, "{form}");
    }
}

/// The same for nodes, key services, files, connectors and brokers, none of which works.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_party_that_fails_is_written() {
    let echo = serve(|head| http("500 Error", &format!("{{\"error\":{head:?}}}"))).await;
    let installation = Installation::configured("");
    let key = installation.path().join("not-a-key");
    std::fs::write(&key, "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n").expect("written");
    let nodes = format!(
        "[wallets]\nenabled = true\n[chain]\nchain_id = 1\nnode_url = \"http://{echo}/{CANARY}\"\n\
         second_node_url = \"http://user:{CANARY}@{echo}/\"\nfurther_node_urls = \"http://{echo}/?k={CANARY}\"\n\
         plain_http_nodes = true\n"
    );
    let tenant = "[[chain.tenants]]\ntag = \"demobank\"\noperator = \"k1\"\ncompliance = \"k2\"\napprover = \"k3\"\n\
         admin = \"0x1000000000000000000000000000000000000001\"\ntreasury = \"0x1000000000000000000000000000000000000002\"\n";
    let keys = |source: &str| format!("{nodes}[chain.keys]\nsource = \"{source}\"\n");
    let rail = |id: &str, transport: &str| {
        format!(
            "[[rails]]\nid = \"{id}\"\ntransport = \"{transport}\"\ndebtor_name = \"Demo Bank\"\n\
             debtor_account = \"1\"\ndebtor_agent = \"DEMOAEAD\"\n"
        )
    };
    let sftp = format!(
        "{}[rails.sftp]\nhost = \"127.0.0.1\"\nport = {}\nuser = \"user\"\nhost_keys = [\"SHA256:{}\"]\n",
        rail("pak-raast", "sftp"),
        echo.port(),
        "A".repeat(43)
    );
    let connector = format!(
        "{}url = \"http://{echo}\"\ntoken = \"{CANARY}\"\ncallback_secret = \"whsec_{}\"\npoll_reports = true\n\
         [relay.words]\nservers = [\"nats://{echo}\"]\nuser = \"user\"\npassword = \"{CANARY}\"\nstream = \"A\"\n\
         [relay.tokens]\nservers = [\"nats://{echo}\"]\ntoken = \"{CANARY}\"\nstream = \"B\"\n",
        rail("pak-raast", "connector"),
        base64(&format!("{CANARY}-{}", "x".repeat(32)))
    );
    let parties = [
        format!("{}keystore_password = \"{CANARY}\"\n{tenant}", keys("keystore")),
        format!(
            "{}pkcs11_module = \"{}\"\npkcs11_token = \"t\"\npkcs11_pin = \"{CANARY}\"\n{tenant}",
            keys("pkcs11"),
            key.display()
        ),
        format!(
            "{}kms_region = \"r\"\nkms_endpoint = \"http://{echo}\"\nkms_access_key_id = \"id\"\n\
             kms_secret_access_key = \"{CANARY}\"\nkms_session_token = \"{CANARY}\"\n{tenant}",
            keys("aws_kms")
        ),
        format!("{sftp}password = \"{CANARY}\"\n"),
        format!("{sftp}key_file = \"{}\"\nkey_passphrase = \"{CANARY}\"\n", key.display()),
        connector,
        format!("[store]\nurl = \"postgres://user:{CANARY}@127.0.0.1:1/corridor\"\n"),
    ];
    let read = std::thread::scope(|scope| {
        let each = parties.map(|party| {
            let text = format!(
                "environment = \"test\"\n[http]\nlisten = \"127.0.0.1:0\"\n[telemetry]\nlog_filter = \"trace\"\n{party}"
            );
            scope.spawn(move || {
                let installation = Installation::configured(&text);
                let mut said = commands(&installation);
                assert!(said.contains("doctor") || said.contains("***"), "{said}");
                let wallets = [("CORRIDOR_WALLETS__ENABLED", "true")];
                let wallets = if party.contains("[wallets]") { &wallets[..] } else { &[] };
                let (mut process, _) = installation.serve_or_end("node", wallets);
                let is_tried = || process.log().contains("WARN") || process.ended().is_some();
                assert!(wait::until(wait::AT_MOST, is_tried), "{}", process.log_tail());
                if process.ended().is_none() {
                    process.stop();
                }
                said.push_str(&process.log());
                said
            })
        });
        each.map(|it| it.join().expect("no panic"))
    });
    read.iter().for_each(|said| names_no_canary(said));
}
