//! A Parquet file from a table of columns. Rows are written in groups of bounded size, so that the
//! memory that a file takes does not depend on its length.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::super::failure::Failure;

/// Rows of a group.
pub const GROUP_ROWS: usize = 20_000;
/// Text of a group, in bytes: with payloads, a group has fewer rows.
const GROUP_BYTES: usize = 16 * 1024 * 1024;
/// Digits after the point of an amount: those of stablecoins, more than any other currency has.
pub const AMOUNT_SCALE: u32 = 6;
/// Digits after the point of a rate.
pub const RATE_SCALE: u32 = 12;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Amount,
    Rate,
    Number,
    Time,
}

/// A value; each kind of column has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Text(String),
    /// Units of the last digit after the point, as many as the column's kind has.
    Decimal(i128),
    /// A number, or microseconds since 1970 UTC.
    Int(i64),
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Null, Into::into)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<domain::time::Timestamp> for Cell {
    fn from(at: domain::time::Timestamp) -> Cell {
        Cell::Int(at.0)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Int(number)
    }
}

/// A column of rows of type `R`.
pub struct Column<R> {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether it may have no value.
    pub is_optional: bool,
    pub value: fn(&R) -> Cell,
}

impl<R> Column<R> {
    /// The column in the schema's language.
    fn declaration(&self) -> String {
        let (name, presence) = (self.name, if self.is_optional { "OPTIONAL" } else { "REQUIRED" });
        let decimal = |scale| format!("FIXED_LEN_BYTE_ARRAY(16) {name} (DECIMAL(38,{scale}))");
        let typed = match self.kind {
            Kind::Text => format!("BYTE_ARRAY {name} (STRING)"),
            Kind::Amount => decimal(AMOUNT_SCALE),
            Kind::Rate => decimal(RATE_SCALE),
            Kind::Number => format!("INT64 {name}"),
            Kind::Time => format!("INT64 {name} (TIMESTAMP(MICROS,true))"),
        };
        format!("{presence} {typed};")
    }
}

/// A file being written.
pub struct ParquetFile<'a, R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: &'a [Column<R>],
    /// The values of the group so far, by column.
    group: Vec<Vec<Cell>>,
    bytes: usize,
    rows: u64,
}

impl<'a, R, W: Write + Send> ParquetFile<'a, R, W> {
    pub fn create(name: &str, columns: &'a [Column<R>], out: W) -> Result<Self, Failure> {
        let declared: Vec<String> = columns.iter().map(Column::declaration).collect();
        let schema = format!("message {name} {{ {} }}", declared.join(" "));
        let schema = Arc::new(parse_message_type(&schema).map_err(failed)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("corridor {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer =
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        let group = columns.iter().map(|_| Vec::new()).collect();
        Ok(ParquetFile { writer, columns, group, bytes: 0, rows: 0 })
    }

    pub fn write(&mut self, row: &R) -> Result<(), Failure> {
        for (column, values) in self.columns.iter().zip(&mut self.group) {
            let value = (column.value)(row);
            if let Cell::Text(text) = &value {
                self.bytes += text.len();
            }
            values.push(value);
        }
        self.rows += 1;
        let rows = self.group.first().map_or(0, Vec::len);
        if rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    /// Completes the file; returns what was written to, and the number of rows.
    pub fn finish(mut self) -> Result<(W, u64), Failure> {
        self.end_group()?;
        Ok((self.writer.into_inner().map_err(failed)?, self.rows))
    }

    fn end_group(&mut self) -> Result<(), Failure> {
        if self.group.first().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for (column, values) in self.columns.iter().zip(&mut self.group) {
            let mut out = group
                .next_column()
                .and_then(|next| next.ok_or(ParquetError::General("too few columns".to_owned())))
                .map_err(failed)?;
            put(&mut out, column, values)?;
            out.close().map_err(failed)?;
            values.clear();
        }
        group.close().map_err(failed)?;
        self.bytes = 0;
        Ok(())
    }
}

fn put<R>(
    out: &mut SerializedColumnWriter<'_>,
    column: &Column<R>,
    values: &mut Vec<Cell>,
) -> Result<(), Failure> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(*value != Cell::Null)).collect();
    if !column.is_optional && levels.contains(&0) {
        return Err(Failure::Unavailable(format!("the column {} lacks a value", column.name)));
    }
    let levels = column.is_optional.then_some(levels.as_slice());
    let written = match column.kind {
        Kind::Text => {
            let text = |value| match value {
                Cell::Text(text) => Some(ByteArray::from(text.into_bytes())),
                _ => None,
            };
            let texts: Vec<ByteArray> = values.drain(..).filter_map(text).collect();
            out.typed::<ByteArrayType>().write_batch(&texts, levels, None)
        }
        Kind::Amount | Kind::Rate => {
            let decimal = |value| match value {
                Cell::Decimal(units) => Some(FixedLenByteArray::from(units.to_be_bytes().to_vec())),
                _ => None,
            };
            let decimals: Vec<FixedLenByteArray> = values.drain(..).filter_map(decimal).collect();
            out.typed::<FixedLenByteArrayType>().write_batch(&decimals, levels, None)
        }
        Kind::Number | Kind::Time => {
            let number = |value| match value {
                Cell::Int(number) => Some(number),
                _ => None,
            };
            let numbers: Vec<i64> = values.drain(..).filter_map(number).collect();
            out.typed::<Int64Type>().write_batch(&numbers, levels, None)
        }
    };
    written.map(drop).map_err(failed)
}

fn failed(error: ParquetError) -> Failure {
    Failure::Unavailable(format!("Parquet: {error}"))
}
