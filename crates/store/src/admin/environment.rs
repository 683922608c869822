//! The environment of a database: live and sandbox never share one (`decisions.md`, "Environment").

use domain::policy::Environment;

use crate::driver::Step;
use crate::error::{DbError, StoreError};
use crate::sql::Stmt;
use crate::store::Store;

/// Name of the value.
const NAME: &str = "environment";

static NOTE: Stmt = Stmt::written(
    "environment.note",
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
);
static GET: Stmt = Stmt::written("environment.get", "SELECT value FROM meta WHERE name = $1");
// Uses of keys start with `live_` or `test_`.
static OTHER_KEYS: Stmt = Stmt::written(
    "environment.other_keys",
    "SELECT COUNT(*) FROM access_key k WHERE k.revoked_at IS NULL AND SUBSTR(k.use_name, 1, 5) <> $1",
);

static ENCODING: Stmt = Stmt::written("environment.encoding", "SELECT {{encoding}} AS encoding");
static SIZE: Stmt = Stmt::written("environment.size", "SELECT {{size}} AS size");

/// The encoding that keeps senders' names; PostgreSQL has one for each database.
const UNICODE: &str = "UTF8";

pub(crate) static STATEMENTS: &[&Stmt] = &[&NOTE, &GET, &OTHER_KEYS, &ENCODING, &SIZE];

impl Store {
    /// The environment of the service that created the database; `None` = not recorded yet, or not
    /// migrated.
    ///
    /// # Errors
    /// The database cannot be reached or names none that is known.
    pub async fn environment(&self) -> Result<Option<Environment>, StoreError> {
        let rows = match self.driver().query(&GET, vec![NAME.into()]).await {
            // The table does not exist before the first migration.
            Err(DbError::Absent(_)) => return Ok(None),
            rows => rows?,
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let name = row.fields().text()?.to_owned();
        let unknown =
            || StoreError::Corrupt(format!("meta.environment: unknown environment {name:?}"));
        Environment::parse(&name).ok_or_else(unknown).map(Some)
    }

    /// Records the environment unless one is recorded; the first of two concurrent calls wins.
    pub async fn note_environment(&self, environment: Environment) -> Result<(), StoreError> {
        self.write(vec![Step::any(&NOTE, vec![NAME.into(), environment.name().into()])])
            .await
            .map(drop)
    }

    /// The encoding of a database that does not keep Unicode text, by its name in PostgreSQL (`LATIN1`,
    /// `SQL_ASCII`); it cannot be changed after the database was created.
    pub async fn foreign_encoding(&self) -> Result<Option<String>, StoreError> {
        let rows = self.driver().query(&ENCODING, Vec::new()).await?;
        let missing = || StoreError::Corrupt("the store has no encoding".to_owned());
        let encoding = rows.first().ok_or_else(missing)?.fields().text()?.to_owned();
        Ok(Some(encoding).filter(|encoding| encoding != UNICODE))
    }

    /// The size of the database in bytes, indexes included.
    pub async fn size_bytes(&self) -> Result<u64, StoreError> {
        self.only::<i64>(&SIZE, ()).await.map(i64::unsigned_abs)
    }

    /// How many active access keys belong to environments other than `environment`.
    pub async fn keys_of_other_environments(
        &self,
        environment: Environment,
    ) -> Result<u64, StoreError> {
        self.only(&OTHER_KEYS, format!("{}_", environment.key_prefix()).as_str()).await
    }
}
