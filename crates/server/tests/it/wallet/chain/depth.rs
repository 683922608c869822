//! How deep a payment must be before it counts: that is for its value to say (`decisions.md`, "Incoming transaction").

use super::{TOLD, paid_with};
use crate::harness::own_node::{DEPOSIT_DEPTH, OwnNode};
use crate::harness::{Json, On, on_both_stores};

on_both_stores! {
    a_payment_counts_from_the_depth_that_its_value_asks_for
}

/// So far is `safe` behind the newest block, and so far is `finalized`. Of three payments in three blocks, the largest
/// first, each counts one block after the one behind it.
const SAFE_LAG: u64 = DEPOSIT_DEPTH + 1;
const FINALIZED_LAG: u64 = DEPOSIT_DEPTH + 3;

async fn a_payment_counts_from_the_depth_that_its_value_asks_for(on: On) {
    let node = OwnNode::with_lags(on, SAFE_LAG, FINALIZED_LAG).await;
    let wallets = [node.wallet("large").await, node.wallet("medium").await, node.wallet("small").await];
    node.by_hand();
    let mut requests = Vec::new();
    for (wallet, amount) in wallets.iter().zip(["100000.00", "1000.00", "999.999999"]) {
        requests.push(paid_with(&node, wallet, amount).await.0);
    }
    let [large, medium, small] = &requests[..] else { panic!("three of them") };
    // The newest of them is one block deep.
    node.mine(DEPOSIT_DEPTH - 2);
    node.taken_in().await;
    for request in [small, medium, large] {
        assert!(nothing_is_told(&node, request));
    }
    for (counts, waiting) in [(small, &[medium, large][..]), (medium, &[large]), (large, &[])] {
        node.mine(1);
        assert_eq!(node.bank.webhooks(id(counts), 1).await[0], TOLD[0]);
        // They were looked at together with it.
        for request in waiting {
            assert!(nothing_is_told(&node, request), "{request}");
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

fn nothing_is_told(node: &OwnNode, request: &Json) -> bool {
    node.bank.receiver.book().taken_about(id(request)).is_empty()
}
