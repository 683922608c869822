//! `corridor trigger`: triggers an event or a state in a sandbox or test environment, through the
//! APIs as a bank would, with fictitious customers.

mod payments;
mod scenarios;
mod wallets;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use client::{Client, Credentials, DataDir, Sandbox};
use domain::ports::BoxFuture;
use http_api::auth::Service as KeyService;
use serde_json::{Value, json};
use service::sandbox::DEMO_TAG;
use service::scenarios::{Made, Scenarios};

use self::scenarios::{End, SCENARIOS, Scenario, Service};
use super::api::{self, ApiArgs, WalletApiArgs};
use super::colour::{Tone, dim};
use super::events::logs::Logs;
use super::failure::Failure;
use super::output::{self, Output};
use super::story::KIND_WIDTH;
use super::table::short_id;
use super::{Context, local_time};

/// How long `trigger` waits for the end of a scenario.
const WAIT_MAX: Duration = Duration::from_secs(90);
/// What a scenario creates that has a page in the console.
const WITH_PAGE: [&str; 5] = ["quote", "payment", "wallet", "payment request", "order"];
/// Poll interval of a status.
const POLL_PAUSE: Duration = Duration::from_secs(2);

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor trigger --list
  corridor trigger payment.reversed
  corridor trigger transfer.complete     (in another terminal: corridor listen --forward-to http://127.0.0.1:9000)

Waits for the end of the scenario, shows each step and the console's page; --output json prints the created objects. The service keeps the
wallets and payments that a scenario creates. Some scenarios advance the sandbox's clock for good.

Exit code 4 if it does not end within 90 seconds.")]
pub struct TriggerArgs {
    /// Scenario, a name of --list
    #[arg(value_name = "SCENARIO", required_unless_present = "list", value_parser = scenario)]
    scenario: Option<Scenario>,
    /// List all scenarios and what happens
    #[arg(long, conflicts_with = "scenario")]
    list: bool,
    /// Do not wait for the end
    #[arg(long)]
    no_wait: bool,
    /// Funded wallet for exchanges [default: the sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet_id: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    wallet: WalletApiArgs,
}

fn scenario(name: &str) -> Result<Scenario, String> {
    Scenario::find(name).ok_or_else(|| "unknown scenario; run with --list to see all".to_owned())
}

/// Triggers a scenario, or lists them.
pub fn run(args: &TriggerArgs, context: &Context) -> Result<(), Failure> {
    let Some(scenario) = args.scenario else { return list(context.output) };
    let data_dir = context.data_dir()?;
    let client = match scenario.service() {
        Service::Payments => args.api.client(&data_dir)?,
        Service::Wallets => args.wallet.client(&data_dir)?,
    };
    if !client.credentials().is_test() {
        return Err(Failure::Usage(
            "trigger works with test keys only: it creates fictitious customers and payments"
                .to_owned(),
        ));
    }
    let funded = args.wallet_id.clone().or_else(|| funded_wallet(&data_dir));
    let stage = Stage::new(client, funded, scenario, Some(context.output));
    api::wait_for(async {
        let end = if args.no_wait { End::AtOnce } else { scenario.end };
        let logs = match end {
            End::Event(_) => stage.logs(scenario.service()).await?,
            _ => Logs::default(),
        };
        if context.output == Output::Table {
            output::line(&format!("Scenario {}: {}", scenario.name, scenario.what))?;
        }
        stage.play(scenario).await?;
        let (last, ended) = match end {
            End::AtOnce => return Ok(()),
            End::Event(kind) => {
                (kind, tokio::time::timeout(WAIT_MAX, stage.follow(logs, kind)).await)
            }
            End::Status { what, path, status } => {
                (status, tokio::time::timeout(WAIT_MAX, stage.poll(what, path, status)).await)
            }
        };
        ended.unwrap_or_else(|_| {
            Err(Failure::NotSucceeded(format!(
                "no {last} within {} s; see what happens: corridor events tail --since 5m",
                WAIT_MAX.as_secs()
            )))
        })?;
        let page = data_dir.sandbox().ok().flatten().and_then(|sandbox| stage.page(&sandbox));
        match (context.output, page) {
            (Output::Table, Some(page)) => output::line(&format!("In the console: {page}")),
            _ => Ok(()),
        }
    })
}

/// The scenarios, for the sandbox console.
#[derive(Clone, Copy, Debug)]
pub struct Triggers;

impl Scenarios for Triggers {
    fn all(&self) -> Vec<(&'static str, &'static str)> {
        SCENARIOS.iter().map(|scenario| (scenario.name, scenario.what)).collect()
    }

    fn moves_clock(&self, name: &str) -> bool {
        Scenario::find(name).is_some_and(|scenario| scenario.moves_clock())
    }

    fn service(&self, name: &str) -> Result<KeyService, String> {
        Ok(match scenario(name)?.service() {
            Service::Payments => KeyService::Pay,
            Service::Wallets => KeyService::Wallet,
        })
    }

    fn play<'a>(
        &'a self,
        name: &'a str,
        funded: Option<String>,
        credentials: Credentials,
    ) -> BoxFuture<'a, Result<Made, String>> {
        let played = async move {
            let scenario = scenario(name).map_err(Failure::Usage)?;
            let stage = Stage::new(Client::new(credentials)?, funded, scenario, None);
            stage.play(scenario).await?;
            Ok(stage.made.into_inner().unwrap_or_else(PoisonError::into_inner))
        };
        Box::pin(async move { played.await.map_err(|failure: Failure| failure.to_string()) })
    }
}

fn list(output: Output) -> Result<(), Failure> {
    match output {
        Output::Table => {
            let row =
                |scenario: &Scenario| vec![scenario.name.to_owned(), scenario.what.to_owned()];
            output::rows(&["scenario", "what happens"], SCENARIOS.iter().map(row).collect())
        }
        Output::Json => SCENARIOS.iter().try_for_each(|scenario| {
            output::json(&json!({ "scenario": scenario.name, "what": scenario.what }))
        }),
    }
}

/// The demo wallet of a sandbox.
fn funded_wallet(data_dir: &DataDir) -> Option<String> {
    let sandbox = data_dir.sandbox().ok().flatten()?;
    sandbox.others.get("wallet_id")?.as_str().map(str::to_owned)
}

/// The environment of a scenario.
struct Stage {
    client: Client,
    /// A wallet with tokens.
    funded: Option<String>,
    scenario: &'static str,
    /// How steps are printed; `None` prints nothing.
    output: Option<Output>,
    /// What each created object is, and its id.
    made: Mutex<Made>,
}

impl Stage {
    fn new(
        client: Client,
        funded: Option<String>,
        scenario: Scenario,
        output: Option<Output>,
    ) -> Stage {
        Stage { client, funded, scenario: scenario.name, output, made: Mutex::default() }
    }

    /// The log that has the scenario's events, from now on.
    async fn logs(&self, service: Service) -> Result<Logs<'_>, Failure> {
        match service {
            Service::Payments => Logs::end(Some(&self.client), None).await,
            Service::Wallets => Logs::end(None, Some(&self.client)).await,
        }
    }

    /// Shows the events about the created objects until the last one.
    async fn follow(&self, logs: Logs<'_>, last: &str) -> Result<(), Failure> {
        let ids: Vec<String> = self.made().iter().map(|(_, id)| id.clone()).collect();
        let count = Cell::new(0_u32);
        logs.follow(async |event| {
            if !ids.iter().any(|id| event.json.contains(id.as_str())) {
                return Ok(ControlFlow::Continue(()));
            }
            count.set(count.get() + 1);
            if self.output == Some(Output::Table) {
                output::line(&event.line(output::width()))?;
            }
            let is_last = event.kind == last;
            Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .await?;
        if self.output == Some(Output::Table) {
            let events = if count.get() == 1 { "event" } else { "events" };
            output::line(&format!("{} {events}", count.get()))?;
        }
        Ok(())
    }

    /// Asks for a created object until it has this status.
    async fn poll(&self, what: &str, path: &str, wanted: &str) -> Result<(), Failure> {
        let id = self.made().iter().find(|(name, _)| name == what).map(|(_, id)| id.clone());
        let missing = || Failure::Unavailable(format!("the scenario created no {what}"));
        let path = format!("{path}{}", api::segment(&id.ok_or_else(missing)?)?);
        loop {
            let answer = api::patiently(async || self.client.get(&path, &[]).await).await?;
            let object: Value = super::document::read(&answer.body)?;
            if text(&object, "status")? == wanted {
                return match self.output {
                    Some(Output::Table) => self.print(what, &Tone::of_state(wanted).paint(wanted)),
                    _ => Ok(()),
                };
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    /// Prints a step with the local time.
    fn print(&self, what: &str, more: &str) -> Result<(), Failure> {
        output::line(&format!("{}  {what:<KIND_WIDTH$}  {more}", dim(&local_time::now())))
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn play(&self, scenario: Scenario) -> Result<(), Failure> {
        match scenario.service() {
            Service::Payments => payments::play(self, scenario.way).await,
            Service::Wallets => wallets::play(self, scenario.way).await,
        }
    }

    /// POSTs a document and returns the answer's document.
    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let answer = self.client.post(path, &body.to_string()).await?;
        super::document::read(&answer.body)
    }

    /// Advances the business clock.
    async fn advance(&self, seconds: u32) -> Result<(), Failure> {
        self.post(&format!("/sandbox/clock?seconds={seconds}"), &json!({})).await?;
        self.report("clock", &format!("{seconds} s ahead"))
    }

    /// The console's page of what the scenario created last, if it ran in this sandbox.
    fn page(&self, sandbox: &Sandbox) -> Option<String> {
        let url = |name: &str| sandbox.others.get(name)?.as_str();
        let base_url = self.client.credentials().base_url.as_str();
        let bases = [Some(sandbox.base_url()), url("wallet_base_url")];
        bases.contains(&Some(base_url)).then_some(())?;
        let console = url("console_url")?;
        let made = self.made();
        let (_, id) = made.iter().rfind(|(what, _)| WITH_PAGE.contains(&what.as_str()))?;
        // The search leads to the one page that it finds; a path with the whole id would be wider
        // than a terminal.
        Some(format!("{console}/t/{DEMO_TAG}/search?q={}", short_id(id)))
    }

    /// Reports a created object.
    fn report(&self, what: &str, id: &str) -> Result<(), Failure> {
        self.made().push((what.to_owned(), id.to_owned()));
        match self.output {
            Some(Output::Table) => self.print(what, short_id(id)),
            Some(Output::Json) => {
                output::json(&json!({ "scenario": self.scenario, "what": what, "id": id }))
            }
            None => Ok(()),
        }
    }
}

/// A text member of an answer.
fn text<'a>(answer: &'a Value, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::Unavailable(format!("unexpected answer: {name} is missing"));
    answer.get(name).and_then(Value::as_str).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::scripted::Scripted;

    async fn stage(server: &Scripted, service: KeyService) -> Stage {
        let credentials = client::Credentials { service, ..crate::scripted::credentials(server) };
        let client = Client::new(credentials).expect("a client");
        let scenario = SCENARIOS[0];
        Stage::new(client, Some("funded".to_owned()), scenario, Some(Output::Table))
    }

    const QUOTE: &str = r#"{"id":"q-1","country":"PAK","currency":"AED","amount":500,"amount_destination":37912.05,
        "rate":75.8241,"expires":"t","wallet_rate":278.75}"#;

    /// The requests of a scenario: paths and bodies.
    async fn asked(name: &str) -> Vec<(String, Value)> {
        let scenario = Scenario::find(name).expect("a scenario");
        let wallet: &[(u16, &str)] = &[(200, r#"{"wallet_id":"w-1"}"#)];
        let request: &[(u16, &str)] =
            &[(200, r#"{"payment_request_id":"r-1","escrow_address":"0xe"}"#)];
        let order: &[(u16, &str)] = &[(200, r#"{"order_id":"o-1"}"#)];
        let done: &[(u16, &str)] = &[(200, "{}")];
        let server = Scripted::start(&[
            ("/v2/quote", &[(200, QUOTE)]),
            ("/v2/payment", &[(200, r#"{"id":"p-1","timestamp":"t","status":"queued"}"#)]),
            ("/v1/sdk/wallets/provision", wallet),
            ("/v1/sdk/wallets/w-1/block", done),
            ("/v1/sdk/wallets/w-1/unblock", done),
            ("/v1/sdk/wallets/w-1/blacklist", done),
            ("/v1/sdk/payment-requests", request),
            ("/v1/sdk/payment-requests/r-1/cancel", done),
            ("/v1/sdk/orders", order),
            ("/v1/sdk/orders/o-1/cancel", done),
            ("/sandbox/clock", done),
            ("/sandbox/payment-requests/r-1/leave", done),
            ("/sandbox/payment-requests/r-1/pay", done),
            ("/sandbox/faucet", done),
        ])
        .await;
        match scenario.service() {
            Service::Payments => {
                payments::play(&stage(&server, KeyService::Pay).await, scenario.way).await
            }
            Service::Wallets => {
                wallets::play(&stage(&server, KeyService::Wallet).await, scenario.way).await
            }
        }
        .expect(name);
        let asked = server.asked().into_iter();
        asked
            .map(|asked| (asked.path, serde_json::from_slice(&asked.body).expect("JSON")))
            .collect()
    }

    #[tokio::test]
    async fn the_page_is_that_of_what_was_created_last_in_this_sandbox() {
        let server = Scripted::start(&[]).await;
        let stage = stage(&server, KeyService::Pay).await;
        let sandbox = |base_url: &str| -> Sandbox {
            serde_json::from_value(json!({
                "base_url": base_url, "payment_access_key": "a", "payment_secret_key": "s",
                "console_url": "http://127.0.0.1:1/console",
            }))
            .expect("a sandbox")
        };
        let this = sandbox(&stage.client.credentials().base_url);
        assert_eq!(stage.page(&this), None, "nothing was created");
        for (what, id) in [
            ("quote", "11111111-c8b0-4b1e-9d0e-2c8f0a7b1c2d"),
            ("payment", "22222222-c8b0-4b1e-9d0e-2c8f0a7b1c2d"),
            ("clock", "60 s ahead"),
        ] {
            stage.made().push((what.to_owned(), id.to_owned()));
        }
        let page = "http://127.0.0.1:1/console/t/demobank/search?q=22222222";
        assert_eq!(stage.page(&this).as_deref(), Some(page));
        assert_eq!(stage.page(&sandbox("http://127.0.0.1:2")), None, "of another sandbox");
    }

    #[tokio::test]
    async fn every_scenario_asks_only_what_the_services_offer() {
        for scenario in SCENARIOS {
            assert!(!asked(scenario.name).await.is_empty(), "{}", scenario.name);
        }
    }

    #[tokio::test]
    async fn endings_and_cents_choose_what_happens() {
        let payment = asked("payment.failed").await;
        let account =
            payment[1].1["beneficiary_account_number"].as_str().expect("an account").to_owned();
        assert!(account.ends_with("0001") && payment[1].1["quote"] == "q-1", "{payment:?}");
        let deposit = asked("risk_check.blocked").await;
        let paths: Vec<&str> = deposit.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/v1/sdk/wallets/provision", "/v1/sdk/payment-requests"]);
        assert_eq!(
            deposit[1].1["amount"],
            json!({ "type": "crypto", "value": "25.03", "currency": "USDC" })
        );
        let order = asked("order.failed").await;
        assert_eq!(
            (&order[0].1["wallet_id"], &order[0].1["amount"]),
            (&"funded".into(), &"1.01".into())
        );
        let late: Vec<String> =
            asked("request.late").await.into_iter().skip(2).map(|(path, _)| path).collect();
        let leave = "/sandbox/payment-requests/r-1/leave";
        assert_eq!(late, [leave, "/sandbox/clock", "/sandbox/payment-requests/r-1/pay"]);
        let expired = asked("request.expired").await;
        assert_eq!(
            expired[2..].iter().map(|(path, _)| path).collect::<Vec<_>>(),
            late[..2].iter().collect::<Vec<_>>()
        );
    }
}
