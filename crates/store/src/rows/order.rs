//! Orders as sealed documents: compact JSON of a row struct, so that a change of the domain's
//! struct requires a decision here.

use std::borrow::Cow;

use domain::country::Country;
use domain::currency::Currency;
use domain::ids::{PaymentId, QuoteId, TenantId};
use domain::order::{AccountType, DocumentType, Order};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::column::{Get, Made, Put as _, Raw, Written};
use super::{Keys, decimal};
use crate::error::StoreError;
use crate::sealed::Place;
use crate::sql::{Columns, Fields};

type Text<'a> = Cow<'a, str>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderRow<'a> {
    country: Text<'a>,
    currency: Text<'a>,
    quote: Uuid,
    amount: Text<'a>,
    bank_name: Text<'a>,
    branch_code_given: Text<'a>,
    branch_bic: Option<Text<'a>>,
    branch_local_code: Option<Text<'a>>,
    branch_name: Option<Text<'a>>,
    beneficiary_name: Text<'a>,
    beneficiary_city: Text<'a>,
    beneficiary_address: Text<'a>,
    beneficiary_account_number: Text<'a>,
    account_is_iban: bool,
    beneficiary_account_type: Text<'a>,
    beneficiary_mobile: Option<Text<'a>>,
    beneficiary_email: Option<Text<'a>>,
    remarks: Option<Text<'a>>,
    sender_name: Text<'a>,
    sender_birthdate: Option<Text<'a>>,
    sender_identity_doc_type: Text<'a>,
    sender_identity_doc: Text<'a>,
    sender_identity_doc_exp: Option<Text<'a>>,
    sender_identity_doc_country: Option<Text<'a>>,
    sender_city: Text<'a>,
    sender_address: Text<'a>,
    sender_country: Text<'a>,
    sender_mobile: Option<Text<'a>>,
    sender_relation: Text<'a>,
    external_id: Option<Text<'a>>,
}

fn optional(text: &Option<String>) -> Option<Text<'_>> {
    text.as_deref().map(Cow::Borrowed)
}

impl<'a> OrderRow<'a> {
    fn of(order: &'a Order) -> OrderRow<'a> {
        OrderRow {
            country: order.country.alpha3().into(),
            currency: order.currency.code().into(),
            quote: order.quote.0,
            amount: order.amount.to_string().into(),
            bank_name: (&order.bank_name).into(),
            branch_code_given: (&order.branch_code_given).into(),
            branch_bic: optional(&order.branch_bic),
            branch_local_code: optional(&order.branch_local_code),
            branch_name: optional(&order.branch_name),
            beneficiary_name: (&order.beneficiary_name).into(),
            beneficiary_city: (&order.beneficiary_city).into(),
            beneficiary_address: (&order.beneficiary_address).into(),
            beneficiary_account_number: (&order.beneficiary_account_number).into(),
            account_is_iban: order.account_is_iban,
            beneficiary_account_type: order.beneficiary_account_type.name().into(),
            beneficiary_mobile: optional(&order.beneficiary_mobile),
            beneficiary_email: optional(&order.beneficiary_email),
            remarks: optional(&order.remarks),
            sender_name: (&order.sender_name).into(),
            sender_birthdate: order.sender_birthdate.map(|date| date.to_string().into()),
            sender_identity_doc_type: order.sender_identity_doc_type.name().into(),
            sender_identity_doc: (&order.sender_identity_doc).into(),
            sender_identity_doc_exp: order
                .sender_identity_doc_exp
                .map(|date| date.to_string().into()),
            sender_identity_doc_country: optional(&order.sender_identity_doc_country),
            sender_city: (&order.sender_city).into(),
            sender_address: (&order.sender_address).into(),
            sender_country: (&order.sender_country).into(),
            sender_mobile: optional(&order.sender_mobile),
            sender_relation: (&order.sender_relation).into(),
            external_id: optional(&order.external_id),
        }
    }

    fn order(self) -> Result<Order, StoreError> {
        let owned = |text: Option<Text<'_>>| text.map(Cow::into_owned);
        Ok(Order {
            country: known("country", &self.country, Country::parse)?,
            currency: known("currency", &self.currency, Currency::parse)?,
            quote: QuoteId(self.quote),
            amount: known("amount", &self.amount, decimal)?,
            bank_name: self.bank_name.into_owned(),
            branch_code_given: self.branch_code_given.into_owned(),
            branch_bic: owned(self.branch_bic),
            branch_local_code: owned(self.branch_local_code),
            branch_name: owned(self.branch_name),
            beneficiary_name: self.beneficiary_name.into_owned(),
            beneficiary_city: self.beneficiary_city.into_owned(),
            beneficiary_address: self.beneficiary_address.into_owned(),
            beneficiary_account_number: self.beneficiary_account_number.into_owned(),
            account_is_iban: self.account_is_iban,
            beneficiary_account_type: known(
                "account type",
                &self.beneficiary_account_type,
                AccountType::parse,
            )?,
            beneficiary_mobile: owned(self.beneficiary_mobile),
            beneficiary_email: owned(self.beneficiary_email),
            remarks: owned(self.remarks),
            sender_name: self.sender_name.into_owned(),
            sender_birthdate: date(self.sender_birthdate)?,
            sender_identity_doc_type: known(
                "document type",
                &self.sender_identity_doc_type,
                DocumentType::parse,
            )?,
            sender_identity_doc: self.sender_identity_doc.into_owned(),
            sender_identity_doc_exp: date(self.sender_identity_doc_exp)?,
            sender_identity_doc_country: owned(self.sender_identity_doc_country),
            sender_city: self.sender_city.into_owned(),
            sender_address: self.sender_address.into_owned(),
            sender_country: self.sender_country.into_owned(),
            sender_mobile: owned(self.sender_mobile),
            sender_relation: self.sender_relation.into_owned(),
            external_id: owned(self.external_id),
        })
    }
}

fn known<T>(what: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    // The value itself is not part of the message, since the document is sealed.
    parse(text)
        .ok_or_else(|| StoreError::Corrupt(format!("payment_order.document: unknown {what}")))
}

fn date(text: Option<Text<'_>>) -> Result<Option<jiff::civil::Date>, StoreError> {
    text.map(|text| known("date", &text, |text| text.parse().ok())).transpose()
}

fn place(tenant: TenantId, stored: &Uuid) -> Place<'_> {
    Place { tenant, column: "payment_order.document", row: stored.as_bytes() }
}

pub(crate) fn write(
    tenant: TenantId,
    payment: PaymentId,
    order: &Order,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Written {
    let stored = keys.stored(payment.0);
    let plain = serde_json::to_vec(&OrderRow::of(order))
        .map(zeroize::Zeroizing::new)
        .map_err(|error| StoreError::Corrupt(format!("payment_order.document: {error}")))?;
    let sealed = Made(keys.vault.seal(place(tenant, &stored), &plain));
    (tenant, payment, sealed).put(keys, out)
}

impl Get for Order {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Order, StoreError> {
        let (tenant, Raw(stored)) = Get::get(fields, keys)?;
        let plain = keys.vault.open(place(tenant, &stored), fields.bytes()?)?;
        let row: OrderRow<'_> = serde_json::from_slice(&plain).map_err(|error| {
            StoreError::Corrupt(format!("payment_order.document: {:?} error", error.classify()))
        })?;
        row.order()
    }
}
