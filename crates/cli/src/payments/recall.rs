//! `corridor payments cancel|recall|recalls`: stopping a payment, through the API.

use clap::Args;
use domain::recall::RecallReason;
use serde_json::json;

use super::super::api::ApiArgs;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::table::{id, state, text, time};
use super::super::{api, document};
use super::{Which, find};
use client::{Client, DataDir, PaymentRecord, Recall};

/// Options of `payments cancel`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor payments cancel 6f0c7ac6-… --reason 'ordered twice'

Releases the reserved amount; the payment becomes `reversed`. A payment that a bank may have is refused: use
`corridor payments recall`. Repeating the command changes nothing.")]
pub struct CancelArgs {
    /// Reason, for the audit log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pub(super) api: ApiArgs,
}

/// Options of `payments recall`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor payments recall 6f0c7ac6-… --reason FRAD --text 'the payer was deceived'

The bank may refuse. Nothing is booked until the money is back; `corridor payments recalls` shows the bank's answer.")]
pub struct RecallArgs {
    /// ISO 20022 reason: CUST, DUPL, FRAD, TECH, UPAY, AC03, AM09, AGNT or CURR
    #[arg(long, value_name = "CODE", value_parser = reason)]
    reason: RecallReason,
    /// Explanation for the bank, at most 105 characters
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pub(super) api: ApiArgs,
}

/// Options of `payments recalls`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor payments recalls 6f0c7ac6-…")]
pub struct RecallsArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pub(super) api: ApiArgs,
}

/// Parses a reason code in any case.
fn reason(text: &str) -> Result<RecallReason, String> {
    RecallReason::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let names = RecallReason::ALL.map(RecallReason::name);
        format!("must be one of {}", names.join(", "))
    })
}

/// The path of an operation on a payment, with its query.
async fn path(
    client: &Client,
    which: &Which,
    data_dir: &DataDir,
    below: &str,
) -> Result<String, Failure> {
    let (country, body) = find(client, which, data_dir).await?;
    let record: PaymentRecord = document::read(&body)?;
    let id = api::segment(&record.id)?;
    Ok(format!("/v2/payments/{id}/{below}?country={}", country.alpha3()))
}

/// Posts to an operation on a payment.
async fn post(
    client: &Client,
    which: &Which,
    data_dir: &DataDir,
    (below, body): (&str, serde_json::Value),
) -> Result<String, Failure> {
    let path = path(client, which, data_dir, below).await?;
    Ok(client.post(&path, &body.to_string()).await?.body)
}

pub(super) async fn cancel(
    client: &Client,
    args: &CancelArgs,
    data_dir: &DataDir,
) -> Result<String, Failure> {
    let body = json!({ "reason": args.reason });
    post(client, &args.which, data_dir, ("cancel", body)).await
}

pub(super) async fn request(
    client: &Client,
    args: &RecallArgs,
    data_dir: &DataDir,
) -> Result<String, Failure> {
    let body = json!({ "reason": args.reason.name(), "text": args.text });
    post(client, &args.which, data_dir, ("recalls", body)).await
}

pub(super) async fn list(
    client: &Client,
    args: &RecallsArgs,
    data_dir: &DataDir,
) -> Result<String, Failure> {
    let path = path(client, &args.which, data_dir, "recalls").await?;
    Ok(client.get(&path, &[]).await?.body)
}

pub(super) fn print(body: &str, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return output::line(body);
    }
    let recall: Recall = document::read(body)?;
    output::members(&[
        ("recall", recall.id),
        ("payment", recall.payment_id),
        ("status", recall.status),
        ("reason", recall.reason),
        ("explanation", recall.text.unwrap_or_default()),
        ("requested", recall.created_at),
    ])
}

pub(super) fn print_list(body: &str, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        return document::lines(body)?.iter().try_for_each(|line| output::line(line));
    }
    let recalls: Vec<Recall> = document::read(body)?;
    let row = |recall: Recall| {
        let answer = [recall.bank_reason, recall.bank_message];
        let answer = answer.into_iter().flatten().collect::<Vec<_>>().join(": ");
        vec![
            recall.status,
            recall.reason,
            recall.created_at,
            recall.sent_at.unwrap_or_default(),
            recall.timestamp,
            answer,
            recall.id,
        ]
    };
    let columns = [
        state("status"),
        text("reason"),
        time("requested"),
        time("sent"),
        time("changed"),
        text("bank's answer"),
        id("recall"),
    ];
    output::rows_or(&columns, recalls.into_iter().map(row).collect(), "No recalls.")
}
