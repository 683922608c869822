//! The wallet side of the console: what its pages show after real flows, and what their forms do.

mod connections;
mod control;
mod decisions;
mod four_eyes;
mod installation;
pub mod officer;
mod orders;

use officer::Officer;
