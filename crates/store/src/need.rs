//! The rows that a batch of commands names before it is decided, and that the store loads for it.

use std::collections::BTreeSet;

use domain::chain::{Address, ChainNumber};
use domain::country::Country;
use domain::ids::{
    AttemptId, ChainTxId, DepositId, EventId, ExchangeId, IntentId, PaymentId, PaymentRequestId,
    QuoteId, SweepId, TenantId, WalletId,
};
use domain::ledger::AccountCode;
use domain::sender_limit::UsageKey;
use uuid::Uuid;

/// An `Idempotency-Key` in its scope (`decisions.md`: tenant + method + path).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey {
    /// Method and path (`POST /v2/payment`).
    pub scope: String,
    /// The key as the client sent it.
    pub key: String,
}

/// A bank's customer on a chain, who has one wallet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Customer {
    /// The bank's own customer id.
    pub customer_id: String,
    pub chain: ChainNumber,
}

macro_rules! need {
    ($($(#[$doc:meta])* $field:ident: $key:ty,)+) => {
        /// The rows of a batch. Every tenant in it is locked by its head row, in id order, before
        /// anything else is read, so that all other rows of the tenant are read as of the last
        /// commit.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Need {
            /// Tenants whose head and policy-independent accounts are loaded.
            pub tenants: BTreeSet<TenantId>,
            $($(#[$doc])* pub $field: BTreeSet<(TenantId, $key)>,)+
        }

        impl Need {
            /// Adds everything that `other` names.
            pub fn merge(&mut self, other: Need) {
                self.tenants.extend(other.tenants);
                $(self.$field.extend(other.$field);)+
            }

            /// Whether every tenant whose rows are named is among the tenants, and so locked.
            pub(crate) fn covers_its_tenants(&self) -> bool {
                $(self.$field.iter().all(|key| self.tenants.contains(&key.0)))&&+
            }
        }
    };
}

need! {
    quotes: QuoteId,
    /// Payments, each with its job and its attempts.
    payments: PaymentId,
    /// Payments whose recalls are loaded too, each with its job.
    recalls: PaymentId,
    /// Further attempts, since a report may concern an older one.
    attempts: AttemptId,
    /// Senders' usage of rails that limit it.
    usage_by_rail: UsageKey,
    /// `external_id`s that may be taken.
    external_ids: String,
    /// Counters of open quotes.
    open_quotes: Country,
    idempotency: IdempotencyKey,
    /// Wallets, each with its job.
    wallets: WalletId,
    /// Customers who may have a wallet.
    customers: Customer,
    /// Customers who may have a record with their KYC level.
    customer_records: String,
    /// Payment requests, each with its job.
    requests: PaymentRequestId,
    /// Sender submissions, by their number within the request.
    senders: (PaymentRequestId, u32),
    /// Deposits, each with its job.
    deposits: DepositId,
    /// Exchange orders, each with its job and its attempts.
    exchanges: ExchangeId,
    /// Intents, each with its job.
    intents: IntentId,
    sweeps: SweepId,
    /// Our transactions, each with its job and its signed attempts.
    chain_txs: ChainTxId,
    /// Signers of a chain.
    signers: (ChainNumber, Address),
    /// Gas of a chain's sponsored transfers, by number of the UTC day.
    sponsored_gas: (ChainNumber, i64),
    /// What may move a prefund or fund a controller, by [`domain::ledger::funding_subject`].
    fundings: Uuid,
    /// Accounts of one request or wallet; all others are loaded with their tenant.
    accounts: AccountCode,
    /// Delivery positions of aggregates, by the aggregates' ids.
    streams: Uuid,
    /// Deliveries, by their events, each with its job.
    deliveries: EventId,
    /// The tenant's webhook endpoint.
    receivers: (),
    /// The end of the tenant's audit log, for users' actions.
    audits: (),
    /// Jobs of other records.
    jobs: Uuid,
    /// Roles whose holders sent commands, by name. Locked until the batch ends, so that no other
    /// node takes one of them during it.
    roles: String,
}
