//! Actions of tests and the sandbox without keys and JSON: act as any account, query, fund, advance
//! time.

use std::collections::HashMap;

use alloy_primitives::{Address, B256, Bytes, Log, U256};
use revm::context::TxEnv;
use revm::context::result::ExecutionResult;
use revm::primitives::TxKind;

use crate::DevChain;
use crate::block::{Grant, empty_header};
use crate::build::Built;
use crate::chain::Chain;
use crate::disk::DiskFault;
use crate::exec::{Checks, TX_GAS_MAX, run};
use crate::fault::Fault;
use crate::reorg::{Reorg, ReorgFault};
use crate::state::Changes;
use crate::tx::Unsigned;
use crate::world::World;

/// Maximum seconds of [`DevChain::let_pass`]: a hundred years.
pub const LET_PASS_MAX_S: u64 = 100 * 366 * 86_400;

/// Result of a transaction that was mined at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Hash of the transaction.
    pub hash: B256,
    /// Number of its block.
    pub block_number: u64,
    /// Whether it took effect.
    pub succeeded: bool,
    pub gas_used: u64,
    /// Return or revert data; for a deployment the contract's code.
    pub output: Bytes,
    /// Address of the created contract, if any.
    pub created: Option<Address>,
    pub logs: Vec<Log>,
}

/// Reason why there is no [`Outcome`] or no answer.
#[derive(Debug, thiserror::Error)]
pub enum HandFault {
    /// It cannot be executed: insufficient balance or an invalid gas limit.
    #[error("not executed: {0}")]
    NotExecuted(String),
    /// The contract reverted, with these bytes.
    #[error("execution reverted: {0}")]
    Reverted(Bytes),
    /// Out of gas, or an invalid instruction.
    #[error("execution stopped: {0}")]
    Stopped(String),
    #[error(transparent)]
    Disk(#[from] DiskFault),
}

impl Unsigned {
    /// `from` calls `to` without value and with the maximum gas of a transaction.
    pub fn call(from: Address, to: Address, data: impl Into<Bytes>) -> Unsigned {
        Unsigned { from, to: Some(to), data: data.into(), value: U256::ZERO, gas_limit: TX_GAS_MAX }
    }

    /// `from` deploys the contract of `init_code`.
    pub fn deploy(from: Address, init_code: impl Into<Bytes>) -> Unsigned {
        Unsigned {
            from,
            to: None,
            data: init_code.into(),
            value: U256::ZERO,
            gas_limit: TX_GAS_MAX,
        }
    }
}

impl DevChain {
    /// Executes this in a block of its own, without a signature and without gas fees.
    ///
    /// # Errors
    /// [`HandFault::NotExecuted`]. A revert is not an error: see [`Outcome::succeeded`].
    pub fn transact_as(
        &self,
        from: Address,
        to: Option<Address>,
        data: impl Into<Bytes>,
        value: U256,
    ) -> Result<Outcome, HandFault> {
        let unsigned = Unsigned { from, to, data: data.into(), value, gas_limit: TX_GAS_MAX };
        let mut outcomes = self.transact_all(vec![unsigned])?;
        outcomes.pop().ok_or_else(|| HandFault::NotExecuted("no result".to_owned()))
    }

    /// Executes all of these in one block, in this order; all or none. Their gas limits together
    /// must fit into the block's.
    ///
    /// # Errors
    /// [`HandFault::NotExecuted`]
    pub fn transact_all(&self, calls: Vec<Unsigned>) -> Result<Vec<Outcome>, HandFault> {
        let now = self.now();
        self.change(|chain| {
            let mut ahead: HashMap<Address, u64> = HashMap::new();
            let txs = calls.into_iter().map(|call| {
                let ahead = ahead.entry(call.from).or_default();
                *ahead += 1;
                chain.unsigned(call, *ahead - 1)
            });
            let built = chain.build(txs.collect(), now);
            if let Some((_, reason)) = built.left_out.first() {
                return Err(HandFault::NotExecuted(reason.to_string()));
            }
            let outcomes = outcomes(&built);
            chain.commit(built.block, &built.changes)?;
            Ok(outcomes)
        })
    }

    /// Deploys the contract of `init_code` and returns its address.
    ///
    /// # Errors
    /// [`HandFault`], also if the constructor reverts.
    pub fn deploy(&self, from: Address, init_code: impl Into<Bytes>) -> Result<Address, HandFault> {
        let outcome = self.transact_as(from, None, init_code, U256::ZERO)?;
        outcome.created.ok_or(HandFault::Reverted(outcome.output))
    }

    /// Result of a call by `from` on the newest block. Changes nothing.
    pub fn ask(
        &self,
        from: Address,
        to: Address,
        data: impl Into<Bytes>,
    ) -> Result<Bytes, HandFault> {
        let tx = TxEnv {
            caller: from,
            kind: TxKind::Call(to),
            data: data.into(),
            gas_limit: TX_GAS_MAX,
            chain_id: None,
            gas_price: 0,
            ..TxEnv::default()
        };
        let now = self.now();
        let ran = self.look(|chain| {
            let head = chain.head();
            let header = empty_header(&head.header, head.hash, chain.setting(now));
            let ancestors = |number| chain.hash_at(number);
            let mut world = World::new(&chain.state, &ancestors, Changes::default());
            run(&mut world, &header, chain.chain_id, tx, Checks::Question)
        });
        match ran.map_err(|fault| HandFault::NotExecuted(fault.to_string()))?.result {
            ExecutionResult::Success { output, .. } => Ok(output.into_data()),
            ExecutionResult::Revert { output, .. } => Err(HandFault::Reverted(output)),
            ExecutionResult::Halt { reason, .. } => Err(HandFault::Stopped(format!("{reason:?}"))),
        }
    }

    /// Mines this many blocks from the pool.
    pub fn mine(&self, blocks: u64) -> Result<(), DiskFault> {
        for _ in 0..blocks {
            let now = self.now();
            self.change(|chain| chain.mine(now))?;
        }
        Ok(())
    }

    /// Replaces the newest blocks with others.
    pub fn reorg(&self, reorg: &Reorg) -> Result<(), ReorgFault> {
        self.change(|chain| chain.reorg(reorg))
    }

    /// Activates or ends a fault.
    pub fn fault(&self, fault: Fault) {
        self.change(|chain| chain.fault(fault));
    }

    /// Writes a snapshot at once, which shortens the next start.
    pub fn snapshot(&self) -> Result<(), DiskFault> {
        self.change(Chain::snapshot)
    }

    /// Balance of an account in wei.
    pub fn balance(&self, account: Address) -> U256 {
        self.look(|chain| chain.balance(&account))
    }

    /// Sets the balance of an account. Survives reorganisations.
    pub fn set_balance(&self, account: Address, balance: U256) -> Result<(), DiskFault> {
        self.change(|chain| chain.grant(Grant { account, balance }))
    }

    /// Code of a contract; empty if there is none.
    pub fn code(&self, contract: Address) -> Bytes {
        self.look(|chain| chain.code(&contract))
    }

    /// Number of an account's transactions: its next nonce.
    pub fn nonce(&self, account: Address) -> u64 {
        self.look(|chain| chain.account(&account).nonce)
    }

    /// Height of the newest block.
    pub fn block_number(&self) -> u64 {
        self.look(|chain| chain.head().number())
    }

    /// Time of the newest block, in seconds since 1970.
    pub fn block_time(&self) -> u64 {
        self.look(|chain| chain.head().header.timestamp)
    }

    /// Advances the next block's time by at least this many seconds; at most [`LET_PASS_MAX_S`].
    pub fn let_pass(&self, seconds: u64) {
        self.change(|chain| {
            chain.not_before = chain.head().header.timestamp + seconds.min(LET_PASS_MAX_S)
        });
    }
}

fn outcomes(built: &Built) -> Vec<Outcome> {
    let body = &built.block.body;
    let all = body.txs.iter().zip(&body.receipts).zip(&built.outputs);
    let one = all.map(|((tx, receipt), output)| Outcome {
        hash: tx.hash(),
        block_number: built.block.number(),
        succeeded: receipt.succeeded,
        gas_used: receipt.gas_used,
        output: output.clone(),
        created: tx.created().filter(|_| receipt.succeeded),
        logs: receipt.logs.clone(),
    });
    one.collect()
}
