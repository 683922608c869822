//! What the names of a JSON document's members say, whatever their case and separators: the currencies
//! of a pair, its sides, its mid rate. It reads no values.

/// The base currency of some publishers, the publisher's own name (`ECB`, `IMF`) of others.
pub(super) const ORIGIN: &str = "source";
/// Names of the base currency's code if no name contains `base`, an earlier list before a later one: words
/// and what may follow them.
const BASES: [(&[&str], &[&str]); 2] =
    [(&["from", ORIGIN], &CODE_ENDS), (&["currency", "symbol"], &["", "code", "symbol"])];
/// First words of the second currency's code in a list of pairs.
const QUOTES: [&str; 5] = ["quote", "counter", "target", "term", "to"];
/// What may follow them.
const CODE_ENDS: [&str; 8] =
    ["", "currency", "code", "currencycode", "ccy", "iso", "isocode", "symbol"];
/// Names of a pair's code in a list of pairs.
const PAIRS: [&str; 5] = ["pair", "currencypair", "symbol", "instrument", "ticker"];
/// Names of the code of the one currency that a row of a table is about, besides those above.
const CODES: [&str; 8] =
    ["code", "iso", "iso3", "iso4217", "isocode", "ccy", "alphacode", "charcode"];
/// Names of a mid rate, an earlier list before a later one: first words and what may follow them.
const MIDS: [(&[&str], &[&str]); 3] = [
    (&["mid", "middle", "midpoint", "midmarket"], &PRICE_ENDS),
    (&["rate", "value", "price", "last"], &[""]),
    (
        &[
            "exchange",
            "conversion",
            "fx",
            "currency",
            "reference",
            "official",
            "central",
            "indicative",
            "spot",
            "last",
        ],
        &["rate", "price", "value"],
    ),
];
/// What may follow the name of a side.
const PRICE_ENDS: [&str; 4] = ["", "rate", "price", "value"];

/// Two names of sides, the lower one first.
pub(super) struct Sides {
    pub low: &'static [&'static str],
    pub high: &'static [&'static str],
    /// Whether the names leave open which of the two is lower: a bank buys low, its customer high.
    pub is_open: bool,
}

/// An earlier one goes before a later one.
pub(super) const SIDES: [Sides; 2] = [
    Sides { low: &["bid"], high: &["ask", "offer"], is_open: false },
    Sides {
        low: &["buy", "buying", "purchase"],
        high: &["sell", "selling", "sale"],
        is_open: true,
    },
];

/// A name without case, separators and the number before it: `quote_currency`, `quoteCurrency` and
/// `3. Quote Currency` are the same.
pub(super) fn joined(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let joined: String = letters.flat_map(char::to_lowercase).collect();
    joined.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned()
}

/// How strongly a name says that it is the base currency; 0 is the strongest.
pub(super) fn base_rank(name: &str) -> Option<usize> {
    let name = joined(name);
    match name.contains("base") {
        true => Some(0),
        false => rank(&name, &BASES).map(|rank| rank + 1),
    }
}

pub(super) fn is_quote(name: &str) -> bool {
    is_of(&joined(name), &QUOTES, &CODE_ENDS)
}

pub(super) fn is_pair(name: &str) -> bool {
    PAIRS.contains(&joined(name).as_str())
}

/// Whether a name is one of a currency's code, and not of the base of others.
pub(super) fn is_code(name: &str) -> bool {
    let is_base = base_rank(name);
    is_base.is_some_and(|rank| rank > 0) || is_quote(name) || CODES.contains(&joined(name).as_str())
}

/// How strongly a name says that it is a mid rate; 0 is the strongest.
pub(super) fn mid_rank(name: &str) -> Option<usize> {
    rank(&joined(name), &MIDS)
}

pub(super) fn is_side(name: &str, side: &[&str]) -> bool {
    is_of(&joined(name), side, &PRICE_ENDS)
}

fn rank(name: &str, known: &[(&[&str], &[&str])]) -> Option<usize> {
    known.iter().position(|(words, ends)| is_of(name, words, ends))
}

/// Whether a name is one of `words`, followed by one of `ends`.
fn is_of(name: &str, words: &[&str], ends: &[&str]) -> bool {
    words.iter().any(|word| name.strip_prefix(word).is_some_and(|end| ends.contains(&end)))
}
