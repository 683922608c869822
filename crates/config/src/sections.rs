//! The configuration's sections as typed values, one field per key. `config/reference.toml`
//! documents the keys; every default is stated there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use adapters::rates::Form;
use domain::policy::Environment;
use serde::Deserialize;

use super::audit::Audit;
use super::chain::{Chain, Wallets, Webhooks};
use super::files::{AcknowledgementEntry, PgpEntry, SftpEntry};
use super::outbound::Outbound;
use super::profiles::ProfileEntry;
use super::provider::Oidc;
use super::read::{self, Exact};
use super::relays::RelayEntry;
use super::secret::Secret;

/// The whole configuration, one field per section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(deserialize_with = "read::environment")]
    pub environment: Environment,
    /// The only enabled rails; empty = each rail's own `enabled`.
    pub rails_enabled: Vec<String>,
    pub http: Http,
    pub store: Store,
    pub security: Security,
    pub audit: Audit,
    pub payments: Payments,
    /// `[corridors.<CCC>]`, by alpha-3 code.
    pub corridors: BTreeMap<String, Corridor>,
    /// `[[rails]]`, in order of preference.
    pub rails: Vec<RailEntry>,
    /// `[outbound.<name>]`, by the name.
    pub outbound: BTreeMap<String, Outbound>,
    pub banks: Banks,
    pub rates: Rates,
    pub screening: Screening,
    pub wallets: Wallets,
    pub chain: Chain,
    /// `[chains.<name>]`: the chains besides `[chain]`, by name.
    pub chains: BTreeMap<String, Chain>,
    pub webhooks: Webhooks,
    /// `[relay.<name>]`, by the name.
    pub relay: BTreeMap<String, RelayEntry>,
    pub console: Console,
    pub engine: Engine,
    pub limits: Limits,
    pub telemetry: Telemetry,
    /// Secrets in plain text in the configuration file (dotted keys); not a key of the file.
    #[serde(skip)]
    pub plain_text_secrets: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    pub listen: SocketAddr,
    pub public_url: String,
    pub header_timeout_s: u64,
    pub idle_timeout_s: u64,
    pub body_timeout_s: u64,
    pub max_body_bytes: usize,
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub ops_listen: String,
    pub drain_timeout_s: u64,
    pub heartbeat_s: u64,
    pub trusted_proxies: Vec<String>,
    pub proxy_header: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    pub url: Secret,
    pub writers: usize,
    pub readers: usize,
    pub statement_timeout_s: u32,
    pub pooler: bool,
    pub backup_file: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Security {
    pub key_encryption_key: Secret,
    pub key_encryption_key_by_kms: String,
    pub previous_key_encryption_keys: Secret,
    pub token_max_age_s: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payments {
    pub sender_relations: Vec<String>,
    pub submit_deadline_s: u32,
    pub return_window_days: u32,
    pub recall_answer_days: u32,
    pub recall_money_days: u32,
    pub statement_grace_s: u32,
}

/// `split_names` of a corridor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitNames {
    /// Names are sent whole.
    No,
    /// Sent as `Family, Given`.
    FamilyFirst,
    /// The parts in the supplementary data.
    Apart,
}

/// `family_name` of a corridor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FamilyName {
    /// The first word of a name.
    First,
    /// The last word of a name.
    Last,
}

/// `weekend_rates` of a corridor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeekendRates {
    Closed,
    /// The last rates of the week, less a margin.
    Last,
}

/// The keys of a section `[corridors.<CCC>]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corridor {
    pub open: bool,
    pub quote_ttl_s: u32,
    pub step: Exact,
    pub max_rate_age_s: u32,
    pub weekend_rates: WeekendRates,
    pub weekend_margin_bps: u32,
    pub open_quote_cap: u32,
    pub purpose: String,
    pub source_of_funds: String,
    pub split_names: SplitNames,
    pub family_name: FamilyName,
    pub default_local_code: String,
    #[serde(default)]
    pub profile: ProfileEntry,
}

/// `kind` of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Payouts arrive within seconds.
    Instant,
    /// Payouts arrive within business days.
    Batch,
}

/// An entry of a rail's `needs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The branch's local clearing code.
    LocalCode,
    /// The sender's date of birth.
    SenderBirthdate,
    /// The expiry of the sender's document.
    SenderIdentityDocExp,
}

/// `character_set` of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Characters {
    /// The character set x of SWIFT.
    #[default]
    SwiftX,
    /// The printable characters of ASCII.
    Ascii,
    /// The characters of ISO 8859-1.
    #[serde(rename = "latin_1")]
    Latin1,
    /// Texts are sent as stored.
    Unicode,
}

/// `transport` of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// The bank that this process simulates.
    #[default]
    Simulated,
    /// ISO 20022 messages over HTTPS.
    Https,
    /// ISO 20022 files in a shared directory.
    Directory,
    /// ISO 20022 files on the bank's SFTP server.
    Sftp,
    /// A connector to a bank with an API of its own.
    Connector,
}

/// `verify_account` of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyAccount {
    /// The bank is not asked about accounts.
    Off,
    /// It is asked when a client asks.
    Inform,
    /// It is asked before a payment is accepted, too.
    Require,
}

/// `hours` of a rail, UTC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoursEntry {
    pub open: String,
    pub close: String,
    pub days: Vec<String>,
    #[serde(default)]
    pub holidays: Vec<String>,
}

/// One entry of the array `[[rails]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RailEntry {
    pub id: String,
    pub country: String,
    pub kind: Kind,
    #[serde(default = "yes")]
    pub enabled: bool,
    pub min: Exact,
    pub max: Exact,
    #[serde(default, deserialize_with = "read::optional")]
    pub daily_max: Option<Exact>,
    #[serde(default, deserialize_with = "read::optional")]
    pub monthly_max: Option<Exact>,
    #[serde(default)]
    pub time_zone: String,
    pub cost: Exact,
    #[serde(default)]
    pub hours: Option<HoursEntry>,
    #[serde(default)]
    pub needs: Vec<Need>,
    #[serde(default)]
    pub banks: Vec<String>,
    #[serde(default)]
    pub duplicate_detection: Option<bool>,
    #[serde(default)]
    pub window_s: Option<u32>,
    #[serde(default)]
    pub retryable_reasons: Vec<String>,
    #[serde(default)]
    pub duplicate_reasons: Vec<String>,
    #[serde(default = "one")]
    pub max_batch: u16,
    #[serde(default)]
    pub character_set: Characters,
    #[serde(default)]
    pub recalls: Option<String>,
    #[serde(default)]
    pub verify_account: Option<VerifyAccount>,
    pub source: String,
    pub as_of: String,
    #[serde(default)]
    pub transport: Transport,
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub token: Secret,
    #[serde(default)]
    pub outbound: String,
    #[serde(default)]
    pub callback_secret: Secret,
    #[serde(default)]
    pub poll_reports: bool,
    #[serde(default)]
    pub directory: PathBuf,
    #[serde(default)]
    pub debtor_name: String,
    #[serde(default)]
    pub debtor_account: String,
    #[serde(default)]
    pub debtor_agent: String,
    #[serde(default)]
    pub local_instrument: String,
    #[serde(default)]
    pub profile: ProfileEntry,
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    #[serde(default = "request_timeout_ms")]
    pub request_timeout_ms: u64,
    #[serde(default = "report_files")]
    pub report_files: Vec<String>,
    #[serde(default = "report_wait_s")]
    pub report_wait_s: u64,
    #[serde(default)]
    pub sftp: SftpEntry,
    #[serde(default)]
    pub pgp: PgpEntry,
    #[serde(default)]
    pub acknowledgements: AcknowledgementEntry,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banks {
    pub directory: PathBuf,
}

/// `source` of the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// Embedded rates, moving with time.
    Walk,
    /// Embedded rates that stay.
    Frozen,
    /// Rates of the configured sources.
    Live,
}

/// An entry of `rates.sources`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateEntry {
    pub location: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub form: Option<Form>,
    #[serde(default)]
    pub base: Option<String>,
    #[serde(default)]
    pub fixed_base: Option<String>,
    #[serde(default)]
    pub fixed_quote: Option<String>,
    #[serde(default)]
    pub as_of: Option<String>,
    #[serde(default)]
    pub rates: Option<String>,
    #[serde(default)]
    pub max_age_s: Option<u32>,
    #[serde(default)]
    pub refresh_s: Option<u32>,
    #[serde(default)]
    pub time_zone: String,
    #[serde(default)]
    pub published_at: String,
    #[serde(default)]
    pub week: Vec<String>,
    #[serde(default)]
    pub holidays: Vec<String>,
    #[serde(default)]
    pub outbound: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    pub source: RateSource,
    pub refresh_s: u32,
    pub walk_seed: u64,
    pub max_move_bps: u32,
    pub max_depeg_bps: u32,
    pub max_difference_bps: u32,
    pub sources: Vec<RateEntry>,
    pub token: Secret,
    pub outbound: String,
}

/// An entry of `screening.lists`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListEntry {
    pub locations: Vec<String>,
    #[serde(default)]
    pub outbound: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    pub sample_list: bool,
    pub lists: Vec<ListEntry>,
    pub user_agent: String,
    pub refresh_s: u32,
    pub chain_analysis: ChainAnalysis,
}

/// The keys of the section `[screening.chain_analysis]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainAnalysis {
    pub url: String,
    pub api_key: Secret,
    pub outbound: String,
    pub timeout_ms: u32,
    pub review_after_s: u32,
    pub review_hops: u8,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    pub batch_max: usize,
    pub background_max: usize,
    pub background_lag_max_s: u32,
    pub queue_max: usize,
    pub batches_in_flight: usize,
    pub lease_max: usize,
    pub lease_s: u32,
    pub poll_interval_ms: u32,
    pub calls_in_flight: usize,
    pub relay_lag_max_s: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub enabled: bool,
    pub quote_per_s: u32,
    pub quote_burst: u32,
    pub payment_per_s: u32,
    pub payment_burst: u32,
    pub get_per_s: u32,
    pub get_burst: u32,
    pub list_per_s: u32,
    pub list_burst: u32,
    pub account_check_per_s: u32,
    pub account_check_burst: u32,
    pub streams_per_key: usize,
}

/// `log_format` of the section `[telemetry]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Human on a terminal, else JSON.
    Auto,
    /// One JSON object a line.
    Json,
    /// Lines that people can read.
    Human,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    pub enabled: bool,
    pub public_url: String,
    pub idle_minutes: u32,
    pub session_hours: u32,
    pub sign_ins_per_minute: u32,
    pub oidc: Oidc,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    pub log_format: LogFormat,
    pub log_filter: String,
    pub otlp_endpoint: String,
    pub outbound: String,
    pub otlp_sample_bps: u32,
    pub service_name: String,
}

const fn yes() -> bool {
    true
}

const fn one() -> u16 {
    1
}

const fn connect_timeout_ms() -> u64 {
    3_000
}

const fn request_timeout_ms() -> u64 {
    20_000
}

fn report_files() -> Vec<String> {
    ["*.xml", "*.gz", "*.zip"].map(str::to_owned).to_vec()
}

const fn report_wait_s() -> u64 {
    10
}
