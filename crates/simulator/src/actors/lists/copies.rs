//! The last good copies, in the store: as the service keeps them.

use std::sync::Arc;

use adapters::screening::load::Document;
use adapters::screening::{KeptCopy, KeptLists, ListBook, ListSettings, ListSource, Location};
use domain::ports::BoxFuture;
use domain::time::Timestamp;
use futures_util::FutureExt as _;
use store::{KeptDocument, KeptList};

use super::editions::{self, ADDRESSES};
use super::server::{Way, When};
use super::{Held, ListWorld};

/// What is configured about the lists.
pub(super) fn sources() -> Vec<ListSource> {
    let source =
        |address: &&str| ListSource { locations: vec![Location::Http((*address).to_owned())] };
    ADDRESSES.iter().map(source).collect()
}

pub(super) struct Copies(pub(super) Arc<ListWorld>);

impl std::fmt::Debug for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Copies")
    }
}

impl Copies {
    pub(super) fn settings(world: &Arc<ListWorld>) -> ListSettings {
        ListSettings { kept: Some(Arc::new(Copies(world.clone()))) }
    }
}

impl KeptLists for Copies {
    fn kept<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>> {
        Box::pin(async move {
            let kept = self.0.store.kept_list(key).await.map_err(|error| error.to_string())?;
            let document = |kept: KeptDocument| Document {
                origin: kept.origin,
                bytes: kept.bytes,
                modified: kept.modified.and_then(|day| day.parse().ok()),
            };
            Ok(kept.map(|list| KeptCopy {
                name: list.name,
                digest: list.digest,
                read_at: list.read_at,
                documents: list.documents.into_iter().map(document).collect(),
            }))
        })
    }

    fn digest<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            self.0.store.kept_list_digest(key).await.map_err(|error| error.to_string())
        })
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        copy: KeptCopy,
        replaces: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(async move {
            let (read_at, bytes) =
                (copy.read_at, copy.documents.first().map(|document| document.bytes.clone()));
            let document = |document: Document| KeptDocument {
                origin: document.origin,
                modified: document.modified.map(|day| day.to_string()),
                bytes: document.bytes,
            };
            let documents = copy.documents.into_iter().map(document).collect();
            let list = KeptList { name: copy.name, digest: copy.digest, read_at, documents };
            let kept = self.0.store.keep_list(key, list, replaces).await;
            let kept = kept.map_err(|error| error.to_string())?;
            if kept {
                self.0.stored(&bytes.unwrap_or_default(), read_at);
            }
            Ok(kept)
        })
    }
}

impl ListWorld {
    /// A copy was stored in place of another one.
    fn stored(&self, bytes: &[u8], read_at: Timestamp) {
        let Some((source, edition)) = editions::recognise(bytes) else {
            return self.complain(format!(
                "a broken list of {} bytes was stored as the last good copy",
                bytes.len()
            ));
        };
        let before = self.state().stored[source].replace(Held { edition, read_at });
        if let Some(before) = before.filter(|before| before.edition > edition) {
            let newer = before.edition;
            self.complain(format!(
                "the last good copy of list {source} went from edition {newer} back to {edition}"
            ));
        }
    }

    /// An earlier run left the edition before the newest in the store.
    pub(super) fn leave_copies(self: &Arc<Self>, read_at: Timestamp) {
        let way = Way::new(self.clone(), When::Earlier);
        let loaded =
            ListBook::load(sources(), Copies::settings(self), &way, read_at).now_or_never();
        if !matches!(loaded, Some(Ok(_))) {
            self.complain(format!("an earlier run could not load its lists: {loaded:?}"));
        }
    }
}
