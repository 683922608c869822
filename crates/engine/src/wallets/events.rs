//! The log of wallet events, and the deliveries of both services' events.

use domain::audit::AuditContext;
use domain::delivery::DeliveryAttempt;
use domain::ids::EventId;
use domain::wallet_event::WalletEventEntry;
use store::working_set::{IdempotencyRecord, Made};

use super::{
    Caller, DeliveredEvent, DeliveryFilter, DeliveryRecord, Denied, Listed, Page, Reply, Wallets,
    not_found_as,
};
use crate::command::wallets::{DeliveryAction, DeliveryRef};
use crate::command::{Action, Idempotency, Outcome};
use crate::error::EngineError;

const FIELD: &str = "event_id";

impl Wallets {
    /// Events after `after`, in order, at most `limit` (GET events).
    pub async fn events_after(
        &self,
        caller: &Caller,
        after: i64,
        limit: usize,
    ) -> Result<Vec<WalletEventEntry>, Denied> {
        Ok(self.store.wallet_events_after(caller.tenant, after, limit).await?)
    }

    /// The number of the latest event, 0 if there is none.
    pub async fn event_head(&self, caller: &Caller) -> Result<i64, Denied> {
        Ok(self.store.wallet_event_head(caller.tenant).await?)
    }

    /// The body of an event's webhook: identical bytes at every attempt.
    ///
    /// # Errors
    /// [`Denied::NotOffered`]
    pub fn envelope(&self, event: &DeliveredEvent) -> Result<Vec<u8>, Denied> {
        match event {
            DeliveredEvent::Wallet(entry) => Ok((self.offered()?.first().envelope)(entry)),
            DeliveredEvent::Payment(record) => {
                let payments = self.world.payment_webhooks.as_ref().ok_or(Denied::NotOffered)?;
                Ok((payments.envelope)(record))
            }
        }
    }

    /// A page of deliveries, latest events first.
    pub async fn deliveries(
        &self,
        caller: &Caller,
        filter: &DeliveryFilter,
        page: Page,
    ) -> Result<Listed<DeliveryRecord>, Denied> {
        Ok(self.store.deliveries(caller.tenant, filter, page).await?)
    }

    /// Returns one delivery with all its attempts.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find_delivery(
        &self,
        caller: &Caller,
        event: EventId,
    ) -> Result<(DeliveryRecord, Vec<DeliveryAttempt>), Denied> {
        let record = self.own_delivery(caller, event).await?;
        Ok((record, self.store.delivery_attempts(caller.tenant, event).await?))
    }

    async fn own_delivery(
        &self,
        caller: &Caller,
        event: EventId,
    ) -> Result<DeliveryRecord, Denied> {
        self.store.delivery(caller.tenant, event).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// Requests a delivery or redelivery of an event.
    ///
    /// # Errors
    /// [`Denied::NotFound`], [`Denied::WebhooksOff`]
    pub async fn redeliver(
        &self,
        caller: &Caller,
        event: EventId,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<DeliveryRecord>, Denied> {
        let by = Box::new(by.into());
        let record = self.own_delivery(caller, event).await?;
        let key = idempotency.clone();
        let prepared = self.require_endpoint_in_use(caller).await.map(|()| {
            let replay = DeliveryAction::Replay { by, idempotency };
            Action::Delivery(DeliveryRef::of(&record.delivery), replay)
        });
        let outcome = self.run_or_replay(caller.tenant, prepared, key).await;
        match outcome.map_err(not_found_as(FIELD))? {
            Outcome::Delivery(delivery) => Ok(Reply {
                made: DeliveryRecord { delivery: *delivery, ..record },
                replayed: false,
            }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Event(_), at, .. }) => {
                let (record, attempts) = self.find_delivery(caller, event).await?;
                let delivery = record.delivery.as_replayed(&attempts, at);
                Ok(Reply { made: DeliveryRecord { delivery, ..record }, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }
}
