//! `POST /v1/sdk/payment-requests`

use domain::currency::{Currency, StableCoin};
use domain::fault::Fault;
use domain::order::BENEFICIARY_NAME_MAX_CHARS;
use domain::payment_request::{AmountAsked, DEFAULT_EXPIRES_IN_HOURS, EXPIRES_IN_HOURS, FIAT};

use super::shapes::Amount;
use super::{ID_MAX_CHARS, TEXT_MAX_CHARS};
use crate::decode::shape::{Integer, OneOf, one_of, text};
use crate::decode::{Fields, Rejection};

/// Decimals of an amount in millionths of a currency's unit.
const MICROS_DECIMALS: u32 = 6;

const EXPIRES_IN: Integer =
    Integer { min: *EXPIRES_IN_HOURS.start(), max: *EXPIRES_IN_HOURS.end() };

#[derive(Clone, Copy)]
enum AmountType {
    Crypto,
    Fiat,
    Flexible,
}

const AMOUNT_TYPE: OneOf<AmountType> =
    one_of(&[AmountType::Crypto, AmountType::Fiat, AmountType::Flexible], |kind| match kind {
        AmountType::Crypto => "crypto",
        AmountType::Fiat => "fiat",
        AmountType::Flexible => "flexible",
    });
/// A token, as bodies and queries name it.
pub(super) const COIN: OneOf<StableCoin> = one_of(&StableCoin::ALL, |coin| coin.currency().code());
const FIAT_CURRENCY: OneOf<Currency> = one_of(&FIAT, Currency::code);

/// The body of `POST /v1/sdk/payment-requests`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAsked {
    /// The recipient's wallet as given; it may not exist.
    pub wallet_id: String,
    pub amount: AmountAsked,
    pub purpose: Option<String>,
    /// The recipient's name, which the pay page shows shortened.
    pub recipient_name: Option<String>,
    /// 1 to 720 hours.
    pub expires_in_hours: i64,
}

/// Decodes the body.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn payment_request(body: &[u8]) -> Result<RequestAsked, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let wallet_id = fields.required("wallet_id", text(ID_MAX_CHARS));
    let amount = match fields.object("amount") {
        Some(mut inner) => {
            let amount = amount(&mut inner);
            fields.absorb(inner);
            amount
        }
        None => None,
    };
    let purpose = fields.optional("purpose", text(TEXT_MAX_CHARS));
    let recipient_name = fields.optional("recipient_name", text(BENEFICIARY_NAME_MAX_CHARS));
    let expires_in_hours = fields.optional("expires_in_hours", EXPIRES_IN);
    fields.finish(|| {
        Some(RequestAsked {
            wallet_id: wallet_id?,
            amount: amount?,
            purpose,
            recipient_name,
            expires_in_hours: expires_in_hours.unwrap_or(DEFAULT_EXPIRES_IN_HOURS),
        })
    })
}

fn amount(fields: &mut Fields<'_>) -> Option<AmountAsked> {
    match fields.required("amount.type", AMOUNT_TYPE)? {
        AmountType::Crypto => {
            let value = fields.required("amount.value", Amount);
            let coin = fields.required("amount.currency", COIN);
            Some(AmountAsked::Crypto(coin?, value?))
        }
        AmountType::Fiat => {
            let value = fields.required("amount.value", Amount);
            let currency = fields.required("amount.currency", FIAT_CURRENCY);
            let (currency, micros) = (currency?, value?);
            if let Some(fault) = finer_than(currency, micros) {
                fields.refuse(fault);
            }
            Some(AmountAsked::Fiat(currency, micros))
        }
        AmountType::Flexible => Some(AmountAsked::Flexible),
    }
}

/// A fiat amount of fractions that its currency does not have; `micros` in millionths of its unit.
fn finer_than(currency: Currency, micros: i64) -> Option<Fault> {
    let decimals = currency.minor_units();
    let unit = 10_i64.pow(MICROS_DECIMALS.saturating_sub(decimals));
    (micros % unit != 0).then(|| {
        let code = currency.code();
        let message = format!("Amount in {code} should have at most {decimals} decimals");
        Fault::new("amount.value", "invalid_amount", message)
    })
}
