//! Legal hold: its on-chain calls, and its effect on everything else in the same escrow.

use super::*;
use crate::chain::{IntentKind, Plan};
use crate::chain_tx::Intent;
use crate::decision::JobChange;
use crate::deposit::hold::case_of;
use crate::job::JobKind;

/// A counted deposit; another payment into the same escrow may already be on hold.
fn counted(held: bool) -> World {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    if held {
        hold(&mut world);
    }
    world
}

/// Another deposit in its escrow is now on legal hold.
fn hold(world: &mut World) {
    world.case.request.as_mut().expect("a request").held_at = Some(monday());
}

fn holds(world: &World) -> Vec<&Intent> {
    world.case.intents.iter().filter(|intent| intent.kind() == IntentKind::SetLegalHold).collect()
}

fn review(world: &mut World, verdict: ReviewVerdict) -> Result<(), DepositRefusal> {
    world.tries(|case, terms, cx| case.reviewed(verdict, "ann", "looked at", terms, cx))
}

#[test]
fn a_legal_hold_is_set_on_the_chain_once_per_escrow() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    let told = holds(&world);
    assert_eq!(told.len(), 1);
    let escrow = world.case.request.as_ref().expect("a request").escrow;
    let wanted =
        Plan::SetLegalHold { vault: escrow, held: true, case: case_of(world.case.deposit.id) };
    assert_eq!((told[0].plan, told[0].coin, told[0].is_never_given_up()), (wanted, None, true));
    assert_eq!(world.case.deposit.legal_hold, Some(told[0].id));
    assert!(world.case.escrow_is_held());
    // A reorganisation and back: the on-chain hold remains.
    world.lost_from(100);
    world.seen_in(120);
    world.counted();
    assert_eq!((world.state(), holds(&world).len()), (DepositState::LegalHold, 1));
}

#[test]
fn a_reviewer_s_hold_is_set_on_the_chain_from_any_state() {
    for first in [RiskResult::ManualReview, RiskResult::Rejected] {
        let mut world = counted(false);
        world.screened(first, (first == RiskResult::Rejected).then_some(Hold::Refundable));
        assert!(holds(&world).is_empty() && !world.case.escrow_is_held());
        review(&mut world, ReviewVerdict::LegalHold).expect("may be decided");
        assert_eq!((world.state(), holds(&world).len()), (DepositState::LegalHold, 1), "{first:?}");
    }
}

#[test]
fn a_wallet_itself_is_not_put_on_hold() {
    let mut world = World::direct();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    assert_eq!((world.state(), holds(&world).len()), (DepositState::LegalHold, 0));
    assert!(!world.case.deposit.owes_a_hold());
}

#[test]
fn a_hold_that_predates_on_chain_holds_is_set_now() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    // As an older version left it.
    world.case.intents.clear();
    world.case.deposit.legal_hold = None;
    world.case.request.as_mut().expect("a request").held_at = None;
    assert!(world.case.deposit.owes_a_hold());
    let deposit = world.case.deposit.id.0;
    let jobs = world.run(|case, _, cx| {
        let effects = case.keep_held(cx);
        let jobs = effects.jobs.clone();
        (effects, jobs)
    });
    assert!(jobs.contains(&(deposit, JobChange::Done)), "{jobs:?}");
    assert!(
        jobs.iter().any(|(_, job)| matches!(job, JobChange::Set(JobKind::SendIntent, _))),
        "{jobs:?}"
    );
    assert_eq!((holds(&world).len(), world.case.escrow_is_held()), (1, true));
    assert!(!world.case.deposit.owes_a_hold());
}

#[test]
fn a_clean_deposit_in_an_escrow_on_hold_waits_in_review_without_approval() {
    let mut world = counted(true);
    world.screened(RiskResult::Approved, None);
    assert_eq!(world.state(), DepositState::InReview);
    assert_eq!(
        world.case.deposit.assessment.as_ref().expect("assessed").reason,
        ReasonCode::EscrowHeld
    );
    assert_eq!(review(&mut world, ReviewVerdict::Approve), Err(DepositRefusal::EscrowHeld));
    review(&mut world, ReviewVerdict::LegalHold).expect("may be decided");
    assert_eq!(world.state(), DepositState::LegalHold);
}

#[test]
fn a_release_out_of_an_escrow_on_hold_is_stopped_and_needs_review() {
    let mut world = counted(false);
    world.screened(RiskResult::Approved, None);
    assert!(world.case.may_release());
    hold(&mut world);
    assert!(!world.case.may_release());
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Escrow)),
        (DepositState::InReview, MINOR)
    );
    let escrow = world.books.account(&world.case.deposit.account(DepositBucket::Escrow));
    assert_eq!(escrow.debits_pending, 0, "no reservation is left");
}

#[test]
fn nothing_is_refunded_out_of_an_escrow_on_hold() {
    let rejected = |held| {
        let mut world = counted(held);
        world.screened(RiskResult::Rejected, Some(Hold::Refundable));
        world
    };
    let propose = |world: &mut World| {
        world.tries(|case, terms, cx| {
            case.propose_refund(refund::SENDER, refund::clean(), "ann", terms, cx)
        })
    };
    assert_eq!(propose(&mut rejected(true)), Err(DepositRefusal::EscrowHeld));
    let mut world = rejected(false);
    propose(&mut world).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    hold(&mut world);
    let approved =
        world.tries(|case, _, cx| case.approve_refund(refund::seen(), refund::clean(), "ben", cx));
    assert_eq!(approved, Err(DepositRefusal::EscrowHeld));
    world.tries(|case, _, cx| case.withdraw_refund(cx)).expect("not approved yet");
    assert_eq!(world.state(), DepositState::Rejected);
}

fn lift(world: &mut World, others_hold: bool) -> Result<(), DepositRefusal> {
    world.tries(|case, _, cx| case.lift_hold(others_hold, cx))
}

/// The lift took effect on the chain: the jobs that resume the rest of the escrow.
fn lifted(world: &mut World) -> Vec<(Uuid, JobChange)> {
    let told = holds(world).last().map(|intent| intent.id).expect("a call");
    let deposit = world.case.deposit.id;
    world.run(|case, _, cx| {
        let effects = case.request.as_mut().expect("a request").escrow_lifted(told, deposit, cx);
        let jobs = effects.jobs.clone();
        (effects, jobs)
    })
}

#[test]
fn a_lifted_hold_frees_the_escrow_once_it_takes_effect_on_the_chain() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    let told = world.told.len();
    lift(&mut world, false).expect("it is on hold");
    assert_eq!(
        (world.state(), world.told.len()),
        (DepositState::Rejected, told),
        "the bank was notified of the rejection"
    );
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Rejected));
    assert_eq!(
        world.case.deposit.assessment.as_ref().expect("assessed").hold,
        Some(Hold::Refundable)
    );
    let escrow = world.case.request.as_ref().expect("a request").escrow;
    let wanted =
        Plan::SetLegalHold { vault: escrow, held: false, case: case_of(world.case.deposit.id) };
    let calls: Vec<_> = holds(&world).iter().map(|intent| (intent.id, intent.plan)).collect();
    assert_eq!((calls.len(), calls[1].1), (2, wanted));
    // The older call is obsolete, the newer one is wanted; nothing leaves the escrow before it
    // takes effect.
    let request = world.case.request.clone().expect("a request");
    assert_eq!(
        (
            request.wants_told(calls[0].0, &request.escrow, true),
            request.wants_told(calls[1].0, &request.escrow, false)
        ),
        (false, true)
    );
    assert_eq!(propose_back(&mut world), Err(DepositRefusal::EscrowHeld));
    assert_eq!(lift(&mut world, false), Err(DepositState::Rejected.refused()), "once");
    let follows = (world.case.deposit.id.0, JobChange::Set(JobKind::Screen, world.now));
    assert_eq!(lifted(&mut world), [follows]);
    assert!(!world.case.escrow_is_held());
    // A reorganisation may undo it: the call is repeated. The hold before it is not.
    let request = world.case.request.clone().expect("a request");
    assert_eq!(
        (
            request.wants_told(calls[0].0, &request.escrow, true),
            request.wants_told(calls[1].0, &request.escrow, false)
        ),
        (false, true)
    );
    assert_eq!(lifted(&mut world), [], "handled once");
    propose_back(&mut world).expect("refundable");
}

fn propose_back(world: &mut World) -> Result<(), DepositRefusal> {
    world.tries(|case, terms, cx| {
        case.propose_refund(refund::SENDER, refund::clean(), "ann", terms, cx)
    })
}

#[test]
fn an_escrow_stays_on_hold_while_another_deposit_is() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    lift(&mut world, true).expect("it is on hold");
    assert_eq!(
        (world.state(), holds(&world).len()),
        (DepositState::Rejected, 1),
        "no on-chain call"
    );
    assert!(world.case.escrow_is_held() && !world.case.deposit.holds_its_escrow());
}

#[test]
fn a_hold_set_while_another_is_lifted_wins() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    lift(&mut world, false).expect("it is on hold");
    let lifting = holds(&world)[1].id;
    let version = world.case.request.as_ref().expect("a request").version;
    // The same deposit again; another one in the escrow has the same effect.
    review(&mut world, ReviewVerdict::LegalHold).expect("rejected, and held");
    let request = world.case.request.clone().expect("a request");
    assert!(request.version > version, "a concurrent count of the holds starts again");
    let again = holds(&world)[2].id;
    assert_eq!(
        (
            request.wants_told(lifting, &request.escrow, false),
            request.wants_told(again, &request.escrow, true)
        ),
        (false, true)
    );
    let deposit = world.case.deposit.id;
    world.run(|case, _, cx| {
        let effects = case.request.as_mut().expect("a request").escrow_lifted(lifting, deposit, cx);
        assert_eq!(effects, WalletEffects::default(), "it took effect before the newer call");
        (effects, ())
    });
    assert!(world.case.escrow_is_held());
}

#[test]
fn only_deposits_that_waited_for_the_escrow_are_screened_again() {
    let mut found_good = counted(true);
    found_good.screened(RiskResult::Approved, None);
    let mut stopped = counted(false);
    stopped.screened(RiskResult::Approved, None);
    hold(&mut stopped);
    stopped.does(|case, terms, cx| case.release_stopped(terms, cx));
    let mut doubtful = counted(true);
    doubtful.screened(RiskResult::ManualReview, None);
    for (mut world, after) in [
        (found_good, DepositState::Screening),
        (stopped, DepositState::Screening),
        (doubtful, DepositState::InReview),
    ] {
        world.does(|case, _, cx| case.escrow_free(cx));
        assert_eq!(world.state(), DepositState::InReview, "it is still on hold");
        world.case.request.as_mut().expect("a request").held_at = None;
        world.does(|case, _, cx| case.escrow_free(cx));
        assert_eq!(world.state(), after);
    }
}

#[test]
fn only_a_deposit_on_hold_has_a_hold_to_lift() {
    let mut world = counted(true);
    for (result, hold) in
        [(RiskResult::Approved, None), (RiskResult::Rejected, Some(Hold::Refundable))]
    {
        let mut world = counted(false);
        world.screened(result, hold);
        let was = world.case.clone();
        assert_eq!(lift(&mut world, false), Err(was.deposit.refused()));
        assert_eq!(world.case, was);
    }
    assert_eq!(
        lift(&mut world, false),
        Err(DepositState::Screening.refused()),
        "another one is on hold"
    );
    assert!(!world.case.deposit.has_hold_to_lift());
}

#[test]
fn a_held_deposit_dropped_from_the_chain_still_frees_its_escrow() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    world.lost_from(100);
    // Shown as it was before.
    let (state, shown) = (DepositState::Suspended, Some(DepositStatus::Rejected));
    assert_eq!(lift(&mut world, false), Err(DepositRefusal::State { state, shown }));
    assert_eq!(world.case.deposit.status(), shown);
    world.does(|case, _, cx| case.dropped(100_000, cx));
    assert!((world.state(), world.case.deposit.has_hold_to_lift()) == (DepositState::Failed, true));
    lift(&mut world, false).expect("its escrow is on hold for it");
    assert_eq!((world.state(), holds(&world).len()), (DepositState::Failed, 2));
    assert!(!world.case.deposit.has_hold_to_lift());
}

#[test]
fn a_direct_payment_s_hold_is_lifted_in_the_books() {
    let mut world = World::direct();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    lift(&mut world, false).expect("it is on hold");
    assert_eq!((world.state(), holds(&world).len()), (DepositState::Rejected, 0));
}
