//! Administration: small separate transactions, each of which also adds an entry to the audit log.
//! Nothing here touches funds or a payment's state.

pub(crate) mod access_keys;
pub(crate) mod alerts;
pub(crate) mod answers;
mod approval_document;
pub(crate) mod approval_outcome;
pub(crate) mod approvals;
pub(crate) mod brand;
pub(crate) mod case_files;
pub(crate) mod cases;
pub(crate) mod chains;
pub(crate) mod controllers;
pub(crate) mod customers;
pub(crate) mod departures;
pub(crate) mod environment;
pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod meta;
pub(crate) mod permits;
pub(crate) mod relays;
pub(crate) mod roles;
pub(crate) mod saved_views;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod switches;
pub(crate) mod tenants;
pub(crate) mod users;
mod wallet_policy;
pub(crate) mod webhooks;
