//! Real processes: the program is started, killed, frozen and disconnected from its database while
//! clients pay. Its public API and the bank's own ledger then decide the result.

mod bench;
mod cli;
mod database;
mod export;
mod failpoints;
mod guides;
mod kills;
mod logs;
mod nodes;
mod outbound;
mod pooler;
mod production;
mod readme;
mod relay;
mod samples;
mod sandbox;
mod snippets;
mod steady;
mod upgrade;
mod wallets;
mod webhooks;

use chaos::{api, harness, judge, load, random, rig};
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
