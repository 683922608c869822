//! The simulated bank: the counterparty of every rail in the sandbox, the tests and the simulator.
//!
//! It speaks ISO 20022 over HTTP ([`server`]) and over a directory ([`directory`]), keeps a durable
//! book of its payments ([`book`]) and misbehaves deliberately, as selected by the creditor's
//! account or by [`Faults`]. It shares no code with the client under test, and never moves real
//! money.

pub mod book;
pub mod core;
pub mod directory;
pub mod iso;
pub mod server;
mod service;

#[cfg(test)]
mod tests;

pub use self::book::{BookFault, Journal};
pub use self::core::{
    Answer, BankCore, Behaviour, BookKind, BookLine, BookTotals, DelayRange, Faults,
    InstructionView, MemoryBook, Mistake, Outcome, QueryView, Report, Standing, SteerFault,
    TxStatus, check_account,
};
pub use self::directory::DirectoryConfig;
pub use self::service::{BankConfig, BankFault, SimulatedBank, SystemClock};
