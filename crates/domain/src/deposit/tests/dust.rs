//! Deposits that are not worth a release: they block nothing, and are released with more.

use super::*;
use crate::chain::{Movement, Plan};
use crate::ids::{DepositId, IntentId};
use crate::wallet_event::FailureReason;

const DUST: i64 = 400_000;
const LIMIT: i64 = 1_000_000;

/// A request for 25 USDC where less than 1 USDC is not worth a release, and a counted deposit of
/// this amount.
fn world(minor: i64) -> World {
    let mut world = World::for_request();
    world.release_min = LIMIT;
    world.case.deposit.minor = minor;
    world.seen_in(100);
    world.counted();
    world
}

/// Other dust in the same vault, counted and screened clean.
fn beside(world: &mut World, log: u8, minor: i64) -> Deposit {
    let main = world.case.deposit.clone();
    let fresh = Deposit {
        id: DepositId(Uuid::from_u128(u128::from(log))),
        tx: TxHash([log; 32]),
        minor,
        state: DepositState::Orphaned,
        pot: DepositBucket::Nowhere,
        place: None,
        credited_at: None,
        is_dust: false,
        assessment: None,
        ..main.clone()
    };
    world.case.deposit = fresh;
    world.seen_in(101);
    world.counted();
    world.screened(RiskResult::Approved, None);
    std::mem::replace(&mut world.case.deposit, main)
}

fn received(world: &World) -> i64 {
    world.case.request.as_ref().expect("a request").received.usdc
}

fn moved(world: &mut World) -> u64 {
    let release = world.case.deposit.release;
    match world.case.intent(release).expect("a release").plan {
        Plan::Release(movement) => movement.amount,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn dust_is_recorded_and_reported_and_its_screening_has_no_effect() {
    for (result, hold, alerts) in [
        (RiskResult::Approved, None, 0),
        (RiskResult::ManualReview, None, 0),
        (RiskResult::Rejected, Some(Hold::Refundable), 0),
        (RiskResult::Rejected, Some(Hold::Legal), 1),
        (RiskResult::Blocked, Some(Hold::Legal), 1),
        (RiskResult::Blocked, None, 0),
    ] {
        let mut world = world(1);
        world.screened(result, hold);
        assert_eq!(
            (world.state(), world.case.wallet.state),
            (DepositState::Dust, WalletState::Active),
            "{result:?}"
        );
        assert_eq!(world.kinds(), [WalletEventKind::PaymentReceived], "{result:?}");
        assert!(!world.case.escrow_is_held() && world.case.intents.is_empty(), "{result:?}");
        assert_eq!(world.case.deposit.assessment.as_ref().map(|it| it.result), Some(result));
        assert_eq!(
            (world.holds(DepositBucket::Escrow), received(&world), world.alerts),
            (1, 0, alerts),
            "{result:?} {hold:?}"
        );
        assert_eq!(world.case.deposit.status(), Some(DepositStatus::ReceivedInEscrow));
    }
}

#[test]
fn a_blocked_or_blacklisted_wallet_changes_nothing_for_dust() {
    for state in [WalletState::Blocked, WalletState::Blacklisted] {
        let mut world = World::for_request();
        world.release_min = LIMIT;
        world.case.deposit.minor = DUST;
        set_wallet(&mut world, state);
        world.seen_in(100);
        world.counted();
        world.screened(RiskResult::Approved, None);
        assert_eq!(
            (world.state(), world.kinds()),
            (DepositState::Dust, vec![WalletEventKind::PaymentReceived])
        );
        world.does(|case, _, cx| case.wallet_changed(cx));
        assert_eq!(world.state(), DepositState::Dust, "{state:?}");
    }
}

#[test]
fn accumulated_dust_is_released_in_one_movement() {
    let mut world = world(DUST);
    let riders = vec![beside(&mut world, 21, DUST), beside(&mut world, 22, DUST)];
    assert!(riders.iter().all(|it| it.state == DepositState::Dust));
    world.case.riders = riders;
    world.screened(RiskResult::Approved, None);
    assert_eq!((world.state(), moved(&mut world)), (DepositState::Approved, 1_200_000));
    assert!(world.case.riders.iter().all(|it| it.state == DepositState::Approved && !it.is_dust));
    assert_eq!((received(&world), world.case.deposit.riders.len()), (3 * DUST, 2));
    world.released();
    assert!(
        world
            .case
            .riders
            .iter()
            .all(|it| it.state == DepositState::Completed && it.release_tx.is_some())
    );
    assert_eq!(
        (world.holds(DepositBucket::Wallet), world.holds(DepositBucket::Escrow)),
        (3 * DUST, 0)
    );
    let done =
        world.kinds().iter().filter(|kind| **kind == WalletEventKind::TransferComplete).count();
    assert_eq!(done, 3, "each is reported");
}

#[test]
fn a_release_includes_clean_dust_of_its_vault_and_leaves_the_rest() {
    let mut world = world(MINOR);
    let good = beside(&mut world, 21, 1);
    let bad = Deposit {
        assessment: Some(assessment(RiskResult::Rejected, Some(Hold::Legal))),
        ..beside(&mut world, 22, 1)
    };
    let elsewhere = Deposit { to: Address([3; 20]), ..beside(&mut world, 23, 1) };
    let other_coin = Deposit { coin: StableCoin::Usdt, ..beside(&mut world, 24, 1) };
    let lost = Deposit { place: None, ..beside(&mut world, 25, 1) };
    world.case.riders = vec![good, bad, elsewhere, other_coin, lost];
    world.screened(RiskResult::Approved, None);
    assert_eq!(moved(&mut world), u64::try_from(MINOR + 1).expect("positive"));
    let states: Vec<_> = world.case.riders.iter().map(|it| it.state).collect();
    assert_eq!(states[0], DepositState::Approved);
    assert!(states[1..].iter().all(|state| *state == DepositState::Dust), "{states:?}");
}

#[test]
fn the_remaining_amount_can_be_dust() {
    let mut world = world(DUST);
    let request = world.case.request.as_mut().expect("a request");
    request.received.usdc = MINOR - DUST;
    world.screened(RiskResult::Approved, None);
    let request = world.case.request.as_ref().expect("a request");
    assert_eq!((world.state(), request.state.name()), (DepositState::Approved, "PAID"));
}

#[test]
fn dust_neither_pays_a_flexible_request_nor_causes_an_exception() {
    let mut world = World::asked(Asked::Flexible);
    world.release_min = LIMIT;
    world.case.deposit.minor = 1;
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Approved, None);
    let request = world.case.request.as_ref().expect("a request");
    assert_eq!(
        (request.state.name(), request.confirming, request.exception().name()),
        ("ACTIVE", 0, "NONE")
    );
    let mut world = World::for_request();
    (world.release_min, world.case.deposit.minor, world.case.deposit.coin) =
        (LIMIT, 1, StableCoin::Usdt);
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Approved, None);
    assert_eq!(world.case.request.as_ref().map(|it| it.exception().name()), Some("NONE"));
}

#[test]
fn late_dust_needs_review_once_it_is_worth_a_release() {
    let mut world = World::for_request();
    (world.release_min, world.case.deposit.minor) = (LIMIT, DUST);
    let late = monday() + Span::days(30);
    world.does(|case, _, cx| case.included(place(100), late, cx));
    world.counted();
    world.release_min = DUST;
    world.screened(RiskResult::Approved, None);
    let found = world.case.deposit.assessment.as_ref().map(|it| (it.result, it.reason));
    assert_eq!(
        (world.state(), found),
        (DepositState::InReview, Some((RiskResult::ManualReview, ReasonCode::TooLate)))
    );
}

#[test]
fn a_stopped_release_leaves_its_dust_for_the_next_one() {
    let gathered = || {
        let mut world = world(MINOR);
        world.case.riders = vec![beside(&mut world, 21, DUST)];
        world.screened(RiskResult::Approved, None);
        world
    };
    let rider = |world: &World| {
        (world.case.riders[0].state, world.case.riders[0].release, world.case.riders[0].hold)
    };
    let mut failed = gathered();
    failed.does(|case, _, cx| case.release_failed(FailureReason::OnChainRevert, cx));
    assert_eq!(
        (failed.state(), rider(&failed)),
        (DepositState::Failed, (DepositState::Dust, None, None))
    );
    let mut blocked = gathered();
    set_wallet(&mut blocked, WalletState::Blocked);
    blocked.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!(
        (blocked.state(), rider(&blocked)),
        (DepositState::Held, (DepositState::Dust, None, None))
    );
    // A rider dropped from the chain stops the release, which is then requested without it.
    let mut lost = gathered();
    lost.case.riders[0].state = DepositState::Suspended;
    assert!(!lost.case.may_release());
    let old = lost.case.deposit.release;
    lost.case.intent(old).expect("there").state = IntentState::Cancelled;
    lost.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!((lost.state(), moved(&mut lost)), (DepositState::Approved, MINOR.unsigned_abs()));
    assert!(lost.case.may_release() && lost.case.deposit.riders.is_empty());
    assert_eq!(received(&lost), MINOR + DUST, "what counted still counts");
}

/// A reorganisation takes the deposit and the release, but not the dust that the release moved, too.
#[test]
fn dust_that_counts_as_released_is_released_alone_if_its_release_is_undone() {
    let mut world = world(MINOR);
    world.case.riders = vec![beside(&mut world, 21, DUST)];
    world.screened(RiskResult::Approved, None);
    world.released();
    let (old, now) = (world.case.deposit.release, world.now);
    world.lost_from(100);
    let intent = world.case.intent(old).expect("there");
    intent.undone(now);
    intent.state = IntentState::Cancelled;
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    let rider = world.case.riders[0].clone();
    assert_eq!(rider.state, DepositState::Completed);
    let own = world.case.intent(rider.release).cloned().expect("a release of its own");
    let (Plan::Release(movement), Some(Plan::Release(of_both))) =
        (own.plan, world.case.intent(old).map(|intent| intent.plan))
    else {
        panic!("releases")
    };
    assert_eq!((own.subject, own.riders.len()), (rider.id.0, 0));
    assert_ne!((own.id, movement.intent), (old.expect("a release"), of_both.intent));
    assert_eq!(
        movement,
        Movement { amount: DUST.unsigned_abs(), intent: movement.intent, ..of_both }
    );
    world.case.deposit = rider;
    assert!(world.case.owes(own.id), "executed whatever happens");
}

#[test]
fn a_rider_dropped_from_the_chain_does_not_withdraw_the_release_of_another() {
    let mut world = world(MINOR);
    world.case.riders = vec![beside(&mut world, 21, DUST)];
    world.screened(RiskResult::Approved, None);
    let rider = world.case.riders.remove(0);
    let main = std::mem::replace(&mut world.case.deposit, rider);
    world.lost_from(101);
    let intent = world.case.intent(main.release).expect("there");
    assert_eq!((intent.state, world.state()), (IntentState::Waiting, DepositState::Suspended));
}

#[test]
fn the_issuer_s_fee_is_booked_to_the_released_deposits() {
    let mut world = world(MINOR);
    world.case.riders = vec![beside(&mut world, 21, DUST)];
    world.screened(RiskResult::Approved, None);
    let release = world.case.deposit.release;
    world.case.intent(release).expect("there").state = IntentState::Done;
    world.does(|case, _, cx| case.released(TxHash([8; 32]), 25_000, cx));
    assert_eq!(world.holds(DepositBucket::Wallet), MINOR + DUST - 25_000);
}

#[test]
fn direct_dust_is_credited_to_the_wallet_once_it_adds_up() {
    let mut world = World::direct();
    (world.release_min, world.case.deposit.minor) = (LIMIT, DUST);
    world.seen_in(100);
    world.counted();
    world.screened(RiskResult::Approved, None);
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Suspense), world.alerts),
        (DepositState::Dust, DUST, 0)
    );
    world.case.riders = vec![beside(&mut world, 21, DUST), beside(&mut world, 22, DUST)];
    world.screened(RiskResult::Approved, None);
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, 3 * DUST)
    );
    assert!(world.case.riders.iter().all(|it| it.state == DepositState::Completed));
}

#[test]
fn dust_dropped_from_the_chain_does_not_reduce_its_request() {
    let mut world = world(DUST);
    world.screened(RiskResult::Approved, None);
    world.case.request.as_mut().expect("a request").received.usdc = 5 * DUST;
    world.lost_from(100);
    assert_eq!(world.state(), DepositState::Suspended);
    world.does(|case, _, cx| case.dropped(100 + 20 + arrive::DROPPED_AFTER_BLOCKS, cx));
    assert_eq!((world.state(), received(&world)), (DepositState::Failed, 5 * DUST));
    // A rider that returns waits as before.
    let mut back = super::dust::world(DUST);
    back.screened(RiskResult::Approved, None);
    back.lost_from(100);
    back.seen_in(120);
    back.counted();
    assert_eq!((back.state(), back.holds(DepositBucket::Escrow)), (DepositState::Dust, DUST));
}

/// A deposit that was released together with dust. A reorganisation took both out of the chain and
/// undid the release; they came back and are released again, each alone.
fn released_again() -> (World, Option<IntentId>) {
    let mut world = world(MINOR);
    world.case.riders = vec![beside(&mut world, 21, DUST)];
    world.screened(RiskResult::Approved, None);
    world.released();
    let (old, now) = (world.case.deposit.release, world.now);
    world.lost_from(100);
    let intent = world.case.intent(old).expect("there");
    intent.undone(now);
    intent.withdraw(now);
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    world.seen_in(110);
    world.counted();
    assert_eq!(world.state(), DepositState::Approved);
    (world, old)
}

fn state_of(world: &mut World, release: Option<IntentId>) -> IntentState {
    world.case.intent(release).expect("there").state
}

#[test]
fn a_restored_release_replaces_the_later_ones_of_the_deposit_and_its_dust() {
    for (sent, state) in [(false, IntentState::Cancelled), (true, IntentState::Assigned)] {
        let (mut world, old) = released_again();
        let later = [world.case.deposit.release, world.case.riders[0].release];
        assert!(later.iter().all(|it| it.is_some() && *it != old));
        for release in later.into_iter().filter(|_| sent) {
            world.case.intent(release).expect("there").state = IntentState::Assigned;
        }
        let release = old.expect("a release");
        world.does(|case, _, cx| case.release_restored(release, TxHash([8; 32]), 0, cx));
        assert_eq!(later.map(|it| state_of(&mut world, it)), [state; 2], "{sent}");
        let rider = &world.case.riders[0];
        assert_eq!([world.case.deposit.release, rider.release], [old; 2]);
        assert_eq!([world.state(), rider.state], [DepositState::Completed; 2]);
        assert_eq!(world.case.deposit.riders, [rider.id]);
        assert_eq!(
            (world.holds(DepositBucket::Wallet), world.holds(DepositBucket::Escrow)),
            (MINOR + DUST, 0)
        );
        assert!(
            later.into_iter().flatten().all(|it| !world.case.owes(it)) && world.case.owes(release)
        );
    }
}

#[test]
fn a_release_that_took_effect_twice_needs_an_operator() {
    let (mut world, old) = released_again();
    world.released();
    let (later, alerts) = (world.case.deposit.release, world.alerts);
    let of_rider = world.case.riders[0].release;
    let release = old.expect("a release");
    world.does(|case, _, cx| case.release_restored(release, TxHash([9; 32]), 0, cx));
    assert_eq!((world.case.deposit.release, world.alerts), (later, alerts + 1));
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR + DUST)
    );
    assert_eq!(state_of(&mut world, of_rider), IntentState::Cancelled, "it was moved, too");
}

/// A reorganisation undoes a release, and takes the dust that it moved out of the chain.
#[test]
fn a_deposit_whose_dust_is_lost_is_released_without_it() {
    let mut world = world(MINOR);
    let dust = [beside(&mut world, 21, DUST), beside(&mut world, 22, DUST)];
    world.case.riders = dust.to_vec();
    world.screened(RiskResult::Approved, None);
    world.released();
    let (old, now) = (world.case.deposit.release, world.now);
    let release = old.expect("a release");
    world.case.intent(old).expect("there").undone(now);
    assert!(world.case.owes(release));
    (world.case.riders[0].place, world.case.riders[0].state) = (None, DepositState::Suspended);
    assert!(!world.case.owes(release), "it would be paid from the next deposit");
    world.case.intent(old).expect("there").withdraw(now);
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    let own = world.case.deposit.release.expect("another one");
    assert_eq!((own != release, moved(&mut world)), (true, MINOR.unsigned_abs()));
    assert!(world.case.owes(own) && world.case.deposit.riders.is_empty());
    assert_eq!(world.case.riders[0].release, None, "it gets one when it is back");
    let other = world.case.riders[1].release;
    assert_eq!(state_of(&mut world, other), IntentState::Waiting, "of its own");
}
