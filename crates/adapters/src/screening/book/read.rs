//! Reads the documents of a list from its source or from its stored copy, and stores a copy of what it read.

use std::sync::Arc;

use domain::time::Timestamp;
use jiff::civil::Date;

use super::replace::{refuse_older, refuse_replaced};
use super::{
    KEPT_FOR, KeptCopy, ListSettings, ListSource, Loaded, Location, RefreshError, STALE_AFTER, hex,
};
use crate::fetch::{self, Transport};
use crate::outbound::address::shown_text;
use crate::screening::entry::List;
use crate::screening::load::{self, Document, LoadError, MAX_DOCUMENT_BYTES};

/// How often a list is compared with a copy that other nodes replace at the same time.
const STORED_AT_ONCE_MAX: u32 = 4;

/// Loads a source at startup.
pub(super) async fn first(
    source: &ListSource,
    settings: &ListSettings,
    client: &dyn Transport,
    now: Timestamp,
) -> Result<Loaded, RefreshError> {
    let copy = kept(source, settings).await;
    let of_copy = |(list, read_at)| Loaded { list: Arc::new(list), read_at, is_copy: true };
    let copy = match copy {
        Some(copy) if source.is_remote() && now - copy.1 <= STALE_AFTER => {
            return Ok(of_copy(copy));
        }
        copy => copy,
    };
    let copy = copy.map(of_copy);
    match (read_and_keep(source, settings, client, copy.as_ref(), now).await, copy) {
        (Ok(list), _) => Ok(Loaded { list: Arc::new(list), read_at: now, is_copy: false }),
        (Err(error), None) => Err(error),
        (Err(error), Some(Loaded { read_at, .. })) if now - read_at > KEPT_FOR => {
            Err(RefreshError::KeptTooOld { failed: error.to_string(), read_at })
        }
        (Err(error), Some(copy)) => {
            tracing::warn!(%error, list = copy.list.name, read_on = %copy.read_at.date(), "a sanction list cannot be read, its last good copy is used");
            Ok(copy)
        }
    }
}

/// The last good copy of a source, if there is a readable one.
pub(super) async fn kept(
    source: &ListSource,
    settings: &ListSettings,
) -> Option<(List, Timestamp)> {
    let copies = settings.kept.as_ref()?;
    let copy = match copies.kept(&source.key()).await {
        Ok(copy) => copy?,
        Err(error) => {
            tracing::warn!(error, "the last good copy of a sanction list cannot be read");
            return None;
        }
    };
    let (name, read_at) = (copy.name, copy.read_at);
    match parse(copy.documents).await {
        Ok(list) => Some((list, read_at)),
        Err(error) => {
            tracing::warn!(%error, list = name, "the last good copy of a sanction list is not valid for this version");
            None
        }
    }
}

/// Reads a source, and stores a copy. `before` is the list in force.
pub(super) async fn read_and_keep(
    source: &ListSource,
    settings: &ListSettings,
    client: &dyn Transport,
    before: Option<&Loaded>,
    now: Timestamp,
) -> Result<List, RefreshError> {
    let documents = read_documents(source, client).await?;
    let copy = settings.kept.as_ref().map(|copies| (copies, documents.clone()));
    let list = parse(documents).await?;
    let is_recent = |before: &&Loaded| !before.is_copy || now - before.read_at <= KEPT_FOR;
    if let Some(before) = before.filter(is_recent) {
        refuse_replaced(source, &before.list, &list)?;
    }
    // Another node may store a list in between: what is read here is then compared with that one.
    for _ in 0..STORED_AT_ONCE_MAX {
        let stored = stored_digest(source, settings, &list).await;
        if source.is_remote() {
            refuse_older(source, settings, &list, before, stored.as_deref(), now).await?;
        }
        let Some((copies, documents)) = &copy else { return Ok(list) };
        let copy = KeptCopy {
            name: list.name.clone(),
            digest: hex(&list.sha256),
            read_at: now,
            documents: documents.clone(),
        };
        match copies.keep(&source.key(), copy, stored.as_deref()).await {
            Ok(true) => return Ok(list),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error, list = list.name, "storing a copy of a sanction list failed");
                return Ok(list);
            }
        }
    }
    tracing::warn!(list = list.name, "the copy of a sanction list keeps changing, none was stored");
    Ok(list)
}

/// The digest of the stored copy; `None` if there is none or it cannot be read.
async fn stored_digest(
    source: &ListSource,
    settings: &ListSettings,
    list: &List,
) -> Option<String> {
    let digest = settings.kept.as_ref()?.digest(&source.key()).await;
    digest.unwrap_or_else(|error| {
        tracing::warn!(
            error,
            list = list.name,
            "the digest of a sanction list's copy cannot be read"
        );
        None
    })
}

async fn read_documents(
    source: &ListSource,
    client: &dyn Transport,
) -> Result<Vec<Document>, RefreshError> {
    let mut documents = Vec::with_capacity(source.locations.len());
    for location in &source.locations {
        documents.push(match location {
            Location::File(path) => read_file(path).await?,
            Location::Http(url) => {
                let fetched = fetch::get(client, url, MAX_DOCUMENT_BYTES).await?;
                let modified = fetched.last_modified.as_deref().and_then(http_date);
                Document { origin: shown_text(url), bytes: fetched.bytes, modified }
            }
        });
    }
    Ok(documents)
}

async fn parse(documents: Vec<Document>) -> Result<List, RefreshError> {
    Ok(off_thread(move || load::load(&documents)).await??)
}

/// Runs long work off the threads that serve requests; without a runtime, as in the simulator, in
/// place.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RefreshError> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Ok(work()) };
    runtime.spawn_blocking(work).await.map_err(|error| RefreshError::Interrupted(error.to_string()))
}

async fn read_file(path: &std::path::Path) -> Result<Document, RefreshError> {
    let origin = path.display().to_string();
    let failed = |error: std::io::Error| RefreshError::File {
        file: origin.clone(),
        detail: error.to_string(),
    };
    let about = tokio::fs::metadata(path).await.map_err(failed)?;
    if about.len() > MAX_DOCUMENT_BYTES as u64 {
        return Err(LoadError::TooLarge { origin }.into());
    }
    let bytes = tokio::fs::read(path).await.map_err(failed)?;
    let modified =
        about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .map(|us| Timestamp(us).date());
    Ok(Document { origin, bytes, modified })
}

/// RFC 9110 §5.6.7, of which only the date is needed.
fn http_date(text: &str) -> Option<Date> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.date())
}
