//! Statements: written once, translated for each engine, all of them in one registry that a test
//! prepares on both.

use std::sync::OnceLock;

use super::table::{Col, Kind, Table, key_rows};
use super::tables;

/// The SQL dialect of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Postgres,
    Sqlite,
}

#[derive(Debug)]
enum Text {
    /// SQL with `$1` parameters and placeholders in double braces, see [`expand`].
    Written(&'static str),
    /// Same, once per row of keys.
    ByKeys(&'static [Col], &'static str),
    Insert(&'static Table),
    InsertIfAbsent(&'static Table),
    Update(&'static Table),
    Delete(&'static Table),
}

#[derive(Debug)]
pub(crate) struct Stmt {
    /// Its unique name, by which connections cache it as prepared.
    pub(crate) name: &'static str,
    text: Text,
    postgres: OnceLock<String>,
    sqlite: OnceLock<String>,
}

impl Stmt {
    const fn new(name: &'static str, text: Text) -> Stmt {
        Stmt { name, text, postgres: OnceLock::new(), sqlite: OnceLock::new() }
    }

    /// A statement with `$1` parameters.
    pub(crate) const fn written(name: &'static str, sql: &'static str) -> Stmt {
        Stmt::new(name, Text::Written(sql))
    }

    /// A statement with many keys, available in it as `{{keys}}`, a table named `k`.
    pub(crate) const fn by_keys(
        name: &'static str,
        keys: &'static [Col],
        sql: &'static str,
    ) -> Stmt {
        Stmt::new(name, Text::ByKeys(keys, sql))
    }

    pub(crate) const fn insert(name: &'static str, table: &'static Table) -> Stmt {
        Stmt::new(name, Text::Insert(table))
    }

    /// Inserts whole rows unless their key exists.
    pub(crate) const fn insert_if_absent(name: &'static str, table: &'static Table) -> Stmt {
        Stmt::new(name, Text::InsertIfAbsent(table))
    }

    /// Updates rows by key, guarded.
    pub(crate) const fn update(name: &'static str, table: &'static Table) -> Stmt {
        Stmt::new(name, Text::Update(table))
    }

    /// Deletes rows by key.
    pub(crate) const fn delete(name: &'static str, table: &'static Table) -> Stmt {
        Stmt::new(name, Text::Delete(table))
    }

    /// The table that whole rows are inserted into.
    pub(crate) const fn inserted(&self) -> Option<&'static Table> {
        match self.text {
            Text::Insert(table) | Text::InsertIfAbsent(table) => Some(table),
            _ => None,
        }
    }

    /// Whether it takes many keys.
    pub(crate) const fn is_by_keys(&self) -> bool {
        matches!(self.text, Text::ByKeys(..))
    }

    /// The columns of its keys, if it takes many.
    pub(crate) fn key_kinds(&self) -> impl Iterator<Item = Kind> {
        let keys = if let Text::ByKeys(keys, _) = self.text { keys } else { &[] };
        keys.iter().map(|(_, kind)| *kind)
    }

    /// The statement in this engine's dialect.
    pub(crate) fn sql(&self, dialect: Dialect) -> &str {
        let cell = match dialect {
            Dialect::Postgres => &self.postgres,
            Dialect::Sqlite => &self.sqlite,
        };
        cell.get_or_init(|| match &self.text {
            Text::Written(sql) => expand(sql, dialect, &[]),
            Text::ByKeys(keys, sql) => expand(sql, dialect, keys),
            Text::Insert(table) => table.insert(dialect, ""),
            Text::InsertIfAbsent(table) => table.insert(dialect, " ON CONFLICT DO NOTHING"),
            Text::Update(table) => table.update(dialect),
            Text::Delete(table) => table.delete(dialect),
        })
    }
}

/// Replaces the placeholders in double braces and, for SQLite, `$n` by `?n`.
///
/// `{{keys}}`: the rows of keys; `{{now}}`: the current microsecond from parameter `$1`;
/// `{{for_update}}`, `{{for_update_by column}}` in the order of a column, `{{for_share_by column}}`
/// likewise for readers, and `{{skip_locked}}`: PostgreSQL's row locks, empty on SQLite, which has one writer;
/// `{{has column $n}}`: whether the bytes of a column contain those of a parameter; `{{table alias}}`: the columns
/// of a table; `{{encoding}}`: the encoding of the database; `{{size}}`: its size in bytes.
fn expand(sql: &str, dialect: Dialect, keys: &[Col]) -> String {
    let mut out = String::with_capacity(sql.len() * 2);
    let mut rest = sql;
    while let Some((before, word, after)) = next_word(rest) {
        out.push_str(before);
        out.push_str(&meaning(word, dialect, keys));
        if (word, dialect) == ("keys", Dialect::Sqlite) && after.starts_with(" JOIN") {
            // Keeps the keys as the outer loop, so that SQLite need not materialize them first.
            out.push_str(" CROSS");
        }
        rest = after;
    }
    out.push_str(rest);
    match dialect {
        Dialect::Postgres => out,
        Dialect::Sqlite => out.replace('$', "?"),
    }
}

/// The text before a placeholder, the placeholder, and the text after it.
pub(crate) fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (word, after) = rest.split_once("}}")?;
    Some((before, word, after))
}

fn meaning(word: &str, dialect: Dialect, keys: &[Col]) -> String {
    let (name, of) = word.split_once(' ').unwrap_or((word, word));
    match (name, dialect) {
        ("keys", _) => key_rows(dialect, keys),
        ("for_update", Dialect::Postgres) => "FOR UPDATE".to_owned(),
        ("for_update_by", Dialect::Postgres) => format!("ORDER BY {of} FOR UPDATE"),
        ("for_share_by", Dialect::Postgres) => format!("ORDER BY {of} FOR SHARE"),
        ("skip_locked", Dialect::Postgres) => "FOR UPDATE SKIP LOCKED".to_owned(),
        ("for_update" | "for_update_by" | "for_share_by" | "skip_locked", Dialect::Sqlite) => {
            String::new()
        }
        // Database time plus the offset of a shifted sandbox clock; the statement's own start, so
        // an index can be used.
        ("has", Dialect::Postgres) => {
            let (column, part) = of.split_once(' ').unwrap_or((of, of));
            format!("position({part} in {column}) > 0")
        }
        ("has", Dialect::Sqlite) => format!("instr({}) > 0", of.replace(' ', ", ")),
        ("now", Dialect::Postgres) => {
            "(CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT) + $1)".to_owned()
        }
        ("now", Dialect::Sqlite) => "$1".to_owned(),
        ("encoding", Dialect::Postgres) => "current_setting('server_encoding')".to_owned(),
        ("encoding", Dialect::Sqlite) => "'UTF8'".to_owned(),
        ("size", Dialect::Postgres) => "pg_database_size(current_database())".to_owned(),
        ("size", Dialect::Sqlite) => {
            "(SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s)"
                .to_owned()
        }
        (name, _) => {
            let table = tables::named(name);
            table.map_or_else(
                || panic!("unknown placeholder {word:?} in a statement"),
                |table| table.select_list(of),
            )
        }
    }
}
