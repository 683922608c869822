//! The tables of `docs/coverage/`: `| `name`, `name` | description | `path::test`, … Open: why not all |`.

/// Marks the reason for a missing test.
const OPEN: &str = "Open:";

/// One line of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Line number, counted from 1.
    pub line: usize,
    /// The short, stable names of the rules in this row.
    pub names: Vec<String>,
    /// Paths as written, in the form `path::test`.
    pub tests: Vec<String>,
    /// What no test proves, and why.
    pub reason: Option<String>,
}

/// Every row except headers and the line below them. Cells contain no `|`.
pub fn rows(text: &str) -> Vec<Row> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("|--");
    let is_row = |index: usize| {
        let next_is_rule = lines.get(index + 1).is_some_and(|next| is_rule(next));
        lines[index].starts_with('|') && !is_rule(lines[index]) && !next_is_rule
    };
    (0..lines.len())
        .filter(|index| is_row(*index))
        .map(|index| row(index + 1, lines[index]))
        .collect()
}

fn row(line: usize, text: &str) -> Row {
    let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
    let last = cells.last().copied().unwrap_or_default();
    let (shown, reason) = match last.split_once(OPEN) {
        Some((shown, reason)) => (shown, Some(reason.trim().to_owned())),
        None => (last, None),
    };
    Row { line, names: quoted(cells[0]), tests: quoted(shown), reason }
}

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_heads_are_not() {
        let text = "# Title\n\n| Rule | Says | Shown by |\n|---|---|---|\n| `a`, `b` | x | `it/p::t` `it/p::u`. Open: why. |\n";
        let expected = Row {
            line: 5,
            names: vec!["a".to_owned(), "b".to_owned()],
            tests: vec!["it/p::t".to_owned(), "it/p::u".to_owned()],
            reason: Some("why.".to_owned()),
        };
        assert_eq!(rows(text), [expected]);
    }
}
