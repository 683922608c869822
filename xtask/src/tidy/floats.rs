//! Rule `floats`: no binary floating point outside tests. Legitimate uses (a percentile, a metrics
//! gauge) are in `ratchets.toml` with their reasons; never for money.

use super::Finding;
use super::rust_source::words;
use super::tree::Tree;

const RULE: &str = "floats";
const TYPES: [&str; 2] = ["f32", "f64"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.rust() {
        for (line, code) in source.numbered_code().filter(|(line, _)| !source.is_test_line(*line)) {
            if let Some(float) = words(code).find(|word| TYPES.contains(word)) {
                let message =
                    format!("{float}: use integers of minor units or domain::decimal::Decimal");
                findings.push(Finding::new(&source.path, line, RULE, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_types_themselves_count() {
        for (code, expected) in [
            ("fn a(x: f64) {}", 1),
            ("let x = y as f32;", 1),
            ("let x = elapsed.as_secs_f64();", 0),
            ("// f64 is wrong here", 0),
            ("#[cfg(test)]\nfn a(x: f64) {}", 0),
        ] {
            assert_eq!(
                check(&Tree::of(&[("crates/a/src/lib.rs", code)])).len(),
                expected,
                "{code}"
            );
        }
    }
}
