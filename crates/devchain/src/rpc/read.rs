//! Methods that read the chain and its accounts.

use alloy_primitives::{B256, U256};
use serde_json::{Value, json};

use super::fault::RpcFault;
use super::params::{BlockId, Params};
use super::show::{self, data, quantity};
use super::{call, fees};
use crate::block::Block;
use crate::build::Built;
use crate::sight::Sight;
use crate::world::World;

/// Node name shown to clients.
const CLIENT: &str = concat!("corridor-devchain/", env!("CARGO_PKG_VERSION"));

/// Answers read-only methods. `now` is in seconds since 1970: the time of the pending block.
pub(crate) fn read(
    sight: &Sight<'_>,
    now: u64,
    method: &str,
    params: Params<'_>,
) -> Result<Value, RpcFault> {
    match method {
        "eth_chainId" => Ok(quantity(sight.chain.chain_id)),
        "net_version" => Ok(json!(sight.chain.chain_id.to_string())),
        "web3_clientVersion" => Ok(json!(CLIENT)),
        "eth_syncing" => Ok(json!(false)),
        "eth_accounts" => Ok(json!([])),
        "eth_blockNumber" => Ok(quantity(sight.head_number())),
        "eth_getBlockByNumber" => block_by_number(sight, now, params),
        "eth_getBlockByHash" => {
            let (block, is_full) = (sight.by_hash(&params.hash(0)?), params.flag(1)?);
            Ok(block.map_or(Value::Null, |block| show::block(sight, block, is_full)))
        }
        "eth_getBalance" | "eth_getCode" | "eth_getTransactionCount" => {
            account(sight, now, method, params)
        }
        "eth_getStorageAt" => storage(sight, now, params),
        "eth_getTransactionByHash" => transaction(sight, params),
        "eth_getTransactionReceipt" => receipt(sight, params),
        "eth_getBlockReceipts" => block_receipts(sight, params),
        "eth_call" => call::call(sight, now, params),
        "eth_estimateGas" => call::estimate(sight, now, params),
        "eth_gasPrice" => Ok(fees::gas_price(sight)),
        "eth_maxPriorityFeePerGas" => Ok(quantity(fees::TIP)),
        "eth_feeHistory" => fees::history(sight, params),
        _ => Err(RpcFault::no_method(method)),
    }
}

/// The requested block; `Ok(None)` if there is none.
pub(crate) fn find<'a>(sight: &Sight<'a>, id: BlockId) -> Result<Option<&'a Block>, RpcFault> {
    let number = match id {
        BlockId::Hash(hash) => return Ok(sight.by_hash(&hash)),
        BlockId::Number(number) => number,
        BlockId::Latest | BlockId::Pending => sight.head_number(),
        BlockId::Safe => sight.safe_number(),
        BlockId::Finalized => sight.finalized_number(),
    };
    match sight.block(number) {
        None if number <= sight.head_number() => Err(RpcFault::pruned()),
        found => Ok(found),
    }
}

/// The requested block, which has to exist.
pub(crate) fn get<'a>(sight: &Sight<'a>, id: BlockId) -> Result<&'a Block, RpcFault> {
    find(sight, id)?.ok_or_else(|| RpcFault::server("header not found"))
}

/// Queries the state after a block. `question` also gets the block; for `pending`, the one that
/// would be mined now.
pub(crate) fn ask<T>(
    sight: &Sight<'_>,
    now: u64,
    id: BlockId,
    question: impl FnOnce(&mut World<'_>, &Block) -> T,
) -> Result<T, RpcFault> {
    if id == BlockId::Pending {
        let Built { block, changes, .. } = sight.chain.build_pending(now);
        let ancestors = |number| sight.chain.hash_at(number);
        let mut world = World::new(&sight.chain.state, &ancestors, changes);
        return Ok(question(&mut world, &block));
    }
    let block = get(sight, id)?;
    let gone = || {
        RpcFault::server(format!("historical state {} is not available", block.header.state_root))
    };
    sight.ask(block.number(), |world| question(world, block)).ok_or_else(gone)
}

fn block_by_number(sight: &Sight<'_>, now: u64, params: Params<'_>) -> Result<Value, RpcFault> {
    params.get(0)?;
    let (id, is_full) = (params.block(0)?, params.flag(1)?);
    if id == BlockId::Pending {
        return Ok(show::pending_block(sight, &sight.chain.build_pending(now).block, is_full));
    }
    Ok(find(sight, id)?.map_or(Value::Null, |block| show::block(sight, block, is_full)))
}

fn account(
    sight: &Sight<'_>,
    now: u64,
    method: &str,
    params: Params<'_>,
) -> Result<Value, RpcFault> {
    let (address, id) = (params.address(0)?, params.block(1)?);
    if method == "eth_getTransactionCount" && id == BlockId::Pending {
        let next = sight.chain.account(&address).nonce;
        return Ok(quantity(sight.chain.pool.next_nonce(address, next)));
    }
    ask(sight, now, id, |world, _| {
        let account = world.account(&address).unwrap_or(crate::state::Account::NONE);
        match method {
            "eth_getBalance" => quantity(account.balance),
            "eth_getCode" => data(world.code(&account.code_hash).original_bytes()),
            _ => quantity(account.nonce),
        }
    })
}

fn storage(sight: &Sight<'_>, now: u64, params: Params<'_>) -> Result<Value, RpcFault> {
    let (address, index, id) = (params.address(0)?, params.quantity(1)?, params.block(2)?);
    ask(sight, now, id, |world, _| data(B256::from(world.slot(address, index))))
}

fn transaction(sight: &Sight<'_>, params: Params<'_>) -> Result<Value, RpcFault> {
    let hash = params.hash(0)?;
    if let Some((block, index)) = sight.tx(&hash) {
        return Ok(show::tx(&block.body.txs[index], Some((sight, block, index))));
    }
    Ok(sight.waiting(&hash).map_or(Value::Null, |waiting| show::tx(waiting, None)))
}

fn receipt(sight: &Sight<'_>, params: Params<'_>) -> Result<Value, RpcFault> {
    let place = sight.tx(&params.hash(0)?);
    Ok(place.and_then(|(block, index)| show::receipt(sight, block, index)).unwrap_or(Value::Null))
}

fn block_receipts(sight: &Sight<'_>, params: Params<'_>) -> Result<Value, RpcFault> {
    let id = match params
        .get(0)?
        .as_str()
        .filter(|text| text.len() == "0x".len() + 2 * B256::len_bytes())
    {
        Some(_) => BlockId::Hash(params.hash(0)?),
        None => params.block(0)?,
    };
    // Waiting transactions have no receipts yet.
    let found = if id == BlockId::Pending { None } else { find(sight, id)? };
    let Some(block) = found else { return Ok(Value::Null) };
    Ok((0..block.body.txs.len()).filter_map(|index| show::receipt(sight, block, index)).collect())
}

/// Wei as JSON, for sums of several amounts.
pub(crate) fn wei(amount: u128) -> Value {
    quantity(U256::from(amount))
}
