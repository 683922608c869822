//! `[wallets]`, `[chain]` and `[webhooks]`: the wallets' chain, its signers, and the engine's
//! settings for them.

use std::collections::BTreeSet;
use std::iter;
use std::path::PathBuf;
use std::str::FromStr;

use adapters::evm::HttpSettings;
use adapters::outbound::{Settings, is_on_this_machine};
use domain::chain::{Address, ChainConfig, ChainNumber, Depth, ReleaseMin, SweepTerms, Token};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::policy::Environment;
use domain::sponsor::{PER_REQUEST_MAX, SponsorTerms};
use domain::time::Span;
use secrecy::SecretString;
use serde::Deserialize;

use super::outbound;
use super::presets;
use super::read::Exact;
use super::secret::Secret;
use super::sections::Config;
use super::validate::{ConfigFault, Faults, is_http_url};

/// Section of the first chain.
const FIRST: &str = "chain";
/// Maximum length of a chain's name.
const NAME_MAX_CHARS: usize = 32;
/// Decimals of a gwei: its smallest part is a wei.
const GWEI_DECIMALS: u32 = 9;
/// Maximum of a fee cap, in wei.
const FEE_CAP_MOST: i64 = 100_000_000_000_000;
/// Name of the native currency of networks without a preset.
const GAS_COIN: &str = "ETH";
/// Decimals of an amount of a stablecoin or US dollars, as limits are compared.
const COIN_DECIMALS: u32 = 6;
/// Maximum of a daily gas budget.
const DAILY_GAS_MAX: u64 = 1_000_000_000_000;

/// `release_min` for the cost of a release.
const RELEASE_COST: &str = "cost";
/// Maximum of a fixed `release_min`, in minor units.
const RELEASE_MIN_MOST: i64 = 1_000_000_000;
/// Value on the built-in chain, where gas is free.
const EMBEDDED_RELEASE_MIN: i64 = 1_000;

/// Upper limit of the sweep interval on the built-in chain, so that a sandbox shows sweeps soon.
const EMBEDDED_SWEEP_MAX: Span = Span::mins(2);

/// A newest block older than this many block times means that the chain, or the node that has it,
/// stands still …
const BLOCKS_BEHIND_MAX: i64 = 20;
/// … but no younger one: clocks differ, and nodes take time.
const BLOCK_AGE_LEAST: Span = Span::mins(1);
/// Block time of a chain that is not known: that of Ethereum.
const BLOCK_TIME_MS: u64 = 12_000;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wallets {
    pub enabled: bool,
    pub token_max_age_s: u32,
    pub exchange_to: Vec<String>,
    pub simulated_sender_after_s: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    pub private_receivers: bool,
    pub authority_file: PathBuf,
    pub outbound: String,
}

/// `source` of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// Derived from one seed in the data directory.
    Seed,
    /// Keys in encrypted files.
    Keystore,
    /// Keys in a hardware security module.
    Pkcs11,
    /// Keys in the key management service of AWS.
    AwsKms,
    /// Keys behind a service with the interface of `docs/openapi/signer.json`.
    Remote,
}

/// The keys of the section `[chain.keys]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    pub source: KeySource,
    pub seed_operators: usize,
    pub keystore_password: Secret,
    pub pkcs11_module: PathBuf,
    pub pkcs11_token: String,
    pub pkcs11_pin: Secret,
    pub pkcs11_sessions: usize,
    pub kms_region: String,
    pub kms_endpoint: String,
    pub kms_access_key_id: String,
    pub kms_secret_access_key: Secret,
    pub kms_session_token: Secret,
    pub kms_outbound: String,
    pub remote_url: String,
    pub remote_outbound: String,
}

/// Maximum size of a node's answer.
const NODE_ANSWER_MAX_BYTES: usize = 64 << 20;
/// How long a connection to KMS or a remote signer, and its whole answer, may take.
const KEYS_CONNECT_MS: u64 = 3_000;
const KEYS_ANSWER_MS: u64 = 10_000;

/// Maximum operator keys per tenant.
const OPERATORS_MAX: usize = 16;

/// One entry of the array `[[chain.tenants]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantEntry {
    pub tag: String,
    pub operator: String,
    #[serde(default)]
    pub further_operators: Vec<String>,
    pub compliance: String,
    pub approver: String,
    #[serde(default)]
    pub blacklister: String,
    pub admin: String,
    pub treasury: String,
    #[serde(default)]
    pub controller: String,
    #[serde(default)]
    pub implementation: String,
    #[serde(default)]
    pub version: u32,
}

impl TenantEntry {
    /// The names of all its keys in their key store.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        let named = [&self.operator, &self.compliance, &self.approver, &self.blacklister];
        let named = named.into_iter().filter(|name| !name.is_empty());
        named.chain(&self.further_operators).map(String::as_str)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    pub preset: String,
    pub name: String,
    pub chain_id: u64,
    pub node_url: Secret,
    pub second_node_url: Secret,
    pub further_node_urls: Secret,
    pub plain_http_nodes: bool,
    pub node_outbounds: Vec<String>,
    pub node_connect_timeout_ms: u64,
    pub node_request_timeout_ms: u64,
    pub block_time_ms: u64,
    pub usdc: String,
    pub usdt: String,
    pub small_below: Exact,
    pub small_depth: String,
    pub medium_below: Exact,
    pub medium_depth: String,
    pub large_depth: String,
    pub settled_depth: String,
    pub explorer_tx_url: String,
    pub batch_max: usize,
    pub replace_after_s: u32,
    pub max_fee_gwei: Exact,
    pub release_min: String,
    pub gas_coin: String,
    pub gas_coin_usd: Exact,
    pub max_tip_gwei: Exact,
    pub min_tip_gwei: Exact,
    pub sweep_at: Exact,
    pub sweep_every_s: u32,
    pub keys: Keys,
    pub sponsor: Sponsor,
    pub tenants: Vec<TenantEntry>,
}

/// Section `[chain.sponsor]` of a chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sponsor {
    pub enabled: bool,
    pub min_amount: Exact,
    pub max_fee_percent: u8,
    pub per_request: u8,
    pub daily_gas: u64,
}

/// A chain, with the section that configures it.
pub struct OfChain {
    /// Name of the section: `chain` or `chains.<name>`.
    pub section: String,
    /// The configuration with this chain in `chain`.
    pub config: Config,
}

impl OfChain {
    /// Whether it is the chain of `[chain]`.
    pub fn is_first(&self) -> bool {
        self.section == FIRST
    }
}

/// Maximum nodes in addition to the first two.
const FURTHER_NODES_MAX: usize = 6;

impl Config {
    /// The configuration as each chain sees it, that of `[chain]` first, then by name.
    pub fn by_chain(&self) -> Vec<OfChain> {
        let first = OfChain { section: FIRST.to_owned(), config: self.clone() };
        let further = self.chains.iter().map(|(name, chain)| OfChain {
            section: format!("chains.{name}"),
            config: Config { chain: chain.clone(), ..self.clone() },
        });
        iter::once(first).chain(further).collect()
    }

    /// The chain's nodes in query order; none for the built-in chain.
    pub fn node_urls(&self) -> Vec<&str> {
        let chain = &self.chain;
        let first = [chain.node_url.expose(), chain.second_node_url.expose()];
        first
            .into_iter()
            .filter(|url| !url.is_empty())
            .chain(chain.further_node_urls.expose().split_whitespace())
            .collect()
    }

    /// How the chain's nodes are reached, in query order.
    pub fn nodes(&self) -> Vec<HttpSettings> {
        let chain = &self.chain;
        let keys = ["chain.node_url", "chain.second_node_url"].into_iter();
        let keys = keys.chain(iter::repeat("chain.further_node_urls"));
        let tables = chain.node_outbounds.iter().map(String::as_str);
        let tables = tables.chain(iter::repeat(""));
        let usual = outbound::usual(chain.node_connect_timeout_ms, chain.node_request_timeout_ms);
        let node = |((url, key), table): ((&str, &str), &str)| {
            let usual = Settings { plain_http: chain.plain_http_nodes, ..usual.clone() };
            HttpSettings {
                key: key.to_owned(),
                url: SecretString::from(url),
                outbound: self.destination(table, usual),
                max_answer_bytes: NODE_ANSWER_MAX_BYTES,
            }
        };
        self.node_urls().into_iter().zip(keys).zip(tables).map(node).collect()
    }

    /// How KMS is reached.
    pub fn kms_outbound(&self) -> Settings {
        let usual = outbound::usual(KEYS_CONNECT_MS, KEYS_ANSWER_MS);
        self.destination(&self.chain.keys.kms_outbound, usual)
    }

    /// How the remote signer is reached.
    pub fn remote_signer_outbound(&self) -> Settings {
        let usual = outbound::usual(KEYS_CONNECT_MS, KEYS_ANSWER_MS);
        self.destination(&self.chain.keys.remote_outbound, usual)
    }

    /// Whether the built-in chain is used.
    pub fn chain_is_embedded(&self) -> bool {
        self.chain.node_url.is_empty()
    }

    /// The engine's configuration of the chain with this number; `tokens` apply if the configuration
    /// names none.
    pub fn chain_config(
        &self,
        number: ChainNumber,
        tokens: &[Token],
        explorer_tx_url: String,
    ) -> ChainConfig {
        let chain = &self.chain;
        let named = [(StableCoin::Usdc, &chain.usdc), (StableCoin::Usdt, &chain.usdt)];
        let named: Vec<Token> = named
            .into_iter()
            .filter_map(|(coin, text)| Some(Token { coin, address: Address::parse(text)? }))
            .collect();
        // Blocks of the built-in chain are final at once.
        let depth =
            |text: &str| if self.chain_is_embedded() { Depth::Blocks(1) } else { depth(text) };
        let every = Span::secs(chain.sweep_every_s.into());
        ChainConfig {
            number,
            name: chain.name.clone(),
            chain_id: chain.chain_id,
            tokens: if named.is_empty() { tokens.to_vec() } else { named },
            small_below: minor(&chain.small_below),
            small_depth: depth(&chain.small_depth),
            medium_below: minor(&chain.medium_below),
            medium_depth: depth(&chain.medium_depth),
            large_depth: depth(&chain.large_depth),
            settled_depth: depth(&chain.settled_depth),
            explorer_tx_url,
            batch_max: chain.batch_max,
            replace_after_s: chain.replace_after_s,
            max_fee_cap: wei(&chain.max_fee_gwei),
            release_min: self.release_min(),
            max_tip_cap: wei(&chain.max_tip_gwei),
            min_tip: wei(&chain.min_tip_gwei).min(wei(&chain.max_tip_gwei)),
            gas_coin: self.gas_coin(),
            sponsor: self.sponsor(),
            block_age_max: (!self.chain_is_embedded()).then(|| self.block_age_max()),
            sweep: SweepTerms {
                at_minor: minor(&chain.sweep_at),
                every: if self.chain_is_embedded() { every.min(EMBEDDED_SWEEP_MAX) } else { every },
            },
        }
    }
}

impl Config {
    /// Age of the newest block that shows that the chain, or the node that has it, stands still.
    pub fn block_age_max(&self) -> Span {
        let block_ms = presets::known_block_time_ms(self.chain.chain_id).unwrap_or(BLOCK_TIME_MS);
        let block_time = Span::millis(i64::try_from(block_ms).unwrap_or(i64::MAX));
        Span(block_time.0.saturating_mul(BLOCKS_BEHIND_MAX)).max(BLOCK_AGE_LEAST)
    }

    fn gas_coin(&self) -> String {
        let chain = &self.chain;
        let named = Some(chain.gas_coin.clone()).filter(|name| !name.is_empty());
        let known = || presets::known_gas_coin(chain.chain_id);
        named.or_else(known).unwrap_or_else(|| GAS_COIN.to_owned())
    }

    /// Gas is free on the built-in chain.
    fn sponsor(&self) -> Option<SponsorTerms> {
        let Sponsor { min_amount, max_fee_percent, per_request, daily_gas, .. } =
            &self.chain.sponsor;
        let gas_coin_micros =
            if self.chain_is_embedded() { 0 } else { minor(&self.chain.gas_coin_usd) };
        self.chain.sponsor.enabled.then(|| SponsorTerms {
            min_minor: minor(min_amount),
            per_request: *per_request,
            daily_gas: *daily_gas,
            max_fee_percent: *max_fee_percent,
            gas_coin_micros,
        })
    }

    /// Gas is free on the built-in chain.
    fn release_min(&self) -> ReleaseMin {
        let chain = &self.chain;
        match parse_release_min(&chain.release_min) {
            Some(Some(minor)) => ReleaseMin::Fixed(minor),
            _ if self.chain_is_embedded() => ReleaseMin::Fixed(EMBEDDED_RELEASE_MIN),
            _ => ReleaseMin::Cost { gas_coin_micros: minor(&chain.gas_coin_usd) },
        }
    }
}

/// Parses an amount, or `Some(None)` for the cost of a release.
fn parse_release_min(text: &str) -> Option<Option<i64>> {
    if text == RELEASE_COST {
        return Some(None);
    }
    let minor = Decimal::parse(text).ok()?.to_minor(COIN_DECIMALS)?;
    (0..=RELEASE_MIN_MOST).contains(&minor).then_some(Some(minor))
}

/// Parses a depth that was validated before.
fn depth(text: &str) -> Depth {
    parse_depth(text).unwrap_or(Depth::Finalized)
}

fn parse_depth(text: &str) -> Option<Depth> {
    match text {
        "safe" => Some(Depth::Safe),
        "finalized" => Some(Depth::Finalized),
        blocks => u64::from_str(blocks)
            .ok()
            .filter(|blocks| (1..=10_000).contains(blocks))
            .map(Depth::Blocks),
    }
}

fn wei(gwei: &Exact) -> u128 {
    exact_wei(gwei).map_or(0, |wei| u128::from(wei.unsigned_abs()))
}

fn exact_wei(gwei: &Exact) -> Option<i64> {
    gwei.0.to_minor(GWEI_DECIMALS).filter(|wei| (1..=FEE_CAP_MOST).contains(wei))
}

fn minor(amount: &Exact) -> i64 {
    exact_minor(amount).unwrap_or(0)
}

fn exact_minor(amount: &Exact) -> Option<i64> {
    amount.0.to_minor(COIN_DECIMALS).filter(|minor| *minor > 0)
}

/// Faults of the sections.
pub(super) fn faults(config: &Config, faults: &mut Faults) {
    wallet_faults(config, faults);
    for OfChain { section, config } in config.by_chain() {
        let mut found = Faults::default();
        chain_faults(&config, &mut found);
        for ConfigFault { key, rule } in found.0 {
            faults.add(in_section(&section, &key), rule);
        }
    }
    for (name, chain) in &config.chains {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let fits = name.len() <= NAME_MAX_CHARS
            && name.bytes().all(is_plain)
            && *name != config.chain.name;
        faults.check(
            format!("chains.{name}"),
            fits,
            "its name must be lower-case letters, digits and hyphens, at most 32, and not chain.name",
        );
        let others =
            config.chains.iter().filter(|(other, _)| *other < name).map(|(_, it)| it.chain_id);
        faults.check(
            format!("chains.{name}.chain_id"),
            !iter::once(config.chain.chain_id).chain(others).any(|other| other == chain.chain_id),
            "is the id of another chain",
        );
    }
}

/// The key of a fault of `[chain]`, in the section of the chain that has it.
fn in_section(section: &str, key: &str) -> String {
    let rest = key.strip_prefix(FIRST).filter(|rest| rest.starts_with('.'));
    rest.map_or_else(|| key.to_owned(), |rest| format!("{section}{rest}"))
}

fn wallet_faults(config: &Config, faults: &mut Faults) {
    faults.within("wallets.token_max_age_s", config.wallets.token_max_age_s, 30, 3_600);
    faults.within(
        "wallets.simulated_sender_after_s",
        config.wallets.simulated_sender_after_s,
        0,
        86_400,
    );
    let to = &config.wallets.exchange_to;
    let known = config.exchange_to();
    let is_distinct = known.iter().collect::<BTreeSet<_>>().len() == to.len();
    let codes = Country::ALL.map(|country| country.currency().code()).join(", ");
    faults.check(
        "wallets.exchange_to",
        !to.is_empty() && known.len() == to.len() && is_distinct,
        &format!("must name each currency once, out of {codes}"),
    );
}

fn chain_faults(config: &Config, faults: &mut Faults) {
    let chain = &config.chain;
    faults.check("chain.name", !chain.name.trim().is_empty(), "must not be blank");
    faults.within("chain.chain_id", chain.chain_id, 1, u64::from(u32::MAX));
    for (key, url) in
        [("chain.node_url", &chain.node_url), ("chain.second_node_url", &chain.second_node_url)]
    {
        faults.check(
            key,
            url.is_empty() || is_http_url(url.expose()),
            "must be an http or https URL, or \"\"",
        );
    }
    let further: Vec<&str> = chain.further_node_urls.expose().split_whitespace().collect();
    let key = "chain.further_node_urls";
    faults.check(
        key,
        further.iter().all(|url| is_http_url(url)),
        "must be http or https URLs separated by spaces",
    );
    faults.check(key, further.len() <= FURTHER_NODES_MAX, "must be at most 6");
    let all = config.node_urls();
    let apart = all.iter().enumerate().all(|(at, url)| !all[..at].contains(url));
    faults.check(key, apart, "a node is named twice: nodes have to be independent");
    let alone = chain.node_url.is_empty() && !all.is_empty();
    faults.check("chain.node_url", !alone, "is missing, although other nodes are configured");
    faults.within("chain.node_connect_timeout_ms", chain.node_connect_timeout_ms, 100, 60_000);
    faults.within("chain.node_request_timeout_ms", chain.node_request_timeout_ms, 100, 120_000);
    faults.within("chain.block_time_ms", chain.block_time_ms, 10, 60_000);
    let no_node = config.chain_is_embedded();
    let is_real = chain.preset.is_empty() || !no_node;
    faults.check("chain.preset", is_real, "describes a public network: its node_url is missing");
    for (key, text) in [("chain.usdc", &chain.usdc), ("chain.usdt", &chain.usdt)] {
        faults.check(key, text.is_empty() || names_an_account(text), ADDRESS_RULE);
        faults.check(
            key,
            text.is_empty() || !no_node || !is_real,
            "the built-in chain has its own tokens: leave it \"\"",
        );
    }
    let depths = [
        ("chain.small_depth", &chain.small_depth),
        ("chain.medium_depth", &chain.medium_depth),
        ("chain.large_depth", &chain.large_depth),
        ("chain.settled_depth", &chain.settled_depth),
    ];
    for (key, text) in depths {
        faults.check(
            key,
            parse_depth(text).is_some(),
            "must be a number of blocks (1 to 10000), \"safe\" or \"finalized\"",
        );
    }
    let (small, medium) = (exact_minor(&chain.small_below), exact_minor(&chain.medium_below));
    faults.check("chain.small_below", small.is_some(), "must be an amount with at most 6 decimals");
    faults.check(
        "chain.medium_below",
        medium.is_some() && medium >= small,
        "must be an amount, not below small_below",
    );
    faults.within("chain.batch_max", chain.batch_max, 1, 16);
    faults.within("chain.replace_after_s", chain.replace_after_s, 5, 3_600);
    let fees = [
        ("chain.max_fee_gwei", &chain.max_fee_gwei),
        ("chain.max_tip_gwei", &chain.max_tip_gwei),
        ("chain.min_tip_gwei", &chain.min_tip_gwei),
    ];
    for (key, fee) in fees {
        let rule = "must be more than 0 and at most 100000, with at most 9 decimals";
        faults.check(key, exact_wei(fee).is_some(), rule);
    }
    faults.check(
        "chain.release_min",
        parse_release_min(&chain.release_min).is_some(),
        "must be an amount from 0 to 1000 with at most 6 decimals, or \"cost\"",
    );
    faults.check(
        "chain.gas_coin_usd",
        exact_minor(&chain.gas_coin_usd).is_some(),
        "must be an amount with at most 6 decimals",
    );
    faults.check(
        "chain.sweep_at",
        exact_minor(&chain.sweep_at).is_some(),
        "must be an amount with at most 6 decimals",
    );
    faults.within("chain.sweep_every_s", chain.sweep_every_s, 1, 2_592_000);
    sponsor(&chain.sponsor, faults);
    keys(&chain.keys, faults);
    for tenant in &chain.tenants {
        tenant_faults(tenant, faults);
    }
    distinct_accounts(chain, faults);
}

/// Each token has its own contract, and no account of a tenant is one of them or another's. A treasury
/// may be its own admin.
fn distinct_accounts(chain: &Chain, faults: &mut Faults) {
    let account = |text: &str| Address::parse_checked(text).filter(|it| *it != Address([0; 20]));
    let (usdc, usdt) = (account(&chain.usdc), account(&chain.usdt));
    if usdc.is_some() && usdc == usdt {
        faults.add("chain.usdt", "is the contract of chain.usdc: each token has its own");
    }
    for tenant in &chain.tenants {
        let named = [
            ("controller", &tenant.controller),
            ("implementation", &tenant.implementation),
            ("admin", &tenant.admin),
            ("treasury", &tenant.treasury),
        ];
        for (at, (name, text)) in named.iter().enumerate() {
            let Some(address) = account(text) else { continue };
            let key = format!("chain.tenants.{}.{name}", tenant.tag);
            let token = match Some(address) {
                it if it == usdc => Some("chain.usdc"),
                it if it == usdt => Some("chain.usdt"),
                _ => None,
            };
            if let Some(token) = token {
                faults.add(key, format!("is the contract of {token}: tokens sent there are lost"));
                continue;
            }
            let contracts = named[..at.min(2)].iter();
            for (other, _) in contracts.filter(|(_, text)| account(text) == Some(address)) {
                faults
                    .add(key.clone(), format!("is the tenant's {other}: must be another account"));
            }
        }
    }
}

fn sponsor(sponsor: &Sponsor, faults: &mut Faults) {
    faults.check(
        "chain.sponsor.min_amount",
        exact_minor(&sponsor.min_amount).is_some(),
        "must be more than 0, with at most 6 decimals",
    );
    faults.within("chain.sponsor.max_fee_percent", sponsor.max_fee_percent, 1, 100);
    faults.within("chain.sponsor.per_request", sponsor.per_request, 1, PER_REQUEST_MAX.into());
    faults.within("chain.sponsor.daily_gas", sponsor.daily_gas, 1, DAILY_GAS_MAX);
}

fn keys(keys: &Keys, faults: &mut Faults) {
    let mut need =
        |key: &str, holds: bool| faults.check(format!("chain.keys.{key}"), holds, "is missing");
    match keys.source {
        KeySource::Seed => {}
        KeySource::Keystore => need("keystore_password", !keys.keystore_password.is_empty()),
        KeySource::Pkcs11 => {
            need("pkcs11_module", !keys.pkcs11_module.as_os_str().is_empty());
            need("pkcs11_token", !keys.pkcs11_token.is_empty());
            need("pkcs11_pin", !keys.pkcs11_pin.is_empty());
        }
        KeySource::AwsKms => kms(keys, faults),
        KeySource::Remote => {
            let url = &keys.remote_url;
            let is_safe = url.starts_with("https://") || is_on_this_machine(url);
            faults.check(
                "chain.keys.remote_url",
                is_http_url(url) && is_safe,
                "must be an https URL (plain http is allowed to this machine only)",
            );
        }
    }
    faults.within("chain.keys.seed_operators", keys.seed_operators, 1, OPERATORS_MAX as u64);
    faults.within("chain.keys.pkcs11_sessions", keys.pkcs11_sessions, 1, 256);
}

/// Checks the required KMS settings.
pub(super) fn kms(keys: &Keys, faults: &mut Faults) {
    faults.check("chain.keys.kms_region", !keys.kms_region.is_empty(), "is missing");
    let endpoint = &keys.kms_endpoint;
    faults.check(
        "chain.keys.kms_endpoint",
        endpoint.is_empty() || is_http_url(endpoint),
        "must be an http or https URL, or \"\"",
    );
    let has_secret = !keys.kms_secret_access_key.is_empty();
    faults.check(
        "chain.keys.kms_secret_access_key",
        keys.kms_access_key_id.is_empty() != has_secret,
        "must be set together with kms_access_key_id: without both, the platform's credentials are used",
    );
}

const ADDRESS_RULE: &str =
    "must be an address other than 0x0, whose checksum (EIP-55) is valid if it has one";

/// Whether a text is the address of an account or contract, as it was meant to be written.
pub fn names_an_account(text: &str) -> bool {
    Address::parse_checked(text).is_some_and(|address| address != Address([0; 20]))
}

fn tenant_faults(tenant: &TenantEntry, faults: &mut Faults) {
    let key = |name: &str| format!("chain.tenants.{}.{name}", tenant.tag);
    for (name, text) in [
        ("operator", &tenant.operator),
        ("compliance", &tenant.compliance),
        ("approver", &tenant.approver),
    ] {
        faults.check(key(name), !text.is_empty(), "is missing");
    }
    let mut named: Vec<&str> = tenant.key_names().collect();
    let further = &tenant.further_operators;
    let all = named.len();
    named.sort_unstable();
    named.dedup();
    faults.check(key("further_operators"), further.len() < OPERATORS_MAX, "must be at most 15");
    let apart = all == named.len() && further.iter().all(|name| !name.is_empty());
    let keys = if further.is_empty() { "approver" } else { "further_operators" };
    faults.check(key(keys), apart, "names the key of another role: all keys must be distinct");
    for (name, text) in [("admin", &tenant.admin), ("treasury", &tenant.treasury)] {
        faults.check(key(name), names_an_account(text), ADDRESS_RULE);
    }
    let deployed = [&tenant.controller, &tenant.implementation];
    for (name, text) in [("controller", deployed[0]), ("implementation", deployed[1])] {
        faults.check(key(name), text.is_empty() || names_an_account(text), ADDRESS_RULE);
    }
    let all = deployed.iter().all(|text| !text.is_empty()) && tenant.version > 0;
    let none = deployed.iter().all(|text| text.is_empty());
    faults.check(
        key("controller"),
        all || none,
        "controller, implementation and version must be set together",
    );
}

/// Reasons against using the sections with real money.
pub(super) fn refusals(config: &Config) -> Vec<String> {
    if !config.wallets.enabled || config.environment != Environment::Production {
        return Vec::new();
    }
    let mut reasons = Vec::new();
    for OfChain { section, config } in config.by_chain() {
        let of_chain = chain_refusals(&config);
        reasons.extend(of_chain.iter().map(|reason| in_section(&section, reason)));
    }
    if config.webhooks.private_receivers {
        reasons.push(
            "webhooks.private_receivers: permits webhooks to private networks: set false"
                .to_owned(),
        );
    }
    reasons
}

/// The host of a node, without the dot of the root.
fn host(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    url.host_str().map(|host| host.trim_end_matches('.').to_owned())
}

fn chain_refusals(config: &Config) -> Vec<String> {
    let chain = &config.chain;
    let mut reasons = Vec::new();
    let mut refuse = |holds: bool, reason: &str| {
        if holds {
            reasons.push(reason.to_owned());
        }
    };
    refuse(
        config.chain_is_embedded(),
        "chain.node_url: the built-in chain holds no real money: configure a node, or set wallets.enabled = false",
    );
    refuse(
        config.node_urls().len() < 2,
        "chain.second_node_url: is missing: deposits need the agreement of two nodes",
    );
    let hosts: Vec<_> = config.node_urls().into_iter().map(host).collect();
    refuse(
        hosts.iter().collect::<BTreeSet<_>>().len() < hosts.len(),
        "chain.second_node_url, chain.further_node_urls: several nodes have the same host: nodes have to be those of \
         different operators",
    );
    refuse(
        chain.usdc.is_empty() && chain.usdt.is_empty(),
        "chain.usdc, chain.usdt: configure at least one token",
    );
    refuse(
        chain.keys.source == KeySource::Seed,
        "chain.keys.source: \"seed\" stores keys in plain text: use keystore, pkcs11, aws_kms or remote",
    );
    refuse(chain.tenants.is_empty(), "chain.tenants: is empty: there are no signing keys");
    reasons
}
