//! Ids by their beginning, as tables show them.

use domain::names::with_article;
use domain::payment_search::ID_START_CHARS;

use super::failure::Failure;
use super::table::short_id;

/// Maximum number of ambiguous ids that an error lists.
const LISTED_MAX: usize = 5;
/// Number of the newest ids that an error names.
const NEWEST: usize = 3;
/// Indent of an error's further lines, below its text.
pub const INDENT: &str = "\n       ";

/// Whether the text is the beginning of an id, and not a whole one.
pub fn is_start(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    text.len() >= ID_START_CHARS
        && text.bytes().all(is_digit)
        && uuid::Uuid::try_parse(text).is_err()
}

/// The digits of the beginning of an id.
pub fn start(text: &str, what: &str) -> Result<String, Failure> {
    match is_start(text) {
        true => Ok(text.to_ascii_lowercase().replace('-', "")),
        false => Err(Failure::Usage(format!(
            "{text:?} is not the id of {}: give at least its first {ID_START_CHARS} characters",
            with_article(what)
        ))),
    }
}

/// The one id that begins with this text. `known` are the latest ids, newest first.
pub fn one_of(
    text: &str,
    what: &str,
    known: impl IntoIterator<Item = String>,
) -> Result<String, Failure> {
    let digits = start(text, what)?;
    let known: Vec<String> = known.into_iter().collect();
    let mut found: Vec<&String> =
        known.iter().filter(|id| id.replace('-', "").starts_with(&digits)).collect();
    found.sort_unstable();
    found.dedup();
    match &found[..] {
        [id] => Ok((*id).clone()),
        [] => {
            let newest: Vec<&str> = known.iter().take(NEWEST).map(|id| short_id(id)).collect();
            let newest = if newest.is_empty() { "none".to_owned() } else { newest.join(", ") };
            Err(Failure::Refused(format!(
                "no {what} {text}{INDENT}{ID_START_CHARS} characters of an id are enough; newest: {newest}"
            )))
        }
        several => {
            let listed: String =
                several.iter().take(LISTED_MAX).map(|id| format!("{INDENT}{id}")).collect();
            let count = several.len();
            Err(Failure::Usage(format!("{text} is the beginning of {count} ids:{listed}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 3] = [
        "4b484e73-c8b0-4b1e-9d0e-2c8f0a7b1c2d",
        "4b484e74-c8b0-4b1e-9d0e-2c8f0a7b1c2d",
        "bca3a0aa-c8b0-4b1e-9d0e-2c8f0a7b1c2d",
    ];

    fn resolved(text: &str) -> Result<String, Failure> {
        one_of(text, "payment", IDS.map(str::to_owned))
    }

    #[test]
    fn six_characters_are_enough() {
        assert_eq!(resolved("bca3a0").expect("an id"), IDS[2]);
        assert_eq!(resolved("BCA3A0AA-c8").expect("an id"), IDS[2]);
        assert!(
            is_start("4b484e") && !is_start("4b484") && !is_start(IDS[0]) && !is_start("inv-20")
        );
    }

    #[test]
    fn an_ambiguous_beginning_lists_the_ids() {
        let refusal = resolved("4b484e7").expect_err("two ids");
        assert_eq!(refusal.exit_code(), 2);
        let text = refusal.to_string();
        assert!(text.contains(IDS[0]) && text.contains(IDS[1]) && !text.contains(IDS[2]), "{text}");
    }

    #[test]
    fn an_unknown_beginning_names_the_newest_ids() {
        let refusal = resolved("4b48ffff").expect_err("no id");
        assert_eq!(
            (refusal.exit_code(), refusal.to_string().as_str()),
            (
                1,
                "no payment 4b48ffff\n       6 characters of an id are enough; newest: 4b484e73, 4b484e74, bca3a0aa"
            )
        );
        let short = resolved("4b48").expect_err("too short");
        assert_eq!(
            short.to_string(),
            "\"4b48\" is not the id of a payment: give at least its first 6 characters"
        );
        let order = start("12", "order").expect_err("too short").to_string();
        assert!(order.starts_with("\"12\" is not the id of an order"), "{order}");
    }
}
