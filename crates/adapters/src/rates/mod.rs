//! The rate book: rates from files, HTTPS sources, or the sandbox's own walk.
//!
//! [`LiveRates`] and [`SandboxRates`] implement the port. Neither adds a tenant's margin, and no number
//! ever passes through a binary float.

mod book;
mod ecb;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod json;
mod kept;
mod names;
mod published;
mod sandbox;
mod sheet;
mod source;
mod table;

#[cfg(test)]
mod tests;

use domain::decimal::Decimal;

pub use book::{
    DEFAULT_MAX_DEPEG_BPS, DEFAULT_MAX_DIFFERENCE_BPS, DEFAULT_MAX_MOVE_BPS, Disagreement,
    HeldBack, LiveRates, RateLimits, RateRefresh, SourceState,
};
pub use kept::KeptRates;
pub use published::Published;
pub use sandbox::{MAX_WALK_PPM, STEP, SandboxRates};
pub use sheet::{Form, JsonShape, MAX_RATE, MAX_SPREAD_BPS, MIN_RATE};
pub use source::{MAX_AHEAD, MAX_SHEET_BYTES, RateError, RateLocation, RateSource};
pub use table::{DERIVED_DECIMALS, DirectRate, RateTable};

/// Whether `new` differs from `old` by more than `bps`; a difference that overflows counts as too
/// large.
fn moved_beyond(old: Decimal, new: Decimal, bps: u32) -> bool {
    let difference = if new > old { new.checked_sub(old) } else { old.checked_sub(new) };
    let moved = difference.and_then(|size| size.checked_mul(Decimal::from_int(10_000)));
    match (moved, old.checked_mul(Decimal::from_int(i64::from(bps)))) {
        (Some(moved), Some(allowed)) => moved > allowed,
        _ => true,
    }
}
