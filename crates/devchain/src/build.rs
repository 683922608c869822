//! Building a block: executes candidates on top of a state and collects their effects.

use alloy_consensus::{Header, Transaction as _};
use alloy_primitives::Bytes;
use revm::context::result::{EVMError, ExecutionResult, InvalidTransaction};

use crate::block::{Block, Body, Grant, Receipt, complete};
use crate::exec::{Checks, run};
use crate::state::Changes;
use crate::tx::Tx;
use crate::world::World;

/// A block that is not part of the chain yet.
pub(crate) struct Built {
    pub(crate) block: Block,
    pub(crate) changes: Changes,
    /// Return or revert data of each transaction.
    pub(crate) outputs: Vec<Bytes>,
    /// Candidates that cannot be executed now, each with the reason.
    pub(crate) left_out: Vec<(Tx, LeftOut)>,
}

/// Reason why a candidate is not in the block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LeftOut {
    #[error("exceeds block gas limit")]
    BlockGas,
    #[error("{0}")]
    Refused(InvalidTransaction),
    #[error("{0}")]
    Other(String),
}

impl LeftOut {
    /// Whether it may become executable later.
    pub(crate) fn may_heal(&self) -> bool {
        match self {
            LeftOut::BlockGas => true,
            LeftOut::Refused(refusal) => matches!(
                refusal,
                InvalidTransaction::NonceTooHigh { .. }
                    | InvalidTransaction::LackOfFundForMaxFee { .. }
                    | InvalidTransaction::GasPriceLessThanBasefee
            ),
            LeftOut::Other(_) => false,
        }
    }
}

/// Builds a block of the executable candidates, in order.
pub(crate) fn build(
    mut world: World<'_>,
    header: Header,
    chain_id: u64,
    candidates: Vec<Tx>,
    grants: &[Grant],
) -> Built {
    let (mut body, mut outputs, mut left_out) = (Body::default(), Vec::new(), Vec::new());
    let mut gas_left = header.gas_limit;
    for tx in candidates {
        if tx.envelope().gas_limit() > gas_left {
            left_out.push((tx, LeftOut::BlockGas));
            continue;
        }
        match execute(&mut world, &header, chain_id, &tx) {
            Ok((receipt, output)) => {
                gas_left = gas_left.saturating_sub(receipt.gas_used);
                body.txs.push(tx);
                body.receipts.push(receipt);
                outputs.push(output);
            }
            Err(reason) => left_out.push((tx, reason)),
        }
    }
    let changes = world.into_changes();
    Built { block: complete(header, body, &changes, grants), changes, outputs, left_out }
}

fn execute(
    world: &mut World<'_>,
    header: &Header,
    chain_id: u64,
    tx: &Tx,
) -> Result<(Receipt, Bytes), LeftOut> {
    let checks = if tx.is_unsigned() { Checks::Unsigned } else { Checks::Full };
    let ran = run(world, header, chain_id, tx.env(), checks).map_err(|fault| match fault {
        EVMError::Transaction(refusal) => LeftOut::Refused(refusal),
        other => LeftOut::Other(other.to_string()),
    })?;
    world.commit(ran.state);
    let gas_used = ran.result.tx_gas_used();
    Ok(match ran.result {
        ExecutionResult::Success { logs, output, .. } => {
            (Receipt { succeeded: true, gas_used, logs }, output.into_data())
        }
        ExecutionResult::Revert { output, .. } => {
            (Receipt { succeeded: false, gas_used, logs: Vec::new() }, output)
        }
        ExecutionResult::Halt { .. } => {
            (Receipt { succeeded: false, gas_used, logs: Vec::new() }, Bytes::new())
        }
    })
}
