//! Manual webhooks: replaying missed events since an instant, and testing an endpoint with an
//! example event.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::Deed;
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
        let mut untold = Vec::new();
        if self.store.webhook(tenant).await?.is_some_and(|webhook| webhook.payment_events) {
            deliveries.extend(self.store.lost_payment_deliveries(tenant, since, most).await?);
            untold = self.store.untold_payment_events(tenant, since, most).await?;
        }
        let more = deliveries.len() + untold.len() > RECOVERED_MAX;
        deliveries.truncate(RECOVERED_MAX);
        untold.truncate(RECOVERED_MAX - deliveries.len());
        Ok(Lost { deliveries, untold, more })
    }

    /// Requests delivery of all of them.
    ///
    /// # Errors
    /// [`Denied::WebhooksOff`]; [`Denied::NotFound`] if the tenant no longer subscribes to payment
    /// events.
    pub async fn recover(&self, caller: &Caller, lost: &Lost, by: &Deed) -> Result<(), Denied> {
        self.has_endpoint_in_use(caller).await?;
        for record in &lost.deliveries {
            self.redeliver(caller, record.delivery.event, by.clone(), None).await?;
        }
        let mut by_aggregate: Vec<(Aggregate, BTreeSet<i64>)> = Vec::new();
        let mut place_of = BTreeMap::new();
        for event in &lost.untold {
            let place = *place_of.entry(event.aggregate).or_insert(by_aggregate.len());
            if place == by_aggregate.len() {
                by_aggregate.push((event.aggregate, BTreeSet::new()));
            }
            by_aggregate[place].1.insert(event.version);
        }
        for (aggregate, versions) in by_aggregate {
            let action = Action::MakeUpFor { aggregate, versions, by: Box::new(by.clone()) };
            self.run(caller.tenant, action).await.map_err(not_found_as("receiver"))?;
        }
        Ok(())
    }

    /// Whether events are delivered at all.
    ///
    /// # Errors
    /// [`Denied::WebhooksOff`]
    pub async fn has_endpoint_in_use(&self, caller: &Caller) -> Result<(), Denied> {
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

fn entry(
    id: EventId,
    tenant: TenantId,
    aggregate: Aggregate,
    event: WalletEvent,
    at: Timestamp,
) -> WalletEventEntry {
    WalletEventEntry { id, tenant, seq: 1, aggregate, version: 1, at, event }
}
