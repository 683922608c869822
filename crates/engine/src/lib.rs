//! The engine: the one way in for everything that changes state.
//!
//! A change is a [`command::Command`]. Commands gather in the [`batcher`], which loads what they need, lets `domain`
//! decide each in order of arrival, saves everything in one commit and then answers every caller with its own
//! outcome. [`workers`] lease the jobs that commits left behind, call the outside through ports, and report back as
//! commands. Nothing here speaks SQL, HTTP or XML, reads a clock other than the port, or spawns a task: whoever
//! runs the engine (the server, the simulator) drives its futures.

pub mod batcher;
pub mod command;
pub mod console;
pub mod decide;
pub mod failpoint;
pub mod feed;
pub mod health;
mod inbox;
pub mod lag;
mod listeners;
mod measure;
mod memory;
pub mod office;
pub mod pace;
pub mod payments;
pub mod planted;
mod queues;
pub mod reconcile;
pub mod rescan;
pub mod statement;
pub mod switches;
pub mod wallets;
pub mod workers;
pub mod world;
