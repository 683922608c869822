//! Wallet Service v1: deposits to their ends, exchanges, control of wallets, who may do what.

mod access;
mod chain;
mod control;
mod deposits;
mod exchange;
