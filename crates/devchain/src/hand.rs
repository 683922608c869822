//! What tests and the sandbox do to a chain without keys and without JSON: act as anybody, ask, fund, let time pass.

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

/// Most seconds that [`DevChain::let_pass`] lets pass at once: a hundred years.
pub const LET_PASS_MAX_S: u64 = 100 * 366 * 86_400;

/// What became of a transaction that was mined at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Hash of the transaction.
    pub hash: B256,
    /// Its block.
    pub block_number: u64,
    /// Whether it took effect.
    pub succeeded: bool,
    /// What it used.
    pub gas_used: u64,
    /// What it returned, or reverted with; for a deployment the contract's code.
    pub output: Bytes,
    /// The contract that it made.
    pub created: Option<Address>,
    /// What contracts wrote.
    pub logs: Vec<Log>,
}

/// Why there is no [`Outcome`] or no answer.
#[derive(Debug, thiserror::Error)]
pub enum HandFault {
    /// It cannot be executed: the sender lacks the value, or the gas limit is wrong.
    #[error("not executed: {0}")]
    NotExecuted(String),
    /// The contract reverted, with these bytes.
    #[error("execution reverted: {0}")]
    Reverted(Bytes),
    /// It ran out of gas or into an invalid instruction.
    #[error("execution stopped: {0}")]
    Stopped(String),
    /// The disk refuses.
    #[error(transparent)]
    Disk(#[from] DiskFault),
}

impl Unsigned {
    /// `from` calls `to`, with no value and as much gas as a transaction may use.
    pub fn call(from: Address, to: Address, data: impl Into<Bytes>) -> Unsigned {
        Unsigned { from, to: Some(to), data: data.into(), value: U256::ZERO, gas_limit: TX_GAS_MAX }
    }

    /// `from` deploys what `init_code` makes.
    pub fn deploy(from: Address, init_code: impl Into<Bytes>) -> Unsigned {
        Unsigned { from, to: None, data: init_code.into(), value: U256::ZERO, gas_limit: TX_GAS_MAX }
    }
}

impl DevChain {
    /// `from` does this in a block of its own, without a signature and without paying for gas.
    ///
    /// # Errors
    /// [`HandFault::NotExecuted`]. A revert is no error: look at [`Outcome::succeeded`].
    pub fn transact_as(
        &self,
        from: Address,
        to: Option<Address>,
        data: impl Into<Bytes>,
        value: U256,
    ) -> Result<Outcome, HandFault> {
        let unsigned = Unsigned { from, to, data: data.into(), value, gas_limit: TX_GAS_MAX };
        let mut outcomes = self.transact_all(vec![unsigned])?;
        outcomes.pop().ok_or_else(|| HandFault::NotExecuted("nothing came of it".to_owned()))
    }

    /// All of these in one block, in this order; all or none. Their gas limits together must fit the block's.
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

    /// Deploys what `init_code` makes and answers where.
    ///
    /// # Errors
    /// [`HandFault`], also where the constructor reverts.
    pub fn deploy(&self, from: Address, init_code: impl Into<Bytes>) -> Result<Address, HandFault> {
        let outcome = self.transact_as(from, None, init_code, U256::ZERO)?;
        outcome.created.ok_or(HandFault::Reverted(outcome.output))
    }

    /// What a call of `from` would return on the newest block. Changes nothing.
    ///
    /// # Errors
    /// [`HandFault`]
    pub fn ask(&self, from: Address, to: Address, data: impl Into<Bytes>) -> Result<Bytes, HandFault> {
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

    /// Makes so many blocks of what waits.
    ///
    /// # Errors
    /// [`DiskFault`]
    pub fn mine(&self, blocks: u64) -> Result<(), DiskFault> {
        for _ in 0..blocks {
            let now = self.now();
            self.change(|chain| chain.mine(now))?;
        }
        Ok(())
    }

    /// Replaces the newest blocks by others.
    ///
    /// # Errors
    /// [`ReorgFault`]
    pub fn reorg(&self, reorg: &Reorg) -> Result<(), ReorgFault> {
        self.change(|chain| chain.reorg(reorg))
    }

    /// Switches a fault on or off.
    pub fn fault(&self, fault: Fault) {
        self.change(|chain| chain.fault(fault));
    }

    /// Takes a snapshot at once, so that the next start has little to read.
    ///
    /// # Errors
    /// [`DiskFault`]
    pub fn snapshot(&self) -> Result<(), DiskFault> {
        self.change(Chain::snapshot)
    }

    /// Wei of an account.
    pub fn balance(&self, account: Address) -> U256 {
        self.look(|chain| chain.balance(&account))
    }

    /// Sets the wei of an account. Stays through reorganisations.
    ///
    /// # Errors
    /// [`DiskFault`]
    pub fn set_balance(&self, account: Address, balance: U256) -> Result<(), DiskFault> {
        self.change(|chain| chain.grant(Grant { account, balance }))
    }

    /// Code of a contract; empty where there is none.
    pub fn code(&self, contract: Address) -> Bytes {
        self.look(|chain| chain.code(&contract))
    }

    /// Transactions that an account has made: its next nonce.
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

    /// The next block is at least so many seconds younger than the newest one; [`LET_PASS_MAX_S`] at most.
    pub fn let_pass(&self, seconds: u64) {
        self.change(|chain| chain.not_before = chain.head().header.timestamp + seconds.min(LET_PASS_MAX_S));
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
