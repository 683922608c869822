//! Deliveries of the last 24 hours: key figures, and a chart by hour.

use domain::delivery::DeliveryState;
use domain::time::{Span, Timestamp};
use engine::wallets::{DELIVERIES_COUNTED_MAX, DeliveryCount};

use crate::parts::grouped;
use crate::payments::chart::{COLOURS, Chart, Series, axis_end, axis_labels, some, stacked};
use crate::payments::share;
use crate::view::{Section, Tile, age};
use crate::{Cell, Stop, Table, Visit};

const HOURS: usize = 24;
/// From the start of the first hour to that of the last one.
const REACH: Span = Span::hours(23);
/// Outcomes of deliveries in the order in which the chart stacks them.
const OUTCOMES: [&str; 4] =
    ["At the first attempt", "At a later attempt", "Waiting", "Not delivered"];

/// Deliveries of an hour by outcome.
type Hour = [u64; OUTCOMES.len()];

const fn outcome(count: &DeliveryCount) -> usize {
    match (count.state, count.is_retried) {
        (DeliveryState::Delivered, false) => 0,
        (DeliveryState::Delivered, true) => 1,
        (DeliveryState::Pending, _) => 2,
        (DeliveryState::Dead | DeliveryState::Disabled, _) => 3,
    }
}

fn by_hour(counts: &[DeliveryCount]) -> [Hour; HOURS] {
    let mut hours = [Hour::default(); HOURS];
    for count in counts {
        // What was added since the clock was read belongs to the current hour.
        let hour = usize::try_from(count.period).unwrap_or(HOURS).min(HOURS - 1);
        hours[hour][outcome(count)] += count.count;
    }
    hours
}

/// The start of the 24 hours on the clock that end with the current one.
const fn start(now: Timestamp) -> Timestamp {
    Timestamp(now.0 - now.0.rem_euclid(Span::hours(1).0) - REACH.0)
}

/// The section; `None` on a refresh that leaves it out. `undelivered` has what is not delivered now.
pub(super) async fn section(
    visit: &Visit,
    undelivered: &[(DeliveryState, u64)],
) -> Result<Option<Section>, Stop> {
    if !visit.wants_slow_parts() {
        return Ok(None);
    }
    let (store, tenant, now) = (visit.console().store(), visit.tenant_id()?, visit.console().now());
    let counts = store.deliveries_by_period(tenant, start(now), Span::hours(1)).await?;
    let oldest = store.oldest_pending_delivery_of(tenant).await?;
    let hours = by_hour(&counts);
    let total = |outcome: usize| hours.iter().map(|hour| hour[outcome]).sum::<u64>();
    let delivered = total(0) + total(1);
    let all = delivered + total(2) + total(3);
    let waiting: u64 = undelivered
        .iter()
        .filter(|(state, _)| *state == DeliveryState::Pending)
        .map(|(_, count)| count)
        .sum();
    let tile = |title, value: String, more| Tile { title, value, more };
    let count = |number: u64| grouped(&number.to_string());
    let tiles = vec![
        tile("Delivered", count(delivered), format!("of {} in 24 hours", count(all))),
        tile(
            "At the first attempt",
            share(total(0), delivered),
            "of what was delivered".to_owned(),
        ),
        tile(
            "Oldest waiting",
            oldest.map_or_else(|| "–".to_owned(), |oldest| age(oldest, now)),
            format!("{} waiting", count(waiting)),
        ),
        tile("Not delivered", count(total(3)), "given up, or disabled".to_owned()),
    ];
    let most = u64::try_from(DELIVERIES_COUNTED_MAX).unwrap_or(u64::MAX);
    let says = (all >= most)
        .then(|| format!("Of each service, the latest {} events are counted.", count(most)));
    Ok(Some(Section {
        title: "Last 24 hours".to_owned(),
        says: says.into_iter().collect(),
        tiles,
        charts: (all > 0).then(|| chart(&hours, start(now))).into_iter().collect(),
        ..Section::default()
    }))
}

fn chart(hours: &[Hour; HOURS], start: Timestamp) -> Chart {
    let begins = |hour: usize| start + Span::hours(i64::try_from(hour).unwrap_or(0));
    let clock: Vec<String> =
        (0..HOURS).map(|hour| begins(hour).to_string()[11..16].to_owned()).collect();
    let series = |outcome: usize| Series {
        name: OUTCOMES[outcome].to_owned(),
        values: hours.iter().map(|hour| hour[outcome]).collect(),
    };
    let series: Vec<Series> = (0..OUTCOMES.len()).map(series).collect();
    let all = |hour: &Hour| hour.iter().sum::<u64>();
    let end = axis_end(hours.iter().map(all).max().unwrap_or(0), 1);
    let text = |(hour, clock): (&Hour, &String)| {
        let parts = OUTCOMES.iter().zip(hour).filter(|(_, count)| **count > 0);
        let parts = parts.map(|(name, count)| format!("\n{name}: {count}"));
        let noun = if all(hour) == 1 { "event" } else { "events" };
        format!("{clock}: {} {noun}{}", all(hour), parts.collect::<String>())
    };
    let row = |(at, hour): (usize, &Hour)| {
        let begins = begins(at).to_string();
        let mut row = vec![Cell::text(format!("{} {}", &begins[..10], &begins[11..16]))];
        row.extend(hour.iter().map(Cell::number));
        row.push(Cell::number(all(hour)));
        row
    };
    let mut head = vec!["Hour (UTC)"];
    head.extend(OUTCOMES);
    head.push("All");
    let rows = hours.iter().enumerate().rev().map(row).collect();
    Chart {
        id: "deliveries-by-hour",
        title: "Deliveries",
        per: "by hour",
        unit: "events an hour (UTC)",
        legend: COLOURS.into_iter().zip(OUTCOMES.map(str::to_owned)).collect(),
        y: axis_labels(end, 1),
        x: some(&clock),
        shapes: stacked(&series, end),
        slots: hours.iter().zip(&clock).map(text).collect(),
        table: Table::new("Deliveries by hour", &head, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-25 14:25:00 UTC
    const NOW: Timestamp = Timestamp(1_795_616_700_000_000);

    fn count(period: u64, state: DeliveryState, is_retried: bool, count: u64) -> DeliveryCount {
        DeliveryCount { period, state, is_retried, count }
    }

    #[test]
    fn hours_are_those_of_the_clock_and_end_with_the_current_one() {
        assert_eq!(start(NOW).to_string(), "2026-11-24T15:00:00.000Z");
        assert_eq!(start(Timestamp(NOW.0 - NOW.0.rem_euclid(3_600_000_000))), start(NOW));
    }

    #[test]
    fn deliveries_are_counted_by_hour_and_outcome() {
        let counts = [
            count(0, DeliveryState::Delivered, false, 3),
            count(0, DeliveryState::Delivered, true, 2),
            count(22, DeliveryState::Dead, true, 1),
            count(22, DeliveryState::Disabled, false, 4),
            count(23, DeliveryState::Pending, false, 1),
            // Added after the clock was read.
            count(24, DeliveryState::Pending, true, 1),
        ];
        let hours = by_hour(&counts);
        assert_eq!((hours[0], hours[22], hours[23]), ([3, 2, 0, 0], [0, 0, 0, 5], [0, 0, 2, 0]));
        assert!(hours[1..22].iter().flatten().all(|count| *count == 0));
        let chart = chart(&hours, start(NOW));
        assert_eq!(
            chart.slots[0],
            "15:00: 5 events\nAt the first attempt: 3\nAt a later attempt: 2"
        );
        assert_eq!((chart.slots.len(), chart.y[0].as_str()), (HOURS, "8"));
        assert_eq!(chart.x, ["15:00", "20:00", "02:00", "08:00", "14:00"]);
        assert_eq!(chart.table.rows.len(), HOURS);
        assert_eq!(chart.table.rows[0][0], Cell::text("2026-11-25 14:00"), "the latest first");
    }
}
