//! Lanes of operator keys (ADR 26): several keys release one tenant's escrows, each
//! with its own sequence of transactions.

use std::collections::BTreeMap;

use domain::chain::Address;
use futures_util::future::join_all;

use super::acts::id;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    escrows_are_released_through_several_operators
    nothing_waits_until_further_operators_are_appointed
    what_a_lane_has_begun_goes_on_after_a_restart
}

const ESCROWS: usize = 12;

fn with(lanes: usize) -> Setup {
    Setup::with_wallets().set("chain.keys.seed_operators", &lanes.to_string())
}

/// The bank's operators, in order.
fn operators(bank: &WalletBank) -> Vec<Address> {
    bank.bank.running.chain().signer.operators(bank.bank.tenant.id).expect("keys")
}

/// Registers them as operators on chain with the sandbox's admin key.
async fn appointed(bank: &WalletBank) {
    let chain = bank.bank.running.chain();
    let faucet = chain.faucet.as_ref().expect("a sandbox's chain");
    faucet.fuel_keys(chain.signer.as_ref(), &[bank.bank.tenant.id]).await.expect("appointed");
    let controller = chain.contracts.controller(bank.bank.tenant.id).expect("a controller").address;
    for operator in operators(bank) {
        assert!(
            chain.chain.is_operator(controller, operator).await.expect("the node answers"),
            "{operator}"
        );
    }
}

/// The number of transactions of each operator on chain.
async fn sent(bank: &WalletBank) -> BTreeMap<Address, u64> {
    let mut sent = BTreeMap::new();
    for operator in operators(bank) {
        let nonce =
            bank.bank.running.chain().chain.nonce(operator).await.expect("the node answers");
        sent.insert(operator, nonce);
    }
    sent
}

/// Many requests, all paid at once.
async fn paid(bank: &WalletBank, wallet: &str) -> Vec<Json> {
    let mut requests = Vec::new();
    for _ in 0..ESCROWS {
        requests.push(bank.request(wallet, "5.00", "USDC").await);
    }
    join_all(requests.iter().map(|request| bank.paid(request, ""))).await;
    requests
}

async fn all_are_released(bank: &WalletBank, wallet: &str, requests: &[Json]) {
    bank.all_become(wallet, requests.len(), "COMPLETED").await;
    for request in requests {
        assert_eq!(bank.webhooks(id(request), 3).await, super::acts::THROUGH, "released once");
    }
    assert_eq!(bank.balance(wallet, "USDC").await, "60.00");
    bank.books_are_right().await;
}

async fn escrows_are_released_through_several_operators(on: On) {
    let bank = WalletBank::alone(on, with(3)).await;
    let wallet = bank.in_use("lanes").await;
    appointed(&bank).await;
    assert_eq!(operators(&bank).len(), 3);
    let requests = paid(&bank, &wallet).await;
    all_are_released(&bank, &wallet, &requests).await;
    let sent = sent(&bank).await;
    // The probability that all twelve fall into one of three lanes is 1 in 177,147.
    assert!(sent.values().filter(|count| **count > 0).count() >= 2, "{sent:?}");
    let led = bank.bank.running.store().role_leases().await.expect("read");
    for (operator, count) in &sent {
        let lane = format!("lane:{operator:?}");
        assert_eq!(led.iter().any(|lease| lease.name == lane), *count > 0, "{lane}: {led:?}");
    }
    bank.finish().await;
}

async fn nothing_waits_until_further_operators_are_appointed(on: On) {
    let bank = WalletBank::alone(on, with(3)).await;
    let wallet = bank.in_use("stand-in").await;
    // The controller was just deployed and knows only the first operator.
    let requests = paid(&bank, &wallet).await;
    all_are_released(&bank, &wallet, &requests).await;
    assert!(sent(&bank).await[&operators(&bank)[0]] > 0);
    bank.finish().await;
}

async fn what_a_lane_has_begun_goes_on_after_a_restart(on: On) {
    let bank = WalletBank::alone(on, with(3)).await;
    let wallet = bank.in_use("goes-on").await;
    appointed(&bank).await;
    let requests = paid(&bank, &wallet).await;
    // Wherever each of them is now.
    let bank = bank.restart().await;
    all_are_released(&bank, &wallet, &requests).await;
    let sent = sent(&bank).await;
    assert!(sent.values().filter(|count| **count > 0).count() >= 2, "{sent:?}");
    bank.finish().await;
}
