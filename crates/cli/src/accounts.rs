//! `corridor accounts …`: beneficiaries' accounts at their banks, through the API.

use clap::{Args, Subcommand};
use domain::country::Country;
use domain::names::words;
use serde::Deserialize;
use serde_json::json;

use super::api::{self, ApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::{Context, document};

#[derive(Subcommand, Debug)]
pub enum AccountsCommand {
    /// Ask a bank whether an account exists and belongs to a name
    Check(CheckArgs),
}

/// Options of `accounts check`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor accounts check --country PAK --account PK36SCBL0000001123456702 --branch SCBLPKKX --name 'Ali Raza'

Nothing is stored. Exit code 1 if the account is closed, does not exist or belongs to another name.")]
pub struct CheckArgs {
    /// Destination country, its three-letter code (ISO 3166-1)
    #[arg(long, visible_alias = "to", value_parser = api::country)]
    country: Country,
    /// Account number or IBAN
    #[arg(long, value_name = "NUMBER")]
    account: String,
    /// BIC or local code of its bank
    #[arg(long, value_name = "CODE")]
    branch: String,
    /// Name of its holder
    #[arg(long, value_name = "NAME")]
    name: String,
    #[command(flatten)]
    api: ApiArgs,
}

#[derive(Deserialize)]
struct Checked {
    result: String,
    account_name: Option<String>,
}

pub fn run(command: &AccountsCommand, context: &Context) -> Result<(), Failure> {
    let AccountsCommand::Check(args) = command;
    let client = args.api.client(&context.data_dir()?)?;
    let body = json!({
        "country": args.country.alpha3(),
        "beneficiary_account_number": args.account,
        "bank_branch_code": args.branch,
        "beneficiary_name": args.name,
    });
    let answer = api::wait_for(async {
        Ok(client.post("/v2/account-checks", &body.to_string()).await?.body)
    })?;
    let checked: Checked = document::read(&answer)?;
    match context.output {
        Output::Json => output::line(&answer)?,
        Output::Table => output::members(&[
            ("result", checked.result.clone()),
            ("name at the bank", checked.account_name.unwrap_or_default()),
        ])?,
    }
    match checked.result.as_str() {
        "closed" | "not_found" | "no_match" => {
            Err(Failure::Refused(format!("the bank's answer: {}", words(&checked.result))))
        }
        _ => Ok(()),
    }
}
