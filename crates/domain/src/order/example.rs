//! Fictitious orders that are valid under the shipped sample of the bank directory: for
//! documentation, the command line's defaults, tests and benchmarks. No production path uses this
//! module.

use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::iban::{check_digits, shape_of};
use crate::ids::QuoteId;

use super::{FIELDS, Order, UncheckedOrder};

/// Ending of the example accounts, without a special meaning in the sandbox.
pub const NEUTRAL_ENDING: &str = "6702";

/// An order to `country` for `amount` in its currency, using `quote` made in `currency`.
pub fn order(
    country: Country,
    quote: QuoteId,
    currency: Currency,
    amount: Decimal,
) -> UncheckedOrder {
    let mut order = Order { country, currency, quote, amount, ..Order::placeholder() };
    for field in FIELDS {
        if let Some(text) = field.example_for(country) {
            let read = field.read(&mut order, text);
            debug_assert!(read, "the example of {} is of its form", field.name);
        }
    }
    UncheckedOrder(order)
}

/// A valid account number of the example bank of `country` that ends in `ending` (4 digits); an
/// IBAN's check digits are computed.
pub fn account_ending(country: Country, ending: &str) -> String {
    let national = format!("{}{ending}", country.rules().example.account_stem);
    match shape_of(country)
        .and_then(|shape| Some((shape.country, check_digits(shape.country, &national)?)))
    {
        Some((head, digits)) => format!("{head}{digits}{national}"),
        None => national,
    }
}
