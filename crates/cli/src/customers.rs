//! `corridor customers …`: customers' KYC levels, used for requests that carry none; written to the
//! store and its audit log.

use clap::{Args, Subcommand};
use domain::user::{Role, Scope};
use domain::wallet::{CUSTOMER_ID_MAX_CHARS, KycLevel};
use serde_json::json;
use store::CustomerRecord;

use super::failure::Failure;
use super::output::{self, Output};
use super::people::ActingUser;
use super::store_commands::open;
use super::table::{text, time};
use super::tenants::StoreArgs;
use super::{Context, run_async};

#[derive(Subcommand, Debug)]
pub enum CustomersCommand {
    /// Set a customer's KYC level
    Set(SetArgs),
    /// Show a customer's record
    Get(GetArgs),
    /// List the customers with a record, by id
    List(ListArgs),
}

/// A customer of a tenant.
#[derive(Args, Debug)]
struct CustomerArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    /// The bank's customer id
    #[arg(value_name = "CUSTOMER_ID", value_parser = customer_id)]
    customer_id: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `customers set`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor customers set demobank CUST-117 --kyc-level ENHANCED --by ayesha --why 'passport seen at the branch'

Applies to wallets that are provisioned without a level from now on; existing wallets keep their level.")]
pub struct SetArgs {
    #[command(flatten)]
    customer: CustomerArgs,
    /// KYC level: BASIC, ENHANCED, COMPREHENSIVE
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    kyc_level: KycLevel,
    #[command(flatten)]
    person: ActingUser,
}

/// Options of `customers get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor customers get demobank CUST-117")]
pub struct GetArgs {
    #[command(flatten)]
    customer: CustomerArgs,
}

/// Options of `customers list`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor customers list demobank --after CUST-117 --limit 100")]
pub struct ListArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    /// List customers after this id
    #[arg(long, value_name = "CUSTOMER_ID", default_value = "", hide_default_value = true)]
    after: String,
    /// Maximum number of results
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
    #[command(flatten)]
    store: StoreArgs,
}

fn customer_id(text: &str) -> Result<String, String> {
    let rule =
        || format!("must be 1 to {CUSTOMER_ID_MAX_CHARS} characters without control characters");
    domain::wallet::customer_id(text).ok_or_else(rule)
}

fn level(text: &str) -> Result<KycLevel, String> {
    KycLevel::parse(&text.to_ascii_uppercase())
        .ok_or_else(|| "must be BASIC, ENHANCED or COMPREHENSIVE".to_owned())
}

pub fn run(command: &CustomersCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            CustomersCommand::Set(args) => set(args, context).await,
            CustomersCommand::Get(GetArgs { customer }) => get(customer, context).await,
            CustomersCommand::List(args) => list(args, context).await,
        }
    })
}

async fn set(args: &SetArgs, context: &Context) -> Result<(), Failure> {
    let (SetArgs { customer, kyc_level, person }, id) = (args, &args.customer.customer_id);
    let opened = open(&customer.store, context).await?;
    let tenant = opened.tagged(&customer.tenant).await?;
    let roles = [Role::Operator, Role::Compliance, Role::Admin];
    let by = person.deed(&opened, Scope::Tenant(tenant.id), &roles).await?;
    let done = opened.store.set_customer(tenant.id, id, *kyc_level, by).await;
    done.map_err(Failure::of_store)?;
    let level = kyc_level.name();
    output::done(
        context.output,
        &format!("{id} is {level} by default for new requests; existing wallets keep their level"),
        &json!({ "customer_id": id, "kyc_level": level }),
    )
}

async fn get(args: &CustomerArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tagged(&args.tenant).await?;
    let found =
        opened.store.customer(tenant.id, &args.customer_id).await.map_err(Failure::of_store)?;
    let none = || Failure::Refused(format!("no record of {:?}; BASIC applies", args.customer_id));
    show(&[found.ok_or_else(none)?], context)
}

async fn list(args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tagged(&args.tenant).await?;
    let found = opened.store.customers(tenant.id, &args.after, args.limit.into()).await;
    show(&found.map_err(Failure::of_store)?, context)
}

fn show(records: &[CustomerRecord], context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            let row = |it: &CustomerRecord| {
                vec![it.customer_id.clone(), it.kyc_level.name().to_owned(), it.changed_at.to_string()]
            };
            output::rows_or(
                &[text("customer"), text("kyc level"), time("changed")],
                records.iter().map(row).collect(),
                "No records. BASIC applies to every customer; set another level with `corridor customers set`.",
            )
        }
        Output::Json => records.iter().try_for_each(|it| {
            let changed_at = it.changed_at.to_string();
            output::json(
                &json!({ "customer_id": it.customer_id, "kyc_level": it.kyc_level.name(), "changed_at": changed_at }),
            )
        }),
    }
}
