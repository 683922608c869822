//! Fuzz targets: each reads bytes from outside as the services do, and checks what was accepted.
//!
//! Compiled for `cargo xtask fuzz` and for tests, which run every file of `fuzz/corpus`; never part
//! of the program.

mod bodies;
mod differential;
mod headers;
mod output;
mod values;

/// The name of a target, which is also that of its corpus, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate, and those of `domain`, whose parsers read what this crate takes.
pub const TARGETS: [Target; 14] = [
    ("account_number", values::account_number),
    ("framing", crate::server::fuzz::framing),
    ("instant", values::instant),
    ("json", differential::json),
    ("number", values::number),
    ("output_text", output::text),
    ("pay_page", crate::pay_page::fuzz::form),
    ("payment_body", bodies::payment),
    ("person_text", values::person),
    ("query", bodies::query),
    ("request_header", headers::request),
    ("request_token", crate::auth::fuzz::token),
    ("search_term", values::search_term),
    ("wallet_body", bodies::wallet),
];

pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_every_target_is_read() {
        for (name, target) in super::TARGETS {
            testkit::corpus::replay(name, target);
        }
    }
}
