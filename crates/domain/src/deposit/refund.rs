//! Refund of a rejected deposit. Compliance proposes it to an address that the sender named and
//! that was screened; another user approves it; separate keys execute both halves on the chain. A
//! deposit on legal hold is never refunded.

use super::case::{Case, DepositRefusal, Terms};
use super::states::Trigger;
use super::{DepositState, Refund, SeenRefund};
use crate::chain::{Address, Plan, TxHash, intent_word};
use crate::chain_tx::IntentState;
use crate::decision::{Cx, JobChange};
use crate::ids::IntentId;
use crate::job::JobKind;
use crate::money::Money;
use crate::names::state_phrase;
use crate::screening::{Screened, Verdict};
use crate::user::is_same_user;
use crate::wallet_effects::{AlertKind, WalletEffects};

/// Beginning of the alert about a refund to an address that has been listed since its proposal.
const APPROVAL_REFUSED: &str = "refund approval refused";

impl Case {
    /// Compliance proposes a refund to `to`, with the screening result `screened`.
    ///
    /// # Errors
    /// [`DepositRefusal::State`], [`DepositRefusal::NothingHeld`], [`DepositRefusal::EscrowHeld`],
    /// [`DepositRefusal::AddressRefused`], [`DepositRefusal::NoToken`], in this order.
    pub fn propose_refund(
        &mut self,
        to: Address,
        screened: Screened,
        by: &str,
        terms: Terms<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        let state = self.allowed(Trigger::RefundAsked)?;
        if !self.deposit.is_held_in_escrow() {
            return Err(DepositRefusal::NothingHeld);
        }
        if self.escrow_is_held() {
            return Err(DepositRefusal::EscrowHeld);
        }
        let watched =
            to == self.deposit.to || to == self.wallet.address || to == self.wallet.controller;
        if screened.verdict() != Verdict::Clean || watched {
            return Err(DepositRefusal::AddressRefused);
        }
        let id = IntentId(cx.ids.next());
        let movement = self.movement(id, terms).ok_or(DepositRefusal::NoToken)?;
        let mut effects = WalletEffects::default();
        self.deposit.back_to = Some(self.deposit.state);
        self.enter(state, &mut effects, cx);
        let plan = Plan::ProposeRefund { movement, to };
        let intent = self.new_intent(id, plan, &mut effects, cx);
        self.intents.push(intent);
        self.deposit.refund = Some(Refund {
            to,
            proposed_by: by.to_owned(),
            screened,
            propose: id,
            proposed: false,
            approved_by: None,
            screened_again: None,
            execute: None,
            tx: None,
        });
        Ok(effects)
    }

    /// The proposal is on the chain and awaits another user's approval.
    pub fn refund_proposed(&mut self, cx: &Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(refund) = self.deposit.refund.as_mut().filter(|refund| !refund.proposed) {
            refund.proposed = true;
            self.deposit.version += 1;
            effects.jobs.push((self.deposit.id.0, JobChange::Set(JobKind::ReviewDeposit, cx.now)));
        }
        effects
    }

    /// Another user approves the refund that they have `seen`. `screened` is the current result for
    /// the address: the lists may have changed since the proposal. A newer proposal than the one
    /// seen is not approved, nor one whose deposit was reorganised away.
    ///
    /// # Errors
    /// [`DepositRefusal::State`], [`DepositRefusal::OtherRefund`], [`DepositRefusal::NotProposed`],
    /// [`DepositRefusal::SamePerson`], [`DepositRefusal::NothingHeld`],
    /// [`DepositRefusal::EscrowHeld`], [`DepositRefusal::OlderLists`],
    /// [`DepositRefusal::AddressListed`], [`DepositRefusal::ListsTooOld`], in this order.
    pub fn approve_refund(
        &mut self,
        seen: SeenRefund,
        screened: Screened,
        by: &str,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        let refused = self.deposit.refused();
        let tenant = self.deposit.tenant;
        let held = self.escrow_is_held();
        let is_there = self.deposit.is_held_in_escrow();
        let minor = self.deposit.minor;
        let refund = self.deposit.refund.as_mut().filter(|refund| refund.waits_for_approval());
        let refund = refund.ok_or(refused)?;
        if refund.to != seen.to || seen.minor.is_some_and(|seen| seen != minor) {
            return Err(DepositRefusal::OtherRefund);
        }
        if !refund.proposed {
            return Err(DepositRefusal::NotProposed);
        }
        if is_same_user(&refund.proposed_by, by) {
            return Err(DepositRefusal::SamePerson);
        }
        if !is_there {
            return Err(DepositRefusal::NothingHeld);
        }
        if held {
            return Err(DepositRefusal::EscrowHeld);
        }
        if screened.is_older_than(&refund.screened.list_version, cx.now) {
            return Err(DepositRefusal::OlderLists);
        }
        match screened.verdict() {
            Verdict::Clean => {}
            _ if screened.is_match() => return Err(DepositRefusal::AddressListed),
            _ => return Err(DepositRefusal::ListsTooOld),
        }
        let id = IntentId(cx.ids.next());
        refund.approved_by = Some(by.to_owned());
        refund.screened_again = Some(screened);
        refund.execute = Some(id);
        let plan = Plan::ExecuteRefund { intent: intent_word(tenant, refund.propose) };
        self.deposit.version += 1;
        let mut effects = WalletEffects {
            jobs: vec![(self.deposit.id.0, JobChange::Done)],
            ..WalletEffects::default()
        };
        self.end_alerts(APPROVAL_REFUSED, &mut effects);
        let intent = self.new_intent(id, plan, &mut effects, cx);
        self.intents.push(intent);
        Ok(effects)
    }

    /// Its approval was refused because the address is now listed: raises an alert, since money
    /// waits to go there.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: no refund awaits approval.
    pub fn refund_listed(&mut self, screened: &Screened) -> Result<WalletEffects, DepositRefusal> {
        if !self.deposit.refund.as_ref().is_some_and(Refund::waits_for_approval)
            || !screened.is_match()
        {
            return Err(self.deposit.refused());
        }
        let mut effects = WalletEffects::default();
        let version = &screened.list_version;
        let what = format!(
            "{APPROVAL_REFUSED}: the address is on the sanctions list of version {version}, withdraw the proposal"
        );
        self.alert(AlertKind::Transaction, what, &mut effects);
        Ok(effects)
    }

    /// Withdraws an unapproved proposal: the deposit is rejected as before. A proposal on the chain
    /// is cancelled there too, so that no key can execute it; one without a transaction is not
    /// sent.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]; [`DepositRefusal::NotProposed`]: the proposal is on its way to
    /// the chain.
    pub fn withdraw_refund(&mut self, cx: &mut Cx<'_>) -> Result<WalletEffects, DepositRefusal> {
        let refused = self.deposit.refused();
        let open = self.deposit.refund.as_ref().filter(|refund| refund.waits_for_approval());
        let Some(refund) = open else { return Err(refused) };
        let (propose, proposed) = (refund.propose, refund.proposed);
        let back = self.next(Trigger::RefundWithdrawn).ok_or(refused)?;
        let mut effects = WalletEffects::default();
        if proposed {
            self.cancel_proposal(propose, &mut effects, cx);
        } else if let Some(intent) = self.intent(Some(propose)) {
            let (called_off, more) = intent.withdraw(cx.now);
            if !called_off {
                return Err(DepositRefusal::NotProposed);
            }
            effects.merge(more);
        }
        self.enter(back, &mut effects, cx);
        self.refund_over(&mut effects, cx);
        Ok(effects)
    }

    /// Whether an intent is one half of the current refund; intents of earlier proposals are not.
    pub fn is_refunded_by(&self, intent: IntentId) -> bool {
        let refund = self.deposit.refund.as_ref();
        refund.is_some_and(|refund| refund.propose == intent || refund.execute == Some(intent))
    }

    /// It was refunded in `tx`.
    pub fn refunded(&mut self, tx: TxHash, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(Trigger::RefundDone) {
            self.enter(state, &mut effects, cx);
            if let Some(refund) = &mut self.deposit.refund {
                refund.tx = Some(tx);
            }
        }
        effects
    }

    /// It was refunded in `tx` by a proposal that these books do not have: an earlier life of the
    /// installation made it, before its database was restored. The current proposal is cancelled on
    /// the chain if it is there, so that no key can execute it.
    pub fn refunded_before(&mut self, tx: TxHash, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let current = self.deposit.refund.as_ref().filter(|refund| refund.proposed);
        if let Some(propose) = current.map(|refund| refund.propose) {
            self.cancel_proposal(propose, &mut effects, cx);
        }
        effects.merge(self.refunded(tx, cx));
        let what = format!(
            "the deposit was refunded in {tx} by a proposal that these books do not have: see there to which address"
        );
        self.alert(AlertKind::ChainMismatch, what, &mut effects);
        effects
    }

    /// Requests the cancellation of a proposal on the chain.
    fn cancel_proposal(&mut self, propose: IntentId, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let plan = Plan::CancelRefund { intent: intent_word(self.deposit.tenant, propose) };
        let id = IntentId(cx.ids.next());
        let intent = self.new_intent(id, plan, effects, cx);
        self.intents.push(intent);
    }

    /// A reorganisation restored a refund that had been given up: intent `execute`, in `tx`. One that
    /// was approved since is no longer wanted; one in a transaction is called off by it.
    pub fn refund_restored(
        &mut self,
        execute: IntentId,
        tx: TxHash,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let later = self.deposit.refund.as_ref().and_then(|refund| refund.execute);
        let later = later.filter(|it| *it != execute);
        if self.intent(later).is_some_and(|it| it.state == IntentState::Done) {
            let what = format!(
                "a deposit was refunded twice: a reorganisation restored a refund in {tx} beside the one that the books show"
            );
            self.alert(AlertKind::DeepReorg, what, &mut effects);
            return effects;
        }
        if let Some(intent) = self.intent(later) {
            effects.merge(intent.withdraw(cx.now).1);
        }
        if let Some(refund) = &mut self.deposit.refund {
            refund.execute = Some(execute);
            self.deposit.version += 1;
        }
        let state = self.deposit.state;
        if state == DepositState::Refunding {
            effects.merge(self.refunded(tx, cx));
        } else if self.deposit.is_held_in_escrow() && self.next(Trigger::RefundDone).is_some() {
            self.deposit.back_to = Some(state);
            effects.merge(self.refunded(tx, cx));
        }
        if self.deposit.state != DepositState::Refunded {
            let what = format!(
                "the deposit, which {}, was refunded in {tx}: the books still have its amount",
                state_phrase(self.deposit.state.name())
            );
            self.alert(AlertKind::ChainMismatch, what, &mut effects);
        }
        effects
    }

    /// A reorganisation restored a proposal that had been given up: it is cancelled on the chain, so
    /// that no key can execute it.
    pub fn proposal_restored(&mut self, propose: IntentId, cx: &mut Cx<'_>) -> WalletEffects {
        if self.is_refunded_by(propose) {
            return self.refund_proposed(cx);
        }
        let mut effects = WalletEffects::default();
        self.cancel_proposal(propose, &mut effects, cx);
        effects
    }

    /// Its refund ended without effect, and it is in the state from before.
    fn refund_over(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        self.deposit.back_to = None;
        self.deposit.refund = None;
        self.end_alerts(APPROVAL_REFUSED, effects);
        if self.deposit.place.is_none() {
            self.suspend_lost(Money::new(0, self.deposit.coin.currency()), effects, cx);
        }
    }

    /// One of the two halves failed for good: the deposit is rejected as before.
    pub fn refund_failed(&mut self, why: &str, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(state) = self.next(Trigger::RefundFailed) {
            self.enter(state, &mut effects, cx);
            self.refund_over(&mut effects, cx);
            self.alert(AlertKind::Transaction, format!("a refund failed: {why}"), &mut effects);
        }
        effects
    }
}
