//! `corridor quote`: requests a quote and saves it for `corridor pay`.

use clap::Args;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::api::{self, ApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::{Context, document};
use client::{Client, LastQuote, Quote};

/// Options of `quote`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor quote --country PAK --currency AED --amount 500\n  corridor pay --watch"
)]
pub struct QuoteArgs {
    #[arg(long, value_parser = api::country, help = countries())]
    country: Country,
    #[arg(long, help = currencies())]
    currency: String,
    /// Amount in the source currency
    #[arg(long, allow_negative_numbers = true)]
    amount: Decimal,
    /// Beneficiary account, for better routing; the payment must use the same account
    #[arg(long, value_name = "NUMBER")]
    account: Option<String>,
    /// Beneficiary branch code, for better routing; the payment must use the same code
    #[arg(long, value_name = "CODE")]
    branch: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
}

fn countries() -> String {
    format!("Destination country ({})", Country::ALL.map(Country::alpha3).join(", "))
}

fn currencies() -> String {
    let mut codes = Currency::SOURCES.map(Currency::code);
    codes.sort_unstable();
    format!("Source currency ({})", codes.join(", "))
}

/// Requests, saves and prints the quote.
pub fn run(args: &QuoteArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let client = args.api.client(&data_dir)?;
    let last = api::wait_for(create(&client, args))?;
    data_dir.remember_quote(&last)?;
    print(last.quote.get(), context.output)
}

async fn create(client: &Client, args: &QuoteArgs) -> Result<LastQuote, Failure> {
    let mut body: BTreeMap<&str, Box<RawValue>> = BTreeMap::from([
        ("country", document::text(args.country.alpha3())?),
        ("currency", document::text(&args.currency.to_ascii_uppercase())?),
        ("amount", document::number(args.amount)?),
    ]);
    for (name, value) in
        [("beneficiary_account_number", &args.account), ("bank_branch_code", &args.branch)]
    {
        if let Some(value) = value {
            body.insert(name, document::text(value)?);
        }
    }
    let answer = client.post("/v2/quote", &document::object(&body)?).await?;
    Ok(LastQuote {
        base_url: client.credentials().base_url.clone(),
        quote: document::raw(answer.body)?,
        account: args.account.clone(),
        branch: args.branch.clone(),
    })
}

fn print(quote: &str, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::line(quote);
    }
    let quote: Quote = document::read(quote)?;
    let country = Country::parse(&quote.country);
    let destination = country.map_or("", |country| country.currency().code());
    let bound = |bound: &Option<client::Exact>| {
        bound.as_ref().map_or("none".to_owned(), ToString::to_string)
    };
    let coin = |amount: &Option<client::Exact>, currency: &Option<String>| match (amount, currency)
    {
        (Some(amount), Some(currency)) => format!("{amount} {currency}"),
        _ => String::new(),
    };
    output::members(&[
        ("quote", quote.id),
        ("sender pays", quote.amount.in_currency(&quote.currency)),
        ("beneficiary gets", quote.amount_destination.in_currency(destination)),
        ("rate", quote.rate.to_string()),
        ("wallet rate", quote.wallet_rate.to_string()),
        ("premium", coin(&quote.wallet_premium, &quote.wallet_currency)),
        ("rail's cost", coin(&quote.wallet_txn_cost, &quote.wallet_currency)),
        (
            "limits",
            format!(
                "{} to {} {destination}",
                bound(&quote.min_amount_destination),
                bound(&quote.max_amount_destination)
            ),
        ),
        ("valid until", quote.expires),
    ])
}
