//! The very answer that the first request of an idempotency key got, for whoever repeats it (`decisions.md`,
//! "Idempotency-Key"). What the answer is about is saved with its record; this only keeps how it read then.

use domain::ids::TenantId;

use crate::driver::Step;
use crate::error::StoreError;
use crate::need::IdempotencyKey;
use crate::sealed::Place;
use crate::sql::Stmt;
use crate::store::Store;

static KEEP: Stmt = Stmt::written(
    "answer.keep",
    "INSERT INTO kept_answer (tenant, scope, idem_key, answer, at) VALUES ($2, $3, $4, $5, {{now}}) \
     ON CONFLICT DO NOTHING",
);
static KEPT: Stmt = Stmt::written(
    "answer.kept",
    "SELECT a.answer FROM kept_answer a WHERE a.tenant = $1 AND a.scope = $2 AND a.idem_key = $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KEEP, &KEPT];

/// Neither a scope nor a key holds a zero byte.
fn row(key: &IdempotencyKey) -> Vec<u8> {
    [key.scope.as_bytes(), &[0], key.key.as_bytes()].concat()
}

fn place(tenant: TenantId, row: &[u8]) -> Place<'_> {
    Place { tenant, column: "kept_answer.answer", row }
}

impl Store {
    /// Keeps the body of the first answer under a key, sealed, as long as the key's record; a later one changes nothing.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn keep_answer(&self, tenant: TenantId, key: &IdempotencyKey, body: &[u8]) -> Result<(), StoreError> {
        let sealed = self.vault().seal(place(tenant, &row(key)), body);
        let params =
            vec![self.now_param(), tenant.0.into(), key.scope.as_str().into(), key.key.as_str().into(), sealed.into()];
        self.write(vec![Step::any(&KEEP, params)]).await.map(drop)
    }

    /// The body of the first answer under a key, if it was kept.
    ///
    /// # Errors
    /// The database cannot be reached, or the answer does not open.
    pub async fn kept_answer(&self, tenant: TenantId, key: &IdempotencyKey) -> Result<Option<Vec<u8>>, StoreError> {
        let params = vec![tenant.0.into(), key.scope.as_str().into(), key.key.as_str().into()];
        let rows = self.query(&KEPT, params).await?;
        let Some(found) = rows.first() else { return Ok(None) };
        let sealed = found.fields().bytes()?.to_vec();
        self.vault().open(place(tenant, &row(key)), &sealed).map(|body| Some(body.to_vec()))
    }
}
