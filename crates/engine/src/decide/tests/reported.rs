//! Payouts of orders that a rail reports although these books have not sent them.

use domain::attempt::NOT_SENT;
use domain::job::{Job, JobKind};
use domain::rail::RailReport;

use super::*;

const SECOND: AttemptId = AttemptId(Uuid::from_u128(0x32));

/// An order in this state, with attempts over one rail each; the newest is the order's.
fn books(state: ExchangeState, attempts: &[Attempt]) -> (WorkingSet, OrderKey) {
    let wallet = wallet();
    let attempt = attempts.last().map(|it| it.id);
    let (unclear_since, unclear_beyond_window) = (None, false);
    let of = order(&wallet);
    let order = ExchangeOrder { state, attempt, unclear_since, unclear_beyond_window, ..of };
    let mut ws = WorkingSet::new(NOW + Span::hours(1));
    ws.wallets.load((TENANT, wallet.id), wallet);
    for attempt in attempts {
        ws.attempts.load((TENANT, attempt.id), attempt.clone());
    }
    let job = Job {
        tenant: TENANT,
        subject: order.id.0,
        kind: JobKind::Payout,
        run_at: NOW,
        fence: 1,
        leased_until: Some(NOW + Span::hours(2)),
        tries: 0,
    };
    ws.jobs.load((TENANT, order.id.0), Some(job));
    let key = OrderKey::of(&order);
    ws.exchanges.load((TENANT, order.id), order);
    (ws, key)
}

fn over(rail: &str, number: i32, state: AttemptState) -> Attempt {
    let first = attempt(&order(&wallet()));
    Attempt {
        id: if number == 1 { first.id } else { SECOND },
        number,
        rail: RailId::new(rail),
        state,
        reason: state.is_refused().then(|| NOT_SENT.to_owned()),
        ..first
    }
}

fn report(of: &Attempt, status: RailStatus) -> ExchangeAction {
    ExchangeAction::Report(RailReport {
        attempt: of.id,
        status,
        reason: None,
        further_reasons: Vec::new(),
        info: None,
        bank_reference: None,
        return_id: None,
        amount: None,
        charges: None,
        source: "camt.054 B-1".to_owned(),
    })
}

/// The attempt that stands for a payout that was reported over this rail, as the order's newest.
fn assert_held(ws: &WorkingSet, key: &OrderKey, rail: &str, number: i32) {
    let order = ws.exchanges.get(&(TENANT, key.order)).expect("loaded");
    let held = order.attempt.and_then(|id| ws.attempts.get(&(TENANT, id))).expect("in the books");
    assert!(held.is_unrecorded(), "{held:?}");
    assert_eq!((&held.rail, held.number), (&RailId::new(rail), number));
    assert_eq!(order.doubt().map(|doubt| doubt.attempt), Some(held.id));
    let job = ws.jobs.get(&(TENANT, key.order.0)).cloned().flatten();
    assert_eq!(job.map(|job| job.kind), Some(JobKind::InquirePayout));
}

#[test]
fn a_report_of_what_was_not_sent_holds_the_order() {
    let refused = AttemptState::Refused;
    let (first, second) = (over("pak-raast", 1, refused), over("pak-ibft", 2, refused));
    for (attempts, number) in [(vec![first.clone()], 2), (vec![first.clone(), second], 3)] {
        let (mut ws, key) = books(ExchangeState::Debited, &attempts);
        let settled = report(&first, RailStatus::Settled);
        let outcome = decided(&mut ws, Action::Exchange(key.clone(), settled));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
        assert_held(&ws, &key, "pak-raast", number);
    }
}

#[test]
fn a_payout_that_is_reported_beside_an_attempt_is_in_the_books_once_that_is_refused() {
    let first = over("pak-raast", 1, AttemptState::Indeterminate);
    let (mut ws, key) = books(ExchangeState::Paying, std::slice::from_ref(&first));
    let (rail, why) = (RailId::new("pak-ibft"), "camt.054 B-2 reports settled".to_owned());
    for action in [
        ExchangeAction::ReportedUnsent { rail, why, paid: None },
        report(&first, RailStatus::Rejected),
    ] {
        let outcome = decided(&mut ws, Action::Exchange(key.clone(), action));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
    }
    assert_held(&ws, &key, "pak-ibft", 2);
}

/// A worker leased its job before a bank's report came.
#[test]
fn a_late_worker_does_not_give_up_an_order_whose_payout_is_reported() {
    let give_up = [
        ExchangeAction::NoRoute { fence: 1 },
        ExchangeAction::PutOff { fence: 1, until: NOW + Span::hours(3), open: true },
    ];
    for action in give_up {
        let first = over("pak-raast", 1, AttemptState::Refused);
        let (mut ws, key) = books(ExchangeState::Debited, &[first]);
        let (rail, why) = (RailId::new("pak-ibft"), "as paid".to_owned());
        let reported = ExchangeAction::ReportedUnsent { rail, why, paid: None };
        decided(&mut ws, Action::Exchange(key.clone(), reported));
        let outcome = decided(&mut ws, Action::Exchange(key.clone(), action.clone()));
        assert!(matches!(outcome, Outcome::Refused(Refused::Exchange(_))), "{outcome:?}");
        assert_held(&ws, &key, "pak-ibft", 2);
        // Without the report it applies.
        let (mut ws, key) =
            books(ExchangeState::Debited, &[over("pak-raast", 1, AttemptState::Refused)]);
        let outcome = decided(&mut ws, Action::Exchange(key, action));
        assert!(matches!(outcome, Outcome::Exchange(_)), "{outcome:?}");
    }
}
