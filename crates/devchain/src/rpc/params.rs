//! Parsing of parameters. Numbers are hexadecimal quantities, as the Ethereum API requires.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::Value;

use super::fault::RpcFault;

/// The positional parameters of a call.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(pub(crate) &'a [Value]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockId {
    Number(u64),
    Hash(B256),
    Latest,
    Safe,
    Finalized,
    Pending,
}

impl<'a> Params<'a> {
    /// An optional parameter: missing or `null`.
    pub(crate) fn optional(self, index: usize) -> Option<&'a Value> {
        self.0.get(index).filter(|value| !value.is_null())
    }

    pub(crate) fn get(self, index: usize) -> Result<&'a Value, RpcFault> {
        self.optional(index)
            .ok_or_else(|| RpcFault::params(format!("missing value for required argument {index}")))
    }

    pub(crate) fn address(self, index: usize) -> Result<Address, RpcFault> {
        address(self.get(index)?).map_err(at(index))
    }

    pub(crate) fn hash(self, index: usize) -> Result<B256, RpcFault> {
        hash(self.get(index)?).map_err(at(index))
    }

    pub(crate) fn bytes(self, index: usize) -> Result<Bytes, RpcFault> {
        bytes(self.get(index)?).map_err(at(index))
    }

    pub(crate) fn quantity(self, index: usize) -> Result<U256, RpcFault> {
        quantity(self.get(index)?).map_err(at(index))
    }

    pub(crate) fn flag(self, index: usize) -> Result<bool, RpcFault> {
        match self.optional(index) {
            None => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| at(index)("true or false is expected".to_owned()))
            }
        }
    }

    /// The block parameter; `latest` if it is missing.
    pub(crate) fn block(self, index: usize) -> Result<BlockId, RpcFault> {
        self.optional(index).map_or(Ok(BlockId::Latest), |value| block_id(value).map_err(at(index)))
    }
}

/// Prefixes a fault with the parameter's position.
pub(crate) fn at(index: usize) -> impl Fn(String) -> RpcFault {
    move |what| RpcFault::params(format!("invalid argument {index}: {what}"))
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "a string is expected".to_owned())
}

pub(crate) fn address(value: &Value) -> Result<Address, String> {
    text(value)?.parse().map_err(|_| "an address of 20 bytes is expected".to_owned())
}

pub(crate) fn hash(value: &Value) -> Result<B256, String> {
    text(value)?.parse().map_err(|_| "32 bytes in hexadecimal are expected".to_owned())
}

pub(crate) fn bytes(value: &Value) -> Result<Bytes, String> {
    let text = text(value)?;
    if !text.starts_with("0x") {
        return Err("hex string without 0x prefix".to_owned());
    }
    text.parse().map_err(|_| "invalid hex string".to_owned())
}

pub(crate) fn quantity(value: &Value) -> Result<U256, String> {
    let digits = text(value)?.strip_prefix("0x").ok_or("hex string without 0x prefix")?;
    if digits.is_empty() {
        return Err("hex string \"0x\"".to_owned());
    }
    U256::from_str_radix(digits, 16).map_err(|_| "invalid hex number".to_owned())
}

pub(crate) fn number(value: &Value) -> Result<u64, String> {
    u64::try_from(quantity(value)?).map_err(|_| "hex number > 64 bits".to_owned())
}

pub(crate) fn block_id(value: &Value) -> Result<BlockId, String> {
    if let Some(fields) = value.as_object() {
        return match (fields.get("blockNumber"), fields.get("blockHash")) {
            (Some(number), None) => block_id(number),
            (None, Some(value)) => hash(value).map(BlockId::Hash),
            _ => Err("one of blockNumber and blockHash is expected".to_owned()),
        };
    }
    Ok(match text(value)? {
        "latest" => BlockId::Latest,
        "safe" => BlockId::Safe,
        "finalized" => BlockId::Finalized,
        "pending" => BlockId::Pending,
        "earliest" => BlockId::Number(0),
        _ => BlockId::Number(number(value)?),
    })
}
