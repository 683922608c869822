//! Tiny runs of `corridor bench …`: their output, and that their own checks pass. Figures are not
//! checked.

use serde_json::Value;

use super::harness::Installation;

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
