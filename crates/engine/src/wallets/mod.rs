//! The wallet service as used by the HTTP layer: wallets, payment requests, exchanges, reviews,
//! events and deliveries.
//!
//! Everything that needs no row is determined here before the command is built: rates, contracts,
//! on-chain state. State changes are left to the engine.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use domain::audit::AuditContext;
use domain::chain::{Address, ChainFault, ChainNumber, SignFault};
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::fault::Fault;
use domain::ids::{TenantId, WalletId};
use domain::money::Money;
use domain::time::Span;
use domain::wallet::Wallet;
use store::{Store, StoreError};

pub use crate::payments::{Caller, Reply};
pub use store::{
    DELIVERIES_COUNTED_MAX, DeliveredEvent, DeliveryCount, DeliveryFilter, DeliveryRecord,
    EventsOf, KeysetFrom, KeysetPage, KeysetWanted, Listed, Mark, Page, Permits, Sheet, Tenant,
    Transaction, TransactionKind, UntoldEvent, WalletFilter, Wanted, Webhook,
};

use crate::batcher::Engine;
use crate::command::{Action, Command, Idempotency, Outcome, Refused, made_before};
use crate::context::{ChainContext, ChainContexts, EngineContext, NoRate};
use crate::error::EngineError;

mod control;
mod events;
mod exchange;
mod pay_page;
mod prompt;
mod provision;
mod recover;
mod refund_address;
mod requests;
mod reviews;
mod sponsor;

pub use control::CHAIN_WAIT;
pub use exchange::NewOrderAsked;
pub use pay_page::{Arrival, BrandHead, Found, PayPage, PaySender};
pub use provision::{Held, NewCustomer};
pub use recover::{Lost, RECOVERED_MAX};
pub use refund_address::Answered;
pub use requests::NewRequestAsked;
pub use reviews::ReviewAsked;
pub use sponsor::{SponsorAsk, SponsorDenied};

/// Maximum age of the rate that a balance is valued at. Amounts are fixed at
/// [`EngineContext::fixing_rate`].
const VALUE_RATE_AGE_MAX: Span = Span::hours(24);
/// Maximum age of the rate of an approximate amount: a sender compares it with what they are about
/// to pay (`decisions.md`, "Faces").
const ABOUT_RATE_AGE_MAX: Span = Span::hours(1);

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// The wallet service is not enabled on this installation.
    #[error("the wallet service is not offered")]
    NotOffered,
    /// The record's chain is not configured any more, or none of its nodes has named it yet.
    #[error("the blockchain is not in use at present")]
    ChainNotInUse,
    /// A field's value is not allowed.
    #[error("{0}")]
    Invalid(Fault),
    /// The record that a field names does not exist or belongs to another tenant.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// No rail pays out the amount.
    #[error("the amount cannot be paid out: it must be {min} to {max}")]
    Unpayable { min: Money, max: Money },
    #[error(transparent)]
    RateUnavailable(#[from] NoRate),
    /// The sanctions lists are too old to clear anything.
    #[error("the sanctions lists are too old: nothing can be cleared now")]
    ListsStale,
    /// Nothing would be delivered.
    #[error(
        "webhooks are off, so nothing would be sent: set the endpoint or enable webhooks first"
    )]
    WebhooksOff,
    /// No node answers for what has to be known first, or nodes disagree about it.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// The tenant's keys are unavailable.
    #[error(transparent)]
    Keys(#[from] SignFault),
    /// The command was refused.
    #[error(transparent)]
    Refused(Refused),
    /// The command was not decided, or its outcome is unknown.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The wallet service. Cheap to clone.
#[derive(Clone)]
pub struct Wallets {
    store: Store,
    engine: Engine,
    world: Arc<EngineContext>,
    /// Controllers known to be deployed; deployment is permanent.
    deployed: Arc<Mutex<BTreeSet<(ChainNumber, Address)>>>,
    tokens: Arc<Mutex<sponsor::TokenReadings>>,
}

impl Wallets {
    /// The service over its engine.
    pub fn new(store: Store, engine: Engine, world: Arc<EngineContext>) -> Wallets {
        Wallets { store, engine, world, deployed: Arc::default(), tokens: Arc::default() }
    }

    /// The store, for reads without rules of their own.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The engine, for following its commits.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn world(&self) -> &EngineContext {
        &self.world
    }

    /// The wallet service on each chain.
    ///
    /// # Errors
    /// [`Denied::NotOffered`]
    pub fn offered(&self) -> Result<&ChainContexts, Denied> {
        self.world.wallet.as_ref().ok_or(Denied::NotOffered)
    }

    /// The wallet service on the chain of a wallet, a request or a deposit.
    ///
    /// # Errors
    /// [`Denied::NotOffered`], [`Denied::ChainNotInUse`]
    pub fn offered_on(&self, chain: ChainNumber) -> Result<&ChainContext, Denied> {
        self.offered()?.on(chain).ok_or(Denied::ChainNotInUse)
    }

    /// A wallet under today's name of its chain.
    fn named_today(&self, mut wallet: Wallet) -> Wallet {
        if let Ok(offered) = self.offered_on(wallet.chain) {
            wallet.blockchain.clone_from(&offered.config.name);
        }
        wallet
    }

    /// The mid-market rate of a coin in a currency for the value of a balance, if one is young
    /// enough.
    pub fn mid(&self, coin: StableCoin, currency: Currency) -> Option<Decimal> {
        self.mid_of_age(coin, currency, VALUE_RATE_AGE_MAX)
    }

    /// The mid-market rate of a coin in a currency for the approximate amount that a sender sees, if
    /// one is young enough.
    pub fn about_rate(&self, coin: StableCoin, currency: Currency) -> Option<Decimal> {
        self.mid_of_age(coin, currency, ABOUT_RATE_AGE_MAX)
    }

    fn mid_of_age(&self, coin: StableCoin, currency: Currency, max_age: Span) -> Option<Decimal> {
        let now = self.world.clock.now();
        let mid = self.world.rates.mid(coin.currency(), currency)?;
        Some(mid.rate).filter(|rate| rate.is_positive() && now - mid.as_of <= max_age)
    }

    /// Draws up to `want` permits from a tenant's window of `limit` calls (`decisions.md`, "Rate
    /// limits").
    pub async fn draw_permits(
        &self,
        tenant: TenantId,
        group: &str,
        began_at: domain::time::Timestamp,
        want: u32,
        limit: u32,
    ) -> Result<Permits, Denied> {
        Ok(self.store.draw_permits(tenant, group, began_at, want, limit).await?)
    }

    /// Returns the caller's wallet or [`Denied::NotFound`].
    async fn own_wallet(&self, caller: &Caller, id: WalletId) -> Result<Wallet, Denied> {
        let wallet = self.store.wallet(caller.tenant, id).await?;
        Ok(self.named_today(wallet.ok_or(Denied::NotFound("wallet_id"))?))
    }

    async fn run(&self, tenant: TenantId, action: Action) -> Result<Outcome, Denied> {
        match self.engine.execute(Command { tenant, action }).await? {
            Outcome::Refused(refused) => Err(Denied::Refused(refused)),
            outcome => Ok(outcome),
        }
    }

    /// Carries out what was prepared; if that failed, what the same request created before.
    async fn run_or_replay(
        &self,
        tenant: TenantId,
        prepared: Result<Action, Denied>,
        idempotency: Option<Idempotency>,
    ) -> Result<Outcome, Denied> {
        match prepared {
            Ok(action) => self.run(tenant, action).await,
            Err(denied) => {
                let now = self.world.clock.now();
                made_before(&self.store, now, (tenant, idempotency), denied, Denied::Refused).await
            }
        }
    }

    fn is_known_deployed(&self, controller: (ChainNumber, Address)) -> bool {
        self.deployed.lock().unwrap_or_else(PoisonError::into_inner).contains(&controller)
    }

    fn note_deployed(&self, controller: (ChainNumber, Address)) {
        self.deployed.lock().unwrap_or_else(PoisonError::into_inner).insert(controller);
    }
}

/// The refusal of a frozen wallet, which no other lack may hide. The command repeats the check.
fn require_unfrozen(wallet: &Wallet) -> Result<(), Denied> {
    wallet.require_unfrozen().map_err(|refusal| Denied::Refused(Refused::Wallet(refusal)))
}

/// The actor of a release that was refused. A proposal's id in the audit log marks it as executed,
/// so an entry about the refusal does not have it.
fn not_executed(by: AuditContext) -> Box<AuditContext> {
    let request_id = by.request_id.filter(|id| !id.starts_with("approval:"));
    Box::new(AuditContext { request_id, ..by })
}

/// Makes a not-found error name the field that referred to the record.
fn not_found_as(field: &'static str) -> impl Fn(Denied) -> Denied {
    move |denied| match denied {
        Denied::Refused(Refused::NotFound) => Denied::NotFound(field),
        other => other,
    }
}
