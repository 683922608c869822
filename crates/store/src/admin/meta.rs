//! Named values of the installation, and the cursors of rails' report collectors.

use domain::rail::RailId;
use domain::time::Timestamp;

use crate::chain_view::HeldRole;
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::{Store, read};

/// Name of the value with the offset of this service's clock to the database's, in microseconds.
pub const CLOCK_OFFSET: &str = "clock_offset_us";

static GET: Stmt = Stmt::written("meta.get", "SELECT value FROM meta WHERE name = $1");
static SET: Stmt = Stmt::written(
    "meta.set",
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
static CHANGE: Stmt = Stmt::written(
    "meta.change",
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value \
     WHERE meta.value = $3",
);
static CURSOR: Stmt =
    Stmt::written("rail_cursor.get", "SELECT mark FROM rail_cursor WHERE rail = $1");
static SET_CURSOR: Stmt = Stmt::written(
    "rail_cursor.set",
    "INSERT INTO rail_cursor (rail, mark, at) VALUES ($2, $3, {{now}}) \
     ON CONFLICT (rail) DO UPDATE SET mark = excluded.mark, at = excluded.at",
);

/// Name of the value that readiness checks write.
const PROBE: &str = "last_write_check";
/// Length of that value after a write has found no space: about that of a large batch.
const PROBE_BYTES: usize = 256 * 1024;
static NOW: Stmt = Stmt::written("meta.now", "SELECT CAST({{now}} AS BIGINT)");

pub(crate) static STATEMENTS: &[&Stmt] = &[&GET, &SET, &CHANGE, &CURSOR, &SET_CURSOR, &NOW];

impl Store {
    /// Returns a named value.
    pub async fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.one(&GET, name).await
    }

    /// Whether there is a named value. This needs no key-encryption key.
    pub async fn has_meta(&self, name: &str) -> Result<bool, StoreError> {
        Ok(!self.driver().query(&GET, vec![name.into()]).await?.is_empty())
    }

    /// Sets a named value. A changed [`CLOCK_OFFSET`] takes effect here at once and on other nodes
    /// with their next readiness check.
    ///
    /// # Errors
    /// The database cannot be reached, or a clock offset is no number.
    pub async fn set_meta(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let offset = if name == CLOCK_OFFSET { Some(offset(value)?) } else { None };
        self.write(vec![Step::any(&SET, vec![name.into(), value.into()])]).await?;
        if let Some(micros) = offset {
            self.driver().set_clock_offset(micros);
        }
        Ok(())
    }

    /// Writes, as every request that changes something has to; returns the time of the machine that the
    /// database is on, if it has a clock of its own.
    ///
    /// # Errors
    /// The reason why nothing can be written: the database is away, full, locked, or a standby.
    pub async fn check_write(&self) -> Result<Option<Timestamp>, StoreError> {
        let bytes = if self.driver().is_full() { PROBE_BYTES } else { 0 };
        let set = Step::any(&SET, vec![PROBE.into(), "-".repeat(bytes).into()]);
        let now = Step::any(&NOW, vec![self.now_param()]);
        let mut answers = self.write(vec![set, now]).await?;
        if bytes > 0 {
            self.driver().note_space_found();
        }
        let keys = self.id_keys().await?;
        let now = answers.pop().unwrap_or_default();
        let now: Option<Timestamp> = read(&now, &keys)?.pop();
        let now = now.ok_or_else(|| StoreError::Corrupt("the store has no time".to_owned()))?;
        Ok(self.driver().own_time(now))
    }

    /// Sets a named value as the holder of a role.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role.
    pub async fn set_meta_as(
        &self,
        role: &HeldRole,
        name: &str,
        value: &str,
    ) -> Result<(), StoreError> {
        let steps = vec![role.step(), Step::any(&SET, vec![name.into(), value.into()])];
        self.write(steps).await.map(drop)
    }

    /// Replaces a named value with the result of `next`; after a concurrent change, `next` is
    /// applied to the new value.
    pub async fn change_meta(
        &self,
        name: &str,
        next: impl Fn(&str) -> String,
    ) -> Result<(), StoreError> {
        loop {
            let known = self.meta(name).await?.unwrap_or_default();
            let params = vec![name.into(), next(&known).into(), known.into()];
            if self
                .write_counts(vec![Step::any(&CHANGE, params)])
                .await?
                .first()
                .is_some_and(|rows| *rows > 0)
            {
                return Ok(());
            }
        }
    }

    pub(crate) async fn clock_offset_micros(&self) -> Result<i64, StoreError> {
        self.meta(CLOCK_OFFSET).await?.map_or(Ok(0), |value| offset(&value))
    }

    /// A rail's report cursor, in the rail's own format.
    pub async fn rail_cursor(&self, rail: &RailId) -> Result<Option<String>, StoreError> {
        self.one(&CURSOR, rail).await
    }

    /// Stores a rail's report cursor.
    pub async fn set_rail_cursor(&self, rail: &RailId, cursor: &str) -> Result<(), StoreError> {
        let params = vec![self.now_param(), (&*rail.0).into(), cursor.into()];
        self.write(vec![Step::any(&SET_CURSOR, params)]).await.map(drop)
    }
}

fn offset(value: &str) -> Result<i64, StoreError> {
    value.parse().map_err(|_| {
        StoreError::Config(format!("{CLOCK_OFFSET} {value:?} is not a number of microseconds"))
    })
}
