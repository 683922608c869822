//! What the table in `fields.rs` says about one field of a payment order.

use std::borrow::Cow;

use jiff::civil::Date;
use uuid::Uuid;

use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::fault::Fault;
use crate::ids::QuoteId;

use super::check::Given;
use super::{AccountType, BANK_BRANCH_CODE, DocumentType, Order};

/// JSON type and bounds of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text; tab and newline are allowed in a multiline one.
    Text {
        /// Least number of characters.
        min: usize,
        /// Greatest number of characters.
        max: usize,
        /// Whether it may have several lines.
        multiline: bool,
    },
    /// One of a closed set of names.
    OneOf {
        /// Name of the set in the OpenAPI document.
        set: &'static str,
        /// The names, in order.
        names: &'static [&'static str],
    },
    /// An exact number above 0.
    Number,
    /// A UUID in its hyphenated form.
    Uuid,
    /// A calendar day, `YYYY-MM-DD`.
    Date,
    /// A JSON boolean, `true` or `false`.
    Flag,
}

/// Text of at most `max` characters.
pub(super) const fn text(max: usize) -> Form {
    Form::Text { min: 0, max, multiline: false }
}

/// Who provides a field, and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In every request and answer.
    Required,
    /// In every answer; a request may lack it.
    Optional,
    /// In every answer; ignored in a request.
    Output,
    /// Stored with the order, in no request and no answer.
    Internal,
}

/// Whether a text is of a form, and the form in words.
type TextForm = (fn(&str) -> bool, &'static str);

/// One field of a payment order.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in the API.
    pub name: &'static str,
    /// Name in the stored order.
    pub stored_name: &'static str,
    /// Which requests and answers contain it.
    pub role: Role,
    /// JSON type and bounds.
    pub form: Form,
    /// Whether an order may lack it.
    pub nullable: bool,
    /// Version that added it; `None` for the fields of 0.1.0, which every stored order has.
    pub since: Option<&'static str>,
    /// The only countries whose orders take it; empty if all do.
    pub countries: &'static [Country],
    /// Regular expression of its texts, for the OpenAPI document.
    pub pattern: Option<&'static str>,
    /// Format of JSON Schema, for the OpenAPI document.
    pub format: Option<&'static str>,
    /// Whether the specification allows null in answers though no order lacks it.
    pub nullable_in_answers: bool,
    /// Description in the OpenAPI document.
    pub description: &'static str,
    /// Description of the value in an answer, where it differs.
    pub in_answers: &'static str,
    /// Placeholder and help of its own command line option.
    pub option: Option<(&'static str, &'static str)>,
    /// Label on the console's page of a payment.
    pub label: Option<&'static str>,
    text_form: Option<TextForm>,
    example: fn(Country) -> Option<String>,
    rule: fn(&Given<'_>) -> Option<Fault>,
    value: fn(&Order) -> Option<Cow<'_, str>>,
    read: fn(&mut Order, String) -> bool,
}

impl Field {
    pub(super) const fn new(role: Role, form: Form) -> Field {
        Field {
            name: "",
            stored_name: "",
            role,
            form,
            nullable: false,
            since: None,
            countries: &[],
            pattern: None,
            format: None,
            nullable_in_answers: false,
            description: "",
            in_answers: "",
            option: None,
            label: None,
            text_form: None,
            example: |_| None,
            rule: |_| None,
            value: |_| None,
            read: |_, _| false,
        }
    }

    pub(super) const fn required(form: Form) -> Field {
        Field::new(Role::Required, form)
    }

    pub(super) const fn optional(form: Form) -> Field {
        Field::new(Role::Optional, form)
    }

    pub(super) const fn stored_as(self, stored_name: &'static str) -> Field {
        Field { stored_name, ..self }
    }

    pub(super) const fn since(self, version: &'static str) -> Field {
        Field { since: Some(version), ..self }
    }

    pub(super) const fn taken_by(self, countries: &'static [Country]) -> Field {
        Field { countries, ..self }
    }

    /// Whether a text has the form that `form` describes.
    pub(super) const fn text_form(self, matches: fn(&str) -> bool, form: &'static str) -> Field {
        Field { text_form: Some((matches, form)), ..self }
    }

    pub(super) const fn pattern(self, pattern: &'static str) -> Field {
        Field { pattern: Some(pattern), ..self }
    }

    pub(super) const fn format(self, format: &'static str) -> Field {
        Field { format: Some(format), ..self }
    }

    pub(super) const fn nullable_in_answers(self) -> Field {
        Field { nullable_in_answers: true, ..self }
    }

    pub(super) const fn described(self, description: &'static str) -> Field {
        Field { description, in_answers: description, ..self }
    }

    pub(super) const fn in_answers(self, in_answers: &'static str) -> Field {
        Field { in_answers, ..self }
    }

    pub(super) const fn option(self, placeholder: &'static str, help: &'static str) -> Field {
        Field { option: Some((placeholder, help)), ..self }
    }

    pub(super) const fn label(self, label: &'static str) -> Field {
        Field { label: Some(label), ..self }
    }

    pub(super) const fn example(self, example: fn(Country) -> Option<String>) -> Field {
        Field { example, ..self }
    }

    pub(super) const fn rule(self, rule: fn(&Given<'_>) -> Option<Fault>) -> Field {
        Field { rule, ..self }
    }

    /// Names the field and gives it its place in an order.
    pub(super) const fn of<T: Value>(
        self,
        name: &'static str,
        value: fn(&Order) -> Option<Cow<'_, str>>,
        read: fn(&mut Order, String) -> bool,
    ) -> Field {
        let stored_name = if self.stored_name.is_empty() { name } else { self.stored_name };
        Field { name, stored_name, nullable: T::NULLABLE, value, read, ..self }
    }

    /// Whether a request can have it.
    pub const fn is_input(&self) -> bool {
        matches!(self.role, Role::Required | Role::Optional)
    }

    /// Whether answers have it.
    pub const fn is_output(&self) -> bool {
        !matches!(self.role, Role::Internal)
    }

    /// The stored value as text; `None` if the order lacks it.
    pub fn value<'o>(&self, order: &'o Order) -> Option<Cow<'o, str>> {
        (self.value)(order)
    }

    /// The value in answers: as stored, except that a branch is shown by its local code.
    pub fn shown<'o>(&self, order: &'o Order) -> Option<Cow<'o, str>> {
        match self.name {
            BANK_BRANCH_CODE => Some(order.branch_code().into()),
            _ => self.value(order),
        }
    }

    /// Sets the value from its text; `false` if the text is none of its form.
    #[must_use]
    pub fn read(&self, order: &mut Order, text: String) -> bool {
        (self.read)(order, text)
    }

    /// A fictitious value for an order to `country`.
    pub fn example_for(&self, country: Country) -> Option<String> {
        (self.example)(country)
    }

    /// The rule that the order violates with this field.
    pub(super) fn violation(&self, given: &Given<'_>) -> Option<Fault> {
        self.misplaced(given.order)
            .or_else(|| self.misspelt(given.order))
            .or_else(|| (self.rule)(given))
    }

    /// A text that is not of the field's own form.
    fn misspelt(&self, order: &Order) -> Option<Fault> {
        let (matches, form) = self.text_form?;
        let value = self.value(order)?;
        let message = || format!("{} must be {form}", self.name);
        (!matches(&value)).then(|| Fault::new(self.name, "string_pattern_mismatch", message()))
    }

    /// A value in an order to a country whose orders do not take the field. It is refused rather
    /// than ignored: the client expects an effect that the payment would not have.
    fn misplaced(&self, order: &Order) -> Option<Fault> {
        if self.countries.is_empty() || self.countries.contains(&order.country) {
            return None;
        }
        self.value(order)?;
        let countries: Vec<&str> = self.countries.iter().map(|country| country.alpha3()).collect();
        let countries = countries.join(", ");
        let message = format!("{} is taken in orders to {countries} only", self.name);
        Some(Fault::new(self.name, "unsupported_field", message).with("countries", countries))
    }
}

/// A type of field values, each with one text: the one in JSON, without its quotes.
pub(super) trait Value: Sized {
    /// What stands for a missing or an invalid value of an order that is still checked.
    const PLACEHOLDER: Self;
    /// Whether a value can be absent.
    const NULLABLE: bool = false;

    fn text(&self) -> Option<Cow<'_, str>>;

    fn of_text(text: String) -> Option<Self>;

    /// Whether `text` was read into `self`.
    fn read(&mut self, text: String) -> bool {
        Self::of_text(text).map(|value| *self = value).is_some()
    }
}

impl<T: Value> Value for Option<T> {
    const PLACEHOLDER: Option<T> = None;
    const NULLABLE: bool = true;

    fn text(&self) -> Option<Cow<'_, str>> {
        self.as_ref().and_then(T::text)
    }

    fn of_text(text: String) -> Option<Option<T>> {
        T::of_text(text).map(Some)
    }
}

impl Value for String {
    const PLACEHOLDER: String = String::new();

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.as_str().into())
    }

    fn of_text(text: String) -> Option<String> {
        Some(text)
    }
}

macro_rules! values {
    ($($type:ty: $placeholder:expr, $text:expr, $read:expr;)+) => {$(
        impl Value for $type {
            const PLACEHOLDER: $type = $placeholder;

            fn text(&self) -> Option<Cow<'_, str>> {
                Some($text(*self).into())
            }

            fn of_text(text: String) -> Option<$type> {
                $read(text.as_str())
            }
        }
    )+};
}

values! {
    Country: Country::ALL[0], Country::alpha3, Country::parse;
    Currency: Currency::ALL[0], Currency::code, Currency::parse;
    AccountType: AccountType::Savings, AccountType::name, AccountType::parse;
    DocumentType: DocumentType::Other, DocumentType::name, DocumentType::parse;
    QuoteId: QuoteId(Uuid::nil()), |id: QuoteId| id.to_string(), QuoteId::parse;
    Decimal: Decimal::ONE, |number: Decimal| number.to_string(), Decimal::parse_exact;
    Date: Date::ZERO, |date: Date| date.to_string(), |text: &str| text.parse().ok();
    bool: false, |flag| if flag { "true" } else { "false" }, |text: &str| text.parse().ok();
}
