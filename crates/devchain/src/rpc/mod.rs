//! JSON-RPC 2.0: parses requests, single or in batches, and answers like the common nodes.

mod call;
mod control;
mod fault;
mod fees;
mod logs;
mod params;
mod read;
mod send;
mod show;

use serde_json::{Value, json};

pub use fault::{RpcFault, revert_reason};
use params::Params;

use crate::DevChain;
use crate::fault::take;

/// Maximum calls of one batch.
const BATCH_MAX: usize = 1_000;
/// Prefix of our own methods, which change the chain as no real node permits.
const CONTROL: &str = "dev_";
/// Message of an injected fault.
const INJECTED: &str = "injected fault";

/// Origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    InProcess,
    Http,
}

impl DevChain {
    /// Answers a JSON-RPC request of this process, after the injected latency. Empty if the request
    /// needs no answer. Executes on the polling thread.
    pub async fn request(&self, body: &[u8]) -> Vec<u8> {
        self.delay().await;
        self.answer(body, Origin::InProcess)
    }

    /// Answers the body of an HTTP POST; the status is always 200, the type `application/json`, and
    /// an empty answer (to notifications) has no body.
    ///
    /// Browser wallets call this from pages of other origins: answer `OPTIONS` with 204 and, there
    /// and with every answer, `Access-Control-Allow-Origin: *`, `Access-Control-Allow-Methods:
    /// POST`, `Access-Control-Allow-Headers: content-type`. There are no cookies or credentials.
    /// Limit the body (nodes accept 5 MiB). `dev_*` methods require
    /// [`crate::Options::control_over_http`].
    pub async fn serve_bytes(&self, body: &[u8]) -> Vec<u8> {
        self.delay().await;
        self.answer(body, Origin::Http)
    }

    /// One call, at once and in process.
    ///
    /// # Errors
    /// [`RpcFault`], as a client would receive it.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, RpcFault> {
        self.dispatch(method, &params, Origin::InProcess)
    }

    fn answer(&self, body: &[u8], origin: Origin) -> Vec<u8> {
        let answer = match serde_json::from_slice(body) {
            Err(_) => Some(failure(&Value::Null, &RpcFault::parse())),
            Ok(Value::Array(batch)) => self.answer_batch(&batch, origin),
            Ok(request) => self.answer_one(&request, origin),
        };
        answer.map(|answer| answer.to_string().into_bytes()).unwrap_or_default()
    }

    fn answer_batch(&self, batch: &[Value], origin: Origin) -> Option<Value> {
        if batch.is_empty() {
            return Some(failure(&Value::Null, &RpcFault::request("empty batch")));
        }
        if batch.len() > BATCH_MAX {
            return Some(failure(&Value::Null, &RpcFault::request("batch too large")));
        }
        let answers: Vec<_> =
            batch.iter().filter_map(|request| self.answer_one(request, origin)).collect();
        (!answers.is_empty()).then_some(Value::Array(answers))
    }

    /// `None` for a notification.
    fn answer_one(&self, request: &Value, origin: Origin) -> Option<Value> {
        let Some(method) = request.get("method").and_then(Value::as_str) else {
            let id = request.get("id").unwrap_or(&Value::Null);
            return Some(failure(id, &RpcFault::request("invalid request")));
        };
        let params = request.get("params").unwrap_or(&Value::Null);
        let result = self.dispatch(method, params, origin);
        let id = request.get("id")?;
        Some(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(fault) => failure(id, &fault),
        })
    }

    fn dispatch(&self, method: &str, params: &Value, origin: Origin) -> Result<Value, RpcFault> {
        let params = match params {
            Value::Array(params) => Params(params),
            Value::Null => Params(&[]),
            _ => return Err(RpcFault::params("non-array args")),
        };
        if method.starts_with(CONTROL) {
            let allowed = origin == Origin::InProcess || self.shared.control_over_http;
            return if allowed {
                self.control(method, params)
            } else {
                Err(RpcFault::no_method(method))
            };
        }
        self.fail_before(method)?;
        let result = self.ethereum(method, params);
        self.fail_after(method)?;
        result
    }

    fn ethereum(&self, method: &str, params: Params<'_>) -> Result<Value, RpcFault> {
        match method {
            "eth_sendRawTransaction" => send::raw(self, params),
            "eth_getLogs" => self.sight(|sight| logs::logs(&sight, params, self.shared.logs_max)),
            _ => {
                let now = self.now();
                self.sight(|sight| read::read(&sight, now, method, params))
            }
        }
    }

    fn fail_before(&self, method: &str) -> Result<(), RpcFault> {
        let is_quiet = self.look(|chain| chain.faults.errors.is_empty());
        let fails = !is_quiet && self.change(|chain| take(&mut chain.faults.errors, method));
        if fails { Err(RpcFault::internal(INJECTED)) } else { Ok(()) }
    }

    fn fail_after(&self, method: &str) -> Result<(), RpcFault> {
        let is_quiet = self.look(|chain| chain.faults.lost_answers.is_empty());
        let fails = !is_quiet && self.change(|chain| take(&mut chain.faults.lost_answers, method));
        if fails { Err(RpcFault::internal(INJECTED)) } else { Ok(()) }
    }
}

fn failure(id: &Value, fault: &RpcFault) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": fault.to_json() })
}
