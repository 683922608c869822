//! JSON-RPC 2.0 to one node, over whatever carries bytes. What comes back is untrusted: its shape is checked here, its
//! meaning by who asked. Nothing is ever asked twice on its own account.

mod answer;
mod faults;
mod http;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::ports::Answer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::hex::{self, Hex};
pub(super) use faults::{NodeError, RpcFault, clean};
pub(super) use http::describe;
pub use http::{HttpSettings, HttpTransport, HttpTransportError};

/// Carries one JSON-RPC message to a node and brings the answer back: HTTP, or a chain in this very process.
pub trait Transport: Send + Sync {
    /// Sends a request, or an array of requests, and answers with the bytes that came back.
    fn send(&self, body: Vec<u8>) -> Answer<'_, Result<Vec<u8>, TransportFault>>;
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportFault {
    /// No connection, no answer in time, an answer that broke off, or one that is no JSON-RPC.
    #[error("{0}")]
    Failed(String),
    /// The answer is longer than is allowed.
    #[error("the answer is longer than {max_bytes} bytes")]
    TooLarge {
        /// The bound.
        max_bytes: usize,
    },
}

/// One request.
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
    /// What it is called in messages: never its address, which often contains a key.
    name: &'static str,
    transport: Arc<dyn Transport>,
    chain_id: u64,
    /// Whether it has said that it is on that chain.
    is_known: AtomicBool,
}

impl Endpoint {
    pub(super) fn new(name: &'static str, transport: Arc<dyn Transport>, chain_id: u64) -> Endpoint {
        Endpoint { name, transport, chain_id, is_known: AtomicBool::new(false) }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Asks for one thing.
    pub(super) async fn ask<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T, RpcFault> {
        self.check_chain().await?;
        self.ask_unchecked(method, params).await
    }

    async fn ask_unchecked<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T, RpcFault> {
        let request = Request::new(method, params);
        let body = self.exchange(&Message::new(0, &request)).await?;
        answer::read(method, &answer::single(&body)?.map_err(RpcFault::Node)?)
    }

    /// Asks for several things at once, so that one node answers all of them; the answers are in the same order.
    pub(super) async fn ask_all(
        &self,
        requests: &[Request],
    ) -> Result<Vec<Result<Box<RawValue>, NodeError>>, RpcFault> {
        self.check_chain().await?;
        let messages: Vec<_> = requests.iter().enumerate().map(|(id, request)| Message::new(id, request)).collect();
        let body = self.exchange(&messages).await?;
        answer::batch(&body, requests.len())
    }

    async fn exchange(&self, message: &impl Serialize) -> Result<Vec<u8>, RpcFault> {
        let body = serde_json::to_vec(message).map_err(|error| RpcFault::Malformed(error.to_string()))?;
        self.transport.send(body).await.map_err(RpcFault::Transport)
    }

    /// Believes a node only once it has named the chain: an address is valid on every chain.
    async fn check_chain(&self) -> Result<(), RpcFault> {
        if self.is_known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Hex(chain_id) = self.ask_unchecked::<Hex<u64>>("eth_chainId", Value::Array(Vec::new())).await?;
        if chain_id != self.chain_id {
            return Err(RpcFault::Malformed(format!("it is on chain {chain_id}, not {}", self.chain_id)));
        }
        self.is_known.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Reads one answer of [`Endpoint::ask_all`].
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
