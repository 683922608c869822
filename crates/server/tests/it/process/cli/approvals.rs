//! Proposals of the console on the command line: listed, decided by another user, and executed by
//! the running service. Also `corridor openapi`.

use config::{Config, Sources};
use domain::approval::{ApprovalUser, Change, ProposedAction};
use domain::ids::{ApprovalId, WalletId};
use domain::time::Span;
use serde_json::{Value, json};
use std::time::Duration;
use store::{NewApproval, Store};
use testkit::wait;

use super::super::harness::{Finished, Installation};
use super::super::sandbox::Sandbox;

/// Poll interval: each poll is a call, and the service allows fifty a minute.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

fn refused(done: &Finished, words: &str) {
    assert_eq!((done.code, done.stderr.contains(words)), (1, true), "{words}: {done:?}");
}

/// The store of the running sandbox.
async fn store_of(installation: &Installation) -> Store {
    let config = Config::load(&Sources::default()).expect("valid");
    service::open_store(&config, installation.path()).await.expect("opened")
}

/// A wallet that is blocked, and the proposal of ayesha to unblock it.
async fn proposed(installation: &Installation, store: &Store, wallet: &str) -> String {
    let block = ["wallets", "block", "--reason", "suspicious_activity", "--details", "several"];
    installation.ok(&[&block[..], &[wallet]].concat());
    let tenant = store.tenants().await.expect("read").remove(0).id;
    let id = WalletId::parse(wallet).expect("an id");
    let stored = store.wallet(tenant, id).await.expect("read").expect("there");
    let blocked_at = stored.block.expect("blocked").at;
    let ayesha = store.user_by_login("ayesha").await.expect("read").expect("there").user;
    let reason = Some("a case of its own".to_owned());
    let change = |what: &str, before: &str, after: &str| {
        let [what, before, after] = [what, before, after].map(str::to_owned);
        Change { what, before, after }
    };
    let new = NewApproval {
        tenant: Some(tenant),
        deed: &ProposedAction::UnblockWallet { wallet: id, blocked_at, reason },
        changes: &[change("state", "BLOCKED", "ACTIVE")],
        maker: &ApprovalUser { id: ayesha.id, login: ayesha.login },
        why: "papers seen",
        lifetime: Span::days(7),
    };
    let made: ApprovalId = store.propose(&new, "a test").await.expect("proposed");
    made.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_of_the_console_is_decided_on_the_command_line() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let store = store_of(&installation).await;
    let none = installation.run(&["approvals", "list"]);
    assert!(none.code == 0 && none.stderr.contains("No proposals are waiting"), "{none:?}");
    let wallet = text(&installation.json(&["wallets", "get"])[0], "wallet_id");
    let id = proposed(&installation, &store, &wallet).await;
    let listed = installation.json(&["approvals", "list", "--tenant", "demobank"]).remove(0);
    assert_eq!(
        (text(&listed, "approval_id"), text(&listed, "action"), text(&listed, "subject")),
        (id.clone(), "wallet.unblock".to_owned(), wallet.clone())
    );
    assert_eq!((&listed["state"], &listed["proposed_by"]), (&json!("waiting"), &json!("ayesha")));
    assert_eq!(
        listed["changes"],
        json!([{ "what": "state", "before": "BLOCKED", "after": "ACTIVE" }])
    );
    let table = installation.ok(&["approvals", "list"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("Unblock a wallet") && table.contains(&id[..8]), "{table}");
    let page = installation.ok(&["approvals", "show", &id[..8]]);
    for part in ["papers seen", "approver or compliance", "BLOCKED", "ACTIVE"] {
        assert!(page.contains(part), "{part}: {page}");
    }

    let by = |command: &str, name: &str| {
        installation.run(&["approvals", command, "--by", name, "--why", "called", &id[..8]])
    };
    refused(&by("approve", "ayesha"), "must be a different user than ayesha");
    refused(&by("approve", "nemo"), "is not a user of the console");
    refused(&by("withdraw", "omar"), "only ayesha");
    let approved = by("approve", "omar");
    assert!(approved.code == 0 && approved.stderr.contains("running service"), "{approved:?}");
    refused(&by("reject", "omar"), "omar decided this proposal");
    installation.ok(&["clock", "advance", "2m"]);
    let status = || text(&installation.json(&["wallets", "get", &wallet])[0], "status");
    let is_free = || status() == "ACTIVE";
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, is_free), "{}", status());
    let done = || text(&installation.json(&["approvals", "show", &id])[0], "state") == "done";
    assert!(wait::until_every(LOOK_EVERY, wait::AT_MOST, done));
    let log = installation.json(&["audit", "search", "--subject", &id]);
    let entry = log.iter().find(|entry| entry["action"] == "approval.approve").expect("noted");
    let who = [&entry["via"], &entry["on_behalf_of"], &entry["second_person"], &entry["why"]];
    assert_eq!(who, [&json!("cli"), &json!("omar"), &json!("ayesha"), &json!("called")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_rejected_or_withdrawn_on_the_command_line() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let store = store_of(&installation).await;
    let wallet = text(&installation.json(&["wallets", "get"])[0], "wallet_id");
    for (command, name, state) in
        [("reject", "omar", "rejected"), ("withdraw", "ayesha", "withdrawn")]
    {
        let id = proposed(&installation, &store, &wallet).await;
        let line = ["approvals", command, "--by", name, "--why", "another wallet", &id];
        let done = installation.json(&line).remove(0);
        assert_eq!(text(&done, "state"), state, "{done}");
        installation.ok(&["wallets", "unblock", "--why", "for the next", &wallet]);
    }
    let all = installation.json(&["approvals", "list", "--all"]);
    let states: Vec<String> = all.iter().map(|it| text(it, "state")).collect();
    assert_eq!(states, ["withdrawn", "rejected"], "newest first");
    assert!(installation.json(&["approvals", "list"]).is_empty());
    let limited = installation.json(&["approvals", "list", "--all", "--limit", "1"]);
    assert_eq!(limited.len(), 1);
}

#[test]
fn documents_of_the_apis_are_printed_without_a_service() {
    let installation = Installation::new();
    for (name, title) in [
        ("payment", "/v2/payment"),
        ("wallet", "/v1/sdk/wallets/provision"),
        ("connector", "/payments"),
        ("signer", "/keys"),
    ] {
        let printed = installation.ok(&["openapi", name]);
        let document: Value = serde_json::from_str(&printed).expect("JSON");
        let version = document["openapi"].as_str().unwrap_or_default();
        assert!(version.starts_with("3.1"), "{name}: {version}");
        let paths = document["paths"].as_object().expect("paths");
        assert!(paths.keys().any(|path| path.contains(title)), "{name}: {:?}", paths.keys());
        let file = installation.path().join("document.json");
        let path = file.to_str().expect("UTF-8");
        installation.ok(&["openapi", name, "--file", path]);
        assert_eq!(std::fs::read_to_string(&file).expect("written"), printed, "{name}");
    }
    let named = installation.ok(&["openapi", "wallet", "--set", "chain.name=base"]);
    assert!(
        named.contains("Name of the blockchain, one of: base."),
        "the chains of this installation"
    );
}
