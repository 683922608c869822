//! `/sandbox`: controlling the simulated parties.

mod access;
mod book;
mod clock;
mod steer;
