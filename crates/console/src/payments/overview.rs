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
use domain::ledger::{Account, AccountCode, Funding};
use domain::money::Money;
use domain::time::{Span, Timestamp};
use engine::backoffice::{Backlog, COUNTED_MAX};
use engine::payments::AuditFilter;

use super::chart::{
    COLOURS, Chart, Level, Series, axis_end, axis_labels, line, lines, rate_labels, some, spark,
    stacked,
};
use super::figures::{Corridor, CorridorDays, Durations, Figures};
use super::{duration_text, share};
use crate::inbox::MOST;
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
const FUNDINGS_MAX: usize = 50;

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
    /// State since when there are figures of a country, if that is later than the chosen period's
    /// start.
    counted: Vec<String>,
    /// Same of the charts.
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
    let (start, end) = (now - window, now + Span::secs(1));
    let found = store.tallies(tenant, start, end, end - start, COUNTED_MAX).await?;
    let corridors = Corridor::all(&found.tallies);
    let accounts = store.shared_accounts(tenant).await?;
    let prefunds: Vec<&Account> =
        accounts.iter().filter(|it| matches!(it.code, AccountCode::Prefund(_))).collect();
    let figures = [volume(&corridors, words), success(&corridors), pace(&corridors)];
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
        corridors: corridor_table(&corridors),
        counted: found.shortened.iter().map(counted).collect(),
        accounts: prefund_table(&prefunds),
    };
    html(&page)
}

/// An amount of either stablecoin, counted alike, rounded down to two decimals.
fn two_decimals(minor: u64) -> String {
    grouped(&format!("{}.{:02}", minor / COIN, minor % COIN / (COIN / 100)))
}

fn told(span: Option<Span>) -> Cell {
    span.map_or(Cell::Empty, |span| Cell::number(duration_text(span)))
}

fn counted((country, from): &(Country, Timestamp)) -> String {
    let (country, most) = (country.alpha3(), grouped(&COUNTED_MAX.to_string()));
    format!("{country}: only the latest {most} payments are counted, since {from}.")
}

fn corridor_table(corridors: &[Corridor]) -> Table {
    let row = |corridor: &Corridor| {
        let of = &corridor.figures;
        (of.count > 0).then(|| {
            vec![
                Cell::text(corridor.country.alpha3()),
                Cell::number(of.count),
                Cell::number(of.paid),
                Cell::number(of.ended - of.paid),
                Cell::number(of.count - of.ended),
                Cell::number(share(of.paid, of.ended)),
                told(of.settled_in.percentile(50)),
                told(of.settled_in.percentile(95)),
                Cell::number(corridor.paid_out()),
                Cell::number(two_decimals(u64::try_from(of.charge).unwrap_or(0))),
            ]
        })
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
    Table::new("Corridors", &head, corridors.iter().filter_map(row).collect())
        .or("No payments in this period.")
}

/// How long the figures of the last days are shown before they are read again.
pub const DAYS_KEPT: Span = Span::mins(1);

/// The last days up to today.
pub struct Days {
    corridors: Vec<CorridorDays>,
    names: Vec<String>,
    /// Since when there are figures of a country, if earlier ones were left out.
    shortened: Vec<(Country, Timestamp)>,
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

    /// `None` if there are no payments.
    async fn read(visit: &Visit, now: Timestamp) -> Result<Option<Days>, Stop> {
        let midnight = Timestamp(now.0 - now.0.rem_euclid(Span::days(1).0));
        let ago = i64::try_from(DAYS - 1).unwrap_or_default();
        let (start, end) = (midnight - Span::days(ago), now + Span::secs(1));
        let (store, day) = (visit.console().store(), Span::days(1));
        let found = store.tallies(visit.tenant_id()?, start, end, day, COUNTED_MAX).await?;
        if found.tallies.is_empty() {
            return Ok(None);
        }
        let names = (0..).take(DAYS).map(|day| short_day(start + Span::days(day))).collect();
        let (corridors, shortened) = (CorridorDays::all(&found.tallies, DAYS), found.shortened);
        Ok(Some(Days { corridors, names, shortened }))
    }

    fn charts(&self) -> Vec<Chart> {
        let Days { corridors, names, .. } = self;
        let charts = [volume_chart(corridors, names), success_chart(&self.all(), names)];
        charts.into_iter().chain(times_chart(corridors, names)).collect()
    }

    /// What was paid and what ended on each day, in all countries.
    fn all(&self) -> Vec<Figures> {
        let sum = |day: usize| {
            let mut all = Figures::default();
            for it in self.corridors.iter().filter_map(|it| it.days.get(day)) {
                (all.paid, all.ended) = (all.paid + it.paid, all.ended + it.ended);
            }
            all
        };
        (0..DAYS).map(sum).collect()
    }

    fn uncharted(&self) -> Vec<String> {
        let most = grouped(&COUNTED_MAX.to_string());
        let short = |(country, from): &(Country, Timestamp)| {
            let country = country.alpha3();
            format!(
                "{country}: the charts have only the latest {most} payments, since {from}. Earlier days lack this country."
            )
        };
        self.shortened.iter().map(short).collect()
    }

    /// The lines on the tiles of volume, success and speed.
    fn sparks(&self) -> [Option<String>; 3] {
        let volume =
            |day| self.corridors.iter().map(|it| it.charge(day)).reduce(u64::saturating_add);
        let slowest = |day: usize| {
            let half = self
                .corridors
                .iter()
                .filter_map(|it| it.days.get(day)?.settled_in.percentile(50))
                .max();
            u64::try_from(half?.0).ok()
        };
        let rates = self.all().iter().map(Figures::success).collect();
        let all = [(0..DAYS).map(volume).collect(), rates, (0..DAYS).map(slowest).collect()];
        all.map(|values: Vec<_>| Some(spark(&values)))
    }
}

/// A day without its year.
fn short_day(at: Timestamp) -> String {
    let words = day_words(at);
    words.rsplit_once(' ').map_or(words.clone(), |(day, _)| day.to_owned())
}

/// The greatest corridors, and all others together.
fn corridor_series(corridors: &[CorridorDays]) -> Vec<Series> {
    let mut all: Vec<&CorridorDays> = corridors.iter().filter(|it| it.charges() > 0).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.charges()));
    let rest = if all.len() > COLOURS.len() { all.split_off(OWN_COLOURS) } else { Vec::new() };
    let series = |name: &str, of: &[&CorridorDays]| {
        let sum = |day| of.iter().fold(0_u64, |sum, it| sum.saturating_add(it.charge(day)));
        Series { name: name.to_owned(), values: (0..DAYS).map(sum).collect() }
    };
    let mut found: Vec<Series> = all.iter().map(|it| series(it.country.name(), &[it])).collect();
    if !rest.is_empty() {
        found.push(series("Others", &rest));
    }
    found
}

fn volume_chart(corridors: &[CorridorDays], days: &[String]) -> Chart {
    let series = corridor_series(corridors);
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
        per: "by day",
        unit: "stablecoin a day",
        legend: COLOURS.into_iter().zip(series.iter().map(|it| it.name.clone())).collect(),
        y: axis_labels(end, COIN),
        x: some(days),
        shapes: stacked(&series, end),
        slots: days.iter().enumerate().map(text).collect(),
        table: Table::new("Volume by day", &head, rows),
    }
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
fn times_chart(corridors: &[CorridorDays], days: &[String]) -> Option<Chart> {
    let shown = corridor_series(corridors)
        .into_iter()
        .filter_map(|series| corridors.iter().find(|it| it.country.name() == series.name));
    let shown: Vec<&CorridorDays> = shown.collect();
    let seconds = |span: Span| u64::try_from(span.0 / 1_000_000).unwrap_or(0);
    let half = |it: &&CorridorDays| {
        it.days.iter().map(|day| day.settled_in.percentile(50).map(seconds)).collect::<Vec<_>>()
    };
    let values: Vec<Vec<Option<u64>>> = shown.iter().map(half).collect();
    let most = values.iter().flatten().flatten().max().copied()?;
    let (unit, unit_name) = time_unit(most);
    let end = axis_end(most, unit);
    let text = |(day, words): (usize, &String)| {
        let parts = shown.iter().filter_map(|it| {
            let (half, most) = percentiles(it.days.get(day)?)?;
            Some(format!(
                "\n{} {}, p95 {}",
                it.country.name(),
                duration_text(half),
                duration_text(most)
            ))
        });
        let parts: String = parts.collect();
        if parts.is_empty() {
            format!("{words}: nothing was paid")
        } else {
            format!("{words}{parts}")
        }
    };
    let row = |(words, it, of_day): (&String, &CorridorDays, &Figures)| {
        let (half, most) = percentiles(of_day)?;
        Some(vec![
            Cell::text(words.as_str()),
            Cell::text(it.country.name()),
            Cell::number(of_day.settled_in.count()),
            Cell::number(duration_text(half)),
            Cell::number(duration_text(most)),
        ])
    };
    let of_day =
        |(day, words)| corridors.iter().filter_map(move |it| Some((words, it, it.days.get(day)?)));
    let rows = days.iter().enumerate().rev().flat_map(of_day).filter_map(row).collect();
    let head = ["Day", "Country", "Paid", "p50 to settle", "p95 to settle"];
    Some(Chart {
        id: "times",
        title: "Time to settle",
        per: "by day",
        unit: unit_name,
        legend: COLOURS
            .into_iter()
            .zip(shown.iter().map(|it| it.country.name().to_owned()))
            .collect(),
        y: axis_labels(end, unit),
        x: some(days),
        shapes: lines(&values, end),
        slots: days.iter().enumerate().map(text).collect(),
        table: Table::new("Time to settle by day", &head, rows),
    })
}

/// The middle payment of a day, and the one that 95 of 100 were as fast as.
fn percentiles(of_day: &Figures) -> Option<(Span, Span)> {
    of_day.settled_in.percentile(50).zip(of_day.settled_in.percentile(95))
}

fn success_chart(all: &[Figures], days: &[String]) -> Chart {
    let of = |day: usize| all.get(day).map_or((0, 0), |it| (it.paid, it.ended));
    let (shapes, floor) = line(&all.iter().map(Figures::success).collect::<Vec<_>>(), COLOURS[1]);
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
        per: "by day",
        unit: "percent of the payments that ended",
        legend: vec![(COLOURS[1], "All corridors".to_owned())],
        y: rate_labels(floor),
        x: some(days),
        shapes,
        slots: days.iter().enumerate().map(text).collect(),
        table: Table::new("Success rate by day", &["Day", "Ended", "Paid", "Success"], rows),
    }
}

/// The latest top-ups and withdrawals, newest first.
async fn fundings(visit: &Visit) -> Result<Vec<Entry>, Stop> {
    let mut found = Vec::new();
    for funding in Funding::OF_PREFUND {
        let (tenant, action) = (Some(visit.tenant_id()?), Some(funding.name().to_owned()));
        let filter = AuditFilter { tenant, action, ..AuditFilter::default() };
        found.extend(visit.console().store().audit_entries(&filter, FUNDINGS_MAX).await?);
    }
    found.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    Ok(found)
}

/// The balance of a prefund after its latest top-up or withdrawal, in minor units.
pub(crate) async fn after_funding(visit: &Visit, coin: StableCoin) -> Result<Option<i64>, Stop> {
    let fundings = fundings(visit).await?;
    Ok(fundings.iter().find_map(|entry| funded_to(entry, coin.currency().code())))
}

/// What is left of the balance after the latest top-up or withdrawal.
async fn levels(visit: &Visit, prefunds: &[&Account]) -> Result<Vec<Level>, Stop> {
    let fundings = fundings(visit).await?;
    let level = |account: &&Account| {
        let minor = |value: i64| u64::try_from(value).unwrap_or(0);
        let code = account.code.currency().code();
        let after = fundings.iter().find_map(|entry| funded_to(entry, code)).unwrap_or(0);
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

/// The balance after a top-up or withdrawal of this coin.
fn funded_to(entry: &Entry, code: &str) -> Option<i64> {
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

fn volume(corridors: &[Corridor], words: &str) -> Tile {
    let sum: i64 = corridors.iter().map(|it| it.figures.charge).sum();
    let count: u64 = corridors.iter().map(|it| it.figures.count).sum();
    Tile {
        id: "volume-sum",
        title: "Volume in stablecoin",
        value: two_decimals(u64::try_from(sum).unwrap_or(0)),
        more: format!("{count} payments, {words}"),
        tone: Tone::Plain,
        href: None,
    }
}

fn success(corridors: &[Corridor]) -> Tile {
    let good: u64 = corridors.iter().map(|it| it.figures.paid).sum();
    let ended: u64 = corridors.iter().map(|it| it.figures.ended).sum();
    let more = format!("{good} of {ended} completed payments were paid");
    let (id, title) = ("success-rate", "Success rate");
    Tile { id, title, value: share(good, ended), more, tone: Tone::Plain, href: None }
}

fn pace(corridors: &[Corridor]) -> Tile {
    let mut all = Durations::default();
    corridors.iter().for_each(|it| all.add_all(&it.figures.settled_in));
    let words = |percent| all.percentile(percent).map_or("–".to_owned(), duration_text);
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
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let counts = store.undelivered_counts(tenant).await?;
    let failing = store.failing_deliveries(tenant).await?;
    let of = |wanted| {
        counts.iter().filter(|(state, _)| *state == wanted).map(|(_, count)| *count).sum::<u64>()
    };
    let (dead, pending) = (of(DeliveryState::Dead), of(DeliveryState::Pending));
    Ok(Tile {
        id: "webhooks",
        title: "Failed webhooks",
        value: (dead + failing).to_string(),
        more: format!(
            "{failing} retried, {} pending, {} disabled",
            pending.saturating_sub(failing),
            of(DeliveryState::Disabled)
        ),
        tone: match (dead, failing) {
            (0, 0) => Tone::Good,
            (0, _) => Tone::Warn,
            _ => Tone::Bad,
        },
        href: Some(visit.href("/webhooks")),
    })
}

async fn escrow(visit: &Visit, now: Timestamp) -> Result<Tile, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let failed = store.failed_releases(tenant, MOST).await?.len();
    let found = store.unreleased(tenant).await?;
    let sum = found.iter().map(|it| {
        let amount = two_decimals(u64::try_from(it.amount.minor).unwrap_or(0));
        format!("{amount} {}", it.amount.currency.code())
    });
    let sum: Vec<String> = sum.collect();
    let oldest = found.iter().map(|it| it.oldest).min();
    let failures = if failed > 0 { format!("; {failed} failed") } else { String::new() };
    let tone = match found.is_empty() {
        _ if failed > 0 => Tone::Bad,
        true => Tone::Good,
        false => Tone::Busy,
    };
    Ok(Tile {
        id: "escrow",
        title: "Escrow not released",
        value: found.iter().map(|it| it.count).sum::<u64>().to_string(),
        more: oldest.map_or("none waiting".to_owned(), |at| {
            format!("{}, oldest waiting {}{failures}", sum.join(", "), age(at, now))
        }),
        tone,
        href: (failed > 0).then(|| visit.href("/deposits?state=failed")),
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
        value: duration_text(oldest),
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
        let of = |country, charge| {
            let mut days = vec![Figures::default(); DAYS];
            days[3].charge = charge;
            CorridorDays { country, days }
        };
        let found: Vec<_> = (1..).zip(Country::ALL).map(|(minor, it)| of(it, minor)).collect();
        let series = corridor_series(&found);
        assert_eq!((series.len(), series[4].name.as_str()), (5, "Others"));
        assert_eq!(series.iter().map(|it| it.values[3]).collect::<Vec<_>>(), [7, 6, 5, 4, 6]);
        assert_eq!(corridor_series(&found[..2]).len(), 2, "none without payments");
    }
}
