//! Configuration that production refuses: simulators, samples and unprotected secrets
//! (`decisions.md`, "Environment").

use std::net::IpAddr;

use domain::policy::Environment;

use super::secret::has_credentials;
use super::sections::{Config, RateSource, Transport};
use super::validate::is_weak_key;

/// Reasons against running this configuration with real money: one line each, naming the key. Empty
/// outside production and for a valid configuration.
pub fn refuse_in_production(config: &Config) -> Vec<String> {
    if config.environment != Environment::Production {
        return Vec::new();
    }
    let mut reasons = rail_refusals(config);
    let mut refuse = |holds: bool, reason: String| {
        if holds {
            reasons.push(reason);
        }
    };
    refuse(
        config.rates.source != RateSource::Live,
        "rates.source: the embedded rates are not market rates: use \"live\"".to_owned(),
    );
    refuse(
        config.screening.sample_list,
        "screening.sample_list: the sample contains invented names: set false".to_owned(),
    );
    refuse(
        config.screening.lists.is_empty(),
        "screening.lists: is empty: no names would be screened".to_owned(),
    );
    let key = &config.security.key_encryption_key;
    refuse(
        key.is_empty() && config.security.key_encryption_key_by_kms.is_empty(),
        "security.key_encryption_key (or key_encryption_key_by_kms): is missing: the tenants' secrets would lie beside \
         their key"
            .to_owned(),
    );
    refuse(
        !key.is_empty() && is_weak_key(key),
        "security.key_encryption_key: is weak: use 32 random bytes".to_owned(),
    );
    for path in &config.plain_text_secrets {
        let variable = format!(
            "CORRIDOR_{}_FILE",
            path.replace('.', "__").replace('-', "_").to_ascii_uppercase()
        );
        let is_secret = match path.split('.').collect::<Vec<_>>()[..] {
            ["store", ..] => has_credentials(config.store.url.expose()),
            ["outbound", table, "proxy"] => config
                .outbound
                .get(table)
                .is_some_and(|table| has_credentials(table.proxy.expose())),
            _ => true,
        };
        refuse(
            is_secret,
            format!("{path}: is in plain text in the configuration file: use {variable}"),
        );
    }
    reasons.extend(super::chain::refusals(config));
    reasons.extend(super::provider::refusals(config));
    reasons.extend(super::relays::refusals(config));
    let mut refuse = |holds: bool, reason: String| {
        if holds {
            reasons.push(reason);
        }
    };
    let url = config.public_url();
    refuse(!url.starts_with("https://"), format!("http.public_url: must be https, is {url:?}"));
    let console = &config.console.public_url;
    refuse(
        !console.is_empty() && !console.starts_with("https://"),
        format!("console.public_url: must be https, is {console:?}"),
    );
    refuse(
        config.http.public_url.is_empty() && is_unspecified(config.http.listen.ip()),
        "http.public_url: is missing: tokens must contain the URL that clients use".to_owned(),
    );
    reasons
}

/// Refuses simulated rails, unsafe addresses, and rails that do not know this installation.
fn rail_refusals(config: &Config) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut refuse = |holds: bool, reason: String| {
        if holds {
            reasons.push(reason);
        }
    };
    for rail in config.connected_rails() {
        let id = &rail.id;
        refuse(
            rail.transport == Transport::Simulated,
            format!(
                "rails.{id}.transport: \"simulated\" makes no real payments: configure the rail or set enabled = false"
            ),
        );
        refuse(
            rail.transport == Transport::Https && !rail.url.starts_with("https://"),
            format!("rails.{id}.url: must be https"),
        );
        refuse(
            rail.transport == Transport::Connector
                && !rail.url.starts_with("https://")
                && !is_this_machine(&rail.url),
            format!("rails.{id}.url: must be https, unless the connector runs on this machine"),
        );
        let table = config.outbound_table(&rail.outbound);
        let is_known =
            !rail.token.is_empty() || table.is_some_and(|(_, table)| table.authenticates());
        refuse(
            matches!(rail.transport, Transport::Https | Transport::Connector) && !is_known,
            format!(
                "rails.{id}.token: is missing, and rails.{id}.outbound has neither authentication nor certificate: \
                 the other side has to authenticate this installation"
            ),
        );
    }
    reasons
}

fn is_this_machine(url: &str) -> bool {
    let url = reqwest::Url::parse(url).ok();
    url.is_some_and(|url| match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    })
}

fn is_unspecified(address: IpAddr) -> bool {
    address.is_unspecified()
}
