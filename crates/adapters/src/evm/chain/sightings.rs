//! Receipts, and whether a quorum of nodes has them: a result that credits money or finalizes a
//! transaction is checked against each node's view of the transaction and of its reported block.

use std::cmp::Reverse;

use domain::chain::{Address, BlockHash, ChainFault, Receipt, Sighting, TransferAt, TxHash};
use serde_json::json;

use super::EvmChain;
use super::quorum::disagreement;
use super::reads::{BLOCK_BY_NUMBER, header_params};
use crate::evm::rpc::{Endpoint, Request, RpcFault, height, read};
use crate::evm::wire::{Header, Log, TxReceipt};

const RECEIPT: &str = "eth_getTransactionReceipt";

/// A node's view of a transaction reported to be in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// The node has the transaction in that block.
    There(Box<Receipt>),
    /// The node has the block without the transaction, or another block at that height.
    Otherwise,
    /// The node has not reached that height.
    NotYet,
}

impl EvmChain {
    /// A transaction's receipt from any node. If they differ, the one that most of them have, and of
    /// those the lowest: a node may claim a block that is not there.
    pub(super) async fn any_receipt(
        &self,
        tx: TxHash,
        controllers: &[Address],
    ) -> Result<Option<Receipt>, ChainFault> {
        let said = self.every(|node| Box::pin(self.receipt_of(node, tx, controllers))).await;
        let answered = said.answers.len();
        let found: Vec<Receipt> =
            said.answers.into_iter().filter_map(|(_, receipt)| receipt).collect();
        let having = |receipt: &Receipt| found.iter().filter(|other| *other == receipt).count();
        let best = found.iter().min_by_key(|it| (Reverse(having(it)), it.block_number));
        match best {
            Some(receipt) => Ok(Some(receipt.clone())),
            // A node that does not answer may have it.
            None if answered < self.needed() => said.fault.map_or(Ok(None), Err),
            None => Ok(None),
        }
    }

    pub(super) async fn sighting_of(&self, transfer: &TransferAt) -> Result<Sighting, ChainFault> {
        let at = (transfer.tx, transfer.block_number, transfer.block);
        let what = || {
            format!(
                "transfer {} of {} in block {}",
                transfer.ordinal, transfer.tx, transfer.block_number
            )
        };
        self.sighting(at, &[], |receipt| transfer.is_in(receipt), what).await
    }

    pub(super) async fn confirmation_of(
        &self,
        receipt: &Receipt,
        controllers: &[Address],
    ) -> Result<Sighting, ChainFault> {
        let at = (receipt.tx, receipt.block_number, receipt.block);
        let what = || format!("the receipt of {} in block {}", receipt.tx, receipt.block_number);
        self.sighting(at, controllers, |other| other == receipt, what).await
    }

    async fn sighting(
        &self,
        (tx, number, block): (TxHash, u64, BlockHash),
        controllers: &[Address],
        is_it: impl Fn(&Receipt) -> bool,
        what: impl Fn() -> String,
    ) -> Result<Sighting, ChainFault> {
        let said = self
            .every(|node| Box::pin(self.look_for(node, (tx, number, block), controllers)))
            .await;
        let (mut having, mut missing) = (Vec::new(), Vec::new());
        for (node, seen) in said.answers {
            match seen {
                Seen::There(receipt) if is_it(&receipt) => having.push(node),
                Seen::There(_) | Seen::Otherwise => missing.push(node),
                Seen::NotYet => {}
            }
        }
        match (&having[..], &missing[..]) {
            ([having, ..], [missing, ..]) => Err(disagreement(what(), having, missing)),
            (having, _) if having.len() >= self.needed() => Ok(Sighting::Confirmed),
            (_, missing) if missing.len() >= self.needed() => Ok(Sighting::Absent),
            ([], []) => said.fault.map_or(Ok(Sighting::Open), Err),
            _ => Ok(Sighting::Open),
        }
    }

    async fn look_for(
        &self,
        node: &Endpoint,
        (tx, number, block): (TxHash, u64, BlockHash),
        controllers: &[Address],
    ) -> Result<Seen, RpcFault> {
        let requests = [
            Request::new(RECEIPT, json!([tx.to_string()])),
            Request::new(BLOCK_BY_NUMBER, header_params(height(number))),
        ];
        let [receipt, header] = node.ask_each_of(&requests).await?;
        let header: Option<Header> = read(BLOCK_BY_NUMBER, header)?;
        let Some(header) = header else { return Ok(Seen::NotYet) };
        if header.block().hash != block {
            return Ok(Seen::Otherwise);
        }
        let receipt = self.read_receipt(read(RECEIPT, receipt)?, tx, controllers)?;
        Ok(
            match receipt.filter(|receipt| (receipt.block_number, receipt.block) == (number, block))
            {
                Some(receipt) => Seen::There(Box::new(receipt)),
                None => Seen::Otherwise,
            },
        )
    }

    async fn receipt_of(
        &self,
        node: &Endpoint,
        tx: TxHash,
        controllers: &[Address],
    ) -> Result<Option<Receipt>, RpcFault> {
        let receipt: Option<TxReceipt> = node.ask(RECEIPT, json!([tx.to_string()])).await?;
        self.read_receipt(receipt, tx, controllers)
    }

    fn read_receipt(
        &self,
        receipt: Option<TxReceipt>,
        tx: TxHash,
        controllers: &[Address],
    ) -> Result<Option<Receipt>, RpcFault> {
        let Some(receipt) = receipt else { return Ok(None) };
        if receipt.transaction_hash.0 != tx {
            return Err(RpcFault::Malformed(format!(
                "the receipt of {} instead of {tx}",
                receipt.transaction_hash.0
            )));
        }
        let (block, block_number) = (receipt.block_hash.0, receipt.block_number.0);
        let belongs = |log: &Log| {
            log.transaction_hash.0 == tx
                && log.block_hash.0 == block
                && log.block_number.0 == block_number
        };
        let ours = self.ours(controllers);
        let refusals = ours.refusals(&receipt.logs, |data| self.contracts.reverts.describe(data));
        let executed = ours.executed(&receipt.logs);
        let logs = ours.read(receipt.logs, belongs)?;
        let succeeded = match receipt.status.0 {
            1 => true,
            0 if logs.is_empty() => false,
            status => {
                return Err(RpcFault::Malformed(format!(
                    "status {status} with {} logs",
                    logs.len()
                )));
            }
        };
        Ok(Some(Receipt {
            tx,
            block_number,
            block,
            succeeded,
            gas_used: receipt.gas_used.0,
            logs,
            refusals,
            executed,
        }))
    }
}
