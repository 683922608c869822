//! Named values of the installation, and what rails' report collectors remember.

use domain::rail::RailId;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

/// Name of the value that says by how many microseconds this service's time is ahead of the database's.
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
static CURSOR: Stmt = Stmt::written("rail_cursor.get", "SELECT mark FROM rail_cursor WHERE rail = $1");
static SET_CURSOR: Stmt = Stmt::written(
    "rail_cursor.set",
    "INSERT INTO rail_cursor (rail, mark, at) VALUES ($2, $3, {{now}}) \
     ON CONFLICT (rail) DO UPDATE SET mark = excluded.mark, at = excluded.at",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&GET, &SET, &CHANGE, &CURSOR, &SET_CURSOR];

impl Store {
    /// A named value.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let rows = self.query(&GET, vec![name.into()]).await?;
        rows.first().map(|row| Ok(row.fields().text()?.to_owned())).transpose()
    }

    /// Sets a named value. A changed [`CLOCK_OFFSET`] is taken up here at once and by other nodes when they next ask
    /// whether the store is ready.
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

    /// Changes a named value to what `next` makes of it; where somebody else changes it meanwhile, of what that made it.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn change_meta(&self, name: &str, next: impl Fn(&str) -> String) -> Result<(), StoreError> {
        loop {
            let known = self.meta(name).await?.unwrap_or_default();
            let params = vec![name.into(), next(&known).into(), known.into()];
            if self.write_counts(vec![Step::any(&CHANGE, params)]).await?.first().is_some_and(|rows| *rows > 0) {
                return Ok(());
            }
        }
    }

    pub(crate) async fn clock_offset_micros(&self) -> Result<i64, StoreError> {
        self.meta(CLOCK_OFFSET).await?.map_or(Ok(0), |value| offset(&value))
    }

    /// How far a rail's reports have been taken, in the rail's own words.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn rail_cursor(&self, rail: &RailId) -> Result<Option<String>, StoreError> {
        let rows = self.query(&CURSOR, vec![(&*rail.0).into()]).await?;
        rows.first().map(|row| Ok(row.fields().text()?.to_owned())).transpose()
    }

    /// Remembers how far a rail's reports have been taken.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn set_rail_cursor(&self, rail: &RailId, cursor: &str) -> Result<(), StoreError> {
        let params = vec![self.now_param(), (&*rail.0).into(), cursor.into()];
        self.write(vec![Step::any(&SET_CURSOR, params)]).await.map(drop)
    }
}

fn offset(value: &str) -> Result<i64, StoreError> {
    value.parse().map_err(|_| StoreError::Config(format!("{CLOCK_OFFSET} {value:?} is no number of microseconds")))
}
