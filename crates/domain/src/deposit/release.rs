//! Release of an approved deposit: its request and its on-chain outcome.

use super::case::{Case, Terms, message};
use super::states::Trigger;
use super::{Deposit, DepositState, Halt};
use crate::chain::vault::{self, VaultKind};
use crate::chain::{Movement, Plan, TxHash, intent_word};
use crate::chain_tx::{Intent, IntentState};
use crate::decision::{Cx, JobChange};
use crate::ids::IntentId;
use crate::job::JobKind;
use crate::names::state_phrase;
use crate::wallet::WalletState;
use crate::wallet_effects::{AlertKind, WalletEffects};
use crate::wallet_event::{FailureReason, WalletEvent};

/// More than any sandbox vault holds, in minor units (a billion tokens): requested to fail on the
/// chain.
const TOO_MUCH: u64 = 1_000_000_000_000_000;

impl Case {
    /// Approves it for the wallet. A direct payment to the wallet is already there.
    pub(super) fn approve(
        &mut self,
        state: DepositState,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        self.enter(state, effects, cx);
        if self.request.is_some() {
            self.want_release(terms, effects, cx);
        } else {
            self.deposit.completed_at = Some(cx.now);
            self.wallet.touch(cx.now);
            self.enter(DepositState::Completed, effects, cx);
            self.complete_dust(terms, effects, cx);
        }
    }

    /// Requests a release, unless there is one.
    pub(super) fn want_release(
        &mut self,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let release = self.deposit.release;
        if self.intent(release).is_some_and(|intent| !intent.state.is_terminal()) {
            return;
        }
        let id = IntentId(cx.ids.next());
        let Some(mut movement) = self.movement(id, terms) else {
            let what = "release failed: the token has no contract in the configuration".to_owned();
            return self.alert(AlertKind::Transaction, what, effects);
        };
        let riders = self.take_along(id, terms, effects, cx);
        movement.amount = movement.amount.saturating_add(riders);
        if self.deposit.spoiled {
            movement.amount = TOO_MUCH;
        }
        let mut intent = self.new_intent(id, Plan::Release(movement), effects, cx);
        intent.unchecked = self.deposit.spoiled;
        intent.riders.clone_from(&self.deposit.riders);
        self.intents.push(intent);
        self.deposit.release = Some(id);
    }

    /// Requests the release of the deposit by itself, along the `movement` of the one that it was
    /// in.
    pub(super) fn release_alone(
        &mut self,
        movement: Movement,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let id = IntentId(cx.ids.next());
        let deposit = &self.deposit;
        let movement = Movement {
            intent: intent_word(deposit.tenant, id),
            amount: deposit.minor.unsigned_abs(),
            ..movement
        };
        let intent = self.new_intent(id, Plan::Release(movement), effects, cx);
        self.intents.push(intent);
        self.deposit.release = Some(id);
    }

    /// The movement out of its vault under an intent.
    pub(super) fn movement(&self, intent: IntentId, terms: Terms<'_>) -> Option<Movement> {
        let deposit = &self.deposit;
        let (reference, recipient) = match &self.request {
            Some(request) => (request.reference_of(deposit.submission), self.wallet.address),
            None => (
                vault::reference(VaultKind::Wallet, deposit.tenant, deposit.wallet.0),
                self.wallet.controller,
            ),
        };
        Some(Movement {
            intent: intent_word(deposit.tenant, intent),
            reference,
            recipient,
            token: terms.chain.token(deposit.coin)?,
            amount: deposit.minor.unsigned_abs(),
        })
    }

    pub(super) fn new_intent(
        &self,
        id: IntentId,
        plan: Plan,
        effects: &mut WalletEffects,
        cx: &Cx<'_>,
    ) -> Intent {
        effects.jobs.push((id.0, JobChange::Set(JobKind::SendIntent, cx.now)));
        let deposit = &self.deposit;
        Intent {
            wallet: Some(deposit.wallet),
            request: deposit.request,
            coin: Some(deposit.coin),
            ..Intent::new(id, deposit.tenant, deposit.chain, deposit.id.0, plan, cx.now)
        }
    }

    /// Cancels a release that has no transaction yet. A release with a transaction is cancelled by
    /// it at its next check.
    pub(super) fn withdraw_release(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let (release, id) = (self.deposit.release, self.deposit.id.0);
        // The release that it rides with is cancelled when its transaction is next checked.
        if let Some(intent) = self.intent(release).filter(|intent| intent.subject == id) {
            let (called_off, more) = intent.withdraw(cx.now);
            effects.merge(more);
            if called_off {
                self.leave_riders(effects, cx);
            }
        }
    }

    /// Whether a release may be signed now.
    pub fn may_release(&self) -> bool {
        let is_free = !self.wallet.state.is_frozen() && !self.escrow_is_held();
        self.deposit.state == DepositState::Approved
            && is_free
            && self.riders_are(|it| it.state == DepositState::Approved)
    }

    /// Whether this intent has to be executed unconditionally: others rely on it, and a
    /// reorganisation undid it. Not a release that would take the place of dust which is out of the
    /// chain from a later deposit.
    pub fn owes(&self, intent: IntentId) -> bool {
        let refund = self.deposit.refund.as_ref();
        match self.deposit.state {
            DepositState::Completed => {
                self.deposit.release == Some(intent)
                    && self.riders_are(|rider| rider.place.is_some())
            }
            DepositState::Refunded => refund
                .is_some_and(|refund| refund.propose == intent || refund.execute == Some(intent)),
            _ => false,
        }
    }

    /// The release took effect in `tx`. The token contract deducted a `fee` for its issuer; the
    /// rest is in the wallet.
    pub fn released(&mut self, tx: TxHash, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let fee = self.riders_released(tx, fee, &mut effects, cx);
        effects.merge(self.one_released(tx, fee, cx));
        effects
    }

    /// Its `release`, which the books have, took effect in `tx` after a reorganisation: the `fee` may
    /// be another one.
    pub fn release_fee_is(
        &mut self,
        release: IntentId,
        tx: TxHash,
        fee: i64,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let is_completed = |deposit: &Deposit| deposit.state == DepositState::Completed;
        let is_its = self.deposit.release == Some(release) && is_completed(&self.deposit);
        if !is_its || !self.riders_are(is_completed) {
            return WalletEffects::default();
        }
        self.released(tx, fee, cx)
    }

    /// Like [`Case::released`], for one of the deposits that the release moved.
    pub(super) fn one_released(&mut self, tx: TxHash, fee: i64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let booked = self.deposit.release_fee.replace(fee);
        let Some(state) = self.next(Trigger::ReleaseDone) else {
            if self.deposit.state == DepositState::Completed {
                // A reorganisation undid it, and it was executed again.
                effects.transfers.extend(self.deposit.other_fee(fee, booked.unwrap_or(fee), cx));
                let known = self.deposit.release_tx.replace(tx);
                self.deposit.version += i64::from(booked != Some(fee) || known != Some(tx));
            } else {
                self.deposit.release_fee = booked;
                let state = state_phrase(self.deposit.state.name());
                let what = format!("the deposit, which {state}, was released on the chain");
                self.alert(AlertKind::ChainMismatch, what, &mut effects);
            }
            return effects;
        };
        self.enter(state, &mut effects, cx);
        self.deposit.back_to = None;
        self.deposit.release_tx = Some(tx);
        let first = self.deposit.completed_at.is_none();
        self.deposit.completed_at.get_or_insert(cx.now);
        self.wallet.touch(cx.now);
        if first {
            let event = WalletEvent::TransferComplete {
                about: self.about(),
                minor: self.deposit.minor - fee,
                coin: self.deposit.coin,
                tx,
                at: cx.now,
            };
            self.tell(event, &mut effects);
        }
        effects
    }

    /// The release of another deposit, which is no longer in the chain, moved its amount to the
    /// wallet in `tx`, less a `fee`: that counts as its release. `None` means that it is not about to
    /// be released.
    pub fn released_before(
        &mut self,
        tx: TxHash,
        fee: i64,
        cx: &mut Cx<'_>,
    ) -> Option<WalletEffects> {
        if self.deposit.state != DepositState::Approved || self.deposit.place.is_none() {
            return None;
        }
        let mut effects = WalletEffects::default();
        self.withdraw_release(&mut effects, cx);
        effects.merge(self.released(tx, fee, cx));
        let what =
            format!("released by {tx}, which belonged to another deposit before a reorganisation");
        self.alert(AlertKind::DeepReorg, what, &mut effects);
        Some(effects)
    }

    /// A `release` that it no longer named took effect in `tx`: an earlier one that had been given
    /// up and that a reorganisation restored, or a later one that was not called off in time. The one
    /// that it names is no longer wanted, and neither are those of the dust that this one moved: they
    /// would be paid from later deposits. One that is in a transaction is called off by it; one that
    /// took effect as well stays the deposit's release, and an alert is raised.
    pub fn release_restored(
        &mut self,
        release: IntentId,
        tx: TxHash,
        fee: i64,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let moved = self.intent(Some(release)).map(|it| it.riders.clone()).unwrap_or_default();
        let is_its = self.returns_to((release, tx), &mut effects, cx);
        for at in 0..self.riders.len() {
            let id = self.riders[at].id;
            if !moved.contains(&id)
                || !self.with_rider(at, |case| case.returns_to((release, tx), &mut effects, cx))
            {
                continue;
            }
            if !is_its {
                effects.merge(self.with_rider(at, |case| case.one_released(tx, 0, cx)));
            } else if !self.deposit.riders.contains(&id) {
                self.deposit.riders.push(id);
            }
        }
        if is_its {
            effects.merge(self.released(tx, fee, cx));
        }
        effects
    }

    /// Makes `release` the deposit's release again; `false` if a later one took effect, too.
    fn returns_to(
        &mut self,
        (release, tx): (IntentId, TxHash),
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) -> bool {
        let later = self.deposit.release.filter(|it| *it != release);
        let id = self.deposit.id.0;
        let known = self.intent(later).map(|it| (it.state, it.subject == id));
        if let Some((IntentState::Done, _)) = known {
            let what = format!(
                "a deposit was released twice: a reorganisation restored a release in {tx} beside the one that the books show"
            );
            self.alert(AlertKind::DeepReorg, what, effects);
            return false;
        }
        if let Some((_, true)) = known {
            self.withdraw_release(effects, cx);
            self.leave_riders(effects, cx);
        }
        if self.deposit.release != Some(release) {
            self.deposit.release = Some(release);
            self.deposit.version += 1;
        }
        if let Some(state) = self.next(Trigger::Gathered) {
            self.enter(state, effects, cx);
        }
        true
    }

    /// The release failed at its last attempt.
    pub fn release_failed(&mut self, reason: FailureReason, cx: &mut Cx<'_>) -> WalletEffects {
        self.release_ends(reason, message(reason), cx)
    }

    /// The token stayed halted for longer than the timeout.
    pub fn release_halted(&mut self, halt: Halt, cx: &mut Cx<'_>) -> WalletEffects {
        self.release_ends(FailureReason::TokenPaused, halt.message(), cx)
    }

    fn release_ends(
        &mut self,
        reason: FailureReason,
        message: &str,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        self.leave_riders(&mut effects, cx);
        if let Some(state) = self.next(Trigger::ReleaseFailed) {
            self.enter(state, &mut effects, cx);
            self.fail_saying(reason, message, &mut effects, cx);
            let what = format!("release failed: {}", reason.name());
            self.alert(AlertKind::Transaction, what, &mut effects);
        }
        effects
    }

    /// The release certainly did not happen and never will: the wallet's state decides what
    /// follows.
    pub fn release_stopped(&mut self, terms: Terms<'_>, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let release = self.deposit.release;
        let plan = self.intent(release).map(|intent| intent.plan);
        self.leave_riders(&mut effects, cx);
        let trigger = match self.wallet.state {
            WalletState::Active | WalletState::Pending if self.escrow_is_held() => {
                Trigger::ReleaseStoppedHeld
            }
            WalletState::Active | WalletState::Pending => Trigger::ReleaseStopped,
            WalletState::Blocked => Trigger::ReleaseStoppedBlocked,
            WalletState::Blacklisted => Trigger::ReleaseStoppedBlacklisted,
        };
        match self.next(trigger) {
            Some(state) => {
                self.enter(state, &mut effects, cx);
                if state == DepositState::Rejected {
                    self.fail(FailureReason::AddressBlacklisted, &mut effects, cx);
                }
            }
            None if self.deposit.state == DepositState::Approved => {
                self.want_release(terms, &mut effects, cx)
            }
            // It is owed, but without the dust that a reorganisation took from it.
            None if self.deposit.state == DepositState::Completed => {
                if let Some(Plan::Release(movement)) = plan {
                    self.release_alone(movement, &mut effects, cx);
                }
            }
            None => {}
        }
        effects
    }
}
