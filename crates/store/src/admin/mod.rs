//! Administration: small transactions of their own, each of which also leaves an entry in the administration log.
//! Nothing here touches money or a payment's state.

pub(crate) mod access_keys;
pub(crate) mod alerts;
pub(crate) mod answers;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod meta;
pub(crate) mod permits;
pub(crate) mod roles;
pub(crate) mod secrets;
pub(crate) mod tenants;
mod wallet_policy;
pub(crate) mod webhooks;
