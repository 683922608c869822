//! Tests both services from outside: HTTP over sockets against a full service, on SQLite and
//! PostgreSQL.
//!
//! Folders mirror the routes; `lives` follows payments to their final states; `everywhere` covers
//! rules for all operations. Tests reach into the service only to set up data (tenants, keys,
//! money) or to act as an operator.

mod harness;

mod auth;
#[path = "../../../adapters/src/outbound/tests/authority.rs"]
mod authority;
mod console;
mod events;
mod everywhere;
mod lives;
mod ops;
mod packages;
mod payment;
mod payments;
mod process;
mod quote;
mod sandbox;
mod wallet;
