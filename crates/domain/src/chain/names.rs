//! Identifiers on a chain: addresses, hashes and words, parsed from and written as hexadecimal.

use std::fmt;

use super::vault;
use crate::hex::{hex, unhex};

macro_rules! hex_bytes {
    ($($(#[$doc:meta])* $name:ident[$len:literal])+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// Parses `0x` and hexadecimal digits of either case; ignores an EIP-55 checksum.
            pub fn parse(text: &str) -> Option<$name> {
                unhex(text.strip_prefix("0x")?).map($name)
            }

            pub(super) fn lower_hex(&self) -> String {
                format!("0x{}", hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.lower_hex())
            }
        }
    )+};
}

hex_bytes! {
    /// An account or a contract, displayed with its EIP-55 checksum.
    Address[20]
    /// The hash of a block.
    BlockHash[32]
    /// The hash of a transaction.
    TxHash[32]
    /// 32-byte identifier of a contract: a vault's reference or an intent's id.
    Word[32]
}

impl Address {
    /// Parses the address of a money recipient: an EIP-55 checksum, if present, has to be correct.
    pub fn parse_checked(text: &str) -> Option<Address> {
        let address = Address::parse(text)?;
        let letters = || text.bytes().skip(2).filter(u8::is_ascii_alphabetic);
        let is_checked = letters().any(|it| it.is_ascii_uppercase())
            && letters().any(|it| it.is_ascii_lowercase());
        (!is_checked || address.to_string() == text).then_some(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&vault::checksummed(self))
    }
}

macro_rules! display_as_hex {
    ($($name:ident)+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.lower_hex())
            }
        }
    )+};
}
display_as_hex! { BlockHash TxHash Word }
/// Number of a chain within the installation, which the store assigns once and for all. The chain
/// of `[chain]` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainNumber(pub u16);

impl ChainNumber {
    /// The installation's first chain.
    pub const FIRST: ChainNumber = ChainNumber(1);
    /// Stands in until a chain has its number; no row can have it.
    pub const NONE: ChainNumber = ChainNumber(0);

    /// A name of something that each chain has one of: as it is for the first chain, with the
    /// number for others.
    pub fn key(self, name: &str) -> String {
        if self == ChainNumber::FIRST { name.to_owned() } else { format!("{name}:{}", self.0) }
    }

    /// Parts of a derived id that tell chains apart: none for the first.
    pub(crate) fn id_part(self) -> Vec<u8> {
        if self == ChainNumber::FIRST { Vec::new() } else { self.0.to_be_bytes().to_vec() }
    }
}
