//! Broadcasts a transaction to every node, once each. One node that accepts it is enough.

use domain::chain::Broadcast;
use futures_util::future::join_all;
use serde_json::json;

use super::EvmChain;
use crate::evm::hex::{self, Hex};
use crate::evm::rpc::Endpoint;
use crate::evm::transaction::hash_of;

impl EvmChain {
    pub(super) async fn tell_all(&self, raw: &[u8]) -> Broadcast {
        let outcomes = join_all(self.nodes.iter().map(|endpoint| tell(endpoint, raw))).await;
        let best = outcomes.into_iter().min_by_key(rank);
        best.unwrap_or_else(|| Broadcast::Indeterminate("no node".to_owned()))
    }
}

async fn tell(endpoint: &Endpoint, raw: &[u8]) -> Broadcast {
    let params = json!([hex::data(raw)]);
    match endpoint.ask::<Hex<domain::chain::TxHash>>("eth_sendRawTransaction", params).await {
        Ok(Hex(hash)) if hash == hash_of(raw) => Broadcast::Accepted,
        Ok(Hex(hash)) => Broadcast::Indeterminate(format!(
            "{}: it reports another hash, {hash}",
            endpoint.name()
        )),
        Err(fault) => match fault.broadcast() {
            Broadcast::Refused(text) => Broadcast::Refused(format!("{}: {text}", endpoint.name())),
            Broadcast::Indeterminate(text) => {
                Broadcast::Indeterminate(format!("{}: {text}", endpoint.name()))
            }
            other => other,
        },
    }
}

/// Picks the answer that counts: accepted by a node, then possibly accepted. A node that takes the
/// nonce for used hides no refusal of another one.
const fn rank(outcome: &Broadcast) -> u8 {
    match outcome {
        Broadcast::Accepted => 0,
        Broadcast::AlreadyKnown => 1,
        Broadcast::Indeterminate(_) => 2,
        Broadcast::Underpriced => 3,
        Broadcast::InsufficientFunds => 4,
        Broadcast::Refused(_) => 5,
        Broadcast::NonceTooLow => 6,
    }
}
