//! What SQLite's planner assumes about the tables. Without statistics any first column of an index
//! finds ten rows for it, also the tenant or the chain, and the primary key is preferred: a vault's
//! few logs were found among all logs of their chain. Statistics of real rows would be those of
//! small tables for as long as they are not collected again, so these are made of the columns' names.

use rusqlite::Connection;

/// Rows of a table, and of a partial index: of what is open.
const ROWS: u64 = 1_000_000;
const OPEN_ROWS: u64 = 10_000;
/// Distinct values of a column with few of them, and rows for one value of any other.
const FEW_VALUES: u64 = 8;
const ROWS_A_VALUE: u64 = 10;
/// Columns with few distinct values.
const FEW: [&str; 14] = [
    "tenant",
    "chain",
    "coin",
    "class",
    "kind",
    "state",
    "country",
    "rail",
    "currency",
    "account",
    "scope",
    "log",
    "call_group",
    "relay",
];

/// A row of `sqlite_stat1`.
type Row = (String, String, String);

/// Writes the assumptions if they differ from those in the file. Connections that are open read
/// them with the schema, which counts as changed.
pub(crate) fn describe_tables(connection: &Connection) -> rusqlite::Result<()> {
    let wanted = assumed(connection)?;
    if known(connection)? == wanted {
        return Ok(());
    }
    connection.execute_batch(
        "DROP TABLE IF EXISTS sqlite_stat1; ANALYZE schema_version; DELETE FROM sqlite_stat1;",
    )?;
    let mut insert =
        connection.prepare("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)")?;
    for row in &wanted {
        insert.execute((&row.0, &row.1, &row.2))?;
    }
    connection.execute_batch("ANALYZE sqlite_schema")
}

fn known(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let exists = connection.table_exists(None, "sqlite_stat1")?;
    if !exists {
        return Ok(Vec::new());
    }
    let sql = "SELECT tbl, idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL ORDER BY tbl, idx";
    rows(connection, sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

fn assumed(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    // The primary key of a table without row ids goes by the table's name.
    let sql = "SELECT t.name, CASE WHEN i.origin = 'pk' AND t.wr = 1 THEN t.name ELSE i.name END, \
        i.\"unique\", i.partial, GROUP_CONCAT(c.name ORDER BY c.seqno) FROM pragma_table_list t, \
        pragma_index_list(t.name) i, pragma_index_info(i.name) c \
        WHERE t.schema = 'main' AND t.type = 'table' GROUP BY t.name, i.name ORDER BY 1, 2";
    rows(connection, sql, |row| {
        let (unique, partial, columns): (bool, bool, String) =
            (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok((row.get(0)?, row.get(1)?, stat(unique, partial, &columns)))
    })
}

/// The rows of the index, then for each number of its first columns how many of them have the same
/// values.
fn stat(unique: bool, partial: bool, columns: &str) -> String {
    let all = if partial { OPEN_ROWS } else { ROWS };
    let (mut numbers, mut alike) = (vec![all], all);
    for column in columns.split(',') {
        let is_few = FEW.contains(&column);
        alike = if is_few { (alike / FEW_VALUES).max(1) } else { alike.min(ROWS_A_VALUE) };
        numbers.push(alike);
    }
    if let Some(last) = numbers.last_mut()
        && unique
    {
        *last = 1;
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(sql)?.query_map([], read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_divide_the_rows_and_a_unique_index_ends_with_one() {
        assert_eq!(stat(true, false, "tenant,id"), "1000000 125000 1");
        assert_eq!(stat(false, false, "vault,coin,chain"), "1000000 10 1 1");
        assert_eq!(stat(false, true, "chain,height,tenant"), "10000 1250 10 1");
        assert_eq!(stat(true, false, "tenant"), "1000000 1");
    }
}
