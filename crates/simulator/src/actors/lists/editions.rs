//! The editions of the simulated sanction lists, as their publishers write them.

use std::fmt::Write as _;

use crate::installation::{NAME_FURTHER, NAME_IN_REVIEW, NAME_LISTED};

/// How many lists there are.
pub const SOURCES: usize = 2;
/// The number of an edition of both lists, from 0.
pub(super) type Edition = usize;
/// The newest edition. It alone has the further name.
pub(super) const NEWEST: Edition = 2;

/// When the editions are published.
const PUBLISHED: [&str; NEWEST + 1] = ["11/18/2026", "11/20/2026", "11/21/2026"];
/// Where the lists are.
pub(super) const ADDRESSES: [&str; SOURCES] =
    ["https://lists.example/sdn.xml", "https://other.example/consolidated.xml"];
/// Names that no party of a schedule resembles.
const OTHERS: [&str; 4] =
    ["Zorblax Quibbleton", "Grimwald Fakename", "Testina Blocklistova", "Nguyen Hoaxuan"];

/// How a name is on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// By its own name.
    Strong,
    /// As a weak alias: a person decides.
    Weak,
}

/// How an edition of a list has a name.
pub(super) fn entry(source: usize, edition: Edition, name: &str) -> Option<Entry> {
    match (source, name) {
        (0, NAME_LISTED) => Some(Entry::Strong),
        (0, NAME_FURTHER) if edition == NEWEST => Some(Entry::Strong),
        (1, NAME_IN_REVIEW) => Some(Entry::Weak),
        _ => None,
    }
}

/// The document of an edition, in the form of OFAC's SDN.XML.
pub(super) fn document(source: usize, edition: Edition) -> Vec<u8> {
    let mut names: Vec<(&str, Entry)> =
        OTHERS.into_iter().map(|name| (name, Entry::Strong)).collect();
    let parties = [NAME_LISTED, NAME_IN_REVIEW, NAME_FURTHER];
    names
        .extend(parties.into_iter().filter_map(|name| Some((name, entry(source, edition, name)?))));
    write(PUBLISHED[edition.min(NEWEST)], &names)
}

/// A document without entries.
pub(super) fn empty() -> Vec<u8> {
    write(PUBLISHED[NEWEST], &[])
}

fn write(published: &str, names: &[(&str, Entry)]) -> Vec<u8> {
    let mut text = format!(
        "<?xml version=\"1.0\"?><sdnList xmlns=\"http://tempuri.org/sdnList.xsd\"><publshInformation>\
         <Publish_Date>{published}</Publish_Date></publshInformation>"
    );
    for (uid, (name, how)) in names.iter().enumerate() {
        let (first, last) = name.split_once(' ').unwrap_or(("", name));
        let entry = match how {
            Entry::Strong => format!("<firstName>{first}</firstName><lastName>{last}</lastName>"),
            Entry::Weak => format!(
                "<lastName>Ordnungsamt Vierzehn</lastName><akaList><aka><uid>{uid}</uid><type>a.k.a.</type>\
                 <category>weak</category><lastName>{last}</lastName><firstName>{first}</firstName></aka></akaList>"
            ),
        };
        let kind = "<sdnType>Individual</sdnType>";
        // Writing to a string never fails.
        let _ = write!(text, "<sdnEntry><uid>{uid}</uid>{entry}{kind}</sdnEntry>");
    }
    text.push_str("</sdnList>");
    text.into_bytes()
}

/// The list and edition of a whole document.
pub(super) fn recognise(bytes: &[u8]) -> Option<(usize, Edition)> {
    let all = (0..SOURCES).flat_map(|source| (0..=NEWEST).map(move |edition| (source, edition)));
    // Where two editions are the same but for their date, the date is part of the document.
    all.into_iter().find(|(source, edition)| document(*source, *edition) == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_recognised_and_no_part_of_one() {
        for source in 0..SOURCES {
            for edition in 0..=NEWEST {
                let whole = document(source, edition);
                assert_eq!(recognise(&whole), Some((source, edition)));
                assert_eq!(recognise(&whole[..whole.len() - 1]), None);
            }
        }
        assert_eq!(recognise(&empty()), None);
    }
}
