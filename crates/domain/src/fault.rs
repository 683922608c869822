//! Validation error of a request field, in one form for both APIs.

use std::fmt;

/// One violated rule of one field. v2 renders it as `{"loc":["body",field],"msg","type","ctx"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Field name as in the API.
    pub field: &'static str,
    /// The rule's stable name (`missing`, `string_too_long`, `invalid_iban` …): v2's `type`.
    pub rule: &'static str,
    /// Message for the user, one sentence.
    pub message: String,
    /// Machine-readable context: pairs of name and value.
    pub context: Vec<(&'static str, String)>,
}

impl Fault {
    /// Creates a fault without context.
    pub fn new(field: &'static str, rule: &'static str, message: impl Into<String>) -> Fault {
        Fault { field, rule, message: message.into(), context: Vec::new() }
    }

    /// Adds a context pair.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Fault {
        self.context.push((name, value.to_string()));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.message)
    }
}

/// Merges the faults of fields' shapes and those of rules, sorted by `place`: a field's position in the
/// request. A field with a shape fault has no rule faults: its value is only a placeholder.
pub fn merged(shape: Vec<Fault>, rules: Vec<Fault>, place: impl Fn(&str) -> usize) -> Vec<Fault> {
    let kept: Vec<Fault> = rules
        .into_iter()
        .filter(|rule| shape.iter().all(|fault| fault.field != rule.field))
        .collect();
    let mut all: Vec<Fault> = shape.into_iter().chain(kept).collect();
    all.sort_by_key(|fault| place(fault.field));
    all
}

/// All of them in one sentence.
pub fn listed(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::{Fault, listed};

    #[test]
    fn people_read_the_field_and_the_message() {
        let faults = ["amount", "purpose"].map(|field| Fault::new(field, "missing", "Required"));
        assert_eq!(listed(&faults), "amount: Required; purpose: Required");
    }
}
