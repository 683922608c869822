//! Runs a failing seed again with fewer faults, until each of those that are left is needed.

use crate::bench::Bench;
use crate::faults::{self, Fault};
use crate::schedule::{self, Report};

/// A failure with no more faults than it needs.
#[derive(Debug)]
pub struct Failure {
    pub seed: u64,
    /// The faults without which it does not fail.
    pub faults: Vec<Fault>,
    /// The run with those faults, with its trace.
    pub report: Report,
}

/// Drops fault after fault for as long as the seed still fails.
///
/// # Errors
/// The bench does not work.
pub fn minimise(bench: &Bench, seed: u64) -> anyhow::Result<Failure> {
    let mut needed = faults::draw(seed);
    let mut at = 0;
    while at < needed.len() {
        let mut fewer = needed.clone();
        fewer.remove(at);
        if schedule::run(bench, seed, fewer.clone(), false)?.violations.is_empty() {
            at += 1;
        } else {
            needed = fewer;
        }
    }
    let report = schedule::run(bench, seed, needed.clone(), true)?;
    Ok(Failure { seed, faults: needed, report })
}
