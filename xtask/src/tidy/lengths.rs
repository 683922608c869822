//! Rules `file-length` and `function-length`: the limits of the style guide. Test code is counted
//! separately and has no limit: a table of cases is long for a good reason.

use super::Finding;
use super::rust_source::{Function, RustSource};
use super::tree::Tree;

const FILE_RULE: &str = "file-length";
const FUNCTION_RULE: &str = "function-length";
const FILE_MEDIAN_MAX_LINES: usize = 150;
const FILE_P95_MAX_LINES: usize = 500;
const FUNCTION_P95_MAX_LINES: usize = 60;
const FUNCTION_MAX_LINES: usize = 100;
/// The path of findings about all files together.
const ALL: &str = "crates";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_files(tree);
    findings.extend(check_functions(tree));
    findings
}

/// One line about the current lengths of files and functions.
pub fn summary(tree: &Tree) -> String {
    let files: Vec<usize> = files(tree).iter().map(|(_, lines)| *lines).collect();
    let functions: Vec<usize> =
        functions(tree).iter().map(|(_, function)| function.lines()).collect();
    let test_lines: usize =
        tree.rust().iter().map(|source| source.lines.len() - source.own_lines()).sum();
    format!(
        "tidy: {} lines in {} files (median {}, p95 {}), functions p95 {}, longest {}; {test_lines} lines of tests",
        files.iter().sum::<usize>(),
        files.len(),
        percentile(&files, 50),
        percentile(&files, 95),
        percentile(&functions, 95),
        percentile(&functions, 100),
    )
}

fn check_files(tree: &Tree) -> Vec<Finding> {
    let files = files(tree);
    let lengths: Vec<usize> = files.iter().map(|(_, lines)| *lines).collect();
    let (median, p95) = (percentile(&lengths, 50), percentile(&lengths, 95));
    let mut findings = Vec::new();
    if median > FILE_MEDIAN_MAX_LINES {
        findings.push(weighed(
            ALL,
            0,
            FILE_RULE,
            format!("median {median} lines, over {FILE_MEDIAN_MAX_LINES}"),
            median,
        ));
    }
    if p95 > FILE_P95_MAX_LINES {
        for (source, lines) in files.iter().filter(|(_, lines)| *lines > FILE_P95_MAX_LINES) {
            let message = format!(
                "{lines} lines; split it by topic (p95 is {p95}, over {FILE_P95_MAX_LINES})"
            );
            findings.push(weighed(&source.path, 0, FILE_RULE, message, *lines));
        }
    }
    findings
}

fn check_functions(tree: &Tree) -> Vec<Finding> {
    let functions = functions(tree);
    let lengths: Vec<usize> = functions.iter().map(|(_, function)| function.lines()).collect();
    let p95 = percentile(&lengths, 95);
    let mut findings = Vec::new();
    if p95 > FUNCTION_P95_MAX_LINES {
        let message = format!("functions: p95 {p95} lines, over {FUNCTION_P95_MAX_LINES}");
        findings.push(weighed(ALL, 0, FUNCTION_RULE, message, p95));
    }
    for (source, function) in
        functions.iter().filter(|(_, function)| function.lines() > FUNCTION_MAX_LINES)
    {
        let message =
            format!("{}: {} lines, over {FUNCTION_MAX_LINES}", function.name, function.lines());
        findings.push(weighed(
            &source.path,
            function.first,
            FUNCTION_RULE,
            message,
            function.lines(),
        ));
    }
    findings
}

fn weighed(path: &str, line: usize, rule: &'static str, message: String, weight: usize) -> Finding {
    Finding { weight, ..Finding::new(path, line, rule, message) }
}

/// Files with code besides tests, with the number of those lines.
fn files(tree: &Tree) -> Vec<(&RustSource, usize)> {
    tree.rust()
        .iter()
        .map(|source| (source, source.own_lines()))
        .filter(|(_, lines)| *lines > 0)
        .collect()
}

fn functions(tree: &Tree) -> Vec<(&RustSource, &Function)> {
    let all = tree
        .rust()
        .iter()
        .flat_map(|source| source.functions.iter().map(move |function| (source, function)));
    all.filter(|(source, function)| !source.is_test_line(function.first)).collect()
}

/// The smallest value that is not exceeded by `percent` of all values; 0 for none.
pub fn percentile(values: &[usize], percent: usize) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, String)]) -> Tree {
        Tree::of(&files.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>())
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        for (values, percent, expected) in [
            (vec![], 50, 0),
            (vec![7], 95, 7),
            (vec![3, 1, 2], 50, 2),
            ((1..=100).collect(), 95, 95),
            (vec![1, 9], 100, 9),
        ] {
            assert_eq!(percentile(&values, percent), expected, "{values:?} {percent}");
        }
    }

    #[test]
    fn the_limit_of_a_function_is_its_last_good_length() {
        let small = "fn a() {}\n".repeat(40);
        for (lines, expected) in [(100, 0), (101, 1)] {
            let found = check(&tree(&[
                ("crates/a/src/lib.rs", function(lines)),
                ("crates/a/src/b.rs", small.clone()),
            ]));
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }

    #[test]
    fn many_long_functions_break_the_percentile() {
        let found = check(&tree(&[("crates/a/src/lib.rs", function(61))]));
        assert_eq!(
            found[0].to_string(),
            "crates:1: function-length: functions: p95 61 lines, over 60"
        );
    }

    #[test]
    fn files_have_a_median_and_a_long_tail() {
        let comment = |lines: usize| "// a\n".repeat(lines);
        assert_eq!(check(&tree(&[("a.rs", comment(150))])).len(), 0);
        assert_eq!(check(&tree(&[("a.rs", comment(151))])).len(), 1);
        let long =
            check(&tree(&[("a.rs", comment(501)), ("b.rs", comment(1)), ("c.rs", comment(1))]));
        assert_eq!(
            long.iter().map(|finding| (finding.path.as_str(), finding.weight)).collect::<Vec<_>>(),
            [("a.rs", 501)]
        );
    }

    #[test]
    fn tests_are_apart() {
        let test = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(300));
        let tree = tree(&[
            ("crates/a/src/lib.rs", format!("fn a() {{}}\n{test}")),
            ("crates/a/tests/it.rs", function(900)),
        ]);
        assert_eq!(check(&tree), []);
        assert!(
            summary(&tree).starts_with(
                "tidy: 1 lines in 1 files (median 1, p95 1), functions p95 1, longest 1"
            )
        );
    }
}
