//! One run of the interpreter, with the rules of the Osaka hard fork.
//!
//! Precompiles run in Rust (no C code). The system contracts of EIP-4788 and EIP-2935, which write
//! roots and hashes into the state with each block, are left out: none of our contracts needs them.

use std::convert::Infallible;

use alloy_consensus::Header;
use alloy_primitives::U256;
use revm::context::result::{EVMError, ExecResultAndState, ExecutionResult, InvalidTransaction};
use revm::context::{BlockEnv, CfgEnv, TxEnv};
use revm::primitives::hardfork::SpecId;
use revm::state::EvmState;
use revm::{Context, ExecuteEvm as _, MainBuilder as _, MainContext as _};

use crate::world::World;

/// Hard fork of the chain.
pub(crate) const FORK: SpecId = SpecId::OSAKA;
/// Maximum gas of one transaction (EIP-7825).
pub const TX_GAS_MAX: u64 = 1 << 24;

/// Checks before a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// All checks of a broadcast transaction.
    Full,
    /// Unsigned: contracts may act, and gas is free.
    Unsigned,
    /// Read-only call: additionally, nonce and gas limits are not checked.
    Question,
}

pub(crate) type Ran = ExecResultAndState<ExecutionResult, EvmState>;

/// Runs a transaction as part of the block of `header`. Changes nothing: the result contains the
/// changes.
pub(crate) fn run(
    world: &mut World<'_>,
    header: &Header,
    chain_id: u64,
    tx: TxEnv,
    checks: Checks,
) -> Result<Ran, EVMError<Infallible, InvalidTransaction>> {
    let mut cfg = CfgEnv::new_with_spec(FORK).with_chain_id(chain_id);
    if checks != Checks::Full {
        cfg.disable_eip3607 = true;
        cfg.disable_base_fee = true;
    }
    if checks == Checks::Question {
        cfg.disable_nonce_check = true;
        cfg.disable_block_gas_limit = true;
        cfg.tx_gas_limit_cap = Some(u64::MAX);
    }
    let block = BlockEnv {
        number: U256::from(header.number),
        beneficiary: header.beneficiary,
        timestamp: U256::from(header.timestamp),
        gas_limit: header.gas_limit,
        basefee: header.base_fee_per_gas.unwrap_or_default(),
        prevrandao: Some(header.mix_hash),
        ..BlockEnv::default()
    };
    Context::mainnet().with_db(world).with_block(block).with_cfg(cfg).build_mainnet().transact(tx)
}
