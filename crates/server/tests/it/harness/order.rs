//! Payment orders as bodies with raw JSON fields, so that tests can send anything.

use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::QuoteId;
use domain::order::{FIELDS, Form, example};

use super::json::quoted;

/// A body under construction; fields keep their order.
#[derive(Clone, Debug)]
pub struct Order(Vec<(String, String)>);

impl Order {
    /// The example order of a country, complete and valid for a quote that expects `amount`.
    pub fn example(country: Country, currency: Currency, quote: &str, amount: &str) -> Order {
        let quote_id = QuoteId::parse(quote).expect("a quote id");
        let example =
            example::order(country, quote_id, currency, Decimal::parse(amount).expect("an amount"));
        let mut order = Order(Vec::new());
        for field in FIELDS.iter().filter(|field| field.is_input()) {
            let Some(value) = field.value(&example.0) else { continue };
            order.put(
                field.name,
                if field.form == Form::Number { amount.to_owned() } else { quoted(&value) },
            );
        }
        order
    }

    fn put(&mut self, field: &str, raw: String) {
        match self.0.iter_mut().find(|(name, _)| name == field) {
            Some((_, value)) => *value = raw,
            None => self.0.push((field.to_owned(), raw)),
        }
    }

    /// Sets a field to raw JSON.
    pub fn with(mut self, field: &str, raw: impl Into<String>) -> Order {
        self.put(field, raw.into());
        self
    }

    /// Sets a field to text.
    pub fn text(self, field: &str, text: &str) -> Order {
        self.with(field, quoted(text))
    }

    pub fn without(mut self, field: &str) -> Order {
        self.0.retain(|(name, _)| name != field);
        self
    }

    /// Sets an account whose number has this ending.
    pub fn ending(self, country: Country, ending: &str) -> Order {
        self.text("beneficiary_account_number", &example::account_ending(country, ending))
    }

    /// Sets a sender whose name alone decides about a match on a sanctions list.
    pub fn from(self, name: &str) -> Order {
        self.text("sender_name", name).without("sender_birthdate")
    }

    pub fn body(&self) -> Vec<u8> {
        let members: Vec<String> =
            self.0.iter().map(|(name, raw)| format!("{}:{raw}", quoted(name))).collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    }
}
