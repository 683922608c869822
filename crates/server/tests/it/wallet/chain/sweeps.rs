//! Sweeps: tokens of paid orders go to the treasury, on chain and in the books; nothing else does (ADR 24).

use std::sync::Arc;

use domain::chain::{Address, ChainNumber, IntentKind, KeyRole, vault};
use domain::chain_tx::{ChainTx, TRIES_MAX, TxState};
use domain::currency::StableCoin;
use domain::exchange::{ExchangeState, OrderRefusal};
use domain::ids::ExchangeId;
use domain::ledger::{AccountCode, Funding};
use domain::sweep::SweepState;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use engine::command::Refused;
use engine::wallets::{Caller, Denied};
use serde_json::json;
use testkit::bank::{Behaviour, DelayRange};
use testkit::wait::AT_MOST;

use super::super::orders::order_to;
use super::{address, broadcast, is_mined, now, tenant, until_open};
use crate::harness::own_node::OwnNode;
use crate::harness::{Json, On, Setup, on_both_stores};

on_both_stores! {
    exchanged_coins_are_swept_to_the_treasury
    a_small_amount_is_swept_when_its_time_has_come
    coins_of_a_failed_pay_out_go_back_and_are_never_swept
    a_sweep_that_a_reorganisation_takes_away_is_sent_once
    a_sweep_outlives_a_restart_and_is_sent_once
    coins_that_were_swept_are_given_back_once_the_controller_has_them
    a_treasury_that_cannot_be_paid_is_a_persons_matter
}

const USDC: StableCoin = StableCoin::Usdc;
const COIN: i64 = 1_000_000;

fn terms(at: &str, every_s: &str) -> Setup {
    Setup::with_wallets().set("chain.sweep_at", at).set("chain.sweep_every_s", every_s)
}

/// The threshold for an immediate sweep, and the delay for smaller amounts.
async fn sweeping(on: On, at: &str, every_s: &str) -> OwnNode {
    OwnNode::configured(on, terms(at, every_s)).await
}

/// The address of the bank's controller.
fn controller(node: &OwnNode) -> String {
    node.running
        .chain()
        .contracts
        .controller(tenant(node))
        .expect("a controller")
        .address
        .to_string()
}

/// The treasury according to the controller.
fn treasury(node: &OwnNode) -> String {
    let selector = &vault::hash(&[b"treasury()"]).0[..4];
    let data: String = selector.iter().map(|byte| format!("{byte:02x}")).collect();
    let call = json!([{ "to": controller(node), "data": format!("0x{data}") }, "latest"]);
    let answer = node.chain.call("eth_call", call).expect("an answer");
    format!("0x{}", &answer.as_str().expect("a word")[26..])
}

/// The book balances of controller and treasury.
async fn booked(node: &OwnNode) -> [i64; 2] {
    let accounts = node.running.store().accounts(tenant(node)).await.expect("read");
    [
        AccountCode::Unswept(ChainNumber::FIRST, USDC),
        AccountCode::Treasury(ChainNumber::FIRST, USDC),
    ]
    .map(|code| {
        let account = accounts.iter().find(|account| account.code == code);
        account.map_or(0, |account| account.balance().minor)
    })
}

async fn on_chain(node: &OwnNode) -> [i64; 2] {
    let with =
        async |address: String| i64::try_from(node.holds(USDC, &address).await).expect("63 bits");
    [with(controller(node)).await, with(treasury(node)).await]
}

/// Waits for these book balances of controller and treasury, and checks the chain.
async fn lies(node: &OwnNode, coins: [i64; 2]) {
    let wanted = coins.map(|coins| coins * COIN);
    let there =
        testkit::wait::until_async(AT_MOST, || async { booked(node).await == wanted }).await;
    let alerts = node.running.store().alerts(tenant(node), 9).await;
    assert!(
        there,
        "{:?} is not {wanted:?}: {:?} {alerts:?}",
        booked(node).await,
        sweeps(node).await
    );
    assert_eq!(on_chain(node).await, wanted);
}

async fn sweeps(node: &OwnNode) -> Vec<(SweepState, i64)> {
    let sweeps = node.running.store().sweeps(tenant(node), 9).await.expect("read");
    sweeps.into_iter().map(|sweep| (sweep.state, sweep.minor)).collect()
}

async fn order(node: &OwnNode, wallet: &str, amount: &str) -> Json {
    node.bank.order_call(wallet, amount, r#","lock_rate":true"#).send().await.ok()
}

/// A paid order of 40 tokens, while the chain continues.
async fn settled(node: &OwnNode, wallet: &str) -> Json {
    let order = order(node, wallet, "40.00").await;
    node.bank.order_is(&order, ExchangeState::Settled).await;
    order
}

async fn exchanged_coins_are_swept_to_the_treasury(on: On) {
    let node = sweeping(on, "40", "86400").await;
    let wallet = node.bank.funded("swept").await;
    let small = order(&node, &wallet, "30.00").await;
    node.bank.order_is(&small, ExchangeState::Settled).await;
    lies(&node, [30, 0]).await;
    settled(&node, &wallet).await;
    lies(&node, [0, 70]).await;
    assert_eq!(sweeps(&node).await, [(SweepState::Done, 70 * COIN)]);
    until_open(&node, <[_]>::is_empty).await;
    node.agrees_with_the_ledger().await;
    node.finish().await;
}

async fn a_small_amount_is_swept_when_its_time_has_come(on: On) {
    let node = sweeping(on, "1000000", "1").await;
    let wallet = node.bank.funded("timed").await;
    settled(&node, &wallet).await;
    lies(&node, [0, 40]).await;
    let small = order(&node, &wallet, "10.00").await;
    node.bank.order_is(&small, ExchangeState::Settled).await;
    lies(&node, [0, 50]).await;
    assert_eq!(sweeps(&node).await.len(), 2);
    node.agrees_with_the_ledger().await;
    node.finish().await;
}

async fn coins_of_a_failed_pay_out_go_back_and_are_never_swept(on: On) {
    let node = sweeping(on, "1", "1").await;
    let wallet = node.bank.funded("given_back").await;
    let fails = order(&node, &wallet, "20.01").await;
    settled(&node, &wallet).await;
    node.bank.order_reaches(&wallet, fails["order_id"].text(), "FAILED").await;
    assert_eq!(node.bank.balance(&wallet, "USDC").await, "60.00");
    lies(&node, [0, 40]).await;
    assert_eq!(node.holds(USDC, &address(&node, &wallet).await).await, 60_000_000);
    // A refund in progress withheld its amount twice for a moment: the rest went with the next
    // sweep.
    let swept = sweeps(&node).await;
    let total: i64 = swept.iter().map(|(_, minor)| minor).sum();
    assert_eq!(total, 40 * COIN, "nothing of what went back: {swept:?}");
    until_open(&node, <[_]>::is_empty).await;
    node.agrees_with_the_ledger().await;
    node.finish().await;
}

/// The sweep's transaction, broadcast and not mined: from here on blocks are manual.
async fn sweep_broadcast(node: &OwnNode, wallet: &str) -> ChainTx {
    settled(node, wallet).await;
    node.by_hand();
    node.bank.bank.advance(Span::hours(2)).await;
    broadcast(node).await
}

async fn a_sweep_that_a_reorganisation_takes_away_is_sent_once(on: On) {
    let node = sweeping(on, "1000000", "3600").await;
    let wallet = node.bank.funded("reorganised").await;
    let sent = sweep_broadcast(&node, &wallet).await;
    node.mine(1);
    is_mined(&node, &sent).await;
    let hash = sent.attempts.last().expect("signed").hash.to_string();
    node.reorg_without(1, &hash);
    assert_eq!(on_chain(&node).await, [40 * COIN, 0], "it is gone");
    node.steady();
    lies(&node, [0, 40]).await;
    assert_eq!(now(&node, &sent).await.state, TxState::Succeeded, "the same bytes once more");
    assert_eq!(sweeps(&node).await, [(SweepState::Done, 40 * COIN)]);
    node.agrees_with_the_ledger().await;
    node.finish().await;
}

async fn a_sweep_outlives_a_restart_and_is_sent_once(on: On) {
    let node = sweeping(on, "1000000", "3600").await;
    let wallet = node.bank.funded("restarted").await;
    let sent = sweep_broadcast(&node, &wallet).await;
    assert_eq!(booked(&node).await, [40 * COIN, 0], "reserved, not moved");
    let node = node.restart().await;
    node.steady();
    lies(&node, [0, 40]).await;
    assert_eq!(now(&node, &sent).await.state, TxState::Succeeded);
    assert_eq!(sweeps(&node).await, [(SweepState::Done, 40 * COIN)]);
    until_open(&node, <[_]>::is_empty).await;
    node.agrees_with_the_ledger().await;
    node.finish().await;
}

async fn coins_that_were_swept_are_given_back_once_the_controller_has_them(on: On) {
    let later = Behaviour {
        return_after: DelayRange::millis(3_600_000, 3_600_000),
        ..Behaviour::instant()
    };
    let node = OwnNode::configured(on, terms("1", "1").bank(later)).await;
    let wallet = node.bank.funded("came_back").await;
    // An account whose bank returns the payment.
    let order = order_to(&node.bank, &wallet, "0003").await;
    node.bank.order_is(&order, ExchangeState::Settled).await;
    let id = ExchangeId::parse(order["order_id"].text()).expect("an id");
    lies(&node, [0, 10]).await;
    until_open(&node, <[_]>::is_empty).await;
    node.bank.bank.advance(Span::hours(2)).await;
    node.bank.is_alerted(AlertKind::Payout, "was returned").await;
    let caller =
        Caller { tenant: tenant(&node), policy: Arc::new(node.bank.bank.tenant.policy.clone()) };
    let recredit = || node.running.wallets().recredit_order(&caller, id, "ayesha");
    let refused = recredit().await;
    let is_short = |it: &Denied| {
        matches!(it, Denied::Refused(Refused::Exchange(OrderRefusal::Unfunded { .. })))
    };
    assert!(refused.as_ref().is_err_and(is_short), "{:?}", refused.map(|reply| reply.made));
    let faucet = node.running.chain().faucet.as_ref().expect("a sandbox's chain");
    let to = Address::parse(&controller(&node)).expect("an address");
    faucet.pay(USDC, to, 10_000_000).await.expect("given");
    node.running
        .payments()
        .fund_once(
            tenant(&node),
            Funding::Controller(ChainNumber::FIRST),
            (USDC, 10 * COIN),
            "0x9f2c",
            "ayesha",
        )
        .await
        .expect("booked");
    recredit().await.expect("there are enough");
    node.bank.balanced(&wallet, "USDC", "100.00").await;
    assert_eq!(booked(&node).await, [0, 0]);
    node.finish().await;
}

async fn a_treasury_that_cannot_be_paid_is_a_persons_matter(on: On) {
    let node = sweeping(on, "1000000", "3600").await;
    let wallet = node.bank.funded("refused").await;
    settled(&node, &wallet).await;
    freeze(&node, &treasury(&node));
    node.bank.bank.advance(Span::hours(2)).await;
    for tries in 1..=TRIES_MAX {
        let tried = || async {
            let newest = node.running.store().sweeps(tenant(&node), 1).await.expect("read").pop();
            let Some(sweep) = newest else { return false };
            let intents =
                node.running.store().intents(tenant(&node), &[sweep.intent]).await.expect("read");
            intents
                .first()
                .is_some_and(|intent| intent.kind() == IntentKind::Sweep && intent.tries >= tries)
        };
        assert!(
            testkit::wait::until_async(AT_MOST, tried).await,
            "{tries} tries: {:?}",
            sweeps(&node).await
        );
        // It waits between its attempts.
        node.bank.bank.advance(Span::mins(2)).await;
    }
    node.bank.is_alerted(AlertKind::Transaction, "sweep to the treasury failed").await;
    assert_eq!(sweeps(&node).await, [(SweepState::Failed, 40 * COIN)]);
    lies(&node, [40, 0]).await;
    node.finish().await;
}

/// Freezes an address on the controller with the compliance officer's key.
fn freeze(node: &OwnNode, account: &str) {
    let chain = node.running.chain();
    let officer = chain.signer.address(tenant(node), KeyRole::Compliance).expect("a key").0.into();
    let to = chain.contracts.controller(tenant(node)).expect("a controller").address.0.into();
    let mut data = vault::hash(&[b"setFrozen(address,bool,bytes32)"]).0[..4].to_vec();
    data.extend([0; 12]);
    data.extend(Address::parse(account).expect("an address").0);
    data.extend([0; 31]);
    data.push(1);
    data.extend([0; 32]);
    node.chain.transact_as(officer, Some(to), data, Default::default()).expect("executed");
}
