//! Rescans of blocks that users of the console request.

use domain::audit::INSTALLATION;
use domain::user::{Role, Scope};
use testkit::wait::AT_MOST;

use super::Officer;
use crate::harness::own_node::{OwnNode, Tricks};
use crate::harness::{On, Setup, WalletBank, on_both_stores};
use crate::wallet::chain::has_25_once;
use crate::wallet::chain::lying::forgotten;

on_both_stores! {
    a_rescan_is_checked_requested_and_reported
    rescans_are_for_users_of_the_installation_who_operate_it
    a_payment_that_a_node_forgot_is_found_from_the_console
}

const PATH: &str = "/console/system/rescans";
const HASH: &str = "0x5e1d3a76fbf824220eafc8c79ad578ad2b67d01b0c2425eb1f1347e8f50882ab";

/// Waits for a row of the results with these contents.
async fn reported(officer: &Officer, wanted: &[&str]) {
    let row = || async {
        let page = officer.fetch(PATH).await.page();
        let results = page.split_once(">Results").expect("a section").1;
        results.split("<tr>").any(|row| wanted.iter().all(|text| row.contains(text)))
    };
    let there = testkit::wait::until_async(AT_MOST, row).await;
    assert!(there, "{wanted:?}: {}", officer.fetch(PATH).await.page());
}

async fn a_rescan_is_checked_requested_and_reported(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("rescan").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let officer =
        Officer::sign_in(&bank.bank.running, &bank.bank.tenant.tag, Scope::All, &[Role::Operator])
            .await;
    assert!(officer.fetch("/console/system").await.page().contains(PATH));
    let address = bank.stored_wallet(&wallet).await.address.to_string();
    // The second digit's case is wrong.
    let no_checksum = "0x8Ba1f109551bD432803012645Ac136ddd64DBA72";
    let range =
        |from: &'static str, to: &'static str| vec![("by", "blocks"), ("from", from), ("to", to)];
    for (form, field, value, says) in [
        (
            vec![("by", "tx"), ("tx", "0x12")],
            "tx",
            "0x12",
            "The transaction hash must be 0x and 64 hexadecimal digits.",
        ),
        (vec![("by", "tx"), ("tx", "<b>")], "tx", "&#60;b&#62;", "The transaction hash must be"),
        (
            vec![("by", "address"), ("address", no_checksum)],
            "address",
            no_checksum,
            "with a valid checksum.",
        ),
        (range("", "7"), "from", "", "The first block must be a block number"),
        (range("7", "-1"), "to", "-1", "The last block must be a block number"),
        (range("8", "7"), "from", "8", "The first block must not be above the last block."),
    ] {
        let page = officer.send(PATH, &form).await.refused(422);
        assert!(page.contains(says), "{says}: {page}");
        let input = page.split_once(&format!("name=\"{field}\"")).expect("its field").1;
        let input = input.split_once('>').expect("its end").0;
        assert!(input.contains(&format!("value=\"{value}\"")), "{input}");
        assert!(
            input.contains("aria-invalid") && page.matches("aria-invalid").count() == 1,
            "{page}"
        );
    }
    officer.send(PATH, &[("by", "address"), ("address", &address)]).await.done();
    reported(&officer, &["Address", &address, "nothing missing"]).await;
    assert_eq!(officer.send(PATH, &range("900000000", "900000001")).await.done(), PATH);
    reported(
        &officer,
        &["900000000 to 900000001", "failed", "its block has not been ingested yet"],
    )
    .await;
    officer.send(PATH, &[("by", "tx"), ("tx", HASH)]).await.done();
    reported(&officer, &["Transaction", HASH, "failed", "no node has this transaction in a block"])
        .await;
    let noted = bank
        .bank
        .running
        .store()
        .audit_about(INSTALLATION, &format!("address {address}"))
        .await
        .expect("read");
    let noted: Vec<_> =
        noted.iter().map(|entry| (entry.note.action.as_str(), entry.deed.person())).collect();
    assert_eq!(noted, [("chain.rescan", officer.login.as_str())]);
}

async fn rescans_are_for_users_of_the_installation_who_operate_it(on: On) {
    let bank = WalletBank::new(on).await;
    let (running, tag) = (&bank.bank.running, &bank.bank.tenant.tag);
    let form = [("by", "tx"), ("tx", HASH)];
    let one = Officer::of(&bank, &[Role::Operator, Role::Admin]).await;
    one.fetch(PATH).await.refused(403);
    one.send(PATH, &form).await.refused(403);
    let reader = Officer::sign_in(
        running,
        tag,
        Scope::All,
        &[Role::Viewer, Role::Compliance, Role::Treasury],
    )
    .await;
    let page = reader.fetch(PATH).await.page();
    assert!(
        page.contains("Waiting") && page.contains("Results") && !page.contains("Request a rescan"),
        "{page}"
    );
    reader.send(PATH, &form).await.refused(403);
    let admin = Officer::sign_in(running, tag, Scope::All, &[Role::Admin]).await;
    assert!(admin.fetch(PATH).await.page().contains("Request a rescan"));
}

async fn a_payment_that_a_node_forgot_is_found_from_the_console(on: On) {
    let tricks = Tricks::default();
    let node = OwnNode::tricked(on, &tricks, None, Setup::with_wallets()).await;
    let wallet = node.wallet("console").await;
    let request = node.bank.request(&wallet, "25.00", "USDC").await;
    let hash = forgotten(&node, &tricks, &wallet, &request).await;
    let tag = &node.bank.bank.tenant.tag;
    let officer = Officer::sign_in(&node.running, tag, Scope::All, &[Role::Operator]).await;
    officer.send(PATH, &[("by", "tx"), ("tx", &hash)]).await.done();
    reported(&officer, &[&hash, "found"]).await;
    drop(officer);
    node.steady();
    has_25_once(&node, &wallet, &request).await;
    node.finish().await;
}
