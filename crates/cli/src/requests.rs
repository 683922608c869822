//! `corridor requests …`: creates, lists and cancels payment requests, and pays them in a sandbox.

mod qr;

use clap::{ArgGroup, Args, Subcommand};
use domain::currency::{Currency, StableCoin};
use domain::payment_request::FIAT;
use serde_json::{Value, json};

use super::api::{self, ApiArgs, WalletApiArgs};
use super::failure::Failure;
use super::table::{amount as money, id, state, text, time};
use super::wallet_api::{LAST, OfWallet, PageArgs, REQUESTS, Wire, amount, code};
use super::{Context, ids, sandbox_call};

#[derive(Subcommand, Debug)]
pub enum RequestsCommand {
    /// Create a payment request with a link for the sender
    Create(CreateArgs),
    /// List the payment requests of a wallet, newest first
    List(ListArgs),
    /// Show a payment request and its progress
    #[command(
        after_help = "Examples:\n  corridor requests get 9a4b2f6d-51c3-4a58-8a8e-6f0f2f9f0a21\n  corridor requests get last"
    )]
    Get(RequestArgs),
    /// Cancel a payment request
    #[command(
        after_help = "Example:\n  corridor requests cancel 9a4b2f6d-51c3-4a58-8a8e-6f0f2f9f0a21"
    )]
    Cancel(RequestArgs),
    /// Show a payment request's link as a QR code in the terminal
    Qr(qr::QrArgs),
    /// Pay a payment request through the sandbox's simulated sender
    Pay(PayArgs),
}

/// Options of `requests create`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("how_much").required(true))]
#[command(after_help = "Examples:
  corridor requests create --amount 25.50 --currency USDC --purpose Rent
  corridor requests create --wallet 5d0c4a4e-… --amount 7000 --currency PKR --expires-in-hours 48
  corridor requests create --flexible")]
pub struct CreateArgs {
    /// Wallet to credit [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    /// Amount to ask for, in --currency
    #[arg(long, value_parser = amount, allow_negative_numbers = true, group = "how_much", requires = "currency")]
    amount: Option<String>,
    /// Currency: a token (USDC, USDT), or a fiat currency to be paid in tokens (PKR, USD, AED, SAR)
    #[arg(long, value_parser = currency, requires = "amount")]
    currency: Option<String>,
    /// Let the sender choose the amount
    #[arg(long, group = "how_much", conflicts_with = "currency")]
    flexible: bool,
    /// Purpose, shown to the sender
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// Recipient's name: the sender sees the first name and an initial
    #[arg(long, value_name = "NAME")]
    recipient_name: Option<String>,
    /// Validity of the link in hours (1 to 720) [default: 24]
    #[arg(long, value_name = "HOURS")]
    expires_in_hours: Option<u32>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `requests list`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor requests list --wallet 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11 --status ACTIVE"
)]
pub struct ListArgs {
    /// Wallet id [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    /// Filter by status: ACTIVE, PAID, EXPIRED, CANCELLED
    #[arg(long, value_parser = code)]
    status: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `requests get` and `requests cancel`.
#[derive(Args, Debug)]
pub struct RequestArgs {
    /// Payment request id, or `last` for the newest request
    #[arg(value_name = "ID")]
    request: String,
    #[command(flatten)]
    of: OfWallet,
    #[command(flatten)]
    api: WalletApiArgs,
}

impl RequestArgs {
    fn id(&self, wire: &Wire) -> Result<String, Failure> {
        wire.id(&REQUESTS, &self.request, self.of.wallet.as_deref())
    }
}

/// Options of `requests pay`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor requests pay 9a4b2f6d-51c3-4a58-8a8e-6f0f2f9f0a21
  corridor requests pay 9a4b2f6d-… --amount 10 --currency USDT     (a different amount)

Sandbox only. The simulated sender pays sandbox links automatically after some seconds; this command pays at once, or again.")]
pub struct PayArgs {
    /// Payment request id, or `last` for the newest request
    #[arg(value_name = "ID")]
    request: String,
    /// Amount [default: the requested amount, with the outcome that its cents select]
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    amount: Option<String>,
    /// Token to pay with [default: USDC]
    #[arg(long, value_parser = code, requires = "amount")]
    currency: Option<String>,
    #[command(flatten)]
    api: ApiArgs,
}

impl PayArgs {
    fn id(&self, context: &Context) -> Result<String, Failure> {
        if !ids::is_start(&self.request) && self.request != LAST {
            return Ok(self.request.clone());
        }
        Wire::open(&WalletApiArgs::default(), context)?.id(&REQUESTS, &self.request, None)
    }
}

const MEMBERS: &[(&str, &str)] = &[
    ("request", "payment_request_id"),
    ("link", "payment_link"),
    ("QR code", "qr_code_url"),
    ("escrow", "escrow_address"),
    ("amount", "amount.value amount.currency"),
    ("kind", "amount.type"),
    ("status", "status"),
    ("received", "amount_received"),
    ("in the wallet", "amount_released"),
    ("due", "amount_due"),
    ("exception", "exception"),
    ("wallet", "wallet_id"),
    ("purpose", "purpose"),
    ("recipient", "recipient_name"),
    ("created", "created_at"),
    ("expires", "expires_at"),
];

pub fn run(command: &RequestsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        RequestsCommand::Create(args) => create(args, context),
        RequestsCommand::List(args) => list(args, context),
        RequestsCommand::Get(args) => {
            let wire = Wire::open(&args.api, context)?;
            let id = args.id(&wire)?;
            let found = api::wait_for(async { Ok(wire.client.payment_request(&id).await?.body) })?;
            wire.show(&found, MEMBERS)
        }
        RequestsCommand::Cancel(args) => {
            let wire = Wire::open(&args.api, context)?;
            let path = format!("/payment-requests/{}/cancel", api::segment(&args.id(&wire)?)?);
            wire.show(&wire.post(&path, &json!({}))?, MEMBERS)
        }
        RequestsCommand::Qr(args) => qr::run(args, context),
        RequestsCommand::Pay(args) => {
            let query = [("amount", args.amount.clone()), ("currency", args.currency.clone())];
            let id = args.id(context)?;
            let path = format!("/sandbox/payment-requests/{}/pay", api::segment(&id)?);
            sandbox_call::coins(&args.api, &path, &query, context)
        }
    }
}

fn currency(text: &str) -> Result<String, String> {
    let named = text.to_ascii_uppercase();
    let coins = StableCoin::ALL.map(|coin| coin.currency().code());
    let fiat = FIAT.map(Currency::code);
    match coins.iter().chain(&fiat).any(|code| *code == named) {
        true => Ok(named),
        false => {
            Err(format!("must be a token ({}) or one of {}", coins.join(", "), fiat.join(", ")))
        }
    }
}

fn create(args: &CreateArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut body =
        json!({ "wallet_id": wire.wallet(args.wallet.as_deref())?, "amount": asked(args) });
    if let Some(purpose) = &args.purpose {
        body["purpose"] = Value::from(purpose.as_str());
    }
    if let Some(name) = &args.recipient_name {
        body["recipient_name"] = Value::from(name.as_str());
    }
    if let Some(hours) = args.expires_in_hours {
        body["expires_in_hours"] = Value::from(hours);
    }
    wire.show(&wire.post("/payment-requests", &body)?, MEMBERS)
}

/// The body's `amount`: `crypto` for a token, `fiat` for any other currency.
fn asked(args: &CreateArgs) -> Value {
    match (&args.amount, &args.currency) {
        (Some(value), Some(currency)) => {
            let coin = domain::currency::StableCoin::parse(currency).is_some();
            json!({ "type": if coin { "crypto" } else { "fiat" }, "value": value, "currency": currency })
        }
        _ => json!({ "type": "flexible" }),
    }
}

fn list(args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut query = vec![("wallet_id", wire.wallet(args.wallet.as_deref())?)];
    query.extend(args.status.iter().map(|status| ("status", status.clone())));
    query.extend(args.page.query());
    let columns = [
        (time("created"), "created_at"),
        (id("request"), "payment_request_id"),
        (state("status"), "status"),
        (money("requested"), "amount.value amount.currency"),
        (money("received"), "amount_received"),
        (time("expires"), "expires_at"),
        (text("exception"), "exception"),
    ];
    let none =
        "No payment requests. Create one: corridor requests create --amount 25.50 --currency USDC";
    wire.show_page(&wire.get(REQUESTS.path, &query)?, REQUESTS.member, &columns, none)
}
