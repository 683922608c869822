//! "I have paid, but my payment is not shown": looks up the transaction hash that a sender enters.

use domain::chain::TxHash;
use engine::wallets::Found;

use super::words::{Markup, Words};

/// Maximum input length: enough for the URL of an explorer's page.
const TYPED_MAX_CHARS: usize = 200;
const DIGITS: usize = 64;
/// The prefix of a hash.
pub const PREFIX: &str = "0x";

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The input is not a hash.
    NoHash,
    Found(Found),
}

impl Sought {
    /// The message for the sender.
    pub fn message(self, words: Words) -> askama::Result<Markup> {
        match self {
            Sought::NoHash => words.with("hash-wrong", &[("example", PREFIX)]),
            Sought::Found(Found::Known) => words.say("found-known"),
            Sought::Found(Found::Confirming(Some((have, need)))) => words.with(
                "found-confirming",
                &[("have", &have.to_string()), ("need", &need.to_string())],
            ),
            Sought::Found(Found::Confirming(None)) => words.say("found-soon"),
            Sought::Found(Found::OtherToken) => words.say("found-other"),
            Sought::Found(Found::OtherChain) => words.say("found-network"),
            Sought::Found(Found::Elsewhere) => words.say("found-elsewhere"),
            Sought::Found(Found::Reverted) => words.say("found-reverted"),
            Sought::Found(Found::NotYet) => words.say("found-not-yet"),
            Sought::Found(Found::Unclear) => words.say("found-unclear"),
        }
    }
}

/// Extracts the hash: bare, without its `0x`, or at the end of an explorer's URL.
pub fn hash_in(typed: &str) -> Option<TxHash> {
    let typed = typed.trim();
    if typed.chars().count() > TYPED_MAX_CHARS {
        return None;
    }
    let words = typed.split(|c: char| !c.is_ascii_alphanumeric());
    let digits = words
        .map(|word| word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word));
    let mut hashes = digits
        .filter(|digits| digits.len() == DIGITS)
        .filter_map(|it| TxHash::parse(&format!("0x{it}")));
    hashes.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_copied() {
        let digits = "ab".repeat(32);
        for typed in [
            format!("0x{digits}"),
            format!("  0X{}\n", digits.to_uppercase()),
            digits.clone(),
            format!("https://etherscan.example/tx/0x{digits}?lang=en"),
        ] {
            assert_eq!(hash_in(&typed), Some(TxHash([0xab; 32])), "{typed}");
        }
        let long = format!("0x{digits}{}", " ".repeat(300) + "x");
        for typed in
            ["", "0x", "nothing", &digits[1..], &format!("0x{digits}ab"), &"g".repeat(64), &long]
        {
            assert_eq!(hash_in(typed), None, "{typed}");
        }
    }
}
