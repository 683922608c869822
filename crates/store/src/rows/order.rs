//! Orders as sealed documents: compact JSON with a member for each row of the table of order
//! fields.
//!
//! A field that a later version added is left out where an order lacks it, and a reader passes over
//! members that it does not know: during an upgrade, nodes of two versions read each other's rows.

use std::fmt;

use domain::ids::{PaymentId, TenantId};
use domain::order::{FIELDS, Field, Form, Order};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use super::Keys;
use super::column::{Get, Made, Put as _, Raw, Written};
use crate::error::StoreError;
use crate::sealed::AssociatedData;
use crate::sql::{Columns, Fields};

struct OrderDocument<'a>(&'a Order);

impl Serialize for OrderDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_map(None)?;
        for field in FIELDS {
            let value = field.value(self.0);
            match (field.form, &value) {
                (_, None) if field.since.is_some() => {}
                (Form::Flag, Some(flag)) => {
                    document.serialize_entry(field.stored_name, &(flag == "true"))?;
                }
                _ => document.serialize_entry(field.stored_name, &value)?,
            }
        }
        document.end()
    }
}

struct StoredOrder(Order);

impl<'de> Deserialize<'de> for StoredOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredOrder, D::Error> {
        deserializer.deserialize_map(OrderVisitor).map(StoredOrder)
    }
}

struct OrderVisitor;

impl<'de> Visitor<'de> for OrderVisitor {
    type Value = Order;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an order")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Order, A::Error> {
        let mut order = Order::placeholder();
        let mut read = [false; FIELDS.len()];
        while let Some(found) = members.next_key_seed(FieldSeed)? {
            let Some((at, field)) = found else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = match field.form {
                Form::Flag => Some(members.next_value::<bool>()?.to_string()),
                _ => members.next_value::<Option<String>>()?,
            };
            let Some(value) = value else { continue };
            // The value itself is not part of the message, since the document is sealed.
            if !field.read(&mut order, value) {
                return Err(A::Error::custom(format_args!("an unknown {}", field.stored_name)));
            }
            if std::mem::replace(&mut read[at], true) {
                return Err(A::Error::custom(format_args!("{} twice", field.stored_name)));
            }
        }
        let missing = FIELDS.iter().zip(read).find(|(field, read)| !field.nullable && !read);
        match missing {
            None => Ok(order),
            Some((field, _)) => {
                Err(A::Error::custom(format_args!("{} is missing", field.stored_name)))
            }
        }
    }
}

/// Finds the field of a member; `None` for a member of a later version.
struct FieldSeed;

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Option<(usize, &'static Field)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FieldSeed {
    type Value = Option<(usize, &'static Field)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(FIELDS.iter().enumerate().find(|(_, field)| field.stored_name == name))
    }
}

fn place(tenant: TenantId, stored: &Uuid) -> AssociatedData<'_> {
    AssociatedData { tenant, column: "payment_order.document", row: stored.as_bytes() }
}

pub(crate) fn write(
    tenant: TenantId,
    payment: PaymentId,
    order: &Order,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Written {
    let stored = keys.stored(payment.0);
    let plain = serde_json::to_vec(&OrderDocument(order))
        .map(zeroize::Zeroizing::new)
        .map_err(|error| StoreError::Corrupt(format!("payment_order.document: {error}")))?;
    let sealed = Made(keys.vault.seal(place(tenant, &stored), &plain));
    (tenant, payment, sealed).put(keys, out)
}

impl Get for Order {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Order, StoreError> {
        let (tenant, Raw(stored)) = Get::get(fields, keys)?;
        let plain = keys.vault.open(place(tenant, &stored), fields.bytes()?)?;
        let StoredOrder(order) = serde_json::from_slice(&plain).map_err(|error| {
            StoreError::Corrupt(format!("payment_order.document: {:?} error", error.classify()))
        })?;
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use domain::country::Country;
    use domain::currency::Currency;
    use domain::ids::QuoteId;
    use domain::order::example;

    use super::*;

    /// An order as 0.1.0 stores it.
    const STORED: &str = concat!(
        r#"{"country":"EGY","currency":"AED","quote":"6f0c7ac6-53b5-4d3a-9d9e-0123456789ab","#,
        r#""amount":"6467.31","bank_name":"National Bank of Egypt","#,
        r#""branch_code_given":"NBEGEGCX","#,
        r#""branch_bic":"NBEGEGCX","branch_local_code":null,"branch_name":"Cairo \"main\"","#,
        r#""beneficiary_name":"Mona Samplawy","beneficiary_city":"Cairo","#,
        r#""beneficiary_address":"5 Example Street, Dokki","#,
        r#""beneficiary_account_number":"EG400003000100000000123456702","account_is_iban":true,"#,
        r#""beneficiary_account_type":"savings","beneficiary_mobile":"+201001234567","#,
        r#""beneficiary_email":"beneficiary@example.com","remarks":null,"#,
        r#""sender_name":"Omar Testwell","#,
        r#""sender_birthdate":"1988-04-12","sender_identity_doc_type":"passport","#,
        r#""sender_identity_doc":"N01234567","sender_identity_doc_exp":"2035-12-31","#,
        r#""sender_identity_doc_country":"EGY","sender_city":"Dubai","#,
        r#""sender_address":"12 Example Street","sender_country":"ARE","#,
        r#""sender_mobile":"+971501234567","sender_relation":"brother","external_id":null}"#,
    );

    fn order() -> Order {
        let quote = QuoteId::parse("6f0c7ac6-53b5-4d3a-9d9e-0123456789ab").expect("an id");
        let amount = "6467.31".parse().expect("a number");
        Order {
            branch_bic: Some("NBEGEGCX".to_owned()),
            bank_branch_name: Some("Cairo \"main\"".to_owned()),
            account_is_iban: true,
            remarks: None,
            ..example::order(Country::Egy, quote, Currency::Aed, amount).0
        }
    }

    fn read(json: &str) -> Result<Order, String> {
        let stored: Result<StoredOrder, _> = serde_json::from_str(json);
        stored.map(|stored| stored.0).map_err(|error| error.to_string())
    }

    #[test]
    fn orders_of_the_first_version_are_read_and_written_as_they_were() {
        assert_eq!(read(STORED), Ok(order()));
        assert_eq!(serde_json::to_string(&OrderDocument(&order())).expect("writes"), STORED);
    }

    #[test]
    fn members_of_a_later_version_are_passed_over() {
        let later = STORED.replacen('{', r#"{"later":{"a":[1]},"#, 1);
        assert_eq!(read(&later), Ok(order()));
    }

    #[test]
    fn a_missing_or_unknown_value_is_an_error_that_does_not_repeat_it() {
        for field in FIELDS.iter().filter(|field| !field.nullable) {
            let renamed = STORED.replacen(&format!("\"{}\":", field.stored_name), "\"x\":", 1);
            assert!(read(&renamed).is_err_and(|error| error.contains("missing")), "{}", field.name);
        }
        let unknown = STORED.replace("passport", "visa");
        let error = read(&unknown).expect_err("an unknown kind of document");
        assert!(error.contains("sender_identity_doc_type") && !error.contains("visa"), "{error}");
    }
}
