//! Transaction fees: the tip of recent blocks, and headroom for the base fee to double. Uncapped:
//! the sender applies its own cap. Chains of the OP Stack also charge for the data that they publish
//! on Ethereum.

use domain::chain::{Address, ChainFault, Fees};
use serde_json::json;

use super::EvmChain;
use super::quorum::no_node;
use super::reads::wei;
use crate::evm::abi;
use crate::evm::hex::{self, Hex, quantity};
use crate::evm::rpc::{Endpoint, RpcFault};
use crate::evm::wire::FeeHistory;

/// `GasPriceOracle`, at the same address on every chain of the OP Stack.
const ORACLE: Address = {
    let mut address = [0; 20];
    (address[0], address[19]) = (0x42, 0x0f);
    Address(address)
};
/// Number of recent blocks whose tips are sampled.
const BLOCKS: u128 = 10;
/// Percentile of the tips in each block: the median.
const PERCENTILE: u8 = 50;

impl EvmChain {
    /// The lowest or highest fees that any node reports.
    pub(super) async fn read_fees(
        &self,
        chosen: impl Fn(u128, u128) -> u128,
    ) -> Result<Fees, ChainFault> {
        let all = self.every(|node| Box::pin(fees_of(node, self.min_tip))).await.any()?;
        let fees = all.into_iter().reduce(|one, other| Fees {
            max_fee: chosen(one.max_fee, other.max_fee),
            max_priority_fee: chosen(one.max_priority_fee, other.max_priority_fee),
        });
        fees.ok_or_else(no_node)
    }

    pub(super) async fn read_data_fee(&self, bytes: usize) -> Result<u128, ChainFault> {
        if self.has_oracle.get().is_none() && !self.read_deployed(ORACLE).await? {
            self.has_oracle.get_or_init(|| false);
        }
        if self.has_oracle.get() == Some(&false) {
            return Ok(0);
        }
        let data = hex::data(&abi::data_fee(bytes));
        match self.first(|node| Box::pin(wei(node, ORACLE, &data))).await {
            // Another contract, or an older one.
            Err(fault @ ChainFault::Reverted { .. }) => {
                if self.has_oracle.set(false).is_ok() {
                    tracing::warn!(%fault, "the fee for transactions' data is unknown and counts as 0");
                }
                Ok(0)
            }
            Ok(fee) => {
                self.has_oracle.get_or_init(|| true);
                Ok(fee)
            }
            fault => fault,
        }
    }
}

async fn fees_of(node: &Endpoint, min_tip: u128) -> Result<Fees, RpcFault> {
    let params = json!([quantity(BLOCKS), "latest", [PERCENTILE]]);
    let history = match node.ask::<FeeHistory>("eth_feeHistory", params).await {
        Ok(history) => fees(&history, min_tip)
            .ok_or_else(|| RpcFault::Malformed("a history of fees without a base fee".to_owned())),
        Err(fault) => Err(fault),
    };
    match history {
        // Its price is what a block would ask for, tip included.
        Err(fault @ (RpcFault::Node(_) | RpcFault::Malformed(_))) if !fault.is_pause() => {
            let price = node.ask::<Hex<u128>>("eth_gasPrice", json!([])).await;
            price.map(|Hex(price)| bounded(price, min_tip)).map_err(|_| fault)
        }
        history => history,
    }
}

/// A lower tip than the network's minimum attracts no validator, and empty blocks show none at all.
fn fees(history: &FeeHistory, min_tip: u128) -> Option<Fees> {
    // The last entry belongs to the next block.
    let base = history.base_fee_per_gas.last()?.0;
    let mut tips: Vec<u128> =
        history.reward.iter().flatten().filter_map(|tips| Some(tips.first()?.0)).collect();
    tips.retain(|tip| *tip > 0);
    tips.sort_unstable();
    let median = tips.get(tips.len() / 2).copied().unwrap_or_default();
    let max_priority_fee = median.max(min_tip);
    Some(bounded(base, max_priority_fee))
}

/// Fees with headroom for the base fee to double.
const fn bounded(base: u128, max_priority_fee: u128) -> Fees {
    Fees { max_fee: base.saturating_mul(2).saturating_add(max_priority_fee), max_priority_fee }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_tip_of_blocks_that_have_one_and_twice_the_base_fee() {
        const TIP_MIN: u128 = 100_000_000;
        const GWEI: u128 = 1_000_000_000;
        for (history, expected) in [
            (
                r#"{"baseFeePerGas":["0x3b9aca00","0x77359400"],"reward":[["0x77359400"],["0x0"]]}"#,
                (6 * GWEI, 2 * GWEI),
            ),
            (
                r#"{"baseFeePerGas":["0x0"],"reward":[["0x3b9aca00"],["0xb2d05e00"],["0x77359400"],[]]}"#,
                (2 * GWEI, 2 * GWEI),
            ),
            (r#"{"baseFeePerGas":["0x7"]}"#, (14 + TIP_MIN, TIP_MIN)),
            (r#"{"baseFeePerGas":["0x7"],"reward":null}"#, (14 + TIP_MIN, TIP_MIN)),
            (r#"{"baseFeePerGas":["0x7"],"reward":[["0x1"]]}"#, (14 + TIP_MIN, TIP_MIN)),
        ] {
            let history: FeeHistory = serde_json::from_str(history).expect("history");
            let (max_fee, max_priority_fee) = expected;
            let read = fees(&history, TIP_MIN);
            assert_eq!(read, Some(Fees { max_fee, max_priority_fee }), "{history:?}");
        }
        let empty: FeeHistory = serde_json::from_str(r#"{"baseFeePerGas":[]}"#).expect("history");
        assert_eq!(fees(&empty, TIP_MIN), None);
        for wrong in [r#"{}"#, r#"{"baseFeePerGas":[null]}"#, r#"{"baseFeePerGas":null}"#] {
            assert!(serde_json::from_str::<FeeHistory>(wrong).is_err(), "{wrong}");
        }
    }

    /// On Base 0.1 gwei is the whole cap.
    #[test]
    fn a_network_has_its_own_lowest_tip() {
        let history = r#"{"baseFeePerGas":["0x0"],"reward":[["0x1e8480"]]}"#;
        let history: FeeHistory = serde_json::from_str(history).expect("history");
        for (least, tip) in [(1_000_000, 2_000_000), (25_000_000_000, 25_000_000_000)] {
            assert_eq!(fees(&history, least).map(|fees| fees.max_priority_fee), Some(tip));
        }
    }
}
