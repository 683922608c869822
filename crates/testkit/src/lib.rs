//! External parties for tests: simulated counterparts, and harnesses for real ones.
//!
//! Used by tests, the simulator and the sandbox; never by a path that handles a client's money.

pub mod anvil;
pub mod bank;
pub mod circle;
pub mod cloud_keys;
pub mod connect_proxy;
pub mod corpus;
pub mod gpg;
pub mod identity;
pub mod json_bank;
pub mod nats;
pub mod pain001;
pub mod pgbouncer;
pub mod postgres;
pub mod proxy;
pub mod receiver;
pub mod scripted;
pub mod sink;
pub mod softhsm;
pub mod sshd;
pub mod tls_front;
pub mod tokens;
pub mod wait;
mod watched;
