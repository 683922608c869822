//! What `serve` loads at its start, loaded piece by piece and reported as findings, and read-only
//! queries of everything outside. Nothing is started, created or sent.

mod chains;
mod outside;
mod relays;
mod start;

pub(crate) use outside::backup_age;
pub use outside::disk;
pub(crate) use outside::needed_pairs;

use std::path::Path;

use config::Config;
use domain::ports::Clock as _;
use domain::time::Timestamp;
use store::Store;

use super::clock::WallClock;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Ok,
    /// It works but needs attention.
    Warning,
    /// It does not work.
    Wrong,
    /// The check could not run.
    Skipped,
}

impl Level {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Wrong => "WRONG",
            Level::Skipped => "skipped",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The name of the check.
    pub name: &'static str,
    pub level: Level,
    /// What was found, and how to fix it.
    pub detail: String,
}

impl Finding {
    pub fn new(name: &'static str, level: Level, detail: impl Into<String>) -> Finding {
        Finding { name, level, detail: detail.into() }
    }

    /// What a check found, or the error with its causes.
    pub fn of<T, E: Into<anyhow::Error>>(
        name: &'static str,
        result: Result<T, E>,
        found: impl FnOnce(T) -> String,
    ) -> Finding {
        match result {
            Ok(value) => Finding::new(name, Level::Ok, found(value)),
            Err(error) => Finding::new(name, Level::Wrong, format!("{:#}", error.into())),
        }
    }
}

/// Loads what a start loads, and with `deep` queries everything outside. Copies of lists in `store`
/// count as they do at a start.
pub async fn look(
    config: &Config,
    data_dir: &Path,
    store: Option<&Store>,
    deep: bool,
) -> Vec<Finding> {
    let start::Loaded { mut findings, rates } = start::start(config, store).await;
    findings.extend(chains::chains(config, store).await);
    findings.extend(relays::listeners(config));
    findings.extend(relays::files(config));
    findings.extend(relays::lags(config, store).await);
    if deep {
        findings.extend(relays::brokers(config).await);
        findings.extend(rates.into_iter().flat_map(|book| outside::rate_pairs(config, &book)));
        findings.extend(outside::outside(config, data_dir, store).await);
    }
    findings
}

/// Rates and lists are dated by the wall clock.
fn now() -> Timestamp {
    WallClock.now()
}

#[cfg(test)]
pub(crate) mod tests {
    use config::{Config, Sources};

    /// The defaults with these keys. Installs the TLS provider that every client needs.
    pub fn config(overrides: &[(&str, &str)]) -> Config {
        // Another test may have installed it before.
        drop(rustls::crypto::ring::default_provider().install_default());
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let overrides = overrides.iter().map(own).collect();
        Config::load(&Sources { overrides, ..Sources::default() }).expect("valid")
    }
}
