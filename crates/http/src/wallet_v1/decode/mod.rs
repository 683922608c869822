//! The requests of Wallet Service v1, read from bodies, query strings and paths (specification: "Endpoints"). Shape
//! only: what a wallet's state or a tenant's policy allows is the domain's.

mod control;
mod exchange;
mod lists;
mod provision;
mod request;
pub mod shapes;
#[cfg(test)]
mod tests;

pub use control::{BlacklistOrder, BlockOrder, ReviewDecision, blacklist, block, review, unblock};
pub use exchange::{BankAccount, OrderAsked, RateQuery, order, rate_query};
pub use lists::{
    DeliveryList, EXCHANGED, EventList, OrderList, Page, RequestList, ReviewList, TransactionList, deliveries, events,
    orders, requests, reviews, transactions,
};
pub use provision::{Provision, provision};
pub use request::{RequestAsked, payment_request};

/// Longest identifier that is looked at; ours have 36 characters.
const ID_MAX_CHARS: usize = 128;
/// Longest text where the specification names no limit.
const TEXT_MAX_CHARS: usize = 256;
/// Longest explanation: `details`, `reason`.
const EXPLANATION_MAX_CHARS: usize = 2_000;
