//! A client multiplies the rate by the quote's amount in its own arithmetic and sends the output of
//! its language. Each of these amounts pays the quote; the same amount off by one at the fourth
//! decimal does not.

use super::binary64::Binary64;
use super::tests::{drawn, pricing, quoted, within};
use super::*;

const QUOTES: u64 = 1_000;
/// Base amounts below this, for which a spreadsheet's 15 digits of a rate yield four decimals.
const BASE_UNITS: u64 = 10_000;

/// A client's arithmetic: from rate and amount as in JSON to the amount that the client sends.
type Client = fn(&str, &str) -> String;

const CLIENTS: [(&str, Client); 8] = [
    ("Java BigDecimal", |rate, amount| exact_product(rate, amount, None)),
    ("Java BigDecimal of texts padded to 12 and 2 decimals", |rate, amount| {
        exact_product(&padded(rate, 12), &padded(amount, 3), None)
    }),
    ("C# decimal, 28 digits", |rate, amount| exact_product(rate, amount, Some(28))),
    ("Python Decimal, 28 digits", |rate, amount| exact_product(rate, amount, Some(28))),
    ("JavaScript number, Python float", |rate, amount| double_product(rate, amount).shortest()),
    ("Java and C# double, with an exponent", |rate, amount| {
        scientific(&double_product(rate, amount).shortest())
    }),
    ("C printf %.17g", |rate, amount| double_product(rate, amount).text(17)),
    ("Excel, 15 digits in and out", |rate, amount| {
        double_product(&cut(rate, 15), &cut(amount, 15)).text(15)
    }),
];

#[test]
fn clients_unrounded_products_pay_the_quote() {
    let mut refused = Vec::new();
    for quote in quotes() {
        let (rate, amount) =
            (quote.offer.rate.to_string(), quote.offer.amount.decimal().to_string());
        for (client, multiply) in CLIENTS {
            let sent = multiply(&rate, &amount);
            let read = Decimal::parse_rounded(&sent, MATCH_DECIMALS);
            if !read.is_ok_and(|read| quote.is_paid_by(read)) {
                refused.push(format!("{client}: {rate} × {amount} = {sent}"));
            }
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn an_amount_off_by_one_at_the_fourth_decimal_is_refused_in_any_notation() {
    let step = Decimal::new(1, MATCH_DECIMALS);
    for quote in quotes() {
        let right = quote.offer.amount_destination.decimal();
        let (above, below) = (right.checked_add(step), right.checked_sub(step));
        for wrong in [above, below].map(|wrong| wrong.expect("fits").to_string()) {
            for sent in [wrong.clone(), scientific(&wrong), padded(&wrong, 30)] {
                let read = Decimal::parse_rounded(&sent, MATCH_DECIMALS).expect("a number");
                assert!(!quote.is_paid_by(read), "{sent} for {right}");
            }
        }
    }
}

fn quotes() -> Vec<Quote> {
    let pairs = Country::ALL
        .into_iter()
        .flat_map(|country| Currency::SOURCES.map(|currency| (country, currency)));
    let pairs: Vec<_> = pairs.collect();
    let made = (0..).filter_map(|seed: u64| {
        let (country, currency) =
            pairs[usize::try_from(drawn(4 * seed)).expect("64 bits") % pairs.len()];
        let mut asked = pricing(country, currency, "1", "1");
        let units = 10_u64.pow(currency.minor_units());
        asked.amount = Money::new(within(4 * seed + 1, BASE_UNITS * units), currency).decimal();
        asked.mid = Decimal::new(within(4 * seed + 2, 90_000_000_000).into(), 6);
        asked.margin_bps = u32::try_from(drawn(4 * seed + 3) % 500).expect("small");
        // A payout in whole VND may round to zero.
        asked.offer(|_| 0).ok().map(quoted)
    });
    made.take(usize::try_from(QUOTES).expect("64 bits")).collect()
}

fn double_product(rate: &str, amount: &str) -> Binary64 {
    Binary64::parse(rate).times(Binary64::parse(amount))
}

/// The product with the decimals of both factors, as `BigDecimal` prints it, with at most `digits`
/// digits.
fn exact_product(rate: &str, amount: &str, digits: Option<usize>) -> String {
    let parts = |text: &str| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        (format!("{whole}{fraction}").parse::<u128>().expect("digits"), fraction.len())
    };
    let ((rate, rate_decimals), (amount, amount_decimals)) = (parts(rate), parts(amount));
    let (product, decimals) = (rate * amount, rate_decimals + amount_decimals);
    assert!(
        digits.is_none_or(|most| product.to_string().len() <= most),
        "the client would round the product"
    );
    let padded = format!("{product:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

fn padded(text: &str, decimals: usize) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}.{fraction:0<decimals$}")
}

/// Scientific notation of a decimal number: `9.3591E3` for `9359.1`.
fn scientific(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let first = digits.bytes().position(|digit| digit != b'0').expect("not zero");
    let (lead, rest) = digits[first..].split_at(1);
    let exponent = whole.len().cast_signed() - first.cast_signed() - 1;
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{lead}.{rest}E{exponent}")
}

/// The first `digits` significant digits: a spreadsheet drops the rest of a typed or pasted number.
fn cut(text: &str, digits: usize) -> String {
    let mut significant = 0;
    let kept = |c: char| {
        significant += usize::from(c.is_ascii_digit() && (significant > 0 || c != '0'));
        if c.is_ascii_digit() && significant > digits { '0' } else { c }
    };
    text.chars().map(kept).collect()
}
