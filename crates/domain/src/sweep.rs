//! A sweep: tokens of paid-out orders move from the tenant's controller to its settlement treasury.
//!
//! Tokens that may have to return to a customer are never swept: neither those of an open order,
//! nor those of a settled order whose payout was returned. Every return is thus paid from the place
//! that holds the tokens.

use crate::chain::{Address, ChainNumber, Plan, SweepTerms, TxHash, vault};
use crate::chain_tx::Intent;
use crate::chain_tx::states::Move;
use crate::coin_amount;
use crate::currency::StableCoin;
use crate::decision::{Cx, JobChange};
use crate::ids::{IntentId, SweepId, TenantId, TransferId};
use crate::job::JobKind;
use crate::ledger::{Account, AccountCode, Transfer, TransferKind};
use crate::money::Money;
use crate::time::{Span, Timestamp};
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// Delay after a failed sweep, which gives an operator time to react.
pub const RETRY_AFTER: Span = Span::hours(1);
/// Beginning of the alert about a sweep that failed. It ends with the next one that is made.
const WILL_RETRY: &str = "sweep to the treasury failed, will retry";

names! {
    /// State of a sweep.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SweepState: "Name in the store." {
        /// Its tokens are reserved; its intent waits, or is assigned to a transaction.
        Sending = "sending",
        /// The treasury has the tokens, at the required depth.
        Done = "done",
        /// Given up; the controller has the tokens.
        Failed = "failed",
    }
}

impl SweepState {
    /// The matrix state × trigger. A sweep starts as `Sending`.
    pub const fn on(self, trigger: SweepTrigger) -> Move<SweepState> {
        match (self, trigger) {
            (SweepState::Sending, SweepTrigger::Done) => Move::To(SweepState::Done),
            (SweepState::Sending, SweepTrigger::GivenUp) => Move::Alarming(SweepState::Failed),
            // Executed again after a reorganisation, or reported twice.
            (SweepState::Done, SweepTrigger::Done)
            | (SweepState::Failed, SweepTrigger::GivenUp) => Move::Stays,
            // A reorganisation restored it.
            (SweepState::Failed, SweepTrigger::Done) => Move::Alarming(SweepState::Done),
            (SweepState::Done, SweepTrigger::GivenUp) => Move::Person,
        }
    }
}

names! {
    /// Trigger of a sweep.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SweepTrigger: "Label in `docs/states.md`." {
        /// Its transaction took effect, at the required depth.
        Done = "done, deep enough",
        /// Its intent was given up.
        GivenUp = "intent given up",
    }
}

/// One sweep of one stablecoin of one tenant on one chain, of which at most one is `Sending`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Id of the sweep.
    pub id: SweepId,
    /// Tenant of the sweep.
    pub tenant: TenantId,
    /// Chain of the controller and the treasury.
    pub chain: ChainNumber,
    /// Stablecoin to sweep: each is swept separately.
    pub coin: StableCoin,
    /// Amount in minor units (10^-6).
    pub minor: i64,
    /// State; a done or failed sweep stays so.
    pub state: SweepState,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// Time at which the tokens were reserved.
    pub began_at: Timestamp,
    /// The reservation controller → treasury.
    pub hold: TransferId,
    /// Intent that executes it.
    pub intent: IntentId,
    /// Transaction that executed it.
    pub tx: Option<TxHash>,
    /// What the token's contract deducted, as booked, in minor units (10^-6). `None` of sweeps that an
    /// earlier version executed: unknown.
    pub token_fee: Option<i64>,
    /// Row version, increased by one with every change.
    pub version: i64,
}

/// The accounts that determine the sweepable amount of a stablecoin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pools {
    /// `unswept`: tokens in the controller.
    pub unswept: Account,
    /// `treasury`: tokens that were swept to the treasury.
    pub treasury: Account,
    /// `exchanged`: negative, tokens that orders were paid out for.
    pub exchanged: Account,
    /// `payout_suspense`: tokens of returned payouts, to be returned, and of returns that are barred.
    pub payout_suspense: Account,
}

impl Pools {
    /// The accounts of a chain's stablecoin, as `account` finds them.
    pub fn of(
        chain: ChainNumber,
        coin: StableCoin,
        account: impl Fn(&AccountCode) -> Account,
    ) -> Pools {
        Pools {
            unswept: account(&AccountCode::Unswept(chain, coin)),
            treasury: account(&AccountCode::Treasury(chain, coin)),
            exchanged: account(&AccountCode::Exchanged(chain, coin)),
            payout_suspense: account(&AccountCode::PayoutSuspense(chain, coin)),
        }
    }

    /// Minor units that must stay with the controller: the tokens of open orders, and those in
    /// suspense.
    pub fn owed(&self) -> i64 {
        [&self.unswept, &self.treasury, &self.exchanged, &self.payout_suspense]
            .iter()
            .fold(0, |sum: i64, account| sum.saturating_add(account.balance().minor))
    }

    /// Sweepable amount in minor units; negative if the controller holds less than it owes.
    pub fn sweepable(&self) -> i64 {
        self.unswept.available().minor.saturating_sub(self.owed())
    }

    /// The controller's shortfall; `None` if it has enough. The missing tokens were swept before
    /// they were owed.
    pub fn missing(&self) -> Option<Money> {
        let short = self.sweepable().checked_neg().filter(|short| *short > 0)?;
        Some(Money::new(short, self.unswept.code.currency()))
    }

    /// Whether a sweep is in progress: only sweeps reserve the controller's tokens.
    pub const fn is_sweeping(&self) -> bool {
        self.unswept.debits_pending > 0
    }

    /// Start of the next sweep. `waits` means that one is scheduled, which only a large amount
    /// brings forward. `None` keeps that schedule, or means that there is nothing to sweep.
    pub fn next(&self, terms: SweepTerms, waits: bool, now: Timestamp) -> Option<Timestamp> {
        match self.sweepable() {
            _ if self.is_sweeping() => None,
            enough if enough > 0 && enough >= terms.at_minor => Some(now),
            some if some > 0 && !waits => Some(now + terms.every),
            _ => None,
        }
    }
}

/// Subject of the job that begins sweeps of a tenant's stablecoin on a chain: derived, so that there
/// is only one. Has the form of a version 4 UUID.
pub fn lane(tenant: TenantId, chain: ChainNumber, coin: StableCoin) -> uuid::Uuid {
    let (code, part) = (coin.currency().code(), chain.id_part());
    let word = vault::hash(&[b"corridor.sweep", tenant.0.as_bytes(), code.as_bytes(), &part]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&word.0[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// Parameters of a new sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSweep {
    /// Id of the sweep.
    pub id: SweepId,
    /// Tenant of the sweep.
    pub tenant: TenantId,
    /// Chain of the controller and the treasury.
    pub chain: ChainNumber,
    /// Stablecoin to sweep: each is swept separately.
    pub coin: StableCoin,
    /// ERC-20 contract of the stablecoin.
    pub token: Address,
    /// On-chain balance of the controller, in minor units.
    pub held: i64,
}

/// Begins a sweep of the whole sweepable amount, unless one is in progress. If the chain has less
/// than the books, the owed amount stays first.
pub fn begin(
    new: NewSweep,
    pools: &Pools,
    cx: &mut Cx<'_>,
) -> Option<(Sweep, Intent, WalletEffects)> {
    let there = new.held.saturating_sub(pools.owed());
    let minor = pools.sweepable().min(there);
    if minor <= 0 || pools.is_sweeping() {
        return None;
    }
    let intent = IntentId(cx.ids.next());
    let sweep = Sweep {
        id: new.id,
        tenant: new.tenant,
        chain: new.chain,
        coin: new.coin,
        minor,
        state: SweepState::Sending,
        state_at: cx.now,
        began_at: cx.now,
        hold: cx.transfer_id(),
        intent,
        tx: None,
        token_fee: Some(0),
        version: 1,
    };
    let plan = Plan::Sweep { token: new.token, amount: minor.unsigned_abs() };
    let wanted = Intent::new(intent, new.tenant, new.chain, new.id.0, plan, cx.now);
    let wanted = Intent { coin: Some(new.coin), ..wanted };
    let effects = WalletEffects {
        transfers: vec![sweep.reserve()],
        jobs: vec![
            (intent.0, JobChange::Set(JobKind::SendIntent, cx.now)),
            (lane(new.tenant, new.chain, new.coin), JobChange::Done),
        ],
        ..WalletEffects::default()
    };
    Some((sweep, wanted, effects))
}

impl Sweep {
    fn reserve(&self) -> Transfer {
        Transfer {
            id: self.hold,
            tenant: self.tenant,
            debit: AccountCode::Unswept(self.chain, self.coin),
            credit: AccountCode::Treasury(self.chain, self.coin),
            amount: Money::new(self.minor, self.coin.currency()),
            kind: TransferKind::Pending,
            pending: None,
            set: self.hold,
            reason: "sweep.reserve",
            subject: Some(self.id.0),
            at: self.began_at,
        }
    }

    fn end(&mut self, state: SweepState, cx: &mut Cx<'_>) -> Transfer {
        let (kind, reason) = match state {
            SweepState::Done => (TransferKind::PostPending, "sweep.done"),
            SweepState::Sending | SweepState::Failed => (TransferKind::VoidPending, "sweep.void"),
        };
        (self.state, self.state_at) = (state, cx.now);
        self.version += 1;
        let id = cx.transfer_id();
        Transfer {
            id,
            kind,
            pending: Some(self.hold),
            set: id,
            reason,
            at: cx.now,
            ..self.reserve()
        }
    }

    /// Books what the token's contract deducted, less what is booked of it: it never was in the
    /// treasury, and the tenant's position bears it.
    fn change_fee(&mut self, fee: i64, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let Some(booked) = self.token_fee.filter(|booked| *booked != fee) else {
            return Vec::new();
        };
        self.token_fee = Some(fee);
        self.version += 1;
        let (chain, coin) = (self.chain, self.coin);
        let set = cx.transfer_id();
        let minor = fee.saturating_sub(booked);
        let (tenant, subject, at) = (self.tenant, Some(self.id.0), cx.now);
        let reason = if minor > 0 { "sweep.token_fee" } else { "sweep.token_fee_reversal" };
        let leg = |id, from, to| {
            let (debit, credit) = if minor > 0 { (from, to) } else { (to, from) };
            let amount = Money::new(minor.saturating_abs(), coin.currency());
            let kind = TransferKind::Posted;
            Transfer {
                id,
                tenant,
                debit,
                credit,
                amount,
                kind,
                pending: None,
                set,
                reason,
                subject,
                at,
            }
        };
        let position = AccountCode::FxPosition(coin.currency());
        vec![
            leg(set, AccountCode::Treasury(chain, coin), AccountCode::External(coin)),
            leg(cx.transfer_id(), position, AccountCode::Exchanged(chain, coin)),
        ]
    }

    /// It took effect in `tx`, as the chain has it now. Books what the token's contract deducted, in
    /// place of what is booked.
    pub fn fee_is(&mut self, (tx, fee): (TxHash, i64), cx: &mut Cx<'_>) -> WalletEffects {
        self.version += i64::from(self.tx.is_some_and(|known| known != tx));
        self.tx = Some(tx);
        WalletEffects { transfers: self.change_fee(fee, cx), ..WalletEffects::default() }
    }

    fn alert(&self, kind: AlertKind, what: String) -> Alert {
        Alert { kind, subject: lane(self.tenant, self.chain, self.coin), what }
    }

    /// The treasury received the tokens in `tx`, less the `fee` that their contract deducted for its
    /// issuer. A sweep that was given up ended its reservation: it
    /// is booked if the books have the tokens in the controller, whose `available` minor units are
    /// not reserved.
    pub fn done(
        &mut self,
        (tx, fee): (TxHash, i64),
        available: i64,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let mut effects = WalletEffects::default();
        match self.state.on(SweepTrigger::Done) {
            Move::To(state) => {
                effects.transfers.push(self.end(state, cx));
                self.token_fee.get_or_insert(0);
                effects.merge(self.fee_is((tx, fee), cx));
                effects.ended.push(self.alert(AlertKind::Transaction, WILL_RETRY.to_owned()));
            }
            Move::Alarming(state) if available >= self.minor => {
                let posted =
                    Transfer { kind: TransferKind::Posted, pending: None, ..self.end(state, cx) };
                effects.transfers.push(posted);
                self.token_fee.get_or_insert(0);
                effects.merge(self.fee_is((tx, fee), cx));
                let what =
                    format!("the sweep {} took effect after it had failed, and is booked", self.id);
                effects.alerts.push(self.alert(AlertKind::DeepReorg, what));
            }
            Move::Alarming(_) => {
                let (coin, minor) = (self.coin.currency().code(), coin_amount::show(self.minor));
                let what = format!(
                    "the sweep {} took effect in {tx} after it had failed, and its tokens were used otherwise since: \
                     send {minor} {coin} from the treasury back to the controller, without booking it",
                    self.id
                );
                effects.alerts.push(self.alert(AlertKind::ChainMismatch, what));
            }
            Move::Stays => effects.merge(self.fee_is((tx, fee), cx)),
            Move::Refused | Move::Person => {}
        }
        effects
    }

    /// Its intent was given up; `why` is the chain's reason.
    pub fn given_up(&mut self, why: &str, cx: &mut Cx<'_>) -> WalletEffects {
        let mut effects = WalletEffects::default();
        match self.state.on(SweepTrigger::GivenUp) {
            Move::To(state) | Move::Alarming(state) => {
                effects.transfers.push(self.end(state, cx));
                let job = JobChange::Set(JobKind::Sweep, cx.now + RETRY_AFTER);
                effects.jobs.push((lane(self.tenant, self.chain, self.coin), job));
                // A constant text keeps one alert open, however often it fails.
                let what = format!("{WILL_RETRY}: {why}");
                effects.alerts.push(self.alert(AlertKind::Transaction, what));
            }
            Move::Stays | Move::Refused => {}
            Move::Person => {
                let what = format!("the sweep {} was undone, and failed again: {why}", self.id);
                effects.alerts.push(self.alert(AlertKind::ChainMismatch, what));
            }
        }
        effects
    }
}

#[cfg(test)]
mod tests;
