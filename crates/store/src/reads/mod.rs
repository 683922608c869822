//! What is read outside batches: on connections that never write and never wait for those that do.

pub(crate) mod events;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod payments;
pub(crate) mod upkeep;
