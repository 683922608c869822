//! What is true of all operations.

mod bodies;
mod idempotency;
mod isolation;
mod limits;
mod precedence;
mod request_id;
mod routes;
