//! Pages of lists: the rows of one page and how many there are in all.

use crate::error::StoreError;
use crate::sql::{Row, Value};

/// Which page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// From 0.
    pub page: u32,
    /// Rows of a page.
    pub limit: u32,
}

impl Page {
    /// How many rows are wanted, and how many stand before them.
    pub(crate) fn params(self) -> [Value; 2] {
        let limit = i64::from(self.limit);
        [limit.into(), (i64::from(self.page) * limit).into()]
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The rows of the page; none on a page behind the end.
    pub rows: Vec<T>,
    /// How many rows the list has in all.
    pub total: u64,
}

/// Reads what a `COUNT` gave.
pub(crate) fn total(rows: &[Row]) -> Result<u64, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::Corrupt("nothing was counted".to_owned()))?;
    crate::rows::narrow(row.fields().int()?, "count")
}

/// How many rows at most.
pub(crate) fn most(limit: usize) -> Value {
    Value::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}
