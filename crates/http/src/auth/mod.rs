//! Authentication: strict HS256 tokens with access keys (specification: "Authentication";
//! `decisions.md`, "JWT").
//!
//! One algorithm without negotiation: a token cannot choose how it is verified. This module
//! verifies tokens; it stores no keys, and caches keys but never results.

mod cache;
mod fault;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod key;
pub mod mint;
mod network;
#[cfg(test)]
mod tests;
mod token;
mod verify;

pub use cache::KeyCache;
pub use fault::{AuthErrorDetail, AuthFault, Refused};
pub use key::{
    ACCESS_KEY_MAX_CHARS, AccessKey, Found, KeyRing, KeyRingError, Service, SigningKey, VerifiedKey,
};
pub use network::{Network, NetworkError};
pub use verify::{AUTHORIZATION_MAX_BYTES, Caller, LEEWAY_S, Rules, Verifier};
