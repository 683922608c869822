//! The store itself: opening, migrating, executing batches. Reads are in `reads`, administration in
//! `admin`.

use std::fmt;
use std::sync::{Arc, OnceLock};

use domain::decision::IdSource;
use domain::ids::BatchId;
use domain::time::{Span, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

use crate::admin;
use crate::audit;
use crate::driver::postgres::Postgres;
use crate::driver::sqlite::Sqlite;
use crate::driver::{Attempted, Driver, Running, Step};
use crate::error::{ExecuteError, StoreError};
use crate::keyed_id::{KeyedIds, Last};
use crate::load;
use crate::migrate::{self, MigrationReport};
use crate::need::Need;
use crate::options::Options;
use crate::rows::Keys;
use crate::rows::column::{Get, Put};
use crate::sealed::Vault;
use crate::sql::{Columns, Dialect, Row, Stmt, Value};
use crate::working_set::WorkingSet;

/// Attempts at a batch before its caller receives `Contended`.
pub const TRIES_MAX: u32 = 3;

const SQLITE: &str = "sqlite:";
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

static SEAL_BATCH: Stmt = Stmt::written(
    "batch.seal",
    "INSERT INTO batch (id, at, landed) VALUES ($2, {{now}}, 0) ON CONFLICT DO NOTHING",
);
static BATCH_LANDED: Stmt = Stmt::written("batch.landed", "SELECT landed FROM batch WHERE id = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&SEAL_BATCH, &BATCH_LANDED];

/// The database of the service. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    driver: Driver,
    options: Options,
    vault: Arc<Vault>,
    /// Set once the schema exists.
    keys: OnceLock<Arc<Keys>>,
    last_id: Arc<Last>,
    /// Serializes administrative changes within this process, so that it does not compete with
    /// itself for the end of a chain.
    noting: Mutex<()>,
}

#[derive(Debug)]
pub struct Committed {
    /// The instant of its decision, on the store's clock.
    pub at: Timestamp,
    /// Its rows after the commit.
    pub rows: WorkingSet,
}

impl Store {
    /// Opens `sqlite:/path/file.db`, `sqlite::memory:` or `postgres://…`. Does not migrate;
    /// PostgreSQL is connected to on first use.
    ///
    /// # Errors
    /// The address has another form, the file cannot be opened, or a TLS authority cannot be read.
    pub async fn open(url: &str, options: Options) -> Result<Store, StoreError> {
        let driver = if let Some(path) = url.strip_prefix(SQLITE) {
            Driver::Sqlite(Sqlite::open(path, &options)?)
        } else if POSTGRES.iter().any(|scheme| url.starts_with(scheme)) {
            Driver::Postgres(Postgres::open(url, &options)?)
        } else {
            return Err(StoreError::Config("it must start with sqlite: or postgres://".to_owned()));
        };
        let vault = Arc::new(Vault::new(&options));
        let (keys, last_id, noting) = (OnceLock::new(), Arc::default(), Mutex::default());
        Ok(Store { inner: Arc::new(Inner { driver, options, vault, keys, last_id, noting }) })
    }

    /// Migrates to the current schema. Safe if several processes do it concurrently.
    ///
    /// # Errors
    /// The database cannot be reached, or was migrated by another version (newer, or with edited
    /// migrations).
    pub async fn migrate(&self) -> Result<MigrationReport, StoreError> {
        // A database role without permission to change the schema can start on an existing one.
        let report = match migrate::check(self.driver()).await {
            Ok(()) => migrate::nothing(),
            Err(_) => migrate::migrate(self.driver(), self.inner.options.clock.now()).await?,
        };
        admin::keys::make_id_key(self).await?;
        self.refresh().await?;
        audit::adopt(self).await?;
        Ok(report)
    }

    /// Checks that the database can be reached and has the current schema. Also applies a changed
    /// clock offset.
    pub async fn ready(&self) -> Result<(), StoreError> {
        migrate::check(self.driver()).await?;
        self.refresh().await
    }

    /// Whether the database has been migrated and holds secrets that are sealed with a key-encryption
    /// key, this store's or another.
    pub async fn is_sealed(&self) -> Result<bool, StoreError> {
        admin::keys::has_id_key(self).await
    }

    /// Checks that [`Store::migrate`] would accept the schema, and that the key-encryption key opens what
    /// is stored. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Schema`]: another program's schema, or a newer one. [`StoreError::Corrupt`]: another
    /// key-encryption key.
    pub async fn check_migratable(&self) -> Result<(), StoreError> {
        migrate::check_migratable(self.driver()).await?;
        match admin::keys::has_id_key(self).await? {
            true => admin::keys::id_key(self).await.map(drop),
            false => Ok(()),
        }
    }

    /// What is in use and cannot be opened with the configured key-encryption keys.
    ///
    /// # Errors
    /// The database cannot be reached, or has not been migrated.
    pub async fn unopenable(&self) -> Result<Vec<admin::keys::Unopenable>, StoreError> {
        admin::keys::unopenable(self).await
    }

    /// The number of access keys in use, if the configured key-encryption keys open none of them;
    /// otherwise 0. It may be asked before the migration.
    pub async fn locked_access_keys(&self) -> Result<i64, StoreError> {
        admin::keys::locked_access_keys(self).await
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        self.id_keys().await?;
        let offset = self.clock_offset_micros().await?;
        self.driver().set_clock_offset(offset);
        Ok(())
    }

    /// The name of the database engine, for display.
    pub fn engine_name(&self) -> &'static str {
        match self.driver().dialect() {
            Dialect::Sqlite => "SQLite",
            Dialect::Postgres => "PostgreSQL",
        }
    }

    /// Whether processes on other machines can use it concurrently.
    pub fn is_shared(&self) -> bool {
        self.driver().dialect() == Dialect::Postgres
    }

    /// Fresh ids in time order. Before [`Store::migrate`] or [`Store::ready`] they are random
    /// instead.
    pub fn ids(&self) -> Box<dyn IdSource + Send> {
        let codec = self.inner.keys.get().map(|keys| keys.ids.clone());
        let (clock, entropy) =
            (Arc::clone(&self.inner.options.clock), Arc::clone(&self.inner.options.entropy));
        Box::new(KeyedIds::new(codec, clock, entropy, Arc::clone(&self.inner.last_id)))
    }

    /// The id of a copy of a record that is stored as if created that much later, to the millisecond;
    /// the same id before [`Store::migrate`] or [`Store::ready`].
    pub fn moved_id(&self, public: uuid::Uuid, by: Span) -> uuid::Uuid {
        self.inner.keys.get().map_or(public, |keys| keys.ids.moved(public, by))
    }

    /// Updates the database's own statistics, after many rows were added at once.
    ///
    /// # Errors
    /// The database cannot be reached, or is read behind a pooler in transaction mode.
    pub async fn gather_statistics(&self) -> Result<(), StoreError> {
        Ok(self.driver().gather_statistics().await?)
    }

    /// Cryptographically random bytes from the store's own source.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.inner.options.entropy.fill(&mut bytes);
        bytes
    }

    /// Loads the rows that `need` names, lets `decide` work on them, and saves what it kept, all in
    /// one transaction.
    ///
    /// `decide` runs again on fresh rows after a serialization failure or a conflict; its earlier
    /// results are discarded. A batch that changes nothing is not written at all.
    ///
    /// # Errors
    /// See [`ExecuteError`]; except for `CommitUnknown` nothing was written.
    pub async fn execute(
        &self,
        batch: BatchId,
        need: &Need,
        decide: &mut (dyn FnMut(&mut WorkingSet) + Send),
    ) -> Result<Committed, ExecuteError> {
        if !need.covers_its_tenants() {
            return Err(ExecuteError::Corrupt(
                "a batch names rows of a tenant that it does not lock".to_owned(),
            ));
        }
        let keys = self.id_keys().await?;
        let mut met = ExecuteError::Contended;
        for _ in 0..TRIES_MAX {
            match self.driver().attempt(batch, load::loads(need, &keys)?, &keys, decide).await? {
                Attempted::Done(rows) => return Ok(Committed { at: rows.now, rows: *rows }),
                Attempted::Again(error) => {
                    tracing::debug!(%batch, %error, "batch will be decided again");
                    met = error;
                }
            }
        }
        Err(met)
    }

    /// Saves a decision on cached rows. Nothing was locked for it: the guards of the written rows
    /// verify that the cache was current, so each row that the decision depends on must be among
    /// them, or a constraint must ensure its absence.
    ///
    /// # Errors
    /// See [`ExecuteError`]; `Contended` if a row may have been stale. Except for `CommitUnknown` nothing was
    /// written.
    pub async fn save(&self, batch: BatchId, rows: WorkingSet) -> Result<Committed, ExecuteError> {
        let keys = self.id_keys().await?;
        match self.driver().save(batch, Box::new(rows), &keys).await? {
            Attempted::Done(rows) => Ok(Committed { at: rows.now, rows: *rows }),
            Attempted::Again(error) => {
                tracing::debug!(%batch, %error, "cached rows were stale, batch will be decided on loaded rows");
                Err(ExecuteError::Contended)
            }
        }
    }

    /// Whether a batch of unknown outcome has landed. Asking makes the answer final: after `false`,
    /// the batch can no longer land.
    ///
    /// # Errors
    /// The database cannot be reached; retry.
    pub async fn was_committed(&self, batch: BatchId) -> Result<bool, StoreError> {
        let id = self.id_keys().await?.stored(batch.0);
        let steps = vec![
            Step::any(&SEAL_BATCH, vec![self.now_param(), id.into()]),
            Step::any(&BATCH_LANDED, vec![id.into()]),
        ];
        let landed = self.write_many(steps).await?.pop();
        landed.ok_or_else(|| StoreError::Corrupt("a batch row is missing".to_owned()))
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.inner.driver
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Waits for its turn, in order of arrival.
    pub(crate) async fn turn_to_note(&self) -> MutexGuard<'_, ()> {
        self.inner.noting.lock().await
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn known_keys(&self) -> Option<&Keys> {
        self.inner.keys.get().map(Arc::as_ref)
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn last_id(&self) -> &Last {
        &self.inner.last_id
    }

    pub(crate) fn now_param(&self) -> Value {
        self.driver().now_param()
    }

    /// The keys, read from the database on first use.
    pub(crate) async fn id_keys(&self) -> Result<Arc<Keys>, StoreError> {
        if let Some(keys) = self.inner.keys.get() {
            return Ok(Arc::clone(keys));
        }
        let id_key = admin::keys::id_key(self).await?;
        let made = Arc::new(Keys::new(&id_key, Arc::clone(&self.inner.vault)));
        Ok(Arc::clone(self.inner.keys.get_or_init(|| made)))
    }

    pub(crate) async fn query(
        &self,
        stmt: &'static Stmt,
        params: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.driver().query(stmt, params).await?)
    }

    /// All rows of the result.
    pub(crate) async fn many<T: Get>(
        &self,
        stmt: &'static Stmt,
        params: impl Put<'_>,
    ) -> Result<Vec<T>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(stmt, values(params, &keys)?).await?;
        read(&rows, &keys)
    }

    /// The result's first row.
    pub(crate) async fn one<T: Get>(
        &self,
        stmt: &'static Stmt,
        params: impl Put<'_>,
    ) -> Result<Option<T>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(stmt, values(params, &keys)?).await?;
        rows.first().map(|row| T::get(&mut row.fields(), &keys)).transpose()
    }

    /// The only row of a statement that always has one, such as a count.
    pub(crate) async fn only<T: Get>(
        &self,
        stmt: &'static Stmt,
        params: impl Put<'_>,
    ) -> Result<T, StoreError> {
        let row = self.one(stmt, params).await?;
        row.ok_or_else(|| StoreError::Corrupt(format!("{} returned no row", stmt.name)))
    }

    /// All rows of a statement with many keys. Boxed, so that callers' futures do not contain the
    /// iterator, whose lifetimes the compiler could not follow.
    pub(crate) fn many_by<'a, T: Get + 'a>(
        &'a self,
        stmt: &'static Stmt,
        wanted: impl Iterator<Item = impl Put<'a>> + Send + 'a,
    ) -> Running<'a, Result<Vec<T>, StoreError>> {
        Box::pin(async move {
            let keys = self.id_keys().await?;
            let wanted = keyed(stmt, wanted, &keys)?.into_owned();
            read(&self.driver().query_keys(stmt, wanted).await?, &keys)
        })
    }

    /// Writes in a separate transaction; returns the rows of each statement.
    pub(crate) async fn write(&self, steps: Vec<Step>) -> Result<Vec<Vec<Row>>, StoreError> {
        Ok(self.driver().write(steps).await?.into_iter().map(|answer| answer.rows).collect())
    }

    /// As [`Store::write`], if the question returns a row; otherwise no rows. The writes must be
    /// correct on their own: the question only saves a transaction that would change nothing.
    pub(crate) async fn write_if(
        &self,
        question: Step,
        steps: Vec<Step>,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        Ok(self
            .driver()
            .write_if(question, steps)
            .await?
            .into_iter()
            .map(|answer| answer.rows)
            .collect())
    }

    /// As [`Store::write`]; reads the rows of all statements.
    pub(crate) async fn write_many<T: Get>(&self, steps: Vec<Step>) -> Result<Vec<T>, StoreError> {
        let answers = self.write(steps).await?;
        read(answers.iter().flatten(), &*self.id_keys().await?)
    }

    /// Writes in a separate transaction; returns the number of rows affected by each statement.
    pub(crate) async fn write_counts(&self, steps: Vec<Step>) -> Result<Vec<u64>, StoreError> {
        Ok(self.driver().write(steps).await?.into_iter().map(|answer| answer.affected).collect())
    }
}

/// The parameters of a statement.
pub(crate) fn values<'a>(params: impl Put<'a>, keys: &Keys) -> Result<Vec<Value>, StoreError> {
    let mut values = Vec::new();
    params.put(keys, &mut values)?;
    Ok(values)
}

/// The keys of a statement with many.
pub(crate) fn keyed<'a>(
    stmt: &Stmt,
    mut wanted: impl Iterator<Item = impl Put<'a>>,
    keys: &Keys,
) -> Result<Columns<'a>, StoreError> {
    let mut columns = Columns::new(stmt.key_kinds(), wanted.size_hint().0);
    wanted.try_for_each(|key| key.put(keys, &mut columns))?;
    Ok(columns)
}

/// Reads the rows of an answer.
pub(crate) fn read<'a, T: Get>(
    rows: impl IntoIterator<Item = &'a Row>,
    keys: &Keys,
) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(|row| T::get(&mut row.fields(), keys)).collect()
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store").field("dialect", &self.driver().dialect()).finish_non_exhaustive()
    }
}
