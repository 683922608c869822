//! `GET /v2/events` from outside: contents, pages, streams, and webhooks.

mod contents;
mod poll;
mod streams;
mod webhooks;
