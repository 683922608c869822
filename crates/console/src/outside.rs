//! What pages need of whoever runs the console and cannot import: the receivers that are allowed, fresh secrets, the age
//! of lists, and the simulated parties of a sandbox. The server implements it.

use std::sync::Arc;

use domain::audit::Deed;
use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::ids::{PaymentId, PaymentRequestId, TenantId, WalletId};
use domain::ports::Answer;
use domain::time::{Span, Timestamp};
use domain::wallet_event::{Aggregate, WalletEvent, WalletEventKind};
use engine::payments::Checkpoint;
use engine::wallets::Tenant;
use secrecy::SecretString;

use super::provider::Provider;

/// Which interface an access key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// Payment Service v2.
    Pay,
    /// Wallet Service v1.
    Wallet,
}

/// An access key as it is shown once.
pub struct ShownKey {
    /// The key.
    pub access_key: String,
    /// Its secret.
    pub secret_key: SecretString,
}

/// How old the sanction lists are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStanding {
    /// Their version.
    pub version: String,
    /// How many entries there are.
    pub entries: usize,
    /// When the one that was read longest ago was read; `None` = they never age.
    pub oldest_load: Option<Timestamp>,
    /// Whether they are the shipped sample, which clears nobody in earnest.
    pub sample: bool,
    /// Whether they are too old to clear anybody.
    pub stale: bool,
}

/// What the audit log is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditProofs {
    /// Public keys whose signatures are good.
    pub trusted: Vec<[u8; 32]>,
    /// Checkpoints that lie outside the store.
    pub checkpoints: Vec<Checkpoint>,
    /// Why those from outside cannot be read.
    pub unread: Option<String>,
}

/// Whoever runs the console. Texts of errors are for the person at the page.
pub trait Outside: Send + Sync {
    /// Whether webhooks may be sent to this address.
    ///
    /// # Errors
    /// Why not.
    fn check_receiver(&self, url: &str) -> Result<(), String>;
    /// A new secret that signs webhooks.
    ///
    /// # Errors
    /// There are no random numbers.
    fn webhook_secret(&self) -> Result<SecretString, String>;
    /// A made-up event, as it happens to nobody.
    fn example(&self, kind: WalletEventKind) -> (Aggregate, WalletEvent);
    /// Makes an access key.
    ///
    /// # Errors
    /// It was not stored.
    fn create_key<'a>(&'a self, tenant: &'a Tenant, usage: KeyUse, by: Deed) -> Answer<'a, Result<ShownKey, String>>;
    /// Gives a key a new secret; the old one stays valid for a while, which is answered too.
    ///
    /// # Errors
    /// It was not stored.
    fn rotate_key<'a>(&'a self, access_key: &'a str, by: Deed) -> Answer<'a, Result<(ShownKey, Span), String>>;
    /// The sanction lists in force.
    fn lists(&self) -> ListStanding;
    /// What the audit log is held against: keys, and checkpoints from outside.
    ///
    /// # Errors
    /// The key cannot be read.
    fn audit_proofs(&self) -> Answer<'_, Result<AuditProofs, String>>;
    /// The identity provider that people sign in at; `None` = they all have passwords.
    fn identity_provider(&self) -> Option<Provider>;
    /// The tools of a sandbox; `None` where real parties may be connected.
    fn sandbox(&self) -> Option<Arc<dyn SandboxTools>>;
}

/// A line of the simulated bank's own book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookEntry {
    /// Whether it was paid, or came back.
    pub paid: bool,
    /// The rail.
    pub rail: String,
    /// How much, with its currency.
    pub amount: String,
    /// Whom it was paid to.
    pub beneficiary: String,
    /// The bank's reference.
    pub reference: String,
    /// When.
    pub at: Timestamp,
}

/// The simulated parties of a sandbox. Texts of errors are for the person at the page.
pub trait SandboxTools: Send + Sync {
    /// How far the business clock is ahead.
    fn ahead(&self) -> Span;
    /// Moves the business clock ahead.
    ///
    /// # Errors
    /// It was not kept.
    fn advance(&self, span: Span) -> Answer<'_, Result<(), String>>;
    /// Gives coins to an address.
    ///
    /// # Errors
    /// The coins are not ours to give, or the chain does not answer.
    fn give(&self, coin: StableCoin, to: Address, minor: i64) -> Answer<'_, Result<TxHash, String>>;
    /// The simulated sender pays a request, as its amount says or this much.
    ///
    /// # Errors
    /// It cannot be paid.
    fn pay(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
        amount: Option<(StableCoin, i64)>,
    ) -> Answer<'_, Result<Vec<TxHash>, String>>;
    /// The ways in which the simulated bank can end an order, and what they are.
    fn endings(&self) -> &'static [(&'static str, &'static str)];
    /// Has the simulated bank end a payment's newest order in one of those ways.
    ///
    /// # Errors
    /// The bank does not have it, or it cannot end so any more.
    fn steer(&self, payment: PaymentId, ending: &str) -> Result<String, String>;
    /// What can be made to happen: names, and what they are.
    fn scenarios(&self) -> Vec<(&'static str, &'static str)>;
    /// Whether it moves the clock, which is everybody's.
    fn moves_clock(&self, scenario: &str) -> bool;
    /// Makes one of them happen, as the tenant's own system would; answers what was made, each with its id.
    ///
    /// # Errors
    /// The tenant has no key, or the interface refuses.
    fn trigger<'a>(
        &'a self,
        tenant: TenantId,
        scenario: &'a str,
        funded: Option<WalletId>,
    ) -> Answer<'a, Result<Vec<(String, String)>, String>>;
    /// What the simulated bank's own book says of a payment.
    ///
    /// # Errors
    /// No rail is simulated, or the book cannot be read.
    fn book(&self, payment: PaymentId) -> Result<Vec<BookEntry>, String>;
}
