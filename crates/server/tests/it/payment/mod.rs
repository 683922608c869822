//! `POST /v2/payment` from outside.

mod account_checks;
mod countries;
mod create;
mod external_id;
mod fields;
mod funds;
mod needs;
mod quotes;
