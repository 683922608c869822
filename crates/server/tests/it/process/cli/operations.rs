//! Ledger and reviews, with commands that open the store next to the running service.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::wait;

use super::super::harness::{Installation, READY_AT_MOST};
use super::super::sandbox::Sandbox;

/// A name of the shipped sample list, and a weak alias of it: close enough for a review, not for a
/// rejection.
const LISTED: &str = "Zorblax Quibbleton";
const ALIAS: &str = "Zorb Quib";

fn pay(installation: &Installation, more: &[&str]) -> String {
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    let paid = installation.json(&[&["pay"], more].concat());
    paid[0]["id"].as_str().expect("an id").to_owned()
}

fn waiting(installation: &Installation) -> Vec<String> {
    let rows = installation.json(&["review", "list", "--tenant", "demobank"]);
    rows.iter().map(|row| row["payment_id"].as_str().expect("an id").to_owned()).collect()
}

fn watch(installation: &Installation, id: &str) -> String {
    let done = installation.run(&[
        "payments",
        "watch",
        id,
        "--country",
        "PAK",
        "--timeout",
        "60",
        "--output",
        "json",
    ]);
    let last: Value =
        serde_json::from_str(done.stdout.lines().last().expect("a line")).expect("JSON");
    last["status"].as_str().expect("a status").to_owned()
}

#[test]
fn the_books_sum_to_zero_and_agree_with_themselves() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &[]);
    let id = pay(&installation, &[]);
    assert_eq!(watch(&installation, &id), "succeeded");
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let rows = installation.json(&["ledger", "trial-balance", "--tenant", "demobank"]);
    for row in &rows {
        let minor = |name: &str| row[name].as_i64().expect("minor units");
        *sums.entry(row["currency"].as_str().expect("a currency").to_owned()).or_default() +=
            minor("debits_posted_minor") - minor("credits_posted_minor");
    }
    assert!(sums.len() > 3 && sums.values().all(|sum| *sum == 0), "{sums:?}");
    let verified = installation.ok(&["ledger", "verify"]);
    assert!(!verified.contains("WRONG"), "{verified}");
    let statement =
        ["ledger", "statement", "--tenant", "demobank", "--account", "nostro:pak-raast:PKR"];
    let made = installation.json(&statement).remove(0);
    let lines = made["movements"].as_array().expect("a list");
    assert!(lines.iter().any(|line| line["payment_id"] == id.as_str()), "{id} is not in {lines:?}");
    assert_eq!(installation.run(&["ledger", "trial-balance", "--tenant", "unknown"]).code, 1);
}

#[test]
fn a_name_that_may_be_listed_waits_for_a_person_who_lets_it_go_on_or_not() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let listed = pay(&installation, &["--beneficiary-name", LISTED]);
    assert_eq!(watch(&installation, &listed), "rejected");
    let (good, bad) = (
        pay(&installation, &["--beneficiary-name", ALIAS]),
        pay(&installation, &["--beneficiary-name", ALIAS]),
    );
    let mut held = vec![good.clone(), bad.clone()];
    held.sort();
    let mut found = waiting(&installation);
    found.sort();
    assert_eq!(found, held);
    let record = installation.json(&["payments", "get", &good, "--country", "PAK"]);
    assert_eq!(record[0]["response"]["status"], "queued", "held, without a public reason");
    assert_eq!(record[0]["response"]["msg"], "in review");

    let listed = installation.json(&["review", "list", "--tenant", "demobank"]);
    let seen = listed.iter().find(|it| it["payment_id"] == good.as_str()).expect("it is listed");
    let seen = seen["seen"].to_string();
    let approve = |seen: &str, id: &str| {
        let by = ["--by", "ayesha", "--why", "other birth date"];
        let args = ["review", "approve", "--tenant", "demobank", "--seen", seen];
        installation.run(&[&args[..], &by, &[id]].concat())
    };
    let moved = approve("1", &good);
    assert_eq!(moved.code, 1, "{}", moved.stderr);
    assert!(moved.stderr.contains("has changed since it was reviewed"), "{}", moved.stderr);
    let approved = approve(&seen, &good);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    assert_eq!(watch(&installation, &good), "succeeded");
    let reject = ["review", "reject", "--tenant", "demobank", "--by", "omar", "--why", "same"];
    installation.ok(&[&reject[..], &[&bad]].concat());
    assert_eq!(watch(&installation, &bad), "rejected");
    assert_eq!(waiting(&installation), Vec::<String>::new());
    let twice = approve(&seen, &bad);
    assert_eq!(twice.code, 1, "{}", twice.stderr);
    assert!(twice.stderr.contains("already rejected by omar at 2"), "{}", twice.stderr);
    assert!(twice.stderr.contains("Z (same); it is rejected"), "{}", twice.stderr);
    let never = installation.run(&[&reject[..], &[&pay(&installation, &[])]].concat());
    assert!(never.stderr.contains("no decision is pending; it is"), "{}", never.stderr);
    assert!(!installation.ok(&["ledger", "verify"]).contains("WRONG"));
}

#[test]
fn two_users_resolve_an_unknown_payment() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let id = pay(&installation, &["--account-ending", "0004"]);
    assert_eq!(watch(&installation, &id), "unknown");
    assert_eq!(waiting(&installation), std::slice::from_ref(&id));
    let resolve = |maker: &str, checker: &str| {
        let why = "bank statement of today, line 14";
        let args = [
            "review",
            "resolve",
            "--tenant",
            "demobank",
            "--to",
            "failed",
            "--maker",
            maker,
            "--checker",
            checker,
        ];
        installation.run(&[&args[..], &["--why", why, &id]].concat())
    };
    let alone = resolve("ayesha", "Ayesha ");
    assert_eq!((alone.code, alone.stderr.contains("--checker")), (1, true), "{}", alone.stderr);
    let both = resolve("ayesha", "omar");
    assert_eq!(both.code, 0, "{}", both.stderr);
    assert_eq!(watch(&installation, &id), "failed");
    let again = resolve("ayesha", "omar");
    assert!(again.stderr.contains("already resolved by ayesha and omar at 2"), "{}", again.stderr);
    assert_eq!(waiting(&installation), Vec::<String>::new());
    assert!(!installation.ok(&["ledger", "verify"]).contains("WRONG"));
}

/// Cents for which the controller refuses a release: operators see its reason, customers and banks
/// do not.
#[test]
fn the_controllers_failure_reason_is_shown_to_operators() {
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let request = installation
        .json(&["requests", "create", "--amount", "25.04", "--currency", "USDC"])
        .remove(0);
    installation.ok(&["requests", "pay", request["payment_request_id"].as_str().expect("an id")]);
    let failed = || installation.ok(&["tx", "list", "--output", "json"]).contains("\"FAILED\"");
    assert!(wait::until(READY_AT_MOST, failed), "{}", installation.ok(&["tx", "list"]));
    let alerts = installation.json(&["review", "alerts", "--tenant", "demobank"]);
    let told = |alert: &Value| {
        alert["what"].as_str().is_some_and(|what| what.starts_with("release failed: ON_CHAIN"))
    };
    let alert = alerts.iter().find(|alert| told(alert)).unwrap_or_else(|| panic!("{alerts:?}"));
    let what = alert["what"].as_str().expect("a text");
    let refusal = what.split_once("(rejected by the controller: ").map(|(_, why)| why);
    assert!(refusal.is_some_and(|why| why.ends_with(')') && why.len() > 2), "{what}");
    assert!(installation.ok(&["review", "alerts", "--wide"]).contains(what));
    let listed = installation.ok(&["tx", "list", "--output", "json"]);
    assert!(!listed.contains("controller"), "{listed}");
}
