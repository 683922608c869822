//! A table as this program knows it, and the statements derived from it.

use std::fmt::Write as _;

use super::statement::Dialect;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 64-bit integer: counts, minor units, microseconds, flags.
    Int,
    Text,
    Uuid,
    Bytes,
}

impl Kind {
    /// The PostgreSQL type of an array of it.
    const fn array(self) -> &'static str {
        match self {
            Kind::Int => "bigint[]",
            Kind::Text => "text[]",
            Kind::Uuid => "uuid[]",
            Kind::Bytes => "bytea[]",
        }
    }
}

/// A column of keys: name and kind.
pub(crate) type Col = (&'static str, Kind);

/// What an update does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Finds the row by it.
    Key,
    /// The update leaves it as it is.
    Kept,
    /// The update writes its new value.
    Changed,
    /// Changes it, and verifies its old value. If an old value differs, the first of these columns,
    /// which is never null, becomes null and the database rejects the statement. So a stale write
    /// fails even if its COMMIT is already sent.
    Guard,
    /// Keeps it, and verifies its value.
    Verified,
}

impl Role {
    pub(crate) const fn is_key(self) -> bool {
        matches!(self, Role::Key)
    }

    pub(crate) const fn is_changed(self) -> bool {
        matches!(self, Role::Changed | Role::Guard)
    }

    pub(crate) const fn is_verified(self) -> bool {
        matches!(self, Role::Guard | Role::Verified)
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// All columns in order of writing and reading.
    pub(crate) columns: &'static [(Role, &'static str, Kind)],
}

/// Declares tables without a record of their own.
macro_rules! table {
    ($(
        $(#[$doc:meta])*
        $table:ident = $name:literal { $($role:ident { $($column:ident: $kind:ident),+ $(,)? })+ }
    )+) => {$(
        $(#[$doc])*
        pub(crate) static $table: $crate::sql::Table = $crate::sql::Table {
            name: $name,
            columns: &[$($((
                $crate::sql::Role::$role,
                stringify!($column),
                $crate::sql::Kind::$kind,
            ),)+)+],
        };
    )+};
}
pub(crate) use table;

impl Table {
    /// The columns of some roles.
    fn columns_in(&self, is_in: fn(Role) -> bool) -> impl Iterator<Item = Col> {
        let columns = self.columns.iter().filter(move |(role, ..)| is_in(*role));
        columns.map(|(_, name, kind)| (*name, *kind))
    }

    /// The columns of an update's rows: key, new values, old values.
    pub(crate) fn update_columns(&self) -> impl Iterator<Item = Kind> {
        self.update_names().map(|(_, (_, kind))| kind)
    }

    /// The same columns, each with the prefix of its name.
    fn update_names(&self) -> impl Iterator<Item = (&'static str, Col)> {
        let keys = self.columns_in(Role::is_key).map(|column| ("key", column));
        let new = self.columns_in(Role::is_changed).map(|column| ("new", column));
        let old = self.columns_in(Role::is_verified).map(|column| ("old", column));
        keys.chain(new).chain(old)
    }

    /// The columns of whole rows.
    pub(crate) fn row_columns(&self) -> impl Iterator<Item = Kind> {
        self.columns.iter().map(|(_, _, kind)| *kind)
    }

    /// The columns of keys.
    pub(crate) fn key_kinds(&self) -> impl Iterator<Item = Kind> {
        self.columns_in(Role::is_key).map(|(_, kind)| kind)
    }

    /// `alias.a, alias.b, …` in the order in which rows are read.
    pub(crate) fn select_list(&self, alias: &str) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|(_, name, _)| format!("{alias}.{name}")).collect();
        columns.join(", ")
    }

    pub(crate) fn insert(&self, dialect: Dialect, on_conflict: &str) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(_, name, _)| *name).collect();
        let rows = match dialect {
            // Whole rows of the table's own type: one array per column would be many times the
            // work.
            Dialect::Postgres => {
                format!("SELECT {} FROM UNNEST($1::{}[]) AS r", self.select_list("r"), self.name)
            }
            Dialect::Sqlite => format!("VALUES ({})", numbers(names.len())),
        };
        format!("INSERT INTO {} ({}) {rows}{on_conflict}", self.name, names.join(", "))
    }

    pub(crate) fn update(&self, dialect: Dialect) -> String {
        // A column of `v`, or a numbered parameter.
        let given = |wanted: (&str, &str)| match dialect {
            Dialect::Postgres => format!("v.{}_{}", wanted.0, wanted.1),
            Dialect::Sqlite => {
                let mut names = self.update_names().map(|(prefix, (name, _))| (prefix, name));
                format!("?{}", names.position(|it| it == wanted).map_or(0, |at| at + 1))
            }
        };
        let unchanged: Vec<String> = self
            .columns_in(Role::is_verified)
            .map(|(name, _)| format!("{}.{name} = {}", self.name, given(("old", name))))
            .collect();
        let guard = self.columns_in(Role::is_verified).next().map(|(name, _)| name);
        let sets: Vec<String> = self
            .columns_in(Role::is_changed)
            .map(|(name, _)| {
                let new = given(("new", name));
                if guard == Some(name) {
                    format!("{name} = CASE WHEN {} THEN {new} END", unchanged.join(" AND "))
                } else {
                    format!("{name} = {new}")
                }
            })
            .collect();
        let mut sql = format!("UPDATE {} SET {}", self.name, sets.join(", "));
        if dialect == Dialect::Postgres {
            let names: Vec<String> =
                self.update_names().map(|(prefix, (name, _))| format!("{prefix}_{name}")).collect();
            write_into(
                &mut sql,
                format_args!(" FROM {} AS v({})", unnest(self.update_columns()), names.join(", ")),
            );
        }
        write_into(&mut sql, format_args!(" WHERE {}", self.key_matches(dialect)));
        sql
    }

    pub(crate) fn delete(&self, dialect: Dialect) -> String {
        let mut sql = format!("DELETE FROM {}", self.name);
        if dialect == Dialect::Postgres {
            let names: Vec<String> =
                self.columns_in(Role::is_key).map(|(name, _)| format!("key_{name}")).collect();
            write_into(
                &mut sql,
                format_args!(" USING {} AS v({})", unnest(self.key_kinds()), names.join(", ")),
            );
        }
        write_into(&mut sql, format_args!(" WHERE {}", self.key_matches(dialect)));
        sql
    }

    fn key_matches(&self, dialect: Dialect) -> String {
        let keys = self.columns_in(Role::is_key).enumerate();
        let matches = keys.map(|(at, (name, _))| match dialect {
            Dialect::Postgres => format!("{}.{name} = v.key_{name}", self.name),
            Dialect::Sqlite => format!("{}.{name} = ?{}", self.name, at + 1),
        });
        matches.collect::<Vec<_>>().join(" AND ")
    }
}

fn write_into(sql: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String never fails.
    sql.write_fmt(text).unwrap_or_default();
}

fn arrays(kinds: impl Iterator<Item = Kind>) -> impl Iterator<Item = String> {
    kinds.enumerate().map(|(at, kind)| format!("${}::{}", at + 1, kind.array()))
}

fn unnest(kinds: impl Iterator<Item = Kind>) -> String {
    format!("UNNEST({})", arrays(kinds).collect::<Vec<_>>().join(", "))
}

fn numbers(count: usize) -> String {
    (1..=count).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ")
}

/// Rows of keys as a table named `k`.
pub(crate) fn key_rows(dialect: Dialect, columns: &[Col]) -> String {
    match dialect {
        Dialect::Postgres => {
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            // With a SELECT around it the planner does not see the number of keys: otherwise it
            // would prefer a plan for one key to any that it may cache, and plan again each time.
            let arrays = arrays(columns.iter().map(|(_, kind)| *kind))
                .map(|array| format!("(SELECT {array})"));
            format!("UNNEST({}) AS k({})", arrays.collect::<Vec<_>>().join(", "), names.join(", "))
        }
        Dialect::Sqlite => {
            let names =
                columns.iter().enumerate().map(|(at, (name, _))| format!("?{} AS {name}", at + 1));
            format!("(SELECT {}) AS k", names.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;
    use crate::rows::small::TENANT_HEAD;

    #[test]
    fn an_update_changes_and_verifies_by_role() {
        let unchanged = |old: [&str; 3]| {
            let [payment, wallet, webhooks] = old;
            format!(
                "tenant_head.payment_seq = {payment} AND tenant_head.wallet_seq = {wallet} \
                 AND tenant_head.payment_webhooks = {webhooks}"
            )
        };
        let sqlite = format!(
            "UPDATE tenant_head SET payment_seq = CASE WHEN {} THEN ?2 END, wallet_seq = ?3 \
             WHERE tenant_head.tenant = ?1",
            unchanged(["?4", "?5", "?6"])
        );
        assert_eq!(TENANT_HEAD.update(Dialect::Sqlite), sqlite);
        let postgres = format!(
            "UPDATE tenant_head SET payment_seq = CASE WHEN {} THEN v.new_payment_seq END, \
             wallet_seq = v.new_wallet_seq FROM UNNEST($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], \
             $5::bigint[], $6::bigint[]) AS v(key_tenant, new_payment_seq, new_wallet_seq, old_payment_seq, \
             old_wallet_seq, old_payment_webhooks) WHERE tenant_head.tenant = v.key_tenant",
            unchanged(["v.old_payment_seq", "v.old_wallet_seq", "v.old_payment_webhooks"])
        );
        assert_eq!(TENANT_HEAD.update(Dialect::Postgres), postgres);
    }
}
