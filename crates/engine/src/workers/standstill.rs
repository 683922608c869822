//! Controllers that execute nothing by decision of their admin: they are paused, or have revoked the
//! role of the key that calls them. Actions wait for the admin, and none of them fails.

use domain::chain::{Call, ChainFault, KeyRole, Plan};
use domain::wallet_effects::{Alert, AlertKind};

use super::Workers;
use super::send::Lane;
use crate::world::WalletWorld;

/// Errors of the controller, as nodes' answers begin.
const PAUSED: &str = "EnforcedPause";
const NO_ROLE: &str = "AccessControlUnauthorizedAccount";

/// Why a controller executes none of a key's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standstill {
    Paused,
    NoRole,
}

/// Whether a paused controller refuses this call.
const fn stands_still_when_paused(call: &Call) -> bool {
    match call {
        Call::Release(_) | Call::Debit(_) => true,
        Call::One(plan) => matches!(
            plan,
            Plan::Release(_)
                | Plan::Debit(_)
                | Plan::ReturnDebit { .. }
                | Plan::Sweep { .. }
                | Plan::ExecuteRefund { .. }
        ),
        Call::Cancel => false,
    }
}

/// Whether a plan calls the controller, rather than a token or the deployer.
const fn is_of_controller(plan: &Plan) -> bool {
    !matches!(plan, Plan::Blacklist { .. } | Plan::SponsoredTransfer { .. } | Plan::Deploy)
}

impl Workers {
    /// Whether an action fails because its controller stands still. The contracts that the
    /// controller calls have the same errors: the controller itself is asked.
    pub(super) async fn standstill(
        &self,
        wallets: &WalletWorld,
        lane: &Lane,
        plan: &Plan,
        why: &str,
    ) -> Result<Option<Standstill>, ChainFault> {
        if !is_of_controller(plan) {
            return Ok(None);
        }
        if why.starts_with(PAUSED) && wallets.chain.is_paused(lane.controller).await? {
            return Ok(Some(Standstill::Paused));
        }
        let lacks_role = why.starts_with(NO_ROLE)
            && (lane.role != KeyRole::Operator
                || !wallets.chain.is_operator(lane.controller, lane.signer).await?);
        Ok(lacks_role.then_some(Standstill::NoRole))
    }

    pub(super) fn standstill_alert(&self, lane: &Lane, standstill: Standstill) -> Alert {
        let Lane { tenant, role, signer, controller, .. } = lane;
        let what = match standstill {
            Standstill::Paused => format!(
                "the controller {controller} is paused: releases, exchanges, sweeps and refunds wait until its admin unpauses it"
            ),
            Standstill::NoRole => format!(
                "the controller {controller} does not list the {} key {signer}: its actions wait until the admin grants the role",
                role.name()
            ),
        };
        let what = self.said_of(lane.chain, what);
        Alert { kind: AlertKind::Transaction, subject: tenant.0, what }
    }

    /// A call of the lane would be executed: its controller does not stand still.
    pub(super) async fn controller_works(&self, lane: &Lane, call: &Call) {
        let is_of_controller = match call {
            Call::Release(_) | Call::Debit(_) => true,
            Call::One(plan) => is_of_controller(plan),
            Call::Cancel => false,
        };
        if is_of_controller {
            self.ends(lane.tenant, &self.standstill_alert(lane, Standstill::NoRole)).await;
        }
        if stands_still_when_paused(call) {
            self.ends(lane.tenant, &self.standstill_alert(lane, Standstill::Paused)).await;
        }
    }
}
