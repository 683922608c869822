//! Reads outside batches: on connections that never write and never wait for those that do.

pub(crate) mod chain;
pub(crate) mod console;
pub(crate) mod deliveries;
pub(crate) mod deposits;
pub(crate) mod events;
pub(crate) mod exchanges;
pub(crate) mod jobs;
pub(crate) mod keyset;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod page;
pub(crate) mod payment_deliveries;
pub(crate) mod payments;
pub(crate) mod recalls;
pub(crate) mod reconcile;
pub(crate) mod references;
pub(crate) mod requests;
pub(crate) mod statement;
pub(crate) mod sweeps;
pub(crate) mod upkeep;
pub(crate) mod wallet_events;
pub(crate) mod wallet_office;
pub(crate) mod wallets;
