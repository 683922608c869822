//! Wallet Service v1 on the wire: routes, roles, rate limits, decoders, renderings and refusals of its operations.

pub mod decode;
mod gate;
pub mod limits;
pub mod operations;
mod refusals;
pub mod render;

pub use gate::{Gate, Settings, Sources};
#[cfg(test)]
pub(crate) mod samples;
