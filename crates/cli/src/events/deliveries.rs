//! `corridor events list|resend|recover`: lists deliveries and resends missed webhooks.

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use serde_json::json;

use super::super::api::{self, WalletApiArgs};
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::table::{id, number, state, text, time};
use super::super::{Context, ids};
use client::{Client, Delivery};

/// Maximum number of deliveries that `list` shows.
const LIST_MAX: usize = 10_000;

/// Maximum number of deliveries that one call resends.
const RECOVERED_MAX: usize = 10_000;

/// Pages of each service that are searched for the beginning of an id.
const SEARCHED_PAGES: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Status {
    /// Being attempted, or waiting for the one before it
    Pending,
    /// Accepted by the endpoint
    Delivered,
    /// Failed permanently, until it is resent
    Dead,
    /// No endpoint, or the endpoint is gone
    Disabled,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Delivered => "delivered",
            Status::Dead => "dead",
            Status::Disabled => "disabled",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Service {
    /// Events of the wallet service
    Wallet,
    /// Events of the payment service
    Payment,
}

impl Service {
    const fn name(self) -> &'static str {
        match self {
            Service::Wallet => "wallet",
            Service::Payment => "payment",
        }
    }
}

/// Options of `events list`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor events list --status dead
  corridor events list --limit 500 --output json | jq -r .delivery_id")]
pub struct ListArgs {
    /// List only deliveries with this status
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Service that the events belong to
    #[arg(long, value_enum, default_value_t = Service::Wallet)]
    service: Service,
    /// Maximum number of results, newest first (1 to 10000)
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=LIST_MAX as u64))]
    limit: u64,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `events resend`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor events resend 5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11")]
pub struct ResendArgs {
    /// Event ids of the deliveries
    #[arg(required = true)]
    deliveries: Vec<String>,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Options of `events recover`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor events recover --since 2026-11-21T00:00:00Z
  corridor events recover --since 6h --dry-run

Resends events of both services since the given time, oldest first, whose delivery failed permanently (dead) or had no
endpoint (disabled): at most 10000 at once.")]
pub struct RecoverArgs {
    /// Start of the period: an instant, or a duration ago (90m, 6h, 2d)
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Timestamp,
    /// List the deliveries without sending them
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Parses an instant or a duration ago.
pub fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    let wrong =
        || "must be an instant (2026-11-21T00:00:00Z) or a number with s, m, h or d".to_owned();
    let ago = i64::from(super::super::seconds(text).map_err(|_| wrong())?);
    Timestamp::from_second(Timestamp::now().as_second().saturating_sub(ago)).map_err(|_| wrong())
}

pub fn list(args: &ListArgs, context: &Context) -> Result<(), Failure> {
    let client = args.api.client(&context.data_dir()?)?;
    let most = usize::try_from(args.limit).unwrap_or(LIST_MAX);
    let found = api::wait_for(async {
        let mut found = Vec::new();
        for page in 0.. {
            let status = args.status.map(Status::name);
            let entries =
                api::patiently(async || client.deliveries(args.service.name(), status, page).await)
                    .await?;
            let last = entries.is_empty();
            found.extend(entries);
            if last || found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        Ok(found)
    })?;
    match context.output {
        Output::Json => found.iter().try_for_each(|(_, json)| output::line(json)),
        Output::Table => {
            let columns = [
                id("delivery"),
                text("event"),
                state("status"),
                number("attempts"),
                time("created"),
                time("next attempt"),
                text("answer"),
            ];
            let rows = found.iter().map(|(delivery, _)| row(delivery)).collect();
            output::rows_or(
                &columns,
                rows,
                "No deliveries. In a sandbox: corridor trigger transfer.complete",
            )
        }
    }
}

fn row(delivery: &Delivery) -> Vec<String> {
    let answer = match (&delivery.last_error, delivery.last_status) {
        (Some(error), _) => error.clone(),
        (None, status) => status.map(|status| status.to_string()).unwrap_or_default(),
    };
    vec![
        delivery.delivery_id.clone(),
        delivery.event_type.clone(),
        delivery.status.clone(),
        delivery.attempts.to_string(),
        delivery.created_at.clone(),
        delivery.next_attempt_at.clone().unwrap_or_default(),
        answer,
    ]
}

/// Resends the given deliveries.
pub fn resend(args: &ResendArgs, context: &Context) -> Result<(), Failure> {
    let client = args.api.client(&context.data_dir()?)?;
    api::wait_for(async {
        for given in &args.deliveries {
            let id = &whole_id(&client, given).await?;
            let answer = send_again(&client, id).await?;
            match context.output {
                Output::Json => output::line(&answer)?,
                Output::Table => output::line(&format!("{id} queued for redelivery"))?,
            }
        }
        Ok(())
    })
}

/// The id that this text is, or is the beginning of among the latest deliveries of both services.
async fn whole_id(client: &Client, text: &str) -> Result<String, Failure> {
    if !ids::is_start(text) {
        return Ok(text.to_owned());
    }
    let mut known: Vec<Delivery> = Vec::new();
    for service in [Service::Wallet, Service::Payment] {
        for page in 0..SEARCHED_PAGES {
            let found =
                api::patiently(async || client.deliveries(service.name(), None, page).await)
                    .await?;
            if found.is_empty() {
                break;
            }
            known.extend(found.into_iter().map(|(delivery, _)| delivery));
        }
    }
    known.sort_by(|one, other| other.created_at.cmp(&one.created_at));
    ids::one_of(text, "delivery", known.into_iter().map(|delivery| delivery.delivery_id))
}

async fn send_again(client: &Client, id: &str) -> Result<String, Failure> {
    let path = format!("/v1/sdk/webhooks/deliveries/{}/redeliver", api::segment(id)?);
    Ok(api::patiently(async || client.post(&path, "{}").await).await?.body)
}

/// Resends the deliveries that failed permanently since the given time.
pub fn recover(args: &RecoverArgs, context: &Context) -> Result<(), Failure> {
    let client = args.api.client(&context.data_dir()?)?;
    let progress = progress_bar();
    let lost = api::wait_for(recovered(&client, args.since, args.dry_run, &progress));
    progress.finish_and_clear();
    let lost = lost?;
    match context.output {
        Output::Json => output::json(&json!({
            "sent_again": !args.dry_run,
            "deliveries": lost.iter().map(|delivery| delivery.delivery_id.as_str()).collect::<Vec<_>>(),
        })),
        Output::Table => {
            if !lost.is_empty() {
                let columns = [time("created"), id("delivery"), text("event")];
                let row = |it: &Delivery| {
                    vec![it.created_at.clone(), it.delivery_id.clone(), it.event_type.clone()]
                };
                output::rows(&columns, lost.iter().map(row).collect())?;
            }
            let what = if args.dry_run { "would be resent" } else { "queued for redelivery" };
            output::remark(&format!("{} {what}", output::counted(lost.len(), "delivery")));
            Ok(())
        }
    }
}

async fn recovered(
    client: &Client,
    since: Timestamp,
    dry_run: bool,
    progress: &ProgressBar,
) -> Result<Vec<Delivery>, Failure> {
    // Collected in full before the first resend, because resending shifts the pages.
    let lost = lost_since(client, since).await?;
    progress.set_length(lost.len() as u64);
    for delivery in lost.iter().filter(|_| !dry_run) {
        send_again(client, &delivery.delivery_id).await?;
        progress.inc(1);
    }
    Ok(lost)
}

/// Dead and disabled deliveries since the given time, oldest first. The API lists newest first.
async fn lost_since(client: &Client, since: Timestamp) -> Result<Vec<Delivery>, Failure> {
    let mut lost = Vec::new();
    let wanted = [Service::Wallet, Service::Payment]
        .map(|of| [Status::Dead, Status::Disabled].map(|status| (of, status)));
    for (of, status) in wanted.into_iter().flatten() {
        for page in 0.. {
            let entries = api::patiently(async || {
                client.deliveries(of.name(), Some(status.name()), page).await
            })
            .await?;
            let before = lost.len();
            for (delivery, _) in entries {
                let made: Timestamp = delivery.created_at.parse().map_err(|error| {
                    Failure::Unavailable(format!("created_at of a delivery: {error}"))
                })?;
                if made >= since {
                    lost.push((made, delivery));
                }
            }
            if lost.len() > RECOVERED_MAX {
                let why = format!(
                    "more than {RECOVERED_MAX} deliveries failed since then; start with a later time"
                );
                return Err(Failure::Refused(why));
            }
            // No more pages, or only older ones.
            if lost.len() == before {
                break;
            }
        }
    }
    lost.sort_by_key(|(made, _)| *made);
    Ok(lost.into_iter().map(|(_, delivery)| delivery).collect())
}

fn progress_bar() -> ProgressBar {
    if !output::shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::scripted::Scripted;

    fn page(entries: &[(&str, &str, &str)]) -> String {
        let entry = |(id, status, made): &(&str, &str, &str)| json!({ "delivery_id": id, "event_type": "wallet.blocked", "status": status, "attempts": 12, "created_at": made });
        json!({ "deliveries": entries.iter().map(entry).collect::<Vec<_>>() }).to_string()
    }

    #[tokio::test]
    async fn what_was_lost_since_then_is_sent_again_oldest_first() {
        let (dead, more) = (
            page(&[
                ("d-3", "dead", "2026-11-21T03:00:00.000Z"),
                ("d-2", "dead", "2026-11-21T02:00:00.000Z"),
            ]),
            page(&[("d-0", "dead", "2026-11-20T23:59:59.999Z")]),
        );
        let disabled = page(&[("d-1", "disabled", "2026-11-21T00:00:00.000Z")]);
        let none = page(&[]);
        let list = [
            (200, &*dead),
            (200, &*more),
            (200, &*disabled),
            (200, &*none),
            (200, &*none),
            (200, &*none),
        ];
        let again = |id: &str| format!("/v1/sdk/webhooks/deliveries/{id}/redeliver");
        let (one, two, three) = (again("d-1"), again("d-2"), again("d-3"));
        let busy = r#"{"error":"RATE_LIMIT_EXCEEDED","message":"Too many"}"#;
        let taken: &[(u16, &str)] = &[(200, "{}")];
        let late = &[(429, busy), (200, "{}")];
        let server = Scripted::start(&[
            ("/v1/sdk/webhooks/deliveries", &list),
            (&one, taken),
            (&two, late),
            (&three, taken),
        ])
        .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let since: Timestamp = "2026-11-21T00:00:00Z".parse().expect("an instant");
        let lost =
            recovered(&client, since, false, &ProgressBar::hidden()).await.expect("recovered");
        assert_eq!(
            lost.iter().map(|lost| lost.delivery_id.as_str()).collect::<Vec<_>>(),
            ["d-1", "d-2", "d-3"]
        );
        let posted = server.asked().into_iter().filter(|asked| !asked.body.is_empty());
        assert_eq!(
            posted.map(|asked| asked.path).collect::<Vec<_>>(),
            [one, two.clone(), two, three]
        );
    }

    #[tokio::test]
    async fn a_dry_run_sends_nothing() {
        let (dead, none) = (page(&[("d-1", "dead", "2026-11-21T00:00:00.000Z")]), page(&[]));
        let server =
            Scripted::start(&[("/v1/sdk/webhooks/deliveries", &[(200, &dead), (200, &none)])])
                .await;
        let client = Client::new(crate::scripted::credentials(&server)).expect("a client");
        let lost = recovered(&client, Timestamp::UNIX_EPOCH, true, &ProgressBar::hidden())
            .await
            .expect("found");
        assert_eq!(lost.len(), 1);
        assert!(server.asked().iter().all(|asked| asked.body.is_empty()));
    }

    #[test]
    fn times_are_instants_or_ago() {
        assert_eq!(
            since("2026-11-21T00:00:00Z"),
            Ok("2026-11-21T00:00:00Z".parse().expect("an instant"))
        );
        let ago = Timestamp::now().as_second() - since("90m").expect("ago").as_second();
        assert!((5_400..5_410).contains(&ago), "{ago}");
        for text in ["", "h", "1", "-1h", "1.5h", "99999999999d", "1y", "ه"] {
            assert!(since(text).is_err(), "{text}");
        }
    }
}
