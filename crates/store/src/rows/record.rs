//! One declaration per table with records: its columns, and how a record is written, changed and
//! read.

use super::Keys;
use super::column::Written;
use crate::error::StoreError;
use crate::sql::{Columns, Table};

/// A record with a row of its own.
pub(crate) trait Record {
    /// The key, if the record does not contain it.
    type Key;

    fn table() -> &'static Table;

    /// Writes a whole row.
    fn write<'a>(key: &'a Self::Key, it: &'a Self, keys: &Keys, out: &mut Columns<'a>) -> Written;

    /// Writes key, new values and guards of an update.
    fn write_change<'a>(
        key: &'a Self::Key,
        old: &'a Self,
        new: &'a Self,
        keys: &Keys,
        out: &mut Columns<'a>,
    ) -> Written;
}

/// New rows of records.
pub(crate) fn whole_rows<T: Record<Key = ()>>(
    records: &[T],
    keys: &Keys,
) -> Result<Columns<'static>, StoreError> {
    let mut columns = Columns::new(T::table().row_columns(), records.len());
    records.iter().try_for_each(|it| T::write(&(), it, keys, &mut columns))?;
    Ok(columns.into_owned())
}

/// Names the column in an error about its value.
pub(crate) fn about<T>(
    table: &str,
    column: &str,
    result: Result<T, StoreError>,
) -> Result<T, StoreError> {
    result.map_err(|error| match error {
        StoreError::Corrupt(why) => StoreError::Corrupt(format!("{table}.{column}: {why}")),
        error => error,
    })
}

/// Declares a table and implements [`Record`] and [`Get`](super::column::Get) for its record.
///
/// Columns are grouped by their [`Role`](crate::sql::Role). `field: Type` is a column for the field
/// of that name, `field as column: Type` for a field of another name; `= value` writes that value
/// instead of a field; `with keys` names the [`Keys`] for it. `computed` columns are written but
/// not read. A `document` holds the fields without a column, sealed under the tenant and the id
/// that it names. Without `=> expression` the fields make the record.
///
/// With `by key: Key { … }` the record does not contain the columns of its key: it is written with
/// them, and read without.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $table:ident = $name:literal of $it:ident: $whole:ident $(read as $read:ident)? $(with $keys:ident)?
        $(by $key:ident: $by:ty { $($by_column:ident: $by_type:ty = $by_value:expr),+ $(,)? })?
        { $($role:ident { $($field:ident $(as $column:ident)?: $type:ty $(= $value:expr)?),+ $(,)? })+ }
        $(computed { $($made_role:ident { $($made:ident: $made_type:ty = $made_value:expr),+ $(,)? })+ })?
        $(document of $tenant:ident, $id:ident {
            $($(#[$serde:meta])* $inner:ident: $inner_type:ty),+ $(,)?
        })?
        $(=> $build:expr)?
    ) => {
        $(#[$doc])*
        pub(crate) static $table: $crate::sql::Table = $crate::sql::Table {
            name: $name,
            columns: &[
                $($(record!(@column Key, stringify!($by_column), $by_type),)+)?
                $($(record!(@column $role, record!(@name $field $($column)?), $type),)+)+
                $($($(record!(@column $made_role, stringify!($made), $made_type),)+)+)?
                $(record!(@document $id),)?
            ],
        };

        const _: () = {
            use $crate::rows::column::{Get, Put as _, Written};
            use $crate::sql::Role;

            $($crate::rows::document::document! {
                Rest of $whole in concat!($name, ".document") => {
                    $($(#[$serde])* $inner: $inner_type),+
                }
            })?

            impl $crate::rows::record::Record for $whole {
                type Key = record!(@key $($by)?);

                fn table() -> &'static $crate::sql::Table {
                    &$table
                }

                fn write<'a>(
                    _key: &'a Self::Key,
                    $it: &'a $whole,
                    keys: &$crate::rows::Keys,
                    out: &mut $crate::sql::Columns<'a>,
                ) -> Written {
                    $(let $keys = keys;)?
                    $(let $key = _key;)?
                    $($(record!(@put $by_value, keys, out, $name, stringify!($by_column));)+)?
                    $($(record!(
                        @put record!(@value $it $field $($value)?), keys, out, $name,
                        record!(@name $field $($column)?)
                    );)+)+
                    $($($(record!(@put $made_value, keys, out, $name, stringify!($made));)+)+)?
                    $(record!(@seal $it, $tenant, $id, keys, out);)?
                    Ok(())
                }

                fn write_change<'a>(
                    _key: &'a Self::Key,
                    old: &'a $whole,
                    new: &'a $whole,
                    keys: &$crate::rows::Keys,
                    out: &mut $crate::sql::Columns<'a>,
                ) -> Written {
                    $(let $keys = keys;)?
                    $(let $key = _key;)?
                    $($(record!(@put $by_value, keys, out, $name, stringify!($by_column));)+)?
                    let $it = new;
                    $(if Role::$role.is_key() { $(record!(
                        @put record!(@value $it $field $($value)?), keys, out, $name,
                        record!(@name $field $($column)?)
                    );)+ })+
                    $($(if Role::$made_role.is_key() {
                        $(record!(@put $made_value, keys, out, $name, stringify!($made));)+
                    })+)?
                    $(if Role::$role.is_changed() { $(record!(
                        @put record!(@value $it $field $($value)?), keys, out, $name,
                        record!(@name $field $($column)?)
                    );)+ })+
                    $($(if Role::$made_role.is_changed() {
                        $(record!(@put $made_value, keys, out, $name, stringify!($made));)+
                    })+)?
                    $(record!(@seal $it, $tenant, $id, keys, out);)?
                    let $it = old;
                    $(if Role::$role.is_verified() { $(record!(
                        @put record!(@value $it $field $($value)?), keys, out, $name,
                        record!(@name $field $($column)?)
                    );)+ })+
                    Ok(())
                }
            }

            impl Get for record!(@read $whole $($read)?) {
                fn get(
                    fields: &mut $crate::sql::Fields<'_>,
                    keys: &$crate::rows::Keys,
                ) -> Result<Self, $crate::error::StoreError> {
                    $(let $keys = keys;)?
                    $($(let $field = $crate::rows::record::about(
                        $name,
                        record!(@name $field $($column)?),
                        <$type as Get>::get(fields, keys),
                    )?;)+)+
                    $($($(fields.skip(record!(@one $made));)+)+)?
                    $(
                        let stored = keys.stored($id.0);
                        let Rest { $($inner),+ } =
                            $crate::rows::document::open(fields.bytes()?, $tenant, stored.as_bytes(), keys)?;
                    )?
                    Ok(record!(
                        @made $whole { $($($field,)+)+ $($($inner,)+)? } $($build)?
                    ))
                }
            }
        };
    };
    (@column $role:ident, $name:expr, $type:ty) => {
        ($crate::sql::Role::$role, $name, <$type as $crate::rows::column::InColumn>::KIND)
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $column:ident) => { stringify!($column) };
    (@document $id:ident) => { ($crate::sql::Role::Changed, "document", $crate::sql::Kind::Bytes) };
    (@key) => { () };
    (@key $key:ty) => { $key };
    (@value $it:ident $field:ident) => { $it.$field };
    (@value $it:ident $field:ident $value:expr) => { $value };
    (@put $value:expr, $keys:ident, $out:ident, $table:literal, $column:expr) => {
        $crate::rows::record::about($table, $column, $value.put($keys, $out))?
    };
    (@seal $it:ident, $tenant:ident, $id:ident, $keys:ident, $out:ident) => {
        let stored = $keys.stored($it.$id.0);
        let sealed =
            $crate::rows::document::seal::<Rest>($it, $it.$tenant, stored.as_bytes(), $keys)?;
        $crate::sql::Sink::bytes($out, sealed.into());
    };
    (@read $whole:ident) => { $whole };
    (@read $whole:ident $read:ident) => { $read };
    (@one $made:ident) => { 1 };
    (@made $whole:ident $fields:tt) => { $whole $fields };
    (@made $whole:ident $fields:tt $build:expr) => { $build };
}
pub(crate) use record;
