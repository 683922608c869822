//! `corridor payments export`: all payments, country by country and page by page, as CSV or JSON
//! lines.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use domain::country::Country;
use http_api::payment_file::{COLUMNS, PaymentLine, order_cells};
use http_api::spreadsheet::guarded;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::value::RawValue;

use super::api::{self, ApiArgs};
use super::document;
use super::failure::Failure;
use super::new_file::NewFile;
use super::output;
use super::payments::Filter;
use client::{Client, DataDir, PaymentRecord};

/// Records per request: the API's maximum `limit`.
const PAGE: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values with a header row
    Csv,
    /// One payment record per line, as returned by the API
    Json,
}

/// Options of `payments export`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor payments export --country PAK --from 2026-11-01T00:00:00Z --until 2026-12-01T00:00:00Z --file november.csv

In CSV, an apostrophe precedes a cell that a spreadsheet would run as a formula (starting with = + - @, tab or return),
and a cell that starts with an apostrophe.
--output json means --format json.")]
pub struct ExportArgs {
    #[command(flatten)]
    filter: Filter,
    /// Format [default: csv; json with --output json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn run(args: &ExportArgs, data_dir: &DataDir, default: Format) -> Result<(), Failure> {
    let client = args.api.client(data_dir)?;
    let mut file = args.file.as_deref().map(NewFile::create).transpose()?;
    let out: Box<dyn Write + '_> = match &mut file {
        Some(file) => Box::new(BufWriter::new(file)),
        None => Box::new(std::io::stdout()),
    };
    let sink = Sink::new(out, args.format.unwrap_or(default))?;
    let progress = progress_bar();
    let count = api::wait_for(pages(&client, &args.filter, sink, &progress))?;
    if let Some(file) = file {
        file.finish()?;
    }
    progress.finish_and_clear();
    output::remark(&format!("{} exported", output::counted(count, "payment")));
    Ok(())
}

async fn pages(
    client: &Client,
    filter: &Filter,
    mut sink: Sink<'_>,
    progress: &ProgressBar,
) -> Result<u64, Failure> {
    let mut count = 0_u64;
    for country in filter.countries() {
        // Oldest first: payments made during the export come last and shift no page. No end of the
        // period is set: this machine's clock may lag the service's, and the newest payments would
        // silently be missing. The status is filtered here: a payment that changes it would shift
        // the pages of the service's filter.
        let mut base = filter.period(country);
        base.extend([("sorting_order", "asc".to_owned()), ("limit", PAGE.to_string())]);
        let mut offset = 0_u64;
        loop {
            let mut query = base.clone();
            query.push(("offset", offset.to_string()));
            let answer = api::patiently(async || client.get("/v2/payments", &query).await).await?;
            let records: Vec<Box<RawValue>> = document::read(&answer.body)?;
            offset += records.len() as u64;
            for record in &records {
                if filter.wants(record.get())? {
                    sink.write(record.get())?;
                    count += 1;
                }
            }
            progress.set_position(count);
            if records.len() < PAGE {
                break;
            }
        }
    }
    sink.finish()?;
    Ok(count)
}

fn progress_bar() -> ProgressBar {
    if !output::shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {pos} payments, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar
}

/// The destination of records.
enum Sink<'a> {
    Csv(Box<csv::Writer<Box<dyn Write + 'a>>>),
    Json(Box<dyn Write + 'a>),
}

impl<'a> Sink<'a> {
    fn new(out: Box<dyn Write + 'a>, format: Format) -> Result<Sink<'a>, Failure> {
        if format == Format::Json {
            return Ok(Sink::Json(out));
        }
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(COLUMNS).map_err(of_csv)?;
        Ok(Sink::Csv(Box::new(writer)))
    }

    fn write(&mut self, record: &str) -> Result<(), Failure> {
        match self {
            Sink::Json(out) => Ok(writeln!(out, "{record}")?),
            Sink::Csv(writer) => writer
                .write_record(line(&document::read(record)?).cells().map(guarded))
                .map_err(of_csv),
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        match self {
            Sink::Json(out) => Ok(out.flush()?),
            Sink::Csv(writer) => Ok(writer.flush()?),
        }
    }
}

fn of_csv(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::from(error),
        other => Failure::Usage(format!("CSV: {other:?}")),
    }
}

fn line(record: &PaymentRecord) -> PaymentLine {
    let (order, quote, response) = (&record.order, &record.quote, record.response.as_ref());
    let text = |value: Option<&String>| value.cloned().unwrap_or_default();
    let number = |value: Option<&client::Exact>| value.map(ToString::to_string).unwrap_or_default();
    PaymentLine {
        id: record.id.clone(),
        external_id: order.text("external_id"),
        status: text(response.map(|said| &said.status)),
        accepted_at: order.text("timestamp"),
        changed_at: text(response.map(|said| &said.timestamp)),
        country: order.text("country"),
        quote: quote.id.clone(),
        amount: quote.amount.to_string(),
        currency: quote.currency.clone(),
        amount_destination: quote.amount_destination.to_string(),
        currency_destination: Country::parse(&order.text("country"))
            .map_or("", |it| it.currency().code())
            .to_owned(),
        rate: quote.rate.to_string(),
        wallet_amount: number(response.and_then(|said| said.wallet_amount.as_ref())),
        wallet_premium: number(response.and_then(|said| said.wallet_premium.as_ref())),
        wallet_txn_cost: number(response.and_then(|said| said.wallet_txn_cost.as_ref())),
        wallet_currency: text(response.and_then(|said| said.wallet_currency.as_ref())),
        bank_reference: text(response.and_then(|said| said.bank_reference.as_ref())),
        msg: text(response.and_then(|said| said.msg.as_ref())),
        order: order_cells(|field| order.text(field)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    const RECORD: &str = r#"{"id":"p-1","order":{"country":"PAK","external_id":"=HYPERLINK(\"x\")","timestamp":"t1",
        "beneficiary_name":"Ali, \"Jr\"\nKhan","sender_name":"+971"},"response":{"id":"p-1","timestamp":"t2",
        "status":"succeeded","wallet_amount":136.007355},"quote":{"id":"q-1","country":"PAK","currency":"AED",
        "amount":500,"amount_destination":37912.05,"rate":75.824100000001,"timestamp":"t0","expires":"t3","wallet_rate":278.75}}"#;

    fn exported(format: Format) -> String {
        let out = Shared::default();
        let mut sink = Sink::new(Box::new(out.clone()), format).expect("a sink");
        sink.write(RECORD).expect("written");
        sink.finish().expect("flushed");
        String::from_utf8(out.0.take()).expect("UTF-8")
    }

    #[test]
    fn csv_is_exact_quoted_and_runs_nothing() {
        let text = exported(Format::Csv);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("a head").iter().collect::<Vec<_>>(), COLUMNS);
        let row = reader.records().next().expect("a row").expect("valid");
        let cell =
            |name: &str| &row[COLUMNS.iter().position(|column| *column == name).expect("a column")];
        assert_eq!(cell("external_id"), "'=HYPERLINK(\"x\")");
        assert_eq!((cell("amount"), cell("amount_destination")), ("500", "37912.05"));
        assert_eq!((cell("currency_destination"), cell("rate")), ("PKR", "75.824100000001"));
        assert_eq!(cell("wallet_amount"), "136.007355");
        assert_eq!(cell("beneficiary_name"), "Ali, \"Jr\"\nKhan");
        assert_eq!(cell("sender_name"), "'+971");
    }

    #[test]
    fn json_is_the_record_as_it_came() {
        assert_eq!(exported(Format::Json), format!("{RECORD}\n"));
    }
}
