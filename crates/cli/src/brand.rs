//! `corridor tenants brand …`: logo, colour and contact of a tenant's payment pages; written to the
//! store and its audit log.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::brand::{self, Brand, Colour, Logo};
use domain::user::{Role, Scope};
use serde_json::{Value, json};

use super::Context;
use super::failure::Failure;
use super::output::{self, Output};
use super::people::ActingUser;
use super::store_commands::open;
use super::tenants::StoreArgs;

#[derive(Subcommand, Debug)]
pub enum BrandCommand {
    /// Set logo, colour and contact; what is not given is removed
    Set(SetArgs),
    /// Show what is set
    Get(GetArgs),
}

/// Options of `tenants brand set`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor tenants brand set demobank --logo logo.svg --colour '#0b6b3a' --contact '+971 4 123 4567' --by ayesha \\
    --why 'brand book of 2026'

A logo is an SVG or PNG file of at most 16 KiB, shown 32 pixels high. White text has to be readable on the colour.")]
pub struct SetArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    /// File of the logo
    #[arg(long, value_name = "FILE")]
    logo: Option<PathBuf>,
    /// Background of the top of the page
    #[arg(long, value_name = "#RRGGBB", value_parser = Colour::parse)]
    colour: Option<Colour>,
    /// Contact for senders: a telephone number, an address or a web page
    #[arg(long, value_name = "TEXT", value_parser = brand::contact)]
    contact: Option<String>,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `tenants brand get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor tenants brand get demobank")]
pub struct GetArgs {
    /// Tenant tag, as shown by `corridor tenants list`
    tenant: String,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(command: &BrandCommand, context: &Context) -> Result<(), Failure> {
    match command {
        BrandCommand::Set(args) => set(args, context).await,
        BrandCommand::Get(args) => get(args, context).await,
    }
}

async fn set(args: &SetArgs, context: &Context) -> Result<(), Failure> {
    let logo = args.logo.as_ref().map(|path| {
        let named = |rule: String| Failure::Usage(format!("--logo {}: {rule}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| named(error.to_string()))?;
        Logo::parse(bytes).map_err(named)
    });
    let brand =
        Brand { logo: logo.transpose()?, colour: args.colour, contact: args.contact.clone() };
    let opened = open(&args.store, context).await?;
    let tenant = opened.tagged(&args.tenant).await?;
    let by = args.person.deed(&opened, Scope::Tenant(tenant.id), &[Role::Admin]).await?;
    let done = opened.store.set_brand(tenant.id, &brand, by).await;
    done.map_err(Failure::of_store)?;
    output::done(
        context.output,
        &format!("the payment pages of {} show it from now on", args.tenant),
        &document(&args.tenant, &brand),
    )
}

async fn get(args: &GetArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tagged(&args.tenant).await?;
    let brand = opened.store.brand(tenant.id).await.map_err(Failure::of_store)?.unwrap_or_default();
    match context.output {
        Output::Json => output::json(&document(&args.tenant, &brand)),
        Output::Table => output::members(&[
            ("logo", logo_text(&brand).unwrap_or_default()),
            ("colour", brand.colour.map(|colour| colour.to_string()).unwrap_or_default()),
            ("contact", brand.contact.unwrap_or_default()),
        ]),
    }
}

fn logo_text(brand: &Brand) -> Option<String> {
    let logo = brand.logo.as_ref()?;
    Some(format!("{}, {} bytes", logo.kind.name(), logo.bytes.len()))
}

fn document(tenant: &str, brand: &Brand) -> Value {
    let colour = brand.colour.map(|colour| colour.to_string());
    json!({ "tenant": tenant, "logo": logo_text(brand), "colour": colour, "contact": brand.contact })
}
