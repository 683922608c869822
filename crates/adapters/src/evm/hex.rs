//! Hexadecimal as in Ethereum's JSON-RPC. Parsing is strict about shape and size: a node's data is
//! untrusted.

use std::borrow::Cow;

use domain::chain::{Address, BlockHash, TxHash, Word};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// `0x` and two digits for each byte.
pub(super) fn data(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

/// A number as JSON-RPC's QUANTITY: no leading zeros.
pub(super) fn quantity(number: u128) -> String {
    format!("{number:#x}")
}

/// The bytes after `0x`.
pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
    digits(text.strip_prefix("0x")?)
}

/// The bytes of an even number of digits.
pub(super) fn digits(text: &str) -> Option<Vec<u8>> {
    // The library would take another prefix off.
    if text.starts_with("0x") { None } else { const_hex::decode(text).ok() }
}

/// A number after `0x`. Leading zeros are accepted: some nodes write them.
fn number(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x")?;
    // The standard library would accept a sign.
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if plain { u128::from_str_radix(digits, 16).ok() } else { None }
}

/// A height, a nonce or an amount of gas. The store keeps 63 bits of one, and a lying node must not be
/// able to name the last number, which none can follow.
fn count(text: &str) -> Option<u64> {
    i64::try_from(number(text)?).ok()?.try_into().ok()
}

/// A type that is hexadecimal in JSON.
pub(super) trait FromHex: Sized {
    /// What the value is, for the error of a reader.
    const EXPECTED: &'static str;
    fn from_hex(text: &str) -> Option<Self>;
}

macro_rules! from_hex {
    ($($type:ty, $expected:literal, $read:expr;)+) => {$(
        impl FromHex for $type {
            const EXPECTED: &'static str = $expected;
            fn from_hex(text: &str) -> Option<Self> {
                $read(text)
            }
        }
    )+};
}

from_hex! {
    Address, "an address", Address::parse;
    BlockHash, "the hash of a block", BlockHash::parse;
    TxHash, "the hash of a transaction", TxHash::parse;
    Word, "32 bytes", Word::parse;
    Vec<u8>, "bytes in hexadecimal", bytes;
    u128, "a number of at most 128 bits in hexadecimal", number;
    u64, "a number of at most 63 bits in hexadecimal", count;
    u32, "a number of at most 32 bits in hexadecimal", |text| number(text)?.try_into().ok();
}

/// A member of a JSON answer that is written in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hex<T>(pub(super) T);

impl<'de, T: FromHex> Deserialize<'de> for Hex<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Hex<T>, D::Error> {
        let text = Cow::<'de, str>::deserialize(input)?;
        T::from_hex(&text)
            .map(Hex)
            .ok_or_else(|| D::Error::custom(format_args!("expected {}", T::EXPECTED)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_strictly() {
        for (text, number) in [
            ("0x0", Some(0)),
            ("0x00ff", Some(255)),
            ("0x7FffFFffFFffFFff", Some(u64::MAX / 2)),
            ("0x8000000000000000", None),
            ("0xFFffFFffFFffFFff", None),
            ("0x10000000000000000", None),
            ("0x", None),
            ("0x+1", None),
            ("0x1g", None),
            ("1", None),
            ("", None),
            ("0x 1", None),
        ] {
            assert_eq!(u64::from_hex(text), number, "{text}");
        }
    }

    #[test]
    fn data_has_two_digits_for_each_byte() {
        assert_eq!(bytes("0x"), Some(vec![]));
        assert_eq!(bytes("0x00Af"), Some(vec![0, 0xaf]));
        assert_eq!(bytes("0x0"), None);
        assert_eq!(bytes("00"), None);
        assert_eq!(bytes("0xzz"), None);
        assert_eq!(bytes("0x0x00"), None);
        assert_eq!(data(&[0, 0xaf]), "0x00af");
        assert_eq!(quantity(255), "0xff");
    }

    #[test]
    fn only_text_is_hexadecimal() {
        assert!(serde_json::from_str::<Hex<u64>>("\"0x1\"").is_ok());
        for wrong in ["1", "null", "[\"0x1\"]", "\"0x1 \"", "true"] {
            assert!(serde_json::from_str::<Hex<u64>>(wrong).is_err(), "{wrong}");
        }
    }
}
