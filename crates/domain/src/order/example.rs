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
    let national = format!("{}{ending}", beneficiary(country).account_stem);
    match shape_of(country)
        .and_then(|shape| Some((shape.country, check_digits(shape.country, &national)?)))
    {
        Some((head, digits)) => format!("{head}{digits}{national}"),
        None => national,
    }
}

pub(super) struct Beneficiary {
    pub bank_name: &'static str,
    pub branch_code: &'static str,
    /// The account number without its last four digits; for an IBAN, without its prefix.
    account_stem: &'static str,
    pub name: &'static str,
    pub city: &'static str,
    pub address: &'static str,
    pub mobile: &'static str,
}

pub(super) const fn beneficiary(country: Country) -> Beneficiary {
    match country {
        Country::Bgd => Beneficiary {
            bank_name: "Dutch-Bangla Bank",
            branch_code: "DBBLBDDH",
            account_stem: "117151012",
            name: "Rahim Sampleuddin",
            city: "Dhaka",
            address: "House 7, Road 11, Dhanmondi",
            mobile: "+8801712345678",
        },
        Country::Egy => Beneficiary {
            bank_name: "National Bank of Egypt",
            branch_code: "NBEGEGCX",
            account_stem: "000300010000000012345",
            name: "Mona Samplawy",
            city: "Cairo",
            address: "5 Example Street, Dokki",
            mobile: "+201001234567",
        },
        Country::Ind => Beneficiary {
            bank_name: "HDFC Bank",
            branch_code: "HDFC0000001",
            account_stem: "5010012345",
            name: "Asha Samplekar",
            city: "Mumbai",
            address: "14 Example Road, Fort",
            mobile: "+919812345678",
        },
        Country::Npl => Beneficiary {
            bank_name: "Nabil Bank",
            branch_code: "NARBNPKA",
            account_stem: "0410017501",
            name: "Sita Samplethapa",
            city: "Kathmandu",
            address: "Ward 5, Example Marg",
            mobile: "+9779812345678",
        },
        Country::Pak => Beneficiary {
            bank_name: "Standard Chartered Bank (Pakistan)",
            branch_code: "SCBLPKKX",
            account_stem: "SCBL000000112345",
            name: "Bilal Samplekhan",
            city: "Karachi",
            address: "21 Example Road, Clifton",
            mobile: "+923001234567",
        },
        Country::Phl => Beneficiary {
            bank_name: "Bank of the Philippine Islands",
            branch_code: "BOPIPHMM",
            account_stem: "108912",
            name: "Maria Samplesantos",
            city: "Makati",
            address: "88 Example Avenue",
            mobile: "+639171234567",
        },
        Country::Vnm => Beneficiary {
            bank_name: "Vietcombank",
            branch_code: "BFTVVNVX",
            account_stem: "007100123",
            name: "Nguyen Van Mau",
            city: "Ha Noi",
            address: "16 Duong Vi Du",
            mobile: "+84912345678",
        },
    }
}
