//! Real processes: the program is started, killed, frozen and disconnected from its database while
//! clients pay. Its public API and the bank's own ledger then decide the result.

mod api;
mod bench;
mod checker;
mod cli;
mod database;
mod export;
mod failpoints;
mod guides;
mod harness;
mod kills;
mod load;
mod logs;
mod nodes;
mod outbound;
mod production;
mod random;
mod readme;
mod relay;
mod rig;
mod sandbox;
mod snippets;
mod wallets;
mod webhooks;

pub(crate) use readme::present;

/// Number of faults of a kind in a run: many if `CORRIDOR_LONG_RUN` is set, else few enough for CI.
fn faults(usual: u64, long: u64) -> u64 {
    if std::env::var_os("CORRIDOR_LONG_RUN").is_some_and(|value| !value.is_empty() && value != "0")
    {
        long
    } else {
        usual
    }
}

/// The seed of a run: `CORRIDOR_SEED`, to repeat a failed run, else `usual`.
fn seed(usual: u64) -> u64 {
    std::env::var("CORRIDOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
