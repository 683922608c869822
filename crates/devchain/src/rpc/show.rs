//! Blocks, transactions, receipts and logs as JSON.

use alloy_consensus::{Header, Transaction as _, Typed2718 as _};
use alloy_eips::eip2718::Encodable2718 as _;
use alloy_primitives::{B256, Bloom, Bytes, Log, U256, hex};
use serde_json::{Map, Value, json};

use crate::block::{Block, Receipt};
use crate::sight::Sight;
use crate::tx::Tx;

/// A quantity: hexadecimal without leading zeros.
pub(crate) fn quantity(number: impl TryInto<U256>) -> Value {
    let number: U256 = number.try_into().unwrap_or(U256::MAX);
    json!(format!("{number:#x}"))
}

pub(crate) fn data(bytes: impl AsRef<[u8]>) -> Value {
    json!(hex::encode_prefixed(bytes))
}

fn length(count: usize) -> Value {
    quantity(U256::from(count))
}

/// A block with full transactions or their hashes only.
pub(crate) fn block(sight: &Sight<'_>, block: &Block, is_full: bool) -> Value {
    let mut shown = header(&block.header);
    shown.insert("hash".to_owned(), data(sight.hash(block)));
    shown.insert("parentHash".to_owned(), data(sight.parent_hash(block)));
    let txs = block.body.txs.iter().enumerate().map(|(index, one)| match is_full {
        true => tx(one, Some((sight, block, index))),
        false => data(one.hash()),
    });
    let txs: Vec<Value> = txs.collect();
    let bytes: usize = block.body.txs.iter().map(|tx| tx.envelope().encode_2718_len()).sum();
    shown.insert("transactions".to_owned(), Value::Array(txs));
    shown.insert("size".to_owned(), length(bytes + alloy_rlp::Encodable::length(&block.header)));
    Value::Object(shown)
}

/// A pending block: it has no hash, nonce or miner.
pub(crate) fn pending_block(sight: &Sight<'_>, pending: &Block, is_full: bool) -> Value {
    let mut shown = block(sight, pending, false);
    if is_full {
        shown["transactions"] = pending.body.txs.iter().map(|one| tx(one, None)).collect();
    }
    for name in ["hash", "nonce", "miner"] {
        shown[name] = Value::Null;
    }
    shown
}

fn header(header: &Header) -> Map<String, Value> {
    let shown = json!({
        "number": quantity(header.number),
        "sha3Uncles": data(header.ommers_hash),
        "miner": data(header.beneficiary),
        "stateRoot": data(header.state_root),
        "transactionsRoot": data(header.transactions_root),
        "receiptsRoot": data(header.receipts_root),
        "logsBloom": data(header.logs_bloom),
        "difficulty": quantity(header.difficulty),
        "gasLimit": quantity(header.gas_limit),
        "gasUsed": quantity(header.gas_used),
        "timestamp": quantity(header.timestamp),
        "extraData": data(&header.extra_data),
        "mixHash": data(header.mix_hash),
        "nonce": data(header.nonce),
        "baseFeePerGas": quantity(header.base_fee_per_gas.unwrap_or_default()),
        "withdrawalsRoot": header.withdrawals_root.map(data),
        "blobGasUsed": quantity(header.blob_gas_used.unwrap_or_default()),
        "excessBlobGas": quantity(header.excess_blob_gas.unwrap_or_default()),
        "parentBeaconBlockRoot": header.parent_beacon_block_root.map(data),
        "requestsHash": header.requests_hash.map(data),
        "uncles": [],
        "withdrawals": [],
    });
    match shown {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Position of a mined transaction.
type Mined<'a> = (&'a Sight<'a>, &'a Block, usize);

/// A transaction; `None` means that it is pending.
pub(crate) fn tx(tx: &Tx, mined: Option<Mined<'_>>) -> Value {
    let envelope = tx.envelope();
    let signature = envelope.signature();
    let base_fee = mined.map(|(_, block, _)| block.base_fee());
    let price =
        base_fee.map_or_else(|| envelope.max_fee_per_gas(), |base_fee| tx.gas_price(base_fee));
    let mut shown = json!({
        "blockHash": mined.map(|(sight, block, _)| data(sight.hash(block))),
        "blockNumber": mined.map(|(_, block, _)| quantity(block.number())),
        "blockTimestamp": mined.map(|(_, block, _)| quantity(block.header.timestamp)),
        "transactionIndex": mined.map(|(_, _, index)| length(index)),
        "hash": data(tx.hash()),
        "type": quantity(envelope.ty()),
        "from": data(tx.sender()),
        "to": envelope.to().map(data),
        "nonce": quantity(envelope.nonce()),
        "gas": quantity(envelope.gas_limit()),
        "gasPrice": quantity(price),
        "value": quantity(envelope.value()),
        "input": data(envelope.input()),
        "chainId": envelope.chain_id().map(quantity),
        "r": quantity(signature.r()),
        "s": quantity(signature.s()),
    });
    let parity = u64::from(signature.v());
    if envelope.is_legacy() {
        shown["v"] = quantity(envelope.chain_id().map_or(27, |id| id * 2 + 35) + parity);
    } else {
        shown["v"] = quantity(parity);
        shown["yParity"] = quantity(parity);
        shown["accessList"] = access_list(tx);
    }
    if let Some(tip) = envelope.max_priority_fee_per_gas() {
        shown["maxFeePerGas"] = quantity(envelope.max_fee_per_gas());
        shown["maxPriorityFeePerGas"] = quantity(tip);
    }
    if let Some(list) = envelope.authorization_list() {
        shown["authorizationList"] = list.iter().map(authorization).collect();
    }
    shown
}

fn access_list(tx: &Tx) -> Value {
    let items = tx.envelope().access_list().into_iter().flat_map(|list| &list.0);
    let item = |item: &alloy_eips::eip2930::AccessListItem| {
        let keys: Vec<_> = item.storage_keys.iter().map(data).collect();
        json!({ "address": data(item.address), "storageKeys": keys })
    };
    items.map(item).collect()
}

fn authorization(signed: &alloy_eips::eip7702::SignedAuthorization) -> Value {
    json!({
        "chainId": quantity(*signed.chain_id()),
        "address": data(signed.address()),
        "nonce": quantity(signed.nonce()),
        "yParity": quantity(signed.y_parity()),
        "r": quantity(signed.r()),
        "s": quantity(signed.s()),
    })
}

/// Receipt of the transaction at a position of a block.
pub(crate) fn receipt(sight: &Sight<'_>, block: &Block, index: usize) -> Option<Value> {
    let (tx, receipt) = (block.body.txs.get(index)?, block.body.receipts.get(index)?);
    let before = &block.body.receipts[..index];
    let cumulative: u64 =
        before.iter().map(|receipt| receipt.gas_used).sum::<u64>() + receipt.gas_used;
    let bloom: Bloom = receipt.logs.iter().collect();
    let logs: Vec<_> = logs(sight, block, index).map(|log| log.to_json()).collect();
    Some(json!({
        "transactionHash": data(tx.hash()),
        "transactionIndex": length(index),
        "blockHash": data(sight.hash(block)),
        "blockNumber": quantity(block.number()),
        "from": data(tx.sender()),
        "to": tx.envelope().to().map(data),
        "contractAddress": tx.created().map(data),
        "type": quantity(tx.envelope().ty()),
        "status": quantity(u8::from(receipt.succeeded)),
        "gasUsed": quantity(receipt.gas_used),
        "cumulativeGasUsed": quantity(cumulative),
        "effectiveGasPrice": quantity(tx.gas_price(block.base_fee())),
        "logs": logs,
        "logsBloom": data(bloom),
    }))
}

/// A log entry with its position.
pub(crate) struct ShownLog<'a> {
    pub(crate) log: &'a Log,
    block: &'a Block,
    block_hash: B256,
    tx: B256,
    tx_index: usize,
    /// Index among the block's logs.
    index: usize,
}

/// Logs of the transaction at a position of a block.
pub(crate) fn logs<'a>(
    sight: &Sight<'_>,
    block: &'a Block,
    tx_index: usize,
) -> impl Iterator<Item = ShownLog<'a>> + use<'a> {
    let before =
        block.body.receipts.iter().take(tx_index).map(|receipt| receipt.logs.len()).sum::<usize>();
    let (block_hash, tx) =
        (sight.hash(block), block.body.txs.get(tx_index).map(Tx::hash).unwrap_or_default());
    let own = block.body.receipts.get(tx_index).map_or(&[][..], |receipt: &Receipt| &receipt.logs);
    let shown = move |(place, log)| ShownLog {
        log,
        block,
        block_hash,
        tx,
        tx_index,
        index: before + place,
    };
    own.iter().enumerate().map(shown)
}

impl ShownLog<'_> {
    pub(crate) fn to_json(&self) -> Value {
        let topics: Vec<_> = self.log.topics().iter().map(data).collect();
        let bytes: &Bytes = &self.log.data.data;
        json!({
            "address": data(self.log.address),
            "topics": topics,
            "data": data(bytes),
            "blockHash": data(self.block_hash),
            "blockNumber": quantity(self.block.number()),
            "blockTimestamp": quantity(self.block.header.timestamp),
            "transactionHash": data(self.tx),
            "transactionIndex": length(self.tx_index),
            "logIndex": length(self.index),
            "removed": false,
        })
    }
}
