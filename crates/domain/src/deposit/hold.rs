//! Effects of a legal hold beyond the deposit's state: the controller lets nothing out of its
//! escrow, and no other deposit in the escrow moves. Lifting takes two users and leaves the deposit
//! rejected. The controller lifts the hold once nothing in the escrow is on hold; after that takes
//! effect, the other deposits continue.

use super::case::{Case, DepositRefusal};
use super::states::Trigger;
use super::{Deposit, DepositState, ReviewVerdict};
use crate::chain::{Address, Word};
use crate::chain::{Plan, vault};
use crate::chain_tx::Intent;
use crate::decision::{Cx, JobChange};
use crate::ids::{DepositId, IntentId};
use crate::job::JobKind;
use crate::payment_request::{EscrowHold, PaymentRequest};
use crate::risk::{Hold, ReasonCode, RiskResult};
use crate::wallet_effects::WalletEffects;

/// Case reference under which the controller records the reason of a vault's hold.
pub fn case_of(deposit: DepositId) -> Word {
    vault::hash(&[b"corridor.case", deposit.0.as_bytes()])
}

impl Case {
    /// Whether a deposit in its escrow is on legal hold. The controller holds vaults, not payments:
    /// the other deposits stay too.
    pub fn escrow_is_held(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.is_held(&self.deposit.to))
    }

    /// Puts its escrow on hold, here at once and on the chain as soon as possible. A wallet is no
    /// escrow: a direct payment is held in the books, and the rest of the wallet's money remains
    /// its owner's.
    pub(super) fn hold_escrow(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(request) = &mut self.request else { return };
        let held_at = request.hold_of(&self.deposit.to).held_at.or(Some(cx.now));
        // A hold being lifted for another deposit stays now. A concurrent count of the holds starts
        // again.
        request.set_hold(&self.deposit.to, EscrowHold { held_at, lift: None });
        if self.deposit.legal_hold.is_some() {
            return;
        }
        let id = self.tell_hold(true, effects, cx);
        self.deposit.legal_hold = id;
    }

    /// Requests a change of its escrow's hold by the controller; `None` if it is in no escrow.
    fn tell_hold(
        &mut self,
        held: bool,
        effects: &mut WalletEffects,
        cx: &mut Cx<'_>,
    ) -> Option<IntentId> {
        self.request.as_ref()?;
        let vault = self.deposit.to;
        let plan = Plan::SetLegalHold { vault, held, case: case_of(self.deposit.id) };
        let id = IntentId(cx.ids.next());
        let intent = self.new_intent(id, plan, effects, cx);
        // It moves no tokens, so a halted token contract does not matter.
        self.intents.push(Intent { coin: None, ..intent });
        Some(id)
    }

    /// A hold that predates on-chain holds.
    pub fn keep_held(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.deposit.state == DepositState::LegalHold {
            effects.jobs.push((self.deposit.id.0, JobChange::Done));
            self.hold_escrow(&mut effects, cx);
            self.deposit.version += 1;
        }
        effects
    }

    /// Two users lift its hold: it stays rejected, as the bank knows, and can be refunded. Unless
    /// another deposit holds the escrow, the controller lifts its hold, and the escrow is free when
    /// that takes effect.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: it is not on hold.
    pub fn lift_hold(
        &mut self,
        others_hold: bool,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, DepositRefusal> {
        let mut effects = WalletEffects::default();
        // A deposit dropped from the chain for good while on hold has left its escrow on hold.
        if self.deposit.state == DepositState::Failed && self.deposit.legal_hold.is_some() {
            self.deposit.version += 1;
        } else {
            let state = self.allowed(Trigger::HoldLifted)?;
            self.enter(state, &mut effects, cx);
        }
        self.deposit.legal_hold = None;
        if let Some(assessment) = &mut self.deposit.assessment {
            assessment.hold = Some(Hold::Refundable);
        }
        let is_last = self.escrow_is_held() && !others_hold;
        let lift = if is_last { self.tell_hold(false, &mut effects, cx) } else { None };
        if let Some(request) = &mut self.request {
            let held_at = request.hold_of(&self.deposit.to).held_at;
            request.set_hold(&self.deposit.to, EscrowHold { held_at, lift });
        }
        Ok(effects)
    }

    /// Its escrow is no longer on hold: deposits that waited only for that are screened again.
    pub fn escrow_free(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.escrow_is_held()
            && self.deposit.waits_for_escrow()
            && let Some(state) = self.next(Trigger::EscrowFree)
        {
            self.enter(state, &mut effects, cx);
        }
        effects
    }

    /// The other deposits in its escrow have been notified of the lifted hold.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: the job belongs to another deposit now.
    pub fn hold_followed(&self) -> Result<WalletEffects, DepositRefusal> {
        if matches!(
            self.deposit.state,
            DepositState::Screening | DepositState::InReview | DepositState::Refunding
        ) {
            return Err(self.deposit.refused());
        }
        Ok(WalletEffects {
            jobs: vec![(self.deposit.id.0, JobChange::Done)],
            ..WalletEffects::default()
        })
    }
}

impl Deposit {
    /// Whether the newest review approved it.
    pub fn is_approved(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.verdict == ReviewVerdict::Approve)
    }

    /// Whether its legal hold still has to be set on the chain.
    pub fn owes_a_hold(&self) -> bool {
        self.state == DepositState::LegalHold && self.request.is_some() && self.legal_hold.is_none()
    }

    /// Whether its escrow is on hold because of it.
    pub fn holds_its_escrow(&self) -> bool {
        self.legal_hold.is_some() || self.owes_a_hold()
    }

    /// Whether it has a hold that two users can lift.
    pub fn has_hold_to_lift(&self) -> bool {
        self.state == DepositState::LegalHold
            || (self.state == DepositState::Failed && self.legal_hold.is_some())
    }

    /// Whether it is in review only because another deposit held its escrow: its own screening was
    /// clean.
    pub fn waits_for_escrow(&self) -> bool {
        let found = self.assessment.as_ref();
        let found_good = |it: &crate::risk::Assessment| {
            it.reason == ReasonCode::EscrowHeld || it.result == RiskResult::Approved
        };
        self.state == DepositState::InReview && found.is_some_and(found_good)
    }
}

impl PaymentRequest {
    /// Whether this hold change is still due for an escrow: the newest decision supersedes older
    /// ones.
    pub fn wants_told(&self, intent: IntentId, escrow: &Address, held: bool) -> bool {
        let hold = self.hold_of(escrow);
        if held { hold.held_at.is_some() && hold.lift.is_none() } else { hold.lift == Some(intent) }
    }

    /// The controller no longer holds an escrow. The worker that handles `lifted` resumes the
    /// deposits in it.
    pub fn escrow_lifted(
        &mut self,
        intent: IntentId,
        lifted: DepositId,
        cx: &Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Some(escrow) = self.lifted_by(intent)
            && self.is_held(&escrow)
        {
            self.set_hold(&escrow, EscrowHold { held_at: None, lift: Some(intent) });
            effects.jobs.push((lifted.0, JobChange::Set(JobKind::Screen, cx.now)));
        }
        effects
    }
}
