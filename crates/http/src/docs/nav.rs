//! The navigation beside a page: groups of pages, and the sections of the current one.

use super::document::{Document, Operation};
use super::guides::{GUIDES, Group, Guide, REFERENCE};
use super::markdown::Heading;
use super::{Described, SIGNING_PATH, Service, guide_page};

/// A main part of the documentation, in the bar on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Guides,
    Payment,
    Wallet,
    Reference,
}

impl Part {
    pub(super) const ALL: [(Part, &'static str, &'static str); 4] = [
        (Part::Guides, "/docs", "Guides"),
        (Part::Payment, "/docs/payment", "Payment API"),
        (Part::Wallet, "/docs/wallet", "Wallet API"),
        (Part::Reference, "/docs/reference/errors", "Reference"),
    ];
}

/// A link of the navigation.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) path: String,
    pub(super) label: String,
    /// The method of an operation.
    pub(super) verb: Option<String>,
}

impl Link {
    fn page(path: impl Into<String>, label: impl Into<String>) -> Link {
        Link { path: path.into(), label: label.into(), verb: None }
    }
}

/// The navigation of one part.
#[derive(Clone, Debug)]
pub(super) struct Nav {
    pub(super) part: Part,
    pub(super) groups: Vec<(String, Vec<Link>)>,
}

impl Nav {
    pub(super) fn of_guides() -> Nav {
        let links = |group: Group| {
            let own = GUIDES.iter().filter(move |guide| guide.group() == group);
            own.map(link).collect::<Vec<_>>()
        };
        let mut start = vec![Link::page("/docs", "Overview")];
        start.extend(links(Group::Integrate));
        start.insert(2, Link::page(SIGNING_PATH, "Signing"));
        let groups = vec![
            ("Integrate".to_owned(), start),
            ("Operate".to_owned(), links(Group::Operate)),
            ("Understand".to_owned(), links(Group::Understand)),
            ("Senders".to_owned(), links(Group::Pay)),
            ("For programs".to_owned(), vec![Link::page("/llms.txt", "llms.txt")]),
        ];
        Nav { part: Part::Guides, groups }
    }

    pub(super) fn of_reference() -> Nav {
        let groups = vec![("Reference".to_owned(), REFERENCE.iter().map(link).collect())];
        Nav { part: Part::Reference, groups }
    }

    pub(super) fn of_service(described: &Described, document: &Document<'_>) -> Nav {
        let path = described.page_path;
        let mut groups = vec![(
            "Start".to_owned(),
            vec![
                Link::page(path, "Overview"),
                Link::page(SIGNING_PATH, "Signing"),
                Link::page(format!("{path}#errors"), "Errors"),
            ],
        )];
        for (tag, operations) in document.by_tag() {
            let link = |operation: &Operation<'_, '_>| Link {
                path: operation_path(path, operation.id()),
                label: operation.summary().to_owned(),
                verb: Some(operation.verb()),
            };
            groups.push((tag.to_owned(), operations.iter().map(link).collect()));
        }
        groups.push((
            "Reference".to_owned(),
            vec![
                Link::page(format!("{path}/webhooks"), "Webhooks"),
                Link::page(format!("{path}/objects"), "Objects"),
                Link::page(described.document_path, "OpenAPI 3.1"),
            ],
        ));
        let part = match described.service {
            Service::Payment => Part::Payment,
            Service::Wallet => Part::Wallet,
        };
        Nav { part, groups }
    }
}

pub(super) fn operation_path(page: &str, id: &str) -> String {
    format!("{page}/{id}")
}

fn link(guide: &Guide) -> Link {
    Link::page(guide.page_path, guide_page::rendered(guide).title())
}

/// The sections of a page that its navigation lists.
pub(super) fn sections(headings: &[Heading]) -> Vec<(&str, &str)> {
    let sections: Vec<(&str, &str)> = headings
        .iter()
        .filter(|heading| heading.level == 2)
        .map(|heading| (heading.id.as_str(), heading.text.as_str()))
        .collect();
    if sections.len() > 1 { sections } else { Vec::new() }
}
