//! `corridor certify rail`: the sample connector passes, a careless one fails by name.

use axum::Router;
use axum::response::Json;
use domain::country::Country;
use domain::order::example;
use serde_json::{Value, json};
use testkit::json_bank::HOLDER;
use testkit::wait;

use crate::harness::connector::{CALLBACK_SECRET, CONNECTOR_TOKEN, SampleConnector};
use crate::harness::runtime;
use crate::process::harness::{Installation, READY_AT_MOST};

const RAIL: &str = "pak-raast";

/// An installation with the secrets of the sample connector in files.
fn installation() -> Installation {
    let installation = Installation::new();
    for (name, text) in [("token", CONNECTOR_TOKEN), ("secret", CALLBACK_SECRET)] {
        std::fs::write(installation.path().join(name), format!("{text}\n")).expect("written");
    }
    installation
}

fn results(document: &str) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let checks = document["checks"].as_array().expect("checks").iter();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    checks.map(|check| (text(&check["name"]), text(&check["result"]))).collect()
}

#[test]
fn the_sample_connector_is_certified() {
    let connector = runtime().block_on(SampleConnector::start(RAIL));
    let installation = installation();
    let file = |name: &str| installation.path().join(name).display().to_string();
    let unknown = example::account_ending(Country::Pak, "0000");
    let (url, token, secret, junit) =
        (connector.url(), file("token"), file("secret"), file("certify.xml"));
    let args = [
        &["certify", "rail", &url, "--token-file", &token, "--rail", RAIL, "--holder", HOLDER][..],
        &["--unknown-account", &unknown, "--listen", "127.0.0.1:0"],
        &["--callback-secret-file", &secret, "--junit", &junit, "--output", "json"],
    ];
    let mut process = installation.start("certify", &args.concat(), &[]);
    let mut inbox = None;
    wait::until(READY_AT_MOST, || {
        let log = process.log();
        let begun = log.split("http://").nth(1).and_then(|rest| rest.split_once("/rails/"));
        inbox = begun.map(|(address, _)| format!("http://{address}"));
        inbox.is_some() || process.ended().is_some()
    });
    connector.doorway.leads_to(&inbox.unwrap_or_else(|| panic!("{}", process.log_tail())));
    let status = process.wait_for_end();
    let found = results(&process.out());
    let failed: Vec<_> = found.iter().filter(|(_, result)| result != "ok").collect();
    assert!(status.success() && failed.is_empty(), "{}{}", process.out(), process.log_tail());
    assert_eq!(found.len(), 17, "{found:?}");
    let report = std::fs::read_to_string(&junit).expect("a report");
    assert!(report.contains("failures=\"0\"") && report.contains("callback.repeated"), "{report}");
    // One transfer for the good payment, one for the five at once, none for the unknown account.
    assert_eq!(connector.bank.transfers().len(), 2);
    let wrong = [&args[0][..3], &["--token", "wrong", "--wait", "1"]].concat();
    let refused = installation.run(&wrong);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(
        refused.stdout.contains("health") && refused.stdout.contains("401"),
        "{}",
        refused.stdout
    );
}

/// Answers everything with one status, to anyone.
async fn careless() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = || async { Json(json!({ "status": "paid" })) };
    let router = Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[test]
fn a_careless_connector_fails_by_name() {
    let url = runtime().block_on(careless());
    let installation = installation();
    let done = installation.run(&[
        "certify",
        "rail",
        &url,
        "--token",
        "any",
        "--unknown-account",
        "PK61SCBL0000001123450000",
        "--wait",
        "1",
        "--output",
        "json",
    ]);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    let found = results(&done.stdout);
    let of = |wanted: &str| -> Vec<&str> {
        let some = found.iter().filter(|(_, result)| result == wanted);
        some.map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(
        of("failed"),
        [
            "auth.missing",
            "auth.wrong",
            "inquiry.unknown",
            "payment.unknown_account",
            "account.known",
            "account.unknown",
        ]
    );
    assert_eq!(of("warning"), ["recall"]);
    let absent = installation.run(&["certify", "rail", "http://127.0.0.1:1"]);
    assert_eq!(absent.code, 1, "{}", absent.stdout);
}
