//! `corridor review alerts …`: lists alerts and closes those that were handled.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use domain::time::Timestamp;
use domain::wallet_effects::Alert;
use serde_json::json;
use uuid::Uuid;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::OnePerson;
use super::super::store_commands::open;
use super::super::tenants::{StoreArgs, TenantArgs};

/// Maximum number of alerts that are searched.
const LIST_MAX: usize = 1_000;

/// `review alerts`, and options of the list.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct AlertsArgs {
    #[command(subcommand)]
    command: Option<AlertsCommand>,
    /// Tenant tag
    #[arg(long, required = true)]
    tenant: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

/// `review alerts …`
#[derive(Subcommand, Debug)]
enum AlertsCommand {
    /// Close alerts that were handled
    Close(CloseArgs),
}

/// Options of `review alerts close`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review alerts close --tenant demobank --by ayesha --why 'gas topped up on 2026-11-20' 7be3f0a2-…

`corridor review alerts` shows the ids. A recurrence opens a new alert.")]
struct CloseArgs {
    /// Alert ids
    #[arg(value_name = "ID", required = true)]
    alerts: Vec<String>,
    #[command(flatten)]
    person: OnePerson,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Runs `review alerts …`.
pub async fn run(args: &AlertsArgs, context: &Context) -> Result<(), Failure> {
    match &args.command {
        Some(AlertsCommand::Close(args)) => close(args, context).await,
        None => list(args, context).await,
    }
}

async fn list(args: &AlertsArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(args.tenant.as_deref().unwrap_or_default()).await?;
    show(
        &opened.store.alerts(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?,
        context.output,
    )
}

async fn close(args: &CloseArgs, context: &Context) -> Result<(), Failure> {
    let ids = args
        .alerts
        .iter()
        .map(|text| alert_id(text))
        .collect::<Result<BTreeSet<Uuid>, Failure>>()?;
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let mut alerts = opened.store.alerts(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?;
    alerts.retain(|(_, alert)| ids.contains(&alert.id()));
    if let Some(id) = ids.iter().find(|id| alerts.iter().all(|(_, alert)| alert.id() != **id)) {
        return Err(Failure::Refused(format!("no open alert {id}; nothing was closed")));
    }
    let by = args.person.deed(&opened.by);
    for (_, alert) in &alerts {
        opened.store.close_alert(tenant.id, alert, &by).await.map_err(Failure::of_store)?;
    }
    output::remark("closed; a recurrence opens a new alert");
    show(&alerts, context.output)
}

fn show(alerts: &[(Timestamp, Alert)], output: Output) -> Result<(), Failure> {
    match output {
        Output::Table => {
            let row = |(at, alert): &(Timestamp, Alert)| {
                let (kind, about) = (alert.kind.name().to_owned(), alert.subject.to_string());
                vec![alert.id().to_string(), at.to_string(), kind, about, alert.what.clone()]
            };
            output::rows(
                &["alert", "since", "kind", "about", "what"],
                alerts.iter().map(row).collect(),
            )
        }
        Output::Json => alerts.iter().try_for_each(|(at, alert)| {
            output::json(&json!({
                "alert_id": alert.id().to_string(),
                "since": at.to_string(),
                "kind": alert.kind.name(),
                "about": alert.subject.to_string(),
                "what": alert.what,
            }))
        }),
    }
}

fn alert_id(text: &str) -> Result<Uuid, Failure> {
    Uuid::parse_str(text).map_err(|_| Failure::Usage(format!("{text:?} is not an alert id")))
}
