//! `POST /v2/quote` and `GET /v2/quote/{id}` from outside.

mod create;
mod fields;
mod read;
mod refusals;
