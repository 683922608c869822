//! The last good copies of the sanction lists, in the store.

use adapters::screening::load::Document;
use adapters::screening::{KeptCopy, KeptLists};
use domain::ports::BoxFuture;
use store::{KeptDocument, KeptList, Store};

/// Copies in this installation's store: every node starts from the same ones.
#[derive(Debug)]
pub(super) struct StoredLists {
    store: Store,
}

impl StoredLists {
    pub(super) const fn new(store: Store) -> StoredLists {
        StoredLists { store }
    }
}

impl KeptLists for StoredLists {
    fn kept<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>> {
        Box::pin(async move {
            let kept = self.store.kept_list(key).await.map_err(|error| error.to_string())?;
            Ok(kept.map(|list| KeptCopy {
                name: list.name,
                digest: list.digest,
                read_at: list.read_at,
                documents: list.documents.into_iter().map(to_document).collect(),
            }))
        })
    }

    fn digest<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            self.store.kept_list_digest(key).await.map_err(|error| error.to_string())
        })
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        copy: KeptCopy,
        replaces: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(async move {
            let documents = copy.documents.into_iter().map(of_document).collect();
            let list =
                KeptList { name: copy.name, digest: copy.digest, read_at: copy.read_at, documents };
            self.store.keep_list(key, list, replaces).await.map_err(|error| error.to_string())
        })
    }
}

fn to_document(kept: KeptDocument) -> Document {
    let modified = kept.modified.and_then(|day| day.parse().ok());
    Document { origin: kept.origin, bytes: kept.bytes, modified }
}

fn of_document(document: Document) -> KeptDocument {
    let modified = document.modified.map(|day| day.to_string());
    KeptDocument { origin: document.origin, modified, bytes: document.bytes }
}
