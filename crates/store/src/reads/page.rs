//! Pages of lists: the rows of one page and the total count.

use crate::error::StoreError;
use crate::rows::column::{Get, Put};
use crate::sql::{Stmt, Value};
use crate::store::{Store, values};

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Page number, from 0.
    pub page: u32,
    /// Maximum number of rows per page.
    pub limit: u32,
}

impl Page {
    /// The number of rows, and the number of rows to skip.
    pub(crate) fn params(self) -> [Value; 2] {
        let limit = i64::from(self.limit);
        [limit.into(), (i64::from(self.page) * limit).into()]
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The rows of the page; none beyond the end.
    pub rows: Vec<T>,
    /// The total number of rows.
    pub total: u64,
}

impl Store {
    /// The page of a list, by the statements that count and that list.
    pub(crate) async fn listed<T: Get>(
        &self,
        (count, list): (&'static Stmt, &'static Stmt),
        params: impl Put<'_>,
        page: Page,
    ) -> Result<Listed<T>, StoreError> {
        let params = values(params, &*self.id_keys().await?)?;
        let total = self.only(count, params.clone()).await?;
        let rows = self.many(list, [params, page.params().into()].concat()).await?;
        Ok(Listed { rows, total })
    }
}

/// A limit as a parameter.
pub(crate) fn most(limit: usize) -> Value {
    Value::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}
