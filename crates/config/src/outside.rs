//! Converts the configuration to the adapters' settings: rails, rate sources, sanctions lists.

use std::path::PathBuf;
use std::time::Duration;

use adapters::rails::{DirectoryConfig, HttpsConfig};
use adapters::rates::{JsonShape, RateSource as AdapterSource};
use adapters::screening::{ListSettings, ListSource, Location};
use domain::country::Country;
use domain::currency::Currency;
use domain::rail::RailId;
use secrecy::SecretString;

use super::sections::{Config, ListEntry, RailEntry, RateEntry, Transport};
use super::validate::is_address;

/// Connection to a configured rail.
#[derive(Clone, Debug)]
pub enum RailSetup {
    Simulated(RailId),
    /// ISO 20022 messages over HTTPS.
    Https(HttpsConfig),
    /// ISO 20022 files in a shared directory.
    Directory(DirectoryConfig),
}

impl Config {
    /// Connections to the enabled rails, in configuration order.
    pub fn rail_setups(&self) -> Vec<RailSetup> {
        self.rails.iter().filter(|rail| rail.enabled).map(|rail| self.rail_setup(rail)).collect()
    }

    /// The sources of live rates, in order of preference.
    pub fn rate_sources(&self) -> Vec<AdapterSource> {
        self.rates.sources.iter().map(RateEntry::source).collect()
    }

    pub fn list_sources(&self) -> Vec<ListSource> {
        self.screening.lists.iter().map(ListEntry::source).collect()
    }

    /// Settings for loading the sanctions lists; the caller stores copies if it has a store.
    pub fn list_settings(&self) -> ListSettings {
        let usual = ListSettings::default();
        match self.screening.user_agent.as_str() {
            "" => usual,
            own => ListSettings { user_agent: own.to_owned(), ..usual },
        }
    }

    /// Whether rates, sanctions lists or an identity provider use an https address.
    pub fn fetches_over_tls(&self) -> bool {
        let rates = self.rates.sources.iter().map(|source| &source.location);
        let lists = self.screening.lists.iter().flat_map(|list| &list.locations);
        let analysis = std::iter::once(&self.screening.chain_analysis.url);
        let provider = std::iter::once(&self.console.oidc.issuer);
        rates
            .chain(lists)
            .chain(analysis)
            .chain(provider)
            .any(|location| location.starts_with("https://"))
    }

    /// The destinations that an exchange may pay out to; unknown currencies are left out.
    pub fn exchange_to(&self) -> Vec<Country> {
        let codes = self.wallets.exchange_to.iter();
        codes.filter_map(|code| Country::paid_in(Currency::parse(code)?)).collect()
    }

    /// Path of the bank directory; `None` means the shipped sample.
    pub fn bank_directory(&self) -> Option<PathBuf> {
        let path = &self.banks.directory;
        (!path.as_os_str().is_empty()).then(|| path.clone())
    }
}

impl Config {
    fn rail_setup(&self, entry: &RailEntry) -> RailSetup {
        let (rail, ours) = (RailId::new(&entry.id), self.our_side(entry));
        let report_wait = Duration::from_secs(entry.report_wait_s);
        match entry.transport {
            Transport::Simulated => RailSetup::Simulated(rail),
            Transport::Https => RailSetup::Https(HttpsConfig {
                rail,
                url: entry.url.clone(),
                bearer: (!entry.token.is_empty()).then(|| SecretString::from(entry.token.expose())),
                ours,
                connect_timeout: Duration::from_millis(entry.connect_timeout_ms),
                request_timeout: Duration::from_millis(entry.request_timeout_ms),
                report_wait,
            }),
            Transport::Directory => RailSetup::Directory(DirectoryConfig {
                rail,
                dir: entry.directory.clone(),
                ours,
                report_files: entry.report_files.clone(),
                report_wait,
            }),
        }
    }
}

impl RateEntry {
    fn source(&self) -> AdapterSource {
        if !is_address(&self.location) {
            return AdapterSource::File(PathBuf::from(&self.location));
        }
        let usual = JsonShape::default();
        AdapterSource::Http {
            url: self.location.clone(),
            shape: JsonShape {
                base: self.base.clone().unwrap_or(usual.base),
                fixed_base: self.fixed_base.clone(),
                as_of: self.as_of.clone().unwrap_or(usual.as_of),
                rates: self.rates.clone().unwrap_or(usual.rates),
            },
        }
    }
}

impl ListEntry {
    fn source(&self) -> ListSource {
        let place = |text: &String| match is_address(text) {
            true => Location::Http(text.clone()),
            false => Location::File(PathBuf::from(text)),
        };
        ListSource { locations: self.locations.iter().map(place).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;

    #[test]
    fn rails_rates_and_lists_reach_the_adapters() {
        let overrides = [
            ("rails.pak-raast.transport", "https"),
            ("rails.pak-raast.url", "https://bank.example/iso"),
            ("rails.pak-raast.token", "secret"),
            ("rails.pak-raast.debtor_name", "Demo Bank"),
            ("rails.pak-raast.debtor_account", "1"),
            ("rails.pak-raast.debtor_agent", "DEMOAEAD"),
            ("rails.pak-rtgs.enabled", "false"),
            (
                "rates.sources",
                "[{ location = \"https://r.example\", fixed_base = \"USD\" }, { location = \"r.toml\" }]",
            ),
            ("screening.lists", "[{ locations = [\"https://l.example/sdn.csv\", \"/alt.csv\"] }]"),
        ];
        let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let config = Config::load(&Sources { overrides, ..Sources::default() }).expect("valid");
        let setups = config.rail_setups();
        assert_eq!(setups.len(), config.rails.len() - 1);
        let https: Vec<&HttpsConfig> = setups
            .iter()
            .filter_map(
                |setup| if let RailSetup::Https(https) = setup { Some(https) } else { None },
            )
            .collect();
        assert_eq!((https.len(), https[0].rail.to_string().as_str()), (1, "pak-raast"));
        assert!(https[0].bearer.is_some() && https[0].ours.profile.local_instrument.is_none());
        let shape = JsonShape { fixed_base: Some("USD".to_owned()), ..JsonShape::default() };
        let expected = [
            AdapterSource::Http { url: "https://r.example".to_owned(), shape },
            AdapterSource::File("r.toml".into()),
        ];
        assert_eq!(config.rate_sources(), expected);
        let locations = vec![
            Location::Http("https://l.example/sdn.csv".to_owned()),
            Location::File("/alt.csv".into()),
        ];
        assert_eq!(config.list_sources(), [ListSource { locations }]);
        assert_eq!(config.bank_directory(), None);
        assert!(config.fetches_over_tls());
        assert!(!Config::load(&Sources::default()).expect("valid").fetches_over_tls());
    }
}
