//! The two RPC endpoints of the port: how far each is, what it leaves out and what it makes up. What they have in
//! common is the chain as it is.

use std::sync::Arc;

use domain::chain::{Address, BlockHash, ChainLog, LogEvent, Receipt, TxHash};

use super::blocks::{self, Blocks, View};
use super::contracts::{GAS_PER_ITEM, State};
use crate::faults::EndpointFault;
use crate::random::Random;

/// What an endpoint makes up: minor units.
const INVENTED: u64 = 777_000_000;
/// Where invented payments come from.
const INVENTOR: Address = Address([0xbd; 20]);
/// Place of an invented log in its block: after all others.
const INVENTED_INDEX: u32 = 1_000;

/// An endpoint at one moment.
pub struct Endpoint {
    pub view: View,
    /// What contracts hold, as far as it knows.
    pub state: Arc<State>,
    pub faults: Vec<EndpointFault>,
}

/// What an endpoint answers about a transaction that should be in a block.
pub enum Seen {
    /// It has the transaction there.
    There(Receipt),
    /// It has the block, and the transaction is not in there, or it has another block.
    Otherwise,
    /// It is not that far.
    NotYet,
}

impl Endpoint {
    fn has_fault(&self, is_it: impl Fn(&EndpointFault) -> bool) -> bool {
        self.faults.iter().any(is_it)
    }

    pub fn is_silent(&self) -> bool {
        self.has_fault(|fault| *fault == EndpointFault::Silent)
    }

    /// Whether it answers for the logs of a range, which it must have reached the end of.
    pub fn gives_range(&self, from: u64, to: u64) -> bool {
        let refuses = from < to && self.has_fault(|fault| *fault == EndpointFault::RefusesRanges);
        !refuses && self.view.height >= to
    }

    /// Whether its headers hide the logs that it leaves out.
    pub fn hides_logs(&self, number: u64) -> bool {
        self.has_fault(|fault| *fault == EndpointFault::ForgetsLogs { hides: true })
            && is_forgotten(number)
    }

    fn invents(&self) -> bool {
        self.has_fault(|fault| matches!(fault, EndpointFault::InventsLogs { .. }))
    }

    fn stands_by_it(&self) -> bool {
        self.has_fault(|fault| *fault == EndpointFault::InventsLogs { stands_by_it: true })
    }

    /// Whether it makes up a log of this block.
    pub fn makes_up(&self, blocks: &Blocks, number: u64) -> bool {
        self.invents() && !invented(blocks, number, number).is_empty()
    }

    /// Whether it makes up a log that its own header does not allow.
    pub fn contradicts_its_header(&self, blocks: &Blocks, number: u64) -> bool {
        !self.stands_by_it() && self.makes_up(blocks, number)
    }

    /// The logs of a block by its receipts, which it does not forget.
    pub fn logs_by_receipts(&self, blocks: &Blocks, number: u64) -> Vec<ChainLog> {
        let honest = |fault: &&EndpointFault| !matches!(fault, EndpointFault::ForgetsLogs { .. });
        let faults = self.faults.iter().filter(honest).copied().collect();
        let (view, state) = (self.view.clone(), self.state.clone());
        Endpoint { view, state, faults }.logs(blocks, number, number)
    }

    /// Whether a block of the chain as it is is also this endpoint's.
    fn shares(&self, blocks: &Blocks, number: u64) -> bool {
        self.view.hash(number).is_some_and(|hash| blocks.view().hash(number) == Some(hash))
    }

    /// The logs of heights, both included, as it gives them.
    pub fn logs(&self, blocks: &Blocks, from: u64, to: u64) -> Vec<ChainLog> {
        let forgets = self.has_fault(|fault| matches!(fault, EndpointFault::ForgetsLogs { .. }));
        let gives = |log: &&ChainLog| {
            self.shares(blocks, log.block_number) && !(forgets && is_forgotten(log.block_number))
        };
        let mut logs: Vec<ChainLog> = blocks.logs(from, to).filter(gives).copied().collect();
        if self.invents() {
            let invented = invented(blocks, from, to);
            logs.extend(invented.into_iter().filter(|log| self.shares(blocks, log.block_number)));
            logs.sort_by_key(|log| (log.block_number, log.log_index));
        }
        logs
    }

    /// What it has of a transaction.
    pub fn receipt(&self, blocks: &Blocks, tx: TxHash) -> Option<Receipt> {
        if self.stands_by_it()
            && let Some(log) =
                invented(blocks, 0, self.view.height).into_iter().find(|log| log.tx == tx)
        {
            return Some(Receipt {
                tx,
                block_number: log.block_number,
                block: log.block,
                succeeded: true,
                gas_used: GAS_PER_ITEM,
                logs: vec![log],
                refusals: Vec::new(),
                executed: Vec::new(),
            });
        }
        let receipt = blocks.receipt(tx, self.view.height)?;
        self.shares(blocks, receipt.block_number).then_some(receipt)
    }

    /// What it answers about a transaction that should be in a block.
    pub fn look_for(&self, blocks: &Blocks, tx: TxHash, number: u64, block: BlockHash) -> Seen {
        match self.view.hash(number) {
            None => Seen::NotYet,
            Some(hash) if hash != block => Seen::Otherwise,
            Some(_) => match self
                .receipt(blocks, tx)
                .filter(|it| (it.block_number, it.block) == (number, block))
            {
                Some(receipt) => Seen::There(receipt),
                None => Seen::Otherwise,
            },
        }
    }

    /// Minor units that an account holds by a state of its own; `to` is the newest block that belongs to it.
    pub fn balance(
        &self,
        blocks: &Blocks,
        state: &State,
        to: u64,
        token: Address,
        account: Address,
    ) -> u64 {
        let holds = state
            .coins
            .get(&token)
            .and_then(|coin| coin.balances.get(&account).copied())
            .unwrap_or(0);
        let mut more = if self.has_fault(|fault| *fault == EndpointFault::OverstatesBalances) {
            INVENTED
        } else {
            0
        };
        if self.stands_by_it() {
            let invented = invented(blocks, 0, to);
            let is_its = |log: &&ChainLog| {
                log.contract == token
                    && matches!(log.event, LogEvent::Transfer { to, .. } if to == account)
            };
            more += INVENTED * invented.iter().filter(is_its).count() as u64;
        }
        holds + more
    }

    /// The next nonce of an account.
    pub fn nonce(&self, account: Address) -> u64 {
        let more = self.faults.iter().find_map(|fault| match fault {
            EndpointFault::OverstatesNonces(by) => Some(*by),
            _ => None,
        });
        blocks::nonce(&self.state, account) + more.unwrap_or(0)
    }
}

/// About half of all blocks, always the same.
fn is_forgotten(number: u64) -> bool {
    Random::stream(number, "forgotten logs").chance(500)
}

/// Every third block with a transfer in it gets another one to the same address.
fn invented(blocks: &Blocks, from: u64, to: u64) -> Vec<ChainLog> {
    let mut invented: Vec<ChainLog> = Vec::new();
    for log in blocks.logs(from, to) {
        let LogEvent::Transfer { to, .. } = log.event else { continue };
        let is_known = invented.last().is_some_and(|last| last.block_number == log.block_number);
        if is_known || !Random::stream(log.block_number, "invented logs").chance(333) {
            continue;
        }
        let mut tx = log.tx;
        tx.0[31] ^= 0xff;
        let event = LogEvent::Transfer { from: INVENTOR, to, value: INVENTED };
        invented.push(ChainLog { tx, log_index: INVENTED_INDEX, ordinal: 0, event, ..*log });
    }
    invented
}
