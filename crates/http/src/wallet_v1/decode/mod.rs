//! Decodes requests of Wallet Service v1 from bodies, query strings and paths (specification:
//! "Endpoints"). Structure only: rules about wallet states and tenant policies are the domain's.

mod control;
mod exchange;
mod lists;
mod provision;
mod request;
pub mod shapes;
#[cfg(test)]
mod tests;

pub use control::{
    BlacklistOrder, BlockOrder, ReviewDecision, blacklist, block, no_fields, review, unblock,
};
pub use exchange::{BankAccount, OrderAsked, RateQuery, order, rate_query};
pub use lists::{
    DeliveryList, EXCHANGED, EventList, OrderList, Page, RequestList, ReviewList, TransactionList,
    deliveries, events, orders, requests, reviews, transactions,
};
pub use provision::{Provision, provision};
pub use request::{RequestAsked, payment_request};

/// Maximum length of an identifier that is looked up; the service's own have 36 characters.
const ID_MAX_CHARS: usize = 128;
/// Maximum text length where the specification sets none.
const TEXT_MAX_CHARS: usize = 256;
/// Maximum length of an explanation: `details`, `reason`.
const EXPLANATION_MAX_CHARS: usize = 2_000;
