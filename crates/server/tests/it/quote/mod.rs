//! `/v2/quote`

mod create;
mod fields;
mod read;
mod refusals;
