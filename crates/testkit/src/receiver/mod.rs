//! A bank's webhook endpoint: the recipient of events in tests, the sandbox and the simulator.
//!
//! [`ReceiverCore`] decides and keeps the book, without clock or socket; [`SimulatedReceiver`]
//! serves it over HTTP. It shares no code with the sender under test, and misbehaves deliberately:
//! by [`Reaction`]s, one per arrival, and by its [`Temper`].

mod book;
mod core;
mod proof;
mod server;

#[cfg(test)]
mod tests;

pub use self::book::{Book, Entry};
pub use self::core::{Arrival, Manner, Reaction, ReceiverCore, Reply, Temper};
pub use self::proof::Verdict;
pub use self::server::{ReceiverConfig, SimulatedReceiver};
