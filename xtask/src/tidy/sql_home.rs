//! Rule `sql-home`: SQL is in `store` only, in tests too.

use super::Finding;
use super::sql_text::is_sql;
use super::tree::Tree;

const RULE: &str = "sql-home";
/// The rules themselves mention SQL.
const NOT_SEARCHED: &str = "xtask/src/tidy/";
const HOME: &str = "crates/store/";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let message = "SQL belongs in crates/store: add a function there";
    let mut findings = Vec::new();
    for source in tree
        .rust()
        .iter()
        .filter(|source| !source.path.starts_with(HOME) && !source.path.starts_with(NOT_SEARCHED))
    {
        let statements = source.strings.iter().filter(|literal| is_sql(&literal.text));
        findings.extend(
            statements.map(|literal| Finding::new(&source.path, literal.line, RULE, message)),
        );
    }
    let files =
        tree.files().keys().filter(|path| path.ends_with(".sql") && !path.starts_with(HOME));
    findings.extend(files.map(|path| Finding::new(path, 0, RULE, message)));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_store_has_sql() {
        const CODE: &str = "fn a() {\n    b(\"SELECT id FROM payment\");\n}\n";
        for (path, expected) in [
            ("crates/store/src/lib.rs", 0),
            ("crates/engine/src/lib.rs", 1),
            ("crates/server/tests/it/main.rs", 1),
            ("crates/store/migrations/1.sql", 0),
            ("docs/1.sql", 1),
        ] {
            assert_eq!(check(&Tree::of(&[(path, CODE)])).len(), expected, "{path}");
        }
    }
}
