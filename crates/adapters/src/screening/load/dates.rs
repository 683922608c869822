//! Dates as the lists write them: "12 Jan 1970", "Jan 1970", "circa 1970", "1970 to 1972",
//! "1970-01-12". An unreadable date is `None`: a birth date is a tie-breaker, and an unknown one
//! must not hide an entry.

use jiff::civil::{Date, date};

use crate::screening::entry::BirthSpan;

/// "circa" widens a date by this many years on each side.
const CIRCA_YEARS: i16 = 1;

/// Parses a range of possible birth dates.
pub(super) fn birth(text: &str) -> Option<BirthSpan> {
    let text = text.trim().trim_end_matches('.');
    let (circa, text) = match text.strip_prefix("circa ").or_else(|| text.strip_prefix("c. ")) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let between = text.strip_prefix("between ").or_else(|| text.strip_prefix("Between "));
    let of_years = || text.split_once('-').filter(|(_, to)| year_of(to.trim()).is_some());
    let halves = between
        .and_then(|rest| rest.split_once(" and "))
        .or_else(|| text.split_once(" to "))
        .or_else(of_years);
    let span = match halves {
        Some((from, to)) => {
            BirthSpan { from: single(from)?.from, to: single(to.trim_start_matches("circa "))?.to }
        }
        None => single(text)?,
    };
    if !circa {
        return Some(span);
    }
    let (from, to) = (span.from.year() - CIRCA_YEARS, span.to.year() + CIRCA_YEARS);
    Some(BirthSpan { from: first_of(from, 1)?, to: Date::new(to, 12, 31).ok()? })
}

/// A date with its day first, "01/02/1970"; day and month may be zero or letters if unknown
/// ("00/00/1970", "dd/mm/1970").
pub(super) fn day_first(text: &str) -> Option<BirthSpan> {
    let parts: Vec<&str> = text.trim().split(['/', '.']).map(str::trim).collect();
    let [day, month, year] = parts[..] else { return birth(text) };
    let year = year_of(year.split_whitespace().next().unwrap_or(year))?;
    let number = |text: &str| text.parse::<i8>().ok().filter(|number| *number > 0);
    match (number(day), number(month)) {
        (Some(day), Some(month)) => exact(Date::new(year, month, day).ok()?),
        (None, Some(month)) => month_span(year, month),
        _ => Some(BirthSpan { from: first_of(year, 1)?, to: Date::new(year, 12, 31).ok()? }),
    }
}

/// A range of whole years.
pub(super) fn years(from: &str, to: &str) -> Option<BirthSpan> {
    Some(BirthSpan { from: single(from)?.from, to: single(to)?.to })
}

/// One day: "2026-11-20", optionally followed by a time, "11/20/2026" (OFAC) or "20 Nov 2026".
pub(super) fn day(text: &str) -> Option<Date> {
    let text = text.trim();
    let numbers: Vec<&str> = text.split('/').collect();
    if let [month, day, year] = numbers[..] {
        return Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok();
    }
    single(text).filter(BirthSpan::is_exact).map(|span| span.from)
}

fn single(text: &str) -> Option<BirthSpan> {
    let text = text.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [day, month, year] => {
            exact(Date::new(year_of(year)?, month_of(month)?, day.parse().ok()?).ok()?)
        }
        [month, year] => month_span(year_of(year)?, month_of(month)?),
        [one] => iso(one),
        _ => None,
    }
}

fn iso(text: &str) -> Option<BirthSpan> {
    // xs:date may carry a zone ("1970-01-12Z", "1970-01-12-05:00"), xs:dateTime a time.
    let text = text.split(['T', 'Z', '+']).next().unwrap_or(text);
    let parts: Vec<&str> = text.splitn(4, '-').collect();
    match parts[..] {
        [year] => {
            let year = year_of(year)?;
            Some(BirthSpan { from: first_of(year, 1)?, to: Date::new(year, 12, 31).ok()? })
        }
        [year, month] => month_span(year_of(year)?, month.parse().ok()?),
        [year, month, day, ..] => {
            exact(Date::new(year_of(year)?, month.parse().ok()?, day.parse().ok()?).ok()?)
        }
        [] => None,
    }
}

fn exact(day: Date) -> Option<BirthSpan> {
    Some(BirthSpan { from: day, to: day })
}

fn month_span(year: i16, month: i8) -> Option<BirthSpan> {
    let from = first_of(year, month)?;
    Some(BirthSpan { from, to: from.last_of_month() })
}

fn first_of(year: i16, month: i8) -> Option<Date> {
    Date::new(year, month, 1).ok()
}

fn year_of(text: &str) -> Option<i16> {
    let year: i16 = text.parse().ok()?;
    (date(1800, 1, 1).year()..=date(2200, 1, 1).year()).contains(&year).then_some(year)
}

fn month_of(text: &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short = text.get(..3)?.to_ascii_lowercase();
    (1..).zip(MONTHS).find(|(_, name)| *name == short).map(|(month, _)| month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_way_of_writing_a_date_is_read() {
        for (text, expected) in [
            ("12 Jan 1970", Some("1970-01-12 1970-01-12")),
            ("Feb 1972", Some("1972-02-01 1972-02-29")),
            ("1970", Some("1970-01-01 1970-12-31")),
            ("circa 1970", Some("1969-01-01 1971-12-31")),
            ("1970 to 1972", Some("1970-01-01 1972-12-31")),
            ("01 Mar 1970 to 05 Apr 1971", Some("1970-03-01 1971-04-05")),
            ("Between 1970 and 1972", Some("1970-01-01 1972-12-31")),
            ("1970-1972", Some("1970-01-01 1972-12-31")),
            ("1970 - 1972", Some("1970-01-01 1972-12-31")),
            ("1970-01-12", Some("1970-01-12 1970-01-12")),
            ("1970-01-12Z", Some("1970-01-12 1970-01-12")),
            ("1970-01-12-05:00", Some("1970-01-12 1970-01-12")),
            ("31 Feb 1970", None),
            ("unknown", None),
            ("", None),
        ] {
            let read = birth(text).map(|span| format!("{} {}", span.from, span.to));
            assert_eq!(read.as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("07/10/1952", Some("1952-10-07 1952-10-07")),
            ("00/10/1952", Some("1952-10-01 1952-10-31")),
            ("dd/mm/1952", Some("1952-01-01 1952-12-31")),
            ("1952", Some("1952-01-01 1952-12-31")),
            ("31/02/1952", None),
        ] {
            let read = day_first(text).map(|span| format!("{} {}", span.from, span.to));
            assert_eq!(read.as_deref(), expected, "{text}");
        }
        assert_eq!(day("11/20/2026"), Some(date(2026, 11, 20)));
        assert_eq!(day("2026-11-20T08:30:00Z"), Some(date(2026, 11, 20)));
    }
}
