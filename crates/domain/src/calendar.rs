//! Calendars of others: the day on which a bank executes a payment, by its own clock, working days and
//! cut-off time; and the week in which a source publishes rates.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use crate::time::{Span, Timestamp};

/// Maximum number of consecutive days without work that is skipped.
const MAX_REST_DAYS: usize = 60;
/// Minutes of a day.
const DAY_MINUTES: u16 = 1_440;
/// Minutes of a week.
pub const WEEK_MINUTES: u16 = 7 * DAY_MINUTES;

/// A bank's time zone and working days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankCalendar {
    /// Time zone of the bank.
    pub zone: TimeZone,
    /// Working weekdays, Monday = 0.
    pub days: BTreeSet<u8>,
    /// Dates on which the bank does not work, whatever the weekday.
    pub holidays: BTreeSet<Date>,
    /// Local time from which a payment waits for the next working day; `None` means midnight.
    pub cut_off: Option<Time>,
}

impl BankCalendar {
    /// Every day in this time zone.
    pub fn every_day(zone: TimeZone) -> BankCalendar {
        BankCalendar { zone, days: (0..7).collect(), holidays: BTreeSet::new(), cut_off: None }
    }

    /// The bank's date at this instant.
    pub fn date(&self, now: Timestamp) -> Date {
        self.local(now).date()
    }

    /// The first working day on which a payment of this instant can be executed.
    pub fn execution_date(&self, now: Timestamp) -> Date {
        let local = self.local(now);
        let today = local.date();
        let is_late = self.cut_off.is_some_and(|cut_off| local.time() >= cut_off);
        // A day without work has no cut-off: what arrives then waits for the next working day anyway.
        let skipped = usize::from(is_late && self.works_on(today));
        let mut days = today.series(jiff::Span::new().days(1)).skip(skipped).take(MAX_REST_DAYS);
        days.find(|day| self.works_on(*day)).unwrap_or(today)
    }

    fn works_on(&self, day: Date) -> bool {
        is_working_day(day, &self.days, &self.holidays)
    }

    fn local(&self, now: Timestamp) -> DateTime {
        local(&self.zone, now)
    }
}

/// Whether work is done on a day: on these weekdays (Monday = 0), and not on these dates.
pub(crate) fn is_working_day(
    day: Date,
    weekdays: &BTreeSet<u8>,
    holidays: &BTreeSet<Date>,
) -> bool {
    let weekday = u8::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(u8::MAX);
    weekdays.contains(&weekday) && !holidays.contains(&day)
}

fn local(zone: &TimeZone, now: Timestamp) -> DateTime {
    let instant = jiff::Timestamp::from_microsecond(now.0).unwrap_or(match now.0 {
        ..0 => jiff::Timestamp::MIN,
        0.. => jiff::Timestamp::MAX,
    });
    zone.to_datetime(instant)
}

/// The instant of a local time; one that a clock change skips is the later one of the same length.
pub fn instant(zone: &TimeZone, local: DateTime) -> Option<Timestamp> {
    Some(Timestamp(zone.to_timestamp(local).ok()?.as_microsecond()))
}

/// The hours of a week in which a source publishes rates. Outside of them, and on holidays, it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradingWeek {
    /// Time zone of the source.
    pub zone: TimeZone,
    /// Minute of the week at which it opens; 0 = Monday 00:00.
    pub opens: u16,
    /// Minute of the week at which it closes, up to [`WEEK_MINUTES`]; in the next week if it is not
    /// later than `opens`.
    pub closes: u16,
    /// Dates on which it rests, whatever the weekday.
    pub holidays: BTreeSet<Date>,
}

impl TradingWeek {
    /// The instant at which `span` of trading time has passed since `from`; `None` if none is near.
    pub fn after(&self, from: Timestamp, span: Span) -> Option<Timestamp> {
        let mut left = span;
        for (start, end) in self.sessions(from) {
            let start = start.max(from);
            if left <= end - start {
                return Some(start + left);
            }
            left = Span(left.0 - (end - start).0);
        }
        None
    }

    /// The rest in progress at `now`, else the next one.
    pub fn rest(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let mut closed_since = now;
        for (start, end) in self.sessions(now) {
            if start > closed_since {
                return Some((closed_since, start));
            }
            closed_since = end;
        }
        None
    }

    /// The trading hours that end after `from`, day by day.
    fn sessions(&self, from: Timestamp) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let days = local(&self.zone, from).date().series(jiff::Span::new().days(1));
        days.take(MAX_REST_DAYS)
            .filter(|day| !self.holidays.contains(day))
            .flat_map(|day| self.sessions_on(day))
            .filter(move |(_, end)| *end > from)
    }

    fn sessions_on(&self, day: Date) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let weekday = u16::try_from(day.weekday().to_monday_zero_offset()).unwrap_or_default();
        let (begins, ends) = (weekday * DAY_MINUTES, (weekday + 1) * DAY_MINUTES);
        let wraps = self.closes <= self.opens;
        let parts = match wraps {
            true => [(0, self.closes), (self.opens, WEEK_MINUTES)],
            false => [(self.opens, self.closes), (0, 0)],
        };
        let midnight = day.at(0, 0, 0, 0);
        let at = move |minute: u16| {
            let later = jiff::Span::new().minutes(i64::from(minute - begins));
            instant(&self.zone, midnight.checked_add(later).ok()?)
        };
        parts.into_iter().filter_map(move |(opens, closes)| {
            let (start, end) = (opens.max(begins), closes.min(ends));
            (start < end).then(|| Some((at(start)?, at(end)?)))?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
    }

    /// UTC plus so many quarters of an hour.
    fn zone(quarters: i32) -> TimeZone {
        TimeZone::fixed(jiff::tz::Offset::from_seconds(quarters * 900).expect("an offset"))
    }

    fn calendar(quarters: i32, days: &[u8]) -> BankCalendar {
        let days = days.iter().copied().collect();
        BankCalendar { days, ..BankCalendar::every_day(zone(quarters)) }
    }

    const SUN_TO_THU: [u8; 5] = [6, 0, 1, 2, 3];
    const SUN_TO_FRI: [u8; 6] = [6, 0, 1, 2, 3, 4];
    const MON_TO_FRI: [u8; 5] = [0, 1, 2, 3, 4];

    /// `corridors.md`: BGD and EGY work Sunday to Thursday, NPL Sunday to Friday, others Monday to
    /// Friday. 2026-11-27 is a Friday.
    #[test]
    fn the_day_is_the_banks_and_a_weekend_its_countrys() {
        let dhaka = calendar(24, &SUN_TO_THU);
        let kathmandu = calendar(23, &SUN_TO_FRI);
        let karachi = calendar(20, &MON_TO_FRI);
        for (bank, now, day) in [
            // Around midnight in Dhaka, Wednesday to Thursday to the weekend.
            (&dhaka, "2026-11-25T17:59:59.999999Z", date(2026, 11, 25)),
            (&dhaka, "2026-11-25T18:00:00Z", date(2026, 11, 26)),
            (&dhaka, "2026-11-26T17:59:59.999999Z", date(2026, 11, 26)),
            (&dhaka, "2026-11-26T18:00:00Z", date(2026, 11, 29)),
            (&dhaka, "2026-11-28T17:59:59Z", date(2026, 11, 29)),
            (&dhaka, "2026-11-29T18:00:00Z", date(2026, 11, 30)),
            // Nepal is 5:45 ahead of UTC and rests on Saturday alone.
            (&kathmandu, "2026-11-26T18:14:59Z", date(2026, 11, 26)),
            (&kathmandu, "2026-11-26T18:15:00Z", date(2026, 11, 27)),
            (&kathmandu, "2026-11-27T18:15:00Z", date(2026, 11, 29)),
            (&karachi, "2026-11-27T18:59:59Z", date(2026, 11, 27)),
            (&karachi, "2026-11-27T19:00:00Z", date(2026, 11, 30)),
            (&karachi, "2026-11-29T19:00:00Z", date(2026, 11, 30)),
        ] {
            assert_eq!(bank.execution_date(at(now)), day, "{now}");
        }
        assert_eq!(dhaka.date(at("2026-11-26T18:00:00Z")), date(2026, 11, 27));
    }

    #[test]
    fn holidays_and_the_cut_off_postpone_it() {
        let mut dhaka = calendar(24, &SUN_TO_THU);
        dhaka.holidays = [date(2026, 11, 29), date(2026, 11, 25)].into();
        dhaka.cut_off = Some(time(15, 30, 0, 0));
        for (now, day) in [
            ("2026-11-24T09:29:59.999999Z", date(2026, 11, 24)),
            // 15:30 in Dhaka; the next day is a holiday.
            ("2026-11-24T09:30:00Z", date(2026, 11, 26)),
            // On a day without work the cut-off has no meaning.
            ("2026-11-25T12:00:00Z", date(2026, 11, 26)),
            ("2026-11-26T09:30:00Z", date(2026, 11, 30)),
            ("2026-11-27T17:00:00Z", date(2026, 11, 30)),
        ] {
            assert_eq!(dhaka.execution_date(at(now)), day, "{now}");
        }
    }

    #[test]
    fn a_clock_change_moves_midnight() {
        // Cairo in 2026, as a rule of POSIX: summer time from the last Friday of April.
        let zone = TimeZone::posix("EET-2EEST,M4.5.5/0,M10.5.4/24").expect("a rule");
        let cairo = BankCalendar { days: SUN_TO_THU.into(), ..BankCalendar::every_day(zone) };
        assert_eq!(cairo.execution_date(at("2026-07-07T20:59:59Z")), date(2026, 7, 7));
        assert_eq!(cairo.execution_date(at("2026-07-07T21:00:00Z")), date(2026, 7, 8));
        assert_eq!(cairo.execution_date(at("2026-12-08T21:00:00Z")), date(2026, 12, 8));
        assert_eq!(cairo.execution_date(at("2026-12-08T22:00:00Z")), date(2026, 12, 9));
    }

    fn trading(zone: TimeZone, opens: u16, closes: u16) -> TradingWeek {
        TradingWeek { zone, opens, closes, holidays: BTreeSet::new() }
    }

    /// Frankfurt, Monday to Friday.
    fn central_bank() -> TradingWeek {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a rule");
        trading(zone, 0, 5 * DAY_MINUTES)
    }

    /// New York, Sunday 17:00 to Friday 17:00.
    fn market() -> TradingWeek {
        let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a rule");
        trading(zone, 6 * DAY_MINUTES + 17 * 60, 4 * DAY_MINUTES + 17 * 60)
    }

    #[test]
    fn a_source_rests_outside_of_its_week() {
        let mut holiday = central_bank();
        holiday.holidays = [date(2026, 12, 25), date(2026, 12, 28)].into();
        for (week, now, from, to) in [
            // 2026-11-27 is a Friday.
            (
                central_bank(),
                "2026-11-26T12:00:00Z",
                "2026-11-27T23:00:00Z",
                "2026-11-29T23:00:00Z",
            ),
            (
                central_bank(),
                "2026-11-28T12:00:00Z",
                "2026-11-28T12:00:00Z",
                "2026-11-29T23:00:00Z",
            ),
            (
                central_bank(),
                "2026-11-29T23:00:00Z",
                "2026-12-04T23:00:00Z",
                "2026-12-06T23:00:00Z",
            ),
            (market(), "2026-11-27T21:59:59Z", "2026-11-27T22:00:00Z", "2026-11-29T22:00:00Z"),
            (market(), "2026-11-29T21:00:00Z", "2026-11-29T21:00:00Z", "2026-11-29T22:00:00Z"),
            // Clocks change in New York on 8 March 2026, a Sunday.
            (market(), "2026-03-06T21:00:00Z", "2026-03-06T22:00:00Z", "2026-03-08T21:00:00Z"),
            (holiday, "2026-12-24T12:00:00Z", "2026-12-24T23:00:00Z", "2026-12-28T23:00:00Z"),
        ] {
            assert_eq!(week.rest(at(now)), Some((at(from), at(to))), "{now}");
        }
        assert_eq!(trading(TimeZone::UTC, 0, WEEK_MINUTES).rest(at("2026-11-27T12:00:00Z")), None);
    }

    #[test]
    fn only_trading_time_passes() {
        let hours = |hours: i32| Span::mins(60 * i64::from(hours));
        for (week, from, span, until) in [
            (central_bank(), "2026-11-26T15:00:00Z", hours(26), "2026-11-27T17:00:00Z"),
            (central_bank(), "2026-11-27T15:00:00Z", hours(26), "2026-11-30T17:00:00Z"),
            (central_bank(), "2026-11-28T15:00:00Z", hours(1), "2026-11-30T00:00:00Z"),
            (market(), "2026-11-27T21:58:00Z", Span::mins(5), "2026-11-29T22:03:00Z"),
            (market(), "2026-11-27T21:00:00Z", Span::mins(5), "2026-11-27T21:05:00Z"),
        ] {
            assert_eq!(week.after(at(from), span), Some(at(until)), "{from}");
        }
        assert_eq!(central_bank().after(at("2026-11-27T15:00:00Z"), Span::days(90)), None);
    }

    #[test]
    fn without_a_working_day_it_is_today() {
        let never = calendar(0, &[]);
        assert_eq!(never.execution_date(at("2026-11-27T12:00:00Z")), date(2026, 11, 27));
        for edge in [i64::MIN, i64::MAX] {
            BankCalendar::every_day(TimeZone::UTC).execution_date(Timestamp(edge));
        }
    }

    proptest! {
        #[test]
        fn it_is_never_in_the_past_and_always_a_working_day(
            seconds in 0_i64..4_000_000_000,
            quarters in -48_i32..56,
            days in prop::collection::btree_set(0_u8..7, 1..7),
            hour in 0_i8..24,
        ) {
            let bank = BankCalendar {
                days,
                cut_off: Some(time(hour, 0, 0, 0)),
                ..BankCalendar::every_day(zone(quarters))
            };
            let now = Timestamp(seconds * 1_000_000);
            let day = bank.execution_date(now);
            prop_assert!(bank.works_on(day) && day >= bank.date(now));
            let between = bank.date(now).series(jiff::Span::new().days(1)).skip(1);
            let rests = between.take_while(|other| *other < day).all(|other| !bank.works_on(other));
            prop_assert!(rests);
        }
    }
}
