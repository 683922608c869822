//! Keeps rates and sanction lists fresh, and says so in the metrics.

use std::sync::Arc;
use std::time::Duration;

use adapters::screening::ListBook;
use domain::ports::Clock as _;
use engine::console::Console;
use engine::world::World;
use store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::clock::BusinessClock;
use super::world::FreshRates;
use config::Config;

/// How soon a node hears of what was switched off on another one.
const SWITCHES_EVERY: Duration = Duration::from_secs(3);

/// How often it is looked whether something approved is left to be done.
const APPROVALS_EVERY: Duration = Duration::from_secs(30);

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
    let lists_stop = stop.clone();
    let lists_task = async move {
        say_unreadable(&lists);
        // What a start took from the last good copy is read from its source now.
        if lists.wants_refresh() {
            refresh_lists(&lists, &http, &clock).await;
        }
        every(lists_every, lists_stop, move || {
            let (lists, http, clock) = (lists.clone(), http.clone(), clock.clone());
            async move { refresh_lists(&lists, &http, &clock).await }
        })
        .await;
    };
    vec![("rates".to_owned(), tokio::spawn(rates_task)), ("lists".to_owned(), tokio::spawn(lists_task))]
}

/// Looks now and then what operators have switched off on other nodes.
pub(super) fn follow_switches(
    store: Store,
    world: Arc<World>,
    stop: &watch::Receiver<bool>,
) -> (String, JoinHandle<()>) {
    let task = every(SWITCHES_EVERY, stop.clone(), move || {
        let (store, world) = (store.clone(), Arc::clone(&world));
        async move {
            if let Err(error) = world.switches.refresh(&store).await {
                tracing::warn!(%error, "what is switched off could not be read; what was known stays");
            }
        }
    });
    ("switches".to_owned(), tokio::spawn(task))
}

/// Carries out what two people have agreed on and something kept from being done at once.
pub(super) fn carry_out_approvals(desk: Console, stop: &watch::Receiver<bool>) -> (String, JoinHandle<()>) {
    let task = every(APPROVALS_EVERY, stop.clone(), move || {
        let desk = desk.clone();
        async move {
            if let Err(error) = desk.carry_out_rest().await {
                tracing::warn!(%error, "approvals could not be read; they are tried again later");
            }
        }
    });
    ("approvals".to_owned(), tokio::spawn(task))
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
        tracing::warn!(%error, "sanction list refresh failed, its last good copy stays; nothing is cleared once that is 24 hours old");
    }
    say_unreadable(lists);
}

/// Entries that nobody is screened against, since they cannot be read.
fn say_unreadable(lists: &ListBook) {
    for state in lists.states() {
        for entry in &state.unreadable {
            tracing::error!(list = state.name, entry, "sanction list entry unreadable: nobody is screened against it");
        }
    }
}
