//! The operator console in a browser's place: what its pages show and what its forms do.

mod audit;
mod browser;
mod payments;
mod provider;
mod sign_in;
mod wallets;
