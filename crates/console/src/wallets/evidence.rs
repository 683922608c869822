//! The evidence of a list match, side by side: the sender's details and the list entry.

use domain::deposit::Deposit;

use super::view::{Card, words};
use crate::Cell;

/// Findings whose evidence is a list entry: `"<list> <uid> <listed name>"`.
const OF_LISTS: [&str; 3] = ["SANCTIONED_ADDRESS", "SANCTIONED_NAME", "POSSIBLE_MATCH"];

/// The sender's details, and the origin of the money.
pub fn sender_card(deposit: &Deposit) -> Card {
    let said = &deposit.sender;
    let name = [said.first_name.as_deref(), said.last_name.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    let facts = vec![
        ("Name", Cell::maybe(Some(name.join(" ")).filter(|name| !name.is_empty()))),
        ("E-mail", Cell::maybe(said.email.clone())),
        ("Telephone", Cell::maybe(said.phone_number.clone())),
        ("Pays from", Cell::maybe(said.custodial_provider.clone())),
        ("Address", Cell::id(deposit.from)),
    ];
    Card { title: "The sender".to_owned(), facts }
}

/// The list entry in a line of evidence.
pub(super) fn list_match(line: &str, list_version: &str) -> Option<Card> {
    let (code, entry) = line.split_once(": ")?;
    OF_LISTS.contains(&code).then(|| entry_card(&words(code), entry, list_version))
}

pub(super) fn entry_card(finding: &str, entry: &str, list_version: &str) -> Card {
    let mut parts = entry.splitn(3, ' ');
    let mut part = || Cell::maybe(parts.next().filter(|part| !part.is_empty()).map(str::to_owned));
    let (list, uid, name) = (part(), part(), part());
    let facts = vec![
        ("Listed name", name),
        ("Entry", uid),
        ("List", list),
        ("List version", Cell::text(list_version)),
        ("Finding", Cell::text(finding)),
    ];
    Card { title: "The list entry".to_owned(), facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_parsed() {
        let card = list_match("POSSIBLE_MATCH: SAMPLE S-1 Zorblax Quibbleton", "2026-11-20 ab12")
            .expect("a match");
        assert_eq!(card.facts[0].1, Cell::text("Zorblax Quibbleton"));
        assert_eq!(
            (&card.facts[1].1, &card.facts[2].1),
            (&Cell::text("S-1"), &Cell::text("SAMPLE"))
        );
        assert!(list_match("VELOCITY_EXCEEDED: 21 deposits", "v").is_none());
        assert_eq!(entry_card("x", "", "v").facts[0].1, Cell::Empty, "an entry without a name");
    }
}
