//! Rates from a publisher over HTTP: `corridor rates test`, and a service that quotes from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::wait;

use super::super::harness::Installation;
use super::super::outbound::{http, serve};
use super::super::sandbox::Sandbox;

const LOOK_EVERY: Duration = Duration::from_millis(1_500);
const CANARY: &str = "canary7f3a-header";
/// Rates of one dollar, besides those of the rupee and the dirham.
const PER_USD: &str = r#""BHD":0.376,"EUR":0.92,"KWD":"0.307","MYR":4.7,"OMR":0.385,"QAR":3.64,"SAR":3.75,"SGD":1.35,
    "TRY":34,"BDT":122.15,"EGP":47.65,"INR":89.4,"NPR":143.04,"PHP":58.85,"VND":2.635e4,"XAU":0.00024"#;

/// A publisher that demands a key in a header, and repeats a wrong one. While `limited`, its answers are
/// errors with status 200.
async fn publisher(limited: Arc<AtomicBool>) -> std::net::SocketAddr {
    serve(move |head| {
        let key = head.lines().find_map(|line| line.strip_prefix("x-api-key: ")).unwrap_or("none");
        if key != CANARY {
            return http("401 Unauthorized", &format!(r#"{{"error":"wrong key {key}"}}"#));
        }
        if limited.load(Ordering::Relaxed) {
            let error = format!(r#"{{"code":104,"info":"limit of {key} reached"}}"#);
            return http("200 OK", &format!(r#"{{"success":false,"error":{error}}}"#));
        }
        let now = jiff::Timestamp::now().as_second();
        let pairs = r#""AED":{"bid":3.67,"ask":3.675},"PKR":{"bid":"278","ask":"279"}"#;
        let coins = format!(r#""tether":{{"usd":1,"at_time":{now}}},"usd-coin":{{"usd":1.0001}}"#);
        let rates =
            format!(r#""timestamp":{now},"data":{{"base":"USD","rates":{{{pairs},{PER_USD}}}}}"#);
        http("200 OK", &format!("{{{rates},\"prices\":{{{coins}}}}}"))
    })
    .await
}

/// A sandbox's environment with the publisher as its first source, and a file that disagrees about the
/// rupee by two per cent.
fn configured(address: std::net::SocketAddr) -> Installation {
    let mut installation = Installation::configured(&format!(
        "[rates]\nsource = \"live\"\nrefresh_s = 1\n\
         [[rates.sources]]\nname = \"market\"\nlocation = \"http://{address}/latest?base=USD\"\noutbound = \"market\"\n\
         [[rates.sources]]\nlocation = \"second.csv\"\nmax_age_s = 86400\n\
         [outbound.market]\nauthentication = \"header\"\nheader_name = \"x-api-key\"\n"
    ));
    let second = installation.path().join("second.csv");
    let now = jiff::Timestamp::now();
    std::fs::write(&second, format!("base,quote,rate,as_of\nUSD,PKR,284.5,{now}\n"))
        .expect("written");
    let sources = std::fs::read_to_string(installation.path().join("corridor.toml")).expect("read");
    let sources = sources.replace("second.csv", &second.display().to_string());
    std::fs::write(installation.path().join("corridor.toml"), sources).expect("written");
    installation.set("CORRIDOR_OUTBOUND__MARKET__HEADER_VALUE", CANARY);
    installation
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_tested_with_its_secret() {
    let limited = Arc::new(AtomicBool::new(false));
    let address = publisher(limited.clone()).await;
    let mut installation = configured(address);
    let shown = installation.ok(&["rates", "test", "market"]);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for part in ["/latest", "USD/AED", "3.6725", "3.675", "AED/PKR", "quoted"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let tested = installation.json(&["rates", "test", "1"]).remove(0);
    assert_eq!(tested["form"], "coins");
    let quoted = |pair: &str| {
        let all = tested["quotes"].as_array().expect("quotes");
        all.iter().find(|quoted| quoted["pair"] == pair).cloned().expect("a pair")
    };
    // Dollars are bought at the ask and sold at the bid: 278 / 3.675.
    assert_eq!(quoted("AED/PKR")["rate"], "75.646258503401");
    assert_eq!(quoted("USDT/PKR")["state"], "quoted");
    let unknown = installation.run(&["rates", "test", "markt"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("(market: http://"), "{unknown:?}");
    let alone = installation.json(&["rates", "test", "2"]).remove(0);
    assert_eq!(alone["rates"][0]["pair"], "USD/PKR");
    assert_eq!(alone["quotes"], json!([]));

    limited.store(true, Ordering::Relaxed);
    let refused = installation.run(&["rates", "test", "market"]);
    let text = refused.stderr.replace('\n', " ");
    assert!(text.contains("the source reports an error: 104, limit of *** reached"), "{text}");
    installation.set("CORRIDOR_OUTBOUND__MARKET__HEADER_VALUE", "canary7f3a-wrong");
    let wrong = installation.run(&["rates", "test", "market"]);
    assert!(wrong.code != 0 && wrong.stderr.contains("401"), "{wrong:?}");
    for done in [&refused, &wrong] {
        assert_ne!(done.code, 0);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(!all.contains("canary") && all.lines().all(|line| line.len() <= 80), "{all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_quotes_from_its_first_source_and_names_the_one_that_differs() {
    let limited = Arc::new(AtomicBool::new(false));
    let address = publisher(limited.clone()).await;
    let installation = configured(address);
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let quote = ["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"];
    let quoted = installation.json(&quote).remove(0);
    assert_eq!(quoted["wallet_rate"], json!(278), "the bid: {quoted}");
    let alerts = || installation.json(&["review", "alerts", "--tenant", "demobank"]);
    let of_rates = |alerts: &[Value], part: &str| {
        let what = |alert: &Value| alert["what"].as_str().is_some_and(|what| what.contains(part));
        alerts.iter().any(|alert| alert["kind"] == "rate_source" && what(alert))
    };
    let found =
        |part: &str| wait::until_every(LOOK_EVERY, wait::AT_MOST, || of_rates(&alerts(), part));
    assert!(found("rate sources market and") && found("about USD/PKR"), "{:?}", alerts());
    limited.store(true, Ordering::Relaxed);
    assert!(found("rate source market: its document cannot be used"), "{:?}", alerts());
    let still = installation.json(&quote).remove(0);
    assert_eq!(still["wallet_rate"], json!(278), "its last rates stay: {still}");
    let said = format!("{:?}{}", alerts(), sandbox.process.log());
    assert!(!said.contains("canary"), "{said}");
}
