//! The Markdown of every page: a guide's own, with its links; for other pages, written from their
//! HTML. And `llms.txt`, which lists them.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, LinkType, Tag};

use super::guides::{GUIDES, Guide, REFERENCE, served};
use super::markdown::{headings, parser, target};
use super::pages::Page;
use super::reader::{Token, attribute, content, unescaped};

/// A guide's file, with links to the Markdown of other pages. A link to a file that is not served
/// becomes its text, as in HTML.
pub(super) fn of_guide(guide: &Guide) -> String {
    relinked(guide.markdown, |link| {
        target(link, guide.file, |file| served(file).map(|page| linked(&page)))
    })
}

/// The text with the targets of its links replaced; `None` leaves the link's text alone.
fn relinked(markdown: &str, target: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut copied = 0;
    for (event, range) in parser(markdown).into_offset_iter() {
        let Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. }) = event else {
            continue;
        };
        let label = markdown[range.clone()].rsplit_once("](").map_or("", |(label, _)| label);
        let Some(text) = label.strip_prefix('[') else { continue };
        out.push_str(&markdown[copied..range.start]);
        match target(&dest_url) {
            Some(to) => out.push_str(&format!("[{text}]({to})")),
            None => out.push_str(text),
        }
        copied = range.end;
    }
    out.push_str(&markdown[copied..]);
    out
}

/// Replaces anchors of HTML by those of the headings, which the Markdown of pages other than guides
/// has instead.
pub(super) fn use_heading_anchors(pages: &mut [Page]) {
    let is_guide =
        |page: &Page| GUIDES.iter().chain(REFERENCE).any(|guide| guide.page_path == page.path);
    let anchors: BTreeMap<String, BTreeMap<String, String>> = pages
        .iter()
        .filter(|page| !is_guide(page))
        .map(|page| (page.path.clone(), heading_anchors(page)))
        .collect();
    for page in pages.iter_mut().filter(|page| !is_guide(page)) {
        page.markdown = relinked(&page.markdown, |link| {
            let Some((to, id)) = link.split_once('#') else { return Some(link.to_owned()) };
            let path = if to.is_empty() { page.path.as_str() } else { to.trim_end_matches(".md") };
            let Some(known) = anchors.get(path) else { return Some(link.to_owned()) };
            match known.get(id) {
                Some(anchor) => Some(format!("{to}#{anchor}")),
                None if to.is_empty() => None,
                None => Some(to.to_owned()),
            }
        });
    }
}

/// The anchors of a page's headings in Markdown, by their ids in HTML.
fn heading_anchors(page: &Page) -> BTreeMap<String, String> {
    let is_heading = |name: &str| matches!(name, "h1" | "h2" | "h3" | "summary");
    let ids = content(&page.html).into_iter().filter_map(|token| match token {
        Token::Open(name, attributes) if is_heading(name) => Some(attribute(attributes, "id")),
        _ => None,
    });
    let anchors = ids.zip(headings(&page.markdown));
    anchors.filter_map(|(id, heading)| Some((id?.to_owned(), heading.id))).collect()
}

/// The address of a page's Markdown: `/docs/a#b` is at `/docs/a.md#b`. Files have none.
fn linked(path: &str) -> String {
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if !path.starts_with("/docs") || is_file {
        return path.to_owned();
    }
    match path.split_once('#') {
        Some((page, anchor)) => format!("{page}.md#{anchor}"),
        None => format!("{path}.md"),
    }
}

/// The content of a page as Markdown.
pub(super) fn of_page(html: &str) -> String {
    let mut writer = Writer::default();
    for token in content(html) {
        match token {
            Token::Open(name, attributes) => writer.open(name, attributes),
            Token::Close(name) => writer.close(name),
            Token::Text(text) => writer.text(&unescaped(text)),
        }
    }
    let lines: Vec<&str> = writer.out.trim().lines().map(str::trim_end).collect();
    let mut out = lines.join("\n");
    while out.contains("\n\n\n") {
        out = out.replace("\n\n\n", "\n\n");
    }
    out.push('\n');
    out
}

#[derive(Default)]
struct Writer {
    out: String,
    links: Vec<String>,
    /// The language of the next code block.
    language: String,
    in_code_block: bool,
    term: Term,
}

/// Where in the name of a parameter the writer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Term {
    #[default]
    None,
    Name,
    Details,
}

impl Writer {
    fn open(&mut self, name: &str, attributes: &str) {
        match name {
            "h1" => self.out.push_str("\n\n# "),
            "h2" => self.out.push_str("\n\n## "),
            "h3" => self.out.push_str("\n\n### "),
            "summary" => self.out.push_str("\n\n#### "),
            "p" | "ul" | "ol" | "dl" | "section" | "figure" => self.out.push_str("\n\n"),
            "li" => self.out.push_str("\n- "),
            "dt" => {
                self.out.push_str("\n- `");
                self.term = Term::Name;
            }
            "small" => self.detail(),
            "dd" => self.out.push_str(": "),
            "b" if !self.in_code_block => self.out.push_str("**"),
            "div" => {
                if let Some(language) = attribute(attributes, "data-l") {
                    language.clone_into(&mut self.language);
                }
            }
            "pre" => {
                let language = std::mem::take(&mut self.language);
                self.out.push_str(&format!("\n\n```{language}\n"));
                self.in_code_block = true;
            }
            "code" if !self.in_code_block => self.out.push('`'),
            "a" => {
                self.links.push(linked(attribute(attributes, "href").unwrap_or_default()));
                self.out.push('[');
            }
            _ => {}
        }
    }

    /// A detail of a parameter follows.
    fn detail(&mut self) {
        let before = match self.term {
            Term::Name => "` (",
            Term::Details => ", ",
            Term::None => return,
        };
        self.out.truncate(self.out.trim_end().len());
        self.out.push_str(before);
        self.term = Term::Details;
    }

    fn close(&mut self, name: &str) {
        match name {
            "dt" => {
                self.out.push(if self.term == Term::Details { ')' } else { '`' });
                self.term = Term::None;
            }
            "b" if !self.in_code_block => self.out.push_str("**"),
            "pre" => {
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str("```\n");
                self.in_code_block = false;
            }
            "code" if !self.in_code_block => self.out.push('`'),
            "a" => {
                if let Some(link) = self.links.pop() {
                    self.out.push_str(&format!("]({link})"));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_code_block {
            self.out.push_str(text);
            return;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let joined = words.join(" ");
        if text.starts_with(char::is_whitespace) && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.out.push_str(&joined);
        if text.ends_with(char::is_whitespace) && !joined.is_empty() {
            self.out.push(' ');
        }
    }
}

/// The list of all pages for programs that read text (<https://llmstxt.org>).
pub(super) fn llms(pages: &[Page]) -> String {
    let mut out = String::from(
        "# Corridor\n\n> An open-source program that a bank runs to pay people abroad by bank transfer (Payment API) and to \
         receive stablecoin remittances in wallets (Wallet API). Every request is signed with a JWT.\n\n\
         - [OpenAPI 3.1 of the Payment API](/openapi/payment.json)\n- [OpenAPI 3.1 of the Wallet API](/openapi/wallet.json)\n",
    );
    let mut part = "";
    for page in pages {
        if page.part != part {
            part = page.part;
            out.push_str(&format!("\n## {part}\n\n"));
        }
        let (title, path, summary) = (&page.title, &page.path, &page.summary);
        out.push_str(&format!("- [{title}]({path}.md): {summary}\n"));
    }
    out
}
