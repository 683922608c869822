//! Transitions of a delivery: announced, attempted, given up, replayed.

use std::ops::RangeInclusive;

use uuid::Uuid;

use super::states::{DeliveryStep, DeliveryTrigger};
use super::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream, Replays};
use crate::decision::JobChange;
use crate::ids::{EventId, TenantId};
use crate::job::JobKind;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::Aggregate;
use crate::webhook::{DeliveryAnswer, DeliveryResult};

/// Delivery schedule: at once, then this long after each failure (`decisions.md`, "Webhooks").
pub const SCHEDULE: [Span; 12] = [
    Span::secs(0),
    Span::secs(5),
    Span::secs(30),
    Span::mins(2),
    Span::mins(10),
    Span::mins(30),
    Span::hours(1),
    Span::hours(3),
    Span::hours(6),
    Span::hours(12),
    Span::hours(24),
    Span::hours(24),
];
/// Range of the jitter of a delay, in thousandths.
pub const JITTER_PERMILLE: RangeInclusive<i64> = -200..=200;
/// Upper limit of an endpoint's `Retry-After`.
pub const RETRY_AFTER_MAX: Span = Span::hours(24);

/// Jitter of a delay, in thousandths. Passed in, so that a decision is reproducible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter(i64);

impl Jitter {
    /// No jitter: the delay is exactly that of the schedule.
    pub const NONE: Jitter = Jitter(0);

    /// Jitter derived from a fresh id.
    pub const fn of(id: Uuid) -> Jitter {
        let (first, last) = (*JITTER_PERMILLE.start(), *JITTER_PERMILLE.end());
        // Of the last 64 bits of an id all but the first two are as good as random.
        let bits = (id.as_u64_pair().1 & ((1 << 62) - 1)).cast_signed();
        Jitter(first + bits % (last - first + 1))
    }

    /// Applies the jitter to a delay.
    pub const fn apply(self, delay: Span) -> Span {
        Span(delay.0 + delay.0 / 1_000 * self.0)
    }
}

/// What the alert says about a delivery that ended an endpoint's deliveries. It ends when the event is
/// delivered.
const ENDPOINT_GONE: &str = "the endpoint answered 410, deliveries are disabled";
/// What the alert about a delivery that was given up says. It ends when the event is delivered.
const GIVEN_UP: &str = "webhook delivery failed, will not retry";

/// Whether a tenant's endpoint accepts events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverState {
    /// It has an endpoint that accepts events.
    Open,
    /// There is none, or it declined further events.
    Closed,
}

/// Why a delivery is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The event is written in the same transaction.
    Event,
    /// The event happened earlier, when it was not to be delivered.
    Backfill,
}

/// Adds the delivery of an aggregate's event number `version`. Only the first unfinished delivery
/// of an aggregate gets a job.
///
/// Versions are consecutive except for events that were not to be delivered when they happened
/// ([`DeliveryStream`]). A delivery after a gap does not wait for open ones before it: those
/// continue in order, like replayed ones. So does a backfilled delivery that lies before the open
/// one or after a replayed one, which it would pass as the open one.
pub fn announce(
    stream: Option<DeliveryStream>,
    (aggregate, version): (Aggregate, i64),
    tenant: TenantId,
    (occasion, receiver): (Occasion, ReceiverState),
    now: Timestamp,
) -> (Delivery, DeliveryStream, WalletEffects) {
    let mut effects = WalletEffects::default();
    let mut stream = stream.unwrap_or_else(|| DeliveryStream::before((aggregate, version), tenant));
    let follows_replays =
        |stream: &DeliveryStream| occasion == Occasion::Backfill && stream.replays.waits(version);
    let is_newest = version > stream.newest;
    if version > stream.newest + 1 || (is_newest && follows_replays(&stream)) {
        stream.replays.add_open(stream.open..=stream.newest);
        (stream.open, stream.newest) = (version, version - 1);
    }
    stream.newest = stream.newest.max(version);
    let is_first = version <= stream.open;
    if is_newest && is_first && follows_replays(&stream) {
        stream.open = version + 1;
    }
    let mut delivery = Delivery {
        event: aggregate.event_id(tenant, version),
        tenant,
        aggregate,
        version,
        state: DeliveryState::Pending,
        tries: 0,
        attempts: 0,
        created_at: now,
        next_at: None,
        delivered_at: None,
        last_status: None,
        last_fault: None,
        revision: 1,
    };
    match receiver {
        ReceiverState::Open if is_first => {
            if version >= stream.open || stream.replays.add(version) {
                delivery.try_at(now, &mut effects);
            }
        }
        // It waits for others; deliveries without an endpoint are disabled when their turn comes.
        ReceiverState::Open => {}
        ReceiverState::Closed if !is_first => {}
        ReceiverState::Closed => {
            delivery.state = DeliveryState::Disabled;
            if stream.open == version {
                stream.open += 1;
            }
        }
    }
    (delivery, stream, effects)
}

/// Result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Record of the attempt, to be stored.
    pub attempt: DeliveryAttempt,
    /// Next job, and an alert if the delivery was given up.
    pub effects: WalletEffects,
    /// Whether the endpoint declines all further events.
    pub receiver_gone: bool,
}

impl DeliveryStream {
    /// The stream of an aggregate whose first delivery is that of event number `version`.
    fn before((aggregate, version): (Aggregate, i64), tenant: TenantId) -> DeliveryStream {
        let replays = Replays::default();
        DeliveryStream { tenant, aggregate, open: version, newest: version - 1, replays }
    }

    /// The stream of an aggregate whose deliveries up to event number `version` are finished.
    pub fn after(event: (Aggregate, i64), tenant: TenantId) -> DeliveryStream {
        DeliveryStream::before((event.0, event.1 + 1), tenant)
    }

    /// Ends the turn of a finished version; returns the version whose turn it is now.
    fn end(&mut self, version: i64) -> Option<i64> {
        if self.replays.contains(version) {
            return self.replays.end(version);
        }
        if self.open != version || version > self.newest {
            return None;
        }
        self.open += 1;
        (self.open <= self.newest).then_some(self.open)
    }
}

impl Delivery {
    fn try_at(&mut self, at: Timestamp, effects: &mut WalletEffects) {
        self.next_at = Some(at);
        effects.jobs.push((self.event.0, JobChange::Set(JobKind::Deliver, at)));
    }

    /// Records the result of an attempt.
    pub fn tried(
        &mut self,
        stream: &mut DeliveryStream,
        answer: &DeliveryAnswer,
        jitter: Jitter,
        now: Timestamp,
    ) -> Tried {
        self.attempts += 1;
        self.tries += 1;
        self.revision += 1;
        self.last_status = answer.status;
        self.last_fault = match &answer.result {
            DeliveryResult::Received => None,
            DeliveryResult::NotReceived(why) => Some(why.clone()),
            DeliveryResult::Gone => Some("the endpoint is gone (410)".to_owned()),
        };
        let attempt = DeliveryAttempt {
            tenant: self.tenant,
            event: self.event,
            number: self.attempts,
            at: now,
            status: answer.status,
            body: answer.body.clone(),
            fault: self.last_fault.clone(),
            took: answer.took,
        };
        let mut effects = WalletEffects::default();
        let delay = self.delay(answer.retry_after, jitter);
        let trigger = match (&answer.result, delay) {
            (DeliveryResult::Received, _) => DeliveryTrigger::Received,
            (DeliveryResult::Gone, _) => DeliveryTrigger::Gone,
            (DeliveryResult::NotReceived(_), Some(_)) => DeliveryTrigger::NotReceived,
            (DeliveryResult::NotReceived(_), None) => DeliveryTrigger::NotReceivedAtLast,
        };
        match self.state.on(trigger) {
            DeliveryStep::Again => {
                self.try_at(now + delay.unwrap_or(RETRY_AFTER_MAX), &mut effects)
            }
            DeliveryStep::To(state) => self.end(state, stream, &mut effects, now),
            DeliveryStep::Never => {}
        }
        let gone = || self.alert(AlertKind::ReceiverGone, ENDPOINT_GONE);
        let dead = || self.alert(AlertKind::DeliveryDead, GIVEN_UP);
        match trigger {
            DeliveryTrigger::Gone => effects.alerts.push(gone()),
            DeliveryTrigger::NotReceivedAtLast => effects.alerts.push(dead()),
            // It was replayed.
            DeliveryTrigger::Received if self.attempts > self.tries => {
                effects.closed.extend([gone(), dead()]);
            }
            _ => {}
        }
        Tried { attempt, effects, receiver_gone: answer.result == DeliveryResult::Gone }
    }

    /// Its turn came, and there is no endpoint.
    pub fn no_receiver(&mut self, stream: &mut DeliveryStream, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let DeliveryStep::To(state) = self.state.on(DeliveryTrigger::NoReceiver) {
            self.revision += 1;
            self.end(state, stream, &mut effects, now);
        }
        effects
    }

    /// Replays the delivery: at once, or after the lower ones of its aggregate that are replayed. A
    /// pending one whose turn it is is attempted at once; one that waits for another keeps waiting,
    /// which preserves the order of the aggregate's events.
    pub fn replay(&mut self, stream: &mut DeliveryStream, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        let is_open = (stream.open..=stream.newest).contains(&self.version);
        let is_known = is_open || stream.replays.contains(self.version);
        let is_due = if self.state == DeliveryState::Pending && is_known {
            if self.version != stream.open && !stream.replays.due.contains(&self.version) {
                return effects;
            }
            true
        } else {
            stream.replays.add(self.version)
        };
        self.state = DeliveryState::Pending;
        self.tries = 0;
        self.revision += 1;
        self.next_at = None;
        if is_due {
            self.try_at(now, &mut effects);
        }
        effects
    }

    /// The state in which [`Delivery::replay`] left it at that time, regardless of later changes.
    #[must_use]
    pub fn as_replayed(self, attempts: &[DeliveryAttempt], at: Timestamp) -> Delivery {
        let before = || attempts.iter().filter(|attempt| attempt.at <= at);
        let last = before().next_back();
        let is_as_then = before().count() == attempts.len() && self.state == DeliveryState::Pending;
        Delivery {
            state: DeliveryState::Pending,
            tries: 0,
            attempts: last.map_or(0, |last| last.number),
            next_at: if is_as_then { self.next_at } else { Some(at) },
            delivered_at: before()
                .rfind(|attempt| attempt.fault.is_none())
                .map(|attempt| attempt.at),
            last_status: last.and_then(|last| last.status),
            last_fault: last.and_then(|last| last.fault.clone()),
            ..self
        }
    }

    /// Delay before the next attempt; `None` means that there is none.
    fn delay(&self, retry_after: Option<Span>, jitter: Jitter) -> Option<Span> {
        let next = usize::try_from(self.tries).ok().and_then(|tries| SCHEDULE.get(tries))?;
        let asked = retry_after.map_or(Span(0), |span| span.clamp(Span(0), RETRY_AFTER_MAX));
        Some(jitter.apply(*next).max(asked))
    }

    /// Finishes the delivery and starts the one of its aggregate that waited for it.
    fn end(
        &mut self,
        state: DeliveryState,
        stream: &mut DeliveryStream,
        effects: &mut WalletEffects,
        now: Timestamp,
    ) {
        self.state = state;
        self.next_at = None;
        if state == DeliveryState::Delivered {
            self.delivered_at = Some(now);
        }
        effects.jobs.push((self.event.0, JobChange::Done));
        if let Some(next) = stream.end(self.version) {
            let EventId(next) = self.aggregate.event_id(self.tenant, next);
            effects.jobs.push((next, JobChange::Set(JobKind::Deliver, now)));
        }
    }

    fn alert(&self, kind: AlertKind, what: &str) -> Alert {
        Alert {
            kind,
            subject: self.event.0,
            what: format!("{what} ({} {})", self.aggregate.kind(), self.aggregate.id()),
        }
    }
}
