//! `corridor tenants policy …`: a tenant's policy and limits, written to the store and its audit
//! log. A change requires two users, as in the console.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::policy::fields::{self, Field};
use domain::user::Scope;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output::{self, Output};
use super::people::{Two, person, reason};
use super::store_commands::open;
use super::tenants::StoreArgs;
use super::{Context, pair};

#[derive(Subcommand, Debug)]
pub enum PolicyCommand {
    /// Show a tenant's policy
    Get(GetArgs),
    /// Change a tenant's policy (two users)
    Set(SetArgs),
}

/// Options of `tenants policy get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor tenants policy get demobank --output json")]
pub struct GetArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `tenants policy set`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor tenants policy set demobank minimum_kyc=ENHANCED --by ayesha --approved-by omar --why 'new agreement'
  corridor tenants policy set demobank countries=PAK,IND velocity=20/20000 --seen 3 --by ayesha --approved-by omar \\
    --why 'new agreement'

`corridor tenants policy get` shows each field in the form that `set` accepts. Every change creates the next version of the
policy, and decisions about deposits record the version that they applied.")]
pub struct SetArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    /// Fields to change, with their new values
    #[arg(required = true, value_name = "FIELD=VALUE", value_parser = pair)]
    values: Vec<(String, String)>,
    /// Version of the policy that was reviewed; the change is refused if it is outdated
    #[arg(long, value_name = "NUMBER")]
    seen: Option<u32>,
    /// User who requests the change
    #[arg(long, value_name = "NAME", value_parser = person)]
    by: String,
    /// User who approves it; must differ from --by
    #[arg(long, value_name = "NAME", value_parser = person)]
    approved_by: String,
    /// Reason, for the audit log
    #[arg(long, value_parser = reason)]
    why: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs `tenants policy …`.
pub async fn run(command: &PolicyCommand, context: &Context) -> Result<(), Failure> {
    match command {
        PolicyCommand::Get(args) => get(args, context).await,
        PolicyCommand::Set(args) => set(args, context).await,
    }
}

async fn get(args: &GetArgs, context: &Context) -> Result<(), Failure> {
    let policy = open(&args.store, context).await?.tagged(&args.tenant).await?.policy;
    let version = policy.wallet.version;
    let shown = Field::all().into_iter().map(|field| (field, field.shown(&policy)));
    match context.output {
        Output::Table => {
            let rows = shown.map(|(field, value)| {
                vec![field.name().to_owned(), value, field.rule().to_owned()]
            });
            output::rows(&["field", "value", "allowed values"], rows.collect())?;
            output::remark(&format!("policy {version} of {}", args.tenant));
            Ok(())
        }
        Output::Json => {
            let members: Map<String, Value> =
                shown.map(|(field, value)| (field.name().to_owned(), value.into())).collect();
            output::json(&json!({ "tenant": args.tenant, "version": version, "policy": members }))
        }
    }
}

async fn set(args: &SetArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tagged(&args.tenant).await?;
    let policy = &tenant.policy;
    let version = policy.wallet.version;
    if args.seen.is_some_and(|seen| seen != version) {
        return Err(Failure::Refused(format!(
            "--seen: outdated; the current version of the policy is {version}"
        )));
    }
    let pairs = args.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let values = fields::read(pairs, policy).map_err(|faults| of_faults(&faults))?;
    let wanted = fields::with(policy, &values).map_err(|fault| of_faults(&[fault]))?;
    let changes = fields::differences(policy, &wanted);
    if changes.is_empty() {
        return Err(Failure::Refused("no change: the policy already has these values".to_owned()));
    }
    let two = Two { maker: ("--by", &args.by), checker: ("--approved-by", &args.approved_by) };
    let by = two.deed(&opened, Scope::Tenant(tenant.id), DualControl::POLICY).await?;
    let by = by.because(&args.why);
    // A concurrent change makes this one fail: two users approved a change of the reviewed version.
    let done = opened.store.set_tenant_policy_as_seen(tenant.id, policy, &wanted, by).await;
    done.map_err(Failure::of_store)?;
    match context.output {
        Output::Table => {
            let row = |(field, before, after): &(Field, String, String)| {
                vec![field.name().to_owned(), before.clone(), after.clone()]
            };
            output::rows(&["field", "before", "after"], changes.iter().map(row).collect())?;
            output::remark(&format!(
                "policy {} of {}; effective on every node within seconds",
                version + 1,
                args.tenant
            ));
            Ok(())
        }
        Output::Json => {
            let change = |(field, before, after): &(Field, String, String)| json!({ "field": field.name(), "before": before, "after": after });
            let changes: Vec<Value> = changes.iter().map(change).collect();
            output::json(
                &json!({ "tenant": args.tenant, "version": version + 1, "changes": changes }),
            )
        }
    }
}

/// All validation errors, one per line.
fn of_faults(faults: &[fields::FieldFault]) -> Failure {
    Failure::Usage(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
