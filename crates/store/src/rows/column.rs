//! Values in columns: how a value is written into a column, or as a parameter, and read back.
//! Ids pass through [`Keys`].

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use domain::attempt::AttemptState;
use domain::audit::Via;
use domain::bank_statement::BreakKind;
use domain::chain::{Address, BlockHash, ChainNumber, IntentKind, KeyRole, TxHash};
use domain::chain_tx::{IntentState, TxState};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::delivery::DeliveryState;
use domain::deposit::{DepositBucket, DepositKind, DepositState};
use domain::event::EventKind;
use domain::exchange::ExchangeState;
use domain::ids::{
    ApprovalId, AttemptId, BatchId, ChainTxId, DepositId, EventId, ExchangeId, IntentId, PaymentId,
    PaymentRequestId, QuoteId, RecallId, RefundToId, SenderInfoId, SweepId, TenantId, TransferId,
    UserId, WalletId,
};
use domain::job::JobKind;
use domain::ledger::{AccountCode, TransferKind};
use domain::payment::{PaymentState, ReviewState};
use domain::payment_request::RequestState;
use domain::quote::QuoteState;
use domain::rail::RailId;
use domain::recall::{RecallReason, RecallState};
use domain::relay::EventLog;
use domain::sender_limit::Sender;
use domain::sweep::SweepState;
use domain::time::{Span, Timestamp};
use domain::wallet::{KycLevel, WalletState};
use domain::wallet_effects::AlertKind;
use domain::wallet_event::{Subscriptions, WalletEventKind};
use uuid::Uuid;

use super::{Keys, fixed_bytes};
use crate::error::StoreError;
use crate::sql::{Fields, Kind, Sink, Value};

pub(crate) type Written = Result<(), StoreError>;

/// A value, or several in a tuple, that can be written. Texts and bytes are borrowed: `Put` is
/// implemented for references to them, so that `record.field.put(…)` borrows exactly these.
pub(crate) trait Put<'a> {
    fn put(self, keys: &Keys, out: &mut impl Sink<'a>) -> Written;
}

/// Something that is read from the next columns of a row: a value, a record, or a tuple of them.
pub(crate) trait Get: Sized {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Self, StoreError>;
}

/// A value with a column of its own.
pub(crate) trait InColumn: Get {
    const KIND: Kind;
}

impl<T: InColumn> Get for Option<T> {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Option<T>, StoreError> {
        if fields.at_null() {
            fields.skip(1);
            return Ok(None);
        }
        T::get(fields, keys).map(Some)
    }
}

impl<T: InColumn> InColumn for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<'a, T: Put<'a>> Put<'a> for Option<T> {
    fn put(self, keys: &Keys, out: &mut impl Sink<'a>) -> Written {
        match self {
            Some(value) => value.put(keys, out),
            None => {
                out.null();
                Ok(())
            }
        }
    }
}

impl<'a, T> Put<'a> for &'a Option<T>
where
    &'a T: Put<'a>,
{
    fn put(self, keys: &Keys, out: &mut impl Sink<'a>) -> Written {
        self.as_ref().put(keys, out)
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))+) => {$(
        impl<$($name: Get),*> Get for ($($name,)*) {
            fn get(_fields: &mut Fields<'_>, _keys: &Keys) -> Result<Self, StoreError> {
                Ok(($($name::get(_fields, _keys)?,)*))
            }
        }

        impl<'a, $($name: Put<'a>),*> Put<'a> for ($($name,)*) {
            fn put(self, _keys: &Keys, _out: &mut impl Sink<'a>) -> Written {
                $(self.$at.put(_keys, _out)?;)*
                Ok(())
            }
        }
    )+};
}
tuples! {
    ()
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// Parameters that are made already.
impl<'a> Put<'a> for Vec<Value> {
    fn put(self, keys: &Keys, out: &mut impl Sink<'a>) -> Written {
        self.into_iter().try_for_each(|value| value.put(keys, out))
    }
}

impl<'a> Put<'a> for Value {
    fn put(self, _: &Keys, out: &mut impl Sink<'a>) -> Written {
        match self {
            Value::Null => out.null(),
            Value::Int(value) => out.int(value),
            Value::Text(value) => out.text(value.into()),
            Value::Uuid(value) => out.uuid(value),
            Value::Bytes(value) => out.bytes(value.into()),
        }
        Ok(())
    }
}

/// How a type is read from its column.
macro_rules! get {
    ($type:ty as $kind:ident, |$fields:ident, $keys:ident| $get:expr) => {
        impl InColumn for $type {
            const KIND: Kind = Kind::$kind;
        }

        impl Get for $type {
            fn get($fields: &mut Fields<'_>, $keys: &Keys) -> Result<$type, StoreError> {
                $get
            }
        }
    };
}

/// How a type is written, by value or as a reference.
macro_rules! put {
    ($type:ty, |$value:ident, $keys:ident, $out:ident| $put:expr) => {
        impl<'a> Put<'a> for $type {
            fn put(self, $keys: &Keys, $out: &mut impl Sink<'a>) -> Written {
                let $value = self;
                $put;
                Ok(())
            }
        }
    };
}

macro_rules! ids {
    ($($id:ident)+) => {$(
        get! { $id as Uuid, |fields, keys| Ok($id(keys.public(fields.uuid()?))) }
        put! { $id, |id, keys, out| out.uuid(keys.stored(id.0)) }
    )+};
}
ids! {
    ApprovalId AttemptId BatchId ChainTxId DepositId EventId ExchangeId IntentId PaymentId PaymentRequestId QuoteId
    RecallId RefundToId Sender SenderInfoId SweepId TransferId UserId WalletId
}
// The id of a record of any kind.
get! { Uuid as Uuid, |fields, keys| Ok(keys.public(fields.uuid()?)) }
put! { Uuid, |id, keys, out| out.uuid(keys.stored(id)) }

// Tenants' ids are stored as they are.
get! { TenantId as Uuid, |fields, _keys| fields.uuid().map(TenantId) }
put! { TenantId, |tenant, _keys, out| out.uuid(tenant.0) }

/// A UUID that is not an id of this service, or is a stored id: written and read as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Raw(pub(crate) Uuid);
get! { Raw as Uuid, |fields, _keys| fields.uuid().map(Raw) }
put! { Raw, |raw, _keys, out| out.uuid(raw.0) }

get! { i64 as Int, |fields, _keys| fields.int() }
put! { i64, |value, _keys, out| out.int(value) }
get! { bool as Int, |fields, _keys| fields.flag() }
put! { bool, |flag, _keys, out| out.int(flag.into()) }
get! { Timestamp as Int, |fields, _keys| fields.int().map(Timestamp) }
put! { Timestamp, |at, _keys, out| out.int(at.0) }
get! { Span as Int, |fields, _keys| fields.int().map(Span) }
put! { Span, |span, _keys, out| out.int(span.0) }

macro_rules! numbers {
    ($($number:ident)+) => {$(
        get! { $number as Int, |fields, _keys| {
            let value = fields.int()?;
            $number::try_from(value)
                .map_err(|_| StoreError::Corrupt(format!("{value} is not a {}", stringify!($number))))
        } }
        put! { $number, |value, _keys, out| out.int(
            i64::try_from(value)
                .map_err(|_| StoreError::Corrupt(format!("{value} is beyond 63 bits")))?
        ) }
    )+};
}
numbers! { i32 u8 u16 u32 u64 usize }

/// Values with a name.
macro_rules! names {
    ($($type:ident $what:literal,)+) => {$(
        get! { $type as Text, |fields, _keys| fields.named($what, $type::parse) }
        put! { $type, |value, _keys, out| out.text(value.name().into()) }
    )+};
}
names! {
    AlertKind "alert",
    AttemptState "attempt state",
    BreakKind "kind of break",
    DeliveryState "delivery state",
    DepositKind "deposit kind",
    DepositState "deposit state",
    EventKind "event kind",
    EventLog "event log",
    ExchangeState "order state",
    IntentKind "intent kind",
    IntentState "intent state",
    JobKind "job kind",
    KeyRole "role",
    KycLevel "kyc level",
    PaymentState "payment state",
    DepositBucket "pot",
    QuoteState "quote state",
    RecallReason "recall reason",
    RecallState "recall state",
    RequestState "request state",
    ReviewState "review",
    SweepState "sweep state",
    TransferKind "transfer kind",
    TxState "transaction state",
    Via "way of acting",
    WalletEventKind "wallet event",
    WalletState "wallet state",
}
get! { ChainNumber as Int, |fields, keys| u16::get(fields, keys).map(ChainNumber) }
put! { ChainNumber, |chain, _keys, out| out.int(chain.0.into()) }
get! { Country as Text, |fields, _keys| fields.named("country", Country::parse) }
put! { Country, |country, _keys, out| out.text(country.alpha3().into()) }
get! { Currency as Text, |fields, _keys| fields.named("currency", Currency::parse) }
put! { Currency, |currency, _keys, out| out.text(currency.code().into()) }
get! { StableCoin as Text, |fields, _keys| fields.named("coin", StableCoin::parse) }
put! { StableCoin, |coin, _keys, out| out.text(coin.currency().code().into()) }
get! { AccountCode as Text, |fields, _keys| fields.named("account", AccountCode::parse) }
put! { &'a AccountCode, |code, _keys, out| out.text(code.to_string().into()) }
get! { RailId as Text, |fields, _keys| Ok(RailId::new(fields.text()?)) }
put! { &'a RailId, |rail, _keys, out| out.text((&*rail.0).into()) }
get! { Decimal as Text, |fields, _keys| fields.named("decimal", Decimal::parse_exact) }
put! { Decimal, |value, _keys, out| out.text(value.to_string().into()) }

// Unknown names belong to a later version on another node and are skipped.
get! { Subscriptions as Text, |fields, _keys| {
    Ok(fields.text()?.split(',').filter_map(WalletEventKind::parse).collect())
} }
put! { &'a Subscriptions, |names, _keys, out| out.text(names.to_string().into()) }

// Numbers between commas.
get! { BTreeSet<i64> as Text, |fields, _keys| fields.named("numbers", |text| {
    text.split(',').filter(|one| !one.is_empty()).map(|one| one.parse().ok()).collect()
}) }
put! { &'a BTreeSet<i64>, |numbers, _keys, out| {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    out.text(numbers.join(",").into())
} }

/// A number that may exceed 63 bits, as digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits<T>(pub(crate) T);

impl<T: FromStr> InColumn for Digits<T> {
    const KIND: Kind = Kind::Text;
}

impl<T: FromStr> Get for Digits<T> {
    fn get(fields: &mut Fields<'_>, _: &Keys) -> Result<Digits<T>, StoreError> {
        fields.named("number", |text| text.parse().ok().map(Digits))
    }
}

impl<'a, T: Display> Put<'a> for Digits<T> {
    fn put(self, _: &Keys, out: &mut impl Sink<'a>) -> Written {
        out.text(self.0.to_string().into());
        Ok(())
    }
}

get! { String as Text, |fields, _keys| fields.text().map(str::to_owned) }
put! { &'a String, |text, _keys, out| out.text(text.as_str().into()) }
put! { &'a str, |text, _keys, out| out.text(text.into()) }

get! { Vec<u8> as Bytes, |fields, _keys| fields.bytes().map(<[u8]>::to_vec) }
put! { &'a Vec<u8>, |bytes, _keys, out| out.bytes(bytes.as_slice().into()) }

/// A text or bytes made for their column.
#[derive(Clone, Debug)]
pub(crate) struct Made<T>(pub(crate) T);
get! { Made<String> as Text, |fields, _keys| fields.text().map(|text| Made(text.to_owned())) }
put! { Made<String>, |made, _keys, out| out.text(made.0.into()) }
get! { Made<Vec<u8>> as Bytes, |fields, _keys| fields.bytes().map(|bytes| Made(bytes.to_vec())) }
put! { Made<Vec<u8>>, |made, _keys, out| out.bytes(made.0.into()) }

impl<const N: usize> InColumn for [u8; N] {
    const KIND: Kind = Kind::Bytes;
}

impl<const N: usize> Get for [u8; N] {
    fn get(fields: &mut Fields<'_>, _: &Keys) -> Result<[u8; N], StoreError> {
        fixed_bytes(fields)
    }
}

impl<'a, const N: usize> Put<'a> for &'a [u8; N] {
    fn put(self, _: &Keys, out: &mut impl Sink<'a>) -> Written {
        out.bytes(self.as_slice().into());
        Ok(())
    }
}

macro_rules! hashes {
    ($($hash:ident)+) => {$(
        get! { $hash as Bytes, |fields, _keys| fixed_bytes(fields).map($hash) }
        put! { &'a $hash, |hash, _keys, out| out.bytes(hash.0.as_slice().into()) }
    )+};
}
hashes! { Address BlockHash TxHash }
