//! Values to and from the database: four kinds, each of which may be null.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use super::table::Kind;
use crate::error::StoreError;

/// One parameter of a statement, or one column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Uuid(Uuid),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<Uuid> for Value {
    fn from(value: Uuid) -> Value {
        Value::Uuid(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Value {
        Value::Bytes(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// One value of a [`Column`], borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Uuid(&'a Uuid),
    Bytes(&'a [u8]),
}

/// The values of one column of many rows.
#[derive(Clone, Debug)]
pub(crate) enum Column<'a> {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<Cow<'a, str>>>),
    Uuid(Vec<Option<Uuid>>),
    Bytes(Vec<Option<Cow<'a, [u8]>>>),
}

/// Many rows, column by column: PostgreSQL takes each column as one array, SQLite takes the rows
/// one by one.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    columns: Vec<Column<'a>>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// Empty columns with capacity for `rows`.
    pub(crate) fn new(kinds: impl Iterator<Item = Kind>, rows: usize) -> Columns<'a> {
        let columns = kinds.map(|kind| match kind {
            Kind::Int => Column::Int(Vec::with_capacity(rows)),
            Kind::Text => Column::Text(Vec::with_capacity(rows)),
            Kind::Uuid => Column::Uuid(Vec::with_capacity(rows)),
            Kind::Bytes => Column::Bytes(Vec::with_capacity(rows)),
        });
        Columns { columns: columns.collect(), next: 0 }
    }

    pub(crate) fn into_owned(self) -> Columns<'static> {
        let columns = self.columns.into_iter().map(|column| match column {
            Column::Int(values) => Column::Int(values),
            Column::Text(values) => Column::Text(owned(values)),
            Column::Uuid(values) => Column::Uuid(values),
            Column::Bytes(values) => Column::Bytes(owned(values)),
        });
        Columns { columns: columns.collect(), next: self.next }
    }

    pub(crate) fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    pub(crate) fn len(&self) -> usize {
        match self.columns.first() {
            None => 0,
            Some(Column::Int(values)) => values.len(),
            Some(Column::Text(values)) => values.len(),
            Some(Column::Uuid(values)) => values.len(),
            Some(Column::Bytes(values)) => values.len(),
        }
    }

    pub(crate) fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        match &self.columns[column] {
            Column::Int(values) => values[row].map_or(Cell::Null, Cell::Int),
            Column::Text(values) => values[row].as_deref().map_or(Cell::Null, Cell::Text),
            Column::Uuid(values) => values[row].as_ref().map_or(Cell::Null, Cell::Uuid),
            Column::Bytes(values) => values[row].as_deref().map_or(Cell::Null, Cell::Bytes),
        }
    }

    /// The column of the current row's next value.
    fn next(&mut self) -> &mut Column<'a> {
        let at = self.next;
        self.next = (at + 1) % self.columns.len();
        &mut self.columns[at]
    }
}

/// What values are written into, one after the other: rows of columns, or parameters.
pub(crate) trait Sink<'a> {
    fn null(&mut self);
    fn int(&mut self, value: i64);
    fn text(&mut self, value: Cow<'a, str>);
    fn uuid(&mut self, value: Uuid);
    fn bytes(&mut self, value: Cow<'a, [u8]>);
}

impl<'a> Sink<'a> for Columns<'a> {
    fn null(&mut self) {
        match self.next() {
            Column::Int(values) => values.push(None),
            Column::Text(values) => values.push(None),
            Column::Uuid(values) => values.push(None),
            Column::Bytes(values) => values.push(None),
        }
    }

    fn int(&mut self, value: i64) {
        match self.next() {
            Column::Int(values) => values.push(Some(value)),
            other => misplaced("an integer", other),
        }
    }

    fn text(&mut self, value: Cow<'a, str>) {
        match self.next() {
            Column::Text(values) => values.push(Some(value)),
            other => misplaced("a text", other),
        }
    }

    fn uuid(&mut self, value: Uuid) {
        match self.next() {
            Column::Uuid(values) => values.push(Some(value)),
            other => misplaced("a uuid", other),
        }
    }

    fn bytes(&mut self, value: Cow<'a, [u8]>) {
        match self.next() {
            Column::Bytes(values) => values.push(Some(value)),
            other => misplaced("bytes", other),
        }
    }
}

impl<'a> Sink<'a> for Vec<Value> {
    fn null(&mut self) {
        self.push(Value::Null);
    }

    fn int(&mut self, value: i64) {
        self.push(Value::Int(value));
    }

    fn text(&mut self, value: Cow<'a, str>) {
        self.push(Value::Text(value.into_owned()));
    }

    fn uuid(&mut self, value: Uuid) {
        self.push(Value::Uuid(value));
    }

    fn bytes(&mut self, value: Cow<'a, [u8]>) {
        self.push(Value::Bytes(value.into_owned()));
    }
}

fn owned<T: ToOwned + ?Sized>(values: Vec<Option<Cow<'_, T>>>) -> Vec<Option<Cow<'static, T>>> {
    values.into_iter().map(|value| value.map(|value| Cow::Owned(value.into_owned()))).collect()
}

/// A row is written in a different order than its table defines: a bug that the table's first test
/// reveals.
fn misplaced(what: &str, column: &Column<'_>) -> ! {
    let kind = match column {
        Column::Int(_) => "integers",
        Column::Text(_) => "texts",
        Column::Uuid(_) => "uuids",
        Column::Bytes(_) => "bytes",
    };
    panic!("{what} is written into a column of {kind}")
}

/// One row of a result.
#[derive(Debug)]
pub(crate) enum Row {
    Postgres(tokio_postgres::Row),
    Sqlite(Vec<Value>),
}

impl Row {
    /// The row's fields, from the first column.
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields { row: self, at: 0 }
    }
}

/// Reads a row's columns one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    row: &'a Row,
    at: usize,
}

/// A value of any type, not looked at.
struct Anything;

impl FromSql<'_> for Anything {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Anything, Box<dyn Error + Sync + Send>> {
        Ok(Anything)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn unreadable(at: usize, what: &str) -> StoreError {
    StoreError::Corrupt(format!("column {at} of a result is not a {what}"))
}

macro_rules! field {
    ($name:ident, $optional:ident, $kind:ty, $what:literal, $value:pat => $result:expr) => {
        pub(crate) fn $optional(&mut self) -> Result<Option<$kind>, StoreError> {
            let at = self.at;
            self.at += 1;
            match self.row {
                Row::Postgres(row) => row.try_get(at).map_err(|_| unreadable(at, $what)),
                Row::Sqlite(values) => match values.get(at) {
                    Some($value) => Ok(Some($result)),
                    Some(Value::Null) => Ok(None),
                    _ => Err(unreadable(at, $what)),
                },
            }
        }

        pub(crate) fn $name(&mut self) -> Result<$kind, StoreError> {
            let at = self.at;
            self.$optional()?.ok_or_else(|| unreadable(at, $what))
        }
    };
}

impl<'a> Fields<'a> {
    field!(int, opt_int, i64, "integer", Value::Int(value) => *value);
    field!(text, opt_text, &'a str, "text", Value::Text(value) => value.as_str());
    field!(bytes, opt_bytes, &'a [u8], "byte string", Value::Bytes(value) => value.as_slice());

    pub(crate) fn opt_uuid(&mut self) -> Result<Option<Uuid>, StoreError> {
        let at = self.at;
        if let Row::Postgres(row) = self.row {
            self.at += 1;
            return row.try_get(at).map_err(|_| unreadable(at, "uuid"));
        }
        // SQLite has no type of its own for it: 16 bytes.
        let bytes = self.opt_bytes()?;
        bytes.map(|bytes| Uuid::from_slice(bytes).map_err(|_| unreadable(at, "uuid"))).transpose()
    }

    pub(crate) fn uuid(&mut self) -> Result<Uuid, StoreError> {
        let at = self.at;
        self.opt_uuid()?.ok_or_else(|| unreadable(at, "uuid"))
    }

    /// Reads a flag, stored as 0 or 1.
    pub(crate) fn flag(&mut self) -> Result<bool, StoreError> {
        match self.int()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(unreadable(self.at - 1, "flag")),
        }
    }

    /// Reads and parses a named value.
    pub(crate) fn named<T>(
        &mut self,
        what: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let text = self.text()?;
        parse(text).ok_or_else(|| StoreError::Corrupt(format!("unknown {what} {text:?}")))
    }

    /// Whether the next column is null. A column that does not exist is not.
    pub(crate) fn at_null(&self) -> bool {
        match self.row {
            Row::Postgres(row) => matches!(row.try_get::<_, Option<Anything>>(self.at), Ok(None)),
            Row::Sqlite(values) => values.get(self.at) == Some(&Value::Null),
        }
    }

    pub(crate) fn skip(&mut self, columns: usize) {
        self.at += columns;
    }
}
