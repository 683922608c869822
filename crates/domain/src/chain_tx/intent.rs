//! Transitions of an intent: failure and retry, giving up, completion, cancellation.

use super::states::{IntentTrigger, Move};
use super::{Intent, IntentState};
use crate::chain::{ChainNumber, IntentKind, vault};
use crate::decision::JobChange;
use crate::ids::{ChainTxId, IntentId, PaymentRequestId, TenantId};
use crate::job::JobKind;
use crate::names::words;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// Failed attempts after which an intent is given up.
pub const TRIES_MAX: i32 = 5;
/// Delay after the first failed attempt; doubled after each further one.
const RETRY: Span = Span::secs(5);
/// Maximum delay between two attempts.
const RETRY_MAX: Span = Span::mins(10);
/// Part of the alert about an intent that is held. It ends with the hold.
pub const EXECUTED_ALREADY: &str = "the controller has executed it already";

/// Retry policy of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryPolicy {
    /// Retry up to [`TRIES_MAX`] times.
    Limited,
    /// Do not retry: it is useless.
    NoRetry,
    /// Retry until it succeeds: others have already been notified of success.
    UntilSuccess,
    /// Do not retry even what is otherwise never given up: it can never succeed.
    Abandon,
}

/// Time to wait for a paused token.
pub const PAUSE_TIMEOUT: Span = Span::hours(24);

/// Id of the intent that deploys a tenant's controller on a chain: derived, so that there is only
/// one. Has the form of a version 4 UUID.
pub fn deploy_id(tenant: TenantId, chain: ChainNumber) -> IntentId {
    derived(&[b"corridor.deploy", tenant.0.as_bytes(), &chain.id_part()])
}

/// Id of the intent of a payment request's sponsored transfer with this number: derived, so that
/// each number is used once.
pub fn sponsored_id(tenant: TenantId, request: PaymentRequestId, number: u8) -> IntentId {
    derived(&[b"corridor.sponsor", tenant.0.as_bytes(), request.0.as_bytes(), &[number]])
}

fn derived(parts: &[&[u8]]) -> IntentId {
    let word = vault::hash(parts);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&word.0[..16]);
    IntentId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

impl Intent {
    /// Whether it is retried until it succeeds, because half of the work must not remain; unless it
    /// is [futile](RetryPolicy::Abandon).
    pub const fn is_never_given_up(&self) -> bool {
        matches!(
            self.kind(),
            IntentKind::ReturnDebit | IntentKind::Deploy | IntentKind::SetLegalHold
        )
    }

    /// Whether the next failure is final.
    pub const fn is_last_try(&self) -> bool {
        !self.is_never_given_up() && (self.unchecked || self.tries + 1 >= TRIES_MAX)
    }

    /// It took effect. `false` means that this contradicts what is known.
    pub fn done(&mut self, now: Timestamp) -> bool {
        match self.state.on(IntentTrigger::Done) {
            Move::To(state) => {
                self.enter(state, now);
                true
            }
            Move::Stays => true,
            Move::Alarming(_) | Move::Refused | Move::Person => false,
        }
    }

    /// An attempt failed. Returns `true` if it was the last one and the intent is given up.
    pub fn failed(
        &mut self,
        why: &str,
        patience: RetryPolicy,
        now: Timestamp,
    ) -> (bool, WalletEffects) {
        let mut effects = WalletEffects::default();
        if self.state.is_terminal() {
            return (false, effects);
        }
        let last = match patience {
            RetryPolicy::Limited => self.is_last_try(),
            RetryPolicy::NoRetry | RetryPolicy::Abandon => true,
            RetryPolicy::UntilSuccess => false,
        };
        let given_up = last && (patience == RetryPolicy::Abandon || !self.is_never_given_up());
        let is_news = self.failure.as_deref() != Some(why);
        self.failure = Some(why.to_owned());
        self.tries += 1;
        if let (true, Move::To(state)) = (given_up, self.state.on(IntentTrigger::FailedForGood)) {
            self.tx = None;
            self.enter(state, now);
            effects.jobs.push((self.id.0, JobChange::Done));
            effects.ended.extend(self.own_alerts());
            return (true, effects);
        }
        // Retries do not fix a missing key or other faults that need an operator: raise one alert
        // per cause, and none again after it is acknowledged.
        let calls = if last { is_news } else { self.tries % TRIES_MAX == 0 };
        if calls {
            // The alert names the subject, which an operator can look up. A constant text keeps one
            // alert open however often it fails, and opens another once that one is closed.
            let what = format!("{}: {why}", self.retry_words());
            effects.alerts.push(Alert {
                kind: AlertKind::Transaction,
                subject: self.subject,
                what,
            });
        }
        self.wait_until(now + retry_delay(self.tries), &mut effects, now);
        (false, effects)
    }

    /// The alerts about its retries and its hold, which end with it, however that ends: a
    /// reorganisation may have undone the execution that it was held for.
    pub fn own_alerts(&self) -> Vec<Alert> {
        let alert = |kind, what| Alert { kind, subject: self.subject, what };
        let retries = alert(AlertKind::Transaction, self.retry_words());
        let hold = alert(AlertKind::ChainMismatch, self.held_words());
        self.failure.is_some().then_some(retries).into_iter().chain([hold]).collect()
    }

    /// Beginning of the alert that it is held: the controller has executed it in a transaction that
    /// these books do not have.
    pub fn held_words(&self) -> String {
        format!("the intent to {} is held: {EXECUTED_ALREADY}", words(self.kind().name()))
    }

    fn retry_words(&self) -> String {
        format!("{} failed, will retry", self.kind().name())
    }

    /// A reorganisation undid it: execute it again.
    pub fn undone(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Move::Alarming(_) = self.state.on(IntentTrigger::Undone) {
            self.wait_until(now, &mut effects, now);
        }
        effects
    }

    /// A reorganisation restored `tx`, in which it takes effect.
    pub fn restored(&mut self, tx: ChainTxId, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Move::To(state) = self.state.on(IntentTrigger::Restored) {
            self.enter(state, now);
            effects.jobs.push((self.id.0, JobChange::Done));
        } else if self.tx != Some(tx) {
            self.version += 1;
        }
        self.tx = Some(tx);
        effects
    }

    /// It took effect in a transaction that these books do not have: an earlier life of the
    /// installation executed it, before its database was restored.
    pub fn done_before(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Move::To(state) = self.state.on(IntentTrigger::Restored) {
            self.enter(state, now);
            effects.jobs.push((self.id.0, JobChange::Done));
            effects.ended.extend(self.own_alerts());
        }
        effects
    }

    /// Its transaction ended without attempting it.
    pub fn not_tried(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.state.is_terminal() {
            self.wait_until(now, &mut effects, now);
        }
        effects
    }

    /// It lacks tokens that may return: waits for them. Returns since when.
    pub fn lacks_tokens(&mut self, now: Timestamp) -> Timestamp {
        if self.short_since.is_none() {
            self.version += 1;
        }
        *self.short_since.get_or_insert(now)
    }

    /// It cannot be attempted now: check again at `until`.
    pub fn put_off(&self, until: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.state == IntentState::Waiting {
            effects.jobs.push((self.id.0, JobChange::Set(JobKind::SendIntent, until)));
        }
        effects
    }

    /// It is no longer wanted. Returns `true` if it is cancelled, `false` if a transaction has it
    /// or it is final.
    pub fn withdraw(&mut self, now: Timestamp) -> (bool, WalletEffects) {
        let mut effects = WalletEffects::default();
        let Move::To(state) = self.state.on(IntentTrigger::Unwanted) else {
            return (false, effects);
        };
        self.enter(state, now);
        effects.jobs.push((self.id.0, JobChange::Done));
        effects.ended.extend(self.own_alerts());
        (true, effects)
    }

    fn wait_until(&mut self, at: Timestamp, effects: &mut WalletEffects, now: Timestamp) {
        self.tx = None;
        self.enter(IntentState::Waiting, now);
        effects.jobs.push((self.id.0, JobChange::Set(JobKind::SendIntent, at)));
    }
}

fn retry_delay(tries: i32) -> Span {
    let doublings = u32::try_from(tries.saturating_sub(1)).unwrap_or(0).min(16);
    Span(RETRY.0.saturating_mul(1 << doublings).min(RETRY_MAX.0))
}
