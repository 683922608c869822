//! Confirmation depth: a payment's amount determines it (`decisions.md`, "Incoming transaction").

use domain::ids::WalletId;
use store::{Page, Transaction};

use super::{TOLD, paid_with};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode};
use crate::harness::{Json, On, on_both_stores};

on_both_stores! {
    a_payment_counts_from_the_depth_that_its_value_asks_for
}

/// Depths of the `safe` and `finalized` blocks. Of three payments in three blocks, largest first,
/// each counts one block after the one before it in this list.
const SAFE_LAG: u64 = DEPOSIT_DEPTH + 1;
const FINALIZED_LAG: u64 = DEPOSIT_DEPTH + 3;

async fn a_payment_counts_from_the_depth_that_its_value_asks_for(on: On) {
    let node = OwnNode::with_lags(on, SAFE_LAG, FINALIZED_LAG).await;
    let wallets =
        [node.wallet("large").await, node.wallet("medium").await, node.wallet("small").await];
    node.by_hand();
    let mut requests = Vec::new();
    for (wallet, amount) in wallets.iter().zip(["100000.00", "1000.00", "999.999999"]) {
        requests.push(paid_with(&node, wallet, amount).await.0);
    }
    let [large, medium, small] = &requests[..] else { panic!("three of them") };
    // The latest of them is one block deep.
    node.mine(DEPOSIT_DEPTH - 2);
    node.taken_in().await;
    for wallet in &wallets {
        assert!(!counts(&node, wallet).await, "{wallet}");
    }
    for (request, waiting) in [(small, &wallets[..2]), (medium, &wallets[..1]), (large, &[])] {
        node.mine(1);
        assert_eq!(node.bank.webhooks(id(request), 1).await[0], TOLD[0]);
        // They were checked together with it.
        for wallet in waiting {
            assert!(!counts(&node, wallet).await, "{wallet}");
        }
    }
    node.steady();
    for (wallet, request) in wallets.iter().zip(&requests) {
        node.bank.newest(wallet, "COMPLETED").await;
        assert_eq!(node.bank.webhooks(id(request), TOLD.len()).await, TOLD);
    }
    node.finish().await;
}

fn id(request: &Json) -> &str {
    request["payment_request_id"].text()
}

/// Whether the payment to a wallet counts, according to the store, which is first to know.
async fn counts(node: &OwnNode, wallet: &str) -> bool {
    let (bank, wallet) = (&node.bank.bank, WalletId::parse(wallet).expect("a wallet's id"));
    let newest =
        bank.running.store().transactions(bank.tenant.id, wallet, None, Page { page: 0, limit: 1 });
    match newest.await.expect("read").rows.first() {
        Some(Transaction::Deposit(deposit)) => {
            deposit.status().is_some_and(|status| status.name() != "PENDING")
        }
        _ => false,
    }
}
