//! `/v2/events`

mod contents;
mod poll;
mod streams;
