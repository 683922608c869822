//! A bank's receiver of webhooks: the other side of the events in tests, the sandbox and the simulator.
//!
//! [`ReceiverCore`] decides and keeps the book, without clock or socket; [`SimulatedReceiver`] serves it over HTTP. It
//! shares no code with the sender that it judges, and misbehaves on purpose: by [`Reaction`]s, one for each arrival, and
//! by its [`Temper`].

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
