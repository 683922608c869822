//! Pages of lists: the rows of one page and the total count.

use crate::error::StoreError;
use crate::sql::{Row, Value};

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

/// Reads the result of a `COUNT`.
pub(crate) fn total(rows: &[Row]) -> Result<u64, StoreError> {
    let row =
        rows.first().ok_or_else(|| StoreError::Corrupt("the count returned no row".to_owned()))?;
    crate::rows::narrow(row.fields().int()?, "count")
}

/// A limit as a parameter.
pub(crate) fn most(limit: usize) -> Value {
    Value::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}
