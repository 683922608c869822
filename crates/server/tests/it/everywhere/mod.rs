//! Rules for all operations.

mod bodies;
mod idempotency;
mod isolation;
mod limits;
mod overload;
mod precedence;
mod request_id;
mod routes;
