//! The parties of a schedule, each with its own ledger of truth: bank, rails, service nodes, clients, operators.

mod bank;
mod chain;
mod client;
mod cluster;
mod dialect;
mod follow;
mod lists;
mod operator;
pub mod prices;
mod rail;
mod stops;
mod trouble;
mod wallets;
mod workload;

pub use bank::Bank;
pub use chain::{
    Blocks, ChainWorld, Constitution, Controller, FINAL_BEHIND, Fact, Keys, SAFE_BEHIND, State,
    controller_of, treasury_of,
};
pub use client::{Truth, clients};
pub use cluster::{Cluster, WalletSide};
pub use lists::{LIST_SOURCES, ListWorld};
pub use operator::operate;
pub use rail::Network;
pub use stops::stop_payments;
pub use trouble::{freeze, make_trouble};
pub use wallets::{Banks, Wishes, customers, officers};
pub use workload::Workload;
