//! The command line, through the real program against a running sandbox.

mod access;
mod decisions;
mod help;
mod operations;
mod payments;
mod wallets;
mod webhooks;
