//! Legal hold: what the chain is told, and what it means for everything else in the same escrow.

use super::*;
use crate::chain_tx::{Intent, IntentKind, Plan};
use crate::deposit::hold::case_of;
use crate::job::JobKind;
use crate::payment::JobChange;

/// It counts; another payment into the same escrow may be on hold already.
fn counted(held: bool) -> World {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    if held {
        hold(&mut world);
    }
    world
}

/// Something else in its escrow is on legal hold now.
fn hold(world: &mut World) {
    world.case.request.as_mut().expect("a request").held_at = Some(monday());
}

fn holds(world: &World) -> Vec<&Intent> {
    world.case.intents.iter().filter(|intent| intent.kind == IntentKind::SetLegalHold).collect()
}

fn review(world: &mut World, verdict: ReviewVerdict) -> Result<(), DepositRefusal> {
    world.tries(|case, terms, cx| case.reviewed(verdict, "ann", "looked at", terms, cx))
}

#[test]
fn a_legal_hold_is_told_to_the_chain_once_for_its_escrow() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    let told = holds(&world);
    assert_eq!(told.len(), 1);
    let escrow = world.case.request.as_ref().expect("a request").escrow;
    let wanted = Plan::SetLegalHold { vault: escrow, held: true, case: case_of(world.case.deposit.id) };
    assert_eq!((told[0].plan, told[0].coin, told[0].is_never_given_up()), (wanted, None, true));
    assert_eq!(world.case.deposit.legal_hold, Some(told[0].id));
    assert!(world.case.escrow_is_held());
    // A reorganisation and back: the chain keeps what it was told.
    world.lost_from(100);
    world.seen_in(120);
    world.counted();
    assert_eq!((world.state(), holds(&world).len()), (DepositState::LegalHold, 1));
}

#[test]
fn a_person_s_hold_is_told_to_the_chain_whatever_it_was_before() {
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
fn what_came_on_hold_before_the_chain_was_told_is_told_now() {
    let mut world = counted(false);
    world.screened(RiskResult::Rejected, Some(Hold::Legal));
    // As an older program has left it.
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
    assert!(jobs.iter().any(|(_, job)| matches!(job, JobChange::Set(JobKind::SendIntent, _))), "{jobs:?}");
    assert_eq!((holds(&world).len(), world.case.escrow_is_held()), (1, true));
    assert!(!world.case.deposit.owes_a_hold());
}

#[test]
fn what_is_found_good_in_an_escrow_on_hold_waits_for_a_person_who_cannot_approve_it() {
    let mut world = counted(true);
    world.screened(RiskResult::Approved, None);
    assert_eq!(world.state(), DepositState::InReview);
    assert_eq!(world.case.deposit.assessment.as_ref().expect("assessed").reason, ReasonCode::EscrowHeld);
    assert_eq!(review(&mut world, ReviewVerdict::Approve), Err(DepositRefusal::EscrowHeld));
    review(&mut world, ReviewVerdict::LegalHold).expect("may be decided");
    assert_eq!(world.state(), DepositState::LegalHold);
}

#[test]
fn a_release_out_of_an_escrow_on_hold_is_stopped_and_a_person_decides() {
    let mut world = counted(false);
    world.screened(RiskResult::Approved, None);
    assert!(world.case.may_release());
    hold(&mut world);
    assert!(!world.case.may_release());
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!((world.state(), world.holds(Pot::Escrow)), (DepositState::InReview, MINOR));
    let escrow = world.books.account(&world.case.deposit.account(Pot::Escrow));
    assert_eq!(escrow.debits_pending, 0, "nothing is reserved for a release any more");
}

#[test]
fn nothing_is_given_back_out_of_an_escrow_on_hold() {
    let rejected = |held| {
        let mut world = counted(held);
        world.screened(RiskResult::Rejected, Some(Hold::Refundable));
        world
    };
    let propose = |world: &mut World| {
        let to = Address([0x5e; 20]);
        world.tries(|case, terms, cx| case.propose_refund(to, refund::clean(), "ann", terms, cx))
    };
    assert_eq!(propose(&mut rejected(true)), Err(DepositRefusal::EscrowHeld));
    let mut world = rejected(false);
    propose(&mut world).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    hold(&mut world);
    let approved = world.tries(|case, _, cx| case.approve_refund(refund::clean(), "ben", cx));
    assert_eq!(approved, Err(DepositRefusal::EscrowHeld));
    world.tries(|case, _, cx| case.withdraw_refund(cx)).expect("not approved by anybody");
    assert_eq!(world.state(), DepositState::Rejected);
}
