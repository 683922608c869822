//! `corridor wallets …`: provisions, inspects, blocks and unblocks wallets.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::api::{self, WalletApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::wallet_api::{Wire, code};
use super::{Context, document, table};

#[derive(Subcommand, Debug)]
pub enum WalletsCommand {
    /// Provision a wallet for a customer
    Provision(ProvisionArgs),
    /// Show a wallet and its balances
    Get(WalletArgs),
    /// Block a wallet: outgoing transfers stop, incoming deposits wait
    Block(BlockArgs),
    /// Unblock a wallet: deposits that waited continue
    Unblock(UnblockArgs),
    /// Blacklist a wallet permanently on a regulator's order
    Blacklist(BlacklistArgs),
}

/// Options of `wallets provision`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor wallets provision --customer CUST-117 --email asha@example.com \\
    --phone +923001234567 --kyc-level ENHANCED"
)]
pub struct ProvisionArgs {
    /// The bank's customer id
    #[arg(long, value_name = "ID")]
    customer: String,
    /// The customer's email address
    #[arg(long)]
    email: String,
    /// The customer's phone number in E.164 format
    #[arg(long, value_name = "NUMBER")]
    phone: String,
    /// KYC level: BASIC, ENHANCED, COMPREHENSIVE [default: the tenant's record of the customer,
    /// else BASIC]
    #[arg(long, value_name = "LEVEL", value_parser = code)]
    kyc_level: Option<String>,
    /// Blockchain, as the API names it [default: ethereum]
    #[arg(long, value_name = "NAME")]
    blockchain: Option<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `wallets get`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor wallets get 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11")]
pub struct WalletArgs {
    /// Wallet id [default: the running sandbox's wallet]
    #[arg(value_name = "ID")]
    wallet: Option<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `wallets block`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor wallets block --reason SUSPICIOUS_ACTIVITY \\
    --details 'several senders with one name' --auto-unblock-hours 72 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11")]
pub struct BlockArgs {
    /// Wallet id, as shown by `corridor wallets provision`
    #[arg(value_name = "ID")]
    wallet: String,
    /// Reason code: SUSPICIOUS_ACTIVITY, PENDING_INVESTIGATION …
    #[arg(long, value_name = "CODE", value_parser = code)]
    reason: String,
    /// Explanation of the reason
    #[arg(long, value_name = "TEXT")]
    details: String,
    /// Hours until the wallet unblocks automatically (1 to 8760)
    #[arg(long, value_name = "HOURS")]
    auto_unblock_hours: Option<u32>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `wallets unblock`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor wallets unblock --why 'the senders are relatives' 5d0c4a4e-…"
)]
pub struct UnblockArgs {
    /// Wallet id, as shown by `corridor wallets provision`
    #[arg(value_name = "ID")]
    wallet: String,
    /// Reason, for the audit log
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `wallets blacklist`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor wallets blacklist --authority 'Federal Investigation Agency' \\
    --reference FIA-2026-0417 --reason 'court order' --effective-date 2026-11-21 5d0c4a4e-…"
)]
pub struct BlacklistArgs {
    /// Wallet id, as shown by `corridor wallets provision`
    #[arg(value_name = "ID")]
    wallet: String,
    /// Regulatory authority that issued the order
    #[arg(long, value_name = "NAME")]
    authority: String,
    /// Reference number of the order
    #[arg(long, value_name = "NUMBER")]
    reference: String,
    /// Reason for the order
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Effective date (UTC); until then the wallet is blocked [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    effective_date: Option<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Labels and members that an answer about a wallet may have.
const MEMBERS: &[(&str, &str)] = &[
    ("wallet", "wallet_id"),
    ("customer", "customer_id"),
    ("address", "wallet_address"),
    ("blockchain", "blockchain"),
    ("status", "status"),
    ("kyc level", "kyc_level"),
    ("reason", "reason"),
    ("blocked", "blocked_at"),
    ("unblocks at", "auto_unblock_at"),
    ("unblocked", "unblocked_at"),
    ("authority", "regulatory_authority"),
    ("reference", "regulatory_reference"),
    ("blacklisted", "blacklisted_at"),
    ("effective", "effective_date"),
    ("on the token's blacklist", "usdc_contract_blacklist_applied"),
    ("value in USD", "balance.total_value_usd"),
    ("created", "created_at"),
    ("last activity", "last_activity_at"),
];

pub fn run(command: &WalletsCommand, context: &Context) -> Result<(), Failure> {
    match command {
        WalletsCommand::Provision(args) => provision(args, context),
        WalletsCommand::Get(args) => get(args, context),
        WalletsCommand::Block(args) => {
            let mut body = json!({ "reason": args.reason, "details": args.details });
            if let Some(hours) = args.auto_unblock_hours {
                body["auto_unblock_hours"] = Value::from(hours);
            }
            control(&Wire::open(&args.api, context)?, &args.wallet, "block", &body)
        }
        WalletsCommand::Unblock(args) => {
            let body =
                args.why.as_ref().map_or_else(|| json!({}), |why| json!({ "unblock_reason": why }));
            control(&Wire::open(&args.api, context)?, &args.wallet, "unblock", &body)
        }
        WalletsCommand::Blacklist(args) => {
            let today = || jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
            let body = json!({
                "regulatory_authority": args.authority,
                "regulatory_reference_number": args.reference,
                "reason": args.reason,
                "effective_date": args.effective_date.clone().unwrap_or_else(today),
            });
            control(&Wire::open(&args.api, context)?, &args.wallet, "blacklist", &body)
        }
    }
}

fn provision(args: &ProvisionArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let mut body = json!({ "customer_id": args.customer, "customer_email": args.email, "customer_phone": args.phone });
    for (name, value) in [("kyc_level", &args.kyc_level), ("blockchain", &args.blockchain)] {
        if let Some(value) = value {
            body[name] = Value::from(value.as_str());
        }
    }
    wire.show(&wire.post("/wallets/provision", &body)?, MEMBERS)
}

fn get(args: &WalletArgs, context: &Context) -> Result<(), Failure> {
    let wire = Wire::open(&args.api, context)?;
    let id = wire.wallet(args.wallet.as_deref())?;
    let body = wire.get(&format!("/wallets/{}", api::segment(&id)?), &[])?;
    wire.show(&body, MEMBERS)?;
    if wire.output == Output::Json {
        return Ok(());
    }
    let wallet: Value = document::read(&body)?;
    let assets =
        wallet.pointer("/balance/assets").and_then(Value::as_array).cloned().unwrap_or_default();
    let names = ["currency", "amount", "available", "value_usd", "value_pkr"];
    let text = |asset: &Value, name: &str| {
        asset.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let rows =
        assets.iter().map(|asset| names.iter().map(|name| text(asset, name)).collect()).collect();
    output::line("")?;
    let columns = [
        table::text("coin"),
        table::amount("amount"),
        table::amount("available"),
        table::amount("in USD"),
        table::amount("in PKR"),
    ];
    output::rows(&columns, rows)
}

fn control(wire: &Wire, wallet: &str, act: &str, body: &Value) -> Result<(), Failure> {
    let id = wire.wallet(Some(wallet))?;
    wire.show(&wire.post(&format!("/wallets/{}/{act}", api::segment(&id)?), body)?, MEMBERS)
}
