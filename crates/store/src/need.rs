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

macro_rules! need {
    ($($(#[$doc:meta])* $field:ident: $key:ty,)+) => {
        /// The rows of a batch. Every tenant in it is locked by its head row, in id order, before anything else is
        /// read, so that all other rows of the tenant are read as the last commit left them.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Need {
            /// Tenants whose head and policy-independent accounts are loaded.
            pub tenants: BTreeSet<TenantId>,
            $($(#[$doc])* pub $field: BTreeSet<(TenantId, $key)>,)+
        }

        impl Need {
            /// Adds all that `other` names.
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
    /// Quotes.
    quotes: QuoteId,
    /// Payments, each with its job and its attempts.
    payments: PaymentId,
    /// Further attempts, where a report may be about an older one.
    attempts: AttemptId,
    /// external_ids that may be taken.
    external_ids: String,
    /// Counters of open quotes.
    open_quotes: Country,
    /// Idempotency records.
    idempotency: IdempotencyKey,
}
