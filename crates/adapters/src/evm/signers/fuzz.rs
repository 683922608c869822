//! Fuzz target of the DER structures of key stores.

use super::der::{ecdsa_signature, secp256k1_public_key};

/// What is read is part of the input.
pub(in crate::evm) fn der(bytes: &[u8]) {
    if let Some((r, s)) = ecdsa_signature(bytes) {
        assert!(r.len() + s.len() < bytes.len());
    }
    if let Some(point) = secp256k1_public_key(bytes) {
        assert!(point.len() < bytes.len());
    }
}
