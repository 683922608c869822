//! Domain values in sealed documents. The fields of each struct or enum are listed here again, so
//! that a change of the domain requires a decision about the stored form.

use domain::chain::{Address, BlockHash, Fees, KeyRole, TxHash, Word};
use domain::chain_tx::BlockRef;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::deposit::{DepositState, ReviewVerdict};
use domain::exchange::{Fate, OrderFailure, Recredit};
use domain::hex::{hex, unhex};
use domain::ids::{
    AttemptId, DepositId, ExchangeId, IntentId, PaymentRequestId, TransferId, WalletId,
};
use domain::money::Money;
use domain::risk::{Check, Hold, NextAction, ReasonCode, RiskLevel, RiskResult};
use domain::time::Timestamp;
use domain::wallet::{BlockReason, TriggeredBy};
use domain::wallet_event::FailureReason;
use jiff::civil::Date;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::error::StoreError;

/// A domain value as stored in documents.
pub(crate) trait Stored: Sized {
    type Doc: Serialize + DeserializeOwned;

    fn doc(&self) -> Self::Doc;

    fn of(doc: Self::Doc) -> Result<Self, StoreError>;
}

/// Implements [`Stored`] for a struct, field by field.
macro_rules! stored_struct {
    ($domain:ident as $doc:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $doc { $($field: <$kind as $crate::rows::stored::Stored>::Doc,)+ }

        impl $crate::rows::stored::Stored for $domain {
            type Doc = $doc;

            fn doc(&self) -> $doc {
                $doc { $($field: self.$field.doc(),)+ }
            }

            fn of(doc: $doc) -> Result<$domain, $crate::error::StoreError> {
                Ok($domain { $($field: <$kind as $crate::rows::stored::Stored>::of(doc.$field)?,)+ })
            }
        }
    };
}

/// Implements [`Stored`] for an enum: first its variants that hold one value, then all others with
/// their fields. Attributes are serde's, of the stored form.
macro_rules! stored_enum {
    ($domain:ident as $doc:ident { $($(#[$one_serde:meta])* $one:ident($held:ty)),* $(,)? } {
        $($variant:ident { $($(#[$serde:meta])* $field:ident: $kind:ty),* $(,)? }),+ $(,)?
    }) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "snake_case")]
        pub(crate) enum $doc {
            $($(#[$one_serde])* $one(<$held as $crate::rows::stored::Stored>::Doc),)*
            $($variant { $($(#[$serde])* $field: <$kind as $crate::rows::stored::Stored>::Doc),* }),+
        }

        impl $crate::rows::stored::Stored for $domain {
            type Doc = $doc;

            fn doc(&self) -> $doc {
                match self {
                    $($domain::$one(held) => $doc::$one(held.doc()),)*
                    $($domain::$variant { $($field),* } => $doc::$variant { $($field: $field.doc()),* }),+
                }
            }

            fn of(doc: $doc) -> Result<$domain, $crate::error::StoreError> {
                Ok(match doc {
                    $($doc::$one(held) => $domain::$one(<$held as $crate::rows::stored::Stored>::of(held)?),)*
                    $($doc::$variant { $($field),* } => $domain::$variant { $($field: <$kind as $crate::rows::stored::Stored>::of($field)?),* }),+
                })
            }
        }
    };
}

pub(crate) use {stored_enum, stored_struct};

macro_rules! plain {
    ($($kind:ty)+) => {$(
        impl Stored for $kind {
            type Doc = $kind;

            fn doc(&self) -> $kind {
                self.clone()
            }

            fn of(doc: $kind) -> Result<$kind, StoreError> {
                Ok(doc)
            }
        }
    )+};
}
plain! { bool u8 u32 u64 i32 i64 String }

impl<T: Stored> Stored for Option<T> {
    type Doc = Option<T::Doc>;

    fn doc(&self) -> Option<T::Doc> {
        self.as_ref().map(T::doc)
    }

    fn of(doc: Option<T::Doc>) -> Result<Option<T>, StoreError> {
        doc.map(T::of).transpose()
    }
}

impl<T: Stored> Stored for Vec<T> {
    type Doc = Vec<T::Doc>;

    fn doc(&self) -> Vec<T::Doc> {
        self.iter().map(T::doc).collect()
    }

    fn of(doc: Vec<T::Doc>) -> Result<Vec<T>, StoreError> {
        doc.into_iter().map(T::of).collect()
    }
}

macro_rules! ids {
    ($($name:ident)+) => {$(
        impl Stored for $name {
            type Doc = Uuid;

            fn doc(&self) -> Uuid {
                self.0
            }

            fn of(doc: Uuid) -> Result<$name, StoreError> {
                Ok($name(doc))
            }
        }
    )+};
}
ids! { AttemptId DepositId ExchangeId IntentId PaymentRequestId TransferId WalletId }

impl Stored for Timestamp {
    type Doc = i64;

    fn doc(&self) -> i64 {
        self.0
    }

    fn of(doc: i64) -> Result<Timestamp, StoreError> {
        Ok(Timestamp(doc))
    }
}

/// Values stored as text. The text itself is not part of error messages, since it is sealed.
macro_rules! texts {
    ($($kind:ty: $write:expr, $read:expr;)+) => {$(
        impl Stored for $kind {
            type Doc = String;

            fn doc(&self) -> String {
                let write: fn(&$kind) -> String = $write;
                write(self)
            }

            fn of(doc: String) -> Result<$kind, StoreError> {
                let read: fn(&str) -> Option<$kind> = $read;
                read(&doc).ok_or_else(|| {
                    let kind = stringify!($kind);
                    StoreError::Corrupt(format!("a document contains an unknown {kind}"))
                })
            }
        }
    )+};
}
// Wei exceed 64 bits, and JSON readers turn large numbers into floats.
texts! {
    u128: u128::to_string, |text| text.parse().ok();
    Date: Date::to_string, |text| text.parse().ok();
    Decimal: Decimal::to_string, Decimal::parse_exact;
    StableCoin: |coin| coin.currency().code().to_owned(), StableCoin::parse;
    Currency: |currency| currency.code().to_owned(), Currency::parse;
}

macro_rules! names {
    ($($kind:ident)+) => {
        texts! { $($kind: |value| value.name().to_owned(), $kind::parse;)+ }
    };
}
names! {
    BlockReason Check DepositState FailureReason Fate Hold KeyRole NextAction OrderFailure ReasonCode Recredit ReviewVerdict
    RiskLevel RiskResult TriggeredBy
}

stored_struct! { Money as MoneyDoc { minor: i64, currency: Currency } }
stored_struct! { Fees as FeesDoc { max_fee: u128, max_priority_fee: u128 } }
stored_struct! { BlockRef as PlaceDoc { number: u64, block: BlockHash } }

/// Bytes as lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&hex(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Hex<N>, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(input)?;
        let wrong = || D::Error::custom("not the right number of hexadecimal digits");
        unhex(&text).map(Hex).ok_or_else(wrong)
    }
}

macro_rules! as_hex {
    ($($name:ident)+) => {$(
        impl Stored for $name {
            type Doc = Hex<{ size_of::<$name>() }>;

            fn doc(&self) -> Self::Doc {
                Hex(self.0)
            }

            fn of(doc: Self::Doc) -> Result<$name, StoreError> {
                Ok($name(doc.0))
            }
        }
    )+};
}
as_hex! { Address BlockHash TxHash Word }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_bytes_round_trip() {
        let hex = Hex([0x00, 0x1f, 0xff]);
        let text = serde_json::to_string(&hex).expect("written");
        assert_eq!(text, "\"001fff\"");
        assert_eq!(serde_json::from_str::<Hex<3>>(&text).expect("read"), hex);
        for wrong in ["\"001ff\"", "\"001fff00\"", "\"001fxx\"", "\"0x1fff\"", "7"] {
            assert!(serde_json::from_str::<Hex<3>>(wrong).is_err(), "{wrong}");
        }
    }
}
