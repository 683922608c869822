//! The simulator: the real domain, engine and SQL store, single-threaded under simulated time, with simulated bank,
//! clients, operators and two service nodes, while things go wrong on purpose.
//!
//! [`schedule`] runs one seed, [`campaign`] many, [`planted`] proves that bugs would be found. Development only:
//! nothing of the service depends on it.

mod actors;
mod audit;
pub mod bench;
pub mod campaign;
pub mod faults;
mod installation;
pub mod minimise;
pub mod planted;
pub mod random;
mod run;
pub mod schedule;
pub mod services;
mod wallet_installation;
