//! The overview of the documentation: every page, by readers.

use super::html::{Html, code, escape};
use super::layout::{Frame, end, top};
use super::nav::{Nav, Part};
use super::pages::Page;

pub(super) fn index(nav: &Nav, pages: &[Page]) -> String {
    let parts: Vec<&str> = Part::ALL.iter().map(|(_, _, label)| *label).collect();
    let ids: Vec<String> = parts.iter().map(|label| id(label)).collect();
    let sections: Vec<(&str, &str)> =
        ids.iter().zip(&parts).map(|(id, label)| (id.as_str(), *label)).collect();
    let frame = Frame {
        title: "Documentation",
        path: "/docs",
        nav: Some(nav),
        sections: &sections,
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n<h1>Documentation</h1>\n");
    html.raw("<p>Begin with the <a href=\"/docs/guides/first-call\">first call</a> as a developer, and with ");
    html.raw("<a href=\"/docs/guides/going-live\">going live</a> as an operator. Every page is also plain Markdown at its address with ");
    html.raw(&format!("{}, listed in <a href=\"/llms.txt\">llms.txt</a>.</p>\n", code(".md")));
    for (id, part) in sections.iter() {
        html.raw(&format!("<h2 id=\"{id}\">{part}</h2>\n<ul class=\"pages\">\n"));
        for page in pages.iter().filter(|page| page.part == *part) {
            let (path, title) = (escape(&page.path), escape(&page.title));
            let summary = escape(&page.summary);
            html.raw(&format!("<li><a href=\"{path}\">{title}</a> <span>{summary}</span></li>\n"));
        }
        html.raw("</ul>\n");
    }
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}

/// `payment-api` of `Payment API`.
fn id(label: &str) -> String {
    label.to_lowercase().replace(' ', "-")
}
