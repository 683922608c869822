//! Tenants that subscribe to payment events, as last seen by this node. A hint: rows are loaded by
//! it, decisions follow the row that the batch locks. If the two differ the batch is loaded again,
//! so tenants without a subscription pay nothing for those with one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::TenantId;
use store::need::Need;
use store::working_set::WorkingSet;

use crate::command::Command;

/// The subscribed tenants. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubscribedTenants(Arc<Mutex<BTreeSet<TenantId>>>);

impl SubscribedTenants {
    /// The rows of a batch, including delivery rows for subscribed tenants, and those tenants.
    pub(crate) fn need(&self, commands: &[&Command]) -> (Need, BTreeSet<TenantId>) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut need, mut asked) = (Need::default(), BTreeSet::new());
        for command in commands {
            need.merge(command.need());
            if known.contains(&command.tenant) {
                asked.insert(command.tenant);
                need.merge(command.need_of_payment_deliveries());
            }
        }
        (need, asked)
    }

    /// Whether the delivery rows that the batch's tenants need were loaded. Updates itself from the
    /// rows that the batch locked.
    pub(crate) fn are_served(
        &self,
        ws: &WorkingSet,
        commands: &[&Command],
        asked: &BTreeSet<TenantId>,
    ) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut served = true;
        for command in commands {
            let wants = ws.heads.get(&command.tenant).is_some_and(|head| head.payment_webhooks);
            if wants {
                known.insert(command.tenant);
                served &= asked.contains(&command.tenant);
            } else if !known.is_empty() {
                known.remove(&command.tenant);
            }
        }
        served
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::QuoteId;
    use domain::time::Timestamp;
    use store::working_set::Head;
    use uuid::Uuid;

    use super::*;
    use crate::command::Action;

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));
    const OTHER: TenantId = TenantId(Uuid::from_u128(2));

    fn expire(tenant: TenantId) -> Command {
        Command { tenant, action: Action::ExpireQuotes(vec![QuoteId(Uuid::from_u128(3))]) }
    }

    fn locked(wants: bool) -> WorkingSet {
        let mut ws = WorkingSet::new(Timestamp(0));
        ws.heads.load(TENANT, Head { payment_webhooks: wants, ..Head::default() });
        ws.heads.load(OTHER, Head::default());
        ws
    }

    #[test]
    fn only_subscribed_tenants_load_delivery_rows() {
        let (subscribers, command, other) =
            (SubscribedTenants::default(), expire(TENANT), expire(OTHER));
        let nobody = BTreeSet::new();
        assert_eq!(subscribers.need(&[&command]), (command.need(), nobody.clone()));
        assert!(subscribers.are_served(&locked(false), &[&command, &other], &nobody));
        assert_eq!(
            subscribers.need(&[&command]),
            (command.need(), nobody.clone()),
            "off: nothing more"
        );
        for _ in 0..2 {
            let served = subscribers.are_served(&locked(true), &[&command, &command], &nobody);
            assert!(
                !served,
                "switched on: load again, however often the same rows are decided about"
            );
        }
        let (need, asked) = subscribers.need(&[&command, &other]);
        assert!(
            need.streams.contains(&(TENANT, Uuid::from_u128(3)))
                && need.receivers.contains(&(TENANT, ()))
        );
        assert!(!need.receivers.contains(&(OTHER, ())));
        assert_eq!(asked, BTreeSet::from([TENANT]));
        assert!(subscribers.are_served(&locked(true), &[&command, &other], &asked));
        assert!(
            subscribers.are_served(&locked(false), &[&command], &asked),
            "switched off: what is loaded is enough"
        );
        assert_eq!(subscribers.need(&[&command]), (command.need(), nobody));
    }
}
