//! Tiny runs of `corridor bench …`: their output, and that their own checks pass. Figures are not
//! checked.

use std::collections::BTreeSet;

use serde_json::Value;

use super::api::{Api, sequence};
use super::harness::Installation;
use super::rig::PUBLIC_URL;

fn bench(args: &[&str]) -> Value {
    Installation::new().json(&[&["bench"], args].concat()).remove(0)
}

fn assert_members(report: &Value, members: &[(&str, Value)]) {
    for (name, expected) in members {
        assert_eq!(&report[name], expected, "{name} of {report}");
    }
}

fn assert_above_zero(report: &Value, names: &[&str]) {
    for name in names {
        // Numbers are compared as text: none of them is a float here.
        let written = report[name].to_string();
        assert!(written.chars().any(|c| ('1'..='9').contains(&c)), "{name} of {report}");
    }
}

#[test]
fn payments_are_measured_and_checked() {
    let report = bench(&[
        "payments",
        "--clients",
        "2",
        "--seconds",
        "3",
        "--warmup",
        "0",
        "--country",
        "PAK",
    ]);
    let whole = [
        ("bench", "payments".into()),
        ("answers_agree", true.into()),
        ("ledger_balances", true.into()),
    ];
    assert_members(&report, &whole);
    assert_above_zero(&report, &["payments_per_s", "p50_ms", "pairs"]);
}

/// Whether a rate holds for a second depends on the machine: a run without one says so and fails.
#[test]
fn the_rate_that_holds_is_found_and_checked() {
    let size = ["--clients", "2", "--seconds", "1", "--trial", "1", "--warmup", "0"];
    let args = [&["bench", "sustained", "--output", "json"][..], &size].concat();
    let done = Installation::new().run(&args);
    let report: Value = serde_json::from_str(&done.stdout).expect("a report");
    let whole = [
        ("bench", "sustained".into()),
        ("answers_agree", true.into()),
        ("ledger_balances", true.into()),
    ];
    assert_members(&report, &whole);
    assert_above_zero(&report, &["commit_p50_ms"]);
    let found = ["sustained_per_s", "half_per_s", "quote_p99_ms", "payment_p99_ms"];
    if report["sustained_per_s"].is_null() {
        assert_members(&report, &found.map(|name| (name, Value::Null)));
        assert_eq!(done.code, 1, "{}", done.stderr);
        assert!(done.stderr.contains("no rate held for the whole time"), "{}", done.stderr);
    } else {
        assert_above_zero(&report, &found);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
}

#[test]
fn latencies_are_measured_and_checked() {
    let report =
        bench(&["latency", "--clients", "2", "--seconds", "3", "--rates", "5,20", "--warmup", "0"]);
    let whole = [
        ("bench", "latency".into()),
        ("answers_agree", true.into()),
        ("ledger_balances", true.into()),
    ];
    assert_members(&report, &whole);
    assert_above_zero(&report, &["commit_p50_ms"]);
    for (at, rate) in [5, 20].into_iter().enumerate() {
        let found = &report["rates"][at];
        assert_members(found, &[("pairs_per_s", rate.into()), ("errors", 0.into())]);
        assert_above_zero(found, &["accepted", "quote_p99_ms", "payment_p99_ms", "waits_commits"]);
    }
}

#[test]
fn reads_are_measured_and_checked() {
    let report = bench(&["reads", "--clients", "2", "--seconds", "1", "--preload", "60"]);
    let whole = [
        ("bench", "reads".into()),
        ("answers_agree", true.into()),
        ("ledger_balances", true.into()),
    ];
    assert_members(&report, &whole);
    for read in ["by_id", "by_external_id", "newest", "of_state", "deep", "search"] {
        assert_above_zero(&report["reads"][read], &["per_s", "p50_ms", "p99_ms"]);
        assert_eq!(report["reads"][read]["errors"], 0, "{read}");
    }
}

/// The benchmark reads samples of the copies over HTTP, by both ids and in lists, and compares them with
/// their rows. Afterwards every payment is listed, the log has no gap, the books are right, and a payment
/// is made beside them.
#[tokio::test(flavor = "multi_thread")]
async fn copies_are_as_good_as_payments_that_were_made() {
    let cluster = testkit::postgres::for_tests("a multiplied preload").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let url = cluster.database("multiplied").expect("a database");
    let text = format!(
        "environment = \"mock\"\n[http]\nlisten = \"127.0.0.1:0\"\npublic_url = \"{PUBLIC_URL}\"\n[telemetry]\nlog_format = \"json\"\n"
    );
    let mut installation = Installation::configured(&text);
    installation.set("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", "Q".repeat(42) + "E=");
    let size = ["--preload", "3300", "--preload-made", "300", "--country", "PAK"];
    let run = ["--clients", "4", "--seconds", "1", "--drain", "300", "--database-url", &url];
    let args = [&["bench", "reads"][..], &size, &run].concat();
    let report = installation.json(&args).remove(0);
    let agree = ["answers_agree", "ledger_balances"].map(|name| (name, true.into()));
    assert_members(&report, &agree);
    assert_members(&report, &[("stored", 3_300.into())]);
    for read in ["by_id", "by_external_id", "newest", "of_state", "deep", "search"] {
        assert_eq!(report["reads"][read]["errors"], 0, "{read}");
    }
    installation.set("CORRIDOR_STORE__URL", url.as_str());
    let doctor = installation.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}{}", doctor.stdout, doctor.stderr);
    let tenants = installation.json(&["tenants", "list"]);
    let tag = tenants[0]["tag"].as_str().expect("a tag");
    let keys = installation.json(&["keys", "create", "--tenant", tag]).remove(0);
    let node = installation.serve("node", &[]);
    let api = Api::of(PUBLIC_URL, &keys, "");
    let quote = r#"{"country":"PAK","currency":"AED","amount":100}"#;
    let quote = api.post(&node.address, "/v2/quote", quote, None).await.done();
    let quote: Value = serde_json::from_str(&quote).expect("a quote");
    let order = super::load::order(domain::country::Country::Pak, &quote, "after", "1001", "x");
    api.post(&node.address, "/v2/payment", &order, None).await.done();
    let listed = api.payments(&node.address, "PAK").await;
    let ids: BTreeSet<&str> = listed.iter().map(|record| &*record.id).collect();
    assert_eq!((listed.len(), ids.len()), (3_301, 3_301));
    let events = api.all_events(&node.address).await;
    let gaps = events.windows(2).filter(|two| sequence(&two[0]) + 1 != sequence(&two[1])).count();
    assert_eq!((sequence(&events[0]), gaps), (1, 0));
    assert!(events.len() > 5 * 3_300, "{} events", events.len());
    let verified = installation.ok(&["ledger", "verify"]);
    assert!(!verified.contains("WRONG"), "{verified}");
}

#[test]
fn deposits_are_measured_and_checked() {
    let report = bench(&["deposits", "--count", "12", "--per-block", "5", "--block-ms", "40"]);
    let yes =
        ["completed_once", "ledger_is_chain", "ledger_balances"].map(|name| (name, true.into()));
    assert_members(&report, &yes);
    let counts = [("deposits", 12), ("blocks", 3), ("credited", 12), ("completed", 12)];
    assert_members(&report, &counts.map(|(name, count)| (name, count.into())));
    assert_above_zero(
        &report,
        &["deposits_per_s", "credited_per_s", "completed_p50_ms", "completed_p99_ms", "batch_p50"],
    );
}

#[test]
fn webhooks_are_measured_and_checked() {
    let report = bench(&["webhooks", "--count", "10"]);
    let counts = [("payment_requests", 4), ("deliveries", 12), ("events", 12), ("received", 12)];
    assert_members(&report, &counts.map(|(name, count)| (name, count.into())));
    let none =
        ["repeated", "out_of_order", "not_genuine", "undelivered"].map(|name| (name, 0.into()));
    assert_members(&report, &none);
    assert_members(&report, &[("all_delivered", true.into())]);
    assert_above_zero(&report, &["deliveries_per_s", "plain_per_s", "ratio"]);
}

#[test]
fn the_configured_database_is_left_alone() {
    let mut installation = Installation::new();
    let [file, database] = ["store-url", "used.db"].map(|name| installation.path().join(name));
    std::fs::write(&file, format!("sqlite:{}", database.display())).expect("written");
    installation.set("CORRIDOR_STORE__URL_FILE", file.display().to_string());
    let report = installation
        .json(&["bench", "payments", "--clients", "2", "--seconds", "1", "--warmup", "0"])
        .remove(0);
    assert_members(&report, &[("store", "sqlite".into()), ("answers_agree", true.into())]);
    assert!(!database.exists());
}

#[test]
fn a_database_that_is_not_empty_is_left_alone() {
    let installation = Installation::new();
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "demobank", "--name", "Demo Bank"]);
    let url = format!("sqlite:{}", installation.path().join("corridor.db").display());
    for bench in ["payments", "sustained", "deposits", "webhooks"] {
        let done = installation.run(&["bench", bench, "--database-url", &url]);
        assert_eq!(done.code, 3, "{bench}: {}{}", done.stdout, done.stderr);
    }
    let tenants = installation.json(&["tenants", "list"]);
    assert_eq!((tenants.len(), &tenants[0]["tag"]), (1, &"demobank".into()));
}
