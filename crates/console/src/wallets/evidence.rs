//! The evidence of a list match, side by side: the sender's details and the list entry.

use domain::deposit::Deposit;
use domain::screening::matches_of;

use crate::Cell;
use crate::view::{Card, words};

/// Findings whose evidence is a list entry: `"<list> <uid> <listed name>"`.
const OF_LISTS: [&str; 3] = ["SANCTIONED_ADDRESS", "SANCTIONED_NAME", "POSSIBLE_MATCH"];

/// The sender's details, and the origin of the money.
pub fn sender_card(deposit: &Deposit) -> Card {
    let said = &deposit.sender;
    let facts = vec![
        ("Name", Cell::maybe(said.name())),
        ("E-mail", Cell::maybe(said.email.clone())),
        ("Telephone", Cell::maybe(said.phone_number.clone())),
        ("Pays from", Cell::maybe(said.custodial_provider.clone())),
        ("Address", Cell::id(deposit.from)),
    ];
    Card { title: "The sender".to_owned(), facts }
}

/// The list entries in a line of evidence.
pub(super) fn list_matches(line: &str, list_version: &str) -> Vec<Card> {
    match line.split_once(": ") {
        Some((code, entries)) if OF_LISTS.contains(&code) => {
            entry_cards(&words(code), entries, list_version)
        }
        _ => Vec::new(),
    }
}

/// A card for each list entry that a party matches.
pub(super) fn entry_cards(finding: &str, evidence: &str, list_version: &str) -> Vec<Card> {
    let card = |(entry, score): (&str, Option<u8>)| {
        let mut parts = entry.splitn(3, ' ');
        let mut part =
            || Cell::maybe(parts.next().filter(|part| !part.is_empty()).map(str::to_owned));
        let (list, uid, name) = (part(), part(), part());
        let facts = vec![
            ("Listed name", name),
            ("Entry", uid),
            ("List", list),
            ("Score", score.map_or(Cell::Empty, Cell::number)),
            ("List version", Cell::text(list_version)),
            ("Finding", Cell::text(finding)),
        ];
        Card { title: "The list entry".to_owned(), facts }
    };
    matches_of(evidence).map(card).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_has_a_card() {
        let line = "POSSIBLE_MATCH: SAMPLE S-1 Zorblax Quibbleton (91); OWN 7 Zorblax (86)";
        let cards = list_matches(line, "2026-11-20 ab12");
        let [first, second] = &cards[..] else { panic!("two matches") };
        assert_eq!(first.facts[0].1, Cell::text("Zorblax Quibbleton"));
        assert_eq!(
            (&first.facts[1].1, &first.facts[2].1, &first.facts[3].1),
            (&Cell::text("S-1"), &Cell::text("SAMPLE"), &Cell::number(91))
        );
        assert_eq!(second.facts[0].1, Cell::text("Zorblax"));
        assert!(list_matches("VELOCITY_EXCEEDED: 21 deposits", "v").is_empty());
        assert_eq!(entry_cards("x", "", "v")[0].facts[0].1, Cell::Empty, "an entry without a name");
    }
}
