//! Payment Service v2 over HTTP: routes, decoders, renderings and refusals of its operations.

pub mod decode;
mod events;
mod guard;
mod refusals;
pub mod render;
mod routes;

pub use crate::idempotency::PATIENCE;
pub use events::STREAM_MAX_S;
pub use guard::{Api, Settings};
pub use routes::router;
