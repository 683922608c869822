//! Rule `portable-sql`: the store's SQL keeps to what PostgreSQL, CockroachDB, YugabyteDB and SQLite share, so that
//! growing beyond one machine is a change of address and not of code.

use super::Finding;
use super::sql_text::{folded_words, is_sql};
use super::tree::Tree;

const RULE: &str = "portable-sql";
const STORE: &str = "crates/store/";

/// Consecutive words → the replacement. `*` matches any one word.
const NOT_PORTABLE: [(&[&str], &str); 28] = [
    (&["SERIAL"], OWN_IDS),
    (&["BIGSERIAL"], OWN_IDS),
    (&["SMALLSERIAL"], OWN_IDS),
    (&["AUTOINCREMENT"], OWN_IDS),
    (&["AS", "IDENTITY"], OWN_IDS),
    (&["CREATE", "SEQUENCE"], OWN_IDS),
    (&["NEXTVAL"], OWN_IDS),
    (&["CREATE", "TRIGGER"], IN_DOMAIN),
    (&["CREATE", "*", "TRIGGER"], IN_DOMAIN),
    (&["OR", "REPLACE", "TRIGGER"], IN_DOMAIN),
    (&["CREATE", "FUNCTION"], IN_DOMAIN),
    (&["OR", "REPLACE", "FUNCTION"], IN_DOMAIN),
    (&["CREATE", "PROCEDURE"], IN_DOMAIN),
    (&["OR", "REPLACE", "PROCEDURE"], IN_DOMAIN),
    (&["DO", "$", "$"], IN_DOMAIN),
    (&["PG_ADVISORY_LOCK"], LOCK_ROWS),
    (&["PG_ADVISORY_XACT_LOCK"], LOCK_ROWS),
    (&["PG_ADVISORY_UNLOCK"], LOCK_ROWS),
    (&["PG_TRY_ADVISORY_LOCK"], LOCK_ROWS),
    (&["PG_TRY_ADVISORY_XACT_LOCK"], LOCK_ROWS),
    (&["SAVEPOINT"], "roll the batch back and decide again"),
    (&["DEFERRABLE"], "write the rows in an order that holds at each statement"),
    (&["AS", "(", "INSERT"], NO_WRITING_CTE),
    (&["AS", "(", "UPDATE"], NO_WRITING_CTE),
    (&["AS", "(", "DELETE"], NO_WRITING_CTE),
    (&["MATERIALIZED", "(", "INSERT"], NO_WRITING_CTE),
    (&["MATERIALIZED", "(", "UPDATE"], NO_WRITING_CTE),
    (&["MATERIALIZED", "(", "DELETE"], NO_WRITING_CTE),
];

const OWN_IDS: &str = "ids are made by the program and handed in";
const IN_DOMAIN: &str = "decisions are made in domain, not in the database";
const LOCK_ROWS: &str = "lock a row, in key order";
const NO_WRITING_CTE: &str = "one statement per write; no data-modifying CTE";
const NO_ARRAY_COLUMN: &str = "array columns: a table of its own (array parameters are fine)";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in
        tree.files().iter().filter(|(path, _)| path.starts_with(STORE) && path.ends_with(".sql"))
    {
        findings.extend(check_sql(path, 1, text));
    }
    for source in tree.rust().iter().filter(|source| source.path.starts_with(STORE)) {
        let own = source
            .strings
            .iter()
            .filter(|literal| !source.is_test_line(literal.line) && is_sql(&literal.text));
        findings
            .extend(own.flat_map(|literal| check_sql(&source.path, literal.line, &literal.text)));
    }
    findings
}

fn check_sql(path: &str, first_line: usize, text: &str) -> Vec<Finding> {
    let words = folded_words(text);
    let mut findings = Vec::new();
    for at in 0..words.len() {
        let matches = |pattern: &[&str]| {
            pattern.iter().enumerate().all(|(ahead, want)| {
                words.get(at + ahead).is_some_and(|(_, word)| *want == "*" || word == want)
            })
        };
        let line = first_line + words[at].0 - 1;
        for (pattern, instead) in NOT_PORTABLE.iter().filter(|(pattern, _)| matches(pattern)) {
            findings.push(Finding::new(
                path,
                line,
                RULE,
                format!("{}: {instead}", pattern.join(" ")),
            ));
        }
        if matches(&["*", "[", "]"]) && in_table_definition(&words[..at]) {
            findings.push(Finding::new(path, line, RULE, NO_ARRAY_COLUMN));
        }
    }
    findings
}

/// Whether the statement that these words begin is one that defines a table.
fn in_table_definition(before: &[(usize, String)]) -> bool {
    let start = before.iter().rposition(|(_, word)| word == ";").map_or(0, |at| at + 1);
    let first = |index: usize| before.get(start + index).map(|(_, word)| word.as_str());
    matches!((first(0), first(1)), (Some("CREATE" | "ALTER"), Some("TABLE")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sql: &str) -> usize {
        let in_file = check(&Tree::of(&[("crates/store/migrations/1.sql", sql)])).len();
        let code = format!("const A: &str = \"{sql}\";");
        let in_code = check(&Tree::of(&[("crates/store/src/lib.rs", &code)])).len();
        assert!(in_code <= in_file, "{sql}");
        in_file
    }

    #[test]
    fn unportable_sql_is_found() {
        for sql in [
            "create table a (id bigserial)",
            "CREATE TABLE a (id BIGINT GENERATED ALWAYS AS IDENTITY)",
            "CREATE TEMP TRIGGER a",
            "CREATE TRIGGER a AFTER INSERT ON b",
            "CREATE OR REPLACE FUNCTION a()",
            "DO $$ BEGIN END $$",
            "SELECT pg_advisory_xact_lock(1)",
            "SAVEPOINT a",
            "ALTER TABLE a ADD UNIQUE (b) DEFERRABLE",
            "WITH x AS (DELETE FROM a RETURNING id) SELECT id FROM x",
            "WITH x AS MATERIALIZED (\n INSERT INTO a VALUES (1)) SELECT 1",
            "CREATE TABLE a (tags TEXT[])",
        ] {
            assert_eq!(found(sql), 1, "{sql}");
        }
    }

    #[test]
    fn portable_sql_is_accepted() {
        for sql in [
            "INSERT INTO a SELECT * FROM UNNEST($1::text[], $2::bigint[]) ON CONFLICT DO NOTHING",
            "CREATE TABLE a (id TEXT PRIMARY KEY); INSERT INTO a SELECT UNNEST($1::text[])",
            "SELECT id FROM a WHERE b = $1 FOR UPDATE SKIP LOCKED",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "-- no SERIAL, no SAVEPOINT\nSELECT 'DEFERRABLE'",
            "INSERT INTO a VALUES (1) ON CONFLICT (id) DO UPDATE SET b = 2",
        ] {
            assert_eq!(found(sql), 0, "{sql}");
        }
    }

    #[test]
    fn a_statement_in_code_is_found_on_its_line() {
        let code = "const A: &str = \"\n SELECT\n nextval('x')\";\n#[cfg(test)]\nconst B: &str = \"SAVEPOINT a\";\n";
        let findings = check(&Tree::of(&[("crates/store/src/lib.rs", code)]));
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3]);
    }
}
