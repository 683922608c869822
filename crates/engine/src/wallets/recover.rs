//! Manual webhooks: replaying missed events since an instant, and testing an endpoint with an
//! example event.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::AuditContext;
use domain::ids::{EventId, TenantId};
use domain::time::Timestamp;
use domain::wallet_event::{Aggregate, WalletEvent, WalletEventEntry};
use domain::webhook::{DeliveryAnswer, Message};
use store::{DeliveredEvent, DeliveryRecord, UntoldEvent};

use super::{Caller, Denied, Wallets, not_found_as};
use crate::batcher::fresh_id;
use crate::command::Action;

/// Maximum number of deliveries replayed at once; the rest follows with the next call.
pub const RECOVERED_MAX: usize = 1_000;

/// Events that an endpoint missed and that are not retried automatically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The oldest deliveries that were given up or had no endpoint, oldest of each service first.
    pub deliveries: Vec<DeliveryRecord>,
    /// The payment service's events that predate the subscription, oldest first. Empty without a
    /// subscription.
    pub untold: Vec<UntoldEvent>,
    /// Whether there is more.
    pub more: bool,
}

impl Wallets {
    /// Deliveries that were given up or had no endpoint, of events since then: at most
    /// [`RECOVERED_MAX`].
    pub async fn lost_since(&self, caller: &Caller, since: Timestamp) -> Result<Lost, Denied> {
        let (tenant, most) = (caller.tenant, RECOVERED_MAX + 1);
        let mut deliveries = self.store.lost_deliveries(tenant, since, most).await?;
        let more = deliveries.len() > RECOVERED_MAX;
        deliveries.truncate(RECOVERED_MAX);
        if !self.store.webhook(tenant).await?.is_some_and(|webhook| webhook.payment_events) {
            return Ok(Lost { deliveries, untold: Vec::new(), more });
        }
        let mut lost = self.store.lost_payment_deliveries(tenant, since, most).await?;
        let mut untold = self.store.untold_payment_events(tenant, since, most).await?;
        let seqs = lost.iter().map(|record| record.event.seq());
        let seqs = seqs.chain(untold.iter().map(|event| event.seq)).collect();
        let end = end_of(seqs, RECOVERED_MAX - deliveries.len());
        if let Some(end) = end {
            lost.retain(|record| record.event.seq() < end);
            untold.retain(|event| event.seq < end);
        }
        deliveries.extend(lost);
        Ok(Lost { deliveries, untold, more: more || end.is_some() })
    }

    /// Requests delivery of all of them, those of one aggregate in their order.
    ///
    /// # Errors
    /// [`Denied::WebhooksOff`]; [`Denied::NotFound`] if the tenant no longer subscribes to payment
    /// events.
    pub async fn recover(
        &self,
        caller: &Caller,
        lost: &Lost,
        by: &AuditContext,
    ) -> Result<(), Denied> {
        self.require_endpoint_in_use(caller).await?;
        for step in steps(missed(lost)) {
            match step {
                RecoveryStep::Replay(event) => {
                    self.redeliver(caller, event, by.clone(), None).await?;
                }
                RecoveryStep::Backfill(aggregate, versions) => {
                    let action = Action::Backfill { aggregate, versions, by: Box::new(by.clone()) };
                    self.run(caller.tenant, action).await.map_err(not_found_as("receiver"))?;
                }
            }
        }
        Ok(())
    }

    /// Whether events are delivered at all.
    ///
    /// # Errors
    /// [`Denied::WebhooksOff`]
    pub async fn require_endpoint_in_use(&self, caller: &Caller) -> Result<(), Denied> {
        match self.store.webhook(caller.tenant).await? {
            Some(webhook) if webhook.disabled.is_none() => Ok(()),
            _ => Err(Denied::WebhooksOff),
        }
    }

    /// Sends an example event to the endpoint, once, signed like real ones; nothing is stored.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if there is no endpoint or it is disabled.
    pub async fn send_example(
        &self,
        caller: &Caller,
        aggregate: Aggregate,
        event: WalletEvent,
    ) -> Result<(Message, DeliveryAnswer), Denied> {
        let offered = self.offered()?;
        let now = self.world.wall_clock.now();
        let webhook = self.store.webhook(caller.tenant).await?;
        let endpoint = webhook
            .and_then(|webhook| webhook.endpoint(now))
            .ok_or(Denied::NotFound("receiver"))?;
        let id = EventId(fresh_id(&self.store));
        let event =
            DeliveredEvent::Wallet(Box::new(entry(id, caller.tenant, aggregate, event, now)));
        let body = self.envelope(&event)?;
        let message = Message { id, path: event.path(), at: now, body, traceparent: None };
        let answer = offered.first().receiver.deliver(&endpoint, &message).await;
        Ok((message, answer))
    }
}

/// An event that an endpoint missed.
struct Missed {
    aggregate: Aggregate,
    version: i64,
    /// Its number in the log of its service.
    seq: i64,
    /// Its id, if it has a delivery.
    delivery: Option<EventId>,
}

/// One command of a recovery.
#[derive(Debug, PartialEq, Eq)]
enum RecoveryStep {
    Replay(EventId),
    Backfill(Aggregate, BTreeSet<i64>),
}

fn missed(lost: &Lost) -> Vec<Missed> {
    let deliveries = lost.deliveries.iter().map(|record| Missed {
        aggregate: record.delivery.aggregate,
        version: record.delivery.version,
        seq: record.event.seq(),
        delivery: Some(record.delivery.event),
    });
    let untold = lost.untold.iter().map(|event| Missed {
        aggregate: event.aggregate,
        version: event.version,
        seq: event.seq,
        delivery: None,
    });
    deliveries.chain(untold).collect()
}

/// The commands that deliver these events. A lower version of an aggregate comes first, since one
/// that is asked for later does not hold back the higher ones.
fn steps(mut missed: Vec<Missed>) -> Vec<RecoveryStep> {
    missed.sort_by_key(|it| (it.aggregate.is_of_payments(), it.seq));
    let (mut steps, mut last_of) = (Vec::new(), BTreeMap::new());
    for Missed { aggregate, version, delivery, .. } in missed {
        if let Some(event) = delivery {
            last_of.remove(&aggregate);
            steps.push(RecoveryStep::Replay(event));
            continue;
        }
        let at = *last_of.entry(aggregate).or_insert(steps.len());
        match steps.get_mut(at) {
            Some(RecoveryStep::Backfill(_, versions)) => _ = versions.insert(version),
            _ => steps.push(RecoveryStep::Backfill(aggregate, [version].into())),
        }
    }
    steps
}

/// The number in the log at which a recovery of at most this many events ends; `None` if it
/// includes all of them.
fn end_of(mut seqs: Vec<i64>, most: usize) -> Option<i64> {
    seqs.sort_unstable();
    seqs.get(most).copied()
}

fn entry(
    id: EventId,
    tenant: TenantId,
    aggregate: Aggregate,
    event: WalletEvent,
    at: Timestamp,
) -> WalletEventEntry {
    WalletEventEntry { id, tenant, seq: 1, aggregate, version: 1, at, event }
}

#[cfg(test)]
mod tests {
    use domain::ids::{PaymentId, PaymentRequestId, QuoteId};
    use uuid::Uuid;

    use super::*;

    const TENANT: TenantId = TenantId(Uuid::from_u128(9));
    const PAYMENT: Aggregate = Aggregate::Payment(PaymentId(Uuid::from_u128(1)));
    const QUOTE: Aggregate = Aggregate::Quote(QuoteId(Uuid::from_u128(2)));
    const REQUEST: Aggregate = Aggregate::Request(PaymentRequestId(Uuid::from_u128(3)));

    fn lost(aggregate: Aggregate, version: i64, seq: i64) -> Missed {
        let delivery = Some(aggregate.event_id(TENANT, version));
        Missed { aggregate, version, seq, delivery }
    }

    fn untold(aggregate: Aggregate, version: i64, seq: i64) -> Missed {
        Missed { aggregate, version, seq, delivery: None }
    }

    fn replay(aggregate: Aggregate, version: i64) -> RecoveryStep {
        RecoveryStep::Replay(aggregate.event_id(TENANT, version))
    }

    fn backfill(aggregate: Aggregate, versions: &[i64]) -> RecoveryStep {
        RecoveryStep::Backfill(aggregate, versions.iter().copied().collect())
    }

    #[test]
    fn the_lower_versions_of_an_aggregate_are_asked_for_first() {
        for (missed, wanted) in [
            (vec![], vec![]),
            (
                vec![lost(PAYMENT, 1, 1), lost(PAYMENT, 2, 2), untold(PAYMENT, 3, 3)],
                vec![replay(PAYMENT, 1), replay(PAYMENT, 2), backfill(PAYMENT, &[3])],
            ),
            (
                vec![lost(PAYMENT, 2, 2), untold(PAYMENT, 1, 1), untold(PAYMENT, 3, 3)],
                vec![backfill(PAYMENT, &[1]), replay(PAYMENT, 2), backfill(PAYMENT, &[3])],
            ),
            (
                vec![untold(PAYMENT, 1, 4), untold(QUOTE, 1, 5), untold(PAYMENT, 2, 6)],
                vec![backfill(PAYMENT, &[1, 2]), backfill(QUOTE, &[1])],
            ),
            (
                vec![lost(PAYMENT, 2, 9), lost(REQUEST, 1, 20), untold(QUOTE, 1, 3)],
                vec![replay(REQUEST, 1), backfill(QUOTE, &[1]), replay(PAYMENT, 2)],
            ),
        ] {
            assert_eq!(steps(missed), wanted);
        }
    }

    #[test]
    fn a_recovery_of_too_many_events_ends_at_one_number_of_the_log() {
        for (seqs, most, wanted) in [
            (vec![], 0, None),
            (vec![3, 1], 2, None),
            (vec![5, 9, 2, 4], 2, Some(5)),
            (vec![5, 9, 2, 4], 0, Some(2)),
        ] {
            assert_eq!(end_of(seqs, most), wanted);
        }
    }
}
