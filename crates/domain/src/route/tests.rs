//! Routing by one fact at a time, on otherwise identical rails.

use jiff::civil::date;

use super::*;
use crate::sender_limit::{SenderLimits, SenderUsage};
use crate::test_values::{at, corridors, monday, order, pkr, rail};

fn wanted(minor: i64) -> Wanted<'static> {
    Wanted {
        country: Country::Pak,
        amount: pkr(minor),
        bank: None,
        order: None,
        default_local_code: false,
        payee: None,
        spent: None,
    }
}

/// Monday to Friday, 04:00 to 12:00 UTC.
fn office_hours() -> Hours {
    Hours { open_minute: 240, close_minute: 720, days: [0, 1, 2, 3, 4].into(), holidays: [].into() }
}

fn ids(rails: &[&RailConfig]) -> Vec<String> {
    rails.iter().map(|rail| rail.id.to_string()).collect()
}

#[test]
fn limits_include_their_ends() {
    let mut bounded = rail("pak-raast");
    (bounded.min, bounded.max) = (pkr(100), pkr(20_000_000));
    for (minor, fits) in [(99, false), (100, true), (20_000_000, true), (20_000_001, false)] {
        let expected = (!fits).then_some(Unfit::Amount);
        assert_eq!(bounded.unfit(&wanted(minor)), expected, "{minor}");
    }
}

#[test]
fn a_disabled_rail_is_unsuitable() {
    let off = RailConfig { enabled: false, ..rail("pak-raast") };
    assert_eq!(off.unfit(&wanted(100)), Some(Unfit::Disabled));
}

#[test]
fn a_rail_reaches_the_banks_that_it_lists() {
    let listed =
        RailConfig { banks: ["SCBL", "HABB"].map(str::to_owned).into(), ..rail("pak-raast") };
    for (bank, expected) in [(Some("SCBL"), None), (Some("MEZN"), Some(Unfit::Bank)), (None, None)]
    {
        assert_eq!(listed.unfit(&Wanted { bank, ..wanted(100) }), expected, "{bank:?}");
        assert_eq!(rail("any").unfit(&Wanted { bank, ..wanted(100) }), None, "{bank:?}");
    }
}

#[test]
fn a_rail_requires_its_data() {
    let lacking = |need| {
        let mut order = order();
        match need {
            Need::LocalCode => order.branch_local_code = None,
            Need::SenderBirthdate => order.sender_birthdate = None,
            Need::SenderDocExpiry => order.sender_identity_doc_exp = None,
        }
        order
    };
    let mut whole = order();
    whole.branch_local_code = Some("SCBL".to_owned());
    for need in [Need::LocalCode, Need::SenderBirthdate, Need::SenderDocExpiry] {
        let rails = vec![RailConfig { needs: [need].into(), ..rail("pak-raast") }];
        let config = corridors(rails);
        let lacking = lacking(need);
        let ask = |order, default| Wanted { order, default_local_code: default, ..wanted(100) };
        assert_eq!(config.rails[0].unfit(&ask(None, false)), None, "a quote has no order yet");
        assert_eq!(config.rails[0].unfit(&ask(Some(&whole), false)), None);
        assert_eq!(config.rails[0].unfit(&ask(Some(&lacking), false)), Some(Unfit::Needs(need)));
        assert_eq!(super::lacking(&config, &ask(Some(&lacking), false)), Some(Unfit::Needs(need)));
        let default_helps = config.rails[0].unfit(&ask(Some(&lacking), true)).is_none();
        assert_eq!(default_helps, need == Need::LocalCode);
    }
}

#[test]
fn required_data_is_missing_only_if_every_rail_requires_it() {
    let needy = RailConfig { needs: [Need::SenderBirthdate].into(), ..rail("needy") };
    let small = RailConfig { max: pkr(99), ..rail("small") };
    let mut order = order();
    order.sender_birthdate = None;
    let wanted = Wanted { order: Some(&order), ..wanted(100) };
    for (rails, missing) in [
        (vec![], None),
        (vec![needy.clone()], Some(Need::SenderBirthdate)),
        (vec![small.clone(), needy.clone()], Some(Need::SenderBirthdate)),
        (vec![needy.clone(), rail("easy")], None),
        (vec![small], None),
    ] {
        let config = corridors(rails);
        assert_eq!(
            lacking(&config, &wanted),
            missing.map(Unfit::Needs),
            "{:?}",
            ids(&config.rails.iter().collect::<Vec<_>>())
        );
    }
}

/// `corridors.md`: text is transliterated to a rail's set. A name that becomes empty is not a name.
#[test]
fn a_rail_pays_only_representable_names() {
    let wide = RailConfig { character_set: CharacterSet::Unicode, ..rail("wide") };
    let rare = "\u{3200C}";
    let named = |beneficiary: &str, sender: &str| Order {
        beneficiary_name: beneficiary.to_owned(),
        sender_name: sender.to_owned(),
        ..order()
    };
    for (order, unfit) in [
        (named("আবদুল করিম", "محمد علی"), None),
        (named(rare, "Asha Khan"), Some(Unfit::Name("beneficiary_name"))),
        (named("Asha Khan", rare), Some(Unfit::Name("sender_name"))),
    ] {
        let wanted = Wanted { order: Some(&order), ..wanted(100) };
        assert_eq!((rail("x").unfit(&wanted), wide.unfit(&wanted)), (unfit.clone(), None));
        assert_eq!(lacking(&corridors(vec![rail("x"), rail("y")]), &wanted), unfit);
        assert_eq!(
            lacking(&corridors(vec![rail("x"), wide.clone()]), &wanted),
            None,
            "the other rail can"
        );
    }
    let held =
        |holder| Wanted { payee: Some(Payee { holder, has_local_code: true }), ..wanted(100) };
    assert_eq!(rail("x").unfit(&held(rare)), Some(Unfit::Name("account_holder_name")));
    // An account holder's name is compared with the account's: it is sent unchanged, or over
    // another rail.
    assert_eq!(rail("x").unfit(&held("李小龍")), Some(Unfit::Name("account_holder_name")));
    assert_eq!((wide.unfit(&held("李小龍")), rail("x").unfit(&held("Li Xiaolong"))), (None, None));
}

#[test]
fn hours_include_their_beginning_and_not_their_end() {
    let mut timed = rail("pak-rtgs");
    assert!(timed.is_open(at("2026-11-22T03:00:00Z")), "no hours: always");
    timed.hours = Some(Hours { holidays: [date(2026, 12, 25)].into(), ..office_hours() });
    for (now, open) in [
        ("2026-11-23T03:59:59.999Z", false),
        ("2026-11-23T04:00:00Z", true),
        ("2026-11-23T11:59:59.999Z", true),
        ("2026-11-23T12:00:00Z", false),
        ("2026-11-27T10:00:00Z", true),
        ("2026-11-28T10:00:00Z", false),
        ("2026-11-29T10:00:00Z", false),
        ("2026-12-25T10:00:00Z", false),
        ("2026-12-24T10:00:00Z", true),
    ] {
        assert_eq!(timed.is_open(at(now)), open, "{now}");
    }
    timed.hours = Some(Hours { open_minute: 0, close_minute: 1440, ..office_hours() });
    assert!(timed.is_open(at("2026-11-23T23:59:59.999Z")));
}

/// `corridors.md`: BGD and EGY work Sunday to Thursday, NPL Sunday to Friday, others Monday to Friday.
#[test]
fn weekends_are_the_countrys_own() {
    for (days, friday, saturday, sunday) in [
        (&[6, 0, 1, 2, 3][..], false, false, true),
        (&[6, 0, 1, 2, 3, 4], true, false, true),
        (&[0, 1, 2, 3, 4], true, false, false),
    ] {
        let hours = Some(Hours { days: days.iter().copied().collect(), ..office_hours() });
        let rail = RailConfig { hours, ..rail("any") };
        let open = ["2026-11-27T10:00:00Z", "2026-11-28T10:00:00Z", "2026-11-29T10:00:00Z"]
            .map(|t| rail.is_open(at(t)));
        assert_eq!(open, [friday, saturday, sunday], "{days:?}");
    }
}

#[test]
fn the_cheapest_comes_first_and_then_the_one_configured_first() {
    let costs = |id, cost_minor| RailConfig { cost_minor, ..rail(id) };
    let elsewhere = RailConfig { country: Country::Ind, ..costs("ind", 0) };
    let off = RailConfig { enabled: false, ..costs("off", 0) };
    let config =
        corridors(vec![costs("b", 5), costs("c", 3), elsewhere, costs("a", 5), off, costs("d", 3)]);
    assert_eq!(ids(&candidates(&config, &wanted(100))), ["c", "d", "b", "a"]);
}

const fn later<'a>(is_open: bool) -> Choice<'a> {
    Choice::Later { is_open }
}

/// Money may have left over it before it was disabled: nothing is refused for that.
#[test]
fn a_payment_waits_for_the_disabled_rail_that_would_take_it() {
    let off = |id| RailConfig { enabled: false, ..rail(id) };
    let none = BTreeSet::new();
    let chosen = |rails: Vec<RailConfig>, amount, refused: &BTreeSet<RailId>| {
        let config = corridors(rails);
        match choose(&config, &wanted(amount), refused, &none, monday()) {
            Choice::Take(rail) => Ok(rail.id.to_string()),
            Choice::Later { is_open } => Err(Some(is_open)),
            Choice::Never => Err(None),
        }
    };
    assert_eq!(chosen(vec![off("a")], 100, &none), Err(Some(false)));
    assert_eq!(chosen(vec![off("a"), rail("b")], 100, &none), Ok("b".to_owned()));
    let small = RailConfig { max: pkr(50), ..rail("small") };
    // A rail that the bank never used may be disabled for good: beside others it is not waited for.
    assert_eq!(chosen(vec![off("a"), small], 100, &none), Err(None));
    assert_eq!(chosen(vec![off("a")], 0, &none), Err(None), "it takes nothing when enabled either");
    // A refusal makes room for the next rail only: it may have paid before it was disabled.
    let refused = BTreeSet::from([RailId::new("b")]);
    assert_eq!(chosen(vec![off("a"), off("b")], 100, &refused), Err(Some(false)));
    let small = || RailConfig { max: pkr(50), ..off("small") };
    assert_eq!(chosen(vec![small(), off("b")], 100, &refused), Err(None), "no other takes it");
    assert_eq!(chosen(vec![off("b")], 100, &refused), Err(None), "refused for good");
    assert_eq!(chosen(Vec::new(), 100, &none), Err(None), "no rail is configured");
}

#[test]
fn the_best_open_healthy_rail_that_has_not_refused_is_taken() {
    let closed = RailConfig { cost_minor: 1, hours: Some(office_hours()), ..rail("closed") };
    let config = corridors(vec![closed, rail("first"), rail("second")]);
    let set = |ids: &[&str]| ids.iter().map(|id| RailId::new(id)).collect::<BTreeSet<_>>();
    let night = at("2026-11-23T20:00:00Z");
    let take = |id| Choice::Take(config.rail(&RailId::new(id)).expect(id));
    for (refused, unhealthy, now, choice) in [
        (&[][..], &[][..], monday(), take("closed")),
        (&[], &[], night, take("first")),
        (&["first"], &[], night, take("second")),
        (&[], &["first"], night, take("second")),
        (&["first"], &["second"], night, later(true)),
        // One that refused is no route any more, open or not.
        (&["first", "second"], &[], night, later(false)),
        (&["first", "second"], &[], monday(), take("closed")),
        (&["first", "second", "closed"], &[], monday(), Choice::Never),
        (&["first", "second", "closed"], &["first"], monday(), Choice::Never),
        (&[], &["first", "second", "closed"], monday(), later(true)),
    ] {
        let chosen = choose(&config, &wanted(100), &set(refused), &set(unhealthy), now);
        assert_eq!(chosen, choice, "refused {refused:?}, unhealthy {unhealthy:?} at {now}");
    }
    assert_eq!(
        choose(&config, &wanted(0), &set(&[]), &set(&[]), monday()),
        Choice::Never,
        "no rail takes nothing"
    );
}

#[test]
fn a_countrys_limits_are_those_of_its_enabled_rails() {
    let bounded =
        |id, min, max, enabled| RailConfig { min: pkr(min), max: pkr(max), enabled, ..rail(id) };
    let config = corridors(vec![
        bounded("instant", 100, 500, true),
        bounded("batch", 300, 9_000, true),
        bounded("off", 1, 1_000_000, false),
    ]);
    assert_eq!(limits(&config, Country::Pak), Some((pkr(100), pkr(9_000))));
    assert_eq!(limits(&config, Country::Ind), None);
    assert_eq!(limits(&corridors(vec![bounded("off", 1, 2, false)]), Country::Pak), None);
}

#[test]
fn the_window_of_a_batch_rail_without_business_days_ends() {
    let never = Hours { days: [].into(), ..office_hours() };
    let rail = RailConfig { kind: RailKind::Batch, hours: Some(never), ..rail("never") };
    assert_eq!(window_end(Some(&rail), monday()), monday() + Span::days(MAX_REST_DAYS));
    // A payment over a rail that is no longer configured does not stay in flight for ever.
    assert_eq!(window_end(None, monday()), monday() + Span::days(2));
}

#[test]
fn every_rail_is_listed_with_the_reason_against_it() {
    let cheap = |id: &str, cost| RailConfig { cost_minor: cost, ..rail(id) };
    let rails = vec![
        cheap("dear", 900),
        RailConfig { enabled: false, ..cheap("off", 100) },
        RailConfig { min: pkr(1_000), ..cheap("large", 200) },
        RailConfig { banks: ["HABB".to_owned()].into(), ..cheap("habib", 300) },
        RailConfig { hours: Some(office_hours()), ..cheap("office", 400) },
        cheap("refused", 500),
        cheap("sick", 600),
        cheap("good", 700),
    ];
    let corridors = corridors(rails);
    let (refused, sick) = ([RailId::new("refused")].into(), [RailId::new("sick")].into());
    let wanted = Wanted { bank: Some("SCBL"), ..wanted(100) };
    let night = at("2026-11-23T22:00:00Z");
    let told = explain(&corridors, &wanted, &refused, &sick, night);
    let told: Vec<_> =
        told.into_iter().map(|(rail, against)| (rail.id.to_string(), against)).collect();
    let expected = [
        ("off", Some(Unfit::Disabled)),
        ("large", Some(Unfit::Amount)),
        ("habib", Some(Unfit::Bank)),
        ("office", Some(Unfit::Closed)),
        ("refused", Some(Unfit::Refused)),
        ("sick", Some(Unfit::Unhealthy)),
        ("good", None),
        ("dear", None),
    ];
    assert_eq!(told, expected.map(|(id, against)| (id.to_owned(), against)));
    let Choice::Take(taken) = choose(&corridors, &wanted, &refused, &sick, night) else {
        panic!("there is a rail")
    };
    assert_eq!(taken.id, RailId::new("good"));
}

/// Rails by price; the first two limit senders: 100 a day, and 100 a day with 250 a month.
fn limiting() -> Corridors {
    let limits = |monthly: Option<i64>| {
        let monthly_max = monthly.map(pkr);
        Some(SenderLimits { daily_max: Some(pkr(100)), monthly_max, zone: jiff::tz::TimeZone::UTC })
    };
    let costs =
        |id, cost_minor, sender_limits| RailConfig { cost_minor, sender_limits, ..rail(id) };
    let last = RailConfig { hours: Some(office_hours()), ..costs("last", 3, None) };
    corridors(vec![costs("daily", 1, limits(None)), costs("monthly", 2, limits(Some(250))), last])
}

fn spent(daily: i64, (day, month): (i64, i64)) -> UsageByRail {
    let daily = (RailId::new("daily"), SenderUsage { day: daily, month: daily });
    [daily, (RailId::new("monthly"), SenderUsage { day, month })].into()
}

#[test]
fn a_rail_with_an_exceeded_sender_limit_is_skipped() {
    let config = limiting();
    let (work, night) = (monday(), monday() + Span::hours(14));
    let none = BTreeSet::new();
    for (before, amount, now, expected) in [
        (None, 101, work, Some("daily")),
        (Some(spent(0, (0, 0))), 100, work, Some("daily")),
        (Some(spent(0, (0, 0))), 101, work, Some("last")),
        (Some(spent(100, (0, 0))), 1, work, Some("monthly")),
        (Some(spent(100, (99, 249))), 1, work, Some("monthly")),
        (Some(spent(100, (0, 250))), 1, work, Some("last")),
        (Some(spent(100, (0, 250))), 1, night, None),
        (Some(UsageByRail::new()), 100, work, Some("daily")),
    ] {
        let wanted = Wanted { spent: before.as_ref(), ..wanted(amount) };
        let expected = expected
            .map_or(later(false), |id| Choice::Take(config.rail(&RailId::new(id)).expect(id)));
        assert_eq!(
            choose(&config, &wanted, &none, &none, now),
            expected,
            "{before:?} and {amount}"
        );
        let explained = explain(&config, &wanted, &none, &none, now);
        let first = explained.iter().find(|(_, unfit)| unfit.is_none()).map(|(rail, _)| *rail);
        assert_eq!(first.map_or(later(false), Choice::Take), expected, "{before:?} and {amount}");
    }
}

#[test]
fn the_limit_that_leaves_no_rail_is_named() {
    let mut config = limiting();
    config.rails.pop();
    let none = BTreeSet::new();
    for (before, amount, rail, exceeded) in [
        (spent(100, (100, 100)), 1, "daily", Exceeded::Daily(pkr(100))),
        (spent(0, (0, 0)), 101, "daily", Exceeded::Daily(pkr(100))),
        // The highest limit, whatever the price.
        (spent(100, (0, 250)), 1, "monthly", Exceeded::Monthly(pkr(250))),
    ] {
        let wanted = Wanted { spent: Some(&before), ..wanted(amount) };
        assert_eq!(choose(&config, &wanted, &none, &none, monday()), Choice::Never);
        let told =
            exhausted(&config, &wanted).map(|(rail, exceeded)| (rail.id.to_string(), exceeded));
        assert_eq!(told, Some((rail.to_owned(), exceeded)));
        let why: Vec<_> = explain(&config, &wanted, &none, &none, monday())
            .into_iter()
            .map(|(_, why)| why)
            .collect();
        assert!(why.iter().all(|why| matches!(why, Some(Unfit::SenderLimit(_)))), "{why:?}");
    }
    for (limits, rail) in [([100, 300], "monthly"), ([300, 100], "daily"), ([300, 300], "daily")] {
        for (rail, most) in config.rails.iter_mut().zip(limits) {
            let limits = rail.sender_limits.as_mut().expect("limited");
            limits.daily_max = Some(pkr(most));
        }
        let wanted = Wanted { spent: Some(&UsageByRail::new()), ..wanted(301) };
        let named = exhausted(&config, &wanted).map(|(rail, _)| rail.id.to_string());
        assert_eq!(named.as_deref(), Some(rail), "{limits:?}");
    }
    let mut config = limiting();
    config.rails.pop();
    let room = spent(0, (0, 0));
    assert!(exhausted(&config, &Wanted { spent: Some(&room), ..wanted(100) }).is_none());
    // An amount that no rail accepts is unrelated to its sender.
    assert!(exhausted(&config, &Wanted { spent: Some(&room), ..wanted(0) }).is_none());
}
