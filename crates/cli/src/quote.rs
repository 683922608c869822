//! `corridor quote`: requests a quote and saves it for `corridor pay`.

use clap::Args;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::api::{self, ApiArgs, Destination};
use super::failure::Failure;
use super::output::{self, Output};
use super::table::grouped;
use super::{Context, document};
use client::{Client, LastQuote, Quote};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor quote 500 AED --to PAK && corridor pay --watch
  corridor quote --country PAK --currency AED --amount 500 --output json")]
pub struct QuoteArgs {
    /// Amount in the source currency
    #[arg(value_name = "AMOUNT", required_unless_present = "amount", requires = "of")]
    #[arg(allow_negative_numbers = true, value_parser = amount)]
    sum: Option<Decimal>,
    #[arg(value_name = "CURRENCY", required_unless_present = "currency", help = currencies())]
    of: Option<String>,
    #[arg(long, visible_alias = "to", value_name = "COUNTRY|IBAN")]
    #[arg(value_parser = api::destination, help = countries())]
    country: Destination,
    /// The same as CURRENCY
    #[arg(long, value_name = "CODE", conflicts_with = "of")]
    currency: Option<String>,
    /// The same as AMOUNT
    #[arg(long, allow_negative_numbers = true, conflicts_with = "sum", value_parser = amount)]
    amount: Option<Decimal>,
    /// Beneficiary account, for better routing; the payment must use the same account
    #[arg(long, value_name = "NUMBER")]
    account: Option<String>,
    /// Beneficiary branch code, for better routing; the payment must use the same code
    #[arg(long, value_name = "CODE")]
    branch: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
}

impl QuoteArgs {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let missing = || Failure::Usage("AMOUNT and CURRENCY: required".to_owned());
        let Destination { country, iban } = self.country.clone();
        if iban.is_some() && self.account.is_some() {
            let message = "--to IBAN is the beneficiary's account; give it once";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(Wanted {
            country,
            amount: self.sum.or(self.amount).ok_or_else(missing)?,
            currency: self.of.clone().or_else(|| self.currency.clone()).ok_or_else(missing)?,
            account: iban.or_else(|| self.account.clone()),
            branch: self.branch.clone(),
        })
    }
}

/// What a quote is requested for.
pub struct Wanted {
    pub country: Country,
    pub amount: Decimal,
    pub currency: String,
    pub account: Option<String>,
    pub branch: Option<String>,
}

/// Parses an amount: above 0. Bounds and decimals are the service's to know.
pub fn amount(text: &str) -> Result<Decimal, String> {
    let amount = Decimal::parse(text).map_err(|error| error.to_string())?;
    amount.is_positive().then_some(amount).ok_or_else(|| "must be more than 0".to_owned())
}

fn countries() -> String {
    format!(
        "Destination: a country ({}), or the IBAN of the beneficiary's account",
        Country::ALL.map(Country::alpha3).join(", ")
    )
}

pub fn currencies() -> String {
    let mut codes = Currency::SOURCES.map(Currency::code);
    codes.sort_unstable();
    format!("Source currency ({})", codes.join(", "))
}

/// Requests, saves and prints the quote.
pub fn run(args: &QuoteArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let client = args.api.client(&data_dir)?;
    let last = api::wait_for(create(&client, args.wanted()?))?;
    data_dir.remember_quote(&last)?;
    print(last.quote.get(), context.output)
}

pub async fn create(client: &Client, wanted: Wanted) -> Result<LastQuote, Failure> {
    let mut body: BTreeMap<&str, Box<RawValue>> = BTreeMap::from([
        ("country", document::text(wanted.country.alpha3())?),
        ("currency", document::text(&wanted.currency.to_ascii_uppercase())?),
        ("amount", document::number(wanted.amount)?),
    ]);
    for (name, value) in
        [("beneficiary_account_number", &wanted.account), ("bank_branch_code", &wanted.branch)]
    {
        if let Some(value) = value {
            body.insert(name, document::text(value)?);
        }
    }
    let answer = client.post("/v2/quote", &document::object(&body)?).await?;
    Ok(LastQuote {
        base_url: client.credentials().base_url.clone(),
        quote: document::raw(answer.body)?,
        account: wanted.account,
        branch: wanted.branch,
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
        bound.as_ref().map_or("none".to_owned(), |bound| grouped(&bound.to_string()))
    };
    let coin = |amount: &Option<client::Exact>, currency: &Option<String>| match (amount, currency)
    {
        (Some(amount), Some(currency)) => amount.in_currency(currency),
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
