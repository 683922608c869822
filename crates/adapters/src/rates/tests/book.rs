//! Preference and fallback, hold-back, weekends, bids, disagreement, failing sources, the peg.

use std::path::{Path, PathBuf};

use domain::calendar::TradingWeek;
use domain::ports::{Bid, RateTerms};
use jiff::tz::TimeZone;

use super::*;
use crate::fetch::tests::{client, serve, serve_once};
use crate::outbound::{Authentication, Servers, Settings};

const LIMITS: RateLimits = RateLimits {
    max_move_bps: DEFAULT_MAX_MOVE_BPS,
    max_depeg_bps: DEFAULT_MAX_DEPEG_BPS,
    max_difference_bps: DEFAULT_MAX_DIFFERENCE_BPS,
    max_age: Span::mins(5),
};

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
}

fn file(path: &Path, name: &str) -> RateSource {
    RateSource { name: name.to_owned(), ..RateSource::at(RateLocation::File(path.to_owned())) }
}

/// A directory with files of sources.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn source(&self, name: &str) -> RateSource {
        file(&self.path(name), name)
    }

    /// Rows `USD,PKR,278.75`, all of one time.
    fn write(&self, name: &str, rows: &[&str], as_of: Timestamp) {
        let rows: String = rows.iter().map(|row| format!("{row},{as_of}\n")).collect();
        let text = format!("base,quote,rate,as_of\n{rows}");
        std::fs::write(self.path(name), text).expect("written");
    }
}

fn terms(now: Timestamp) -> RateTerms {
    RateTerms { now, max_age: Span::mins(5), weekend_margin_bps: None }
}

/// The rate of USD/PKR by the usual terms.
fn used(rates: &LiveRates, now: Timestamp) -> Option<String> {
    rates.bid(Currency::Usd, Currency::Pkr, &terms(now)).map(|bid| bid.rate.to_string())
}

#[tokio::test]
async fn a_pair_comes_from_the_first_source_whose_rate_is_young() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
    let (later, end) = (NOW + Span::mins(4), NOW + Span::mins(6));
    files.write("a", &["USD,PKR,278.75"], NOW);
    files.write("b", &["USD,PKR,279", "USD,AED,3.6725"], NOW);
    assert_eq!(rates.refresh(&client(), NOW).await.updated, 3);
    assert_eq!(used(&rates, NOW).as_deref(), Some("278.75"), "the first one goes first");
    assert!(rates.mid(Currency::Aed, Currency::Pkr).is_some(), "legs of several sources");

    files.write("a", &["USD,PKR,-1"], later);
    files.write("b", &["USD,PKR,279.5"], later);
    let refreshed = rates.refresh(&client(), later).await;
    assert_eq!(refreshed.failed.len(), 1);
    assert_eq!(refreshed.failed[0].0, "a");
    let text = refreshed.failed[0].1.to_string();
    assert!(text.ends_with("USD/PKR: a rate must be greater than zero"), "{text}");
    assert_eq!(used(&rates, later).as_deref(), Some("278.75"), "it is young enough still");
    assert_eq!(used(&rates, end).as_deref(), Some("279.5"), "now it is not");
    assert_eq!(used(&rates, later + Span::mins(6)), None, "nor is the other one");

    files.write("a", &["USD,PKR,278"], end);
    rates.refresh(&client(), end).await;
    assert_eq!(used(&rates, end).as_deref(), Some("278"), "the first one is back");
    files.write("a", &["USD,PKR,277"], NOW);
    rates.refresh(&client(), end).await;
    assert_eq!(used(&rates, end).as_deref(), Some("278"), "an older document changes nothing");
    files.write("a", &["USD,PKR,278.5"], end);
    rates.refresh(&client(), end).await;
    assert_eq!(used(&rates, end).as_deref(), Some("278.5"), "a correction of the same time does");

    files.write("a", &["USD,PKR,278"], end + Span::hours(1));
    let ahead = rates.refresh(&client(), end).await;
    assert!(matches!(ahead.failed[..], [(_, RateError::Ahead { .. })]), "{ahead:?}");
}

/// Legs of several sources are mixed only where the first ones have no rate without the next.
#[tokio::test]
async fn a_later_sources_own_rate_replaces_none_that_the_first_one_implies() {
    let files = Files::new();
    let sources = vec![files.source("market"), files.source("coins")];
    let rates = LiveRates::new(sources, LIMITS);
    let market = ["USD,PKR,278.75", "USD,EUR,0.862", "USD,INR,89.4"];
    let with_coins = [market.as_slice(), &["USDC,USD,1"]].concat();
    files.write("market", &with_coins, NOW);
    files.write("coins", &["USDC,USD,1", "USDC,PKR,300", "EUR,INR,107"], NOW);
    rates.refresh(&client(), NOW).await;
    let rate = |base, quote| {
        let bid = rates.bid(code(base), code(quote), &terms(NOW))?;
        Some(bid.rate.round(2, domain::decimal::Rounding::HalfEven))
    };
    assert_eq!(rate("USDC", "PKR"), Some(dec("278.75")));
    assert_eq!(rate("EUR", "INR"), Some(dec("103.71")));
    let disagree = |rates: &LiveRates| -> Vec<String> {
        let all = rates.disagreements().into_iter();
        all.map(|it| format!("{} {}", pair_text(it.pair), it.used.0)).collect()
    };
    assert_eq!(disagree(&rates), ["EUR/INR market", "USDC/PKR market"]);

    // Without a price of the coin the first source has no rate of it, and the next one's own is used:
    // what both imply together is another one, which is a condition.
    let alone = LiveRates::new(vec![files.source("market"), files.source("coins")], LIMITS);
    files.write("market", &market, NOW);
    alone.refresh(&client(), NOW).await;
    let bid = alone.bid(code("USDC"), Currency::Pkr, &terms(NOW)).expect("a rate");
    assert_eq!(bid.rate, dec("300"));
    assert_eq!(disagree(&alone), ["EUR/INR market", "USDC/PKR coins"]);
}

fn pair_text((base, quote): (Currency, Currency)) -> String {
    format!("{}/{}", base.code(), quote.code())
}

#[tokio::test]
async fn a_document_dated_ahead_is_of_the_time_of_its_reading() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    files.write("a", &["USD,PKR,285"], NOW + Span::secs(280));
    rates.refresh(&client(), NOW).await;
    let later = NOW + Span::secs(10);
    files.write("a", &["USD,PKR,284"], later);
    rates.refresh(&client(), later).await;
    assert_eq!(used(&rates, later).as_deref(), Some("284"), "the newest document counts");
    files.write("a", &["USD,PKR,285"], later + Span::secs(280));
    rates.refresh(&client(), later).await;
    assert_eq!(used(&rates, later + Span::secs(301)), None, "it has become too old");
}

#[tokio::test]
async fn a_book_that_was_never_read_says_so() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    assert_eq!(rates.refresh(&client(), NOW).await.failed.len(), 1);
    assert_eq!(used(&rates, NOW), None);
    let condition = "rate source a cannot be read, `corridor rates test` shows why";
    assert_eq!(rates.conditions(NOW), [condition.to_owned()].into());
}

#[tokio::test]
async fn a_source_has_an_age_limit_and_an_interval_of_its_own() {
    let files = Files::new();
    let daily = RateSource {
        max_age: Some(Span::hours(26)),
        refresh: Span::hours(1),
        ..files.source("daily")
    };
    let rates = LiveRates::new(vec![daily], LIMITS);
    files.write("daily", &["USD,PKR,278.75"], NOW);
    assert_eq!(rates.refresh(&client(), NOW).await.updated, 1);
    files.write("daily", &["USD,PKR,279"], NOW + Span::mins(30));
    assert_eq!(rates.refresh(&client(), NOW + Span::mins(59)).await.updated, 0, "not due");
    assert_eq!(used(&rates, NOW + Span::hours(26)).as_deref(), Some("278.75"));
    assert_eq!(used(&rates, NOW + Span::hours(26) + Span(1)), None);
    assert_eq!(rates.refresh(&client(), NOW + Span::mins(60)).await.updated, 1);
    std::fs::write(files.path("daily"), "<html>").expect("written");
    assert_eq!(rates.refresh(&client(), NOW + Span::hours(2)).await.failed.len(), 1);
    files.write("daily", &["USD,PKR,280"], NOW + Span::hours(2));
    let soon = NOW + Span::hours(2) + Span::mins(1);
    assert_eq!(rates.refresh(&client(), soon).await.updated, 1, "a failure is retried earlier");
}

/// Frankfurt's clock as a rule of POSIX.
fn frankfurt() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a rule")
}

#[tokio::test]
async fn at_the_weekend_the_last_rates_are_used_where_a_corridor_allows_it() {
    let files = Files::new();
    let week = TradingWeek {
        zone: frankfurt(),
        opens: 0,
        closes: 5 * 1_440,
        holidays: [jiff::civil::date(2026, 12, 25)].into(),
    };
    let bank =
        RateSource { max_age: Some(Span::hours(26)), week: Some(week), ..files.source("ecb") };
    let rates = LiveRates::new(vec![bank], LIMITS);
    let friday = at("2026-11-27T15:00:00Z");
    files.write("ecb", &["USD,PKR,200"], friday);
    for (now, closed, last) in [
        ("2026-11-27T15:00:00Z", Some(false), Some(false)),
        ("2026-11-27T22:59:59Z", Some(false), Some(false)),
        // Midnight in Frankfurt: it rests, though the rate is not old.
        ("2026-11-27T23:00:00Z", None, Some(true)),
        ("2026-11-29T12:00:00Z", None, Some(true)),
        // Monday: until the next publication is due, and two hours.
        ("2026-11-30T08:00:00Z", None, Some(true)),
        ("2026-11-30T17:00:00Z", None, Some(true)),
        ("2026-11-30T17:00:01Z", None, None),
    ] {
        let now = at(now);
        rates.refresh(&client(), now).await;
        let bid = |margin: Option<u32>| {
            let terms = RateTerms { weekend_margin_bps: margin, ..terms(now) };
            rates.bid(Currency::Usd, Currency::Pkr, &terms)
        };
        let expected = |is_weekend: bool| {
            let rate = if is_weekend { dec("198") } else { dec("200") };
            Bid { rate, as_of: friday, is_weekend }
        };
        assert_eq!(bid(None), closed.map(expected), "closed, {now}");
        assert_eq!(bid(Some(100)), last.map(expected), "less a margin, {now}");
    }
    // A source that stamps its Friday's rates with Sunday's time is at rest nevertheless.
    let sunday = at("2026-11-29T12:00:00Z");
    files.write("ecb", &["USD,PKR,200"], sunday);
    rates.refresh(&client(), sunday).await;
    assert_eq!(used(&rates, sunday), None);
    // The rate of Christmas Eve lasts over the holiday and the weekend.
    let eve = at("2026-12-24T15:00:00Z");
    files.write("ecb", &["USD,PKR,200"], eve);
    let monday = at("2026-12-28T12:00:00Z");
    rates.refresh(&client(), monday).await;
    assert_eq!(used(&rates, monday), None);
    let last = RateTerms { weekend_margin_bps: Some(0), ..terms(monday) };
    assert!(rates.bid(Currency::Usd, Currency::Pkr, &last).is_some_and(|bid| bid.is_weekend));
}

#[test]
fn a_rate_that_was_too_old_before_the_close_is_outdated_at_rest() {
    let files = Files::new();
    let week =
        TradingWeek { zone: TimeZone::UTC, opens: 0, closes: 5 * 1_440, holidays: [].into() };
    let source = RateSource { week: Some(week), ..files.source("ecb") };
    let always = RateSource { week: None, ..source.clone() };
    // It rests from Saturday, 28 November, 00:00 to Monday, 30 November, 00:00.
    for (as_of, now, outdated, outdated_without_week) in [
        ("2026-11-27T23:00:00Z", "2026-11-27T23:30:00Z", false, false),
        ("2026-11-27T22:00:00Z", "2026-11-27T23:30:00Z", true, true),
        ("2026-11-27T23:30:00Z", "2026-11-28T12:00:00Z", false, true),
        ("2026-11-27T23:00:01Z", "2026-11-29T12:00:00Z", false, true),
        ("2026-11-27T22:59:59Z", "2026-11-28T00:00:01Z", true, true),
        ("2026-11-20T12:00:00Z", "2026-11-29T12:00:00Z", true, true),
        ("2026-11-27T23:30:00Z", "2026-11-30T00:30:00Z", false, true),
        ("2026-11-27T23:30:00Z", "2026-11-30T00:30:01Z", true, true),
    ] {
        let mid = Mid { rate: dec("200"), as_of: at(as_of) };
        let (base, quote) = (Currency::Usd, Currency::Pkr);
        let rate = DirectRate::at_mid(base, quote, mid);
        let hour = Span::hours(1);
        assert_eq!(source.is_outdated(&rate, at(now), hour), outdated, "{as_of}, {now}");
        let without = always.is_outdated(&rate, at(now), hour);
        assert_eq!(without, outdated_without_week, "{as_of}, {now}");
    }
}

#[tokio::test]
async fn a_market_that_closes_on_friday_needs_a_rate_of_its_last_minutes() {
    let files = Files::new();
    let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a rule");
    let (opens, closes) = (6 * 1_440 + 17 * 60, 4 * 1_440 + 17 * 60);
    let week = TradingWeek { zone, opens, closes, holidays: [].into() };
    let market =
        RateSource { max_age: Some(Span::mins(5)), week: Some(week), ..files.source("fx") };
    for (as_of, now, is_used) in [
        ("2026-11-27T21:58:00Z", "2026-11-29T12:00:00Z", true),
        ("2026-11-27T21:58:00Z", "2026-11-29T22:03:00Z", true),
        ("2026-11-27T21:58:00Z", "2026-11-29T22:03:01Z", false),
        // It was too old before the market closed.
        ("2026-11-27T21:50:00Z", "2026-11-29T12:00:00Z", false),
    ] {
        files.write("fx", &["USD,PKR,200"], at(as_of));
        let rates = LiveRates::new(vec![market.clone()], LIMITS);
        rates.refresh(&client(), at(now)).await;
        let last = RateTerms { weekend_margin_bps: Some(50), ..terms(at(now)) };
        let bid = rates.bid(Currency::Usd, Currency::Pkr, &last);
        assert_eq!(bid.map(|bid| bid.rate), is_used.then(|| dec("199")), "{as_of} {now}");
    }
}

#[tokio::test]
async fn customers_get_the_bid_of_what_they_pay() {
    let files = Files::new();
    let text = format!(
        "base,quote,bid,ask,as_of\nUSD,PKR,278,280,{NOW}\nUSD,AED,3.67,3.68,{NOW}\nUSDT,USD,0.999,1.001,{NOW}\n"
    );
    std::fs::write(files.path("a"), text).expect("written");
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    rates.refresh(&client(), NOW).await;
    for (base, quote, bid, mid) in [
        ("USD", "PKR", "278", "279"),
        // They buy dollars at the ask.
        ("PKR", "USD", "0.003571428571", "0.003584229391"),
        ("AED", "PKR", "75.54347826087", "75.918367346939"),
        ("USDT", "PKR", "277.722", "279"),
    ] {
        let found = rates.bid(code(base), code(quote), &terms(NOW)).expect("a rate");
        assert_eq!(found.rate, dec(bid), "{base}/{quote}");
        assert_eq!(
            rates.mid(code(base), code(quote)).expect("a rate").rate,
            dec(mid),
            "{base}/{quote}"
        );
    }
}

#[tokio::test]
async fn a_rate_that_jumps_is_not_used_unless_another_source_confirms_it() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
    let second = |seconds: i64| NOW + Span::secs(seconds);
    files.write("a", &["USD,PKR,200"], NOW);
    files.write("b", &["USD,AED,3.6725"], NOW);
    rates.refresh(&client(), NOW).await;
    files.write("a", &["USD,PKR,220"], second(1));
    assert_eq!(rates.refresh(&client(), second(1)).await.updated, 1, "ten per cent is allowed");

    files.write("a", &["USD,PKR,242.01"], second(2));
    let refreshed = rates.refresh(&client(), second(2)).await;
    assert_eq!((refreshed.updated, refreshed.held_back.len()), (0, 1));
    let mid = rates.mid(Currency::Usd, Currency::Pkr).expect("a rate");
    assert_eq!(mid, Mid { rate: dec("220"), as_of: second(1) }, "the last one stays and ages");
    let condition = "rate source a: USD/PKR moved by more than rates.max_move_bps (1000), the new rate is not used";
    assert_eq!(rates.conditions(second(2)), [condition.to_owned()].into());
    assert_eq!(used(&rates, second(302)), None, "too old in the end");

    // A source that is new to the pair is compared with the others.
    files.write("b", &["USD,PKR,250", "USD,AED,3.6725"], second(3));
    assert_eq!(rates.refresh(&client(), second(3)).await.held_back.len(), 2);
    assert_eq!(used(&rates, second(3)).as_deref(), Some("220"), "three per cent apart");
    // Held back itself, it confirms the other one all the same.
    files.write("b", &["PKR,USD,0.0041", "USD,AED,3.6725"], second(4));
    let confirmed = rates.refresh(&client(), second(4)).await;
    assert!(confirmed.held_back.is_empty(), "{confirmed:?}");
    assert_eq!(used(&rates, second(4)).as_deref(), Some("242.01"));

    files.write("a", &["USD,PKR,10"], second(7));
    assert_eq!(rates.refresh(&client(), second(7)).await.held_back.len(), 1);
    files.write("a", &["USD,PKR,241"], second(8));
    assert_eq!(rates.refresh(&client(), second(8)).await.updated, 1);
    assert!(rates.stated().iter().all(|(_, state)| state.held_back.is_empty()));
}

/// What a process reads first is compared with what an earlier one accepted.
#[tokio::test]
async fn a_restart_forgets_no_rate() {
    let files = Files::new();
    let sources = || vec![files.source("a")];
    let rates = LiveRates::new(sources(), LIMITS);
    files.write("a", &["USD,PKR,200", "USD,AED,3.6725"], NOW);
    rates.refresh(&client(), NOW).await;
    let text = rates.kept().text();

    let started = |text: &str| {
        let rates = LiveRates::new(sources(), LIMITS);
        rates.recall(&known_of(text));
        rates
    };
    let second = NOW + Span::hours(1);
    let jumped = ["USD,PKR,221", "USD,AED,3.6725"];
    for (rows, quoted) in [
        (&jumped[..], None),
        (&["PKR,USD,200", "USD,AED,3.6725"], None),
        (&["USD,PKR,219", "USD,AED,3.6725"], Some("219")),
    ] {
        files.write("a", rows, second);
        let rates = started(&text);
        let held = rates.refresh(&client(), second).await.held_back;
        assert_eq!(held.is_empty(), quoted.is_some(), "{rows:?}: {held:?}");
        assert!(held.iter().all(|held| held.last.is_some()), "{held:?}");
        assert_eq!(used(&rates, second).as_deref(), quoted, "{rows:?}");
    }
    // The rate that was held back does not replace the accepted one.
    files.write("a", &jumped, second);
    let rates = started(&text);
    rates.refresh(&client(), second).await;
    let known = known_of(&text);
    let kept = rates.kept().with(&known, second);
    let again = started(&kept.text());
    assert_eq!(again.refresh(&client(), second).await.held_back.len(), 1);
    // What another node has read since counts.
    let newer = LiveRates::new(sources(), LIMITS);
    newer.refresh(&client(), second).await;
    let merged = known.with(&newer.kept(), second);
    assert_eq!(started(&merged.text()).refresh(&client(), second).await.held_back, []);
    // Another source confirms it, and a rate of long ago says nothing.
    files.write("b", &["USD,PKR,221"], second);
    let both = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
    both.recall(&known_of(&text));
    assert_eq!(both.refresh(&client(), second).await.held_back, []);
    let late = NOW + Span::days(15);
    files.write("a", &jumped, late);
    assert_eq!(started(&text).refresh(&client(), late).await.held_back, []);
    assert!(KeptRates::read("[]").is_err());
}

fn known_of(text: &str) -> KeptRates {
    KeptRates::read(text).expect("what was written")
}

/// Without an earlier rate, the magnitude is compared.
#[tokio::test]
async fn a_first_rate_of_another_magnitude_is_not_used() {
    let files = Files::new();
    for (row, pair) in [
        ("USD,PKR,27875", "USD/PKR"),
        ("USD,PKR,27.875", "USD/PKR"),
        // Rupees for a dollar, as dollars for a rupee.
        ("PKR,USD,278.75", "PKR/USD"),
        // Levels near 1, the other way round.
        ("USD,EUR,1.163", "USD/EUR"),
        ("EUR,USD,0.862", "EUR/USD"),
        ("USD,SGD,0.775", "USD/SGD"),
        ("SGD,EUR,1.51", "SGD/EUR"),
    ] {
        let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
        files.write("a", &[row], NOW);
        std::fs::write(files.path("b"), "").expect("written");
        let held = rates.refresh(&client(), NOW).await.held_back;
        assert!(matches!(held[..], [HeldBack { last: None, .. }]), "{held:?}");
        assert_eq!(used(&rates, NOW), None, "{row}");
        let condition = format!(
            "rate source a: {pair} is not used before another source states about the same: it or another rate of the document is further from the usual level than a factor of 5, or the other way round"
        );
        assert!(rates.conditions(NOW).contains(&condition), "{:?}", rates.conditions(NOW));
        assert!(rates.kept() == KeptRates::default());
        files.write("b", &[row], NOW);
        let next = NOW + Span::mins(1);
        assert_eq!(rates.refresh(&client(), next).await.held_back, [], "confirmed");
    }
    // Years of devaluations are not that far, nor is parity.
    for row in ["USD,PKR,1300", "USD,EUR,1.05", "EUR,USD,0.95", "USD,SGD,1.01", "OMR,BHD,1.05"] {
        files.write("a", &[row], NOW);
        let rates = LiveRates::new(vec![files.source("a")], LIMITS);
        assert_eq!(rates.refresh(&client(), NOW).await.held_back, [], "{row}");
    }
}

/// What one rate of a document shows holds for those whose magnitude says nothing.
#[tokio::test]
async fn no_rate_of_a_document_the_other_way_round_is_used() {
    let files = Files::new();
    files.write("a", &["USD,EUR,1.02", "USD,PKR,0.003589", "OMR,BHD,1.02"], NOW);
    files.write("b", &["USD,EUR,0.86", "USD,PKR,278.6", "OMR,BHD,0.98"], NOW);
    let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
    let held = rates.refresh(&client(), NOW).await.held_back;
    assert_eq!(held.len(), 3, "{held:?}");
    assert_eq!(used(&rates, NOW).as_deref(), Some("278.6"));
    let stated = rates.stated();
    let of_a = stated.first().map(|(_, state)| state.table.snapshot());
    assert_eq!(of_a, Some(Vec::new()));
    // A source that turns its direction.
    let later = NOW + Span::mins(1);
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    files.write("a", &["USD,EUR,0.98", "USD,PKR,278.6", "OMR,BHD,0.98"], NOW);
    assert_eq!(rates.refresh(&client(), NOW).await.held_back, []);
    files.write("a", &["USD,EUR,1.02", "USD,PKR,0.003589", "OMR,BHD,1.02"], later);
    assert_eq!(rates.refresh(&client(), later).await.held_back.len(), 3);
    // One that has come there slowly is believed.
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    for (rate, at) in [("1.02", 0), ("1.06", 1), ("1.1", 2), ("1.14", 3)] {
        let at = NOW + Span::days(at);
        files.write("a", &[&format!("USD,EUR,{rate}"), "OMR,BHD,0.98"], at);
        assert_eq!(rates.refresh(&client(), at).await.held_back, [], "{rate}");
    }
}

#[test]
fn every_currency_has_a_usual_level() {
    for currency in Currency::ALL.into_iter().filter(|it| *it != Currency::Usd) {
        assert!(
            super::super::sandbox::LEVELS.mid(currency, Currency::Usd).is_some(),
            "{currency:?}"
        );
    }
}

/// A devaluation: every source states the new rate, each for itself a jump.
#[tokio::test]
async fn sources_that_jump_together_confirm_each_other() {
    for (name, next) in [("a", "b"), ("b", "a")] {
        let files = Files::new();
        let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
        files.write("a", &["USD,EUR,0.8", "USD,PKR,200"], NOW);
        files.write("b", &["EUR,USD,1.25", "EUR,PKR,250"], NOW);
        rates.refresh(&client(), NOW).await;
        let jump = |name: &str, as_of| match name {
            "a" => files.write("a", &["USD,EUR,0.8", "USD,PKR,300"], as_of),
            _ => files.write("b", &["EUR,USD,1.25", "EUR,PKR,375"], as_of),
        };
        let (first, second) = (NOW + Span::secs(1), NOW + Span::secs(2));
        jump(name, first);
        assert_eq!(rates.refresh(&client(), first).await.held_back.len(), 1);
        assert_eq!(used(&rates, first).as_deref(), Some("200"));
        jump(next, second);
        assert_eq!(rates.refresh(&client(), second).await.held_back, []);
        assert_eq!(used(&rates, second).as_deref(), Some("300"));
        assert!(rates.conditions(second).is_empty());
    }
}

#[tokio::test]
async fn a_rate_is_no_longer_held_back_once_its_source_no_longer_states_it() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    let (first, second) = (NOW + Span::secs(1), NOW + Span::secs(2));
    // The old rate again, of its own time; or the pair is gone.
    for (rows, as_of) in [(&["USD,PKR,200", "USD,AED,3.67"][..], NOW), (&["USD,AED,3.67"], first)] {
        files.write("a", &["USD,PKR,200", "USD,AED,3.67"], NOW);
        rates.refresh(&client(), NOW).await;
        files.write("a", &["USD,PKR,300", "USD,AED,3.67"], first);
        assert_eq!(rates.refresh(&client(), first).await.held_back.len(), 1);
        files.write("a", rows, as_of);
        rates.refresh(&client(), second).await;
        let held = rates.stated().remove(0).1.held_back;
        assert_eq!(held, [], "{rows:?}");
    }
}

#[tokio::test]
async fn sources_that_disagree_and_pairs_that_vanish_are_conditions() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a"), files.source("b")], LIMITS);
    files.write("a", &["USD,PKR,200", "USD,AED,3.6725"], NOW);
    files.write("b", &["PKR,USD,0.00505"], NOW);
    rates.refresh(&client(), NOW).await;
    assert!(rates.disagreements().is_empty(), "a per cent apart");
    files.write("b", &["PKR,USD,0.0049", "AED,PKR,54.5"], NOW + Span::secs(1));
    rates.refresh(&client(), NOW + Span::secs(1)).await;
    let found = rates.disagreements();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pair, (Currency::Pkr, Currency::Usd));
    assert_eq!((found[0].used.0.as_str(), found[0].other.0.as_str()), ("a", "b"));
    assert_eq!((found[0].used.1, found[0].other.1), (dec("0.005"), dec("0.0049")));
    assert_eq!(used(&rates, NOW).as_deref(), Some("200"));
    let condition = "rate sources a and b disagree about PKR/USD by more than rates.max_difference_bps (100): a is used";
    assert_eq!(rates.conditions(NOW), [condition.to_owned()].into());

    files.write("a", &["USD,PKR,201"], NOW + Span::secs(2));
    std::fs::write(files.path("b"), "oops").expect("written");
    let later = NOW + Span::secs(2);
    rates.refresh(&client(), later).await;
    let conditions: Vec<String> = rates.conditions(later).into_iter().collect();
    assert_eq!(conditions.len(), 3, "{conditions:?}");
    assert_eq!(conditions[0], "rate source a no longer states USD/AED");
    assert!(conditions[1].starts_with("rate source b: its document cannot be used"));
    assert!(conditions[2].starts_with("rate sources a and b disagree"));
    std::fs::remove_file(files.path("b")).expect("removed");
    rates.refresh(&client(), NOW + Span::mins(4)).await;
    let is_unread =
        |now| rates.conditions(now).iter().any(|what| what.contains("b cannot be read"));
    assert!(!is_unread(NOW + Span::mins(4)) && is_unread(NOW + Span::mins(6)));
}

#[tokio::test]
async fn a_stablecoin_has_a_rate_only_while_its_price_is_near_one_dollar() {
    let files = Files::new();
    let rates = LiveRates::new(vec![files.source("a")], LIMITS);
    let mut now = NOW;
    let mut refreshed = async |price: Option<&str>| {
        now = now + Span::secs(1);
        let peg = price.map(|price| format!("USDT,USD,{price}"));
        let rows = ["USDT,PKR,278.75", "USD,PKR,278.75"];
        let rows: Vec<&str> = rows.into_iter().chain(peg.as_deref()).collect();
        files.write("a", &rows, now);
        rates.refresh(&client(), now).await;
        let pairs = [("USDT", "PKR"), ("PKR", "USDT"), ("USDT", "USD")];
        let pairs = pairs.map(|(base, quote)| (code(base), code(quote)));
        let mids = pairs.map(|(base, quote)| rates.mid(base, quote).is_some());
        let bids = pairs.map(|(base, quote)| rates.bid(base, quote, &terms(now)).is_some());
        assert_eq!(mids, bids, "{price:?}");
        (bids, rates.off_peg(StableCoin::Usdt))
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

    let old = NOW - Span::secs(60);
    let stale = LiveRates::new(vec![files.source("rates"), files.source("coins")], LIMITS);
    files.write("rates", &["USDT,PKR,278.75"], NOW);
    files.write("coins", &["USDT,USD,1"], old);
    stale.refresh(&client(), NOW).await;
    let bid = |now| stale.bid(Currency::Usdt, Currency::Pkr, &terms(now));
    let mid = stale.mid(Currency::Usdt, Currency::Pkr).expect("a rate");
    assert_eq!(mid.as_of, old, "a rate is no newer than the price that vouches for it");
    assert_eq!(bid(NOW).expect("a rate").as_of, old);
    assert!(bid(NOW + Span::mins(4)).is_some());
    assert_eq!(bid(NOW + Span::mins(5)), None, "the price is too old, the rate is not");
}

#[tokio::test]
async fn rates_come_over_http_and_an_echoed_secret_stays_secret() {
    let body =
        br#"{"base":"USD","as_of":"2026-11-21T06:57:48Z","rates":{"PKR":"278.75","AED":3.6725}}"#;
    let url = serve_once("content-type: application/json", body.to_vec()).await;
    let rates = LiveRates::new(vec![RateSource::at(RateLocation::Http(url))], LIMITS);
    let refreshed = rates.refresh(&client(), NOW).await;
    assert_eq!((refreshed.updated, refreshed.failed.len()), (2, 0), "{refreshed:?}");
    let gone = rates.refresh(&client(), NOW).await;
    assert_eq!(gone.failed.len(), 1, "the server is gone");
    assert_eq!(used(&rates, NOW).as_deref(), Some("278.75"));

    // The key is a parameter of the address, and the error of a 200 repeats it.
    let url = serve(|head| {
        let key = head.split("app_id=").nth(1).and_then(|rest| rest.split(' ').next());
        let body =
            format!(r#"{{"success":false,"error":"unknown key {}"}}"#, key.unwrap_or("none"));
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    })
    .await;
    let settings = Settings {
        authentication: Authentication::Query {
            name: "app_id".to_owned(),
            value: "canary-7f3a".into(),
        },
        ..Settings::default()
    };
    let address = format!("{url}/latest.json?base=USD");
    let servers = Servers::new("rates.sources", vec![(vec![address.clone()], settings)]);
    let rates = LiveRates::new(vec![RateSource::at(RateLocation::Http(address))], LIMITS);
    let refused = rates.refresh(&servers.expect("a client"), NOW).await;
    let text = format!("{} {:?}", refused.failed[0].1, refused.failed);
    assert!(text.contains("the source reports an error: unknown key ***"), "{text}");
    assert!(text.contains("/latest.json") && !text.contains("canary"), "{text}");
}
