//! `corridor payments get|list|watch`: inspecting payments. `export` has its own file.

use clap::{Args, Subcommand, ValueEnum};
use domain::country::Country;
use serde_json::value::RawValue;

use super::api::{self, ApiArgs};
use super::export::{self, ExportArgs, Format};
use super::failure::Failure;
use super::output::{self, Output};
use super::receipt::{self, ReceiptArgs};
use super::watch::{self, Watch, WatchArgs};
use super::{Context, document};
use client::{Client, DataDir, PaymentRecord};

/// `payments …`
#[derive(Subcommand, Debug)]
pub enum PaymentsCommand {
    /// Show one payment
    Get(GetArgs),
    /// List payments to a country, newest first
    List(ListArgs),
    /// Watch a payment until it settles
    Watch(WatchPaymentArgs),
    /// Export payments to a country as CSV or JSON lines
    Export(ExportArgs),
    /// Write the printable receipt of a payment
    Receipt(ReceiptArgs),
}

/// The payment to look up.
#[derive(Args, Debug)]
pub struct Which {
    /// Payment id, or `last` for the most recent `corridor pay`
    #[arg(default_value = "last", value_name = "ID")]
    id: String,
    /// Treat the id as the order's external_id
    #[arg(long)]
    external: bool,
    /// Destination country; speeds up the lookup
    #[arg(long, value_parser = api::country)]
    country: Option<Country>,
}

/// Options of `payments get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor payments get inv-2041 --external --country PAK")]
pub struct GetArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    api: ApiArgs,
}

/// Options of `payments watch`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor payments watch last")]
pub struct WatchPaymentArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    watching: WatchArgs,
    #[command(flatten)]
    api: ApiArgs,
}

/// The field that `--search` applies to.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum SearchType {
    /// Payment ids
    Id,
    /// External ids
    ExternalId,
    /// References of the bank, rail and wallet
    LinkedTxn,
}

/// The filter of lists and exports.
#[derive(Args, Debug)]
pub struct Filter {
    /// Destination country
    #[arg(long, value_parser = api::country)]
    pub country: Country,
    /// Start of the period, inclusive (RFC 3339; a bare date means midnight UTC)
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End of the period, exclusive (RFC 3339; a bare date means midnight UTC)
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Filter by status, repeatable
    #[arg(long, value_name = "STATUS")]
    pub status: Vec<String>,
}

impl Filter {
    /// The filter as query parameters.
    pub fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![("country", self.country.alpha3().to_owned())];
        query.extend(self.from.iter().map(|from| ("start_ts", from.clone())));
        query.extend(self.until.iter().map(|until| ("end_ts", until.clone())));
        query.extend(self.status.iter().map(|status| ("status", status.clone())));
        query
    }
}

/// Options of `payments list`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor payments list --country PAK --status succeeded --limit 5
  corridor payments list --country IND --search-type external_id --search inv-2041")]
pub struct ListArgs {
    #[command(flatten)]
    filter: Filter,
    /// Maximum number of results (0 to 1000)
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Number of results to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Sort oldest first
    #[arg(long)]
    ascending: bool,
    /// Field to search
    #[arg(long, value_enum, requires = "search")]
    search_type: Option<SearchType>,
    /// Search term
    #[arg(long, value_name = "TERM", requires = "search_type")]
    search: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn run(command: &PaymentsCommand, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    match command {
        PaymentsCommand::Get(args) => {
            let client = args.api.client(&data_dir)?;
            let (_, body) = api::wait_for(find(&client, &args.which, &data_dir))?;
            print(&body, context.output)
        }
        PaymentsCommand::List(args) => {
            let client = args.api.client(&data_dir)?;
            let answer =
                api::wait_for(async { Ok(client.get("/v2/payments", &args.query()).await?) })?;
            print_list(&answer.body, context.output)
        }
        PaymentsCommand::Watch(args) => {
            let client = args.api.client(&data_dir)?;
            api::wait_for(watch_payment(&client, args, &data_dir, context.output))
        }
        PaymentsCommand::Export(args) => {
            let default = if context.output == Output::Json { Format::Json } else { Format::Csv };
            export::run(args, &data_dir, default)
        }
        PaymentsCommand::Receipt(args) => receipt::run(args, &data_dir),
    }
}

impl ListArgs {
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = self.filter.query();
        query.extend([("limit", self.limit.to_string()), ("offset", self.offset.to_string())]);
        query.push(("sorting_order", if self.ascending { "asc" } else { "desc" }.to_owned()));
        if let (Some(kind), Some(term)) = (self.search_type, &self.search) {
            let name = match kind {
                SearchType::Id => "id",
                SearchType::ExternalId => "external_id",
                SearchType::LinkedTxn => "linked_txn",
            };
            query.extend([("search_type", name.to_owned()), ("search_term", term.clone())]);
        }
        query
    }
}

pub(super) async fn find(
    client: &Client,
    which: &Which,
    data_dir: &DataDir,
) -> Result<(Country, String), Failure> {
    let (mut id, mut country) = (which.id.clone(), which.country);
    if id == "last" && !which.external {
        let base_url = &client.credentials().base_url;
        let last = data_dir.last_payment()?.filter(|last| last.base_url == *base_url);
        let last = last.ok_or_else(|| {
            Failure::Usage(format!("no payment sent to {base_url} yet; run `corridor pay` first"))
        })?;
        country = country.or_else(|| Country::parse(&last.country));
        id = last.id;
    }
    let path = format!("/v2/payments/{}", api::segment(&id)?);
    let external = [("external", "true".to_owned())];
    let more = if which.external { external.as_slice() } else { &[] };
    api::get_in_any_country(client, &path, country, more, "payment_not_found").await
}

async fn watch_payment(
    client: &Client,
    args: &WatchPaymentArgs,
    data_dir: &DataDir,
    output: Output,
) -> Result<(), Failure> {
    // The stream opens before the state is read: a change in between is seen twice, never missed.
    let stream = watch::open_stream(client).await;
    let (country, body) = find(client, &args.which, data_dir).await?;
    let record: PaymentRecord = document::read(&body)?;
    let response = record
        .response
        .ok_or_else(|| Failure::Unavailable(format!("payment {} has no state yet", record.id)))?;
    Watch::new(client, country, record.id, output, stream).follow(&response, &args.watching).await
}

fn print(body: &str, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::line(body);
    }
    let record: PaymentRecord = document::read(body)?;
    let (order, quote) = (record.order, record.quote);
    let response = record.response.as_ref();
    let said = |field: fn(&client::PaymentResponse) -> Option<String>| {
        response.and_then(field).unwrap_or_default()
    };
    let destination =
        Country::parse(&order.text("country")).map_or("", |country| country.currency().code());
    let known = |member: &str| order.text(member);
    output::members(&[
        ("payment", record.id.clone()),
        ("external id", known("external_id")),
        ("status", said(|response| Some(response.status.clone()))),
        ("message", said(|response| response.msg.clone())),
        ("bank reference", said(|response| response.bank_reference.clone())),
        ("beneficiary", known("beneficiary_name")),
        ("account", known("beneficiary_account_number")),
        ("bank", [order.text("bank_name"), order.text("bank_branch_code")].join("  ")),
        ("sender", known("sender_name")),
        ("relation", known("sender_relation")),
        ("sender pays", quote.amount.in_currency(&quote.currency)),
        ("beneficiary gets", quote.amount_destination.in_currency(destination)),
        ("rate", quote.rate.to_string()),
        ("quote", quote.id),
        ("accepted", known("timestamp")),
        ("last change", said(|response| Some(response.timestamp.clone()))),
    ])
}

fn print_list(body: &str, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::line(body);
    }
    let records: Vec<Box<RawValue>> = document::read(body)?;
    let mut rows = Vec::with_capacity(records.len());
    for record in &records {
        let record: PaymentRecord = document::read(record.get())?;
        let destination = Country::parse(&record.order.text("country"))
            .map_or("", |country| country.currency().code());
        let status =
            record.response.as_ref().map(|response| response.status.clone()).unwrap_or_default();
        let reference =
            record.response.and_then(|response| response.bank_reference).unwrap_or_default();
        rows.push(vec![
            record.order.text("timestamp"),
            record.id,
            status,
            record.quote.amount.in_currency(&record.quote.currency),
            record.quote.amount_destination.in_currency(destination),
            record.order.text("beneficiary_name"),
            reference,
        ]);
    }
    if rows.is_empty() {
        output::remark("no payments");
        return Ok(());
    }
    output::rows(
        &["accepted", "id", "status", "sent", "received", "beneficiary", "bank reference"],
        rows,
    )
}
