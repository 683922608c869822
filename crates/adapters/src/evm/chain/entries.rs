//! Logs and receipts. One unfiltered-by-address question for each block: it shows what is paid in any token, and counts
//! transfers within their transaction without asking for receipts.

use domain::chain::{Address, BlockAt, BlockHash, ChainFault, ChainLog, Receipt, TxHash};
use serde_json::{Value, json};

use super::{EvmChain, reads};
use crate::evm::logs;
use crate::evm::rpc::{Request, RpcFault, height, read};
use crate::evm::wire::{Header, Log, TxReceipt};

const GET_LOGS: &str = "eth_getLogs";
const BLOCK_BY_HASH: &str = "eth_getBlockByHash";

impl EvmChain {
    pub(super) async fn logs_of(&self, block: BlockHash, controllers: &[Address]) -> Result<Vec<ChainLog>, ChainFault> {
        match self.filtered(block, controllers).await {
            // A block cannot be asked for in parts, but by its receipts, which no node limits.
            Err(fault) if fault.is_too_much() => self.answer(self.read_receipts_of(block, controllers)).await,
            other => other.map_err(|fault| self.fault(fault)),
        }
    }

    /// Together with its header: some nodes answer no logs for a block that they do not have.
    async fn filtered(&self, block: BlockHash, controllers: &[Address]) -> Result<Vec<ChainLog>, RpcFault> {
        let filter = json!({"blockHash": block.to_string(), "topics": [logs::topics()]});
        let requests =
            [Request::new(GET_LOGS, json!([filter])), Request::new(BLOCK_BY_HASH, json!([block.to_string(), false]))];
        let mut answers = self.primary.ask_all(&requests).await?.into_iter();
        let mut next = || answers.next().ok_or_else(|| RpcFault::Malformed("a request without an answer".to_owned()));
        let (logs, header) = (next()?, next()?);
        let header: Option<Header> = read(BLOCK_BY_HASH, header)?;
        let header = header.ok_or_else(|| RpcFault::Malformed(format!("it does not have block {block}")))?.block();
        if header.hash != block {
            return Err(RpcFault::Malformed(format!("block {} instead of {block}", header.hash)));
        }
        let logs: Vec<Log> = read(GET_LOGS, logs)?;
        let belongs = |log: &Log| log.block_hash.0 == block && log.block_number.0 == header.number;
        self.ours(controllers).read(logs, belongs)
    }

    async fn read_receipts_of(&self, block: BlockHash, controllers: &[Address]) -> Result<Vec<ChainLog>, RpcFault> {
        let params = json!([block.to_string()]);
        let receipts: Option<Vec<TxReceipt>> = self.primary.ask("eth_getBlockReceipts", params).await?;
        let receipts = receipts.ok_or_else(|| RpcFault::Malformed(format!("it does not have block {block}")))?;
        let mut logs = Vec::new();
        for receipt in receipts {
            if receipt.logs.iter().any(|log| log.transaction_hash != receipt.transaction_hash) {
                return Err(RpcFault::Malformed("a receipt with another transaction's logs".to_owned()));
            }
            logs.extend(receipt.logs);
        }
        self.ours(controllers).read(logs, |log| log.block_hash.0 == block)
    }

    pub(super) async fn logs_between(
        &self,
        from: u64,
        to: u64,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, ChainFault> {
        let filter = json!({"fromBlock": height(from), "toBlock": height(to), "topics": [logs::topics()]});
        match self.primary.ask::<Vec<Log>>(GET_LOGS, Value::Array(vec![filter])).await {
            Ok(logs) => {
                let within = from..=to;
                let found = self.ours(controllers).read(logs, |log| within.contains(&log.block_number.0));
                found.map_err(|fault| self.fault(fault))
            }
            Err(fault) if fault.is_too_much() && from < to => Err(ChainFault::TooMuch),
            Err(fault) if fault.is_too_much() => {
                let block = self.answer(reads::block(&self.primary, BlockAt::Number(from))).await?;
                let block = block.ok_or_else(|| self.fault(fault))?;
                self.logs_of(block.hash, controllers).await
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    pub(super) async fn read_receipt(&self, tx: TxHash, controllers: &[Address]) -> Result<Option<Receipt>, RpcFault> {
        let params = json!([tx.to_string()]);
        let receipt: Option<TxReceipt> = self.primary.ask("eth_getTransactionReceipt", params).await?;
        let Some(receipt) = receipt else { return Ok(None) };
        if receipt.transaction_hash.0 != tx {
            return Err(RpcFault::Malformed(format!("the receipt of {} instead of {tx}", receipt.transaction_hash.0)));
        }
        let (block, block_number) = (receipt.block_hash.0, receipt.block_number.0);
        let belongs =
            |log: &Log| log.transaction_hash.0 == tx && log.block_hash.0 == block && log.block_number.0 == block_number;
        let ours = self.ours(controllers);
        let refusals = ours.refusals(&receipt.logs, |data| self.contracts.reverts.describe(data));
        let logs = ours.read(receipt.logs, belongs)?;
        let succeeded = match receipt.status.0 {
            1 => true,
            0 if logs.is_empty() => false,
            status => return Err(RpcFault::Malformed(format!("status {status} with {} logs", logs.len()))),
        };
        Ok(Some(Receipt { tx, block_number, block, succeeded, gas_used: receipt.gas_used.0, logs, refusals }))
    }
}
