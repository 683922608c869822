//! The documentation pages, rendered on the first request: OpenAPI documents and the repository's
//! guides.
//!
//! All content is local and complete without a script. The scripts add copying, the signing helper
//! and, in a sandbox only, trying an operation. API pages come from the documents, guides from
//! `docs/`.

mod api_pages;
mod assets;
mod document;
mod guide_page;
mod guides;
mod highlight;
mod html;
mod icons;
mod index;
mod landing;
mod layout;
mod markdown;
mod missing;
mod nav;
mod operation;
mod pages;
mod plain;
mod reader;
mod samples;
mod schema;
mod search;
mod site;
mod snippets;
#[cfg(test)]
mod tests;

use crate::openapi;

pub use site::{Site, landing, router};

/// A service with a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Payment,
    Wallet,
}

/// A document, its path and the path of its page.
#[derive(Clone, Copy, Debug)]
struct Described {
    service: Service,
    document: &'static str,
    /// Path of the document.
    document_path: &'static str,
    /// Path of its first page; the others are below it.
    page_path: &'static str,
    /// Its name in the navigation.
    label: &'static str,
}

const SERVICES: [Described; 2] = [
    Described {
        service: Service::Payment,
        document: openapi::PAYMENT,
        document_path: openapi::PAYMENT_PATH,
        page_path: "/docs/payment",
        label: "Payment API",
    },
    Described {
        service: Service::Wallet,
        document: openapi::WALLET,
        document_path: openapi::WALLET_PATH,
        page_path: "/docs/wallet",
        label: "Wallet API",
    },
];

/// Path of the signing page.
const SIGNING_PATH: &str = "/docs/signing";
/// Path of the search.
const SEARCH_PATH: &str = "/docs/search";

/// The keys of a sandbox, which its pages show. They are worth nothing elsewhere.
#[derive(Clone, Debug)]
pub struct SandboxKeys {
    pub base_url: String,
    pub access_key: String,
    pub secret_key: String,
    pub wallet_access_key: String,
    pub wallet_secret_key: String,
    /// The wallet with demo funds.
    pub wallet_id: String,
}

impl SandboxKeys {
    /// The value of a variable of `corridor env`, without its prefix.
    fn of(&self, variable: &str) -> &str {
        match variable {
            "ACCESS_KEY" => &self.access_key,
            "SECRET_KEY" => &self.secret_key,
            "WALLET_ACCESS_KEY" => &self.wallet_access_key,
            "WALLET_SECRET_KEY" => &self.wallet_secret_key,
            "WALLET_ID" => &self.wallet_id,
            _ => &self.base_url,
        }
    }
}
