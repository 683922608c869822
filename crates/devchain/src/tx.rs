//! A transaction with its sender: recovered from the signature, or set by a test that acts as an
//! account.
//!
//! Blob transactions are rejected: the chain has no blobs.

use std::sync::Arc;

use alloy_consensus::transaction::SignerRecoverable as _;
use alloy_consensus::{
    SignableTransaction as _, Transaction as _, TxEip1559, TxEnvelope, Typed2718 as _,
};
use alloy_eips::eip2718::{Decodable2718 as _, Encodable2718 as _};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256};
use revm::context::TxEnv;
use revm::context_interface::either::Either;

/// A transaction. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Tx(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    envelope: TxEnvelope,
    sender: Address,
    unsigned: bool,
}

/// Reason why bytes are not a transaction of this chain.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TxFault {
    #[error("failed to decode signed transaction: {0}")]
    Undecodable(String),
    #[error("transaction type not supported")]
    Type,
    #[error("only replay-protected (EIP-155) transactions allowed over RPC")]
    Unprotected,
    #[error("invalid sender: invalid chain id for signer: have {have} want {want}")]
    ChainId { have: u64, want: u64 },
    #[error("invalid sender: {0}")]
    Signature(String),
}

/// An unsigned action of an account. Pays no gas fees.
#[derive(Clone, Debug)]
pub struct Unsigned {
    /// The account that sends it.
    pub from: Address,
    /// Called account; `None` deploys `data`.
    pub to: Option<Address>,
    /// Call data, or creation code.
    pub data: Bytes,
    /// Amount of ether, in wei.
    pub value: U256,
    pub gas_limit: u64,
}

impl Tx {
    /// Parses EIP-2718 bytes and recovers the sender.
    pub(crate) fn decode(raw: &[u8], chain_id: u64) -> Result<Tx, TxFault> {
        let envelope = TxEnvelope::decode_2718_exact(raw)
            .map_err(|fault| TxFault::Undecodable(fault.to_string()))?;
        if matches!(envelope, TxEnvelope::Eip4844(_)) {
            return Err(TxFault::Type);
        }
        match envelope.chain_id() {
            None => return Err(TxFault::Unprotected),
            Some(have) if have != chain_id => {
                return Err(TxFault::ChainId { have, want: chain_id });
            }
            Some(_) => {}
        }
        let sender =
            envelope.recover_signer().map_err(|fault| TxFault::Signature(fault.to_string()))?;
        Ok(Tx(Arc::new(Parts { envelope, sender, unsigned: false })))
    }

    /// Parses the output of [`Tx::encoded`] with the stored sender.
    pub(crate) fn restore(raw: &[u8], sender: Address, unsigned: bool) -> Result<Tx, TxFault> {
        let envelope = TxEnvelope::decode_2718_exact(raw)
            .map_err(|fault| TxFault::Undecodable(fault.to_string()))?;
        Ok(Tx(Arc::new(Parts { envelope, sender, unsigned })))
    }

    /// An unsigned transaction. Its signature encodes the sender, so that its hash is unique.
    pub(crate) fn unsigned(call: Unsigned, nonce: u64, chain_id: u64) -> Tx {
        let signature = Signature::new(U256::from_be_slice(call.from.as_slice()), U256::ONE, false);
        let tx = TxEip1559 {
            chain_id,
            nonce,
            gas_limit: call.gas_limit,
            max_fee_per_gas: 0,
            max_priority_fee_per_gas: 0,
            to: call.to.map_or(TxKind::Create, TxKind::Call),
            value: call.value,
            access_list: Default::default(),
            input: call.data,
        };
        Tx(Arc::new(Parts {
            envelope: tx.into_signed(signature).into(),
            sender: call.from,
            unsigned: true,
        }))
    }

    pub(crate) fn envelope(&self) -> &TxEnvelope {
        &self.0.envelope
    }

    pub(crate) fn hash(&self) -> B256 {
        *self.0.envelope.hash()
    }

    pub(crate) fn sender(&self) -> Address {
        self.0.sender
    }

    pub(crate) fn nonce(&self) -> u64 {
        self.0.envelope.nonce()
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        self.0.unsigned
    }

    /// The contract that it creates if it does not revert.
    pub(crate) fn created(&self) -> Option<Address> {
        self.0.envelope.kind().is_create().then(|| self.0.sender.create(self.nonce()))
    }

    /// The bytes as defined by EIP-2718.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        self.0.envelope.encoded_2718()
    }

    /// Maximum cost for the sender in wei.
    pub(crate) fn cost(&self) -> U256 {
        let gas =
            U256::from(self.0.envelope.gas_limit()) * U256::from(self.0.envelope.max_fee_per_gas());
        gas.saturating_add(self.0.envelope.value())
    }

    /// Wei per gas in a block with this base fee.
    pub(crate) fn gas_price(&self, base_fee: u64) -> u128 {
        if self.0.unsigned { 0 } else { self.0.envelope.effective_gas_price(Some(base_fee)) }
    }

    pub(crate) fn tip(&self, base_fee: u64) -> u128 {
        self.gas_price(base_fee).saturating_sub(u128::from(base_fee))
    }

    pub(crate) fn env(&self) -> TxEnv {
        let tx = &self.0.envelope;
        TxEnv {
            tx_type: tx.ty(),
            caller: self.0.sender,
            gas_limit: tx.gas_limit(),
            gas_price: tx.max_fee_per_gas(),
            kind: tx.kind(),
            value: tx.value(),
            data: tx.input().clone(),
            nonce: tx.nonce(),
            chain_id: tx.chain_id(),
            access_list: tx.access_list().cloned().unwrap_or_default(),
            gas_priority_fee: tx.max_priority_fee_per_gas(),
            authorization_list: tx
                .authorization_list()
                .map(|list| list.iter().cloned().map(Either::Left).collect())
                .unwrap_or_default(),
            ..TxEnv::default()
        }
    }
}
