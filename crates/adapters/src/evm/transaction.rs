//! EIP-1559 transactions as bytes (EIP-2718 type 2). Equal input gives an equal digest; nothing is
//! defaulted.

use domain::chain::{Address, Fees, Signed, TxHash, vault};

use super::rlp::List;
use super::signers::Signature;

/// The type byte of EIP-1559.
const TYPE: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The chain id of EIP-155.
    pub chain_id: u64,
    pub nonce: u64,
    pub fees: Fees,
    pub gas_limit: u64,
    /// The account that it calls or pays; `None` = it creates a contract.
    pub to: Option<Address>,
    /// Amount of ether, in wei.
    pub value: u128,
    /// Call data, or creation code.
    pub data: Vec<u8>,
}

impl Transaction {
    fn fields(&self) -> List {
        List::default()
            .number(u128::from(self.chain_id))
            .number(u128::from(self.nonce))
            .number(self.fees.max_priority_fee)
            .number(self.fees.max_fee)
            .number(u128::from(self.gas_limit))
            .bytes(self.to.as_ref().map_or(&[], |to| &to.0))
            .number(self.value)
            .bytes(&self.data)
            // The access list.
            .list(List::default())
    }

    /// The bytes whose hash is signed.
    pub fn unsigned(&self) -> Vec<u8> {
        [&[TYPE], self.fields().finish().as_slice()].concat()
    }

    /// The hash of the unsigned bytes.
    pub fn digest(&self) -> [u8; 32] {
        vault::hash(&[&self.unsigned()]).0
    }

    /// The bytes to broadcast.
    pub fn signed(&self, signature: &Signature) -> Signed {
        let fields =
            self.fields().number(u128::from(signature.odd_y)).word(&signature.r).word(&signature.s);
        let mut raw = vec![TYPE];
        raw.extend(fields.finish());
        Signed { hash: hash_of(&raw), raw }
    }
}

/// The hash of a signed transaction.
pub fn hash_of(raw: &[u8]) -> TxHash {
    TxHash(vault::hash(&[raw]).0)
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
