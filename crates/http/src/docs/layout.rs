//! The common parts of every page: head, navigation and end.

use super::html::{Html, escape};
use super::{SCRIPT_PATH, SIGNING_PATH, STYLE_PATH};

/// Begins a page. The caller opens `<main>` with the id that the first link targets.
pub(super) fn top(html: &mut Html, title: &str) {
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    let title = escape(title);
    html.raw(&format!(
        "<title>{title} · Corridor</title>\n<link rel=\"stylesheet\" href=\"{STYLE_PATH}\">\n"
    ));
    html.raw(&format!("<script src=\"{SCRIPT_PATH}\" defer></script>\n</head>\n<body>\n"));
    html.raw(
        "<a class=\"skip\" href=\"#main\">Skip to the text</a>\n<nav class=\"site\" aria-label=\"Documentation\">\n",
    );
    for (path, words) in [
        ("/docs", "Documentation"),
        ("/docs#guides", "Guides"),
        ("/docs#reference", "Reference"),
        ("/docs/payment", "Payment API"),
        ("/docs/wallet", "Wallet API"),
        (SIGNING_PATH, "Signing"),
    ] {
        html.raw(&format!("<a href=\"{path}\">{words}</a>\n"));
    }
    html.raw("</nav>\n");
}

pub(super) fn end(html: &mut Html) {
    html.raw("</main>\n</body>\n</html>\n");
}
