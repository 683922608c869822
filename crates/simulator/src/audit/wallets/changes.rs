//! Which rows of the wallet service have changed since the last look. Triggers note them, so that a look reads those alone;
//! what a rolled back transaction did is rolled back there, too.

use rusqlite::{Connection, OptionalExtension as _};

use super::super::rows::{Key, query};
use super::rows::Standing;

/// A table whose rows have versions and states, by its place in `Kind::ALL`.
struct Watched {
    kind: u8,
    table: &'static str,
    /// The column of the row's id.
    id: &'static str,
    /// How a row of `?1`, `?2` stands: version, state.
    standing: &'static str,
}

/// A table with the usual columns.
macro_rules! watched {
    ($kind:literal, $table:literal) => {
        Watched {
            kind: $kind,
            table: $table,
            id: "id",
            standing: concat!(
                "SELECT version, state FROM ",
                $table,
                " WHERE tenant = ?1 AND id = ?2"
            ),
        }
    };
}

static WATCHED: [Watched; 8] = [
    watched!(0, "wallet"),
    watched!(1, "payment_request"),
    watched!(2, "deposit"),
    watched!(3, "exchange_order"),
    watched!(4, "chain_intent"),
    watched!(5, "chain_tx"),
    Watched {
        kind: 6,
        table: "delivery_stream",
        id: "aggregate",
        standing: "SELECT 1000 * newest_version + open_version, '' FROM delivery_stream \
                   WHERE tenant = ?1 AND aggregate = ?2",
    },
    watched!(7, "sweep"),
];

/// Begins to note changes, once for each connection.
pub(in crate::audit) fn watch(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE changed (kind INTEGER, tenant BLOB, id BLOB, PRIMARY KEY (kind, tenant, id)) WITHOUT ROWID",
    )?;
    for Watched { kind, table, id, .. } in &WATCHED {
        for event in ["INSERT", "UPDATE"] {
            connection.execute_batch(&format!(
                "CREATE TEMP TRIGGER changed_by_{event}_{table} AFTER {event} ON main.{table} BEGIN \
                 INSERT OR IGNORE INTO changed VALUES ({kind}, new.tenant, new.{id}); END"
            ))?;
        }
    }
    Ok(())
}

/// Forgets what was noted.
pub(in crate::audit) fn forget(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM temp.changed")?.execute([]).map(drop)
}

/// How everything stands that has changed since the last look.
pub(super) fn standings(connection: &Connection) -> rusqlite::Result<Vec<Standing>> {
    let changed: Vec<(u8, Key, Key)> =
        query(connection, "SELECT kind, tenant, id FROM temp.changed", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if !changed.is_empty() {
        forget(connection)?;
    }
    let mut standings = Vec::with_capacity(changed.len());
    for (kind, tenant, id) in changed {
        let Some(watched) = WATCHED.get(usize::from(kind)) else { continue };
        let mut statement = connection.prepare_cached(watched.standing)?;
        let found = statement.query_row((tenant, id), |row| Ok((row.get(0)?, row.get(1)?)));
        if let Some((version, state)) = found.optional()? {
            standings.push((kind, tenant, id, version, state));
        }
    }
    Ok(standings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_noted_once_and_forgotten_with_their_transaction() {
        let connection = Connection::open_in_memory().expect("opens");
        for Watched { table, id, .. } in &WATCHED {
            let columns = "tenant BLOB, version INTEGER, newest_version INTEGER, open_version INTEGER, state TEXT";
            let sql = format!("CREATE TABLE {table} ({id} BLOB, {columns})");
            connection.execute_batch(&sql).expect("made");
        }
        watch(&connection).expect("watches");
        let key = "zeroblob(16), zeroblob(16)";
        let insert =
            format!("INSERT INTO wallet (tenant, id, version, state) VALUES ({key}, 1, 'ACTIVE')");
        connection.execute_batch(&format!("BEGIN; {insert}; ROLLBACK")).expect("rolled back");
        assert!(standings(&connection).expect("read").is_empty());
        connection.execute_batch(&insert).expect("inserted");
        connection.execute_batch("UPDATE wallet SET version = 2").expect("updated");
        let expected = (0, [0; 16], [0; 16], 2, "ACTIVE".to_owned());
        assert_eq!(standings(&connection).expect("read"), [expected]);
        assert!(standings(&connection).expect("read").is_empty());
    }
}
