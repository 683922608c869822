//! `/v2/payment`

mod countries;
mod create;
mod external_id;
mod fields;
mod funds;
mod needs;
mod quotes;
