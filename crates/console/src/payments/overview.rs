//! The overview: volumes, success, speed, and items that need attention.

use askama::Template;
use domain::currency::StableCoin;
use domain::delivery::DeliveryState;
use domain::job::JobKind;
use domain::ledger::{Account, AccountCode};
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::{Span, Timestamp};
use engine::office::{Backlog, COUNTED_MAX, CorridorVolume};

use super::chart::{Chart, Value};
use super::{share, took};
use crate::view::age;
use crate::{Answer, Cell, Frame, Stop, Table, Tone, Visit, html};

/// The selectable periods: name, label, length.
const WINDOWS: [(&str, &str, Span); 4] = [
    ("1h", "last hour", Span::hours(1)),
    ("24h", "last 24 hours", Span::hours(24)),
    ("7d", "last 7 days", Span::days(7)),
    ("30d", "last 30 days", Span::days(30)),
];
/// Index of the period that is shown by default.
const USUAL: usize = 1;

#[derive(Template)]
#[template(path = "console/payments/overview.html")]
struct Overview {
    frame: Frame,
    windows: Vec<(&'static str, &'static str, bool)>,
    cards: Vec<Tile>,
    volume: Chart,
    corridors: Table,
    counted: Vec<String>,
    prefund: Chart,
    accounts: Table,
}

struct Tile {
    title: &'static str,
    value: String,
    more: String,
    tone: Tone,
    href: Option<String>,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let now = visit.console().now();
    let asked = visit.query().text("window");
    let chosen = WINDOWS.iter().position(|(name, ..)| *name == asked).unwrap_or(USUAL);
    let (_, _, window) = WINDOWS[chosen];
    let store = visit.console().store();
    let tenant = visit.tenant_id()?;
    // Includes a payment accepted at this very instant.
    let volumes = store.corridor_volumes(tenant, now - window, now + Span::secs(1)).await?;
    let accounts = store.shared_accounts(tenant).await?;
    let prefunds: Vec<&Account> =
        accounts.iter().filter(|it| matches!(it.code, AccountCode::Prefund(_))).collect();
    let page = Overview {
        frame: visit.frame("Overview"),
        windows: (0..)
            .zip(WINDOWS)
            .map(|(at, (name, words, _))| (name, words, at == chosen))
            .collect(),
        cards: cards(&visit, &volumes, now).await?,
        volume: volume_chart(&volumes, WINDOWS[chosen].1),
        corridors: corridor_table(&volumes),
        counted: volumes.iter().filter_map(counted).collect(),
        prefund: prefund_chart(&prefunds),
        accounts: prefund_table(&prefunds),
    };
    html(&page)
}

/// The number of payments in these states.
fn count(volume: &CorridorVolume, wanted: impl Fn(PaymentState) -> bool) -> u64 {
    volume.states.iter().filter(|it| wanted(it.state)).map(|it| it.count).sum()
}

const fn succeeded(state: PaymentState) -> bool {
    matches!(state, PaymentState::Succeeded)
}

/// An amount of either stablecoin, counted alike.
fn coins(minor: i64) -> String {
    let shown = Money::new(minor, domain::currency::Currency::Usdt).to_string();
    shown.trim_end_matches(" USDT").to_owned()
}

/// The total of a corridor's payments in minor units of stablecoin; both count alike.
fn in_coin(volume: &CorridorVolume) -> i64 {
    volume.states.iter().map(|it| it.charge.minor).sum()
}

/// A percentile of durations.
fn percentile(sorted: &[Span], percent: usize) -> Option<Span> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get(last * percent / 100).copied()
}

fn told(span: Option<Span>) -> Cell {
    span.map_or(Cell::Empty, |span| Cell::number(took(span)))
}

fn counted(volume: &CorridorVolume) -> Option<String> {
    let since = volume.counted_since?;
    Some(format!(
        "{}: only the latest {COUNTED_MAX} payments are counted, since {since}.",
        volume.country.alpha3()
    ))
}

fn corridor_table(volumes: &[CorridorVolume]) -> Table {
    let row = |volume: &CorridorVolume| {
        let all = count(volume, |_| true);
        if all == 0 {
            return None;
        }
        let ended = count(volume, PaymentState::is_terminal);
        let good = count(volume, succeeded);
        let paid: i64 =
            volume.states.iter().filter(|it| succeeded(it.state)).map(|it| it.amount.minor).sum();
        Some(vec![
            Cell::text(volume.country.alpha3()),
            Cell::number(all),
            Cell::number(good),
            Cell::number(ended - good),
            Cell::number(all - ended),
            Cell::number(share(good, ended)),
            told(percentile(&volume.settled_in, 50)),
            told(percentile(&volume.settled_in, 95)),
            Cell::number(Money::new(paid, volume.country.currency())),
            Cell::number(coins(in_coin(volume))),
        ])
    };
    let head = [
        "Country",
        "Payments",
        "Paid",
        "Not paid",
        "In progress",
        "Success",
        "p50 to settle",
        "p95 to settle",
        "Paid out",
        "Volume (stablecoin)",
    ];
    Table::new("Corridors", &head, volumes.iter().filter_map(row).collect())
        .or("No payments in this period.")
}

fn volume_chart(volumes: &[CorridorVolume], window: &str) -> Chart {
    let value = |volume: &CorridorVolume| -> Option<Value> {
        let coin = u64::try_from(in_coin(volume)).ok().filter(|coin| *coin > 0)?;
        let words = coins(in_coin(volume));
        Some((volume.country.alpha3().to_owned(), words, coin, 0))
    };
    Chart::new(
        "volume",
        format!("Volume per corridor in stablecoin, {window}"),
        volumes.iter().filter_map(value).collect(),
    )
}

fn prefund_chart(prefunds: &[&Account]) -> Chart {
    let value = |account: &&Account| {
        let length = |minor: i64| u64::try_from(minor).unwrap_or(0);
        let words = format!("{} available", account.available());
        (
            account.code.to_string(),
            words,
            length(account.balance().minor),
            length(account.debits_pending),
        )
    };
    Chart::new(
        "prefund",
        "Prefund accounts: reserved amounts are darker",
        prefunds.iter().map(value).collect(),
    )
}

fn prefund_table(prefunds: &[&Account]) -> Table {
    let row = |account: &&Account| {
        let reserved = Money::new(account.debits_pending, account.code.currency());
        vec![
            Cell::text(account.code.to_string()),
            Cell::number(account.balance()),
            Cell::number(reserved),
            Cell::number(account.available()),
        ]
    };
    let rows = prefunds.iter().map(row).collect();
    Table::new("Prefund accounts", &["Account", "Balance", "Reserved", "Available"], rows)
        .or("No deposits yet.")
}

async fn cards(
    visit: &Visit,
    volumes: &[CorridorVolume],
    now: Timestamp,
) -> Result<Vec<Tile>, Stop> {
    let store = visit.console().store();
    let tenant = visit.tenant_id()?;
    let payments = store.jobs_of_kind(tenant, JobKind::Review).await?;
    let deposits = store.jobs_of_kind(tenant, JobKind::ReviewDeposit).await?;
    let unknown = store.unknown_payments(tenant).await?;
    Ok(vec![
        success(volumes),
        pace(volumes),
        waits(visit, "Payments in review", payments, now, "/payments?status=for-people"),
        waits(visit, "Unknown payments", unknown, now, "/payments?status=for-people"),
        waits(visit, "Deposits in review", deposits, now, "/review"),
        webhooks(visit).await?,
        escrow(visit, now).await?,
        rates(visit, now)?,
    ])
}

fn success(volumes: &[CorridorVolume]) -> Tile {
    let good: u64 = volumes.iter().map(|it| count(it, succeeded)).sum();
    let ended: u64 = volumes.iter().map(|it| count(it, PaymentState::is_terminal)).sum();
    let more = format!("{good} of {ended} completed payments were paid");
    Tile { title: "Success rate", value: share(good, ended), more, tone: Tone::Plain, href: None }
}

fn pace(volumes: &[CorridorVolume]) -> Tile {
    let mut all: Vec<Span> = volumes.iter().flat_map(|it| it.settled_in.iter().copied()).collect();
    all.sort_unstable();
    let words = |percent| percentile(&all, percent).map_or("–".to_owned(), took);
    let more = format!("p95 {}", words(95));
    Tile { title: "Time to settle, p50", value: words(50), more, tone: Tone::Plain, href: None }
}

fn waits(visit: &Visit, title: &'static str, backlog: Backlog, now: Timestamp, path: &str) -> Tile {
    let more = backlog
        .oldest
        .map_or("none waiting".to_owned(), |oldest| format!("oldest waiting {}", age(oldest, now)));
    let tone = if backlog.count == 0 { Tone::Good } else { Tone::Warn };
    let href = (backlog.count > 0).then(|| visit.href(path));
    Tile { title, value: backlog.count.to_string(), more, tone, href }
}

async fn webhooks(visit: &Visit) -> Result<Tile, Stop> {
    let counts = visit.console().store().undelivered_counts(visit.tenant_id()?).await?;
    let of = |wanted| {
        counts.iter().filter(|(state, _)| *state == wanted).map(|(_, count)| *count).sum::<u64>()
    };
    let (dead, pending) = (of(DeliveryState::Dead), of(DeliveryState::Pending));
    Ok(Tile {
        title: "Failed webhooks",
        value: dead.to_string(),
        more: format!("{pending} pending, {} disabled", of(DeliveryState::Disabled)),
        tone: if dead > 0 { Tone::Bad } else { Tone::Good },
        href: Some(visit.href("/webhooks")),
    })
}

async fn escrow(visit: &Visit, now: Timestamp) -> Result<Tile, Stop> {
    let found = visit.console().store().unreleased(visit.tenant_id()?).await?;
    let sum: Vec<String> = found.iter().map(|it| it.amount.to_string()).collect();
    let oldest = found.iter().map(|it| it.oldest).min();
    Ok(Tile {
        title: "Escrow not released",
        value: found.iter().map(|it| it.count).sum::<u64>().to_string(),
        more: oldest.map_or("none waiting".to_owned(), |at| {
            format!("{}, oldest waiting {}", sum.join(", "), age(at, now))
        }),
        tone: if found.is_empty() { Tone::Good } else { Tone::Busy },
        href: None,
    })
}

/// The oldest rate used for quotes of this tenant.
fn rates(visit: &Visit, now: Timestamp) -> Result<Tile, Stop> {
    let world = visit.console().payments.world();
    let policy = &visit.tenant()?.policy;
    let coin: StableCoin = policy.settlement_coin;
    let mut oldest = Span(0);
    let mut missing = Vec::new();
    for country in &policy.countries {
        let most = world.corridors.corridors.get(country).map(|corridor| corridor.max_rate_age);
        let old = world.rates.mid(coin.currency(), country.currency()).map(|mid| now - mid.as_of);
        match (old, most) {
            (Some(old), Some(most)) if old <= most => oldest = oldest.max(old),
            (_, None) => {}
            _ => missing.push(country.alpha3()),
        }
    }
    let (more, tone) = match missing.is_empty() {
        true => ("oldest rate used for quotes".to_owned(), Tone::Good),
        false => (format!("missing or too old for {}", missing.join(", ")), Tone::Bad),
    };
    Ok(Tile {
        title: "Rate age",
        value: took(oldest),
        more,
        tone,
        href: Some(visit.href("/rates")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_there_is() {
        let spans: Vec<Span> = (1..=100).map(Span::secs).collect();
        assert_eq!(
            (percentile(&spans, 50), percentile(&spans, 95)),
            (Some(Span::secs(50)), Some(Span::secs(95)))
        );
        assert_eq!((percentile(&spans[..1], 95), percentile(&[], 50)), (Some(Span::secs(1)), None));
    }
}
