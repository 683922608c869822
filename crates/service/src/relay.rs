//! `corridor relay run`: sends the event logs from the store to a broker, beside `serve` or apart
//! from it, with health and metrics of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::sinks::StreamFacts;
use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use domain::ports::{Clock as _, EventSink};
use engine::relay::{Relay, RelayBodies, RelayRole, RelayState};
use http_api::server::Refusals;
use http_api::write;
use reqwest::StatusCode;
use store::{RelayCursor, Store};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::clock::{BusinessClock, WallClock};
use super::{BadConfiguration, Task, finish, first_to_end, node_name, serve};
use crate::telemetry::Exposition;
use config::{Config, RelayEntry};

/// Events as in the event APIs of both services.
pub const BODIES: RelayBodies = RelayBodies {
    payment: http_api::payments_v2::render::event_body,
    wallet: http_api::wallet_v1::render::logged_event_body,
};

pub struct RelayService {
    /// Where its health and metrics are served.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    tasks: Vec<Task>,
}

impl RelayService {
    /// Starts the relay of this name from the configuration.
    pub async fn start(
        config: &Config,
        data_dir: &Path,
        (name, entry): (&str, &RelayEntry),
        metrics: Exposition,
    ) -> anyhow::Result<RelayService> {
        let store = super::open_existing_store(config, data_dir).await?;
        super::environment::check_ready(&store, config.environment).await?;
        let clock = super::business_clock(&store).await?;
        let settings = entry.settings(name, config).context(BadConfiguration)?;
        let listener = TcpListener::bind(entry.listen).await;
        let listener = listener.with_context(|| format!("relay.{name}.listen {}", entry.listen))?;
        let address = listener.local_addr()?;
        let (sink, owner) = (sink(name, entry)?, node_name(&store));
        let shared = Arc::new(clock.clone());
        let relay = Relay::new(store.clone(), sink, shared, owner, settings, BODIES);
        let relay = Arc::new(relay);
        let (stop, stopping) = watch::channel(false);
        let ops = Ops { name: name.to_owned(), store, relay: relay.clone(), clock, metrics };
        let router = router(Arc::new(ops));
        let refusals = Refusals::new(Arc::new(WallClock));
        let serving = serve(listener, router, config.server_settings(), refusals, stopping.clone());
        let sending = async move { relay.run(stopping).await };
        let tasks = vec![
            ("HTTP server".to_owned(), tokio::spawn(serving)),
            ("relay".to_owned(), tokio::spawn(sending)),
        ];
        Ok(RelayService { address, stop, tasks })
    }

    /// Sends what is under way, then stops.
    pub async fn stop(self, within: Duration) {
        self.stop.send_replace(true);
        let deadline = tokio::time::Instant::now() + within;
        for (name, task) in self.tasks.into_iter().rev() {
            finish(&name, task, deadline).await;
        }
    }

    /// Completes when a task has ended by itself, with its name.
    pub async fn ended(&mut self) -> String {
        first_to_end(&mut self.tasks).await
    }
}

/// The broker of a relay.
#[cfg(feature = "nats")]
pub fn sink(name: &str, entry: &RelayEntry) -> anyhow::Result<Arc<dyn EventSink>> {
    Ok(Arc::new(adapters::sinks::NatsSink::new(entry.nats(name))))
}

/// The stream of a relay as it is; `None` if there is none.
#[cfg(feature = "nats")]
pub async fn stream(name: &str, entry: &RelayEntry) -> anyhow::Result<Option<StreamFacts>> {
    Ok(adapters::sinks::NatsSink::new(entry.nats(name)).look().await?)
}

/// The stream of a relay.
#[cfg(not(feature = "nats"))]
pub async fn stream(name: &str, entry: &RelayEntry) -> anyhow::Result<Option<StreamFacts>> {
    sink(name, entry).map(|_| None)
}

/// The broker of a relay.
#[cfg(not(feature = "nats"))]
pub fn sink(_: &str, _: &RelayEntry) -> anyhow::Result<Arc<dyn EventSink>> {
    anyhow::bail!("this program was built without its feature \"nats\"")
}

/// The sources of the answers.
struct Ops {
    name: String,
    store: Store,
    relay: Arc<Relay>,
    clock: BusinessClock,
    metrics: Exposition,
}

fn router(ops: Arc<Ops>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(ops)
}

impl Ops {
    async fn cursors(&self) -> Result<Vec<RelayCursor>, store::StoreError> {
        let mut cursors = self.store.relay_cursors().await?;
        cursors.retain(|cursor| cursor.relay == self.name);
        Ok(cursors)
    }
}

/// What is known of the broker: a process without the role does not connect to it.
fn broker(state: &RelayState) -> &str {
    match (&state.fault, state.role) {
        (Some(fault), _) => fault,
        (None, RelayRole::Active) if state.is_asked => "ok",
        (None, RelayRole::Active) => "it has not answered yet",
        (None, RelayRole::Standby | RelayRole::Unknown) => "not asked",
    }
}

/// What is known of the store: a process that does not know its role has no answer of it yet.
fn store_check(fault: Option<String>, role: RelayRole) -> String {
    match (fault, role) {
        (Some(fault), _) => fault,
        (None, RelayRole::Active | RelayRole::Standby) => "ok".to_owned(),
        (None, RelayRole::Unknown) => "the lease has not been answered yet".to_owned(),
    }
}

/// Ready while the store and the broker can be reached, also if another process sends.
async fn ready(State(ops): State<Arc<Ops>>) -> Response {
    let state = ops.relay.state();
    let checked = async {
        ops.store.ready().await?;
        ops.cursors().await
    };
    let (store, cursors) = match checked.await {
        Ok(cursors) => (store_check(state.store_fault.clone(), state.role), cursors),
        Err(error) => (error.to_string(), Vec::new()),
    };
    let is_waiting = state.role == RelayRole::Active && !state.is_asked;
    let is_ready = store == "ok" && state.fault.is_none() && !is_waiting;
    let now = ops.clock.now();
    let body = write::object(|out| {
        out.text("status", if is_ready { "ready" } else { "not_ready" });
        out.text("relay", &ops.name);
        out.text("role", state.role.name());
        out.object("checks", |out| {
            out.text("store", &store);
            out.text("broker", broker(&state));
        });
        out.array("logs", |logs| {
            cursors.iter().for_each(|cursor| {
                logs.object(|out| {
                    out.text("tenant", &cursor.tag);
                    out.text("log", cursor.log.name());
                    out.integer("unsent", cursor.unsent());
                    out.integer("lag_s", cursor.lag(now).0 / 1_000_000);
                    out.integer("last_seq", cursor.seq);
                    if let Some(event) = cursor.event {
                        out.plain("last_event", event);
                    }
                })
            });
        });
    });
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [("content-type", "application/json")], body).into_response()
}

async fn metrics(State(ops): State<Arc<Ops>>) -> Response {
    match ops.cursors().await {
        Ok(cursors) => super::ops::relay_gauges(&cursors, ops.clock.now()),
        Err(error) => {
            tracing::warn!(%error, "reading gauges from the store failed, they keep their last values");
        }
    }
    ([("content-type", "text/plain; version=0.0.4")], ops.metrics.render()).into_response()
}

#[cfg(test)]
mod tests {
    use super::{RelayRole, RelayState, broker, store_check};

    #[test]
    fn a_broker_that_was_not_asked_is_not_ok() {
        for (fault, role, is_asked, expected) in [
            (None, RelayRole::Active, true, "ok"),
            (None, RelayRole::Active, false, "it has not answered yet"),
            (None, RelayRole::Standby, false, "not asked"),
            (None, RelayRole::Unknown, false, "not asked"),
            (Some("away"), RelayRole::Active, true, "away"),
            (Some("a gap"), RelayRole::Unknown, false, "a gap"),
        ] {
            let fault = fault.map(str::to_owned);
            let state = RelayState { role, is_asked, fault, store_fault: None };
            assert_eq!(broker(&state), expected);
        }
    }

    #[test]
    fn a_relay_without_a_role_is_not_ready() {
        let begun = RelayState::default();
        let unanswered = store_check(begun.store_fault, begun.role);
        assert_eq!(unanswered, "the lease has not been answered yet");
        for (fault, role, expected) in [
            (None, RelayRole::Active, "ok"),
            (None, RelayRole::Standby, "ok"),
            (Some("away"), RelayRole::Standby, "away"),
            (Some("away"), RelayRole::Unknown, "away"),
        ] {
            assert_eq!(store_check(fault.map(str::to_owned), role), expected);
        }
    }
}
