//! Refunds: two users, a screened address, never from legal hold.

use super::*;
use crate::chain::{IntentKind, Plan};
use crate::chain_tx::{Intent, IntentState, RetryPolicy};
use crate::payment_request::{PaymentRequest, RequestException};
use crate::screening::Screened;
use crate::wallet_event::FailureReason;

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

/// The proposed refund as the approving user sees it.
pub(super) const fn seen() -> SeenRefund {
    SeenRefund { to: SENDER, minor: Some(MINOR) }
}

#[test]
fn an_approval_is_bound_to_the_reviewed_address_and_amount() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    let was = world.case.clone();
    let other = SeenRefund { to: Address([0x5f; 20]), minor: None };
    let more = SeenRefund { minor: Some(MINOR + 1), ..seen() };
    for another in [other, more] {
        // Reported first: the user looks at an outdated proposal.
        let refused = world.tries(|case, _, cx| case.approve_refund(another, clean(), "ann", cx));
        assert_eq!((refused, &world.case), (Err(DepositRefusal::OtherRefund), &was));
    }
    let any = SeenRefund { minor: None, ..seen() };
    world
        .tries(|case, _, cx| case.approve_refund(any, clean(), "bob", cx))
        .expect("the address that is proposed");
}

#[test]
fn a_refund_takes_two_users_and_both_halves_on_the_chain() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    assert_eq!(approve(&mut world, "bob"), Err(DepositRefusal::NotProposed));
    let said = DepositRefusal::NotProposed.to_string();
    assert!(said.starts_with("the proposed refund is not on the chain yet"), "{said}");
    world.does(|case, _, cx| case.refund_proposed(cx));
    assert_eq!(approve(&mut world, "ann"), Err(DepositRefusal::SamePerson));
    approve(&mut world, "bob").expect("another user");
    assert_eq!(approve(&mut world, "eve"), Err(DepositState::Refunding.refused()), "approved once");
    assert_eq!(world.holds(DepositBucket::Escrow), MINOR, "not before it is paid");
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(
        (world.state(), world.case.deposit.status()),
        (DepositState::Refunded, Some(DepositStatus::Rejected))
    );
    assert!(world.books.show().is_empty(), "{:?}", world.books.show());
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert!(world.books.show().is_empty(), "refunded once");
}

#[test]
fn a_legal_hold_is_never_refunded() {
    let mut world = rejected(Hold::Legal);
    let refused = propose(&mut world, SENDER, clean());
    assert_eq!(refused, Err(DepositState::LegalHold.refused()));
}

#[test]
fn the_refund_address_is_screened_and_not_our_own() {
    let hit = |score, stale| Screened { score, stale, ..clean() };
    for screened in [hit(100, false), hit(90, false), hit(0, true)] {
        assert_eq!(
            propose(&mut rejected(Hold::Refundable), SENDER, screened),
            Err(DepositRefusal::AddressRefused)
        );
    }
    let ours = wallet();
    for to in [ours.address, ours.controller] {
        assert_eq!(
            propose(&mut rejected(Hold::Refundable), to, clean()),
            Err(DepositRefusal::AddressRefused)
        );
    }
}

#[test]
fn a_failed_refund_leaves_the_deposit_rejected() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_failed("reverted", cx));
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Escrow)),
        (DepositState::Rejected, MINOR)
    );
    propose(&mut world, SENDER, clean()).expect("it can be retried");
}

/// A reorganisation restores the transaction of a refund that was given up.
#[test]
fn a_refund_that_took_effect_after_all_is_booked_and_a_later_one_is_not_wanted() {
    for again in [false, true] {
        let mut world = rejected(Hold::Refundable);
        propose(&mut world, SENDER, clean()).expect("refundable");
        world.does(|case, _, cx| case.refund_proposed(cx));
        approve(&mut world, "bob").expect("another user");
        let execute = world.case.deposit.refund.as_ref().and_then(|it| it.execute);
        let now = world.now;
        let first = world.case.intent(execute).expect("there");
        first.failed("reverted", RetryPolicy::NoRetry, now);
        world.does(|case, _, cx| case.refund_failed("reverted", cx));
        let mut later = None;
        if again {
            propose(&mut world, SENDER, clean()).expect("it can be retried");
            world.does(|case, _, cx| case.refund_proposed(cx));
            approve(&mut world, "bob").expect("another user");
            later = world.case.deposit.refund.as_ref().and_then(|it| it.execute);
        }
        let execute = execute.expect("approved");
        world.does(|case, _, cx| case.refund_restored(execute, TxHash([3; 32]), cx));
        assert_eq!(world.state(), DepositState::Refunded, "{again}");
        assert!(world.books.show().is_empty(), "{:?}", world.books.show());
        let state = world.case.intent(later).map(|it| it.state);
        assert_eq!(state, again.then_some(IntentState::Cancelled));
    }
}

#[test]
fn a_proposal_that_took_effect_after_all_is_cancelled_on_the_chain() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    let propose = world.case.deposit.refund.as_ref().expect("proposed").propose;
    world.does(|case, _, cx| case.refund_failed("reverted", cx));
    world.does(|case, _, cx| case.proposal_restored(propose, cx));
    let word = crate::chain::intent_word(world.case.deposit.tenant, propose);
    let plan = world.case.intents.last().map(|it| it.plan);
    assert_eq!(plan, Some(crate::chain::Plan::CancelRefund { intent: word }));
    assert_eq!(world.state(), DepositState::Rejected);
}

/// It would be paid from the escrow's other deposits.
#[test]
fn a_refund_of_a_deposit_that_left_the_chain_is_not_approved_and_ends_in_suspense() {
    for (is_withdrawn, returns) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut world = rejected(Hold::Refundable);
        propose(&mut world, SENDER, clean()).expect("refundable");
        world.does(|case, _, cx| case.refund_proposed(cx));
        world.lost_from(100);
        assert_eq!(approve(&mut world, "bob"), Err(DepositRefusal::NothingHeld));
        assert_eq!(world.state(), DepositState::Refunding);
        match is_withdrawn {
            true => withdraw(&mut world).expect("not approved"),
            false => world.does(|case, _, cx| case.refund_failed("reverted", cx)),
        }
        assert_eq!(
            (world.state(), world.holds(DepositBucket::Suspense)),
            (DepositState::Suspended, MINOR)
        );
        if returns {
            world.seen_in(101);
            world.counted();
            assert_eq!(world.holds(DepositBucket::Escrow), MINOR);
            propose(&mut world, SENDER, clean()).expect("it is back");
            world.does(|case, _, cx| case.refund_proposed(cx));
            approve(&mut world, "bob").expect("another user");
        } else {
            world.does(|case, _, cx| case.dropped(1_000, cx));
            assert_eq!(world.state(), DepositState::Failed);
            assert!(world.books.show().is_empty(), "{:?}", world.books.show());
        }
    }
}

#[test]
fn a_failed_deposit_can_be_refunded_and_stays_failed() {
    let mut world = World::for_request();
    world.approved();
    world.does(|case, _, cx| case.release_failed(FailureReason::OnChainRevert, cx));
    propose(&mut world, SENDER, clean()).expect("its money is in escrow");
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
}

/// The kind and text of the open alerts.
fn open(world: &World) -> Vec<String> {
    world.open.iter().map(|alert| format!("{} {}", alert.kind.name(), alert.what)).collect()
}

#[test]
fn the_alerts_of_a_failed_release_end_when_the_tokens_have_left_the_escrow() {
    let failed = || {
        let mut world = World::for_request();
        world.approved();
        world.does(|case, _, cx| case.release_failed(FailureReason::OnChainRevert, cx));
        assert_eq!(open(&world), ["transaction release failed: ON_CHAIN_REVERT"]);
        world
    };
    let refund = |world: &mut World| propose(world, SENDER, clean()).expect("it is in escrow");
    let hit = Screened { score: 100, ..clean() };
    let mut refunded = failed();
    refund(&mut refunded);
    refunded.tries(|case, _, _| case.refund_listed(&hit)).expect("it waits");
    assert_eq!(open(&refunded).len(), 2);
    withdraw(&mut refunded).expect("not approved");
    assert_eq!(open(&refunded).len(), 1, "the release is still to be mended");
    refund(&mut refunded);
    refunded.does(|case, _, cx| case.refund_failed("reverted", cx));
    assert_eq!(open(&refunded).len(), 2);
    refund(&mut refunded);
    refunded.does(|case, _, cx| case.refund_proposed(cx));
    refunded.tries(|case, _, _| case.refund_listed(&hit)).expect("it waits");
    approve(&mut refunded, "bob").expect("another list");
    assert_eq!(open(&refunded).len(), 2);
    refunded.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(open(&refunded), Vec::<String>::new());

    let mut released = World::for_request();
    released.approved();
    released.open = failed().open;
    released.does(|case, _, cx| case.released(TxHash([4; 32]), 0, cx));
    assert_eq!(open(&released), Vec::<String>::new());
}

#[test]
fn a_wallet_s_own_vault_refunds_nothing() {
    let mut world = World::direct();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Rejected, Some(Hold::Refundable));
    assert_eq!(propose(&mut world, SENDER, clean()), Err(DepositRefusal::NothingHeld));
}

fn withdraw(world: &mut World) -> Result<(), DepositRefusal> {
    world.tries(|case, _, cx| case.withdraw_refund(cx))
}

/// The refund's plans on the chain, newest last.
fn plans(world: &World) -> Vec<(Plan, IntentState)> {
    let of_refund = |intent: &&Intent| intent.kind() == IntentKind::ProposeRefund;
    world.case.intents.iter().filter(of_refund).map(|intent| (intent.plan, intent.state)).collect()
}

#[test]
fn an_on_chain_proposal_is_cancelled_on_the_chain() {
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    let first = world.case.deposit.refund.as_ref().expect("proposed").propose;
    let word = crate::chain::intent_word(world.case.deposit.tenant, first);
    world.case.intent(Some(first)).expect("there").state = IntentState::Done;
    world.does(|case, _, cx| case.refund_proposed(cx));
    withdraw(&mut world).expect("not approved yet");
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Escrow)),
        (DepositState::Rejected, MINOR)
    );
    assert_eq!((&world.case.deposit.refund, world.case.deposit.back_to), (&None, None));
    assert_eq!(
        plans(&world).last(),
        Some(&(Plan::CancelRefund { intent: word }, IntentState::Waiting))
    );
    assert_eq!(withdraw(&mut world), Err(DepositState::Rejected.refused()), "once");
    assert_eq!(approve(&mut world, "bob"), Err(DepositState::Rejected.refused()));
    propose(&mut world, Address([0x56; 20]), clean()).expect("to another address");
    assert!(!world.case.is_refunded_by(first), "the old proposal does not belong to it");
}

#[test]
fn an_unsent_proposal_is_dropped_and_one_in_flight_is_awaited() {
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
fn an_approved_refund_cannot_be_withdrawn() {
    let mut world = rejected(Hold::Refundable);
    assert_eq!(withdraw(&mut world), Err(DepositState::Rejected.refused()));
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("another user");
    assert_eq!(withdraw(&mut world), Err(DepositState::Refunding.refused()));
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
        assert_eq!(
            approve_with(&mut world, "ann", screened.clone()),
            Err(DepositRefusal::SamePerson),
            "reported first"
        );
        assert_eq!(approve_with(&mut world, "bob", screened), Err(refusal));
        assert_eq!(world.state(), DepositState::Refunding);
    }
    let older = |version: &str| Screened { list_version: format!("A {version} 1f"), ..clean() };
    if let Some(refund) = &mut world.case.deposit.refund {
        refund.screened = older("2026-01-02");
    }
    let behind = approve_with(&mut world, "bob", older("2026-01-01"));
    assert_eq!(behind, Err(DepositRefusal::OlderLists), "of an earlier publication");
    if let Some(refund) = &mut world.case.deposit.refund {
        refund.screened = clean();
    }
    let refund = world.case.deposit.refund.clone().expect("proposed");
    assert_eq!((refund.approved_by, refund.execute, refund.screened_again), (None, None, None));
    approve_with(&mut world, "bob", newer(84, false)).expect("clean on the newer list");
    let refund = world.case.deposit.refund.clone().expect("approved");
    assert_eq!(
        (refund.screened.list_version, refund.screened_again),
        ("1".to_owned(), Some(newer(84, false)))
    );
}

#[test]
fn a_listed_address_of_a_proposed_refund_raises_an_alert() {
    let hit = Screened { score: 100, ..clean() };
    let mut world = rejected(Hold::Refundable);
    let none = DepositState::Rejected.refused();
    assert_eq!(world.tries(|case, _, _| case.refund_listed(&hit)), Err(none), "nothing waits");
    propose(&mut world, SENDER, clean()).expect("refundable");
    let before = world.alerts;
    let refunding = DepositState::Refunding.refused();
    assert_eq!(
        world.tries(|case, _, _| case.refund_listed(&clean())),
        Err(refunding.clone()),
        "it is on no list"
    );
    world.tries(|case, _, _| case.refund_listed(&hit)).expect("reported");
    assert_eq!(world.alerts, before + 1);
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("another list");
    assert_eq!(
        world.tries(|case, _, _| case.refund_listed(&hit)),
        Err(refunding),
        "it is approved"
    );
}

#[test]
fn senders_of_rejected_and_held_deposits_are_asked_for_an_address_alike() {
    let ways = RequestException::ALL;
    for hold in [Hold::Refundable, Hold::Legal] {
        let world = rejected(hold);
        assert!(
            ways.iter().all(|way| world.case.deposit.asks_where_back(*way) == Asking::Yes),
            "{hold:?}"
        );
    }
    let mut world = rejected(Hold::Refundable);
    propose(&mut world, SENDER, clean()).expect("refundable");
    assert_eq!(world.case.deposit.asks_where_back(RequestException::None), Asking::Over);
    world.does(|case, _, cx| case.refund_proposed(cx));
    approve(&mut world, "bob").expect("another user");
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(
        world.case.deposit.asks_where_back(RequestException::None),
        Asking::No,
        "it is refunded"
    );
    let direct = World::direct();
    assert!(ways.iter().all(|way| direct.case.deposit.asks_where_back(*way) == Asking::No));
}

#[test]
fn a_deposit_in_review_asks_only_senders_who_know_the_deviation() {
    let mut world = World::for_request();
    world.seen_in(100);
    assert_eq!(
        world.case.deposit.asks_where_back(RequestException::Late),
        Asking::No,
        "it does not count yet"
    );
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

/// A link can have several senders: what one pays is no reason to ask another, nor to tell them.
#[test]
fn what_others_paid_with_the_same_link_is_no_deviation_of_a_deposit() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::ManualReview, None);
    let mut request = world.case.request.clone().expect("a request");
    let own = Deposit { submission: Some(1), ..world.case.deposit.clone() };
    let id = |number| crate::ids::DepositId(Uuid::from_u128(number));
    let of = |number, submission| Deposit { id: id(number), submission, ..own.clone() };
    let told = |request: &PaymentRequest, deposit: &Deposit, all: &[&Deposit]| {
        deposit.deviation(request, &deposit.sent_with(all.iter().copied()))
    };
    // Others paid too much, in another token, and late.
    let other = Deposit { coin: StableCoin::Usdt, paid_at: request.expires_at, ..of(2, Some(2)) };
    _ = request.gathered((StableCoin::Usdc, MINOR), request.expires_at, None, monday());
    (request.late, request.wrong_asset) = (true, true);
    let all = [&own, &other, &of(3, Some(2)), &of(4, None)];
    assert_eq!(told(&request, &own, &all), RequestException::None);
    assert!(!is_sender_asked(&request, &[&own]));
    assert_eq!(told(&request, &other, &all), RequestException::WrongAsset);
    // The sender's own, in one or in several payments.
    let again = of(5, Some(1));
    assert_eq!(told(&request, &own, &[&own, &again]), RequestException::Overpaid);
    assert!(is_sender_asked(&request, &[&own, &again]));
    let late = Deposit { paid_at: request.expires_at, ..own.clone() };
    assert_eq!(told(&request, &late, &[&late]), RequestException::Late);
    let unseen = Deposit { state: DepositState::Seen, ..late };
    assert_eq!(told(&request, &unseen, &[&unseen]), RequestException::None);
    // Of two payments from unknown senders each may have a sender of its own.
    let (one, two) = (of(6, None), of(7, None));
    assert_eq!(told(&request, &one, &[&one, &two]), RequestException::None);
    let more = Deposit { minor: MINOR + 1, ..one };
    assert_eq!(told(&request, &more, &[&more]), RequestException::Overpaid);
}

/// A deposit counts towards its request until it is refused for good, whatever is decided about
/// its refund then.
#[test]
fn a_deposit_counts_until_it_is_refused() {
    let counts = |world: &World| {
        let request = world.case.request.as_ref().expect("a request");
        (request.counted().usdc == MINOR, request.arrived().usdc == MINOR)
    };
    let part = || {
        let asked = Asked::Crypto { coin: StableCoin::Usdc, minor: 2 * MINOR };
        let mut world = World::asked(asked);
        world.seen_in(100);
        world.counted();
        world
    };
    for (result, hold) in [
        (RiskResult::Rejected, Hold::Refundable),
        (RiskResult::Rejected, Hold::Legal),
        (RiskResult::Blocked, Hold::Refundable),
    ] {
        let mut world = part();
        assert_eq!(counts(&world), (true, true));
        world.screened(result, Some(hold));
        assert_eq!(counts(&world), (false, true), "{result:?} {hold:?}");
        world.lost_from(100);
        assert_eq!(counts(&world), (false, true), "suspended {result:?} {hold:?}");
        world.does(|case, _, cx| case.dropped(1_000, cx));
        assert_eq!(counts(&world), (false, false), "dropped {result:?} {hold:?}");
    }
    let mut reviewed = part();
    reviewed.screened(RiskResult::ManualReview, None);
    assert_eq!(counts(&reviewed), (true, true), "in review");
    for verdict in ReviewVerdict::ALL {
        let mut world =
            World { case: reviewed.case.clone(), books: reviewed.books.clone(), ..part() };
        world
            .tries(|case, terms, cx| case.reviewed(verdict, "ann", "", terms, cx))
            .expect("in review");
        let is_good = verdict == ReviewVerdict::Approve;
        assert_eq!(counts(&world), (is_good, true), "{verdict:?}");
    }
    let mut world = part();
    world.screened(RiskResult::Rejected, Some(Hold::Refundable));
    propose(&mut world, SENDER, clean()).expect("refundable");
    assert_eq!(counts(&world), (false, true), "proposed");
    world.does(|case, _, cx| case.refund_proposed(cx));
    world.tries(|case, _, cx| case.withdraw_refund(cx)).expect("not approved");
    assert_eq!(counts(&world), (false, true), "withdrawn");
    propose(&mut world, SENDER, clean()).expect("refundable");
    world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!((world.state(), counts(&world)), (DepositState::Refunded, (false, true)));
    // A failed release counts as a refusal once its amount went back.
    let mut failed = part();
    failed.screened(RiskResult::Approved, None);
    failed.does(|case, _, cx| case.release_failed(FailureReason::OnChainRevert, cx));
    assert_eq!(counts(&failed), (true, true), "failed");
    propose(&mut failed, SENDER, clean()).expect("refundable");
    assert_eq!(counts(&failed), (true, true), "proposed");
    failed.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
    assert_eq!(counts(&failed), (false, true), "refunded");
}

/// The same instants decide for the sender as for the bank.
#[test]
fn a_deposit_is_late_after_the_expiry_and_after_the_withdrawal() {
    let counted_at = |at: Timestamp, cancelled: Option<Timestamp>| {
        let mut world = World::for_request();
        world.seen_in(100);
        if let (Some(request), Some(at)) = (&mut world.case.request, cancelled) {
            request.cancel(at).expect("active");
        }
        world.now = at;
        world.counted();
        let request = world.case.request.clone().expect("a request");
        let sent = world.case.deposit.sent_with([&world.case.deposit]);
        assert_eq!(
            request.exception() == RequestException::Late,
            request.cancelled_at.is_some(),
            "for the bank"
        );
        (world.case.deposit.deviation(&request, &sent), request)
    };
    let later = monday() + Span::mins(2);
    assert_eq!(counted_at(later, None).0, RequestException::None);
    assert_eq!(counted_at(later, Some(later)).0, RequestException::Late);
    assert_eq!(counted_at(later, Some(monday())).0, RequestException::Late);
    // What counted before the withdrawal is not late because of it.
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    let mut request = world.case.request.clone().expect("a request");
    request.cancelled_at = Some(later);
    let sent = world.case.deposit.sent_with([&world.case.deposit]);
    assert_eq!(world.case.deposit.deviation(&request, &sent), RequestException::None);
}
