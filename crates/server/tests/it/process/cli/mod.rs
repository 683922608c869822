//! The command line, through the real program against a running sandbox.

mod access;
mod approvals;
mod audit;
mod bank_statements;
mod connectors;
mod decisions;
mod funds;
mod help;
mod operations;
mod payments;
mod policy;
mod rails;
mod rates;
mod statements;
mod terminal;
mod users;
mod wallets;
mod webhooks;
