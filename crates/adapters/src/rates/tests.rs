//! Inverse, cross, exactness, the sandbox's walk.

mod book;
mod forms;
mod publishers;

use super::*;
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
        let mid = Mid { rate: dec(rate), as_of: Timestamp(*as_of) };
        table.set(DirectRate::at_mid(code(base), code(quote), mid));
    }
    table
}

#[test]
fn rates_are_stated_inverted_or_crossed_with_one_rounding() {
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
fn a_publication_of_the_euros_rates_prices_the_other_currencies() {
    let table = table(&[
        ("EUR", "USD", "1.0495", 10),
        ("EUR", "SGD", "1.4139", 10),
        ("EUR", "TRY", "36.2712", 10),
        ("USD", "PKR", "278.75", 20),
    ]);
    for (base, quote, expected) in [
        ("SGD", "TRY", "25.653299384681"),
        ("USD", "SGD", "1.347212958552"),
        // SGD to EUR to USD to PKR.
        ("SGD", "PKR", "206.908639224839"),
        ("PKR", "SGD", "0.004833050972"),
    ] {
        let mid = table.mid(code(base), code(quote)).unwrap_or_else(|| panic!("{base}/{quote}"));
        assert_eq!((mid.rate, mid.as_of), (dec(expected), Timestamp(10)), "{base}/{quote}");
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
