//! The worked example of `decisions.md`, the refusals, and the 4-decimal rule on generated quotes.

use proptest::prelude::*;
use uuid::Uuid;

use super::binary64::Binary64;
use super::*;

fn dec(text: &str) -> Decimal {
    text.parse().expect(text)
}

pub(super) fn pricing(country: Country, currency: Currency, amount: &str, mid: &str) -> Pricing {
    let destination = country.currency();
    let most = DESTINATION_AMOUNT_LIMIT * 10_i64.pow(destination.minor_units());
    Pricing {
        country,
        currency,
        amount: dec(amount),
        mid: dec(mid),
        wallet_mid: dec("278.75"),
        margin_bps: 10,
        premium_bps: 25,
        coin: StableCoin::Usdt,
        step_minor: 1,
        limits: (Money::new(1, destination), Money::new(most, destination)),
        account: None,
        branch: None,
    }
}

pub(super) fn quoted(offer: Offer) -> Quote {
    Quote {
        id: QuoteId(Uuid::nil()),
        tenant: TenantId(Uuid::nil()),
        offer,
        created_at: Timestamp(0),
        expires_at: Timestamp(300_000_000),
        state: QuoteState::Active,
        payment: None,
    }
}

#[test]
fn the_worked_example_of_the_decisions_is_exact() {
    let offer =
        pricing(Country::Pak, Currency::Aed, "500", "75.90").offer(|_| 500_000).expect("an offer");
    assert_eq!(offer.amount_destination.to_string(), "37912.05 PKR");
    assert_eq!(offer.rate, dec("75.8241"));
    assert_eq!(offer.charge.amount.to_string(), "136.007355 USDT");
    assert_eq!(offer.charge.premium.to_string(), "0.340019 USDT");
    assert_eq!(offer.charge.cost.to_string(), "0.500000 USDT");
    assert_eq!(offer.charge.total().expect("fits").to_string(), "136.847374 USDT");
}

#[test]
fn refused_amounts_name_the_violated_rule() {
    for (country, currency, amount, mid, rule) in [
        (Country::Pak, Currency::Aed, "1.001", "75.90", "decimal_max_places"),
        (Country::Pak, Currency::Kwd, "1.0001", "900", "decimal_max_places"),
        (Country::Pak, Currency::Aed, "100000000", "75.90", "less_than"),
        (Country::Pak, Currency::Aed, "0.01", "0.5", "amount_below_min"),
        (Country::Vnm, Currency::Kwd, "99999999", "83000", "amount_above_max"),
    ] {
        let fault = pricing(country, currency, amount, mid).offer(|_| 0).expect_err(amount);
        assert_eq!((fault.field, fault.rule), ("amount", rule), "{amount}");
    }
}

#[test]
fn the_limits_of_the_route_bound_the_amount() {
    for (least, most, rule) in
        [(3_791_206, 9_999_999, "amount_below_min"), (1, 3_791_204, "amount_above_max")]
    {
        let mut asked = pricing(Country::Pak, Currency::Aed, "500", "75.90");
        asked.limits = (Money::new(least, Currency::Pkr), Money::new(most, Currency::Pkr));
        assert_eq!(asked.offer(|_| 0).expect_err("out of bounds").rule, rule);
    }
}

#[test]
fn a_coarser_step_leaves_a_remainder() {
    let mut asked = pricing(Country::Pak, Currency::Aed, "500", "75.90");
    asked.step_minor = 100;
    let offer = asked.offer(|_| 0).expect("an offer");
    assert_eq!(offer.amount_destination.to_string(), "37912.00 PKR");
    assert_eq!(offer.remainder.to_string(), "0.05 PKR");
}

#[test]
fn amounts_are_compared_to_exactly_four_decimals() {
    let quote = quoted(
        pricing(Country::Pak, Currency::Aed, "500", "75.90").offer(|_| 0).expect("an offer"),
    );
    for (amount, paid) in [
        ("37912.05", true),
        ("37912.05004", true),
        ("37912.0500000001", true),
        ("37912.0501", false),
        ("37912.05006", false),
        ("37912.04", false),
        ("37913", false),
    ] {
        assert_eq!(quote.is_paid_by(Decimal::parse(amount).expect(amount)), paid, "{amount}");
    }
}

#[test]
fn the_instant_of_expiry_is_too_late() {
    let quote = quoted(
        pricing(Country::Pak, Currency::Aed, "500", "75.90").offer(|_| 0).expect("an offer"),
    );
    assert!(!quote.is_past(Timestamp(299_999_999)));
    assert!(quote.is_past(Timestamp(300_000_000)));
}

/// A rate's error is up to 5·10^-13, its product's that times the base amount. The fifth decimal
/// must stay below 5: at 5·10^7 half of that is left for the error of floats, which is below
/// 2·10^-5 for products below 10^11; just under 10^8 nothing is left.
const FLOAT_AMOUNT_LIMIT: i64 = 50_000_000;

#[test]
fn just_under_the_largest_base_amount_only_exact_arithmetic_works() {
    let mut asked = pricing(Country::Bgd, Currency::Eur, "99921514.05", "409.299963");
    asked.margin_bps = 92;
    let quote = quoted(asked.offer(|_| 0).expect("an offer"));
    assert_eq!(quote.expected_amount(), quote.offer.amount_destination.decimal());
    assert!(!agrees_in_binary_floats(&quote));
}

fn currencies() -> impl Strategy<Value = (Country, Currency, i64, i64, u32)> {
    let country = proptest::sample::select(Country::ALL.to_vec());
    let currency = proptest::sample::select(Currency::SOURCES.to_vec());
    (country, currency, 1_i64..9_999_999_999, 1_i64..90_000_000_000, 0_u32..500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Decision "Rate": rate × amount equals amount_destination at 4 decimals, in exact arithmetic
    /// and, below `FLOAT_AMOUNT_LIMIT`, for a client with binary floating point.
    #[test]
    fn rate_times_amount_equals_the_payout((country, currency, minor, mid, margin) in currencies()) {
        let amount = Money::new(minor % (BASE_AMOUNT_LIMIT * 100), currency);
        let mut asked = pricing(country, currency, "1", "1");
        asked.amount = amount.decimal();
        asked.mid = Decimal::new(mid.into(), 6);
        asked.margin_bps = margin;
        if let Ok(offer) = asked.offer(|_| 0) {
            let quote = quoted(offer);
            let paid_out = quote.offer.amount_destination.decimal();
            prop_assert_eq!(quote.expected_amount(), paid_out);
            prop_assert!(quote.is_paid_by(paid_out));
            prop_assert!(quote.offer.rate.decimals() <= RATE_DECIMALS);
            prop_assert!(paid_out <= asked_price(&quote, mid, margin));
            let exact_in_floats = quote.offer.amount.decimal() < Decimal::from_int(FLOAT_AMOUNT_LIMIT);
            prop_assert!(!exact_in_floats || agrees_in_binary_floats(&quote));
        }
    }
}

fn asked_price(quote: &Quote, mid: i64, margin_bps: u32) -> Decimal {
    let keep = Decimal::new(i128::from(10_000 - margin_bps), 4);
    let price = Decimal::new(mid.into(), 6).checked_mul(keep).expect("fits");
    price.checked_mul(quote.offer.amount.decimal()).expect("fits")
}

/// The result of a client that has only binary floats.
fn agrees_in_binary_floats(quote: &Quote) -> bool {
    let double = |value: Decimal| Binary64::parse(&value.to_string());
    let product = double(quote.offer.rate).times(double(quote.offer.amount.decimal()));
    let rounded = |value: Binary64| value.rounded(MATCH_DECIMALS.cast_signed());
    rounded(product) == rounded(double(quote.offer.amount_destination.decimal()))
}

/// Quotes of each corridor and base currency.
const QUOTES_PER_PAIR: u64 = 1_000;

/// SplitMix64: small, and the same on every machine.
pub(super) fn drawn(seed: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

pub(super) fn within(seed: u64, most: u64) -> i64 {
    i64::try_from(drawn(seed) % most + 1).expect("small")
}

#[test]
fn a_thousand_quotes_per_corridor_and_currency_match_to_four_decimals() {
    let pairs = Country::ALL
        .into_iter()
        .flat_map(|country| Currency::SOURCES.map(|currency| (country, currency)));
    for (pair, (country, currency)) in pairs.enumerate() {
        let mut made = 0;
        let mut seed = u64::try_from(pair).expect("few") << 32;
        while made < QUOTES_PER_PAIR {
            seed += 3;
            // Up to 50,000 of the base currency at plausible and implausible rates, with margins up
            // to 5 %.
            let units = 10_u64.pow(currency.minor_units());
            let mut asked = pricing(country, currency, "1", "1");
            asked.amount = Money::new(within(seed, 50_000 * units), currency).decimal();
            asked.mid = Decimal::new(within(seed + 1, 90_000_000_000).into(), 6);
            asked.margin_bps = u32::try_from(drawn(seed + 2) % 500).expect("small");
            // A payout in whole VND may round to zero.
            let Ok(offer) = asked.offer(|_| 0) else { continue };
            let quote = quoted(offer);
            let paid_out = quote.offer.amount_destination.decimal();
            assert_eq!(
                quote.expected_amount(),
                paid_out,
                "{country:?} {currency:?} {:?}",
                quote.offer
            );
            assert!(quote.offer.rate.decimals() <= RATE_DECIMALS);
            assert!(agrees_in_binary_floats(&quote), "{:?}", quote.offer);
            made += 1;
        }
    }
}
