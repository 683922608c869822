//! Read-only queries of everything outside: lists, banks, nodes, database, disks, backup.

use domain::chain::{Address, ChainNumber, Depth, Token};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use adapters::evm::{Transport, ask_node, blacklist_calls, block_logs_filter};
use adapters::rails::connector::ConnectorRail;
use adapters::rails::{Exchange, IsoRail, Probed};
use adapters::rates::LiveRates;
use adapters::screening::STALE_AFTER;
use anyhow::Context as _;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::ports::{Rail as _, RateBook as _, RateTerms};
use domain::time::Span;
use operator_console::outside::BACKUP_AGE_MAX;
use serde_json::{Value, json};
use store::Store;

use super::{Finding, Level, chains, now};
use crate::{chain, keep_fresh};
use config::{Config, OfChain, RailSetup, StoreLocation};

/// Free disk space below this is an error, in bytes.
const MIN_FREE_BYTES: u64 = 256 * 1024 * 1024;
/// Free disk space below this is a warning, in bytes.
const LOW_FREE_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Queries each party. The rails' and nodes' answers change nothing there.
pub(super) async fn outside(
    config: &Config,
    data_dir: &Path,
    store: Option<&Store>,
) -> Vec<Finding> {
    let mut findings = list_ages(store).await;
    for setup in config.rail_setups() {
        findings.extend(round_trip(setup).await);
    }
    findings.extend(nodes(config).await);
    findings.extend(chains::owners(config).await);
    findings.extend(store_tls(config, data_dir));
    findings.extend(rail_disks(config));
    findings.push(backup(config));
    findings
}

/// The pairs that quotes and exchanges price by, among them the stablecoins' prices in USD, and the
/// terms of each.
pub(crate) fn needed_pairs(config: &Config) -> Vec<(Currency, Currency, RateTerms)> {
    let Ok(corridors) = config.to_corridors() else { return Vec::new() };
    let mut pairs = Vec::new();
    for country in config.served_corridors().iter().filter_map(|code| Country::parse(code)) {
        let Some(corridor) = corridors.corridors.get(&country) else { continue };
        let (quote, terms) = (country.currency(), corridor.rate_terms(now()));
        let coins = StableCoin::ALL.map(StableCoin::currency);
        let bases = Currency::SOURCES.into_iter().chain(coins);
        pairs.extend(bases.map(|base| (base, quote, terms)));
        pairs.extend(coins.map(|coin| (coin, Currency::Usd, terms)));
    }
    pairs
}

/// Whether the loaded rates price every pair that is needed.
pub(super) fn rate_pairs(config: &Config, book: &LiveRates) -> Vec<Finding> {
    const NAME: &str = "rate pairs";
    let needed = needed_pairs(config);
    let off_peg = keep_fresh::off_peg(book);
    let (mut missing, mut old) = (BTreeSet::new(), BTreeSet::new());
    for (base, quote, terms) in &needed {
        let pair = format!("{}/{}", base.code(), quote.code());
        match (book.mid(*base, *quote), book.bid(*base, *quote, terms)) {
            (None, _) if off_peg.iter().any(|(coin, _)| coin.currency() == *base) => {}
            (None, _) => drop(missing.insert(pair)),
            (Some(_), None) => drop(old.insert(pair)),
            (Some(_), Some(_)) => {}
        }
    }
    let least =
        needed.iter().map(|(.., terms)| terms.max_age.0 / 1_000_000).min().unwrap_or_default();
    let rule = format!(
        "a file has the columns base,quote,rate,as_of and is rewritten at least every {least} s; a rate of each \
         currency and of USDC and USDT against USD suffices"
    );
    let listed = |pairs: BTreeSet<String>| pairs.into_iter().collect::<Vec<_>>().join(" ");
    let mut findings: Vec<Finding> = off_peg
        .into_iter()
        .map(|(coin, price)| {
            let coin = coin.currency().code();
            let limit = config.rates.max_depeg_bps;
            let detail = format!(
                "{coin} trades at {price} USD, further from 1 than rates.max_depeg_bps ({limit}) allows: no quotes and no exchanges with it"
            );
            Finding::new(NAME, Level::Wrong, detail)
        })
        .collect();
    if !missing.is_empty() {
        let detail = format!("no rate for {}: {rule}", listed(missing));
        findings.push(Finding::new(NAME, Level::Wrong, detail));
    }
    if !old.is_empty() {
        let detail = format!("too old to quote: {}: {rule}", listed(old));
        findings.push(Finding::new(NAME, Level::Wrong, detail));
    }
    if findings.is_empty() {
        let detail = format!("{} needed pairs are current", needed.len());
        findings.push(Finding::new(NAME, Level::Ok, detail));
    }
    findings
}

/// The age of each stored list, which a running service keeps fresh.
async fn list_ages(store: Option<&Store>) -> Vec<Finding> {
    const NAME: &str = "list copies";
    let Some(store) = store else { return Vec::new() };
    let kept = match store.kept_list_times().await {
        Ok(kept) => kept,
        Err(error) => return vec![Finding::new(NAME, Level::Wrong, error.to_string())],
    };
    let finding = |(name, read_at)| {
        let age = now() - read_at;
        let level = if age > STALE_AFTER { Level::Warning } else { Level::Ok };
        Finding::new(NAME, level, format!("{name}: last read from its source {}", age_text(age)))
    };
    kept.into_iter().map(finding).collect()
}

/// Asks a rail for its reports without confirming any; `None` for a simulated one.
async fn round_trip(setup: RailSetup) -> Option<Finding> {
    const NAME: &str = "rail round trip";
    match setup {
        RailSetup::Simulated(_) => None,
        RailSetup::Https(mut setup) => {
            setup.report_wait = std::time::Duration::ZERO;
            let id = setup.rail.clone();
            let rail = match IsoRail::https(*setup) {
                Ok(rail) => rail,
                Err(error) => return Some(Finding::new(NAME, Level::Wrong, error.to_string())),
            };
            Some(match rail.collect(None).await {
                Ok(_) => Finding::new(NAME, Level::Ok, format!("{id}: answers /reports")),
                Err(fault) => Finding::new(NAME, Level::Wrong, format!("{id}: {}", fault.reason)),
            })
        }
        RailSetup::Connector(setup) => {
            let id = setup.rail.clone();
            let rail = match ConnectorRail::new(*setup) {
                Ok(rail) => rail,
                Err(error) => return Some(Finding::new(NAME, Level::Wrong, error.to_string())),
            };
            Some(match rail.probe().await {
                Ok(()) => Finding::new(NAME, Level::Ok, format!("{id}: answers /health")),
                Err(why) => Finding::new(NAME, Level::Wrong, format!("{id}: {why}")),
            })
        }
        RailSetup::Files(setup) => {
            let id = setup.rail.clone();
            let probe = move || adapters::rails::probe_files(&setup);
            let probed = tokio::task::spawn_blocking(probe).await;
            let probed = probed.map_err(std::io::Error::other).flatten();
            let (level, detail) = match probed {
                Ok(Probed::Usable(files)) => (
                    Level::Ok,
                    format!("{id}: out can be written; {files} files of the bank wait in in"),
                ),
                Ok(Probed::NotCreated(dir)) => {
                    let dir = dir.display();
                    let detail = format!(
                        "{id}: {dir} does not exist; `corridor serve` creates it at its start"
                    );
                    (Level::Warning, detail)
                }
                Err(error) => (Level::Wrong, format!("{id}: {error}")),
            };
            Some(Finding::new(NAME, level, detail))
        }
    }
}

async fn nodes(config: &Config) -> Vec<Finding> {
    if !config.wallets.enabled {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let chains = config.by_chain();
    for OfChain { section, config } in &chains {
        let found = nodes_of(config).await.into_iter().map(|it| match chains.len() {
            1 => it,
            _ => Finding { detail: format!("{section}: {}", it.detail), ..it },
        });
        findings.extend(found);
    }
    findings
}

async fn nodes_of(config: &Config) -> Vec<Finding> {
    const NAME: &str = "nodes";
    if config.chain_is_embedded() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, settings) in (1..).zip(config.nodes()) {
        let facts = match chain::node(&settings) {
            Ok(node) => node_facts(config, node.as_ref()).await,
            Err(error) => Err(error),
        };
        // By its number: an address often contains a key.
        let facts = facts.with_context(|| format!("node {at}"));
        findings.push(match facts {
            Ok((level, facts)) => Finding::new(NAME, level, format!("node {at}: {facts}")),
            Err(error) => Finding::new(NAME, Level::Wrong, format!("{error:#}")),
        });
    }
    findings
}

/// What a node says about its chain, its latest and its final block, and the tokens.
async fn node_facts(config: &Config, node: &dyn Transport) -> anyhow::Result<(Level, String)> {
    let chain_id = number(&ask(node, "eth_chainId", json!([])).await?).context("its chain id")?;
    let expected = config.chain.chain_id;
    anyhow::ensure!(
        chain_id == expected,
        "it serves chain {chain_id}, and chain.chain_id is {expected}"
    );
    let latest = ask(node, "eth_getBlockByNumber", json!(["latest", false])).await?;
    let block = number(&latest["number"]).context("the latest block has no number")?;
    let at_s = number(&latest["timestamp"]).context("the latest block has no timestamp")?;
    let now_s = u64::try_from(now().0.div_euclid(1_000_000))?;
    let age_s = now_s.saturating_sub(at_s);
    let mut without_list = String::new();
    for token in config.chain_config(ChainNumber::FIRST, &[], String::new()).tokens {
        let key = format!("chain.{}", token.coin.currency().code().to_lowercase());
        anyhow::ensure!(has_code(node, token.address).await?, "{key}: no contract there");
        let (found, right) = (decimals(node, token.address).await, token.coin.currency());
        let found = found.with_context(|| format!("{key}: its decimals"))?;
        let right = u64::from(right.minor_units());
        anyhow::ensure!(found == right, "{key}: it has {found} decimals, not {right}");
        if !has_blacklist(node, &token).await {
            let what = "its contract has no issuer's list that Corridor knows: payers and refund addresses are not looked up there";
            without_list.push_str(&format!("; {key}: {what}"));
        }
    }
    let chain = config.chain_config(ChainNumber::FIRST, &[], String::new());
    for (key, depth) in [
        ("small_depth", chain.small_depth),
        ("medium_depth", chain.medium_depth),
        ("large_depth", chain.large_depth),
    ] {
        let tag = match depth {
            Depth::Blocks(_) => continue,
            Depth::Safe => "safe",
            Depth::Finalized => "finalized",
        };
        let block = block_at(node, tag).await;
        block.with_context(|| format!("chain.{key} is {tag:?}, which it does not report"))?;
    }
    returns_logs(node, &latest["hash"]).await?;
    let finalized = match block_at(node, "finalized").await {
        Ok(finalized) => format!("final up to {finalized}"),
        Err(_) => "does not know \"finalized\"".to_owned(),
    };
    let limit_s = config.block_age_max().to_duration().as_secs();
    let level = match age_s > limit_s {
        true => Level::Wrong,
        false if without_list.is_empty() => Level::Ok,
        false => Level::Warning,
    };
    let age = format!("latest block {block} is {age_s} s old, limit {limit_s} s");
    Ok((level, format!("chain {chain_id}, {age}, {finalized}{without_list}")))
}

/// The height of a block with a name.
async fn block_at(node: &dyn Transport, tag: &str) -> anyhow::Result<u64> {
    number(&ask(node, "eth_getBlockByNumber", json!([tag, false])).await?["number"])
}

/// Whether a node returns the logs of a block, by their filter or by receipts: without them it shows no
/// deposit.
async fn returns_logs(node: &dyn Transport, hash: &Value) -> anyhow::Result<()> {
    let filter = block_logs_filter(hash.as_str().context("the latest block has no hash")?);
    let refused = match ask(node, "eth_getLogs", json!([filter])).await {
        Ok(logs) if logs.is_array() => return Ok(()),
        Ok(_) => "eth_getLogs: not a list".to_owned(),
        Err(error) => error.to_string(),
    };
    let receipts = ask(node, "eth_getBlockReceipts", json!([hash])).await;
    let has_receipts = receipts.is_ok_and(|receipts| receipts.is_array());
    anyhow::ensure!(
        has_receipts,
        "it returns neither logs nor receipts of its latest block: {refused}"
    );
    Ok(())
}

/// Whether there is a contract at an address.
pub(super) async fn has_code(node: &dyn Transport, address: Address) -> anyhow::Result<bool> {
    let code = ask(node, "eth_getCode", json!([address.to_string(), "latest"])).await?;
    Ok(code.as_str().is_some_and(|code| code.len() > 2))
}

/// Whether a token's contract answers who is on its issuer's list.
async fn has_blacklist(node: &dyn Transport, token: &Token) -> bool {
    for call in blacklist_calls(token.coin, &token.address) {
        let answer = ask(node, "eth_call", json!([call, "latest"])).await;
        if answer.is_ok_and(|answer| answer.as_str().is_some_and(|word| word.len() > 2)) {
            return true;
        }
    }
    false
}

/// The decimals of a token (ERC-20).
async fn decimals(node: &dyn Transport, token: Address) -> anyhow::Result<u64> {
    let call = json!({ "to": token.to_string(), "data": "0x313ce567" });
    let answer = ask(node, "eth_call", json!([call, "latest"])).await?;
    let digits = answer.as_str().context("not a number")?.trim_start_matches("0x");
    let digits = digits.trim_start_matches('0');
    Ok(if digits.is_empty() { 0 } else { u64::from_str_radix(digits, 16)? })
}

async fn ask(node: &dyn Transport, method: &'static str, params: Value) -> anyhow::Result<Value> {
    ask_node(node, method, params).await.map_err(anyhow::Error::msg)
}

fn number(value: &Value) -> anyhow::Result<u64> {
    let text = value.as_str().context("not a number")?;
    Ok(u64::from_str_radix(text.strip_prefix("0x").context("not hexadecimal")?, 16)?)
}

/// Whether the connection to a database on another machine is encrypted.
fn store_tls(config: &Config, data_dir: &Path) -> Option<Finding> {
    const NAME: &str = "database TLS";
    let StoreLocation::Postgres(url) = config.store_location(data_dir) else { return None };
    let parsed = reqwest::Url::parse(&url).ok()?;
    let is_here =
        parsed.host_str().is_none_or(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host));
    let mode =
        parsed.query_pairs().find(|(name, _)| name == "sslmode").map(|(_, mode)| mode.into_owned());
    let wants_tls =
        mode.is_some_and(|mode| ["require", "verify-ca", "verify-full"].contains(&mode.as_str()));
    Some(match (is_here, wants_tls) {
        (_, true) => Finding::new(NAME, Level::Ok, "encrypted, certificate verified"),
        (true, false) => Finding::new(NAME, Level::Ok, "on this machine"),
        (false, false) => Finding::new(
            NAME,
            Level::Warning,
            "names and amounts cross the network unencrypted: add sslmode=verify-full to store.url",
        ),
    })
}

fn rail_disks(config: &Config) -> Vec<Finding> {
    let directories = config.rail_setups().into_iter().filter_map(|setup| match setup {
        RailSetup::Files(setup) => match setup.exchange {
            Exchange::Directory(dir) => Some(dir),
            Exchange::Sftp(sftp) => sftp.state,
        },
        RailSetup::Simulated(_) | RailSetup::Https(_) | RailSetup::Connector(_) => None,
    });
    let existing: BTreeSet<_> = directories.filter(|dir| dir.exists()).collect();
    existing.iter().map(|dir| disk(dir)).collect()
}

/// The free space of the disk that holds `path`.
pub fn disk(path: &Path) -> Finding {
    const NAME: &str = "disk";
    let space = match rustix::fs::statvfs(path) {
        Ok(space) => space,
        Err(error) => {
            return Finding::new(NAME, Level::Skipped, format!("{}: {error}", path.display()));
        }
    };
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let detail = format!("{}: {} MiB free", path.display(), free_bytes / (1024 * 1024));
    Finding::new(NAME, level_of_free(free_bytes), detail)
}

const fn level_of_free(free_bytes: u64) -> Level {
    match free_bytes {
        ..MIN_FREE_BYTES => Level::Wrong,
        MIN_FREE_BYTES..LOW_FREE_BYTES => Level::Warning,
        _ => Level::Ok,
    }
}

/// The age of the newest backup, or why it is unknown.
pub(crate) fn backup_age(config: &Config) -> Result<Span, String> {
    let path = &config.store.backup_file;
    if path.as_os_str().is_empty() {
        let why = "store.backup_file is not set: the age of the newest backup is unknown";
        return Err(why.to_owned());
    }
    let modified = std::fs::metadata(path).and_then(|about| about.modified());
    let modified = modified.map_err(|error| format!("{}: {error}", path.display()))?;
    let age = SystemTime::now().duration_since(modified).unwrap_or_default();
    Ok(Span(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)))
}

fn backup(config: &Config) -> Finding {
    const NAME: &str = "backup";
    match backup_age(config) {
        Err(why) => Finding::new(NAME, Level::Warning, why),
        Ok(age) => {
            let level = if age > BACKUP_AGE_MAX { Level::Warning } else { Level::Ok };
            let path = config.store.backup_file.display();
            Finding::new(NAME, level, format!("{path} was written {}", age_text(age)))
        }
    }
}

fn age_text(age: Span) -> String {
    let minutes = age.0 / 60_000_000;
    match minutes {
        ..120 => format!("{minutes} min ago"),
        120..2_880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1_440),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::post;

    use super::*;
    use crate::preflight::start;
    use crate::preflight::tests::config;

    fn found<'a>(findings: &'a [Finding], name: &str) -> Vec<(Level, &'a str)> {
        let of = findings.iter().filter(|finding| finding.name == name);
        of.map(|finding| (finding.level, finding.detail.as_str())).collect()
    }

    async fn rates(rows: &str) -> Vec<(Level, String)> {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("rates.csv");
        std::fs::write(&file, format!("base,quote,rate,as_of\n{rows}")).expect("written");
        let config = config(&[
            ("rails_enabled", "[\"pak-raast\"]"),
            ("rates.source", "live"),
            ("rates.sources", &format!("[{{ location = \"{}\" }}]", file.display())),
        ]);
        let book = start::start(&config, None).await.rates.expect("live rates");
        let findings = rate_pairs(&config, &book);
        findings.into_iter().map(|finding| (finding.level, finding.detail)).collect()
    }

    #[tokio::test]
    async fn a_nodes_refusal_is_quoted() {
        let refuses = || async { (StatusCode::UNAUTHORIZED, r#"{"message":"Invalid API key"}"#) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new().route("/", post(refuses));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let config = config(&[("wallets.enabled", "true"), ("chain.node_url", &url)]);
        let findings = nodes(&config).await;
        let quoted = "node 1: eth_chainId: HTTP 401 Unauthorized: Invalid API key";
        assert_eq!(found(&findings, "nodes"), [(Level::Wrong, quoted)]);
    }

    #[tokio::test]
    async fn missing_and_old_pairs_are_named() {
        let at = jiff::Timestamp::now();
        let row = |base: &str, rate: &str| format!("USD,{base},{rate},{at}\n");
        let missing = rates(&row("PKR", "278.75")).await;
        assert_eq!(missing[0].0, Level::Wrong);
        assert!(
            missing[0].1.contains("AED/PKR") && missing[0].1.contains("USDC/USD"),
            "{missing:?}"
        );
        assert!(missing[0].1.contains("base,quote,rate,as_of"), "{missing:?}");
        let old = "2026-01-01T00:00:00Z";
        let old = rates(&format!("USDT,PKR,278.75,{old}\nUSDT,USD,1,{old}\n")).await;
        assert!(
            old.iter().any(|(_, detail)| detail.contains("too old to quote: USDT/PKR USDT/USD")),
            "{old:?}"
        );
        let per_usd = [
            ("BHD", "0.376"),
            ("EUR", "0.92"),
            ("KWD", "0.307"),
            ("MYR", "4.7"),
            ("OMR", "0.385"),
            ("QAR", "3.64"),
            ("SAR", "3.75"),
            ("SGD", "1.35"),
            ("TRY", "34"),
            ("AED", "3.6725"),
            ("PKR", "278.75"),
            ("USDC", "1"),
        ];
        let all: String = per_usd.iter().map(|(base, rate)| row(base, rate)).collect();
        let of = async |usdt: &str| rates(&format!("{all}USDT,USD,{usdt},{at}\n")).await;
        assert_eq!(of("1.0002").await, [(Level::Ok, "14 needed pairs are current".to_owned())]);
        let off = of("0.98").await;
        assert_eq!((off.len(), off[0].0), (1, Level::Wrong), "{off:?}");
        assert!(off[0].1.starts_with("USDT trades at 0.98 USD"), "{off:?}");
    }

    #[tokio::test]
    async fn a_bank_that_answers_is_told_from_one_that_does_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let bank = testkit::bank::SimulatedBank::start(testkit::bank::BankConfig {
            listen: Some(([127, 0, 0, 1], 0).into()),
            ..testkit::bank::BankConfig::default()
        });
        let bank = bank.await.expect("a bank");
        let files = dir.path().join("raast");
        for part in ["in", "out"] {
            std::fs::create_dir_all(files.join(part)).expect("created");
        }
        std::fs::write(files.join("in/report.xml"), "<x/>").expect("written");
        let ours = |rail: &str| {
            [("debtor_name", "Demo Bank"), ("debtor_account", "1"), ("debtor_agent", "DEMOAEAD")]
                .map(|(name, value)| (format!("rails.{rail}.{name}"), value.to_owned()))
        };
        let mut set = vec![
            ("rails_enabled".to_owned(), "[\"pak-raast\", \"pak-ibft\", \"ind-imps\"]".to_owned()),
            ("rails.pak-raast.transport".to_owned(), "directory".to_owned()),
            ("rails.pak-raast.directory".to_owned(), files.display().to_string()),
            ("rails.pak-ibft.transport".to_owned(), "https".to_owned()),
            ("rails.pak-ibft.url".to_owned(), bank.url("pak-ibft").expect("it listens")),
            ("rails.ind-imps.transport".to_owned(), "https".to_owned()),
            ("rails.ind-imps.url".to_owned(), "http://127.0.0.1:1".to_owned()),
        ];
        for rail in ["pak-raast", "pak-ibft", "ind-imps"] {
            set.extend(ours(rail));
        }
        let set: Vec<(&str, &str)> =
            set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let findings = outside(&config(&set), dir.path(), None).await;
        let trips = found(&findings, "rail round trip");
        let level =
            |rail: &str| trips.iter().find(|(_, detail)| detail.starts_with(rail)).expect("one").0;
        assert_eq!(
            [level("pak-raast"), level("pak-ibft"), level("ind-imps")],
            [Level::Ok, Level::Ok, Level::Wrong],
            "{trips:?}"
        );
        assert!(files.join("in/report.xml").exists(), "the bank's file stays");
        let left = std::fs::read_dir(files.join("out")).expect("read").count();
        assert_eq!(left, 0, "no probe is left");
        std::fs::remove_dir(files.join("out")).expect("removed");
        let findings = outside(&config(&set), dir.path(), None).await;
        let missing = format!("pak-raast: {}/out does not exist", files.display());
        let trips = found(&findings, "rail round trip");
        let warned = trips.iter().find(|(_, detail)| detail.starts_with(&missing));
        assert_eq!(warned.map(|(level, _)| *level), Some(Level::Warning), "{trips:?}");
        assert!(!files.join("out").exists(), "nothing is created");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_banks_server_is_tried_as_far_as_files_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let server = testkit::sshd::for_tests("doctor over SFTP", dir.path()).expect("a server");
        let Some(server) = server else { return };
        let trip = async |host_key: &str, out: &str| {
            let set = [
                ("transport", "sftp".to_owned()),
                ("sftp.host", "127.0.0.1".to_owned()),
                ("sftp.port", server.port().to_string()),
                ("sftp.user", testkit::sshd::user().expect("a user")),
                ("sftp.key_file", server.key_file("rsa").display().to_string()),
                ("sftp.host_keys", format!("[\"{host_key}\"]")),
                ("sftp.out", out.to_owned()),
                ("debtor_name", "Demo Bank".to_owned()),
                ("debtor_account", "1".to_owned()),
                ("debtor_agent", "DEMOAEAD".to_owned()),
            ]
            .map(|(key, value)| (format!("rails.pak-raast.{key}"), value));
            let mut set: Vec<(&str, &str)> =
                set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            set.push(("rails_enabled", "[\"pak-raast\"]"));
            let findings = outside(&config(&set), dir.path(), None).await;
            let trips = found(&findings, "rail round trip");
            let (level, detail) = trips.first().expect("one");
            (*level, (*detail).to_owned())
        };
        let key = server.fingerprint("rsa").expect("a fingerprint");
        let (level, detail) = trip(&key, "out").await;
        assert_eq!(level, Level::Ok, "{detail}");
        let other = "SHA256:uNiVztksCsDhcc0u9e8BrOqu5UmMQmfTEDZxT1UzoNo";
        let (level, detail) = trip(other, "out").await;
        assert_eq!(level, Level::Wrong);
        assert!(detail.contains("is not pinned") && detail.contains(&key), "{detail}");
        let (level, detail) = trip(&key, "nowhere").await;
        assert_eq!(level, Level::Wrong);
        let named = "pak-raast: rails.pak-raast.sftp.out nowhere: the server refused: No such file";
        assert!(detail.starts_with(named), "{detail}");
    }

    #[test]
    fn the_age_of_the_newest_backup_is_judged() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("corridor.dump");
        let with =
            |path: &Path| backup(&config(&[("store.backup_file", &path.display().to_string())]));
        assert_eq!(backup(&config(&[])).level, Level::Warning);
        assert_eq!(with(&file).level, Level::Warning);
        std::fs::write(&file, "dump").expect("written");
        assert_eq!(with(&file).level, Level::Ok);
        let old = SystemTime::now() - std::time::Duration::from_secs(90_000);
        let times = std::fs::FileTimes::new().set_modified(old);
        std::fs::File::options()
            .write(true)
            .open(&file)
            .expect("opened")
            .set_times(times)
            .expect("set");
        let old = with(&file);
        assert_eq!(
            (old.level, old.detail.ends_with("25 h ago")),
            (Level::Warning, true),
            "{old:?}"
        );
    }

    #[test]
    fn a_remote_database_without_tls_is_a_warning() {
        let level = |url: &str| {
            let config = config(&[("store.url", url)]);
            store_tls(&config, Path::new("/")).map(|finding| finding.level)
        };
        assert_eq!(level("sqlite:corridor.db"), None);
        assert_eq!(level("postgres://a@127.0.0.1/b"), Some(Level::Ok));
        assert_eq!(level("postgres://a@db.bank.example/b"), Some(Level::Warning));
        assert_eq!(level("postgres://a@db.bank.example/b?sslmode=verify-full"), Some(Level::Ok));
    }

    #[test]
    fn low_disk_space_is_reported() {
        for (free, level) in
            [(0, Level::Wrong), (MIN_FREE_BYTES, Level::Warning), (LOW_FREE_BYTES, Level::Ok)]
        {
            assert_eq!(level_of_free(free), level, "{free}");
        }
        assert_eq!(disk(Path::new("/nowhere/at/all")).level, Level::Skipped);
    }
}
