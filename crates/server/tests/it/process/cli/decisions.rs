//! Operators' decisions about held money, with `review refund` and `review order`: rejected
//! payments are refunded, orders held by screening released or rejected, open payouts settled or
//! reversed, returned ones recredited. Also the handling of alerts: `review alerts close`, `review coin accept`.

use domain::chain::ChainNumber;
use std::time::Duration;

use config::{Config, Sources};
use domain::audit::{Entry, INSTALLATION};
use domain::currency::StableCoin;
use domain::deposit::TokenState;
use domain::iban;
use domain::ids::TenantId;
use domain::time::Span;
use domain::wallet_effects::{Alert, AlertKind};
use serde_json::{Value, json};
use store::{AuditFilter, HeldRole, Store};
use testkit::wait;

use super::super::harness::{Finished, Installation};
use super::super::sandbox::Sandbox;

/// Poll interval: each poll is a call, and the service allows fifty a minute.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);
/// The sender's refund address, and an entry of the sample list.
const TO: &str = "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";
const LISTED: &str = "0xbad0000000000000000000000000000000000001";
const MISSING: &str = "0d7a1d0e-6c0b-4e57-8a53-0123456789ab";

/// A sandbox whose simulated sender pays on request.
fn sandbox() -> (Installation, Sandbox) {
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    (installation, sandbox)
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

fn review(installation: &Installation, args: &[&str]) -> Finished {
    installation.run(&[&["review"], args, &["--tenant", "demobank", "--output", "json"]].concat())
}

/// The output of a command that must have succeeded.
fn printed(done: &Finished) -> Value {
    assert_eq!(done.code, 0, "{done:?}");
    serde_json::from_str(done.stdout.trim()).expect("JSON")
}

fn books_are_right(installation: &Installation) {
    assert!(!installation.ok(&["ledger", "verify"]).contains("WRONG"));
}

/// A deposit that screening rejected, refundable.
fn rejected(installation: &Installation) -> String {
    let request = installation
        .json(&["requests", "create", "--amount", "25.01", "--currency", "USDC"])
        .remove(0);
    installation.ok(&["requests", "pay", &text(&request, "payment_request_id")]);
    let listed = || installation.json(&["tx", "list"]);
    let id = || {
        listed().iter().find(|tx| tx["status"] == "REJECTED").map(|tx| text(tx, "transaction_id"))
    };
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, || id().is_some()), "{:?}", listed());
    id().expect("it is listed")
}

#[test]
fn a_rejected_payment_is_refunded_by_two_users() {
    let (installation, _sandbox) = sandbox();
    let id = rejected(&installation);
    let propose = |to: &str| {
        let by = ["--by", "ayesha", "--why", "asked for by e-mail"];
        review(
            &installation,
            &[&["refund", "propose", "--to", to], &by[..], &[id.as_str()]].concat(),
        )
    };
    let approve_to = |by: &str, seen: &[&str]| {
        let why = ["--by", by, "--why", "the sender confirmed it", &id];
        review(&installation, &[&["refund", "approve"], seen, &why].concat())
    };
    let approve = |by: &str| approve_to(by, &["--to", TO, "--amount", "25.01"]);
    let shown = || printed(&review(&installation, &["refund", "show", &id]));
    assert_eq!((&shown()["state"], &shown()["refund"]), (&json!("rejected"), &Value::Null));
    let by = ["--to-senders-address", "--by", "ayesha", "--why", "case 17", id.as_str()];
    let nobody = review(&installation, &[&["refund", "propose"], &by[..]].concat());
    assert_eq!(
        (nobody.code, nobody.stderr.contains("entered no address")),
        (1, true),
        "{nobody:?}"
    );
    let both = review(&installation, &[&["refund", "propose", "--to", TO], &by[..]].concat());
    assert_eq!(both.code, 2, "one address is enough: {both:?}");
    let listed = propose(LISTED);
    assert_eq!((listed.code, listed.stderr.contains("address")), (1, true), "{listed:?}");
    assert_eq!(approve("omar").code, 1, "nothing is proposed");

    // A proposal is withdrawn, on chain or before it gets there.
    let withdraw = || {
        review(
            &installation,
            &["refund", "withdraw", "--by", "omar", "--why", "another address", &id],
        )
    };
    assert_eq!(withdraw().code, 1, "nothing is proposed");
    assert_eq!(propose(TO).code, 0);
    assert!(
        wait::until_every(LOOK_EVERY, wait::AT_MOST, || withdraw().code == 0),
        "{:?}",
        withdraw()
    );
    assert_eq!((&shown()["state"], &shown()["refund"]), (&json!("rejected"), &Value::Null));

    let proposed = printed(&propose(TO));
    assert_eq!((&proposed["state"], &proposed["amount"]), (&json!("refunding"), &json!("25.01")));
    assert_eq!(proposed["refund"]["proposed_by"], "ayesha");
    // Refused for another reason until the proposal is on chain.
    let is_alone = || {
        let refused = approve("Ayesha ");
        refused.code == 1 && refused.stderr.contains("another user")
    };
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, is_alone), "{:?}", approve("Ayesha "));
    for other in [&["--to", LISTED][..], &["--to", TO, "--amount", "25.02"]] {
        let refused = approve_to("omar", other);
        assert_eq!(
            (refused.code, refused.stderr.contains("review it again")),
            (1, true),
            "{refused:?}"
        );
    }
    // Refused until the proposal is on chain.
    let approved = || approve("omar").code == 0;
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, approved), "{:?}", approve("omar"));
    let is_back = || shown()["state"] == "refunded";
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, is_back), "{}", shown());
    let refund = shown()["refund"].clone();
    assert_eq!((&refund["approved_by"], &refund["on_chain"]), (&json!("omar"), &json!(true)));
    assert!(
        text(&refund, "tx_hash").starts_with("0x") && text(&refund, "to").eq_ignore_ascii_case(TO),
        "{refund}"
    );
    assert!(
        installation
            .ok(&["review", "refund", "show", "--tenant", "demobank", &id])
            .contains("refunded")
    );
    assert_eq!(approve("bilal").code, 1, "once is enough");
    books_are_right(&installation);
}

/// Submits a form of the payment page; returns the redirect's target.
async fn fills_in(url: &str, form: &'static str) -> String {
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder()
        .timeout(wait::AT_MOST)
        .redirect(reqwest::redirect::Policy::none());
    let asked = client.build().expect("a client").post(url).body(form);
    let answer = asked
        .header("content-type", "application/x-www-form-urlencoded")
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status().as_u16(), 303, "{answer:?}");
    answer.headers()["location"].to_str().expect("a path").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_goes_to_the_address_from_the_senders_page() {
    let (installation, sandbox) = sandbox();
    let request = installation
        .json(&["requests", "create", "--amount", "25.01", "--currency", "USDC"])
        .remove(0);
    let here = |page: String| format!("{}{page}", sandbox.text("base_url").trim_end_matches('/'));
    // Another visitor with the link cannot answer for a payment that they did not make.
    let other = "first_name=Aisha&last_name=Noor&phone_number=%2B971500000001&custodial_provider=An-Exchange";
    fills_in(&text(&request, "payment_link"), other).await;
    let form = "first_name=Omar&last_name=Khan&phone_number=%2B971500000000&custodial_provider=An-Exchange";
    let page = here(fills_in(&text(&request, "payment_link"), form).await);
    installation.ok(&["requests", "pay", &text(&request, "payment_request_id")]);
    let listed = || installation.json(&["tx", "list"]);
    let id = || {
        listed().iter().find(|tx| tx["status"] == "REJECTED").map(|tx| text(tx, "transaction_id"))
    };
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, || id().is_some()), "{:?}", listed());
    let id = id().expect("it is listed");
    fills_in(&page, "address=0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e").await;
    let shown = printed(&review(&installation, &["refund", "show", &id]));
    let asked = &shown["asked_by_sender"][0];
    assert!(text(asked, "to").eq_ignore_ascii_case(TO), "{shown}");
    assert_eq!(
        (&asked["screening"], text(asked, "list_version").is_empty()),
        (&json!("clean"), false),
        "{shown}"
    );
    let told = installation.ok(&["review", "refund", "show", "--tenant", "demobank", &id]);
    assert!(
        told.contains("sender's address") && told.contains("screened against list version"),
        "{told}"
    );
    assert_eq!(shown["others_have_not_answered"], false, "{shown}");
    let by = ["--to-senders-address", "--by", "ayesha", "--why", "sender's request", id.as_str()];
    let proposed = printed(&review(&installation, &[&["refund", "propose"], &by[..]].concat()));
    assert!(text(&proposed["refund"], "to").eq_ignore_ascii_case(TO), "{proposed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legal_hold_is_lifted_by_two_users() {
    let (installation, _sandbox) = sandbox();
    let request = installation
        .json(&["requests", "create", "--amount", "25.00", "--currency", "USDC"])
        .remove(0);
    let form = "first_name=Zorblax&last_name=Quibbleton&phone_number=%2B971500000000&custodial_provider=An-Exchange";
    fills_in(&text(&request, "payment_link"), form).await;
    installation.ok(&["requests", "pay", &text(&request, "payment_request_id")]);
    let listed = || installation.json(&["tx", "list"]);
    let id = || {
        listed().iter().find(|tx| tx["status"] == "REJECTED").map(|tx| text(tx, "transaction_id"))
    };
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, || id().is_some()), "{:?}", listed());
    let id = id().expect("it is listed");
    let shown = || printed(&review(&installation, &["hold", "show", &id]));
    assert_eq!((&shown()["state"], &shown()["escrow"]), (&json!("legal_hold"), &json!("on_hold")));
    let lift = |maker: &str, checker: &str| {
        let people =
            ["--maker", maker, "--checker", checker, "--why", "another passport", id.as_str()];
        review(&installation, &[&["hold", "lift"], &people[..]].concat())
    };
    let alone = lift("ayesha", "Ayesha ");
    assert_eq!((alone.code, alone.stderr.contains("--checker")), (1, true), "{alone:?}");
    assert_eq!(shown()["state"], "legal_hold");
    assert_eq!(printed(&lift("ayesha", "omar"))["state"], "rejected");
    let is_free = || shown()["escrow"] == "free";
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, is_free), "{}", shown());
    let again = lift("ayesha", "omar");
    assert_eq!((again.code, again.stderr.contains("rejected")), (1, true), "{again:?}");
    let by = ["--to", TO, "--by", "ayesha", "--why", "sender's request", id.as_str()];
    assert_eq!(
        printed(&review(&installation, &[&["refund", "propose"], &by[..]].concat()))["state"],
        "refunding"
    );
    books_are_right(&installation);
}

/// An order to an account with this ending.
fn order(installation: &Installation, last: &str) -> String {
    let national = format!("SCBL000000112345{last}");
    let account = format!("PK{}{national}", iban::check_digits("PK", &national).expect("digits"));
    let args = [
        "orders",
        "create",
        "--amount",
        "10",
        "--iban",
        &account,
        "--holder",
        "Asha Khan",
        "--lock-rate",
    ];
    text(&installation.json(&args)[0], "order_id")
}

/// The demo wallet's posted USDC.
fn balance(installation: &Installation) -> String {
    let shown = installation.json(&["wallets", "get"]).remove(0);
    let assets = shown["balance"]["assets"].as_array().expect("assets").clone();
    text(assets.iter().find(|asset| asset["currency"] == "USDC").expect("USDC"), "amount")
}

fn balance_becomes(installation: &Installation, wanted: &str) {
    let is_so = || balance(installation) == wanted;
    assert!(
        wait::until_every(LOOK_EVERY, wait::AT_MOST, is_so),
        "{} instead of {wanted}",
        balance(installation)
    );
}

#[test]
fn open_payouts_are_resolved_by_two_users_and_returned_ones_recredited() {
    let (installation, _sandbox) = sandbox();
    let [paid, unpaid, less, returned] =
        ["0004", "0004", "0004", "0003"].map(|last| order(&installation, last));
    let alerts = || installation.json(&["review", "alerts", "--tenant", "demobank"]);
    let called_for = |alerts: &[Value], id: &str| {
        alerts.iter().any(|alert| alert["kind"] == "payout" && alert["about"] == id)
    };
    let all_called = || {
        let alerts = alerts();
        [&paid, &unpaid, &less, &returned].iter().all(|id| called_for(&alerts, id))
    };
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, all_called), "{:?}", alerts());
    balance_becomes(&installation, "960.00");

    let waiting = installation.json(&["review", "order", "list", "--tenant", "demobank"]);
    let listed: Vec<String> = waiting.iter().map(|order| text(order, "order_id")).collect();
    assert_eq!(listed, [paid.clone(), unpaid.clone(), less.clone()], "{waiting:?}");
    assert!(waiting.iter().all(|order| order["question"] == "outcome unknown"), "{waiting:?}");

    let resolve = |id: &str, outcome: &[&str], checker: &str| {
        let people = [
            "--maker",
            "ayesha",
            "--checker",
            checker,
            "--why",
            "bank statement of today, line 14",
        ];
        review(
            &installation,
            &[&["order", "resolve", "--to"], outcome, &people[..], &[id]].concat(),
        )
    };
    let settled = ["settled", "--reference", "FT2611200014"];
    let alone = resolve(&paid, &settled, "Ayesha ");
    assert_eq!((alone.code, alone.stderr.contains("--checker")), (1, true), "{alone:?}");
    assert_eq!(
        resolve(&paid, &["failed", "--reference", "FT-1"], "omar").code,
        2,
        "nothing was booked"
    );
    assert_eq!(
        resolve(&paid, &["returned", "--charges", "1000000"], "omar").code,
        2,
        "more than the amount"
    );
    let over = printed(&resolve(&paid, &settled, "omar"));
    assert_eq!(
        (&over["status"], &over["settlement_reference"]),
        (&json!("SETTLED"), &json!("FT2611200014"))
    );
    assert_eq!(resolve(&paid, &["failed"], "omar").code, 1, "it is over");
    let pending = printed(&resolve(&unpaid, &["rejected"], "omar"));
    assert_eq!(pending["status"], "PROCESSING", "until its tokens are back");
    printed(&resolve(&less, &["returned", "--charges", "250.00"], "omar"));
    let charges = |line: &str| line.contains("rail_charges:PKR") && line.contains("250.00");
    let balances = installation.ok(&["ledger", "trial-balance", "--tenant", "demobank"]);
    assert!(balances.lines().any(charges), "{balances}");
    balance_becomes(&installation, "980.00");

    let recredit = |id: &str| {
        review(&installation, &["order", "recredit", "--by", "ayesha", "--why", "closed", id])
    };
    assert_eq!(recredit(&paid).code, 1, "nothing came back");
    assert_eq!(printed(&recredit(&returned))["status"], "SETTLED");
    balance_becomes(&installation, "990.00");
    assert_eq!(recredit(&returned).code, 1, "once is enough");
    books_are_right(&installation);
}

#[test]
fn a_withheld_order_is_released_or_rejected() {
    let (installation, _sandbox) = sandbox();
    installation.ok(&[
        "tenants",
        "policy",
        "set",
        "demobank",
        "second_person_above=5",
        "--by",
        "ayesha",
        "--approved-by",
        "omar",
        "--why",
        "agreed",
    ]);
    let order = |holder: &str| {
        let holder = ["--iban", "PK36SCBL0000001123456702", "--holder", holder];
        text(
            &installation.json(&[&["orders", "create", "--amount", "10"], &holder[..]].concat())[0],
            "order_id",
        )
    };
    let (released, rejected) = (order("Zorblax Qibbletan"), order("Zorblax Quibbleton"));
    let waiting = installation.json(&["review", "order", "list", "--tenant", "demobank"]);
    let listed: Vec<String> = waiting.iter().map(|order| text(order, "order_id")).collect();
    assert_eq!(listed, [released.clone(), rejected.clone()], "{waiting:?}");
    let held = |order: &Value| {
        order["question"] == "held by screening" && text(order, "evidence").contains("Zorblax")
    };
    assert!(waiting.iter().all(held), "{waiting:?}");
    let alerts = || installation.json(&["review", "alerts", "--tenant", "demobank"]).len();
    assert_eq!(alerts(), 2);
    let by = ["--by", "ayesha", "--why", "passport seen, case 17"];
    let seen = waiting[0]["seen"].to_string();
    let alone = review(
        &installation,
        &[&["order", "approve", "--seen", &seen], &by[..], &[&released]].concat(),
    );
    assert_eq!(
        (alone.code, alone.stderr.contains("more than 5.00 needs a second user")),
        (1, true),
        "{alone:?}"
    );
    let decide_with = |checker: &str, verdict: &[&str], id: &str| {
        let checker = ["--checker", checker, id];
        review(&installation, &[&["order"], verdict, &by[..], &checker[..]].concat())
    };
    let decide = |verdict: &str, id: &str| match verdict {
        "approve" => decide_with("omar", &["approve", "--seen", &seen], id),
        other => decide_with("omar", &[other], id),
    };
    let unseen = decide_with("omar", &["approve"], &released);
    assert_eq!((unseen.code, unseen.stderr.contains("--seen")), (2, true), "{unseen:?}");
    let earlier = decide_with("omar", &["approve", "--seen", "0"], &released);
    assert_eq!(
        (earlier.code, earlier.stderr.contains("it has changed since it was reviewed")),
        (1, true),
        "{earlier:?}"
    );
    let same = decide_with("Ayesha ", &["approve", "--seen", &seen], &released);
    assert_eq!((same.code, same.stderr.contains("--checker")), (1, true), "{same:?}");
    let listed = decide("approve", &rejected);
    assert_eq!(
        (listed.code, listed.stderr.contains("can only be rejected")),
        (1, true),
        "{listed:?}"
    );
    let reject = review(&installation, &[&["order", "reject"], &by[..], &[&rejected]].concat());
    assert_eq!(printed(&reject)["status"], "FAILED", "one user is enough");
    assert_eq!(
        printed(&decide("approve", &released))["status"],
        "PENDING",
        "the running service debits it"
    );
    for (verdict, id, words) in [
        ("approve", &rejected, "already rejected by ayesha at 2"),
        ("approve", &released, "already approved by ayesha and omar at 2"),
        ("reject", &released, "already approved by ayesha and omar at 2"),
    ] {
        let again = decide(verdict, id);
        assert_eq!((again.code, again.stderr.contains(words)), (1, true), "{again:?}");
    }
    assert_eq!(alerts(), 0, "each was closed with the decision");
    let shown = || installation.json(&["orders", "get", &released]).remove(0);
    let is_paid = || shown()["status"] == "SETTLED";
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, is_paid), "{}", shown());
    balance_becomes(&installation, "990.00");
    books_are_right(&installation);
}

/// A bank whose service is not running, and the store that its watcher would write to.
async fn watched() -> (Installation, Store, TenantId) {
    let installation = Installation::configured("environment = \"test\"\n[store]\n");
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "demobank", "--name", "Demo Bank"]);
    let file = Some(installation.path().join("corridor.toml"));
    let config = Config::load(&Sources { file, ..Sources::default() }).expect("valid");
    let store = service::open_store(&config, installation.path()).await.expect("opened");
    let tenant = store.tenants().await.expect("read").remove(0).id;
    (installation, store, tenant)
}

/// The latest entries of a chain of the audit log.
async fn audited(store: &Store, tenant: TenantId, limit: usize) -> Vec<Entry> {
    let filter = AuditFilter { tenant: Some(tenant), ..AuditFilter::default() };
    store.audit_entries(&filter, limit).await.expect("read")
}

#[tokio::test(flavor = "multi_thread")]
async fn handled_alerts_are_closed() {
    let (installation, store, tenant) = watched().await;
    installation.create_users(&["ayesha"]);
    let alert =
        |what: &str| Alert { kind: AlertKind::LowGas, subject: tenant.0, what: what.to_owned() };
    for what in ["little left", "very little left", "none left"] {
        store.raise_alert(tenant, &alert(what)).await.expect("raised");
    }
    let listed = || installation.json(&["review", "alerts", "--tenant", "demobank"]);
    let id = |what: &str| {
        let listed = listed();
        text(listed.iter().find(|alert| alert["what"] == what).expect("it is listed"), "alert_id")
    };
    let close = |ids: &[&str]| {
        let args = ["alerts", "close", "--by", "ayesha", "--why", "topped up"];
        review(&installation, &[&args[..], ids].concat())
    };
    let (little, very) = (id("little left"), id("very little left"));
    let unknown = close(&[little.as_str(), MISSING]);
    assert_eq!((unknown.code, unknown.stderr.contains(MISSING)), (1, true), "{unknown:?}");
    assert_eq!(close(&["little"]).code, 2, "that is no id");
    assert_eq!(listed().len(), 3, "all that are named, or none");
    let closed = close(&[little.as_str(), very.as_str(), little.as_str()]);
    assert_eq!((closed.code, closed.stdout.lines().count()), (0, 2), "{closed:?}");
    assert_eq!(listed().iter().map(|alert| text(alert, "what")).collect::<Vec<_>>(), ["none left"]);
    let noted = audited(&store, tenant, 2).await;
    assert!(noted.iter().all(|entry| entry.note.action == "alert.close"), "{noted:?}");
    let ayesha = |entry: &Entry| entry.deed.person() == "ayesha" && entry.deed.why == "topped up";
    assert!(noted.iter().all(ayesha), "{noted:?}");
    assert_eq!(close(&[little.as_str()]).code, 1, "once is enough");
    assert_eq!(close(&[&little[..8]]).code, 1, "nor by the beginning of its id");
    store.raise_alert(tenant, &alert("little left")).await.expect("raised");
    assert!(
        installation.ok(&["review", "alerts", "--tenant", "demobank"]).contains(&little[..8]),
        "it is found again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_with_changed_code_resumes_once_two_users_accept_it() {
    let (installation, store, _) = watched().await;
    installation.create_users(&["ayesha", "omar"]);
    let accept = |checker: &str| {
        let args = [
            "review",
            "coin",
            "accept",
            "--coin",
            "usdt",
            "--maker",
            "ayesha",
            "--checker",
            checker,
        ];
        installation.run(&[&args[..], &["--why", "audited", "--output", "json"]].concat())
    };
    let coins = || installation.json(&["review", "coin", "show"]);
    let usdt = || coins().into_iter().find(|coin| coin["coin"] == "USDT").expect("USDT");
    assert!(coins().iter().all(|coin| coin["moves"] == true), "{:?}", coins());
    let early = accept("omar");
    assert_eq!((early.code, early.stderr.contains("no code change")), (1, true), "{early:?}");

    let fence =
        store.lease_role("watch", "test", Span::mins(1)).await.expect("asked").expect("free");
    let role = HeldRole { name: "watch".to_owned(), owner: "test".to_owned(), fence };
    let changed = TokenState {
        chain: ChainNumber::FIRST,
        coin: StableCoin::Usdt,
        paused: false,
        code_changed: true,
        at_block: 42,
    };
    store.set_token_state(&role, &changed).await.expect("set");
    let halted = usdt();
    assert_eq!((&halted["moves"], &halted["code_changed"]), (&json!(false), &json!(true)));
    assert_eq!(halted["changed_in_block"], 42);
    assert!(installation.ok(&["review", "coin", "show"]).contains("code changed"));
    let alone = accept("Ayesha ");
    assert_eq!((alone.code, alone.stderr.contains("--checker")), (1, true), "{alone:?}");
    assert_eq!(usdt()["moves"], false);
    let both = accept("omar");
    assert_eq!(printed(&both)["moves"], true);
    assert!(both.stderr.contains("block 42"), "the output names what was accepted: {both:?}");
    assert_eq!(usdt()["moves"], true);
    let Entry { deed, note, .. } = audited(&store, INSTALLATION, 1).await.remove(0);
    assert_eq!((note.action.as_str(), note.subject.as_str()), ("token.accept_code", "USDT"));
    assert_eq!(
        (deed.person(), deed.second.as_deref(), deed.why.as_str()),
        ("ayesha", Some("omar"), "audited")
    );
    assert!(note.before.is_some_and(|before| before.contains("42")));
    assert_eq!(accept("omar").code, 1, "once is enough");
}
