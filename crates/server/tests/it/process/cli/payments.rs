//! Quoting, paying, watching, listing, exporting, following events.

use serde_json::Value;

use super::super::harness::{Finished, Installation};
use super::super::sandbox::Sandbox;

fn running() -> (Installation, Sandbox) {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    (installation, sandbox)
}

fn quoted(installation: &Installation) {
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
}

/// Pays and watches; returns the states printed by `--output json`.
fn watched(installation: &Installation, more: &[&str]) -> (Finished, Vec<Value>) {
    quoted(installation);
    let done = installation.run(&[&["pay", "--watch", "--output", "json"], more].concat());
    let states =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (done, states)
}

fn statuses(states: &[Value]) -> Vec<&str> {
    states.iter().map(|state| state["status"].as_str().expect("a status")).collect()
}

#[test]
fn a_watched_payment_goes_from_queued_over_processing_to_succeeded() {
    let (installation, _sandbox) = running();
    let quote =
        installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    for part in ["500.00 AED", "PKR", "rate", "valid until"] {
        assert!(quote.contains(part), "{part:?} is missing: {quote}");
    }
    let done = installation.run(&["pay", "--watch"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines[0].starts_with("payment "), "{lines:?}");
    for (line, status) in lines[1..].iter().zip(["queued", "processing", "succeeded"]) {
        assert!(line.contains(status), "{lines:?}");
    }
    assert!(lines.len() == 4 && lines[3].contains("bank reference "), "{lines:?}");
    // The same quote again: already used.
    let again = installation.run(&["pay"]);
    assert_eq!((again.code, again.stderr.contains("quote")), (1, true), "{}", again.stderr);

    let (done, states) = watched(&installation, &[]);
    assert_eq!(
        (done.code, statuses(&states)),
        (0, vec!["queued", "processing", "succeeded"]),
        "{}",
        done.stderr
    );
    assert!(states[2]["bank_reference"].is_string(), "{states:?}");
}

#[test]
fn the_sandboxs_endings_follow_the_table() {
    let (installation, _sandbox) = running();
    for (ending, last) in [("0001", "failed"), ("0002", "rejected"), ("0004", "unknown")] {
        let (done, states) = watched(&installation, &["--account-ending", ending]);
        assert_eq!(
            (done.code, statuses(&states).last()),
            (4, Some(&last)),
            "{ending}: {}",
            done.stderr
        );
    }
    let (done, states) = watched(&installation, &["--account-ending", "0003"]);
    assert_eq!((done.code, statuses(&states).last()), (0, Some(&"succeeded")));
    let id = states[0]["id"].as_str().expect("an id");
    let reversed = format!(r#""id":"{id}""#);
    // Its return is an event; the tail ends with it.
    let told = testkit::wait::until(std::time::Duration::from_secs(60), || {
        let record = installation.ok(&["payments", "get", id, "--output", "json"]);
        assert!(record.contains(&reversed), "{record}");
        record.contains(r#""status":"reversed""#)
    });
    assert!(told, "{id} did not come back");
    let (done, states) = watched(&installation, &["--account-ending", "0005", "--timeout", "3"]);
    assert_eq!((done.code, statuses(&states).last()), (4, Some(&"processing")), "{}", done.stderr);
}

#[test]
fn payments_are_found_listed_and_exported_and_no_spreadsheet_runs_them() {
    let (installation, _sandbox) = running();
    let formula = "=HYPERLINK(\"http://x\",\"y\")";
    let (done, states) = watched(&installation, &["--external-id", formula]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let id = states[0]["id"].as_str().expect("an id").to_owned();
    let (done, _) = watched(&installation, &["--account-ending", "0001", "--external-id", "inv-2"]);
    assert_eq!(done.code, 4, "{}", done.stderr);

    let found = installation.json(&["payments", "get", &id]);
    assert_eq!(found[0]["order"]["external_id"], formula);
    assert_eq!(
        installation.json(&["payments", "get", "--external", "inv-2"])[0]["response"]["status"],
        "failed"
    );
    assert!(installation.ok(&["payments", "get", "last"]).contains("inv-2"));
    let succeeded =
        installation.json(&["payments", "list", "--country", "PAK", "--status", "succeeded"]);
    assert_eq!(succeeded.len(), 1, "one line each: {succeeded:?}");
    assert_eq!(succeeded[0]["response"]["status"], "succeeded");
    let searched = [
        "payments",
        "list",
        "--country",
        "PAK",
        "--search-type",
        "external_id",
        "--search",
        "inv-2",
    ];
    assert_eq!(installation.json(&searched)[0]["order"]["external_id"], "inv-2");
    let none = installation.run(&["payments", "get", "00000000-0000-4000-8000-000000000000"]);
    assert_eq!(none.code, 1, "{}", none.stderr);

    let file = installation.path().join("export.csv");
    installation.ok(&[
        "payments",
        "export",
        "--country",
        "PAK",
        "--file",
        file.to_str().expect("UTF-8"),
    ]);
    let mut reader = csv::Reader::from_path(&file).expect("a CSV file");
    let column = reader
        .headers()
        .expect("a head")
        .iter()
        .position(|name| name == "external_id")
        .expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(&rows[0][column], format!("'{formula}"), "the oldest first, and guarded");
    for row in &rows {
        assert!(
            row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])),
            "{row:?}"
        );
    }
    let succeeded =
        installation.json(&["payments", "export", "--country", "PAK", "--status", "succeeded"]);
    assert_eq!(succeeded.len(), 1, "{succeeded:?}");
    assert_eq!(succeeded[0]["id"], Value::String(id.clone()));
    let wrong = installation.run(&["payments", "export", "--status", "paid"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("succeeded"), "{}", wrong.stderr);
    // A failed export keeps the file of an earlier one.
    let before = std::fs::read(&file).expect("the export");
    let mut failing = installation.command(&["payments", "export", "--file"]);
    failing.arg(&file).env("CORRIDOR_BASE_URL", "http://127.0.0.1:1");
    assert_ne!(super::super::harness::finish(&mut failing).code, 0);
    assert_eq!(std::fs::read(&file).expect("the export"), before);
    let exported = installation.json(&["payments", "export", "--country", "PAK"]);
    assert_eq!(exported.iter().map(|record| &record["id"]).next(), Some(&Value::String(id)));
}

#[test]
fn events_are_delivered_in_order_from_any_position() {
    let (installation, _sandbox) = running();
    let (done, _) = watched(&installation, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let all = installation.json(&["events", "tail", "--after", "0", "--count", "5"]);
    let kinds: Vec<&str> =
        all.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(
        all.iter().map(|event| event["seq"].as_i64()).collect::<Vec<_>>(),
        (1..=5).map(Some).collect::<Vec<_>>()
    );
    assert_eq!(kinds[0], "quote.created");
    for (kind, other) in
        [("payment.queued", "payment.processing"), ("payment.processing", "payment.succeeded")]
    {
        let place = |kind: &str| kinds.iter().position(|found| *found == kind);
        assert!(place(kind).is_some() && place(kind) < place(other), "{kinds:?}");
    }
    let rest = installation.json(&["events", "tail", "--after", "3", "--count", "2"]);
    assert_eq!(rest, all[3..]);
}

#[test]
fn an_account_is_checked_at_its_bank() {
    let (installation, _sandbox) = running();
    let check = |account: &str| {
        let args = ["accounts", "check", "--to", "PAK", "--branch", "SCBLPKKX"];
        installation.run(&[&args[..], &["--name", "Ali Raza", "--account", account]].concat())
    };
    let account = |ending: &str| {
        domain::order::example::account_ending(domain::country::Country::Pak, ending)
    };
    for (ending, code, part) in
        [("6702", 0, "match"), ("0022", 0, "A*** R***"), ("0001", 1, "closed")]
    {
        let done = check(&account(ending));
        assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(part), "{}", done.stdout);
    }
    let wrong = check("PK00SCBL0000001123456702");
    assert_eq!(wrong.code, 1, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("beneficiary_account_number"), "{}", wrong.stderr);
}

/// Pays to an account of the sandbox with this ending and waits for the end.
fn paid(installation: &Installation, ending: &str) -> String {
    let (done, states) = watched(installation, &["--account-ending", ending]);
    assert_eq!(statuses(&states).last(), Some(&"succeeded"), "{}", done.stderr);
    states[0]["id"].as_str().expect("an id").to_owned()
}

fn payment(installation: &Installation, id: &str) -> Value {
    let record = installation.json(&["payments", "get", id, "--country", "PAK"]).remove(0);
    record["response"].clone()
}

#[test]
fn a_payment_that_no_bank_has_is_cancelled_and_no_other() {
    let (installation, _sandbox) = running();
    quoted(&installation);
    // A near match of the sample list: it waits for a review.
    let waiting = installation.json(&["pay", "--beneficiary-name", "Zorb Quib"]).remove(0);
    let id = waiting["id"].as_str().expect("an id");
    let cancel = ["payments", "cancel", id, "--reason", "ordered twice", "--country", "PAK"];
    let cancelled = installation.ok(&cancel);
    assert!(cancelled.contains("reversed"), "{cancelled}");
    assert_eq!(payment(&installation, id)["status"], "reversed");
    assert_eq!(payment(&installation, id)["msg"], "cancelled before it was sent");
    // Repeating it changes nothing.
    assert_eq!(installation.ok(&cancel), cancelled);
    let paid = paid(&installation, "6702");
    let refused = installation.run(&["payments", "cancel", &paid, "--country", "PAK"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(refused.stderr.contains("payment_not_cancellable"), "{}", refused.stderr);
    assert_eq!(payment(&installation, &paid)["status"], "succeeded");
    let verified = installation.ok(&["ledger", "verify"]);
    assert!(!verified.contains("WRONG"), "{verified}");
}

#[test]
fn a_recall_is_requested_and_the_banks_answer_is_listed() {
    let (installation, _sandbox) = running();
    let id = paid(&installation, "0013");
    let none = installation.run(&["payments", "recalls", &id, "--country", "PAK"]);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert!(format!("{}{}", none.stdout, none.stderr).contains("No recalls."));
    let text = "the payer was deceived";
    let recall = |more: &[&str]| {
        installation.run(&[&["payments", "recall", &id, "--country", "PAK"], more].concat())
    };
    let unknown = recall(&["--reason", "NONE"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("CUST, DUPL, FRAD"), "{}", unknown.stderr);
    // Codes are taken in either case.
    let asked = recall(&["--reason", "frad", "--text", text]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    for part in [&id[..8], "requested", "FRAD", text] {
        assert!(asked.stdout.contains(part), "{part}: {}", asked.stdout);
    }
    let listed = || installation.json(&["payments", "recalls", &id, "--country", "PAK"]);
    let newest = || listed()[0].clone();
    let refused = testkit::wait::until(testkit::wait::AT_MOST, || newest()["status"] == "refused");
    assert!(refused, "{:?}", listed());
    assert_eq!((&newest()["bank_reason"], &newest()["text"]), (&"LEGL".into(), &text.into()));
    let table = installation.ok(&["payments", "recalls", &id, "--country", "PAK"]);
    assert!(table.contains("refused") && table.contains("LEGL"), "{table}");
    assert_eq!(payment(&installation, &id)["status"], "succeeded", "it stays paid");
    // The money of another one comes back.
    let returned = paid(&installation, "0011");
    let asked = installation.ok(&["payments", "recall", &returned, "--reason", "DUPL"]);
    assert!(asked.contains("DUPL"), "{asked}");
    let is_back = || payment(&installation, &returned)["status"] == "reversed";
    assert!(
        testkit::wait::until(testkit::wait::AT_MOST, is_back),
        "{}",
        payment(&installation, &returned)
    );
    let verified = installation.ok(&["ledger", "verify"]);
    assert!(!verified.contains("WRONG"), "{verified}");
}
