//! The exact answer to the first request of an idempotency key, for repetitions (`decisions.md`,
//! "Idempotency-Key"). The record that the answer describes is stored with its key; this only keeps
//! the answer's text at that time (ADR 16).

use domain::ids::TenantId;

use crate::driver::Step;
use crate::error::StoreError;
use crate::need::IdempotencyKey;
use crate::reads::upkeep::IDEMPOTENCY_KEPT;
use crate::sealed::AssociatedData;
use crate::sql::Stmt;
use crate::store::Store;

static KEEP: Stmt = Stmt::written(
    "answer.keep",
    "INSERT INTO kept_answer (tenant, scope, idem_key, body_hash, answer, at) VALUES ($2, $3, $4, $5, $6, {{now}}) \
     ON CONFLICT (tenant, scope, idem_key) \
     DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at",
);
static KEPT: Stmt = Stmt::written(
    "answer.kept",
    "SELECT a.body_hash, a.answer FROM kept_answer a \
     WHERE a.tenant = $2 AND a.scope = $3 AND a.idem_key = $4 AND a.at > {{now}} - $5",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KEEP, &KEPT];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// SHA-256 of the body of the answered request.
    pub body_hash: [u8; 32],
    pub body: Vec<u8>,
}

/// Scope and key cannot contain a zero byte, which separates them.
fn row(key: &IdempotencyKey) -> Vec<u8> {
    [key.scope.as_bytes(), &[0], key.key.as_bytes()].concat()
}

fn place(tenant: TenantId, row: &[u8]) -> AssociatedData<'_> {
    AssociatedData { tenant, column: "kept_answer.answer", row }
}

impl Store {
    /// Stores the answer to a request with a key, sealed, for as long as the key's record.
    pub async fn keep_answer(
        &self,
        tenant: TenantId,
        key: &IdempotencyKey,
        answer: &KeptAnswer,
    ) -> Result<(), StoreError> {
        let sealed = self.vault().seal(place(tenant, &row(key)), &answer.body);
        let (scope, name) = (key.scope.as_str().into(), key.key.as_str().into());
        let params = vec![
            self.now_param(),
            tenant.0.into(),
            scope,
            name,
            answer.body_hash.to_vec().into(),
            sealed.into(),
        ];
        self.write(vec![Step::any(&KEEP, params)]).await.map(drop)
    }

    /// The stored answer to a request with this key, unless expired.
    ///
    /// # Errors
    /// The database cannot be reached, or the answer does not open.
    pub async fn kept_answer(
        &self,
        tenant: TenantId,
        key: &IdempotencyKey,
    ) -> Result<Option<KeptAnswer>, StoreError> {
        let params = (self.now_param(), tenant, &key.scope, &key.key, IDEMPOTENCY_KEPT);
        let found: Option<([u8; 32], Vec<u8>)> = self.one(&KEPT, params).await?;
        let Some((body_hash, sealed)) = found else { return Ok(None) };
        let body = self.vault().open(place(tenant, &row(key)), &sealed)?.to_vec();
        Ok(Some(KeptAnswer { body_hash, body }))
    }
}
