//! Keeps rates and sanction lists fresh, and says so in the metrics.

use std::sync::Arc;
use std::time::Duration;

use adapters::screening::ListBook;
use domain::ports::Clock as _;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::clock::BusinessClock;
use super::world::FreshRates;
use crate::config::Config;

/// What is kept fresh.
pub(super) struct Fresh {
    pub rates: FreshRates,
    pub lists: Arc<ListBook>,
    pub rates_http: reqwest::Client,
    pub http: reqwest::Client,
    pub clock: BusinessClock,
}

pub(super) fn spawn(fresh: Fresh, config: &Config, stop: &watch::Receiver<bool>) -> Vec<(String, JoinHandle<()>)> {
    let rates_every = Duration::from_secs(config.rates.refresh_s.into());
    let lists_every = Duration::from_secs(config.screening.refresh_s.into());
    let Fresh { rates, lists, rates_http, http, clock } = fresh;
    let rates_clock = clock.clone();
    let rates_task = every(rates_every, stop.clone(), move || {
        let (rates, http, clock) = (rates.clone(), rates_http.clone(), rates_clock.clone());
        async move { refresh_rates(&rates, &http, &clock).await }
    });
    let lists_task = every(lists_every, stop.clone(), move || {
        let (lists, http, clock) = (lists.clone(), http.clone(), clock.clone());
        async move { refresh_lists(&lists, &http, &clock).await }
    });
    vec![("rates".to_owned(), tokio::spawn(rates_task)), ("lists".to_owned(), tokio::spawn(lists_task))]
}

async fn every<F: Future<Output = ()>>(period: Duration, mut stop: watch::Receiver<bool>, mut act: impl FnMut() -> F) {
    loop {
        let stopped = tokio::time::timeout(period, stop.wait_for(|stop| *stop)).await.is_ok();
        if stopped {
            return;
        }
        act().await;
    }
}

async fn refresh_rates(rates: &FreshRates, http: &reqwest::Client, clock: &BusinessClock) {
    match rates {
        FreshRates::Embedded(rates) => rates.tick(clock.now()),
        FreshRates::Live(live) => {
            let done = live.refresh(http, clock.now()).await;
            for error in &done.failed {
                tracing::warn!(%error, "rates were not refreshed; the old ones stay until they are too old");
            }
            for held in &done.held_back {
                tracing::warn!(?held, "a rate moved too far at once and is held back");
            }
        }
    }
}

async fn refresh_lists(lists: &ListBook, http: &reqwest::Client, clock: &BusinessClock) {
    let done = lists.refresh(http, clock.now()).await;
    for error in done.outcomes.into_iter().filter_map(Result::err) {
        tracing::warn!(%error, "a sanction list was not refreshed; nothing is cleared once it is 24 hours old");
    }
}
