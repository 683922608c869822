//! Wallet Service v1 over HTTP: routes, roles, rate limits, decoders, renderings and refusals of
//! its operations.

pub mod decode;
mod exchange;
mod guard;
pub mod limits;
mod log;
pub mod operations;
mod refusals;
pub mod render;
mod request;
mod review;
mod routes;
mod wallet;

pub use guard::{Guard, Settings, Sources};
pub use routes::{Api, router, router_without_wallets};
#[cfg(test)]
pub(crate) mod samples;
