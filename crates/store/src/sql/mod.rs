//! SQL for both engines: values, tables, statements. Nothing here opens a connection.

pub(crate) mod audit_tables;
pub(crate) mod rail_tables;
pub(crate) mod statement;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod value;
pub(crate) mod wallet_tables;

pub(crate) use statement::{Dialect, Stmt};
pub(crate) use table::{Kind, Table};
pub(crate) use value::{Cell, Columns, Fields, Row, Value};
