//! The page at `/`: a door for each kind of visitor. It states no version and nothing about the
//! installation.

use super::highlight::Syntax;
use super::html::Html;
use super::icons::{self, Icon};
use super::layout::{Frame, end, top};

struct Door {
    icon: Icon,
    title: &'static str,
    path: &'static str,
    text: &'static str,
    links: &'static [(&'static str, &'static str)],
}

const DOORS: [Door; 3] = [
    Door {
        icon: icons::TERMINAL,
        title: "Developers",
        path: "/docs/guides/first-call",
        text: "Send your first payment in five minutes, then receive events.",
        links: &[
            ("/docs/guides/first-call", "Your first payment"),
            ("/docs/signing", "Sign requests"),
            ("/docs/guides/receiving-webhooks", "Receive webhooks"),
        ],
    },
    Door {
        icon: icons::HEALTH,
        title: "Operators",
        path: "/docs/guides/going-live",
        text: "Install, connect rails and rates, go live.",
        links: &[
            ("/docs/guides/going-live", "Going live, step by step"),
            ("/docs/guides/wallets-in-production", "Wallets in production"),
            ("/docs/guides/backup", "Backup and restore"),
        ],
    },
    Door {
        icon: icons::PHONE,
        title: "Senders",
        path: "/docs/guides/senders",
        text: "Help with a payment link that you received.",
        links: &[
            ("/docs/guides/senders#pay-a-link", "Pay a link"),
            ("/docs/guides/senders#my-payment-is-not-shown", "My payment is not shown"),
            ("/docs/guides/senders#refunds", "Refunds"),
        ],
    },
];

const FIRST_PAYMENT: &str = "eval \"$(corridor env)\"\ncorridor quote --country PAK --currency AED --amount 500\ncorridor pay --external-id first-call-1 --watch\n";

/// The page; in a sandbox with the way to a first payment.
pub(super) fn page(is_sandbox: bool) -> String {
    let frame = Frame { title: "Welcome", path: "/", ..Frame::default() };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<div class=\"hero\">\n<h1>Pay people abroad, from your own bank.</h1>\n");
    html.raw("<p>Corridor quotes, screens and delivers payments to seven countries, and takes stablecoin remittances into wallets that the bank controls.</p>\n");
    html.raw("<div class=\"doors\">\n");
    for door in DOORS {
        let Door { icon, title, path, text, links } = door;
        html.raw(&format!("<section class=\"door\"><span class=\"mark\">{icon}</span><h2><a href=\"{path}\">{title}</a></h2><p>{text}</p>\n<ul>\n"));
        for (path, label) in links {
            html.raw(&format!("<li><a href=\"{path}\">{label} {}</a></li>\n", icons::ARROW));
        }
        html.raw("</ul></section>\n");
    }
    html.raw("</div>\n");
    if is_sandbox {
        first_payment(&mut html);
    }
    html.raw("</div>\n");
    end(&mut html, &frame);
    html.0
}

fn first_payment(html: &mut Html) {
    html.raw("<section class=\"start\"><div><h2>From nothing to a paid payment</h2><ol>\n");
    html.raw("<li><span>This sandbox is running. No real money moves in it.</span></li>\n");
    html.raw("<li><span>Request a quote and pay it: in the terminal, or with <a href=\"/docs/payment/createQuote\">Try it</a>. <b>The keys of this sandbox are filled in</b> in every sample.</span></li>\n");
    html.raw("<li><span>Watch the payment arrive, in the terminal or in the <a href=\"/console\">console</a>.</span></li>\n</ol></div>\n");
    html.sample("Terminal", FIRST_PAYMENT, Syntax::Shell).raw("</section>\n");
}
