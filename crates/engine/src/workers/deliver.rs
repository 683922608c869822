//! Delivers events of both services to the banks' endpoints: one attempt per job. The delivery
//! itself (`domain::delivery`) decides whether and when the next attempt follows.

use std::collections::BTreeMap;

use domain::delivery::DeliveryState;
use domain::ids::{EventId, TenantId};
use domain::job::Job;
use domain::ports::Receiver;
use domain::webhook::{DeliveryAnswer, DeliveryResult, Endpoint, Message};
use futures_util::future::join_all;
use store::DeliveredEvent;
use tracing::Instrument as _;

use super::Workers;
use crate::command::Action;
use crate::command::wallets::{DeliveryAction, DeliveryRef};
use crate::failpoint::{self, Failpoint};

impl Workers {
    /// Processes leased `deliver` jobs.
    pub(super) async fn deliver(&self, jobs: Vec<Job>) {
        // A tenant's endpoint is read once per set of leased jobs.
        let mut by_tenant: BTreeMap<TenantId, Vec<Job>> = BTreeMap::new();
        for job in jobs {
            by_tenant.entry(job.tenant).or_default().push(job);
        }
        join_all(by_tenant.into_iter().map(|(tenant, jobs)| self.deliver_for(tenant, jobs))).await;
    }

    async fn deliver_for(&self, tenant: TenantId, jobs: Vec<Job>) {
        let takes = match self.store.webhook(tenant).await {
            Ok(Some(webhook)) => Takes {
                payment_events: webhook.payment_events,
                endpoint: webhook.endpoint(self.clock().now()),
            },
            Ok(None) => Takes { payment_events: false, endpoint: None },
            Err(error) => {
                tracing::warn!(%error, %tenant, "webhook endpoint read failed, its deliveries will be retried");
                return;
            }
        };
        join_all(jobs.iter().map(|job| self.deliver_one(job, &takes))).await;
    }

    async fn deliver_one(&self, job: &Job, takes: &Takes) {
        let tenant = job.tenant;
        let record = match self.store.delivery(tenant, EventId(job.subject)).await {
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
