//! The start page: links to everything, and a search.

use super::Described;
use super::document::{member, text};
use super::guide_page::{findable, rendered};
use super::guides::{GUIDES, Guide, REFERENCE};
use super::html::{Html, escape};
use super::layout::{end, top};
use super::page::{contents, read};
use crate::json::{JsonError, Value};

/// The page that links every guide and operation.
///
/// # Errors
/// A document is not valid JSON.
pub fn index(services: &[Described]) -> Result<String, JsonError> {
    let mut html = Html::default();
    top(&mut html, "Documentation");
    html.raw(
        "<main id=\"main\">\n<h1>Documentation</h1>\n<p id=\"search-box\" role=\"search\" hidden>",
    );
    html.raw("<label for=\"search\">Search: operations, guides, errors, events, settings, metrics, commands</label>");
    html.raw("<input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\">");
    html.raw("<span id=\"search-status\" role=\"status\"></span></p>\n<div id=\"everything\">\n");
    guides(&mut html, "guides", "Guides", &GUIDES);
    for service in services {
        let document = read(service)?;
        let info = member(&document.root, "info").unwrap_or(&Value::Null);
        let (page, path) = (service.page_path, service.document_path);
        let (title, version) = (escape(text(info, "title")), escape(text(info, "version")));
        html.raw(&format!(
            "<section>\n<h2><a href=\"{page}\">{title}</a> <small>{version}</small></h2>\n"
        ));
        html.prose(text(info, "summary"));
        contents(&mut html, &document, page);
        html.raw(&format!("<p>As <a href=\"{path}\">OpenAPI document</a>.</p>\n</section>\n"));
    }
    guides(&mut html, "reference", "Reference", &REFERENCE);
    html.raw("</div>\n");
    end(&mut html);
    Ok(html.0)
}

/// A list of pages with their headings.
fn guides(html: &mut Html, id: &str, title: &str, guides: &[Guide]) {
    html.raw(&format!("<section id=\"{id}\">\n")).element("h2", title);
    html.raw("<ul>\n");
    if id == "guides" {
        let path = super::SIGNING_PATH;
        html.raw(&format!(
            "<li><a href=\"{path}\">Signing: a helper, and programs in seven languages</a></li>\n"
        ));
    }
    for guide in guides {
        let rendered = rendered(guide);
        html.raw(&format!(
            "<li><a href=\"{}\">{}</a>\n",
            guide.page_path,
            escape(rendered.title())
        ));
        html.raw("<details><summary>Sections</summary>\n<ul>\n");
        for heading in rendered.headings.iter().filter(|heading| heading.level > 1) {
            html.raw(&findable(guide.page_path, heading));
        }
        html.raw("</ul>\n</details>\n</li>\n");
    }
    html.raw("</ul>\n</section>\n");
}
