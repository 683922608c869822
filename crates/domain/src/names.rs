//! Enums whose values have a fixed name: on the wire, in the store, in the configuration. What
//! people read has the same names in words.

/// A name in words: `NON_TRUSTED_TRANSFER` is "non trusted transfer".
pub fn words(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// The name of a state as the verb of a sentence: `legal_hold` is "is on legal hold", `failed` is
/// "has failed".
pub fn state_phrase(name: &str) -> String {
    let name = words(name);
    let is = match name.as_str() {
        "expired" | "failed" | "succeeded" => return format!("has {name}"),
        "debiting" => "being debited",
        "legal hold" => "on legal hold",
        "paying" => "being paid out",
        "refunding" => "being refunded",
        "returning" => "being returned",
        "screening" => "being screened",
        "sending" => "being sent",
        "unknown" => "of unknown outcome",
        name => name,
    };
    format!("is {is}")
}

/// A noun with its indefinite article.
pub fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Declares an enum together with its names, each next to its value. The text after the colon
/// says where the names are used, and documents `name`.
///
/// The enum gets `ALL` (its values in the order of their declaration), `name` and `parse`, which
/// is case-sensitive.
#[macro_export]
macro_rules! names {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident: $used:literal {
            $($(#[$of_value:meta])* $value:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$of_value])* $value,)+
        }

        impl $type {
            /// All values, in the order of their declaration.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            #[doc = $used]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// Parses the name, case-sensitive.
            pub fn parse(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$value),)+
                    _ => None,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{state_phrase, with_article, words};

    #[test]
    fn names_become_words_of_a_sentence() {
        assert_eq!(words("NON_TRUSTED_TRANSFER"), "non trusted transfer");
        assert_eq!(state_phrase("in_review"), "is in review");
        assert_eq!(state_phrase("BLACKLISTED"), "is blacklisted");
        assert_eq!(state_phrase("legal_hold"), "is on legal hold");
        assert_eq!(state_phrase("succeeded"), "has succeeded");
        assert_eq!(with_article("order"), "an order");
        assert_eq!(with_article("payment request"), "a payment request");
    }
}
