//! Keeps rates and sanction lists fresh, and reports their age as metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use adapters::outbound::Servers;
use adapters::screening::{ListBook, ListSource};
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::ports::{Clock as _, RateBook};
use domain::wallet_effects::AlertKind;
use engine::alerts;
use engine::console::Console;
use engine::context::EngineContext;
use store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::clock::BusinessClock;
use super::kept_rates;
use super::world::FreshRates;
use config::Config;

/// How soon a node learns what was switched off on another one.
const SWITCHES_EVERY: Duration = Duration::from_secs(3);

/// Polling interval for approved actions that are not executed yet.
const APPROVALS_EVERY: Duration = Duration::from_secs(30);

/// The data to keep fresh.
pub(super) struct Fresh {
    pub rates: FreshRates,
    pub lists: Arc<ListBook>,
    pub rate_servers: Servers,
    pub list_servers: Servers,
    pub clock: BusinessClock,
    /// Where alerts are raised.
    pub store: Store,
}

/// The rates, and what was already alerted about them.
struct Rates {
    rates: FreshRates,
    servers: Servers,
    clock: BusinessClock,
    store: Store,
    alerted: Mutex<BTreeSet<String>>,
}

/// The sanction lists, and what was already reported about them.
struct Lists {
    lists: Arc<ListBook>,
    servers: Servers,
    clock: BusinessClock,
    store: Store,
    reported: Mutex<Reported>,
}

/// Whether the refresh of each list failed when it was last reported.
#[derive(Debug, Default)]
struct Reported(BTreeMap<String, bool>);

impl Reported {
    /// The alerts to raise (`true`) and to end. The first success of a process ends what an earlier
    /// one may have raised.
    fn changes(&mut self, failed: impl Iterator<Item = (String, bool)>) -> Vec<(String, bool)> {
        let mut now = BTreeMap::<String, bool>::new();
        for (list, is_failed) in failed {
            // Locations may differ only in what is not shown.
            *now.entry(list).or_default() |= is_failed;
        }
        now.retain(|list, is_failed| self.0.insert(list.clone(), *is_failed) != Some(*is_failed));
        now.into_iter().collect()
    }
}

pub(super) fn spawn(
    fresh: Fresh,
    config: &Config,
    stop: &watch::Receiver<bool>,
) -> Vec<(String, JoinHandle<()>)> {
    let rates_every = Duration::from_secs(config.rates.refresh_s.into());
    let lists_every = Duration::from_secs(config.screening.refresh_s.into());
    let Fresh { rates, lists, rate_servers, list_servers, clock, store } = fresh;
    let rates = Arc::new(Rates {
        rates,
        servers: rate_servers,
        clock: clock.clone(),
        store: store.clone(),
        alerted: Mutex::default(),
    });
    let reported = Mutex::default();
    let lists = Arc::new(Lists { lists, servers: list_servers, clock, store, reported });
    let rates_stop = stop.clone();
    let rates_task = async move {
        // The first read was at the start.
        rates.keep().await;
        rates.alert().await;
        every(rates_every, rates_stop, move || {
            let rates = Arc::clone(&rates);
            async move {
                rates.refresh().await;
                rates.keep().await;
                rates.alert().await;
            }
        })
        .await;
    };
    let lists_stop = stop.clone();
    let lists_task = async move {
        say_unreadable(&lists.lists);
        // A list loaded from its last good copy is now read from its source.
        match lists.lists.wants_refresh() {
            true => lists.refresh().await,
            false => lists.report(|_| false).await,
        }
        every(lists_every, lists_stop, move || {
            let lists = Arc::clone(&lists);
            async move { lists.refresh().await }
        })
        .await;
    };
    vec![
        ("rates".to_owned(), tokio::spawn(rates_task)),
        ("lists".to_owned(), tokio::spawn(lists_task)),
    ]
}

/// Polls what operators have switched off on other nodes.
pub(super) fn follow_switches(
    store: Store,
    world: Arc<EngineContext>,
    stop: &watch::Receiver<bool>,
) -> (String, JoinHandle<()>) {
    let task = every(SWITCHES_EVERY, stop.clone(), move || {
        let (store, world) = (store.clone(), Arc::clone(&world));
        async move {
            if let Err(error) = world.switches.refresh(&store).await {
                tracing::warn!(%error, "reading the switches failed, the last known state stays");
            }
        }
    });
    ("switches".to_owned(), tokio::spawn(task))
}

/// Executes actions that two users have approved and that could not be executed at once.
pub(super) fn execute_approvals(
    desk: Console,
    stop: &watch::Receiver<bool>,
) -> (String, JoinHandle<()>) {
    let task = every(APPROVALS_EVERY, stop.clone(), move || {
        let desk = desk.clone();
        async move {
            if let Err(error) = desk.execute_rest().await {
                tracing::warn!(%error, "reading approvals failed, will retry");
            }
        }
    });
    ("approvals".to_owned(), tokio::spawn(task))
}

async fn every<F: Future<Output = ()>>(
    period: Duration,
    mut stop: watch::Receiver<bool>,
    mut act: impl FnMut() -> F,
) {
    loop {
        let stopped = tokio::time::timeout(period, stop.wait_for(|stop| *stop)).await.is_ok();
        if stopped {
            return;
        }
        act().await;
    }
}

impl Rates {
    async fn refresh(&self) {
        let now = self.clock.now();
        let live = match &self.rates {
            FreshRates::Embedded(rates) => return rates.tick(now),
            FreshRates::Live(live) => live,
        };
        let done = live.refresh(&self.servers, now).await;
        for (source, error) in &done.failed {
            tracing::warn!(source, %error, "rate refresh failed, the last rates stay until they are too old");
        }
        for held in &done.held_back {
            tracing::warn!(?held, "rate change exceeds limit, update rejected");
        }
        for (coin, price) in off_peg(live.as_ref()) {
            tracing::error!(coin = coin.currency().code(), %price, "stablecoin lost its peg, quotes and exchanges with it are refused");
        }
    }

    /// Keeps the rates for the next start.
    async fn keep(&self) {
        let FreshRates::Live(live) = &self.rates else { return };
        if let Err(error) = kept_rates::keep(&self.store, live, self.clock.now()).await {
            tracing::warn!(%error, "keeping the rates failed, will retry");
        }
    }

    /// Raises an alert for each condition that was not there before.
    async fn alert(&self) {
        let FreshRates::Live(live) = &self.rates else { return };
        let conditions = live.conditions(self.clock.now());
        let new: Vec<String> = {
            let mut alerted = self.alerted.lock().unwrap_or_else(PoisonError::into_inner);
            let new = conditions.difference(&alerted).cloned().collect();
            *alerted = conditions;
            new
        };
        for what in new {
            alerts::raise_everywhere(&self.store, AlertKind::RateSource, &what).await;
        }
    }
}

impl Lists {
    async fn refresh(&self) {
        let done = self.lists.refresh(&self.servers, self.clock.now()).await;
        self.report(|source| done.outcomes.get(source).is_some_and(Result::is_err)).await;
        for error in done.outcomes.into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "sanction list refresh failed, its last good copy stays; nothing is cleared once that is 24 hours old");
        }
        say_unreadable(&self.lists);
    }

    /// Raises an alert for each list whose refresh fails, and ends those of the others.
    async fn report(&self, is_failed: impl Fn(usize) -> bool) {
        let changes = {
            let sources = self.lists.sources().iter().enumerate();
            let what = |source: &ListSource| {
                format!("the sanction list {} cannot be refreshed", source.shown())
            };
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            reported.changes(sources.map(|(at, source)| (what(source), is_failed(at))))
        };
        for (what, is_failed) in changes {
            let kind = AlertKind::SanctionList;
            match is_failed {
                true => alerts::raise_everywhere(&self.store, kind, &what).await,
                false => alerts::end_everywhere(&self.store, kind, &what).await,
            }
        }
    }
}

/// Stablecoins whose price in USD is too far from 1.
pub(super) fn off_peg(rates: &dyn RateBook) -> Vec<(StableCoin, Decimal)> {
    StableCoin::ALL.into_iter().filter_map(|coin| Some((coin, rates.off_peg(coin)?))).collect()
}

/// Missing documents and unreadable entries, which are not part of screening.
fn say_unreadable(lists: &ListBook) {
    for state in lists.states() {
        if let Some(missing) = &state.incomplete {
            tracing::warn!(list = state.name, missing, "sanction list incomplete");
        }
        for entry in &state.unreadable {
            tracing::error!(
                list = state.name,
                entry,
                "sanction list entry unreadable, skipped in screening"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_alert_while_its_refresh_fails() {
        let mut reported = Reported::default();
        let mut changes = |failed: &[(&str, bool)]| {
            let failed = failed.iter().map(|(list, is_failed)| ((*list).to_owned(), *is_failed));
            let changes = reported.changes(failed).into_iter();
            changes.map(|(list, is_failed)| format!("{list} {is_failed}")).collect::<Vec<_>>()
        };
        assert_eq!(changes(&[("UN", true), ("EU", false)]), ["EU false", "UN true"]);
        assert!(changes(&[("UN", true), ("EU", false)]).is_empty());
        assert_eq!(changes(&[("UN", false), ("EU", false)]), ["UN false"]);
        // Two locations that are shown alike.
        assert_eq!(changes(&[("UN", true), ("UN", false), ("EU", false)]), ["UN true"]);
    }
}
