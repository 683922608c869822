//! Adapters to external systems: rails, chains, rates, sanction lists, the bank directory, webhook
//! endpoints, the identity provider. Whatever is reached over HTTP is reached through `outbound`.
//!
//! Each module speaks one party's protocol and converts it into domain values. None makes decisions
//! about money.

pub mod bank_directory;
pub mod evm;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
pub mod oidc;
pub mod outbound;
pub mod pgp;
pub mod rails;
pub mod rates;
pub mod screening;
pub mod sftp;
pub mod sinks;
pub mod webhooks;

mod fetch;
mod place;
pub use fetch::{FetchError, Fetched, Served, Transport};
