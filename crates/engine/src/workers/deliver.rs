//! Delivers events of both services to the banks' endpoints: one attempt per job, each by itself.
//! The delivery itself (`domain::delivery`) decides whether and when the next attempt follows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::delivery::DeliveryState;
use domain::ids::{EventId, TenantId};
use domain::job::Job;
use domain::ports::{BoxFuture, Receiver};
use domain::time::Span;
use domain::webhook::{DeliveryAnswer, DeliveryResult, Endpoint, Message};
use store::{DeliveredEvent, DeliveryRecord, Store, StoreError};
use tokio::sync::OnceCell;
use tracing::Instrument as _;

use super::Workers;
use crate::command::Action;
use crate::command::wallets::{DeliveryAction, DeliveryRef};
use crate::failpoint::{self, Failpoint};

impl Workers {
    /// Leases due `deliver` jobs, of each tenant as many as its share has room for.
    pub(super) async fn take_deliveries(
        &self,
        lease: Span,
        most: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let shares = self.shares.allot(self.store.tenants_with_deliveries().await?, most);
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        self.store.lease_deliveries(&shares, &self.owner, lease).await
    }

    /// Processes leased `deliver` jobs, each by itself.
    pub(super) fn deliveries(self: &Arc<Self>, jobs: Vec<Job>) -> Vec<BoxFuture<'static, ()>> {
        // A tenant's endpoint is read once per set of leased jobs, and so are the deliveries.
        let mut by_tenant: BTreeMap<TenantId, Arc<OnceCell<Takes>>> = BTreeMap::new();
        let events = jobs.iter().map(|job| (job.tenant, EventId(job.subject))).collect();
        let records = Arc::new(Records { events, read: OnceCell::new() });
        let deliver = |job: Job| -> BoxFuture<'static, ()> {
            let takes = by_tenant.entry(job.tenant).or_default().clone();
            let (workers, place) = (self.clone(), self.shares.begin(job.tenant));
            let records = records.clone();
            Box::pin(async move {
                match takes.get_or_try_init(|| workers.takes(job.tenant)).await {
                    Ok(takes) => workers.deliver_one(&job, takes, &records).await,
                    Err(error) => {
                        tracing::warn!(%error, tenant = %job.tenant, "webhook endpoint read failed, its deliveries will be retried");
                    }
                }
                drop(place);
            })
        };
        jobs.into_iter().map(deliver).collect()
    }

    async fn takes(&self, tenant: TenantId) -> Result<Takes, StoreError> {
        let webhook = self.store.webhook(tenant).await?;
        Ok(webhook.map_or(Takes { payment_events: false, endpoint: None }, |webhook| Takes {
            payment_events: webhook.payment_events,
            endpoint: webhook.endpoint(self.clock().now()),
        }))
    }

    async fn deliver_one(&self, job: &Job, takes: &Takes, records: &Records) {
        let tenant = job.tenant;
        let record = match records.get(&self.store, tenant, EventId(job.subject)).await {
            Ok(Some(record)) => record,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, event = %job.subject, "delivery read failed, will retry");
                return;
            }
        };
        if record.delivery.state != DeliveryState::Pending {
            return;
        }
        if matches!(record.event, DeliveredEvent::Wallet(_)) && self.world.wallet.is_none() {
            // Another node offers the wallet service: the lease expires and that node takes over.
            return;
        }
        let named = DeliveryRef::of(&record.delivery);
        let Some((endpoint, receiver, body)) = self.way(takes, &record.event) else {
            let action = DeliveryAction::NoReceiver { fence: job.fence };
            self.report(tenant, job.subject, Action::Delivery(named, action)).await;
            return;
        };
        let message = self.message(&record.event, body);
        failpoint::reach(Failpoint::BeforeDelivery);
        let span = tracing::info_span!("deliver", otel.kind = "client", event = %message.id, try_ = record.delivery.attempts + 1);
        let mut answer = receiver.deliver(endpoint, &message).instrument(span).await;
        failpoint::reach(Failpoint::AfterDelivery);
        if answer.result == DeliveryResult::Gone && self.has_moved(tenant, endpoint).await {
            let why = "410, from the address before the present one".to_owned();
            answer.result = DeliveryResult::NotReceived(why);
        }
        count(&answer);
        let action = DeliveryAction::Tried { fence: job.fence, answer: Box::new(answer) };
        self.report(tenant, job.subject, Action::Delivery(named, action)).await;
    }

    /// Whether the tenant's endpoint has another address by now.
    async fn has_moved(&self, tenant: TenantId, asked: &Endpoint) -> bool {
        match self.store.webhook(tenant).await {
            Ok(webhook) => webhook.is_some_and(|webhook| webhook.url != asked.url),
            // It can be tried again; an endpoint that was disabled has to be enabled by a person.
            Err(_) => true,
        }
    }

    /// The endpoint of an event, its transport, and its body; `None` = no endpoint, or no
    /// subscription to this service's events.
    fn way<'a>(
        &'a self,
        takes: &'a Takes,
        event: &DeliveredEvent,
    ) -> Option<(&'a Endpoint, &'a dyn Receiver, Vec<u8>)> {
        let endpoint = takes.endpoint.as_ref()?;
        let (receiver, body) = match event {
            DeliveredEvent::Wallet(entry) => {
                let wallets = self.world.wallet.as_ref()?.first();
                (&wallets.receiver, (wallets.envelope)(entry))
            }
            DeliveredEvent::Payment(record) => {
                let payments =
                    self.world.payment_webhooks.as_ref().filter(|_| takes.payment_events)?;
                (&payments.receiver, (payments.envelope)(record))
            }
        };
        Some((endpoint, receiver.as_ref(), body))
    }

    fn message(&self, event: &DeliveredEvent, body: Vec<u8>) -> Message {
        Message {
            id: event.id(),
            path: event.path(),
            at: self.world.wall_clock.now(),
            body,
            traceparent: None,
        }
    }
}

/// The deliveries of a set of leased jobs.
struct Records {
    events: Vec<(TenantId, EventId)>,
    /// `None`: they could not be read together.
    read: OnceCell<Option<BTreeMap<(TenantId, EventId), DeliveryRecord>>>,
}

impl Records {
    /// Reads all at once, and if that fails each by itself: one that cannot be read delays no other.
    async fn get(
        &self,
        store: &Store,
        tenant: TenantId,
        event: EventId,
    ) -> Result<Option<Cow<'_, DeliveryRecord>>, StoreError> {
        let read = async || {
            let records = store.deliveries_of(&self.events).await.ok()?;
            let key = |record: &DeliveryRecord| (record.delivery.tenant, record.delivery.event);
            Some(records.into_iter().map(|record| (key(&record), record)).collect())
        };
        match self.read.get_or_init(read).await {
            Some(records) => Ok(records.get(&(tenant, event)).map(Cow::Borrowed)),
            None => Ok(store.delivery(tenant, event).await?.map(Cow::Owned)),
        }
    }
}

/// What a tenant's endpoint accepts.
struct Takes {
    payment_events: bool,
    endpoint: Option<Endpoint>,
}

fn count(answer: &DeliveryAnswer) {
    let outcome = match answer.result {
        DeliveryResult::Received => "received",
        DeliveryResult::NotReceived(_) => "failed",
        DeliveryResult::Gone => "gone",
    };
    metrics::counter!("corridor_webhook_tries_total", "outcome" => outcome).increment(1);
}
