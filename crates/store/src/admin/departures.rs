//! Sign-ins at the identity provider that began in a browser and have not come back. A token is kept as its digest only and
//! is good once; time is the wall's, handed in.

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
static END_OLD: Stmt =
    Stmt::written("console_departure.end_old", "DELETE FROM console_departure WHERE created_at < $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&INSERT, &TAKE, &END_OLD];

/// A browser that was sent to the identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The page that was asked for.
    pub next: String,
    /// When it was sent.
    pub at: Timestamp,
}

impl Store {
    /// Notes that a browser is sent to the identity provider; forgets those who left before `old` and never came back.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn depart(
        &self,
        token_digest: [u8; 32],
        departure: &Departure,
        old: Timestamp,
    ) -> Result<(), StoreError> {
        let params: Vec<Value> =
            vec![token_digest.to_vec().into(), departure.next.as_str().into(), departure.at.0.into()];
        self.write(vec![Step::any(&END_OLD, vec![old.0.into()]), Step::one(&INSERT, params)]).await.map(drop)
    }

    /// Takes a browser that came back, once: `None` where nobody left with this token, or he was taken already.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn arrive(&self, token_digest: [u8; 32]) -> Result<Option<Departure>, StoreError> {
        let answers = self.write(vec![Step::any(&TAKE, vec![token_digest.to_vec().into()])]).await?;
        let Some(row) = answers.first().and_then(|rows| rows.first()) else { return Ok(None) };
        let mut fields = row.fields();
        Ok(Some(Departure { next: fields.text()?.to_owned(), at: Timestamp(fields.int()?) }))
    }
}
