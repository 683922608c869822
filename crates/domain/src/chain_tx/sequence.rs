//! Transitions of a transaction, from its nonce to its end.

use super::states::{Move, TxTrigger};
use super::{ChainTx, Intent, IntentState, Mined, TxAttempt, TxState};
use crate::chain::{Address, Call, ChainConfig, ChainNumber, Fees, KeyRole, Plan, Signed, TxHash};
use crate::decision::JobChange;
use crate::ids::{ChainTxId, IntentId, TenantId};
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// Interval between two checks of a transaction.
pub const LOOK_EVERY: Span = Span::secs(1);
/// Delay before the first check: a fast chain has mined it by then. Not shorter, because a check
/// reads the subjects of all its intents.
const LOOK_FIRST: Span = Span::millis(500);
/// Replacements pay this many eighths of both previous fees: nodes require at least 10 % more.
const RAISE_EIGHTHS: u128 = 9;

/// What the alert about a transaction says that pays the maximum and is not mined. It ends once it
/// is mined.
pub const STUCK: &str = "a transaction is stuck at the highest fee";

/// Reason for refusing a change whose premise is outdated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxRefusal {
    /// The transaction's state does not permit it.
    #[error("the transaction {}", state_phrase(.0.name()))]
    State(TxState),
    /// An intent's state does not permit it.
    #[error("the intent {}", state_phrase(.0.name()))]
    Intent(IntentState),
    /// The transaction is to be cancelled: nothing else is signed for it.
    #[error("the transaction is to be cancelled")]
    CancelWanted,
    /// The intents do not fit into one call.
    #[error("the intents do not fit into one call")]
    Mixed,
}

/// Parameters of a new transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// Id of the transaction.
    pub id: ChainTxId,
    /// Tenant of the transaction.
    pub tenant: TenantId,
    /// Chain of the transaction.
    pub chain: ChainNumber,
    /// Role of the signing key.
    pub role: KeyRole,
    /// Address of the signing key.
    pub signer: Address,
    /// Controller contract of the tenant, which most calls address.
    pub controller: Address,
    /// The signer's transaction count on the chain.
    pub chain_nonce: u64,
    /// Gas limit of the call, with headroom over the estimate.
    pub gas_limit: u64,
    /// Limits of the gas price of the first version, in wei per gas.
    pub fees: Fees,
}

/// Takes the signer's next nonce (`next`, or the chain's if it is higher) for intents that fit into
/// one call.
///
/// # Errors
/// [`TxRefusal::Intent`], [`TxRefusal::Mixed`]
pub fn take(
    taking: Taking,
    next: u64,
    intents: &mut [Intent],
    now: Timestamp,
) -> Result<(ChainTx, WalletEffects), TxRefusal> {
    if let Some(intent) = intents.iter().find(|intent| intent.state != IntentState::Waiting) {
        return Err(TxRefusal::Intent(intent.state));
    }
    if call(intents).is_none() {
        return Err(TxRefusal::Mixed);
    }
    let ids = intents.iter().map(|intent| intent.id).collect();
    let tx = begun(taking, next.max(taking.chain_nonce), ids, now);
    let mut effects = tx.look_at(now);
    for intent in intents {
        intent.tx = Some(tx.id);
        intent.short_since = None;
        intent.enter(IntentState::Assigned, now);
        effects.jobs.push((intent.id.0, JobChange::Done));
    }
    Ok((tx, effects))
}

/// A transaction that has its nonce, and nothing signed yet.
fn begun(taking: Taking, nonce: u64, intents: Vec<IntentId>, now: Timestamp) -> ChainTx {
    ChainTx {
        id: taking.id,
        tenant: taking.tenant,
        chain: taking.chain,
        role: taking.role,
        signer: taking.signer,
        controller: taking.controller,
        nonce,
        intents,
        gas_limit: taking.gas_limit,
        fees: taking.fees,
        state: TxState::Taken,
        cancel_wanted: false,
        attempts: Vec::new(),
        mined: None,
        paged: false,
        settled: None,
        created_at: now,
        state_at: now,
        version: 1,
    }
}

/// Fills a nonce that the chain waits for and that none of our transactions has. The signer's own
/// sequence is unchanged.
pub fn fill(taking: Taking, now: Timestamp) -> (ChainTx, WalletEffects) {
    let tx = ChainTx { cancel_wanted: true, ..begun(taking, taking.chain_nonce, Vec::new(), now) };
    let mut effects = tx.look_at(now);
    let what = format!(
        "nonce {} of {} has no transaction and is filled by an empty one",
        tx.nonce, tx.signer
    );
    tx.alert(what, &mut effects);
    (tx, effects)
}

/// The one call for all intents; `None` if they do not fit into one.
pub fn call(intents: &[Intent]) -> Option<Call> {
    let plans: Vec<Plan> = intents.iter().map(|intent| intent.plan).collect();
    Call::of(&plans)
}

/// Fees of a replacement: an eighth more than `last` for both fees, and at least the fees asked
/// now; `None` if that exceeds one of the `most`.
pub fn raised(last: Fees, asked: Fees, most: Fees) -> Option<Fees> {
    let more = |fee: u128| fee.saturating_mul(RAISE_EIGHTHS).div_ceil(8);
    let max_fee = more(last.max_fee).max(asked.max_fee.min(most.max_fee));
    let asked_tip = asked.max_priority_fee.min(first_tip(most));
    let max_priority_fee = more(last.max_priority_fee).max(asked_tip).min(max_fee);
    let enough = max_priority_fee >= more(last.max_priority_fee);
    let allowed = max_fee <= most.max_fee && max_priority_fee <= most.max_priority_fee;
    (allowed && enough).then_some(Fees { max_fee, max_priority_fee })
}

/// Size of a signed transaction with this many intents in its call, in bytes, rounded up.
pub const fn bytes_of(intents: usize) -> usize {
    400 + 160 * intents
}

/// Fees of the first signature: the fees asked, up to `most`. The tip is limited to half of its
/// maximum, so that replacements can pay more.
pub fn capped(asked: Fees, most: Fees) -> Fees {
    let max_fee = asked.max_fee.min(most.max_fee);
    Fees { max_fee, max_priority_fee: asked.max_priority_fee.min(first_tip(most)).min(max_fee) }
}

/// Highest tip offered at a node's request.
const fn first_tip(most: Fees) -> u128 {
    most.max_priority_fee.div_ceil(2)
}

/// Outcome of an intent in a final transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It took effect in this transaction.
    Done(TxHash),
    /// It was attempted and failed.
    Failed,
    /// It was not attempted.
    NotTried,
    /// It took effect before a reorganisation, but no longer does: execute it again.
    Undone,
    /// Reported as not in effect before a reorganisation; it now is, in this transaction. It may
    /// have been given up or assigned to another transaction since.
    AfterAll(TxHash),
}

impl ChainTx {
    /// Fees of the next signature: raised by the increase that nodes require. `None` means that it
    /// already pays the maximum. A transaction to be cancelled that already pays the maximum is
    /// cancelled at the same fees: if no node keeps it any more, its nonce would otherwise stay
    /// empty.
    pub fn replacement_fees(&self, asked: Fees, config: &ChainConfig) -> Option<Fees> {
        match self.attempts.last() {
            Some(last) => {
                let called_off = self.cancel_wanted && !last.cancels;
                raised(last.fees, asked, config.most_fees())
                    .or_else(|| called_off.then_some(last.fees))
            }
            None => Some(capped(self.fees, config.most_fees())),
        }
    }

    /// Whether a replacement is due: a wanted cancellation is not signed yet, or the transaction
    /// has waited too long.
    pub fn wants_replacement(&self, config: &ChainConfig, now: Timestamp) -> bool {
        let Some(last) = self.attempts.last() else { return false };
        let called_off = self.cancel_wanted && !last.cancels;
        called_off || now - last.at >= Span::secs(config.replace_after_s.into())
    }

    /// Saves a signed version.
    ///
    /// # Errors
    /// [`TxRefusal::State`], [`TxRefusal::CancelWanted`]
    pub fn signed(
        &mut self,
        signed: Signed,
        fees: Fees,
        cancels: bool,
        now: Timestamp,
    ) -> Result<WalletEffects, TxRefusal> {
        let Move::To(state) = self.state.on(TxTrigger::Signed) else {
            return Err(TxRefusal::State(self.state));
        };
        if self.cancel_wanted && !cancels {
            return Err(TxRefusal::CancelWanted);
        }
        let number = self.attempts.last().map_or(1, |last| last.number + 1);
        self.attempts.push(TxAttempt {
            number,
            cancels,
            hash: signed.hash,
            raw: signed.raw,
            fees,
            at: now,
        });
        self.enter(state, now);
        Ok(self.look_at(now + LOOK_FIRST))
    }

    /// One of its attempts is in a block.
    pub fn mined(&mut self, mined: Mined, now: Timestamp) -> WalletEffects {
        if let Move::To(state) = self.state.on(TxTrigger::Mined)
            && self.mined.as_ref() != Some(&mined)
        {
            self.mined = Some(mined);
            self.paged = false;
            self.enter(state, now);
        }
        self.go_on(now)
    }

    /// Its block was reorganised away: broadcast again.
    pub fn lost(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.mined.is_none() {
            return self.go_on(now);
        }
        match self.state.on(TxTrigger::Lost) {
            Move::To(state) => {
                self.mined = None;
                self.enter(state, now);
            }
            Move::Alarming(state) => {
                self.alert(
                    format!(
                        "the transaction, which {}, was reorganized away",
                        state_phrase(self.state.name())
                    ),
                    &mut effects,
                );
                self.mined = None;
                self.enter(state, now);
            }
            Move::Stays | Move::Refused | Move::Person => {}
        }
        effects.merge(self.go_on(now));
        effects
    }

    /// Its block is deep enough: returns the outcome of its intents. After a reorganisation it
    /// returns only the outcomes that differ from those reported before.
    pub fn over(&mut self, now: Timestamp) -> (Vec<(IntentId, Ended)>, WalletEffects) {
        let mut effects = WalletEffects::default();
        let Some(mined) = self.mined.clone() else { return (Vec::new(), effects) };
        let trigger = match self.attempt(&mined) {
            Some(attempt) if attempt.cancels => TxTrigger::Cancelled,
            Some(_) if mined.succeeded => TxTrigger::Succeeded,
            Some(_) => TxTrigger::Reverted,
            None => TxTrigger::Cancelled,
        };
        let Move::To(state) = self.state.on(trigger) else { return (Vec::new(), effects) };
        self.enter(state, now);
        effects.jobs.push((self.id.0, JobChange::Done));
        let ended: Vec<(IntentId, Ended)> =
            self.intents.iter().map(|id| (*id, self.ended(&mined, *id))).collect();
        let Some(before) = self.settled.take() else {
            self.settled = Some(mined);
            return (ended, effects);
        };
        let was_done = |id| matches!(self.ended(&before, id), Ended::Done(_));
        let news = |(id, ended)| match (was_done(id), ended) {
            (true, Ended::Done(_)) => None,
            (true, _) => Some((id, Ended::Undone)),
            (false, Ended::Done(hash)) => Some((id, Ended::AfterAll(hash))),
            (false, _) => None,
        };
        let news: Vec<_> = ended.into_iter().filter_map(news).collect();
        self.settled = Some(mined);
        if news.iter().any(|(_, ended)| matches!(ended, Ended::Undone)) {
            self.alert(
                "a transaction no longer takes effect after a reorganisation".to_owned(),
                &mut effects,
            );
        }
        (news, effects)
    }

    /// Hash of the attempt that is in a block, if it does what the transaction is for.
    pub fn mined_hash(&self) -> Option<TxHash> {
        let mined = self.mined.as_ref().filter(|mined| mined.succeeded)?;
        let attempt = self.attempt(mined).filter(|attempt| !attempt.cancels)?;
        Some(attempt.hash)
    }

    fn attempt(&self, mined: &Mined) -> Option<&TxAttempt> {
        self.attempts.iter().find(|attempt| attempt.number == mined.attempt)
    }

    /// Outcome of one of its intents in a block.
    fn ended(&self, mined: &Mined, id: IntentId) -> Ended {
        match self.attempt(mined) {
            Some(attempt) if attempt.cancels => Ended::NotTried,
            Some(attempt) if mined.succeeded && !mined.failed.contains(&id) => {
                Ended::Done(attempt.hash)
            }
            Some(_) => Ended::Failed,
            None => Ended::NotTried,
        }
    }

    /// A foreign transaction used its nonce: it can never be mined. What it had settled before a
    /// reorganisation is undone.
    pub fn superseded(&mut self, now: Timestamp) -> (Vec<(IntentId, Ended)>, WalletEffects) {
        let mut effects = WalletEffects::default();
        let Move::Alarming(state) = self.state.on(TxTrigger::Superseded) else {
            return (Vec::new(), effects);
        };
        self.alert(
            "the nonce of a transaction was used by a foreign transaction".to_owned(),
            &mut effects,
        );
        self.enter(state, now);
        effects.jobs.push((self.id.0, JobChange::Done));
        let ended = |id: &IntentId| match &self.settled {
            None => Some((*id, Ended::NotTried)),
            Some(before) => {
                let was_done = matches!(self.ended(before, *id), Ended::Done(_));
                was_done.then_some((*id, Ended::Undone))
            }
        };
        (self.intents.iter().filter_map(ended).collect(), effects)
    }

    /// None of its intents is still wanted: an empty transaction is to fill its nonce.
    pub const fn call_off(&mut self) {
        if !self.cancel_wanted && matches!(self.state, TxState::Taken | TxState::Broadcast) {
            self.cancel_wanted = true;
            self.version += 1;
        }
    }

    /// It pays the maximum and is still not mined: raises one alert.
    pub fn page(&mut self) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.paged {
            self.paged = true;
            self.version += 1;
            self.alert(STUCK.to_owned(), &mut effects);
        }
        effects
    }

    /// Schedules the next check, unless it is final.
    pub fn go_on(&self, now: Timestamp) -> WalletEffects {
        if self.state.is_final() {
            WalletEffects::default()
        } else {
            self.look_at(now + LOOK_EVERY)
        }
    }

    fn look_at(&self, at: Timestamp) -> WalletEffects {
        let jobs = vec![(self.id.0, JobChange::Set(JobKind::Transmit, at))];
        WalletEffects { jobs, ..WalletEffects::default() }
    }

    fn alert(&self, what: String, effects: &mut WalletEffects) {
        effects.alerts.push(Alert { kind: AlertKind::Transaction, subject: self.id.0, what });
    }

    const fn enter(&mut self, state: TxState, now: Timestamp) {
        self.state = state;
        self.state_at = now;
        self.version += 1;
    }
}
