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
    let mut reasons = Vec::new();
    let mut refuse = |holds: bool, reason: String| {
        if holds {
            reasons.push(reason);
        }
    };
    for rail in config.rails.iter().filter(|rail| rail.enabled) {
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
        let table = config.outbound_table(&rail.outbound);
        let is_known =
            !rail.token.is_empty() || table.is_some_and(|(_, table)| table.authenticates());
        refuse(
            rail.transport == Transport::Https && !is_known,
            format!(
                "rails.{id}.token: is missing, and rails.{id}.outbound has neither authentication nor certificate: \
                 the bank has to authenticate this installation"
            ),
        );
    }
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

fn is_unspecified(address: IpAddr) -> bool {
    address.is_unspecified()
}
