//! The common parts of every page: head, bar, navigation and end.

use super::SEARCH_PATH;
use super::assets::{ICON_PATH, SCRIPT_PATH, STYLE_PATH};
use super::html::{Html, escape};
use super::icons;
use super::nav::{Nav, Part};

/// What surrounds a page's content.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    /// Its path, current in the navigation.
    pub(super) path: &'a str,
    pub(super) nav: Option<&'a Nav>,
    /// Its own sections: anchor and text.
    pub(super) sections: &'a [(&'a str, &'a str)],
    /// Scripts besides the one of every page.
    pub(super) scripts: &'a [&'a str],
    /// What was searched for.
    pub(super) query: &'a str,
    /// The page may not send anything, not even a search.
    pub(super) sealed: bool,
    /// Its Markdown is at its path with `.md`.
    pub(super) has_markdown: bool,
}

/// Begins a page, up to and with `<main>`.
pub(super) fn top(html: &mut Html, frame: &Frame<'_>) {
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    let title = escape(frame.title);
    html.raw(&format!("<title>{title} · Corridor</title>\n"));
    html.raw(&format!("<link rel=\"icon\" href=\"{ICON_PATH}\" type=\"image/svg+xml\">\n"));
    if frame.has_markdown {
        let path = escape(frame.path);
        html.raw(&format!("<link rel=\"alternate\" type=\"text/markdown\" href=\"{path}.md\">\n"));
    }
    html.raw(&format!("<link rel=\"stylesheet\" href=\"{STYLE_PATH}\">\n"));
    for script in [SCRIPT_PATH].iter().chain(frame.scripts) {
        html.raw(&format!("<script src=\"{script}\" defer></script>\n"));
    }
    html.raw("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the text</a>\n");
    bar(html, frame);
    if let Some(nav) = frame.nav {
        html.raw("<div class=\"ref\">\n");
        side(html, frame, nav);
    }
    html.raw("<main id=\"main\">\n");
}

fn bar(html: &mut Html, frame: &Frame<'_>) {
    html.raw(
        "<header class=\"bar\"><a class=\"brand\" href=\"/\">Corridor <span>docs</span></a>\n",
    );
    html.raw("<nav aria-label=\"Parts\">");
    parts(html, frame);
    html.raw("</nav>\n");
    if frame.sealed {
        html.raw(&format!("<a class=\"push\" href=\"{SEARCH_PATH}\">Search</a>\n"));
    } else {
        html.raw(&format!("<form class=\"find push\" role=\"search\" action=\"{SEARCH_PATH}\">"));
        let query = escape(frame.query);
        html.raw(&format!(
            "{}<label class=\"unseen\" for=\"q\">Search the documentation</label>",
            icons::SEARCH
        ));
        html.raw(
            "<input id=\"q\" name=\"q\" type=\"search\" maxlength=\"200\" autocomplete=\"off\" ",
        );
        html.raw(&format!("placeholder=\"How do I sign a request?\" value=\"{query}\"></form>\n"));
    }
    if frame.nav.is_some() {
        html.raw("<button class=\"menu\" type=\"button\" popovertarget=\"nav\">");
        html.raw(&format!("{}<span class=\"unseen\">Contents</span></button>\n", icons::MENU));
    }
    html.raw("</header>\n");
}

/// Links to the parts, the current one marked.
fn parts(html: &mut Html, frame: &Frame<'_>) {
    let current = frame.nav.map(|nav| nav.part);
    for (part, path, label) in Part::ALL {
        let mark = if current == Some(part) { " aria-current=\"true\"" } else { "" };
        html.raw(&format!("<a href=\"{path}\"{mark}>{label}</a>\n"));
    }
}

fn side(html: &mut Html, frame: &Frame<'_>, nav: &Nav) {
    html.raw(
        "<nav class=\"side\" id=\"nav\" popover aria-label=\"Contents\">\n<p class=\"parts\">",
    );
    parts(html, frame);
    html.raw("</p>\n");
    for (group, links) in &nav.groups {
        html.element("h2", group).raw("<ul>\n");
        for link in links {
            let (path, label) = (escape(&link.path), escape(&link.label));
            let is_current = link.path == frame.path;
            let mark = if is_current { " aria-current=\"page\"" } else { "" };
            html.raw(&format!("<li><a href=\"{path}\"{mark}>"));
            if let Some(verb) = &link.verb {
                let class = verb.to_lowercase();
                html.raw(&format!(
                    "<span class=\"verb {}\">{}</span>",
                    escape(&class),
                    escape(verb)
                ));
            }
            html.raw(&format!("<span>{label}</span></a>"));
            if is_current && !frame.sections.is_empty() {
                html.raw("\n<ul>\n");
                for (id, text) in frame.sections {
                    html.raw(&format!(
                        "<li><a href=\"#{}\">{}</a></li>\n",
                        escape(id),
                        escape(text)
                    ));
                }
                html.raw("</ul>\n");
            }
            html.raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
    html.raw("</nav>\n");
}

pub(super) fn end(html: &mut Html, frame: &Frame<'_>) {
    html.raw("</main>\n");
    if frame.nav.is_some() {
        html.raw("</div>\n");
    }
    html.raw("<p class=\"unseen\" role=\"status\" id=\"notice\"></p>\n</body>\n</html>\n");
}
