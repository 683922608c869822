//! Corridor's business decisions, and nothing else.
//!
//! Each rule of money movement is a pure function over plain values: exact numbers, identifiers,
//! quotes, orders, payments, attempts, the ledger. Nothing in this crate reads a clock, draws a
//! random number, opens a socket, speaks SQL or uses binary floating point: time and identifiers
//! are arguments, effects are return values.

#![warn(missing_docs)]

#[macro_use]
pub mod names;

pub mod account_check;
pub mod approval;
pub mod attempt;
pub mod audit;
pub mod bank;
pub mod bank_statement;
pub mod bic;
pub mod brand;
pub mod calendar;
pub mod case_file;
pub mod chain;
pub mod chain_tx;
pub mod characters;
pub mod coin_amount;
pub mod country;
pub mod currency;
pub mod decimal;
pub mod decision;
pub mod delivery;
pub mod deposit;
pub mod e164;
pub mod email;
pub mod event;
pub mod exchange;
pub mod fault;
pub mod grouping;
pub mod hex;
pub mod holder_name;
pub mod iban;
pub mod identity;
pub mod ids;
pub mod iso3166;
pub mod job;
pub mod ledger;
pub mod money;
pub mod name_words;
pub mod order;
pub mod payment;
pub mod payment_request;
pub mod payment_search;
pub mod phone;
pub mod policy;
pub mod ports;
pub mod quote;
pub mod rail;
pub mod rail_ids;
pub mod rail_text;
pub mod recall;
pub mod relay;
pub mod risk;
pub mod route;
pub mod screening;
pub mod sender_limit;
pub mod sponsor;
#[cfg(test)]
mod states_doc;
pub mod sweep;
#[cfg(test)]
mod test_values;
pub mod time;
pub mod user;
pub mod wallet;
pub mod wallet_effects;
pub mod wallet_event;
pub mod wallet_policy;
pub mod webhook;
