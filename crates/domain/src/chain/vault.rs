//! Addresses of vaults, computed before deployment (EIP-1014, ERC-1167 with immutable arguments),
//! and EIP-55 checksums.
//!
//! A vault is a clone of the controller's implementation whose code ends with the only address that
//! it can pay: the wallet for an escrow, the controller for a wallet. Another recipient yields
//! another address.

use sha3::{Digest as _, Keccak256};

use super::{Address, Word};
use crate::ids::TenantId;

names! {
    /// Purpose of a vault; part of its reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum VaultKind: "Name in references and in the store." {
        /// Holds senders' payments for one payment request.
        Escrow = "escrow",
        /// Holds one customer's funds.
        Wallet = "wallet",
    }
}

/// Keccak-256 of the concatenated parts.
pub fn hash(parts: &[&[u8]]) -> Word {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    Word(hasher.finalize().into())
}

/// The reference (CREATE2 salt) of a vault: `keccak256(kind, tenant, subject)` with each id as its
/// 16 bytes.
pub fn reference(kind: VaultKind, tenant: TenantId, subject: uuid::Uuid) -> Word {
    hash(&[kind.name().as_bytes(), tenant.0.as_bytes(), subject.as_bytes()])
}

/// Reference of the escrow shown for one submission of sender details: the request's reference with
/// the submission number (4 bytes, big-endian). All escrows of a request thus follow from its id.
pub fn submission_reference(tenant: TenantId, request: uuid::Uuid, number: u32) -> Word {
    let kind = VaultKind::Escrow.name().as_bytes();
    hash(&[kind, tenant.0.as_bytes(), request.as_bytes(), &number.to_be_bytes()])
}

/// The vault of `controller` that pays `recipient` only, with its implementation at
/// `implementation`.
///
/// Matches OpenZeppelin's `Clones.predictDeterministicAddressWithImmutableArgs` for the 20 bytes of
/// `recipient`.
pub fn address(
    controller: &Address,
    implementation: &Address,
    recipient: &Address,
    reference: &Word,
) -> Address {
    // 0x61 <runtime length, 2 bytes> 3d 81 600a 3d 39 f3, then the ERC-1167 runtime, then the
    // arguments.
    const RUNTIME_BYTES: u8 = 45 + 20;
    let init = hash(&[
        &[0x61, 0x00, RUNTIME_BYTES, 0x3d, 0x81, 0x60, 0x0a, 0x3d, 0x39, 0xf3],
        &[0x36, 0x3d, 0x3d, 0x37, 0x3d, 0x3d, 0x3d, 0x36, 0x3d, 0x73],
        &implementation.0,
        &[0x5a, 0xf4, 0x3d, 0x82, 0x80, 0x3e, 0x90, 0x3d, 0x91, 0x60, 0x2b, 0x57, 0xfd, 0x5b, 0xf3],
        &recipient.0,
    ]);
    create2(controller, reference, &init)
}

/// The address that `deployer` creates with this salt from code with this hash (EIP-1014).
pub fn create2(deployer: &Address, salt: &Word, init_code_hash: &Word) -> Address {
    last_20(&hash(&[&[0xff], &deployer.0, &salt.0, &init_code_hash.0]))
}

/// The address of the first contract that `creator` deploys with CREATE: for a contract, nonce 1.
pub fn first_created(creator: &Address) -> Address {
    // RLP of [creator, 1].
    last_20(&hash(&[&[0xd6, 0x94], &creator.0, &[0x01]]))
}

fn last_20(word: &Word) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&word.0[12..]);
    Address(bytes)
}

/// `0x` and 40 digits; the case of the letters is the EIP-55 checksum.
pub(super) fn checksummed(address: &Address) -> String {
    let lower = address.lower_hex();
    let digits = &lower.as_bytes()[2..];
    let check = hash(&[digits]);
    let mut text = String::with_capacity(42);
    text.push_str("0x");
    for (at, digit) in digits.iter().enumerate() {
        let nibble = if at % 2 == 0 { check.0[at / 2] >> 4 } else { check.0[at / 2] & 15 };
        text.push(char::from(if nibble >= 8 { digit.to_ascii_uppercase() } else { *digit }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_eip_55() {
        for text in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            assert_eq!(
                Address::parse(text).map(|address| address.to_string()).as_deref(),
                Some(text)
            );
        }
    }

    #[test]
    fn create2_addresses_are_those_of_eip_1014() {
        let zero = Address([0; 20]);
        let init = hash(&[&[0]]);
        let made = create2(&zero, &Word([0; 32]), &init);
        assert_eq!(made.to_string(), "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38");
    }

    #[test]
    fn another_recipient_yields_another_address() {
        let (controller, implementation) = (Address([1; 20]), Address([2; 20]));
        let reference =
            reference(VaultKind::Escrow, TenantId(uuid::Uuid::nil()), uuid::Uuid::max());
        let one = address(&controller, &implementation, &Address([3; 20]), &reference);
        let other = address(&controller, &implementation, &Address([4; 20]), &reference);
        assert_ne!(one, other);
    }
}
