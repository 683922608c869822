//! `corridor tenants …` and `corridor keys …`: API access, written to the store and its audit log.

use clap::{Args, Subcommand};
use domain::chain::ChainNumber;
use domain::characters::entered;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::ids::TenantId;
use domain::ledger::{Funding, funding_subject};
use domain::policy::Environment;
use domain::policy::fields::Field;
use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use engine::payments::{Denied, Reply};
use secrecy::SecretString;
use serde_json::json;
use store::{Store, StoredTransfer, Tenant};

use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::people::{ActingUser, OptionalActingUser};
use super::store_commands::{Opened, open};
use super::table::{id, number, state, text, time};
use super::{Context, brand, policy, run_async};
use service::clock::WallClock;
use service::tenancy::{self, IssuedKey, KeyService};

#[derive(Subcommand, Debug)]
pub enum TenantsCommand {
    /// Create a tenant: a bank with its own keys, fees and books
    Create(CreateTenantArgs),
    /// List the tenants with their fees
    #[command(after_help = "Example:\n  corridor tenants list")]
    List(StoreArgs),
    /// Credit a tenant's prefund account
    TopUp(TopUpArgs),
    /// Debit a tenant's prefund account: what was paid back to the tenant, or topped up in error
    Withdraw(WithdrawArgs),
    /// Show and change a tenant's policy and limits
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Show and change how a tenant's payment pages look
    #[command(subcommand)]
    Brand(brand::BrandCommand),
    /// Book tokens that the bank moved on chain from its treasury to its controller, to fund
    /// refunds
    FundController(FundArgs),
    /// Reverse a booking of fund-controller that was made in error
    ReverseFunding(ReverseArgs),
}

#[derive(Subcommand, Debug)]
pub enum KeysCommand {
    /// Create an access key; its secret is shown once
    Create(CreateKeyArgs),
    /// List the keys of a tenant
    List(TenantArgs),
    /// Rotate a key's secret; the old one stays valid for 7 days
    #[command(after_help = "Example:\n  corridor keys rotate demobank-test_pay-…")]
    Rotate(KeyArgs),
    /// Revoke a key permanently
    #[command(after_help = "Example:\n  corridor keys revoke demobank-test_pay-…")]
    Revoke(KeyArgs),
}

/// Options of every command that opens the store.
#[derive(Args, Debug)]
pub struct StoreArgs {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

/// Options of `tenants create`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor tenants create --tag demobank --name 'Demo Bank' --settlement-coin USDT"
)]
pub struct CreateTenantArgs {
    /// Tag, the prefix of its access keys: a-z, 0-9, _
    #[arg(long)]
    tag: String,
    /// Name of the bank, for display
    #[arg(long)]
    name: String,
    /// Settlement currency of its payments
    #[arg(long, default_value = "USDT", value_parser = coin)]
    settlement_coin: StableCoin,
    /// Service fee, in basis points of the wallet amount
    #[arg(long, default_value_t = 25)]
    premium_bps: u32,
    /// The tenant's margin in its rates, in basis points
    #[arg(long, default_value_t = 0)]
    margin_bps: u32,
    /// Require an hmac claim on every POST
    #[arg(long)]
    require_hmac: bool,
    /// Require the role of each operation in wallet tokens [default: true in production, else
    /// false]
    #[arg(long, value_name = "true|false")]
    strict_roles: Option<bool>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Tokens of a tenant.
#[derive(Args, Debug)]
struct SumArgs {
    /// Token that the amount is in
    #[arg(long, value_parser = coin)]
    coin: StableCoin,
    /// Amount, at most 1000000000 with 6 decimals
    #[arg(long, allow_negative_numbers = true)]
    amount: Decimal,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// Options of `tenants top-up`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor tenants top-up --tenant demobank --coin USDT --amount 100000 --reference TREASURY-2041 --by ayesha \\
    --why 'seen in the treasury wallet'

A reference is booked once: repeated with the same amount, the command shows the first booking; with another amount, it is
refused. --by is a user with the role treasury or admin. A sandbox needs none of the three: without a reference, each call books.")]
pub struct TopUpArgs {
    /// Reference of the money that was received: a transaction hash or the bank's reference. Required
    /// outside a sandbox, as --by and --why
    #[arg(long, value_name = "TEXT", value_parser = reference)]
    reference: Option<String>,
    #[command(flatten)]
    person: OptionalActingUser,
    #[command(flatten)]
    sum: SumArgs,
}

/// Options of `tenants withdraw`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor tenants withdraw --tenant demobank --coin USDT --amount 2500 --reference TREASURY-2042 --by ayesha \
    --why 'paid back on request'

Nothing is sent: the command books what left, or what a top-up booked too much. It takes what is available and not reserved for
payments. A reference is booked once, as with top-up. --by is a user with the role treasury or admin.")]
pub struct WithdrawArgs {
    /// Reference of the money that was paid back, or of the correction
    #[arg(long, value_name = "TEXT", value_parser = reference)]
    reference: String,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    sum: SumArgs,
}

/// Options of `tenants fund-controller`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor tenants fund-controller --tenant demobank --coin USDC --amount 250 --by ayesha --why 'for refunds' \\
    --reference $TX_HASH

Nothing is sent: the command books what was moved. A reference is booked once, as with top-up; `reverse-funding` takes back a
booking that was made in error. --by is a user with the role treasury or admin.")]
pub struct FundArgs {
    /// Chain of the controller, as the API names it [default: the first]
    #[arg(long, value_name = "NAME")]
    blockchain: Option<String>,
    /// Reference of the tokens that were moved: the transaction's hash, 0x and 64 hexadecimal digits
    #[arg(long, value_name = "HASH", value_parser = transaction)]
    reference: String,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    sum: SumArgs,
}

/// Options of `tenants reverse-funding`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor tenants reverse-funding --tenant demobank --by ayesha --why 'booked for another tenant' \\
    --reference $TX_HASH

Reverses the whole amount, once. The reference cannot be booked again: book what was moved with another one. --by is a user
with the role treasury or admin.")]
pub struct ReverseArgs {
    /// Reference that was booked
    #[arg(long, value_name = "TEXT", value_parser = booked)]
    reference: String,
    #[command(flatten)]
    person: ActingUser,
    #[command(flatten)]
    tenant: TenantArgs,
}

/// A tenant and the store.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor keys list --tenant demobank")]
pub struct TenantArgs {
    /// Tenant tag [default: the only tenant]
    #[arg(long)]
    pub(super) tenant: Option<String>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

/// Options of `keys create`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor keys create --tenant demobank --service pay")]
pub struct CreateKeyArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// API that the key is for
    #[arg(long, value_enum, default_value = "pay")]
    service: KeyService,
}

/// Options of `keys rotate` and `keys revoke`.
#[derive(Args, Debug)]
pub struct KeyArgs {
    /// Access key, as shown by `corridor keys list`
    access_key: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Maximum length of the reference of money that was received.
const REFERENCE_MAX_CHARS: usize = 128;

/// Parses the reference of money that was moved. One that begins like a transaction's hash is a whole
/// one.
fn reference(text: &str) -> Result<String, String> {
    let reference = booked(text)?;
    let is_hash = reference.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    if is_hash { transaction(&reference) } else { Ok(reference) }
}

/// Parses a transaction's hash; it is kept as typed.
fn transaction(text: &str) -> Result<String, String> {
    let rule = || "must be a transaction's hash: 0x and 64 hexadecimal digits".to_owned();
    let typed = text.trim();
    hash_form(typed).map(|_| typed.to_owned()).ok_or_else(rule)
}

/// The one form under which a transaction's hash is booked: in lower case.
fn hash_form(text: &str) -> Option<String> {
    let hash = text.to_ascii_lowercase();
    let digits = hash.strip_prefix("0x")?;
    let is_whole = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_whole.then_some(hash)
}

/// The forms under which a reference may be booked, first that of new bookings. An earlier version booked
/// a hash as it was typed.
fn forms(typed: &str) -> Vec<String> {
    let Some(hash) = hash_form(typed) else { return vec![typed.to_owned()] };
    let upper = hash.to_ascii_uppercase();
    let digits = upper.replacen("0X", "0x", 1);
    vec![hash, typed.to_owned(), digits, upper]
}

/// The form under which a reference is booked, or is to be.
async fn booked_form(
    store: &Store,
    (tenant, funding): (TenantId, Funding),
    typed: &str,
) -> Result<String, Failure> {
    let forms = forms(typed);
    for form in &forms {
        let booked = store.funding(tenant, funding_subject(funding, tenant, form)).await;
        if booked.map_err(Failure::of_store)?.is_some() {
            return Ok(form.clone());
        }
    }
    Ok(forms.into_iter().next().unwrap_or_else(|| typed.to_owned()))
}

/// Parses a reference that may have been booked by an earlier version, which took any text.
fn booked(text: &str) -> Result<String, String> {
    let rule = || format!("must be 1 to {REFERENCE_MAX_CHARS} printable characters");
    entered(text, REFERENCE_MAX_CHARS).map(str::to_owned).ok_or_else(rule)
}

/// Parses the name of a token.
pub(super) fn coin(text: &str) -> Result<StableCoin, String> {
    StableCoin::parse(&text.to_ascii_uppercase()).ok_or_else(|| "must be USDT or USDC".to_owned())
}

pub fn tenants(command: &TenantsCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            TenantsCommand::Create(args) => create_tenant(args, context).await,
            TenantsCommand::List(args) => {
                list_tenants(&open(args, context).await?.store, context).await
            }
            TenantsCommand::TopUp(args) => {
                let reference = args.reference.as_deref();
                fund(Funding::TopUp, &args.sum, reference, &args.person, context).await
            }
            TenantsCommand::Withdraw(args) => {
                let person = args.person.clone().into();
                fund(Funding::Withdrawal, &args.sum, Some(&args.reference), &person, context).await
            }
            TenantsCommand::Brand(command) => brand::run(command, context).await,
            TenantsCommand::Policy(command) => policy::run(command, context).await,
            TenantsCommand::FundController(args) => fund_controller(args, context).await,
            TenantsCommand::ReverseFunding(args) => reverse_funding(args, context).await,
        }
    })
}

pub fn keys(command: &KeysCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            KeysCommand::Create(args) => create_key(args, context).await,
            KeysCommand::List(args) => list_keys(args, context).await,
            KeysCommand::Rotate(args) => rotate(args, context).await,
            KeysCommand::Revoke(args) => revoke(args, context).await,
        }
    })
}

async fn create_tenant(args: &CreateTenantArgs, context: &Context) -> Result<(), Failure> {
    let Opened { store, by, config, .. } = open(&args.store, context).await?;
    let mut policy = tenancy::default_policy(args.settlement_coin);
    let prices = [(Field::PremiumBps, args.premium_bps), (Field::MarginBps, args.margin_bps)];
    for (field, bps) in prices {
        field.set(&mut policy, &bps.to_string()).map_err(Failure::usage)?;
    }
    policy.require_hmac = args.require_hmac;
    policy.wallet.strict_roles =
        args.strict_roles.unwrap_or(tenancy::strict_roles(config.environment));
    let tenants = store.tenants().await.map_err(Failure::of_store)?;
    if let Some(taken) = tenants.iter().find(|tenant| tenant.tag == args.tag) {
        return Err(Failure::Refused(format!(
            "tenant {} already exists: {}",
            taken.tag, taken.name
        )));
    }
    let tenant = tenancy::create_tenant(&store, &args.tag, &args.name, policy, &by)
        .await
        .map_err(Failure::refused)?;
    show_tenants(&[tenant], context)
}

async fn list_tenants(store: &Store, context: &Context) -> Result<(), Failure> {
    show_tenants(&store.tenants().await.map_err(Failure::of_store)?, context)
}

fn show_tenants(tenants: &[Tenant], context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            let row = |tenant: &Tenant| {
                let policy = &tenant.policy;
                let coin = policy.settlement_coin.currency().code().to_owned();
                let bps = (policy.premium_bps.to_string(), policy.margin_bps.to_string());
                vec![
                    tenant.tag.clone(),
                    tenant.name.clone(),
                    tenant.id.to_string(),
                    coin,
                    bps.0,
                    bps.1,
                ]
            };
            let columns = [
                text("tag"),
                text("name"),
                id("id"),
                text("coin"),
                number("premium bps"),
                number("margin bps"),
            ];
            let none = "No tenants yet. Create one: corridor tenants create --tag bank --name Bank";
            output::rows_or(&columns, tenants.iter().map(row).collect(), none)
        }
        Output::Json => tenants.iter().try_for_each(|tenant| {
            output::json(&json!({
                "id": tenant.id.to_string(),
                "tag": tenant.tag,
                "name": tenant.name,
                "settlement_coin": tenant.policy.settlement_coin.currency().code(),
                "premium_bps": tenant.policy.premium_bps,
                "margin_bps": tenant.policy.margin_bps,
                "require_hmac": tenant.policy.require_hmac,
                "strict_roles": tenant.policy.wallet.strict_roles,
            }))
        }),
    }
}

/// Roles whose users book money.
const FUNDERS: [Role; 2] = [Role::Treasury, Role::Admin];
/// Most coins that one command books, in minor units: a slip of the keyboard must not fill an account
/// so far that no deposit can follow.
const AMOUNT_MAX_MINOR: i64 = 1_000_000_000 * 1_000_000;

impl SumArgs {
    fn minor(&self) -> Result<i64, Failure> {
        let minor = self.amount.to_minor(self.coin.currency().minor_units());
        minor.filter(|minor| (1..=AMOUNT_MAX_MINOR).contains(minor)).ok_or_else(|| {
            let rule = "--amount: must be above 0 and at most 1000000000, with at most 6 decimals";
            Failure::Usage(rule.to_owned())
        })
    }
}

async fn fund(
    funding: Funding,
    sum: &SumArgs,
    reference: Option<&str>,
    person: &OptionalActingUser,
    context: &Context,
) -> Result<(), Failure> {
    let minor = sum.minor()?;
    let opened = open(&sum.tenant.store, context).await?;
    if opened.config.environment != Environment::Mock {
        answered_for(reference, person)?;
    }
    let tenant = opened.tenant(&sum.tenant.tenant).await?;
    let by = person.deed(&opened, Scope::Tenant(tenant.id), &FUNDERS).await?;
    let payments = opened.payments()?;
    let Some(reference) = reference else {
        payments
            .service
            .top_up(tenant.id, sum.coin, minor, by)
            .await
            .map_err(Failure::of_payments)?;
        payments.finish().await;
        let (amount, coin) = (coin_amount::show(minor), sum.coin.currency().code());
        let tag = &tenant.tag;
        return output::done(
            context.output,
            &format!("{amount} {coin} paid into the prefund of {tag}"),
            &json!({ "tenant": tag, "coin": coin, "amount": amount }),
        );
    };
    let money = (sum.coin, minor);
    let reference = &booked_form(&opened.store, (tenant.id, funding), reference).await?;
    let booked = payments.service.fund_once(tenant.id, funding, money, reference, by).await;
    payments.finish().await;
    show_funding(booked, (funding, reference), &tenant.tag, context)
}

/// Refuses a booking of real money without a reference, which is booked once, a user and a reason.
fn answered_for(reference: Option<&str>, person: &OptionalActingUser) -> Result<(), Failure> {
    let mut missing: Vec<&str> = reference.is_none().then_some("--reference").into_iter().collect();
    if person.named().is_none() {
        missing.extend(["--by", "--why"]);
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!("{}: required outside a sandbox", missing.join(", "))))
}

/// Shows the booking of money with a reference.
fn show_funding(
    booked: Result<Reply<StoredTransfer>, Denied>,
    (funding, reference): (Funding, &str),
    tag: &str,
    context: &Context,
) -> Result<(), Failure> {
    let Reply { made, replayed } = booked.map_err(Failure::of_payments)?;
    let was = if replayed { "was already " } else { "" };
    let what = match funding {
        Funding::TopUp => "paid into the prefund of",
        Funding::Withdrawal => "withdrawn from the prefund of",
        Funding::Controller(_) => "booked from the treasury to the controller of",
        Funding::ControllerReversal(_) => "booked back from the controller to the treasury of",
    };
    let (amount, coin) = (coin_amount::show(made.amount.minor), made.amount.currency.code());
    let sentence =
        format!("{amount} {coin} {was}{what} {tag}, reference {reference}, at {}", made.at);
    let document = json!({
        "tenant": tag,
        "coin": coin,
        "amount": amount,
        "reference": reference,
        "transfer_id": made.id.to_string(),
        "booked_at": made.at.to_string(),
        "repeated": replayed,
    });
    output::done(context.output, &sentence, &document)
}

async fn fund_controller(args: &FundArgs, context: &Context) -> Result<(), Failure> {
    let FundArgs { sum, blockchain, reference, person } = args;
    let minor = sum.minor()?;
    let opened = open(&sum.tenant.store, context).await?;
    if !opened.config.wallets.enabled {
        return Err(Failure::Refused("wallets are not enabled: wallets.enabled".to_owned()));
    }
    let tenant = opened.tenant(&sum.tenant.tenant).await?;
    let chain = opened.chain(blockchain).await?;
    let controller = opened.store.deployed_controller(tenant.id, chain).await;
    if controller.map_err(Failure::of_store)?.is_none() {
        let tag = &tenant.tag;
        return Err(Failure::Refused(format!("tenant {tag} has no controller on this chain yet")));
    }
    let by = person.deed(&opened, Scope::Tenant(tenant.id), &FUNDERS).await?;
    let (funding, money) = (Funding::Controller(chain), (sum.coin, minor));
    let payments = opened.payments()?;
    let reference = &booked_form(&opened.store, (tenant.id, funding), reference).await?;
    let booked = payments.service.fund_once(tenant.id, funding, money, reference, by).await;
    payments.finish().await;
    show_funding(booked, (funding, reference), &tenant.tag, context)
}

async fn reverse_funding(args: &ReverseArgs, context: &Context) -> Result<(), Failure> {
    let ReverseArgs { reference, person, tenant } = args;
    let opened = open(&tenant.store, context).await?;
    let tenant = opened.tenant(&tenant.tenant).await?;
    let by = person.deed(&opened, Scope::Tenant(tenant.id), &FUNDERS).await?;
    let payments = opened.payments()?;
    // The subject does not depend on the chain.
    let funding = Funding::Controller(ChainNumber::FIRST);
    let reference = &booked_form(&opened.store, (tenant.id, funding), reference).await?;
    let booked = payments.service.reverse_funding(tenant.id, reference, by).await;
    payments.finish().await;
    let funding = Funding::ControllerReversal(ChainNumber::FIRST);
    show_funding(booked, (funding, reference), &tenant.tag, context)
}

async fn create_key(args: &CreateKeyArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let issued = tenancy::create_key(
        &opened.store,
        &tenant,
        opened.config.environment,
        args.service,
        &opened.by,
    );
    show_key(&issued.await.map_err(Failure::refused)?, context)
}

/// The active key. Updates of a missing or revoked key touch no row, so they are refused here.
async fn usable_key(store: &Store, access_key: &str) -> Result<(), Failure> {
    for tenant in store.tenants().await.map_err(Failure::of_store)? {
        let keys = store.keys(tenant.id).await.map_err(Failure::of_store)?;
        let Some(key) = keys.iter().find(|key| key.access_key == access_key) else { continue };
        return match key.revoked_at {
            Some(at) => {
                Err(Failure::Refused(format!("access key {access_key} was revoked at {at}")))
            }
            None => Ok(()),
        };
    }
    Err(Failure::Refused(format!("access key {access_key} was not found")))
}

async fn revoke(args: &KeyArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    usable_key(&opened.store, &args.access_key).await?;
    opened.store.revoke_key(&args.access_key, &opened.by).await.map_err(Failure::of_store)?;
    output::done(
        context.output,
        "revoked; every node refuses it within seconds",
        &json!({ "access_key": args.access_key, "revoked": true }),
    )
}

async fn rotate(args: &KeyArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    usable_key(&opened.store, &args.access_key).await?;
    let secret_key = tenancy::fresh_secret().map_err(Failure::refused)?;
    let secret = SecretString::from(secret_key.clone());
    opened
        .store
        .rotate_key(&args.access_key, secret, tenancy::ROTATION_OVERLAP, &opened.by)
        .await
        .map_err(Failure::of_store)?;
    show_key(&IssuedKey { access_key: args.access_key.clone(), secret_key }, context)
}

fn show_key(key: &IssuedKey, context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            output::members(&[
                ("access key", key.access_key.clone()),
                ("secret key", key.secret_key.clone()),
            ])?;
            output::remark("The secret key is shown only once.");
            Ok(())
        }
        Output::Json => {
            output::json(&json!({ "access_key": key.access_key, "secret_key": key.secret_key }))
        }
    }
}

async fn list_keys(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let keys = opened.store.keys(tenant.id).await.map_err(Failure::of_store)?;
    let now = WallClock.now();
    match context.output {
        Output::Table => {
            let row = |key: &store::KeyRow| {
                let state = match (key.revoked_at, key.suspended) {
                    (Some(_), _) => "revoked".to_owned(),
                    (None, true) => "suspended".to_owned(),
                    (None, false) => "active".to_owned(),
                };
                vec![
                    key.access_key.clone(),
                    state,
                    key.valid_secrets(now).count().to_string(),
                    key.created_at.to_string(),
                    key.revoked_at.map(|at| at.to_string()).unwrap_or_default(),
                ]
            };
            output::rows_or(
                &[
                    id("access key"),
                    state("state"),
                    number("secrets"),
                    time("created"),
                    time("revoked"),
                ],
                keys.iter().map(row).collect(),
                "No keys yet. Create one: corridor keys create",
            )
        }
        Output::Json => keys.iter().try_for_each(|key| {
            output::json(&json!({
                "access_key": key.access_key,
                "secrets": key.valid_secrets(now).count(),
                "suspended": key.suspended,
                "created_at": key.created_at.to_string(),
                "revoked_at": key.revoked_at.map(|at| at.to_string()),
            }))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_s_hash_is_whole_and_booked_in_one_form() {
        let hash = format!("0x{}", "9f2c".repeat(16));
        let (upper, digits) = (hash.to_uppercase(), hash.to_uppercase().replace('X', "x"));
        let mixed = hash.replacen("9f2c", "9F2c", 1);
        for given in [&hash, &upper, &digits, &mixed, &format!(" {mixed} ")] {
            let typed = given.trim().to_owned();
            assert_eq!(transaction(given).as_ref(), Ok(&typed), "{given}");
            assert_eq!(reference(given).as_ref(), Ok(&typed), "{given}");
            let forms = forms(&typed);
            assert_eq!(forms.first(), Some(&hash), "a new booking of {given}");
            for earlier in [&typed, &upper, &digits] {
                assert!(
                    forms.contains(earlier),
                    "an earlier version booked it: {given}, {earlier}"
                );
            }
        }
        let long = format!("{hash}0");
        let other = hash.replace('f', "g");
        for given in ["0x9f2c\u{2026}d1", "0x", "0X9f2c", &hash[..65], &long, &other] {
            let rule = Err("must be a transaction's hash: 0x and 64 hexadecimal digits".to_owned());
            assert_eq!((transaction(given), reference(given)), (rule.clone(), rule), "{given}");
            assert!(booked(given).is_ok(), "an earlier version booked it: {given}");
        }
        for given in ["FT26", "TREASURY-2041", "9f2c"] {
            assert!(transaction(given).is_err(), "{given}");
            assert_eq!(reference(given).as_deref(), Ok(given));
            assert_eq!(forms(given), [given], "in the case that it was typed in");
        }
        assert_eq!(forms("0X9f2c"), ["0X9f2c"]);
        assert!(reference(" ").is_err());
    }
}
