//! Rules of exchange orders, one test per rule.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::order::{SANDBOX_TIMEOUT, TIMEOUT};
use super::price::LOCK;
use super::states::{OrderStep, OrderTrigger};
use super::*;
use crate::attempt::{Attempt, AttemptState};
use crate::chain::{ChainConfig, ChainNumber, IntentKind};
use crate::chain_tx::{IntentState, RetryPolicy};
use crate::currency::Currency;
use crate::decision::{Cx, JobChange};
use crate::deposit::tests::{WALLET, block_wallet, config, wallet};
use crate::ids::PaymentId;
use crate::job::JobKind;
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::policy::RailConfig;
use crate::rail::{Finding, RailId, RailReport, RailStatus};
use crate::screening::Screened;
use crate::sender_limit::Sender;
use crate::sweep::Pools;
use crate::test_values::{Books, Ids, TENANT, dec, monday, pkr, rail};
use crate::time::Span;
use crate::wallet::WalletState;
use crate::wallet_event::{FailureReason, WalletEvent};

const ORDER: ExchangeId = ExchangeId(Uuid::from_u128(0xd1));
const HOLD: TransferId = TransferId(Uuid::from_u128(0xd2));
/// Balance of the wallet: 1,000 USDC.
const FUNDS: i64 = 1_000_000_000;
/// Amount to exchange: 100 USDC.
const MINOR: i64 = 100_000_000;
const TX: TxHash = TxHash([4; 32]);

fn code() -> AccountCode {
    AccountCode::Wallet(WALLET, StableCoin::Usdc)
}

fn funded(minor: i64) -> Books {
    let mut books = Books::empty();
    let id = TransferId(Uuid::from_u128(0xd3));
    let credit = Transfer {
        id,
        tenant: TENANT,
        debit: AccountCode::External(StableCoin::Usdc),
        credit: code(),
        amount: Money::new(minor, Currency::Usdc),
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason: "deposit.credit",
        subject: None,
        at: monday(),
    };
    books.book(&[credit]).expect("a credit");
    books
}

fn new_order() -> NewOrder {
    NewOrder {
        id: ORDER,
        hold: HOLD,
        coin: StableCoin::Usdc,
        minor: MINOR,
        price: Price::new(Currency::Pkr, dec("278.50"), 50),
        lock: false,
        bank: BankAccount {
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            account_number: None,
            bank_code: None,
            holder: "Aisha Khan".to_owned(),
            bic: None,
            bank_name: None,
        },
        expected: Span::secs(60),
        fate: Fate::Open,
        screened: screened(0),
    }
}

fn screened(score: u8) -> Screened {
    Screened { score, evidence: None, list_version: "lists-1".to_owned(), stale: false }
}

fn says(attempt: &Attempt, status: RailStatus) -> RailReport {
    RailReport {
        attempt: attempt.id,
        status,
        reason: None,
        info: None,
        bank_reference: Some("BANK-7".to_owned()),
        return_id: None,
        amount: None,
        source: "pain.002 B-1".to_owned(),
        further_reasons: Vec::new(),
        charges: None,
    }
}

struct World {
    case: OrderCase,
    attempt: Option<Attempt>,
    books: Books,
    rail: RailConfig,
    told: Vec<WalletEvent>,
    alerts: usize,
    open: Vec<Alert>,
    job: Option<JobKind>,
    ids: Ids,
    now: Timestamp,
}

impl World {
    fn with(new: NewOrder) -> World {
        let mut ids = Ids::new();
        let mut books = funded(FUNDS);
        let account = books.account(&code());
        let mut cx = Cx { now: monday(), ids: &mut ids };
        let (case, effects) =
            create(new, &wallet(), &account, &config(), &mut cx).expect("an order");
        books.book(&effects.transfers).expect("the reservation");
        let mut world = World {
            case,
            attempt: None,
            books,
            rail: rail("pak-raast"),
            told: Vec::new(),
            alerts: 0,
            open: Vec::new(),
            job: None,
            ids,
            now: monday(),
        };
        world.keep(WalletEffects { transfers: Vec::new(), ..effects });
        world
    }

    fn pending() -> World {
        World::with(new_order())
    }

    fn keep(&mut self, effects: WalletEffects) {
        self.books.book(&effects.transfers).expect("the ledger accepts it");
        self.told.extend(effects.events.into_iter().map(|new| new.event));
        for closed in effects.closed {
            let at = self.open.iter().position(|it| *it == closed).expect("an open alert");
            self.open.remove(at);
        }
        let ends = |ended: &Alert, it: &Alert| {
            (ended.kind, ended.subject) == (it.kind, it.subject) && it.what.starts_with(&ended.what)
        };
        self.open.retain(|it| !effects.ended.iter().any(|ended| ends(ended, it)));
        self.open.extend(effects.alerts);
        self.alerts = self.open.len();
        self.attempt = effects.attempts.into_iter().next_back().or(self.attempt.take());
        for (subject, change) in effects.jobs {
            if subject == ORDER.0 {
                self.job = match change {
                    JobChange::Set(kind, _) => Some(kind),
                    JobChange::Done => None,
                };
            }
        }
    }

    fn pools(&self) -> Pools {
        Pools::of(ChainNumber::FIRST, StableCoin::Usdc, |code| self.books.account(code))
    }

    fn recredits(&mut self) -> Result<(), OrderRefusal> {
        let pools = self.pools();
        self.tries(|case, cx| case.recredit(&pools, cx))
    }

    fn does(&mut self, act: impl FnOnce(&mut OrderCase, &mut Cx<'_>) -> WalletEffects) {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let effects = act(&mut self.case, &mut cx);
        self.keep(effects);
    }

    fn tries(
        &mut self,
        act: impl FnOnce(&mut OrderCase, &mut Cx<'_>) -> Result<WalletEffects, OrderRefusal>,
    ) -> Result<(), OrderRefusal> {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let effects = act(&mut self.case, &mut cx)?;
        self.keep(effects);
        Ok(())
    }

    /// A release rests on a clean screening.
    fn reviews(&mut self, approve: bool) -> Result<(), OrderRefusal> {
        let release = approve.then(|| screened(84));
        self.tries(|case, cx| case.review(release, &config(), cx))
    }

    /// Reviewers record the outcome of the newest attempt.
    fn resolves(
        &mut self,
        finding: impl Into<Finding>,
        evidence: &str,
    ) -> Result<(), OrderRefusal> {
        let (mut attempt, finding) = (self.attempt.clone().expect("in progress"), finding.into());
        self.tries(|case, cx| case.resolve(&mut attempt, &finding, evidence, cx))?;
        self.attempt = Some(attempt);
        Ok(())
    }

    fn taken(&mut self) {
        let debit = self.case.order.debit;
        self.case.intent(debit).expect("a debit").state = IntentState::Assigned;
        self.does(|case, cx| case.debit_taken(cx));
    }

    fn debited(&mut self) {
        self.taken();
        let (debit, now) = (self.case.order.debit, self.now);
        self.case.intent(debit).expect("a debit").done(now);
        self.does(|case, cx| case.debited(TX, 0, cx));
    }

    fn debiting() -> World {
        let mut world = World::pending();
        world.taken();
        world
    }

    /// Its wallet was blocked during the debit.
    fn blocked() -> World {
        let mut world = World::debiting();
        block_wallet(&mut world.case.wallet);
        world.does(|case, cx| case.wallet_changed(cx));
        world
    }

    /// A rail reports its payout, which these books have not sent.
    fn is_reported(&mut self) -> Result<(), OrderRefusal> {
        self.is_reported_over(None)
    }

    fn is_reported_over(&mut self, paid: Option<ReportedAmount>) -> Result<(), OrderRefusal> {
        let (over, last, mut held) = (self.rail.id.clone(), self.attempt.clone(), None);
        let sender = Some(Sender::of_customer(TENANT, "C-1"));
        self.tries(|case, cx| {
            let (attempt, effects) =
                case.reported_unsent(last.as_ref(), (&over, sender), ("as paid", paid), cx)?;
            let is_noted = attempt.reported().is_some_and(|it| it.sender == sender);
            assert!(is_noted || attempt.is_unrecorded() && attempt.sender == sender);
            held = Some(attempt);
            Ok(effects)
        })?;
        self.attempt = held;
        Ok(())
    }

    /// The chain has its debit, which these books have not sent.
    fn is_assumed(&mut self) {
        let (over, mut held) = (self.rail.id.clone(), None);
        let told = (crate::attempt::DEBITED_BEFORE, None);
        self.tries(|case, cx| {
            let (attempt, effects) = case.reported_unsent(None, (&over, None), told, cx)?;
            held = Some(attempt);
            Ok(effects)
        })
        .expect("it is not paid");
        self.attempt = held;
    }

    /// Starts the payout at the rate `mid` with an available rail. Returns whether an attempt
    /// began.
    fn pay_at(&mut self, mid: &str) -> bool {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        if let Some(effects) = self.case.priced(dec(mid), &mut cx) {
            self.keep(effects);
            return false;
        }
        let last = self.attempt.clone();
        let begun = self.case.begin_payout(last.as_ref(), (&self.rail.id.clone(), None), &mut cx);
        let Ok((attempt, effects)) = begun else { return false };
        self.attempt = Some(attempt);
        self.keep(effects);
        true
    }

    fn hears(&mut self, status: RailStatus, reason: Option<&str>) {
        let Some(mut attempt) = self.attempt.clone() else { return };
        let report = RailReport { reason: reason.map(str::to_owned), ..says(&attempt, status) };
        let rail = self.rail.clone();
        self.does(|case, cx| case.heard(&mut attempt, &report, Some(&rail), cx));
        self.keep_attempt(attempt);
    }

    /// Unless the decision began another one.
    fn keep_attempt(&mut self, attempt: Attempt) {
        if self.case.order.attempt == Some(attempt.id) {
            self.attempt = Some(attempt);
        }
    }

    fn is_not_sent(&mut self) {
        let Some(mut attempt) = self.attempt.clone() else { return };
        self.does(|case, cx| case.not_sent(&mut attempt, "no line", cx));
        self.keep_attempt(attempt);
    }

    fn coins_come_back(&mut self) {
        let (give_back, now) = (self.case.order.give_back, self.now);
        let intent = self.case.intent(give_back).expect("a return");
        intent.state = IntentState::Assigned;
        intent.done(now);
        self.does(|case, cx| case.coins_back(0, cx));
    }

    fn return_is_barred(&mut self) {
        let (give_back, now) = (self.case.order.give_back, self.now);
        let intent = self.case.intent(give_back).expect("a return");
        let (given_up, _) = intent.failed("is blacklisted", RetryPolicy::Abandon, now);
        assert!(given_up);
        self.does(|case, cx| case.return_barred(cx));
    }

    fn paying() -> World {
        let mut world = World::pending();
        world.debited();
        assert!(world.pay_at("278.50"));
        world
    }

    fn state(&self) -> ExchangeState {
        self.case.order.state
    }
}

#[test]
fn to_amount_is_rounded_down_to_paisa_after_the_spread() {
    for (minor, mid, bps, paid) in [
        (MINOR, "278.50", 50, "27710.75"),
        (1, "278.50", 0, "0.00"),
        (1_000_000, "278.50", 0, "278.50"),
        (33_333_333, "278.37", 50, "9232.60"),
        (1_000_000, "278.509999", 0, "278.50"),
    ] {
        let paid_out = Price::new(Currency::Pkr, dec(mid), bps).payout(minor);
        assert_eq!(
            paid_out,
            Money::exact(dec(paid), Currency::Pkr).filter(|money| money.minor > 0),
            "{minor} {mid}"
        );
    }
}

#[test]
fn a_payout_has_the_minor_units_of_its_currency() {
    for (to, mid, paid) in [
        (Currency::Vnd, "25470.9", "25343"),
        (Currency::Npr, "133.337", "132.67"),
        (Currency::Bdt, "0.001", "0.00"),
    ] {
        let paid = Money::exact(dec(paid), to).filter(|money| money.minor > 0);
        assert_eq!(Price::new(to, dec(mid), 50).payout(1_000_000), paid, "{to:?}");
    }
}

#[test]
fn a_quote_is_for_the_amount_or_one_token_and_valid_for_a_minute() {
    let price = Price::new(Currency::Pkr, dec("278.50"), 50);
    let quote = price.quote(None, monday()).expect("a quote");
    assert_eq!((quote.estimated, quote.valid_until), (pkr(27_710), monday() + Span::secs(60)));
    assert_eq!(
        price.quote(Some(MINOR), monday()).map(|quote| quote.estimated),
        Some(pkr(2_771_075))
    );
}

#[test]
fn an_order_reserves_its_tokens_and_reports_insufficient_balance() {
    let world = World::pending();
    let account = world.books.account(&code());
    assert_eq!((account.balance().minor, account.available().minor), (FUNDS, FUNDS - MINOR));
    assert_eq!(world.job, Some(JobKind::Exchange));
    let mut ids = Ids::new();
    let mut cx = Cx { now: monday(), ids: &mut ids };
    let poor = funded(MINOR - 1).account(&code());
    let refused = create(new_order(), &wallet(), &poor, &config(), &mut cx).map(drop);
    let (requested, available) =
        (Money::new(MINOR, Currency::Usdc), Money::new(MINOR - 1, Currency::Usdc));
    assert_eq!(refused, Err(OrderRefusal::InsufficientBalance { requested, available }));
}

#[test]
fn a_frozen_wallet_is_reported_before_its_balance() {
    let mut frozen = wallet();
    block_wallet(&mut frozen);
    let mut ids = Ids::new();
    let mut cx = Cx { now: monday(), ids: &mut ids };
    let refused =
        create(new_order(), &frozen, &funded(1).account(&code()), &config(), &mut cx).map(drop);
    assert_eq!(refused, Err(OrderRefusal::Frozen(WalletState::Blocked)));
}

#[test]
fn only_one_of_eight_orders_fits_the_balance() {
    let mut books = funded(MINOR);
    let made = (0..8).filter(|_| {
        let mut ids = Ids::new();
        let mut cx = Cx { now: monday(), ids: &mut ids };
        let order = create(new_order(), &wallet(), &books.account(&code()), &config(), &mut cx);
        order.is_ok_and(|(_, effects)| books.book(&effects.transfers).is_ok())
    });
    assert_eq!(made.count(), 1);
}

#[test]
fn an_order_settles_from_pending_with_its_bookings() {
    let mut world = World::pending();
    assert_eq!(world.case.order.state.status(), OrderStatus::Pending);
    world.debited();
    assert_eq!(world.case.order.state.status(), OrderStatus::Processing);
    assert_eq!(world.job, Some(JobKind::Payout));
    assert!(
        world.books.show().contains(&"unswept:USDC: 100.000000 USDC".to_owned()),
        "{:?}",
        world.books.show()
    );
    assert!(world.pay_at("278.50"));
    world.hears(RailStatus::Accepted, None);
    world.hears(RailStatus::Settled, None);
    assert_eq!(world.case.order.state.status(), OrderStatus::Settled);
    assert_eq!(world.case.order.settlement_reference.as_deref(), Some("BANK-7"));
    assert_eq!(
        world.books.show(),
        [
            "exchanged:USDC: -100.000000 USDC",
            "external:USDC: -1000.000000 USDC",
            "fee_income:USDC: 0.500000 USDC",
            "fx_position:PKR: 27710.75 PKR",
            "fx_position:USDC: 99.500000 USDC",
            "nostro:pak-raast:PKR: -27710.75 PKR",
            "unswept:USDC: 100.000000 USDC",
            "wallet:00000000-0000-0000-0000-0000000000c1:USDC: 900.000000 USDC",
        ]
    );
    let [WalletEvent::ExchangeComplete { paid, rate, reference, .. }] = world.told.as_slice()
    else {
        panic!("exchange.complete, once: {:?}", world.told)
    };
    assert_eq!((*paid, *rate, reference.as_str()), (pkr(2_771_075), dec("278.50"), "BANK-7"));
}

#[test]
fn a_failed_payout_returns_the_tokens_before_it_is_shown() {
    for said in [
        &[RailStatus::Rejected][..],
        &[RailStatus::Accepted, RailStatus::Rejected],
        &[RailStatus::Cancelled],
    ] {
        let mut world = World::paying();
        for status in said {
            world.hears(status.clone(), Some("AC04"));
        }
        assert_eq!(world.case.order.state.status(), OrderStatus::Processing, "{said:?}");
        assert_eq!(
            world.case.intents.last().map(|intent| intent.kind()),
            Some(IntentKind::ReturnDebit)
        );
        world.coins_come_back();
        assert_eq!(world.case.order.state.status(), OrderStatus::Failed);
        assert_eq!(world.case.order.failure, Some(OrderFailure::PayoutFailed));
        assert_eq!(world.books.account(&code()).available().minor, FUNDS);
        assert!(world.told.is_empty());
    }
}

#[test]
fn nothing_is_paid_for_a_debit_that_a_reorganisation_undid() {
    let undone = || {
        let mut world = World::pending();
        world.debited();
        let (debit, now) = (world.case.order.debit, world.now);
        world.case.intent(debit).expect("a debit").undone(now);
        world
    };
    let mut world = undone();
    assert!(!world.pay_at("278.50"), "the controller does not have its tokens");
    assert_eq!((world.state(), world.job), (ExchangeState::Debited, Some(JobKind::Payout)));
    let (debit, now) = (world.case.order.debit, world.now);
    let again = world.case.intent(debit).expect("a debit");
    again.state = IntentState::Assigned;
    again.done(now);
    world.does(|case, cx| case.debited(TX, 0, cx));
    assert!(world.pay_at("278.50"));

    let mut failed = undone();
    failed.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
    assert_eq!((failed.state(), failed.job), (ExchangeState::Failed, None));
    assert_eq!(failed.books.account(&code()).available().minor, FUNDS);
    assert_eq!(failed.alerts, 1);
}

/// The books have the tokens in the wallet: the chain follows them.
#[test]
fn the_tokens_of_a_debit_that_a_reorganisation_restored_return_to_the_wallet() {
    for cancelled in [false, true] {
        let mut world = World::pending();
        if cancelled {
            world.does(|case, cx| case.cancel(cx).expect("it has not begun"));
        } else {
            world.does(|case, cx| case.debit_taken(cx));
            world.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
        }
        let (state, books) = (world.state(), world.books.show());
        world.does(|case, cx| case.debit_restored(TX, 0, cx));
        let give_back = world.case.order.give_back;
        assert!(
            world.case.intent(give_back).is_some_and(|it| it.kind() == IntentKind::ReturnDebit)
        );
        assert_eq!(world.case.order.debit_tx, Some(TX));
        world.does(|case, cx| case.coins_back(0, cx));
        assert_eq!((world.state(), world.books.show()), (state, books), "as before");
        world.does(|case, cx| case.debit_restored(TX, 0, cx));
        assert_eq!(world.case.order.give_back, give_back, "once");
    }
}

#[test]
fn a_barred_return_that_a_reorganisation_restored_is_booked_from_suspense() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    world.hears(RailStatus::Returned, None);
    world.recredits().expect("allowed");
    world.case.wallet.state = WalletState::Blacklisted;
    world.return_is_barred();
    let give_back = world.case.order.give_back.expect("a return");
    world.does(|case, cx| case.return_restored(give_back, 0, cx));
    assert_eq!(world.case.order.recredit, Some(Recredit::Done));
    let suspense = AccountCode::PayoutSuspense(ChainNumber::FIRST, StableCoin::Usdc);
    assert_eq!(world.books.account(&suspense).balance().minor, 0);
    assert_eq!(world.books.account(&code()).balance().minor, FUNDS);
}

/// An earlier life of the installation sent it, before its database was restored.
#[test]
fn a_payout_that_a_rail_reports_unsent_is_never_sent() {
    let (pending, debiting, blocked) = (World::pending, World::debiting, World::blocked);
    let debited = || {
        let mut world = World::pending();
        world.debited();
        world
    };
    let withheld = || {
        let mut world = debited();
        let near = screened(90);
        world.tries(|case, cx| case.holder_matched(&near, cx)).expect("a match");
        world
    };
    let worlds: [&dyn Fn() -> World; 5] = [&pending, &debiting, &blocked, &debited, &withheld];
    for (at, begun) in worlds.into_iter().enumerate() {
        let mut world = begun();
        world.is_reported().expect("it is not paid");
        assert_eq!(world.alerts, 1, "{at}");
        assert!(world.is_reported().is_err(), "once");
        if world.state() != ExchangeState::Paying {
            assert!(world.case.order.doubt().is_some(), "{at}");
            let refused = world.tries(|case, cx| case.cancel(cx));
            let expected = match world.state() {
                ExchangeState::Pending => OrderRefusal::Reported(ExchangeState::Pending),
                state => OrderRefusal::Conflict(state),
            };
            assert_eq!(refused, Err(expected));
            if !world.case.wallet.state.is_frozen() {
                block_wallet(&mut world.case.wallet);
            }
            world.does(|case, cx| case.wallet_changed(cx));
            world.now = world.now + Span::hours(25);
            world.does(|case, cx| case.time_passed(cx));
            assert!(world.case.may_debit(world.now));
            if world.state() == ExchangeState::Pending {
                world.taken();
            }
            world.does(|case, cx| case.debited(TX, 0, cx));
        }
        assert_eq!(
            (world.state(), world.job),
            (ExchangeState::Paying, Some(JobKind::InquirePayout))
        );
        let (last, over) = (world.attempt.clone(), world.rail.id.clone());
        let again =
            world.tries(|case, cx| Ok(case.begin_payout(last.as_ref(), (&over, None), cx)?.1));
        assert_eq!(again, Err(OrderRefusal::Conflict(ExchangeState::Paying)));
        for status in [RailStatus::Settled, RailStatus::Rejected, RailStatus::Returned] {
            world.hears(status, None);
            assert_eq!(world.state(), ExchangeState::Paying, "users establish it: {at}");
        }
        world.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
        assert_eq!(world.state(), ExchangeState::Settled);
    }
    let mut unpaid = debited();
    unpaid.is_reported().expect("it is not paid");
    unpaid.resolves(RailStatus::Rejected, "statement 7").expect("it is unknown");
    assert_eq!(unpaid.state(), ExchangeState::Returning);
    assert!(unpaid.is_reported().is_err());
    let mut paid = World::paying();
    paid.hears(RailStatus::Settled, None);
    assert!(paid.is_reported().is_err());
}

/// The reports of two banks come in any order: the second rail's may precede the first one's refusal.
#[test]
fn a_payout_that_is_reported_beside_an_attempt_is_held_once_that_is_refused() {
    let other = RailId::new("pak-ibft");
    let paid = ReportedAmount { amount: pkr(2_780_000), may_have_charges: false };
    let reported = || {
        let mut world = World::paying();
        let first = std::mem::replace(&mut world.rail.id, other.clone());
        let before = world.case.order.clone();
        for paid in [None, Some(paid)] {
            world.is_reported_over(paid).expect("it may be refused");
        }
        world.rail.id = first;
        assert_eq!(world.case.order, before, "nothing changes until then");
        world
    };
    let refused = |code: &'static str| {
        move |world: &mut World| {
            world.hears(RailStatus::Rejected, Some(code));
        }
    };
    type Change = Box<dyn Fn(&mut World)>;
    let changes: [Change; 3] =
        [Box::new(refused("AB08")), Box::new(refused("AC04")), Box::new(World::is_not_sent)];
    for (at, change) in changes.into_iter().enumerate() {
        let mut world = reported();
        change(&mut world);
        let (order, held) = (&world.case.order, world.attempt.clone().expect("held"));
        assert!(held.is_unrecorded() && held.number == 2, "{at}: {held:?}");
        assert_eq!((&held.rail, held.amount), (&other, paid.amount), "{at}");
        assert_eq!((order.state, order.payout), (ExchangeState::Paying, paid.amount), "{at}");
        assert_eq!(order.doubt().map(|doubt| doubt.attempt), Some(held.id), "{at}");
        assert_eq!((world.job, world.alerts), (Some(JobKind::InquirePayout), 1), "{at}");
        world.hears(RailStatus::Rejected, Some("AB08"));
        assert_eq!(world.state(), ExchangeState::Paying, "users establish it: {at}");
        world.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
        assert_eq!(world.state(), ExchangeState::Settled, "{at}");
        let nostro = world.books.account(&AccountCode::Nostro(other.clone(), Currency::Pkr));
        assert_eq!(nostro.balance().minor.abs(), paid.amount.minor, "{at}");
    }
    let mut paid_before = reported();
    paid_before.hears(RailStatus::Settled, None);
    assert_eq!(paid_before.state(), ExchangeState::Settled);
}

/// A restored database knows of the failed attempt, and not of the one that followed over its rail.
#[test]
fn a_rail_that_has_what_was_not_sent_stops_the_order_from_being_paid_again() {
    use RailStatus::{Accepted, Received, Returned, Settled};
    let paid = pkr(2_780_000);
    for status in crate::states_doc::rail_statuses() {
        let has_it = matches!(status, Received | Accepted | Settled | Returned);
        // Whether it is the newest attempt, or one over another rail was not sent either.
        for is_newest in [true, false] {
            let what = format!("{status} {is_newest}");
            let mut world = World::paying();
            world.is_not_sent();
            let first = world.attempt.clone().expect("begun");
            if !is_newest {
                world.rail.id = RailId::new("pak-ibft");
                assert!(world.pay_at("278.50"));
                world.is_not_sent();
            }
            let last = world.attempt.clone().expect("begun");
            let report = RailReport { amount: Some(paid), ..says(&first, status.clone()) };
            let mut cx = Cx { now: world.now, ids: &mut world.ids };
            let held = world.case.sent_after_all((&first, Some(&last)), &report, &mut cx);
            assert_eq!(held.is_some(), has_it, "{what}");
            let Some((held, effects)) = held else {
                assert_eq!(world.state(), ExchangeState::Debited, "{what}");
                continue;
            };
            world.keep(effects);
            assert_eq!((world.state(), world.alerts), (ExchangeState::Paying, 2), "{what}");
            assert_eq!((&held.rail, held.number), (&first.rail, last.number + 1), "{what}");
            assert!(held.is_unrecorded() && world.case.order.attempt == Some(held.id), "{what}");
            let amount = if status == Returned { last.amount } else { paid };
            assert_eq!((held.amount, world.case.order.payout), (amount, amount), "{what}");
            assert!(!world.pay_at("278.50"), "{what}");
        }
    }
}

/// A worker that saw it before a bank's report came may be late.
#[test]
fn only_a_debited_order_without_an_attempt_under_way_is_given_up() {
    let mut world = World::pending();
    world.debited();
    assert_eq!(world.case.require_unsent(None), Ok(()));
    assert!(world.pay_at("278.50"));
    let sent = world.case.require_unsent(world.attempt.as_ref());
    assert_eq!(sent, Err(OrderRefusal::Conflict(ExchangeState::Paying)));
    world.is_not_sent();
    assert_eq!(world.case.require_unsent(world.attempt.as_ref()), Ok(()));
    world.is_reported().expect("it is not paid");
    let reported = world.case.require_unsent(world.attempt.as_ref());
    assert_eq!(reported, Err(OrderRefusal::Conflict(ExchangeState::Paying)));
}

/// The contract refuses a debit that an earlier life executed, and each of a frozen wallet.
#[test]
fn a_reported_order_keeps_its_tokens_whatever_happens_to_its_debit() {
    for (at, begun) in [World::pending, World::debiting, World::blocked].into_iter().enumerate() {
        for reason in [
            FailureReason::OnChainRevert,
            FailureReason::AddressBlacklisted,
            FailureReason::TokenPaused,
        ] {
            for paid in [true, false] {
                let mut world = begun();
                world.is_reported().expect("it is not paid");
                assert!(world.case.order.owes_debit(), "{at}");
                world.does(|case, cx| case.debit_failed(reason, cx));
                assert_eq!(world.state(), ExchangeState::Pending, "{at} {reason:?}");
                assert_eq!(world.books.account(&code()).available().minor, FUNDS - MINOR);
                let early = world.resolves(RailStatus::Accepted, "statement 7");
                assert_eq!(early, Err(OrderRefusal::Conflict(ExchangeState::Pending)));
                world.case.intent(world.case.order.debit).expect("a debit").state =
                    IntentState::Waiting;
                let (status, ends) = match paid {
                    true => (RailStatus::Settled, ExchangeState::Settled),
                    false => (RailStatus::Rejected, ExchangeState::Failed),
                };
                world.resolves(status, "statement 7").expect("it is unknown");
                assert_eq!((world.state(), world.job), (ends, None), "{at} {reason:?}");
                assert!(world.open.iter().all(|it| it.kind == AlertKind::Transaction));
                let (left, debit) = match paid {
                    true => (FUNDS - MINOR, IntentState::Done),
                    false => (FUNDS, IntentState::Cancelled),
                };
                let account = world.books.account(&code());
                assert_eq!((account.balance().minor, account.available().minor), (left, left));
                let known = world.case.order.debit;
                assert_eq!(world.case.intent(known).map(|it| it.state), Some(debit));
                assert_eq!(world.case.order.doubt(), None);
            }
        }
    }
}

/// A reviewer released it in an earlier life, under a debit that these books do not have.
#[test]
fn a_withheld_order_that_a_rail_reports_is_neither_reviewed_nor_debited() {
    for paid in [true, false] {
        let mut world = World::with(NewOrder { screened: screened(90), ..new_order() });
        world.is_reported().expect("it is not paid");
        assert_eq!((world.alerts, world.case.order.is_withheld()), (1, false));
        assert_eq!(world.case.order.undecided_until(), None);
        assert!(world.case.order.is_in_review(), "its outcome is unknown");
        for approve in [true, false] {
            assert_eq!(world.reviews(approve), Err(OrderRefusal::NotWithheld));
        }
        world.now = world.now + TIMEOUT;
        world.does(|case, cx| case.time_passed(cx));
        assert_eq!((world.state(), world.case.order.debit), (ExchangeState::Pending, None));
        if !paid {
            world.resolves(RailStatus::Rejected, "statement 7").expect("it is unknown");
            assert_eq!((world.state(), world.alerts), (ExchangeState::Failed, 0));
            assert_eq!(world.books.account(&code()).available().minor, FUNDS);
            continue;
        }
        world.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
        assert_eq!((world.state(), world.alerts), (ExchangeState::Settled, 0));
        assert_eq!((world.case.order.debit, world.case.intents.len()), (None, 0));
        assert_eq!(world.books.account(&code()).balance().minor, FUNDS - MINOR);
        world.hears(RailStatus::Returned, None);
        let unknown = Err(OrderRefusal::Conflict(ExchangeState::Settled));
        assert_eq!(world.recredits(), unknown, "the contract returns a known debit only");
    }
}

/// It was paid at the rate of a time that these books do not have.
#[test]
fn a_reported_order_without_a_lock_takes_the_amount_that_was_paid_within_the_band() {
    let quoted = pkr(2_771_075);
    for (paid, lock, may_have_charges, takes) in [
        (quoted, false, false, true),
        (pkr(2_780_000), false, false, true),
        (pkr(2_745_000), false, false, true),
        (pkr(2_798_785), false, false, true),
        (pkr(2_798_787), false, false, false),
        (pkr(2_740_000), false, false, false),
        (pkr(2_780_000), true, false, false),
        (pkr(2_780_000), false, true, false),
        (Money::new(2_771_075, Currency::Usd), false, false, false),
    ] {
        let what = format!("{paid} {lock} {may_have_charges}");
        let mut world = World::with(NewOrder { lock, ..new_order() });
        let reported = ReportedAmount { amount: paid, may_have_charges };
        world.is_reported_over(Some(reported)).expect("it is not paid");
        let (order, attempt) = (&world.case.order, world.attempt.as_ref().expect("held"));
        let expected = if takes { paid } else { quoted };
        assert_eq!((order.payout, attempt.amount), (expected, expected), "{what}");
        let applied = Price { rate: order.rate, ..order.quoted() };
        assert_eq!(applied.payout(MINOR), Some(expected), "{what}");
        let both = format!("a bank reports {paid} for a payout of {quoted}");
        let compares = world.open.iter().any(|it| it.what.starts_with(&both));
        assert_eq!(compares, !takes, "{what}");
        world.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
        let nostro = AccountCode::Nostro(world.rail.id.clone(), Currency::Pkr);
        assert_eq!(world.books.account(&nostro).balance().minor.abs(), expected.minor, "{what}");
    }
}

/// An attempt over the rail that comes first stands for the payout of a debit that the chain has.
#[test]
fn a_later_report_gives_an_assumed_payout_its_rail_and_amount() {
    let (quoted, paid) = (pkr(2_771_075), pkr(2_780_000));
    let other = RailId::new("pak-ibft");
    for (is_debited, over_other, amount) in [
        (false, true, Some(paid)),
        (true, true, Some(paid)),
        (true, true, None),
        (true, false, Some(paid)),
        (true, false, Some(quoted)),
        (true, false, None),
    ] {
        let what = format!("{is_debited} {over_other} {amount:?}");
        let mut world = World::debiting();
        world.is_assumed();
        if is_debited {
            let (debit, now) = (world.case.order.debit, world.now);
            world.case.intent(debit).expect("a debit").done(now);
            world.does(|case, cx| case.debited(TX, 0, cx));
            assert_eq!(world.state(), ExchangeState::Paying, "{what}");
        }
        world.now = world.now + Span::hours(1);
        let seen = world.case.order.doubt().expect("in doubt");
        let reported = amount.map(|amount| ReportedAmount { amount, may_have_charges: false });
        let first = world.rail.id.clone();
        let rail = if over_other { other.clone() } else { first };
        world.rail.id = rail.clone();
        let result = world.is_reported_over(reported);
        let (order, attempt) = (&world.case.order, world.attempt.as_ref().expect("held"));
        assert_eq!(result.is_ok(), over_other || amount.is_some(), "{what}");
        assert_eq!((&attempt.rail, attempt.amount), (&rail, amount.unwrap_or(quoted)), "{what}");
        assert_eq!(order.payout, amount.unwrap_or(quoted), "{what}");
        assert_eq!(attempt.is_assumed(), amount.is_none(), "{what}");
        assert!(attempt.is_unrecorded() && order.attempt == Some(attempt.id), "{what}");
        assert_eq!(order.doubt() == Some(seen), result.is_err(), "they look again: {what}");
        if amount.is_some() {
            world.is_reported_over(reported).expect_err("it is known");
        }
        world.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
        let nostro = AccountCode::Nostro(rail, Currency::Pkr);
        let booked = world.books.account(&nostro).balance().minor.abs();
        assert_eq!(booked, amount.unwrap_or(quoted).minor, "{what}");
    }
}

/// The entry of a fee, or of the payout with charges, before that of the payout.
#[test]
fn an_amount_that_cannot_be_the_payouts_leaves_an_assumed_payout_open() {
    let told = |amount, may_have_charges| Some(ReportedAmount { amount, may_have_charges });
    for odd in [told(pkr(5_000), false), told(pkr(2_785_000), true)] {
        let mut world = World::debiting();
        world.is_assumed();
        let quoted = world.case.order.payout;
        world.is_reported_over(odd).expect("news");
        let attempt = world.attempt.as_ref().expect("held");
        assert!(attempt.is_assumed() && attempt.amount == quoted, "{attempt:?}");
        world.is_reported_over(odd).expect_err("it says the same");
        let paid = pkr(2_780_000);
        world.is_reported_over(told(paid, false)).expect("news");
        let attempt = world.attempt.as_ref().expect("held");
        assert!(!attempt.is_assumed() && attempt.amount == paid, "{attempt:?}");
    }
}

/// A report that names the attempt itself, over its rail.
#[test]
fn a_report_of_an_assumed_payout_gives_it_its_amount() {
    let paid = pkr(2_780_000);
    for (status, takes) in [
        (RailStatus::Settled, true),
        (RailStatus::Accepted, true),
        (RailStatus::Received, false),
        (RailStatus::Rejected, false),
        (RailStatus::Returned, false),
        (RailStatus::Unknown, false),
    ] {
        let mut world = World::debiting();
        world.is_assumed();
        let mut attempt = world.attempt.clone().expect("held");
        let report = RailReport {
            attempt: attempt.id,
            status: status.clone(),
            reason: None,
            info: None,
            bank_reference: None,
            return_id: None,
            amount: Some(paid),
            source: "camt.054 B-1".to_owned(),
            further_reasons: Vec::new(),
            charges: None,
        };
        world.does(|case, cx| case.heard(&mut attempt, &report, None, cx));
        let payout = world.case.order.payout;
        assert_eq!((payout == paid, attempt.amount == paid), (takes, takes), "{status}");
        assert_eq!(attempt.is_assumed(), !takes, "{status}");
        assert!(attempt.is_unrecorded(), "{status}");
    }
}

#[test]
fn the_outcome_of_a_reported_order_is_recorded_while_its_debit_is_in_a_transaction() {
    let reported = || {
        let mut world = World::debiting();
        world.is_reported().expect("it is not paid");
        assert_eq!(world.job, Some(JobKind::Exchange), "it is listed for review");
        world
    };
    let mut paid = reported();
    paid.resolves(RailStatus::Settled, "statement 7").expect("it is unknown");
    assert_eq!((paid.state(), paid.alerts), (ExchangeState::Settled, 0));
    paid.does(|case, cx| case.debit_not_tried(cx));
    paid.hears(RailStatus::Returned, None);
    paid.recredits().expect("its payout came back");
    assert_eq!(paid.books.account(&code()).balance().minor, FUNDS - MINOR);
    paid.coins_come_back();
    assert_eq!(paid.books.account(&code()).balance().minor, FUNDS);

    let unpaid = || {
        let mut world = reported();
        world.resolves(RailStatus::Rejected, "statement 7").expect("it is unknown");
        assert_eq!((world.state(), world.alerts), (ExchangeState::Debiting, 0));
        assert!(!world.case.may_debit(world.now), "its transaction is called off");
        world
    };
    let mut not_tried = unpaid();
    not_tried.case.intent(not_tried.case.order.debit).expect("a debit").state =
        IntentState::Waiting;
    not_tried.does(|case, cx| case.debit_not_tried(cx));
    let mut failed = unpaid();
    failed.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
    let mut debited = unpaid();
    let (debit, now) = (debited.case.order.debit, debited.now);
    debited.case.intent(debit).expect("a debit").done(now);
    debited.does(|case, cx| case.debited(TX, 0, cx));
    assert_eq!(debited.state(), ExchangeState::Returning);
    debited.coins_come_back();
    for world in [not_tried, failed, debited] {
        let order = &world.case.order;
        let ended = (ExchangeState::Failed, Some(OrderFailure::PayoutFailed));
        assert_eq!((order.state, order.failure), ended);
        assert_eq!(world.books.account(&code()).available().minor, FUNDS);
    }
}

#[test]
fn a_debit_undone_after_the_payout_needs_review() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    let before = world.books.show();
    world.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
    assert_eq!((world.state(), world.alerts), (ExchangeState::Settled, 1));
    assert_eq!(world.books.show(), before);
}

#[test]
fn the_alert_about_an_undone_debit_ends_with_the_debit_in_whatever_state_the_order_is() {
    let settled = |world: &mut World| world.hears(RailStatus::Settled, None);
    let stays = |_: &mut World| {};
    type Change = Box<dyn Fn(&mut World)>;
    let changes: [(Change, ExchangeState); 2] =
        [(Box::new(stays), ExchangeState::Paying), (Box::new(settled), ExchangeState::Settled)];
    for (changes, state) in &changes {
        let mut world = World::paying();
        world.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
        assert_eq!((world.state(), world.alerts), (ExchangeState::Paying, 1));
        changes(&mut world);
        assert_eq!((world.state(), world.alerts), (*state, 1), "the debit is still missing");
        world.does(|case, cx| case.debited(TX, 0, cx));
        assert_eq!((world.state(), &world.open), (*state, &Vec::new()));
    }
}

#[test]
fn tokens_return_once() {
    let mut world = World::paying();
    world.hears(RailStatus::Rejected, Some("AC04"));
    world.hears(RailStatus::Rejected, Some("AC04"));
    assert_eq!(
        world.case.intents.iter().filter(|intent| intent.kind() == IntentKind::ReturnDebit).count(),
        1
    );
    world.coins_come_back();
    world.does(|case, cx| case.coins_back(0, cx));
    assert_eq!(world.books.account(&code()).balance().minor, FUNDS);
}

#[test]
fn a_retryable_refusal_uses_another_rail() {
    let mut world = World::paying();
    world.hears(RailStatus::Rejected, Some("AB08"));
    assert_eq!((world.state(), world.job), (ExchangeState::Debited, Some(JobKind::Payout)));
    assert!(world.pay_at("278.50"));
    assert_eq!(
        world.attempt.as_ref().map(|attempt| (attempt.number, attempt.amount)),
        Some((2, pkr(2_771_075)))
    );
}

#[test]
fn each_attempt_of_an_unlocked_order_takes_the_rate_of_its_time() {
    let refused = |lock| {
        let mut world = World::with(NewOrder { lock, ..new_order() });
        world.debited();
        assert!(world.pay_at("278.50"));
        let mut attempt = world.attempt.clone().expect("in progress");
        world.does(|case, cx| case.not_sent(&mut attempt, "connection refused", cx));
        world.attempt = Some(attempt);
        assert_eq!(world.state(), ExchangeState::Debited);
        world
    };
    // The band is that of the quote, not of the attempt before.
    for (mid, paid) in [("279.50", Some(2_781_025)), ("275.80", Some(2_744_210))] {
        let mut world = refused(false);
        assert!(world.pay_at(mid), "{mid}");
        let order = &world.case.order;
        assert_eq!((order.rate, order.quoted_rate), (dec(mid), dec("278.50")));
        assert_eq!(world.attempt.as_ref().map(|it| it.amount.minor), paid);
    }
    let mut moved = refused(false);
    assert!(!moved.pay_at("300"));
    assert_eq!(moved.case.order.failure, Some(OrderFailure::RateMoved));
    let mut locked = refused(true);
    assert!(locked.pay_at("300"));
    assert_eq!(locked.attempt.as_ref().map(|it| it.amount), Some(pkr(2_771_075)));
}

/// An attempt that the bank has reported was sent, whatever the answer to its submission says.
#[test]
fn not_sent_is_not_believed_of_what_the_bank_has_reported() {
    let mut world = World::paying();
    world.hears(RailStatus::Received, None);
    let mut attempt = world.attempt.clone().expect("in progress");
    world.does(|case, cx| case.not_sent(&mut attempt, "no", cx));
    assert_eq!(attempt.state, AttemptState::Indeterminate);
    assert_eq!((world.state(), world.alerts), (ExchangeState::Paying, 1));
}

/// What is unclear may have left at its rate.
#[test]
fn an_unclear_attempt_keeps_its_rate() {
    let mut world = World::paying();
    let mut attempt = world.attempt.clone().expect("in progress");
    world.does(|case, cx| case.unclear(&mut attempt, "no answer", cx));
    assert!(world.case.order.priced_at.is_some());
    assert!(!world.pay_at("279.50"));
    assert_eq!(world.case.order.payout, pkr(2_771_075));
}

#[test]
fn an_unlocked_order_uses_the_rate_of_its_processing_within_one_percent() {
    for (mid, pays) in [
        ("278.50", true),
        ("281.285", true),
        ("275.715", true),
        ("281.286", false),
        ("275.714", false),
        ("1", false),
    ] {
        let mut world = World::pending();
        world.debited();
        assert_eq!(world.pay_at(mid), pays, "{mid}");
        if pays {
            assert_eq!(
                (world.case.order.rate, world.case.order.quoted_rate),
                (dec(mid), dec("278.50"))
            );
        } else {
            world.coins_come_back();
            assert_eq!(world.case.order.failure, Some(OrderFailure::RateMoved), "{mid}");
            assert_eq!(world.books.account(&code()).available().minor, FUNDS);
        }
    }
}

#[test]
fn a_locked_rate_holds_for_fifteen_minutes_and_then_the_order_is_cancelled() {
    let mut world = World::with(NewOrder { lock: true, ..new_order() });
    assert_eq!(world.case.order.locked_until, Some(monday() + Span::mins(15)));
    world.now = monday() + LOCK - Span::millis(1);
    assert!(world.case.may_debit(world.now));
    world.does(|case, cx| case.time_passed(cx));
    assert_eq!(world.state(), ExchangeState::Pending);
    world.now = monday() + LOCK;
    assert!(!world.case.may_debit(world.now));
    world.does(|case, cx| case.time_passed(cx));
    assert_eq!(
        (world.state(), world.case.order.failure),
        (ExchangeState::Cancelled, Some(OrderFailure::Timeout))
    );
    let mut begun = World::with(NewOrder { lock: true, ..new_order() });
    begun.taken();
    begun.now = monday() + LOCK + Span::secs(5);
    assert!(begun.case.may_debit(begun.now), "its debit began in time");
    begun.debited();
    assert!(begun.pay_at("300"));
    assert_eq!(begun.case.order.rate, dec("278.50"));
}

#[test]
fn an_order_is_cancelled_after_a_day_and_its_tokens_are_released() {
    let mut world = World::pending();
    world.now = monday() + TIMEOUT;
    world.does(|case, cx| case.time_passed(cx));
    assert_eq!(world.case.order.state.status(), OrderStatus::Cancelled);
    assert_eq!(world.books.account(&code()).available().minor, FUNDS);
    assert_eq!((world.job, world.case.intents[0].state), (None, IntentState::Cancelled));
}

#[test]
fn the_user_cancels_only_pending_orders() {
    let mut world = World::pending();
    world.tries(|case, cx| case.cancel(cx)).expect("pending");
    assert_eq!(world.state(), ExchangeState::Cancelled);
    for state in ExchangeState::ALL.into_iter().filter(|state| *state != ExchangeState::Pending) {
        assert_eq!(state.on(OrderTrigger::Cancel), OrderStep::Conflict, "{state:?}");
    }
}

#[test]
fn a_block_cancels_pending_orders_and_returns_mined_debits() {
    let mut world = World::pending();
    block_wallet(&mut world.case.wallet);
    world.does(|case, cx| case.wallet_changed(cx));
    assert_eq!(
        (world.state(), world.case.order.failure),
        (ExchangeState::Cancelled, Some(OrderFailure::WalletBlocked))
    );

    let mut under_way = World::pending();
    under_way.taken();
    block_wallet(&mut under_way.case.wallet);
    under_way.does(|case, cx| case.wallet_changed(cx));
    assert!(!under_way.case.may_debit(under_way.now), "nothing is signed after the block");
    let mut stopped =
        World { case: under_way.case.clone(), books: under_way.books.clone(), ..World::pending() };
    stopped.does(|case, cx| case.debit_not_tried(cx));
    assert_eq!(stopped.case.order.state.status(), OrderStatus::Cancelled);
    assert_eq!(stopped.books.account(&code()).available().minor, FUNDS);
    under_way.does(|case, cx| case.debited(TX, 0, cx));
    assert_eq!(under_way.state(), ExchangeState::Returning);
    under_way.coins_come_back();
    assert_eq!(under_way.books.account(&code()).available().minor, FUNDS);
}

#[test]
fn a_wallet_frozen_before_the_payout_gets_its_tokens_back() {
    let mut world = World::pending();
    world.debited();
    block_wallet(&mut world.case.wallet);
    assert!(!world.pay_at("278.50"));
    assert_eq!((world.state(), world.attempt.clone()), (ExchangeState::Returning, None));
}

#[test]
fn a_failed_debit_releases_the_tokens() {
    for (reason, failure) in [
        (FailureReason::OnChainRevert, OrderFailure::OnChainRevert),
        (FailureReason::TokenPaused, OrderFailure::TokenPaused),
        (FailureReason::AddressBlacklisted, OrderFailure::AddressBlacklisted),
    ] {
        let mut world = World::pending();
        world.taken();
        world.does(|case, cx| case.debit_failed(reason, cx));
        assert_eq!(
            (world.state(), world.case.order.failure),
            (ExchangeState::Failed, Some(failure))
        );
        assert_eq!(world.books.account(&code()).available().minor, FUNDS);
    }
}

#[test]
fn a_token_fee_of_the_debit_is_the_tenants_and_of_the_return_the_wallets() {
    const FEE: i64 = 1_000_000;
    let debited = || {
        let mut world = World::pending();
        world.taken();
        let (debit, now) = (world.case.order.debit, world.now);
        world.case.intent(debit).expect("a debit").done(now);
        world.does(|case, cx| case.debited(TX, FEE, cx));
        world
    };
    let unswept = AccountCode::Unswept(ChainNumber::FIRST, StableCoin::Usdc);
    let balance = |world: &World, code: &AccountCode| world.books.account(code).balance().minor;
    let mut paid = debited();
    let minor = paid.case.order.minor;
    assert_eq!(balance(&paid, &unswept), minor - FEE, "what arrived");
    assert_eq!((paid.pools().owed(), paid.pools().sweepable()), (minor, -FEE), "it may return");
    assert!(paid.pay_at("278.50"));
    paid.hears(RailStatus::Settled, None);
    assert_eq!((paid.pools().owed(), paid.pools().sweepable()), (0, minor - FEE));

    for fee in [0, FEE] {
        let mut world = debited();
        block_wallet(&mut world.case.wallet);
        assert!(!world.pay_at("278.50"));
        world.does(|case, cx| case.coins_back(fee, cx));
        assert_eq!(world.state(), ExchangeState::Failed);
        assert_eq!(world.books.account(&code()).available().minor, FUNDS - fee);
        assert_eq!(world.pools().owed(), 0, "the tenant replaced what the debit lost");
    }
}

/// What the chain has of an order: the fee of its debit, and of the return of its tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Mined {
    debit: Option<i64>,
    give_back: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Debit(i64),
    DebitUndone,
    DebitGivenUp,
    /// In the transaction of before, which a reorganisation restored.
    DebitRestored(i64),
    Block,
    Return(i64),
    ReturnUndone,
    ReturnFutile,
    ReturnRestored(i64),
}

impl Mined {
    /// What happens to the order, unless it cannot happen now.
    fn follow(&mut self, world: &mut World, event: Event) {
        let now = world.now;
        let (debit, give_back) = (world.case.order.debit, world.case.order.give_back);
        let state = |world: &mut World, id| world.case.intent(id).map(|it| it.state);
        let (of_debit, of_return) = (state(world, debit), state(world, give_back));
        let is_open = |state| matches!(state, Some(IntentState::Waiting | IntentState::Assigned));
        let is_off = |state| matches!(state, Some(IntentState::Failed | IntentState::Cancelled));
        let done =
            |world: &mut World, id| world.case.intent(id).expect("there").state = IntentState::Done;
        match event {
            Event::Debit(fee) if is_open(of_debit) => {
                if world.state() == ExchangeState::Pending {
                    world.does(|case, cx| case.debit_taken(cx));
                }
                done(world, debit);
                self.debit = Some(fee);
                world.does(|case, cx| case.debited(TX, fee, cx));
            }
            Event::DebitUndone if self.debit.is_some() && self.give_back.is_none() => {
                world.case.intent(debit).expect("there").undone(now);
                self.debit = None;
            }
            Event::DebitGivenUp if is_open(of_debit) && world.state() != ExchangeState::Pending => {
                world.case.intent(debit).expect("there").failed(
                    "reverted",
                    RetryPolicy::NoRetry,
                    now,
                );
                world.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
            }
            Event::DebitRestored(fee) if is_off(of_debit) => {
                done(world, debit);
                self.debit = Some(fee);
                world.does(|case, cx| case.debit_restored(TX, fee, cx));
            }
            Event::Block if world.state() == ExchangeState::Debited && self.debit.is_some() => {
                block_wallet(&mut world.case.wallet);
                assert!(!world.pay_at("278.50"));
            }
            Event::Return(fee) if is_open(of_return) && self.debit.is_some() => {
                done(world, give_back);
                self.give_back = Some(fee);
                world.does(|case, cx| case.coins_back(fee, cx));
            }
            Event::ReturnUndone if self.give_back.take().is_some() => {
                world.case.intent(give_back).expect("there").undone(now);
            }
            Event::ReturnFutile if is_open(of_return) && is_off(of_debit) => {
                world.case.intent(give_back).expect("there").failed(
                    "none",
                    RetryPolicy::Abandon,
                    now,
                );
                world.does(|case, cx| case.never_debited(cx));
            }
            Event::ReturnRestored(fee) if self.debit.is_some() && self.give_back.is_none() => {
                let earlier = world
                    .case
                    .intents
                    .iter()
                    .find(|it| it.kind() == IntentKind::ReturnDebit && is_off(Some(it.state)));
                let Some(earlier) = earlier.map(|it| it.id) else { return };
                self.give_back = Some(fee);
                world.does(|case, cx| case.return_restored(earlier, fee, cx));
                done(world, Some(earlier));
            }
            _ => {}
        }
    }

    /// Compares the books with the chain, unless something is still to happen there.
    fn compare(self, world: &mut World) {
        let (debit, give_back) = (world.case.order.debit, world.case.order.give_back);
        let is_final =
            |world: &mut World, id| world.case.intent(id).is_none_or(|it| it.state.is_terminal());
        if !is_final(world, debit) || !is_final(world, give_back) {
            return;
        }
        let balance = |code: &AccountCode| world.books.account(code).balance().minor;
        let shortfall = AccountCode::Shortfall(WALLET, StableCoin::Usdc);
        let unswept = AccountCode::Unswept(ChainNumber::FIRST, StableCoin::Usdc);
        let has = (balance(&code()) + balance(&shortfall), balance(&unswept));
        let moved = |fee: Option<i64>| fee.map_or(0, |fee| MINOR - fee);
        let sent = |fee: Option<i64>| fee.map_or(0, |_| MINOR);
        let wallet = FUNDS - sent(self.debit) + moved(self.give_back);
        assert_eq!(has, (wallet, moved(self.debit) - sent(self.give_back)), "{self:?}");
        let owed = if world.state() == ExchangeState::Debited { MINOR } else { 0 };
        assert_eq!(world.pools().owed(), owed, "the tenant bears what the debit lost: {self:?}");
        let outside = AccountCode::External(StableCoin::Usdc);
        let fees = self.debit.unwrap_or(0) + self.give_back.unwrap_or(0);
        assert_eq!(balance(&outside), fees - FUNDS, "{self:?}");
    }
}

fn mined_and_undone(events: &[Event]) {
    let mut world = World::pending();
    let mut mined = Mined::default();
    for event in events {
        mined.follow(&mut world, *event);
        mined.compare(&mut world);
    }
}

#[test]
fn the_books_have_a_token_fee_as_long_as_the_chain() {
    use Event::{
        Block, Debit, DebitGivenUp, DebitRestored, DebitUndone, Return, ReturnFutile,
        ReturnRestored, ReturnUndone,
    };
    for events in [
        &[Debit(7), DebitUndone, Debit(7)][..],
        &[Debit(7), DebitUndone, Debit(9)],
        &[Debit(7), DebitUndone, Debit(0)],
        &[Debit(7), DebitUndone, DebitGivenUp],
        &[Debit(7), DebitUndone, DebitGivenUp, DebitRestored(7), Return(5)],
        &[
            Debit(0),
            DebitUndone,
            DebitGivenUp,
            DebitRestored(7),
            Return(5),
            ReturnUndone,
            Return(6),
        ],
        &[Debit(7), Block, DebitUndone, DebitGivenUp, ReturnFutile],
        &[Debit(7), Block, DebitUndone, DebitGivenUp, DebitRestored(3), Return(0)],
        &[Debit(7), Block, Return(5), ReturnUndone, Return(9)],
        &[Debit(7), Block, Return(5), ReturnUndone, DebitUndone, Debit(8), Return(3)],
        &[Debit(7), Block, Return(5), ReturnUndone, DebitUndone, DebitGivenUp, ReturnFutile],
        &[
            Debit(7),
            Block,
            Return(5),
            ReturnUndone,
            DebitUndone,
            DebitGivenUp,
            ReturnFutile,
            DebitRestored(7),
            ReturnRestored(5),
            ReturnUndone,
            Return(4),
        ],
    ] {
        mined_and_undone(events);
    }
}

/// Its fees are not known: what is booked of them stays.
#[test]
fn the_fees_of_an_order_that_an_earlier_version_debited_stay() {
    let mut world = World::pending();
    world.debited();
    (world.case.order.debit_fee, world.case.order.return_fee) = (None, None);
    let before = world.books.show();
    world.does(|case, cx| case.debit_fee_is(7, cx));
    world.does(|case, cx| case.return_fee_is(7, cx));
    assert_eq!(world.books.show(), before);
    block_wallet(&mut world.case.wallet);
    assert!(!world.pay_at("278.50"));
    world.does(|case, cx| case.coins_back(5, cx));
    assert_eq!(world.books.account(&code()).available().minor, FUNDS - 5);
    world.does(|case, cx| case.coins_back(3, cx));
    assert_eq!(world.books.account(&code()).available().minor, FUNDS - 3, "this one is known");
}

#[test]
fn a_return_after_settlement_goes_to_suspense_and_is_re_credited_by_an_operator() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    assert_eq!(world.recredits(), Err(OrderRefusal::Conflict(ExchangeState::Settled)));
    world.hears(RailStatus::Returned, None);
    world.hears(RailStatus::Returned, None);
    assert_eq!((world.case.order.state.status(), world.alerts), (OrderStatus::Settled, 1));
    let suspense = AccountCode::PayoutSuspense(ChainNumber::FIRST, StableCoin::Usdc);
    assert_eq!(
        world.books.account(&suspense).balance().to_string(),
        "100.000000 USDC",
        "with our fee"
    );
    assert!(
        world.books.show().iter().all(|line| !line.contains("PKR")),
        "{:?}",
        world.books.show()
    );
    world.recredits().expect("it was returned");
    assert_eq!(world.recredits(), Err(OrderRefusal::Recredited));
    world.coins_come_back();
    assert_eq!(world.books.account(&code()).balance().minor, FUNDS);
    assert_eq!(world.books.account(&AccountCode::FeeIncome(StableCoin::Usdc)).balance().minor, 0);
}

#[test]
fn a_return_as_the_first_report_returns_the_tokens() {
    let mut world = World::paying();
    world.hears(RailStatus::Returned, None);
    assert_eq!(world.state(), ExchangeState::Returning);
    world.coins_come_back();
    assert_eq!(world.books.account(&code()).available().minor, FUNDS);
}

#[test]
fn an_unclear_payout_is_inquired_about_and_raises_one_alert_beyond_the_window() {
    let mut world = World::paying();
    let mut attempt = world.attempt.clone().expect("in progress");
    world.does(|case, cx| case.unclear(&mut attempt, "no answer", cx));
    assert_eq!(
        (attempt.state, world.job),
        (AttemptState::Indeterminate, Some(JobKind::InquirePayout))
    );
    let rail = world.rail.clone();
    for (minutes, alerts) in [(1, 0), (15, 1), (30, 1)] {
        world.now = monday() + Span::mins(minutes);
        world.does(|case, cx| case.still_unclear(&mut attempt, Some(&rail), 0, cx));
        assert_eq!((world.alerts, world.state()), (alerts, ExchangeState::Paying), "{minutes}");
    }
    world.attempt = Some(attempt);
    world.hears(RailStatus::Settled, None);
    assert_eq!((world.state(), world.alerts), (ExchangeState::Settled, 0));
}

#[test]
fn the_alert_of_an_unknown_payout_ends_with_its_outcome() {
    for status in
        [RailStatus::Settled, RailStatus::Rejected, RailStatus::Cancelled, RailStatus::Returned]
    {
        let mut world = unknown_payout();
        let other = Alert { what: "another alert".to_owned(), ..world.open[0].clone() };
        world.open.push(other.clone());
        world.resolves(status.clone(), "letter").expect("it is unknown");
        assert_eq!(world.open, [other], "{status:?}");
    }
    for status in [
        RailStatus::Accepted,
        RailStatus::Settled,
        RailStatus::Rejected,
        RailStatus::Cancelled,
        RailStatus::Returned,
    ] {
        let mut world = unknown_payout();
        assert_eq!(world.alerts, 1);
        world.hears(status.clone(), Some("AM04"));
        assert_eq!(world.open, [], "{status:?}");
    }
}

#[test]
fn the_alert_of_a_returned_payout_ends_with_the_recredit() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    world.hears(RailStatus::Returned, None);
    let other = Alert { what: "another alert".to_owned(), ..world.open[0].clone() };
    world.open.push(other.clone());
    world.case.wallet.state = WalletState::Blacklisted;
    world.recredits().expect_err("the wallet is blacklisted");
    assert_eq!(world.open.len(), 2, "nothing was done");
    world.case.wallet.state = WalletState::Active;
    world.recredits().expect("it was returned");
    assert_eq!(world.open, std::slice::from_ref(&other));
    world.coins_come_back();
    assert_eq!(world.open, [other]);
}

#[test]
fn reviewers_resolve_an_unknown_payout() {
    let mut world = World::paying();
    let early = world.resolves(RailStatus::Rejected, "");
    assert_eq!(
        early,
        Err(OrderRefusal::Conflict(ExchangeState::Paying)),
        "the rail may be paying it"
    );
    assert_eq!(world.case.order.doubt(), None);
    world.hears(RailStatus::Unknown, None);
    let attempt = world.attempt.clone().expect("in progress");
    let doubt = world.case.order.doubt().expect("in review");
    assert_eq!((doubt.attempt, Some(doubt.since)), (attempt.id, world.case.order.unclear_since));
    let resolved = world.resolves(RailStatus::Settled, "statement 7");
    assert_eq!((resolved, world.state()), (Ok(()), ExchangeState::Settled));
    assert_eq!(
        world.attempt.as_ref().and_then(|it| it.source.as_deref()),
        Some("operator: statement 7")
    );
    assert_eq!(world.case.order.doubt(), None);
    let again = world.resolves(RailStatus::Rejected, "");
    assert_eq!(again, Err(OrderRefusal::Conflict(ExchangeState::Settled)));
}

fn unknown_payout() -> World {
    let mut world = World::paying();
    world.hears(RailStatus::Unknown, None);
    world.attempt.as_mut().expect("in progress").bank_reference = None;
    world
}

#[test]
fn reviewers_record_the_banks_reference_of_an_unknown_payout() {
    let mut world = unknown_payout();
    let reference = Some("FT-7".to_owned());
    let finding =
        Finding { status: RailStatus::Settled, never_accepted: false, reference, charges: 0 };
    world.resolves(finding, "statement 7").expect("it is unknown");
    let (order, attempt) = (&world.case.order, world.attempt.as_ref().expect("paid"));
    assert_eq!(order.state, ExchangeState::Settled);
    assert_eq!(order.settlement_reference.as_deref(), Some("FT-7"));
    assert_eq!((attempt.bank_reference.as_deref(), attempt.charges), (Some("FT-7"), 0));
    let [WalletEvent::ExchangeComplete { reference, .. }] = world.told.as_slice() else {
        panic!("{:?}", world.told)
    };
    assert_eq!(reference, "FT-7");
}

#[test]
fn an_unknown_payout_that_was_not_made_returns_the_tokens() {
    let rejected = |never_accepted| Finding { never_accepted, ..RailStatus::Rejected.into() };
    for (finding, state) in [
        (rejected(true), AttemptState::Refused),
        (rejected(false), AttemptState::Refused),
        (RailStatus::Cancelled.into(), AttemptState::Cancelled),
    ] {
        let mut world = unknown_payout();
        world.resolves(finding.clone(), "letter").expect("it is unknown");
        assert_eq!(world.attempt.as_ref().map(|attempt| attempt.state), Some(state), "{finding:?}");
        assert_eq!((world.state(), world.job), (ExchangeState::Returning, None), "{finding:?}");
        world.coins_come_back();
        assert_eq!(world.case.order.state.status(), OrderStatus::Failed);
        assert_eq!(world.books.account(&code()).available().minor, FUNDS);
        assert!(
            world.books.show().iter().all(|line| !line.contains("PKR")),
            "{:?}",
            world.books.show()
        );
    }
}

/// A blacklisted wallet's address is barred by the token's contract, too.
#[test]
fn tokens_that_cannot_return_to_a_blacklisted_wallet_end_in_suspense() {
    let debited = || {
        let mut world = World::pending();
        world.debited();
        world
    };
    let called_off = |mut world: World| {
        world.case.wallet.state = WalletState::Blacklisted;
        world.does(|case, cx| case.wallet_changed(cx));
        world
    };
    let too_late = {
        let mut world = World::pending();
        world.taken();
        let mut world = called_off(world);
        world.does(|case, cx| case.debited(TX, 0, cx));
        world
    };
    let unpaid = {
        let mut world = called_off(World::paying());
        world.hears(RailStatus::Rejected, Some("AC04"));
        world
    };
    for mut world in [called_off(debited()), too_late, unpaid] {
        assert_eq!((world.state(), world.job), (ExchangeState::Returning, None));
        let alerts = world.alerts;
        world.return_is_barred();
        let order = &world.case.order;
        assert_eq!(
            (order.state, order.failure),
            (ExchangeState::Failed, Some(OrderFailure::WalletBlacklisted))
        );
        assert_eq!(world.alerts, alerts + 1);
        let balance = |code: AccountCode| world.books.account(&code).balance().minor;
        let (chain, coin) = (ChainNumber::FIRST, StableCoin::Usdc);
        assert_eq!(balance(code()), FUNDS - MINOR);
        assert_eq!(balance(AccountCode::PayoutSuspense(chain, coin)), MINOR);
        assert_eq!((world.pools().owed(), world.pools().missing()), (MINOR, None), "not swept");
    }
}

#[test]
fn tokens_of_a_returned_payout_are_not_recredited_to_a_blacklisted_wallet() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    world.hears(RailStatus::Returned, None);
    world.case.wallet.state = WalletState::Blacklisted;
    assert_eq!(world.recredits(), Err(OrderRefusal::Frozen(WalletState::Blacklisted)));
    // Blacklisted after the recredit: back to suspense, and an operator is alerted.
    world.case.wallet.state = WalletState::Active;
    world.recredits().expect("allowed");
    world.case.wallet.state = WalletState::Blacklisted;
    let alerts = world.alerts;
    world.return_is_barred();
    assert_eq!((world.state(), world.alerts), (ExchangeState::Settled, alerts + 1));
    assert_eq!(world.case.order.recredit, Some(Recredit::Barred));
    let suspense = AccountCode::PayoutSuspense(ChainNumber::FIRST, StableCoin::Usdc);
    assert_eq!(world.books.account(&suspense).balance().minor, MINOR);
    assert_eq!((world.pools().owed(), world.pools().missing()), (MINOR, None));
    let settled = ExchangeState::Settled;
    assert_eq!(world.recredits(), Err(OrderRefusal::Conflict(settled)), "it ends there");
}

/// A deep reorganisation undoes the return, which is then executed a second time.
#[test]
fn a_recredit_is_booked_once() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    world.hears(RailStatus::Returned, None);
    world.recredits().expect("allowed");
    world.coins_come_back();
    world.coins_come_back();
    assert_eq!(world.case.order.recredit, Some(Recredit::Done));
    assert_eq!(world.books.account(&code()).balance().minor, FUNDS);
}

fn returned(charges: i64) -> Finding {
    Finding { charges, ..RailStatus::Returned.into() }
}

/// What the bank deducted from a return, as booked.
fn charges_booked(world: &World) -> (i64, i64) {
    let nostro = AccountCode::Nostro(world.rail.id.clone(), Currency::Pkr);
    let balance = |code: AccountCode| world.books.account(&code).balance().minor;
    (balance(nostro), balance(AccountCode::RailCharges(Currency::Pkr)))
}

#[test]
fn a_return_less_charges_is_recorded_by_reviewers_and_the_charges_are_rail_cost() {
    let mut world = unknown_payout();
    world.resolves(returned(25_000), "credit of 24 November").expect("it is unknown");
    assert_eq!(
        world.attempt.as_ref().map(|it| (it.state, it.charges)),
        Some((AttemptState::Returned, 25_000))
    );
    assert_eq!(charges_booked(&world), (-25_000, 25_000));
    world.coins_come_back();
    assert_eq!(world.case.order.state.status(), OrderStatus::Failed);
    assert_eq!(
        world.books.account(&code()).available().minor,
        FUNDS,
        "the customer bears no charges"
    );
    // The bank's own report arrives later and is no second return.
    world.hears(RailStatus::Returned, None);
    assert_eq!(charges_booked(&world), (-25_000, 25_000));
}

#[test]
fn charges_that_leave_nothing_of_the_amount_are_not_booked() {
    for charges in [-1, 0, 2_771_075, i64::MAX, i64::MIN] {
        let mut world = unknown_payout();
        world.resolves(returned(charges), "letter").expect("it is unknown");
        assert_eq!(
            (world.state(), charges_booked(&world)),
            (ExchangeState::Returning, (0, 0)),
            "{charges}"
        );
    }
}

#[test]
fn reviewers_record_the_return_of_a_settled_payout_once() {
    let mut world = World::paying();
    world.hears(RailStatus::Settled, None);
    let settled = world.case.order.clone();
    for status in
        [RailStatus::Settled, RailStatus::Rejected, RailStatus::Cancelled, RailStatus::Accepted]
    {
        assert_eq!(settled.open_to(&status.clone().into()), None, "{status:?}");
        assert_eq!(world.resolves(status, ""), Err(OrderRefusal::Conflict(ExchangeState::Settled)));
    }
    let open = settled.open_to(&returned(25_000)).expect("it can be returned");
    assert_eq!((Some(open.attempt), open.since), (settled.attempt, settled.state_at));
    world.resolves(returned(25_000), "credit of 24 November").expect("it was paid");
    assert_eq!(
        (world.state(), world.case.order.came_back, world.alerts),
        (ExchangeState::Settled, true, 1)
    );
    assert_eq!(charges_booked(&world), (-25_000, 25_000));
    let suspense = AccountCode::PayoutSuspense(ChainNumber::FIRST, StableCoin::Usdc);
    assert_eq!(
        world.books.account(&suspense).balance().minor,
        MINOR,
        "until an operator re-credits them"
    );
    assert_eq!(
        world.resolves(returned(1), ""),
        Err(OrderRefusal::Conflict(ExchangeState::Settled))
    );
    world.recredits().expect("it was returned");
    world.coins_come_back();
    assert_eq!(world.books.account(&code()).balance().minor, FUNDS);
}

#[test]
fn a_contradicting_report_or_amount_needs_review() {
    let mut world = World::paying();
    let mut attempt = world.attempt.clone().expect("in progress");
    let report = RailReport {
        attempt: attempt.id,
        status: RailStatus::Settled,
        reason: None,
        info: None,
        bank_reference: None,
        return_id: None,
        amount: Some(pkr(1)),
        source: "camt.054 C-1".to_owned(),
        further_reasons: Vec::new(),
        charges: None,
    };
    world.does(|case, cx| case.heard(&mut attempt, &report, None, cx));
    assert_eq!((world.state(), world.alerts), (ExchangeState::Paying, 1));
    world.hears(RailStatus::Settled, None);
    world.hears(RailStatus::Rejected, None);
    assert_eq!((world.state(), world.alerts), (ExchangeState::Settled, 2));
}

#[test]
fn sandbox_cents_fail_or_time_out() {
    for (minor, fate) in
        [(25_010_000, Fate::Fails), (25_020_000, Fate::TimesOut), (25_000_000, Fate::Open)]
    {
        assert_eq!(sandbox_fate(minor), fate);
    }
    let mut fails = World::with(NewOrder { fate: Fate::Fails, ..new_order() });
    fails.debited();
    assert!(!fails.pay_at("278.50"));
    fails.coins_come_back();
    assert_eq!(fails.case.order.state.status(), OrderStatus::Failed);
    let mut times_out = World::with(NewOrder { fate: Fate::TimesOut, ..new_order() });
    assert!(times_out.case.intents.is_empty(), "it has not begun");
    times_out.now = monday() + SANDBOX_TIMEOUT;
    times_out.does(|case, cx| case.time_passed(cx));
    assert_eq!(times_out.case.order.state.status(), OrderStatus::Cancelled);
}

#[test]
fn an_order_to_a_listed_holder_is_withheld_and_raises_an_alert() {
    for (score, stale, fate, alerts) in [
        (84, false, Fate::Open, 0),
        (85, false, Fate::Withheld, 1),
        (100, false, Fate::Withheld, 1),
        (0, true, Fate::Withheld, 1),
    ] {
        let screened = Screened { stale, ..screened(score) };
        let mut world = World::with(NewOrder { screened, ..new_order() });
        assert_eq!((world.case.order.fate, world.alerts), (fate, alerts), "{score} {stale}");
        assert!(world.case.order.screened.is_some(), "what it was screened on");
        assert_eq!(
            world.case.order.state.status(),
            OrderStatus::Pending,
            "the customer is not tipped off"
        );
        if fate == Fate::Withheld {
            assert!(world.case.intents.is_empty(), "nothing moves");
            world.now = monday() + TIMEOUT;
            world.does(|case, cx| case.time_passed(cx));
            assert_eq!(world.case.order.failure, Some(OrderFailure::Timeout), "a neutral reason");
            assert_eq!(world.case.order.state.status(), OrderStatus::Cancelled);
        }
    }
    // A sanctions hit takes precedence over a sandbox outcome.
    let listed = World::with(NewOrder { fate: Fate::Fails, screened: screened(95), ..new_order() });
    assert_eq!(listed.case.order.fate, Fate::Withheld);
}

fn withheld() -> World {
    World::with(NewOrder { screened: screened(90), ..new_order() })
}

#[test]
fn a_withheld_order_that_is_approved_is_paid() {
    let mut world = withheld();
    assert!(world.case.order.is_withheld());
    world.now = monday() + Span::hours(23);
    world.reviews(true).expect("it is withheld");
    assert_eq!((world.case.order.is_withheld(), world.alerts), (false, 0));
    assert_eq!(
        world.case.intents.iter().map(|intent| intent.kind()).collect::<Vec<_>>(),
        [IntentKind::Debit]
    );
    for approve in [true, false] {
        assert_eq!(world.reviews(approve), Err(OrderRefusal::NotWithheld), "decided once");
    }
    assert!(world.case.may_debit(world.now));
    assert!(!world.case.may_debit(monday() + TIMEOUT), "its timeout still applies");
    world.debited();
    assert!(world.pay_at("278.50"));
    world.hears(RailStatus::Settled, None);
    assert_eq!(world.state(), ExchangeState::Settled);
    assert_eq!(world.case.order.screened, Some(screened(84)), "what the release rests on");
}

#[test]
fn a_withheld_order_that_is_rejected_fails_for_a_neutral_reason_and_frees_its_tokens() {
    let mut world = withheld();
    world.reviews(false).expect("it is withheld");
    assert_eq!((world.state(), world.job, world.alerts), (ExchangeState::Failed, None, 0));
    assert_eq!(world.case.order.failure, Some(OrderFailure::PayoutFailed));
    assert!(world.case.intents.is_empty(), "nothing moved");
    assert_eq!(world.books.account(&code()).available().minor, FUNDS);
    for approve in [true, false] {
        assert_eq!(world.reviews(approve), Err(OrderRefusal::NotWithheld), "decided once");
    }
}

#[test]
fn the_alert_of_a_withheld_order_ends_however_the_order_does() {
    let frozen = |state: WalletState| {
        move |world: &mut World| {
            world.case.wallet.state = state;
            world.does(|case, cx| case.wallet_changed(cx));
        }
    };
    let cancelled = |world: &mut World| world.tries(|case, cx| case.cancel(cx)).expect("pending");
    let late = |world: &mut World| {
        world.now = monday() + TIMEOUT;
        world.does(|case, cx| case.time_passed(cx));
    };
    let rejected = |world: &mut World| world.reviews(false).expect("it is withheld");
    let approved = |world: &mut World| world.reviews(true).expect("it is withheld");
    type End = Box<dyn Fn(&mut World)>;
    let ways: [(&str, End, ExchangeState); 6] = [
        ("cancelled", Box::new(cancelled), ExchangeState::Cancelled),
        ("blocked", Box::new(frozen(WalletState::Blocked)), ExchangeState::Cancelled),
        ("blacklisted", Box::new(frozen(WalletState::Blacklisted)), ExchangeState::Cancelled),
        ("late", Box::new(late), ExchangeState::Cancelled),
        ("rejected", Box::new(rejected), ExchangeState::Failed),
        ("approved", Box::new(approved), ExchangeState::Pending),
    ];
    for (name, end, state) in &ways {
        let mut world = withheld();
        assert_eq!(world.open.len(), 1, "{name}");
        end(&mut world);
        assert_eq!((world.state(), &world.open), (*state, &Vec::new()), "{name}");
    }
    // One that is withheld before its payout is not cancelled: its tokens return.
    for state in [WalletState::Blocked, WalletState::Blacklisted] {
        let mut world = World::with(NewOrder { screened: screened(0), ..new_order() });
        world.debited();
        world
            .tries(|case, cx| case.holder_matched(&screened(90), cx))
            .expect("it is to be paid out");
        assert_eq!(world.open.len(), 1);
        frozen(state)(&mut world);
        assert_eq!((world.state(), &world.open), (ExchangeState::Returning, &Vec::new()));
    }
}

#[test]
fn an_exact_match_that_ends_without_a_decision_leaves_an_alert() {
    let listed = |score| World::with(NewOrder { screened: screened(score), ..new_order() });
    let blocked = |world: &mut World| {
        block_wallet(&mut world.case.wallet);
        world.does(|case, cx| case.wallet_changed(cx));
    };
    let cancelled = |world: &mut World| world.tries(|case, cx| case.cancel(cx)).expect("pending");
    let late = |world: &mut World| {
        world.now = monday() + TIMEOUT;
        world.does(|case, cx| case.time_passed(cx));
    };
    let rejected = |world: &mut World| world.reviews(false).expect("it is withheld");
    type End = Box<dyn Fn(&mut World)>;
    let ways: [(&str, End, usize); 4] = [
        ("cancelled", Box::new(cancelled), 1),
        ("late", Box::new(late), 1),
        ("blocked", Box::new(blocked), 1),
        ("rejected", Box::new(rejected), 0),
    ];
    for (name, end, left) in &ways {
        for (score, left) in [(94, 0), (95, *left), (100, *left)] {
            let mut world = listed(score);
            assert_eq!(world.open.len(), 1, "{name} {score}");
            end(&mut world);
            let open: Vec<&str> = world.open.iter().map(|it| it.what.as_str()).collect();
            assert_eq!(open.len(), left, "{name} {score}: {open:?}");
            let words = "cancelled: the account holder's name ";
            assert!(open.iter().all(|it| it.starts_with(words)), "{name} {score}: {open:?}");
        }
    }
    // Withheld before its payout, its name was found on a list before a release.
    let mut debited = World::pending();
    debited.debited();
    debited.tries(|case, cx| case.holder_matched(&screened(90), cx)).expect("to be paid out");
    debited.tries(|case, cx| case.found_match(screened(100), cx)).expect("it is withheld");
    blocked(&mut debited);
    let open: Vec<&str> = debited.open.iter().map(|it| it.what.as_str()).collect();
    assert_eq!((debited.state(), open.len()), (ExchangeState::Returning, 1));
    assert!(open[0].starts_with("not paid out: the account holder's name "), "{open:?}");
}

#[test]
fn only_a_withheld_order_within_its_time_is_reviewed() {
    let mut clean = World::pending();
    let mut waits = World::with(NewOrder { fate: Fate::TimesOut, ..new_order() });
    let mut cancelled = withheld();
    cancelled.tries(|case, cx| case.cancel(cx)).expect("pending");
    let mut late = withheld();
    late.now = monday() + TIMEOUT;
    for world in [&mut clean, &mut waits, &mut cancelled, &mut late] {
        for approve in [true, false] {
            let before = world.case.clone();
            assert_eq!(world.reviews(approve), Err(OrderRefusal::NotWithheld));
            assert_eq!(world.case, before, "nothing changes");
        }
    }
    let mut listed = World::with(NewOrder { screened: screened(95), ..new_order() });
    assert_eq!(listed.reviews(true), Err(OrderRefusal::Listed));
    assert!(listed.case.order.is_withheld());
    listed.reviews(false).expect("a rejection moves nothing");
    let mut frozen = withheld();
    block_wallet(&mut frozen.case.wallet);
    assert_eq!(frozen.reviews(true), Err(OrderRefusal::Frozen(WalletState::Blocked)));
    frozen.reviews(false).expect("a rejection moves nothing");
    let mut no_token = withheld();
    let bare = ChainConfig { tokens: Vec::new(), ..config() };
    let release = no_token.tries(|case, cx| case.review(Some(screened(84)), &bare, cx));
    assert_eq!(release, Err(OrderRefusal::NoToken));
    assert!(no_token.case.order.is_withheld());
}

#[test]
fn an_exact_match_at_the_decision_leaves_the_order_to_a_rejection() {
    let mut world = withheld();
    let before = world.case.clone();
    let listed = |score| {
        move |case: &mut OrderCase, cx: &mut Cx<'_>| {
            case.review(Some(screened(score)), &config(), cx)
        }
    };
    assert_eq!(world.tries(listed(95)), Err(OrderRefusal::Listed));
    assert_eq!(world.case, before);
    let found = |case: &mut OrderCase, cx: &mut Cx<'_>| case.found_match(screened(95), cx);
    let alert = before.order.withheld_alert();
    world.tries(found).expect("it is withheld");
    assert_eq!((world.case.order.screened.clone(), world.alerts), (Some(screened(95)), 1));
    assert_ne!(world.case.order.withheld_alert(), alert, "with the new evidence");
    assert!(world.case.order.is_withheld() && world.case.intents.is_empty());
    assert_eq!(world.tries(found), Err(OrderRefusal::Listed), "known");
    assert_eq!(world.tries(listed(84)), Err(OrderRefusal::Listed), "whatever a later list says");
    world.reviews(false).expect("a rejection moves nothing");
    assert_eq!((world.alerts, world.tries(found)), (0, Err(OrderRefusal::NotWithheld)));
}

#[test]
fn a_near_match_before_the_payout_waits_for_a_reviewer() {
    let near = |score, day: &str| Screened {
        evidence: Some(format!("OFAC-SDN 7 KHAN, Aisha ({score})")),
        list_version: format!("OFAC-SDN 2026-11-{day} 1f2e"),
        ..screened(score)
    };
    let held = || {
        let screened = near(0, "21");
        let mut world = World::with(NewOrder { screened, ..new_order() });
        world.debited();
        let alerts = world.alerts;
        let matched =
            |case: &mut OrderCase, cx: &mut Cx<'_>| case.holder_matched(&near(90, "22"), cx);
        world.tries(matched).expect("it is to be paid out");
        assert_eq!(world.tries(matched), Err(OrderRefusal::Conflict(ExchangeState::Debited)));
        assert!(world.case.order.is_withheld() && world.case.order.is_in_review());
        assert_eq!((world.job, world.alerts), (Some(JobKind::Exchange), alerts + 1));
        // It is not paid out, and not cancelled either.
        world.now = monday() + TIMEOUT + Span::hours(1);
        world.does(|case, cx| case.time_passed(cx));
        assert_eq!((world.state(), world.job), (ExchangeState::Debited, Some(JobKind::Exchange)));
        world
    };
    let mut released = held();
    let older =
        |case: &mut OrderCase, cx: &mut Cx<'_>| case.review(Some(near(0, "21")), &config(), cx);
    assert_eq!(released.tries(older), Err(OrderRefusal::OlderLists));
    let seen =
        |case: &mut OrderCase, cx: &mut Cx<'_>| case.review(Some(near(90, "22")), &config(), cx);
    released.tries(seen).expect("it is withheld");
    assert_eq!((released.job, released.alerts), (Some(JobKind::Payout), 0));
    assert!(!released.case.order.is_news(&near(90, "23")), "the decision covers it");
    assert!(released.case.order.is_news(&near(91, "23")));
    assert!(released.pay_at("278.50"));
    released.hears(RailStatus::Settled, None);
    assert_eq!(released.state(), ExchangeState::Settled);

    let mut rejected = held();
    rejected.reviews(false).expect("it is withheld");
    assert_eq!((rejected.state(), rejected.alerts), (ExchangeState::Returning, 0));
    assert_eq!(rejected.case.order.failure, Some(OrderFailure::PayoutFailed), "a neutral reason");

    // Only later lists decide.
    let screened = near(0, "21");
    let mut world = World::with(NewOrder { screened, ..new_order() });
    world.debited();
    let before = world.case.clone();
    for score in [90, 100] {
        let matched =
            |case: &mut OrderCase, cx: &mut Cx<'_>| case.holder_matched(&near(score, "20"), cx);
        assert_eq!(world.tries(matched), Err(OrderRefusal::OlderLists));
        assert_eq!(world.case, before);
    }
}

#[test]
fn a_match_that_reviewers_have_not_seen_is_news() {
    let order = ExchangeOrder { screened: Some(screened(90)), ..withheld().case.order };
    let other = Screened { evidence: Some("another entry".to_owned()), ..screened(85) };
    let later = [screened(84), screened(90), screened(94), screened(95), other];
    assert_eq!(later.map(|it| order.is_news(&it)), [false, false, true, true, true]);
}

/// All permitted status changes, as the API shows them.
#[test]
fn the_status_changes_only_as_decided() {
    let mut shown = BTreeSet::new();
    for state in ExchangeState::ALL {
        for trigger in OrderTrigger::ALL {
            if let OrderStep::To(to) = state.on(trigger) {
                shown.insert((state.status(), to.status()));
            }
        }
    }
    shown.retain(|(from, to)| from != to);
    use OrderStatus::{Cancelled, Failed, Pending, Processing, Settled};
    let decided = [
        (Pending, Processing),
        (Pending, Cancelled),
        (Pending, Failed),
        (Processing, Settled),
        (Processing, Failed),
        // Its debit had a nonce and did not happen: it can be cancelled again.
        (Processing, Pending),
    ];
    assert_eq!(shown, BTreeSet::from(decided));
}

#[derive(Clone, Debug)]
enum Act {
    Take,
    DebitDone,
    DebitNotTried,
    DebitFails,
    Cancel,
    Block,
    Unblock,
    FollowWallet,
    Pass(i64),
    Review(bool),
    Pay(u32),
    Hear(RailStatus, bool),
    NotSent,
    ReportUnsent,
    CoinsBack,
    Recredit,
    Blacklist,
    ReturnBarred,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let statuses = [
        RailStatus::Accepted,
        RailStatus::Settled,
        RailStatus::Rejected,
        RailStatus::Cancelled,
        RailStatus::Returned,
        RailStatus::Unknown,
    ];
    let act = prop_oneof![
        6 => Just(Act::Take),
        6 => Just(Act::DebitDone),
        1 => Just(Act::DebitNotTried),
        1 => Just(Act::DebitFails),
        1 => Just(Act::Cancel),
        1 => Just(Act::Block),
        1 => Just(Act::Unblock),
        1 => Just(Act::FollowWallet),
        1 => (0_i64..30).prop_map(Act::Pass),
        2 => any::<bool>().prop_map(Act::Review),
        5 => (270_u32..285).prop_map(Act::Pay),
        6 => (proptest::sample::select(statuses.to_vec()), any::<bool>()).prop_map(|(said, again)| Act::Hear(said, again)),
        1 => Just(Act::NotSent),
        1 => Just(Act::ReportUnsent),
        4 => Just(Act::CoinsBack),
        1 => Just(Act::Recredit),
        1 => Just(Act::Blacklist),
        2 => Just(Act::ReturnBarred),
    ];
    proptest::collection::vec(act, 1..60)
}

fn act(world: &mut World, act: Act) {
    let (now, debit, give_back) = (world.now, world.case.order.debit, world.case.order.give_back);
    let is = |world: &mut World, id, state| {
        world.case.intent(id).is_some_and(|intent| intent.state == state)
    };
    match act {
        Act::Take if is(world, debit, IntentState::Waiting) && world.case.may_debit(now) => {
            world.taken()
        }
        Act::DebitDone if is(world, debit, IntentState::Assigned) => {
            world.case.intent(debit).expect("there").done(now);
            world.does(|case, cx| case.debited(TX, 0, cx));
        }
        Act::DebitNotTried if is(world, debit, IntentState::Assigned) => {
            world.case.intent(debit).expect("there").not_tried(now);
            world.does(|case, cx| case.debit_not_tried(cx));
        }
        Act::DebitFails if is(world, debit, IntentState::Assigned) => {
            world.case.intent(debit).expect("there").failed("reverted", RetryPolicy::NoRetry, now);
            world.does(|case, cx| case.debit_failed(FailureReason::OnChainRevert, cx));
        }
        Act::Cancel => _ = world.tries(|case, cx| case.cancel(cx)),
        Act::Block if !world.case.wallet.state.is_frozen() => block_wallet(&mut world.case.wallet),
        Act::Unblock => _ = world.case.wallet.unblock(now),
        Act::FollowWallet => world.does(|case, cx| case.wallet_changed(cx)),
        Act::Pass(hours) => {
            world.now = world.now + Span::hours(hours);
            world.does(|case, cx| case.time_passed(cx));
        }
        Act::Review(approve) => _ = world.reviews(approve),
        Act::Pay(mid) if world.state() == ExchangeState::Debited => {
            _ = world.pay_at(&mid.to_string())
        }
        Act::Hear(said, again) => world.hears(said, again.then_some("AB08")),
        Act::NotSent => {
            world.is_not_sent();
        }
        Act::ReportUnsent => _ = world.is_reported(),
        Act::CoinsBack if is(world, give_back, IntentState::Waiting) => world.coins_come_back(),
        Act::Recredit => _ = world.recredits(),
        Act::Blacklist => world.case.wallet.state = WalletState::Blacklisted,
        Act::ReturnBarred
            if is(world, give_back, IntentState::Waiting)
                && world.case.wallet.state == WalletState::Blacklisted =>
        {
            world.return_is_barred();
        }
        _ => {}
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let fee = || proptest::sample::select(vec![0_i64, 5, 7]);
    let event = prop_oneof![
        3 => fee().prop_map(Event::Debit),
        2 => Just(Event::DebitUndone),
        2 => Just(Event::DebitGivenUp),
        2 => fee().prop_map(Event::DebitRestored),
        1 => Just(Event::Block),
        3 => fee().prop_map(Event::Return),
        2 => Just(Event::ReturnUndone),
        2 => Just(Event::ReturnFutile),
        2 => fee().prop_map(Event::ReturnRestored),
    ];
    proptest::collection::vec(event, 1..40)
}

proptest! {
    #[test]
    fn token_fees_follow_the_chain_in_any_order(events in events()) {
        mined_and_undone(&events);
    }

    /// I1, I3, I4 for orders: under any sequence of acts, tokens are neither created nor lost, the
    /// wallet never goes negative, rupees leave at most once and only for debited tokens, and a
    /// final order has no job.
    #[test]
    fn tokens_and_rupees_add_up(lock in any::<bool>(), held in any::<bool>(), sequence in acts()) {
        let screened = screened(if held { 90 } else { 0 });
        let mut world = World::with(NewOrder { lock, screened, ..new_order() });
        for step in sequence {
            act(&mut world, step.clone());
            let order = world.case.order.clone();
            for currency in [Currency::Usdc, Currency::Pkr] {
                let of_currency = |account: &&crate::ledger::Account| account.code.currency() == currency;
                let sum: i64 = world.books.accounts().filter(of_currency).map(|it| it.balance().minor).sum();
                prop_assert_eq!(sum, 0, "{:?} after {:?}", currency, step);
            }
            let wallet = world.books.account(&code());
            let (balance, available) = (wallet.balance().minor, wallet.available().minor);
            let given_back = world.case.order.give_back;
            let back = world.case.intent(given_back).is_some_and(|intent| intent.state == IntentState::Done);
            let barred = world.case.intent(given_back).is_some_and(|intent| intent.state == IntentState::Failed);
            let expected = match order.state {
                ExchangeState::Pending | ExchangeState::Debiting => (FUNDS, FUNDS - MINOR),
                ExchangeState::Debited | ExchangeState::Paying | ExchangeState::Returning => (FUNDS - MINOR, FUNDS - MINOR),
                ExchangeState::Settled if back => (FUNDS, FUNDS),
                ExchangeState::Settled => (FUNDS - MINOR, FUNDS - MINOR),
                ExchangeState::Failed if barred => (FUNDS - MINOR, FUNDS - MINOR),
                ExchangeState::Failed | ExchangeState::Cancelled => (FUNDS, FUNDS),
            };
            prop_assert_eq!((balance, available), expected, "{:?} after {:?}", order.state, step);
            let nostro = AccountCode::Nostro(world.rail.id.clone(), Currency::Pkr);
            let out = -world.books.account(&nostro).balance().minor;
            let paid = order.state == ExchangeState::Settled && !order.came_back;
            prop_assert_eq!(out, if paid { order.payout.minor } else { 0 }, "{:?} after {:?}", order.state, step);
            prop_assert!(world.told.len() <= 1, "exchange.complete once");
            if order.state.is_terminal() {
                prop_assert_eq!(world.job, None);
            }
            let live = |kind| world.case.intents.iter().filter(move |it| {
                it.kind() == kind && !matches!(it.state, IntentState::Failed | IntentState::Cancelled)
            }).count();
            prop_assert!(live(IntentKind::Debit) <= 1 && live(IntentKind::ReturnDebit) <= 1);
            let attempt = world.attempt.as_ref().map(|attempt| attempt.payment);
            prop_assert!(attempt.is_none_or(|payment| payment == PaymentId(ORDER.0)));
        }
    }
}
