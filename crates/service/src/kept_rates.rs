//! The last accepted rates, in the store: every node compares the first statements of its sources with
//! them.

use adapters::rates::{KeptRates, LiveRates};
use domain::time::Timestamp;
use store::{Store, StoreError};

/// Name of the value in the store.
const RATES: &str = "last_rates";

/// Takes what was kept.
///
/// # Errors
/// The database cannot be read.
pub(super) async fn recall(store: &Store, live: &LiveRates) -> Result<(), StoreError> {
    let Some(text) = store.meta(RATES).await? else { return Ok(()) };
    match KeptRates::read(&text) {
        Ok(kept) => live.recall(&kept),
        Err(error) => {
            tracing::error!(%error, "the kept rates cannot be read: the first rates are compared with none");
        }
    }
    Ok(())
}

/// Keeps the rates in force, besides what other nodes have read.
pub(super) async fn keep(
    store: &Store,
    live: &LiveRates,
    now: Timestamp,
) -> Result<(), StoreError> {
    let merged = |known: &str| {
        let known = KeptRates::read(known).unwrap_or_default();
        live.kept().with(&known, now).text()
    };
    let known = store.meta(RATES).await?;
    if let Some(Err(error)) = known.as_deref().map(KeptRates::read) {
        tracing::warn!(%error, "the kept rates cannot be read: they are replaced by those in force");
    }
    let known = known.unwrap_or_default();
    if merged(&known) == known {
        return Ok(());
    }
    store.change_meta(RATES, merged).await
}

#[cfg(test)]
mod tests {
    use adapters::rates::{RateLocation, RateSource};
    use config::{Config, Sources};
    use domain::time::Span;

    use super::*;
    use crate::{environment, open_store, world};

    #[tokio::test]
    async fn rates_are_kept_over_a_start() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = Config::load(&Sources::default()).expect("the embedded configuration");
        let store = open_store(&config, dir.path()).await.expect("opened");
        environment::migrate(&store, config.environment).await.expect("migrated");
        let servers = world::rate_servers(&config).expect("none");
        let file = dir.path().join("rates.csv");
        let now = Timestamp(1_795_244_268_000_000);
        let read = async |rate: &str, now: Timestamp| {
            let source = RateSource::at(RateLocation::File(file.clone()));
            let live = LiveRates::new(vec![source], config.rate_limits());
            recall(&store, &live).await.expect("read");
            let rows = format!("base,quote,rate,as_of\nUSD,PKR,{rate},{now}\n");
            std::fs::write(&file, rows).expect("written");
            let refreshed = live.refresh(&servers, now).await;
            assert!(refreshed.failed.is_empty(), "{refreshed:?}");
            keep(&store, &live, now).await.expect("kept");
            refreshed.held_back.is_empty()
        };
        assert!(read("278.75", now).await);
        for hours in 1..=2 {
            assert!(!read("320", now + Span::hours(hours)).await, "it is compared");
        }
        assert!(read("280", now + Span::hours(3)).await);
        assert!(read("307", now + Span::hours(4)).await, "the last accepted one counts");
        // What no version of Corridor wrote stops no start.
        store.set_meta(RATES, "1").await.expect("stored");
        assert!(read("500", now + Span::hours(5)).await);
    }
}
