//! Rules of sweeps, one test per rule.

use crate::chain::ChainNumber;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ledger::Funding;
use crate::test_values::{Books, Ids, TENANT, monday};

const COIN: StableCoin = StableCoin::Usdc;
const CHAIN: ChainNumber = ChainNumber::FIRST;
const TOKEN: Address = Address([4; 20]);
const TX: TxHash = TxHash([7; 32]);
const TERMS: SweepTerms = SweepTerms { at_minor: 1_000, every: Span::hours(24) };

struct World {
    books: Books,
    ids: Ids,
    sweep: Option<Sweep>,
    intent: Option<Intent>,
    jobs: Vec<(Uuid, JobChange)>,
    alerts: Vec<Alert>,
}

impl World {
    fn new() -> World {
        let (books, ids) = (Books::empty(), Ids::new());
        World { books, ids, sweep: None, intent: None, jobs: Vec::new(), alerts: Vec::new() }
    }

    fn moves(&mut self, debit: AccountCode, credit: AccountCode, minor: i64) {
        let mut cx = Cx { now: monday(), ids: &mut self.ids };
        let id = cx.transfer_id();
        let transfer = Transfer {
            id,
            tenant: TENANT,
            debit,
            credit,
            amount: Money::new(minor, COIN.currency()),
            kind: TransferKind::Posted,
            pending: None,
            set: id,
            reason: "exchange.debit",
            subject: None,
            at: monday(),
        };
        self.books.book(&[transfer]).expect("booked");
    }

    /// The sweep took effect.
    fn finishes(&mut self) {
        let available = self.pools().unswept.available().minor;
        self.does(|sweep, cx| sweep.done((TX, 0), available, cx));
    }

    /// The controller has an order's tokens.
    fn debited(&mut self, minor: i64) {
        self.moves(AccountCode::External(COIN), AccountCode::Unswept(CHAIN, COIN), minor);
    }

    /// The order was paid out.
    fn settled(&mut self, minor: i64) {
        self.debited(minor);
        self.moves(
            AccountCode::Exchanged(CHAIN, COIN),
            AccountCode::FxPosition(COIN.currency()),
            minor,
        );
    }

    /// The payout of a settled order was returned.
    fn came_back(&mut self, minor: i64) {
        self.moves(
            AccountCode::FxPosition(COIN.currency()),
            AccountCode::PayoutSuspense(CHAIN, COIN),
            minor,
        );
    }

    fn pools(&self) -> Pools {
        Pools::of(CHAIN, COIN, |code| self.books.account(code))
    }

    fn balance(&self, code: &AccountCode) -> (i64, i64) {
        (self.books.account(code).balance().minor, self.books.account(code).available().minor)
    }

    fn keep(&mut self, effects: WalletEffects) {
        self.books.book(&effects.transfers).expect("the ledger accepts it");
        self.jobs.extend(effects.jobs);
        self.alerts.extend(effects.alerts);
    }

    fn begin(&mut self, held: i64) -> bool {
        let pools = self.pools();
        let mut cx = Cx { now: monday(), ids: &mut self.ids };
        let id = SweepId(cx.ids.next());
        let new = NewSweep { id, tenant: TENANT, chain: CHAIN, coin: COIN, token: TOKEN, held };
        let Some((sweep, intent, effects)) = begin(new, &pools, &mut cx) else { return false };
        self.keep(effects);
        (self.sweep, self.intent) = (Some(sweep), Some(intent));
        true
    }

    fn does(&mut self, act: impl FnOnce(&mut Sweep, &mut Cx<'_>) -> WalletEffects) {
        let mut sweep = self.sweep.take().expect("begun");
        let effects = act(&mut sweep, &mut Cx { now: monday(), ids: &mut self.ids });
        self.sweep = Some(sweep);
        self.keep(effects);
    }

    fn state(&self) -> Option<SweepState> {
        self.sweep.as_ref().map(|sweep| sweep.state)
    }
}

#[test]
fn a_token_fee_of_a_sweep_is_booked_and_owed_to_no_order() {
    let mut world = World::new();
    world.debited(70);
    world.settled(40);
    assert!(world.begin(110));
    let available = world.pools().unswept.available().minor;
    world.does(|sweep, cx| sweep.done((TX, 3), available, cx));
    world.does(|sweep, cx| sweep.done((TX, 3), available, cx));
    assert_eq!(world.balance(&AccountCode::Treasury(CHAIN, COIN)), (37, 37));
    assert_eq!(world.balance(&AccountCode::Unswept(CHAIN, COIN)), (70, 70));
    assert_eq!((world.pools().owed(), world.pools().sweepable()), (70, 0));
}

/// A reorganisation undid it, and it was executed again.
#[test]
fn another_token_fee_of_a_sweep_replaces_the_first() {
    for (known, fee, has) in [(Some(0), 5, 35), (Some(0), 0, 40), (Some(0), 3, 37), (None, 5, 37)] {
        let mut world = World::new();
        world.settled(40);
        assert!(world.begin(40));
        let available = world.pools().unswept.available().minor;
        world.does(|sweep, cx| sweep.done((TX, 3), available, cx));
        if known.is_none() {
            // An earlier version executed it.
            world.does(|sweep, _| {
                sweep.token_fee = None;
                WalletEffects::default()
            });
        }
        world.does(|sweep, cx| sweep.done((TxHash([9; 32]), fee), available, cx));
        assert_eq!(world.balance(&AccountCode::Treasury(CHAIN, COIN)), (has, has), "{fee}");
        assert_eq!((world.pools().owed(), world.pools().sweepable()), (0, 0), "{fee}");
        let again = TxHash([10; 32]);
        world.does(|sweep, cx| sweep.fee_is((again, fee), cx));
        assert_eq!(world.balance(&AccountCode::Treasury(CHAIN, COIN)), (has, has), "once");
        world.does(|sweep, _| {
            assert_eq!(sweep.tx, Some(again), "its transaction of now");
            WalletEffects::default()
        });
    }
}

#[test]
fn only_tokens_of_settled_orders_are_swept() {
    let mut world = World::new();
    world.debited(70);
    assert!(!world.begin(70), "an open order may return them");
    world.settled(40);
    world.settled(5);
    world.came_back(5);
    assert_eq!((world.pools().owed(), world.pools().sweepable()), (75, 40));
    assert!(world.begin(115));
    let plan = world.intent.as_ref().map(|intent| (intent.plan, intent.coin));
    assert_eq!(plan, Some((Plan::Sweep { token: TOKEN, amount: 40 }, Some(COIN))));
    assert_eq!(world.balance(&AccountCode::Unswept(CHAIN, COIN)), (115, 75), "reserved");
    assert!(!world.begin(115), "one at a time");
    world.finishes();
    assert_eq!(world.balance(&AccountCode::Unswept(CHAIN, COIN)), (75, 75));
    assert_eq!(world.balance(&AccountCode::Treasury(CHAIN, COIN)), (40, 40));
    assert_eq!((world.state(), world.pools().sweepable()), (Some(SweepState::Done), 0));
    assert!(world.alerts.is_empty());
}

#[test]
fn a_return_after_its_sweep_retains_the_next_tokens() {
    let mut world = World::new();
    world.settled(40);
    assert!(world.begin(40));
    world.finishes();
    world.came_back(40);
    assert_eq!(world.pools().sweepable(), -40, "the controller is short of what it owes");
    assert_eq!(world.pools().missing(), Some(Money::new(40, COIN.currency())));
    let mut cx = Cx { now: monday(), ids: &mut world.ids };
    let (debit, credit) = Funding::Controller(CHAIN).accounts(COIN);
    let id = cx.transfer_id();
    let funded = Transfer {
        id,
        tenant: TENANT,
        debit,
        credit,
        amount: Money::new(15, COIN.currency()),
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason: Funding::Controller(CHAIN).name(),
        subject: None,
        at: cx.now,
    };
    world.books.book(&[funded]).expect("booked");
    assert_eq!(
        (world.pools().sweepable(), world.balance(&AccountCode::Treasury(CHAIN, COIN))),
        (-25, (25, 25))
    );
    world.settled(60);
    assert_eq!((world.pools().sweepable(), world.pools().missing()), (35, None));
}

#[test]
fn owed_tokens_stay_if_the_chain_has_less_than_the_books() {
    let mut world = World::new();
    world.debited(70);
    world.settled(40);
    assert!(!world.begin(70), "nothing beyond the owed amount");
    assert!(world.begin(95));
    assert_eq!(world.sweep.as_ref().map(|sweep| sweep.minor), Some(25));
}

#[test]
fn a_failed_sweep_leaves_the_tokens_and_is_retried() {
    let mut world = World::new();
    world.settled(40);
    assert!(world.begin(40));
    let lane = lane(TENANT, CHAIN, COIN);
    assert_eq!(world.jobs.pop(), Some((lane, JobChange::Done)));
    world.does(|sweep, cx| sweep.given_up("AccountFrozen", cx));
    assert_eq!(world.balance(&AccountCode::Unswept(CHAIN, COIN)), (40, 40));
    assert_eq!(world.balance(&AccountCode::Treasury(CHAIN, COIN)), (0, 0));
    assert_eq!(
        world.jobs.pop(),
        Some((lane, JobChange::Set(JobKind::Sweep, monday() + RETRY_AFTER)))
    );
    assert_eq!(world.alerts.len(), 1);
    assert!(world.begin(40), "another one");
    world.does(|sweep, cx| sweep.given_up("AccountFrozen", cx));
    assert_eq!(world.alerts[0], world.alerts[1], "one open alert, however often it fails");
}

/// The tokens of a failed sweep that took effect after all are in the treasury.
#[test]
fn a_failed_sweep_that_took_effect_after_all_is_booked_if_its_tokens_are_there() {
    for (others, state, there) in
        [(false, SweepState::Done, (0, 40)), (true, SweepState::Failed, (40, 0))]
    {
        let mut world = World::new();
        world.settled(40);
        assert!(world.begin(40));
        world.does(|sweep, cx| sweep.given_up("why", cx));
        let alerts = world.alerts.len();
        let failed = world.sweep.clone();
        if others {
            assert!(world.begin(40), "another one reserves them");
            world.sweep = failed;
        }
        world.finishes();
        let [unswept, treasury] =
            [AccountCode::Unswept(CHAIN, COIN), AccountCode::Treasury(CHAIN, COIN)]
                .map(|code| world.balance(&code).0);
        assert_eq!((world.state(), (unswept, treasury)), (Some(state), there), "{others}");
        assert_eq!(world.alerts.len(), alerts + 1);
    }
}

#[test]
fn every_state_handles_every_trigger_once() {
    for state in SweepState::ALL {
        for trigger in SweepTrigger::ALL {
            let mut world = World::new();
            world.settled(40);
            assert!(world.begin(40));
            match state {
                SweepState::Sending => {}
                SweepState::Done => world.finishes(),
                SweepState::Failed => world.does(|sweep, cx| sweep.given_up("why", cx)),
            }
            let (before, alerts) = (world.books.show(), world.alerts.len());
            match trigger {
                SweepTrigger::Done => world.finishes(),
                SweepTrigger::GivenUp => world.does(|sweep, cx| sweep.given_up("why", cx)),
            }
            let called = world.alerts.len() > alerts;
            let expected = match state.on(trigger) {
                Move::To(to) => (to, false),
                Move::Alarming(to) => (to, true),
                Move::Person => (state, true),
                Move::Stays | Move::Refused => (state, false),
            };
            assert_eq!(
                (world.state(), called),
                (Some(expected.0), expected.1),
                "{state:?} {trigger:?}"
            );
            let moved = matches!(state.on(trigger), Move::To(_) | Move::Alarming(_));
            assert_eq!(world.books.show() != before, moved, "{state:?} {trigger:?}");
        }
    }
}

#[test]
fn a_large_amount_does_not_wait_and_a_small_one_waits_once() {
    let due = |minor, waits| {
        let mut world = World::new();
        if minor > 0 {
            world.settled(minor);
        }
        world.pools().next(TERMS, waits, monday())
    };
    assert_eq!(due(0, false), None);
    assert_eq!(due(999, false), Some(monday() + TERMS.every));
    assert_eq!(due(999, true), None, "it is scheduled");
    assert_eq!(due(1_000, true), Some(monday()));
    let mut world = World::new();
    world.settled(5_000);
    assert!(world.begin(5_000));
    assert_eq!(world.pools().next(TERMS, false, monday()), None, "one at a time");
}

#[test]
fn lanes_and_names_are_distinct() {
    let [usdc, usdt] = StableCoin::ALL.map(|coin| lane(TENANT, CHAIN, coin));
    assert_ne!(usdc, usdt);
    assert_ne!(usdc, lane(TenantId(Uuid::from_u128(9)), CHAIN, StableCoin::Usdc));
    assert_ne!(usdc, lane(TENANT, ChainNumber(2), StableCoin::Usdc));
    assert!(SweepState::ALL.iter().all(|state| SweepState::parse(state.name()) == Some(*state)));
    assert_eq!(SweepState::parse("else"), None);
}

proptest! {
    /// Under any sequence of acts: no owed token leaves the controller by a sweep.
    #[test]
    fn a_sweep_never_moves_owed_tokens(acts in proptest::collection::vec((0_u8..5, 1_i64..1_000), 1..40)) {
        let mut world = World::new();
        let (mut settled, mut lies) = (0_i64, 0_i64);
        for (act, minor) in acts {
            match act {
                0 => { world.debited(minor); lies += minor; }
                1 => { world.settled(minor); settled += minor; lies += minor; }
                2 => { let minor = minor.min(settled); if minor > 0 { world.came_back(minor); settled -= minor; } }
                3 if world.begin(lies) => {
                    let minor = world.sweep.as_ref().map_or(0, |sweep| sweep.minor);
                    prop_assert!(lies - minor >= world.pools().owed());
                    lies -= minor;
                }
                _ if world.state() == Some(SweepState::Sending) => {
                    world.finishes();
                    prop_assert_eq!(world.balance(&AccountCode::Unswept(CHAIN, COIN)).0, lies);
                }
                _ => {}
            }
        }
    }
}
