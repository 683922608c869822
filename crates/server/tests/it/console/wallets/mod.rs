//! The wallet side of the console: pages after real flows, and forms.

mod connections;
mod control;
mod decisions;
mod four_eyes;
mod installation;
pub mod officer;
mod orders;
mod rescans;

use officer::Officer;
