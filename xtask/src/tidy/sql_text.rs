//! Recognises SQL and splits it into words: enough for rules, not a parser.

/// First word of a statement → what else must follow for the text to be SQL; empty: the word is enough.
const STATEMENTS: [(&str, &[&str]); 13] = [
    ("SELECT", &["FROM", "WHERE", "(", "$", "1", "COUNT", "COALESCE", "NOW"]),
    ("INSERT", &["INTO"]),
    ("UPDATE", &["SET"]),
    ("DELETE", &["FROM"]),
    ("WITH", &["AS"]),
    (
        "CREATE",
        &[
            "TABLE",
            "INDEX",
            "TRIGGER",
            "FUNCTION",
            "PROCEDURE",
            "SEQUENCE",
            "VIEW",
            "DATABASE",
            "TYPE",
        ],
    ),
    ("ALTER", &["TABLE", "DATABASE", "INDEX"]),
    ("DROP", &["TABLE", "INDEX", "DATABASE", "VIEW"]),
    ("PRAGMA", &[]),
    ("SAVEPOINT", &[]),
    ("CALL", &["("]),
    ("DO", &["$"]),
    ("TRUNCATE", &["TABLE"]),
];

/// Whether a string literal is SQL. Keywords are upper-case, as in this project's SQL, so prose
/// does not match.
pub fn is_sql(text: &str) -> bool {
    let words = split(text);
    let Some(first) = words.first() else { return false };
    let statement = STATEMENTS.iter().find(|(word, _)| word == first);
    statement.is_some_and(|(_, followers)| {
        followers.is_empty() || words[1..].iter().any(|word| followers.contains(&word.as_str()))
    })
}

/// Words and single symbols of SQL, upper-cased if `fold_case`; comments and quoted text are
/// omitted.
fn split_with(text: &str, fold_case: bool) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let (mut line, mut rest) = (1, text);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '\'' {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let word = &rest[..end];
            words.push((line, if fold_case { word.to_uppercase() } else { word.to_owned() }));
            end
        } else {
            if !c.is_whitespace() && c != '\\' {
                words.push((line, c.to_string()));
            }
            c.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    words
}

fn split(text: &str) -> Vec<String> {
    split_with(text, false).into_iter().map(|(_, word)| word).collect()
}

/// Upper-cased words and single symbols, each with its line (from 1).
pub fn folded_words(text: &str) -> Vec<(usize, String)> {
    split_with(text, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_sql_and_prose_is_not() {
        for (text, expected) in [
            ("SELECT id FROM payment", true),
            ("\n    -- newest first\n    SELECT 1", true),
            ("INSERT INTO batch VALUES ($1)", true),
            ("UPDATE payment SET state = 'x'", true),
            ("DELETE FROM job", true),
            ("WITH due AS (SELECT 1) SELECT * FROM due", true),
            ("PRAGMA journal_mode = WAL", true),
            ("CREATE UNIQUE INDEX a ON b (c)", true),
            ("Select a country from the list", false),
            ("UPDATE", false),
            ("DELETE", false),
            ("CREATE a payment", false),
            ("with the amount as sent", false),
            ("", false),
        ] {
            assert_eq!(is_sql(text), expected, "{text}");
        }
    }

    #[test]
    fn words_come_with_their_lines_and_without_comments_and_quotes() {
        let words = folded_words("select 'a\n;' -- no\nfrom /* x\n */ t");
        assert_eq!(words, [(1, "SELECT".to_owned()), (3, "FROM".to_owned()), (4, "T".to_owned())]);
    }
}
