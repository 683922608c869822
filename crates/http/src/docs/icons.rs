//! Icons as inline markup: lucide-static 1.62 (ISC licence, © Lucide Icons and Contributors). Size
//! and stroke come from the class.

use std::fmt;

/// Paths of an icon of 24 × 24.
#[derive(Clone, Copy, Debug)]
pub(super) struct Icon(&'static str);

pub(super) const SEARCH: Icon =
    Icon("<path d=\"m21 21-4.34-4.34\"/><circle cx=\"11\" cy=\"11\" r=\"8\"/>");
pub(super) const COPY: Icon = Icon(
    "<rect width=\"14\" height=\"14\" x=\"8\" y=\"8\" rx=\"2\" ry=\"2\"/><path d=\"M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2\"/>",
);
pub(super) const MENU: Icon =
    Icon("<path d=\"M4 5h16\"/><path d=\"M4 12h16\"/><path d=\"M4 19h16\"/>");
pub(super) const ARROW: Icon = Icon("<path d=\"M5 12h14\"/><path d=\"m12 5 7 7-7 7\"/>");
pub(super) const TERMINAL: Icon = Icon("<path d=\"M12 19h8\"/><path d=\"m4 17 6-6-6-6\"/>");
pub(super) const HEALTH: Icon = Icon(
    "<path d=\"M22 12h-2.48a2 2 0 0 0-1.93 1.46l-2.35 8.36a.25.25 0 0 1-.48 0L9.24 2.18a.25.25 0 0 0-.48 0l-2.35 8.36A2 2 0 0 1 4.49 12H2\"/>",
);
pub(super) const PHONE: Icon = Icon(
    "<rect width=\"14\" height=\"20\" x=\"5\" y=\"2\" rx=\"2\" ry=\"2\"/><path d=\"M12 18h.01\"/>",
);
pub(super) const KEY: Icon = Icon(
    "<path d=\"M2.586 17.414A2 2 0 0 0 2 18.828V21a1 1 0 0 0 1 1h3a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h1a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h.172a2 2 0 0 0 1.414-.586l.814-.814a6.5 6.5 0 1 0-4-4z\"/><circle cx=\"16.5\" cy=\"7.5\" r=\".5\" fill=\"currentColor\"/>",
);

impl fmt::Display for Icon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<svg class=\"i\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">{}</svg>", self.0)
    }
}
