//! The exact responses to the first requests of their Idempotency-Keys, for repetitions, where the
//! stored records cannot reproduce them (`docs/adr`, 16 and 59).

use domain::ids::TenantId;
use engine::command::{Idempotency, Refused};
use engine::payments::{KeptAnswer, Store};

/// The body of the response to the first request with this key, if it is stored.
///
/// # Errors
/// The first request had a different body.
pub(crate) async fn answered_before(
    store: &Store,
    tenant: TenantId,
    asked: &Idempotency,
) -> Result<Option<Vec<u8>>, Refused> {
    match store.kept_answer(tenant, &asked.key).await {
        Ok(Some(kept)) => {
            asked.require_same_body(&kept.body_hash)?;
            Ok(Some(kept.body))
        }
        Ok(None) => Ok(None),
        Err(error) => {
            tracing::warn!(%error, "reading a stored response failed");
            Ok(None)
        }
    }
}

/// Stores the body of a response for repeated requests. If that fails, a repeat is answered from the
/// current state.
pub(crate) async fn keep(store: &Store, tenant: TenantId, asked: &Idempotency, body: &[u8]) {
    let kept = KeptAnswer { body_hash: asked.body_hash, body: body.to_vec() };
    if let Err(error) = store.keep_answer(tenant, &asked.key, &kept).await {
        tracing::warn!(%error, "storing a response for repeated requests failed");
    }
}
