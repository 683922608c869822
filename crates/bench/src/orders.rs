//! Request bodies: valid orders to every country, with varying amounts, accounts and ids. Constant
//! parts are written once.

use std::io::Write as _;

use anyhow::Context as _;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::QuoteId;
use domain::order::{Field, Order, example};
use http_api::payments_v2::render::order_fields;
use http_api::write;
use uuid::Uuid;

/// The base currency of every pair.
const CURRENCY: Currency = Currency::Aed;
/// Base amounts in minor units: every country's instant rail accepts the result.
const AMOUNT_MINOR: std::ops::Range<u64> = 5_000..200_000;
/// Last four digits of each country's beneficiary accounts; the sandbox gives those below 9 a
/// meaning.
const ENDINGS: std::ops::Range<u32> = 1_000..1_064;

/// The members of a payment's body that differ between requests.
const VARYING: [&str; 5] = ["country", "currency", "quote", "amount", "external_id"];

/// Numbers that need not be unpredictable, only different (xorshift64*, Vigna 2016).
#[derive(Clone, Debug)]
pub(super) struct Numbers(u64);

impl Numbers {
    /// A sequence that differs from every other run's.
    pub(super) fn fresh() -> anyhow::Result<Numbers> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| anyhow::anyhow!("random numbers: {error}"))
            .context("seed")?;
        // Zero is the one state that the sequence never leaves.
        Ok(Numbers(u64::from_ne_bytes(seed).max(1)))
    }

    /// Another sequence, one of many of the same start.
    pub(super) fn nth(&self, nth: u64) -> Numbers {
        let mut mixed = Numbers(self.0 ^ nth.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        mixed.0 = mixed.0.max(1);
        Numbers(mixed.next().max(1))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Draws one of `0..below`.
    fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.next() >> 32).unwrap_or(0) % below.max(1)
    }
}

/// One account of one country: an order without its varying parts.
struct Template {
    country: Country,
    /// The members between `amount` and `external_id`, with the comma before them.
    middle: String,
}

pub(super) struct Orders {
    templates: Vec<Template>,
}

impl Orders {
    /// Orders to these countries.
    pub(super) fn to(countries: &[Country]) -> Orders {
        let to = |country: &Country| {
            ENDINGS.map(|ending| template(*country, ending)).collect::<Vec<_>>()
        };
        Orders { templates: countries.iter().flat_map(to).collect() }
    }

    /// Selects an account and writes the body of a quote to its country. The payment must use the
    /// same account.
    pub(super) fn quote(&self, numbers: &mut Numbers, out: &mut Vec<u8>) -> usize {
        let chosen = numbers.index(self.templates.len());
        let amount = AMOUNT_MINOR.start + numbers.next() % (AMOUNT_MINOR.end - AMOUNT_MINOR.start);
        out.clear();
        let amount = Decimal::new(amount.into(), CURRENCY.minor_units());
        write::object_into(out, |body| {
            body.text("country", self.templates[chosen].country.alpha3());
            body.text("currency", CURRENCY.code());
            body.number("amount", amount);
        });
        chosen
    }

    /// The country of the selected account.
    pub(super) fn country(&self, chosen: usize) -> Country {
        self.templates[chosen].country
    }

    /// Writes the body of the payment to the selected account.
    pub(super) fn payment(
        &self,
        chosen: usize,
        quote: &str,
        amount: &str,
        external_id: &str,
        out: &mut Vec<u8>,
    ) {
        let Template { country, middle } = &self.templates[chosen];
        out.clear();
        let written = write!(
            out,
            r#"{{"country":"{}","currency":"{}","quote":"{quote}","amount":{amount}{middle},"external_id":"{external_id}"}}"#,
            country.alpha3(),
            CURRENCY.code()
        );
        debug_assert!(written.is_ok(), "writing to a vector never fails");
    }
}

pub(super) fn external_id(numbers: &mut Numbers, out: &mut String) {
    use std::fmt::Write as _;
    out.clear();
    let written = write!(out, "b{:016x}{:016x}", numbers.next(), numbers.next());
    debug_assert!(written.is_ok(), "writing to a string never fails");
}

fn template(country: Country, ending: u32) -> Template {
    let order = example::order(country, QuoteId(Uuid::nil()), CURRENCY, Decimal::ONE).0;
    let beneficiary_account_number = example::account_ending(country, &ending.to_string());
    let order = Order { beneficiary_account_number, ..order };
    let constant = |field: &Field| field.is_input() && !VARYING.contains(&field.name);
    let middle = write::object(|out| order_fields(out, &order, constant));
    let middle = String::from_utf8_lossy(&middle[1..middle.len() - 1]).into_owned();
    Template { country, middle: format!(",{middle}") }
}

#[cfg(test)]
mod tests {
    use domain::order::UncheckedOrder;
    use http_api::payments_v2::decode;

    use super::*;

    #[test]
    fn every_body_is_a_valid_request() {
        let orders = Orders::to(&Country::ALL);
        let (mut numbers, mut body, mut id) = (Numbers(7), Vec::new(), String::new());
        let mut countries = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let chosen = orders.quote(&mut numbers, &mut body);
            let (asked, ..) = decode::quote_request(&body).expect("a quote request");
            external_id(&mut numbers, &mut id);
            let quote = QuoteId(Uuid::from_u128(numbers.next().into()));
            orders.payment(chosen, &quote.to_string(), "37912.05", &id, &mut body);
            let (UncheckedOrder(order), faults) = decode::payment_order(&body).expect("an order");
            assert!(faults.is_empty(), "{faults:?}");
            assert_eq!(
                (order.country, order.currency, order.quote),
                (asked.country, asked.currency, quote)
            );
            assert_eq!(
                (order.amount.to_string().as_str(), order.external_id.as_ref()),
                ("37912.05", Some(&id))
            );
            countries.insert(order.country.alpha3());
        }
        assert_eq!(countries.len(), Country::ALL.len());
    }

    #[test]
    fn numbers_do_not_repeat() {
        let mut numbers = Numbers(1);
        let seen: std::collections::BTreeSet<u64> = (0..10_000).map(|_| numbers.next()).collect();
        assert_eq!(seen.len(), 10_000);
    }
}
