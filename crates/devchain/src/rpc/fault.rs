//! JSON-RPC errors with the codes and messages of the most common node, which clients rely on.

use alloy_primitives::{Bytes, U256, hex};
use serde_json::{Value, json};

use crate::disk::DiskFault;
use crate::pool::PoolFault;
use crate::tx::TxFault;

const PARSE: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const NO_METHOD: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const INTERNAL: i64 = -32_603;
const SERVER: i64 = -32_000;
const LIMIT: i64 = -32_005;
const REVERTED: i64 = 3;
const PRUNED: i64 = 4_444;

/// Error of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcFault {
    /// Error code of JSON-RPC.
    pub code: i64,
    /// Human-readable message, which some clients also parse.
    pub message: String,
    /// Revert data, if the call reverted.
    pub data: Option<Bytes>,
}

impl std::fmt::Display for RpcFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcFault {}

impl RpcFault {
    fn new(code: i64, message: impl Into<String>) -> RpcFault {
        RpcFault { code, message: message.into(), data: None }
    }

    pub(crate) fn parse() -> RpcFault {
        RpcFault::new(PARSE, "parse error")
    }

    pub(crate) fn request(message: &str) -> RpcFault {
        RpcFault::new(INVALID_REQUEST, message)
    }

    pub(crate) fn no_method(method: &str) -> RpcFault {
        RpcFault::new(NO_METHOD, format!("the method {method} does not exist/is not available"))
    }

    pub(crate) fn params(message: impl Into<String>) -> RpcFault {
        RpcFault::new(INVALID_PARAMS, message)
    }

    pub(crate) fn server(message: impl Into<String>) -> RpcFault {
        RpcFault::new(SERVER, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> RpcFault {
        RpcFault::new(INTERNAL, message)
    }

    pub(crate) fn too_many_logs(most: usize) -> RpcFault {
        RpcFault::new(LIMIT, format!("query returned more than {most} results"))
    }

    pub(crate) fn pruned() -> RpcFault {
        RpcFault::new(PRUNED, "pruned history unavailable")
    }

    pub(crate) fn reverted(output: &Bytes) -> RpcFault {
        let message = match revert_reason(output) {
            Some(reason) => format!("execution reverted: {reason}"),
            None => "execution reverted".to_owned(),
        };
        RpcFault { code: REVERTED, message, data: Some(output.clone()) }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = json!(hex::encode_prefixed(data));
        }
        error
    }
}

impl From<PoolFault> for RpcFault {
    fn from(fault: PoolFault) -> RpcFault {
        match fault {
            PoolFault::Tx(TxFault::Undecodable(_)) => RpcFault::params(fault.to_string()),
            _ => RpcFault::server(fault.to_string()),
        }
    }
}

impl From<DiskFault> for RpcFault {
    fn from(fault: DiskFault) -> RpcFault {
        RpcFault::internal(fault.to_string())
    }
}

/// Selector of the error `Error(string)`.
const ERROR: [u8; 4] = hex!("08c379a0");
/// Selector of the error `Panic(uint256)`.
const PANIC: [u8; 4] = hex!("4e487b71");

/// A contract's revert reason: the text of `Error(string)`, or the meaning of `Panic(uint256)`.
pub fn revert_reason(output: &[u8]) -> Option<String> {
    let (selector, rest) = output.split_at_checked(ERROR.len())?;
    let word = |at: usize| rest.get(at..at + 32).map(U256::from_be_slice);
    if selector == PANIC {
        return Some(panic_reason(word(0)?));
    }
    let start = usize::try_from(word(0)?).ok().filter(|_| selector == ERROR)?;
    let length = usize::try_from(word(start)?).ok()?;
    let text = rest.get(start.checked_add(32)?..)?.get(..length)?;
    String::from_utf8(text.to_vec()).ok()
}

fn panic_reason(code: U256) -> String {
    let code = u64::try_from(code).unwrap_or(u64::MAX);
    match code {
        0x00 => "generic panic".to_owned(),
        0x01 => "assert(false)".to_owned(),
        0x11 => "arithmetic underflow or overflow".to_owned(),
        0x12 => "division or modulo by zero".to_owned(),
        0x21 => "enum overflow".to_owned(),
        0x22 => "invalid encoded storage byte array accessed".to_owned(),
        0x31 => "out-of-bounds array access; popping on an empty array".to_owned(),
        0x32 => "out-of-bounds access of an array or bytesN".to_owned(),
        0x41 => "out of memory".to_owned(),
        0x51 => "uninitialized function".to_owned(),
        _ => format!("unknown panic code: {code:#x}"),
    }
}
