//! Simulated time and the executor: the only thing that drives futures here. One thread, no runtime, no real clock.

mod executor;
mod sim;
mod trace;

pub use executor::{Executor, Polled};
pub use sim::{NODES, NodeNumber, Owner, Pace, Sim, SimClock};
pub use trace::Trace;
