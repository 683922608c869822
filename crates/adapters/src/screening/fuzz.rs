//! Fuzz targets of sanctions lists, of names, and of a chain analysis provider's answers.

use std::sync::Arc;

use domain::chain::Address;
use domain::screening::Party;

use super::load::{Document, MAX_FIELD_BYTES, load};
use super::{Kind, List, ListEntry, SanctionLists, forms, proximity};
use crate::fuzz::{assert_clean, text};

/// Divides the documents of one list.
const BETWEEN_DOCUMENTS: &[u8] = b"\n=====\n";
/// The lowest score that stops a payment for review.
const REVIEW_FROM: u8 = domain::screening::REVIEW_FROM;

/// A list of any publisher: entries have names and possible dates, and each name is found.
pub(crate) fn list(bytes: &[u8]) {
    let mut documents = Vec::new();
    let mut rest = bytes;
    while let Some(at) =
        rest.windows(BETWEEN_DOCUMENTS.len()).position(|it| it == BETWEEN_DOCUMENTS)
    {
        documents.push(document(&rest[..at]));
        rest = &rest[at + BETWEEN_DOCUMENTS.len()..];
    }
    documents.push(document(rest));
    let Ok(list) = load(&documents) else { return };
    assert!(!list.entries.is_empty());
    for entry in &list.entries {
        assert!(!entry.primary_name().trim().is_empty(), "{entry:?}");
        assert!(entry.names.iter().all(|name| name.text.len() <= MAX_FIELD_BYTES), "{entry:?}");
        assert!(entry.births.iter().all(|born| born.from <= born.to), "{entry:?}");
        assert!(entry.countries.iter().all(|code| code.len() == 3), "{entry:?}");
    }
    let names: Vec<String> =
        list.entries.iter().take(3).map(|entry| entry.primary_name().to_owned()).collect();
    let lists = SanctionLists::build(vec![Arc::new(list)]);
    for name in &names {
        lists.matches(&Party { name, birthdate: None, country: None });
    }
}

fn document(bytes: &[u8]) -> Document {
    Document { origin: "fuzz".to_owned(), bytes: bytes.to_vec(), modified: None }
}

/// A listed name, written exactly as it is listed, is never cleared.
pub(crate) fn name(bytes: &[u8]) {
    let Some(name) = text(bytes).map(str::trim).filter(|name| name.chars().count() <= 120) else {
        return;
    };
    let entry = ListEntry::new("1", Kind::Person, name);
    let list = List {
        name: "FUZZ".to_owned(),
        published: None,
        sample: false,
        sha256: [0; 32],
        entries: vec![entry],
        unreadable: Vec::new(),
        incomplete: None,
    };
    let lists = SanctionLists::build(vec![Arc::new(list)]);
    let found = lists.best_match(&Party { name, birthdate: None, country: None });
    // Letters alone are joined in a screened name, and not in a listed one.
    let is_compared = forms::of(name).first().is_some_and(|form| form.significant() > 0);
    if is_compared && !forms::is_too_long(name) {
        assert!(found.is_some_and(|found| found.score >= REVIEW_FROM), "{name:?} is cleared");
    }
}

/// An answer of a chain analysis provider: bounded texts, a score of at most 100.
pub(crate) fn chain_analysis(bytes: &[u8]) {
    let Ok(answer) = proximity::read(bytes, Address([0x11; 20])) else { return };
    assert!(answer.risk_score.is_none_or(|score| score <= 100));
    assert_clean(&answer.provider_version, 200);
    if let Some(nearest) = &answer.nearest {
        for text in [&nearest.category, &nearest.source, &nearest.reference] {
            assert_clean(text, 200);
        }
    }
}
