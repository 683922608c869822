//! `corridor sandbox` for users and scripts: its output, persistence and shutdown.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;
use testkit::wait;

use super::harness::{Installation, Process, READY_AT_MOST, finish};
use super::random::Random;
use super::{faults, seed};

/// The members of `--output json`, which scripts rely on.
const MEMBERS: [&str; 17] = [
    "chain_id",
    "base_url",
    "wallet_base_url",
    "console_url",
    "docs_url",
    "pay_url",
    "chain_rpc_url",
    "payment_access_key",
    "payment_secret_key",
    "wallet_access_key",
    "wallet_secret_key",
    "wallet_token",
    "webhook_secret",
    "wallet_id",
    "tokens",
    "data_dir",
    "pid",
];
/// Members that persist across starts.
const STABLE: [&str; 5] = [
    "data_dir",
    "payment_access_key",
    "payment_secret_key",
    "wallet_access_key",
    "wallet_secret_key",
];

pub struct Sandbox {
    pub process: Process,
    pub printed: Value,
}

impl Sandbox {
    /// Starts it and waits for its output.
    pub fn start(installation: &Installation, more: &[&str]) -> Sandbox {
        let args = [&["sandbox", "--port", "0", "--output", "json"], more].concat();
        let mut process = installation.start("sandbox", &args, &[]);
        let ready = wait::until(READY_AT_MOST, || {
            process.out().ends_with('\n') || process.ended().is_some()
        });
        assert!(
            ready && process.ended().is_none(),
            "the sandbox did not start: {}",
            process.log_tail()
        );
        let printed = serde_json::from_str(&process.out())
            .expect("one JSON value on stdout and nothing else");
        Sandbox { process, printed }
    }

    /// A text member of the output.
    pub fn text(&self, name: &str) -> &str {
        self.printed[name].as_str().expect("a text")
    }
}

#[test]
fn it_prints_its_addresses_and_keys_and_keeps_them_from_start_to_start() {
    let installation = Installation::new();
    let file = installation.path().join("sandbox.json");
    let mut first = Sandbox::start(&installation, &[]);
    let members: BTreeSet<&str> =
        first.printed.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(members, BTreeSet::from(MEMBERS));
    assert_eq!(first.printed["pid"], first.process.id());
    assert_eq!(Path::new(first.text("data_dir")), installation.path());
    assert_eq!(first.text("docs_url"), format!("{}/docs", first.text("base_url")));
    let kept: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("sandbox.json")).expect("JSON");
    assert_eq!(kept, first.printed);
    assert_eq!(mode_of(&file), 0o600, "sandbox.json holds secrets");
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    installation.ok(&["pay", "--watch", "--external-id", "kept-1"]);
    let listed = installation.ok(&[
        "payments",
        "list",
        "--country",
        "PAK",
        "--output",
        "json",
        "--limit",
        "1000",
    ]);

    first.process.stop();
    assert!(!file.exists(), "sandbox.json is gone with the sandbox");
    let nobody = installation.run(&["env"]);
    assert_eq!(nobody.code, 2, "{}", nobody.stderr);

    let mut second = Sandbox::start(&installation, &[]);
    for name in STABLE {
        assert_eq!(second.printed[name], first.printed[name], "{name}");
    }
    assert_eq!(
        installation.ok(&[
            "payments",
            "list",
            "--country",
            "PAK",
            "--output",
            "json",
            "--limit",
            "1000"
        ]),
        listed
    );
    second.process.kill();
    // A killed sandbox leaves sandbox.json behind, which must not prevent the next start.
    assert!(file.exists());
    let mut third = Sandbox::start(&installation, &[]);
    assert_eq!(third.printed["payment_secret_key"], first.printed["payment_secret_key"]);
    let record = installation.json(&["payments", "get", "--external", "kept-1"]);
    assert_eq!(record[0]["response"]["status"], "succeeded");
    let blocked = third.text("wallet_id").to_owned();
    let block = ["wallets", "block", "--reason", "SUSPICIOUS_ACTIVITY", "--details", "a trial"];
    installation.ok(&[&block[..], &[blocked.as_str()]].concat());
    third.process.stop();
    let mut fourth = Sandbox::start(&installation, &[]);
    assert_ne!(fourth.text("wallet_id"), blocked, "another wallet for the next trial");
    fourth.process.stop();
}

fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn a_new_sandbox_has_a_month_of_payments_unless_disabled() {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &[]);
    let verify = installation.ok(&["ledger", "verify"]);
    assert!(verify.contains("1 tenant"), "{verify}");
    let mut found = 0;
    for country in ["BGD", "EGY", "IND", "NPL", "PAK", "PHL", "VNM"] {
        let list =
            installation.json(&["payments", "list", "--country", country, "--limit", "1000"]);
        found += list.len();
    }
    assert!((100..=300).contains(&found), "{found} payments of history");
    drop(sandbox);
    let bare = Installation::new();
    let _sandbox = Sandbox::start(&bare, &["--no-demo-data"]);
    let list = bare.json(&["payments", "list", "--country", "PAK"]);
    assert!(list.is_empty(), "{list:?}");
}

#[test]
fn the_demo_tenant_begins_with_ten_million_of_each_coin() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let accounts = installation.json(&["ledger", "trial-balance", "--tenant", "demobank"]);
    for code in ["prefund:USDT", "prefund:USDC"] {
        let prefund = accounts.iter().find(|account| account["account"] == code).expect(code);
        let sums = ["credits_posted_minor", "debits_posted_minor", "debits_pending_minor"];
        let sums = sums.map(|name| prefund[name].as_i64().expect("minor units"));
        assert_eq!(sums, [10_000_000_000_000, 0, 0], "{code}");
    }
}

#[test]
fn a_first_start_that_is_cut_off_is_completed_by_the_next() {
    let random = Random::new(seed(0x5AB0));
    for _ in 0..faults(3, 40) {
        let installation = Installation::new();
        let mut cut = installation.start("cut", &["sandbox", "--port", "0"], &[]);
        // At some moment of the first start: its files grow while it replays the history.
        let grown = 4_096 * (1 + random.below(40));
        let log = installation.path().join("corridor.db-wal");
        let come = || {
            std::fs::metadata(&log).is_ok_and(|file| file.len() >= grown)
                || cut.out().contains("docs")
        };
        assert!(wait::until(READY_AT_MOST, come), "{}", cut.log_tail());
        cut.kill();
        let sandbox = Sandbox::start(&installation, &[]);
        installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
        installation.ok(&["pay", "--watch"]);
        let verified = installation.ok(&["ledger", "verify"]);
        assert!(!verified.contains("WRONG"), "{verified}");
        drop(sandbox);
    }
    // The earliest moment with something to complete: a tenant without money.
    let installation = Installation::new();
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "demobank", "--name", "Demo Bank"]);
    let _sandbox = Sandbox::start(&installation, &[]);
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    installation.ok(&["pay", "--watch"]);
}

#[test]
fn a_busy_port_is_reported_with_its_holder() {
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = busy.local_addr().expect("an address").port().to_string();
    let done = Installation::new().run(&["sandbox", "--port", &port]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    let holder = format!("(pid {})", std::process::id());
    for part in [&port, &holder, "--port"] {
        assert!(done.stderr.contains(part), "{part:?} is missing: {}", done.stderr);
    }
    assert_eq!(done.stdout, "", "nothing for scripts to stumble over");
    // `serve` has no such option.
    let listen = format!("http.listen=127.0.0.1:{port}");
    let done = Installation::new().run(&["serve", "--set", &listen]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(
        done.stderr.contains(&holder) && done.stderr.contains("http.listen"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("--port"), "{}", done.stderr);
}

#[test]
fn reset_waits_for_the_end_and_then_starts_over() {
    let installation = Installation::new();
    let mut old = Sandbox::start(&installation, &["--no-demo-data"]);
    let refused = installation.run(&["sandbox", "reset"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains(&old.process.id().to_string()), "{}", refused.stderr);
    old.process.stop();
    installation.ok(&["sandbox", "reset"]);
    let new = Sandbox::start(&installation, &["--no-demo-data"]);
    for name in ["payment_access_key", "payment_secret_key", "wallet_secret_key"] {
        assert_ne!(new.printed[name], old.printed[name], "{name}");
    }
    // A repeated reset is fine.
    drop(new);
    let again = Installation::new();
    again.ok(&["sandbox", "reset"]);
}

#[test]
fn reset_deletes_no_database_of_a_service() {
    let installation = Installation::new();
    installation.ok(&["migrate", "--set", "environment=mock"]);
    let database = installation.path().join("corridor.db");
    assert!(database.exists());
    let refused = installation.run(&["sandbox", "reset"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("nothing deleted"), "{}", refused.stderr);
    assert!(database.exists());
}

#[test]
fn a_fault_of_the_configuration_is_exit_code_2() {
    let installation = Installation::new();
    for set in [
        "banks.directory=/nowhere/banks.csv",
        "store.url=mysql://db/corridor",
        "webhooks.authority_file=/nowhere/roots.pem",
    ] {
        let done = installation.run(&["serve", "--set", "http.listen=127.0.0.1:0", "--set", set]);
        assert_eq!(done.code, 2, "{set}: {}", done.stderr);
    }
}

#[test]
fn a_stop_signal_finishes_open_work_and_ends_streams() {
    let installation = Installation::new();
    let mut sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let mut tail =
        installation.start("tail", &["events", "tail", "--after", "0", "--count", "2"], &[]);
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    let paid = installation.json(&["pay"]);
    let id = paid[0]["id"].as_str().expect("an id");
    assert!(tail.wait_for_end().success(), "{}", tail.log_tail());
    // An endless reader does not delay the shutdown.
    let args = ["events", "tail", "--after", "0"];
    let mut endless = installation.start("endless", &args, &[]);
    assert!(
        wait::until(READY_AT_MOST, || endless.out().contains("payment.queued")),
        "{}",
        endless.log_tail()
    );
    sandbox.process.stop();
    endless.kill();
    let _next = Sandbox::start(&installation, &[]);
    let watched =
        installation.run(&["payments", "watch", id, "--country", "PAK", "--timeout", "60"]);
    assert_eq!(watched.code, 0, "{}{}", watched.stdout, watched.stderr);
}

#[test]
fn without_a_terminal_or_with_no_color_nothing_is_coloured() {
    let installation = Installation::new();
    let mut process = installation.start(
        "card",
        &["sandbox", "--port", "0", "--no-demo-data"],
        &[("NO_COLOR", "1")],
    );
    let ready = wait::until(READY_AT_MOST, || {
        process.out().contains("events tail") || process.ended().is_some()
    });
    assert!(ready, "{}", process.log_tail());
    let card = process.out();
    for part in
        ["NO REAL MONEY", "Start here", "corridor env", "corridor pay 500 AED --to PAK --watch"]
    {
        assert!(card.contains(part), "{part:?} is missing: {card}");
    }
    assert!(!card.contains('\x1b'), "{card:?}");
    assert!(card.lines().all(|line| line.chars().count() <= 80), "{card}");
    process.stop();
    let farewell = process.log();
    assert!(farewell.contains("Data is kept") && farewell.contains("sandbox reset"), "{farewell}");
    let help = finish(installation.command(&["--help"]).env("NO_COLOR", "1"));
    assert!(!help.stdout.contains('\x1b'));
}

#[test]
fn a_second_process_on_the_built_in_chain_is_refused() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let told = |args: &[&str], parts: &[&str]| {
        let second = installation.run(args);
        assert_eq!((second.code, second.stdout.as_str()), (3, ""), "{args:?}: {}", second.stderr);
        for part in parts {
            assert!(
                second.stderr.contains(part),
                "{args:?}: {part:?} is missing: {}",
                second.stderr
            );
        }
    };
    told(&["sandbox", "--port", "0", "--no-demo-data"], &["another process", "--data-dir"]);
    let all = ["another process", "--data-dir", "wallets.enabled = false", "chain.node_url"];
    told(&["serve", "--set", "http.listen=127.0.0.1:0"], &all);
}
