//! `GET /v2/payments` and `GET /v2/payments/{id}` from the outside.

mod list;
mod read;
