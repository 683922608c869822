//! `dev_*`: control of the chain by tests and the sandbox, which no real chain permits.

use std::time::Duration;

use alloy_primitives::B256;
use serde_json::{Value, json};

use super::fault::RpcFault;
use super::params::{self, Params, at};
use super::show::{data, quantity};
use crate::DevChain;
use crate::fault::Fault;
use crate::hand::LET_PASS_MAX_S;
use crate::options::Mining;
use crate::reorg::{Order, Reorg};

/// Maximum blocks of one `dev_mine`.
const MINE_MAX: u64 = 10_000;

impl DevChain {
    /// - `dev_mine(n = 1)`
    /// - `dev_setBalance(address, wei)`
    /// - `dev_reorg(depth, {drop: [hash], reinclude: bool, order: "same" | "reversed" | seed})`;
    ///   the hash of the new head
    /// - `dev_setIntervalMining(milliseconds)`; 0 = by hand, `null` = with each transaction
    /// - `dev_letPass(seconds)`
    /// - `dev_fault({drop_next_tx: n, rpc_error_next: {method: n}, rpc_lose_answer_next: {method:
    ///   n}, latency_ms, fee_multiplier, lag_blocks})`; unnamed faults stay; `dev_fault(null)` ends
    ///   all
    /// - `dev_snapshot()`: shortens the next start
    pub(super) fn control(&self, method: &str, params: Params<'_>) -> Result<Value, RpcFault> {
        match method {
            "dev_mine" => self.mine_some(params)?,
            "dev_setBalance" => self.set_balance(params.address(0)?, params.quantity(1)?)?,
            "dev_reorg" => {
                self.reorg(&reorg(params)?).map_err(|fault| RpcFault::server(fault.to_string()))?
            }
            "dev_setIntervalMining" => self.set_mining(mining(params)?),
            "dev_letPass" => self.let_some_pass(params)?,
            "dev_fault" => faults(params)?.into_iter().for_each(|fault| self.fault(fault)),
            "dev_snapshot" => self.snapshot()?,
            _ => return Err(RpcFault::no_method(method)),
        }
        Ok(self.look(|chain| {
            let head = chain.head();
            json!({ "number": quantity(head.number()), "hash": data(head.hash) })
        }))
    }

    fn mine_some(&self, params: Params<'_>) -> Result<(), RpcFault> {
        let count = params.optional(0).map_or(Ok(1), |value| plain(value, 0))?;
        if count > MINE_MAX {
            return Err(RpcFault::params(format!("invalid argument 0: at most {MINE_MAX} blocks")));
        }
        Ok(self.mine(count)?)
    }

    fn let_some_pass(&self, params: Params<'_>) -> Result<(), RpcFault> {
        let seconds = plain(params.get(0)?, 0)?;
        if seconds > LET_PASS_MAX_S {
            return Err(RpcFault::params(format!(
                "invalid argument 0: at most {LET_PASS_MAX_S} seconds"
            )));
        }
        self.let_pass(seconds);
        Ok(())
    }
}

/// A quantity or a plain number.
fn plain(value: &Value, index: usize) -> Result<u64, RpcFault> {
    value.as_u64().map_or_else(|| params::number(value).map_err(at(index)), Ok)
}

fn mining(params: Params<'_>) -> Result<Mining, RpcFault> {
    let Some(value) = params.optional(0) else { return Ok(Mining::Instant) };
    Ok(match plain(value, 0)? {
        0 => Mining::ByHand,
        millis => Mining::Every(Duration::from_millis(millis)),
    })
}

fn reorg(params: Params<'_>) -> Result<Reorg, RpcFault> {
    let depth = plain(params.get(0)?, 0)?;
    let Some(more) = params.optional(1) else { return Ok(Reorg { depth, ..Reorg::default() }) };
    let drop = more["drop"].as_array().map(Vec::as_slice).unwrap_or_default();
    let order = match &more["order"] {
        Value::Null => Order::Same,
        Value::String(name) if name == "same" => Order::Same,
        Value::String(name) if name == "reversed" => Order::Reversed,
        seed => Order::Shuffled(plain(seed, 1)?),
    };
    Ok(Reorg {
        depth,
        drop: drop.iter().map(params::hash).collect::<Result<Vec<B256>, _>>().map_err(at(1))?,
        reinclude: more["reinclude"].as_bool().unwrap_or_default(),
        order,
    })
}

fn faults(params: Params<'_>) -> Result<Vec<Fault>, RpcFault> {
    let Some(wanted) = params.optional(0) else { return Ok(vec![Fault::None]) };
    let wanted = wanted.as_object().ok_or_else(|| at(0)("not an object".to_owned()))?;
    let mut faults = Vec::new();
    for (name, value) in wanted {
        match name.as_str() {
            "drop_next_tx" => faults.push(Fault::DropTxs(plain(value, 0)?)),
            "latency_ms" => faults.push(Fault::LatencyMs(plain(value, 0)?)),
            "fee_multiplier" => faults.push(Fault::FeeMultiplier(plain(value, 0)?)),
            "lag_blocks" => faults.push(Fault::LagBlocks(plain(value, 0)?)),
            "rpc_error_next" | "rpc_lose_answer_next" => {
                let methods =
                    value.as_object().ok_or_else(|| at(0)(format!("{name}: not an object")))?;
                for (method, count) in methods {
                    let (method, count) = (method.clone(), plain(count, 0)?);
                    faults.push(match name.as_str() {
                        "rpc_error_next" => Fault::Error { method, count },
                        _ => Fault::LoseAnswer { method, count },
                    });
                }
            }
            _ => return Err(at(0)(format!("unknown fault {name}"))),
        }
    }
    Ok(faults)
}
