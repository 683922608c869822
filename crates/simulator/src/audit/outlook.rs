//! What is still to come, by the database, the bank and the chain: what waits for people, when something is due next,
//! whether anything is left at all.

use domain::chain::BlockHash;
use domain::ids::{AttemptId, DepositId, EventId, ExchangeId, PaymentId, TenantId, WalletId};
use domain::rail::{Inquiry, RailId};
use domain::time::{Span, Timestamp};
use futures_util::FutureExt as _;
use uuid::Uuid;

use super::rows::{self, Key};
use super::{Auditor, Outside, wallets};
use crate::installation::RAILS;

/// A payment or an order that a person has to look at.
#[derive(Clone, Debug)]
pub struct ForPeople {
    pub tenant: TenantId,
    pub payment: PaymentId,
    /// Its newest attempt, with its rail.
    pub attempt: Option<(Inquiry, RailId)>,
    /// Whether it waits for a decision about its names; else its outcome is asked for.
    pub in_review: bool,
    /// Whether it is an exchange order, whose id is the payment's.
    pub is_order: bool,
}

/// What the wallet service leaves to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// A refused deposit could be given back.
    Refund(DepositId),
    /// A deposit is on legal hold.
    Lift(DepositId),
    /// A refund is proposed on the chain.
    Approve(DepositId),
    /// The rupees of a settled order came back.
    Recredit(ExchangeId),
    /// A tenant's receiver is switched off.
    SwitchOn,
    /// An event was never delivered.
    Redeliver(EventId),
}

/// Timers further away than this are not waited for.
const TIMERS_WAITED_FOR: Span = Span::hours(48);

/// How long pollers wait if deposits only need more confirmations.
const DEPTH_WAIT: Span = Span::secs(8);

/// The service compares the chain with its books every ten minutes. What the first comparison after a lie shows is looked
/// through at once, so that the books are right after so long.
const COMPARED_WITHIN: Span = Span::mins(12);
/// … and after this long it has had its time, whatever still differs: the rules of the end decide about that.
const COMPARED_FOR: Span = Span::hours(1);

impl Auditor {
    /// Payments that a person has to look at: held, unknown, or processed for longer than `slow`.
    pub fn for_people(&self, slow: Span) -> Vec<ForPeople> {
        let id = |key: Key| self.store.public_id(Uuid::from_bytes(key));
        let slow_since = self.sim.now() - slow;
        let found =
            self.read(|connection| rows::for_people(connection, slow_since.0)).unwrap_or_default();
        let open = |open: rows::Open| {
            let payment = PaymentId(id(open.payment));
            let attempt = open.attempt.map(|(attempt, rail, at)| {
                let attempt = AttemptId(id(attempt));
                (
                    Inquiry { payment, attempt, created_at: Timestamp(at), recalls: Vec::new() },
                    RailId::new(&rail),
                )
            });
            ForPeople {
                tenant: TenantId(Uuid::from_bytes(open.tenant)),
                payment,
                attempt,
                in_review: open.in_review,
                is_order: open.is_order,
            }
        };
        found.into_iter().map(open).collect()
    }

    /// What the wallet service leaves to people, whose it is.
    pub fn chores(&self) -> Vec<(TenantId, Chore)> {
        let found = self.read(wallets::rows::chores).unwrap_or_default();
        let chore = |(what, tenant, about): (String, Key, Key)| {
            let id = self.store.public_id(Uuid::from_bytes(about));
            let chore = match what.as_str() {
                "refund" => Chore::Refund(DepositId(id)),
                "lift" => Chore::Lift(DepositId(id)),
                "approve" => Chore::Approve(DepositId(id)),
                "recredit" => Chore::Recredit(ExchangeId(id)),
                "redeliver" => Chore::Redeliver(EventId(id)),
                _ => Chore::SwitchOn,
            };
            (TenantId(Uuid::from_bytes(tenant)), chore)
        };
        found.into_iter().map(chore).collect()
    }

    /// Active wallets whose money is about to move: a release or a debit is neither done nor given up.
    pub fn moving_wallets(&self) -> Vec<(TenantId, WalletId)> {
        let found = self.read(wallets::rows::moving_wallets).unwrap_or_default();
        let public = |(tenant, id): (Key, Key)| {
            (
                TenantId(Uuid::from_bytes(tenant)),
                WalletId(self.store.public_id(Uuid::from_bytes(id))),
            )
        };
        found.into_iter().map(public).collect()
    }

    /// When the next job or quote wants attention, or the chain does.
    pub fn next_due(&self) -> Option<Timestamp> {
        let job = self.read(rows::next_due).flatten().map(Timestamp);
        let chain = self.wallets.as_ref().and_then(|wallets| self.chain_due(&wallets.outside));
        job.into_iter().chain(chain).min()
    }

    /// When the chain's watcher should poll: at once if it has not read all blocks, later if
    /// deposits only need more confirmations.
    fn chain_due(&self, outside: &Outside) -> Option<Timestamp> {
        let now = self.sim.now();
        if !self.has_seen_chain(outside) {
            return Some(now);
        }
        let waits = self.read(wallets::rows::waiting) != Some(0) || !self.is_compared();
        waits.then(|| now + DEPTH_WAIT)
    }

    /// Endpoints lied about logs until now.
    pub fn lies_end(&self) {
        self.state().lied_until = Some(self.sim.now());
    }

    /// Whether the service has had the time that it needs to find what endpoints left out.
    fn is_compared(&self) -> bool {
        let Some(lied_until) = self.state().lied_until else { return true };
        let last = engine::reconcile::last(&self.store).now_or_never();
        let last = match last {
            Some(Ok(Some(report))) => report.at - lied_until,
            _ => return false,
        };
        // A difference that stays is looked through again after each comparison.
        let is_looked_through = || self.read(wallets::rows::rescans_wait) == Some(false);
        last >= COMPARED_FOR || last >= COMPARED_WITHIN && is_looked_through()
    }

    /// Whether all that is in the chain was taken in, from the chain as it is: a reorganisation may leave its height as
    /// it was.
    fn has_seen_chain(&self, outside: &Outside) -> bool {
        let chain = outside.chain.now();
        let seen = self.read(wallets::rows::chain_seen).flatten();
        seen.is_some_and(|(number, hash)| {
            number >= chain.newest_full() && chain.view().hash(number) == Some(BlockHash(hash))
        })
    }

    /// Whether nothing is left to do: no jobs, nothing to happen at the bank, no report that was not taken in.
    pub fn is_quiet(&self) -> bool {
        let beyond = (self.sim.now() + TIMERS_WAITED_FOR).0;
        self.bank.rests()
            && self.read(|connection| rows::has_open_jobs(connection, beyond)) == Some(false)
            && self
                .wallets
                .as_ref()
                .map(|wallets| &wallets.outside)
                .is_none_or(|outside| outside.chain.rests() && self.chain_due(outside).is_none())
            && RAILS.iter().all(|(rail, ..)| self.has_all_reports(rail))
    }

    /// What keeps [`Auditor::is_quiet`] from being so.
    pub fn left(&self) -> String {
        let beyond = (self.sim.now() + TIMERS_WAITED_FOR).0;
        let jobs = self.read(|connection| rows::open_jobs(connection, beyond)).unwrap_or_default();
        let reports: Vec<_> = RAILS
            .iter()
            .map(|(rail, ..)| *rail)
            .filter(|rail| !self.has_all_reports(rail))
            .collect();
        let chain = self.wallets.as_ref().map(|wallets| {
            let waiting = self.read(wallets::rows::waiting_for_chain).unwrap_or_default();
            let held_up = self.read(wallets::rows::held_up_transactions).unwrap_or_default();
            (
                self.has_seen_chain(&wallets.outside),
                wallets.outside.chain.rests(),
                waiting,
                held_up,
                self.is_compared(),
            )
        });
        let bank = self.bank.rests();
        format!(
            "jobs {jobs:?}, reports not read of {reports:?}, bank rests {bank}, chain (seen, rests, waiting, held up, compared) {chain:?}"
        )
    }

    fn has_all_reports(&self, rail: &str) -> bool {
        let Some(cursor) = self.read(|connection| rows::cursor(connection, rail)) else {
            return false;
        };
        self.bank.page(&RailId::new(rail), cursor.as_deref()).reports.is_empty()
    }
}
