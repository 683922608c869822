//! Everything that Corridor calls over HTTP: one client with the settings of its destination (TLS,
//! proxy, authentication, signature, time-outs, retries).
//!
//! Credentials go only to the addresses that a client is made for, and never into a message: an
//! address is shown as scheme, host and path, and secrets that a server sends back are masked. A
//! request is repeated only if its caller says that it may be, and a redirect is never followed here.

pub(crate) mod address;
mod client;
mod fault;
mod files;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod guarded;
pub(crate) mod oauth;
mod pauses;
pub(crate) mod retry_after;
mod secrets;
mod servers;
mod settings;
mod signing;

#[cfg(test)]
pub(crate) mod tests;

pub use address::is_on_this_machine;
pub use client::{Answer, BodyFault, Client, Request};
pub use fault::{Fault, causes};
pub use files::{authorities, expires};
pub use guarded::GuardedClient;
pub use servers::Servers;
pub(crate) use settings::IDENTITY;
pub use settings::{
    Authentication, ClientAuthentication, Encoding, Grant, Identity, JwsAlgorithm, JwsKey, OAuth2,
    Proxy, Settings, SetupError, Signing,
};
