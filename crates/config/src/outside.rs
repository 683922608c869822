//! Converts the configuration to the adapters' settings: rails, sanctions lists.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use adapters::outbound::Settings;
use adapters::rails::connector::ConnectorConfig;
use adapters::rails::{FilesConfig, HttpsConfig};
use adapters::screening::{self, ListSource, Location, ProviderSettings};
use adapters::webhooks;
use domain::country::Country;
use domain::currency::Currency;
use domain::rail::RailId;
use reqwest::Certificate;

use super::outbound::{bearer, usual};
use super::sections::{Config, ListEntry, RailEntry, Transport};
use super::validate::is_address;

/// Timeouts of a connection to a server of lists, and of a whole document.
const FETCH_CONNECT_MS: u64 = 10_000;
const FETCH_DOCUMENT_MS: u64 = 120_000;
/// Timeout for the answer of the collector of traces.
const OTLP_TIMEOUT_MS: u64 = 10_000;

/// Connection to a configured rail.
#[derive(Clone, Debug)]
pub enum RailSetup {
    Simulated(RailId),
    /// ISO 20022 messages over HTTPS.
    Https(Box<HttpsConfig>),
    /// ISO 20022 files in a shared directory or on the bank's SFTP server.
    Files(Box<FilesConfig>),
    /// The contract of connectors.
    Connector(Box<ConnectorConfig>),
}

impl Config {
    /// Connections to the rails, in configuration order.
    pub fn rail_setups(&self) -> Vec<RailSetup> {
        self.connected_rails().map(|rail| self.rail_setup(rail)).collect()
    }

    /// The enabled rails, and those with a connection of their own: payments that were sent over a
    /// rail before it was disabled are followed.
    pub fn connected_rails(&self) -> impl Iterator<Item = &RailEntry> {
        let is_real = |rail: &RailEntry| rail.transport != Transport::Simulated;
        self.rails.iter().filter(move |rail| rail.enabled || is_real(rail))
    }

    /// Whether any connector sends callbacks.
    pub fn takes_callbacks(&self) -> bool {
        self.connected_rails().any(|rail| !rail.callback_secret.is_empty())
    }

    pub fn list_sources(&self) -> Vec<ListSource> {
        self.screening.lists.iter().map(ListEntry::source).collect()
    }

    /// How the servers of the sanctions lists are reached: addresses with common settings.
    pub fn list_servers(&self) -> Vec<(Vec<String>, Settings)> {
        let user_agent = match self.screening.user_agent.as_str() {
            "" => screening::user_agent(),
            own => own.to_owned(),
        };
        let usual = Settings { user_agent: Some(user_agent), ..fetch_settings() };
        let locations = |list: &ListEntry| {
            let table = list.outbound.clone();
            list.locations.clone().into_iter().map(move |location| (table.clone(), location))
        };
        let all = self.screening.lists.iter().flat_map(locations);
        grouped(all, |table| Settings {
            redirects: screening::REDIRECTS_MAX,
            ..self.destination(table, usual.clone())
        })
    }

    /// The chain analysis provider; `None` if no URL is configured.
    pub fn chain_analysis(&self) -> Option<ProviderSettings> {
        let analysis = &self.screening.chain_analysis;
        let timeout_ms = analysis.timeout_ms.into();
        let authentication = bearer(&analysis.api_key);
        let usual = Settings { authentication, ..usual(timeout_ms, timeout_ms) };
        (!analysis.url.is_empty()).then(|| ProviderSettings {
            url: analysis.url.clone(),
            outbound: self.destination(&analysis.outbound, usual),
        })
    }

    /// How the collector of traces is reached.
    pub fn telemetry_outbound(&self) -> Settings {
        let usual = Settings { plain_http: true, ..usual(OTLP_TIMEOUT_MS, OTLP_TIMEOUT_MS) };
        self.destination(&self.telemetry.outbound, usual)
    }

    /// How webhook endpoints are reached, with these authorities besides those of the table.
    pub fn webhook_settings(&self, roots: Vec<Certificate>) -> webhooks::Settings {
        let direct = webhooks::Settings::direct(self.receivers(), roots);
        match self.webhooks.outbound.as_str() {
            // Not outbound.default: through a proxy, the check of addresses is weaker.
            "" => direct,
            name => {
                let outbound = self.destination(name, webhooks::Settings::usual());
                webhooks::Settings { outbound, ..direct }
            }
        }
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

fn fetch_settings() -> Settings {
    usual(FETCH_CONNECT_MS, FETCH_DOCUMENT_MS)
}

/// The addresses by their table, with its settings; files are left out.
pub(super) fn grouped(
    locations: impl Iterator<Item = (String, String)>,
    settings: impl Fn(&str) -> Settings,
) -> Vec<(Vec<String>, Settings)> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, address) in locations.filter(|(_, location)| is_address(location)) {
        groups.entry(table).or_default().push(address);
    }
    groups.into_iter().map(|(table, addresses)| (addresses, settings(&table))).collect()
}

impl Config {
    fn rail_setup(&self, entry: &RailEntry) -> RailSetup {
        let (rail, ours) = (RailId::new(&entry.id), self.our_side(entry));
        let report_wait = Duration::from_secs(entry.report_wait_s);
        match entry.transport {
            Transport::Simulated => RailSetup::Simulated(rail),
            Transport::Https => RailSetup::Https(Box::new(HttpsConfig {
                rail,
                url: entry.url.clone(),
                outbound: entry.destination(self),
                ours,
                report_wait,
            })),
            Transport::Directory => {
                RailSetup::Files(Box::new(self.files_in(entry, entry.directory.clone())))
            }
            Transport::Sftp => RailSetup::Files(Box::new(self.files_over_sftp(entry))),
            Transport::Connector => RailSetup::Connector(Box::new(ConnectorConfig {
                rail,
                url: entry.url.clone(),
                outbound: entry.destination(self),
                character_set: entry.character_set.to_domain(),
                callback_secret: entry.callback_secret.expose().to_owned().into(),
                report_wait: entry.poll_reports.then_some(report_wait),
            })),
        }
    }
}

impl RailEntry {
    /// How the rail is reached over HTTPS.
    fn destination(&self, config: &Config) -> Settings {
        let authentication = bearer(&self.token);
        config.destination(&self.outbound, Settings { authentication, ..self.timeouts() })
    }

    /// The same of a simulated rail, which has only time-outs. Production refuses plain HTTP.
    pub fn timeouts(&self) -> Settings {
        let usual = usual(self.connect_timeout_ms, self.request_timeout_ms);
        Settings { plain_http: true, ..usual }
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
    use adapters::outbound::Authentication;

    use super::*;
    use crate::Sources;

    #[test]
    fn rails_rates_and_lists_reach_the_adapters() {
        let overrides = [
            ("rails.pak-raast.enabled", "false"),
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
        // A disabled one is followed, unless it was never connected to a bank.
        assert_eq!(setups.len(), config.rails.len() - 1);
        let https: Vec<&Box<HttpsConfig>> = setups
            .iter()
            .filter_map(
                |setup| if let RailSetup::Https(https) = setup { Some(https) } else { None },
            )
            .collect();
        assert_eq!((https.len(), https[0].rail.to_string().as_str()), (1, "pak-raast"));
        let outbound = &https[0].outbound;
        assert!(matches!(outbound.authentication, Authentication::Bearer(_)));
        assert!(https[0].ours.profile.local_instrument.is_none());
        let locations = vec![
            Location::Http("https://l.example/sdn.csv".to_owned()),
            Location::File("/alt.csv".into()),
        ];
        assert_eq!(config.list_sources(), [ListSource { locations }]);
        assert_eq!(config.bank_directory(), None);
        let addresses = |servers: Vec<(Vec<String>, Settings)>| {
            servers.into_iter().flat_map(|(addresses, _)| addresses).collect::<Vec<_>>()
        };
        assert_eq!(addresses(config.rate_servers()), ["https://r.example"]);
        assert_eq!(addresses(config.list_servers()), ["https://l.example/sdn.csv"]);
    }
}
