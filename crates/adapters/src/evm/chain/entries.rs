//! Logs, requested per block without an address filter: this shows payments in any token, and
//! counts transfers within their transaction without receipts. An answer is checked against the
//! header's bloom and against another node's answer, so an incomplete one proves nothing.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use domain::chain::{
    Address, Block, BlockAt, BlockHash, ChainFault, ChainLog, LogEvent, TxHash, Word,
};
use serde_json::{Value, json};

use super::EvmChain;
use super::quorum::disagreement;
use super::reads::{self, BLOCK_BY_NUMBER, header_params};
use crate::evm::bloom::Bloom;
use crate::evm::logs;
use crate::evm::rpc::{Endpoint, GET_LOGS, Request, RpcFault, height, read};
use crate::evm::wire::{Header, Log, TxReceipt};

const BLOCK_BY_HASH: &str = "eth_getBlockByHash";

impl EvmChain {
    pub(super) async fn logs_of(
        &self,
        hash: BlockHash,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, ChainFault> {
        let (block, bloom) = match self.remembered(hash) {
            Some(known) => known,
            None => self.first(|node| Box::pin(header_of(node, hash))).await?,
        };
        let bloom = bloom.as_ref();
        let said = self.first(|node| {
            Box::pin(
                async move { Ok((node, self.block_logs(node, &block, bloom, controllers).await?)) },
            )
        });
        let (answered, logs) = said.await?;
        // A log in another form than its event may be one that this node changed.
        let is_garbled = logs.iter().any(|log| log.event.is_undecodable());
        // No transfer of a supported token can be in the block, so one answer is enough.
        if !is_garbled && !self.tokens.iter().any(|token| may_have_transfers(bloom, token.address))
        {
            return Ok(logs);
        }
        let others = self.every(|node| {
            Box::pin(async move {
                if std::ptr::eq(node, answered) {
                    return Ok(None);
                }
                self.block_logs(node, &block, bloom, controllers).await.map(Some)
            })
        });
        let mut compared = false;
        // A node that fails or lacks the block is skipped: the block is read again once it is deep
        // enough.
        for (node, other) in others.await.answers {
            match other {
                Some(other) if other != logs => {
                    return Err(disagreement(
                        format!("the logs of block {}", block.number),
                        answered,
                        node,
                    ));
                }
                Some(_) => compared = true,
                None => {}
            }
        }
        // Nodes that share an index of logs lose the same ones. An answer of two with any logs is not
        // doubted: large blocks have a bloom that allows everything.
        let is_doubted = !compared || bloom.is_some() && logs.is_empty();
        if is_doubted && self.is_suspicious(bloom, &logs) || is_garbled && !compared {
            return self.read_closer(answered, &block, logs, controllers).await;
        }
        Ok(logs)
    }

    /// One node's logs of a block. A block cannot be requested in parts, except by receipts, which
    /// no node limits. A node that refuses logs in whatever words may still return receipts.
    async fn block_logs(
        &self,
        node: &Endpoint,
        block: &Block,
        bloom: Option<&Bloom>,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, RpcFault> {
        let logs = match node.ask::<Vec<Log>>(GET_LOGS, json!([filter_of(block)])).await {
            Ok(logs) if logs.is_empty() => {
                // Some nodes return an empty list for a block that they do not have.
                header_of(node, block.hash).await?;
                logs
            }
            Ok(logs) => logs::without_removed(logs)?,
            Err(fault) if fault.is_about_the_request() => {
                let receipts = self.receipts_logs(node, block, controllers).await;
                return receipts.map_err(|closer| more_telling(fault, closer));
            }
            Err(fault) => return Err(fault),
        };
        let lies = |log: &Log| {
            bloom.is_some_and(|bloom| {
                !bloom.is_empty()
                    && (!bloom.may_have(&log.address.0.0)
                        || log.topics.iter().any(|topic| !bloom.may_have(&topic.0.0)))
            })
        };
        if logs.iter().any(lies) {
            return Err(RpcFault::Malformed(format!(
                "a log that cannot be in block {}",
                block.number
            )));
        }
        self.ours(controllers).read(logs, |log| belongs(log, block))
    }

    async fn receipts_logs(
        &self,
        node: &Endpoint,
        block: &Block,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, RpcFault> {
        let params = json!([block.hash.to_string()]);
        let receipts: Option<Vec<TxReceipt>> = node.ask("eth_getBlockReceipts", params).await?;
        let missing = || RpcFault::Malformed(format!("it does not have block {}", block.hash));
        let mut logs = Vec::new();
        for receipt in receipts.ok_or_else(missing)? {
            if receipt.logs.iter().any(|log| log.transaction_hash != receipt.transaction_hash) {
                return Err(RpcFault::Malformed(
                    "a receipt with another transaction's logs".to_owned(),
                ));
            }
            logs.extend(receipt.logs);
        }
        self.ours(controllers).read(logs, |log| belongs(log, block))
    }

    /// Whether the header's bloom allows transfers of a supported token, or is missing, while the
    /// answer has none.
    fn is_suspicious(&self, bloom: Option<&Bloom>, logs: &[ChainLog]) -> bool {
        let has = |token: Address| {
            logs.iter()
                .any(|log| log.contract == token && matches!(log.event, LogEvent::Transfer { .. }))
        };
        bloom.is_none_or(|bloom| !bloom.is_empty())
            && self
                .tokens
                .iter()
                .any(|token| may_have_transfers(bloom, token.address) && !has(token.address))
    }

    /// The same block by its receipts, which nodes keep in a separate index; a node without
    /// receipts is asked for the logs again.
    async fn read_closer(
        &self,
        node: &Endpoint,
        block: &Block,
        logs: Vec<ChainLog>,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, ChainFault> {
        if let Ok(closer) = self.receipts_logs(node, block, controllers).await {
            return Ok(closer);
        }
        let again = self
            .block_logs(node, block, None, controllers)
            .await
            .map_err(|fault| fault.at(node.name()))?;
        Ok(if again.len() > logs.len() { again } else { logs })
    }

    /// Whether a node returns the logs of a block, by their filter or by receipts. One without this
    /// block lags, which its height shows.
    pub(super) async fn serves(&self, node: &Endpoint, block: &Block) -> Result<(), RpcFault> {
        let refused = match node.ask::<Vec<Log>>(GET_LOGS, json!([filter_of(block)])).await {
            Err(fault) if fault.is_about_the_request() => fault,
            said => return said.map(drop),
        };
        match reads::block(node, BlockAt::Number(block.number)).await {
            Ok(Some(here)) if here.hash == block.hash => {
                let receipts = self.receipts_logs(node, block, &[]).await;
                receipts.map(drop).map_err(|closer| more_telling(refused, closer))
            }
            Ok(_) => Ok(()),
            // Some nodes refuse to be asked about a block above their newest one.
            Err(fault)
                if fault.is_about_the_request()
                    && node.head().is_some_and(|newest| newest < block.number) =>
            {
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    /// One node's logs of a range of blocks.
    pub(super) async fn logs_between(
        &self,
        node: &Endpoint,
        from: u64,
        to: u64,
        controllers: &[Address],
    ) -> Result<Vec<ChainLog>, RpcFault> {
        let filter =
            json!({"fromBlock": height(from), "toBlock": height(to), "topics": [logs::topics()]});
        match logs_up_to(node, to, filter).await {
            Ok(logs) => {
                let within = from..=to;
                self.ours(controllers).read(logs, |log| within.contains(&log.block_number.0))
            }
            Err(fault) if from == to && fault.is_about_the_request() => {
                let Ok(Some(block)) = reads::block(node, BlockAt::Number(from)).await else {
                    return Err(fault);
                };
                let receipts = self.receipts_logs(node, &block, controllers).await;
                receipts.map_err(|closer| more_telling(fault, closer))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Blocks of a range for which any node reports a payment to an account in a supported token.
    pub(super) async fn blocks_of_payments(
        &self,
        account: Address,
        from: u64,
        to: u64,
    ) -> Result<Vec<u64>, ChainFault> {
        let tokens: Vec<String> =
            self.tokens.iter().map(|token| token.address.to_string()).collect();
        let topics = json!([logs::transfer_topic(), null, logs::address_topic(&account)]);
        let (from_block, to_block) = (height(from), height(to));
        let filter = json!({"fromBlock": from_block, "toBlock": to_block, "address": tokens, "topics": topics});
        let said = self.every(|node| Box::pin(logs_up_to(node, to, filter.clone()))).await;
        match said.any() {
            Ok(all) => {
                let blocks = all.iter().flatten().map(|log| log.block_number.0);
                let blocks: BTreeSet<u64> =
                    blocks.filter(|number| (from..=to).contains(number)).collect();
                Ok(blocks.into_iter().collect())
            }
            Err(_) if from < to => Err(ChainFault::TooMuch),
            Err(fault) => Err(fault),
        }
    }
}

impl EvmChain {
    /// Transactions of a range in which any node knows that the controller executed something about
    /// this id, newest first.
    pub(super) async fn executions(
        &self,
        controller: Address,
        about: Word,
        from: u64,
        to: u64,
    ) -> Result<Vec<TxHash>, ChainFault> {
        let (events, about) = (logs::execution_topics(), about.to_string());
        let filter = |topics: Value| json!({"fromBlock": height(from), "toBlock": height(to), "address": controller.to_string(), "topics": topics});
        let filters = [filter(json!([events, about])), filter(json!([events, null, about]))];
        let said = self.every(|node| {
            let [first, second] = filters.clone();
            Box::pin(async move {
                let mut logs = logs_up_to(node, to, first).await?;
                logs.extend(logs_up_to(node, to, second).await?);
                Ok(logs)
            })
        });
        let logs = match said.await.any() {
            Ok(all) => all.into_iter().flatten(),
            Err(_) if from < to => return Err(ChainFault::TooMuch),
            Err(fault) => return Err(fault),
        };
        let within = |log: &Log| (from..=to).contains(&log.block_number.0);
        let mut found: Vec<(u64, TxHash)> =
            logs.filter(within).map(|log| (log.block_number.0, log.transaction_hash.0)).collect();
        found.sort_unstable_by_key(|it| Reverse(*it));
        found.dedup();
        Ok(found.into_iter().map(|(_, tx)| tx).collect())
    }
}

fn filter_of(block: &Block) -> Value {
    logs::block_logs_filter(&block.hash.to_string())
}

/// The fault to report if a node refused logs, and gave no receipts either: a second refusal adds
/// nothing to the first.
fn more_telling(refusal: RpcFault, closer: RpcFault) -> RpcFault {
    if matches!(closer, RpcFault::Node(_)) { refusal } else { closer }
}

fn belongs(log: &Log, block: &Block) -> bool {
    log.block_hash.0 == block.hash && log.block_number.0 == block.number
}

/// Whether a block may contain transfers of a token; on a chain without blooms every block may.
fn may_have_transfers(bloom: Option<&Bloom>, token: Address) -> bool {
    bloom.is_none_or(|bloom| {
        bloom.is_empty() || bloom.may_have(&token.0) && bloom.may_have(&logs::transfer_word().0)
    })
}

/// A node's logs by a filter that ends at block `to`. A node that has not reached this block
/// returns the logs below it and does not say so: it is asked for the block first.
async fn logs_up_to(node: &Endpoint, to: u64, filter: Value) -> Result<Vec<Log>, RpcFault> {
    let requests = [
        Request::new(BLOCK_BY_NUMBER, header_params(height(to))),
        Request::new(GET_LOGS, Value::Array(vec![filter])),
    ];
    let [header, logs] = node.ask_each_of(&requests).await?;
    if read::<Option<Header>>(BLOCK_BY_NUMBER, header)?.is_none() {
        return Err(RpcFault::Malformed(format!("it does not have block {to}")));
    }
    logs::without_removed(read(GET_LOGS, logs)?)
}

async fn header_of(node: &Endpoint, hash: BlockHash) -> Result<(Block, Option<Bloom>), RpcFault> {
    let header: Option<Header> = node.ask(BLOCK_BY_HASH, json!([hash.to_string(), false])).await?;
    let header =
        header.ok_or_else(|| RpcFault::Malformed(format!("it does not have block {hash}")))?;
    let block = header.block();
    if block.hash != hash {
        return Err(RpcFault::Malformed(format!("block {} instead of {hash}", block.hash)));
    }
    Ok((block, header.bloom()))
}
