//! `corridor bench deposits` and `corridor bench webhooks`: options and nothing else.

use clap::Args;

use super::{Found, with_progress};
use bench::deposits::{self, DepositsSettings};
use bench::webhooks::{self, EVENTS_PER_DEPOSIT, WebhooksSettings};

/// Options of `bench deposits`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor bench deposits\n  corridor bench deposits --count 10000 --output json\n\n\
    Payments of USDC to links of a wallet each wait in the chain's pool; they are let into its blocks --per-block at a\n\
    time, as fast as blocks come. deposits/s counts from the first of these blocks to the last transfer.complete in the\n\
    log of events; latencies are those from a deposit's block to its event in the log.\n\
    The server that is measured is started, and stopped, by this command; it shares the machine with the load.\n\
    Exit code 1 unless every deposit was completed once, the ledger is what the chain says, and the books balance."
)]
pub struct DepositsArgs {
    /// How many deposits
    #[arg(long, default_value_t = 5_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15_000))]
    count: u32,
    /// Deposits of one block of the chain
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_500))]
    per_block: u32,
    /// Milliseconds between two blocks of the chain
    #[arg(long, default_value_t = 250, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=60_000))]
    block_ms: u64,
    /// Longest wait for the last deposit
    #[arg(long, default_value_t = 300, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    within: u64,
    /// An empty PostgreSQL database; it is not emptied afterwards [default: SQLite in a temporary directory]
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
    The events are made beforehand by deposits, three of each, and wait when the server starts; deliveries/s counts from\n\
    the first webhook to the last. The receiver is this command: it verifies every signature. Afterwards a plain HTTP\n\
    client sends it the same once more, for comparison.\n\
    Exit code 1 unless every event came, genuine and in the order of its payment request, and its row says so."
)]
pub struct WebhooksArgs {
    /// How many events; rounded up to whole deposits
    #[arg(long, default_value_t = 6_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=45_000))]
    count: u32,
    /// Longest wait for the last delivery
    #[arg(long, default_value_t = 300, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    within: u64,
    /// An empty PostgreSQL database; it is not emptied afterwards [default: SQLite in a temporary directory]
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
