//! `corridor token mint|inspect`: creates tokens by hand and finds out why one is refused.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use http_api::auth::Service;
use serde_json::json;

use super::Context;
use super::api::ApiArgs;
use super::failure::Failure;
use super::output::{self, Output};
use client::{self, Check, Expected};

/// The longest lifetime that `token mint` grants, in seconds.
const MAX_TTL_S: u32 = 3_600;

#[derive(Subcommand, Debug)]
pub enum TokenCommand {
    /// Mint a token for the payment API
    Mint(MintArgs),
    /// Check every claim of a token
    Inspect(InspectArgs),
}

/// Options of `token mint`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  curl -H \"authorization: Bearer $(corridor token mint)\" \"$CORRIDOR_BASE_URL/v2/payments?country=PAK\"
  corridor token mint --body quote.json      (attests this body in the hmac claim)")]
pub struct MintArgs {
    /// Lifetime in seconds (1 to 3600; production allows 300)
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TTL_S)))]
    ttl: u32,
    /// File with the raw body of the POST that the token is for
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    #[command(flatten)]
    api: ApiArgs,
}

/// Options of `token inspect`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor token inspect eyJhbGciOi… --base-url https://pay.bank.example --secret-key-file secret.key

Exit code 1 if a check fails. Checks that need the API URL, the secret key or the body run only if they are given.")]
pub struct InspectArgs {
    /// The token, with or without \"Bearer \"
    token: String,
    /// File with the raw body of the POST that the token came with
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Maximum lifetime (exp - iat) in seconds [default: the service's default for this kind of
    /// key]
    #[arg(long, value_name = "SECONDS")]
    max_age: Option<u32>,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn run(command: &TokenCommand, context: &Context) -> Result<(), Failure> {
    match command {
        TokenCommand::Mint(args) => mint(args, context),
        TokenCommand::Inspect(args) => inspect(args, context),
    }
}

fn read(path: &Option<PathBuf>) -> Result<Option<Vec<u8>>, Failure> {
    let read = |path: &PathBuf| {
        std::fs::read(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
    };
    path.as_ref().map(read).transpose()
}

fn mint(args: &MintArgs, context: &Context) -> Result<(), Failure> {
    let credentials = args.api.credentials(&context.data_dir()?)?;
    let now = jiff::Timestamp::now().as_second();
    let token = client::mint(&credentials, now, args.ttl.into(), read(&args.body)?.as_deref());
    match context.output {
        Output::Table => output::line(&token),
        Output::Json => {
            output::json(&json!({ "token": token, "expires_at": now + i64::from(args.ttl) }))
        }
    }
}

fn inspect(args: &InspectArgs, context: &Context) -> Result<(), Failure> {
    let given = args.api.given()?;
    // The sandbox completes what was not given; without one, fewer checks run.
    let found = context
        .data_dir()
        .ok()
        .and_then(|dir| client::Credentials::find(Service::Pay, given.clone(), &dir).ok());
    let expected = Expected {
        now: jiff::Timestamp::now().as_second(),
        url: given
            .audience
            .or(given.base_url)
            .or_else(|| Some(found.as_ref()?.audience().to_owned())),
        secret: given.secret_key.or_else(|| Some(found.as_ref()?.secret_key.clone())),
        body: read(&args.body)?,
        max_age_s: args.max_age.map_or_else(|| client::usual_max_age_s(&args.token), i64::from),
    };
    let checks = client::inspect(&args.token, &expected);
    let wrong: Vec<&str> =
        checks.iter().filter(|check| check.passed == Some(false)).map(|check| check.name).collect();
    match context.output {
        Output::Table => {
            output::rows(&["check", "result", "detail"], checks.iter().map(row).collect())?
        }
        Output::Json => output::json(&json!({
            "valid": wrong.is_empty(),
            "checks": checks.iter().map(|c| json!({ "name": c.name, "passed": c.passed, "detail": c.detail })).collect::<Vec<_>>(),
        }))?,
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::Refused(format!("token is invalid: {}", wrong.join(", "))))
    }
}

fn row(check: &Check) -> Vec<String> {
    let result = match check.passed {
        Some(true) => "ok",
        Some(false) => "WRONG",
        None => "not checked",
    };
    vec![check.name.to_owned(), result.to_owned(), check.detail.clone()]
}
