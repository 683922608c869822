//! Payments followed to their final state.

mod dialects;
mod endings;
mod messages;
mod rails;
mod recalls;
mod schemas;
mod screening;
mod sender_limits;
mod statements;
