//! Webhooks to the banks' endpoints (`decisions.md`, "Webhooks"): signatures, the guard that keeps
//! them out of the internal network, and the sender. Schedule, order and the end of retries are the
//! engine's.

mod address;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod reach;
mod sender;
mod signature;

pub use address::Inward;
pub use reach::{Reach, UrlFault};
pub use sender::{Post, Sender, Settings};
pub use signature::{
    Arrived, ID_HEADER, SIGNATURE_HEADER, SecretFault, TIMESTAMP_HEADER, TOLERANCE_S, Unbelievable,
    WebhookSecret, sign, verify,
};
