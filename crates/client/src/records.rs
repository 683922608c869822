//! The parts of the API's answers that the commands show. Numbers keep the API's text.

use std::collections::BTreeMap;
use std::fmt;

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A number exactly as in the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Exact(Box<RawValue>);

impl fmt::Display for Exact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0.get())
    }
}

impl Exact {
    /// With its currency, and with that currency's number of decimals.
    pub fn in_currency(&self, code: &str) -> String {
        let money = || Money::exact(Decimal::parse(self.0.get()).ok()?, Currency::parse(code)?);
        money().map_or_else(|| format!("{self} {code}"), |money| money.to_string())
    }
}

/// A quote (specification: "Quote").
#[derive(Clone, Debug, Deserialize)]
pub struct Quote {
    pub id: String,
    pub country: String,
    pub currency: String,
    pub amount: Exact,
    pub amount_destination: Exact,
    pub rate: Exact,
    pub wallet_rate: Exact,
    pub expires: String,
    #[serde(default)]
    pub wallet_premium: Option<Exact>,
    #[serde(default)]
    pub wallet_txn_cost: Option<Exact>,
    #[serde(default)]
    pub wallet_currency: Option<String>,
    #[serde(default)]
    pub min_amount_destination: Option<Exact>,
    #[serde(default)]
    pub max_amount_destination: Option<Exact>,
}

/// A payment's status (specification: "Payment response").
#[derive(Clone, Debug, Deserialize)]
pub struct PaymentResponse {
    pub id: String,
    pub timestamp: String,
    pub status: String,
    #[serde(default)]
    pub msg: Option<String>,
    #[serde(default)]
    pub amount: Option<Exact>,
    #[serde(default)]
    pub amount_currency: Option<String>,
    #[serde(default)]
    pub base_amount: Option<Exact>,
    #[serde(default)]
    pub base_currency: Option<String>,
    #[serde(default)]
    pub wallet_amount: Option<Exact>,
    #[serde(default)]
    pub wallet_currency: Option<String>,
    #[serde(default)]
    pub wallet_premium: Option<Exact>,
    #[serde(default)]
    pub wallet_txn_cost: Option<Exact>,
    #[serde(default)]
    pub bank_reference: Option<String>,
    /// Of a reversed payment: when it had been paid, if it was. `None` from a server that does not say.
    #[serde(default, deserialize_with = "given")]
    pub settled_at: Option<Option<String>>,
    #[serde(default)]
    pub recall_status: Option<String>,
}

/// A member that is there, be it null.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// A recall of a payment.
#[derive(Clone, Debug, Deserialize)]
pub struct Recall {
    pub id: String,
    pub payment_id: String,
    pub status: String,
    pub timestamp: String,
    pub reason: String,
    pub text: Option<String>,
    pub created_at: String,
    pub sent_at: Option<String>,
    pub bank_reason: Option<String>,
    pub bank_message: Option<String>,
}

/// The members of an order, by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct OrderMembers(BTreeMap<String, Box<RawValue>>);

impl OrderMembers {
    /// The text of a member; `None` if the order lacks it.
    pub fn get(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// The text of a member; empty if the order lacks it.
    pub fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default()
    }
}

/// A payment record (specification: "Payment record").
#[derive(Clone, Debug, Deserialize)]
pub struct PaymentRecord {
    pub id: String,
    pub order: OrderMembers,
    #[serde(default)]
    pub response: Option<PaymentResponse>,
    pub quote: Quote,
}

/// A payment's status for a user who watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `status` of the member `response`.
    pub status: String,
    /// `timestamp` of the member `response`.
    pub timestamp: String,
    /// `msg` of the member `response`.
    pub message: Option<String>,
    /// `bank_reference` of the member `response`.
    pub bank_reference: Option<String>,
}

impl From<&PaymentResponse> for Seen {
    fn from(response: &PaymentResponse) -> Seen {
        Seen {
            status: response.status.clone(),
            timestamp: response.timestamp.clone(),
            message: response.msg.clone(),
            bank_reference: response.bank_reference.clone(),
        }
    }
}

impl Seen {
    /// Whether the status is final without intervention: the final states of the specification, and
    /// `unknown`, which waits for an operator.
    pub fn is_settled(&self) -> bool {
        !matches!(self.status.as_str(), "queued" | "pending" | "processing")
    }
}
