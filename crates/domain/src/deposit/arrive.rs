//! Chain events of a deposit: inclusion in a block, loss of the block, sufficient depth, final
//! disappearance.

use super::case::{Case, Terms};
use super::states::{Step, Trigger};
use super::{Deposit, DepositBucket, DepositState, Watched};
use crate::chain::{Address, TxHash};
use crate::chain_tx::{BlockRef, IntentState};
use crate::currency::StableCoin;
use crate::decision::Cx;
use crate::money::Money;
use crate::names::state_phrase;
use crate::payment_request::SenderDetails;
use crate::risk::sandbox;
use crate::time::Timestamp;
use crate::wallet::WalletState;
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::{FailureReason, WalletEvent};

/// Number of blocks after which a transaction that dropped out of the chain is given up.
pub const DROPPED_AFTER_BLOCKS: u64 = 128;

/// Log of a supported token that pays into a watched vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    /// Vault that the transfer pays, with its wallet and request.
    pub vault: Watched,
    /// Stablecoin of the transfer.
    pub coin: StableCoin,
    /// Amount in minor units (10^-6), positive.
    pub minor: i64,
    /// Payer that the `Transfer` log names.
    pub from: Address,
    /// Hash of the transaction that emitted the log.
    pub tx: TxHash,
    /// Position of the log among the transaction's transfers.
    pub ordinal: u32,
    /// Block that contains the log.
    pub place: BlockRef,
    /// Timestamp of the block.
    pub paid_at: Timestamp,
}

impl Found {
    /// The deposit at its first sighting; `sender` has the details of the submission whose escrow
    /// was paid.
    pub fn deposit(&self, sender: SenderDetails, now: Timestamp) -> Deposit {
        Deposit {
            id: Deposit::id_of(self.chain_id, self.tx, self.ordinal),
            chain: self.vault.chain,
            tenant: self.vault.tenant,
            wallet: self.vault.wallet,
            request: self.vault.request,
            submission: self.vault.submission,
            coin: self.coin,
            minor: self.minor,
            from: self.from,
            to: self.vault.address,
            tx: self.tx,
            ordinal: self.ordinal,
            place: None,
            lost_at: None,
            paid_at: self.paid_at,
            seen_at: now,
            sender,
            state: DepositState::Orphaned,
            state_at: now,
            back_to: None,
            pot: DepositBucket::Nowhere,
            hold: None,
            credited_at: None,
            disputed: false,
            concern: None,
            assessment: None,
            decision: None,
            is_dust: false,
            spoiled: false,
            release: None,
            riders: Vec::new(),
            release_tx: None,
            is_deducted: false,
            release_fee: Some(0),
            completed_at: None,
            failure: None,
            refund: None,
            legal_hold: None,
            version: 0,
        }
    }
}

impl Case {
    /// Its log is in a block: for the first time, again, or still. A counted deposit leaves its
    /// block through [`Case::lost`] only: a report of another block comes from a process that was
    /// paused, and is outdated.
    pub fn included(
        &mut self,
        place: BlockRef,
        paid_at: Timestamp,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let waits = matches!(self.deposit.state, DepositState::Seen | DepositState::Suspended);
        if self.deposit.place == Some(place) || (self.deposit.place.is_some() && !waits) {
            return effects;
        }
        self.deposit.place = Some(place);
        self.deposit.lost_at = None;
        self.deposit.version += 1;
        match self.deposit.state.on(Trigger::Included) {
            Step::To(DepositState::Suspended) => self.given_up_too_soon(&mut effects, cx),
            Step::To(state) => {
                self.deposit.paid_at = paid_at;
                self.enter(state, &mut effects, cx);
                if let Some(request) = &mut self.request {
                    request.seen(paid_at);
                }
            }
            Step::Back | Step::Stays | Step::Refused | Step::Person => {}
        }
        effects
    }

    /// A given-up deposit is in the chain again. It stays failed; its amount goes to suspense when
    /// it is deep enough. A deposit that failed otherwise still has its amount.
    fn given_up_too_soon(&mut self, effects: &mut WalletEffects, cx: &Cx<'_>) {
        if self.deposit.pot == DepositBucket::Nowhere {
            self.deposit.back_to = Some(self.deposit.state);
            self.deposit.state = DepositState::Suspended;
            self.deposit.state_at = cx.now;
            let what = "a transaction that was given up is back in the chain".to_owned();
            self.alert(AlertKind::DeepReorg, what, effects);
        }
    }

    /// Its `block` was reorganised away; the chain is `height` blocks high. `spendable` is the
    /// wallet's spendable balance.
    pub fn lost(
        &mut self,
        block: BlockRef,
        height: u64,
        spendable: Money,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.deposit.place != Some(block) {
            return effects;
        }
        self.deposit.place = None;
        self.deposit.lost_at = Some(height);
        self.deposit.disputed = false;
        self.deposit.version += 1;
        let from = self.deposit.state;
        match from.on(Trigger::Lost) {
            Step::To(DepositState::Suspended) => {
                self.suspend_lost(spendable, &mut effects, cx);
                self.withdraw_release(&mut effects, cx);
            }
            Step::To(state) => {
                self.enter(state, &mut effects, cx);
                if let Some(request) = &mut self.request {
                    effects.merge(request.lost(self.deposit.paid_at, cx.now));
                }
            }
            Step::Person => {
                let what = format!(
                    "the deposit, which {}, was reorganized away, and its amount is not available",
                    state_phrase(from.name())
                );
                self.alert(AlertKind::DeepReorg, what, &mut effects);
            }
            Step::Back | Step::Stays | Step::Refused => {}
        }
        effects
    }

    /// It is out of the chain: suspends it, unless its state does not wait for its return.
    pub(super) fn suspend_lost(
        &mut self,
        spendable: Money,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        let from = self.deposit.state;
        if from.on(Trigger::Lost) == Step::To(DepositState::Suspended) {
            let is_short = self.suspend(spendable, effects, cx);
            self.alert(AlertKind::DeepReorg, suspended(from, is_short), effects);
        }
    }

    /// Moves its amount to suspense, also if the wallet has reserved or spent it: what the wallet lacks
    /// stays a claim on it. Returns whether it lacks any. The fee of its release, which never arrived,
    /// comes from outside again.
    fn suspend(&mut self, spendable: Money, effects: &mut WalletEffects, cx: &mut Cx<'_>) -> bool {
        self.deposit.back_to = Some(self.deposit.state);
        let lent = self.deposit.lend(spendable, cx);
        let is_short = lent.is_some();
        effects.transfers.extend(lent);
        self.enter(DepositState::Suspended, effects, cx);
        is_short
    }

    /// The time of its block, as enough nodes state it: until it counts, one node's word is all that
    /// there is.
    pub fn paid(&mut self, at: Timestamp) {
        let known = self.deposit.paid_at;
        if known == at || self.deposit.state != DepositState::Seen {
            return;
        }
        self.deposit.paid_at = at;
        self.deposit.version += 1;
        if let Some(request) = &mut self.request {
            request.seen_at(known, at);
        }
    }

    /// It is deep enough to count.
    pub fn counted(
        &mut self,
        confirmations: u64,
        terms: Terms<'_>,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.deposit.place.is_none() {
            return effects;
        }
        match self.deposit.state {
            DepositState::Seen => self.credit(confirmations, terms, &mut effects, cx),
            DepositState::Suspended => self.restore(terms, &mut effects, cx),
            _ => {}
        }
        effects
    }

    fn credit(
        &mut self,
        confirmations: u64,
        terms: Terms<'_>,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) {
        if self.deposit.minor < terms.release_min {
            return self.credit_dust(terms, confirmations, effects, cx);
        }
        let trigger = match self.wallet.state {
            WalletState::Active | WalletState::Pending => Trigger::Counted,
            WalletState::Blocked => Trigger::CountedBlocked,
            WalletState::Blacklisted => Trigger::CountedBlacklisted,
        };
        let Some(state) = self.next(trigger) else { return };
        self.deposit.credited_at = Some(cx.now);
        self.deposit.disputed = false;
        self.wallet.touch(cx.now);
        self.enter(state, effects, cx);
        if let Some(request) = &mut self.request {
            self.deposit.spoiled = terms.sandbox
                && sandbox::fails_on_chain(sandbox::cents(
                    Some(&request.asked),
                    self.deposit.minor,
                ));
            let deposit = &self.deposit;
            let paid = (deposit.coin, deposit.minor);
            let (concern, more) =
                request.credited(paid, deposit.paid_at, terms.accept_late, cx.now);
            self.deposit.concern = concern;
            effects.merge(more);
            self.weigh_refusal();
        } else {
            effects.alerts.push(self.deposit.direct_alert());
        }
        // The bank learns who has paid what, whatever becomes of it.
        if self.request.is_some() {
            let event = self.received(terms, confirmations);
            self.tell(event, effects);
        }
        if state == DepositState::Rejected {
            self.fail(FailureReason::AddressBlacklisted, effects, cx);
        }
    }

    pub(super) fn received(&self, terms: Terms<'_>, confirmations: u64) -> WalletEvent {
        let deposit = &self.deposit;
        WalletEvent::PaymentReceived {
            about: self.about(),
            minor: deposit.minor,
            coin: deposit.coin,
            blockchain: terms.chain.name.clone(),
            tx: deposit.tx,
            from: deposit.from,
            to: deposit.to,
            confirmations,
            sender: deposit.sender.clone(),
        }
    }

    /// It is in the chain again: restores its state and applies the wallet changes since then.
    fn restore(&mut self, terms: Terms<'_>, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(mut state) = self.next(Trigger::Counted) else { return };
        // A release that the reorganisation undid as well is executed again.
        // Dust whose release went on without it has none.
        let release = self.deposit.release;
        let undone = match release {
            Some(_) => self.intent(release).is_some_and(|intent| intent.state != IntentState::Done),
            None => self.request.is_some(),
        };
        if state == DepositState::Completed && undone {
            state = DepositState::Approved;
        }
        if state == DepositState::Failed {
            effects.transfers.extend(self.deposit.move_to(
                DepositBucket::Suspense,
                "deposit.late",
                cx,
            ));
        }
        self.enter(state, effects, cx);
        self.end_suspense_alert(effects);
        self.deposit.back_to = None;
        if state == DepositState::Approved {
            self.want_release(terms, effects, cx);
        }
        effects.merge(self.wallet_changed(cx));
    }

    /// Its amount has left suspense for where it was before the reorganisation.
    fn end_suspense_alert(&self, effects: &mut WalletEffects) {
        let Some(from) = self.deposit.back_to.filter(|from| *from != DepositState::Failed) else {
            return;
        };
        effects.closed.extend([false, true].map(|is_short| Alert {
            kind: AlertKind::DeepReorg,
            subject: self.deposit.id.0,
            what: suspended(from, is_short),
        }));
    }

    /// It has been out of the chain for [`DROPPED_AFTER_BLOCKS`]; `height` is that of the chain.
    /// Not before the outcome of its release is known, which can only have happened if the deposit
    /// did.
    pub fn dropped(&mut self, height: u64, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let long = self.deposit.lost_at.is_some_and(|lost| height >= lost + DROPPED_AFTER_BLOCKS);
        let release = self.deposit.release;
        let open = self.intent(release).is_some_and(|intent| intent.state == IntentState::Assigned);
        if long && !open {
            self.drop_out(&mut effects, cx);
        }
        effects
    }

    /// It is out of the chain, and its release moved the amount of a later deposit: that one
    /// becomes released, this one dropped. `spendable` is the wallet's spendable balance. `None` means
    /// that it is in the chain.
    pub fn replaced(&mut self, spendable: Money, cx: &mut Cx<'_>) -> Option<WalletEffects> {
        if self.deposit.place.is_some() {
            return None;
        }
        let mut effects = WalletEffects::default();
        if self.deposit.state == DepositState::Completed {
            self.suspend(spendable, &mut effects, cx);
        }
        self.drop_out(&mut effects, cx);
        Some(effects)
    }

    /// It will not return: notifies the bank.
    fn drop_out(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        if let Some(state) = self.next(Trigger::Dropped) {
            effects.transfers.extend(self.deposit.move_to(
                DepositBucket::Nowhere,
                "deposit.dropped",
                cx,
            ));
            self.enter(state, effects, cx);
            self.deposit.lost_at = None;
            if self.deposit.back_to.take() == Some(DepositState::Failed) {
                return;
            }
            let taken = self.deposit.is_approved();
            if let Some(request) = self.request.as_mut().filter(|_| !self.deposit.is_dust) {
                let paid = (self.deposit.coin, self.deposit.minor);
                request.uncredited(paid, self.deposit.concern, taken);
            }
            self.fail(FailureReason::TransactionDropped, effects, cx);
        }
    }

    /// Its vault's balance differs from the sum of the logs: it does not count until they match.
    pub fn dispute(&mut self, what: String) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.deposit.state == DepositState::Seen && !self.deposit.disputed {
            self.deposit.disputed = true;
            self.deposit.version += 1;
            self.alert(AlertKind::ChainMismatch, format!("{NOT_COUNTED}{what}"), &mut effects);
        }
        effects
    }
}

/// The alert about a deposit that was reorganised away in this state; `is_short` if its wallet has
/// reserved or spent part of it.
fn suspended(from: DepositState, is_short: bool) -> String {
    let short = if is_short {
        ", and what the wallet lacks of it is taken from the tokens that it has available next"
    } else {
        ""
    };
    let state = state_phrase(from.name());
    format!("the deposit, which {state}, was reorganized away: its amount is in suspense{short}")
}

/// The beginning of an alert about a disputed deposit.
pub const NOT_COUNTED: &str = "the deposit is not counted: ";
