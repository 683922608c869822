//! Parameters as the protocol wants them: single values, or one array per column.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::sql::Value;
use crate::sql::value::Column;

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
