//! What happens to an intent: it fails and is tried again, is given up, done, or no longer wanted.

use super::states::{IntentTrigger, Move};
use super::{Intent, IntentKind, IntentState};
use crate::chain::vault;
use crate::ids::{IntentId, TenantId};
use crate::job::JobKind;
use crate::payment::JobChange;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// After so many tries that failed, an intent is given up.
pub const TRIES_MAX: i32 = 5;
/// Wait after the first try that failed; doubled after each further one.
const RETRY: Span = Span::secs(5);
/// The longest wait between two tries.
const RETRY_MAX: Span = Span::mins(10);
/// How often what has failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// [`TRIES_MAX`] times.
    Some,
    /// No more: trying again is of no use.
    Over,
    /// Until it works: others were told already that it did.
    Endless,
}

/// How long a coin that moves nothing is waited for.
pub const PAUSE_PATIENCE: Span = Span::hours(24);

/// The id of the intent that puts a tenant's controller on the chain: computed, so that there is one. Shaped as a
/// version 4 UUID.
pub fn deploy_id(tenant: TenantId) -> IntentId {
    let word = vault::hash(&[b"corridor.deploy", tenant.0.as_bytes()]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&word.0[..16]);
    IntentId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

impl Intent {
    /// Whether it is tried until it works: what must not be left half done.
    pub const fn is_never_given_up(&self) -> bool {
        matches!(self.kind, IntentKind::ReturnDebit | IntentKind::Deploy | IntentKind::SetLegalHold)
    }

    /// Whether its next failure is its last.
    pub const fn is_last_try(&self) -> bool {
        !self.is_never_given_up() && (self.unchecked || self.tries + 1 >= TRIES_MAX)
    }

    /// It took effect. `false` = that contradicts what is known.
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

    /// A try failed. Where it was the last, the intent is given up: `true`.
    pub fn failed(&mut self, why: &str, patience: Patience, now: Timestamp) -> (bool, WalletEffects) {
        let mut effects = WalletEffects::default();
        if self.state.is_terminal() {
            return (false, effects);
        }
        let last = match patience {
            Patience::Some => self.is_last_try(),
            Patience::Over => true,
            Patience::Endless => false,
        };
        let given_up = last && !self.is_never_given_up();
        let is_news = self.failure.as_deref() != Some(why);
        self.failure = Some(why.to_owned());
        self.tries += 1;
        if let (true, Move::To(state)) = (given_up, self.state.on(IntentTrigger::FailedForGood)) {
            self.tx = None;
            self.enter(state, now);
            effects.jobs.push((self.id.0, JobChange::Done));
            return (true, effects);
        }
        // What waits for a person, say for a key that is not configured, does not get better by being tried: he is called
        // once, and not again when he has taken note of it.
        let calls = if last { is_news } else { self.tries % TRIES_MAX == 0 };
        if calls {
            // About what it is done for, which is what a person can look up. The same words each time: one open alert,
            // however often it fails, and a new one once that was closed.
            let what = format!("{} does not work and is tried on: {why}", self.kind.name());
            effects.alerts.push(Alert { kind: AlertKind::Transaction, subject: self.subject, what });
        }
        self.wait_until(now + retry_delay(self.tries), &mut effects, now);
        (false, effects)
    }

    /// A reorganisation undid it: it is done again.
    pub fn undone(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if let Move::Alarming(_) = self.state.on(IntentTrigger::Undone) {
            self.wait_until(now, &mut effects, now);
        }
        effects
    }

    /// Its transaction is over without having tried it.
    pub fn not_tried(&mut self, now: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if !self.state.is_terminal() {
            self.wait_until(now, &mut effects, now);
        }
        effects
    }

    /// It cannot be tried now: it is looked at again at `until`.
    pub fn put_off(&self, until: Timestamp) -> WalletEffects {
        let mut effects = WalletEffects::default();
        if self.state == IntentState::Waiting {
            effects.jobs.push((self.id.0, JobChange::Set(JobKind::SendIntent, until)));
        }
        effects
    }

    /// It is no longer wanted. `true` = it is called off; else a transaction has it, or it is over.
    pub fn withdraw(&mut self, now: Timestamp) -> (bool, WalletEffects) {
        let mut effects = WalletEffects::default();
        let Move::To(state) = self.state.on(IntentTrigger::Unwanted) else { return (false, effects) };
        self.enter(state, now);
        effects.jobs.push((self.id.0, JobChange::Done));
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
