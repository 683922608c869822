//! The wallet service over the real store (SQLite in memory), with every outside party scripted.

mod controls;
mod deliveries;
mod orders;
mod outside;
mod pay_page;
mod provisioning;
mod requests;
mod reviews;
mod screening;
mod world;
