//! Real processes under faults: starts the program, its bank, chain, endpoint and database, lets
//! clients work, breaks things, and judges the result from outside alone.
//!
//! Development only. The integration tests share its harness; nothing else imports it.

pub mod api;
pub mod bank;
pub mod book;
pub mod chain;
pub mod checker;
pub mod evidence;
pub mod harness;
pub mod history;
pub mod judge;
pub mod load;
pub mod random;
pub mod rig;
pub mod run;
