//! `GET /v2/payments` and `GET /v2/payments/{id}` from outside.

mod list;
mod read;
