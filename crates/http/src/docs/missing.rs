//! The page of an address that the documentation does not have.

use super::html::Html;
use super::layout::{Frame, end, top};
use super::nav::Nav;

pub(super) fn page(nav: &Nav) -> String {
    let frame = Frame { title: "Page not found", nav: Some(nav), ..Frame::default() };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n<h1>Page not found</h1>\n");
    html.raw("<p>The documentation has no page at this address. Search above, or look at ");
    html.raw("<a href=\"/docs\">all pages</a>.</p>\n</article>\n");
    end(&mut html, &frame);
    html.0
}
