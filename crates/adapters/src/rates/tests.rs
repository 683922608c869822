//! Inverse, cross, exactness, sheets, hold-back, failing sources, the sandbox's walk.

use super::sheet::{SheetError, from_csv, from_json, from_toml};
use super::*;
use crate::fetch::tests::{client, serve_once};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ports::{Mid, RateBook as _};
use domain::time::{Span, Timestamp};

const NOW: Timestamp = Timestamp(1_795_244_268_000_000);

fn dec(text: &str) -> Decimal {
    text.parse().expect(text)
}

fn code(text: &str) -> Currency {
    Currency::parse(text).expect(text)
}

fn table(pairs: &[(&str, &str, &str, i64)]) -> RateTable {
    let mut table = RateTable::default();
    for (base, quote, rate, as_of) in pairs {
        table.set(code(base), code(quote), Mid { rate: dec(rate), as_of: Timestamp(*as_of) });
    }
    table
}

#[test]
fn rates_are_stated_inverted_or_crossed_over_usd_with_one_rounding() {
    let table = table(&[
        ("USD", "PKR", "278.75", 10),
        ("USD", "AED", "3.6725", 20),
        ("AED", "PKR", "75.90", 30),
        ("EUR", "USD", "1.1595", 5),
        ("USD", "VND", "26350", 40),
        ("USDC", "USD", "0.9998", 50),
    ]);
    for (base, quote, expected, as_of) in [
        ("AED", "PKR", "75.90", 30),
        ("PKR", "AED", "0.013175230567", 30),
        ("USD", "PKR", "278.75", 10),
        ("EUR", "PKR", "323.210625", 5),
        ("PKR", "EUR", "0.003093957694", 5),
        ("AED", "VND", "7174.948944860449", 20),
        ("VND", "USD", "0.000037950664", 40),
        ("USDC", "PKR", "278.69425", 10),
        ("PKR", "PKR", "1", 50),
    ] {
        let mid = table.mid(code(base), code(quote)).unwrap_or_else(|| panic!("{base}/{quote}"));
        assert_eq!(mid.rate, dec(expected), "{base}/{quote}");
        assert_eq!(mid.as_of, Timestamp(as_of), "{base}/{quote}");
    }
    assert_eq!(table.mid(Currency::Inr, Currency::Pkr), None, "no path between them");
    for quote in [Currency::Usd, Currency::Pkr, Currency::Usdc] {
        assert_eq!(table.mid(Currency::Usdt, quote), None, "a stablecoin is not 1 USD unseen");
    }
}

#[test]
fn ties_round_to_even_and_a_zero_result_is_not_a_rate() {
    for (stated, inverse) in [
        // 0.0000000000005, 0.0000000000125, 0.0000000000625: halfway between two digits of the
        // twelfth decimal.
        ("2000000000000", None),
        ("80000000000", Some("0.000000000012")),
        ("16000000000", Some("0.000000000062")),
    ] {
        let table = table(&[("USD", "AED", stated, 1)]);
        assert_eq!(
            table.mid(Currency::Aed, Currency::Usd).map(|mid| mid.rate),
            inverse.map(dec),
            "{stated}"
        );
    }
}

#[test]
fn a_product_beyond_128_bits_is_no_rate_and_not_a_wrong_one() {
    let large = "12345678901234567890";
    let table = table(&[("EUR", "USD", large, 1), ("USD", "PKR", large, 1)]);
    assert_eq!(table.mid(Currency::Eur, Currency::Pkr), None);
    assert_eq!(table.mid(Currency::Eur, Currency::Usd).map(|mid| mid.rate), Some(dec(large)));
}

#[test]
fn numbers_beyond_binary_floats_are_kept_digit_for_digit() {
    let json = r#"{"base":"USD","as_of":"2026-11-21T06:57:48Z",
        "rates":{"PKR":9007199254740993.5,"AED":"3.672500000001","XAU":1e-400,"USD":1,"VND":2.635e4}}"#;
    let rates = from_json(json, &JsonShape::default()).expect("sheet");
    let of =
        |quote| rates.iter().find(|rate| rate.quote == quote).expect("stated").mid.rate.to_string();
    assert_eq!(of(Currency::Pkr), "9007199254740993.5");
    assert_eq!(of(Currency::Aed), "3.672500000001");
    assert_eq!(of(Currency::Vnd), "26350");
    assert_eq!(rates.len(), 3, "unknown currencies and the base itself are skipped");
    let mut table = RateTable::default();
    rates.iter().for_each(|rate| table.set(rate.base, rate.quote, rate.mid));
    assert_eq!(
        table.mid(Currency::Usd, Currency::Pkr).expect("stated").rate.to_string(),
        "9007199254740993.5"
    );
}

#[test]
fn the_shape_of_a_json_source_is_configurable() {
    let shape = JsonShape {
        fixed_base: Some("USD".to_owned()),
        as_of: "/meta/updated".to_owned(),
        rates: "/data/usd~1rates".to_owned(),
        ..JsonShape::default()
    };
    let json = r#"{"meta":{"updated":1795244268},"data":{"usd/rates":{"PKR":278.75}}}"#;
    let rates = from_json(json, &shape).expect("sheet");
    assert_eq!(rates[0].mid, Mid { rate: dec("278.75"), as_of: NOW });
}

#[test]
fn broken_sheets_are_refused_with_the_reason() {
    let json = |text: &str| from_json(text, &JsonShape::default()).expect_err(text).to_string();
    for (text, expected) in [
        (r#"{"base":"USD","rates":{}}"#, "/as_of is missing"),
        (
            r#"{"base":"USD","as_of":"soon","rates":{}}"#,
            "as_of: \"soon\" is neither RFC 3339, a date, nor seconds since 1970",
        ),
        (
            r#"{"base":"XXX","as_of":1,"rates":{}}"#,
            "base: \"XXX\" is not a currency of this service",
        ),
        (
            r#"{"base":"USD","as_of":1,"rates":{"PKR":0}}"#,
            "USD/PKR: a rate must be greater than zero",
        ),
        (
            r#"{"base":"USD","as_of":1,"rates":{"PKR":"-1"}}"#,
            "USD/PKR: a rate must be greater than zero",
        ),
        (
            r#"{"base":"USD","as_of":1,"rates":{"PKR":"1,5"}}"#,
            "USD/PKR: 1,5 is not a decimal number",
        ),
        (
            r#"{"base":"USD","as_of":1,"rates":{"PKR":null}}"#,
            "null is neither a number nor a string",
        ),
        (r#"{"base":"USD","as_of":1,"rates":{"PKR":1,"PKR":2}}"#, "PKR is named twice"),
    ] {
        assert_eq!(json(text), expected);
    }
    assert!(json("[1]").starts_with("/as_of: invalid type"), "{}", json("[1]"));
    assert!(
        from_json(
            r#"{"base":"USD","as_of":1,"rates":{"PKR":0.0000000000001}}"#,
            &JsonShape::default()
        )
        .is_err()
    );
    assert!(
        from_toml("as_of = \"2026-11-20\"\n[rates.USD]\nPKR = 278.75\n").is_err(),
        "a TOML float is binary"
    );
    assert!(from_toml("as_of = \"2026-11-20\"\n[rates.USD]\nPKK = \"278.75\"\n").is_err());
    let twice = from_csv("base,quote,rate,as_of\nUSD,PKR,1,2026-11-20\nUSD,PKR,2,2026-11-20\n");
    assert_eq!(twice, Err(SheetError::Twice { pair: "USD/PKR".to_owned() }));
    assert!(from_csv("base,quote\nUSD,PKR\n").is_err());
}

#[test]
fn toml_and_csv_give_the_same_rates() {
    let toml = from_toml("as_of = \"2026-11-20T00:00:00Z\"\n[rates.USD]\nPKR = \"278.75\"\n")
        .expect("toml");
    let csv = from_csv("base,quote,rate,as_of\n# a comment\nUSD, PKR, 278.75, 2026-11-20\n")
        .expect("csv");
    assert_eq!(toml, csv);
}

fn write(path: &std::path::Path, rate: &str, as_of: Timestamp) {
    std::fs::write(path, format!("base,quote,rate,as_of\nUSD,PKR,{rate},{as_of}\n"))
        .expect("write");
}

#[tokio::test]
async fn a_rate_that_jumps_is_held_back_until_a_person_accepts_it() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("rates.csv");
    let (client, later) = (client(), NOW + Span::secs(60));
    let rates = LiveRates::new(
        vec![RateSource::File(path.clone())],
        DEFAULT_MAX_MOVE_BPS,
        DEFAULT_MAX_DEPEG_BPS,
    );
    let current = || rates.mid(Currency::Usd, Currency::Pkr).expect("rate");

    write(&path, "200", NOW);
    assert_eq!(rates.refresh(&client, NOW).await.updated, 1);
    write(&path, "220", later);
    assert_eq!(rates.refresh(&client, later).await.updated, 1, "ten per cent is allowed");
    write(&path, "242.01", later + Span(1000));
    let refreshed = rates.refresh(&client, later + Span(1000)).await;
    assert_eq!((refreshed.updated, refreshed.held_back.len()), (0, 1));
    assert_eq!(current(), Mid { rate: dec("220"), as_of: later }, "the old one stays and ages");
    assert_eq!(rates.held_back(), refreshed.held_back);

    assert_eq!(rates.accept(Currency::Usd, Currency::Inr), None);
    assert_eq!(rates.accept(Currency::Usd, Currency::Pkr).expect("held").rate, dec("242.01"));
    assert_eq!(current().rate, dec("242.01"));
    assert!(rates.held_back().is_empty());

    write(&path, "10", later + Span(2000));
    assert_eq!(rates.refresh(&client, later + Span(2000)).await.held_back.len(), 1);
    write(&path, "241", later + Span(3000));
    assert_eq!(rates.refresh(&client, later + Span(3000)).await.updated, 1);
    assert!(rates.held_back().is_empty(), "a later plausible rate takes the place of the held one");
}

#[tokio::test]
async fn a_stablecoin_has_a_rate_only_while_its_price_is_near_one_dollar() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("rates.csv");
    let source = vec![RateSource::File(path.clone())];
    let rates = LiveRates::new(source, DEFAULT_MAX_MOVE_BPS, DEFAULT_MAX_DEPEG_BPS);
    let old = NOW - Span::secs(60);
    let mut at = NOW;
    let mut refreshed = async |price: Option<&str>| {
        at = at + Span::secs(1);
        let peg = price.map_or(String::new(), |price| format!("USDT,USD,{price},{at}\n"));
        let text =
            format!("base,quote,rate,as_of\nUSDT,PKR,278.75,{NOW}\nUSD,PKR,278.75,{NOW}\n{peg}");
        std::fs::write(&path, text).expect("written");
        rates.refresh(&client(), at).await;
        let mids = [
            rates.mid(Currency::Usdt, Currency::Pkr),
            rates.mid(Currency::Pkr, Currency::Usdt),
            rates.mid(Currency::Usdt, Currency::Usd),
        ];
        (mids.map(|mid| mid.is_some()), rates.off_peg(StableCoin::Usdt))
    };
    assert_eq!(refreshed(None).await, ([false; 3], None), "without a price there is no rate");
    // 0.9 is further than max_move_bps allows other rates to move.
    for (price, in_range) in [
        ("1", true),
        ("0.995", true),
        ("0.9949", false),
        ("1.005", true),
        ("1.0051", false),
        ("0.8", false),
        ("1.0001", true),
    ] {
        let off = (!in_range).then(|| dec(price));
        assert_eq!(refreshed(Some(price)).await, ([in_range; 3], off), "{price}");
    }
    assert!(rates.mid(Currency::Usd, Currency::Pkr).is_some(), "other rates are not affected");
    assert!(rates.held_back().is_empty());

    let stale = LiveRates::new(vec![RateSource::File(path.clone())], 1_000, 50);
    let text = format!("base,quote,rate,as_of\nUSDT,PKR,278.75,{NOW}\nUSDT,USD,1,{old}\n");
    std::fs::write(&path, text).expect("written");
    stale.refresh(&client(), NOW).await;
    let mid = stale.mid(Currency::Usdt, Currency::Pkr).expect("a rate");
    assert_eq!(mid.as_of, old, "a rate is no newer than the price that vouches for it");
}

#[tokio::test]
async fn a_failing_source_keeps_its_rates_and_another_fills_the_gap() {
    let dir = tempfile::tempdir().expect("dir");
    let (first, second) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
    let sources = vec![RateSource::File(first.clone()), RateSource::File(second.clone())];
    let rates = LiveRates::new(sources, DEFAULT_MAX_MOVE_BPS, DEFAULT_MAX_DEPEG_BPS);
    let current = || rates.mid(Currency::Usd, Currency::Pkr).expect("rate");
    write(&first, "278.75", NOW);
    write(&second, "279", NOW);
    rates.refresh(&client(), NOW).await;
    assert_eq!(current().rate, dec("278.75"), "the first source goes first");

    let later = NOW + Span::secs(60);
    write(&first, "-1", later);
    let refreshed = rates.refresh(&client(), later).await;
    assert_eq!(refreshed.failed.len(), 1);
    assert!(refreshed.failed[0].to_string().ends_with("USD/PKR: a rate must be greater than zero"));
    assert_eq!(current(), Mid { rate: dec("278.75"), as_of: NOW }, "an older sheet does not win");

    write(&second, "279", later);
    rates.refresh(&client(), later).await;
    assert_eq!(current(), Mid { rate: dec("279"), as_of: later });

    write(&first, "278", later + Span::hours(1));
    let ahead = rates.refresh(&client(), later).await;
    assert!(matches!(ahead.failed[..], [RateError::Ahead { .. }]), "{ahead:?}");
}

#[tokio::test]
async fn rates_come_over_http() {
    let body =
        br#"{"base":"USD","as_of":"2026-11-21T06:57:48Z","rates":{"PKR":"278.75","AED":3.6725}}"#;
    let url = serve_once("content-type: application/json", body.to_vec()).await;
    let rates = LiveRates::new(
        vec![RateSource::Http { url, shape: JsonShape::default() }],
        DEFAULT_MAX_MOVE_BPS,
        DEFAULT_MAX_DEPEG_BPS,
    );
    let refreshed = rates.refresh(&client(), NOW).await;
    assert_eq!((refreshed.updated, refreshed.failed.len()), (2, 0), "{refreshed:?}");
    let stated: Vec<_> =
        rates.snapshot().into_iter().map(|rate| (rate.quote, rate.mid.rate.to_string())).collect();
    assert_eq!(
        stated,
        [(Currency::Aed, "3.6725".to_owned()), (Currency::Pkr, "278.75".to_owned())]
    );
    let gone = rates.refresh(&client(), NOW).await;
    assert_eq!(gone.failed.len(), 1, "the server is gone");
    assert_eq!(rates.snapshot().len(), 2);
}

#[test]
fn the_sandbox_starts_at_the_worked_example() {
    let rates = SandboxRates::new(1, false, NOW);
    let mid = |base, quote| rates.mid(base, quote).expect("rate");
    assert_eq!(mid(Currency::Aed, Currency::Pkr), Mid { rate: dec("75.90"), as_of: NOW });
    for coin in StableCoin::ALL {
        assert_eq!(mid(coin.currency(), Currency::Pkr).rate, dec("278.75"));
        assert_eq!(mid(coin.currency(), Currency::Usd).rate, Decimal::ONE);
    }
}

#[test]
fn every_corridor_of_the_sandbox_has_a_rate() {
    let rates = SandboxRates::new(1, false, NOW);
    let coins = StableCoin::ALL.map(StableCoin::currency);
    for base in Currency::SOURCES.into_iter().chain(coins) {
        for country in Country::ALL {
            let mid = rates
                .mid(base, country.currency())
                .unwrap_or_else(|| panic!("{base:?} {country:?}"));
            assert!(
                mid.rate > dec("0.5") && mid.rate < dec("100000"),
                "{base:?} {country:?} {}",
                mid.rate
            );
        }
    }
    assert_eq!(rates.snapshot().len(), 20);
}

#[test]
fn the_walk_is_small_and_the_same_for_the_same_seed() {
    let (a, b, other) = (
        SandboxRates::new(7, false, NOW),
        SandboxRates::new(7, false, NOW),
        SandboxRates::new(8, false, NOW),
    );
    let start = a.snapshot();
    for step in 1..=2_000 {
        let now = NOW + Span(step * STEP.0);
        a.tick(now);
        for (rate, from) in a.snapshot().iter().zip(&start) {
            let (low, high) = (dec("0.998"), dec("1.002"));
            let bound = |factor: Decimal| from.mid.rate.checked_mul(factor).expect("fits");
            assert!(rate.mid.rate >= bound(low) && rate.mid.rate <= bound(high), "{rate:?}");
            assert_eq!(rate.mid.as_of, now);
        }
    }
    let end = NOW + Span(2_000 * STEP.0);
    for until in [1_000, 2_000] {
        b.tick(NOW + Span(until * STEP.0));
        other.tick(NOW + Span(until * STEP.0));
    }
    assert_eq!(a.snapshot(), b.snapshot(), "the same steps however often it is called");
    assert_ne!(a.snapshot(), other.snapshot());
    assert_ne!(a.mid(Currency::Usd, Currency::Pkr), Some(Mid { rate: dec("278.75"), as_of: end }));
}

#[test]
fn frozen_rates_stay_and_never_age() {
    let rates = SandboxRates::new(7, true, NOW);
    let later = NOW + Span::days(30);
    rates.tick(later);
    assert_eq!(
        rates.mid(Currency::Aed, Currency::Pkr),
        Some(Mid { rate: dec("75.90"), as_of: later })
    );
    assert!(rates.snapshot().iter().all(|rate| rate.mid.as_of == later));
}
