//! Endpoints for operations: liveness, readiness, metrics.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use adapters::screening::{ListBook, ListState};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::job::JobKind;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::AlertKind;
use engine::payments::Payments;
use engine::reconcile;
use http_api::write;
use reqwest::StatusCode;
use store::RelayCursor;
use tokio::sync::watch;

use crate::readiness::Health;
use crate::telemetry::Exposition;

/// The sources of the answers.
pub struct Ops {
    pub payments: Payments,
    pub metrics: Exposition,
    pub lists: Arc<ListBook>,
    pub health: watch::Receiver<Health>,
    /// Whether the service is stopping.
    pub stopping: watch::Receiver<bool>,
}

/// `/livez`, `/readyz` and `/metrics`.
pub fn router(ops: Arc<Ops>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(ops)
}

async fn ready(State(ops): State<Arc<Ops>>) -> Response {
    let draining =
        if *ops.stopping.borrow() { Err("the service is stopping".to_owned()) } else { Ok(()) };
    let mut checks: Vec<_> = ops.health.borrow().checks().collect();
    checks.push(("draining", draining));
    let now = ops.payments.world().clock.now();
    let healthy = checks.iter().all(|(_, check)| check.is_ok());
    let body = write::object(|out| {
        out.text("status", if healthy { "ready" } else { "not_ready" });
        out.object("checks", |out| {
            for (name, check) in &checks {
                out.text(name, check.as_ref().err().map_or("ok", String::as_str));
            }
        });
        // Old lists do not stop traffic: payments wait in review.
        out.object("lists", |out| {
            for (name, list) in by_name(ops.lists.states()) {
                out.text(&name, &age(&list, now));
            }
        });
        // Nor does a chain that no node has named: the others work.
        if let Some(wallets) = &ops.payments.world().wallet {
            out.object("chains", |out| {
                for chain in wallets.configured() {
                    let state = match (chain.numbered(), chain.reason()) {
                        (Some(_), _) => "in use".to_owned(),
                        (None, Some(reason)) => format!("not in use: {reason}"),
                        (None, None) => "not named by a node yet".to_owned(),
                    };
                    out.text(&chain.configured().config.name, &state);
                }
            });
        }
    });
    let status = if healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [("content-type", "application/json")], body).into_response()
}

/// The lists by their names: the older one counts if two share a name.
fn by_name(states: Vec<ListState>) -> BTreeMap<String, ListState> {
    let mut lists = BTreeMap::<String, ListState>::new();
    for state in states {
        match lists.entry(state.name.clone()) {
            Entry::Vacant(place) => drop(place.insert(state)),
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                // The bundled sample never ages.
                known.read_at = [known.read_at, state.read_at].into_iter().flatten().min();
                known.unreadable.extend(state.unreadable);
            }
        }
    }
    lists
}

fn age(list: &ListState, now: Timestamp) -> String {
    let age = list
        .read_at
        .map_or_else(|| "never ages".to_owned(), |at| format!("{} s old", seconds(now - at)));
    match list.unreadable.len() {
        0 => age,
        _ => format!("{age}, with unreadable entries"),
    }
}

async fn metrics(State(ops): State<Arc<Ops>>) -> Response {
    if let Err(error) = gauges(&ops).await {
        tracing::warn!(%error, "reading gauges from the store failed, they keep their last values");
    }
    ([("content-type", "text/plain; version=0.0.4")], ops.metrics.render()).into_response()
}

/// Gauges that are read on each scrape.
async fn gauges(ops: &Ops) -> Result<(), store::StoreError> {
    let (payments, world) = (&ops.payments, ops.payments.world());
    let now = world.clock.now();
    let counts = payments.store().job_counts().await?;
    let mut in_review = 0;
    for kind in JobKind::ALL {
        let count = counts.iter().find(|count| count.kind == kind);
        let age = count.map_or(Span(0), |count| now - count.oldest);
        metrics::gauge!("corridor_jobs", "kind" => kind.name())
            .set(gauge(count.map_or(0, |count| count.count)));
        metrics::gauge!("corridor_job_oldest_seconds", "kind" => kind.name())
            .set(gauge(seconds(age)));
        if matches!(kind, JobKind::Review | JobKind::ReviewDeposit) {
            in_review += count.map_or(0, |count| count.count);
        }
    }
    metrics::gauge!("corridor_review_queue_items").set(gauge(in_review));
    let (unknown, imbalance) = unknown_and_imbalance(payments).await?;
    metrics::gauge!("corridor_unknown_payments").set(gauge(unknown));
    metrics::gauge!("corridor_ledger_imbalance").set(gauge(imbalance));
    let open = payments.store().alert_counts().await?;
    for kind in AlertKind::ALL {
        metrics::gauge!("corridor_open_alerts", "kind" => kind.name())
            .set(gauge(open.get(&kind).copied().unwrap_or(0)));
    }
    let waiting =
        payments.store().oldest_pending_delivery().await?.map_or(0, |since| seconds(now - since));
    metrics::gauge!("corridor_webhook_oldest_pending_seconds").set(gauge(waiting));
    relay_gauges(&payments.store().relay_cursors().await?, now);
    for (name, list) in by_name(ops.lists.states()) {
        let age = list.read_at.map_or(0, |at| seconds(now - at));
        metrics::gauge!("corridor_screening_list_age_seconds", "list" => name).set(gauge(age));
    }
    // A stablecoin that lost its peg has no rate: the dollar's still age.
    let mids = Country::ALL.iter().filter_map(|country| {
        let mid = |base| world.rates.mid(base, country.currency());
        mid(Currency::Usdt).or_else(|| mid(Currency::Usd))
    });
    // Absent until there is a rate: 0 would be a fresh one.
    if let Some(oldest) = mids.map(|mid| seconds(now - mid.as_of)).max() {
        metrics::gauge!("corridor_rate_age_seconds").set(gauge(oldest));
    }
    let served = world.corridors.corridors.iter().filter(|(country, corridor)| {
        corridor.open && world.corridors.rails_of(**country).any(|rail| rail.enabled)
    });
    let without_rate = served.filter(|(country, corridor)| {
        let terms = corridor.rate_terms(now);
        world.rates.bid(Currency::Usdt, country.currency(), &terms).is_none()
    });
    metrics::gauge!("corridor_corridors_without_rate")
        .set(gauge(i64::try_from(without_rate.count()).unwrap_or(i64::MAX)));
    for coin in StableCoin::ALL {
        let is_usable = world.rates.mid(coin.currency(), Currency::Usd).is_some();
        metrics::gauge!("corridor_stablecoin_stopped", "coin" => coin.currency().code())
            .set(u32::from(!is_usable));
    }
    if let Some(report) = reconcile::last(payments.store()).await? {
        let found = report.found.saturating_add(payments.store().rail_break_count().await?);
        let breaks = i64::try_from(found).unwrap_or(i64::MAX);
        metrics::gauge!("corridor_reconciliation_breaks").set(gauge(breaks));
        metrics::gauge!("corridor_reconciliation_age_seconds").set(gauge(seconds(now - report.at)));
    }
    Ok(())
}

/// The unsent events of each relay, and the age of the oldest of them.
pub(crate) fn relay_gauges(cursors: &[RelayCursor], now: Timestamp) {
    let mut relays: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for cursor in cursors {
        let (unsent, lag) = relays.entry(&cursor.relay).or_default();
        *unsent = unsent.saturating_add(cursor.unsent());
        *lag = seconds(cursor.lag(now)).max(*lag);
    }
    for (relay, (unsent, lag)) in relays {
        metrics::gauge!("corridor_relay_unsent_events", "relay" => relay.to_owned())
            .set(gauge(unsent));
        metrics::gauge!("corridor_relay_lag_seconds", "relay" => relay.to_owned()).set(gauge(lag));
    }
}

/// The payments of all tenants with an unknown outcome, and the deviation of the sum of all tenants'
/// balances from zero, in minor units, over all currencies.
async fn unknown_and_imbalance(payments: &Payments) -> Result<(i64, i64), store::StoreError> {
    let (mut unknown, mut off): (i64, i64) = (0, 0);
    for tenant in payments.store().tenants().await? {
        let count = payments.store().unknown_payments(tenant.id).await?.count;
        unknown = unknown.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        let sums = payments.store().currency_sums(tenant.id).await?;
        off = off.saturating_add(sums.values().map(|sum| sum.saturating_abs()).sum());
    }
    Ok((unknown, off))
}

const fn seconds(span: Span) -> i64 {
    span.0 / 1_000_000
}

/// A whole number as a gauge value. The recorder uses floating point; these values stay in its
/// exact range.
fn gauge(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_lists_with_one_name_the_older_one_counts() {
        let state = |name: &str, read_at: Option<i64>, unreadable: &[&str]| ListState {
            name: name.to_owned(),
            read_at: read_at.map(|seconds| Timestamp(0) + Span::secs(seconds)),
            entries: 1,
            unreadable: unreadable.iter().map(|it| (*it).to_owned()).collect(),
            incomplete: None,
        };
        let states = vec![
            state("OWN", Some(90), &[]),
            state("OWN", Some(40), &["line 2"]),
            state("SAMPLE", None, &[]),
        ];
        let shown = by_name(states);
        let now = Timestamp(0) + Span::secs(100);
        let shown: Vec<_> =
            shown.iter().map(|(name, list)| format!("{name} {}", age(list, now))).collect();
        assert_eq!(shown, ["OWN 60 s old, with unreadable entries", "SAMPLE never ages"]);
    }
}
