//! The wallet service over the real store (SQLite in memory), with every external party scripted.

mod audit;
mod batches;
mod chains;
mod controls;
mod deliveries;
mod executed;
mod fees;
mod four_eyes;
mod orders;
mod outside;
mod pay_page;
mod provisioning;
mod rails;
mod requests;
mod restored;
mod reviews;
mod screening;
mod statements;
mod watching;
mod who_paid;
mod world;
