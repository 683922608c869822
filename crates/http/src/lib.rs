//! The HTTP layer: reads requests, writes responses, authenticates callers.
//!
//! Everything here is independent of the engine's decisions: a bounded JSON reader and writer,
//! decoders that collect every error of a request, the token verifier, rate limits, error bodies,
//! and the server loop. It holds no business rules, opens no database and makes no outgoing calls.

mod accept;
pub mod address_windows;
mod audit_context;
pub mod auth;
pub mod compressed;
pub mod decode;
pub mod docs;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod idempotency;
pub mod json;
mod json_body;
mod kept_answers;
pub mod key_ring;
pub mod limits;
mod measured;
pub mod openapi;
pub mod pay_page;
pub mod payment_file;
pub mod payments_v2;
pub mod problem;
pub mod proxies;
pub mod rail_callbacks;
pub mod receipt;
pub mod request_id;
pub mod server;
pub mod spreadsheet;
pub mod statements;
pub mod wallet_groups;
pub mod wallet_v1;
pub mod write;
