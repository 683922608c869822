//! JSON-RPC 2.0 to one node, over any transport. Answers are untrusted: their shape is checked
//! here, their meaning by the caller. No request is repeated here.

mod answer;
mod faults;
#[cfg(any(test, feature = "fuzz"))]
pub(super) mod fuzz;
mod health;
mod http;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use domain::ports::{BoxFuture, Clock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::hex::{self, Hex};
use domain::chain::ON_CHAIN;
use domain::time::{Span, Timestamp};
pub(super) use faults::{NodeError, RpcFault, clean};
use health::Health;
pub use http::{HttpSettings, HttpTransport};

/// How long a node that named its chain is not asked for it again: once a minute is a twentieth of what
/// the heads of a chain with blocks of 12 s take.
const CONFIRMED_FOR: Span = Span::mins(1);
/// The time of a confirmation that it has not given, in microseconds.
const NEVER: i64 = i64::MIN;

/// Transports one JSON-RPC message to a node and returns the answer: over HTTP, or to a chain in
/// this process.
pub trait Transport: Send + Sync {
    /// Sends a request, or an array of requests, and returns the raw answer.
    fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>>;
    /// A node's text without the secrets of its address, for messages.
    fn masked(&self, text: String) -> String {
        text
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportFault {
    /// No connection, a timeout, a truncated answer, or one that is not JSON-RPC.
    #[error("{0}")]
    Failed(String),
    /// The node asks for a pause (HTTP 429, or 503 with `Retry-After`).
    #[error("it asks for a pause: {status}")]
    Busy {
        status: u16,
        /// How long to wait, if the node says so.
        retry_after: Option<Duration>,
    },
    /// The answer exceeds the limit.
    #[error("the answer is larger than {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
}

#[derive(Debug)]
pub(super) struct Request {
    method: &'static str,
    params: Value,
}

impl Request {
    pub(super) const fn new(method: &'static str, params: Value) -> Request {
        Request { method, params }
    }
}

/// The method that returns logs by a filter.
pub(super) const GET_LOGS: &str = "eth_getLogs";

impl NodeError {
    /// The same as the answer to a request.
    fn to(self, request: &Request) -> NodeError {
        NodeError { is_of_logs: request.method == GET_LOGS, ..self }
    }
}

#[derive(Serialize)]
struct Message<'a> {
    jsonrpc: &'static str,
    id: usize,
    method: &'static str,
    params: &'a Value,
}

impl<'a> Message<'a> {
    const fn new(id: usize, request: &'a Request) -> Message<'a> {
        Message { jsonrpc: "2.0", id, method: request.method, params: &request.params }
    }
}

/// A node of one chain.
pub(super) struct Endpoint {
    /// Its name in messages: never its address, which often contains a key.
    name: String,
    transport: Arc<dyn Transport>,
    chain_id: u64,
    clock: Arc<dyn Clock>,
    health: Health,
    /// When it last confirmed the chain id, in microseconds since 1970.
    confirmed_at: AtomicI64,
    /// Whether it has rejected an array of requests: from then on requests are sent one by one.
    takes_no_batches: AtomicBool,
}

/// A node's answer to one request of several.
pub(super) type Outcome = Result<Box<RawValue>, NodeError>;
type Outcomes = Vec<Outcome>;

impl Endpoint {
    pub(super) fn new(
        name: String,
        transport: Arc<dyn Transport>,
        chain_id: u64,
        clock: Arc<dyn Clock>,
    ) -> Endpoint {
        Endpoint {
            name,
            transport,
            chain_id,
            clock,
            health: Health::default(),
            confirmed_at: AtomicI64::new(NEVER),
            takes_no_batches: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How long it still rests.
    pub(super) fn rests_for(&self) -> Option<Span> {
        self.health.rests_for(self.clock.now())
    }

    /// Its newest block, if it named it recently.
    pub(super) fn fresh_head(&self) -> Option<u64> {
        self.health.fresh_head(self.clock.now())
    }

    /// The newest block that it has named so far.
    pub(super) fn head(&self) -> Option<u64> {
        self.health.head()
    }

    /// Whether it has been below a height that others have reached for long.
    pub(super) fn is_behind(&self, reached: u64) -> bool {
        self.health.is_behind(reached, self.clock.now())
    }

    /// Records its newest block.
    pub(super) fn note_head(&self, number: u64) {
        self.health.note_head(number, self.clock.now());
    }

    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, RpcFault> {
        self.check_chain().await?;
        self.ask_unchecked(method, params).await
    }

    async fn ask_unchecked<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, RpcFault> {
        let request = Request::new(method, params);
        let asked = async {
            let outcome = self.ask_one(&request).await?;
            let read = answer::read(method, &outcome.map_err(RpcFault::Node)?);
            read.map_err(|fault| match fault {
                RpcFault::Malformed(text) => RpcFault::Malformed(self.transport.masked(text)),
                other => other,
            })
        };
        self.watched(asked).await
    }

    async fn ask_one(
        &self,
        request: &Request,
    ) -> Result<Result<Box<RawValue>, NodeError>, RpcFault> {
        let body = self.exchange(&Message::new(0, request)).await?;
        Ok(answer::single(&body, &self.hide())?.map_err(|error| error.to(request)))
    }

    /// Sends several requests at once, so that one node answers all of them; the answers are in the
    /// same order. A node without support for arrays is asked one by one. A pause that it asks for
    /// with one of them holds for all.
    pub(super) async fn ask_all(&self, requests: &[Request]) -> Result<Outcomes, RpcFault> {
        self.check_chain().await?;
        let asked = async {
            let outcomes = self.ask_batch(requests).await?;
            let mut errors = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
            match errors.find(|error| error.is_pause()) {
                Some(error) => Err(RpcFault::Node(error.clone())),
                None => Ok(outcomes),
            }
        };
        self.watched(asked).await
    }

    /// The same for a fixed number of requests.
    pub(super) async fn ask_each_of<const N: usize>(
        &self,
        requests: &[Request; N],
    ) -> Result<[Outcome; N], RpcFault> {
        let missing = |_| RpcFault::Malformed("a request without an answer".to_owned());
        self.ask_all(requests).await?.try_into().map_err(missing)
    }

    async fn ask_batch(&self, requests: &[Request]) -> Result<Outcomes, RpcFault> {
        if self.takes_no_batches.load(Ordering::Relaxed) {
            return self.ask_each(requests).await;
        }
        let messages: Vec<_> =
            requests.iter().enumerate().map(|(id, request)| Message::new(id, request)).collect();
        let answered = match self.exchange(&messages).await {
            Ok(body) => answer::batch(&body, requests.len(), &self.hide()).map(|outcomes| {
                let asked = outcomes.into_iter().zip(requests);
                asked.map(|(outcome, request)| outcome.map_err(|error| error.to(request))).collect()
            }),
            Err(fault) => Err(fault),
        };
        let refused = match answered {
            // A node that cannot answer at all reveals nothing about its support for arrays.
            Err(fault) if fault.may_be_about_batches() => fault,
            other => return other,
        };
        let Ok(outcomes) = self.ask_each(requests).await else { return Err(refused) };
        // Each request succeeds on its own, but the array fails. An oversized batch is not held
        // against the node.
        if !matches!(refused, RpcFault::Transport(_)) {
            self.takes_no_batches.store(true, Ordering::Relaxed);
        }
        Ok(outcomes)
    }

    /// Asks one by one, until the node asks for a pause.
    async fn ask_each(&self, requests: &[Request]) -> Result<Outcomes, RpcFault> {
        let mut outcomes = Vec::with_capacity(requests.len());
        for request in requests {
            match self.ask_one(request).await? {
                Err(error) if error.is_pause() => return Err(RpcFault::Node(error)),
                outcome => outcomes.push(outcome),
            }
        }
        Ok(outcomes)
    }

    /// Hides the secrets of its address in texts that it sends.
    fn hide(&self) -> impl Fn(&str) -> String {
        |text| self.transport.masked(text.to_owned())
    }

    async fn exchange(&self, message: &impl Serialize) -> Result<Vec<u8>, RpcFault> {
        let body =
            serde_json::to_vec(message).map_err(|error| RpcFault::Malformed(error.to_string()))?;
        self.transport.send(body).await.map_err(RpcFault::Transport)
    }

    /// Skips the node while it rests, and records whether it was healthy.
    async fn watched<T>(
        &self,
        asked: impl Future<Output = Result<T, RpcFault>>,
    ) -> Result<T, RpcFault> {
        let begun = self.clock.now();
        if let Some(rest) = self.health.rests_for(begun) {
            return Err(RpcFault::Resting(rest));
        }
        let answered = asked.await;
        self.health.note(begun, self.clock.now(), answered.as_ref().err());
        // Whatever answers at its address next may be on another chain.
        if matches!(answered, Err(RpcFault::Transport(TransportFault::Failed(_)))) {
            self.confirmed_at.store(NEVER, Ordering::Relaxed);
        }
        answered
    }

    /// Trusts a node only after it has named the chain, and names it again from time to time: an
    /// address is valid on every chain, and a load balancer can lead to another one at any time.
    async fn check_chain(&self) -> Result<(), RpcFault> {
        let (now, confirmed) = (self.clock.now(), self.confirmed_at.load(Ordering::Relaxed));
        let is_known = confirmed != NEVER && now - Timestamp(confirmed) < CONFIRMED_FOR;
        if is_known { Ok(()) } else { self.confirm_chain().await }
    }

    /// Asks it for its chain, whatever it confirmed before.
    pub(super) async fn confirm_chain(&self) -> Result<(), RpcFault> {
        self.confirmed_at.store(NEVER, Ordering::Relaxed);
        let Hex(chain_id) =
            self.ask_unchecked::<Hex<u64>>("eth_chainId", Value::Array(Vec::new())).await?;
        if chain_id != self.chain_id {
            return Err(RpcFault::Malformed(format!(
                "{ON_CHAIN}{chain_id}, not {}",
                self.chain_id
            )));
        }
        self.confirmed_at.store(self.clock.now().0, Ordering::Relaxed);
        Ok(())
    }
}

/// Asks a node once, whatever its chain: for diagnoses.
///
/// # Errors
///
/// The node's error or why it has no answer, without secrets.
pub async fn ask_node(
    node: &dyn Transport,
    method: &'static str,
    params: Value,
) -> Result<Value, String> {
    let asked = async {
        let request = Request::new(method, params);
        let body = serde_json::to_vec(&Message::new(0, &request));
        let body = body.map_err(|error| RpcFault::Malformed(error.to_string()))?;
        let answer = node.send(body).await.map_err(RpcFault::Transport)?;
        let outcome = answer::single(&answer, &|text: &str| node.masked(text.to_owned()))?;
        read(method, outcome)
    };
    asked.await.map_err(|fault: RpcFault| format!("{method}: {fault}"))
}

/// Parses one answer of [`Endpoint::ask_all`].
pub(super) fn read<T: DeserializeOwned>(
    method: &'static str,
    answer: Result<Box<RawValue>, NodeError>,
) -> Result<T, RpcFault> {
    answer::read(method, &answer.map_err(RpcFault::Node)?)
}

/// A block number or tag as a parameter.
pub(super) fn height(number: u64) -> Value {
    Value::String(hex::quantity(u128::from(number)))
}
