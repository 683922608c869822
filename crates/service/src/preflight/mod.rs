//! What `serve` loads at its start, loaded piece by piece and reported as findings, and read-only
//! queries of everything outside. Nothing is started, created or sent; a probe value is written to
//! the database.

mod chains;
mod outside;
mod relays;
mod start;

pub(crate) use outside::backup_age;
pub use outside::disk;
pub(crate) use outside::needed_pairs;
pub(crate) use start::{can_write, usable_directory};

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
    findings.extend(written(store).await);
    findings.extend(checkpoints(config, data_dir));
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

/// Why nothing can be written to a database that can be read: a standby, or a read-only one.
async fn written(store: Option<&Store>) -> Option<Finding> {
    let fault = store?.check_write().await.err()?;
    Some(Finding::new("database", Level::Wrong, fault.to_string()))
}

/// Whether the signed ends of the audit log can be written, and outside the data directory if
/// configured so.
fn checkpoints(config: &Config, data_dir: &Path) -> Vec<Finding> {
    const NAME: &str = "audit checkpoints";
    let dir = config.audit.directory(data_dir);
    let is_own = !config.audit.checkpoint_dir.as_os_str().is_empty();
    let finding = match crate::audit::unwritable(config, data_dir) {
        Some(fault) => Finding::new(NAME, Level::Wrong, fault),
        // The data directory is checked as such.
        None if !is_own => return Vec::new(),
        None if !dir.exists() => Finding::new(
            NAME,
            Level::Warning,
            format!(
                "audit.checkpoint_dir: {} does not exist, the first signature creates it: mount it if it is elsewhere",
                dir.display()
            ),
        ),
        None => Finding::new(NAME, Level::Ok, format!("{} can be written", dir.display())),
    };
    vec![finding]
}

/// Rates and lists are dated by the wall clock.
fn now() -> Timestamp {
    WallClock.now()
}

#[cfg(test)]
pub(crate) mod tests {
    use config::{Config, Sources};

    use super::*;

    #[test]
    fn a_place_of_checkpoints_that_cannot_be_written_is_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(at("file"), "").expect("written");
        std::fs::create_dir_all(at("there")).expect("created");
        let data = dir.path().join("data");
        let of = |given: &str| {
            let found = checkpoints(&config(&[("audit.checkpoint_dir", given)]), &data);
            found.into_iter().map(|it| (it.level, it.detail)).next()
        };
        assert_eq!(of(""), None, "in the data directory");
        for (given, level, words) in [
            (at("there"), Level::Ok, "there can be written"),
            (at("missing"), Level::Warning, "missing does not exist"),
            (at("file"), Level::Wrong, "file is not a directory"),
            (
                at("file/below"),
                Level::Wrong,
                "audit.checkpoint_dir: checkpoints cannot be read and",
            ),
        ] {
            let (found, detail) = of(&given).expect(&given);
            assert_eq!(found, level, "{given}: {detail}");
            assert!(detail.contains(words), "{given}: {detail}");
        }
    }

    /// The defaults with these keys. Installs the TLS provider that every client needs.
    pub fn config(overrides: &[(&str, &str)]) -> Config {
        // Another test may have installed it before.
        drop(rustls::crypto::ring::default_provider().install_default());
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let overrides = overrides.iter().map(own).collect();
        Config::load(&Sources { overrides, ..Sources::default() }).expect("valid")
    }
}
