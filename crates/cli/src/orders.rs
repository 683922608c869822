//! `corridor tx …`, `corridor rate` and `corridor orders …`: wallet transactions, rates and
//! exchanges.

use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Map, Value, json};

use super::Context;
use super::api::{self, WalletApiArgs};
use super::failure::Failure;
use super::table::{amount as money, id, number, state, text, time};
use super::wallet_api::{ORDERS, OfWallet, PageArgs, TRANSACTIONS, Wire, amount, code};

#[derive(Subcommand, Debug)]
pub enum TxCommand {
    /// List the transactions of a wallet, newest first
    List(ListTxArgs),
    /// Show a transaction: a deposit, or an exchange by its order id
    Get(GetTxArgs),
}

/// Options of `tx get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor tx get b7f6c8a0-2e4d-4c43-8f5e-0d8f1e2a3b31")]
pub struct GetTxArgs {
    /// Transaction id, as in events, or `last` for the newest transaction
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    of: OfWallet,
    #[command(flatten)]
    api: WalletApiArgs,
}

#[derive(Subcommand, Debug)]
pub enum OrdersCommand {
    /// Exchange tokens of a wallet and pay out to a bank account
    Create(CreateArgs),
    /// List the orders of a wallet, newest first
    List(ListArgs),
    /// Show an order and its status
    #[command(after_help = "Example:\n  corridor orders get c2a7d9e4-7b0f-4f0b-9c55-1b2c3d4e5f41")]
    Get(OrderArgs),
    /// Cancel an order that is still PENDING
    #[command(
        after_help = "Example:\n  corridor orders cancel c2a7d9e4-7b0f-4f0b-9c55-1b2c3d4e5f41"
    )]
    Cancel(OrderArgs),
}

/// Options of `tx list`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor tx list --wallet 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11 --type RECEIVED"
)]
pub struct ListTxArgs {
    /// Wallet id [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    /// Filter by type: RECEIVED, EXCHANGED, BLOCKED
    #[arg(long = "type", value_name = "TYPE", value_parser = code)]
    kind: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    api: WalletApiArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor rate --from USDC --to PKR --amount 100")]
pub struct RateArgs {
    /// Token to exchange: USDC or USDT
    #[arg(long, default_value = "USDC", value_parser = code)]
    from: String,
    /// Currency of the payout, such as PKR
    #[arg(long, default_value = "PKR", value_parser = code)]
    to: String,
    /// Amount of the token [default: 1]
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    amount: Option<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `orders create`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("bank_account").required(true))]
#[command(after_help = "Examples:
  corridor orders create --amount 100 --iban PK36SCBL0000001123456702 --holder 'Asha Khan' --lock-rate
  corridor orders create --wallet 5d0c4a4e-… --amount 100 --from USDT --account 001123456702 --bank SCBL \\
    --holder 'Asha Khan'")]
pub struct CreateArgs {
    /// Wallet to debit [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    /// Amount of the token
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    amount: String,
    /// Token to exchange: USDC or USDT
    #[arg(long, default_value = "USDC", value_parser = code)]
    from: String,
    /// Currency of the payout, such as PKR
    #[arg(long, default_value = "PKR", value_parser = code)]
    to: String,
    /// Name of the account holder
    #[arg(long, value_name = "NAME")]
    holder: String,
    /// IBAN of the bank account
    #[arg(long, group = "bank_account")]
    iban: Option<String>,
    /// Number of the bank account
    #[arg(long, value_name = "NUMBER", group = "bank_account", requires = "bank")]
    account: Option<String>,
    /// Code of the account's bank
    #[arg(long, value_name = "CODE", requires = "account")]
    bank: Option<String>,
    /// Lock the current rate for 15 minutes
    #[arg(long)]
    lock_rate: bool,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `orders list`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor orders list --wallet 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11"
)]
pub struct ListArgs {
    /// Wallet id [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `orders get` and `orders cancel`.
#[derive(Args, Debug)]
pub struct OrderArgs {
    /// Order id, or `last` for the newest order
    #[arg(value_name = "ID")]
    order: String,
    #[command(flatten)]
    of: OfWallet,
    #[command(flatten)]
    api: WalletApiArgs,
}

impl OrderArgs {
    fn id(&self, wire: &Wire) -> Result<String, Failure> {
        wire.id(&ORDERS, &self.order, self.of.wallet.as_deref())
    }
}

const MEMBERS: &[(&str, &str)] = &[
    ("order", "order_id"),
    ("status", "status"),
    ("from", "from_amount from_currency"),
    ("to", "to_amount to_currency"),
    ("rate", "exchange_rate"),
    ("spread", "spread"),
    ("rate locked", "rate_locked"),
    ("created", "created_at"),
    ("settled by", "estimated_settlement"),
    ("settled", "settled_at"),
    ("account", "bank_account.iban bank_account.account_number"),
    ("reference", "settlement_reference"),
    ("wallet", "wallet_id"),
    ("why", "failure_reason error_message"),
];

pub fn tx(command: &TxCommand, context: &Context) -> Result<(), Failure> {
    match command {
        TxCommand::List(args) => list_tx(args, context),
        TxCommand::Get(args) => {
            let wire = Wire::open(&args.api, context)?;
            let id = wire.id(&TRANSACTIONS, &args.transaction, args.of.wallet.as_deref())?;
            let found = api::wait_for(async { Ok(wire.client.transaction(&id).await?.body) })?;
            wire.show(&found, TX_MEMBERS)
        }
    }
}

const TX_MEMBERS: &[(&str, &str)] = &[
    ("transaction", "transaction_id"),
    ("type", "type"),
    ("amount", "amount currency"),
    ("status", "status"),
    ("time", "timestamp"),
    ("sender", "sender.first_name sender.last_name"),
    ("tx hash", "tx_hash"),
    ("explorer", "blockchain_explorer_url"),
    ("rate", "exchange_rate"),
    ("paid out", "received_amount received_currency"),
    ("reference", "settlement_reference"),
    ("wallet", "wallet_id"),
    ("request", "payment_request_id"),
];

fn list_tx(args: &ListTxArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut query = vec![("wallet_id", wire.wallet(args.wallet.as_deref())?)];
    query.extend(args.kind.iter().map(|kind| ("type", kind.clone())));
    query.extend(args.page.query());
    let columns = [
        (time("time"), "timestamp"),
        (id("transaction"), "transaction_id"),
        (text("type"), "type"),
        (money("amount"), "amount currency"),
        (state("status"), "status"),
        (money("paid out"), "received_amount received_currency"),
        (text("sender"), "sender.first_name sender.last_name"),
        (text("reference"), "tx_hash settlement_reference"),
    ];
    let none = "No transactions. In a sandbox: corridor trigger transfer.complete";
    wire.show_page(&wire.get(TRANSACTIONS.path, &query)?, TRANSACTIONS.member, &columns, none)
}

pub fn rate(args: &RateArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut query = vec![("from_currency", args.from.clone()), ("to_currency", args.to.clone())];
    query.extend(args.amount.iter().map(|amount| ("amount", amount.clone())));
    let members = [
        ("from", "from_currency"),
        ("to", "to_currency"),
        ("rate", "rate"),
        ("spread", "spread"),
        ("paid out", "estimated_amount to_currency"),
        ("valid until", "valid_until"),
    ];
    wire.show(&wire.get("/orders/exchange-rate", &query)?, &members)
}

pub fn orders(command: &OrdersCommand, context: &Context) -> Result<(), Failure> {
    match command {
        OrdersCommand::Create(args) => {
            let wire = Wire::open(&args.api, context)?;
            let body = json!({
                "order_type": "EXCHANGE",
                "wallet_id": wire.wallet(args.wallet.as_deref())?,
                "amount": args.amount,
                "from_currency": args.from,
                "to_currency": args.to,
                "bank_account": bank_account(args),
                "lock_rate": args.lock_rate,
            });
            wire.show(&wire.post("/orders", &body)?, MEMBERS)
        }
        OrdersCommand::List(args) => list(args, context),
        OrdersCommand::Get(args) => {
            let wire = Wire::open(&args.api, context)?;
            let id = args.id(&wire)?;
            let found = api::wait_for(async { Ok(wire.client.order(&id).await?.body) })?;
            wire.show(&found, MEMBERS)
        }
        OrdersCommand::Cancel(args) => {
            let wire = Wire::open(&args.api, context)?;
            let path = format!("/orders/{}/cancel", api::segment(&args.id(&wire)?)?);
            wire.show(&wire.post(&path, &json!({}))?, MEMBERS)
        }
    }
}

fn bank_account(args: &CreateArgs) -> Map<String, Value> {
    let members =
        [("iban", &args.iban), ("account_number", &args.account), ("bank_code", &args.bank)]
            .into_iter();
    let given =
        members.filter_map(|(name, value)| Some((name.to_owned(), Value::from(value.as_deref()?))));
    given.chain([("account_holder_name".to_owned(), Value::from(args.holder.as_str()))]).collect()
}

fn list(args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut query = vec![("wallet_id", wire.wallet(args.wallet.as_deref())?)];
    query.extend(args.page.query());
    let columns = [
        (time("created"), "created_at"),
        (id("order"), "order_id"),
        (state("status"), "status"),
        (money("from"), "from_amount from_currency"),
        (money("to"), "to_amount to_currency"),
        (number("rate"), "exchange_rate"),
        (text("account"), "bank_account.iban bank_account.account_number"),
        (text("reference"), "settlement_reference"),
        (text("why"), "failure_reason"),
    ];
    let none =
        "No orders. Create one: corridor orders create --amount 10 --iban IBAN --holder NAME";
    wire.show_page(&wire.get(ORDERS.path, &query)?, ORDERS.member, &columns, none)
}
