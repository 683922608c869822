//! `GET /v2/events` from the outside: contents, pages, streams, and the same as webhooks.

mod contents;
mod poll;
mod streams;
mod webhooks;
