//! Real processes: the program is started, killed, frozen and cut off from its database while clients pay, and is then
//! judged by its public API and the bank's own book alone.

mod api;
mod bench;
mod checker;
mod cli;
mod database;
mod failpoints;
mod guides;
mod harness;
mod kills;
mod load;
mod logs;
mod nodes;
mod random;
mod readme;
mod rig;
mod sandbox;
mod snippets;
mod wallets;
mod webhooks;

pub(crate) use readme::present;

/// How many faults of a kind a run makes: many where `CORRIDOR_LONG_RUN` is set, else as many as CI has time for.
fn faults(usual: u64, long: u64) -> u64 {
    if std::env::var_os("CORRIDOR_LONG_RUN").is_some_and(|value| !value.is_empty() && value != "0") {
        long
    } else {
        usual
    }
}

/// The seed of a run: `CORRIDOR_SEED`, to repeat one that failed, else `usual`.
fn seed(usual: u64) -> u64 {
    std::env::var("CORRIDOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
