//! The parties of a schedule, each with its own ledger of truth: bank, rails, service nodes, clients, operators.

mod bank;
mod client;
mod cluster;
mod follow;
mod operator;
mod rail;
mod trouble;
mod workload;

pub use bank::Bank;
pub use client::{Truth, clients};
pub use cluster::Cluster;
pub use operator::operate;
pub use rail::Network;
pub use trouble::{freeze, make_trouble};
pub use workload::Workload;
