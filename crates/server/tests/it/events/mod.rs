//! `GET /v2/events` from the outside: contents, pages, streams.

mod contents;
mod poll;
mod streams;
