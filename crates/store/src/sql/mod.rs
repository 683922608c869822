//! SQL for both engines: values, tables, statements. Nothing here opens a connection.

pub(crate) mod statement;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod value;

pub(crate) use statement::{Dialect, Stmt};
pub(crate) use table::{Kind, Role, Table};
pub(crate) use value::{Cell, Columns, Fields, Row, Sink, Value};
