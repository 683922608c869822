//! The page of a guide, and the page for signing requests by hand.

use super::guides::{Guide, served};
use super::html::{Html, escape};
use super::layout::{end, top};
use super::markdown::{Heading, Rendered, render};
use super::snippets::{SNIPPETS, Snippet};

/// A guide's content as HTML.
pub(super) fn rendered(guide: &Guide) -> Rendered {
    render(guide.markdown, guide.file, served)
}

/// The page of a guide.
pub fn guide(guide: &Guide) -> String {
    let rendered = rendered(guide);
    let mut html = Html::default();
    top(&mut html, rendered.title());
    let sections: Vec<&Heading> =
        rendered.headings.iter().filter(|heading| heading.level == 2).collect();
    if sections.len() > 2 {
        html.raw("<nav aria-label=\"On this page\">\n<ul>\n");
        for heading in sections {
            html.raw(&link("", heading));
        }
        html.raw("</ul>\n</nav>\n");
    }
    html.raw("<main id=\"main\">\n").raw(&rendered.body);
    end(&mut html);
    html.0
}

/// A list item that links to a heading of the page at `page`.
pub(super) fn link(page: &str, heading: &Heading) -> String {
    format!("<li><a href=\"{page}#{}\">{}</a></li>\n", escape(&heading.id), escape(&heading.text))
}

/// The same for the search index, including hidden names below the heading.
pub(super) fn findable(page: &str, heading: &Heading) -> String {
    let names = escape(&heading.names.join(" "));
    link(page, heading).replacen("</a>", &format!("</a><span hidden> {names}</span>"), 1)
}

/// Instructions for signing by hand, shown without the script.
const RECIPE: &str = include_str!("../../../../docs/snippets/shell/sign.sh");

/// The page that signs requests and verifies webhooks in the browser, with examples in seven
/// languages.
pub fn signing() -> String {
    let mut html = Html::default();
    top(&mut html, "Signing");
    html.raw(include_str!("signing.html"));
    html.raw("<noscript>\n<p>This page works with JavaScript alone. The same with OpenSSL and curl:</p>\n");
    html.raw("<pre tabindex=\"0\"><code>").raw(&escape(RECIPE)).raw("</code></pre>\n</noscript>\n");
    html.raw("<section id=\"languages\">\n<h2>In your language</h2>\n<ul>\n");
    for snippet in SNIPPETS {
        html.raw(&format!(
            "<li><a href=\"#{}\">{}</a></li>\n",
            snippet.id,
            escape(snippet.language)
        ));
    }
    html.raw("</ul>\n");
    html.raw("<p>Each program takes its keys from the environment: in a sandbox, <code>eval \"$(corridor env)\"</code> sets ");
    html.raw("them. None needs a library beside its language's own.</p>\n</section>\n");
    for snippet in SNIPPETS {
        of_language(&mut html, &snippet);
    }
    end(&mut html);
    html.0
}

fn of_language(html: &mut Html, snippet: &Snippet) {
    html.raw(&format!("<section id=\"{}\">\n", snippet.id)).element("h2", snippet.language);
    for (title, (name, text)) in
        [("Sign a request", snippet.sign), ("Verify a webhook", snippet.verify)]
    {
        html.element("h3", &format!("{title}: {name}"));
        html.raw("<pre tabindex=\"0\"><code>").raw(&escape(text)).raw("</code></pre>\n");
    }
    html.raw("</section>\n");
}
