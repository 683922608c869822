//! Planted bugs: the campaign must find each of them, by the rule that its patch names, and the
//! seed that found it must be clean without it (docs/adr/0008-planted-bugs.md).
//!
//! No source contains a bug. `cargo xtask simulate --planted-bugs` applies the patches of
//! `planted/` to a copy of the tree and runs the simulator that is built from it.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;

use crate::bench::Bench;
use crate::campaign::{self, Plan};
use crate::faults;
use crate::schedule;
use crate::services::{About, Services};

/// One patch for each bug; its name is the file's.
const PATCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/planted");
/// Seeds of one bug at most.
const SCHEDULES_MAX: u64 = 5_000;

/// A bug, as the lines before its patch describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    pub name: String,
    /// Seeds about these can show it.
    pub services: Services,
    /// The first word of the violation that it must cause: an invariant, or the party whose own
    /// books differ.
    rule: String,
}

impl Bug {
    fn read(name: &str, patch: &str) -> anyhow::Result<Bug> {
        let lines = || patch.lines().take_while(|line| !line.starts_with("--- "));
        let value = |key: &str| {
            let found = lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            found.with_context(|| format!("has no line `{key}`"))
        };
        ensure!(lines().next().is_some_and(|what| what.ends_with('.')), "does not say what it is");
        let services = match value("Service:")? {
            "payments" => Services { payments: true, wallets: false },
            "wallets" => Services { payments: false, wallets: true },
            other => bail!("is about `{other}`, neither payments nor wallets"),
        };
        Ok(Bug { name: name.to_owned(), services, rule: value("Rule:")?.to_owned() })
    }

    /// Whether a violation is by the rule that this bug must break.
    pub fn explains(&self, violation: &str) -> bool {
        let rest = violation.strip_prefix(&self.rule);
        rest.is_some_and(|rest| rest.starts_with([':', ' ']))
    }
}

/// The bugs that have patches, by name.
///
/// # Errors
/// A patch cannot be read, or its first lines do not describe its bug.
pub fn bugs() -> anyhow::Result<Vec<Bug>> {
    let mut bugs = Vec::new();
    for entry in fs::read_dir(PATCHES).context(PATCHES)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let bug =
            fs::read_to_string(&path).map_err(Into::into).and_then(|it| Bug::read(&name, &it));
        bugs.push(bug.with_context(|| path.display().to_string())?);
    }
    bugs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(bugs)
}

/// Plants a bug in everything that this thread runs from now on.
///
/// # Errors
/// This simulator was built from the sources as they are.
pub fn plant(_bug: &Bug) -> anyhow::Result<()> {
    bail!("no bug was patched into this simulator: run `cargo xtask simulate --planted-bugs`")
}

/// What came of one planted bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hunt {
    pub bug: String,
    /// Whether it was found, by its rule.
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

/// Hunts bugs, for `time` in all.
///
/// # Errors
/// The bench does not work, or no bug was patched in.
pub fn hunt_all(
    bugs: &[Bug],
    first: u64,
    time: Duration,
    threads: usize,
) -> anyhow::Result<Vec<Hunt>> {
    let begun = Instant::now();
    // Most are found at once: what they leave is there for those that hide.
    bugs.iter().map(|bug| hunt(bug, first, time.saturating_sub(begun.elapsed()), threads)).collect()
}

fn hunt(bug: &Bug, first: u64, time: Duration, threads: usize) -> anyhow::Result<Hunt> {
    let (about, schedules_max) = (About::default(), SCHEDULES_MAX);
    let findings =
        campaign::run(Plan { first, time, schedules_max, about, threads, bug: Some(bug) })?;
    let failure = findings.failures.first();
    let clean_without = match failure {
        Some((seed, _)) => {
            let bench = Bench::new()?;
            schedule::run(&bench, *seed, faults::draw(*seed), false)?.violations.is_empty()
        }
        None => false,
    };
    Ok(Hunt {
        bug: bug.name.clone(),
        found: failure.is_some(),
        seed: failure.map(|(seed, _)| *seed),
        schedules: findings.schedules,
        violation: failure.and_then(|(_, violations)| violations.first().cloned()),
        clean_without,
        crashes: findings.crashes,
        simulated_days: findings.simulated_days,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_describes_its_bug() {
        let bugs = bugs().expect("patches with descriptions");
        assert!(bugs.iter().any(|bug| bug.services.payments), "{bugs:?}");
        assert!(bugs.iter().any(|bug| bug.services.wallets), "{bugs:?}");
    }

    #[test]
    fn a_description_is_complete() {
        let whole = "Coins vanish.\nService: wallets\nRule: I4\n\n--- a/x.rs\n+++ b/x.rs\n";
        let bug = Bug::read("coins_vanish", whole).expect("a description");
        assert!(bug.services.wallets && !bug.services.payments);
        assert!(bug.explains("I4: a coin is gone") && !bug.explains("I14: a coin is gone"));
        for line in ["Coins vanish.\n", "Service: wallets\n", "Rule: I4\n"] {
            assert!(Bug::read("coins_vanish", &whole.replace(line, "")).is_err(), "{line}");
        }
        assert!(Bug::read("coins_vanish", &whole.replace("wallets", "purses")).is_err());
    }

    #[test]
    fn what_is_built_from_the_sources_has_no_bug() {
        let bugs = bugs().expect("patches with descriptions");
        assert!(bugs.iter().all(|bug| plant(bug).is_err()));
    }
}
