//! Refunds: two people, a screened address, never from legal hold.

use super::*;
use crate::chain_tx::{Intent, IntentKind, IntentState, Plan};
use crate::payment_request::RequestException;
use crate::screening::Screened;

pub(super) const SENDER: Address = Address([0x55; 20]);

pub fn clean() -> Screened {
    Screened { score: 0, evidence: None, list_version: "1".to_owned(), stale: false }
}

fn rejected(hold: Hold) -> World {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Rejected, Some(hold));
    world
}

fn propose(world: &mut World, to: Address, screened: Screened) -> Result<(), DepositRefusal> {
    world.tries(|case, terms, cx| case.propose_refund(to, screened, "ann", terms, cx))
}

fn approve(world: &mut World, by: &str) -> Result<(), DepositRefusal> {
    approve_with(world, by, clean())
}

fn approve_with(world: &mut World, by: &str, screened: Screened) -> Result<(), DepositRefusal> {
    world.tries(|case, _, cx| case.approve_refund(seen(), screened, by, cx))
}

/// The refund that is proposed here, as it is looked at.
pub(super) const fn seen() -> SeenRefund {
    SeenRefund { to: SENDER, minor: Some(MINOR) }
}

#[test]
fn who_approves_is_held_to_the_address_and_the_amount_that_he_saw() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    let was = world.case.clone();
    let other = SeenRefund { to: Address([0x5f; 20]), minor: None };
    let more = SeenRefund { minor: Some(MINOR + 1), ..seen() };
    for another in [other, more] {
        // Said before anything else that is wrong: he looks at something that is not there.
        let refused = world.tries(|case, _, cx| case.approve_refund(another, clean(), "ann", cx));
        assert_eq!((refused, &world.case), (Err(DepositRefusal::OtherRefund), &was));
    }
    let any = SeenRefund { minor: None, ..seen() };
    world.tries(|case, _, cx| case.approve_refund(any, clean(), "bob", cx)).expect("the address that is proposed");
}

#[test]
fn a_refund_takes_two_people_and_both_halves_on_the_chain() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    assert_eq!(approve(&mut world, "bob"), Err(DepositRefusal::NotProposed));
    world.does(|case, _, cx| case.refund_proposed(cx));
    assert_eq!(approve(&mut world, "ann"), Err(DepositRefusal::SamePerson));
    approve(&mut world, "bob").expect("somebody else");
    assert_eq!(approve(&mut world, "eve"), Err(DepositRefusal::State(DepositState::Refunding)), "approved once");
    assert_eq!(world.holds(Pot::Escrow), MINOR, "not before it is paid");
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!((world.state(), world.case.deposit.status()), (DepositState::Refunded, Some(DepositStatus::Rejected)));
    assert!(world.books.show().is_empty(), "{:?}", world.books.show());
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert!(world.books.show().is_empty(), "given back once");
}

#[test]
fn a_legal_hold_is_never_refunded() {
    let mut world = rejected(Hold::Legal);
    let refused = propose(&mut world, SENDER, clean());
    assert_eq!(refused, Err(DepositRefusal::State(DepositState::LegalHold)));
}

#[test]
fn the_refund_address_is_screened_and_none_of_ours() {
    let hit = |score, stale| Screened { score, stale, ..clean() };
    for screened in [hit(100, false), hit(90, false), hit(0, true)] {
        assert_eq!(propose(&mut rejected(Hold::Refundable), SENDER, screened), Err(DepositRefusal::AddressRefused));
    }
    let ours = wallet();
    for to in [ours.address, ours.controller] {
        assert_eq!(propose(&mut rejected(Hold::Refundable), to, clean()), Err(DepositRefusal::AddressRefused));
    }
}

#[test]
fn a_refund_that_fails_leaves_it_as_refused_as_before() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_failed("reverted", cx));
    assert_eq!((world.state(), world.holds(Pot::Escrow)), (DepositState::Rejected, MINOR));
    propose(&mut world, SENDER, clean()).expect("it can be tried again");
}

#[test]
fn what_failed_can_be_refunded_and_stays_failed_to_the_bank() {
    let mut world = World::for_request();
    world.approved();
    world.does(|case, _, cx| case.release_failed(crate::wallet_event::FailureReason::OnChainRevert, cx));
    propose(&mut world, SENDER, clean()).expect("its money is in escrow");
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
}

#[test]
fn nothing_is_refunded_out_of_a_wallet_s_own_vault() {
    let mut world = World::direct();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Rejected, Some(Hold::Refundable));
    assert_eq!(propose(&mut world, SENDER, clean()), Err(DepositRefusal::NothingHeld));
}

fn withdraw(world: &mut World) -> Result<(), DepositRefusal> {
    world.tries(|case, _, cx| case.withdraw_refund(cx))
}

/// What is to be done on the chain about the refund, the newest last.
fn plans(world: &World) -> Vec<(Plan, IntentState)> {
    let of_refund = |intent: &&Intent| intent.kind == IntentKind::ProposeRefund;
    world.case.intents.iter().filter(of_refund).map(|intent| (intent.plan, intent.state)).collect()
}

#[test]
fn a_proposal_that_is_on_the_chain_is_called_off_there() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    let first = world.case.deposit.refund.as_ref().expect("proposed").propose;
    let word = crate::chain::intent_word(world.case.deposit.tenant, first);
    world.case.intent(Some(first)).expect("there").state = IntentState::Done;
    world.does(|case, _, cx| case.refund_proposed(cx));
    withdraw(&mut world).expect("nobody has approved it");
    assert_eq!((world.state(), world.holds(Pot::Escrow)), (DepositState::Rejected, MINOR));
    assert_eq!((&world.case.deposit.refund, world.case.deposit.back_to), (&None, None));
    assert_eq!(plans(&world).last(), Some(&(Plan::CancelRefund { intent: word }, IntentState::Waiting)));
    assert_eq!(withdraw(&mut world), Err(DepositRefusal::State(DepositState::Rejected)), "once");
    assert_eq!(approve(&mut world, "bob"), Err(DepositRefusal::State(DepositState::Rejected)));
    propose(&mut world, Address([0x56; 20]), clean()).expect("to another address");
    assert!(!world.case.is_refunded_by(first), "the old proposal is none of it");
}

#[test]
fn a_proposal_that_was_not_sent_is_not_sent_and_one_on_its_way_is_waited_for() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    let id = world.case.deposit.refund.as_ref().expect("proposed").propose;
    world.case.intent(Some(id)).expect("there").state = IntentState::Assigned;
    assert_eq!(withdraw(&mut world), Err(DepositRefusal::NotProposed));
    assert_eq!(world.state(), DepositState::Refunding);
    world.case.intent(Some(id)).expect("there").state = IntentState::Waiting;
    withdraw(&mut world).expect("it has no transaction");
    let [(Plan::ProposeRefund { .. }, IntentState::Cancelled)] = plans(&world)[..] else {
        panic!("{:?}", plans(&world))
    };
    assert_eq!(world.state(), DepositState::Rejected);
}

#[test]
fn what_is_approved_is_not_withdrawn_any_more() {
    let mut world = rejected(Hold::Refundable);
    assert_eq!(withdraw(&mut world), Err(DepositRefusal::State(DepositState::Rejected)));
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("somebody else");
    assert_eq!(withdraw(&mut world), Err(DepositRefusal::State(DepositState::Refunding)));
}

#[test]
fn the_address_is_screened_again_when_the_refund_is_approved() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    let newer = |score, stale| Screened { score, stale, list_version: "2".to_owned(), ..clean() };
    for (screened, refusal) in [
        (newer(100, false), DepositRefusal::AddressListed),
        (newer(85, false), DepositRefusal::AddressListed),
        (newer(100, true), DepositRefusal::AddressListed),
        (newer(0, true), DepositRefusal::ListsTooOld),
    ] {
        assert_eq!(approve_with(&mut world, "ann", screened.clone()), Err(DepositRefusal::SamePerson), "said first");
        assert_eq!(approve_with(&mut world, "bob", screened), Err(refusal));
        assert_eq!(world.state(), DepositState::Refunding);
    }
    let refund = world.case.deposit.refund.clone().expect("proposed");
    assert_eq!((refund.approved_by, refund.execute, refund.screened_again), (None, None, None));
    approve_with(&mut world, "bob", newer(84, false)).expect("clean on the newer list");
    let refund = world.case.deposit.refund.clone().expect("approved");
    assert_eq!((refund.screened.list_version, refund.screened_again), ("1".to_owned(), Some(newer(84, false))));
}

#[test]
fn a_person_is_called_when_an_address_that_money_waits_for_is_listed() {
    let hit = Screened { score: 100, ..clean() };
    let mut world = rejected(Hold::Refundable);
    let none = DepositRefusal::State(DepositState::Rejected);
    assert_eq!(world.tries(|case, _, _| case.refund_listed(&hit)), Err(none), "nothing waits");
    propose(&mut world, SENDER, clean()).expect("refundable");
    let before = world.alerts;
    let refunding = DepositRefusal::State(DepositState::Refunding);
    assert_eq!(world.tries(|case, _, _| case.refund_listed(&clean())), Err(refunding.clone()), "it is on no list");
    world.tries(|case, _, _| case.refund_listed(&hit)).expect("told");
    assert_eq!(world.alerts, before + 1);
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("another list");
    assert_eq!(world.tries(|case, _, _| case.refund_listed(&hit)), Err(refunding), "it is approved");
}

#[test]
fn whoever_is_refused_is_asked_where_to_send_it_back_and_legal_hold_asks_alike() {
    let ways = RequestException::ALL;
    for hold in [Hold::Refundable, Hold::Legal] {
        let world = rejected(hold);
        assert!(ways.iter().all(|way| world.case.deposit.asks_where_back(*way) == Asking::Yes), "{hold:?}");
    }
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    assert_eq!(world.case.deposit.asks_where_back(RequestException::None), Asking::Over);
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("somebody else");
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(world.case.deposit.asks_where_back(RequestException::None), Asking::No, "it is back");
    let direct = World::direct();
    assert!(ways.iter().all(|way| direct.case.deposit.asks_where_back(*way) == Asking::No));
}

#[test]
fn one_that_is_looked_at_asks_only_where_its_sender_is_told_why_already() {
    let mut world = World::for_request();
    world.seen_in(100);
    assert_eq!(world.case.deposit.asks_where_back(RequestException::Late), Asking::No, "it does not count yet");
    world.counted();
    world.screened(RiskResult::ManualReview, None);
    assert_eq!(world.state(), DepositState::InReview);
    for (way, asking) in [
        (RequestException::None, Asking::No),
        (RequestException::Partial, Asking::No),
        (RequestException::Late, Asking::Yes),
        (RequestException::WrongAsset, Asking::Yes),
        (RequestException::Overpaid, Asking::Yes),
    ] {
        assert_eq!(world.case.deposit.asks_where_back(way), asking, "{way:?}");
    }
}
