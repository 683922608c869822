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

/// A column: name and kind.
pub(crate) type Col = (&'static str, Kind);

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// All columns in order of writing and reading; the first `keys` of them are the key.
    pub(crate) columns: &'static [Col],
    pub(crate) keys: usize,
    /// Columns that an update may change.
    pub(crate) changes: &'static [&'static str],
    /// Columns whose old value an update verifies. The first is never null and among `changes`: if
    /// an old value differs, it becomes null and the database rejects the statement. So a stale
    /// write fails even if its COMMIT is already sent.
    pub(crate) guards: &'static [&'static str],
}

impl Table {
    fn kind(&self, column: &str) -> Kind {
        let found = self.columns.iter().find(|(name, _)| *name == column);
        found.map_or_else(|| panic!("{} has no column {column}", self.name), |(_, kind)| *kind)
    }

    fn key_columns(&self) -> &'static [Col] {
        &self.columns[..self.keys]
    }

    /// The columns of an update's rows: key, new values, old values of the guards.
    pub(crate) fn update_columns(&self) -> impl Iterator<Item = Kind> {
        let keys = self.key_columns().iter().map(|(_, kind)| *kind);
        keys.chain(self.changes.iter().map(|name| self.kind(name)))
            .chain(self.guards.iter().map(|name| self.kind(name)))
    }

    /// The columns of whole rows.
    pub(crate) fn row_columns(&self) -> impl Iterator<Item = Kind> {
        self.columns.iter().map(|(_, kind)| *kind)
    }

    /// The columns of keys.
    pub(crate) fn key_kinds(&self) -> impl Iterator<Item = Kind> {
        self.key_columns().iter().map(|(_, kind)| *kind)
    }

    /// `alias.a, alias.b, …` in the order in which rows are read.
    pub(crate) fn select_list(&self, alias: &str) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|(name, _)| format!("{alias}.{name}")).collect();
        columns.join(", ")
    }

    pub(crate) fn insert(&self, dialect: Dialect, on_conflict: &str) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
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
        let (keys, changes) = (self.keys, self.changes.len());
        // The position of an old or new value: a column of `v`, or a numbered parameter.
        let new = |at: usize| match dialect {
            Dialect::Postgres => format!("v.new_{}", self.changes[at]),
            Dialect::Sqlite => format!("?{}", keys + at + 1),
        };
        let old = |at: usize| match dialect {
            Dialect::Postgres => format!("v.old_{}", self.guards[at]),
            Dialect::Sqlite => format!("?{}", keys + changes + at + 1),
        };
        let unchanged: Vec<String> = self
            .guards
            .iter()
            .enumerate()
            .map(|(at, name)| format!("{}.{name} = {}", self.name, old(at)))
            .collect();
        let sets: Vec<String> = self
            .changes
            .iter()
            .enumerate()
            .map(|(at, name)| match self.guards.first() {
                Some(guard) if guard == name => {
                    format!("{name} = CASE WHEN {} THEN {} END", unchanged.join(" AND "), new(at))
                }
                _ => format!("{name} = {}", new(at)),
            })
            .collect();
        let mut sql = format!("UPDATE {} SET {}", self.name, sets.join(", "));
        if dialect == Dialect::Postgres {
            let mut names: Vec<String> =
                self.key_columns().iter().map(|(name, _)| format!("key_{name}")).collect();
            names.extend(self.changes.iter().map(|name| format!("new_{name}")));
            names.extend(self.guards.iter().map(|name| format!("old_{name}")));
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
                self.key_columns().iter().map(|(name, _)| format!("key_{name}")).collect();
            write_into(
                &mut sql,
                format_args!(" USING {} AS v({})", unnest(self.key_kinds()), names.join(", ")),
            );
        }
        write_into(&mut sql, format_args!(" WHERE {}", self.key_matches(dialect)));
        sql
    }

    fn key_matches(&self, dialect: Dialect) -> String {
        let columns = self.key_columns().iter().enumerate().map(|(at, (name, _))| match dialect {
            Dialect::Postgres => format!("{}.{name} = v.key_{name}", self.name),
            Dialect::Sqlite => format!("{}.{name} = ?{}", self.name, at + 1),
        });
        columns.collect::<Vec<_>>().join(" AND ")
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
