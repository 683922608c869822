//! Who calls: strict HS256 tokens over access keys (specification: "Authentication"; `decisions.md`, "JWT").
//!
//! One algorithm, no negotiation: whatever a token says about how to verify it is refused. This room judges tokens;
//! it stores no keys, and it caches keys but never a verdict.

mod cache;
mod fault;
mod key;
pub mod mint;
mod network;
#[cfg(test)]
mod tests;
mod token;
mod verify;

pub use cache::KeyCache;
pub use fault::{AuthFault, Candour, Refused};
pub use key::{ACCESS_KEY_MAX_CHARS, AccessKey, Found, KeyRing, KeyRingError, Service, SigningKey, VerifiedKey};
pub use network::{Network, NetworkError};
pub use verify::{AUTHORIZATION_MAX_BYTES, Caller, LEEWAY_S, Rules, Verifier};
