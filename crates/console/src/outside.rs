//! The port to the console's host for what the console cannot import: endpoint checks, fresh
//! secrets, the age of lists, and the simulated parties of a sandbox. The server implements it.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::audit::AuditContext;
use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::ids::{PaymentId, PaymentRequestId, TenantId, WalletId};
use domain::ports::BoxFuture;
use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use domain::wallet_event::{Aggregate, WalletEvent, WalletEventKind};
use engine::payments::Checkpoint;
use engine::wallets::Tenant;
use secrecy::SecretString;

use super::answer::Stop;
use super::provider::Provider;

/// The API that an access key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    Pay,
    Wallet,
}

/// An access key with its secret, shown once.
pub struct ShownKey {
    pub access_key: String,
    pub secret_key: SecretString,
}

/// The state of the sanctions lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStanding {
    pub version: String,
    /// The number of entries.
    pub entries: usize,
    /// Load time of the oldest list; `None` if the lists never age.
    pub oldest_load: Option<Timestamp>,
    /// Whether they are the shipped sample, which does not count as screening.
    pub sample: bool,
    /// Whether they are too old for approvals.
    pub stale: bool,
}

/// Maximum age of the newest backup.
pub const BACKUP_AGE_MAX: Span = Span::hours(24);

/// What only its host knows about the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Base URL of the APIs, without a trailing slash.
    pub api_url: String,
    /// Rails that make no real payments.
    pub simulated: BTreeSet<RailId>,
    /// Age of the newest backup, or why it is unknown.
    pub backup: Result<Span, String>,
}

/// The evidence that the audit log is verified against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditProofs {
    /// Public keys whose signatures are trusted.
    pub trusted: Vec<[u8; 32]>,
    /// Checkpoints stored outside the database.
    pub checkpoints: Vec<Checkpoint>,
    /// Why external checkpoints cannot be read.
    pub unread: Option<String>,
}

/// The host of the console. Error texts are shown to the user.
pub trait Outside: Send + Sync {
    /// The webhook endpoint that a user entered, as it is called.
    ///
    /// # Errors
    /// Why it cannot receive webhooks.
    fn receiver(&self, entered: &str) -> Result<String, String>;
    /// A new webhook signing secret.
    ///
    /// # Errors
    /// The random number generator fails.
    fn webhook_secret(&self) -> Result<SecretString, String>;
    /// A fictitious event of this kind.
    fn example(&self, kind: WalletEventKind) -> (Aggregate, WalletEvent);
    /// Creates an access key.
    fn create_key<'a>(
        &'a self,
        tenant: &'a Tenant,
        usage: KeyUse,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<ShownKey, String>>;
    /// Rotates a key's secret; returns how long the old one stays valid.
    ///
    /// # Errors
    /// [`Stop::Refused`] if the key has as many valid secrets as it may have.
    fn rotate_key<'a>(
        &'a self,
        access_key: &'a str,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<(ShownKey, Span), Stop>>;
    /// Creates a tenant with the usual terms.
    fn create_tenant<'a>(
        &'a self,
        tag: &'a str,
        name: &'a str,
        settlement_coin: StableCoin,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<Tenant, String>>;
    fn installation(&self) -> BoxFuture<'_, Installation>;
    /// The sanctions lists in force.
    fn lists(&self) -> ListStanding;
    /// The evidence for verifying the audit log: keys and external checkpoints.
    ///
    /// # Errors
    /// The key cannot be read.
    fn audit_proofs(&self) -> BoxFuture<'_, Result<AuditProofs, String>>;
    /// The identity provider for sign-in; `None` if all users have passwords.
    fn identity_provider(&self) -> Option<Provider>;
    /// Sandbox tools; `None` where real parties may be connected.
    fn sandbox(&self) -> Option<Arc<dyn SandboxTools>>;
}

/// An entry in the simulated bank's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookEntry {
    /// Whether it was paid or returned.
    pub paid: bool,
    pub rail: String,
    /// The amount with its currency.
    pub amount: String,
    pub beneficiary: String,
    pub reference: String,
    pub at: Timestamp,
}

/// The simulated parties of a sandbox. Error texts are shown to the user.
pub trait SandboxTools: Send + Sync {
    /// The business clock's lead over the wall clock.
    fn ahead(&self) -> Span;
    /// Advances the business clock.
    ///
    /// # Errors
    /// Storing the offset fails.
    fn advance(&self, span: Span) -> BoxFuture<'_, Result<(), String>>;
    /// Sends tokens to an address.
    ///
    /// # Errors
    /// The tokens are not the sandbox's, or the chain does not answer.
    fn give(
        &self,
        coin: StableCoin,
        to: Address,
        minor: i64,
    ) -> BoxFuture<'_, Result<TxHash, String>>;
    /// Lets the simulated sender pay a request: the requested or the given amount.
    ///
    /// # Errors
    /// It cannot be paid.
    fn pay(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
        amount: Option<(StableCoin, i64)>,
    ) -> BoxFuture<'_, Result<Vec<TxHash>, String>>;
    /// The outcomes that the simulated bank can report, with descriptions.
    fn endings(&self) -> &'static [(&'static str, &'static str)];
    /// Sets the outcome of a payment's latest order at the simulated bank.
    ///
    /// # Errors
    /// The bank does not have the order, or the outcome is no longer possible.
    fn steer(&self, payment: PaymentId, ending: &str) -> Result<String, String>;
    /// The scenarios, with descriptions.
    fn scenarios(&self) -> Vec<(&'static str, &'static str)>;
    /// Whether it moves the clock, which all users share.
    fn moves_clock(&self, scenario: &str) -> bool;
    /// Runs a scenario as the tenant's own system would; returns the created objects with their
    /// ids.
    ///
    /// # Errors
    /// The tenant has no key, or the API refuses.
    fn trigger<'a>(
        &'a self,
        tenant: TenantId,
        scenario: &'a str,
        funded: Option<WalletId>,
    ) -> BoxFuture<'a, Result<Vec<(String, String)>, String>>;
    /// The simulated bank's ledger entries for a payment.
    ///
    /// # Errors
    /// No rail is simulated, or the ledger cannot be read.
    fn book(&self, payment: PaymentId) -> Result<Vec<BookEntry>, String>;
}
