//! `corridor ledger statement`: movements of one account in a period, in several formats.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use engine::statement::{self, Direction, Entry, MOVEMENTS_MAX, Statement, StatementError, Wanted};
use http_api::statements;
use store::Store;

use super::super::Context;
use super::super::failure::Failure;
use super::super::new_file::NewFile;
use super::super::output::{self, Output};
use super::super::store_commands::open;
use super::super::table::{amount, grouped, id, text, time};
use super::super::tenants::TenantArgs;
use service::clock::WallClock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Table for reading in a terminal
    Table,
    /// One JSON object with all entries
    Json,
    /// Comma-separated values with a header row
    Csv,
    /// ISO 20022 account statement, camt.053.001.08
    Camt053,
}

/// Options of `ledger statement`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor ledger statement --tenant demobank --account prefund:USDT
  corridor ledger statement --tenant demobank --account prefund:USDT --from 2026-11-01 --to 2026-12-01 \\
      --format camt053 --output-file november.xml

A day means its first instant in UTC, so `--from 2026-11-01 --to 2026-12-01` is November. A statement that ended less than
a minute ago is interim: entries may still be booked before its end.
--output json means --format json. docs/statements.md describes each format.")]
pub struct StatementArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// Account: prefund:USDT, wallet:<wallet id>:USDC, in_transit:USDT, nostro:pak-raast:PKR …
    #[arg(long)]
    account: String,
    /// Start of the period, inclusive: a day or an instant (RFC 3339) [default: first day of this
    /// month]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    from: Option<Timestamp>,
    /// End of the period, exclusive: a day or an instant [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    to: Option<Timestamp>,
    /// Format [default: table; json with --output json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Statement number, if you number them yourself [default: days since the account's first
    /// movement]
    #[arg(long, value_name = "NUMBER")]
    sequence: Option<u64>,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

/// Parses a day or an instant.
pub fn instant(text: &str) -> Result<Timestamp, String> {
    let at = match text.parse::<jiff::civil::Date>() {
        Ok(day) if text.len() == "2026-11-01".len() => {
            day.to_zoned(jiff::tz::TimeZone::UTC).map(|day| day.timestamp())
        }
        _ => text.parse::<jiff::Timestamp>(),
    };
    let at = at.map_err(|_| {
        "must be a day (2026-11-01) or an instant (2026-11-01T00:00:00Z)".to_owned()
    })?;
    Ok(Timestamp(at.as_microsecond()))
}

/// Creates a statement and prints it.
pub async fn run(args: &StatementArgs, context: &Context) -> Result<(), Failure> {
    let account = AccountCode::parse(&args.account).ok_or_else(|| {
        Failure::Usage(format!("--account: {:?} is not an account code", args.account))
    })?;
    let default = if context.output == Output::Json { Format::Json } else { Format::Table };
    let format = match args.format.unwrap_or(default) {
        Format::Table => None,
        Format::Json => Some(statements::Format::Json),
        Format::Csv => Some(statements::Format::Csv),
        Format::Camt053 => Some(statements::Format::Camt053),
    };
    if format.is_none() && args.output_file.is_some() {
        return Err(Failure::Usage("--output-file needs --format json, csv or camt053".to_owned()));
    }
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let now = now(&opened.store).await?;
    let (from, to) = (args.from.unwrap_or_else(|| month(now)), args.to.unwrap_or(now));
    let wanted = Wanted {
        tenant: tenant.id,
        account,
        from,
        to,
        now,
        limit: MOVEMENTS_MAX,
        sequence: args.sequence,
    };
    let made = statement::make(&opened.store, &wanted).await.map_err(failure)?;
    match (format, &args.output_file) {
        (None, _) => show(&made),
        (Some(format), None) => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            statements::write(&made, &tenant.name, format, &mut out)?;
            Ok(out.flush()?)
        }
        (Some(format), Some(path)) => save(&made, &tenant.name, format, path),
    }
}

/// The current business time: a sandbox's clock may be ahead of the wall clock.
async fn now(store: &Store) -> Result<Timestamp, Failure> {
    let ahead = store.meta(store::CLOCK_OFFSET).await.map_err(Failure::of_store)?;
    let ahead = ahead.map_or(Ok(0), |text| text.parse());
    let ahead = ahead.map_err(|_| {
        Failure::Unavailable("the clock offset in the store is not a number".to_owned())
    })?;
    Ok(WallClock.now() + Span(ahead))
}

/// The first instant of the month.
fn month(now: Timestamp) -> Timestamp {
    let into = Span::days(i64::from(now.date().day()) - 1);
    Timestamp((now - into).unix_seconds().div_euclid(86_400) * Span::days(1).0)
}

fn failure(error: StatementError) -> Failure {
    match error {
        StatementError::Store(error) => Failure::of_store(error),
        StatementError::Period { .. } | StatementError::NotOver { .. } => Failure::usage(error),
        refused => Failure::refused(refused),
    }
}

fn save(
    made: &Statement,
    bank: &str,
    format: statements::Format,
    path: &Path,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(NewFile::create(path)?);
    statements::write(made, bank, format, &mut out)?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?;
    output::remark(&format!(
        "{} written to {}",
        output::counted(made.entries.len(), "movement"),
        path.display()
    ));
    Ok(())
}

fn show(made: &Statement) -> Result<(), Failure> {
    let kind = if made.is_final { "final" } else { "interim" };
    let money = |sum: Money| grouped(&sum.to_string());
    let balance = |booked, available| format!("{} (available {})", money(booked), money(available));
    output::members(&[
        ("account", made.account.to_string()),
        ("period", format!("{} until {}", made.from, made.to)),
        ("statement", format!("number {}, {kind}", made.sequence)),
        ("opening", balance(made.opening.booked, made.opening.available)),
        ("credits", format!("{} ({})", money(made.credits.sum), made.credits.count)),
        ("debits", format!("{} ({})", money(made.debits.sum), made.debits.count)),
        ("closing", balance(made.closing.booked, made.closing.available)),
    ])?;
    let line = |entry: &Entry, balance: Option<&Money>| {
        let sign = if entry.direction == Direction::Credit { '+' } else { '-' };
        vec![
            entry.at.to_string(),
            format!("{sign}{}", entry.amount),
            balance.map(ToString::to_string).unwrap_or_default(),
            entry.purpose.to_owned(),
            entry.subject.id().map(|id| id.to_string()).unwrap_or_default(),
            entry.counter_side.to_owned(),
            entry.references.external_id.clone().unwrap_or_default(),
            entry.references.bank_reference.clone().unwrap_or_default(),
        ]
    };
    let head = [
        time("booked"),
        amount("amount"),
        amount("balance"),
        text("what"),
        id("about"),
        text("counterparty"),
        text("external id"),
        text("bank reference"),
    ];
    output::line("")?;
    output::rows_or(
        &head,
        made.entries.iter().map(|(entry, balance)| line(entry, Some(balance))).collect(),
        "No movements in this period.",
    )?;
    if made.reservations.is_empty() {
        return Ok(());
    }
    output::line("\nReserved at the end of the period, not booked:")?;
    output::rows(&head, made.reservations.iter().map(|entry| line(entry, None)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_first_instant_and_a_month_begins_on_its_first_day() {
        assert_eq!(
            instant("2026-11-22").map(|at| at.to_string()),
            Ok("2026-11-22T00:00:00.000Z".to_owned())
        );
        assert_eq!(instant("2026-11-22T05:00:00+05:00"), instant("2026-11-22"));
        for wrong in ["", "yesterday", "2026-13-01", "2026-11-22T05:00:00"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
        for within in ["2026-11-01", "2026-11-22T16:44:59Z", "2026-11-30T23:59:59Z"] {
            assert_eq!(
                Ok(month(instant(within).expect("an instant"))),
                instant("2026-11-01"),
                "{within}"
            );
        }
    }
}
