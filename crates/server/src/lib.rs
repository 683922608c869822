//! The binary's rooms: configuration, telemetry, the API client, and the commands of the command line. Nothing here
//! decides about money.

pub mod bench;
pub mod cli;
pub mod client;
pub mod config;
#[cfg(test)]
mod reference;
pub mod sandbox;
pub mod service;
pub mod service_manager;
pub mod telemetry;
