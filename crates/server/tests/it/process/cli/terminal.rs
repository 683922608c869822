//! What a user sees in a terminal of 80 columns: tables, stories, short ids, hints.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use testkit::wait;

use super::super::harness::{Installation, READY_AT_MOST, finish};
use super::super::sandbox::Sandbox;

const COLUMNS: usize = 80;

/// A sandbox with its sample history, on which every kind of object was created.
fn lived_in() -> (Installation, Sandbox) {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &[]);
    for scenario in
        ["transfer.complete", "risk_check.manual_review", "exchange.complete", "payment.updated"]
    {
        installation.ok(&["trigger", scenario]);
    }
    installation.ok(&["trigger", "payment.unknown"]);
    (installation, sandbox)
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

fn assert_fits(what: &str, shown: &str) {
    for line in shown.lines() {
        assert!(line.chars().count() <= COLUMNS, "{what}: {line}");
        assert!(!line.contains('\x1b'), "{what} is coloured without a terminal: {line:?}");
    }
}

#[test]
fn every_table_fits_80_columns_and_names_a_next_step_where_it_is_empty() {
    let (installation, _sandbox) = lived_in();
    let lists: [&[&str]; 23] = [
        &["payments", "list"],
        &["payments", "list", "--country", "PAK", "--limit", "1000"],
        &["payments", "get", "last"],
        &["requests", "list"],
        &["tx", "list"],
        &["orders", "list"],
        &["rate", "--amount", "10"],
        &["wallets", "get"],
        &["events", "list"],
        &["events", "list", "--service", "payment"],
        &["review", "list"],
        &["review", "deposits", "list"],
        &["review", "order", "list"],
        &["review", "alerts"],
        &["review", "discrepancies"],
        &["review", "coin", "show"],
        &["ledger", "trial-balance"],
        &["ledger", "sweeps"],
        &["audit", "search"],
        &["tenants", "list"],
        &["keys", "list"],
        &["users", "list"],
        &["trigger", "--list"],
    ];
    installation.ok(&["pay", "500", "AED", "--to", "PAK", "--watch"]);
    for list in lists {
        let done = installation.run(list);
        assert_eq!(done.code, 0, "{list:?}: {}", done.stderr);
        assert_fits(&list.join(" "), &done.stdout);
        assert!(!done.stdout.is_empty() || !done.stderr.is_empty(), "{list:?} shows nothing");
    }
    for list in [["payments", "list"], ["requests", "list"], ["orders", "list"], ["keys", "list"]] {
        let narrow = finish(installation.command(&list).env("COLUMNS", "60"));
        let fits = narrow.stdout.lines().all(|line| line.chars().count() <= 60);
        assert!(fits && narrow.code == 0, "{list:?}: {}", narrow.stdout);
    }
    let policy = installation.ok(&["tenants", "policy", "get", "demobank"]);
    assert_fits("tenants policy get", &policy);
    // Wider terminals show more.
    let list = ["payments", "list", "--limit", "3"];
    let wider = finish(installation.command(&list).env("COLUMNS", "140"));
    assert!(wider.stdout.contains("BANK REFERENCE"), "{}", wider.stdout);
    let narrow = installation.ok(&list);
    assert!(!narrow.contains("BANK REFERENCE") && narrow.contains("BENEFICIARY GETS"), "{narrow}");
}

#[test]
fn wide_tables_are_complete_and_columns_are_chosen() {
    let (installation, _sandbox) = lived_in();
    let list = installation.json(&["payments", "list", "--limit", "5"]);
    let newest = text(&list[0], "id");
    let wide = installation.ok(&["payments", "list", "--limit", "5", "--wide"]);
    assert!(
        wide.contains(&newest) && wide.contains(&text(&list[0]["order"], "timestamp")),
        "{wide}"
    );
    let chosen = installation.ok(&["payments", "list", "--limit", "5", "--columns", "id,state"]);
    let mut lines = chosen.lines();
    assert!(lines.next().is_some_and(|head| head.starts_with("ID  ")), "{chosen}");
    assert!(lines.next().is_some_and(|row| row.starts_with(&newest[..8])), "{chosen}");
    let unknown = installation.run(&["payments", "list", "--columns", "colour"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("beneficiary gets"), "{}", unknown.stderr);
    let json = installation.run(&["payments", "list", "--columns", "id", "--output", "json"]);
    assert_eq!((json.code, json.stdout.as_str()), (2, ""), "JSON is always complete");
}

#[test]
fn six_characters_of_an_id_are_enough() {
    let (installation, sandbox) = lived_in();
    let start = |id: &str| id[..8].to_owned();
    let list = installation.json(&["payments", "list"]);
    let payment = text(&list[3], "id");
    let found = installation.json(&["payments", "get", &start(&payment)]).remove(0);
    assert_eq!(text(&found, "id"), payment);
    let unknown = installation.run(&["payments", "get", "ffffffff"]);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    let newest = start(&text(&list[0], "id"));
    assert!(unknown.stderr.contains(&newest), "the newest are named: {}", unknown.stderr);

    let unknown = ["payments", "get", "00000000-0000-4000-8000-000000000000", "--to", "PAK"];
    let unknown = installation.run(&unknown);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("No payment with this id to PAK"), "{}", unknown.stderr);

    let wallet = sandbox.text("wallet_id");
    let shown = installation.json(&["wallets", "get", &start(wallet)]).remove(0);
    assert_eq!(text(&shown, "wallet_id"), wallet);
    for (list, get, id) in [
        ("requests", "get", "payment_request_id"),
        ("tx", "get", "transaction_id"),
        ("orders", "get", "order_id"),
    ] {
        let listed = installation.json(&[list, "list"]).remove(0);
        let whole = text(&listed, id);
        let found = installation.json(&[list, get, &start(&whole)]).remove(0);
        assert_eq!(text(&found, id), whole, "{list}");
    }
    let waiting = installation.json(&["review", "deposits", "list"]).remove(0);
    assert!(waiting["score"].is_u64() && waiting["evidence"].is_array(), "{waiting}");
    let deposit = start(&text(&waiting, "transaction_id"));
    let seen = waiting["seen"].to_string();
    let person = ["--by", "ayesha", "--why", "invoice seen", &deposit];
    let approve = ["review", "deposits", "approve", "--seen"];
    let earlier = installation.run(&[&approve[..], &["0"], &person].concat());
    assert!(earlier.stderr.contains("it has changed since it was reviewed"), "{earlier:?}");
    let decided = installation.json(&[&approve[..], &[seen.as_str()], &person].concat());
    assert_eq!(text(&decided[0], "transaction_id"), text(&waiting, "transaction_id"));
    let again = installation.run(&[&approve[..], &[seen.as_str()], &person].concat());
    assert!(again.stderr.contains("already approved by ayesha at 2"), "{again:?}");
    let held = installation.json(&["review", "list"]);
    let held = held.iter().find(|it| it["question"] == "held by screening").expect("a payment");
    let payment = start(&text(held, "payment_id"));
    installation.ok(&["review", "reject", "--by", "ayesha", "--why", "same person", &payment]);
}

#[test]
fn events_are_a_story_and_json_is_complete() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let mut tail = installation.start("tail", &["events", "tail"], &[]);
    installation.ok(&["trigger", "payment.succeeded"]);
    // The tail may have started after the first events; the deposit's come later.
    let shown = installation.ok(&["trigger", "transfer.complete"]);
    for part in [
        "Scenario transfer.complete: ",
        "wallet ",
        "payment request ",
        "25.00 USDC in the wallet",
        "In the console: http",
    ] {
        assert!(shown.contains(part), "{part:?}: {shown}");
    }
    assert_fits("trigger", &shown);
    assert!(
        wait::until(READY_AT_MOST, || tail.out().contains("25.00 USDC in the wallet")),
        "{}{}",
        tail.out(),
        tail.log_tail()
    );
    tail.kill();
    assert_fits("events tail", &tail.out());

    // The demo wallet was funded by two deposits, with three events each.
    let story = installation.ok(&["events", "tail", "--since", "1h", "--count", "11"]);
    for part in ["500.00 AED → ", " PKR to Bilal S. in ", "payment.succeeded"] {
        assert!(story.contains(part), "{part:?}: {story}");
    }
    assert_fits("events tail --since", &story);
    let of_payments = installation.json(&["events", "tail", "--since", "1h", "--count", "5"]);
    let log = installation.json(&["events", "tail", "--after", "0", "--count", "5"]);
    assert_eq!(of_payments, log, "JSON lines are those of the log");
}

#[test]
fn the_past_of_a_tail_is_at_most_200_lines() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &[]);
    let mut tail = installation.start("tail", &["events", "tail", "--since", "40d"], &[]);
    let lines = || tail.out().lines().count();
    assert!(wait::until(READY_AT_MOST, || lines() >= 200), "{}", tail.log_tail());
    assert!(tail.log().contains("Only the last 200"), "{}", tail.log_tail());
    assert_fits("events tail --since", &tail.out());
    let first = installation.ok(&["events", "tail", "--since", "40d", "--count", "200"]);
    assert_eq!(first.lines().count(), 200);
    tail.kill();
}

#[test]
fn a_payment_is_quoted_and_paid_at_once_and_a_used_quote_names_the_next_step() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let paid = installation.ok(&["pay", "500", "AED", "--to", "PAK", "--watch"]);
    for part in ["500.00 AED → ", "queued", "processing", "succeeded", "bank reference "] {
        assert!(paid.contains(part), "{part:?}: {paid}");
    }
    let again = installation.run(&["pay"]);
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(
        again.stderr.contains("quote_used")
            && again.stderr.contains("corridor quote 500 AED --to PAK"),
        "{}",
        again.stderr
    );
    installation.ok(&["quote", "500", "AED", "--to", "PAK"]);
    installation.ok(&["pay"]);
    let empty = Installation::new();
    let _other = Sandbox::start(&empty, &["--no-demo-data"]);
    let none = empty.run(&["payments", "list"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("corridor pay 500 AED --to PAK"), "{}", none.stderr);
}

#[test]
fn pages_are_opened_and_the_status_is_shown() {
    let installation = Installation::new();
    assert_eq!(installation.run(&["open"]).code, 2);
    let nothing = installation.run(&["status", "--url", "http://127.0.0.1:1"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (3, ""), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("corridor sandbox"), "{}", nothing.stderr);

    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let opened = installation.path().join("opened");
    let browser = installation.path().join("browser");
    let script = format!("#!/bin/sh\necho \"$1\" >> '{}'\n", opened.display());
    std::fs::write(&browser, script).expect("written");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).expect("a script");
    for (page, url) in [
        ("start", format!("{}/", sandbox.text("base_url"))),
        ("console", sandbox.text("console_url").to_owned()),
        ("docs", sandbox.text("docs_url").to_owned()),
        ("pay", sandbox.text("pay_url").to_owned()),
    ] {
        let done = finish(installation.command(&["open", page]).env("BROWSER", &browser));
        assert_eq!((done.code, done.stdout.trim()), (0, url.as_str()), "{}", done.stderr);
        let is_opened =
            || std::fs::read_to_string(&opened).unwrap_or_default().lines().any(|line| line == url);
        assert!(wait::until(READY_AT_MOST, is_opened), "{page}");
    }
    let alone = finish(installation.command(&["open", "docs"]).env("BROWSER", "/no/such/browser"));
    assert_eq!(alone.code, 0);
    assert!(alone.stderr.contains("open the address yourself"), "{}", alone.stderr);

    installation.ok(&["clock", "advance", "25h"]);
    let status = installation.ok(&["status"]);
    for part in [sandbox.text("base_url"), "ready", "store ok", "25 h ahead"] {
        assert!(status.contains(part), "{part:?}: {status}");
    }
    assert_eq!(installation.json(&["status"])[0]["ready"], true);
    // What a command books has the service's time.
    let top_up = ["tenants", "top-up", "--coin", "USDT", "--amount", "1", "--reference", "later"];
    let booked = installation.json(&top_up).remove(0);
    let at: jiff::Timestamp = text(&booked, "booked_at").parse().expect("a time");
    assert!(at > jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24), "{booked}");
}

#[test]
fn where_one_tenant_exists_it_need_not_be_named() {
    let installation = Installation::configured("environment = \"test\"\n[store]\n");
    installation.ok(&["migrate"]);
    let none = installation.run(&["keys", "list"]);
    assert_eq!((none.code, none.stderr.contains("tenants create")), (2, true), "{}", none.stderr);
    installation.ok(&["tenants", "create", "--tag", "one", "--name", "One"]);
    installation.ok(&["keys", "create"]);
    assert_eq!(installation.json(&["keys", "list"]).len(), 1);
    installation.ok(&["tenants", "create", "--tag", "two", "--name", "Two"]);
    let several = installation.run(&["keys", "list"]);
    assert_eq!(several.code, 2, "{}", several.stderr);
    assert!(
        several.stderr.contains("--tenant") && several.stderr.contains("one, two"),
        "{}",
        several.stderr
    );
}
