//! The pieces that `serve` refuses to start without.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use adapters::outbound::{self, Client, Servers};
use adapters::rails::connector::ConnectorRail;
use adapters::rails::{Exchange, FilesConfig, IsoRail};
use adapters::rates::LiveRates;
use adapters::screening::{KeptCopy, KeptLists, ListBook, ListSettings, ListSource};
use domain::policy::Environment;
use domain::ports::BoxFuture;
use domain::time::{Span, Timestamp};
use http_api::auth::Network;
use store::Store;

use super::{Finding, Level, now};
use crate::environment::{self, WrongDatabase};
use crate::stored_lists::StoredLists;
use crate::{chain, chain_keys, kept_rates, world};
use config::{Config, KeySource, OfChain, RailEntry, RailSetup, RateSource};

/// A client certificate or PGP key that expires sooner is a warning.
const CERTIFICATE_MIN: Span = Span::days(14);

pub(super) struct Loaded {
    pub findings: Vec<Finding>,
    /// The rates of the configured sources, if there are any.
    pub rates: Option<LiveRates>,
}

/// Loads what a start loads, each piece by itself.
pub(super) async fn start(config: &Config, store: Option<&Store>) -> Loaded {
    let mut findings = vec![corridors(config)];
    findings.push(bank_directory(config));
    findings.extend(proxies(config));
    findings.extend(config.outbound_tables().filter_map(|table| outbound_table(&table)));
    let (of_rates, rates) = rates(config, store).await;
    findings.extend(of_rates);
    findings.extend(lists(config, store).await);
    findings.extend(config.rail_setups().into_iter().filter_map(|setup| rail(config, setup)));
    findings.extend(unaddressed(config));
    if !config.webhooks.authority_file.as_os_str().is_empty() {
        let found = |roots: Vec<reqwest::Certificate>| format!("{} authorities", roots.len());
        findings.push(Finding::of("webhook authorities", world::webhook_roots(config), found));
    }
    findings.extend(webhook_route(config));
    findings.extend(signing_keys(config, store).await);
    if let Some(store) = store {
        findings.extend(database(config, store).await);
    }
    findings.extend(database_certificate(config.store.url.expose()));
    Loaded { findings, rates }
}

fn corridors(config: &Config) -> Finding {
    const NAME: &str = "corridors";
    let (served, idle) = (config.served_corridors(), config.corridors_without_rails());
    if served.is_empty() {
        return Finding::new(NAME, Level::Wrong, "no open corridor has an enabled rail");
    }
    let rails: Vec<&str> =
        config.rails.iter().filter(|rail| rail.enabled).map(|rail| rail.id.as_str()).collect();
    let served = format!("{} over {}", served.join(" "), rails.join(", "));
    if idle.is_empty() {
        return Finding::new(NAME, Level::Ok, served);
    }
    let idle = idle.join(" ");
    Finding::new(NAME, Level::Warning, format!("{served}; open without an enabled rail: {idle}"))
}

fn bank_directory(config: &Config) -> Finding {
    const NAME: &str = "bank directory";
    let loaded = Finding::of(NAME, world::bank_directory(config), |_| {
        config.bank_directory().unwrap_or_default().display().to_string()
    });
    match (config.bank_directory(), config.environment) {
        (None, Environment::Production) => Finding::new(
            NAME,
            Level::Warning,
            "the shipped sample has few banks: name your own in banks.directory",
        ),
        (None, _) => Finding::new(NAME, Level::Ok, "the shipped sample"),
        (Some(_), _) => loaded,
    }
}

/// Whether a table's files are usable, and for how long; `None` if it has none.
fn outbound_table(settings: &outbound::Settings) -> Option<Finding> {
    const NAME: &str = "outbound";
    let table = &settings.table;
    let expires = match Client::new(settings, table, &[]) {
        Err(error) => return Some(Finding::new(NAME, Level::Wrong, error.to_string())),
        Ok(client) => client.certificate_expires()?,
    };
    let level = match expires - now() < CERTIFICATE_MIN {
        true => Level::Warning,
        false => Level::Ok,
    };
    let detail = format!("{table}: the client certificate is valid until {expires}");
    Some(Finding::new(NAME, level, detail))
}

/// What the table of webhooks adds to the way to their endpoints; `None` if none is named. Its files
/// are checked with all tables.
fn webhook_route(config: &Config) -> Option<Finding> {
    if config.webhooks.outbound.is_empty() {
        return None;
    }
    let outbound = config.webhook_settings(Vec::new()).outbound;
    let mut detail = vec![outbound.table];
    if outbound.identity.is_some() {
        detail.push("with a client certificate".to_owned());
    }
    if !matches!(outbound.proxy, outbound::Proxy::Direct) {
        let rule =
            "a proxy resolves the endpoints' names again: it has to refuse private addresses";
        detail.push(rule.to_owned());
    }
    Some(Finding::new("webhooks", Level::Ok, detail.join("; ")))
}

/// A warning if a production service behind a proxy does not see its clients' addresses.
fn proxies(config: &Config) -> Option<Finding> {
    const NAME: &str = "trusted proxies";
    let is_behind_one = config.environment == Environment::Production
        && config.http.public_url.starts_with("https://");
    if !is_behind_one {
        return None;
    }
    let listen = config.http.listen.ip();
    let networks = config.trusted_proxies().map(|proxies| proxies.networks).unwrap_or_default();
    let covers = |network: &Network| match listen {
        // Only this machine connects to it, and from this address.
        loopback if loopback.is_loopback() => network.contains(loopback),
        // IPv4 reaches it, too.
        IpAddr::V6(address) if address.is_unspecified() => true,
        _ => network.is_ipv6() == listen.is_ipv6(),
    };
    if networks.iter().any(covers) {
        return None;
    }
    let detail = format!(
        "http.trusted_proxies names no address from which a proxy reaches {}: limits per address and access keys bound \
         to addresses would see the proxy only",
        config.http.listen
    );
    Some(Finding::new(NAME, Level::Warning, detail))
}

async fn rates(config: &Config, store: Option<&Store>) -> (Vec<Finding>, Option<LiveRates>) {
    const NAME: &str = "rates";
    match config.rates.source {
        RateSource::Live => {}
        RateSource::Frozen | RateSource::Walk => {
            return (vec![Finding::new(NAME, Level::Ok, "embedded, not market rates")], None);
        }
    }
    let http = match world::rate_servers(config) {
        Ok(http) => http,
        Err(error) => return (vec![Finding::new(NAME, Level::Wrong, format!("{error:#}"))], None),
    };
    let book = world::live_rates(config);
    let mut findings = Vec::new();
    if let Some(store) = store
        && let Err(error) = kept_rates::recall(store, &book).await
    {
        findings.push(Finding::new(NAME, Level::Wrong, format!("the kept rates: {error}")));
    }
    let refreshed = book.refresh(&http, now()).await;
    // One source of several may be down; with none, there are no quotes.
    let level = if refreshed.updated > 0 { Level::Warning } else { Level::Wrong };
    let failed = refreshed.failed.iter();
    findings.extend(
        failed.map(|(_, error)| Finding::new(NAME, level, format!("rates.sources: {error}"))),
    );
    let held = refreshed.held_back.iter();
    findings.extend(held.map(|held| Finding::new(NAME, level, format!("rates.sources: {held}"))));
    findings.extend(book.disagreements().into_iter().map(|found| {
        let ((used, rate), (other, differs), (base, quote)) = (found.used, found.other, found.pair);
        let detail = format!(
            "rates.sources: {used} states {rate} for {}/{}, {other} {differs}: {used} is used",
            base.code(),
            quote.code()
        );
        Finding::new(NAME, Level::Warning, detail)
    }));
    if refreshed.updated > 0 {
        findings.push(Finding::new(NAME, Level::Ok, format!("{} pairs", refreshed.updated)));
    } else if findings.is_empty() {
        findings.push(Finding::new(NAME, Level::Wrong, "rates.sources: they contain no rate"));
    }
    (findings, Some(book))
}

async fn lists(config: &Config, store: Option<&Store>) -> Vec<Finding> {
    const NAME: &str = "screening lists";
    if config.screening.lists.is_empty() {
        return match config.screening.sample_list {
            true => vec![Finding::new(NAME, Level::Ok, "the shipped sample of invented names")],
            false => vec![Finding::new(
                NAME,
                Level::Wrong,
                "screening.lists: name at least one sanctions list",
            )],
        };
    }
    let http = match world::list_servers(config) {
        Ok(http) => http,
        Err(error) => return vec![Finding::new(NAME, Level::Wrong, format!("{error:#}"))],
    };
    let kept = store
        .map(|store| Arc::new(Unchanged(StoredLists::new(store.clone()))) as Arc<dyn KeptLists>);
    let settings = ListSettings { kept };
    let reading = config.list_sources().into_iter().map(|source| list(source, &settings, &http));
    futures_util::future::join_all(reading).await
}

/// Reads one list from its source, and compares it with its last good copy, as a start does.
async fn list(source: ListSource, settings: &ListSettings, http: &Servers) -> Finding {
    const NAME: &str = "screening lists";
    let described = |book: &ListBook| {
        let state = book.states().into_iter().next();
        let version = book.current().version().to_owned();
        let entries = state.as_ref().map_or(0, |state| state.entries);
        let unreadable = state.map_or(0, |state| state.unreadable.len());
        match unreadable {
            0 => format!("{version}: {entries} entries"),
            _ => format!("{version}: {entries} entries, {unreadable} unreadable"),
        }
    };
    let book = match ListBook::load(vec![source], settings.clone(), http, now()).await {
        Ok(book) => book,
        Err(failed) => {
            return Finding::new(NAME, Level::Wrong, format!("screening.lists: {failed}"));
        }
    };
    // A start with a copy reads its source right after.
    let failed = match book.wants_refresh() {
        true => book.refresh(http, now()).await.outcomes.into_iter().find_map(Result::err),
        false => None,
    };
    match failed {
        None => match book.states().into_iter().find_map(|state| state.incomplete) {
            None => Finding::new(NAME, Level::Ok, described(&book)),
            Some(missing) => {
                let text = format!("screening.lists: {missing} ({})", described(&book));
                Finding::new(NAME, Level::Warning, text)
            }
        },
        Some(failed) => Finding::new(
            NAME,
            Level::Warning,
            format!("screening.lists: {failed}; its last good copy is used ({})", described(&book)),
        ),
    }
}

/// Stored copies that a check reads and never replaces.
#[derive(Debug)]
struct Unchanged(StoredLists);

impl KeptLists for Unchanged {
    fn kept<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>> {
        self.0.kept(key)
    }

    fn digest<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        self.0.digest(key)
    }

    fn keep<'a>(
        &'a self,
        _key: &'a str,
        _copy: KeptCopy,
        _replaces: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(std::future::ready(Ok(true)))
    }
}

/// Whether a rail can be set up; `None` for a simulated one.
fn rail(config: &Config, setup: RailSetup) -> Option<Finding> {
    const NAME: &str = "rails";
    match setup {
        RailSetup::Simulated(_) => None,
        RailSetup::Https(setup) => {
            let (id, url) = (setup.rail.clone(), setup.url.clone());
            Some(Finding::of(NAME, IsoRail::https(*setup), |_| format!("{id}: {url}")))
        }
        RailSetup::Connector(setup) => {
            let (id, url) = (setup.rail.clone(), setup.url.clone());
            Some(Finding::of(NAME, ConnectorRail::new(*setup), |_| format!("{id}: {url}")))
        }
        RailSetup::Files(setup) => Some(files(config, &setup)),
    }
}

/// Whether a rail's files can be exchanged, as far as this machine is concerned.
fn files(config: &Config, setup: &FilesConfig) -> Finding {
    const NAME: &str = "rails";
    let id = &setup.rail;
    let pgp = match setup.usable_keys() {
        Ok(expires) => expires,
        Err(error) => return Finding::new(NAME, Level::Wrong, error.to_string()),
    };
    if let Some(fault) = config.missing_directory(setup) {
        return Finding::new(NAME, Level::Wrong, fault);
    }
    let found = match &setup.exchange {
        Exchange::Directory(dir) => usable_directory(dir)
            .map(|()| dir.display().to_string())
            .map_err(|fault| format!("rails.{id}.directory: {fault}")),
        Exchange::Sftp(sftp) => Ok(format!("sftp://{}:{}", sftp.server.host, sftp.server.port)),
    };
    let detail = match found {
        Ok(detail) => detail,
        Err(fault) => return Finding::new(NAME, Level::Wrong, fault),
    };
    match pgp {
        Some(at) if at - now() < CERTIFICATE_MIN => {
            let detail = format!("{id}: {detail}; a PGP key expires on {at}");
            Finding::new(NAME, Level::Warning, detail)
        }
        _ => Finding::new(NAME, Level::Ok, format!("{id}: {detail}")),
    }
}

/// The rails whose messages lack the debtor's address.
fn unaddressed(config: &Config) -> Vec<Finding> {
    let rails =
        config.rails.iter().filter(|rail| rail.enabled && config.lacks_debtor_address(rail));
    let why = "is missing: networks refuse a debtor without town and country";
    let finding = |rail: &RailEntry| {
        let detail = format!("rails.{}.profile.debtor_address: {why}", rail.id);
        Finding::new("rails", Level::Warning, detail)
    };
    rails.map(finding).collect()
}

/// A missing directory is created, so the nearest existing one has to permit that.
pub(crate) fn usable_directory(dir: &Path) -> Result<(), String> {
    let existing = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    if !existing.is_dir() {
        return Err(format!("{} is not a directory", existing.display()));
    }
    can_write(existing, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
}

pub(crate) fn can_write(path: &Path, access: rustix::fs::Access) -> Result<(), String> {
    rustix::fs::access(path, access).map_err(|error| format!("{}: {error}", path.display()))
}

/// Opens the keys of the configured tenants; each finding names the address, which needs gas.
async fn signing_keys(config: &Config, store: Option<&Store>) -> Vec<Finding> {
    const NAME: &str = "signing keys";
    let is_ours = |it: &OfChain| {
        let chain = &it.config;
        let is_real = chain.wallets.enabled && !chain.chain_is_embedded();
        is_real && chain.chain.keys.source != KeySource::Seed
    };
    let chains: Vec<OfChain> = config.by_chain().into_iter().filter(is_ours).collect();
    if chains.is_empty() {
        return Vec::new();
    }
    let tenants = match store {
        None => None,
        Some(store) => match store.tenants().await {
            Ok(tenants) => Some(tenants),
            Err(error) => return vec![Finding::new(NAME, Level::Wrong, error.to_string())],
        },
    };
    let known = tenants.as_deref().map(chain::by_tag);
    let mut findings = Vec::new();
    for OfChain { section, config } in chains {
        let found = |(key, address): (String, anyhow::Result<_>)| {
            let key = key.replacen("chain.", &format!("{section}."), 1);
            Finding::of(NAME, address, |address| format!("{key}: {address}"))
        };
        let checked = chain_keys::check(&config, known.clone()).await;
        findings.extend(checked.into_iter().map(found));
    }
    findings
}

/// For how long the client certificate of a PostgreSQL address is valid; `None` if it has none.
fn database_certificate(url: &str) -> Option<Finding> {
    const NAME: &str = "database certificate";
    let file = store::client_certificate(url)?;
    // A file that cannot be read is a fault of the connection.
    let expires = outbound::expires(&file).ok()?;
    let (level, detail) = validity_left(expires, now());
    Some(Finding::new(NAME, level, format!("sslcert: {}: {detail}", file.display())))
}

fn validity_left(expires: Timestamp, now: Timestamp) -> (Level, String) {
    if expires < now {
        return (Level::Wrong, format!("the client certificate expired on {expires}"));
    }
    let level = if expires - now < CERTIFICATE_MIN { Level::Warning } else { Level::Ok };
    (level, format!("the client certificate is valid until {expires}"))
}

/// A finding if the database belongs to another environment, or holds what the keys do not open.
async fn database(config: &Config, store: &Store) -> Option<Finding> {
    let checked = async {
        environment::check(store, config.environment).await?;
        environment::check_sealed(store).await?;
        environment::check_keys(store, config.environment).await?;
        // What fails from here on prevents no start.
        Ok::<_, WrongDatabase>(store.unopenable().await)
    };
    let (level, detail) = match checked.await {
        Err(wrong) => (Level::Wrong, wrong.to_string()),
        Ok(Err(error)) => {
            (Level::Warning, format!("whether all values can be opened is not known: {error}"))
        }
        Ok(Ok(unopenable)) if unopenable.is_empty() => return None,
        Ok(Ok(unopenable)) => {
            let listed: Vec<String> = unopenable.iter().map(ToString::to_string).collect();
            let detail = format!(
                "served without {}, which cannot be opened: add what they are sealed with to \
                 security.previous_key_encryption_keys",
                listed.join(", ")
            );
            (Level::Warning, detail)
        }
    };
    Some(Finding::new("database", level, detail))
}

#[cfg(test)]
mod tests {
    use adapters::screening::Location;
    use adapters::screening::load::Document;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use domain::currency::StableCoin;

    use super::*;
    use crate::preflight::tests::config;
    use crate::tenancy;

    /// A stored copy of a list with three entries.
    #[derive(Debug)]
    struct Stored;

    fn own_list(names: &[&str]) -> String {
        let header = "uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses";
        let rows: String =
            names.iter().map(|name| format!("{name},person,{name},,,,,\n")).collect();
        format!("#corridor-sanctions name=OWN published=2026-11-20\n{header}\n{rows}")
    }

    impl KeptLists for Stored {
        fn kept<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>> {
            let document = Document {
                origin: "own.csv".to_owned(),
                bytes: own_list(&["Zorblax", "Quibbleton", "Mockistani"]).into(),
                modified: None,
            };
            let copy = KeptCopy {
                name: "OWN".to_owned(),
                digest: "00".to_owned(),
                read_at: now(),
                documents: vec![document],
            };
            Box::pin(async { Ok(Some(copy)) })
        }

        fn digest<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
            Box::pin(async { Ok(Some("00".to_owned())) })
        }

        fn keep<'a>(
            &'a self,
            _key: &'a str,
            _copy: KeptCopy,
            _replaces: Option<&'a str>,
        ) -> BoxFuture<'a, Result<bool, String>> {
            Box::pin(async { Ok(true) })
        }
    }

    #[test]
    fn a_client_certificate_of_the_database_that_expires_soon_is_a_warning() {
        let at = now();
        for (left, expected) in [
            (Span::days(15), Level::Ok),
            (Span::days(13), Level::Warning),
            (Span::secs(0), Level::Warning),
            (Span::secs(-1), Level::Wrong),
        ] {
            let (level, detail) = validity_left(at + left, at);
            assert_eq!(level, expected, "{detail}");
            assert!(detail.contains(&(at + left).to_string()), "{detail}");
        }
        let missing = "postgres://db/c?sslmode=require&sslcert=/missing.pem&sslkey=/missing.key";
        assert!(database_certificate(missing).is_none(), "a fault of the connection");
        assert!(database_certificate("sqlite:corridor.db").is_none());
    }

    #[tokio::test]
    async fn a_list_is_compared_with_its_stored_copy() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("own.csv");
        let source = ListSource { locations: vec![Location::File(file.clone())] };
        let http = world::list_servers(&config(&[])).expect("servers");
        let stored = ListSettings { kept: Some(Arc::new(Stored)) };
        let refused = format!("OWN ({}): only 1 entries, previously 3", file.display());
        for (names, settings, expected) in [
            (&["Zorblax"][..], &stored, Some(refused.as_str())),
            (&["Zorblax"], &ListSettings::default(), None),
            (&["Zorblax", "Quibbleton"], &stored, None),
        ] {
            std::fs::write(&file, own_list(names)).expect("written");
            let found = list(source.clone(), settings, &http).await;
            let level = if expected.is_some() { Level::Warning } else { Level::Ok };
            assert_eq!(found.level, level, "{}", found.detail);
            assert!(
                found.detail.contains(expected.unwrap_or("OWN 2026-11-20")),
                "{}",
                found.detail
            );
        }
    }

    fn wrong(findings: &[Finding]) -> Vec<&str> {
        let wrong = findings.iter().filter(|finding| finding.level == Level::Wrong);
        wrong.map(|finding| finding.detail.as_str()).collect()
    }

    #[tokio::test]
    async fn everything_that_serve_would_refuse_is_found_at_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        std::fs::write(&file, "base,rate\n").expect("written");
        let at = |name: &str| dir.path().join(name).display().to_string();
        let lists = format!("[{{ locations = [\"{}\"] }}]", at("un.xml"));
        let config = config(&[
            ("rails_enabled", "[\"pak-raast\"]"),
            ("rails.pak-raast.transport", "directory"),
            ("rails.pak-raast.directory", &at("file/raast")),
            ("rails.pak-raast.debtor_name", "Demo Bank"),
            ("rails.pak-raast.debtor_account", "1"),
            ("rails.pak-raast.debtor_agent", "DEMOAEAD"),
            ("rates.source", "live"),
            ("rates.sources", &format!("[{{ location = \"{}\" }}]", at("file"))),
            ("screening.lists", &lists),
            ("banks.directory", &at("banks.csv")),
            ("webhooks.authority_file", &at("roots.pem")),
        ]);
        let findings = start(&config, None).await.findings;
        let wrong = wrong(&findings);
        assert_eq!(wrong.len(), 5, "{findings:#?}");
        for words in [
            "banks.directory",
            "the heading is not base,quote,rate,as_of",
            "un.xml: No such file",
            "is not a directory",
            "webhooks.authority_file",
        ] {
            assert!(wrong.iter().any(|detail| detail.contains(words)), "{words}: {wrong:#?}");
        }
        assert!(!wrong.iter().any(|detail| detail.contains("Error {")), "{wrong:#?}");
        let warnings = findings.iter().filter(|finding| finding.level == Level::Warning);
        let warned: Vec<&str> = warnings.map(|finding| finding.detail.as_str()).collect();
        let address = "rails.pak-raast.profile.debtor_address: is missing";
        assert!(warned.iter().any(|detail| detail.starts_with(address)), "{warned:?}");
        let corridors = findings.iter().find(|finding| finding.name == "corridors").expect("one");
        assert_eq!(corridors.level, Level::Warning);
        assert!(corridors.detail.starts_with("PAK over pak-raast; open without"), "{corridors:?}");
    }

    #[test]
    fn a_proxy_that_is_not_trusted_is_a_warning() {
        let found = |listen: &str, trusted: &str| {
            let config = config(&[
                ("environment", "production"),
                ("http.public_url", "https://api.bank.example"),
                ("http.listen", listen),
                ("http.trusted_proxies", trusted),
            ]);
            proxies(&config).map(|finding| finding.level)
        };
        for (listen, trusted, is_covered) in [
            ("127.0.0.1:8480", "[\"127.0.0.1\"]", true),
            ("127.0.0.1:8480", "[]", false),
            ("[::1]:8480", "[\"127.0.0.1\"]", false),
            ("[::1]:8480", "[\"::1\"]", true),
            ("10.0.0.5:8480", "[\"10.0.0.0/8\"]", true),
            ("[2001:db8::5]:8480", "[\"10.0.0.0/8\"]", false),
            ("[::]:8480", "[\"10.0.0.0/8\"]", true),
        ] {
            let expected = (!is_covered).then_some(Level::Warning);
            assert_eq!(found(listen, trusted), expected, "{listen} {trusted}");
        }
        assert!(proxies(&config(&[])).is_none(), "only production");
    }

    #[tokio::test]
    async fn a_tenant_without_a_database_row_and_shared_keys_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let (password, data) = ("a password", dir.path());
        let secret = secrecy::SecretString::from(password);
        let mut set = vec![
            ("wallets.enabled".to_owned(), "true".to_owned()),
            ("chain.node_url".to_owned(), "https://node.example".to_owned()),
            ("chain.keys.source".to_owned(), "keystore".to_owned()),
            ("chain.keys.keystore_password".to_owned(), password.to_owned()),
        ];
        let address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        let (_, text) = adapters::evm::signers::new_keystore(&secret).expect("a key");
        // Two files with one key.
        for name in ["operator", "compliance"] {
            std::fs::write(data.join(name), &text).expect("written");
        }
        let at = |name: &str| data.join(name).display().to_string();
        let entry = format!(
            "[{{ tag = \"demobank\", operator = \"{}\", compliance = \"{}\", approver = \"{}\", admin = \"{address}\", treasury = \"{address}\" }}]",
            at("operator"),
            at("compliance"),
            at("missing")
        );
        set.push(("chain.tenants".to_owned(), entry));
        let set: Vec<(&str, &str)> =
            set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let config = config(&set);
        let details = |findings: &[Finding]| {
            wrong(findings).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let found = details(&signing_keys(&config, None).await);
        assert!(found.iter().any(|detail| detail.contains("approver")), "{found:?}");
        assert!(found.iter().any(|detail| detail.starts_with("chain.tenants")), "{found:?}");
        let store = crate::open_store(&config, data).await.expect("opened");
        crate::environment::migrate(&store, config.environment).await.expect("migrated");
        let found = details(&signing_keys(&config, Some(&store)).await);
        let missing = "chain.tenants.demobank: tenant not found";
        assert!(found.iter().any(|detail| detail.contains(missing)), "{found:?}");
    }

    #[tokio::test]
    async fn owners_that_are_keys_of_their_tenant_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let password = "a password";
        let secret = secrecy::SecretString::from(password);
        let mut keys = Vec::new();
        for name in ["operator", "compliance", "approver"] {
            let (address, text) = adapters::evm::signers::new_keystore(&secret).expect("a key");
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            keys.push((path.display().to_string(), address.to_string()));
        }
        let other = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        for (admin, treasury, found) in [
            (other, other, None),
            (&*keys[0].1, other, Some("chain.tenants.demobank.admin: is the address of one")),
            (other, &*keys[2].1, Some("chain.tenants.demobank.treasury: is the address of one")),
        ] {
            let tenants = format!(
                r#"[{{ tag = "demobank", operator = "{}", compliance = "{}", approver = "{}", admin = "{admin}", treasury = "{treasury}" }}]"#,
                keys[0].0, keys[1].0, keys[2].0
            );
            let config = config(&[
                ("wallets.enabled", "true"),
                ("chain.node_url", "https://node.example"),
                ("chain.keys.source", "keystore"),
                ("chain.keys.keystore_password", password),
                ("chain.tenants", &tenants),
            ]);
            let findings = signing_keys(&config, None).await;
            let details = wrong(&findings);
            assert_eq!(details.len(), usize::from(found.is_some()), "{details:?}");
            let said = found.is_none_or(|found| details.iter().any(|it| it.contains(found)));
            assert!(said, "{details:?}");
        }
    }

    #[tokio::test]
    async fn a_database_of_the_other_environment_is_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = config(&[]);
        let store = crate::open_store(&config, dir.path()).await.expect("opened");
        environment::migrate(&store, Environment::Production).await.expect("migrated");
        let found = database(&config, &store).await.expect("a finding");
        assert_eq!(found.level, Level::Wrong);
        assert!(found.detail.contains("created by a production service"), "{found:?}");
    }

    #[tokio::test]
    async fn values_that_cannot_be_opened_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let key = |byte: u8| STANDARD.encode([byte; config::KEK_BYTES]);
        let of = |current: &str, previous: &str| {
            config(&[
                ("security.key_encryption_key", current),
                ("security.previous_key_encryption_keys", previous),
            ])
        };
        let (first, both) = (of(&key(1), ""), of(&key(2), &key(1)));
        let store = crate::open_store(&first, dir.path()).await.expect("opened");
        environment::migrate(&store, first.environment).await.expect("migrated");
        let policy = tenancy::default_policy(StableCoin::Usdt);
        let tenant = tenancy::create_tenant(&store, "demobank", "Demo", policy, "op").await;
        let tenant = tenant.expect("a tenant");
        for config in [&first, &both] {
            let store = crate::open_store(config, dir.path()).await.expect("opened");
            let service = tenancy::KeyService::Pay;
            let issued =
                tenancy::create_key(&store, &tenant, config.environment, service, "op").await;
            issued.expect("a key");
        }
        for (config, level, words) in [
            (&both, None, ""),
            (&first, Some(Level::Warning), "served without 1 access keys (key-encryption key "),
            (&of(&key(3), ""), Some(Level::Wrong), "none of the 2 access key(s) in use"),
        ] {
            let store = crate::open_store(config, dir.path()).await.expect("opened");
            let found = database(config, &store).await;
            assert_eq!(found.as_ref().map(|it| it.level), level, "{found:?}");
            assert!(found.is_none_or(|it| it.detail.starts_with(words)), "{words}");
        }
    }

    #[tokio::test]
    async fn the_defaults_have_no_fault_and_nothing_is_created() {
        let findings = start(&config(&[]), None).await.findings;
        assert!(wrong(&findings).is_empty(), "{findings:#?}");
        let dir = tempfile::tempdir().expect("a directory");
        assert!(usable_directory(&dir.path().join("a/b")).is_ok());
        assert!(!dir.path().join("a").exists());
    }
}
