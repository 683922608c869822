//! The digests by which a payment is searched: HMAC-SHA256 of each [`Term`] under a key per tenant,
//! shortened. They are derived from the key of the id permutation, which stays the same when the
//! key-encryption key, under which it is stored, is replaced.

use domain::ids::TenantId;
use domain::order::Order;
use domain::payment::Payment;
use domain::payment_search::{Term, terms};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::Keys;
use super::column::{Made, Put as _, Written};
use crate::sql::Columns;

/// Few enough bytes for a narrow row; the opened order decides.
const DIGEST_BYTES: usize = 4;

type Digest = [u8; DIGEST_BYTES];

/// Makes digests of terms.
pub(crate) struct SearchKey(Hmac<Sha256>);

impl SearchKey {
    /// The key of an installation.
    pub(crate) fn new(id_key: &[u8; 16]) -> SearchKey {
        SearchKey(keyed(id_key).chain_update(b"corridor search key"))
    }

    /// The key of a tenant.
    pub(crate) fn of(&self, tenant: TenantId) -> TenantKey {
        let key = self.0.clone().chain_update(tenant.0.as_bytes()).finalize().into_bytes();
        TenantKey(keyed(&key))
    }
}

pub(crate) struct TenantKey(Hmac<Sha256>);

impl TenantKey {
    pub(crate) fn digest(&self, term: &Term) -> Digest {
        let (kind, text) = term.parts();
        let mac = self.0.clone().chain_update(kind).chain_update([0]).chain_update(text).finalize();
        let mut digest = Digest::default();
        digest.copy_from_slice(&mac.into_bytes()[..DIGEST_BYTES]);
        digest
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of any length.
    <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).expect("a key")
}

/// Writes the row of a payment.
pub(crate) fn write(
    payment: &Payment,
    order: &Order,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Written {
    let key = keys.search.of(payment.tenant);
    let digests = terms(payment, order).iter().flat_map(|term| key.digest(term)).collect();
    let amounts = (payment.amount.minor, payment.base.minor);
    (payment.tenant, payment.accepted_at, payment.id, amounts, Made::<Vec<u8>>(digests))
        .put(keys, out)
}
