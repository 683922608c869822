//! `/v2/payments`

mod list;
mod read;
