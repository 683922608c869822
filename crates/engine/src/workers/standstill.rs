//! Controllers that execute nothing by decision of their admin: they are paused, or have revoked the
//! role of the key that calls them. Actions wait for the admin, and none of them fails.

use domain::chain::{Address, Call, ChainFault, KeyRole, Plan};
use domain::wallet_effects::{Alert, AlertKind};

use super::Workers;
use super::send::Lane;
use crate::context::ChainContext;

/// Errors of the controller, as nodes' answers begin.
const PAUSED: &str = "EnforcedPause";
const NO_ROLE: &str = "AccessControlUnauthorizedAccount";

/// Parts of alerts' texts about a key, next to it.
const NOT_LISTED: &str = " does not list the ";
pub(super) const WAITING: &str = "actions of the ";
pub(super) const UNLISTED_OPERATOR: &str = " is configured as an operator";
/// `0x` and 20 bytes in hexadecimal.
const ADDRESS_CHARS: usize = 42;

/// The key of this role that an alert's text is about, if only the key itself can end the alert. A key
/// that does not sign is not one: its transactions wait for it, configured or not.
fn key_of(what: &str, role: KeyRole) -> Option<Address> {
    let key = format!("{} key ", role.name());
    let named = [NOT_LISTED, WAITING].iter().find_map(|before| {
        let (_, rest) = what.split_once(&format!("{before}{key}"))?;
        rest.get(..ADDRESS_CHARS)
    });
    let unlisted = || {
        let (address, _) = what.split_once(UNLISTED_OPERATOR)?;
        (role == KeyRole::Operator).then_some(address)
    };
    Address::parse(named.or_else(unlisted)?)
}

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
        wallets: &ChainContext,
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
                "the controller {controller}{NOT_LISTED}{} key {signer}: its actions wait until the admin grants the role",
                role.name()
            ),
        };
        let what = self.said_of(lane.chain, what);
        Alert { kind: AlertKind::Transaction, subject: tenant.0, what }
    }

    /// Ends the alerts about keys that this lane's role had before: their identity is their text, which
    /// names the key.
    async fn end_of_replaced(&self, wallets: &ChainContext, lane: &Lane) {
        let configured = match lane.role {
            KeyRole::Operator => wallets.signer.operators(lane.tenant),
            role => wallets.signer.address(lane.tenant, role).map(|address| vec![address]),
        };
        let Ok(configured) = configured else { return };
        let what = self.said_of(lane.chain, format!("replaced {} keys", lane.role.name()));
        let name = Alert { kind: AlertKind::Transaction, subject: lane.tenant.0, what };
        let beginning = self.said_of(lane.chain, String::new());
        let is_over = |alert: &Alert| {
            let what = alert.what.strip_prefix(&beginning);
            let key = what.and_then(|what| key_of(what, lane.role));
            alert.kind == AlertKind::Transaction
                && key.is_some_and(|key| !configured.contains(&key))
        };
        self.ends_where(lane.tenant, &name, is_over).await;
    }

    /// A call of the lane would be executed: its controller does not stand still.
    pub(super) async fn controller_works(&self, wallets: &ChainContext, lane: &Lane, call: &Call) {
        let is_of_controller = match call {
            Call::Release(_) | Call::Debit(_) => true,
            Call::One(plan) => is_of_controller(plan),
            Call::Cancel => false,
        };
        if is_of_controller {
            self.ends(lane.tenant, &self.standstill_alert(lane, Standstill::NoRole)).await;
            self.end_of_replaced(wallets, lane).await;
        }
        if stands_still_when_paused(call) {
            self.ends(lane.tenant, &self.standstill_alert(lane, Standstill::Paused)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_about_a_key_name_it() {
        use KeyRole::{Approver, Compliance, Operator};
        let key = Address([7; 20]);
        let controller = Address([8; 20]);
        let of = |role: KeyRole| {
            let name = role.name();
            [
                format!(
                    "the controller {controller}{NOT_LISTED}{name} key {key}: its actions wait"
                ),
                format!("{WAITING}{name} key {key} have waited for more than 2 minutes"),
            ]
        };
        for role in [Operator, Compliance, Approver] {
            for what in of(role) {
                assert_eq!(key_of(&what, role), Some(key), "{what}");
                for other in [Operator, Compliance, Approver].into_iter().filter(|it| *it != role) {
                    assert_eq!(key_of(&what, other), None, "{what}");
                }
            }
        }
        let unlisted =
            format!("{key}{UNLISTED_OPERATOR}, but the controller {controller} does not");
        assert_eq!(key_of(&unlisted, Operator), Some(key));
        assert_eq!(key_of(&unlisted, Approver), None);
        for other in [
            String::new(),
            format!("the controller {controller} is paused"),
            format!("the operator key {key} has not signed for more than 2 minutes"),
            format!("the controller {controller}{NOT_LISTED}operator key 0x07"),
            format!("the operator key {key} cannot pay for gas"),
        ] {
            assert_eq!(key_of(&other, Operator), None, "{other}");
        }
    }
}
