//! `ratchets.toml`: exceptions from the rules, each with its reason.
//!
//! `[[allow]]` is lasting: the rule does not apply under that path. `[[exception]]` is temporary and may only shrink:
//! its budget must equal what the rule finds under that path (findings, or lines for the length rules). More is
//! reported; less is reported too, so that the budget is lowered. An entry without findings has to be removed.

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::Finding;

/// Path of the file, from the root.
pub const FILE: &str = "ratchets.toml";
const RULE: &str = "ratchets";
/// A shorter reason explains nothing.
const REASON_MIN_CHARS: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ratchets {
    allow: Vec<Allow>,
    exception: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    rule: String,
    /// A file, or a directory with its trailing `/`.
    path: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    rule: String,
    /// A file, or a directory with its trailing `/`.
    path: String,
    budget: usize,
    reason: String,
}

impl Allow {
    fn covers(&self, finding: &Finding) -> bool {
        finding.rule == self.rule && contains(&self.path, &finding.path)
    }
}

impl Exception {
    fn covers(&self, finding: &Finding) -> bool {
        finding.rule == self.rule && contains(&self.path, &finding.path)
    }
}

fn contains(entry: &str, path: &str) -> bool {
    path == entry || (entry.ends_with('/') && path.starts_with(entry))
}

impl Ratchets {
    pub fn parse(text: &str) -> anyhow::Result<Ratchets> {
        let ratchets: Ratchets = toml::from_str(text).context(FILE)?;
        let allowed = ratchets.allow.iter().map(|entry| (&entry.path, &entry.reason));
        for (path, reason) in
            allowed.chain(ratchets.exception.iter().map(|entry| (&entry.path, &entry.reason)))
        {
            ensure!(
                reason.chars().count() >= REASON_MIN_CHARS,
                "{FILE}: the entry for {path} needs a reason"
            );
        }
        Ok(ratchets)
    }

    /// Removes covered findings; adds a finding for every entry that covers nothing or too much.
    pub fn apply(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let mut own = Vec::new();
        for entry in &self.allow {
            let before = findings.len();
            findings.retain(|finding| !entry.covers(finding));
            if findings.len() == before {
                own.push(Finding::new(
                    FILE,
                    0,
                    RULE,
                    format!("{} for {} covers nothing: remove it", entry.rule, entry.path),
                ));
            }
        }
        for entry in &self.exception {
            let found: usize = findings
                .iter()
                .filter(|finding| entry.covers(finding))
                .map(|finding| finding.weight)
                .sum();
            let label = format!("{} for {}", entry.rule, entry.path);
            if found <= entry.budget {
                findings.retain(|finding| !entry.covers(finding));
            }
            if found == 0 {
                own.push(Finding::new(FILE, 0, RULE, format!("{label} covers nothing: remove it")));
            } else if found < entry.budget {
                own.push(Finding::new(
                    FILE,
                    0,
                    RULE,
                    format!("{label} has shrunk: lower its budget to {found}"),
                ));
            } else if found > entry.budget {
                own.push(Finding::new(
                    FILE,
                    0,
                    RULE,
                    format!("{label} grew to {found}, over its budget of {}", entry.budget),
                ));
            }
        }
        findings.extend(own);
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[allow]]
rule = "floats"
path = "crates/server/src/bench/"
reason = "latency percentiles are floats by nature"
[[exception]]
rule = "unwrap"
path = "crates/a/src/lib.rs"
budget = 2
reason = "goes when the parser is split"
"#;

    fn apply(found: &[(&str, &'static str)]) -> Vec<String> {
        let findings =
            found.iter().map(|(path, rule)| Finding::new(path, 1, rule, "found")).collect();
        let left = Ratchets::parse(TEXT).unwrap().apply(findings);
        left.iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
    }

    const BENCH: (&str, &str) = ("crates/server/src/bench/report.rs", "floats");
    const LIB: (&str, &str) = ("crates/a/src/lib.rs", "unwrap");

    #[test]
    fn an_exact_budget_is_silent() {
        assert_eq!(apply(&[BENCH, LIB, LIB]), Vec::<String>::new());
    }

    #[test]
    fn growing_shrinking_and_useless_entries_are_reported() {
        let grown = "ratchets: unwrap for crates/a/src/lib.rs grew to 3, over its budget of 2";
        assert_eq!(
            apply(&[BENCH, LIB, LIB, LIB]),
            ["unwrap: found", "unwrap: found", "unwrap: found", grown]
        );
        assert_eq!(
            apply(&[BENCH, LIB]),
            ["ratchets: unwrap for crates/a/src/lib.rs has shrunk: lower its budget to 1"]
        );
        assert_eq!(
            apply(&[]),
            [
                "ratchets: floats for crates/server/src/bench/ covers nothing: remove it",
                "ratchets: unwrap for crates/a/src/lib.rs covers nothing: remove it",
            ]
        );
    }

    #[test]
    fn a_directory_has_one_budget_for_all_its_files() {
        let text = TEXT.replace("crates/a/src/lib.rs", "crates/a/");
        let findings = ["crates/a/src/lib.rs", "crates/a/tests/it.rs", "crates/ab/src/lib.rs"]
            .map(|path| Finding::new(path, 1, "unwrap", "found"));
        let left = Ratchets::parse(&text).unwrap().apply(findings.to_vec());
        let found: Vec<&str> = left.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(
            found,
            ["crates/ab/src/lib.rs", FILE],
            "the second is the allowance that covers nothing"
        );
    }

    #[test]
    fn another_rule_or_path_is_not_covered() {
        let other = [
            BENCH,
            LIB,
            LIB,
            ("crates/server/src/bench.rs", "floats"),
            ("crates/a/src/lib.rs", "floats"),
        ];
        assert_eq!(apply(&other), ["floats: found", "floats: found"]);
    }

    #[test]
    fn an_entry_without_a_reason_or_with_an_unknown_field_is_refused() {
        assert!(
            Ratchets::parse(&TEXT.replace("latency percentiles are floats by nature", "because"))
                .is_err()
        );
        assert!(
            Ratchets::parse("[[allow]]\nrule = \"a\"\npaths = \"b\"\nreason = \"c\"\n").is_err()
        );
        assert!(Ratchets::parse("").is_ok());
    }
}
