//! All pages with their addresses, rendered at once.

use std::collections::BTreeMap;

use super::assets::{SIGNING_SCRIPT_PATH, TOKENS_PATH};
use super::document::Document;
use super::guides::{GUIDES, REFERENCE};
use super::nav::{Nav, operation_path};
use super::operation::Surroundings;
use super::reader::{Token, content, unescaped};
use super::search::Index;
use super::{Described, SERVICES, SIGNING_PATH, SandboxKeys};
use super::{api_pages, guide_page, index, operation, plain};
use crate::json::JsonError;

/// A page and what is made from it.
pub(super) struct Page {
    pub(super) path: String,
    pub(super) title: String,
    /// The part of the documentation that lists it.
    pub(super) part: &'static str,
    /// First sentence of its text.
    pub(super) summary: String,
    pub(super) html: String,
    pub(super) markdown: String,
    pub(super) reach: Reach,
}

/// What a page may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing, but its search form may be sent.
    Search,
    /// Nothing at all: it holds keys that its reader typed in.
    Sealed,
    /// This server: operations are tried.
    Server,
}

impl Page {
    pub(super) fn new(path: impl Into<String>, part: &'static str, html: String) -> Page {
        let (title, summary) = about(&html);
        let markdown = plain::of_page(&html);
        Page { path: path.into(), title, part, summary, html, markdown, reach: Reach::Search }
    }
}

/// The title of a page and the first sentence below it.
fn about(html: &str) -> (String, String) {
    #[derive(PartialEq)]
    enum Place {
        Before,
        Title,
        After,
        Summary,
    }
    let (mut title, mut summary) = (String::new(), String::new());
    let mut place = Place::Before;
    for token in content(html) {
        match token {
            Token::Open("h1", _) => place = Place::Title,
            Token::Close("h1") => place = Place::After,
            // The path of an operation is no sentence.
            Token::Open("p", attributes)
                if place == Place::After && !attributes.contains("\"path\"") =>
            {
                place = Place::Summary;
            }
            Token::Close("p") if place == Place::Summary => break,
            Token::Text(text) if place == Place::Title => title.push_str(&unescaped(text)),
            Token::Text(text) if place == Place::Summary => {
                summary.push_str(&unescaped(text).replace('\n', " "));
            }
            _ => {}
        }
    }
    let sentence = summary.find(". ").map_or(summary.as_str(), |end| &summary[..=end]);
    (title.trim().to_owned(), sentence.trim().to_owned())
}

/// Everything that is served besides assets.
pub(super) struct Pages {
    pub(super) by_path: BTreeMap<String, Page>,
    /// Samples as files, by path: `/docs/payment/createQuote.py`.
    pub(super) programs: BTreeMap<String, String>,
    pub(super) llms: String,
    pub(super) index: Index,
    pub(super) nav: Nav,
}

impl Pages {
    pub(super) fn render(keys: Option<&SandboxKeys>) -> Result<Pages, JsonError> {
        let guides_nav = Nav::of_guides();
        let reference_nav = Nav::of_reference();
        let mut pages = Vec::new();
        let mut programs = BTreeMap::new();
        let scripts = [TOKENS_PATH, SIGNING_SCRIPT_PATH];
        let signing = guide_page::signing(&guides_nav, &scripts, keys);
        let signing = Page { reach: Reach::Sealed, ..Page::new(SIGNING_PATH, "Guides", signing) };
        pages.push(signing);
        for guide in GUIDES {
            pages.push(guide_page::guide(guide, "Guides", &guides_nav));
        }
        for guide in REFERENCE {
            pages.push(guide_page::guide(guide, "Reference", &reference_nav));
        }
        for described in &SERVICES {
            of_service(described, keys, &mut pages, &mut programs)?;
        }
        let overview = Page::new("/docs", "Guides", index::index(&guides_nav, &pages));
        pages.insert(0, overview);
        plain::use_heading_anchors(&mut pages);
        let (llms, index) = (plain::llms(&pages), Index::of(&pages));
        let by_path = pages.into_iter().map(|page| (page.path.clone(), page)).collect();
        Ok(Pages { by_path, programs, llms, index, nav: guides_nav })
    }
}

pub(super) fn of_service(
    described: &Described,
    keys: Option<&SandboxKeys>,
    pages: &mut Vec<Page>,
    programs: &mut BTreeMap<String, String>,
) -> Result<(), JsonError> {
    let document = Document::of(described)?;
    let nav = Nav::of_service(described, &document);
    let service = described.service;
    let around = Surroundings { service, document: &document, nav: &nav, keys };
    let (label, path) = (described.label, described.page_path);
    pages.push(Page::new(path, label, api_pages::overview(around, described)));
    for (_, operations) in document.by_tag() {
        for operation in operations {
            let path = operation_path(path, operation.id());
            let (html, samples) = operation::page(around, &operation);
            for sample in samples {
                programs.insert(format!("{path}.{}", sample.extension), sample.program);
            }
            let reach = if keys.is_some() { Reach::Server } else { Reach::Search };
            pages.push(Page { reach, ..Page::new(path, label, html) });
        }
    }
    pages.push(Page::new(format!("{path}/webhooks"), label, api_pages::webhooks(around)));
    pages.push(Page::new(format!("{path}/objects"), label, api_pages::objects(around)));
    Ok(())
}
