//! Commands that only a sandbox offers: `corridor clock …` and `corridor faucet`. A service with
//! real money refuses them.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::api::{self, ApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::wallet_api::{amount, code};
use super::{Context, document};

#[derive(Subcommand, Debug)]
pub enum ClockCommand {
    /// Show the sandbox's business clock
    Show(ShowArgs),
    /// Advance the business clock: quotes and links expire, timers fire; tokens stay on wall-clock
    /// time
    Advance(AdvanceArgs),
}

/// Options of `clock show`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor clock show")]
pub struct ShowArgs {
    #[command(flatten)]
    api: ApiArgs,
}

/// Options of `clock advance`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor clock advance 24h")]
pub struct AdvanceArgs {
    /// Duration: a number with s, m, h or d; at most 400d
    #[arg(value_name = "TIME", value_parser = super::seconds, allow_hyphen_values = true)]
    by: u32,
    #[command(flatten)]
    api: ApiArgs,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor faucet --address 0x8ba1f109551bD432803012645Ac136ddd64DBA72 --amount 100 --currency USDT

Sandbox only. To fund a wallet, pay one of its requests: `corridor requests pay`."
)]
pub struct FaucetArgs {
    /// Recipient address; also receives gas to spend the tokens
    #[arg(long, value_name = "0x…")]
    address: String,
    /// Amount, at most 1000000
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    amount: String,
    /// Token: USDC or USDT
    #[arg(long, value_parser = code, default_value = "USDC")]
    currency: String,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn clock(command: &ClockCommand, context: &Context) -> Result<(), Failure> {
    let body = match command {
        ClockCommand::Show(args) => {
            let client = args.api.client(&context.data_dir()?)?;
            api::wait_for(async { Ok(client.get("/sandbox/clock", &[]).await?.body) })?
        }
        ClockCommand::Advance(args) => {
            let client = args.api.client(&context.data_dir()?)?;
            let path = format!("/sandbox/clock?seconds={}", args.by);
            api::wait_for(async { Ok(client.post(&path, "{}").await?.body) })?
        }
    };
    if context.output == Output::Json {
        return output::line(&body);
    }
    let clock: Value = document::read(&body)?;
    let now = clock.get("now").and_then(Value::as_str).unwrap_or_default().to_owned();
    let ahead = clock.get("ahead_seconds").map(Value::to_string).unwrap_or_default();
    output::members(&[("now", now), ("ahead of wall clock", format!("{ahead} s"))])
}

pub fn faucet(args: &FaucetArgs, context: &Context) -> Result<(), Failure> {
    let some = |text: &String| Some(text.clone());
    let query = [
        ("address", some(&args.address)),
        ("amount", some(&args.amount)),
        ("currency", some(&args.currency)),
    ];
    coins(&args.api, "/sandbox/faucet", &query, context)
}

/// Sends tokens through the sandbox and prints the transactions.
pub fn coins(
    args: &ApiArgs,
    path: &str,
    query: &[(&str, Option<String>)],
    context: &Context,
) -> Result<(), Failure> {
    let client = args.client(&context.data_dir()?)?;
    let given = query.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let path = with_query(path, given)?;
    let body = api::wait_for(async { Ok(client.post(&path, "{}").await?.body) })?;
    if context.output == Output::Json {
        return output::line(&body);
    }
    let answer: Value = document::read(&body)?;
    let transactions =
        answer.get("transactions").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |tx: &Value, name: &str| {
        tx.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    transactions.iter().try_for_each(|tx| {
        output::members(&[
            ("transaction", text(tx, "tx_hash")),
            ("explorer", text(tx, "blockchain_explorer_url")),
        ])
    })
}

fn with_query<'a>(
    path: &str,
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<String, Failure> {
    let url = reqwest::Url::parse_with_params("http://x", pairs)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(url
        .query()
        .filter(|query| !query.is_empty())
        .map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_is_asked_for() {
        assert_eq!(with_query("/x", [].into_iter()).expect("a path"), "/x");
        let given = [("amount", "10"), ("address", "a&b=c")];
        assert_eq!(
            with_query("/x", given.into_iter()).expect("a path"),
            "/x?amount=10&address=a%26b%3Dc"
        );
    }
}
