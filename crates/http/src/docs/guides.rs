//! Repository files that are served as pages, besides those generated from the OpenAPI documents.

/// A Markdown file and the path of its page.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// Its path in the repository.
    pub file: &'static str,
    /// The path of its page.
    pub page_path: &'static str,
    pub markdown: &'static str,
}

/// Readers of a guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Integrate,
    Operate,
    Understand,
    Pay,
}

impl Guide {
    pub fn group(&self) -> Group {
        match self.page_path.rsplit('/').next().unwrap_or_default() {
            "first-call" | "sandbox" | "receiving-webhooks" => Group::Integrate,
            "compliance" | "screening" => Group::Understand,
            "senders" => Group::Pay,
            _ => Group::Operate,
        }
    }
}

macro_rules! guide {
    ($file:literal, $page_path:literal) => {
        Guide {
            file: $file,
            page_path: $page_path,
            markdown: include_str!(concat!("../../../../", $file)),
        }
    };
}

/// Guides, in the order in which a bank needs them.
pub const GUIDES: &[Guide] = &[
    guide!("docs/guides/first-call.md", "/docs/guides/first-call"),
    guide!("docs/guides/sandbox.md", "/docs/guides/sandbox"),
    guide!("docs/guides/receiving-webhooks.md", "/docs/guides/receiving-webhooks"),
    guide!("docs/guides/going-live.md", "/docs/guides/going-live"),
    guide!("docs/guides/first-production-payment.md", "/docs/guides/first-production-payment"),
    guide!("docs/guides/wallets-in-production.md", "/docs/guides/wallets-in-production"),
    guide!("docs/guides/postgresql.md", "/docs/guides/postgresql"),
    guide!("docs/guides/keys.md", "/docs/guides/keys"),
    guide!("docs/guides/backup.md", "/docs/guides/backup"),
    guide!("docs/guides/events-and-warehouse.md", "/docs/guides/events-and-warehouse"),
    guide!("docs/guides/corridors-and-rails.md", "/docs/guides/corridors-and-rails"),
    guide!("docs/guides/reaching-a-bank.md", "/docs/guides/reaching-a-bank"),
    guide!("docs/guides/connectors.md", "/docs/guides/connectors"),
    guide!("docs/guides/compliance.md", "/docs/guides/compliance"),
    guide!("docs/guides/screening.md", "/docs/guides/screening"),
    guide!("docs/guides/senders.md", "/docs/guides/senders"),
];

/// The reference, generated from the code.
pub const REFERENCE: &[Guide] = &[
    guide!("docs/reference/errors.md", "/docs/reference/errors"),
    guide!("docs/reference/events.md", "/docs/reference/events"),
    guide!("docs/reference/limits.md", "/docs/reference/limits"),
    guide!("docs/reference/config.md", "/docs/reference/config"),
    guide!("docs/reference/metrics.md", "/docs/reference/metrics"),
    guide!("docs/reference/cli.md", "/docs/reference/cli"),
    guide!("docs/states.md", "/docs/reference/states"),
];

/// The page path of a repository file, if it is served.
pub(super) fn served(file: &str) -> Option<String> {
    let more = [
        ("docs/README.md", "/docs"),
        ("docs/snippets/README.md", super::SIGNING_PATH),
        ("docs/openapi/payment.json", "/openapi/payment.json"),
        ("docs/openapi/wallet.json", "/openapi/wallet.json"),
        ("docs/openapi/connector.json", "/openapi/connector.json"),
        ("docs/openapi/signer.json", "/openapi/signer.json"),
    ];
    let guides = GUIDES.iter().chain(REFERENCE).map(|guide| (guide.file, guide.page_path));
    guides.chain(more).find(|(known, _)| *known == file).map(|(_, page)| page.to_owned())
}
