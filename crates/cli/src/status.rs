//! `corridor status`: what runs on this machine, and whether it is well.

use clap::Args;
use serde_json::{Map, Value, json};

use super::config::ConfigArgs;
use super::failure::Failure;
use super::health::{ask, probe_url, service_address};
use super::output::{self, Output};
use super::sandbox::below_home;
use super::{Context, api, document};
use client::Client;

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor status\n\nExit codes: 0 ready, 3 not ready or nothing runs."
)]
pub struct StatusArgs {
    /// Service address [default: the running sandbox, else http.listen of the configuration]
    #[arg(long, env = "CORRIDOR_BASE_URL", value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(args: &StatusArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let address = service_address(args.url.as_deref(), &args.config, context)?;
    let sandbox = data_dir.sandbox()?.filter(|sandbox| sandbox.base_url() == address);
    let answer = api::wait_for(async { ask(&probe_url(&address, "/readyz")?).await });
    let (status, body) = answer.map_err(|failure| {
        Failure::Unavailable(format!("{failure}\n       start a sandbox: corridor sandbox"))
    })?;
    let is_ready = (200..300).contains(&status);
    let report: Map<String, Value> = document::read(&body).unwrap_or_default();
    let ahead_s = match &sandbox {
        Some(_) => clock_ahead(&data_dir),
        None => None,
    };
    let kind = if sandbox.is_some() { "sandbox" } else { "service" };
    let pid = sandbox.as_ref().and_then(|it| it.others.get("pid").cloned());
    match context.output {
        Output::Json => output::json(&json!({
            "url": address,
            "kind": kind,
            "ready": is_ready,
            "pid": pid,
            "data_dir": data_dir.path(),
            "clock_ahead_s": ahead_s,
            "report": report,
        }))?,
        Output::Table => {
            let checks = |name: &str| match report.get(name) {
                Some(Value::Object(checks)) => checks
                    .iter()
                    .map(|(name, found)| format!("{name} {}", found.as_str().unwrap_or_default()))
                    .collect::<Vec<_>>()
                    .join(", "),
                _ => String::new(),
            };
            output::members(&[
                (kind, address.clone()),
                ("state", if is_ready { "ready" } else { "not ready" }.to_owned()),
                ("checks", checks("checks")),
                ("sanctions lists", checks("lists")),
                ("chains", checks("chains")),
                ("process", pid.map(|pid| pid.to_string()).unwrap_or_default()),
                ("data", below_home(data_dir.path())),
                ("clock", ahead_s.map_or_else(String::new, clock)),
            ])?;
        }
    }
    match is_ready {
        true => Ok(()),
        false => Err(Failure::Unavailable(format!("{address} is not ready"))),
    }
}

/// How far the sandbox's business clock is ahead; `None` if it does not answer.
fn clock_ahead(data_dir: &client::DataDir) -> Option<i64> {
    let credentials = api::ApiArgs::default().credentials(data_dir).ok()?;
    let client = Client::new(credentials).ok()?;
    let answer = api::wait_for(async { Ok(client.get("/sandbox/clock", &[]).await?.body) });
    let clock: Value = document::read(&answer.ok()?).ok()?;
    clock.get("ahead_seconds")?.as_i64()
}

fn clock(ahead_s: i64) -> String {
    match ahead_s {
        0 => "on time".to_owned(),
        seconds @ ..60 => format!("{seconds} s ahead"),
        seconds @ ..3_600 => format!("{} min ahead", seconds / 60),
        seconds => format!("{} h ahead", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_on_time_or_ahead() {
        assert_eq!(clock(0), "on time");
        assert_eq!(clock(59), "59 s ahead");
        assert_eq!(
            (clock(1_860), clock(90_000)),
            ("31 min ahead".to_owned(), "25 h ahead".to_owned())
        );
    }
}
