//! What happens to a transaction of ours, from its nonce to its end.

use super::states::{Move, TxTrigger};
use super::{ChainTx, Intent, IntentKind, IntentState, Mined, Plan, TxAttempt, TxState};
use crate::chain::{Address, Call, ChainConfig, Fees, KeyRole, Movement, Signed, TxHash};
use crate::ids::{ChainTxId, IntentId, TenantId};
use crate::job::JobKind;
use crate::payment::JobChange;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// How often a transaction is looked at.
pub const LOOK_EVERY: Span = Span::secs(1);
/// How soon it is looked at first: a fast chain has it in a block by then. Not sooner, because a look reads all that its
/// intents are for.
const LOOK_FIRST: Span = Span::millis(500);
/// Replacements pay this many eighths of what they replace, of both fees: nodes want 10 % more at least.
const RAISE_EIGHTHS: u128 = 9;

/// Why a change is not made: the world has moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxRefusal {
    /// The transaction is not in a state for it.
    #[error("the transaction is {}", .0.name())]
    State(TxState),
    /// An intent is not in a state for it.
    #[error("the intent is {}", .0.name())]
    Intent(IntentState),
    /// It is to be called off: nothing else is signed for it.
    #[error("the transaction is to be called off")]
    CancelWanted,
    /// Its intents do not fit into one call.
    #[error("the intents do not belong together")]
    Mixed,
}

/// What a transaction is begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// The id that it will have.
    pub id: ChainTxId,
    /// Whose.
    pub tenant: TenantId,
    /// Which of the tenant's keys.
    pub role: KeyRole,
    /// The address of that key.
    pub signer: Address,
    /// The tenant's controller.
    pub controller: Address,
    /// How many transactions of the signer the chain has.
    pub chain_nonce: u64,
    /// Most gas that it may use.
    pub gas_limit: u64,
    /// What it pays for gas.
    pub fees: Fees,
}

/// Takes the signer's next nonce, `next` unless the chain is further, for intents that go into one call.
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

/// Fills a nonce that the chain waits for and that no transaction of ours has. The signer's own sequence goes on where it
/// is.
pub fn fill(taking: Taking, now: Timestamp) -> (ChainTx, WalletEffects) {
    let tx = ChainTx { cancel_wanted: true, ..begun(taking, taking.chain_nonce, Vec::new(), now) };
    let mut effects = tx.look_at(now);
    let what = format!(
        "nonce {} of {} was taken by no transaction: it is filled by one that does nothing",
        tx.nonce, tx.signer
    );
    tx.alert(what, &mut effects);
    (tx, effects)
}

/// The one call that intents make together; `None` where they cannot.
pub fn call(intents: &[Intent]) -> Option<Call> {
    let first = intents.first()?;
    let moves = || {
        let movement = |intent: &Intent| match intent.plan {
            Plan::Move(movement) if intent.kind == first.kind => Some(movement),
            _ => None,
        };
        intents.iter().map(movement).collect::<Option<Vec<Movement>>>()
    };
    match first.kind {
        IntentKind::Release => return moves().map(Call::Release),
        IntentKind::Debit => return moves().map(Call::Debit),
        _ if intents.len() > 1 => return None,
        _ => {}
    }
    Some(match (first.kind, first.plan) {
        (IntentKind::ReturnDebit, Plan::ReturnDebit { debit, intent }) => Call::ReturnDebit { debit, intent },
        (IntentKind::Sweep, Plan::Sweep { token, amount }) => Call::Sweep { token, amount },
        (IntentKind::ProposeRefund, Plan::ProposeRefund { movement, to }) => Call::ProposeRefund { movement, to },
        (IntentKind::ProposeRefund, Plan::CancelRefund { intent }) => Call::CancelRefund { intent },
        (IntentKind::ExecuteRefund, Plan::ExecuteRefund { intent }) => Call::ExecuteRefund { intent },
        (IntentKind::SetFrozen, Plan::SetFrozen { account, frozen, case }) => Call::SetFrozen { account, frozen, case },
        (IntentKind::SetLegalHold, Plan::SetLegalHold { vault, held, case }) => {
            Call::SetLegalHold { vault, held, case }
        }
        (IntentKind::Blacklist(coin), Plan::Blacklist { token, account }) => Call::Blacklist { token, coin, account },
        (IntentKind::Deploy, Plan::Deploy) => Call::DeployController,
        _ => return None,
    })
}

/// What a replacement pays: an eighth more of both fees than `last`, and not less than is asked for now; `None` where
/// that is above one of the `most`.
pub fn raised(last: Fees, asked: Fees, most: Fees) -> Option<Fees> {
    let more = |fee: u128| fee.saturating_mul(RAISE_EIGHTHS).div_ceil(8);
    let max_fee = more(last.max_fee).max(asked.max_fee.min(most.max_fee));
    let asked_tip = asked.max_priority_fee.min(first_tip(most));
    let max_priority_fee = more(last.max_priority_fee).max(asked_tip).min(max_fee);
    let enough = max_priority_fee >= more(last.max_priority_fee);
    let allowed = max_fee <= most.max_fee && max_priority_fee <= most.max_priority_fee;
    (allowed && enough).then_some(Fees { max_fee, max_priority_fee })
}

/// Fees of a transaction that is signed for the first time: what is asked for, and no more than the `most`. Of the tip half
/// of that, so that replacements can pay more.
pub fn capped(asked: Fees, most: Fees) -> Fees {
    let max_fee = asked.max_fee.min(most.max_fee);
    Fees { max_fee, max_priority_fee: asked.max_priority_fee.min(first_tip(most)).min(max_fee) }
}

/// The highest tip that is offered because a node asks for it.
const fn first_tip(most: Fees) -> u128 {
    most.max_priority_fee.div_ceil(2)
}

/// What became of an intent in a transaction that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It took effect, in this transaction.
    Done(TxHash),
    /// It was tried and failed.
    Failed,
    /// It was not tried.
    NotTried,
    /// It had taken effect before a reorganisation, and has not now: it is to be done again.
    Undone,
    /// It had not taken effect before a reorganisation, which was told, and has now.
    AfterAll,
}

impl ChainTx {
    /// What is signed next for a transaction that was signed before: dearer by what nodes ask of a replacement. `None`
    /// = it pays all that it may. One that is called off and pays that already is cancelled for the same: where no node
    /// keeps it any more, its nonce would stay empty.
    pub fn replacement_fees(&self, asked: Fees, config: &ChainConfig) -> Option<Fees> {
        match self.attempts.last() {
            Some(last) => {
                let called_off = self.cancel_wanted && !last.cancels;
                raised(last.fees, asked, config.most_fees()).or_else(|| called_off.then_some(last.fees))
            }
            None => Some(capped(self.fees, config.most_fees())),
        }
    }

    /// Whether it is time for a replacement: it is to be called off and nothing that does so is signed, or it has been
    /// waiting for too long.
    pub fn wants_replacement(&self, config: &ChainConfig, now: Timestamp) -> bool {
        let Some(last) = self.attempts.last() else { return false };
        let called_off = self.cancel_wanted && !last.cancels;
        called_off || now - last.at >= Span::secs(config.replace_after_s.into())
    }

    /// Something was signed for it and is saved with it.
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
        let Move::To(state) = self.state.on(TxTrigger::Signed) else { return Err(TxRefusal::State(self.state)) };
        if self.cancel_wanted && !cancels {
            return Err(TxRefusal::CancelWanted);
        }
        let number = self.attempts.last().map_or(1, |last| last.number + 1);
        self.attempts.push(TxAttempt { number, cancels, hash: signed.hash, raw: signed.raw, fees, at: now });
        self.enter(state, now);
        Ok(self.look_at(now + LOOK_FIRST))
    }

    /// One of its attempts is in a block.
    pub fn mined(&mut self, mined: Mined, now: Timestamp) -> WalletEffects {
        if let Move::To(state) = self.state.on(TxTrigger::Mined)
            && self.mined.as_ref() != Some(&mined)
        {
            self.mined = Some(mined);
            self.enter(state, now);
        }
        self.go_on(now)
    }

    /// The block that it was in is gone: it is broadcast again.
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
                self.alert(format!("a transaction that was {} fell out of the chain", self.state.name()), &mut effects);
                self.mined = None;
                self.enter(state, now);
            }
            Move::Stays | Move::Refused | Move::Person => {}
        }
        effects.merge(self.go_on(now));
        effects
    }

    /// Its block is deep enough: what became of its intents. Where that was said before a reorganisation, only what is
    /// otherwise now is said.
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
        let ended: Vec<(IntentId, Ended)> = self.intents.iter().map(|id| (*id, self.ended(&mined, *id))).collect();
        let Some(before) = self.settled.take() else {
            self.settled = Some(mined);
            return (ended, effects);
        };
        let was_done = |id| matches!(self.ended(&before, id), Ended::Done(_));
        let news = |(id, ended)| match (was_done(id), matches!(ended, Ended::Done(_))) {
            (true, false) => Some((id, Ended::Undone)),
            (false, true) => Some((id, Ended::AfterAll)),
            _ => None,
        };
        let news: Vec<_> = ended.into_iter().filter_map(news).collect();
        // What failed or was undone is tried elsewhere since, or given up: its end is not said again.
        let given_away = self.intents.iter().filter(|id| !was_done(**id) && !mined.failed.contains(*id));
        let failed: Vec<_> = mined.failed.iter().chain(given_away).copied().collect();
        self.settled = Some(Mined { failed, ..mined });
        if news.iter().any(|(_, ended)| matches!(ended, Ended::Undone)) {
            self.alert("a transaction took effect no more after a reorganisation".to_owned(), &mut effects);
        }
        (news, effects)
    }

    fn attempt(&self, mined: &Mined) -> Option<&TxAttempt> {
        self.attempts.iter().find(|attempt| attempt.number == mined.attempt)
    }

    /// What became of one of its intents in a block.
    fn ended(&self, mined: &Mined, id: IntentId) -> Ended {
        match self.attempt(mined) {
            Some(attempt) if attempt.cancels => Ended::NotTried,
            Some(attempt) if mined.succeeded && !mined.failed.contains(&id) => Ended::Done(attempt.hash),
            Some(_) => Ended::Failed,
            None => Ended::NotTried,
        }
    }

    /// Its nonce is used by a transaction that is none of ours: it can never happen.
    pub fn superseded(&mut self, now: Timestamp) -> (Vec<(IntentId, Ended)>, WalletEffects) {
        let mut effects = WalletEffects::default();
        let Move::Alarming(state) = self.state.on(TxTrigger::Superseded) else { return (Vec::new(), effects) };
        self.alert("the nonce of a transaction was used by somebody else".to_owned(), &mut effects);
        self.enter(state, now);
        effects.jobs.push((self.id.0, JobChange::Done));
        let open = if self.settled.is_none() { self.intents.clone() } else { Vec::new() };
        (open.into_iter().map(|id| (id, Ended::NotTried)).collect(), effects)
    }

    /// It does nothing that is still wanted: its nonce is to be filled by one that does nothing.
    pub const fn call_off(&mut self) {
        if !self.cancel_wanted && matches!(self.state, TxState::Taken | TxState::Broadcast) {
            self.cancel_wanted = true;
            self.version += 1;
        }
    }

    /// It pays all that it may and is still not mined: a person is called, once.
    pub fn page(&mut self) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.paged {
            self.paged = true;
            self.version += 1;
            self.alert("a transaction is stuck at the highest fee".to_owned(), &mut effects);
        }
        effects
    }

    /// It is looked at again soon; one that is over is not.
    pub fn go_on(&self, now: Timestamp) -> WalletEffects {
        if self.state.is_final() { WalletEffects::default() } else { self.look_at(now + LOOK_EVERY) }
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
