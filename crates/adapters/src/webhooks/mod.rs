//! Webhooks to the banks' receivers (`decisions.md`, "Webhooks"): signatures, the guard that keeps them out of our own
//! network, and the sender. When to try, in which order, and when to give up is the engine's.

mod address;
mod reach;
mod retry_after;
mod sender;
mod signature;

pub use address::Inward;
pub use reach::{Reach, UrlFault};
pub use sender::{Post, Sender, Settings, SetupError};
pub use signature::{
    Arrived, ID_HEADER, SIGNATURE_HEADER, SecretFault, TIMESTAMP_HEADER, TOLERANCE_S, Unbelievable, WebhookSecret,
    sign, verify,
};
