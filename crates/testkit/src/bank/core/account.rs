//! What the simulated bank answers about an account, by the same endings as payments to it.

use domain::account_check::AccountAnswer;

/// The answer about an account and the name that a client has for it.
pub fn check_account(account: &str, name: &str) -> AccountAnswer {
    let bytes = account.as_bytes();
    match &bytes[bytes.len().saturating_sub(4)..] {
        b"0001" => AccountAnswer::Closed,
        b"0002" => AccountAnswer::NotFound,
        b"0021" => AccountAnswer::NoMatch,
        b"0022" => AccountAnswer::CloseMatch(Some(masked(name))),
        b"0023" => AccountAnswer::Unavailable("the bank does not answer".to_owned()),
        b"0024" => AccountAnswer::NotSupported,
        _ => AccountAnswer::Match,
    }
}

/// A name as many banks show it: `A*** K***`.
fn masked(name: &str) -> String {
    let words = name.split_whitespace().filter_map(|word| word.chars().next());
    words.map(|initial| format!("{initial}***")).collect::<Vec<_>>().join(" ")
}
