//! Validation of configuration values: bounds, formats, and the requirements of rails and rate
//! sources. All faults are reported at once.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use adapters::outbound::is_on_this_machine;
use adapters::rails::RECALL_MESSAGES;
use adapters::rails::connector::callback_secrets;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::country::Country;
use domain::rail_text::CharacterSet;
use http_api::auth::Network;
use http_api::proxies::ProxyHeader;

use super::corridors::CONNECTOR_RECALL;
use super::secret::{PARAMETERS, Secret, is_clear, masked_url};
use super::sections::{Config, RailEntry, RateSource, Transport, VerifyAccount};
use super::{audit, chain, keys, outbound, provider, relays, telemetry};

pub(super) struct ConfigFault {
    /// The dotted key of the value.
    pub key: String,
    /// Description of valid values.
    pub rule: String,
}

/// Collects the faults of all sections.
#[derive(Default)]
pub(super) struct Faults(pub Vec<ConfigFault>);

impl Faults {
    pub fn add(&mut self, key: impl Into<String>, rule: impl Into<String>) {
        self.0.push(ConfigFault { key: key.into(), rule: rule.into() });
    }

    /// The same, unless the key already has this fault.
    pub fn add_once(&mut self, key: String, rule: &str) {
        if !self.0.iter().any(|fault| fault.key == key && fault.rule == rule) {
            self.add(key, rule);
        }
    }

    pub fn within<T: TryInto<u64>>(
        &mut self,
        key: impl Into<String>,
        value: T,
        min: u64,
        max: u64,
    ) {
        if !value.try_into().is_ok_and(|value| (min..=max).contains(&value)) {
            self.add(key, format!("must be {min} to {max}"));
        }
    }

    pub fn check(&mut self, key: impl Into<String>, holds: bool, rule: &str) {
        if !holds {
            self.add(key, rule);
        }
    }
}

/// All faults of `config`.
pub(super) fn faults(config: &Config) -> Vec<ConfigFault> {
    let mut faults = Faults::default();
    http_and_store(config, &mut faults);
    security_and_payments(config, &mut faults);
    audit::faults(config, &mut faults);
    rates_and_screening(config, &mut faults);
    engine_and_limits(config, &mut faults);
    chain::faults(config, &mut faults);
    provider::faults(config, &mut faults);
    relays::faults(config, &mut faults);
    corridors(config, &mut faults);
    rails(config, &mut faults);
    outbound::faults(config, &mut faults);
    telemetry::faults(config, &mut faults);
    if faults.0.is_empty()
        && let Err(conversion) = config.corridor_policy()
    {
        faults.0.extend(conversion);
    }
    faults.0
}

/// Whether one machine cannot listen on both.
pub fn clash(one: SocketAddr, other: SocketAddr) -> bool {
    // `[::]` takes the addresses of both families.
    let takes = |one: SocketAddr, other: SocketAddr| {
        one.ip().is_unspecified() && (one.is_ipv6() || other.is_ipv4())
    };
    let is_same_ip = one.ip() == other.ip() || takes(one, other) || takes(other, one);
    one.port() == other.port() && one.port() != 0 && is_same_ip
}

fn http_and_store(config: &Config, faults: &mut Faults) {
    let http = &config.http;
    faults.within("http.header_timeout_s", http.header_timeout_s, 1, 300);
    faults.within("http.idle_timeout_s", http.idle_timeout_s, 1, 3_600);
    faults.within("http.body_timeout_s", http.body_timeout_s, 1, 300);
    faults.within("http.max_body_bytes", http.max_body_bytes, 1_024, 1_048_576);
    faults.within("http.max_connections", http.max_connections, 1, 1_000_000);
    faults.within(
        "http.max_connections_per_address",
        http.max_connections_per_address,
        1,
        1_000_000,
    );
    faults.check(
        "http.ops_listen",
        http.ops_listen.is_empty() || config.ops_listen().is_some_and(|it| !clash(it, http.listen)),
        "must be an address with a port other than http.listen, or \"\"",
    );
    faults.within("http.drain_timeout_s", http.drain_timeout_s, 0, 600);
    faults.within("http.heartbeat_s", http.heartbeat_s, 1, 15);
    let networks = http.trusted_proxies.iter().all(|network| network.parse::<Network>().is_ok());
    faults.check(
        "http.trusted_proxies",
        networks,
        "must be addresses or ranges such as \"10.0.0.0/8\"",
    );
    let known = ProxyHeader::ALL.iter().any(|header| header.name() == http.proxy_header);
    faults.check("http.proxy_header", known, "must be \"x-forwarded-for\" or \"forwarded\"");
    let url = &http.public_url;
    faults.check("http.public_url", url.is_empty() || is_origin(url), ORIGIN_RULE);
    store_url(config, faults);
    faults.within("store.writers", config.store.writers, 1, 256);
    faults.within("store.readers", config.store.readers, 1, 256);
    faults.within("store.statement_timeout_s", config.store.statement_timeout_s, 1, 300);
}

/// No rule repeats a part of the address: it may be one of the password.
fn store_url(config: &Config, faults: &mut Faults) {
    let store = config.store.url.expose();
    let is_file = store.strip_prefix("sqlite:").is_some_and(|path| !path.is_empty());
    let is_server = store.starts_with("postgres://") || store.starts_with("postgresql://");
    if is_file {
        return;
    }
    if !is_server {
        faults.add("store.url", "must be \"sqlite:PATH\" or \"postgres://…\"");
        return;
    }
    faults.check("store.url", has_valid_ports(store), "must name ports of 1 to 65535");
    faults.check(
        "store.url",
        is_clear(store),
        &format!("has an unclear end of the password: {ENCODE}"),
    );
    let query = store.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('&').filter(|pair| !pair.is_empty());
    let parameters: Vec<_> = parameters.map(|pair| pair.split_once('=')).collect();
    let is_known = |pair: &Option<(&str, _)>| pair.is_some_and(|(it, _)| PARAMETERS.contains(&it));
    let rule = format!(
        "has a parameter that is none of {}: correct it; if it is a part of the password, {ENCODE}",
        PARAMETERS.join(", ")
    );
    faults.check("store.url", parameters.iter().all(is_known), &rule);
    let mut modes = parameters.iter().flatten().filter(|(name, _)| *name == "sslmode");
    let rule = format!("sslmode must be one of {}", SSL_MODES.join(", "));
    faults.check("store.url", modes.all(|(_, mode)| SSL_MODES.contains(mode)), &rule);
}

fn key_by_kms(config: &Config, faults: &mut Faults) {
    let encrypted = &config.security.key_encryption_key_by_kms;
    if encrypted.is_empty() {
        return;
    }
    let readable = STANDARD.decode(encrypted).is_ok_and(|bytes| !bytes.is_empty());
    faults.check("security.key_encryption_key_by_kms", readable, "must be base64");
    let alone = config.security.key_encryption_key.is_empty();
    faults.check(
        "security.key_encryption_key_by_kms",
        alone,
        "must be set without security.key_encryption_key",
    );
    if config.chain.keys.source != chain::KeySource::AwsKms {
        chain::kms(&config.chain.keys, faults);
    }
}

fn security_and_payments(config: &Config, faults: &mut Faults) {
    let security = &config.security;
    if !security.key_encryption_key.is_empty()
        && keys::decode(security.key_encryption_key.expose()).is_none()
    {
        faults.add("security.key_encryption_key", "must be 32 bytes in base64");
    }
    key_by_kms(config, faults);
    let older = security.previous_key_encryption_keys.expose();
    let readable = older.split_whitespace().all(|key| keys::decode(key).is_some());
    faults.check(
        "security.previous_key_encryption_keys",
        readable,
        "must be keys of 32 bytes in base64 separated by spaces",
    );
    faults.within("security.token_max_age_s", security.token_max_age_s, 30, 3_600);
    let payments = &config.payments;
    let blank = payments.sender_relations.iter().any(|relation| relation.trim().is_empty());
    let usable = !payments.sender_relations.is_empty() && !blank;
    faults.check(
        "payments.sender_relations",
        usable,
        "must contain at least one relation, none of them blank",
    );
    faults.within("payments.submit_deadline_s", payments.submit_deadline_s, 60, 86_400);
    faults.within("payments.return_window_days", payments.return_window_days, 1, 400);
    faults.within("payments.recall_answer_days", payments.recall_answer_days, 1, 400);
    faults.within("payments.recall_money_days", payments.recall_money_days, 1, 400);
    faults.within("payments.statement_grace_s", payments.statement_grace_s, 0, 2_592_000);
}

fn rates_and_screening(config: &Config, faults: &mut Faults) {
    let rates = &config.rates;
    faults.within("rates.refresh_s", rates.refresh_s, 1, 3_600);
    faults.within("rates.max_move_bps", rates.max_move_bps, 1, 10_000);
    faults.within("rates.max_depeg_bps", rates.max_depeg_bps, 1, 10_000);
    faults.within("rates.max_difference_bps", rates.max_difference_bps, 1, 10_000);
    let live = rates.source == RateSource::Live;
    faults.check(
        "rates.sources",
        !live || !rates.sources.is_empty(),
        "must contain a source while source is \"live\"",
    );
    super::rates::faults(rates, faults);
    let screening = &config.screening;
    faults.within("screening.refresh_s", screening.refresh_s, 60, 43_200);
    let is_header = screening.user_agent.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    faults.check("screening.user_agent", is_header, "must be printable ASCII");
    for list in &screening.lists {
        faults.check("screening.lists", !list.locations.is_empty(), "every list needs a location");
        list.locations.iter().for_each(|place| location("screening.lists", place, faults));
    }
    let analysis = &screening.chain_analysis;
    if !analysis.url.is_empty() {
        faults.check(
            "screening.chain_analysis.url",
            is_address(&analysis.url),
            "must be an https address",
        );
        location("screening.chain_analysis.url", &analysis.url, faults);
    }
    // A round of jobs has to end before its leases expire.
    faults.within("screening.chain_analysis.timeout_ms", analysis.timeout_ms, 100, 5_000);
    faults.within("screening.chain_analysis.review_after_s", analysis.review_after_s, 0, 86_400);
    faults.within("screening.chain_analysis.review_hops", analysis.review_hops, 1, 50);
}

/// Checks a path, or a URL: https, or plain http on this host.
pub(super) fn location(key: &str, text: &str, faults: &mut Faults) {
    faults.check(key, !text.trim().is_empty(), "a location must not be blank");
    let is_safe = !text.starts_with("http://") || is_on_this_machine(text);
    faults.check(key, is_safe, &format!("{:?} must be https", masked_url(text)));
}

/// Whether a location is a URL rather than a path.
pub(super) fn is_address(location: &str) -> bool {
    location.starts_with("https://") || location.starts_with("http://")
}

fn engine_and_limits(config: &Config, faults: &mut Faults) {
    let engine = &config.engine;
    faults.within("engine.batch_max", engine.batch_max, 1, 1_000);
    faults.within("engine.queue_max", engine.queue_max, 1, 1_000_000);
    faults.within("engine.batches_in_flight", engine.batches_in_flight, 1, 16);
    faults.within("engine.background_max", engine.background_max, 1, 1_000);
    faults.within("engine.background_lag_max_s", engine.background_lag_max_s, 0, 3_600);
    faults.within("engine.lease_max", engine.lease_max, 1, 1_000);
    faults.within("engine.calls_in_flight", engine.calls_in_flight, 1, 10_000);
    faults.within("engine.lease_s", engine.lease_s, 5, 3_600);
    faults.within("engine.poll_interval_ms", engine.poll_interval_ms, 10, 60_000);
    faults.within("engine.relay_lag_max_s", engine.relay_lag_max_s, 10, 604_800);
    let limits = &config.limits;
    for (name, steady, burst) in [
        ("quote", limits.quote_per_s, limits.quote_burst),
        ("payment", limits.payment_per_s, limits.payment_burst),
        ("get", limits.get_per_s, limits.get_burst),
        ("list", limits.list_per_s, limits.list_burst),
        ("account_check", limits.account_check_per_s, limits.account_check_burst),
    ] {
        faults.within(format!("limits.{name}_per_s"), steady, 1, 1_000_000);
        let least = u64::from(steady.min(1_000_000));
        faults.within(format!("limits.{name}_burst"), burst, least, 1_000_000);
    }
    let console = &config.console.public_url;
    let usable = console.is_empty() || is_origin(console);
    faults.check("console.public_url", usable, ORIGIN_RULE);
    faults.within("console.idle_minutes", config.console.idle_minutes, 5, 60);
    faults.within("console.session_hours", config.console.session_hours, 1, 24);
    faults.within("console.sign_ins_per_minute", config.console.sign_ins_per_minute, 1, 10_000);
    faults.within("limits.streams_per_key", limits.streams_per_key, 1, 1_000);
}

fn corridors(config: &Config, faults: &mut Faults) {
    for (code, corridor) in &config.corridors {
        let key = |name: &str| format!("corridors.{code}.{name}");
        // Reading sets unknown countries aside.
        let Some(country) = Country::parse(code) else { continue };
        faults.within(key("quote_ttl_s"), corridor.quote_ttl_s, 30, 1_800);
        faults.within(key("max_rate_age_s"), corridor.max_rate_age_s, 1, 86_400);
        faults.within(key("weekend_margin_bps"), corridor.weekend_margin_bps, 0, 5_000);
        let minor = corridor.step.0.to_minor(country.currency().minor_units());
        let rule = format!("must be a positive amount that {} can pay", country.currency().code());
        faults.check(key("step"), minor.is_some_and(|minor| minor > 0), &rule);
        let purpose = &corridor.purpose;
        let code_form = (1..=4).contains(&purpose.len())
            && purpose.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        faults.check(
            key("purpose"),
            code_form,
            "must be an ISO 20022 code of 1 to 4 capitals and digits",
        );
        let source = corridor.source_of_funds.trim();
        let sayable = source.len() <= 35 && CharacterSet::SwiftX.spell(source, 35) == source;
        faults.check(
            key("source_of_funds"),
            sayable,
            "must be at most 35 letters, digits, spaces and /-?:().,'+",
        );
    }
}

fn rails(config: &Config, faults: &mut Faults) {
    for wanted in &config.rails_enabled {
        if !config.rails.iter().any(|rail| rail.id == *wanted) {
            let known: Vec<&str> = config.rails.iter().map(|rail| rail.id.as_str()).collect();
            let rule = format!("{wanted:?} is not one of the rails {}", known.join(", "));
            faults.add("rails_enabled", rule);
        }
    }
    let mut ids = BTreeSet::new();
    for rail in &config.rails {
        let key = |name: &str| format!("rails.{}.{name}", rail.id);
        let form = !rail.id.is_empty()
            && rail.id.len() <= 64
            && rail.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        faults.check(key("id"), form, "must be 1 to 64 lower-case letters, digits and hyphens");
        faults.check(key("id"), ids.insert(&rail.id), "is not unique");
        faults.within(key("max_batch"), rail.max_batch, 1, 10_000);
        faults.within(key("window_s"), rail.window_s.unwrap_or(1), 1, 2_592_000);
        faults.within(key("connect_timeout_ms"), rail.connect_timeout_ms, 100, 60_000);
        faults.within(key("request_timeout_ms"), rail.request_timeout_ms, 100, 120_000);
        faults.within(key("report_wait_s"), rail.report_wait_s, 0, 60);
        if rail.report_files.iter().any(|pattern| pattern.trim().is_empty()) {
            faults.add(key("report_files"), "must not contain an empty pattern");
        }
        let duplicates = |code: &&String| {
            domain::rail::is_duplicate(code, None) || rail.duplicate_reasons.contains(*code)
        };
        if let Some(code) = rail.retryable_reasons.iter().find(duplicates) {
            let rule = format!(
                "{code} proves that the bank has the instruction: another rail must not be tried"
            );
            faults.add(key("retryable_reasons"), &rule);
        }
        faults.check(
            key("source"),
            !rail.source.trim().is_empty(),
            "must state where the limits come from",
        );
        let dated = rail.as_of.parse::<jiff::civil::Date>().is_ok();
        faults.check(key("as_of"), dated, "must be a date such as \"2026-11-01\"");
        let recalls = rail.recalls.as_deref().filter(|format| !format.is_empty());
        let messages: &[&str] = match rail.transport {
            Transport::Connector => &[CONNECTOR_RECALL],
            _ => &RECALL_MESSAGES,
        };
        let known = recalls.is_none_or(|format| messages.contains(&format));
        let rule = format!("must be empty or one of {}", messages.join(", "));
        faults.check(key("recalls"), known, &rule);
        transport(rail, faults);
        account_checks(rail, faults);
        let profile = config.read_side(rail, faults).profile;
        super::files::faults(rail, profile.file_name.has_sequence(), faults);
    }
    super::files::shared(config, faults);
    distinct_callback_secrets(config, faults);
}

fn transport(rail: &RailEntry, faults: &mut Faults) {
    let key = |name: &str| format!("rails.{}.{name}", rail.id);
    match rail.transport {
        Transport::Simulated => return,
        Transport::Https => faults.check(
            key("url"),
            is_http_url(&rail.url),
            "must be a URL while transport is \"https\"",
        ),
        Transport::Directory => {
            let given = !rail.directory.as_os_str().is_empty();
            faults.check(
                key("directory"),
                given,
                "must be a path while transport is \"directory\"",
            );
        }
        Transport::Sftp => {}
        Transport::Connector => return connector(rail, faults),
    }
    for (name, text) in [
        ("debtor_name", &rail.debtor_name),
        ("debtor_account", &rail.debtor_account),
        ("debtor_agent", &rail.debtor_agent),
    ] {
        faults.check(
            key(name),
            !text.trim().is_empty(),
            "is required: the bank has to know the payer",
        );
    }
}

/// Only these transports can ask a bank about an account.
fn account_checks(rail: &RailEntry, faults: &mut Faults) {
    let asks = !matches!(rail.verify_account, None | Some(VerifyAccount::Off));
    faults.check(
        format!("rails.{}.verify_account", rail.id),
        !asks || matches!(rail.transport, Transport::Simulated | Transport::Connector),
        "must be \"off\" unless transport is \"connector\" or \"simulated\"",
    );
}

fn connector(rail: &RailEntry, faults: &mut Faults) {
    let key = |name: &str| format!("rails.{}.{name}", rail.id);
    faults.check(
        key("url"),
        is_http_url(&rail.url),
        "must be a URL while transport is \"connector\"",
    );
    let secret = rail.callback_secret.expose();
    if let Err(fault) = callback_secrets(secret) {
        faults.add(key("callback_secret"), format!("must be secrets separated by spaces: {fault}"));
    }
    faults.check(
        key("callback_secret"),
        !rail.callback_secret.is_empty() || rail.poll_reports,
        "is required unless poll_reports is true: a return of the bank would not be noticed",
    );
}

/// A rail without callbacks has no secret for them, and no two rails share one: a connector's callback
/// must not be another's.
fn distinct_callback_secrets(config: &Config, faults: &mut Faults) {
    let mut seen = Vec::new();
    for rail in config.rails.iter().filter(|rail| !rail.callback_secret.is_empty()) {
        let key = format!("rails.{}.callback_secret", rail.id);
        faults.check(
            &key,
            rail.transport == Transport::Connector,
            "has no effect unless transport is \"connector\"",
        );
        let secrets = callback_secrets(rail.callback_secret.expose()).unwrap_or_default();
        let is_repeated =
            secrets.iter().any(|secret| seen.iter().any(|other| secret.signs_like(other)));
        faults.check(&key, !is_repeated, "is also another rail's: each rail has its own");
        seen.extend(secrets);
    }
}

/// Whether a URL is usable as it is written: parsing alone drops blanks, and reads `\` as `/`.
pub(super) fn is_http_url(text: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '\\';
    text.chars().all(is_plain)
        && text.contains("://")
        && reqwest::Url::parse(text).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.port() != Some(0)
        })
}

/// TLS to PostgreSQL, as the store takes it.
const SSL_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const ENCODE: &str = "in a user and a password write % as %25, @ as %40, ? as %3F, / as %2F, : as %3A, # as %23 and & as %26";
const ORIGIN_RULE: &str =
    "must be an http or https URL of a host alone, without user, path, query and fragment, or \"\"";

/// Whether a URL names a host alone: every path below it is the service's own.
fn is_origin(text: &str) -> bool {
    is_http_url(text)
        && !text.contains(['@', '?', '#'])
        && reqwest::Url::parse(text).is_ok_and(|url| url.path() == "/")
}

/// Whether the ports of the servers in a PostgreSQL URL are ports.
fn has_valid_ports(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, servers)| servers);
    let servers = rest.split(['/', '?']).next().unwrap_or_default();
    servers.split(',').all(|server| {
        let after_host = server.rsplit_once(']').map_or(server, |(_, port)| port);
        let port = after_host.rsplit_once(':').map(|(_, port)| port);
        // An empty one is the usual one.
        let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok_and(|it| it > 0);
        port.is_none_or(is_port)
    })
}

/// Whether a key-encryption key is trivially weak: fewer than eight different bytes.
pub(super) fn is_weak_key(key: &Secret) -> bool {
    keys::decode(key.expose()).is_none_or(|bytes| bytes.iter().collect::<BTreeSet<_>>().len() < 8)
}
