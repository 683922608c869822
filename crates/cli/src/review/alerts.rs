//! `corridor review alerts …`: lists alerts and closes those that were handled.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use domain::time::Timestamp;
use domain::user::{Role, Scope};
use domain::wallet_effects::Alert;
use serde_json::json;
use uuid::Uuid;

use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::ActingUser;
use super::super::store_commands::open;
use super::super::table::{id, text, time};
use super::super::tenants::{StoreArgs, TenantArgs};
use super::super::{Context, ids};

/// Maximum number of alerts that are searched.
const LIST_MAX: usize = 1_000;

/// `review alerts`, and options of the list.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AlertsArgs {
    #[command(subcommand)]
    command: Option<AlertsCommand>,
    /// Tenant tag [default: the only tenant]
    #[arg(long)]
    tenant: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

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
    /// Alert ids, as shown by `corridor review alerts`
    #[arg(value_name = "ID", required = true)]
    alerts: Vec<String>,
    #[command(flatten)]
    person: ActingUser,
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
    let tenant = opened.tenant(&args.tenant).await?;
    show(
        &opened.store.alerts(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?,
        context.output,
    )
}

async fn close(args: &CloseArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let mut alerts = opened.store.alerts(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?;
    let ids = args
        .alerts
        .iter()
        .map(|text| alert_id(text, &alerts))
        .collect::<Result<BTreeSet<Uuid>, Failure>>()?;
    alerts.retain(|(_, alert)| ids.contains(&alert.id()));
    if let Some(id) = ids.iter().find(|id| alerts.iter().all(|(_, alert)| alert.id() != **id)) {
        return Err(Failure::Refused(format!("no open alert {id}; nothing was closed")));
    }
    let roles = [Role::Operator, Role::Compliance, Role::Treasury, Role::Admin];
    let by = args.person.deed(&opened, Scope::Tenant(tenant.id), &roles).await?;
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
            output::rows_or(
                &[id("alert"), time("since"), text("kind"), text("about"), text("what")],
                alerts.iter().map(row).collect(),
                "No open alerts.",
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

fn alert_id(text: &str, open: &[(Timestamp, Alert)]) -> Result<Uuid, Failure> {
    if let Ok(id) = Uuid::parse_str(text) {
        return Ok(id);
    }
    let known = open.iter().map(|(_, alert)| alert.id().to_string());
    let id = ids::one_of(text, "open alert", known)?;
    Uuid::parse_str(&id).map_err(Failure::unavailable)
}
