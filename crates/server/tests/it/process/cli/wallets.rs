//! A remittance with commands only: a wallet, a link, its payment, the credit, the exchange, and
//! books that match the chain and the bank.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{anvil, wait};

use super::super::harness::Installation;
use super::super::sandbox::Sandbox;
use super::super::wallets::rpc::Rpc;

/// Poll interval: each poll is a call, and the service allows fifty a minute.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);
const IBAN: &str = "PK36SCBL0000001123456702";

/// A sandbox whose simulated sender pays on request.
fn sandbox() -> (Installation, Sandbox) {
    sandbox_with(&[])
}

fn sandbox_with(more: &[&str]) -> (Installation, Sandbox) {
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
    let sandbox = Sandbox::start(&installation, &[&["--no-demo-data"], more].concat());
    (installation, sandbox)
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

fn provision(installation: &Installation, customer: &str) -> String {
    let args = ["wallets", "provision", "--customer", customer, "--email", "asha@example.com"];
    let known = ["--phone", "+923001234567", "--kyc-level", "comprehensive"];
    let wallet = installation.json(&[&args[..], &known].concat()).remove(0);
    assert_eq!(
        (&wallet["status"], &wallet["kyc_level"]),
        (&json!("ACTIVE"), &json!("COMPREHENSIVE"))
    );
    text(&wallet, "wallet_id")
}

/// The wallet's posted USDC.
fn balance(installation: &Installation, wallet: &str) -> String {
    let shown = installation.json(&["wallets", "get", wallet]).remove(0);
    let assets = shown["balance"]["assets"].as_array().expect("assets").clone();
    text(assets.iter().find(|asset| asset["currency"] == "USDC").expect("USDC"), "amount")
}

/// Pays a wallet 25.50 USDC through a link, to completion.
fn fund(installation: &Installation, wallet: &str) {
    let args =
        ["requests", "create", "--wallet", wallet, "--amount", "25.50", "--currency", "usdc"];
    let request = installation.json(&[&args[..], &["--purpose", "Rent"]].concat()).remove(0);
    let (id, link) = (text(&request, "payment_request_id"), text(&request, "payment_link"));
    let shown = installation.json(&["requests", "qr", &id, "--wallet", wallet]).remove(0);
    assert_eq!(text(&shown, "payment_link"), link);
    let paid = installation.json(&["requests", "pay", &id]).remove(0);
    assert!(text(&paid["transactions"][0], "tx_hash").starts_with("0x"), "{paid}");
    let arrived = wait::until_every(LOOK_EVERY, testkit::wait::AT_MOST, || {
        balance(installation, wallet) == "25.50"
    });
    assert!(arrived, "{:?}", installation.json(&["tx", "list", "--wallet", wallet]));
    let listed = installation.json(&["requests", "list", "--wallet", wallet, "--status", "PAID"]);
    assert_eq!(listed.iter().map(|it| text(it, "payment_request_id")).collect::<Vec<_>>(), [id]);
}

/// Exchanges 10.00 USDC of a wallet, to completion.
fn exchange(installation: &Installation, wallet: &str) {
    let rate = installation.json(&["rate", "--amount", "10"]).remove(0);
    let args = [
        "orders",
        "create",
        "--wallet",
        wallet,
        "--amount",
        "10",
        "--iban",
        IBAN,
        "--holder",
        "Asha Khan",
    ];
    let order = installation.json(&[&args[..], &["--lock-rate"]].concat()).remove(0);
    assert_eq!(order["from_amount"], "10.00");
    assert_eq!(order["to_currency"], rate["to_currency"]);
    let id = text(&order, "order_id");
    let status = || -> String {
        let orders = installation.json(&["orders", "list", "--wallet", wallet]);
        text(orders.iter().find(|it| it["order_id"] == id.as_str()).expect("listed"), "status")
    };
    let settled = wait::until_every(LOOK_EVERY, testkit::wait::AT_MOST, || status() == "SETTLED");
    assert!(settled, "the order is {}", status());
}

#[test]
fn a_remittance_is_asked_for_paid_and_paid_out() {
    let (installation, sandbox) = sandbox();
    remittance(&installation, &sandbox);
}

/// The same on an independent implementation of a chain with automatic mining: one block per
/// transaction.
#[tokio::test(flavor = "multi_thread")]
async fn a_remittance_is_asked_for_paid_and_paid_out_on_anvil() {
    let Some(binary) = anvil::for_tests("the sandbox with --rpc-url").expect("standard error")
    else {
        return;
    };
    let anvil = anvil::Anvil::start(&binary, 31_337).expect("anvil");
    Rpc::new(&anvil.url).ask("evm_setAutomine", json!([true])).await.expect("mines");
    let (installation, sandbox) = sandbox_with(&["--rpc-url", &anvil.url]);
    assert_eq!(sandbox.text("chain_rpc_url"), anvil.url);
    remittance(&installation, &sandbox);
}

fn remittance(installation: &Installation, sandbox: &Sandbox) {
    let wallet = provision(installation, "CUST-1");
    fund(installation, &wallet);
    exchange(installation, &wallet);
    assert_eq!(balance(installation, &wallet), "15.50");
    let kinds: Vec<String> = installation
        .json(&["tx", "list", "--wallet", &wallet])
        .iter()
        .map(|tx| text(tx, "type"))
        .collect();
    assert_eq!(kinds, ["EXCHANGED", "RECEIVED"], "newest first");
    let exchanged = installation.json(&["tx", "list", "--wallet", &wallet, "--type", "EXCHANGED"]);
    assert_eq!(text(&exchanged[0], "status"), "SETTLED");
    assert!(installation.ok(&["wallets", "get", &wallet]).contains("15.50"), "and for people");
    // Without an id, the running sandbox's own wallet is used.
    assert!(installation.ok(&["wallets", "get"]).contains(sandbox.text("wallet_id")));

    let agreed = installation.json(&["ledger", "reconcile"]).remove(0);
    assert_eq!(agreed["found"], 0, "{agreed}");
    let compared = agreed["chain_balances"].as_u64().expect("a number");
    assert!(compared >= 4 && agreed["rail_accounts"].as_u64() >= Some(1), "{agreed}");
    assert!(!installation.ok(&["ledger", "verify"]).contains("WRONG"));
}

#[test]
fn wallets_are_stopped_and_freed_and_links_taken_back() {
    let (installation, _sandbox) = sandbox();
    let wallet = provision(&installation, "CUST-2");
    let request =
        installation.json(&["requests", "create", "--wallet", &wallet, "--flexible"]).remove(0);
    let id = text(&request, "payment_request_id");
    assert_eq!(text(&installation.json(&["requests", "cancel", &id])[0], "status"), "CANCELLED");

    let why = [
        "--reason",
        "suspicious_activity",
        "--details",
        "several senders",
        "--auto-unblock-hours",
        "72",
    ];
    let blocked = installation.json(&[&["wallets", "block", &wallet], &why[..]].concat()).remove(0);
    assert_eq!(text(&blocked, "status"), "BLOCKED");
    let refused = installation.run(&["requests", "create", "--wallet", &wallet, "--flexible"]);
    assert_eq!(
        (refused.code, refused.stderr.contains("wallet_status")),
        (1, true),
        "{}",
        refused.stderr
    );
    installation.ok(&["clock", "advance", "73h"]);
    assert!(installation.json(&["clock", "show"])[0]["ahead_seconds"].as_i64() >= Some(73 * 3_600));
    let status = || text(&installation.json(&["wallets", "get", &wallet])[0], "status");
    assert!(
        wait::until_every(LOOK_EVERY, testkit::wait::AT_MOST, || status() == "ACTIVE"),
        "it frees itself: {}",
        status()
    );

    installation.ok(&[&["wallets", "block", &wallet], &why[..4]].concat());
    let freed = installation.json(&["wallets", "unblock", "--why", "relatives", &wallet]).remove(0);
    assert_eq!(text(&freed, "status"), "ACTIVE");
    let order = ["--authority", "FIA", "--reference", "FIA-1", "--reason", "court order"];
    let listed =
        installation.json(&[&["wallets", "blacklist", &wallet], &order[..]].concat()).remove(0);
    assert_eq!(text(&listed, "status"), "BLACKLISTED");
    // The demo bank controls the tokens' blacklists: the contract contains the address at once or,
    // on a slow machine, at the next poll.
    let again =
        || installation.json(&[&["wallets", "blacklist", &wallet], &order[..]].concat()).remove(0);
    let applied = |shown: &Value| shown["usdc_contract_blacklist_applied"] == json!(true);
    assert!(
        applied(&listed)
            || wait::until_every(LOOK_EVERY, testkit::wait::AT_MOST, || applied(&again())),
        "{}",
        again()
    );
    let wrong = installation.run(&[
        "wallets",
        "provision",
        "--customer",
        "C",
        "--email",
        "invalid",
        "--phone",
        "+92300",
    ]);
    assert_eq!(
        (wrong.code, wrong.stderr.contains("customer_email")),
        (1, true),
        "{}",
        wrong.stderr
    );
    let unknown = installation.run(&["faucet", "--address", "0x12", "--amount", "1"]);
    assert_eq!((unknown.code, unknown.stderr.contains("address")), (1, true), "{}", unknown.stderr);
}

/// I14: unexplained tokens are a discrepancy: listed, counted, and an alert.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_chain_has_and_the_ledger_has_not_is_a_break() {
    // Fails only if a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let (installation, sandbox) = sandbox();
    let wallet = provision(&installation, "CUST-3");
    fund(&installation, &wallet);
    exchange(&installation, &wallet);
    let shown = installation.json(&["wallets", "get", &wallet]).remove(0);
    let controller = controller(&sandbox, &text(&shown, "wallet_address")).await;
    installation.ok(&["faucet", "--address", &controller, "--amount", "5"]);
    let broken = installation.run(&["ledger", "reconcile", "--output", "json"]);
    assert_eq!(broken.code, 1, "{}{}", broken.stdout, broken.stderr);
    let report: Value = serde_json::from_str(broken.stdout.trim()).expect("JSON");
    assert_eq!(report["found"], 1, "{report}");
    let found = &report["breaks"][0];
    assert_eq!((&found["account"], &found["side"]), (&json!("unswept:USDC"), &json!("chain")));
    let minor = |name: &str| found[name].as_i64().expect("minor units");
    assert_eq!(minor("said_minor") - minor("ledger_most_minor"), 5_000_000, "{found}");
    assert_eq!(installation.run(&["ledger", "reconcile", "--last"]).code, 1);
    let metrics = get(&format!("{}/metrics", sandbox.text("base_url"))).await;
    assert!(metrics.contains("\ncorridor_reconciliation_breaks 1\n"), "{metrics}");
    // Every reconciliation raises it again, and it stays a single open alert.
    let raised = metrics
        .lines()
        .find_map(|line| line.strip_prefix("corridor_alerts_total{kind=\"chain_mismatch\"} "));
    assert!(raised.is_some_and(|count| count != "0"), "{metrics}");
    let open = "\ncorridor_open_alerts{kind=\"chain_mismatch\"} 1\n";
    assert!(metrics.contains(open), "{metrics}");
    let mut alerts = installation.json(&["review", "alerts", "--tenant", "demobank"]);
    alerts.retain(|alert| alert["kind"] == "chain_mismatch");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert!(text(&alerts[0], "what").starts_with("unswept:USDC"), "{alerts:?}");
}

#[test]
fn tokens_for_the_controller_are_booked_once_and_the_booking_is_reversed_once() {
    const HASH: &str = "0x9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c";
    let (installation, _sandbox) = sandbox();
    provision(&installation, "CUST-4");
    let fund = |amount: &'static str| {
        let money = ["--coin", "USDC", "--amount", amount, "--reference", HASH];
        [&["tenants", "fund-controller"][..], &money].concat()
    };
    let reverse = |reference| ["tenants", "reverse-funding", "--reference", reference].to_vec();
    let by = |command: Vec<&'static str>| {
        [&command[..], &["--by", "ayesha", "--why", "for refunds"]].concat()
    };
    let refused = |command, words: &str| {
        let refused = installation.run(&by(command));
        assert!(refused.code == 1 && refused.stderr.contains(words), "{refused:?}");
    };
    let unswept = || {
        let accounts = installation.json(&["ledger", "trial-balance"]);
        let account = accounts.into_iter().find(|it| it["account"] == "unswept:USDC");
        account.map(|it| text(&it, "balance"))
    };
    refused(reverse(HASH), &format!("reference {HASH} was not booked"));
    for repeated in [false, true] {
        let booked = installation.json(&by(fund("250"))).remove(0);
        assert_eq!(booked["repeated"], repeated, "{booked}");
        assert_eq!(unswept().as_deref(), Some("250"));
    }
    refused(fund("25"), &format!("{HASH} was booked with 250.00 USDC at"));
    for repeated in [false, true] {
        let reversed = installation.json(&by(reverse(HASH))).remove(0);
        assert_eq!(
            (&reversed["repeated"], &reversed["amount"]),
            (&json!(repeated), &json!("250.00"))
        );
        assert_eq!(unswept().as_deref(), Some("0"));
    }
    refused(fund("250"), &format!("what was booked with reference {HASH} was reversed at"));
    for (action, amount) in
        [("controller.fund", "paid_in"), ("controller.reverse_funding", "paid_out")]
    {
        let search = ["audit", "search", "--tenant", "demobank", "--action", action];
        let notes = installation.json(&search);
        assert_eq!(notes.len(), 1, "{notes:?}");
        let noted = (&notes[0]["on_behalf_of"], &notes[0]["why"], &notes[0]["after"][amount]);
        assert_eq!(noted, (&json!("ayesha"), &json!("for refunds"), &json!("250.00")));
    }
    assert_eq!(installation.run(&["ledger", "verify"]).code, 0);
}

async fn get(url: &str) -> String {
    let answer = client().get(url).send().await.expect("an answer");
    answer.text().await.expect("a text")
}

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .timeout(testkit::wait::AT_MOST)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client")
}

/// The contract of a deployed wallet: the last 20 bytes of its code.
async fn controller(sandbox: &Sandbox, wallet: &str) -> String {
    let ask =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getCode", "params": [wallet, "latest"] });
    let asked = client().post(sandbox.text("chain_rpc_url")).body(ask.to_string());
    let answer = asked.header("content-type", "application/json").send().await.expect("an answer");
    let answer: Value = serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON");
    let code = answer["result"].as_str().expect("code").to_owned();
    format!("0x{}", &code[code.len() - 40..])
}

#[test]
fn webhook_endpoints_are_set_rotated_and_disabled() {
    let installation = Installation::configured("environment = \"test\"\n[store]\n");
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "bank", "--name", "Bank"]);
    let webhooks =
        |args: &[&str]| [&["webhooks", args[0], "--tenant", "bank"], &args[1..]].concat().join(" ");
    let run = |args: &[&str]| installation.run(&webhooks(args).split(' ').collect::<Vec<_>>());
    let told =
        |args: &[&str]| installation.json(&webhooks(args).split(' ').collect::<Vec<_>>()).remove(0);
    assert_eq!(run(&["show"]).code, 1, "no endpoint is set yet");
    for url in ["http://hooks.example", "https://127.0.0.1", "https://user@hooks.example"] {
        let refused = run(&["set", "--url", url]);
        assert_eq!(
            (refused.code, refused.stderr.contains("--url")),
            (2, true),
            "{url}: {}",
            refused.stderr
        );
    }
    let first = told(&["set", "--url", "https://hooks.example/in"]);
    assert!(text(&first, "secret").starts_with("whsec_"));
    let elsewhere = ["set", "--url", "https://other.example"];
    let alone = run(&elsewhere);
    assert_eq!((alone.code, alone.stderr.contains("--approved-by")), (2, true), "{}", alone.stderr);
    let by_two =
        |other: &str| run(&[&elsewhere[..], &["--by", "ayesha", "--approved-by", other]].concat());
    let by = |other: &str, why: &str| {
        let refused = by_two(other);
        assert_eq!((refused.code, refused.stderr.contains(why)), (1, true), "{}", refused.stderr);
    };
    by("Ayesha", "--approved-by: must be a different user");
    by("omar", "--by: ayesha is not a user of the console");
    installation.create_users(&["ayesha", "omar"]);
    let all = ["--role", "admin", "--role", "approver", "--tenant", "other"];
    installation.ok(&["tenants", "create", "--tag", "other", "--name", "Other"]);
    installation.create_user("bilal", &all);
    let change = |args: &[&str]| {
        installation.ok(&[&["users"], args, &["--by", "omar", "--why", "moves"]].concat());
    };
    by("bilal", "--approved-by: bilal may not act for this tenant");
    change(&["roles", "bilal", "--role", "compliance", "--all-tenants"]);
    by("bilal", "--approved-by: bilal needs the role approver or admin");
    change(&["roles", "bilal", "--role", "admin", "--all-tenants"]);
    change(&["disable", "bilal"]);
    by("bilal", "--approved-by: bilal is disabled");
    assert_eq!(told(&["show"])["url"], "https://hooks.example/in");
    let again = by_two("omar");
    assert_eq!((again.code, again.stdout.contains("whsec_")), (0, false), "{again:?}");
    let second = told(&["rotate"]);
    assert_ne!(second["secret"], first["secret"]);
    let shown = told(&["show"]);
    assert_eq!((&shown["url"], &shown["secrets"]), (&json!("https://other.example"), &json!(2)));
    assert!(!shown.to_string().contains("whsec_"));
    assert_eq!(told(&["rotate", "--overlap-hours", "0"])["url"], "https://other.example");
    assert_eq!(told(&["show"])["secrets"], 1, "what was stolen signs nothing");
    assert_eq!(run(&["disable", "--why", "maintenance"]).code, 0);
    assert_eq!(told(&["show"])["disabled_why"], "maintenance");
    assert_eq!(run(&["disable", "--why", "again"]).code, 1);
    assert_eq!(run(&["enable"]).code, 0);
    assert_eq!(told(&["show"])["disabled_why"], Value::Null);
}
