//! `[rates]`: its sources as the adapters need them, and the rules for their keys.

use std::path::PathBuf;

use adapters::outbound::Settings;
use adapters::rates::{JsonShape, Published, RateLimits, RateLocation, RateSource};
use domain::calendar::{TradingWeek, WEEK_MINUTES};
use domain::time::Span;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use super::outbound::{bearer, usual};
use super::outside::grouped;
use super::read;
use super::sections::{Config, RateEntry, Rates};
use super::validate::{Faults, is_address, location};

/// Timeouts of a connection to a source, and of its whole document.
const CONNECT_MS: u64 = 5_000;
const DOCUMENT_MS: u64 = 10_000;
/// Maximum age that a source may have as its limit: four weeks.
const MAX_AGE_S: u32 = 2_419_200;
const KEY: &str = "rates.sources";

impl Config {
    /// The sources of live rates, in order of preference.
    pub fn rate_sources(&self) -> Vec<RateSource> {
        let usual = self.rates.refresh_s;
        self.rates.sources.iter().map(|entry| entry.source(usual)).collect()
    }

    pub fn rate_limits(&self) -> RateLimits {
        let rates = &self.rates;
        let ages = self.corridors.values().map(|corridor| corridor.max_rate_age_s);
        RateLimits {
            max_move_bps: rates.max_move_bps,
            max_depeg_bps: rates.max_depeg_bps,
            max_difference_bps: rates.max_difference_bps,
            max_age: Span::secs(ages.max().unwrap_or_default().into()),
        }
    }

    /// How the servers of the rates are reached: addresses with common settings.
    pub fn rate_servers(&self) -> Vec<(Vec<String>, Settings)> {
        let rates = &self.rates;
        let usual = usual(CONNECT_MS, DOCUMENT_MS);
        let settings = |table: &str| match table {
            "" => {
                let authentication = bearer(&rates.token);
                self.destination(&rates.outbound, Settings { authentication, ..usual.clone() })
            }
            own => self.destination(own, usual.clone()),
        };
        let source = |source: &RateEntry| (source.outbound.clone(), source.location.clone());
        grouped(rates.sources.iter().map(source), settings)
    }
}

impl RateEntry {
    fn source(&self, usual_refresh_s: u32) -> RateSource {
        let location = match is_address(&self.location) {
            true => RateLocation::Http(self.location.clone()),
            false => RateLocation::File(PathBuf::from(&self.location)),
        };
        let seconds = |seconds: u32| Span::secs(seconds.into());
        let published = Published {
            zone: self.zone().unwrap_or(TimeZone::UTC),
            at: time(&self.published_at).unwrap_or_default(),
        };
        RateSource {
            name: self.name.clone(),
            form: self.form,
            shape: JsonShape {
                base: self.base.clone(),
                fixed_base: self.fixed_base.clone(),
                fixed_quote: self.fixed_quote.clone(),
                as_of: self.as_of.clone(),
                rates: self.rates.clone(),
            },
            published,
            max_age: self.max_age_s.map(seconds),
            week: self.week(),
            refresh: seconds(self.refresh_s.unwrap_or(usual_refresh_s)),
            ..RateSource::at(location)
        }
    }

    fn zone(&self) -> Option<TimeZone> {
        if self.time_zone.is_empty() {
            Some(TimeZone::UTC)
        } else {
            read::time_zone(&self.time_zone)
        }
    }

    fn week(&self) -> Option<TradingWeek> {
        let [opens, closes] = self.week.as_slice() else { return None };
        let (opens, closes) = (minute_of_week(opens)?, minute_of_week(closes)?);
        let holidays = read::dates(&self.holidays).ok()?;
        let opens = opens % WEEK_MINUTES;
        Some(TradingWeek { zone: self.zone()?, opens, closes, holidays })
    }
}

/// A time of day such as `16:00`.
fn time(text: &str) -> Option<Time> {
    let minute = i8::try_from;
    let of_day = read::minute_of_day(text)?;
    Time::new(minute(of_day / 60).ok()?, minute(of_day % 60).ok()?, 0, 0).ok()
}

/// A time of the week such as `fri 17:00`.
fn minute_of_week(text: &str) -> Option<u16> {
    let (day, time) = text.split_once(' ')?;
    Some(u16::from(read::weekday(day)?) * (WEEK_MINUTES / 7) + read::minute_of_day(time)?)
}

pub(super) fn faults(rates: &Rates, faults: &mut Faults) {
    for (at, source) in rates.sources.iter().enumerate() {
        let name = match source.name.as_str() {
            "" => format!("source {}", at + 1),
            name => name.to_owned(),
        };
        location(KEY, &source.location, faults);
        let (base, quote) =
            (source.base.as_ref().or(source.fixed_base.as_ref()), &source.fixed_quote);
        let members = [base, quote.as_ref(), source.as_of.as_ref(), source.rates.as_ref()];
        let plain = is_address(&source.location) || members.iter().all(|member| member.is_none());
        let mut check = |holds: bool, rule: &str| {
            faults.check(KEY, holds, &format!("{name}: {rule}"));
        };
        check(plain, "base, fixed_base, fixed_quote, as_of and rates require an https address");
        let rule = "fixed_quote excludes base and fixed_base: each rate has a base of its own";
        check(base.is_none() || quote.is_none(), rule);
        let is_name = |name: &str| {
            name.len() <= 64
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        check(is_name(&source.name), "name must be 1 to 64 lower-case letters, digits and hyphens");
        let others = rates.sources.iter().filter(|other| other.name == source.name).count();
        check(source.name.is_empty() || others == 1, "the name is used twice");
        let fits = |given: Option<u32>, most: u32| given.is_none_or(|it| (1..=most).contains(&it));
        check(fits(source.max_age_s, MAX_AGE_S), "max_age_s must be 1 to 2419200");
        check(fits(source.refresh_s, 86_400), "refresh_s must be 1 to 86400");
        let lasts = source.max_age_s.zip(source.refresh_s).is_none_or(|(age, every)| every <= age);
        check(lasts, "refresh_s must not be greater than max_age_s");
        check(source.zone().is_some(), "time_zone must be a name such as \"Europe/Berlin\"");
        let at = source.published_at.as_str();
        check(at.is_empty() || time(at).is_some(), "published_at must be a time such as \"16:00\"");
        let parts = source.week.iter().filter_map(|text| minute_of_week(text)).count();
        check(
            source.week.is_empty() || source.week.len() == 2 && parts == 2,
            "week must be two times such as [\"mon 00:00\", \"fri 24:00\"]",
        );
        check(
            source.week.is_empty() || source.max_age_s.is_some(),
            "week requires max_age_s, the age that its rates may have in trading hours",
        );
        check(
            read::dates(&source.holidays).is_ok(),
            "holidays must be dates such as \"2026-12-25\"",
        );
        check(source.holidays.is_empty() || !source.week.is_empty(), "holidays require a week");
    }
}

#[cfg(test)]
mod tests {
    use adapters::rates::Form;

    use super::*;
    use crate::{ConfigError, Sources};

    fn loaded(sources: &str) -> Result<Config, ConfigError> {
        let overrides = [("rates.source", "live"), ("rates.sources", sources)];
        let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        Config::load(&Sources { overrides, ..Sources::default() })
    }

    #[test]
    fn a_source_has_a_form_a_clock_and_limits_of_its_own() {
        let config = loaded(
            "[{ name = \"ecb\", location = \"https://r.example/daily.xml\", form = \"ecb\", max_age_s = 93600, \
             refresh_s = 600, time_zone = \"Europe/Berlin\", published_at = \"16:00\", \
             week = [\"sun 17:00\", \"fri 24:00\"], holidays = [\"2026-12-25\"] }, { location = \"r.toml\" }]",
        );
        let sources = config.expect("valid").rate_sources();
        let berlin = read::time_zone("Europe/Berlin").expect("a zone");
        let ecb = RateSource {
            name: "ecb".to_owned(),
            form: Some(Form::Ecb),
            published: Published { zone: berlin.clone(), at: Time::constant(16, 0, 0, 0) },
            max_age: Some(Span::secs(93_600)),
            week: Some(TradingWeek {
                zone: berlin,
                opens: 6 * 1_440 + 17 * 60,
                closes: 5 * 1_440,
                holidays: [jiff::civil::date(2026, 12, 25)].into(),
            }),
            refresh: Span::secs(600),
            ..RateSource::at(RateLocation::Http("https://r.example/daily.xml".to_owned()))
        };
        let file = RateSource {
            refresh: Span::secs(5),
            ..RateSource::at(RateLocation::File("r.toml".into()))
        };
        assert_eq!(sources, [ecb, file]);
    }

    #[test]
    fn wrong_sources_are_refused_by_key_and_rule() {
        for (keys, rule) in [
            ("name = \"E C B\"", "E C B: name must be"),
            ("name = \"a\" }, { location = \"b.csv\", name = \"a\"", "a: the name is used twice"),
            ("max_age_s = 0", "max_age_s must be 1 to 2419200"),
            ("refresh_s = 100000", "refresh_s must be 1 to 86400"),
            ("refresh_s = 600, max_age_s = 300", "refresh_s must not be greater"),
            ("time_zone = \"Mars\"", "time_zone must be a name"),
            ("published_at = \"4 pm\"", "published_at must be a time"),
            ("week = [\"mon\", \"fri\"], max_age_s = 1", "week must be two times"),
            ("week = [\"mon 00:00\", \"fri 24:00\"]", "week requires max_age_s"),
            ("holidays = [\"2026-12-25\"]", "holidays require a week"),
            ("base = \"/b\"", "require an https address"),
            ("fixed_quote = \"NPR\"", "require an https address"),
            ("fixed_quote = \"NPR\", fixed_base = \"USD\"", "fixed_quote excludes base"),
            (
                "name = \"a\" }, { location = \"http://localhost.evil/r?key=1\"",
                "\"http://localhost.evil/r?key=***\" must be https",
            ),
            ("form = \"html\"", "rates.sources"),
        ] {
            let refused = loaded(&format!("[{{ location = \"r.csv\", {keys} }}]"));
            let text = refused.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(rule), "{keys}: {text}");
        }
    }
}
