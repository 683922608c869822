//! Instants and spans. The clock is a port: no code in this crate reads the time.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// An instant: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A span of time in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub i64);

impl Span {
    /// A number of milliseconds.
    pub const fn millis(count: i64) -> Span {
        Span(count * 1_000)
    }
    /// A number of seconds.
    pub const fn secs(count: i64) -> Span {
        Span(count * 1_000_000)
    }
    /// A number of minutes.
    pub const fn mins(count: i64) -> Span {
        Span::secs(count * 60)
    }
    /// A number of hours.
    pub const fn hours(count: i64) -> Span {
        Span::mins(count * 60)
    }
    /// A number of days of 24 hours.
    pub const fn days(count: i64) -> Span {
        Span::hours(count * 24)
    }

    /// The span for the system's timers; zero if negative.
    pub fn to_duration(self) -> Duration {
        Duration::from_micros(self.0.max(0).unsigned_abs())
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;
    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Timestamp;
    fn sub(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(span.0))
    }
}

impl Sub for Timestamp {
    type Output = Span;
    fn sub(self, earlier: Timestamp) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// Days from 1970-01-01 to 0000-01-01 and to 9999-12-31: the years with four digits.
const YEAR_0: i64 = -719_528;
const YEAR_9999_END: i64 = 2_932_896;

impl Timestamp {
    /// The instant in whole seconds since 1970, rounded down.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The instant truncated to whole milliseconds, the precision of the APIs.
    pub const fn to_millis(self) -> Timestamp {
        Timestamp(self.0.div_euclid(1_000) * 1_000)
    }

    /// The UTC calendar day.
    pub fn date(self) -> jiff::civil::Date {
        let epoch = jiff::civil::date(1970, 1, 1);
        let days = self.unix_seconds().div_euclid(86_400);
        epoch.saturating_add(jiff::Span::new().days(days.clamp(YEAR_0, YEAR_9999_END)))
    }

    /// Minutes since midnight, UTC.
    pub const fn minute_of_day(self) -> i64 {
        self.unix_seconds().rem_euclid(86_400) / 60
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds and `Z`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date();
        let seconds = self.unix_seconds().rem_euclid(86_400);
        let millis = self.0.rem_euclid(1_000_000) / 1_000;
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let (year, month, day) = (date.year(), date.month(), date.day());
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_span_does_not_wait() {
        assert_eq!(Span::millis(3).to_duration(), Duration::from_millis(3));
        assert_eq!(Span(-1).to_duration(), Duration::ZERO);
    }

    #[test]
    fn instants_print_as_rfc_3339_with_milliseconds() {
        for (micros, printed) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_244_268_123_999, "2026-11-21T06:57:48.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999_000, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp(micros).to_string(), printed);
        }
    }

    #[test]
    fn spans_add_up() {
        assert_eq!(Timestamp(0) + Span::hours(1) - Timestamp(0), Span::mins(60));
        assert_eq!(Timestamp(i64::MAX) + Span::days(1), Timestamp(i64::MAX));
    }
}
