//! `eth_call` and `eth_estimateGas`: simulated transactions.

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Bytes, TxKind, U256};
use revm::context::TxEnv;
use revm::context::result::{EVMError, ExecutionResult, HaltReason, InvalidTransaction};
use serde_json::Value;

use super::fault::RpcFault;
use super::params::{self, BlockId, Params, at};
use super::read::{ask, get};
use super::show::{data, quantity};
use crate::block::{Block, empty_header};
use crate::exec::{Checks, Ran, TX_GAS_MAX, run};
use crate::sight::Sight;
use crate::world::World;

/// Maximum gas of an `eth_call`.
const CALL_GAS_MAX: u64 = 50_000_000;
/// Gas of a transfer to an account without code.
const TRANSFER_GAS: u64 = 21_000;
/// Gas stipend of a call with value.
const STIPEND: u64 = 2_300;
/// Permitted excess of an estimate, in thousandths.
const ESTIMATE_ERROR_PERMILLE: u64 = 15;

pub(crate) fn call(sight: &Sight<'_>, now: u64, params: Params<'_>) -> Result<Value, RpcFault> {
    let (mut tx, id) = (transaction(params)?, params.block(1)?);
    tx.gas_limit = tx.gas_limit.min(CALL_GAS_MAX);
    if params.optional(2).is_some() {
        return Err(RpcFault::params("state overrides are not supported"));
    }
    let ran = ask(sight, now, id, |world, block| run_at(sight, world, block, tx))??;
    match ran.result {
        ExecutionResult::Success { output, .. } => Ok(data(output.into_data())),
        ExecutionResult::Revert { output, .. } => Err(RpcFault::reverted(&output)),
        ExecutionResult::Halt { reason, .. } => Err(RpcFault::server(halt_text(&reason))),
    }
}

/// Estimates on the newest state, with the number and time of the next block.
pub(crate) fn estimate(sight: &Sight<'_>, now: u64, params: Params<'_>) -> Result<Value, RpcFault> {
    let (mut tx, id) = (transaction(params)?, params.block(1)?);
    let is_newest = matches!(id, BlockId::Latest | BlockId::Pending);
    ask(sight, now, id, |world, block| {
        let mut block = block.clone();
        if is_newest && id != BlockId::Pending {
            let head = get(sight, BlockId::Latest)?;
            block.header = empty_header(&head.header, head.hash, sight.chain.setting(now));
        }
        tx.gas_limit = highest(world, &tx, &block)?;
        search(tx.gas_limit, &mut |gas| {
            run_at(sight, world, &block, TxEnv { gas_limit: gas, ..tx.clone() })
        })
    })?
    .map(quantity)
}

/// Maximum gas that the sender may use and can pay for.
fn highest(world: &World<'_>, tx: &TxEnv, block: &Block) -> Result<u64, RpcFault> {
    let highest = tx.gas_limit.min(block.header.gas_limit).min(TX_GAS_MAX);
    if tx.gas_price == 0 {
        return Ok(highest);
    }
    let balance = world.account(&tx.caller).map(|account| account.balance).unwrap_or_default();
    let left = balance
        .checked_sub(tx.value)
        .ok_or_else(|| RpcFault::server("insufficient funds for transfer"))?;
    Ok(u64::try_from(left / U256::from(tx.gas_price))
        .map_or(highest, |allowance| allowance.min(highest)))
}

type Attempt<'a> = &'a mut dyn FnMut(u64) -> Result<Ran, RpcFault>;

/// The minimum sufficient gas, approximately; the same search as go-ethereum's.
fn search(highest: u64, attempt: Attempt<'_>) -> Result<u64, RpcFault> {
    if highest < TRANSFER_GAS {
        return Err(RpcFault::server(format!("gas required exceeds allowance ({highest})")));
    }
    let ran = attempt(highest)?;
    let gas = *ran.result.gas();
    match ran.result {
        ExecutionResult::Success { .. } => {}
        ExecutionResult::Revert { output, .. } => return Err(RpcFault::reverted(&output)),
        ExecutionResult::Halt { reason: HaltReason::OutOfGas(_), .. } => {
            return Err(RpcFault::server(format!("gas required exceeds allowance ({highest})")));
        }
        ExecutionResult::Halt { reason, .. } => return Err(RpcFault::server(halt_text(&reason))),
    }
    let (mut low, mut high) = (gas.tx_gas_used().saturating_sub(1), highest);
    // The first attempt suffices for a plain transfer, or a call without inner calls.
    let optimistic = (gas.tx_gas_used() + gas.inner_refunded() + STIPEND) * 64 / 63;
    for probe in [low + 1, optimistic] {
        if low < probe && probe < high {
            if suffices(attempt(probe)) { high = probe } else { low = probe }
        }
    }
    while low + 1 < high && (high - low) * 1_000 >= high * ESTIMATE_ERROR_PERMILLE {
        // Most transactions need little more than they use: search near the lower end first.
        let middle = low.midpoint(high).min(low * 2);
        if suffices(attempt(middle)) { high = middle } else { low = middle }
    }
    Ok(high)
}

fn suffices(attempt: Result<Ran, RpcFault>) -> bool {
    attempt.is_ok_and(|ran| ran.result.is_success())
}

fn run_at(
    sight: &Sight<'_>,
    world: &mut World<'_>,
    block: &Block,
    tx: TxEnv,
) -> Result<Ran, RpcFault> {
    let caller = tx.caller;
    run(world, &block.header, sight.chain.chain_id, tx, Checks::Question).map_err(|fault| match fault {
        EVMError::Transaction(InvalidTransaction::LackOfFundForMaxFee { fee, balance }) => RpcFault::server(format!(
            "insufficient funds for gas * price + value: address {caller} have {balance} want {fee}"
        )),
        EVMError::Transaction(InvalidTransaction::CallGasCostMoreThanGasLimit { initial_gas, gas_limit }) => {
            RpcFault::server(format!("intrinsic gas too low: have {gas_limit}, want {initial_gas}"))
        }
        other => RpcFault::server(other.to_string()),
    })
}

fn halt_text(reason: &HaltReason) -> String {
    match reason {
        HaltReason::OutOfGas(_) => "out of gas".to_owned(),
        HaltReason::InvalidFEOpcode => "invalid opcode: INVALID".to_owned(),
        HaltReason::OpcodeNotFound => "invalid opcode".to_owned(),
        HaltReason::InvalidJump => "invalid jump destination".to_owned(),
        HaltReason::StackUnderflow => "stack underflow".to_owned(),
        HaltReason::StackOverflow => "stack limit reached 1024".to_owned(),
        HaltReason::StateChangeDuringStaticCall => "write protection".to_owned(),
        HaltReason::CreateCollision => "contract address collision".to_owned(),
        HaltReason::OutOfFunds => "insufficient balance for transfer".to_owned(),
        HaltReason::CallTooDeep => "max call depth exceeded".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Converts the call object to a transaction of the interpreter.
fn transaction(params: Params<'_>) -> Result<TxEnv, RpcFault> {
    let fields = params
        .get(0)?
        .as_object()
        .ok_or_else(|| RpcFault::params("invalid argument 0: not an object"))?;
    let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
    let amount = |name: &str| field(name).map(params::quantity).transpose().map_err(at(0));
    let number = |name: &str| field(name).map(params::number).transpose().map_err(at(0));
    let address = |name: &str| field(name).map(params::address).transpose().map_err(at(0));
    let fee = |name: &str| {
        amount(name).map(|wei| wei.map(|wei| u128::try_from(wei).unwrap_or(u128::MAX)))
    };

    let (price, max_fee, tip) =
        (fee("gasPrice")?, fee("maxFeePerGas")?, fee("maxPriorityFeePerGas")?);
    if price.is_some() && (max_fee.is_some() || tip.is_some()) {
        return Err(RpcFault::server(
            "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified",
        ));
    }
    Ok(TxEnv {
        // EIP-1559 with a tip, or the form without tips.
        tx_type: if tip.is_some() { 2 } else { u8::from(field("accessList").is_some()) },
        caller: address("from")?.unwrap_or_default(),
        kind: address("to")?.map_or(TxKind::Create, TxKind::Call),
        gas_limit: number("gas")?.unwrap_or(CALL_GAS_MAX),
        gas_price: price.or(max_fee).or(tip).unwrap_or_default(),
        gas_priority_fee: tip,
        value: amount("value")?.unwrap_or_default(),
        data: input(field("input"), field("data"))?,
        access_list: field("accessList")
            .map(access_list)
            .transpose()
            .map_err(at(0))?
            .unwrap_or_default(),
        chain_id: None,
        ..TxEnv::default()
    })
}

fn input(input: Option<&Value>, data: Option<&Value>) -> Result<Bytes, RpcFault> {
    let input = input.map(params::bytes).transpose().map_err(at(0))?;
    let data = data.map(params::bytes).transpose().map_err(at(0))?;
    if input.is_some() && data.is_some() && input != data {
        let what = "both \"data\" and \"input\" are set and not equal. Please use \"input\" to pass transaction call data";
        return Err(RpcFault::params(what));
    }
    Ok(input.or(data).unwrap_or_default())
}

fn access_list(value: &Value) -> Result<AccessList, String> {
    let items = value.as_array().ok_or("an access list is expected")?;
    let item = |item: &Value| {
        let keys = item["storageKeys"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(AccessListItem {
            address: params::address(&item["address"])?,
            storage_keys: keys.iter().map(params::hash).collect::<Result<_, String>>()?,
        })
    };
    items.iter().map(item).collect::<Result<Vec<_>, String>>().map(AccessList)
}
