//! The engine: the single entry point for every change of state.
//!
//! A change is a [`command::Command`]. Commands gather in the [`batcher`], which loads the rows
//! they need, lets `domain` decide each in order of arrival, saves everything in one commit and
//! then answers every caller with its outcome. [`workers`] lease the jobs that commits create, call
//! external systems through ports, and report back as commands. Nothing here speaks SQL, HTTP or
//! XML, reads a clock other than the port, or spawns a task: the caller of the engine (server or
//! simulator) drives its futures.

pub mod alerts;
pub mod backoffice;
pub mod batcher;
mod cache;
pub mod chains;
pub mod command;
pub mod console;
pub mod context;
pub mod decide;
pub mod error;
pub mod failpoint;
pub mod feed;
pub mod health;
mod inbox;
pub mod lag;
mod measure;
pub mod pace;
pub mod payments;
mod queues;
mod recent;
pub mod reconcile;
pub mod relay;
pub mod rescan;
pub mod statement;
pub mod stop;
mod subscribed_tenants;
pub mod switches;
pub mod wallets;
pub mod workers;
