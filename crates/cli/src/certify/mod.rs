//! `corridor certify`: tests a webhook endpoint from outside with fictitious events. Needs no
//! service.

mod checks;
mod rail;
mod report;
mod signer;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use adapters::outbound::{self, Authentication};
use adapters::webhooks::{Reach, Sender, Settings};
use clap::{Args, Subcommand};
use domain::ids::{PaymentRequestId, WalletId};
use domain::time::Timestamp;
use indicatif::{ProgressBar, ProgressStyle};
use uuid::Uuid;

use self::checks::{Check, Probe};
use self::rail::CertifyRailArgs;
use self::report::Found;
use self::signer::CertifySignerArgs;
use super::Context;
use super::api;
use super::failure::Failure;
use super::output::{self, Output};
use super::webhook_secret::{self, SecretArgs};
use service::samples::Subjects;

/// How long a connection to a tested connector or signer may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Example:
  corridor certify --receiver https://test.bank.example --secret-file webhook.secret --junit certify.xml

Sends fictitious valid and invalid events to RECEIVER/webhooks/wallet/…: use it with a test system. Exit code 1 if a
check fails; warnings do not count.")]
pub struct CertifyArgs {
    /// Base URL of the endpoint, as it would be registered
    #[arg(long, value_name = "URL", required = true)]
    receiver: Option<String>,
    /// Also write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Wallet id that the endpoint knows [default: random]
    #[arg(long, value_name = "ID", value_parser = wallet_id)]
    wallet_id: Option<WalletId>,
    /// Customer of that wallet [default: random]
    #[arg(long, value_name = "ID")]
    customer_id: Option<String>,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(subcommand)]
    other: Option<CertifyCommand>,
}

/// What else is tested.
#[derive(Subcommand, Debug)]
enum CertifyCommand {
    /// Test a connector to a bank, with payments to its test system
    Rail(Box<CertifyRailArgs>),
    /// Test a remote signer of chain keys
    Signer(Box<CertifySignerArgs>),
}

pub fn run(args: &CertifyArgs, context: &Context) -> Result<(), Failure> {
    match &args.other {
        Some(CertifyCommand::Rail(args)) => return rail::run(args, context),
        Some(CertifyCommand::Signer(args)) => return signer::run(args, context),
        None => {}
    }
    let receiver = args.receiver.as_deref().unwrap_or_default();
    let mut secrets = args.secret.secrets(&context.data_dir()?)?;
    if secrets.len() > 1 {
        return Err(Failure::Usage(
            "certify takes exactly one secret, which the endpoint must know".to_owned(),
        ));
    }
    // Private addresses are allowed: the operator tests endpoints on their own network.
    let settings = Settings::direct(Reach::Sandbox, Vec::new());
    let sender = Sender::new(settings).map_err(Failure::usage)?;
    let (_, stranger) = webhook_secret::fresh()?;
    let subjects = Subjects {
        request: PaymentRequestId(Uuid::new_v4()),
        wallet: args.wallet_id.unwrap_or_else(|| WalletId(Uuid::new_v4())),
        customer: args.customer_id.clone().unwrap_or_else(|| format!("certify-{}", Uuid::new_v4())),
    };
    let mut probe = Probe::new(sender, receiver, [secrets.remove(0), stranger], subjects, now);
    let found = api::wait_for(examine(&mut probe, &progress_bar()))?;
    show("receiver", receiver, &found, args.junit.as_ref(), context)?;
    verdict(&found)
}

/// Prints what was found, and writes it to a file if wanted.
fn show(
    kind: &str,
    url: &str,
    found: &[Found],
    junit: Option<&PathBuf>,
    context: &Context,
) -> Result<(), Failure> {
    if let Some(path) = junit {
        let written = std::fs::write(path, report::junit(url, found));
        written.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    }
    match context.output {
        Output::Table => {
            output::rows(&["check", "result", "rule"], found.iter().map(Found::row).collect())
        }
        Output::Json => output::json(&report::json(kind, url, found)),
    }
}

fn wallet_id(text: &str) -> Result<WalletId, String> {
    WalletId::parse(text).ok_or_else(|| "must be a wallet's id, a UUID".to_owned())
}

/// The bearer token of the options; empty without one.
fn token(given: Option<&str>, file: Option<&PathBuf>) -> Result<String, Failure> {
    file.map_or_else(|| Ok(given.unwrap_or_default().to_owned()), read)
}

fn read(path: &PathBuf) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    Ok(text.trim().to_owned())
}

/// How a tested service is reached, with a bearer token unless it is empty.
fn with_token(token: &str, request_timeout: Duration) -> outbound::Settings {
    let authentication = match token {
        "" => Authentication::None,
        token => Authentication::Bearer(token.to_owned().into()),
    };
    outbound::Settings {
        authentication,
        connect_timeout: CONNECT_TIMEOUT,
        request_timeout,
        ..outbound::Settings::default()
    }
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// Runs all checks. An endpoint that cannot be reached at all ends the run.
async fn examine(probe: &mut Probe, progress: &ProgressBar) -> Result<Vec<Found>, Failure> {
    let checks = Check::all();
    progress.set_length(checks.len() as u64);
    let mut found = Vec::new();
    for check in checks {
        progress.set_message(check.name());
        let began = now();
        let outcome = probe.run(check).await;
        found.push(Found { name: check.name(), rule: check.rule(), outcome, took: now() - began });
        if let Some(why) = probe.unreachable() {
            progress.finish_and_clear();
            return Err(Failure::Unavailable(why));
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(found)
}

fn verdict(found: &[Found]) -> Result<(), Failure> {
    match report::count(found, report::failed) {
        0 => Ok(()),
        failed => Err(Failure::Refused(format!("{failed} of {} checks failed", found.len()))),
    }
}

fn progress_bar() -> ProgressBar {
    if !output::shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
