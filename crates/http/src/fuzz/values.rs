//! Single values: numbers, instants, account numbers, names and telephone numbers.

use domain::bic::Bic;
use domain::chain::{Address, EcdsaSignature, TxHash};
use domain::coin_amount;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::{Decimal, Rounding};
use domain::iban::Iban;
use domain::money::Money;
use domain::payment_search::Reading;
use domain::phone::{DialCountry, international};
use domain::rail_text::CharacterSet;
use domain::{email, name_words};

use super::text;
use crate::decode::query;

/// One or two numbers, divided by a space: they stay the same when they are written and read again,
/// and sums and rounding agree with each other.
pub(super) fn number(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let (first, second) = text.split_once(' ').unwrap_or((text, "1"));
    if let Some(minor) = coin_amount::parse(first) {
        assert_eq!(coin_amount::parse(&coin_amount::show(minor)), Some(minor));
    }
    for decimals in [0, 2, 3, 12] {
        if let (Ok(rounded), Ok(exact)) =
            (Decimal::parse_rounded(first, decimals), Decimal::parse(first))
        {
            assert_eq!(rounded, exact.round(decimals, Rounding::HalfEven), "{first}");
        }
    }
    let Ok(number) = Decimal::parse(first) else { return };
    assert_eq!(Decimal::parse_exact(&number.to_string()), Some(number));
    assert!(number.decimals() <= 12, "{first}");
    for currency in Currency::ALL {
        if let Some(money) = Money::exact(number, currency) {
            assert_eq!(money.decimal(), number, "{first} {currency:?}");
        }
    }
    let Ok(other) = Decimal::parse(second) else { return };
    assert_eq!(number.cmp(&other), other.cmp(&number).reverse());
    if let Some(sum) = number.checked_add(other) {
        assert_eq!(sum.checked_sub(other), Some(number), "{text}");
        assert_eq!(other.checked_add(number), Some(sum), "{text}");
    }
    assert_eq!(number.checked_mul(other), other.checked_mul(number), "{text}");
    let quotient = |rounding| number.checked_div(other, 6, rounding);
    if let (Some(low), Some(high)) = (quotient(Rounding::Floor), quotient(Rounding::Ceil)) {
        let even = quotient(Rounding::HalfEven).expect("between the others");
        assert!(low <= even && even <= high, "{text}");
    }
}

/// First and last second of the years 0 to 9999: instants outside are clamped.
const FIRST_S: i64 = -62_167_219_200;
const LAST_S: i64 = 253_402_300_799;

/// An instant is what other readers of RFC 3339 make of it, and stays the same when it is written.
pub(super) fn instant(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(at) = query::instant("at", text) else { return };
    assert_eq!(query::instant("at", &at.to_string()), Ok(at.to_millis()), "{text}");
    // A leap second is another instant to others.
    if !text.contains(":60")
        && let Ok(other) = text.trim().parse::<jiff::Timestamp>()
        && (FIRST_S..LAST_S).contains(&other.as_second())
    {
        assert!((other.as_microsecond() - at.0).abs() <= 1, "{text}: {at:?} or {other}");
    }
}

/// Identifiers of accounts, banks and payers, which are only accepted in one form.
pub(super) fn account_number(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for country in Country::ALL {
        if let Ok(iban) = Iban::parse(country, text) {
            assert_eq!(Iban::parse(country, iban.as_str()).as_ref(), Ok(&iban));
            assert!(iban.branch().starts_with(iban.bank()), "{iban:?}");
        }
    }
    if let Some(bic) = Bic::parse(text) {
        assert_eq!(Bic::parse(bic.as_str()), Some(bic.clone()));
        assert!(bic.as_str().is_ascii() && matches!(bic.as_str().len(), 8 | 11));
    }
    if let Some(address) = Address::parse_checked(text) {
        assert_eq!(Address::parse_checked(&address.to_string()), Some(address));
    }
    if let Some(hash) = TxHash::parse(text) {
        assert_eq!(TxHash::parse(&hash.to_string()), Some(hash));
    }
    let _signature = EcdsaSignature::parse(text);
}

/// A name, an e-mail address and a telephone number; a rail's spelling holds only its characters.
pub(super) fn person(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for set in [CharacterSet::SwiftX, CharacterSet::Ascii, CharacterSet::Latin1] {
        let spelt = set.spell(text, 140);
        assert!(spelt.chars().count() <= 140);
        assert!(set.contains(&spelt), "{spelt:?}");
        assert_eq!(set.spell(&spelt, 140), spelt, "spelt twice");
        if set.can_name(text) {
            assert!(!set.spell(text, usize::MAX).is_empty(), "{text:?}");
        }
    }
    if email::is_email(text) {
        assert!(!text.contains(['\r', '\n', ' ', '<', '>', '"', ',', ';']), "{text:?}");
    }
    for country in ["", "AE", "IN", "SG"] {
        if let Some(number) = international(text, DialCountry::parse(country)) {
            assert_eq!(international(&number, None), Some(number));
        }
    }
    assert!(name_words::plain_words(text).iter().all(|word| !word.is_empty()));
}

/// What an operator searches for: an account's end, an amount.
pub(super) fn search_term(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let _term = Reading::account(text).term();
    if let Ok(amount) = Decimal::parse(text) {
        for reading in [Reading::amount(amount, vec![]), Reading::about(amount, vec![])] {
            for decimals in [0, 2, 3, 6] {
                let _bounds = reading.minor_units(decimals);
            }
        }
    }
}
