//! What is wrong with a field of a request: one shape for every validation error of both interfaces.

/// One broken rule of one field. v2 renders it as `{"loc":["body",field],"msg","type","ctx"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field, as the interface spells it.
    pub field: &'static str,
    /// The rule's stable name (`missing`, `string_too_long`, `invalid_iban` …): v2's `type`.
    pub rule: &'static str,
    /// One sentence for a person.
    pub message: String,
    /// What a program may want to know: pairs of name and value.
    pub context: Vec<(&'static str, String)>,
}

impl Fault {
    /// A fault without context.
    pub fn new(field: &'static str, rule: &'static str, message: impl Into<String>) -> Fault {
        Fault { field, rule, message: message.into(), context: Vec::new() }
    }

    /// The same fault with one more pair of context.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Fault {
        self.context.push((name, value.to_string()));
        self
    }
}
