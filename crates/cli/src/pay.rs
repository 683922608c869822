//! `corridor pay`: pays a quote and optionally watches the payment until it settles.

use clap::Args;
use domain::decimal::Decimal;

use super::api::{self, ApiArgs, Destination};
use super::failure::Failure;
use super::order::OrderArgs;
use super::output::{self, Output};
use super::quote::{self, Wanted, currencies};
use super::watch::{self, Watch, WatchArgs};
use super::{Context, document, story};
use client::{Client, DataDir, LastPayment, LastQuote, PaymentResponse, Quote};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor pay 500 AED --to PAK --watch
  corridor pay 500 AED --to PK36SCBL0000001123456702 --beneficiary-name 'Bilal Ahmed'
  corridor quote 500 AED --to PAK && corridor pay --quote last --watch
  corridor pay --quote 6f0c4b0e-6a57-4b0e-9a59-2f6d6a0f3c11 --country PAK --order order.json --external-id inv-2041
  corridor pay --account-ending 0001 --watch        (sandbox: this one fails)

Exit codes: 0 accepted (with --watch: succeeded), 1 refused by the API, 2 invalid usage, 3 unreachable, 4 with --watch: did
not succeed, or not in time.")]
pub struct PayArgs {
    /// Amount in the source currency, to quote and pay at once
    #[arg(value_name = "AMOUNT", requires_all = ["of", "country"], conflicts_with = "quote")]
    #[arg(allow_negative_numbers = true, value_parser = quote::amount)]
    sum: Option<Decimal>,
    #[arg(value_name = "CURRENCY", help = currencies())]
    of: Option<String>,
    /// Quote id, or `last` for the most recent `corridor quote`
    #[arg(long, default_value = "last", value_name = "ID", value_parser = quote_id)]
    quote: String,
    /// Destination: a country, or the IBAN of the beneficiary's account; with --quote ID, a country
    /// speeds up the lookup
    #[arg(long, visible_alias = "to", value_name = "COUNTRY|IBAN", value_parser = api::destination)]
    country: Option<Destination>,
    /// Watch the payment until it settles
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    watching: WatchArgs,
    #[command(flatten)]
    order: OrderArgs,
    #[command(flatten)]
    api: ApiArgs,
}

/// Indent of the exchange below a quote's id.
const QUOTE_HANG: usize = 6;

fn quote_id(text: &str) -> Result<String, String> {
    let is_id = text == "last" || uuid::Uuid::try_parse(text).is_ok();
    let rule = || "must be the id of a quote, as `corridor quote` prints it, or `last`".to_owned();
    is_id.then(|| text.to_owned()).ok_or_else(rule)
}

pub fn run(args: &PayArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let client = args.api.client(&data_dir)?;
    api::wait_for(pay(args, &client, &data_dir, context.output))
}

async fn pay(
    args: &PayArgs,
    client: &Client,
    data_dir: &DataDir,
    output: Output,
) -> Result<(), Failure> {
    args.order.check(client.credentials().is_test())?;
    let iban = args.country.as_ref().and_then(|to| to.iban.clone());
    if iban.is_some() && args.order.has_account() {
        let message = "--to IBAN is the beneficiary's account; give it once";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut last = match new_quote(args) {
        Some(wanted) => quote::create(client, wanted).await?,
        None => find_quote(args, client, data_dir).await?,
    };
    last.account = iban.or(last.account);
    let quote: Quote = document::read(last.quote.get())?;
    if args.sum.is_some() {
        data_dir.remember_quote(&last)?;
        if output == Output::Table {
            let exchange = story::exchange(&quote);
            output::sentence(&format!("quote {}  {exchange}", quote.id), QUOTE_HANG)?;
        }
    }
    let body = args.order.document(&last, &quote, client.credentials().is_test())?;
    let stream = if args.watch { watch::open_stream(client).await } else { None };
    let answer = client.post("/v2/payment", &body).await.map_err(|error| {
        let lost = error.may_be_repeated();
        let over = match error.code() {
            Some("quote_used") => Some("the quote has been used (quote_used)"),
            Some("quote_expired") => Some("the quote has expired (quote_expired)"),
            _ => None,
        };
        match Failure::from(error) {
            // The answers to the POSTs were lost, so the client cannot know whether the payment
            // exists.
            Failure::Unavailable(message) if lost => Failure::Unavailable(format!(
                "{message}\nthe payment may have been accepted; check with `corridor payments list --country {}`",
                quote.country
            )),
            failure => match over {
                Some(what) => Failure::Refused(format!(
                    "{what}\n       create a new one: corridor quote {} {} --to {}",
                    quote.amount, quote.currency, quote.country
                )),
                None => failure,
            },
        }
    })?;
    let response: PaymentResponse = document::read(&answer.body)?;
    data_dir.remember_payment(&LastPayment {
        base_url: client.credentials().base_url.clone(),
        id: response.id.clone(),
        country: quote.country.clone(),
    })?;
    if !args.watch {
        return print(&answer.body, &response, output);
    }
    if output == Output::Table {
        output::line(&format!("payment {}", response.id))?;
    }
    let country = api::country(&quote.country).map_err(Failure::Unavailable)?;
    Watch::new(client, country, &response.id, output, stream)
        .follow(&response, &args.watching)
        .await
}

/// The quote that the arguments ask for.
fn new_quote(args: &PayArgs) -> Option<Wanted> {
    let (amount, currency, to) = (args.sum?, args.of.clone()?, args.country.clone()?);
    Some(Wanted { country: to.country, amount, currency, account: to.iban, branch: None })
}

async fn find_quote(
    args: &PayArgs,
    client: &Client,
    data_dir: &DataDir,
) -> Result<LastQuote, Failure> {
    let base_url = &client.credentials().base_url;
    let remembered = data_dir.last_quote()?.filter(|last| last.base_url == *base_url);
    if args.quote == "last" {
        let none = || {
            Failure::Usage(format!(
                "no quote requested from {base_url} yet\n       quote and pay at once: corridor pay 500 AED --to PAK"
            ))
        };
        return remembered.ok_or_else(none);
    }
    if let Some(last) = remembered {
        let quote: Quote = document::read(last.quote.get())?;
        if quote.id == args.quote {
            return Ok(last);
        }
    }
    let path = format!("/v2/quote/{}", api::segment(&args.quote)?);
    let country = args.country.as_ref().map(|to| to.country);
    let (_, body) = api::get_in_any_country(client, &path, country, &[], "quote_not_found").await?;
    Ok(LastQuote {
        base_url: base_url.clone(),
        quote: document::raw(body)?,
        account: None,
        branch: None,
    })
}

fn print(body: &str, response: &PaymentResponse, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::line(body);
    }
    let amount =
        |amount: &Option<client::Exact>, currency: &Option<String>| match (amount, currency) {
            (Some(amount), Some(currency)) => amount.in_currency(currency),
            _ => String::new(),
        };
    output::members(&[
        ("payment", response.id.clone()),
        ("status", response.status.clone()),
        ("message", response.msg.clone().unwrap_or_default()),
        ("beneficiary gets", amount(&response.amount, &response.amount_currency)),
        ("sender pays", amount(&response.base_amount, &response.base_currency)),
        ("settled with", amount(&response.wallet_amount, &response.wallet_currency)),
        ("premium", amount(&response.wallet_premium, &response.wallet_currency)),
        ("rail's cost", amount(&response.wallet_txn_cost, &response.wallet_currency)),
        ("bank reference", response.bank_reference.clone().unwrap_or_default()),
        ("time", response.timestamp.clone()),
    ])
}
