//! The engine's view of the installation: configuration and the ports to external systems, shared
//! by all its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::{Arc, Mutex, PoisonError};

use domain::bank::BankDirectory;
use domain::chain::{Address, ChainConfig, ChainFault, ChainNumber};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::order::Order;
use domain::payment_request::SenderDetails;
use domain::policy::{CorridorConfig, Corridors};
use domain::ports::{
    AddressScreen, BoxFuture, Chain, ChainAnalysis, ChainSigner, Clock, Contracts, NameScreen,
    Rail, RateBook, RateTerms, Receiver,
};
use domain::rail::RailId;
use domain::risk::proximity::ProximityTerms;
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use domain::wallet_event::WalletEventEntry;
use store::EventRecord;
use tokio::sync::SetOnce;
use uuid::Uuid;

use crate::health::RailHealth;
use crate::lag::JobLag;
use crate::pace::RailPace;
use crate::switches::Switches;

/// Why there is no rate to trade at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRate {
    /// It is missing or too old.
    #[error("no current rate from {} to {}", .0.code(), .1.code())]
    Missing(Currency, Currency),
    /// The stablecoin's price in USD is too far from 1.
    #[error("{} trades at {} USD: quotes and exchanges with it are stopped", .0.currency().code(), .1)]
    OffPeg(StableCoin, Decimal),
}

/// Configuration and ports of the payment service.
pub struct EngineContext {
    /// Corridors, rails and their limits.
    pub corridors: Arc<Corridors>,
    /// Banks and branches, by their codes.
    pub directory: Arc<BankDirectory>,
    pub rates: Arc<dyn RateBook>,
    /// Screens names on the sanction lists.
    pub screen: Arc<dyn NameScreen>,
    /// The connected rails by name.
    pub rails: BTreeMap<RailId, Arc<dyn Rail>>,
    /// The wallet service by chain; `None` = not enabled.
    pub wallet: Option<ChainContexts>,
    /// Delivery of the payment service's events; `None` = not enabled.
    pub payment_webhooks: Option<PaymentWebhooks>,
    /// The business clock: a sandbox may move it.
    pub clock: Arc<dyn Clock>,
    /// The wall clock, by which tokens are validated.
    pub wall_clock: Arc<dyn Clock>,
    /// Limits of the engine.
    pub tuning: Tuning,
    /// Recent payout durations of the rails.
    pub pace: RailPace,
    /// How late this node's workers are.
    pub lag: JobLag,
    pub health: RailHealth,
    /// What operators have switched off.
    pub switches: Switches,
}

impl EngineContext {
    /// Screens names on the lists in force.
    pub(crate) fn screened(&self, parties: &[Party<'_>], now: Timestamp) -> Screened {
        self.screen.screen(parties, now)
    }

    /// Screens the names of an order's parties on the lists in force.
    pub(crate) fn screened_order(&self, order: &Order, now: Timestamp) -> Screened {
        let parties = [
            Party {
                name: &order.sender_name,
                birthdate: order.sender_birthdate,
                country: Some(&order.sender_country),
            },
            Party {
                name: &order.beneficiary_name,
                birthdate: None,
                country: Some(order.country.alpha3()),
            },
        ];
        self.screened(&parties, now)
    }

    /// Screens an exchange order's account holder on the lists in force.
    pub(crate) fn screened_holder(
        &self,
        holder: &str,
        country: Country,
        now: Timestamp,
    ) -> Screened {
        let party = Party { name: holder, birthdate: None, country: Some(country.alpha3()) };
        self.screened(&[party], now)
    }

    /// Screens the name that a deposit's sender entered; `None` = no name was given.
    pub(crate) fn screened_sender(
        &self,
        sender: &SenderDetails,
        now: Timestamp,
    ) -> Option<Screened> {
        let name = sender.name()?;
        Some(self.screened(&[Party { name: &name, birthdate: None, country: None }], now))
    }

    /// Whether a result rests on older lists than a record's last one: it must not change what was
    /// decided. Newer lists arrive with the next refresh, or another node has them.
    pub(crate) fn is_behind(&self, screened: &Screened, version: &str, subject: Uuid) -> bool {
        let is_older = screened.is_older_than(version, self.clock.now());
        if is_older {
            metrics::counter!("corridor_screening_older_lists_total").increment(1);
            let own = &screened.list_version;
            tracing::warn!(%subject, lists = own, screened_on = version, "sanction lists are older than those of the last screening, will retry");
        }
        is_older
    }

    /// The rails that nothing is sent over at `now`: unhealthy ones and those switched off.
    pub fn resting_rails(&self, now: Timestamp) -> BTreeSet<RailId> {
        let mut rails = self.health.unhealthy(now);
        rails.extend(self.switches.rails_off());
        rails
    }

    /// The rate at which customers' money is exchanged in a corridor.
    pub(crate) fn bid(
        &self,
        base: Currency,
        quote: Currency,
        corridor: &CorridorConfig,
    ) -> Result<Decimal, NoRate> {
        self.bid_by(&corridor.rate_terms(self.clock.now()), base, quote)
    }

    /// The rate that fixes an amount of a currency in tokens, by the terms of exchanges.
    pub(crate) fn fixing_rate(
        &self,
        coin: StableCoin,
        currency: Currency,
    ) -> Result<Decimal, NoRate> {
        let to = self.wallet.as_ref().map_or(&[][..], |wallets| &wallets.first().exchange_to);
        let terms = self.corridors.rate_terms(currency, to, self.clock.now());
        let terms = terms.ok_or(NoRate::Missing(coin.currency(), currency))?;
        self.bid_by(&terms, coin.currency(), currency)
    }

    fn bid_by(
        &self,
        terms: &RateTerms,
        base: Currency,
        quote: Currency,
    ) -> Result<Decimal, NoRate> {
        let bid = self.rates.bid(base, quote, terms);
        bid.map(|bid| bid.rate).ok_or_else(|| self.no_rate(base, quote))
    }

    pub(crate) fn no_rate(&self, base: Currency, quote: Currency) -> NoRate {
        let traded = |coin: &StableCoin| [base, quote].contains(&coin.currency());
        let off_peg = |coin| Some(NoRate::OffPeg(coin, self.rates.off_peg(coin)?));
        let off_peg = StableCoin::ALL.into_iter().filter(traded).find_map(off_peg);
        off_peg.unwrap_or(NoRate::Missing(base, quote))
    }
}

/// The wallet service on each of the installation's chains.
#[derive(Clone)]
pub struct ChainContexts {
    first: Arc<ConfiguredChain>,
    further: Vec<Arc<ConfiguredChain>>,
}

impl ChainContexts {
    /// The chain of `[chain]` first.
    pub fn new(first: ChainContext, further: Vec<ChainContext>) -> ChainContexts {
        let further = further.into_iter().map(ConfiguredChain::new).collect();
        ChainContexts { first: ConfiguredChain::new(first), further }
    }

    /// The chain of `[chain]`, for what all chains share.
    pub fn first(&self) -> &ChainContext {
        self.first.configured()
    }

    /// Every configured chain, that of `[chain]` first.
    pub fn configured(&self) -> impl Iterator<Item = &Arc<ConfiguredChain>> {
        iter::once(&self.first).chain(&self.further)
    }

    /// The chains that work is done on: those that have a number.
    pub fn all(&self) -> impl Iterator<Item = &ChainContext> {
        self.configured().filter_map(|chain| chain.numbered())
    }

    /// The chain of this number; `None` = it is no longer configured.
    pub fn on(&self, chain: ChainNumber) -> Option<&ChainContext> {
        self.all().find(|world| world.config.number == chain)
    }

    /// Names the chain in a text for operators, where there is more than one.
    pub(crate) fn said_of(&self, chain: ChainNumber, what: String) -> String {
        match self.on(chain) {
            Some(world) if self.configured().count() > 1 => {
                format!("{}: {what}", world.config.name)
            }
            _ => what,
        }
    }

    /// The chain that the API calls so; that of `[chain]` without a name.
    pub fn named(&self, blockchain: Option<&str>) -> Option<&Arc<ConfiguredChain>> {
        let has_name = |name| self.configured().find(|it| it.configured().config.name == name);
        blockchain.map_or(Some(&self.first), has_name)
    }
}

/// A chain of the configuration. It has a number from the time when one of its nodes named it.
pub struct ConfiguredChain {
    configured: ChainContext,
    numbered: SetOnce<ChainContext>,
    /// Why it has no number, as of the latest attempt.
    reason: Mutex<Option<String>>,
}

impl ConfiguredChain {
    fn new(configured: ChainContext) -> Arc<ConfiguredChain> {
        let is_numbered = configured.config.number != ChainNumber::NONE;
        let numbered = SetOnce::new_with(is_numbered.then(|| configured.clone()));
        Arc::new(ConfiguredChain { configured, numbered, reason: Mutex::default() })
    }

    /// The chain without its number.
    pub const fn configured(&self) -> &ChainContext {
        &self.configured
    }

    /// The chain with its number; `None` = no node has named it yet.
    pub fn numbered(&self) -> Option<&ChainContext> {
        self.numbered.get()
    }

    /// Why it has no number yet; `None` before the first attempt.
    pub fn reason(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_reason(&self, reason: String) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    /// The same, once it has a number.
    pub(crate) async fn when_numbered(&self) -> &ChainContext {
        self.numbered.wait().await
    }

    /// Work on the chain begins.
    pub fn set_number(&self, number: ChainNumber) {
        let config = ChainConfig { number, ..(*self.configured.config).clone() };
        let numbered = ChainContext { config: Arc::new(config), ..self.configured.clone() };
        // A chain that has its number keeps it.
        drop(self.numbered.set(numbered));
    }
}

/// Dependencies of the wallet service on one chain, beyond those of payments.
#[derive(Clone)]
pub struct ChainContext {
    pub config: Arc<ChainConfig>,
    pub chain: Arc<dyn Chain>,
    /// Signs with the tenants' keys.
    pub signer: Arc<dyn ChainSigner>,
    pub contracts: Arc<dyn Contracts>,
    /// Screens addresses for sanctions.
    pub addresses: Arc<dyn AddressScreen>,
    /// Provider of chain analysis; `None` = not used.
    pub analysis: Option<Analysis>,
    /// The banks' webhook endpoints.
    pub receiver: Arc<dyn Receiver>,
    /// The body of an event's webhook: identical bytes on every call.
    pub envelope: fn(&WalletEventEntry) -> Vec<u8>,
    /// Destinations that an exchange may pay out to.
    pub exchange_to: Vec<Country>,
    /// Whether the cents of an amount determine its outcome (`decisions.md`, "Sandbox values").
    pub sandbox: bool,
}

impl ChainContext {
    /// Whether an account is on the issuer's list in a token's contract. A contract that reverts has no
    /// list; nodes that do not answer are a fault.
    pub fn lists(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        let asked = self.chain.is_blacklisted(token, account);
        Box::pin(async move {
            match asked.await {
                Err(ChainFault::Reverted { .. }) => Ok(false),
                answer => answer,
            }
        })
    }
}

/// The chain analysis provider, and how its results are used.
#[derive(Clone)]
pub struct Analysis {
    pub provider: Arc<dyn ChainAnalysis>,
    /// Thresholds from which a reviewer decides.
    pub terms: ProximityTerms,
    /// How long after a deposit's first screening attempt an unresponsive provider is retried; then
    /// a reviewer decides.
    pub patience: Span,
}

/// Delivery of the payment service's events.
#[derive(Clone)]
pub struct PaymentWebhooks {
    /// The banks' webhook endpoints.
    pub receiver: Arc<dyn Receiver>,
    /// The body of an event's webhook: the event as in `GET /v2/events`, identical bytes on every
    /// call.
    pub envelope: fn(&EventRecord) -> Vec<u8>,
}

/// Limits of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Maximum number of commands per batch.
    pub batch_max: usize,
    /// Maximum number of worker commands per API batch while callers queue up; they join every
    /// sixteenth batch.
    pub background_max: usize,
    /// How long workers' commands are held back after API commands were answered: callers that call
    /// again at once go first. Zero if the clock does not advance while commands are executed.
    pub callers_turn: Span,
    /// How soon after the last one a round of work begins: what comes in the meantime shares its
    /// messages, reads and commits. Zero if the clock does not advance while commands are executed.
    pub round: Span,
    /// Jobs that are later than this get as large a share of each batch as API commands.
    pub background_lag_max: Span,
    /// Maximum number of waiting commands; beyond it callers are refused.
    pub queue_max: usize,
    /// Concurrent batches, of different tenants.
    pub batches_in_flight: usize,
    /// Consecutive undisturbed batches of a tenant after which this node decides its next ones on
    /// cached rows, without loading.
    pub recall_after: u32,
    /// Maximum number of jobs that a worker leases at once.
    pub lease_max: usize,
    /// How long a leased job is exclusive.
    pub lease: Span,
    /// How often a worker polls for jobs that other nodes left.
    pub poll: Span,
    /// Maximum number of concurrent messages to one rail, and of webhooks to one tenant's endpoint.
    pub calls_in_flight: usize,
    /// How long a bank statement and our own reports may differ before that is a discrepancy.
    pub statement_grace: Span,
    /// How long a relay may take to send an event before that is an alert.
    pub relay_lag: Span,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            batch_max: 256,
            background_max: 4,
            callers_turn: Span::millis(2),
            round: Span::millis(25),
            background_lag_max: Span::secs(30),
            queue_max: 8_192,
            batches_in_flight: 2,
            recall_after: 8,
            lease_max: 128,
            lease: Span::secs(60),
            poll: Span::millis(250),
            calls_in_flight: 64,
            statement_grace: Span::hours(24),
            relay_lag: Span::mins(15),
        }
    }
}
