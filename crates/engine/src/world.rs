//! What the engine knows about the installation: configuration and the ports to the outside, shared by all its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::bank::BankDirectory;
use domain::chain::ChainConfig;
use domain::policy::Corridors;
use domain::ports::{
    AddressScreen, Chain, ChainAnalysis, ChainSigner, Clock, Contracts, NameScreen, Rail, RateBook, Receiver,
};
use domain::rail::RailId;
use domain::risk::proximity::ProximityTerms;
use domain::time::{Span, Timestamp};
use domain::wallet_event::WalletEventEntry;
use store::EventRecord;

use crate::health::RailHealth;
use crate::lag::JobLag;
use crate::pace::RailPace;
use crate::switches::Switches;

/// Configuration and ports.
pub struct World {
    /// Corridors, rails and their limits.
    pub corridors: Arc<Corridors>,
    /// Banks and branches.
    pub directory: Arc<BankDirectory>,
    /// Mid-market rates.
    pub rates: Arc<dyn RateBook>,
    /// Sanction lists.
    pub screen: Arc<dyn NameScreen>,
    /// The connected rails by name.
    pub rails: BTreeMap<RailId, Arc<dyn Rail>>,
    /// What the wallet service needs; `None` = it is not offered.
    pub wallet: Option<WalletWorld>,
    /// How the payment service's events are delivered; `None` = they are not.
    pub payment_webhooks: Option<PaymentWebhooks>,
    /// What time it is for the business: a sandbox may move it.
    pub clock: Arc<dyn Clock>,
    /// What time it is on the wall: tokens are judged by it.
    pub wall_clock: Arc<dyn Clock>,
    /// Bounds of the engine's own work.
    pub tuning: Tuning,
    /// How long the rails took of late.
    pub pace: RailPace,
    /// How late this node's workers are.
    pub lag: JobLag,
    /// Which rails answer.
    pub health: RailHealth,
    /// What operators have switched off.
    pub switches: Switches,
}

impl World {
    /// The rails that nothing is to be sent over at `now`: those that do not answer and those that are switched off.
    pub fn resting_rails(&self, now: Timestamp) -> BTreeSet<RailId> {
        let mut rails = self.health.unhealthy(now);
        rails.extend(self.switches.rails_off());
        rails
    }
}

/// What the wallet service needs beside what payments need.
#[derive(Clone)]
pub struct WalletWorld {
    /// What is configured about the chain.
    pub config: Arc<ChainConfig>,
    /// The chain.
    pub chain: Arc<dyn Chain>,
    /// The tenants' keys.
    pub signer: Arc<dyn ChainSigner>,
    /// The tenants' contracts.
    pub contracts: Arc<dyn Contracts>,
    /// Addresses that nobody may be paid from or to.
    pub addresses: Arc<dyn AddressScreen>,
    /// Who is asked about payers' surroundings; `None` = nobody.
    pub analysis: Option<Analysis>,
    /// The banks' receivers of webhooks.
    pub receiver: Arc<dyn Receiver>,
    /// The body of an event's webhook: the same bytes whenever it is asked for.
    pub envelope: fn(&WalletEventEntry) -> Vec<u8>,
    /// Whether the cents of an amount say what becomes of it (`decisions.md`, "Sandbox values").
    pub sandbox: bool,
}

/// Who is asked about payers' surroundings, and what follows.
#[derive(Clone)]
pub struct Analysis {
    /// The provider.
    pub provider: Arc<dyn ChainAnalysis>,
    /// From where on a person looks.
    pub terms: ProximityTerms,
    /// How long after a deposit is to be screened the provider is asked again while it does not answer; then a person decides.
    pub patience: Span,
}

/// How the payment service's events are delivered.
#[derive(Clone)]
pub struct PaymentWebhooks {
    /// The banks' receivers of webhooks.
    pub receiver: Arc<dyn Receiver>,
    /// The body of an event's webhook: the event as `GET /v2/events` shows it, the same bytes whenever it is asked for.
    pub envelope: fn(&EventRecord) -> Vec<u8>,
}

/// Bounds of the engine's own work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Most commands of one batch.
    pub batch_max: usize,
    /// Most worker commands for each batch of API commands, in a burst of those; they go together with every sixteenth.
    pub background_max: usize,
    /// How long after API commands were answered workers' commands alone wait for the next ones: callers that ask again at
    /// once are heard first. None where the clock stands still while commands are executed.
    pub callers_turn: Span,
    /// Jobs that are later than this get as large a share of each batch as the API's commands.
    pub background_lag_max: Span,
    /// Most commands that wait; beyond it callers are told to come back.
    pub queue_max: usize,
    /// Batches in flight at once, of different tenants.
    pub batches_in_flight: usize,
    /// After how many batches of a tenant in a row that nobody else came between this node's next ones are decided on what it
    /// remembers, without loading rows.
    pub recall_after: u32,
    /// Most jobs that a worker takes at once.
    pub lease_max: usize,
    /// How long a taken job is nobody else's.
    pub lease: Span,
    /// How often a worker looks for jobs that another node left.
    pub poll: Span,
    /// Most messages to rails under way at once.
    pub calls_in_flight: usize,
    /// How long a bank's statement and our own reports may be apart before that is a break.
    pub statement_grace: Span,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            batch_max: 256,
            background_max: 4,
            callers_turn: Span::millis(2),
            background_lag_max: Span::secs(30),
            queue_max: 8_192,
            batches_in_flight: 2,
            recall_after: 8,
            lease_max: 128,
            lease: Span::secs(60),
            poll: Span::millis(250),
            calls_in_flight: 64,
            statement_grace: Span::hours(24),
        }
    }
}
