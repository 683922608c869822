//! Fuzz targets: each reads bytes from outside as a parser of this crate does, and checks what was accepted.
//!
//! Compiled for `cargo xtask fuzz` and for tests, which run every file of `fuzz/corpus`; never part
//! of the program.

/// The name of a target, which is also that of its corpus, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 21] = [
    ("bank_archive", crate::rails::fuzz::archive),
    ("bank_directory", bank_directory),
    ("bank_file_name", crate::rails::fuzz::file_name),
    ("bank_message", crate::rails::fuzz::message),
    ("bank_value", crate::rails::fuzz::value),
    ("chain_analysis", crate::screening::fuzz::chain_analysis),
    ("connector_answer", crate::rails::fuzz::connector_answer),
    ("identity_provider", crate::oidc::fuzz::provider),
    ("identity_token", crate::oidc::fuzz::token),
    ("key_store_der", crate::evm::fuzz::der),
    ("oauth_answer", crate::outbound::fuzz::oauth_answer),
    ("pgp_message", crate::pgp::fuzz::message),
    ("rates", crate::rates::fuzz::document),
    ("retry_after", crate::outbound::fuzz::retry_after),
    ("rpc_answer", crate::evm::fuzz::answer),
    ("rpc_logs", crate::evm::fuzz::logs),
    ("sanctions_list", crate::screening::fuzz::list),
    ("screened_name", crate::screening::fuzz::name),
    ("sftp_packet", crate::sftp::fuzz::packet),
    ("webhook_answer", crate::webhooks::fuzz::answer),
    ("webhook_url", crate::webhooks::fuzz::url),
];

/// A directory of bank branches in CSV: what is listed is found.
fn bank_directory(bytes: &[u8]) {
    let Some(directory) = text(bytes).and_then(|text| crate::bank_directory::read(text).ok())
    else {
        return;
    };
    for branch in directory.branches() {
        assert!(!branch.bank_name.is_empty(), "{branch:?}");
        if let Some(bic) = &branch.bic {
            assert!(directory.by_bic(bic).is_some(), "{branch:?}");
        }
        if let Some(code) = &branch.local_code {
            assert!(directory.by_local_code(branch.country, code).is_some(), "{branch:?}");
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Asserts that a text of an outside party can be shown and stored: short, without control characters.
pub(crate) fn assert_clean(text: &str, max_chars: usize) {
    assert!(text.chars().count() <= max_chars, "{text:?} is too long");
    assert!(!text.chars().any(char::is_control), "{text:?} has control characters");
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
