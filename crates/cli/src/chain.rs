//! `corridor chain …`: rescans blocks. Only the running service can query the chain, so this
//! command requests a rescan through the store and waits for its report.

use clap::{Args, Subcommand};
use domain::chain::{Address, ChainNumber, TxHash};
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use engine::batcher::fresh_id;
use engine::rescan::{self, Report, Target};
use serde_json::json;
use service::clock::WallClock;
use store::Store;
use uuid::Uuid;

use super::failure::Failure;
use super::output::{self, Output};
use super::store_commands::open;
use super::tenants::StoreArgs;
use super::{Context, run_async};

/// Poll interval for the report.
const LOOK_EVERY: Span = Span::millis(200);
/// Delay before a request that another one overwrote is repeated.
const ASK_AGAIN: Span = Span::secs(2);

#[derive(Subcommand, Debug)]
pub enum ChainCommand {
    /// Rescan blocks and book payments that a node had omitted
    Rescan(RescanArgs),
}

/// Options of `chain rescan`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor chain rescan --tx 0x5e1d3a76fbf824220eafc8c79ad578ad2b67d01b0c2425eb1f1347e8f50882ab
  corridor chain rescan --address 0x8ba1f109551bD432803012645Ac136ddd64DBA72
  corridor chain rescan --from 23480000 --to 23481000 --output json

--tx rescans the block of this transaction, --address every block with a known payment to this escrow or wallet, --from
and --to an inclusive range of blocks. A payment found this way is a deposit like any other: it counts when it is deep
enough and a second node confirms it.

Exit codes: 0 rescanned, 1 nothing to rescan, 3 no service answered in time.")]
pub struct RescanArgs {
    /// Hash of a transaction that reportedly paid
    #[arg(long, value_name = "HASH", value_parser = rescan::parse_tx, conflicts_with_all = ["address", "from"])]
    tx: Option<TxHash>,
    /// Address of a payment request's escrow, or of a wallet
    #[arg(long, value_name = "ADDRESS", value_parser = rescan::parse_vault, conflicts_with = "from")]
    address: Option<Address>,
    /// First block of the range
    #[arg(long, value_name = "BLOCK", requires = "to", required_unless_present_any = ["tx", "address"])]
    from: Option<u64>,
    /// Last block of the range
    #[arg(long, value_name = "BLOCK", requires = "from")]
    to: Option<u64>,
    /// Chain, as the API names it [default: the first]
    #[arg(long, value_name = "NAME")]
    blockchain: Option<String>,
    /// Seconds to wait for the service
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    timeout: u32,
    #[command(flatten)]
    store: StoreArgs,
}

impl RescanArgs {
    fn target(&self) -> Result<Target, Failure> {
        match (self.tx, self.address, self.from, self.to) {
            (Some(tx), ..) => Ok(Target::Tx(tx)),
            (_, Some(address), ..) => Ok(Target::Vault(address)),
            (_, _, Some(from), Some(to)) => Target::blocks(from, to)
                .ok_or_else(|| Failure::Usage("--from must not be above --to".to_owned())),
            _ => Err(Failure::Usage("--tx, --address, or --from with --to is required".to_owned())),
        }
    }
}

pub fn run(command: &ChainCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ChainCommand::Rescan(args) => run_async(rescan(args, context)),
    }
}

async fn rescan(args: &RescanArgs, context: &Context) -> Result<(), Failure> {
    let target = args.target()?;
    let opened = open(&args.store, context).await?;
    let chain = opened.chain(&args.blockchain).await?;
    let within = Span::secs(args.timeout.into());
    let report = fulfilled(&opened.store, chain, target, within).await?;
    let Report { blocks, found, trouble, .. } = &report;
    match context.output {
        Output::Table if trouble.is_empty() => {
            let blocks = output::counted(*blocks, "block");
            let found = output::counted(*found, "missing transfer");
            output::line(&format!("{blocks} rescanned, {found} found"))?;
        }
        Output::Table => {}
        Output::Json => output::json(&json!({
            "at": report.at.to_string(), "blocks": blocks, "found": found, "trouble": trouble,
        }))?,
    }
    if trouble.is_empty() { Ok(()) } else { Err(Failure::Refused(trouble.clone())) }
}

/// Requests a rescan, repeatedly if another request overwrites it, and waits for its report.
async fn fulfilled(
    store: &Store,
    chain: ChainNumber,
    target: Target,
    within: Span,
) -> Result<Report, Failure> {
    let wish: Uuid = fresh_id(store);
    let until = WallClock.now() + within;
    let mut asked: Option<Timestamp> = None;
    loop {
        if let Some(report) = rescan::report(store, chain, wish).await.map_err(Failure::of_store)? {
            return Ok(report);
        }
        let now = WallClock.now();
        if now >= until {
            let message = "no service rescanned the chain in time; check that one is running and its chain answers";
            return Err(Failure::Unavailable(message.to_owned()));
        }
        if asked.is_none_or(|asked| now - asked >= ASK_AGAIN) {
            asked = Some(now);
            rescan::want(store, chain, wish, target).await.map_err(Failure::of_store)?;
        }
        WallClock.sleep_until(now + LOOK_EVERY).await;
    }
}
