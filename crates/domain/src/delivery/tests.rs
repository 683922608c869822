//! Rules of deliveries, one test per rule.

use std::collections::BTreeMap;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::decision::JobChange;
use crate::ids::PaymentRequestId;
use crate::job::JobKind;
use crate::test_values::{TENANT, monday};
use crate::wallet_effects::{AlertKind, WalletEffects};
use crate::webhook::{DeliveryAnswer, DeliveryResult};

const AGGREGATE: Aggregate = Aggregate::Request(PaymentRequestId(Uuid::from_u128(0xd1)));

fn id(version: i64) -> Uuid {
    AGGREGATE.event_id(TENANT, version).0
}

fn answer(result: DeliveryResult) -> DeliveryAnswer {
    let status = match result {
        DeliveryResult::Received => 200,
        DeliveryResult::NotReceived(_) => 500,
        DeliveryResult::Gone => 410,
    };
    DeliveryAnswer {
        result,
        status: Some(status),
        body: "{}".to_owned(),
        retry_after: None,
        took: Span::millis(3),
    }
}

fn received() -> DeliveryAnswer {
    answer(DeliveryResult::Received)
}

fn failed() -> DeliveryAnswer {
    answer(DeliveryResult::NotReceived("HTTP 500".to_owned()))
}

/// Deliveries of one aggregate with their jobs, as the store would keep them.
struct Books {
    stream: Option<DeliveryStream>,
    deliveries: BTreeMap<i64, Delivery>,
    jobs: BTreeMap<Uuid, Timestamp>,
    now: Timestamp,
}

impl Books {
    fn with(count: i64) -> Books {
        let mut books = Books {
            stream: None,
            deliveries: BTreeMap::new(),
            jobs: BTreeMap::new(),
            now: monday(),
        };
        (0..count).for_each(|_| books.announce(ReceiverState::Open));
        books
    }

    fn announce(&mut self, receiver: ReceiverState) {
        self.announce_number(self.newest() + 1, receiver);
    }

    fn newest(&self) -> i64 {
        self.stream.as_ref().map_or(0, |stream| stream.newest)
    }

    fn announce_number(&mut self, version: i64, receiver: ReceiverState) {
        self.add(version, (Occasion::Event, receiver));
    }

    fn backfill(&mut self, version: i64) {
        self.add(version, (Occasion::Backfill, ReceiverState::Open));
    }

    fn add(&mut self, version: i64, why: (Occasion, ReceiverState)) {
        let (delivery, stream, effects) =
            announce(self.stream.take(), (AGGREGATE, version), TENANT, why, self.now);
        self.deliveries.insert(version, delivery);
        self.stream = Some(stream);
        self.apply(&effects);
    }

    fn apply(&mut self, effects: &WalletEffects) {
        for (subject, change) in &effects.jobs {
            match change {
                JobChange::Set(JobKind::Deliver, at) => _ = self.jobs.insert(*subject, *at),
                JobChange::Set(..) => panic!("a delivery has no such job"),
                JobChange::Done => _ = self.jobs.remove(subject),
            }
        }
    }

    fn on<T>(
        &mut self,
        version: i64,
        act: impl FnOnce(&mut Delivery, &mut DeliveryStream, Timestamp) -> (T, WalletEffects),
    ) -> T {
        let delivery = self.deliveries.get_mut(&version).expect("announced");
        let stream = self.stream.as_mut().expect("announced");
        let (made, effects) = act(delivery, stream, self.now);
        self.apply(&effects);
        made
    }

    fn try_it(&mut self, version: i64, answer: &DeliveryAnswer) -> Tried {
        self.on(version, |delivery, stream, now| {
            let tried = delivery.tried(stream, answer, Jitter::NONE, now);
            (tried.clone(), tried.effects)
        })
    }

    fn replay(&mut self, version: i64) {
        self.on(version, |delivery, stream, now| ((), delivery.replay(stream, now)));
    }

    /// The pending ones below a version.
    fn lower(&self, version: i64) -> Vec<i64> {
        let lower = self.deliveries.range(..version);
        lower.filter(|(_, it)| it.state == Pending).map(|(version, _)| *version).collect()
    }

    fn states(&self) -> Vec<DeliveryState> {
        self.deliveries.values().map(|delivery| delivery.state).collect()
    }

    fn due(&self) -> Vec<i64> {
        self.deliveries
            .values()
            .filter(|it| self.jobs.contains_key(&it.event.0))
            .map(|it| it.version)
            .collect()
    }
}

use DeliveryState::{Dead, Delivered, Disabled, Pending};

#[test]
fn attempts_follow_the_schedule_and_then_end() {
    let mut books = Books::with(1);
    let mut delays = vec![Span(0)];
    for number in 1..=12 {
        let tried = books.try_it(1, &failed());
        assert_eq!((tried.attempt.number, tried.receiver_gone), (number, false));
        if let Some(at) = books.jobs.get(&id(1)) {
            delays.push(*at - books.now);
            books.now = *at;
        } else {
            assert_eq!(number, 12);
            assert!(
                matches!(&tried.effects.alerts[..], [alert] if alert.kind == AlertKind::DeliveryDead)
            );
        }
    }
    assert_eq!(delays, SCHEDULE);
    assert_eq!(
        SCHEDULE.map(|span| span.0 / 1_000_000),
        [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 86_400]
    );
    assert_eq!((books.states(), books.due()), (vec![Dead], vec![]));
}

#[test]
fn jitter_is_at_most_a_fifth() {
    assert_eq!(Jitter::NONE.apply(Span::secs(100)), Span::secs(100));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..5_000_u128 {
        let jitter = Jitter::of(Uuid::from_u128(
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835),
        ));
        let delay = jitter.apply(Span::secs(100));
        assert!((Span::secs(80)..=Span::secs(120)).contains(&delay), "{delay:?}");
        seen.insert(delay);
    }
    assert!(seen.len() > 350 && seen.contains(&Span::secs(80)) && seen.contains(&Span::secs(120)));
}

#[test]
fn retry_after_is_honoured_but_not_beyond_a_day() {
    for (asked, delay) in [
        (Span::secs(1), Span::secs(5)),
        (Span::secs(90), Span::secs(90)),
        (Span::days(400), Span::hours(24)),
        (Span::secs(-5), Span::secs(5)),
    ] {
        let mut books = Books::with(1);
        books.try_it(1, &DeliveryAnswer { retry_after: Some(asked), ..failed() });
        assert_eq!(books.jobs.get(&id(1)), Some(&(monday() + delay)), "{asked:?}");
    }
}

#[test]
fn a_received_delivery_ends_and_keeps_its_attempt() {
    let mut books = Books::with(1);
    let tried = books.try_it(1, &received());
    let attempt = tried.attempt;
    assert_eq!(
        (attempt.number, attempt.status, attempt.fault, &*attempt.body),
        (1, Some(200), None, "{}")
    );
    let delivery = &books.deliveries[&1];
    assert_eq!(
        (delivery.state, delivery.delivered_at, delivery.next_at),
        (Delivered, Some(monday()), None)
    );
    assert_eq!(books.due(), Vec::<i64>::new());
}

#[test]
fn gone_disables_the_endpoint_and_alerts() {
    let mut books = Books::with(2);
    let tried = books.try_it(1, &answer(DeliveryResult::Gone));
    assert!(tried.receiver_gone);
    assert!(matches!(&tried.effects.alerts[..], [alert] if alert.kind == AlertKind::ReceiverGone));
    assert_eq!((books.states(), books.due()), (vec![Disabled, Pending], vec![2]));
    books.on(2, |delivery, stream, now| ((), delivery.no_receiver(stream, now)));
    assert_eq!((books.states(), books.due()), (vec![Disabled, Disabled], vec![]));
}

#[test]
fn the_alert_of_a_delivery_ends_once_it_is_delivered() {
    let mut books = Books::with(1);
    let gone = books.try_it(1, &answer(DeliveryResult::Gone)).effects.alerts;
    books.on(1, |delivery, stream, now| ((), delivery.replay(stream, now)));
    let dead = (0..12).flat_map(|_| books.try_it(1, &failed()).effects.alerts).collect::<Vec<_>>();
    assert_eq!((gone.len(), dead.len()), (1, 1));
    books.on(1, |delivery, stream, now| ((), delivery.replay(stream, now)));
    let delivered = books.try_it(1, &received());
    assert_eq!(delivered.effects.closed, [gone, dead].concat());
    let mut fresh = Books::with(1);
    fresh.try_it(1, &failed());
    assert_eq!(fresh.try_it(1, &received()).effects.closed, []);
}

#[test]
fn only_the_first_unfinished_delivery_of_an_aggregate_is_attempted() {
    let mut books = Books::with(3);
    assert_eq!(books.due(), [1]);
    books.try_it(1, &failed());
    assert_eq!(books.due(), [1], "the others wait for it");
    books.try_it(1, &received());
    assert_eq!(books.due(), [2]);
    books.announce(ReceiverState::Open);
    assert_eq!(books.due(), [2]);
    (0..12).for_each(|_| _ = books.try_it(2, &failed()));
    assert_eq!(
        (books.states(), books.due()),
        (vec![Delivered, Dead, Pending, Pending], vec![3]),
        "a dead one is skipped"
    );
    books.try_it(3, &received());
    books.try_it(4, &received());
    books.announce(ReceiverState::Open);
    assert_eq!(books.due(), [5]);
}

#[test]
fn without_an_endpoint_nothing_is_attempted_but_all_can_be_replayed() {
    let mut books = Books::with(0);
    books.announce(ReceiverState::Closed);
    books.announce(ReceiverState::Closed);
    assert_eq!((books.states(), books.due()), (vec![Disabled, Disabled], vec![]));
    books.announce(ReceiverState::Open);
    assert_eq!(books.due(), [3]);
    books.replay(1);
    assert_eq!(books.due(), [1, 3]);
    books.try_it(1, &received());
    assert_eq!((books.states(), books.due()), (vec![Delivered, Disabled, Pending], vec![3]));
}

#[test]
fn a_replay_restarts_the_schedule_and_releases_nothing_twice() {
    let mut books = Books::with(2);
    (0..12).for_each(|_| _ = books.try_it(1, &failed()));
    books.replay(1);
    assert_eq!((books.states(), books.due()), (vec![Pending, Pending], vec![1, 2]));
    books.try_it(2, &failed());
    let tried = books.try_it(1, &failed());
    assert_eq!(
        (tried.attempt.number, books.jobs.get(&id(1))),
        (13, Some(&(monday() + Span::secs(5))))
    );
    books.try_it(1, &received());
    assert_eq!((books.states(), books.due()), (vec![Delivered, Pending], vec![2]));
    books.replay(1);
    books.try_it(1, &received());
    assert_eq!(books.due(), [2], "a delivered one can be replayed");
}

#[test]
fn replayed_deliveries_follow_one_another_in_order() {
    let mut books = Books::with(0);
    (0..4).for_each(|_| books.announce(ReceiverState::Closed));
    books.announce(ReceiverState::Open);
    for version in [1, 2, 4] {
        books.replay(version);
    }
    assert_eq!(books.due(), [1, 5], "beside the newer one");
    assert_eq!(books.deliveries[&2].next_at, None);
    books.replay(4);
    assert_eq!(books.due(), [1, 5], "a waiting one keeps waiting");
    books.try_it(1, &failed());
    assert_eq!(books.due(), [1, 5]);
    books.try_it(1, &received());
    assert_eq!(books.due(), [2, 5]);
    (0..12).for_each(|_| _ = books.try_it(2, &failed()));
    assert_eq!(books.due(), [4, 5], "a dead one is skipped");
    books.replay(2);
    books.replay(3);
    assert_eq!(books.due(), [2, 4, 5], "lower ones do not wait for one that was ahead");
    books.try_it(4, &received());
    assert_eq!(books.due(), [2, 5]);
    books.on(2, |delivery, stream, now| ((), delivery.no_receiver(stream, now)));
    assert_eq!(books.due(), [3, 5]);
    books.try_it(3, &received());
    books.try_it(5, &received());
    assert_eq!(
        (books.states(), books.due()),
        (vec![Delivered, Disabled, Delivered, Delivered, Delivered], vec![])
    );
    assert_eq!(books.stream.expect("announced").replays, Replays::default());
}

#[test]
fn replays_of_an_aggregate_whose_position_was_removed_leave_a_valid_position() {
    let mut books = Books::with(2);
    books.try_it(1, &received());
    books.try_it(2, &received());
    books.stream = Some(DeliveryStream::after((AGGREGATE, 1), TENANT));
    for version in [1, 2] {
        books.replay(version);
    }
    assert_eq!(books.due(), [1]);
    books.try_it(1, &received());
    books.try_it(2, &received());
    let left = books.stream.as_ref().expect("announced");
    assert_eq!((left.open, left.newest, &left.replays), (2, 1, &Replays::default()));
}

#[test]
fn a_repeated_answer_shows_the_replay_as_it_was() {
    let mut books = Books::with(0);
    (0..2).for_each(|_| books.announce(ReceiverState::Closed));
    (1..=2).for_each(|version| books.replay(version));
    let at = books.now;
    for (version, next_at) in [(1, Some(at)), (2, None)] {
        let shown = books.deliveries[&version].clone().as_replayed(&[], at);
        assert_eq!((shown.state, shown.next_at), (Pending, next_at));
    }
    books.now = books.now + Span::secs(1);
    let attempt = books.try_it(1, &received()).attempt;
    let shown = books.deliveries[&1].clone().as_replayed(&[attempt], at);
    assert_eq!((shown.state, shown.next_at, shown.attempts), (Pending, Some(at), 0));
}

#[test]
fn a_waiting_delivery_keeps_waiting_when_replayed() {
    let mut books = Books::with(2);
    books.try_it(1, &failed());
    books.replay(2);
    assert_eq!(books.due(), [1]);
    books.replay(1);
    assert_eq!(books.jobs.get(&id(1)), Some(&monday()), "the first is attempted at once");
}

#[test]
fn events_without_delivery_block_nothing() {
    let mut books = Books::with(0);
    books.announce_number(3, ReceiverState::Open);
    assert_eq!(books.due(), [3], "the first delivery need not be the first event");
    books.announce_number(4, ReceiverState::Open);
    books.announce_number(5, ReceiverState::Open);
    books.try_it(3, &failed());
    // 6 and 7 happened while no events were wanted.
    books.announce_number(8, ReceiverState::Open);
    assert_eq!(books.due(), [3, 8], "each side of a gap has its own order");
    books.announce_number(9, ReceiverState::Open);
    books.try_it(8, &received());
    assert_eq!(books.due(), [3, 9]);
    books.try_it(3, &received());
    assert_eq!(books.due(), [4, 9]);
    books.try_it(9, &received());
    books.try_it(4, &received());
    assert_eq!(books.due(), [5]);
    books.try_it(5, &received());
    assert_eq!((books.states(), books.due()), (vec![Delivered; 5], vec![]));
}

#[test]
fn backfilled_deliveries_are_attempted_at_once_and_in_order() {
    let mut books = Books::with(0);
    books.announce_number(4, ReceiverState::Open);
    books.backfill(2);
    books.add(1, (Occasion::Backfill, ReceiverState::Closed));
    assert_eq!(books.due(), [2, 4]);
    assert_eq!(books.deliveries[&1].state, Disabled);
    books.try_it(4, &received());
    books.announce_number(5, ReceiverState::Open);
    assert_eq!(books.due(), [2, 5], "later events behave as without a backfill");
    let mut fresh = Books::with(0);
    (1..=3).for_each(|version| fresh.backfill(version));
    assert_eq!(fresh.due(), [1]);
}

/// State of an event before a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Received,
    GivenUp,
    Disabled,
    /// It had no delivery.
    Missing,
    /// It is attempted, or waits for one that is.
    Open,
}

impl Books {
    /// An aggregate with these events.
    fn of(events: &[Before]) -> Books {
        let mut books = Books::with(0);
        for (version, event) in (1..).zip(events) {
            let receiver = match event {
                Before::Missing => continue,
                Before::Disabled => ReceiverState::Closed,
                Before::Received | Before::GivenUp | Before::Open => ReceiverState::Open,
            };
            books.announce_number(version, receiver);
            match event {
                Before::Received => _ = books.try_it(version, &received()),
                Before::GivenUp => (0..12).for_each(|_| _ = books.try_it(version, &failed())),
                Before::Disabled | Before::Missing | Before::Open => {}
            }
        }
        books
    }

    /// Asks for an event that was missed, if it was.
    fn recover(&mut self, version: i64) -> bool {
        match self.deliveries.get(&version).map(|delivery| delivery.state) {
            None => self.backfill(version),
            Some(Dead | Disabled) => self.replay(version),
            Some(Pending | Delivered) => return false,
        }
        true
    }

    /// Delivers everything; the endpoint receives the highest of those that are due first.
    fn arrivals(&mut self) -> Vec<i64> {
        let mut arrived = Vec::new();
        while let Some(version) = self.due().pop() {
            self.try_it(version, &received());
            arrived.push(version);
        }
        arrived
    }
}

#[test]
fn recovered_deliveries_arrive_in_order() {
    use Before::{Disabled as Off, GivenUp, Missing, Open, Received};
    for events in [
        &[Off, Off, Missing][..],
        &[Off, Missing],
        &[Off, Missing, Missing, Missing],
        &[Missing, Off, Missing],
        &[Missing, Received, Missing],
        &[Received, Missing, GivenUp, Missing],
        &[GivenUp, Received, Off, Missing, Missing],
        &[Missing, Missing, Missing],
        &[Missing, GivenUp, Missing, Received],
        &[GivenUp, Missing, Off],
        &[GivenUp, Open, Open, Missing],
        &[Received, Open, Missing, Missing],
        &[Missing, Open, Missing],
    ] {
        let mut books = Books::of(events);
        let wanted: Vec<i64> = (1..)
            .zip(events)
            .filter(|(_, it)| **it != Received)
            .map(|(version, _)| version)
            .collect();
        let last = i64::try_from(events.len()).expect("few");
        let mut asked: Vec<i64> = (1..=last).filter(|version| books.recover(*version)).collect();
        let mut arrived = books.arrivals();
        assert_eq!(books.states(), vec![Delivered; events.len()], "{events:?}");
        if events.contains(&Open) {
            // Those that were open need not wait for the recovered ones.
            arrived.retain(|version| asked.contains(version));
        } else {
            asked = wanted;
        }
        assert_eq!(arrived, asked, "{events:?}");
        books.announce(ReceiverState::Open);
        assert_eq!(books.due(), [last + 1], "{events:?}");
    }
}

#[test]
fn a_recovery_does_not_hold_back_new_events() {
    use Before::{Disabled as Off, Missing};
    // The new event comes before, between and after those that are recovered.
    for after in 0..=3 {
        let mut books = Books::of(&[Off, Off, Missing]);
        for version in 1..=3 {
            if after == version - 1 {
                books.announce_number(4, ReceiverState::Open);
            }
            books.recover(version);
        }
        if after == 3 {
            books.announce_number(4, ReceiverState::Open);
        }
        assert_eq!(books.due(), [1, 4], "{after}");
        books.announce_number(5, ReceiverState::Open);
        assert_eq!(books.arrivals(), [4, 5, 1, 2, 3], "{after}");
    }
}

#[test]
fn event_ids_are_stable_and_unique() {
    let other = Aggregate::Request(PaymentRequestId(Uuid::from_u128(0xd2)));
    assert_eq!(AGGREGATE.event_id(TENANT, 1), AGGREGATE.event_id(TENANT, 1));
    let ids = [
        id(1),
        id(2),
        other.event_id(TENANT, 1).0,
        AGGREGATE.event_id(crate::ids::TenantId(Uuid::nil()), 1).0,
    ];
    let distinct: std::collections::BTreeSet<Uuid> = ids.into();
    assert_eq!(distinct.len(), 4);
    assert!(ids.iter().all(|id| id.get_version_num() == 4));
}

#[test]
fn only_known_names_parse() {
    for state in DeliveryState::ALL {
        assert_eq!(DeliveryState::parse(state.name()), Some(state));
    }
    assert_eq!(DeliveryState::parse("PENDING"), None);
}

#[derive(Clone, Debug)]
enum Step {
    Announce(bool),
    Skip(i64),
    Backfill(usize),
    Recover(usize),
    Try(usize, u8),
    Replay(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => prop::bool::weighted(0.8).prop_map(Step::Announce),
        1 => (1_i64..4).prop_map(Step::Skip),
        1 => any::<usize>().prop_map(Step::Backfill),
        1 => (0_usize..4).prop_map(Step::Recover),
        6 => (any::<usize>(), 0_u8..8).prop_map(|(which, answer)| Step::Try(which, answer)),
        1 => any::<usize>().prop_map(Step::Replay),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    /// Under any sequence of steps: first deliveries follow the aggregate's order; a pending
    /// delivery is due or waits for one that is, a replayed one for a lower one; a finished
    /// delivery is never due; one that is replayed or backfilled waits for the lower ones that were
    /// open or asked for before it.
    #[test]
    fn the_order_of_an_aggregate_is_kept(steps in steps()) {
        let mut books = Books::with(0);
        let mut first_ends = Vec::new();
        let mut behind: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Skip(count) => {
                    books.announce_number(books.newest() + 1 + count, ReceiverState::Open);
                }
                Step::Backfill(which) => {
                    let newest = books.newest();
                    let missing: Vec<i64> = (1..newest).filter(|it| !books.deliveries.contains_key(it)).collect();
                    if !missing.is_empty() {
                        let version = missing[which % missing.len()];
                        books.backfill(version);
                        behind.insert(version, books.lower(version));
                    }
                }
                Step::Recover(beyond) => {
                    for version in 1..=books.newest() + i64::try_from(beyond).expect("few") {
                        if books.recover(version) {
                            behind.insert(version, books.lower(version));
                        }
                    }
                }
                Step::Announce(open) => books.announce(if open { ReceiverState::Open } else { ReceiverState::Closed }),
                Step::Try(which, how) => {
                    let due = books.due();
                    if due.is_empty() {
                        continue;
                    }
                    let version = due[which % due.len()];
                    let before = books.stream.as_ref().expect("something is due").open;
                    match how {
                        0 => _ = books.try_it(version, &answer(DeliveryResult::Gone)),
                        1 => books.on(version, |delivery, stream, now| ((), delivery.no_receiver(stream, now))),
                        2..=4 => _ = books.try_it(version, &failed()),
                        _ => _ = books.try_it(version, &received()),
                    }
                    if books.deliveries[&version].state != Pending && version == before {
                        first_ends.push(version);
                    }
                }
                Step::Replay(which) if !books.deliveries.is_empty() => {
                    let version = *books.deliveries.keys().nth(which % books.deliveries.len()).expect("one of them");
                    books.replay(version);
                }
                Step::Replay(_) => {}
            }
            behind.values_mut().for_each(|ahead| ahead.retain(|it| books.deliveries[it].state == Pending));
            for version in books.due() {
                let passed = behind.get(&version).and_then(|ahead| ahead.first());
                prop_assert_eq!(passed, None, "{} passes it: {:?}", version, books.stream);
            }
            let Some(stream) = &books.stream else { continue };
            let replays = &stream.replays;
            prop_assert!(first_ends.is_sorted());
            for delivery in books.deliveries.values() {
                let is_due = books.jobs.contains_key(&delivery.event.0);
                let waits = delivery.version > stream.open || replays.waiting.contains(&delivery.version);
                prop_assert_eq!(is_due, delivery.state == Pending && !waits, "{:?} {:?}", delivery, stream);
                prop_assert!(delivery.state == Pending || delivery.version < stream.open);
                let is_replay = delivery.state == Pending && delivery.version < stream.open;
                prop_assert_eq!(is_replay, replays.contains(delivery.version), "{:?} {:?}", delivery, stream);
            }
            for version in &replays.waiting {
                prop_assert!(replays.due.first().is_some_and(|due| due < version), "{:?}", stream);
            }
            prop_assert!(stream.open <= stream.newest + 1);
        }
    }
}
