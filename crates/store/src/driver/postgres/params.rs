//! Parameters in the protocol's form: single values, one array per column, or one array of whole
//! rows.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{Field, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::save::NewRows;
use crate::sql::value::{Cell, Column};
use crate::sql::{Columns, Table, Value};

type Encoded = Result<IsNull, Box<dyn Error + Sync + Send>>;

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(value) => value.to_sql_checked(ty, out),
            Value::Text(value) => value.to_sql_checked(ty, out),
            Value::Uuid(value) => value.to_sql_checked(ty, out),
            Value::Bytes(value) => value.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for Column<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self {
            Column::Int(values) => values.to_sql_checked(ty, out),
            Column::Text(values) => values.to_sql_checked(ty, out),
            Column::Uuid(values) => values.to_sql_checked(ty, out),
            Column::Bytes(values) => values.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Rows of a table as one array of the table's own type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeRows<'a> {
    pub(super) table: &'static Table,
    pub(super) source: Source<'a>,
}

/// The source of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Made(&'a Columns<'a>),
    Later(&'a dyn NewRows),
}

impl WholeRows<'_> {
    /// The position of each field of the table's type. A column that this version does not know
    /// (added by a newer version's migration) is sent as null and not inserted.
    fn places(&self, fields: &[Field]) -> Vec<Option<usize>> {
        fields
            .iter()
            .map(|field| self.table.columns.iter().position(|(_, name, _)| *name == field.name()))
            .collect()
    }
}

impl ToSql for WholeRows<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        let Kind::Array(row_type) = ty.kind() else {
            return Err(format!("{ty} is not an array").into());
        };
        let Kind::Composite(fields) = row_type.kind() else {
            return Err(format!("{row_type} is not a row type").into());
        };
        let made;
        let columns = match self.source {
            Source::Made(columns) => columns,
            Source::Later(rows) => {
                made = rows.make()?;
                &made
            }
        };
        let (places, rows) = (self.places(fields), columns.len());
        // One dimension, no null among its elements, counted from 1.
        out.put_i32(1);
        out.put_i32(0);
        out.put_u32(row_type.oid());
        out.put_i32(i32::try_from(rows)?);
        out.put_i32(1);
        for row in 0..rows {
            with_length_prefix(out, |out| {
                out.put_i32(i32::try_from(fields.len())?);
                for (field, place) in fields.iter().zip(&places) {
                    out.put_u32(field.type_().oid());
                    match place.map_or(Cell::Null, |column| columns.cell(column, row)) {
                        Cell::Null => out.put_i32(-1),
                        cell => with_length_prefix(out, |out| put(cell, field.type_(), out))?,
                    }
                }
                Ok(())
            })?;
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

type Written = Result<(), Box<dyn Error + Sync + Send>>;

fn put(cell: Cell<'_>, ty: &Type, out: &mut BytesMut) -> Written {
    match cell {
        Cell::Null => return Err("a null has no length".into()),
        Cell::Int(value) => value.to_sql_checked(ty, out)?,
        Cell::Text(value) => value.to_sql_checked(ty, out)?,
        Cell::Uuid(value) => value.to_sql_checked(ty, out)?,
        Cell::Bytes(value) => value.to_sql_checked(ty, out)?,
    };
    Ok(())
}

/// Writes a value with its length prefix.
fn with_length_prefix(out: &mut BytesMut, write: impl FnOnce(&mut BytesMut) -> Written) -> Written {
    let start = out.len();
    out.put_i32(0);
    write(out)?;
    let length = i32::try_from(out.len() - start - size_of::<i32>())?;
    out[start..start + size_of::<i32>()].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
