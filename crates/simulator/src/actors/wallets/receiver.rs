//! The banks' receivers of webhooks: the testkit's careful receiver behind a network that loses things, and the bodies
//! that it is sent. Its book is the truth about what was received.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ports::{BoxFuture, Receiver};
use domain::time::Span;
use domain::wallet_event::{Aggregate, WalletEventEntry};
use domain::webhook::{DeliveryAnswer, DeliveryResult, Endpoint, Message};
use testkit::receiver::{Arrival, Book, Reaction, ReceiverCore, Reply, Temper};
use uuid::Uuid;

use crate::faults::{CallFault, Injector, WebhookFault};
use crate::random::SharedRandom;
use crate::run::{NodeNumber, Owner, Sim};

/// How long a node waits for an answer.
const TIMEOUT: Span = Span::secs(15);
/// The slowest ordinary answer.
const WAY_MAX_MILLIS: i64 = 300;

/// All receivers. They share one book, because event ids are unique.
pub struct Banks {
    core: Mutex<ReceiverCore>,
    /// The endpoints to which each event was sent, whether it arrived or not.
    sent_to: Mutex<BTreeMap<Uuid, BTreeSet<String>>>,
    ways: SharedRandom,
}

impl Banks {
    /// Receivers that have got nothing.
    pub fn new(seed: u64) -> Banks {
        let mut core = ReceiverCore::new(&[]);
        // Signatures are an adapter's work and none are made here.
        core.set_temper(Temper { checks_signatures: false, checks_age: false, ..Temper::CAREFUL });
        let ways = SharedRandom::stream(seed, "receivers' ways");
        Banks { core: Mutex::new(core), sent_to: Mutex::default(), ways }
    }

    fn core(&self) -> MutexGuard<'_, ReceiverCore> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks into the book.
    pub fn read<T>(&self, look: impl FnOnce(&Book) -> T) -> T {
        look(self.core().book())
    }

    fn sent_to(&self) -> MutexGuard<'_, BTreeMap<Uuid, BTreeSet<String>>> {
        self.sent_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The endpoints to which an event was sent.
    pub fn endpoints_of(&self, event: Uuid) -> BTreeSet<String> {
        self.sent_to().get(&event).cloned().unwrap_or_default()
    }

    fn receive(&self, sim: &Sim, message: &Message, reaction: Reaction) -> Reply {
        let arrival = Arrival {
            path: message.path.clone(),
            id: Some(message.id.to_string()),
            timestamp: Some(message.at.unix_seconds().to_string()),
            signature: None,
            traceparent: None,
            body: message.body.clone(),
        };
        let mut core = self.core();
        core.script([reaction]);
        let reply = core.receive(arrival, sim.now());
        drop(core);
        sim.trace(format_args!(
            "receiver answers {} to {} {}",
            reply.status, message.path, message.id
        ));
        reply
    }
}

/// The way of one node to the receivers.
pub struct ReceiverWay {
    pub node: NodeNumber,
    pub sim: Sim,
    pub faults: Arc<Injector>,
    pub banks: Arc<Banks>,
}

impl ReceiverWay {
    async fn die(&self) -> ! {
        self.sim.crash(self.node);
        std::future::pending().await
    }

    fn deliver_later(&self, message: &Message, by: Span) {
        let (sim, banks, message) = (self.sim.clone(), self.banks.clone(), message.clone());
        self.sim.spawn(Owner::World, "late webhook", async move {
            sim.sleep(by).await;
            let _nobody_hears = banks.receive(&sim, &message, Reaction::Take);
        });
    }

    async fn carry(&self, message: &Message) -> Option<Reply> {
        let (there, back) = self.banks.ways.with(|random| {
            (
                Span::millis(random.between(0, WAY_MAX_MILLIS)),
                Span::millis(random.between(0, WAY_MAX_MILLIS)),
            )
        });
        let (reaction, call) = match self.faults.webhook() {
            None => (Reaction::Take, None),
            Some(WebhookFault::Refuse(status)) => (Reaction::refuse(status), None),
            Some(WebhookFault::Wait(seconds)) => {
                (Reaction::Refuse { status: 429, retry_after: Some(seconds.to_string()) }, None)
            }
            Some(WebhookFault::Deny) => (Reaction::Deny, None),
            Some(WebhookFault::Call(call)) => (Reaction::Take, Some(call)),
        };
        match call {
            Some(CallFault::CrashBefore) => self.die().await,
            Some(CallFault::CrashDuring) => {
                self.deliver_later(message, there);
                self.die().await
            }
            Some(CallFault::LoseMessage) => {
                self.sim.sleep(TIMEOUT).await;
                return None;
            }
            Some(CallFault::Late(by)) => {
                self.deliver_later(message, by);
                self.sim.sleep(TIMEOUT).await;
                return None;
            }
            Some(CallFault::Twice(by)) => self.deliver_later(message, by),
            _ => {}
        }
        self.sim.sleep(there).await;
        let reply = self.banks.receive(&self.sim, message, reaction);
        match call {
            Some(CallFault::CrashAfter) => self.die().await,
            Some(CallFault::LoseAnswer) => {
                self.sim.sleep(TIMEOUT).await;
                None
            }
            _ => {
                self.sim.sleep(back).await;
                Some(reply)
            }
        }
    }
}

impl Receiver for ReceiverWay {
    fn deliver<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        message: &'a Message,
    ) -> BoxFuture<'a, DeliveryAnswer> {
        Box::pin(async move {
            self.banks.sent_to().entry(message.id.0).or_default().insert(endpoint.url.clone());
            let began = self.sim.now();
            let reply = self.carry(message).await;
            let took = self.sim.now() - began;
            let silent = || DeliveryResult::NotReceived("no answer in time".to_owned());
            let Some(reply) = reply else {
                return DeliveryAnswer {
                    result: silent(),
                    status: None,
                    body: String::new(),
                    retry_after: None,
                    took,
                };
            };
            let result = match reply.status {
                200 if !reply.body.contains("\"received\":false") => DeliveryResult::Received,
                410 => DeliveryResult::Gone,
                status => DeliveryResult::NotReceived(format!("status {status}")),
            };
            let retry_after = reply.headers.iter().find(|(name, _)| *name == "retry-after");
            let retry_after = retry_after.and_then(|(_, value)| value.parse().ok()).map(Span::secs);
            DeliveryAnswer {
                result,
                status: Some(reply.status),
                body: reply.body,
                retry_after,
                took,
            }
        })
    }
}

/// The body of an event's webhook: all that the event says, so that a changed event is another body.
pub fn envelope(entry: &WalletEventEntry) -> Vec<u8> {
    let (field, id) = match entry.aggregate {
        Aggregate::Request(id) => ("payment_request_id", id.0),
        Aggregate::Order(id) => ("order_id", id.0),
        Aggregate::Wallet(id) => ("wallet_id", id.0),
        Aggregate::Payment(id) => ("payment_id", id.0),
        Aggregate::Quote(id) => ("quote_id", id.0),
    };
    let said = serde_json::json!({
        "event_id": entry.id.to_string(), "event_type": entry.event.kind().name(), "timestamp": entry.at.to_string(),
        "version": entry.version, "data": { field: id.to_string(), "all": format!("{:?}", entry.event) },
    });
    said.to_string().into_bytes()
}
