//! `GET /v1/sdk/orders/exchange-rate` and `POST /v1/sdk/orders`

use domain::bank::BankDirectory;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::fault::Fault;
use domain::iban::{Iban, IbanError, shape_of};
use domain::order::{BENEFICIARY_NAME_MAX_CHARS, account_part, check_route_hints, same_account};

use super::request::COIN;
use super::shapes::Amount;
use super::{ID_MAX_CHARS, TEXT_MAX_CHARS};
use crate::decode::query::Query;
use crate::decode::shape::{Flag, OneOf, one_of, text};
use crate::decode::{Fields, Rejection, missing};

/// The only valid value of `order_type`.
pub(super) const ORDER_TYPE: OneOf<()> = one_of(&[()], |()| "EXCHANGE");

/// `to_currency`: the currency of a configured destination.
const fn to_currency(destinations: &[Country]) -> OneOf<'_, Country> {
    one_of(destinations, |country| country.currency().code())
}

/// The query of `GET /v1/sdk/orders/exchange-rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateQuery {
    /// Member `from_currency` of the body.
    pub from: StableCoin,
    /// The country of `to_currency`.
    pub to: Country,
    /// `amount` in minor units of the token; `None` if not given.
    pub minor: Option<i64>,
}

/// Decodes the query, of an exchange to one of these destinations.
///
/// # Errors
/// Every invalid parameter, in the order of the specification.
pub fn rate_query(raw: Option<&str>, destinations: &[Country]) -> Result<RateQuery, Rejection> {
    let mut query = Query::of(raw);
    let from = query.required("from_currency", |name, given| COIN.read_str(name, given));
    let to = query
        .required("to_currency", |name, given| to_currency(destinations).read_str(name, given));
    let minor = query.optional("amount", |name, given| Amount.read_str(name, given));
    query.finish(|| Some(RateQuery { from: from?, to: to?, minor }))
}

/// `bank_account`: an account in the country of `to_currency`, by IBAN or by bank and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankAccount {
    /// In electronic form, with valid check digits.
    pub iban: Option<String>,
    /// The bank's own account number.
    pub account_number: Option<String>,
    /// BIC, or the country's own code.
    pub bank_code: Option<String>,
    pub account_holder_name: String,
}

/// The body of `POST /v1/sdk/orders`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderAsked {
    /// The source wallet as given; it may not exist.
    pub wallet_id: String,
    /// `amount` in minor units of the token.
    pub minor: i64,
    /// Member `from_currency` of the body.
    pub from: StableCoin,
    /// The country of `to_currency`.
    pub to: Country,
    pub bank_account: BankAccount,
    /// Whether to lock the rate for 15 minutes.
    pub lock_rate: bool,
}

/// Decodes the body, of an exchange to one of these destinations. Without a valid `to_currency` the
/// account is not judged by the rules of a country.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn order(body: &[u8], destinations: &[Country]) -> Result<OrderAsked, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let order_type = fields.required("order_type", ORDER_TYPE);
    let wallet_id = fields.required("wallet_id", text(ID_MAX_CHARS));
    let minor = fields.required("amount", Amount);
    let from = fields.required("from_currency", COIN);
    let to = fields.required("to_currency", to_currency(destinations));
    // With one destination its rules hold for the account, whatever `to_currency` is.
    let country = to.or(if let [only] = destinations { Some(*only) } else { None });
    let bank_account = match fields.object("bank_account") {
        Some(mut inner) => {
            let account = bank_account(&mut inner, country);
            fields.absorb(inner);
            account
        }
        None => None,
    };
    let lock_rate = fields.optional("lock_rate", Flag);
    fields.finish(|| {
        let () = order_type?;
        Some(OrderAsked {
            wallet_id: wallet_id?,
            minor: minor?,
            from: from?,
            to: to?,
            bank_account: bank_account?,
            lock_rate: lock_rate.unwrap_or(false),
        })
    })
}

fn bank_account(fields: &mut Fields<'_>, country: Option<Country>) -> Option<BankAccount> {
    let short = text(TEXT_MAX_CHARS);
    let iban = fields.optional("bank_account.iban", short);
    let account_number = fields.optional("bank_account.account_number", short);
    let bank_code = fields.optional("bank_account.bank_code", short);
    let account_holder_name =
        fields.required("bank_account.account_holder_name", text(BENEFICIARY_NAME_MAX_CHARS));
    let has_ibans = country.is_none_or(|country| shape_of(country).is_some());
    match (&iban, &account_number, &bank_code) {
        (None, None, None) if has_ibans => fields.refuse(Fault::new(
            "bank_account.iban",
            "missing",
            "Field required, unless account_number and bank_code are given",
        )),
        (None, None, None) => {
            fields.refuse(missing("bank_account.account_number"));
            fields.refuse(missing("bank_account.bank_code"));
        }
        (None, Some(_), None) => fields.refuse(missing("bank_account.bank_code")),
        (None, None, Some(_)) => fields.refuse(missing("bank_account.account_number")),
        _ => {}
    }
    let iban = match country {
        Some(country) => judged(
            fields,
            country,
            iban.as_deref(),
            account_number.as_deref(),
            bank_code.as_deref(),
        ),
        None => iban,
    };
    Some(BankAccount { iban, account_number, bank_code, account_holder_name: account_holder_name? })
}

/// Judges an account by the rules of its country; returns the IBAN in electronic form.
fn judged(
    fields: &mut Fields<'_>,
    country: Country,
    iban: Option<&str>,
    account_number: Option<&str>,
    bank_code: Option<&str>,
) -> Option<String> {
    let iban = iban.and_then(|text| match Iban::parse(country, text) {
        Ok(iban) => Some(iban.into_string()),
        Err(error) => {
            let of = country.name();
            let message = match error {
                IbanError::NoIbans => {
                    format!("{of} does not use IBANs: give account_number and bank_code")
                }
                error => format!("An IBAN of {of} {error}"),
            };
            fields.refuse(Fault::new("bank_account.iban", "invalid_iban", message));
            None
        }
    });
    let directory = BankDirectory::default();
    let faults = check_route_hints(country, account_number, bank_code, &directory);
    // Malformed values are not compared.
    let is_compared = faults.is_empty();
    for fault in faults {
        fields.refuse(of_account(fault));
    }
    if let Some(iban) = iban.as_deref().filter(|_| is_compared) {
        contradictions(fields, country, iban, account_number, bank_code);
    }
    iban
}

/// Refuses an account number or bank code that contradicts the IBAN: the service must not choose
/// the payee.
fn contradictions(
    fields: &mut Fields<'_>,
    country: Country,
    iban: &str,
    account_number: Option<&str>,
    bank_code: Option<&str>,
) {
    if account_number.is_some_and(|number| !is_account_of(iban, number)) {
        fields.refuse(Fault::new(
            "bank_account.account_number",
            "account_iban_mismatch",
            "account_number does not match the IBAN",
        ));
    }
    let hints = check_route_hints(country, Some(iban), bank_code, &BankDirectory::default());
    if hints.iter().any(|fault| fault.rule == "branch_iban_mismatch") {
        fields.refuse(Fault::new(
            "bank_account.bank_code",
            "branch_iban_mismatch",
            "bank_code does not match the IBAN",
        ));
    }
}

/// Minimum number of digits that identify an IBAN's account if its bank omits others.
const ACCOUNT_TAIL_MIN: usize = 6;

/// Whether a number denotes the IBAN's account: the IBAN itself, or its account part, with or
/// without leading zeros and other prefixes of the bank.
fn is_account_of(iban: &str, number: &str) -> bool {
    let number: String = number.split_whitespace().collect::<String>().to_ascii_uppercase();
    // An IBAN in the number's place also names a bank.
    if same_account(iban, &number) || account_part(&number) != number {
        return same_account(iban, &number);
    }
    let (ours, theirs) =
        (account_part(iban).trim_start_matches('0'), number.trim_start_matches('0'));
    let is_tail =
        |long: &str, short: &str| short.len() >= ACCOUNT_TAIL_MIN && long.ends_with(short);
    ours == theirs || is_tail(ours, theirs) || is_tail(theirs, ours)
}

/// Renames a v2 field error to v1's fields.
fn of_account(fault: Fault) -> Fault {
    let (theirs, ours) = match fault.field {
        "beneficiary_account_number" => {
            ("beneficiary_account_number", "bank_account.account_number")
        }
        _ => ("bank_branch_code", "bank_account.bank_code"),
    };
    let message = fault
        .message
        .replace("beneficiary_account_number", "account_number")
        .replace(theirs, "bank_code");
    Fault { field: ours, message, ..fault }
}
