//! Payment orders as bodies with raw JSON fields, so that tests can send anything.

use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::QuoteId;
use domain::order::example;

use super::json::quoted;

/// A body under construction; fields keep their order.
#[derive(Clone, Debug)]
pub struct Order(Vec<(String, String)>);

impl Order {
    /// The example order of a country, complete and valid for a quote that expects `amount`.
    pub fn example(country: Country, currency: Currency, quote: &str, amount: &str) -> Order {
        let quote_id = QuoteId::parse(quote).expect("a quote id");
        let draft =
            example::draft(country, quote_id, currency, Decimal::parse(amount).expect("an amount"));
        let mut order = Order(Vec::new());
        order.put("country", quoted(draft.country.alpha3()));
        order.put("currency", quoted(draft.currency.code()));
        order.put("quote", quoted(quote));
        order.put("amount", amount.to_owned());
        for (field, value) in [
            ("bank_name", Some(draft.bank_name)),
            ("bank_branch_code", Some(draft.bank_branch_code)),
            ("beneficiary_name", Some(draft.beneficiary_name)),
            ("beneficiary_city", Some(draft.beneficiary_city)),
            ("beneficiary_address", Some(draft.beneficiary_address)),
            ("beneficiary_account_number", Some(draft.beneficiary_account_number)),
            ("beneficiary_account_type", Some(draft.beneficiary_account_type.name().to_owned())),
            ("beneficiary_mobile", draft.beneficiary_mobile),
            ("beneficiary_email", draft.beneficiary_email),
            ("remarks", draft.remarks),
            ("sender_name", Some(draft.sender_name)),
            ("sender_birthdate", draft.sender_birthdate.map(|date| date.to_string())),
            ("sender_identity_doc_type", Some(draft.sender_identity_doc_type.name().to_owned())),
            ("sender_identity_doc", Some(draft.sender_identity_doc)),
            ("sender_identity_doc_exp", draft.sender_identity_doc_exp.map(|date| date.to_string())),
            ("sender_identity_doc_country", draft.sender_identity_doc_country),
            ("sender_city", Some(draft.sender_city)),
            ("sender_address", Some(draft.sender_address)),
            ("sender_country", Some(draft.sender_country)),
            ("sender_mobile", draft.sender_mobile),
            ("sender_relation", Some(draft.sender_relation)),
        ] {
            order.put(field, value.map_or_else(|| "null".to_owned(), |text| quoted(&text)));
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
