//! Plants bugs, one after the other, and looks whether the campaign finds them; and whether the seeds that found them
//! are clean without them.

use std::time::{Duration, Instant};

use engine::planted::Planted;
use serde::Serialize;

use crate::bench::Bench;
use crate::campaign::{self, Plan};
use crate::faults;
use crate::schedule;
use crate::services::About;

/// Seeds of one bug at most.
const SCHEDULES_MAX: u64 = 5_000;

/// What came of one planted bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hunt {
    pub bug: &'static str,
    /// Whether it was found.
    pub found: bool,
    /// The seed that found it.
    pub seed: Option<u64>,
    /// After how many schedules.
    pub schedules: u64,
    /// What gave it away.
    pub violation: Option<String>,
    /// Whether the same seed is clean without the bug.
    pub clean_without: bool,
    /// How often a node was killed.
    pub crashes: u64,
    /// Whole days of simulated time.
    pub simulated_days: u64,
}

/// Hunts every bug, for `time` in all.
///
/// # Errors
/// The bench does not work.
pub fn hunt_all(first: u64, time: Duration, threads: usize) -> anyhow::Result<Vec<Hunt>> {
    let begun = Instant::now();
    // Most are found at once: what they leave is there for those that hide.
    let bugs = Planted::ALL.into_iter().chain(Planted::OF_WALLETS);
    bugs.map(|bug| hunt(bug, first, time.saturating_sub(begun.elapsed()), threads)).collect()
}

/// Hunts one bug.
///
/// # Errors
/// The bench does not work.
pub fn hunt(bug: Planted, first: u64, time: Duration, threads: usize) -> anyhow::Result<Hunt> {
    let about = About::default();
    let findings =
        campaign::run(Plan { first, time, schedules_max: SCHEDULES_MAX, about, threads, bug })?;
    let failure = findings.failures.first();
    let clean_without = match failure {
        Some((seed, _)) => {
            let bench = Bench::new(Planted::Nothing)?;
            schedule::run(&bench, *seed, faults::draw(*seed), false)?.violations.is_empty()
        }
        None => false,
    };
    Ok(Hunt {
        bug: bug.name(),
        found: failure.is_some(),
        seed: failure.map(|(seed, _)| *seed),
        schedules: findings.schedules,
        violation: failure.and_then(|(_, violations)| violations.first().cloned()),
        clean_without,
        crashes: findings.crashes,
        simulated_days: findings.simulated_days,
    })
}
