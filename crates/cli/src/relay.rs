//! `corridor relay …`: sends the event logs to a broker, shows how far it is, and lets it begin
//! again. It opens the store itself.

use std::time::Duration;

use clap::{Args, Subcommand};
use config::{Config, RelayEntry, refuse_in_production};
use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use serde_json::json;
use service::relay::RelayService;
use service::telemetry;
use service::telemetry::catalogue::Exporter;
use store::RelayCursor;

use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::people::{ActingUser, person, reason};
use super::serve::{arm_failpoint, metrics, of_ended, refuse_for, stop_signal, until_ended};
use super::store_commands::open;
use super::table::{number, text};
use super::tenants::StoreArgs;
use super::{Context, run_async};

#[derive(Subcommand, Debug)]
pub enum RelayCommand {
    /// Send the event logs of both services to a broker until stopped
    Run(RunArgs),
    /// Show what each relay has sent, by tenant and log
    #[command(after_help = "Example:\n  corridor relay status --output json")]
    Status(StoreArgs),
    /// Delete a relay's positions, so that unsent events are pruned and it begins again
    Forget(ForgetArgs),
}

/// Options of `relay run`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor relay run warehouse --config /etc/corridor/corridor.toml

Sends each event at least once, the events of a payment, order, wallet or request in their order, and remembers in the
database what the broker has acknowledged. Of several processes with the same relay, one sends.")]
pub struct RunArgs {
    /// Name of the relay in the configuration [default: the only one]
    name: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Options of `relay forget`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor relay forget warehouse --why 'replaced by lake'

Stop the relay first: one that runs begins again with the oldest stored event, or with the next one, as configured. --by is a
user with the role admin.")]
pub struct ForgetArgs {
    /// Name of the relay
    name: String,
    /// Only this tenant's logs, by tag [default: all tenants']
    #[arg(long, value_name = "TAG")]
    tenant: Option<String>,
    /// User who performs the action [default: only the machine's user is recorded]
    #[arg(long, value_name = "NAME", value_parser = person)]
    by: Option<String>,
    /// Reason, for the audit log
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    why: String,
    #[command(flatten)]
    store: StoreArgs,
}

pub fn run(command: &RelayCommand, context: &Context) -> Result<(), Failure> {
    match command {
        RelayCommand::Run(args) => run_relay(args, context),
        RelayCommand::Status(args) => run_async(status(args, context)),
        RelayCommand::Forget(args) => run_async(forget(args, context)),
    }
}

/// The relay of this name; without one, the only relay.
fn find<'a>(
    config: &'a Config,
    name: &'a Option<String>,
) -> Result<(&'a str, &'a RelayEntry), Failure> {
    let known: Vec<&str> = config.relay.keys().map(String::as_str).collect();
    let found = match name {
        Some(name) => config.relay.get_key_value(name),
        None if known.len() == 1 => config.relay.first_key_value(),
        None => None,
    };
    found.map(|(name, entry)| (name.as_str(), entry)).ok_or_else(|| {
        Failure::Usage(match (known.is_empty(), name) {
            (true, _) => "no relay is configured: add a section [relay.NAME]".to_owned(),
            (_, Some(name)) => format!("no relay {name:?}; configured: {}", known.join(", ")),
            (_, None) => format!("NAME: required, one of {}", known.join(", ")),
        })
    })
}

fn run_relay(args: &RunArgs, context: &Context) -> Result<(), Failure> {
    let config = args.config.load()?;
    let (name, entry) = find(&config, &args.name)?;
    let own = format!("relay.{name}.");
    let mut refused = refuse_in_production(&config);
    refused.retain(|reason| reason.starts_with(&own));
    refuse_for(&refused)?;
    arm_failpoint(&config)?;
    let data_dir = context.data_dir()?;
    super::keep_files_private();
    run_async(async {
        let telemetry =
            telemetry::init(&config).map_err(|error| Failure::Usage(error.to_string()))?;
        let metrics = metrics(&config, Exporter::Relay)?;
        let started = RelayService::start(&config, data_dir.path(), (name, entry), metrics).await;
        let mut relay = started.map_err(Failure::of_start)?;
        let stopped = stop_signal();
        tracing::info!(relay = name, address = %relay.address, "relaying");
        let ended = until_ended(relay.ended(), stopped).await;
        relay.stop(Duration::from_secs(config.http.drain_timeout_s)).await;
        drop(telemetry);
        of_ended(ended)
    })
}

async fn status(args: &StoreArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(args, context).await?;
    let cursors = opened.store.relay_cursors().await.map_err(Failure::of_store)?;
    let clock = service::business_clock(&opened.store).await.map_err(Failure::unavailable)?;
    let now = clock.now();
    let is_started = |name: &&String| cursors.iter().any(|cursor| cursor.relay == **name);
    let unstarted: Vec<&String> =
        opened.config.relay.keys().filter(|name| !is_started(name)).collect();
    // Of a relay that was never started, the name alone.
    let logs: Vec<(&str, Option<&RelayCursor>)> = cursors
        .iter()
        .map(|cursor| (cursor.relay.as_str(), Some(cursor)))
        .chain(unstarted.iter().map(|name| (name.as_str(), None)))
        .collect();
    let lag = |cursor: &RelayCursor| cursor.lag(now).0 / 1_000_000;
    let event = |cursor: &RelayCursor| cursor.event.map(|event| event.to_string());
    match context.output {
        Output::Table => {
            let row = |(relay, cursor): &(&str, Option<&RelayCursor>)| {
                let cell = |of: &dyn Fn(&RelayCursor) -> String| cursor.map(of).unwrap_or_default();
                vec![
                    (*relay).to_owned(),
                    cell(&|it| it.tag.clone()),
                    cell(&|it| it.log.name().to_owned()),
                    cell(&|it| it.unsent().to_string()),
                    cell(&|it| format!("{} s", lag(it))),
                    cell(&|it| it.seq.to_string()),
                    cell(&|it| event(it).unwrap_or_default()),
                ]
            };
            let columns = [
                text("relay"),
                text("tenant"),
                text("log"),
                number("unsent"),
                number("lag"),
                number("last seq"),
                text("last event"),
            ];
            output::rows(&columns, logs.iter().map(row).collect())?;
            for name in unstarted {
                let advice = format!("{name} was never started: `corridor relay run {name}`");
                output::remark(&advice);
            }
            Ok(())
        }
        Output::Json => logs.iter().try_for_each(|(relay, cursor)| {
            output::json(&json!({
                "relay": relay,
                "tenant": cursor.map(|it| &it.tag),
                "log": cursor.map(|it| it.log.name()),
                "unsent": cursor.map(RelayCursor::unsent),
                "lag_s": cursor.map(lag),
                "last_seq": cursor.map(|it| it.seq),
                "last_event": cursor.and_then(event),
            }))
        }),
    }
}

async fn forget(args: &ForgetArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = match &args.tenant {
        Some(tag) => Some(opened.tagged(tag).await?.id),
        None => None,
    };
    let cursors = opened.store.relay_cursors().await.map_err(Failure::of_store)?;
    let is_named = |cursor: &RelayCursor| {
        cursor.relay == args.name && args.tenant.as_ref().is_none_or(|tag| cursor.tag == *tag)
    };
    if !cursors.iter().any(is_named) {
        return Err(Failure::Refused(format!("no relay {} has a position", args.name)));
    }
    let by = match &args.by {
        Some(by) => {
            let scope = tenant.map_or(Scope::All, Scope::Tenant);
            let person = ActingUser { by: by.clone(), why: args.why.clone() };
            person.deed(&opened, scope, &[Role::Admin]).await?
        }
        None => opened.by.because(&args.why),
    };
    opened.store.forget_relay(&args.name, tenant, by).await.map_err(Failure::of_store)?;
    output::remark(&format!("The relay {} begins again at its next start", args.name));
    Ok(())
}

#[cfg(test)]
mod tests {
    use config::Sources;

    use super::*;

    fn config(names: &[&str]) -> Config {
        let servers = |name: &&str| {
            let key = format!("relay.{name}.servers");
            (key, "[\"nats://127.0.0.1:4222\"]".to_owned())
        };
        let overrides = names.iter().map(servers).collect();
        Config::load(&Sources { overrides, ..Sources::default() }).expect("valid")
    }

    #[test]
    fn the_only_relay_needs_no_name() {
        let one = config(&["lake"]);
        assert_eq!(find(&one, &None).expect("the only one").0, "lake");
        let two = config(&["lake", "warehouse"]);
        assert_eq!(find(&two, &Some("warehouse".to_owned())).expect("named").0, "warehouse");
        for (config, name, message) in [
            (&two, None, "lake, warehouse"),
            (&two, Some("sea".to_owned()), "no relay \"sea\""),
            (&config(&[]), None, "[relay.NAME]"),
        ] {
            let failure = find(config, &name).expect_err("refused");
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.to_string().contains(message), "{failure}");
        }
    }
}
