//! The overview: volumes, success and speed as figures and as charts of the last 30 days, and items
//! that need attention.

use std::sync::Arc;

use askama::Template;
use domain::audit::Entry;
use domain::coin_amount;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::delivery::DeliveryState;
use domain::job::JobKind;
use domain::ledger::{Account, AccountCode};
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::{Span, Timestamp};
use engine::office::{Backlog, COUNTED_MAX, CorridorVolume, DayTimes, DayVolume};
use engine::payments::AuditFilter;

use super::chart::{
    COLOURS, Chart, Level, Series, axis_end, axis_labels, line, lines, rate_labels, spark, stacked,
};
use super::{share, took};
use crate::parts::grouped;
use crate::view::{age, day_words};
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

/// Days of the charts.
const DAYS: usize = 30;
/// Corridors with a colour of their own; the others share one.
const OWN_COLOURS: usize = COLOURS.len() - 1;
/// Millionths of a stablecoin.
const COIN: u64 = 1_000_000;
/// Top-ups that are looked through for the latest of each stablecoin.
const TOP_UPS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "console/payments/overview.html")]
struct Overview {
    frame: Frame,
    day: String,
    windows: Vec<(&'static str, &'static str, bool)>,
    /// With a line of the last 30 days each.
    figures: Vec<(Tile, Option<String>)>,
    cards: Vec<Tile>,
    charts: Vec<Chart>,
    levels: Vec<Level>,
    corridors: Table,
    counted: Vec<String>,
    /// Countries of which the charts do not have all days.
    uncharted: Vec<String>,
    accounts: Table,
}

struct Tile {
    /// Unique on the page.
    id: &'static str,
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
    let (_, words, window) = WINDOWS[chosen];
    let store = visit.console().store();
    let tenant = visit.tenant_id()?;
    // Includes a payment accepted at this very instant.
    let volumes = store.corridor_volumes(tenant, now - window, now + Span::secs(1)).await?;
    let accounts = store.shared_accounts(tenant).await?;
    let prefunds: Vec<&Account> =
        accounts.iter().filter(|it| matches!(it.code, AccountCode::Prefund(_))).collect();
    let figures = [volume(&volumes, words), success(&volumes), pace(&volumes)];
    // A refresh leaves out what changes slowly and costs much to read.
    let days = if visit.wants_slow_parts() { Days::recent(&visit, now).await? } else { None };
    let sparks = days.as_deref().map_or([None, None, None], Days::sparks);
    let charts = days.as_deref().map_or(Vec::new(), Days::charts);
    let page = Overview {
        frame: visit.frame("Overview"),
        day: day_words(now),
        windows: (0..)
            .zip(WINDOWS)
            .map(|(at, (name, words, _))| (name, words, at == chosen))
            .collect(),
        figures: figures.into_iter().zip(sparks).collect(),
        cards: cards(&visit, now).await?,
        charts,
        uncharted: days.as_deref().map_or(Vec::new(), Days::uncharted),
        levels: levels(&visit, &prefunds).await?,
        corridors: corridor_table(&volumes),
        counted: volumes.iter().filter_map(counted).collect(),
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

/// An amount of either stablecoin, counted alike, rounded down to two decimals.
fn two_decimals(minor: u64) -> String {
    grouped(&format!("{}.{:02}", minor / COIN, minor % COIN / (COIN / 100)))
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
            Cell::number(two_decimals(u64::try_from(in_coin(volume)).unwrap_or(0))),
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

/// How long the figures of the last days are shown before they are read again.
pub const DAYS_KEPT: Span = Span::mins(1);

/// The last days up to today.
pub struct Days {
    volumes: Vec<DayVolume>,
    times: Vec<DayTimes>,
    names: Vec<String>,
}

impl Days {
    /// The figures as of the last minute.
    async fn recent(visit: &Visit, now: Timestamp) -> Result<Option<Arc<Days>>, Stop> {
        let (tenant, cache) = (visit.tenant_id()?, &visit.console().days);
        if let Some(days) = cache.get(&tenant, now) {
            return Ok(Some(days));
        }
        let Some(days) = Days::read(visit, now).await?.map(Arc::new) else { return Ok(None) };
        cache.put(tenant, now, Arc::clone(&days));
        Ok(Some(days))
    }

    /// `None` without payments.
    async fn read(visit: &Visit, now: Timestamp) -> Result<Option<Days>, Stop> {
        let midnight = Timestamp(now.0 - now.0.rem_euclid(Span::days(1).0));
        let ago = i64::try_from(DAYS - 1).unwrap_or_default();
        let (start, end) = (midnight - Span::days(ago), now + Span::secs(1));
        let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
        let volumes = store.daily_volumes(tenant, start, end).await?;
        if volumes.is_empty() {
            return Ok(None);
        }
        let times = store.daily_times(tenant, start, end).await?;
        let names = (0..).take(DAYS).map(|day| short_day(start + Span::days(day))).collect();
        Ok(Some(Days { volumes, times, names }))
    }

    fn charts(&self) -> Vec<Chart> {
        let Days { volumes, times, names } = self;
        let charts = [volume_chart(volumes, names), success_chart(volumes, names)];
        charts.into_iter().chain(times_chart(volumes, times, names)).collect()
    }

    /// The countries with more payments than are read: their earlier days are not charted.
    fn uncharted(&self) -> Vec<String> {
        let short = |country: Country| {
            let of_country = self.volumes.iter().filter(|it| it.country == country);
            let (count, first) = of_country
                .fold((0, DAYS), |(count, first), it| (count + it.count, first.min(it.day)));
            let is_short = usize::try_from(count).is_ok_and(|count| count >= COUNTED_MAX);
            let since = self.names.get(first).filter(|_| is_short)?;
            let country = country.alpha3();
            Some(format!(
                "{country}: the charts have only the latest {COUNTED_MAX} payments, since {since}. Earlier days lack this country."
            ))
        };
        Country::ALL.into_iter().filter_map(short).collect()
    }

    /// The lines on the tiles of volume, success and speed.
    fn sparks(&self) -> [Option<String>; 3] {
        let (mut volume, mut slowest) = ([0_u64; DAYS], [None; DAYS]);
        for it in &self.volumes {
            if let Some(day) = volume.get_mut(it.day) {
                *day = day.saturating_add(u64::try_from(it.charge.minor).unwrap_or(0));
            }
        }
        for it in &self.times {
            if let Some(day) = slowest.get_mut(it.day) {
                *day = (*day).max(u64::try_from(it.half.0).ok());
            }
        }
        let rates = success_rates(&self.volumes);
        [volume.map(Some).to_vec(), rates, slowest.to_vec()].map(|values| Some(spark(&values)))
    }
}

/// A day without its year.
fn short_day(at: Timestamp) -> String {
    let words = day_words(at);
    words.rsplit_once(' ').map_or(words.clone(), |(day, _)| day.to_owned())
}

/// Some days for an axis, evenly spaced.
fn some(days: &[String]) -> Vec<String> {
    let last = days.len().saturating_sub(1);
    (0..=4).filter_map(|part| days.get(last * part / 4).cloned()).collect()
}

/// The greatest corridors, and all others together.
fn corridor_series(found: &[DayVolume]) -> Vec<Series> {
    let of = |country: Country| {
        let mut values = vec![0_u64; DAYS];
        for it in found.iter().filter(|it| it.country == country) {
            if let (Some(value), Ok(charge)) =
                (values.get_mut(it.day), u64::try_from(it.charge.minor))
            {
                *value = value.saturating_add(charge);
            }
        }
        Series { name: country.name().to_owned(), values }
    };
    let sum = |series: &Series| series.values.iter().fold(0_u64, |sum, it| sum.saturating_add(*it));
    let mut all: Vec<Series> =
        Country::ALL.map(of).into_iter().filter(|series| sum(series) > 0).collect();
    all.sort_by_key(|series| std::cmp::Reverse(sum(series)));
    if all.len() > COLOURS.len() {
        let rest = all.split_off(OWN_COLOURS);
        let values = (0..DAYS).map(|day| rest.iter().map(|it| it.values[day]).sum()).collect();
        all.push(Series { name: "Others".to_owned(), values });
    }
    all
}

fn volume_chart(found: &[DayVolume], days: &[String]) -> Chart {
    let series = corridor_series(found);
    let total = |day: usize| series.iter().map(|it| it.values[day]).sum::<u64>();
    let most = (0..DAYS).map(total).max().unwrap_or(0);
    let end = axis_end(most, COIN);
    let text = |(day, words): (usize, &String)| {
        let parts = series.iter().filter(|it| it.values[day] > 0);
        let parts = parts.map(|it| format!("\n{} {}", it.name, two_decimals(it.values[day])));
        format!("{words}: {}{}", two_decimals(total(day)), parts.collect::<String>())
    };
    let row = |(day, words): (usize, &String)| {
        let values = series.iter().map(|it| Cell::number(two_decimals(it.values[day])));
        let all = Cell::number(two_decimals(total(day)));
        [Cell::text(words.as_str())].into_iter().chain(values).chain([all]).collect()
    };
    let mut head = vec!["Day"];
    head.extend(series.iter().map(|it| {
        Country::ALL.iter().map(|it| it.name()).find(|name| *name == it.name).unwrap_or("Others")
    }));
    head.push("All");
    let rows = days.iter().enumerate().rev().map(row).collect();
    Chart {
        id: "volume",
        title: "Volume by corridor",
        unit: "stablecoin a day",
        legend: COLOURS.into_iter().zip(series.iter().map(|it| it.name.clone())).collect(),
        y: axis_labels(end, COIN),
        x: some(days),
        shapes: stacked(&series, end),
        days: days.iter().enumerate().map(text).collect(),
        table: Table::new("Volume by day", &head, rows),
    }
}

/// The payments of a day that were paid, and those that ended.
fn ended(found: &[DayVolume], day: usize) -> (u64, u64) {
    let count = |is: fn(PaymentState) -> bool| {
        found.iter().filter(|it| it.day == day && is(it.state)).map(|it| it.count).sum()
    };
    (count(succeeded), count(PaymentState::is_terminal))
}

/// In permille.
fn success_rates(found: &[DayVolume]) -> Vec<Option<u64>> {
    let rate = |(good, ended): (u64, u64)| (good * 1_000).checked_div(ended);
    (0..DAYS).map(|day| rate(ended(found, day))).collect()
}

/// The unit of an axis for durations up to this one: its length in seconds, and its name.
const fn time_unit(most_s: u64) -> (u64, &'static str) {
    match most_s {
        0..240 => (1, "seconds"),
        240..14_400 => (60, "minutes"),
        _ => (3_600, "hours"),
    }
}

/// The time to settle of the greatest corridors; `None` if nothing was paid.
fn times_chart(volumes: &[DayVolume], found: &[DayTimes], days: &[String]) -> Option<Chart> {
    let greatest = corridor_series(volumes).into_iter().map(|series| series.name);
    let countries: Vec<Country> = greatest
        .filter_map(|name| Country::ALL.into_iter().find(|country| country.name() == name))
        .collect();
    let of = |country: &Country, day: usize| {
        found.iter().find(|it| it.country == *country && it.day == day)
    };
    let seconds = |span: Span| u64::try_from(span.0 / 1_000_000).unwrap_or(0);
    let half = |country: &Country| {
        (0..DAYS).map(|day| of(country, day).map(|it| seconds(it.half))).collect::<Vec<_>>()
    };
    let values: Vec<Vec<Option<u64>>> = countries.iter().map(half).collect();
    let most = values.iter().flatten().flatten().max().copied()?;
    let (unit, unit_name) = time_unit(most);
    let end = axis_end(most, unit);
    let text = |(day, words): (usize, &String)| {
        let parts = countries.iter().filter_map(|country| {
            let it = of(country, day)?;
            Some(format!("\n{} {}, p95 {}", country.name(), took(it.half), took(it.most)))
        });
        let parts: String = parts.collect();
        if parts.is_empty() {
            format!("{words}: nothing was paid")
        } else {
            format!("{words}{parts}")
        }
    };
    let row = |it: &DayTimes| {
        vec![
            Cell::text(days.get(it.day).map_or("", String::as_str)),
            Cell::text(it.country.name()),
            Cell::number(it.count),
            Cell::number(took(it.half)),
            Cell::number(took(it.most)),
        ]
    };
    let mut latest: Vec<&DayTimes> = found.iter().collect();
    latest.sort_by_key(|it| std::cmp::Reverse(it.day));
    let rows = latest.into_iter().map(row).collect();
    let head = ["Day", "Country", "Paid", "p50 to settle", "p95 to settle"];
    Some(Chart {
        id: "times",
        title: "Time to settle",
        unit: unit_name,
        legend: COLOURS.into_iter().zip(countries.iter().map(|it| it.name().to_owned())).collect(),
        y: axis_labels(end, unit),
        x: some(days),
        shapes: lines(&values, end),
        days: days.iter().enumerate().map(text).collect(),
        table: Table::new("Time to settle by day", &head, rows),
    })
}

fn success_chart(found: &[DayVolume], days: &[String]) -> Chart {
    let of = |day| ended(found, day);
    let (shapes, floor) = line(&success_rates(found), COLOURS[1]);
    let text = |(day, words): (usize, &String)| match of(day) {
        (_, 0) => format!("{words}: no payment ended"),
        (good, ended) => format!("{words}: {}\n{good} of {ended} were paid", share(good, ended)),
    };
    let row = |(day, words): (usize, &String)| {
        let (good, ended) = of(day);
        let share = Cell::number(share(good, ended));
        vec![Cell::text(words.as_str()), Cell::number(ended), Cell::number(good), share]
    };
    let rows = days.iter().enumerate().rev().map(row).collect();
    Chart {
        id: "success",
        title: "Success rate",
        unit: "percent of the payments that ended",
        legend: vec![(COLOURS[1], "All corridors".to_owned())],
        y: rate_labels(floor),
        x: some(days),
        shapes,
        days: days.iter().enumerate().map(text).collect(),
        table: Table::new("Success rate by day", &["Day", "Ended", "Paid", "Success"], rows),
    }
}

/// The latest top-ups, newest first.
async fn top_ups(visit: &Visit) -> Result<Vec<Entry>, Stop> {
    let action = Some("prefund.top_up".to_owned());
    let filter = AuditFilter { tenant: Some(visit.tenant_id()?), action, ..AuditFilter::default() };
    Ok(visit.console().store().audit_entries(&filter, TOP_UPS_MAX).await?)
}

/// The balance of a prefund after its latest top-up, in minor units.
pub(crate) async fn after_top_up(visit: &Visit, coin: StableCoin) -> Result<Option<i64>, Stop> {
    let top_ups = top_ups(visit).await?;
    Ok(top_ups.iter().find_map(|entry| topped_up_to(entry, coin.currency().code())))
}

/// What of the latest top-up's balance is left.
async fn levels(visit: &Visit, prefunds: &[&Account]) -> Result<Vec<Level>, Stop> {
    let top_ups = top_ups(visit).await?;
    let level = |account: &&Account| {
        let minor = |value: i64| u64::try_from(value).unwrap_or(0);
        let code = account.code.currency().code();
        let after = top_ups.iter().find_map(|entry| topped_up_to(entry, code)).unwrap_or(0);
        Level::new(
            format!("{code} available"),
            minor(account.available().minor),
            minor(account.debits_pending),
            minor(after),
            two_decimals,
        )
    };
    Ok(prefunds.iter().map(level).collect())
}

/// The balance after a top-up of this coin.
fn topped_up_to(entry: &Entry, code: &str) -> Option<i64> {
    let facts: serde_json::Value = serde_json::from_str(entry.note.after.as_deref()?).ok()?;
    let fact = |name: &str| facts.get(name)?.as_str();
    (fact("coin")? == code).then(|| coin_amount::parse(fact("prefund")?)).flatten()
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

async fn cards(visit: &Visit, now: Timestamp) -> Result<Vec<Tile>, Stop> {
    let store = visit.console().store();
    let tenant = visit.tenant_id()?;
    let payments = store.jobs_of_kind(tenant, JobKind::Review).await?;
    let deposits = store.jobs_of_kind(tenant, JobKind::ReviewDeposit).await?;
    let unknown = store.unknown_payments(tenant).await?;
    Ok(vec![
        waits(
            visit,
            "in-review",
            "Payments in review",
            payments,
            now,
            "/payments?status=for-people",
        ),
        waits(visit, "unknown", "Unknown payments", unknown, now, "/payments?status=for-people"),
        waits(visit, "deposits", "Deposits in review", deposits, now, "/review"),
        webhooks(visit).await?,
        escrow(visit, now).await?,
        rates(visit)?,
    ])
}

fn volume(volumes: &[CorridorVolume], words: &str) -> Tile {
    let sum: i64 = volumes.iter().map(in_coin).sum();
    let count: u64 = volumes.iter().map(|it| count(it, |_| true)).sum();
    Tile {
        id: "volume-sum",
        title: "Volume in stablecoin",
        value: two_decimals(u64::try_from(sum).unwrap_or(0)),
        more: format!("{count} payments, {words}"),
        tone: Tone::Plain,
        href: None,
    }
}

fn success(volumes: &[CorridorVolume]) -> Tile {
    let good: u64 = volumes.iter().map(|it| count(it, succeeded)).sum();
    let ended: u64 = volumes.iter().map(|it| count(it, PaymentState::is_terminal)).sum();
    let more = format!("{good} of {ended} completed payments were paid");
    let (id, title) = ("success-rate", "Success rate");
    Tile { id, title, value: share(good, ended), more, tone: Tone::Plain, href: None }
}

fn pace(volumes: &[CorridorVolume]) -> Tile {
    let mut all: Vec<Span> = volumes.iter().flat_map(|it| it.settled_in.iter().copied()).collect();
    all.sort_unstable();
    let words = |percent| percentile(&all, percent).map_or("–".to_owned(), took);
    let more = format!("p95 {}", words(95));
    let (id, title) = ("pace", "Time to settle, p50");
    Tile { id, title, value: words(50), more, tone: Tone::Plain, href: None }
}

fn waits(
    visit: &Visit,
    id: &'static str,
    title: &'static str,
    backlog: Backlog,
    now: Timestamp,
    path: &str,
) -> Tile {
    let more = backlog
        .oldest
        .map_or("none waiting".to_owned(), |oldest| format!("oldest waiting {}", age(oldest, now)));
    let tone = if backlog.count == 0 { Tone::Good } else { Tone::Warn };
    let href = (backlog.count > 0).then(|| visit.href(path));
    Tile { id, title, value: backlog.count.to_string(), more, tone, href }
}

async fn webhooks(visit: &Visit) -> Result<Tile, Stop> {
    let counts = visit.console().store().undelivered_counts(visit.tenant_id()?).await?;
    let of = |wanted| {
        counts.iter().filter(|(state, _)| *state == wanted).map(|(_, count)| *count).sum::<u64>()
    };
    let (dead, pending) = (of(DeliveryState::Dead), of(DeliveryState::Pending));
    Ok(Tile {
        id: "webhooks",
        title: "Failed webhooks",
        value: dead.to_string(),
        more: format!("{pending} pending, {} disabled", of(DeliveryState::Disabled)),
        tone: if dead > 0 { Tone::Bad } else { Tone::Good },
        href: Some(visit.href("/webhooks")),
    })
}

async fn escrow(visit: &Visit, now: Timestamp) -> Result<Tile, Stop> {
    let found = visit.console().store().unreleased(visit.tenant_id()?).await?;
    let sum = found.iter().map(|it| {
        let amount = two_decimals(u64::try_from(it.amount.minor).unwrap_or(0));
        format!("{amount} {}", it.amount.currency.code())
    });
    let sum: Vec<String> = sum.collect();
    let oldest = found.iter().map(|it| it.oldest).min();
    Ok(Tile {
        id: "escrow",
        title: "Escrow not released",
        value: found.iter().map(|it| it.count).sum::<u64>().to_string(),
        more: oldest.map_or("none waiting".to_owned(), |at| {
            format!("{}, oldest waiting {}", sum.join(", "), age(at, now))
        }),
        tone: if found.is_empty() { Tone::Good } else { Tone::Busy },
        href: None,
    })
}

/// The age of the oldest rate used for quotes of this tenant, and the countries without a fresh one.
pub(crate) fn rate_standing(visit: &Visit) -> Result<(Span, Vec<&'static str>), Stop> {
    let (world, now) = (visit.console().payments.world(), visit.console().now());
    let policy = &visit.tenant()?.policy;
    let coin: StableCoin = policy.settlement_coin;
    let mut oldest = Span(0);
    let mut missing = Vec::new();
    for country in &policy.countries {
        let Some(corridor) = world.corridors.corridors.get(country) else { continue };
        let terms = corridor.rate_terms(now);
        match world.rates.bid(coin.currency(), country.currency(), &terms) {
            Some(bid) => oldest = oldest.max(now - bid.as_of),
            None => missing.push(country.alpha3()),
        }
    }
    Ok((oldest, missing))
}

fn rates(visit: &Visit) -> Result<Tile, Stop> {
    let (oldest, missing) = rate_standing(visit)?;
    let (more, tone) = match missing.is_empty() {
        true => ("oldest rate used for quotes".to_owned(), Tone::Good),
        false => (format!("missing or too old for {}", missing.join(", ")), Tone::Bad),
    };
    Ok(Tile {
        id: "rate-age",
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
    fn amounts_have_two_decimals() {
        assert_eq!(two_decimals(1_234_567_899_999), "1,234,567.89");
        assert_eq!((two_decimals(0), two_decimals(50_000)), ("0.00".to_owned(), "0.05".to_owned()));
    }

    #[test]
    fn small_corridors_share_a_colour() {
        let of = |country, minor| DayVolume {
            country,
            day: 3,
            state: PaymentState::Succeeded,
            count: 1,
            charge: Money::new(minor, domain::currency::Currency::Usdt),
        };
        let found: Vec<_> = (1..).zip(Country::ALL).map(|(minor, it)| of(it, minor)).collect();
        let series = corridor_series(&found);
        assert_eq!((series.len(), series[4].name.as_str()), (5, "Others"));
        assert_eq!(series.iter().map(|it| it.values[3]).collect::<Vec<_>>(), [7, 6, 5, 4, 6]);
        assert_eq!(corridor_series(&found[..2]).len(), 2, "none without payments");
    }

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
