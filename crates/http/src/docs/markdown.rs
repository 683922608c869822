//! Renders guides: CommonMark with tables, converted to HTML when the process starts.
//!
//! Raw HTML is dropped and images become their text. Links between repository files become links
//! between pages.

use std::collections::HashMap;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

use super::highlight::Syntax;
use super::html::{Html, escape};

/// A heading and its anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// Its level: 1 is the page title.
    pub(super) level: u8,
    pub(super) text: String,
    /// Its anchor, the part after `#` in a link.
    pub(super) id: String,
}

#[derive(Debug)]
pub(super) struct Rendered {
    /// Its headings in order; the first is the title.
    pub(super) headings: Vec<Heading>,
    pub(super) body: String,
}

impl Rendered {
    /// The text of its first heading.
    pub(super) fn title(&self) -> &str {
        self.headings.first().map_or("", |heading| &heading.text)
    }
}

/// Renders the file at `path` of the repository; `served` maps repository paths to page paths.
pub(super) fn render(
    markdown: &str,
    path: &str,
    served: impl Fn(&str) -> Option<String>,
) -> Rendered {
    let headings = headings(markdown);
    let mut at = headings.iter();
    let mut unlinked = 0_u32;
    let mut events = Vec::new();
    let mut parser = parser(markdown);
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let id = at.next().map_or("", |heading| &heading.id);
                events.push(markup(format!("<{level} id=\"{}\">", escape(id))));
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let texts = parser.by_ref().map_while(|event| match event {
                    Event::Text(text) => Some(text),
                    _ => None,
                });
                let code: String = texts.map(CowStr::into_string).collect();
                events.push(markup(code_block(&kind, &code)));
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(markup("<div class=\"wide\" tabindex=\"0\">".to_owned()));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(markup("</div>\n".to_owned()));
            }
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                match target(&dest_url, path, &served) {
                    Some(dest_url) => {
                        let (link_type, id) = (LinkType::Inline, CowStr::from(""));
                        events.push(Event::Start(Tag::Link {
                            link_type,
                            dest_url: dest_url.into(),
                            title,
                            id,
                        }));
                    }
                    None => unlinked += 1,
                }
            }
            Event::End(TagEnd::Link) if unlinked > 0 => unlinked -= 1,
            // Raw HTML and images: external content is never loaded.
            Event::Html(_) | Event::InlineHtml(_) => {}
            Event::Start(Tag::Image { .. } | Tag::HtmlBlock)
            | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => {}
            other => events.push(other),
        }
    }
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter());
    // A cell without text heads no column.
    let body = body.replace("<th></th>", "<td></td>");
    Rendered { headings, body }
}

/// Code with the name of its language, the first word of its fence.
fn code_block(kind: &CodeBlockKind<'_>, code: &str) -> String {
    let language = match kind {
        CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    };
    let syntax = Syntax::of(language);
    let title = match syntax {
        Syntax::Shell => "Shell",
        Syntax::Json => "JSON",
        _ => language,
    };
    let mut html = Html::default();
    html.sample(title, code, syntax);
    html.0
}

pub(super) fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

fn markup(text: String) -> Event<'static> {
    Event::Html(CowStr::from(text))
}

/// All headings, with the anchors that source hosts generate, so links work in both places.
pub(super) fn headings(markdown: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut open: Option<(HeadingLevel, String)> = None;
    for event in parser(markdown) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { level, .. }), _) => open = Some((level, String::new())),
            (Event::Text(words) | Event::Code(words), Some((_, text))) => text.push_str(&words),
            (Event::End(TagEnd::Heading(_)), _) => {
                if let Some((level, text)) = open.take() {
                    let slug = slug(&text);
                    let before = taken.entry(slug.clone()).or_insert(0);
                    let id = if *before == 0 { slug } else { format!("{slug}-{before}") };
                    *before += 1;
                    found.push(Heading { level: depth(level), text, id });
                }
            }
            _ => {}
        }
    }
    found
}

const fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Lower case, spaces as hyphens; only letters, digits, hyphens and underscores are kept.
fn slug(text: &str) -> String {
    let kept = text.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The target of a link in the file at `path`; `None` if the linked file is not served.
pub(super) fn target(
    link: &str,
    path: &str,
    served: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if link.starts_with("https://") || link.starts_with('#') || link.starts_with('/') {
        return Some(link.to_owned());
    }
    let (file, anchor) =
        link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let page = served(&joined(path, file))?;
    Some(anchor.map_or_else(|| page.clone(), |anchor| format!("{page}#{anchor}")))
}

/// The repository path of `link` in the file at `path`.
pub(super) fn joined(path: &str, link: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(markdown: &str) -> Rendered {
        render(markdown, "docs/guides/a.md", |path| {
            (path == "docs/reference/b.md").then(|| "/docs/reference/b".to_owned())
        })
    }

    #[test]
    fn headings_have_ids_and_those_that_are_alike_differ() {
        let page = rendered("# The `x` page\n\n## Set it up\n\n## Set it up\n");
        let ids: Vec<&str> = page.headings.iter().map(|heading| heading.id.as_str()).collect();
        assert_eq!(
            (page.title(), ids),
            ("The x page", vec!["the-x-page", "set-it-up", "set-it-up-1"])
        );
        assert!(page.body.contains("<h2 id=\"set-it-up-1\">"), "{}", page.body);
    }

    #[test]
    fn links_lead_to_pages_and_what_is_not_served_is_words() {
        let page =
            rendered("[b](../reference/b.md#x), [c](../c.md), [h](#h), [e](https://example.org)");
        assert_eq!(
            page.body,
            "<p><a href=\"/docs/reference/b#x\">b</a>, c, <a href=\"#h\">h</a>, <a href=\"https://example.org\">e</a></p>\n"
        );
    }

    #[test]
    fn no_markup_of_its_own_gets_through() {
        let hostile = "<script>alert(1)</script>\n\na <b onclick=x>b</b> ![i<](javascript:x) [j](javascript:x)\n\n```sh\n</code><i>\n```\n\n| <u> |\n|---|\n| `<s>` |\n";
        let page = rendered(hostile);
        for forbidden in ["<script", "<b ", "onclick", "<img", "javascript:", "<i>", "<u>", "<s>"] {
            assert!(!page.body.contains(forbidden), "{forbidden}: {}", page.body);
        }
        assert!(page.body.contains("&lt;/code&gt;&lt;i&gt;"), "{}", page.body);
    }
}
