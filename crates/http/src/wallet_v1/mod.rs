//! Wallet Service v1 on the wire: routes, roles, rate limits, decoders, renderings and refusals of its operations.

pub mod decode;
pub mod limits;
pub mod operations;
pub mod render;
#[cfg(test)]
pub(crate) mod samples;
