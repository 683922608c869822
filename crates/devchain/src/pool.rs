//! Transactions waiting to be mined. Nonce gaps wait too; a replacement with the same nonce has to
//! raise both fees by at least 10 %, as main network nodes require.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use alloy_consensus::Transaction as _;
use alloy_eips::eip2718::Encodable2718 as _;
use alloy_primitives::{Address, B256, U256};
use revm::context_interface::cfg::gas::calculate_initial_tx_gas_for_tx;

use crate::exec::{FORK, TX_GAS_MAX};
use crate::state::Account;
use crate::tx::{Tx, TxFault};

/// Maximum number of waiting transactions.
const POOL_MAX: usize = 20_000;
/// Maximum size of a transaction in bytes.
const TX_BYTES_MAX: usize = 128 * 1024;
/// Maximum size of creation code in bytes (EIP-3860).
const INIT_CODE_BYTES_MAX: usize = 49_152;
/// Minimum fees of a replacement, in percent of the replaced ones.
const REPLACEMENT_PERCENT: u128 = 110;

/// Reason for rejecting a transaction, with the messages of the most common node.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PoolFault {
    #[error(transparent)]
    Tx(#[from] TxFault),
    #[error("already known")]
    AlreadyKnown,
    #[error("oversized data: transaction size {size}, limit {TX_BYTES_MAX}")]
    Oversized { size: usize },
    #[error("max initcode size exceeded: code size {size}, limit {INIT_CODE_BYTES_MAX}")]
    InitCode { size: usize },
    #[error("exceeds block gas limit")]
    BlockGas,
    #[error("transaction gas limit too high (cap: {TX_GAS_MAX}, tx: {gas})")]
    TxGas { gas: u64 },
    #[error("max priority fee per gas higher than max fee per gas")]
    TipAboveFee,
    #[error("intrinsic gas too low: gas {gas}, minimum needed {needed}")]
    IntrinsicGas { gas: u64, needed: u64 },
    #[error("insufficient gas for floor data gas cost: gas {gas}, minimum needed {needed}")]
    FloorGas { gas: u64, needed: u64 },
    #[error("nonce too low: next nonce {next}, tx nonce {nonce}")]
    NonceTooLow { next: u64, nonce: u64 },
    #[error("insufficient funds for gas * price + value: balance {balance}, tx cost {cost}, overshot {}", cost - balance)]
    Funds { balance: U256, cost: U256 },
    #[error(
        "insufficient funds for gas * price + value: balance {balance}, queued cost {queued}, tx cost {cost}, overshot {}",
        queued.saturating_add(*cost) - balance
    )]
    QueuedFunds { balance: U256, queued: U256, cost: U256 },
    #[error("replacement transaction underpriced")]
    Underpriced,
    #[error("txpool is full")]
    Full,
}

#[derive(Debug)]
struct Waiting {
    tx: Tx,
    arrival: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    senders: HashMap<Address, BTreeMap<u64, Waiting>>,
    hashes: HashMap<B256, (Address, u64)>,
    arrivals: u64,
}

impl Pool {
    /// Adds a transaction of the given account, with the chain's block gas limit.
    pub(crate) fn add(
        &mut self,
        tx: Tx,
        account: Account,
        gas_limit: u64,
    ) -> Result<(), PoolFault> {
        if self.hashes.contains_key(&tx.hash()) {
            return Err(PoolFault::AlreadyKnown);
        }
        check_alone(&tx, gas_limit)?;
        if tx.nonce() < account.nonce {
            return Err(PoolFault::NonceTooLow { next: account.nonce, nonce: tx.nonce() });
        }
        self.check_funds(&tx, account.balance)?;
        if let Some(old) = self.at(tx.sender(), tx.nonce()) {
            if !outbids(&tx, old) {
                return Err(PoolFault::Underpriced);
            }
        } else if self.hashes.len() >= POOL_MAX {
            return Err(PoolFault::Full);
        }
        self.insert(tx);
        Ok(())
    }

    /// Returns a reorganised transaction to the pool, unless another with the same nonce waits.
    pub(crate) fn take_back(&mut self, tx: Tx) {
        if self.at(tx.sender(), tx.nonce()).is_none() {
            self.insert(tx);
        }
    }

    fn insert(&mut self, tx: Tx) {
        self.remove_at(tx.sender(), tx.nonce());
        self.arrivals += 1;
        let (sender, nonce, arrival) = (tx.sender(), tx.nonce(), self.arrivals);
        self.hashes.insert(tx.hash(), (sender, nonce));
        self.senders.entry(sender).or_default().insert(nonce, Waiting { tx, arrival });
    }

    fn remove_at(&mut self, sender: Address, nonce: u64) {
        let Some(theirs) = self.senders.get_mut(&sender) else { return };
        if let Some(old) = theirs.remove(&nonce) {
            self.hashes.remove(&old.tx.hash());
        }
        if theirs.is_empty() {
            self.senders.remove(&sender);
        }
    }

    pub(crate) fn remove(&mut self, tx: &Tx) {
        if self.hashes.contains_key(&tx.hash()) {
            self.remove_at(tx.sender(), tx.nonce());
        }
    }

    /// Removes transactions whose nonce the sender has passed.
    pub(crate) fn forget_below(&mut self, sender: Address, next_nonce: u64) {
        while let Some((&nonce, _)) =
            self.senders.get(&sender).and_then(|theirs| theirs.first_key_value())
            && nonce < next_nonce
        {
            self.remove_at(sender, nonce);
        }
    }

    pub(crate) fn get(&self, hash: &B256) -> Option<&Tx> {
        let (sender, nonce) = self.hashes.get(hash)?;
        self.at(*sender, *nonce)
    }

    /// Next nonce of a sender, after its waiting transactions without a gap.
    pub(crate) fn next_nonce(&self, sender: Address, next_nonce: u64) -> u64 {
        let waiting = (next_nonce..).take_while(|nonce| self.at(sender, *nonce).is_some());
        next_nonce + u64::try_from(waiting.count()).unwrap_or(u64::MAX)
    }

    /// Executable transactions at this base fee: highest tip first, then by arrival, and each
    /// sender's by nonce.
    pub(crate) fn executable(
        &self,
        base_fee: u64,
        next_nonce: impl Fn(&Address) -> u64,
    ) -> Vec<Tx> {
        let candidate = |sender: Address, nonce: u64| {
            let waiting = self.senders.get(&sender)?.get(&nonce)?;
            let pays = waiting.tx.is_unsigned()
                || waiting.tx.envelope().max_fee_per_gas() >= u128::from(base_fee);
            // The heap returns its greatest first: the highest tip, then the lowest arrival.
            pays.then(|| {
                (waiting.tx.tip(base_fee), std::cmp::Reverse(waiting.arrival), sender, nonce)
            })
        };
        let mut heads: BinaryHeap<_> = self
            .senders
            .keys()
            .filter_map(|sender| candidate(*sender, next_nonce(sender)))
            .collect();
        let mut chosen = Vec::new();
        while let Some((_, _, sender, nonce)) = heads.pop() {
            chosen.extend(self.at(sender, nonce).cloned());
            heads.extend(candidate(sender, nonce + 1));
        }
        chosen
    }

    fn at(&self, sender: Address, nonce: u64) -> Option<&Tx> {
        Some(&self.senders.get(&sender)?.get(&nonce)?.tx)
    }

    /// The sender can pay for all of its waiting transactions, including this one.
    fn check_funds(&self, tx: &Tx, balance: U256) -> Result<(), PoolFault> {
        let cost = tx.cost();
        if cost > balance {
            return Err(PoolFault::Funds { balance, cost });
        }
        let others = self
            .senders
            .get(&tx.sender())
            .into_iter()
            .flatten()
            .filter(|(nonce, _)| **nonce != tx.nonce());
        let queued =
            others.fold(U256::ZERO, |sum, (_, waiting)| sum.saturating_add(waiting.tx.cost()));
        if queued.saturating_add(cost) > balance {
            return Err(PoolFault::QueuedFunds { balance, queued, cost });
        }
        Ok(())
    }
}

/// Checks that do not depend on the sender.
fn check_alone(tx: &Tx, gas_limit: u64) -> Result<(), PoolFault> {
    let envelope = tx.envelope();
    let (size, gas) = (envelope.encode_2718_len(), envelope.gas_limit());
    if size > TX_BYTES_MAX {
        return Err(PoolFault::Oversized { size });
    }
    if envelope.kind().is_create() && envelope.input().len() > INIT_CODE_BYTES_MAX {
        return Err(PoolFault::InitCode { size: envelope.input().len() });
    }
    if gas > gas_limit {
        return Err(PoolFault::BlockGas);
    }
    if gas > TX_GAS_MAX {
        return Err(PoolFault::TxGas { gas });
    }
    if envelope.max_priority_fee_per_gas().is_some_and(|tip| tip > envelope.max_fee_per_gas()) {
        return Err(PoolFault::TipAboveFee);
    }
    let needed = calculate_initial_tx_gas_for_tx(tx.env(), FORK, None);
    if gas < needed.initial_regular_gas {
        return Err(PoolFault::IntrinsicGas { gas, needed: needed.initial_regular_gas });
    }
    if gas < needed.floor_gas {
        return Err(PoolFault::FloorGas { gas, needed: needed.floor_gas });
    }
    Ok(())
}

fn outbids(new: &Tx, old: &Tx) -> bool {
    let fees = |tx: &Tx| {
        let fee = tx.envelope().max_fee_per_gas();
        [fee, tx.envelope().max_priority_fee_per_gas().unwrap_or(fee)]
    };
    fees(new).into_iter().zip(fees(old)).all(|(new, old)| {
        let wanted = old.saturating_mul(REPLACEMENT_PERCENT) / 100;
        new > old && new >= wanted
    })
}
