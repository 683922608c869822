//! Log entries: which ones are relevant, what they mean, and their position. A controller's log that
//! does not decode as its event is a fault of the node. A token's contract can be replaced by its
//! issuer, so a log of it that does not decode is reported as such; other contracts' logs are
//! ignored.

use std::collections::HashMap;
use std::sync::LazyLock;

use domain::chain::{
    Address, Announcement, ChainLog, Executed, IntentOnChain, LogEvent, Token, TxHash, Word, vault,
};

use serde_json::{Value, json};

use super::abi;
use super::rpc::RpcFault;
use super::wire::Log;

/// The events that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Transfer,
    Blacklisted,
    UnBlacklisted,
    AddedBlackList,
    RemovedBlackList,
    DestroyedBlackFunds,
    BlockPlaced,
    BlockReleased,
    Pause,
    Unpause,
    Upgraded,
    Deprecate,
    Released,
    Debited,
    DebitReturned,
    RefundProposed,
    RefundCancelled,
    Refunded,
    IntentFailed,
    Swept,
    FrozenSet,
    LegalHoldSet,
    RoleProposed,
    TreasuryProposed,
    AdminProposed,
}

const SIGNATURES: [(Event, &str); 25] = [
    (Event::Transfer, TRANSFER),
    // USDC
    (Event::Blacklisted, "Blacklisted(address)"),
    (Event::UnBlacklisted, "UnBlacklisted(address)"),
    (Event::Upgraded, "Upgraded(address)"),
    // USDT
    (Event::AddedBlackList, "AddedBlackList(address)"),
    (Event::RemovedBlackList, "RemovedBlackList(address)"),
    (Event::DestroyedBlackFunds, "DestroyedBlackFunds(address,uint256)"),
    (Event::Deprecate, "Deprecate(address)"),
    // Tether's later contracts; what they destroy is a transfer, too.
    (Event::BlockPlaced, "BlockPlaced(address)"),
    (Event::BlockReleased, "BlockReleased(address)"),
    // both
    (Event::Pause, "Pause()"),
    (Event::Unpause, "Unpause()"),
    // Corridor's controller
    (Event::Released, "Released(bytes32,bytes32,address,address,address,uint256)"),
    (Event::Debited, "Debited(bytes32,bytes32,address,address,address,uint256)"),
    (Event::DebitReturned, "DebitReturned(bytes32,bytes32,address,address,uint256)"),
    (Event::RefundProposed, "RefundProposed(bytes32,bytes32,address,address,address,uint256)"),
    (Event::RefundCancelled, "RefundCancelled(bytes32,address)"),
    (Event::Refunded, "Refunded(bytes32,bytes32,address,address,address,uint256)"),
    (Event::IntentFailed, "IntentFailed(bytes32,bytes)"),
    (Event::Swept, "Swept(address,address,uint256)"),
    (Event::FrozenSet, "FrozenSet(address,bool,bytes32)"),
    (Event::LegalHoldSet, "LegalHoldSet(address,bool,bytes32)"),
    (Event::RoleProposed, "RoleProposed(bytes32,address,uint256)"),
    (Event::TreasuryProposed, "TreasuryProposed(address,uint256)"),
    (Event::AdminProposed, "DefaultAdminTransferScheduled(address,uint48)"),
];

static TOPICS: LazyLock<HashMap<Word, Event>> = LazyLock::new(|| {
    SIGNATURES.iter().map(|(event, signature)| (abi::topic(signature), *event)).collect()
});

/// The first topics of all events that are read. Transfers are requested for every contract: this
/// counts them within their transaction, and shows payments in unsupported tokens.
pub(super) fn topics() -> Vec<String> {
    SIGNATURES.iter().map(|(_, signature)| abi::topic(signature).to_string()).collect()
}

/// The parameter of `eth_getLogs` for the logs of a block that are read.
pub fn block_logs_filter(hash: &str) -> Value {
    json!({"blockHash": hash, "topics": [topics()]})
}

const TRANSFER: &str = "Transfer(address,address,uint256)";

/// The events of what a controller executed. Their second topic is the intent, their third one what
/// it is about.
const EXECUTIONS: [(Event, IntentOnChain); 6] = [
    (Event::Released, IntentOnChain::Released),
    (Event::Debited, IntentOnChain::Debited),
    (Event::DebitReturned, IntentOnChain::Return),
    (Event::RefundProposed, IntentOnChain::RefundProposed),
    (Event::Refunded, IntentOnChain::Refunded),
    (Event::RefundCancelled, IntentOnChain::RefundCancelled),
];

/// Their first topics, and that of sweeps, whose second topic is the token.
pub(super) fn execution_topics() -> Vec<String> {
    let is_it =
        |event: &Event| *event == Event::Swept || EXECUTIONS.iter().any(|(it, _)| it == event);
    let of = SIGNATURES.iter().filter(|(event, _)| is_it(event));
    of.map(|(_, signature)| abi::topic(signature).to_string()).collect()
}

/// The first topic of a transfer.
pub(super) fn transfer_word() -> Word {
    static WORD: LazyLock<Word> = LazyLock::new(|| abi::topic(TRANSFER));
    *WORD
}

/// The same as a parameter.
pub(super) fn transfer_topic() -> String {
    transfer_word().to_string()
}

/// An account as a topic.
pub(super) fn address_topic(account: &Address) -> String {
    let mut word = Word([0; 32]);
    word.0[12..].copy_from_slice(&account.0);
    word.to_string()
}

/// The logs without those that a reorganisation removed, which some nodes return beside the others.
/// Alone they are not an answer about the blocks that are there now.
pub(super) fn without_removed(mut logs: Vec<Log>) -> Result<Vec<Log>, RpcFault> {
    let returned = logs.len();
    logs.retain(|log| !log.is_removed());
    if logs.is_empty() && returned > 0 {
        return Err(RpcFault::Malformed("only logs that a reorganisation removed".to_owned()));
    }
    Ok(logs)
}

/// The contracts whose logs are read.
#[derive(Clone, Copy)]
pub(super) struct Ours<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) controllers: &'a [Address],
}

enum Author {
    Token,
    Controller,
    Stranger,
}

impl Ours<'_> {
    fn author(&self, contract: &Address) -> Author {
        if self.tokens.iter().any(|token| token.address == *contract) {
            Author::Token
        } else if self.controllers.contains(contract) {
            Author::Controller
        } else {
            Author::Stranger
        }
    }

    /// The relevant logs, in chain order. `belongs` states whether a log matches the request. Some
    /// nodes return a log twice: it counts once.
    pub(super) fn read(
        &self,
        mut logs: Vec<Log>,
        belongs: impl Fn(&Log) -> bool,
    ) -> Result<Vec<ChainLog>, RpcFault> {
        let malformed = |what: &str| Err(RpcFault::Malformed(what.to_owned()));
        logs.sort_by_key(|log| (log.block_number.0, log.log_index.0));
        let mut transfers: HashMap<TxHash, u32> = HashMap::new();
        let mut found = Vec::new();
        let mut before: Option<&Log> = None;
        for log in &logs {
            if log.is_removed() || !belongs(log) {
                return malformed("a log of another block than requested");
            }
            if let Some(before) = before.filter(|before| before.block_number == log.block_number) {
                if before.is_same(log) {
                    continue;
                }
                if before.block_hash != log.block_hash || before.log_index == log.log_index {
                    return malformed("logs that contradict each other");
                }
            } else {
                transfers.clear();
            }
            before = Some(log);
            let Some(kind) = log.topics.first().and_then(|topic| TOPICS.get(&topic.0)) else {
                continue;
            };
            let count = transfers.entry(log.transaction_hash.0).or_default();
            let ordinal = *count;
            *count += u32::from(*kind == Event::Transfer);
            if let Some(event) = self.event(*kind, log)? {
                found.push(ChainLog {
                    block_number: log.block_number.0,
                    block: log.block_hash.0,
                    tx: log.transaction_hash.0,
                    log_index: log.log_index.0,
                    ordinal,
                    contract: log.address.0,
                    event,
                });
            }
        }
        Ok(found)
    }

    /// Failure reasons of a batch's intents, as `describe` words them: from their `IntentFailed`
    /// events.
    pub(super) fn refusals(
        &self,
        logs: &[Log],
        describe: impl Fn(&[u8]) -> String,
    ) -> Vec<(Word, String)> {
        let failed = abi::topic("IntentFailed(bytes32,bytes)");
        let by_controller = logs.iter().filter(|log| self.controllers.contains(&log.address.0));
        let of_batch =
            by_controller.filter(|log| log.topics.first().is_some_and(|topic| topic.0 == failed));
        let refusal = |log: &Log| {
            let reason = abi::only_bytes(&log.data.0).unwrap_or_default();
            Some((log.topics.get(1)?.0, describe(reason)))
        };
        of_batch.filter_map(refusal).collect()
    }

    /// What the controllers executed, in the order of their logs.
    pub(super) fn executed(&self, logs: &[Log]) -> Vec<Executed> {
        let by_controller = logs.iter().filter(|log| self.controllers.contains(&log.address.0));
        let mut executed: Vec<Executed> = by_controller.filter_map(execution).collect();
        executed.sort_by_key(|it| it.log_index);
        executed
    }

    fn event(&self, kind: Event, log: &Log) -> Result<Option<LogEvent>, RpcFault> {
        match self.author(&log.address.0) {
            Author::Stranger if kind == Event::Transfer => {
                let transfer = transfer(log);
                Ok(transfer.map(|(from, to, value)| LogEvent::UnsupportedTransfer {
                    from,
                    to,
                    value,
                }))
            }
            // The watcher reads without a list of controllers, and compares the contract itself.
            Author::Stranger => Ok(announced(kind, log)),
            Author::Token => Ok(token_event(kind, log).unwrap_or_else(|| Some(undecodable(log)))),
            Author::Controller => controller_event(kind, log).ok_or_else(|| {
                RpcFault::Malformed(format!("a {kind:?} of {} that does not decode", log.address.0))
            }),
        }
    }
}

fn undecodable(log: &Log) -> LogEvent {
    let first = log.topics.first().map(|topic| topic.0);
    let signature = SIGNATURES.iter().find(|(_, it)| first == Some(abi::topic(it)));
    let event = signature.and_then(|(_, it)| it.split('(').next()).unwrap_or_default();
    let topics = log.topics.iter().map(|topic| &topic.0.0[..]);
    let count = [u8::try_from(log.topics.len()).unwrap_or(u8::MAX)];
    let parts: Vec<&[u8]> =
        [&count[..]].into_iter().chain(topics).chain([&log.data.0[..]]).collect();
    LogEvent::Undecodable { event, content: vault::hash(&parts) }
}

/// `None` = it does not decode as its event; `Some(None)` = a token does not emit an event of that
/// name.
fn token_event(kind: Event, log: &Log) -> Option<Option<LogEvent>> {
    Some(Some(match kind {
        Event::Transfer => {
            let (from, to, value) = transfer(log)?;
            LogEvent::Transfer { from, to, value }
        }
        Event::Blacklisted | Event::AddedBlackList | Event::BlockPlaced => {
            LogEvent::Blacklisted(account(log)?)
        }
        Event::UnBlacklisted | Event::RemovedBlackList | Event::BlockReleased => {
            LogEvent::UnBlacklisted(account(log)?)
        }
        Event::DestroyedBlackFunds => {
            let value = abi::capped(abi::word_at(&log.data.0, 1)?);
            LogEvent::FundsDestroyed { account: account(log)?, value }
        }
        Event::Pause => LogEvent::Paused,
        Event::Unpause => LogEvent::Unpaused,
        Event::Upgraded | Event::Deprecate => LogEvent::CodeChanged,
        _ => return Some(None),
    }))
}

/// `None` = it does not decode as its event; `Some(None)` = a controller does not emit an event of
/// that name.
fn controller_event(kind: Event, log: &Log) -> Option<Option<LogEvent>> {
    Some(Some(match kind {
        Event::Released
        | Event::Debited
        | Event::DebitReturned
        | Event::RefundProposed
        | Event::Refunded => LogEvent::IntentDone(log.topics.get(1)?.0),
        Event::RefundCancelled => LogEvent::RefundCancelled(log.topics.get(1)?.0),
        Event::IntentFailed => LogEvent::IntentFailed(log.topics.get(1)?.0),
        Event::Swept => {
            let token = abi::address(&log.topics.get(1)?.0.0)?;
            LogEvent::Swept { token, value: abi::capped(&abi::one_word(&log.data.0)?) }
        }
        Event::FrozenSet => {
            let frozen = abi::flag(abi::word_at(&log.data.0, 0)?)?;
            LogEvent::FrozenSet { account: abi::address(&log.topics.get(1)?.0.0)?, frozen }
        }
        Event::RoleProposed | Event::TreasuryProposed | Event::AdminProposed => {
            announced(kind, log)?
        }
        Event::LegalHoldSet => {
            let held = abi::flag(abi::word_at(&log.data.0, 0)?)?;
            LogEvent::LegalHoldSet { vault: abi::address(&log.topics.get(1)?.0.0)?, held }
        }
        _ => return Some(None),
    }))
}

/// `None` = a controller executed nothing by it, or it does not decode, which [`Ours::read`] reports.
fn execution(log: &Log) -> Option<Executed> {
    let kind = TOPICS.get(&log.topics.first()?.0)?;
    let (_, as_what) = EXECUTIONS.iter().find(|(event, _)| event == kind)?;
    let data = &log.data.0;
    let address = |at| abi::address(abi::word_at(data, at)?);
    let amount = |at| Some(abi::capped(abi::word_at(data, at)?));
    let (about, (vault, token, to, amount)) = match kind {
        // Its data is who cancelled it.
        Event::RefundCancelled => {
            let none = Address([0; 20]);
            (Word([0; 32]), (none, none, none, 0))
        }
        Event::DebitReturned => {
            let vault = address(0)?;
            (log.topics.get(2)?.0, (vault, address(1)?, vault, amount(2)?))
        }
        _ => (log.topics.get(2)?.0, (address(0)?, address(1)?, address(2)?, amount(3)?)),
    };
    let (intent, log_index) = (log.topics.get(1)?.0, log.log_index.0);
    Some(Executed { as_what: *as_what, intent, about, vault, token, to, amount, log_index })
}

/// The announcement of a contract's admin; `None` = it is none.
fn announced(kind: Event, log: &Log) -> Option<LogEvent> {
    let (change, topic) = match kind {
        Event::RoleProposed => (Announcement::Role, 2),
        Event::TreasuryProposed => (Announcement::Treasury, 1),
        Event::AdminProposed => (Announcement::Admin, 1),
        _ => return None,
    };
    let account = abi::address(&log.topics.get(topic)?.0.0)?;
    Some(LogEvent::Announced { change, account })
}

/// Payer, payee and value of an ERC-20 transfer. An ERC-721 transfer shares the first topic and has
/// one topic more.
fn transfer(log: &Log) -> Option<(Address, Address, u64)> {
    let [_, from, to] = &log.topics[..] else { return None };
    let value = abi::capped(&abi::one_word(&log.data.0)?);
    Some((abi::address(&from.0.0)?, abi::address(&to.0.0)?, value))
}

/// The account in the first parameter: USDC indexes it, USDT does not.
fn account(log: &Log) -> Option<Address> {
    match log.topics.get(1) {
        Some(topic) => abi::address(&topic.0.0),
        None => abi::address(abi::word_at(&log.data.0, 0)?),
    }
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
