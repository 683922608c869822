//! What a batch of commands names before it is decided: the rows that the store loads for it.

use std::collections::BTreeSet;

use domain::country::Country;
use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId};

/// An `Idempotency-Key` in its scope (`decisions.md`: tenant + method + path).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey {
    /// Method and path (`POST /v2/payment`).
    pub scope: String,
    /// The key as the client sent it.
    pub key: String,
}

/// The rows of a batch. Every tenant in it is locked by its head row, in id order, before anything else is read, so
/// that all other rows of the tenant are read as the last commit left them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Tenants whose head, policy-independent accounts and open-quote counters are loaded.
    pub tenants: BTreeSet<TenantId>,
    /// Quotes.
    pub quotes: BTreeSet<(TenantId, QuoteId)>,
    /// Payments, each with its job and its attempts.
    pub payments: BTreeSet<(TenantId, PaymentId)>,
    /// Further attempts, where a report may be about an older one.
    pub attempts: BTreeSet<(TenantId, AttemptId)>,
    /// external_ids that may be taken.
    pub external_ids: BTreeSet<(TenantId, String)>,
    /// Counters of open quotes.
    pub open_quotes: BTreeSet<(TenantId, Country)>,
    /// Idempotency records.
    pub idempotency: BTreeSet<(TenantId, IdempotencyKey)>,
}

impl Need {
    /// Adds all that `other` names.
    pub fn merge(&mut self, other: Need) {
        self.tenants.extend(other.tenants);
        self.quotes.extend(other.quotes);
        self.payments.extend(other.payments);
        self.attempts.extend(other.attempts);
        self.external_ids.extend(other.external_ids);
        self.open_quotes.extend(other.open_quotes);
        self.idempotency.extend(other.idempotency);
    }
}
