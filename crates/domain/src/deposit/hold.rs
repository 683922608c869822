//! What legal hold means beyond a deposit's state: the controller is told to let nothing out of its escrow, and nothing
//! else in there moves any more. The way back takes two people and leaves the deposit refused: the controller is told once
//! nothing in the escrow is on hold, and what else is in there goes on when that has taken effect.

use super::case::{Case, DepositRefusal};
use super::states::Trigger;
use super::{Deposit, DepositState};
use crate::chain::vault;
use crate::chain::{Address, Word};
use crate::chain_tx::{Intent, IntentKind, Plan};
use crate::ids::{DepositId, IntentId};
use crate::job::JobKind;
use crate::payment::{Cx, JobChange};
use crate::payment_request::{EscrowHold, PaymentRequest};
use crate::risk::{Hold, ReasonCode, RiskResult};
use crate::wallet_effects::WalletEffects;

/// The word under which the controller records why a vault is on hold.
pub fn case_of(deposit: DepositId) -> Word {
    vault::hash(&[b"corridor.case", deposit.0.as_bytes()])
}

impl Case {
    /// Whether something in its escrow is on legal hold. The controller holds vaults, not payments: what else is in there
    /// stays too.
    pub fn escrow_is_held(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.is_held(&self.deposit.to))
    }

    /// Its escrow goes on hold, here at once and on the chain as soon as that goes. A wallet is no escrow: what came straight
    /// to it is kept in the books, and the rest of its money is its owner's.
    pub(super) fn hold_escrow(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(request) = &mut self.request else { return };
        let held_at = request.hold_of(&self.deposit.to).held_at.or(Some(cx.now));
        // One that is being lifted for something else stays on hold now. Whoever counts what holds it counts again.
        request.set_hold(&self.deposit.to, EscrowHold { held_at, lift: None });
        if self.deposit.legal_hold.is_some() {
            return;
        }
        let id = self.tell_hold(true, effects, cx);
        self.deposit.legal_hold = id;
    }

    /// Wants the controller told whether its escrow is on hold; `None` = it is in none.
    fn tell_hold(&mut self, held: bool, effects: &mut WalletEffects, cx: &mut Cx<'_>) -> Option<IntentId> {
        self.request.as_ref()?;
        let vault = self.deposit.to;
        let plan = Plan::SetLegalHold { vault, held, case: case_of(self.deposit.id) };
        let id = IntentId(cx.ids.next());
        let intent = self.new_intent(id, IntentKind::SetLegalHold, plan, effects, cx);
        // It moves nothing, so whatever the coin's contract does is nothing to it.
        self.intents.push(Intent { coin: None, ..intent });
        Some(id)
    }

    /// One that came on hold before holds went to the chain.
    pub fn keep_held(&mut self, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.deposit.state == DepositState::LegalHold {
            effects.jobs.push((self.deposit.id.0, JobChange::Done));
            self.hold_escrow(&mut effects, cx);
            self.deposit.version += 1;
        }
        effects
    }

    /// Two people lift its hold: it stays refused, which the bank has been told, and can be given back. Unless something
    /// else is on hold in its escrow, the controller is told, and the escrow is free when that has taken effect.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: it is not on hold.
    pub fn lift_hold(&mut self, others_hold: bool, cx: &mut Cx<'_>) -> Result<WalletEffects, DepositRefusal> {
        let mut effects = WalletEffects::default();
        // What fell out of the chain for good while it was on hold has left its escrow so.
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

    /// Its escrow is on hold no more: what waited only for that is screened again.
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

    /// What else is in its escrow was told that this is on hold no more.
    ///
    /// # Errors
    /// [`DepositRefusal::State`]: the job is another one's by now.
    pub fn hold_followed(&self) -> Result<WalletEffects, DepositRefusal> {
        if matches!(self.deposit.state, DepositState::Screening | DepositState::InReview | DepositState::Refunding) {
            return Err(DepositRefusal::State(self.deposit.state));
        }
        Ok(WalletEffects { jobs: vec![(self.deposit.id.0, JobChange::Done)], ..WalletEffects::default() })
    }
}

impl Deposit {
    /// Whether the chain has still to be told that it is on legal hold.
    pub fn owes_a_hold(&self) -> bool {
        self.state == DepositState::LegalHold && self.request.is_some() && self.legal_hold.is_none()
    }

    /// Whether its escrow is on hold for it.
    pub fn holds_its_escrow(&self) -> bool {
        self.legal_hold.is_some() || self.owes_a_hold()
    }

    /// Whether two people can lift a hold of it.
    pub fn has_hold_to_lift(&self) -> bool {
        self.state == DepositState::LegalHold || (self.state == DepositState::Failed && self.legal_hold.is_some())
    }

    /// Whether a person was asked about it only because something else in its escrow was on hold: it had been found good.
    pub fn waits_for_escrow(&self) -> bool {
        let found = self.assessment.as_ref();
        let found_good =
            |it: &crate::risk::Assessment| it.reason == ReasonCode::EscrowHeld || it.result == RiskResult::Approved;
        self.state == DepositState::InReview && found.is_some_and(found_good)
    }
}

impl PaymentRequest {
    /// Whether the controller is still to be told this about an escrow: with the newest decision the older ones are over.
    pub fn wants_told(&self, intent: IntentId, escrow: &Address, held: bool) -> bool {
        let hold = self.hold_of(escrow);
        if held { hold.held_at.is_some() && hold.lift.is_none() } else { hold.lift == Some(intent) }
    }

    /// The controller holds an escrow no more; what waits in there goes on, which the worker that follows `lifted` sees to.
    pub fn escrow_lifted(&mut self, intent: IntentId, lifted: DepositId, cx: &Cx<'_>) -> WalletEffects {
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
