//! `corridor payments receipt`: renders the printable receipt of a payment from the API's answer.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use http_api::receipt::{Charge, Lang, Receipt, Style, page};

use super::api::{self, ApiArgs};
use super::document;
use super::failure::Failure;
use super::new_file::NewFile;
use super::output;
use super::payments::{Which, find};
use client::{DataDir, Exact, PaymentRecord};

/// Reader of the receipt, which decides what it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reader {
    /// The sending bank: includes its charges
    Bank,
    /// The bank's customer: omits the charges
    Customer,
}

/// Options of `payments receipt`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor payments receipt last --issuer 'Demo Bank' --for customer --lang ur --output-file receipt.html

Writes a single HTML file for printing, without scripts. The account number is shown by its last digits only.")]
pub struct ReceiptArgs {
    #[command(flatten)]
    which: Which,
    /// Name of the confirming bank [default: the first part of the access key]
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,
    /// Audience of the receipt
    #[arg(long = "for", value_enum, default_value = "bank", value_name = "READER")]
    reader: Reader,
    /// Language: en, ur, ar, hi, bn, ne, vi, fil
    #[arg(long, default_value = "en", value_parser = lang)]
    lang: Lang,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    api: ApiArgs,
}

fn lang(tag: &str) -> Result<Lang, String> {
    Lang::parse(tag).ok_or_else(|| {
        let tags: Vec<&str> = Lang::ALL.into_iter().map(Lang::tag).collect();
        format!("must be one of {}", tags.join(", "))
    })
}

pub fn run(args: &ReceiptArgs, data_dir: &DataDir) -> Result<(), Failure> {
    let client = args.api.client(data_dir)?;
    let (_, body) = api::wait_for(find(&client, &args.which, data_dir))?;
    let record: PaymentRecord = document::read(&body)?;
    let credentials = client.credentials();
    let tag = credentials.access_key.split('-').next().unwrap_or_default();
    let issuer = args.issuer.clone().unwrap_or_else(|| tag.to_owned());
    let receipt = receipt(record, issuer, credentials.is_test(), args.reader == Reader::Bank)
        .ok_or_else(|| {
            Failure::Unavailable("unexpected answer: the payment cannot be read".to_owned())
        })?;
    let html = page(&receipt, args.lang, Style::Inline).map_err(Failure::unavailable)?;
    match &args.output_file {
        None => output::raw(html.as_bytes()),
        Some(path) => {
            let mut file = NewFile::create(path)?;
            file.write_all(html.as_bytes())?;
            file.finish()?;
            output::remark(&format!("receipt of {} written to {}", receipt.id, path.display()));
            Ok(())
        }
    }
}

/// `None` if the record does not follow the specification.
fn receipt(
    record: PaymentRecord,
    issuer: String,
    sandbox: bool,
    with_charge: bool,
) -> Option<Receipt> {
    let PaymentRecord { id, order, response, quote } = record;
    let response = response?;
    let country = Country::parse(&order.get("country")?)?;
    let coin = Currency::parse(response.wallet_currency.as_deref()?)?;
    let charge = Charge {
        amount: money(response.wallet_amount.as_ref()?, coin)?,
        premium: money(response.wallet_premium.as_ref()?, coin)?,
        cost: money(response.wallet_txn_cost.as_ref()?, coin)?,
    };
    let state = PaymentState::parse(&response.status)?;
    let (state, is_certain) = outcome(state, response.settled_at.as_ref().map(Option::as_deref));
    Some(Receipt {
        issuer,
        sandbox,
        id,
        external_id: order.get("external_id"),
        state,
        state_at: instant(&response.timestamp)?,
        accepted_at: instant(&order.get("timestamp")?)?,
        bank_reference: response.bank_reference,
        sender: order.get("sender_name")?,
        beneficiary: order.get("beneficiary_name")?,
        account: order.get("beneficiary_account_number")?,
        bank: order.get("bank_name")?,
        base: money(&quote.amount, Currency::parse(&quote.currency)?)?,
        destination: money(&quote.amount_destination, country.currency())?,
        rate: quote.rate.to_string().parse().ok()?,
        charge: (with_charge && is_certain).then_some(charge),
    })
}

/// The state that a receipt shows, and whether it is certain what of the charges was kept: a payment that
/// was reversed before it was paid is cancelled. An earlier server does not say.
fn outcome(state: PaymentState, settled_at: Option<Option<&str>>) -> (PaymentState, bool) {
    match (state, settled_at) {
        (PaymentState::Reversed, Some(None)) => (PaymentState::Canceled, true),
        (PaymentState::Reversed, None) => (state, false),
        _ => (state, true),
    }
}

fn money(exact: &Exact, currency: Currency) -> Option<Money> {
    Money::exact(exact.to_string().parse::<Decimal>().ok()?, currency)
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_tells_a_returned_payment_from_a_cancelled_one() {
        use PaymentState::{Canceled, Failed, Reversed, Succeeded};
        let answer = |status: &str, more: &str| {
            let text = format!(
                r#"{{"id":"1","timestamp":"2026-11-20T10:00:00Z","status":"{status}"{more}}}"#
            );
            let response: client::PaymentResponse = serde_json::from_str(&text).expect("read");
            let state = PaymentState::parse(&response.status).expect("a state");
            outcome(state, response.settled_at.as_ref().map(Option::as_deref))
        };
        for (status, more, expected) in [
            ("reversed", r#","settled_at":"2026-11-19T10:00:00Z""#, (Reversed, true)),
            ("reversed", r#","settled_at":null"#, (Canceled, true)),
            ("reversed", "", (Reversed, false)),
            ("succeeded", "", (Succeeded, true)),
            ("failed", "", (Failed, true)),
        ] {
            assert_eq!(answer(status, more), expected, "{status} {more}");
        }
    }
}
