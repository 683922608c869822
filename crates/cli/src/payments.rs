//! `corridor payments get|list|watch|…`: inspecting and stopping payments. `export`, `receipt` and
//! the commands about recalls have their own files.

use clap::{Args, Subcommand, ValueEnum};
use domain::country::Country;
use domain::payment::PaymentState;
use serde_json::value::RawValue;

use super::api::{self, ApiArgs};
use super::events::since;
use super::export::{self, ExportArgs, Format};
use super::failure::Failure;
use super::output::{self, Output};
use super::receipt::{self, ReceiptArgs};
use super::table::{amount, id, state, text, time};
use super::watch::{self, Watch, WatchArgs};
use super::{Context, document, ids};

mod recall;
use recall::{CancelArgs, RecallArgs, RecallsArgs};

use client::{Client, DataDir, PaymentRecord};

/// The API's maximum `limit` of a list.
const LIMIT_MAX: u64 = 1_000;
/// Visible characters at the end of an account.
const ACCOUNT_ENDING_CHARS: usize = 4;

#[derive(Subcommand, Debug)]
pub enum PaymentsCommand {
    /// Show a payment and its status
    Get(GetArgs),
    /// List payments, newest first
    List(ListArgs),
    /// Watch a payment until it settles
    Watch(WatchPaymentArgs),
    /// Export payments as CSV or JSON lines
    Export(ExportArgs),
    /// Write the printable receipt of a payment
    Receipt(ReceiptArgs),
    /// Cancel a payment that no bank has received yet
    Cancel(CancelArgs),
    /// Ask the bank to return a payment that was sent
    Recall(RecallArgs),
    /// List the recalls of a payment
    Recalls(RecallsArgs),
}

/// The payment to look up.
#[derive(Args, Debug)]
pub struct Which {
    /// Payment id or its first 6 or more characters, or `last` for the most recent `corridor pay`
    #[arg(default_value = "last", value_name = "ID")]
    id: String,
    /// Treat the id as the order's external_id
    #[arg(long)]
    external: bool,
    /// Destination country; speeds up the lookup
    #[arg(long, visible_alias = "to", value_parser = api::country)]
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
    /// Ids that the service gave the payments
    Id,
    /// Ids that the client gave the payments
    ExternalId,
    /// References of the bank, rail and wallet
    LinkedTxn,
}

/// The filter of lists and exports.
#[derive(Args, Debug)]
pub struct Filter {
    /// Destination country [default: all]
    #[arg(long, visible_alias = "to", value_parser = api::country)]
    country: Option<Country>,
    /// Start of the period, inclusive (RFC 3339; a bare date means midnight UTC)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Start of the period as a duration ago (90m, 6h, 2d), or an instant
    #[arg(long, value_name = "TIME", value_parser = since, conflicts_with = "from")]
    since: Option<jiff::Timestamp>,
    /// End of the period, exclusive (RFC 3339; a bare date means midnight UTC)
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Filter by status, repeatable
    #[arg(long, visible_alias = "state", value_name = "STATUS", value_parser = status)]
    status: Vec<PaymentState>,
}

impl Filter {
    /// Whether it leaves nothing out.
    fn is_open(&self) -> bool {
        let Filter { country, from, since, until, status } = self;
        country.is_none()
            && from.is_none()
            && since.is_none()
            && until.is_none()
            && status.is_empty()
    }

    /// The countries whose payments are wanted.
    pub fn countries(&self) -> Vec<Country> {
        self.country.map_or_else(|| Country::ALL.to_vec(), |country| vec![country])
    }

    /// The filter as query parameters.
    pub fn query(&self, country: Country) -> Vec<(&'static str, String)> {
        let mut query = self.period(country);
        query.extend(self.status.iter().map(|status| ("status", status.name().to_owned())));
        query
    }

    /// Whether a record has a wanted status.
    pub fn wants(&self, record: &str) -> Result<bool, Failure> {
        if self.status.is_empty() {
            return Ok(true);
        }
        let record: PaymentRecord = document::read(record)?;
        let status = record.response.map(|response| response.status).unwrap_or_default();
        Ok(self.status.iter().any(|wanted| wanted.name() == status))
    }

    /// Country and period as query parameters.
    pub fn period(&self, country: Country) -> Vec<(&'static str, String)> {
        let mut query = vec![("country", country.alpha3().to_owned())];
        query.extend(self.from.iter().map(|from| ("start_ts", from.clone())));
        query.extend(self.since.iter().map(|since| ("start_ts", since.to_string())));
        query.extend(self.until.iter().map(|until| ("end_ts", until.clone())));
        query
    }
}

fn status(text: &str) -> Result<PaymentState, String> {
    PaymentState::parse(text).ok_or_else(|| {
        let names: Vec<&str> = PaymentState::ALL.iter().map(|state| state.name()).collect();
        format!("must be one of {}", names.join(", "))
    })
}

/// Options of `payments list`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor payments list
  corridor payments list --to PAK --state succeeded --since 6h --limit 5
  corridor payments list --country IND --search-type external_id --search inv-2041")]
pub struct ListArgs {
    #[command(flatten)]
    filter: Filter,
    /// Maximum number of results (1 to 1000)
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Number of results to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// List the oldest payments first
    #[arg(long)]
    ascending: bool,
    /// Field that --search applies to
    #[arg(long, value_enum, requires = "search")]
    search_type: Option<SearchType>,
    /// Text to search that field for
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
            api::wait_for(list(&client, args, context.output))
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
        PaymentsCommand::Cancel(args) => {
            let client = args.api.client(&data_dir)?;
            let body = api::wait_for(recall::cancel(&client, args, &data_dir))?;
            print(&body, context.output)
        }
        PaymentsCommand::Recall(args) => {
            let client = args.api.client(&data_dir)?;
            let body = api::wait_for(recall::request(&client, args, &data_dir))?;
            recall::print(&body, context.output)
        }
        PaymentsCommand::Recalls(args) => {
            let client = args.api.client(&data_dir)?;
            let body = api::wait_for(recall::list(&client, args, &data_dir))?;
            recall::print_list(&body, context.output)
        }
    }
}

impl ListArgs {
    fn query(&self, country: Country, offset: u64, limit: u64) -> Vec<(&'static str, String)> {
        let mut query = self.filter.query(country);
        query.extend([("limit", limit.to_string()), ("offset", offset.to_string())]);
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

async fn list(client: &Client, args: &ListArgs, output: Output) -> Result<(), Failure> {
    let (offset, limit) = (args.offset, u64::from(args.limit));
    if let [country] = args.filter.countries()[..] {
        let answer = client.get("/v2/payments", &args.query(country, offset, limit)).await?;
        return print_list(&answer.body, args, output);
    }
    // The API lists one country at a time: each may hold all that is wanted.
    let wanted = offset.saturating_add(limit);
    if wanted > LIMIT_MAX {
        return Err(Failure::Usage(format!(
            "--offset and --limit: at most {LIMIT_MAX} together without --country"
        )));
    }
    let mut found: Vec<(String, Box<RawValue>)> = Vec::new();
    for country in args.filter.countries() {
        let query = args.query(country, 0, wanted);
        let answer = api::patiently(async || client.get("/v2/payments", &query).await).await?;
        for record in document::read::<Vec<Box<RawValue>>>(&answer.body)? {
            let accepted: PaymentRecord = document::read(record.get())?;
            found.push((accepted.order.text("timestamp"), record));
        }
    }
    // Timestamps of the API have one form, so that they sort as texts.
    found.sort_by(
        |(one, _), (other, _)| {
            if args.ascending { one.cmp(other) } else { other.cmp(one) }
        },
    );
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let take = usize::try_from(limit).unwrap_or(usize::MAX);
    let page: Vec<&str> =
        found.iter().skip(skip).take(take).map(|(_, record)| record.get()).collect();
    print_list(&format!("[{}]", page.join(",")), args, output)
}

/// The id that begins with this text, among the latest payments to each country.
async fn whole_id(
    client: &Client,
    start: &str,
    given: Option<Country>,
) -> Result<(Country, String), Failure> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: String,
        order: client::OrderMembers,
    }
    let mut known: Vec<(String, Country, String)> = Vec::new();
    for country in given.map_or_else(|| Country::ALL.to_vec(), |country| vec![country]) {
        let query = [
            ("country", country.alpha3().to_owned()),
            ("limit", LIMIT_MAX.to_string()),
            ("sorting_order", "desc".to_owned()),
        ];
        let answer = api::patiently(async || client.get("/v2/payments", &query).await).await?;
        let records: Vec<Named> = document::read(&answer.body)?;
        known.extend(records.into_iter().map(|it| (it.order.text("timestamp"), country, it.id)));
    }
    known.sort_by(|(one, ..), (other, ..)| other.cmp(one));
    let id = ids::one_of(start, "payment", known.iter().map(|(_, _, id)| id.clone()))?;
    let country = known.iter().find(|(_, _, found)| *found == id).map(|(_, country, _)| *country);
    let missing = || Failure::Unavailable(format!("payment {id} has no country"));
    Ok((country.ok_or_else(missing)?, id))
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
    if !which.external && uuid::Uuid::try_parse(&id).is_err() {
        let (found, whole) = whole_id(client, &id, country).await?;
        (country, id) = (Some(found), whole);
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
        ("recall", said(|response| response.recall_status.clone())),
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

fn print_list(body: &str, args: &ListArgs, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return document::lines(body)?.iter().try_for_each(|line| output::line(line));
    }
    let records: Vec<PaymentRecord> = document::read(body)?;
    let rows: Vec<Vec<String>> = records.iter().map(row).collect();
    let (count, limit) = (rows.len(), args.limit);
    let columns = [
        amount("beneficiary gets"),
        amount("payer pays"),
        text("beneficiary"),
        state("state"),
        time("when"),
        id("id"),
        text("bank reference"),
        text("external id"),
        text("country"),
        text("beneficiary's name"),
    ];
    let none = match args.offset == 0 && args.filter.is_open() && args.search.is_none() {
        true => "No payments yet. Make one: corridor pay 500 AED --to PAK",
        false => "No payments match.",
    };
    output::rows_or(&columns, rows, none)?;
    if count > 0 && u32::try_from(count) == Ok(limit) {
        output::remark(&format!(
            "The first {limit}; --limit {} for more. Filter by --state, --to, --since.",
            limit.saturating_mul(5).min(1_000)
        ));
    }
    Ok(())
}

fn row(record: &PaymentRecord) -> Vec<String> {
    let (order, quote, response) = (&record.order, &record.quote, record.response.as_ref());
    let destination =
        Country::parse(&order.text("country")).map_or("", |country| country.currency().code());
    let name = order.text("beneficiary_name");
    vec![
        quote.amount_destination.in_currency(destination),
        quote.amount.in_currency(&quote.currency),
        beneficiary(&name, &order.text("beneficiary_account_number")),
        response.map(|response| response.status.clone()).unwrap_or_default(),
        order.text("timestamp"),
        record.id.clone(),
        response.and_then(|response| response.bank_reference.clone()).unwrap_or_default(),
        order.text("external_id"),
        order.text("country"),
        name,
    ]
}

/// A beneficiary as a table names them: `Bilal S. ··6702`.
fn beneficiary(name: &str, account: &str) -> String {
    let hidden = account.chars().count().saturating_sub(ACCOUNT_ENDING_CHARS);
    let ending: String = account.chars().skip(hidden).collect();
    let name = short_name(name);
    match (name.is_empty(), ending.is_empty()) {
        (_, true) => name,
        (true, false) => format!("··{ending}"),
        (false, false) => format!("{name} ··{ending}"),
    }
}

/// The first name and the initial of the last: `Bilal S.`
pub(super) fn short_name(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().unwrap_or_default().to_owned();
    match words.next_back().and_then(|last| last.chars().next()) {
        Some(initial) => format!("{first} {initial}."),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beneficiary_is_a_first_name_an_initial_and_the_end_of_the_account() {
        for (name, account, shown) in [
            ("Bilal Samplekhan", "PK36SCBL0000001123456702", "Bilal S. ··6702"),
            ("Rosa Maria Ibarra", "12", "Rosa I. ··12"),
            ("Ayesha", "", "Ayesha"),
            ("", "0017", "··0017"),
            ("রহিম উদ্দিন", "", "রহিম উ."),
        ] {
            assert_eq!(beneficiary(name, account), shown);
        }
    }
}
