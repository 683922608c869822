//! Where a list comes from, and where its last good copy is kept. Plain settings and ports.

use std::path::PathBuf;
use std::sync::Arc;

use domain::ports::BoxFuture;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::hex;
use crate::outbound::address::shown_text;
use crate::screening::entry::List;
use crate::screening::load::Document;

/// The location of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// A URL, https (plain http to this machine only).
    Http(String),
}

/// One list: its documents (two for OFAC's CSV, one otherwise).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSource {
    pub locations: Vec<Location>,
}

impl ListSource {
    /// The key of its stored copy: a digest, because a URL may contain a secret.
    pub(in crate::screening) fn key(&self) -> String {
        let mut digest = Sha256::new();
        for location in &self.locations {
            let text = match location {
                Location::File(path) => format!("file {}\n", path.display()),
                Location::Http(url) => format!("address {url}\n"),
            };
            digest.update(text.as_bytes());
        }
        hex(&digest.finalize())
    }

    /// Its locations for display, without query strings, which may be secret.
    pub fn shown(&self) -> String {
        let shown = self.locations.iter().map(|location| match location {
            Location::File(path) => path.display().to_string(),
            Location::Http(url) => shown_text(url),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn named(&self, list: &List) -> String {
        format!("{} ({})", list.name, self.shown())
    }

    pub(super) fn is_remote(&self) -> bool {
        self.locations.iter().any(|location| matches!(location, Location::Http(_)))
    }
}

/// The last good copy of a list.
#[derive(Clone, Debug)]
pub struct KeptCopy {
    pub name: String,
    /// SHA-256 of its documents, in hexadecimal.
    pub digest: String,
    /// When it was read from its source.
    pub read_at: Timestamp,
    pub documents: Vec<Document>,
}

/// Storage of last good copies. Errors are texts: the lists work without it.
pub trait KeptLists: std::fmt::Debug + Send + Sync {
    /// The copy stored under a key.
    fn kept<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>>;
    /// The digest of the copy stored under a key, without its documents.
    fn digest<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>>;
    /// Stores a copy in place of the one with the digest `replaces` (`None` = the first), or of the
    /// same list. `false` = another copy has been stored since, and nothing changed.
    fn keep<'a>(
        &'a self,
        key: &'a str,
        copy: KeptCopy,
        replaces: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, String>>;
}

/// Settings for reading lists.
#[derive(Clone, Debug, Default)]
pub struct ListSettings {
    /// Storage of last good copies; `None` = none are kept.
    pub kept: Option<Arc<dyn KeptLists>>,
}

/// How many redirects of one list a client should follow.
pub const REDIRECTS_MAX: usize = 5;

/// The default user agent: OFAC's server rejects any that does not start like a browser's.
pub fn user_agent() -> String {
    concat!("Mozilla/5.0 (compatible; Corridor/", env!("CARGO_PKG_VERSION"), ")").to_owned()
}
