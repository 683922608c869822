//! Webhooks by hand: sending again all that was lost since an instant, and trying a receiver with a made-up event.

use domain::ids::{EventId, TenantId};
use domain::time::Timestamp;
use domain::wallet_event::{Aggregate, WalletEvent, WalletEventEntry};
use domain::webhook::{DeliveryAnswer, Message};
use store::DeliveryRecord;

use super::{Caller, Denied, Wallets};
use crate::batcher::fresh_id;

/// Most deliveries that are sent again at once: what is left comes with the next time.
pub const RECOVERED_MAX: usize = 1_000;

/// What a receiver does not have and is not sent by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The oldest of it, the oldest first.
    pub deliveries: Vec<DeliveryRecord>,
    /// Whether there is more.
    pub more: bool,
}

impl Wallets {
    /// What was given up or had no receiver, of events since then: at most [`RECOVERED_MAX`].
    ///
    /// # Errors
    /// [`Denied::Store`]
    pub async fn lost_since(&self, caller: &Caller, since: Timestamp) -> Result<Lost, Denied> {
        let mut deliveries = self.store.lost_deliveries(caller.tenant, since, RECOVERED_MAX + 1).await?;
        let more = deliveries.len() > RECOVERED_MAX;
        deliveries.truncate(RECOVERED_MAX);
        Ok(Lost { deliveries, more })
    }

    /// Sends a made-up event to the receiver, once, signed like the real ones; nothing of it is kept.
    ///
    /// # Errors
    /// [`Denied::NotFound`]: there is no receiver, or it is switched off.
    pub async fn send_example(
        &self,
        caller: &Caller,
        aggregate: Aggregate,
        event: WalletEvent,
    ) -> Result<(Message, DeliveryAnswer), Denied> {
        let offered = self.offered()?;
        let now = self.world.wall_clock.now();
        let webhook = self.store.webhook(caller.tenant).await?;
        let endpoint = webhook.and_then(|webhook| webhook.endpoint(now)).ok_or(Denied::NotFound("receiver"))?;
        let message = Message {
            id: EventId(fresh_id(&self.store)),
            path: format!("/webhooks/wallet/{}", event.kind().segment()),
            at: now,
            body: Vec::new(),
            traceparent: None,
        };
        let body = (offered.envelope)(&entry(message.id, caller.tenant, aggregate, event, now));
        let message = Message { body, ..message };
        let answer = offered.receiver.deliver(&endpoint, &message).await;
        Ok((message, answer))
    }
}

fn entry(id: EventId, tenant: TenantId, aggregate: Aggregate, event: WalletEvent, at: Timestamp) -> WalletEventEntry {
    WalletEventEntry { id, tenant, seq: 1, aggregate, version: 1, at, event }
}
