//! `corridor export …`: payments, transfers and events of a period as Parquet files for a
//! warehouse, read from the store page by page.

mod file;
mod tables;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use domain::country::Country;
use domain::ports::Clock as _;
use domain::relay::EventLog;
use domain::time::{Span, Timestamp};
use serde_json::json;
use store::{Store, Tenant};

use super::failure::Failure;
use super::ledger::statement::instant;
use super::new_file::NewFile;
use super::output::{self, Output};
use super::store_commands::open;
use super::tenants::StoreArgs;
use super::{Context, run_async};
use file::{Column, ParquetFile};
use http_api::{payments_v2, wallet_v1};
use tables::{EVENTS, EventRow, ExportedEvent, Of, PAYMENTS, PaymentRow, TRANSFERS, TransferRow};

/// Rows per read of the store.
const PAGE: usize = 1_000;
/// How far the clocks of several nodes may differ: transfers are in order but for this.
const CLOCKS_DIFFER: Span = Span::hours(1);

#[derive(Subcommand, Debug)]
pub enum ExportCommand {
    /// Payments by time of acceptance, in their current state
    #[command(after_help = "Example:
  corridor export payments --from 2026-11-01 --until 2026-12-01 --file payments-2026-11.parquet

Ids and codes are strings, amounts DECIMAL(38,6), rates DECIMAL(38,12), times TIMESTAMP in microseconds UTC. The file has no
names, addresses or account numbers.")]
    Payments(ExportArgs),
    /// Transfers of the ledger by time of booking
    #[command(after_help = "Example:
  corridor export transfers --from 2026-11-01 --until 2026-12-01 --file transfers-2026-11.parquet

The balance of an account is the sum of its credits less its debits of kind posted and post_pending.")]
    Transfers(ExportArgs),
    /// Events of both services by time of occurrence
    #[command(after_help = "Example:
  corridor export events --from 2026-11-21 --until 2026-11-22 --file events-2026-11-21.parquet

Events are stored for 30 days, and longer while a relay has not sent them.")]
    Events(EventArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Apache Parquet with Snappy compression
    Parquet,
}

/// Options of `export …`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Start of the period, inclusive: a day or an instant (RFC 3339) [default: everything stored]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    from: Option<Timestamp>,
    /// End of the period, exclusive: a day or an instant [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    until: Option<Timestamp>,
    /// Only this tenant, by tag [default: all tenants]
    #[arg(long, value_name = "TAG")]
    tenant: Option<String>,
    /// Output file; it appears under this name once it is complete
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Format of the output file
    #[arg(long, value_enum, default_value = "parquet")]
    format: Format,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `export events`.
#[derive(Args, Debug)]
pub struct EventArgs {
    /// Include each event as JSON, as the event API returns it: with names and account numbers
    #[arg(long)]
    payload: bool,
    #[command(flatten)]
    of: ExportArgs,
}

/// The period and the tenants of an export.
struct Wanted {
    store: Store,
    tenants: Vec<Tenant>,
    from: Timestamp,
    until: Timestamp,
}

impl Wanted {
    fn includes(&self, at: Timestamp) -> bool {
        at >= self.from && at < self.until
    }
}

pub fn run(command: &ExportCommand, context: &Context) -> Result<(), Failure> {
    let args = match command {
        ExportCommand::Payments(args) | ExportCommand::Transfers(args) => args,
        ExportCommand::Events(args) => &args.of,
    };
    let Format::Parquet = args.format;
    run_async(async {
        let wanted = wanted(args, context).await?;
        let out = NewFile::create(&args.file)?;
        let (out, rows) = match command {
            ExportCommand::Payments(_) => {
                let mut file = ParquetFile::create("payments", &PAYMENTS, out)?;
                payments(&wanted, &mut file).await?;
                file.finish()?
            }
            ExportCommand::Transfers(_) => {
                let mut file = ParquetFile::create("transfers", &TRANSFERS, out)?;
                transfers(&wanted, &mut file).await?;
                file.finish()?
            }
            ExportCommand::Events(args) => {
                let columns: &[Column<EventRow>] = match args.payload {
                    true => &EVENTS,
                    false => &EVENTS[..EVENTS.len() - 1],
                };
                let mut file = ParquetFile::create("events", columns, out)?;
                events(&wanted, args.payload, &mut file).await?;
                file.finish()?
            }
        };
        out.finish()?;
        match context.output {
            Output::Table => {
                output::remark(&format!(
                    "{} exported to {}",
                    output::counted(rows, "row"),
                    args.file.display()
                ));
                Ok(())
            }
            Output::Json => output::json(&json!({
                "file": args.file.display().to_string(),
                "rows": rows,
            })),
        }
    })
}

async fn wanted(args: &ExportArgs, context: &Context) -> Result<Wanted, Failure> {
    let opened = open(&args.store, context).await?;
    let tenants = match &args.tenant {
        Some(tag) => vec![opened.tagged(tag).await?],
        None => opened.store.tenants().await.map_err(Failure::of_store)?,
    };
    let now = service::business_clock(&opened.store).await.map_err(Failure::unavailable)?.now();
    let (from, until) = (args.from.unwrap_or(Timestamp(0)), args.until.unwrap_or(now));
    if until <= from {
        return Err(Failure::Usage("--until: must be after --from".to_owned()));
    }
    Ok(Wanted { store: opened.store, tenants, from, until })
}

type File<'a, R> = ParquetFile<'a, R, NewFile>;

async fn payments(wanted: &Wanted, file: &mut File<'_, PaymentRow>) -> Result<(), Failure> {
    for tenant in &wanted.tenants {
        for country in Country::ALL {
            let mut mark = (wanted.from, None);
            loop {
                let of = (tenant.id, country);
                let page = wanted.store.payments_after(of, mark, wanted.until, PAGE).await;
                let page = page.map_err(Failure::of_store)?;
                let is_last = page.len() < PAGE;
                for row in page {
                    mark = (row.payment.accepted_at, Some(row.payment.id));
                    file.write(&Of { tenant: tenant.tag.clone(), row })?;
                }
                if is_last {
                    break;
                }
            }
        }
    }
    Ok(())
}

async fn transfers(wanted: &Wanted, file: &mut File<'_, TransferRow>) -> Result<(), Failure> {
    for tenant in &wanted.tenants {
        let since = wanted.store.transfers_since(tenant.id, wanted.from).await;
        let mut after = Some(since.map_err(Failure::of_store)?);
        loop {
            let page = wanted.store.transfers(tenant.id, after, PAGE).await;
            let page = page.map_err(Failure::of_store)?;
            let is_past = |at: Timestamp| at >= wanted.until + CLOCKS_DIFFER;
            let is_last = page.len() < PAGE || page.first().is_some_and(|first| is_past(first.at));
            for row in page {
                after = Some(row.id);
                if wanted.includes(row.at) {
                    file.write(&Of { tenant: tenant.tag.clone(), row })?;
                }
            }
            if is_last {
                break;
            }
        }
    }
    Ok(())
}

async fn events(
    wanted: &Wanted,
    with_payload: bool,
    file: &mut File<'_, EventRow>,
) -> Result<(), Failure> {
    for tenant in &wanted.tenants {
        for log in EventLog::ALL {
            let log = Log { store: &wanted.store, tenant, log, with_payload };
            let mut after = log.before(wanted.from).await.map_err(Failure::of_store)?;
            loop {
                let page = log.after(after, PAGE).await.map_err(Failure::of_store)?;
                let is_past = |row: &ExportedEvent| row.at >= wanted.until + CLOCKS_DIFFER;
                let is_last = page.len() < PAGE || page.last().is_some_and(is_past);
                for row in page {
                    after = row.seq;
                    if wanted.includes(row.at) {
                        file.write(&Of { tenant: tenant.tag.clone(), row })?;
                    }
                }
                if is_last {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// A tenant's log of one service.
struct Log<'a> {
    store: &'a Store,
    tenant: &'a Tenant,
    log: EventLog,
    with_payload: bool,
}

impl Log<'_> {
    /// A number up to which all events are earlier than `from`, by bisection: numbers are in time
    /// order, apart from the nodes' clocks.
    async fn before(&self, from: Timestamp) -> Result<i64, store::StoreError> {
        let head = match self.log {
            EventLog::Payment => self.store.event_head(self.tenant.id).await?,
            EventLog::Wallet => self.store.wallet_event_head(self.tenant.id).await?,
        };
        let (mut low, mut high) = (0, head);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.after(middle, 1).await?.first() {
                Some(event) if event.at < from - CLOCKS_DIFFER => low = event.seq,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// The events after a number.
    async fn after(
        &self,
        after: i64,
        limit: usize,
    ) -> Result<Vec<ExportedEvent>, store::StoreError> {
        let Log { store, tenant, log, with_payload } = *self;
        let text = |body: Vec<u8>| String::from_utf8_lossy(&body).into_owned();
        Ok(match log {
            EventLog::Payment => {
                let page = store.events_after(tenant.id, after, limit).await?;
                let exported = |it: &store::EventRecord| ExportedEvent {
                    log,
                    seq: it.event.seq,
                    id: it.event.id,
                    kind: it.event.kind.name(),
                    aggregate_kind: it.event.aggregate().kind(),
                    aggregate: it.event.subject,
                    version: it.event.version,
                    at: it.event.at,
                    payload: with_payload.then(|| text(payments_v2::render::event_body(it))),
                };
                page.iter().map(exported).collect()
            }
            EventLog::Wallet => {
                let page = store.wallet_events_after(tenant.id, after, limit).await?;
                let exported = |it: &domain::wallet_event::WalletEventEntry| ExportedEvent {
                    log,
                    seq: it.seq,
                    id: it.id,
                    kind: it.event.kind().name(),
                    aggregate_kind: it.aggregate.kind(),
                    aggregate: it.aggregate.id(),
                    version: it.version,
                    at: it.at,
                    payload: with_payload.then(|| text(wallet_v1::render::logged_event_body(it))),
                };
                page.iter().map(exported).collect()
            }
        })
    }
}
