//! The evidence of a list match: a person's details beside those of the list entry, and whether they
//! are the same.

use std::collections::BTreeSet;

use domain::deposit::Deposit;
use domain::name_words::plain_words;
use domain::order::Order;
use domain::screening::{ListedEntry, has_list, matches_of};
use domain::user::Role;
use jiff::civil::Date;

use crate::view::{Card, Section, date_words, words};
use crate::{Cell, Row, Table, Tone, Visit};

/// Findings whose evidence is a list entry: `"<list> <uid> <listed name>"`.
const OF_LISTS: [&str; 3] = [ADDRESS, "SANCTIONED_NAME", "POSSIBLE_MATCH"];
const ADDRESS: &str = "SANCTIONED_ADDRESS";
/// Roles that see birth dates and documents; others see whether they match.
const SEE_BIRTHS: [Role; 2] = [Role::Compliance, Role::Auditor];
const NOT_SHOWN: &str = "not shown to your roles";
/// Aliases that are shown.
const ALIASES_MAX: usize = 6;

/// What is known about a party.
#[derive(Clone, Debug, Default)]
pub(super) struct Party {
    /// In the heading: `Sender`.
    pub who: &'static str,
    /// The matched detail and its label.
    pub label: &'static str,
    pub name: String,
    pub birth: Option<Date>,
    /// ISO 3166-1 alpha-3 code.
    pub country: Option<String>,
    pub document: Option<String>,
}

impl Party {
    pub(super) fn named(who: &'static str, name: impl Into<String>) -> Party {
        Party { who, label: "Name", name: name.into(), ..Party::default() }
    }

    /// The screened parties of an order.
    pub(super) fn of_order(order: &Order) -> [Party; 2] {
        let document =
            format!("{} {}", order.sender_identity_doc_type.name(), order.sender_identity_doc);
        let sender = Party {
            birth: order.sender_birthdate,
            country: Some(order.sender_country.clone()),
            document: Some(document),
            ..Party::named("Sender", order.sender_name.as_str())
        };
        let beneficiary = Party {
            country: Some(order.country.alpha3().to_owned()),
            ..Party::named("Beneficiary", order.beneficiary_name.as_str())
        };
        [sender, beneficiary]
    }
}

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

/// A comparison for each list entry that a deposit's assessment names.
pub(super) fn of_deposit(visit: &Visit, deposit: &Deposit) -> Vec<Section> {
    let Some(assessed) = &deposit.assessment else { return Vec::new() };
    let sections = assessed.evidence.iter().flat_map(|line| {
        let Some((code, entries)) =
            line.split_once(": ").filter(|(code, _)| OF_LISTS.contains(code))
        else {
            return Vec::new();
        };
        let party = match code {
            ADDRESS => Party {
                label: "Address",
                ..Party::named("Sending address", deposit.from.to_string())
            },
            _ => Party::named("Sender", deposit.sender.name().unwrap_or_default()),
        };
        comparisons(visit, &[party], &words(code), entries, &assessed.list_version)
    });
    sections.collect()
}

/// A comparison of each list entry in an evidence with the party whose name is closest to it.
pub(super) fn comparisons(
    visit: &Visit,
    parties: &[Party],
    finding: &str,
    evidence: &str,
    list_version: &str,
) -> Vec<Section> {
    let shows_births = visit.may(&SEE_BIRTHS);
    let section = |(text, score): (&str, Option<u8>)| {
        let mut parts = text.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let (list, uid, listed) = (part(), part(), part());
        let party = parties.iter().max_by_key(|party| shared_pairs(&party.name, listed))?;
        let entry = visit.console().payments.world().screen.entry(list, uid);
        if entry.is_none() && !has_list(list_version, list) {
            // For instance a name of two scripts, or how many more matches there are.
            let title = format!("Also: {finding}");
            let says = vec![format!("{text}. Lists: {list_version}.")];
            return Some(Section { title, about: text.to_owned(), says, ..Section::default() });
        }
        let mut says = vec![format!("{list} entry {uid}, {finding}. Lists: {list_version}.")];
        if entry.is_none() && !listed.is_empty() {
            says.push("The lists in force no longer have this entry.".to_owned());
        }
        let entry = entry.unwrap_or_else(|| ListedEntry {
            names: vec![listed.to_owned()],
            births: Vec::new(),
            countries: Vec::new(),
        });
        let title = format!("{} and list entry {uid}", party.who);
        let head = ["Detail", party.who, "List entry", "Match"];
        let rows = rows(party, &entry, listed, score, shows_births);
        let table = Some(Table::new(title.as_str(), &head, rows));
        let about = format!("{} {list} {uid}", party.label);
        Some(Section { title, about, says, table, ..Section::default() })
    };
    matches_of(evidence).filter_map(section).collect()
}

fn rows(
    party: &Party,
    entry: &ListedEntry,
    listed: &str,
    score: Option<u8>,
    shows_births: bool,
) -> Vec<Row> {
    let hidden = |cell: Cell| match cell {
        Cell::Empty => Cell::Empty,
        _ if !shows_births => Cell::text(NOT_SHOWN),
        cell => cell,
    };
    let births: Vec<String> = entry.births.iter().map(|birth| span_words(*birth)).collect();
    let aliases: Vec<&str> = entry
        .names
        .iter()
        .map(String::as_str)
        .filter(|name| *name != listed)
        .take(ALIASES_MAX)
        .collect();
    let joined = |texts: &[String]| Cell::maybe((!texts.is_empty()).then(|| texts.join(" or ")));
    let given = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::text(text) };
    let mut rows = vec![vec![
        Cell::text(party.label),
        given(&party.name),
        given(listed),
        name_match(party, listed, score),
    ]];
    if !aliases.is_empty() {
        let also = vec![Cell::text("Also known as"), Cell::Empty, Cell::text(aliases.join("; "))];
        rows.push([also, vec![not_comparable()]].concat());
    }
    rows.push(vec![
        Cell::text("Date of birth"),
        hidden(Cell::maybe(party.birth.map(date_words))),
        hidden(joined(&births)),
        birth_match(party.birth, &entry.births),
    ]);
    rows.push(vec![
        Cell::text("Country"),
        Cell::maybe(party.country.clone()),
        joined(&entry.countries),
        country_match(party.country.as_deref(), &entry.countries),
    ]);
    if party.document.is_some() {
        let document = hidden(Cell::maybe(party.document.clone()));
        rows.push(vec![Cell::text("Document"), document, Cell::Empty, not_comparable()]);
    }
    rows
}

fn not_comparable() -> Cell {
    Cell::state("Not comparable", Tone::Plain)
}

fn name_match(party: &Party, listed: &str, score: Option<u8>) -> Cell {
    let is_same = plain_words(&party.name) == plain_words(listed) || party.label == "Address";
    match (is_same, score) {
        _ if party.name.is_empty() || listed.is_empty() => not_comparable(),
        (true, _) => Cell::state("Same", Tone::Bad),
        (false, Some(score)) => Cell::state(format!("Similar, {score} %"), Tone::Warn),
        (false, None) => Cell::state("Similar", Tone::Warn),
    }
}

fn birth_match(birth: Option<Date>, listed: &[(Date, Date)]) -> Cell {
    let Some(birth) = birth.filter(|_| !listed.is_empty()) else { return not_comparable() };
    if let Some((from, to)) = listed.iter().find(|(from, to)| *from <= birth && birth <= *to) {
        let word = if from == to { "Same" } else { "Possible" };
        return Cell::state(word, Tone::Bad);
    }
    let years = listed.iter().map(|(from, to)| {
        let (first, last) = (from.year().abs_diff(birth.year()), to.year().abs_diff(birth.year()));
        first.min(last)
    });
    match years.min().unwrap_or(0) {
        0 => Cell::state("Different", Tone::Good),
        1 => Cell::state("Different, 1 year", Tone::Good),
        years => Cell::state(format!("Different, {years} years"), Tone::Good),
    }
}

fn country_match(country: Option<&str>, listed: &[String]) -> Cell {
    match country {
        Some(country) if listed.iter().any(|it| it == country) => Cell::state("Same", Tone::Bad),
        Some(_) if !listed.is_empty() => Cell::state("Different", Tone::Good),
        _ => not_comparable(),
    }
}

fn span_words((from, to): (Date, Date)) -> String {
    match from == to {
        true => date_words(from),
        false => format!("{} to {}", date_words(from), date_words(to)),
    }
}

/// How many pairs of letters two names share.
fn shared_pairs(one: &str, other: &str) -> usize {
    let pairs = |name: &str| -> BTreeSet<(char, char)> {
        let letters: Vec<char> = plain_words(name).concat().chars().collect();
        letters.iter().copied().zip(letters.iter().copied().skip(1)).collect()
    };
    pairs(one).intersection(&pairs(other)).count()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn word(cell: &Cell) -> &str {
        match cell {
            Cell::State { word, .. } => word,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn details_are_same_similar_or_different() {
        let listed = "Zorblax Quibbleton";
        let name = |name: &str, score| {
            let cell = name_match(&Party::named("Sender", name), listed, score);
            word(&cell).to_owned()
        };
        assert_eq!(name("zorblax  QUIBBLETON", Some(100)), "Same");
        assert_eq!(name("Zorblax Qibbletan", Some(91)), "Similar, 91 %");
        assert_eq!(name("", None), "Not comparable");
        let day = (date(1970, 1, 12), date(1970, 1, 12));
        let year = (date(1958, 1, 1), date(1958, 12, 31));
        for (birth, listed, expected) in [
            (Some(day.0), vec![day], "Same"),
            (Some(date(1958, 5, 1)), vec![day, year], "Possible"),
            (Some(date(1992, 1, 12)), vec![day], "Different, 22 years"),
            (Some(date(1970, 2, 12)), vec![day], "Different"),
            (Some(date(1959, 2, 12)), vec![day, year], "Different, 1 year"),
            (None, vec![day], "Not comparable"),
            (Some(day.0), vec![], "Not comparable"),
        ] {
            assert_eq!(word(&birth_match(birth, &listed)), expected, "{birth:?} {listed:?}");
        }
        let countries = ["PAK".to_owned(), "AFG".to_owned()];
        assert_eq!(word(&country_match(Some("PAK"), &countries)), "Same");
        assert_eq!(word(&country_match(Some("ARE"), &countries)), "Different");
        assert_eq!(word(&country_match(Some("ARE"), &[])), "Not comparable");
    }

    #[test]
    fn birth_dates_are_shown_to_some_roles_only() {
        let party = Party {
            birth: Some(date(1991, 3, 14)),
            document: Some("passport N01".to_owned()),
            ..Party::named("Sender", "Zorblax Qibbletan")
        };
        let entry = ListedEntry {
            names: vec!["Zorblax Quibbleton".to_owned(), "Zorb Quib".to_owned()],
            births: vec![(date(1970, 1, 12), date(1970, 1, 12))],
            countries: vec![],
        };
        let text = |shows| {
            let rows = rows(&party, &entry, "Zorblax Quibbleton", Some(91), shows);
            format!("{rows:?}")
        };
        for shown in ["14 Mar 1991", "12 Jan 1970", "passport N01", "Different, 21 years"] {
            assert!(text(true).contains(shown), "{shown}: {}", text(true));
        }
        for hidden in ["1991", "1970", "N01"] {
            assert!(!text(false).contains(hidden), "{hidden}: {}", text(false));
        }
        assert!(text(false).contains("Different, 21 years") && text(false).contains("Zorb Quib"));
    }

    #[test]
    fn the_closest_party_is_compared() {
        assert!(
            shared_pairs("Zorblax Qibbletan", "Zorblax Quibbleton")
                > shared_pairs("Bilal Khan", "Zorblax Quibbleton")
        );
        assert_eq!(shared_pairs("", "x"), 0);
    }
}
