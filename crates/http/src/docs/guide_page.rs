//! The page of a guide, and the page for signing requests by hand.

use super::SandboxKeys;
use super::guides::{Guide, served};
use super::highlight::Syntax;
use super::html::{Html, escape};
use super::layout::{Frame, end, top};
use super::markdown::{Rendered, render};
use super::nav::{Nav, sections};
use super::pages::Page;
use super::plain;
use super::snippets::SNIPPETS;

/// A guide's content as HTML.
pub(super) fn rendered(guide: &Guide) -> Rendered {
    render(guide.markdown, guide.file, served)
}

/// The page of a guide.
pub(super) fn guide(guide: &Guide, part: &'static str, nav: &Nav) -> Page {
    let rendered = rendered(guide);
    let frame = Frame {
        title: rendered.title(),
        path: guide.page_path,
        nav: Some(nav),
        sections: &sections(&rendered.headings),
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n").raw(&rendered.body).raw("</article>\n");
    end(&mut html, &frame);
    let markdown = plain::of_guide(guide);
    Page { markdown, ..Page::new(guide.page_path, part, html.0) }
}

/// Instructions for signing by hand, shown without the script.
const RECIPE: &str = include_str!("../../../../docs/snippets/shell/sign.sh");

/// The page that signs requests and verifies webhooks in the browser, with examples in seven
/// languages. A sandbox fills its keys in.
pub(super) fn signing(nav: &Nav, scripts: &[&str], keys: Option<&SandboxKeys>) -> String {
    let names: Vec<(&str, &str)> =
        SNIPPETS.iter().map(|snippet| (snippet.id, snippet.language)).collect();
    let frame = Frame {
        title: "Signing",
        path: super::SIGNING_PATH,
        nav: Some(nav),
        sections: &names,
        scripts,
        sealed: true,
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n");
    let key = |name: &str| keys.map_or(String::new(), |keys| escape(keys.of(name)));
    let helper = include_str!("assets/signing.html").replace("{access}", &key("ACCESS_KEY"));
    html.raw(&helper.replace("{secret}", &key("SECRET_KEY")));
    html.raw("<noscript>\n<p>The form needs JavaScript. The same with OpenSSL and curl:</p>\n");
    html.raw("<pre tabindex=\"0\"><code>").raw(&escape(RECIPE)).raw("</code></pre>\n</noscript>\n");
    html.raw("<h2 id=\"languages\">In your language</h2>\n");
    html.raw("<p>Each program takes its keys from the environment: in a sandbox, <code>eval \"$(corridor env)\"</code> sets ");
    html.raw("them. None needs a library beside its language's own.</p>\n");
    for snippet in SNIPPETS {
        html.raw(&format!("<h2 id=\"{}\">{}</h2>\n", snippet.id, escape(snippet.language)));
        for (title, (name, text)) in
            [("Sign a request", snippet.sign), ("Verify a webhook", snippet.verify)]
        {
            html.sample(&format!("{title}: {name}"), text, Syntax::of(snippet.id));
        }
    }
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}
