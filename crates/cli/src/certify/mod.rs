//! `corridor certify`: tests a bank's receiver of webhooks from outside, with made-up events. It needs no service.

mod checks;
mod report;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use adapters::webhooks::{Reach, Sender, Settings};
use clap::Args;
use domain::ids::{PaymentRequestId, WalletId};
use domain::time::Timestamp;
use indicatif::{ProgressBar, ProgressStyle};
use uuid::Uuid;

use self::checks::{Check, Probe};
use self::report::Found;
use super::Context;
use super::api;
use super::failure::Failure;
use super::output::{self, Output};
use super::webhook_secret::{self, SecretArgs};
use service::samples::Whom;

/// Options of `certify`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor certify --receiver https://test.bank.example --secret-file webhook.secret --junit certify.xml

Sends made-up events to RECEIVER/webhooks/wallet/…, good ones and bad ones: point it at a test system. Exit code 1 if a
check fails; warnings do not count.")]
pub struct CertifyArgs {
    /// The receiver's base address, as it would be registered
    #[arg(long, value_name = "URL")]
    receiver: String,
    /// Write the result as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// A wallet that the receiver knows [default: made up]
    #[arg(long, value_name = "ID", value_parser = wallet_id)]
    wallet_id: Option<WalletId>,
    /// The customer of that wallet [default: made up]
    #[arg(long, value_name = "ID")]
    customer_id: Option<String>,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Certifies.
pub fn run(args: &CertifyArgs, context: &Context) -> Result<(), Failure> {
    let mut secrets = args.secret.secrets(&context.data_dir()?)?;
    if secrets.len() > 1 {
        return Err(Failure::Usage("certify takes one secret: one that the receiver knows".to_owned()));
    }
    // Whoever runs this may reach what he can reach: it is his own machine.
    let settings = Settings { reach: Reach::Sandbox, roots: Vec::new() };
    let sender = Sender::new(settings).map_err(Failure::usage)?;
    let (_, stranger) = webhook_secret::fresh()?;
    let whom = Whom {
        request: PaymentRequestId(Uuid::new_v4()),
        wallet: args.wallet_id.unwrap_or_else(|| WalletId(Uuid::new_v4())),
        customer: args.customer_id.clone().unwrap_or_else(|| format!("certify-{}", Uuid::new_v4())),
    };
    let mut probe = Probe::new(sender, &args.receiver, [secrets.remove(0), stranger], whom, now);
    let found = api::wait_for(examine(&mut probe, &progress_bar()))?;
    if let Some(path) = &args.junit {
        let written = std::fs::write(path, report::junit(&args.receiver, &found));
        written.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    }
    match context.output {
        Output::Table => output::rows(&["check", "result", "rule"], found.iter().map(Found::row).collect())?,
        Output::Json => output::json(&report::json(&args.receiver, &found))?,
    }
    verdict(&found)
}

fn wallet_id(text: &str) -> Result<WalletId, String> {
    WalletId::parse(text).ok_or_else(|| "must be a wallet's id, a UUID".to_owned())
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// Makes all checks. A receiver that cannot be reached at all ends it.
async fn examine(probe: &mut Probe, progress: &ProgressBar) -> Result<Vec<Found>, Failure> {
    let checks = Check::all();
    progress.set_length(checks.len() as u64);
    let mut found = Vec::new();
    for check in checks {
        progress.set_message(check.name());
        let began = now();
        let outcome = probe.run(check).await;
        found.push(Found { check, outcome, took: now() - began });
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
