//! Sign-ins at the identity provider that started in a browser and are not complete. Only the
//! token's digest is stored, and it is valid once; the caller supplies wall-clock time.

use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "console_departure.insert",
    "INSERT INTO console_departure (token_digest, next_page, created_at) VALUES ($1, $2, $3)",
);
static TAKE: Stmt = Stmt::written(
    "console_departure.take",
    "DELETE FROM console_departure WHERE token_digest = $1 RETURNING next_page, created_at",
);
static END_OLD: Stmt = Stmt::written(
    "console_departure.end_old",
    "DELETE FROM console_departure WHERE created_at < $1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&INSERT, &TAKE, &END_OLD];

/// A browser that was redirected to the identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Path of the requested page.
    pub next: String,
    /// When it was redirected.
    pub at: Timestamp,
}

impl Store {
    /// Records that a browser is redirected to the identity provider; deletes incomplete sign-ins
    /// older than `old`.
    pub async fn depart(
        &self,
        token_digest: [u8; 32],
        departure: &Departure,
        old: Timestamp,
    ) -> Result<(), StoreError> {
        let params: Vec<Value> = vec![
            token_digest.to_vec().into(),
            departure.next.as_str().into(),
            departure.at.0.into(),
        ];
        self.write(vec![Step::any(&END_OLD, vec![old.0.into()]), Step::one(&INSERT, params)])
            .await
            .map(drop)
    }

    /// Completes a sign-in, once: `None` if the token is unknown or was used already.
    pub async fn arrive(&self, token_digest: [u8; 32]) -> Result<Option<Departure>, StoreError> {
        let taken = Step::any(&TAKE, vec![token_digest.to_vec().into()]);
        let taken: Option<(String, Timestamp)> = self.write_many(vec![taken]).await?.pop();
        Ok(taken.map(|(next, at)| Departure { next, at }))
    }
}
