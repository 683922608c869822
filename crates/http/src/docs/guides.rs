//! The files of the repository that are served as pages, beside those made from the OpenAPI documents.

/// A Markdown file and where its page is served.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// Its path in the repository.
    pub file: &'static str,
    /// Where its page is served.
    pub page_path: &'static str,
    /// What stands in it.
    pub markdown: &'static str,
}

macro_rules! guide {
    ($file:literal, $page_path:literal) => {
        Guide { file: $file, page_path: $page_path, markdown: include_str!(concat!("../../../../", $file)) }
    };
}

/// How to do things, in the order in which a bank meets them.
pub const GUIDES: [Guide; 10] = [
    guide!("docs/guides/first-call.md", "/docs/guides/first-call"),
    guide!("docs/guides/sandbox.md", "/docs/guides/sandbox"),
    guide!("docs/guides/receiving-webhooks.md", "/docs/guides/receiving-webhooks"),
    guide!("docs/guides/going-live.md", "/docs/guides/going-live"),
    guide!("docs/guides/postgresql.md", "/docs/guides/postgresql"),
    guide!("docs/guides/keys.md", "/docs/guides/keys"),
    guide!("docs/guides/backup.md", "/docs/guides/backup"),
    guide!("docs/guides/corridors-and-rails.md", "/docs/guides/corridors-and-rails"),
    guide!("docs/guides/compliance.md", "/docs/guides/compliance"),
    guide!("docs/guides/screening.md", "/docs/guides/screening"),
];

/// What there is, generated from the code.
pub const REFERENCE: [Guide; 7] = [
    guide!("docs/reference/errors.md", "/docs/reference/errors"),
    guide!("docs/reference/events.md", "/docs/reference/events"),
    guide!("docs/reference/limits.md", "/docs/reference/limits"),
    guide!("docs/reference/config.md", "/docs/reference/config"),
    guide!("docs/reference/metrics.md", "/docs/reference/metrics"),
    guide!("docs/reference/cli.md", "/docs/reference/cli"),
    guide!("docs/states.md", "/docs/reference/states"),
];

/// Where a file of the repository is served, if it is.
pub(super) fn served(file: &str) -> Option<String> {
    let more = [
        ("docs/README.md", "/docs"),
        ("docs/snippets/README.md", super::SIGNING_PATH),
        ("docs/openapi/payment.json", "/openapi/payment.json"),
        ("docs/openapi/wallet.json", "/openapi/wallet.json"),
    ];
    let guides = GUIDES.iter().chain(&REFERENCE).map(|guide| (guide.file, guide.page_path));
    guides.chain(more).find(|(known, _)| *known == file).map(|(_, page)| page.to_owned())
}
