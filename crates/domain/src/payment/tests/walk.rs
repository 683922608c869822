//! Random walks of one payment, checked after every step against two small models that are
//! independent of the code: the rail's own books (what was really paid out) and the expected
//! balances in each state.
//!
//! An honest walk loses, delays, repeats and reorders the rail's reports, but the rail never lies;
//! the rail's books then prove that nothing is paid twice. A wild walk also lets the rail report
//! anything at any time.

use proptest::prelude::*;

use super::super::report::{self, Stale};
use super::super::{Cx, Effects, JobChange, Payment, PaymentState, ReviewState, Trigger};
use super::model::{Rail, check_books, check_events};
use crate::attempt::{Attempt, AttemptState};
use crate::currency::StableCoin;
use crate::job::JobKind;
use crate::rail::{RailReport, RailStatus};
use crate::states_doc::rail_statuses;
use crate::test_values::{Books, HOLD, Ids, RETURN_WINDOW, accepted, monday, pkr, rail, say};
use crate::time::{Span, Timestamp};

const WALKS: u32 = 1_500;
const STEPS_MAX: usize = 50;

/// Fate of a message on its way to the rail.
#[derive(Clone, Copy, Debug)]
enum Wire {
    /// Not a byte left.
    NotSent,
    /// It arrived, and the answer was received.
    Answered,
    /// It arrived; the rail will report.
    Taken,
    /// It arrived; the answer was lost.
    AnswerLost,
    /// It was lost or arrives later; the outcome is unknown.
    Lost,
    /// The message arrived, and the node died before it recorded anything.
    DiedAfter,
    /// The node died before the message arrived.
    DiedBefore,
}

#[derive(Clone, Debug)]
enum Act {
    /// A worker begins an attempt and sends it.
    Submit(Wire),
    /// A lost message arrives after all.
    ArriveLate(usize),
    /// The rail takes one step with an attempt; the number selects which.
    RailWorks(usize, u8),
    /// One of the rail's reports, old or new, is delivered.
    Deliver(usize),
    /// An inquiry, with or without an answer.
    Inquire { answers: bool },
    /// The identical message is sent again.
    Repeat(Wire),
    /// A reviewer approves (`true`) or rejects a payment in review.
    Review(bool),
    /// We refuse it before submission, for the reason of this trigger.
    Refuse(Trigger),
    /// Two users establish the outcome from the rail's books.
    Resolve,
    /// The clock advances by this span.
    Pass(Span),
    /// The rail reports anything, possibly with another amount.
    Lie(usize, RailStatus, bool),
    /// Another rail reports a payout that was not sent.
    ReportUnsent,
}

fn wires() -> impl Strategy<Value = Wire> {
    prop_oneof![
        Just(Wire::NotSent),
        Just(Wire::Answered),
        Just(Wire::Taken),
        Just(Wire::AnswerLost),
        Just(Wire::Lost),
        Just(Wire::DiedAfter),
        Just(Wire::DiedBefore),
    ]
}

fn honest() -> impl Strategy<Value = Act> {
    let own =
        [Trigger::NoRoute, Trigger::ComplianceRefused, Trigger::DeadlinePassed, Trigger::Refused];
    let spans = [Span::secs(5), Span::mins(1), Span::mins(16), Span::hours(7), Span::days(40)];
    prop_oneof![
        4 => wires().prop_map(Act::Submit),
        1 => (0_usize..4).prop_map(Act::ArriveLate),
        6 => (0_usize..4, any::<u8>()).prop_map(|(attempt, choice)| Act::RailWorks(attempt, choice)),
        6 => (0_usize..16).prop_map(Act::Deliver),
        3 => any::<bool>().prop_map(|answers| Act::Inquire { answers }),
        1 => wires().prop_map(Act::Repeat),
        1 => any::<bool>().prop_map(Act::Review),
        1 => proptest::sample::select(own.to_vec()).prop_map(Act::Refuse),
        1 => Just(Act::Resolve),
        2 => proptest::sample::select(spans.to_vec()).prop_map(Act::Pass),
    ]
}

fn wild() -> impl Strategy<Value = Act> {
    let statuses = proptest::sample::select(rail_statuses().to_vec());
    let lie = (0_usize..4, statuses, proptest::bool::weighted(0.2))
        .prop_map(|(attempt, status, wrong)| Act::Lie(attempt, status, wrong));
    prop_oneof![12 => honest(), 6 => lie, 1 => Just(Act::ReportUnsent)]
}

/// Mostly clean; occasionally in review, or a hit.
fn scores() -> impl Strategy<Value = u8> {
    prop_oneof![6 => Just(0), 2 => Just(90), 1 => Just(97)]
}

fn some(act: impl Strategy<Value = Act>) -> impl Strategy<Value = Vec<Act>> {
    proptest::collection::vec(act, 0..STEPS_MAX)
}

/// The payment, everything written about it, and the rail's model.
struct World {
    payment: Payment,
    attempts: Vec<Attempt>,
    books: Books,
    history: Effects,
    job: Option<JobKind>,
    rail: Rail,
    now: Timestamp,
    ids: Ids,
}

impl World {
    fn new(score: u8) -> World {
        let (payment, effects, _) = accepted(score);
        let mut world = World {
            payment,
            attempts: Vec::new(),
            books: Books::with_prefund(StableCoin::Usdt, 200_000_000),
            history: Effects::default(),
            job: None,
            rail: Rail::default(),
            now: monday(),
            ids: Ids::new(),
        };
        world.write(effects);
        world
    }

    /// The commit: everything that a decision wrote.
    fn write(&mut self, effects: Effects) {
        self.books.book(&effects.transfers).expect("the ledger accepts a payment's transfers");
        match effects.job {
            Some(JobChange::Set(kind, run_at)) => {
                assert!(run_at >= self.now, "a job in the past");
                self.job = Some(kind);
            }
            Some(JobChange::Done) => self.job = None,
            None => {}
        }
        self.history.transfers.extend(effects.transfers);
        self.history.events.extend(effects.events);
        self.attempts.extend(effects.begun);
    }

    /// An attempt that a report began or changed.
    fn keep(&mut self, (effects, attempt): (Effects, Attempt)) {
        match self.attempts.iter_mut().find(|it| it.id == attempt.id) {
            Some(known) => *known = attempt,
            None => self.attempts.push(attempt),
        }
        self.write(effects);
    }

    fn run(&mut self, action: impl FnOnce(&mut Payment, &mut [Attempt], &mut Cx<'_>) -> Effects) {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let effects = action(&mut self.payment, &mut self.attempts, &mut cx);
        self.write(effects);
    }

    fn hear(&mut self, said: &RailReport) {
        let config = rail("any");
        let Some(at) = self.attempts.iter().position(|attempt| attempt.id == said.attempt) else {
            return;
        };
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let of = (&self.attempts[at], self.attempts.last());
        if let Some(held) = report::sent_after_all(&mut self.payment, of, said, &mut cx) {
            return self.keep(held);
        }
        self.run(|payment, attempts, cx| {
            report::apply(payment, &mut attempts[at], said, Some(&config), RETURN_WINDOW, cx)
        });
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Submit(wire) => self.submit(*wire),
            Act::ArriveLate(at) => self.rail.arrive_late(*at),
            Act::RailWorks(at, choice) => self.rail.work(*at, *choice),
            Act::Deliver(at) => {
                if let Some(said) = self.rail.said(*at) {
                    self.hear(&said);
                }
            }
            Act::Inquire { answers } => self.inquire(*answers),
            Act::Repeat(wire) => self.repeat(*wire),
            Act::Review(approve) => {
                self.decide(|payment, _, cx| report::review(payment, *approve, cx))
            }
            Act::Refuse(trigger) => {
                self.decide(|payment, last, cx| {
                    report::refuse(payment, last.as_deref(), *trigger, "ours", cx)
                });
            }
            Act::Resolve => self.resolve(),
            Act::Pass(span) => self.now = self.now + *span,
            Act::ReportUnsent => {
                let mut cx = Cx { now: self.now, ids: &mut self.ids };
                let (last, beside) = (self.attempts.last(), rail("beside").id);
                let over = (&beside, None);
                let held = report::reported_unsent(&mut self.payment, last, over, "paid", &mut cx);
                if let Ok(held) = held {
                    self.keep(held);
                }
            }
            Act::Lie(at, status, wrong) => {
                let Some(attempt) = self.attempts.get(*at) else { return };
                let amount = wrong.then(|| pkr(1));
                self.hear(&RailReport { attempt: attempt.id, amount, ..say(status.clone()) });
            }
        }
    }

    /// A decision that may come too late and then changes nothing.
    fn decide(
        &mut self,
        action: impl FnOnce(&mut Payment, Option<&mut Attempt>, &mut Cx<'_>) -> Result<Effects, Stale>,
    ) {
        let before = (self.payment.clone(), self.attempts.clone());
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        match action(&mut self.payment, self.attempts.last_mut(), &mut cx) {
            Ok(effects) => self.write(effects),
            Err(_) => assert_eq!(
                (&self.payment, &self.attempts),
                (&before.0, &before.1),
                "a refusal left a trace"
            ),
        }
    }

    fn submit(&mut self, wire: Wire) {
        let id = rail(&format!("rail-{}", self.attempts.len())).id;
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let Ok(attempt) =
            report::begin_attempt(&mut self.payment, self.attempts.last(), (&id, None), &mut cx)
        else {
            return;
        };
        assert_eq!(self.job, Some(JobKind::Submit), "an attempt began without a job");
        self.rail.sent(attempt.id);
        self.attempts.push(attempt);
        self.transmit(wire);
    }

    /// Only once the attempt may have been sent, as the worker does it.
    fn repeat(&mut self, wire: Wire) {
        if self.attempts.last().is_some_and(|attempt| attempt.state == AttemptState::Indeterminate)
        {
            self.transmit(wire);
        }
    }

    fn transmit(&mut self, wire: Wire) {
        let at = self.attempts.len() - 1;
        let arrives =
            matches!(wire, Wire::Answered | Wire::Taken | Wire::AnswerLost | Wire::DiedAfter);
        if arrives {
            self.rail.arrive(at);
        }
        match wire {
            Wire::NotSent => {
                let first = self.attempts[at].state == AttemptState::Sending;
                self.run(|payment, attempts, cx| {
                    report::not_sent(payment, &mut attempts[at], "refused", cx)
                });
                if first {
                    self.rail.never_sent(at);
                }
            }
            Wire::Answered => {
                if let Some(said) = self.rail.newest(at) {
                    self.hear(&said);
                }
            }
            Wire::Taken => self.run(|_, attempts, cx| report::taken(&attempts[at], cx)),
            Wire::AnswerLost | Wire::Lost => {
                self.run(|payment, attempts, cx| {
                    report::unclear(payment, &mut attempts[at], "time-out", cx)
                });
            }
            Wire::DiedAfter | Wire::DiedBefore => {}
        }
    }

    fn inquire(&mut self, answers: bool) {
        let Some(at) = self.attempts.len().checked_sub(1) else { return };
        if let Some(said) = self.rail.newest(at).filter(|_| answers) {
            self.hear(&said);
        } else if !self.attempts[at].state.is_refused() {
            let config = rail("any");
            self.run(|payment, attempts, cx| {
                report::still_unclear(payment, &mut attempts[at], Some(&config), 4, cx)
            });
        }
    }

    /// Reviewers read the rail's books and decide only on final outcomes.
    fn resolve(&mut self) {
        let Some(status) = self.attempts.len().checked_sub(1).and_then(|at| self.rail.proof(at))
        else {
            return;
        };
        self.decide(|payment, last, cx| match last {
            Some(attempt) => report::resolve(payment, attempt, &status.into(), "statement", cx),
            None => Err(Stale::State(payment.standing.state)),
        });
    }

    /// Invariants after every step, whatever the rail reports.
    fn check(&self) {
        let state = self.payment.standing.state;
        check_events(&self.payment, &self.history.events);
        check_books(&self.books, &self.payment, &self.history);
        assert_eq!(state.is_terminal(), self.job.is_none(), "{state:?} with job {:?}", self.job);
        let in_review =
            state == PaymentState::Queued && self.payment.review == ReviewState::Waiting;
        assert_eq!(in_review, self.job == Some(JobKind::Review), "{:?}", self.payment.review);
        let open = self.attempts.iter().filter(|attempt| !attempt.state.is_refused()).count();
        assert!(open <= 1, "{open} attempts may pay");
        for (at, attempt) in self.attempts.iter().enumerate() {
            let is_refused = attempt.state.is_refused() && attempt.recorded().is_none();
            if let Some(reported) = attempt.reported().filter(|_| is_refused) {
                let next = self.attempts.get(at + 1).expect("what was reported is held");
                assert_eq!(next.rail, reported.rail, "sent again");
            }
        }
        if !matches!(self.payment.review, ReviewState::NotNeeded | ReviewState::Approved) {
            assert!(self.attempts.iter().all(Attempt::is_unrecorded), "sent without approval");
        }
        for (at, attempt) in self.attempts.iter().enumerate() {
            assert_eq!(
                attempt.id.0 == self.payment.id.0,
                at == 0,
                "the first attempt has the payment's id"
            );
        }
        let settled = |attempt: &&Attempt| {
            [AttemptState::Settled, AttemptState::Returned].contains(&attempt.state)
        };
        assert_eq!(
            usize::from(self.payment.settled_at.is_some()),
            self.attempts.iter().filter(settled).count(),
            "settled by exactly one attempt"
        );
        let ends =
            self.history.transfers.iter().filter(|transfer| transfer.pending == Some(HOLD)).count();
        assert_eq!(ends, usize::from(state.is_terminal()), "a hold ends once, with its payment");
    }

    /// Invariants as long as the rail does not lie.
    fn check_against_the_rail(&self) {
        let paid = self.rail.paid_out();
        assert!(paid <= 1, "paid out {paid} times");
        match self.payment.standing.state {
            PaymentState::Succeeded => assert_eq!(paid, 1, "a success without a payout"),
            PaymentState::Rejected | PaymentState::Failed => {
                assert!(!self.rail.may_pay(), "given up, but the rail may pay");
                assert_eq!(paid, 0, "given up, but paid");
            }
            _ => {}
        }
    }

    /// The rail finishes its work, and all its reports are delivered in order.
    fn heal(&mut self) {
        self.rail.finish();
        for said in self.rail.all() {
            self.hear(&said);
            self.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(WALKS))]

    #[test]
    fn an_honest_rail_pays_once_and_the_books_agree(score in scores(), acts in some(honest())) {
        let mut world = World::new(score);
        for act in &acts {
            world.act(act);
            world.check();
            world.check_against_the_rail();
        }
        world.heal();
        world.check_against_the_rail();
        if let Some(ended) = world.rail.ended() {
            prop_assert!(ended.contains(&world.payment.standing.state), "{:?}", world.payment.standing);
        }
    }

    #[test]
    fn the_books_stay_consistent_whatever_a_rail_reports(score in scores(), acts in some(wild())) {
        let mut world = World::new(score);
        for act in &acts {
            world.act(act);
            world.check();
        }
    }
}
