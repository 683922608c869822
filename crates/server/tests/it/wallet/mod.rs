//! Wallet Service v1: deposits to their ends, exchanges, control of wallets, who may do what.

mod access;
mod acts;
mod blacklist;
mod chain;
mod control;
mod deposits;
mod exceptions;
mod exchange;
mod history;
mod late;
mod links;
mod orders;
mod provision;
mod refunds;
mod requests;
mod restarts;
mod reviews;
mod risk;
