//! `corridor tenants policy …`: what a tenant may do and up to which limits, written to the store directly and to the audit
//! log. A change takes two people, as it does in the console.

use clap::{Args, Subcommand};
use domain::policy::fields::{self, Field};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output::{self, Output};
use super::people::{is_same, person, reason};
use super::store_commands::open;
use super::tenants::StoreArgs;
use super::{Context, pair};

/// `tenants policy …`
#[derive(Subcommand, Debug)]
pub enum PolicyCommand {
    /// Show what a tenant has agreed on
    Get(GetArgs),
    /// Change it: takes two people
    Set(SetArgs),
}

/// Options of `tenants policy get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor tenants policy get demobank --output json")]
pub struct GetArgs {
    /// The tenant's tag
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

`corridor tenants policy get` shows the fields, each in the form in which it is set. Every change gives the policy its
next number, and decisions about deposits keep the number that they were made by.")]
pub struct SetArgs {
    /// The tenant's tag
    tenant: String,
    /// What it is to say from now on
    #[arg(required = true, value_name = "FIELD=VALUE", value_parser = pair)]
    values: Vec<(String, String)>,
    /// Number of the policy that was looked at: refused where it is another one by now
    #[arg(long, value_name = "NUMBER")]
    seen: Option<u32>,
    /// Who wants it
    #[arg(long, value_name = "NAME", value_parser = person)]
    by: String,
    /// Who approves it: somebody else
    #[arg(long, value_name = "NAME", value_parser = person)]
    approved_by: String,
    /// Why
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
    let policy = open(&args.store, context).await?.tenant(&args.tenant).await?.policy;
    let version = policy.wallet.version;
    let shown = Field::all().into_iter().map(|field| (field, field.shown(&policy)));
    match context.output {
        Output::Table => {
            let rows = shown.map(|(field, value)| vec![field.name().to_owned(), value, field.rule().to_owned()]);
            output::rows(&["field", "value", "can be"], rows.collect())?;
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
    if is_same(&args.by, &args.approved_by) {
        return Err(Failure::Refused("--approved-by: must be somebody else than --by".to_owned()));
    }
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let policy = &tenant.policy;
    let version = policy.wallet.version;
    if args.seen.is_some_and(|seen| seen != version) {
        return Err(Failure::Refused(format!(
            "--seen: the policy has changed since it was looked at: it is {version}"
        )));
    }
    let pairs = args.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let values = fields::read(pairs, policy).map_err(|faults| told(&faults))?;
    let wanted = fields::with(policy, &values).map_err(|fault| told(&[fault]))?;
    let changes = fields::differences(policy, &wanted);
    if changes.is_empty() {
        return Err(Failure::Refused("this changes nothing".to_owned()));
    }
    let by = opened.by.clone().on_behalf_of(&args.by).together_with(&args.approved_by).because(&args.why);
    // Whoever changes it between has this refused: two people approved the change of what is there now.
    let done = opened.store.set_tenant_policy_as_seen(tenant.id, policy, &wanted, by).await;
    done.map_err(Failure::of_store)?;
    match context.output {
        Output::Table => {
            let row = |(field, before, after): &(Field, String, String)| {
                vec![field.name().to_owned(), before.clone(), after.clone()]
            };
            output::rows(&["field", "before", "now"], changes.iter().map(row).collect())?;
            output::remark(&format!("policy {} of {}; every node has it within seconds", version + 1, args.tenant));
            Ok(())
        }
        Output::Json => {
            let change = |(field, before, after): &(Field, String, String)| json!({ "field": field.name(), "before": before, "after": after });
            let changes: Vec<Value> = changes.iter().map(change).collect();
            output::json(&json!({ "tenant": args.tenant, "version": version + 1, "changes": changes }))
        }
    }
}

/// Every fault, one a line.
fn told(faults: &[fields::FieldFault]) -> Failure {
    Failure::Usage(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
