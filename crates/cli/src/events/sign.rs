//! `corridor events sign|verify`: creates and verifies webhook signatures offline. Sends nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use adapters::webhooks::{self, Arrived, ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::webhook_secret::SecretArgs;

/// Options of `events sign`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor events sign event.json --secret-file webhook.secret
  corridor events sign - --id evt_1 --timestamp 1795244268 < event.json

Prints the three headers of a webhook with this body, which must be sent byte for byte as signed.")]
pub struct SignArgs {
    /// File with the body; - for stdin
    body: PathBuf,
    /// Value of webhook-id [default: the body's event_id]
    #[arg(long)]
    id: Option<String>,
    /// Value of webhook-timestamp, in UNIX seconds [default: now]
    #[arg(long, value_name = "SECONDS")]
    timestamp: Option<i64>,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Options of `events verify`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor events verify event.json --id evt_1 --timestamp 1795244268 --signature 'v1,K5oZ…' --secret-file webhook.secret

Exit code 1, with the reason, if a receiver should refuse it. --at verifies an older webhook as of its time of receipt.")]
pub struct VerifyArgs {
    /// File with the body, byte for byte as received; - for stdin
    body: PathBuf,
    /// Value of the webhook-id header
    #[arg(long)]
    id: String,
    /// Value of the webhook-timestamp header
    #[arg(long, value_name = "SECONDS")]
    timestamp: String,
    /// Value of the webhook-signature header
    #[arg(long)]
    signature: String,
    /// Time of receipt, in UNIX seconds [default: now]
    #[arg(long, value_name = "SECONDS")]
    at: Option<i64>,
    #[command(flatten)]
    secret: SecretArgs,
}

#[derive(Deserialize)]
struct Envelope {
    event_id: String,
}

pub fn sign(args: &SignArgs, context: &Context) -> Result<(), Failure> {
    let secrets = args.secret.secrets(&context.data_dir()?)?;
    let body = read(&args.body)?;
    let of_body =
        || serde_json::from_slice::<Envelope>(&body).ok().map(|envelope| envelope.event_id);
    let id = args.id.clone().or_else(of_body);
    let id =
        id.ok_or_else(|| Failure::Usage("--id is needed: the body has no event_id".to_owned()))?;
    let timestamp = args.timestamp.unwrap_or_else(now);
    let signature = webhooks::sign(&secrets, &id, timestamp, &body);
    match context.output {
        Output::Table => output::line(&format!(
            "{ID_HEADER}: {id}\n{TIMESTAMP_HEADER}: {timestamp}\n{SIGNATURE_HEADER}: {signature}"
        )),
        Output::Json => output::json(
            &json!({ ID_HEADER: id, TIMESTAMP_HEADER: timestamp.to_string(), SIGNATURE_HEADER: signature }),
        ),
    }
}

/// Verifies a signature as a receiver would.
pub fn verify(args: &VerifyArgs, context: &Context) -> Result<(), Failure> {
    let secrets = args.secret.secrets(&context.data_dir()?)?;
    let body = read(&args.body)?;
    let arrived = Arrived {
        id: &args.id,
        timestamp: &args.timestamp,
        signature: &args.signature,
        body: &body,
    };
    let verdict = webhooks::verify(&secrets, &arrived, args.at.unwrap_or_else(now));
    if context.output == Output::Json {
        let reason = verdict.err().map(|why| why.to_string());
        output::json(&json!({ "genuine": reason.is_none(), "reason": reason }))?;
    }
    verdict.map_err(|why| Failure::Refused(format!("not genuine: {why}")))?;
    if context.output == Output::Table { output::line("genuine") } else { Ok(()) }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body)?;
        return Ok(body);
    }
    std::fs::read(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}
