//! What legal hold means beyond a deposit's state: the controller is told to let nothing out of its escrow, and nothing
//! else in there moves any more. There is no way back: whoever has to lift a hold does it with the bank's own keys.

use super::case::Case;
use super::{Deposit, DepositState};
use crate::chain::Word;
use crate::chain::vault;
use crate::chain_tx::{Intent, IntentKind, Plan};
use crate::ids::{DepositId, IntentId};
use crate::payment::{Cx, JobChange};
use crate::wallet_effects::WalletEffects;

/// The word under which the controller records why a vault is on hold.
pub fn case_of(deposit: DepositId) -> Word {
    vault::hash(&[b"corridor.case", deposit.0.as_bytes()])
}

impl Case {
    /// Whether something in its escrow is on legal hold. The controller holds vaults, not payments: what else is in there
    /// stays too.
    pub fn escrow_is_held(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.held_at.is_some())
    }

    /// Its escrow goes on hold, here at once and on the chain as soon as that goes. A wallet is no escrow: what came straight
    /// to it is kept in the books, and the rest of its money is its owner's.
    pub(super) fn hold_escrow(&mut self, effects: &mut WalletEffects, cx: &mut Cx<'_>) {
        let Some(request) = &mut self.request else { return };
        if request.held_at.is_none() {
            request.held_at = Some(cx.now);
            request.version += 1;
        }
        if self.deposit.legal_hold.is_some() {
            return;
        }
        let plan = Plan::SetLegalHold { vault: request.escrow, held: true, case: case_of(self.deposit.id) };
        let id = IntentId(cx.ids.next());
        let intent = self.new_intent(id, IntentKind::SetLegalHold, plan, effects, cx);
        // It moves nothing, so whatever the coin's contract does is nothing to it.
        self.intents.push(Intent { coin: None, ..intent });
        self.deposit.legal_hold = Some(id);
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
}

impl Deposit {
    /// Whether the chain has still to be told that it is on legal hold.
    pub fn owes_a_hold(&self) -> bool {
        self.state == DepositState::LegalHold && self.request.is_some() && self.legal_hold.is_none()
    }
}
