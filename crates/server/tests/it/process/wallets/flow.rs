//! The money flows with one body for all: on the built-in chain, on the embedded chain with its own
//! node and on anvil, with the sandbox's tokens and with Circle's USDC, on SQLite and PostgreSQL,
//! with keys in a file and in an HSM.

use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use domain::money::Money;
use serde_json::json;
use testkit::bank::BookKind;
use testkit::wait::AT_MOST;
use testkit::{anvil, circle};

use super::super::harness::Node;
use super::super::readme::present;
use super::ground::{CHAIN_ID, Kind};
use super::verdict::books_agree;
use super::world::{SampleSigner, Setup, Signer, World, minor, text};
use super::{blocks, exceptions};

pub const GOOD: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];
const BAD: [&str; 3] = ["payment.received", "risk_check.complete", "transaction.failed"];
/// The bank's random seed; the bank makes no errors here.
const SEED: u64 = 1;

fn setup(kind: Kind) -> Setup<'static> {
    Setup { kind, circle: None, store_url: None, signer: Signer::Seed, seed: SEED }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_on_the_built_in_chain() {
    every_flow(setup(Kind::BuiltIn)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_on_the_built_in_chain_and_postgresql() {
    let cluster =
        testkit::postgres::for_tests("flows of money on the built-in chain").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let url = cluster.database("flows_built_in").expect("a database");
    every_flow(Setup { store_url: Some(&url), ..setup(Kind::BuiltIn) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_with_circles_usdc_on_the_embedded_chain() {
    let part = "flows of money of real processes";
    let Some(code) = circle::for_tests(part).expect("Circle's artifacts") else { return };
    every_flow(Setup { circle: Some(code), ..setup(Kind::Embedded) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_with_circles_usdc_on_anvil() {
    let part = "flows of money of real processes";
    let Some(binary) = anvil::for_tests(part).expect("standard error") else { return };
    let Some(code) = circle::for_tests(part).expect("Circle's artifacts") else { return };
    every_flow(Setup { circle: Some(code), ..setup(Kind::Anvil(binary)) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_with_circles_usdc_on_anvil_with_an_hsm_and_postgresql() {
    let part = "flows of money of real processes, signed by an HSM";
    let dir = tempfile::tempdir().expect("a directory");
    let Some(signer) = Signer::soft_hsm(part, dir.path()) else { return };
    let Some(binary) = anvil::for_tests(part).expect("standard error") else { return };
    let Some(code) = circle::for_tests(part).expect("Circle's artifacts") else { return };
    let Some(cluster) = testkit::postgres::for_tests(part).expect("PostgreSQL") else { return };
    let url = cluster.database("flows_hsm").expect("a database");
    every_flow(Setup {
        circle: Some(code),
        store_url: Some(&url),
        signer,
        ..setup(Kind::Anvil(binary))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remittance_is_signed_by_keys_in_two_clouds_behind_the_sample_signer() {
    if !present("a remittance with docs/signers/signer.py", &["python3"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let signer = SampleSigner::start(dir.path()).await;
    let remote = Signer::Remote(signer.url.clone());
    let mut world = World::start(Setup { signer: remote, ..setup(Kind::Embedded) }).await;
    let certify = |token: &str| {
        let file = dir.path().join("given.token");
        std::fs::write(&file, token).expect("written");
        let (file, chain) = (file.display().to_string(), CHAIN_ID.to_string());
        let args = ["certify", "signer", &signer.url, "--token-file", &file, "--key", "operator"];
        let args = [&args[..], &["--chain-id", &chain, "--output", "json"]].concat();
        world.rig.installation.run(&args)
    };
    let found = certify(SampleSigner::TOKEN);
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("\"warnings\":0"), "{}", found.stdout);
    assert_eq!(certify("another-token-than-its-own").code, 1);
    world.rig.heal_bank();
    let mut node = world.node().await;
    a_remittance_and_its_exchange(&world, &node, StableCoin::Usdc).await;
    a_blocked_wallet_is_frozen_on_the_chain_and_freed(&world, &node).await;
    assert!(signer.clouds.signed("azure") > 0, "releases and debits");
    assert!(signer.clouds.signed("google") > 0, "freezes");
    books_agree(&world.rig);
    node.process.stop();
}

async fn every_flow(setup: Setup<'_>) {
    let mut world = World::start(setup).await;
    world.rig.heal_bank();
    let mut node = world.node().await;
    for coin in StableCoin::ALL {
        a_remittance_and_its_exchange(&world, &node, coin).await;
    }
    what_is_rejected_stays_in_escrow(&world, &node).await;
    what_a_person_approves_is_released(&world, &node).await;
    what_blocks_a_wallet_stays_in_escrow(&world, &node).await;
    a_blocked_wallet_is_frozen_on_the_chain_and_freed(&world, &node).await;
    exceptions::all(&world, &node).await;
    // A chain inside the service has its own pace, and keeps its blocks.
    if world.ground.obeys() {
        blocks::all(&world, &node).await;
    }
    books_agree(&world.rig);
    node.process.stop();
}

async fn a_remittance_and_its_exchange(world: &World, node: &Node, coin: StableCoin) {
    let (at, rpc, token) = (node.address.as_str(), world.ground.rpc(), world.ground.token(coin));
    let (wallet, address) = world.wallet(at, &format!("main-{}", coin.currency().code())).await;
    let has = async || (world.balance_in(coin, at, &wallet).await, rpc.holds(token, address).await);
    let request = world.request_in(coin, at, &wallet, "25.00").await;
    world.ground.pay_in(coin, request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD).await;
    let incoming = world.incoming(at, &wallet).await;
    assert_eq!((incoming.len(), &incoming[0]["status"]), (1, &json!("COMPLETED")), "{incoming:?}");
    assert_eq!(incoming[0]["sender"]["custodial_provider"], "Binance");
    assert_eq!(has().await, (minor("25"), minor("25")));
    assert_eq!(rpc.holds(token, request.escrow).await, 0);

    let order =
        world.post(at, "/v1/sdk/orders", &World::order_body_in(coin, &wallet, "10.00")).await;
    let id = text(&order, "order_id");
    world.is_told(node, &id, &["exchange.complete"]).await;
    let listed = world.get(at, &format!("/v1/sdk/orders?wallet_id={wallet}")).await;
    assert_eq!(listed["orders"][0]["status"], "SETTLED", "{listed}");
    assert_eq!(listed["orders"][0]["to_amount"], order["to_amount"], "a locked rate holds");
    assert_eq!(has().await, (minor("15"), minor("15")));
    let book = world
        .rig
        .bank
        .book(&PaymentId::parse(&id).expect("an id").end_to_end_id())
        .expect("the bank's book");
    let paid: Vec<_> = book.iter().filter(|line| line.kind == BookKind::Paid).collect();
    assert_eq!(paid.len(), 1, "{book:?}");
    assert_eq!(paid[0].amount, pkr(&text(&order, "to_amount")));
}

fn pkr(amount: &str) -> Money {
    Money::exact(Decimal::parse(amount).expect("a number"), Currency::Pkr).expect("whole paisa")
}

async fn what_is_rejected_stays_in_escrow(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "rejected").await;
    let request = world.request(at, &wallet, "25.01").await;
    world.ground.pay(request.escrow, minor("25.01")).await;
    world.is_told(node, &request.id, &BAD).await;
    assert_eq!(world.incoming(at, &wallet).await[0]["status"], "REJECTED");
    assert_eq!(world.ground.holds(request.escrow).await, minor("25.01"));
    assert_eq!((world.balance(at, &wallet).await, world.ground.holds(address).await), (0, 0));
}

async fn what_a_person_approves_is_released(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "review").await;
    let request = world.request(at, &wallet, "25.02").await;
    world.ground.pay(request.escrow, minor("25.02")).await;
    world.is_told(node, &request.id, &GOOD[..2]).await;
    let waiting = world.incoming(at, &wallet).await.remove(0);
    assert_eq!(waiting["status"], "RECEIVED_IN_ESCROW");
    let id = text(&waiting, "transaction_id");
    let decision = json!({ "decision": "approve", "reason": "known sender" });
    world.post(at, &format!("/v1/sdk/reviews/{id}"), &decision).await;
    let booked = world
        .looking(AT_MOST, async || world.incoming(at, &wallet).await[0]["status"] == "COMPLETED");
    assert!(booked.await, "{}", node.process.log_tail());
    let kinds = world.told(&request.id);
    assert_eq!(world.ground.holds(address).await, minor("25.02"), "{kinds:?}");
    assert_eq!(world.balance(at, &wallet).await, minor("25.02"));
}

async fn what_blocks_a_wallet_stays_in_escrow(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "blocked").await;
    let request = world.request(at, &wallet, "25.03").await;
    world.ground.pay(request.escrow, minor("25.03")).await;
    world.is_told(node, &wallet, &["wallet.blocked"]).await;
    let shown = world.get(at, &format!("/v1/sdk/wallets/{wallet}")).await;
    assert_eq!(shown["status"], "BLOCKED");
    assert_eq!(world.ground.holds(request.escrow).await, minor("25.03"));
    assert_eq!((world.balance(at, &wallet).await, world.ground.holds(address).await), (0, 0));
}

async fn a_blocked_wallet_is_frozen_on_the_chain_and_freed(world: &World, node: &Node) {
    let at = node.address.as_str();
    let (wallet, address) = world.wallet(at, "frozen").await;
    let request = world.request(at, &wallet, "25.00").await;
    let block = json!({ "reason": "SUSPICIOUS_ACTIVITY", "details": "A test" });
    world.post(at, &format!("/v1/sdk/wallets/{wallet}/block"), &block).await;
    let frozen = async |wanted| {
        let there = world.looking(AT_MOST, async || {
            world.ground.rpc().is_frozen(world.controller, address).await == wanted
        });
        assert!(there.await, "frozen is not {wanted}: {}", node.process.log_tail());
    };
    frozen(true).await;
    world.ground.pay(request.escrow, minor("25")).await;
    world.is_told(node, &request.id, &GOOD[..1]).await;
    world.post(at, &format!("/v1/sdk/wallets/{wallet}/unblock"), &json!({})).await;
    frozen(false).await;
    world.is_told(node, &request.id, &GOOD).await;
    assert_eq!(
        (world.balance(at, &wallet).await, world.ground.holds(address).await),
        (minor("25"), minor("25"))
    );
}
