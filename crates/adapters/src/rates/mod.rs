//! The rate book: mid-market rates from files, HTTPS sources, or the sandbox's own walk.
//!
//! [`LiveRates`] and [`SandboxRates`] implement the port. Neither adds a margin or judges whether a
//! rate is too old to trade on (the caller does, by `as_of`), and no number ever passes through a
//! binary float.

mod book;
mod sandbox;
pub mod sheet;
mod table;

#[cfg(test)]
mod tests;

pub use book::{
    DEFAULT_MAX_DEPEG_BPS, DEFAULT_MAX_MOVE_BPS, HeldBack, LiveRates, MAX_AHEAD, MAX_SHEET_BYTES,
    RateError, RateRefresh, RateSource,
};
pub use sandbox::{MAX_WALK_PPM, STEP, SandboxRates};
pub use sheet::JsonShape;
pub use table::{DERIVED_DECIMALS, DirectRate, RateTable};
