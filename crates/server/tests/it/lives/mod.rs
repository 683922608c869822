//! Payments followed to their final state.

mod acknowledgements;
pub mod connections;
mod connector;
mod dialects;
mod endings;
mod messages;
mod profiles;
mod rails;
mod recalls;
mod schemas;
mod screening;
mod sender_limits;
mod sftp;
mod statements;
