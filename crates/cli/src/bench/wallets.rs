//! Options of `corridor bench deposits` and `corridor bench webhooks`.

use clap::Args;

use super::{Found, with_progress};
use bench::deposits::{self, DepositsSettings};
use bench::webhooks::{self, EVENTS_PER_DEPOSIT, WebhooksSettings};

/// Options of `bench deposits`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor bench deposits\n  corridor bench deposits --count 10000 --output json\n\n\
    USDC payments, each to a link of its own wallet, wait in the chain's pool and enter its blocks --per-block at a time,\n\
    at the block interval. deposits/s counts from the first of these blocks to the last transfer.complete in the event\n\
    log; latencies run from a deposit's block to its event in the log.\n\
    This command starts and stops the measured server, which shares the machine with the load.\n\
    Exit code 1 unless every deposit completed exactly once, the ledger matches the chain, and the books balance."
)]
pub struct DepositsArgs {
    /// Number of deposits in the run
    #[arg(long, default_value_t = 5_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15_000))]
    count: u32,
    /// Deposits per block of the chain
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_500))]
    per_block: u32,
    /// Block interval in milliseconds
    #[arg(long, default_value_t = 250, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=60_000))]
    block_ms: u64,
    /// Timeout for the last deposit
    #[arg(long, default_value_t = 300, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    within: u64,
    /// Empty PostgreSQL database; not emptied afterwards [default: SQLite in a temporary directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl DepositsArgs {
    pub(super) fn run(&self) -> anyhow::Result<Found> {
        let settings = DepositsSettings {
            count: self.count as usize,
            per_block: self.per_block as usize,
            block_ms: self.block_ms,
            within_s: self.within,
            database_url: self.database_url.clone(),
        };
        let report = with_progress(async |tell| deposits::run(&settings, tell).await)?;
        Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
    }
}

/// Options of `bench webhooks`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor bench webhooks\n  corridor bench webhooks --count 9000 --output json\n\n\
    Deposits create the events beforehand, three per deposit, and they are due when the server starts. deliveries/s counts\n\
    from the first webhook to the last. This command is the endpoint: it verifies every signature. Afterwards a plain HTTP\n\
    client sends the same requests, for comparison.\n\
    Exit code 1 unless every event arrived with a valid signature, in the order of its payment request, and is recorded."
)]
pub struct WebhooksArgs {
    /// Number of events, rounded up to whole deposits
    #[arg(long, default_value_t = 6_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=45_000))]
    count: u32,
    /// Timeout for the last delivery
    #[arg(long, default_value_t = 300, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    within: u64,
    /// Empty PostgreSQL database; not emptied afterwards [default: SQLite in a temporary directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl WebhooksArgs {
    pub(super) fn run(&self) -> anyhow::Result<Found> {
        let settings = WebhooksSettings {
            requests: (self.count as usize).div_ceil(EVENTS_PER_DEPOSIT),
            within_s: self.within,
            database_url: self.database_url.clone(),
        };
        let report = with_progress(async |tell| webhooks::run(&settings, tell).await)?;
        Ok(Found { json: report.json(), rows: report.rows(), failure: report.failure() })
    }
}
