//! The result of `certify`: a table, a JSON object, or JUnit XML for test servers.

use domain::characters::one_line;
use domain::time::Span;
use quick_xml::escape::escape;
use serde_json::{Value, json};

use super::checks::Outcome;

/// A completed check, with outcome and duration.
#[derive(Clone, Debug)]
pub struct Found {
    pub name: &'static str,
    /// The requirement, for reading.
    pub rule: &'static str,
    pub outcome: Outcome,
    pub took: Span,
}

impl Found {
    /// `ok`, `warning` or `FAILED`, and the reason.
    fn told(&self) -> (&'static str, &str) {
        match &self.outcome {
            Outcome::Passed => ("ok", ""),
            Outcome::Warned(why) => ("warning", why),
            Outcome::Failed(why) => ("FAILED", why),
        }
    }

    pub fn row(&self) -> Vec<String> {
        let (result, why) = self.told();
        let told =
            if why.is_empty() { self.rule.to_owned() } else { format!("{}: {why}", self.rule) };
        vec![self.name.to_owned(), result.to_owned(), told]
    }
}

/// The number of checks with this outcome.
pub fn count(found: &[Found], like: impl Fn(&Outcome) -> bool) -> usize {
    found.iter().filter(|found| like(&found.outcome)).count()
}

pub fn failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(_))
}

fn warned(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Warned(_))
}

/// The result as one JSON object. `kind` names what was tested: `receiver`, `connector`, `signer`.
pub fn json(kind: &str, url: &str, found: &[Found]) -> Value {
    let check = |found: &Found| {
        let (result, why) = found.told();
        json!({
            "name": found.name,
            "rule": found.rule,
            "result": result.to_ascii_lowercase(),
            "detail": (!why.is_empty()).then_some(why),
            "took_ms": found.took.0 / 1_000,
        })
    };
    json!({
        kind: url,
        "certified": count(found, failed) == 0,
        "passed": count(found, |outcome| *outcome == Outcome::Passed),
        "warnings": count(found, warned),
        "failed": count(found, failed),
        "checks": found.iter().map(check).collect::<Vec<_>>(),
    })
}

/// The result as JUnit XML.
pub fn junit(url: &str, found: &[Found]) -> String {
    let seconds = |span: Span| format!("{}.{:06}", span.0 / 1_000_000, span.0 % 1_000_000);
    let total = Span(found.iter().map(|found| found.took.0).sum());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"corridor certify {}\" \
         tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"{}\">\n",
        clean(url),
        found.len(),
        count(found, failed),
        seconds(total),
    );
    for found in found {
        let (name, rule) = (found.name, found.rule);
        let head = format!(
            "    <testcase classname=\"{name}\" name=\"{rule}\" time=\"{}\"",
            seconds(found.took)
        );
        match &found.outcome {
            Outcome::Passed => xml.push_str(&format!("{head}/>\n")),
            Outcome::Warned(why) => {
                xml.push_str(&format!(
                    "{head}><system-out>warning: {}</system-out></testcase>\n",
                    clean(why)
                ));
            }
            Outcome::Failed(why) => {
                xml.push_str(&format!("{head}><failure message=\"{}\"/></testcase>\n", clean(why)));
            }
        }
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Escaped, without characters that XML cannot carry: endpoints may send anything.
fn clean(text: &str) -> String {
    escape(one_line(text, usize::MAX)).into_owned()
}
