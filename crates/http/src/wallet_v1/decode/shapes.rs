//! Shapes of Wallet Service v1 that Payment Service v2 lacks: amounts as text, phone numbers, email
//! addresses (`decisions.md`, "Amounts").

use domain::coin_amount;
use domain::e164::is_e164;
use domain::email::{EMAIL_MAX_BYTES, is_email};
use domain::fault::Fault;

use crate::decode::shape::{Shape, text};
use crate::json::Value;

/// Maximum length of a phone number.
const PHONE_MAX_CHARS: usize = 32;

/// An amount as text, in millionths of a unit: 1 to 12 digits, at most 6 decimals, greater than
/// zero. JSON numbers are not accepted.
#[derive(Clone, Copy, Debug)]
pub struct Amount;

impl Amount {
    /// Parses plain text from a query string.
    ///
    /// # Errors
    /// `invalid_amount`
    pub fn read_str(&self, field: &'static str, given: &str) -> Result<i64, Fault> {
        coin_amount::parse(given).ok_or_else(|| {
            let message = "Amount should be text like 25.00: 1 to 12 digits, at most 6 decimals, greater than 0";
            Fault::new(field, "invalid_amount", message)
        })
    }
}

impl Shape for Amount {
    type Out = i64;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<i64, Fault> {
        let text = value.as_str().ok_or_else(|| {
            Fault::new(field, "string_type", "Input should be a valid string: amounts are strings")
        })?;
        self.read_str(field, text.trim())
    }
}

/// A phone number in international format.
#[derive(Clone, Copy, Debug)]
pub struct Phone;

impl Shape for Phone {
    type Out = String;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<String, Fault> {
        let number = text(PHONE_MAX_CHARS).read(field, value)?;
        let message = "Input should be an E.164 number: + and 7 to 15 digits with the country code";
        if is_e164(&number) { Ok(number) } else { Err(Fault::new(field, "invalid_phone", message)) }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Email;

impl Shape for Email {
    type Out = String;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<String, Fault> {
        let address = text(EMAIL_MAX_BYTES).read(field, value)?;
        let message = "Input should be a valid e-mail address";
        if is_email(&address) {
            Ok(address)
        } else {
            Err(Fault::new(field, "invalid_email", message))
        }
    }
}
