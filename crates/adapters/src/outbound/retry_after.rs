//! `Retry-After` (RFC 9110 §10.2.3): seconds, or a date. Its effect is decided elsewhere.

use domain::time::{Span, Timestamp};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::Offset;

/// The longest wait that is passed on, whatever the endpoint asks for.
const WAIT_MAX: Span = Span::days(7);
/// The obsolete forms of a date (RFC 9110 §5.6.7): that of RFC 850, and that of `asctime`.
const OBSOLETE_DATES: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The time to wait from `now`; `None` for an invalid value.
pub(crate) fn read(value: &str, now: Timestamp) -> Option<Span> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number with too many digits is a very long wait.
        Span(value.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(1_000_000))
    } else {
        Timestamp(date(value)?.as_microsecond()) - now
    };
    Some(wait.clamp(Span(0), WAIT_MAX))
}

fn date(value: &str) -> Option<jiff::Timestamp> {
    let obsolete = |form: &&str| {
        let date = strtime::parse(form, value).ok()?.to_datetime().ok()?;
        Offset::UTC.to_timestamp(date).ok()
    };
    let current = rfc2822::DateTimeParser::new().parse_timestamp(value).ok();
    current.or_else(|| OBSOLETE_DATES.iter().find_map(obsolete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_understood_and_bounded() {
        // 2026-11-21T06:57:48Z
        let now = Timestamp(1_795_244_268_000_000);
        for (value, wait) in [
            ("0", Some(Span(0))),
            (" 120 ", Some(Span::secs(120))),
            ("604801", Some(WAIT_MAX)),
            ("99999999999999999999999", Some(WAIT_MAX)),
            ("Sat, 21 Nov 2026 06:58:48 GMT", Some(Span::secs(60))),
            ("Sat, 21 Nov 2026 06:56:48 GMT", Some(Span(0))),
            ("Fri, 21 Nov 2036 06:56:48 GMT", Some(WAIT_MAX)),
            ("Saturday, 21-Nov-26 06:58:48 GMT", Some(Span::secs(60))),
            ("Saturday, 21-Nov-26 06:56:48 GMT", Some(Span(0))),
            ("Sat Nov 21 06:58:48 2026", Some(Span::secs(60))),
            ("Wed Dec  2 06:56:48 2026", Some(WAIT_MAX)),
            ("Sun Nov  1 06:56:48 2026", Some(Span(0))),
            ("Saturday, 21-Nov-26 06:58:48", None),
            ("Monday, 21-Nov-26 06:58:48 GMT", None),
            ("Sat Nov 21 06:58:48", None),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(read(value, now), wait, "{value}");
        }
    }
}
