//! The configuration of an installation: read in layers, validated as a whole, converted for the
//! other crates.
//!
//! Every fault names its key and the origin of the value. Nothing here opens a store, a socket or a
//! list.

mod audit;
mod chain;
mod corridors;
mod files;
mod keys;
mod layers;
mod outbound;
mod outside;
mod own_accounts;
mod presets;
mod print;
mod production;
mod profiles;
mod provider;
mod rates;
mod read;
mod reading;
mod relays;
mod rooms;
mod secret;
mod sections;
mod telemetry;
mod validate;
mod variables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use domain::policy::Environment;

use reading::Reading;

pub use audit::Audit;
pub use chain::{
    Chain, KeySource, Keys, OfChain, TenantEntry, Wallets, Webhooks, names_an_account,
};
pub use files::{AcknowledgementEntry, PgpEntry, ProtectionKind, SftpEntry};
pub use keys::{KEK_BYTES, KeyError, create_key_file, kek_path, key_encryption_key, previous_keys};
pub use layers::{Merged, Origin, REFERENCE, Sources, secret_files};
pub use outbound::Outbound;
pub use outside::RailSetup;
pub use own_accounts::mistyped_iban;
pub use presets::{PRESETS, known_block_time_ms, preset_names};
pub use print::{masked_table, print};
pub use production::refuse_in_production;
pub use profiles::{AddressEntry, AddressKind, Booking, Letters, ProfileEntry};
pub use provider::Oidc;
pub use relays::RelayEntry;
pub use secret::{SECRET_KEYS, Secret};
pub use sections::{
    Banks, Config, Corridor, Engine, HoursEntry, Http, Kind, Limits, ListEntry, LogFormat, Need,
    Payments, RailEntry, RateEntry, RateSource, Rates, Screening, Security, Store, Telemetry,
    Transport,
};
pub use telemetry::{FILTER_RULE, is_log_filter};
pub use validate::clash;
pub use variables::is_known as is_known_variable;

/// Maximum lifetime of a payment token outside production, in seconds (`decisions.md`, "JWT").
const TEST_TOKEN_MAX_AGE_S: u32 = 3_600;

/// The faults of a configuration: one line each, naming the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("configuration: {}", .0.join("\nconfiguration: "))]
pub struct ConfigError(pub Vec<String>);

impl ConfigError {
    fn one(fault: impl Into<String>) -> ConfigError {
        ConfigError(vec![fault.into()])
    }
}

/// Location of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// Path of an SQLite database file.
    Sqlite(PathBuf),
    /// URL of a PostgreSQL database. Contains a password: never log it.
    Postgres(String),
}

impl Config {
    /// Reads and validates all layers.
    pub fn load(sources: &Sources) -> Result<Config, ConfigError> {
        Config::from_merged(&Merged::read(sources)?)
    }

    /// Converts and validates merged layers.
    pub fn from_merged(merged: &Merged) -> Result<Config, ConfigError> {
        let mut reading = Reading::of(merged);
        let mut all = [&merged.faults[..], &reading.faults].concat();
        if let Some(mut config) = reading.config.take() {
            if !config.rails_enabled.is_empty() {
                let wanted = &config.rails_enabled;
                config.rails.iter_mut().for_each(|rail| rail.enabled &= wanted.contains(&rail.id));
            }
            config.plain_text_secrets = print::secrets(&merged.table)
                .into_iter()
                .filter(|path| matches!(merged.origin(path), Some(Origin::File(_))))
                .collect();
            let faults = validate::faults(&config);
            let faults = faults.into_iter().filter(|it| !reading.is_consequence(&it.key));
            all.extend(faults.map(|fault| merged.locate(&fault.key, &fault.rule)));
            if all.is_empty() {
                return Ok(config);
            }
        }
        Err(ConfigError(all))
    }

    /// The API URL required in tokens, without a trailing slash.
    pub fn public_url(&self) -> String {
        let given = self.http.public_url.trim_end_matches('/');
        if given.is_empty() { format!("http://{}", self.http.listen) } else { given.to_owned() }
    }

    /// The URL of the console's host, without a trailing slash; `public_url` is that of the API.
    pub fn console_url<'a>(&'a self, public_url: &'a str) -> &'a str {
        let own = self.console.public_url.trim_end_matches('/');
        if own.is_empty() { public_url } else { own }
    }

    /// Maximum lifetime of a payment token, in seconds.
    pub fn token_max_age_s(&self) -> u32 {
        match self.environment {
            Environment::Production => self.security.token_max_age_s,
            Environment::Test | Environment::Mock => TEST_TOKEN_MAX_AGE_S,
        }
    }

    /// Whether the payment API's rate limits apply.
    pub fn limits_on(&self) -> bool {
        self.limits.enabled && self.environment != Environment::Mock
    }

    /// The open corridors with an enabled rail, as alpha-3 codes.
    pub fn served_corridors(&self) -> Vec<&str> {
        self.open_corridors().filter(|code| self.has_rail(code)).collect()
    }

    /// The open corridors without an enabled rail, as alpha-3 codes: their payments are refused.
    pub fn corridors_without_rails(&self) -> Vec<&str> {
        self.open_corridors().filter(|code| !self.has_rail(code)).collect()
    }

    fn open_corridors(&self) -> impl Iterator<Item = &str> {
        self.corridors.iter().filter(|(_, corridor)| corridor.open).map(|(code, _)| code.as_str())
    }

    fn has_rail(&self, code: &str) -> bool {
        self.rails.iter().any(|rail| rail.enabled && rail.country == code)
    }

    /// Location of the data; a relative SQLite path is resolved in `data_dir`.
    pub fn store_location(&self, data_dir: &Path) -> StoreLocation {
        match self.store.url.expose().strip_prefix("sqlite:") {
            Some(path) => StoreLocation::Sqlite(data_dir.join(path)),
            None => StoreLocation::Postgres(self.store.url.expose().to_owned()),
        }
    }
}

impl Merged {
    fn locate(&self, key: &str, rule: &str) -> String {
        match self.origin(key) {
            Some(origin) => format!("{key} ({origin}): {rule}"),
            None => format!("{key}: {rule}"),
        }
    }
}
