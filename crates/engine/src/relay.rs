//! Sends the event logs of both services to a broker: each event at least once, the events of one
//! aggregate in their order. A cursor per log moves only after the broker's acknowledgement; one
//! node at a time holds the relay's role, and the cursors' writes are fenced by it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::{EventId, TenantId};
use domain::ports::{Clock, EventSink};
use domain::relay::{EventLog, EventMessage, SinkFault, SubjectTemplate};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use domain::wallet_event::WalletEventEntry;
use futures_util::future::join_all;
use store::{EventRecord, HeldRole, RelayBehind, RelayCursor, Store, StoreError};
use uuid::Uuid;

use crate::alerts;
use crate::failpoint::{self, Failpoint};
use crate::stop::Stop;

/// Delay after a failure, and between attempts to take the role.
const RETRY: Span = Span::secs(2);
/// Logs that are read and sent concurrently.
const LOGS_AT_ONCE: usize = 8;
/// How often the broker is asked for its stream while there is nothing to send: what has ended a
/// connection, or changed the stream, is found before the next event.
const CHECK: Span = Span::secs(10);
/// Lease renewals per lease.
const RENEWALS_PER_LEASE: i64 = 4;

/// Where a relay begins in a log that it has not sent anything of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayStart {
    /// With the oldest retained event.
    Oldest,
    /// With the next event.
    Newest,
}

/// What a relay sends, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelaySettings {
    /// Its name in the configuration.
    pub name: String,
    pub subject: SubjectTemplate,
    pub logs: Vec<EventLog>,
    /// Tags of the tenants; empty = all.
    pub tenants: Vec<String>,
    pub start: RelayStart,
    /// Maximum number of events of a log that are read at once.
    pub batch: usize,
    /// How long the role is exclusive.
    pub lease: Span,
    /// How often the logs are polled.
    pub poll: Span,
}

impl RelaySettings {
    /// The role that one node at a time holds.
    pub fn role(&self) -> String {
        format!("relay:{}", self.name)
    }

    fn sends(&self, log: &RelayBehind) -> bool {
        self.logs.contains(&log.log) && (self.tenants.is_empty() || self.tenants.contains(&log.tag))
    }
}

/// How events are rendered: as in the event API of their service.
#[derive(Clone, Copy)]
pub struct RelayBodies {
    pub payment: fn(&EventRecord) -> Vec<u8>,
    pub wallet: fn(&WalletEventEntry) -> Vec<u8>,
}

/// Why a round was not completed.
#[derive(Debug, thiserror::Error)]
pub enum RelayFault {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The broker did not store a message, or may not have.
    #[error("{0}")]
    Sink(#[from] SinkFault),
}

/// Whether this node sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelayRole {
    /// This node holds the role and sends.
    Active,
    /// Another process holds the role.
    Standby,
    /// The role could not be asked for, or has not been yet.
    #[default]
    Unknown,
}

impl RelayRole {
    pub fn name(self) -> &'static str {
        match self {
            RelayRole::Active => "active",
            RelayRole::Standby => "standby",
            RelayRole::Unknown => "unknown",
        }
    }
}

/// The state of a relay, for its health endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayState {
    pub role: RelayRole,
    /// Whether the broker has been asked since this process got the role.
    pub is_asked: bool,
    /// Why the last round failed at the broker, or a log cannot be sent; `None` if neither.
    pub fault: Option<String>,
    /// Why the last round failed at the database; `None` if it did not.
    pub store_fault: Option<String>,
}

impl RelayState {
    /// The state after a round: its fault belongs to the broker or to the database.
    fn after(role: RelayRole, fault: Option<&RelayFault>, broken: Option<String>) -> RelayState {
        let (store_fault, fault) = match fault {
            Some(RelayFault::Store(error)) => (Some(error.to_string()), None),
            Some(RelayFault::Sink(fault)) => (None, Some(fault.to_string())),
            None => (None, None),
        };
        // The database is read first.
        let is_asked = role == RelayRole::Active && store_fault.is_none();
        RelayState { role, is_asked, fault: fault.or(broken), store_fault }
    }
}

/// The beginning of an alert about a late log. The other alerts of its kind are a relay's own.
const LATE: &str = "the relay ";

/// The open alerts about late logs.
#[derive(Debug, Default)]
pub struct LateAlerts {
    /// `None` until they have been read: an earlier process may have raised some.
    open: Option<BTreeSet<(TenantId, Alert)>>,
}

impl LateAlerts {
    /// Raises those of logs that are late now, and ends the others. One that an operator closes is
    /// raised again once its log has been sent and is late once more.
    pub async fn update(
        &mut self,
        store: &Store,
        now: Timestamp,
        limit: Span,
    ) -> Result<(), StoreError> {
        let open = match &mut self.open {
            Some(open) => open,
            unread => unread.insert(open_late_alerts(store).await?),
        };
        let found = late_alerts(store, now, limit).await?;
        for alert in &found {
            if open.insert(alert.clone()) {
                alerts::raise(store, alert.0, &alert.1).await;
            }
        }
        let ended: Vec<(TenantId, Alert)> = open.difference(&found).cloned().collect();
        for alert in ended {
            store.end_alert(alert.0, &alert.1).await?;
            open.remove(&alert);
        }
        Ok(())
    }
}

async fn open_late_alerts(store: &Store) -> Result<BTreeSet<(TenantId, Alert)>, StoreError> {
    let mut open = BTreeSet::new();
    for tenant in store.tenants().await? {
        let alerts = store.alerts_about(tenant.id, tenant.id.0).await?;
        let late = |it: &Alert| it.kind == AlertKind::Relay && it.what.starts_with(LATE);
        open.extend(alerts.into_iter().filter(late).map(|alert| (tenant.id, alert)));
    }
    Ok(open)
}

/// An alert for each log whose next event a relay has not sent for longer than `limit`. The text has
/// no figures: the same text is the same alert.
pub async fn late_alerts(
    store: &Store,
    now: Timestamp,
    limit: Span,
) -> Result<BTreeSet<(TenantId, Alert)>, StoreError> {
    let cursors = store.relay_cursors().await?;
    let late = cursors.iter().filter(|cursor| cursor.lag(now) > limit);
    let alert = |cursor: &RelayCursor| {
        let what = format!(
            "{LATE}{} has not sent the next event of the {} log for more than {} s: `corridor relay status` has \
             figures; events are not removed before they are sent",
            cursor.relay,
            cursor.log.name(),
            limit.0 / 1_000_000
        );
        (cursor.tenant, Alert { kind: AlertKind::Relay, subject: cursor.tenant.0, what })
    };
    Ok(late.map(alert).collect())
}

/// One relay of this node.
pub struct Relay {
    store: Store,
    sink: Arc<dyn EventSink>,
    clock: Arc<dyn Clock>,
    /// Names this node in leases.
    owner: String,
    settings: RelaySettings,
    bodies: RelayBodies,
    state: Mutex<RelayState>,
    /// Logs that lack events that were not sent, each with its alert.
    broken: Mutex<BTreeMap<(TenantId, EventLog), String>>,
}

/// The role as held by this node.
struct Held {
    role: HeldRole,
    since: Timestamp,
}

/// An event that is to be sent.
struct Unsent {
    seq: i64,
    aggregate: Uuid,
    message: EventMessage,
}

impl Relay {
    pub fn new(
        store: Store,
        sink: Arc<dyn EventSink>,
        clock: Arc<dyn Clock>,
        owner: String,
        settings: RelaySettings,
        bodies: RelayBodies,
    ) -> Relay {
        let (state, broken) = (Mutex::default(), Mutex::default());
        Relay { store, sink, clock, owner, settings, bodies, state, broken }
    }

    /// The relay's state as of its last round.
    pub fn state(&self) -> RelayState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends until stopped; then finishes the batches under way and releases the role.
    pub async fn run(&self, mut stop: Stop) {
        let (mut held, mut checked, mut is_waiting) = (None, None, false);
        while !*stop.borrow() {
            match self.hold_role(&mut held).await {
                Ok(true) => {}
                Ok(false) => {
                    if !std::mem::replace(&mut is_waiting, true) {
                        tracing::info!(
                            relay = self.settings.name,
                            "another process holds this relay, waiting"
                        );
                    }
                    // What another process finds is its own to show.
                    self.broken().clear();
                    self.note(RelayRole::Standby, None);
                    self.pause(RETRY, &mut stop).await;
                    continue;
                }
                Err(error) => {
                    // Whether another process has the role is not known.
                    (held, is_waiting) = (None, false);
                    self.count_fault();
                    tracing::warn!(
                        %error,
                        relay = self.settings.name,
                        "relay lease acquisition failed, will retry"
                    );
                    self.note(RelayRole::Unknown, Some(&error.into()));
                    self.pause(RETRY, &mut stop).await;
                    continue;
                }
            }
            is_waiting = false;
            self.note_active();
            let done = self.round(&mut held, &mut checked).await;
            let pause = match &done {
                Ok(0) => self.settings.poll,
                Ok(_) => Span(0),
                Err(_) => RETRY,
            };
            if let Err(fault) = &done {
                checked = None;
                // Another process may have the role by now.
                held = None;
                self.count_fault();
                let relay = &self.settings.name;
                match fault {
                    RelayFault::Store(error) => {
                        tracing::warn!(%error, relay, "database access of the relay failed, will retry");
                    }
                    RelayFault::Sink(fault) => {
                        tracing::warn!(%fault, relay, "sending events to the broker failed, will retry");
                    }
                }
            }
            self.note(RelayRole::Active, done.err().as_ref());
            if pause > Span(0) {
                self.pause(pause, &mut stop).await;
            }
        }
        if held.is_some()
            && let Err(error) =
                self.store.lease_role(&self.settings.role(), &self.owner, Span(0)).await
        {
            tracing::warn!(%error, relay = self.settings.name, "role lease release failed, lease will expire");
        }
    }

    /// Sends what the logs have now, once, if this node gets the role; returns the number of events
    /// that the broker acknowledged. For callers that control time themselves.
    pub async fn send_once(&self) -> Result<usize, RelayFault> {
        let mut held = None;
        if !self.hold_role(&mut held).await? {
            return Ok(0);
        }
        let mut sent = 0;
        loop {
            match self.round(&mut held, &mut None).await? {
                0 => return Ok(sent),
                some => sent += some,
            }
        }
    }

    fn count_fault(&self) {
        metrics::counter!("corridor_relay_faults_total", "relay" => self.settings.name.clone())
            .increment(1);
    }

    fn note(&self, role: RelayRole, fault: Option<&RelayFault>) {
        let broken = self.broken().values().next().cloned();
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) =
            RelayState::after(role, fault, broken);
    }

    /// This process has got the role: its first round may take as long as the broker.
    fn note_active(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.role != RelayRole::Active {
            *state = RelayState { role: RelayRole::Active, ..RelayState::default() };
        }
    }

    fn broken(&self) -> MutexGuard<'_, BTreeMap<(TenantId, EventLog), String>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pause(&self, span: Span, stop: &mut Stop) {
        let until = self.clock.now() + span;
        tokio::select! {
            biased;
            () = self.clock.sleep_until(until) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    /// Whether this node holds the role. The lease is renewed long before it expires.
    async fn hold_role(&self, held: &mut Option<Held>) -> Result<bool, StoreError> {
        let (now, lease) = (self.clock.now(), self.settings.lease);
        if held.as_ref().is_some_and(|it| now - it.since < Span(lease.0 / RENEWALS_PER_LEASE)) {
            return Ok(true);
        }
        let name = self.settings.role();
        let fence = self.store.lease_role(&name, &self.owner, lease).await?;
        let role = |fence| HeldRole { name, owner: self.owner.clone(), fence };
        *held = fence.map(|fence| Held { role: role(fence), since: now });
        Ok(held.is_some())
    }

    /// Sends one batch of every log with unsent events; returns the number of acknowledged events.
    async fn round(
        &self,
        held: &mut Option<Held>,
        checked: &mut Option<Timestamp>,
    ) -> Result<usize, RelayFault> {
        let mut behind = self.store.relay_behind(&self.settings.name).await?;
        behind.retain(|log| self.settings.sends(log));
        // Before the broker is called: a relay without a position is not measured, and pruning does
        // not wait for it.
        let mut logs = Vec::new();
        for log in behind {
            let Some(Held { role, .. }) = held.as_ref() else { return Ok(0) };
            let seq = match log.seq {
                Some(seq) => seq,
                None => self.begin(role, &log).await?,
            };
            logs.push((log, seq));
        }
        self.broken().retain(|key, _| logs.iter().any(|(log, _)| (log.tenant, log.log) == *key));
        let now = self.clock.now();
        if checked.is_none_or(|at| (now - at).0.abs() >= CHECK.0) {
            self.sink.check().await?;
            *checked = Some(now);
        }
        // A log that the broker does not take holds up no other.
        let (mut sent, mut fault) = (0, None);
        for logs in logs.chunks(LOGS_AT_ONCE) {
            if !self.hold_role(held).await? {
                return Ok(sent);
            }
            let Some(Held { role, .. }) = held.as_ref() else { return Ok(sent) };
            let sending = logs.iter().map(|(log, seq)| self.send_log(role, log, *seq));
            for done in join_all(sending).await {
                match done {
                    Ok(some) => sent += some,
                    Err(RelayFault::Sink(why)) => fault = fault.or(Some(why)),
                    Err(other) => return Err(other),
                }
            }
        }
        fault.map_or(Ok(sent), |why| Err(why.into()))
    }

    async fn send_log(
        &self,
        role: &HeldRole,
        log: &RelayBehind,
        seq: i64,
    ) -> Result<usize, RelayFault> {
        if seq == log.head {
            self.broken().remove(&(log.tenant, log.log));
            return Ok(0);
        }
        let unsent = self.read(log, seq).await?;
        if unsent.first().is_none_or(|first| first.seq != seq + 1) {
            self.alert(log, &format!(
                "the events after number {seq} that the relay {} has not sent are not in the {} log: it sends no more of it; \
                 `corridor relay forget` lets it begin again",
                self.settings.name, log.log.name()
            ))
            .await;
            return Ok(0);
        }
        self.broken().remove(&(log.tenant, log.log));
        let (acknowledged, fault) = self.publish(&unsent).await;
        failpoint::reach(Failpoint::BeforeRelayCursor);
        if let Some(last) = acknowledged.checked_sub(1).and_then(|last| unsent.get(last)) {
            let to = (last.seq, last.message.id);
            let name = &self.settings.name;
            self.store.advance_relay(role, name, (log.tenant, log.log), seq, to).await?;
            let labels = [("relay", name.clone()), ("log", log.log.name().to_owned())];
            metrics::counter!("corridor_relay_events_total", &labels)
                .increment(acknowledged as u64);
        }
        fault.map_or(Ok(acknowledged), |fault| Err(fault.into()))
    }

    /// Begins a log; returns the number of the event before the first one to send.
    async fn begin(&self, role: &HeldRole, log: &RelayBehind) -> Result<i64, StoreError> {
        let oldest = match (self.settings.start, log.log) {
            (RelayStart::Newest, _) => None,
            (RelayStart::Oldest, EventLog::Payment) => self.store.oldest_event(log.tenant).await?,
            (RelayStart::Oldest, EventLog::Wallet) => {
                self.store.oldest_wallet_event(log.tenant).await?
            }
        };
        let seq = oldest.map_or(log.head, |(seq, _)| seq - 1);
        let begun = (log.tenant, log.log);
        self.store.begin_relay(role, &self.settings.name, begun, seq).await?;
        Ok(seq)
    }

    async fn read(&self, log: &RelayBehind, after: i64) -> Result<Vec<Unsent>, StoreError> {
        let (tenant, limit) = (log.tenant, self.settings.batch);
        let message = |id: EventId, kind: &str, body| {
            let subject = self.settings.subject.subject(log.log, &log.tag, kind);
            EventMessage { id, subject, body }
        };
        Ok(match log.log {
            EventLog::Payment => {
                let page = self.store.events_after(tenant, after, limit).await?;
                let unsent = |it: &EventRecord| Unsent {
                    seq: it.event.seq,
                    aggregate: it.event.subject,
                    message: message(it.event.id, it.event.kind.name(), (self.bodies.payment)(it)),
                };
                page.iter().map(unsent).collect()
            }
            EventLog::Wallet => {
                let page = self.store.wallet_events_after(tenant, after, limit).await?;
                let unsent = |it: &WalletEventEntry| Unsent {
                    seq: it.seq,
                    aggregate: it.aggregate.id(),
                    message: message(it.id, it.event.kind().name(), (self.bodies.wallet)(it)),
                };
                page.iter().map(unsent).collect()
            }
        })
    }

    /// Sends events, of each aggregate one at a time: a repetition after a lost acknowledgement can
    /// never come after the aggregate's next event. Returns how many of the first ones the broker
    /// has acknowledged, and why no more.
    async fn publish(&self, unsent: &[Unsent]) -> (usize, Option<SinkFault>) {
        let mut acknowledged = 0;
        while acknowledged < unsent.len() {
            let rest = &unsent[acknowledged..];
            let mut under_way = BTreeSet::new();
            let independent = rest.iter().take_while(|it| under_way.insert(it.aggregate));
            let messages: Vec<EventMessage> = independent.map(|it| it.message.clone()).collect();
            for answer in self.sink.publish(&messages).await {
                match answer {
                    Ok(()) => acknowledged += 1,
                    Err(fault) => return (acknowledged, Some(fault)),
                }
            }
        }
        (acknowledged, None)
    }

    /// Raises an alert about a log once.
    async fn alert(&self, log: &RelayBehind, what: &str) {
        let known = self.broken().insert((log.tenant, log.log), what.to_owned());
        if known.as_deref() == Some(what) {
            return;
        }
        let alert = Alert { kind: AlertKind::Relay, subject: log.tenant.0, what: what.to_owned() };
        alerts::raise(&self.store, log.tenant, &alert).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_that_of_the_broker_or_of_the_database() {
        let store = RelayFault::Store(StoreError::Unavailable("no answer in time".to_owned()));
        let sink = RelayFault::Sink(SinkFault("no route".to_owned()));
        let broken = || Some("a log has a gap".to_owned());
        for (fault, broken, of_broker, of_store) in [
            (None, None, None, None),
            (None, broken(), Some("a log has a gap"), None),
            (Some(&sink), broken(), Some("no route"), None),
            (Some(&store), None, None, Some("the database cannot be reached: no answer in time")),
            (Some(&store), broken(), Some("a log has a gap"), Some("no answer in time")),
        ] {
            let state = RelayState::after(RelayRole::Active, fault, broken);
            assert_eq!(state.fault.as_deref(), of_broker);
            let named = state.store_fault.as_deref().zip(of_store);
            assert!(named.is_some_and(|(found, part)| found.contains(part)) == of_store.is_some());
            assert_eq!(state.store_fault.is_some(), of_store.is_some());
        }
    }
}
