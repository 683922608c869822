//! Both services from the outside: real HTTP on real sockets against a whole service, on SQLite and PostgreSQL.
//!
//! Folders mirror the routes; `lives` follows payments to their ends; `everywhere` holds what is true of all operations.
//! Nothing here reaches into the service but to set a stage (tenants, keys, money) or to play the operator.

mod harness;

mod auth;
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
