//! What happens to a delivery: it is announced, tried, given up, replayed.

use std::ops::RangeInclusive;

use uuid::Uuid;

use super::states::{DeliveryStep, DeliveryTrigger};
use super::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream};
use crate::ids::{EventId, TenantId};
use crate::job::JobKind;
use crate::payment::JobChange;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};
use crate::wallet_event::Aggregate;
use crate::webhook::{DeliveryAnswer, DeliveryResult};

/// When a delivery is tried: at once, then this long after each failure (`decisions.md`, "Webhooks").
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
/// By how much a delay may be off, in thousandths.
pub const JITTER_PERMILLE: RangeInclusive<i64> = -200..=200;
/// The longest that a receiver may ask to be left alone.
pub const RETRY_AFTER_MAX: Span = Span::hours(24);

/// By how much a delay is off, in thousandths. Handed in, so that the same decision is the same twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter(i64);

impl Jitter {
    /// None.
    pub const NONE: Jitter = Jitter(0);

    /// A jitter that a fresh id chooses.
    pub const fn of(id: Uuid) -> Jitter {
        let (first, last) = (*JITTER_PERMILLE.start(), *JITTER_PERMILLE.end());
        // Of the last 64 bits of an id all but the first two are as good as random.
        let bits = (id.as_u64_pair().1 & ((1 << 62) - 1)).cast_signed();
        Jitter(first + bits % (last - first + 1))
    }

    /// A delay with it.
    pub const fn apply(self, delay: Span) -> Span {
        Span(delay.0 + delay.0 / 1_000 * self.0)
    }
}

/// Whether a tenant's receiver takes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverState {
    /// It does.
    Open,
    /// There is none, or it has said that it wants no more.
    Closed,
}

/// Takes up the delivery of an aggregate's event number `version`. Of an aggregate only the first that is not through
/// gets a job.
///
/// Versions follow each other, but for events that were not to be delivered when they happened ([`DeliveryStream`]).
/// One that comes after such a gap does not wait for what is open before it, and then nothing that waits there does any
/// longer; one that is made up for later is behind what is open and is tried at once, like a replayed one.
pub fn announce(
    stream: Option<DeliveryStream>,
    (aggregate, version): (Aggregate, i64),
    tenant: TenantId,
    receiver: ReceiverState,
    now: Timestamp,
) -> (Delivery, DeliveryStream, WalletEffects) {
    let mut effects = WalletEffects::default();
    let mut stream = stream.unwrap_or(DeliveryStream { tenant, aggregate, open: version, newest: version - 1 });
    if version > stream.newest + 1 {
        let waiting = (stream.open + 1)..=stream.newest;
        let ids = waiting.map(|version| aggregate.event_id(tenant, version).0);
        effects.jobs.extend(ids.map(|id| (id, JobChange::Set(JobKind::Deliver, now))));
        (stream.open, stream.newest) = (version, version - 1);
    }
    stream.newest = stream.newest.max(version);
    let is_first = version <= stream.open;
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
        ReceiverState::Open if is_first => delivery.try_at(now, &mut effects),
        // It waits behind others; what becomes of those that are to go nowhere is decided when it is their turn.
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

/// What a try has led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The try itself.
    pub attempt: DeliveryAttempt,
    /// Jobs and alerts.
    pub effects: WalletEffects,
    /// Whether the receiver wants no more of anything.
    pub receiver_gone: bool,
}

impl Delivery {
    fn try_at(&mut self, at: Timestamp, effects: &mut WalletEffects) {
        self.next_at = Some(at);
        effects.jobs.push((self.event.0, JobChange::Set(JobKind::Deliver, at)));
    }

    /// The receiver has answered, or has not.
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
            DeliveryResult::Gone => Some("the receiver is gone (410)".to_owned()),
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
            DeliveryStep::Again => self.try_at(now + delay.unwrap_or(RETRY_AFTER_MAX), &mut effects),
            DeliveryStep::To(state) => self.end(state, stream, &mut effects, now),
            DeliveryStep::Never => {}
        }
        effects.alerts.extend(match trigger {
            DeliveryTrigger::Gone => Some(self.alert(AlertKind::ReceiverGone, "answered 410: it gets nothing more")),
            DeliveryTrigger::NotReceivedAtLast => Some(self.alert(AlertKind::DeliveryDead, "a webhook was given up")),
            _ => None,
        });
        Tried { attempt, effects, receiver_gone: answer.result == DeliveryResult::Gone }
    }

    /// It is its turn, and there is no receiver.
    pub fn no_receiver(&mut self, stream: &mut DeliveryStream, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let DeliveryStep::To(state) = self.state.on(DeliveryTrigger::NoReceiver) {
            self.revision += 1;
            self.end(state, stream, &mut effects, now);
        }
        effects
    }

    /// Somebody wants it delivered, again or after all. One that is on its way is tried at once; one that waits behind
    /// another goes on waiting: the order of an aggregate's events is kept.
    pub fn replay(&mut self, stream: &DeliveryStream, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.state == DeliveryState::Pending && self.version > stream.open {
            return effects;
        }
        self.state = DeliveryState::Pending;
        self.tries = 0;
        self.revision += 1;
        self.try_at(now, &mut effects);
        effects
    }

    /// It as [`Delivery::replay`] left it at that time, whatever has become of it since.
    #[must_use]
    pub fn as_replayed(self, attempts: &[DeliveryAttempt], at: Timestamp) -> Delivery {
        let before = || attempts.iter().filter(|attempt| attempt.at <= at);
        let last = before().next_back();
        Delivery {
            state: DeliveryState::Pending,
            tries: 0,
            attempts: last.map_or(0, |last| last.number),
            next_at: Some(at),
            delivered_at: before().rfind(|attempt| attempt.fault.is_none()).map(|attempt| attempt.at),
            last_status: last.and_then(|last| last.status),
            last_fault: last.and_then(|last| last.fault.clone()),
            ..self
        }
    }

    /// The delay before the next try; `None` = there is none.
    fn delay(&self, retry_after: Option<Span>, jitter: Jitter) -> Option<Span> {
        let next = usize::try_from(self.tries).ok().and_then(|tries| SCHEDULE.get(tries))?;
        let asked = retry_after.map_or(Span(0), |span| span.clamp(Span(0), RETRY_AFTER_MAX));
        Some(jitter.apply(*next).max(asked))
    }

    /// It is through; the next of its aggregate has the way free.
    fn end(&mut self, state: DeliveryState, stream: &mut DeliveryStream, effects: &mut WalletEffects, now: Timestamp) {
        self.state = state;
        self.next_at = None;
        if state == DeliveryState::Delivered {
            self.delivered_at = Some(now);
        }
        effects.jobs.push((self.event.0, JobChange::Done));
        // A replayed one is behind what is open: it frees nothing.
        if stream.open == self.version {
            stream.open += 1;
            if stream.open <= stream.newest {
                let EventId(next) = self.aggregate.event_id(self.tenant, stream.open);
                effects.jobs.push((next, JobChange::Set(JobKind::Deliver, now)));
            }
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
