//! `corridor certify rail`: tests a connector and, through it, a bank's test system. It pays; needs no
//! service.

mod checks;
mod inbox;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adapters::outbound::Settings;
use adapters::rails::connector::{ConnectorConfig, ConnectorRail};
use clap::Args;
use domain::country::Country;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::order::example;
use domain::rail::RailId;
use domain::rail_text::CharacterSet;
use indicatif::ProgressBar;

use self::checks::{Probe, RailCheck, Subject};
use self::inbox::Inbox;
use super::report::{self, Found};
use super::{now, progress_bar, read, show, token, verdict, with_token};
use crate::failure::Failure;
use crate::{Context, api};

/// Sample amount, within the limits of most test systems.
const SAMPLE_AMOUNT: i64 = 1_000;
/// As of a rail, by default.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Options of `certify rail`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor certify rail http://127.0.0.1:8090 --token-file connector.token --country PAK --account PK36SCBL0000001123456702 \\
    --unknown-account PK61SCBL0000001123450000 --listen 127.0.0.1:8480 --callback-secret-file callback.secret

Pays small amounts to --account: use a bank's test system. Let the connector report to http://LISTEN/rails/RAIL/callbacks. Exit code 1
if a check fails; warnings do not count.")]
pub struct CertifyRailArgs {
    /// Base URL of the connector, as in `url` of the rail
    #[arg(value_name = "URL")]
    url: String,
    /// Bearer token that the connector expects (better: --token-file or the variable; other users can see arguments)
    #[arg(long, env = "CORRIDOR_CONNECTOR_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with that token
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Destination country, its three-letter code (ISO 3166-1)
    #[arg(long, value_parser = api::country, default_value = "PAK")]
    country: Country,
    /// Amount of a payment, in the destination currency [default: 1000]
    #[arg(long)]
    amount: Option<Decimal>,
    /// Account that can be paid [default: an example]
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    /// BIC of its bank [default: an example]
    #[arg(long, value_name = "BIC")]
    bank: Option<String>,
    /// Name of its holder [default: an example]
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Account that the bank does not have; without it, its refusal is not tested
    #[arg(long, value_name = "ACCOUNT")]
    unknown_account: Option<String>,
    /// Address on which to receive callbacks; without it, callbacks are not tested
    #[arg(long, value_name = "ADDRESS", requires = "callback_secret_file")]
    listen: Option<SocketAddr>,
    /// File with the secret that signs them
    #[arg(long, value_name = "FILE")]
    callback_secret_file: Option<PathBuf>,
    /// Id of the rail, in the callbacks' path
    #[arg(long, value_name = "ID", default_value = "certify")]
    rail: String,
    /// How long a payment may take to become final, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    /// Also write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub fn run(args: &CertifyRailArgs, context: &Context) -> Result<(), Failure> {
    let token = token(args.token.as_deref(), args.token_file.as_ref())?;
    let secret = args.callback_secret_file.as_ref().map(read).transpose()?.unwrap_or_default();
    let found = api::wait_for(async {
        let connect = |token: &str| connector(args, token, &secret).map(Arc::new);
        let rail = connect(&token)?;
        let stranger = connect("not-the-token")?;
        let anonymous = connect("")?;
        let inbox = match args.listen {
            Some(address) => Some(Inbox::open(address, rail.clone()).await?),
            None => None,
        };
        let wait = Duration::from_secs(args.wait);
        let subject = args.subject()?;
        let mut probe = Probe::new(rail, [anonymous, stranger], subject, inbox, wait);
        examine(&mut probe, &progress_bar()).await
    })?;
    show("connector", &args.url, &found, args.junit.as_ref(), context)?;
    verdict(&found)
}

fn connector(
    args: &CertifyRailArgs,
    token: &str,
    callback_secret: &str,
) -> Result<ConnectorRail, Failure> {
    let outbound = Settings { plain_http: true, ..with_token(token, REQUEST_TIMEOUT) };
    ConnectorRail::new(ConnectorConfig {
        rail: RailId::new(&args.rail),
        url: args.url.clone(),
        outbound,
        character_set: CharacterSet::SwiftX,
        callback_secret: callback_secret.to_owned().into(),
        report_wait: None,
    })
    .map_err(Failure::usage)
}

impl CertifyRailArgs {
    fn subject(&self) -> Result<Subject, Failure> {
        let currency = self.country.currency();
        let amount = self.amount.unwrap_or_else(|| Decimal::from_int(SAMPLE_AMOUNT));
        let amount = Money::exact(amount, currency).filter(|amount| amount.minor > 0);
        let amount = amount.ok_or_else(|| {
            let (code, decimals) = (currency.code(), currency.minor_units());
            Failure::Usage(format!(
                "--amount: greater than 0, at most {decimals} decimals ({code})"
            ))
        })?;
        let account = self.account.clone();
        Ok(Subject {
            country: self.country,
            amount,
            account: account
                .unwrap_or_else(|| example::account_ending(self.country, example::NEUTRAL_ENDING)),
            unknown_account: self.unknown_account.clone(),
            bic: self.bank.clone(),
            holder: self.holder.clone().unwrap_or_else(|| "Asha Khan".to_owned()),
        })
    }
}

/// Runs all checks. A connector that cannot be reached at all ends the run.
async fn examine(probe: &mut Probe, progress: &ProgressBar) -> Result<Vec<Found>, Failure> {
    let checks = RailCheck::ALL;
    progress.set_length(checks.len() as u64);
    let mut found = Vec::new();
    for check in checks {
        progress.set_message(check.name());
        let began = now();
        let outcome = probe.run(check).await;
        progress.inc(1);
        let Some(outcome) = outcome else { continue };
        found.push(Found { name: check.name(), rule: check.rule(), outcome, took: now() - began });
        if check == RailCheck::Health && report::count(&found, report::failed) > 0 {
            break;
        }
    }
    progress.finish_and_clear();
    Ok(found)
}
