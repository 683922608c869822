//! `corridor webhooks …`: tenants' webhook endpoints and signing secrets, written to the store and
//! its audit log. Secrets are shown once.

use clap::{Args, Subcommand, ValueEnum};
use domain::approval::DualControl;
use domain::audit::AuditContext;
use domain::ids::{EventId, TenantId};
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use domain::user::Scope;
use domain::wallet_event::{Subscriptions, WalletEventKind};
use domain::webhook::shown_url;
use secrecy::SecretString;
use serde_json::json;
use store::{Tenant, Webhook};

use super::failure::Failure;
use super::output::{self, Output};
use super::people::{Two, person};
use super::store_commands::{Opened, open};
use super::table::{id, text, time};
use super::tenants::TenantArgs;
use super::{Context, run_async, webhook_secret};
use service::clock::WallClock;

#[derive(Subcommand, Debug)]
pub enum WebhooksCommand {
    /// Set the webhook endpoint; the first call prints its secret, once
    Set(SetArgs),
    /// Show the webhook endpoint
    #[command(after_help = "Example:\n  corridor webhooks show --tenant demobank")]
    Show(TenantArgs),
    /// Turn the payment service's events on or off
    Payments(PaymentsArgs),
    /// Resend events of both services that the endpoint missed since a time
    Recover(RecoverArgs),
    /// Rotate the signing secret, shown once; the old one also signs for a while
    Rotate(RotateArgs),
    /// Disable delivery; missed events can be resent later
    Disable(DisableArgs),
    /// Enable delivery of new events
    #[command(
        after_help = "Example:\n  corridor webhooks enable --tenant demobank && corridor events recover --since 6h"
    )]
    Enable(TenantArgs),
}

/// Options of `webhooks set`.
#[derive(Args, Debug)]
#[command(after_help = set_help())]
pub struct SetArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// Base URL; /webhooks/wallet/… and /webhooks/payment/… are appended
    #[arg(long, required_unless_present = "events")]
    url: Option<String>,
    /// Optional events of the wallet service to subscribe to: comma-separated names, all or none
    #[arg(long, value_name = "NAMES", value_parser = subscriptions)]
    events: Option<Subscriptions>,
    /// User who requests the change
    #[arg(long, value_name = "NAME", requires = "approved_by", value_parser = person)]
    by: Option<String>,
    /// User who approves it; must differ from --by
    #[arg(long, value_name = "NAME", requires = "by", value_parser = person)]
    approved_by: Option<String>,
}

fn set_help() -> String {
    let mut optional: Vec<&str> = WalletEventKind::optional().map(WalletEventKind::name).collect();
    let last = optional.pop().unwrap_or_default();
    format!(
        "Examples:
  corridor webhooks set --tenant demobank --url https://hooks.bank.example/corridor
  corridor webhooks set --tenant demobank --url https://new.bank.example/corridor --by ayesha --approved-by omar
  corridor webhooks set --tenant demobank --events order.failed,order.cancelled

Changing the endpoint requires two users. The six events of the specification are always sent; the optional ones
are {} and {last}.",
        optional.join(", ")
    )
}

fn subscriptions(text: &str) -> Result<Subscriptions, String> {
    Subscriptions::parse(text).map_err(|name| {
        let names: Vec<&str> = WalletEventKind::optional().map(WalletEventKind::name).collect();
        format!("{name:?} is not an optional event: use {}, all, or none", names.join(", "))
    })
}

/// The actor of a change: the machine's user, or the two named users where dual control applies.
async fn deed(
    by: Option<&str>,
    other: Option<&str>,
    (opened, tenant): (&Opened, TenantId),
    what_takes_two: Option<&str>,
) -> Result<AuditContext, Failure> {
    match (by, other, what_takes_two) {
        (Some(by), Some(other), _) => {
            let two = Two { maker: ("--by", by), checker: ("--approved-by", other) };
            two.deed(opened, Scope::Tenant(tenant), DualControl::CONNECTION).await
        }
        (_, _, Some(what)) => {
            Err(Failure::Usage(format!("--by, --approved-by: {what} requires two users")))
        }
        (_, _, None) => Ok(opened.by.clone()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// Send payment events as webhooks.
    On,
    /// Do not send payment events.
    Off,
}

/// Options of `webhooks payments`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor webhooks payments on --tenant demobank --by ayesha --approved-by omar
  corridor webhooks payments off --tenant demobank

The events of GET /v2/events go to URL/webhooks/payment/…, signed like the others. Turning them on requires two users.
To resend earlier events, use `corridor webhooks recover`.")]
pub struct PaymentsArgs {
    /// Whether payment events are sent
    #[arg(value_enum)]
    to: Switch,
    #[command(flatten)]
    tenant: TenantArgs,
    /// User who requests the change
    #[arg(long, value_name = "NAME", requires = "approved_by", value_parser = person)]
    by: Option<String>,
    /// User who approves it; must differ from --by
    #[arg(long, value_name = "NAME", requires = "by", value_parser = person)]
    approved_by: Option<String>,
}

/// Options of `webhooks recover`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor webhooks recover --tenant demobank --since 2026-11-21T00:00:00Z
  corridor webhooks recover --tenant demobank --since 6h --dry-run

Resends events since the given time, oldest first, whose delivery failed permanently (dead) or had no endpoint (disabled),
and payment events from before they were turned on: at most 1000 at once.")]
pub struct RecoverArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// Start of the period: an instant, or a duration ago (90m, 6h, 2d)
    #[arg(long, value_name = "TIME", value_parser = super::events::since)]
    since: jiff::Timestamp,
    /// List the events without sending them
    #[arg(long)]
    dry_run: bool,
}

/// Options of `webhooks rotate`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor webhooks rotate --tenant demobank --overlap-hours 24

Secrets kept valid by earlier rotations stay valid until their time is up. At most 4 sign at a time; another rotation is
refused.")]
pub struct RotateArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// Hours that the old secret keeps signing; 0 if it leaked: every other secret ends now
    #[arg(long, default_value_t = 168, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(..=8_760))]
    overlap_hours: u32,
}

/// Options of `webhooks disable`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor webhooks disable --tenant demobank --why 'maintenance at the bank'"
)]
pub struct DisableArgs {
    #[command(flatten)]
    tenant: TenantArgs,
    /// Reason, for the audit log
    #[arg(long)]
    why: String,
}

pub fn run(command: &WebhooksCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            WebhooksCommand::Set(args) => set(args, context).await,
            WebhooksCommand::Payments(args) => payments(args, context).await,
            WebhooksCommand::Recover(args) => recover(args, context).await,
            WebhooksCommand::Show(args) => show(args, context).await,
            WebhooksCommand::Rotate(args) => rotate(args, context).await,
            WebhooksCommand::Disable(args) => {
                let opened = open(&args.tenant.store, context).await?;
                let tenant = opened.tenant(&args.tenant.tenant).await?;
                refuse_same(&opened, &tenant, false).await?;
                let done = opened
                    .store
                    .disable_webhook(tenant.id, &args.why, opened.by.clone().because(&args.why))
                    .await;
                done.map_err(Failure::of_store)?;
                output::done(
                    context.output,
                    "disabled; to undo, run `corridor webhooks enable`",
                    &json!({ "tenant": tenant.tag, "enabled": false }),
                )
            }
            WebhooksCommand::Enable(args) => {
                let opened = open(&args.store, context).await?;
                let tenant = opened.tenant(&args.tenant).await?;
                refuse_same(&opened, &tenant, true).await?;
                opened
                    .store
                    .enable_webhook(tenant.id, &opened.by)
                    .await
                    .map_err(Failure::of_store)?;
                output::done(
                    context.output,
                    "enabled; to resend missed events, run `corridor events recover`",
                    &json!({ "tenant": tenant.tag, "enabled": true }),
                )
            }
        }
    })
}

/// Refuses to enable or disable an endpoint that already is.
async fn refuse_same(opened: &Opened, tenant: &Tenant, enabled: bool) -> Result<(), Failure> {
    let webhook = opened.store.webhook(tenant.id).await.map_err(Failure::of_store)?;
    let state = if enabled { "enabled" } else { "disabled" };
    match webhook.filter(|it| it.disabled.is_none() == enabled) {
        Some(_) => Err(Failure::Refused(format!("webhooks of {} are {state} already", tenant.tag))),
        None => Ok(()),
    }
}

async fn set(args: &SetArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let known = found(&opened, tenant.id).await?;
    let mut document = json!({ "tenant": tenant.tag });
    if let Some(url) = &args.url {
        let secret = set_url(args, url, known.as_ref(), (&opened, tenant.id)).await?;
        document["url"] = shown_url(url).into();
        if let Some(secret) = &secret {
            document["secret"] = secret.as_str().into();
        }
        if context.output == Output::Table {
            match secret {
                Some(secret) => show_secret(url, &secret, context)?,
                None => output::remark("endpoint changed; the secret stays the same"),
            }
        }
    } else if known.is_none() {
        return Err(Failure::Usage("--url: required; no endpoint is configured yet".to_owned()));
    }
    if let Some(events) = &args.events {
        let done = opened.store.subscribe_webhook(tenant.id, events, &opened.by).await;
        done.map_err(Failure::of_store)?;
        let names: Vec<&str> = events.kinds().map(WalletEventKind::name).collect();
        if context.output == Output::Table {
            let names = if names.is_empty() { Subscriptions::NOTHING } else { &names.join(", ") };
            output::remark(&format!("optional events subscribed: {names}"));
        }
        document["optional_events"] = names.into();
    }
    if context.output == Output::Json { output::json(&document) } else { Ok(()) }
}

/// Sets the endpoint; returns the secret of a new one.
async fn set_url(
    args: &SetArgs,
    url: &str,
    known: Option<&Webhook>,
    (opened, tenant): (&Opened, TenantId),
) -> Result<Option<String>, Failure> {
    let url = opened.config.receivers().endpoint(url);
    let url = &url.map_err(|fault| Failure::Usage(format!("--url: {fault}")))?;
    // A sandbox's tenant starts with a secret but without an endpoint.
    let is_change = known.is_some_and(|known| !known.url.is_empty() && known.url != *url);
    let takes_two = is_change.then_some("changing the endpoint");
    let (by, other) = (args.by.as_deref(), args.approved_by.as_deref());
    let by = deed(by, other, (opened, tenant), takes_two).await?;
    if known.is_some() {
        let done = opened.store.set_webhook_url(tenant, url, &by).await;
        done.map_err(Failure::of_store)?;
        return Ok(None);
    }
    let (text, _) = webhook_secret::fresh()?;
    let secret = SecretString::from(text.clone());
    opened.store.add_webhook(tenant, url, secret, &by).await.map_err(Failure::of_store)?;
    Ok(Some(text))
}

async fn payments(args: &PaymentsArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let on = args.to == Switch::On;
    let takes_two = on.then_some("sending payment events");
    let (by, other) = (args.by.as_deref(), args.approved_by.as_deref());
    let by = deed(by, other, (&opened, tenant.id), takes_two).await?;
    opened.store.set_payment_webhooks(tenant.id, on, &by).await.map_err(Failure::of_store)?;
    let sentence = match args.to {
        Switch::On => {
            "payment events are on; to resend earlier ones, run `corridor webhooks recover`"
        }
        Switch::Off => "payment events are off",
    };
    let document = json!({ "tenant": tenant.tag, "payment_events": on });
    output::done(context.output, sentence, &document)
}

async fn recover(args: &RecoverArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let caller = opened.caller(&args.tenant.tenant).await?;
    let wallets = opened.wallets()?;
    let denied = |denied: engine::wallets::Denied| Failure::Refused(denied.to_string());
    let since = Timestamp(args.since.as_microsecond());
    let lost = wallets.service.lost_since(&caller, since).await.map_err(denied)?;
    if !args.dry_run {
        wallets.service.recover(&caller, &lost, &opened.by).await.map_err(denied)?;
    }
    wallets.finish().await;
    let again =
        lost.deliveries.iter().map(|it| (it.event.at(), it.delivery.event, it.event.kind_name()));
    let late = lost.untold.iter().map(|it| (it.at, it.id, it.kind.name()));
    let all: Vec<_> = again.chain(late).collect();
    match context.output {
        Output::Json => output::json(&json!({
            "sent_again": !args.dry_run,
            "deliveries": all.iter().map(|(_, id, _)| id.to_string()).collect::<Vec<_>>(),
            "more": lost.more,
        })),
        Output::Table => {
            if !all.is_empty() {
                let columns = [time("created"), id("event"), text("type")];
                let row = |(at, id, kind): &(Timestamp, EventId, &str)| {
                    vec![at.to_string(), id.to_string(), (*kind).to_owned()]
                };
                output::rows(&columns, all.iter().map(row).collect())?;
            }
            let what = if args.dry_run { "would be resent" } else { "queued for redelivery" };
            let more = if lost.more { "; more remain" } else { "" };
            output::remark(&format!("{} {what}{more}", output::counted(all.len(), "event")));
            Ok(())
        }
    }
}

async fn rotate(args: &RotateArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.tenant.store, context).await?;
    let tenant = opened.tenant(&args.tenant.tenant).await?;
    let (text, _) = webhook_secret::fresh()?;
    let overlap = Span::hours(args.overlap_hours.into());
    let secret = SecretString::from(text.clone());
    let done = opened.store.rotate_webhook_secret(tenant.id, secret, overlap, &opened.by).await;
    done.map_err(Failure::of_store)?;
    let url = found(&opened, tenant.id).await?.map(|webhook| webhook.url).unwrap_or_default();
    show_secret(&url, &text, context)
}

async fn found(opened: &Opened, tenant: TenantId) -> Result<Option<Webhook>, Failure> {
    opened.store.webhook(tenant).await.map_err(Failure::of_store)
}

fn show_secret(url: &str, secret: &str, context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            output::members(&[("url", shown_url(url)), ("secret", secret.to_owned())])?;
            output::remark("The secret is shown only once.");
            Ok(())
        }
        Output::Json => output::json(&json!({ "url": shown_url(url), "secret": secret })),
    }
}

async fn show(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let none = || {
        Failure::Refused(format!("{} has no endpoint yet; run `corridor webhooks set`", tenant.tag))
    };
    let webhook = found(&opened, tenant.id).await?.ok_or_else(none)?;
    let now = WallClock.now();
    let signing =
        webhook.secrets.iter().filter(|it| it.valid_until.is_none_or(|until| until > now)).count();
    let (since, why) = webhook.disabled.clone().unzip();
    match context.output {
        Output::Table => output::members(&[
            ("url", shown_url(&webhook.url)),
            ("secrets", signing.to_string()),
            ("payment events", if webhook.payment_events { "on" } else { "off" }.to_owned()),
            ("optional events", webhook.subscriptions.to_string()),
            ("set", webhook.created_at.to_string()),
            ("disabled", since.map(|since| since.to_string()).unwrap_or_default()),
            ("why", why.unwrap_or_default()),
        ]),
        Output::Json => output::json(&json!({
            "url": shown_url(&webhook.url),
            "secrets": signing,
            "payment_events": webhook.payment_events,
            "optional_events": webhook.subscriptions.kinds().map(WalletEventKind::name).collect::<Vec<_>>(),
            "created_at": webhook.created_at.to_string(),
            "disabled_at": since.map(|since| since.to_string()),
            "disabled_why": why,
        })),
    }
}
