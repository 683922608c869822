//! How a source's times are read: by the publisher's own clock.

use domain::calendar::instant;
use domain::time::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

/// Seconds since 1970 below this are no time of a rate: 2001-09-09.
const FIRST_SECOND: i64 = 1_000_000_000;
/// Forms of a date besides ISO 8601 that leave no doubt which number is the month.
const DATES: [&str; 10] = [
    "%Y%m%d",
    "%Y/%m/%d",
    "%d-%b-%Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%d-%B-%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
];
/// Forms of a time of day behind one of them.
const TIMES_OF_DAY: [&str; 4] = ["%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p"];
/// Numbers from here on count milliseconds, and from a thousand times this on microseconds.
const FIRST_MILLISECOND: i64 = 100_000_000_000;

/// The clock of a publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Time zone of dates, and of times that name none.
    pub zone: TimeZone,
    /// Local time at which the rates of a date without a time are published.
    pub at: Time,
}

impl Default for Published {
    fn default() -> Published {
        Published { zone: TimeZone::UTC, at: Time::midnight() }
    }
}

impl Published {
    /// Reads RFC 3339, RFC 2822, a local time, a date (ISO 8601, or with the month's English name), or
    /// seconds (also milli- or microseconds) since 1970; with whether a time of the day was given. A date whose hour of publication is still
    /// ahead was published by `now`: the document is here.
    pub(super) fn time(&self, text: &str, now: Timestamp) -> Option<(Timestamp, bool)> {
        let text = text.trim();
        let micros = |instant: jiff::Timestamp| Timestamp(instant.as_microsecond());
        if let Some(instant) = since_1970(text) {
            return Some((instant, true));
        }
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Some((micros(instant), true));
        }
        if let Ok(zoned) = rfc2822::parse(text) {
            return Some((micros(zoned.timestamp()), true));
        }
        // A text of a date alone is a local time, too: midnight.
        let day = match text.contains(':') {
            true => None,
            false => text.parse::<Date>().ok().or_else(|| worded_date(text)),
        };
        if let Some(day) = day {
            let at = instant(&self.zone, day.to_datetime(self.at))?;
            let begins = instant(&self.zone, day.to_datetime(Time::midnight()))?;
            return Some((if begins <= now { at.min(now) } else { at }, false));
        }
        let local = text.parse::<DateTime>().ok().or_else(|| worded_time(text))?;
        Some((instant(&self.zone, local)?, true))
    }
}

/// A date in one of [`DATES`].
fn worded_date(text: &str) -> Option<Date> {
    // Digits alone are read if they are eight: of seven it is open which are the day's.
    let is_short = text.len() != 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut forms = DATES.iter().filter(|_| !is_short);
    let date = forms.find_map(|form| Date::strptime(form, text).ok())?;
    // `26 Nov 26` is not of the year 26.
    (date.year() >= 2000).then_some(date)
}

/// A date in one of [`DATES`], and a time of day behind a space or a comma.
fn worded_time(text: &str) -> Option<DateTime> {
    let (colon, _) = text.match_indices(':').next()?;
    let (date, time) = text.split_at(text[..colon].rfind(' ')?);
    let day = worded_date(date.trim_end_matches([',', ' ']))?;
    let time = TIMES_OF_DAY.iter().find_map(|form| Time::strptime(form, time.trim()).ok())?;
    Some(day.to_datetime(time))
}

fn since_1970(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let number = whole.parse::<i64>().ok().filter(|number| *number >= FIRST_SECOND)?;
    if fraction.is_empty() || fraction.bytes().any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    let micros = match number {
        ..FIRST_MILLISECOND => number.checked_mul(1_000_000)?,
        number if number < FIRST_MILLISECOND * 1_000 => number.checked_mul(1_000)?,
        number => number,
    };
    Some(Timestamp(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
    }

    #[test]
    fn times_are_read_by_the_publishers_clock() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a rule");
        let published = Published { zone, at: Time::constant(16, 0, 0, 0) };
        let now = at("2026-11-27T12:00:00Z");
        for (text, time, is_precise) in [
            ("1795244268", "2026-11-21T06:57:48Z", true),
            ("1795244268.25", "2026-11-21T06:57:48Z", true),
            ("1795244268000", "2026-11-21T06:57:48Z", true),
            ("1795244268000000", "2026-11-21T06:57:48Z", true),
            ("2026-11-21T06:57:48Z", "2026-11-21T06:57:48Z", true),
            ("2026-11-21 06:57:48+00", "2026-11-21T06:57:48Z", true),
            ("Sat, 21 Nov 2026 06:57:48 +0000", "2026-11-21T06:57:48Z", true),
            ("2026-11-21T06:57:48", "2026-11-21T05:57:48Z", true),
            ("2026-07-21 06:57:48", "2026-07-21T04:57:48Z", true),
            ("2026-11-26", "2026-11-26T15:00:00Z", false),
            ("2026-07-21", "2026-07-21T14:00:00Z", false),
            ("2026/11/26", "2026-11-26T15:00:00Z", false),
            ("20261126", "2026-11-26T15:00:00Z", false),
            ("26-Nov-2026", "2026-11-26T15:00:00Z", false),
            ("26 NOV 2026", "2026-11-26T15:00:00Z", false),
            ("November 26, 2026", "2026-11-26T15:00:00Z", false),
            ("Nov 6 2026", "2026-11-06T15:00:00Z", false),
            ("26-Nov-2026 13:30", "2026-11-26T12:30:00Z", true),
            ("Nov 26, 2026, 1:30:05 PM", "2026-11-26T12:30:05Z", true),
            // Published before 16:00 today, since it is here.
            ("2026-11-27", "2026-11-27T12:00:00Z", false),
            ("2026-11-28", "2026-11-28T15:00:00Z", false),
        ] {
            assert_eq!(published.time(text, now), Some((at(time), is_precise)), "{text}");
        }
        for text in [
            "",
            "soon",
            "0",
            "12",
            "-1795244268",
            "1795244268.x",
            "27.11.2026",
            "2026-13-01",
            "11/26/2026",
            "26/11/2026",
            "26-11-2026",
            "20261301",
            "2026112",
            "202611",
            "31 Nov 2026",
            "26 Nov",
            "26 Nov 2026 25:00",
            ":",
            "26 Nov 26 13:30",
        ] {
            assert_eq!(published.time(text, now), None, "{text}");
        }
    }
}
