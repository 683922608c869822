//! Chain events: depth, orphans, suspension, re-inclusion, drops.

use super::*;
use crate::chain::{Block, Heads};
use crate::deposit::arrive::DROPPED_AFTER_BLOCKS;
use crate::ids::TransferId;
use crate::ledger::{Transfer, TransferKind, cover_shortfall};
use crate::money::Money;
use crate::payment_request::RequestState;

#[test]
fn the_required_depth_follows_from_the_value() {
    const USD: i64 = 1_000_000;
    let hash = BlockHash([0; 32]);
    let latest = Block { number: 99, hash, parent: hash, at: monday() };
    let heads = Heads { latest, safe: Some(67), finalized: Some(35) };
    let newest = |heads: &Heads, minor| heads.newest_at(config().deposit_depth(minor));
    // The newest block is one block deep, so 88 is twelve blocks deep.
    for (minor, height) in [
        (1, 88),
        (1_000 * USD - 1, 88),
        (1_000 * USD, 67),
        (100_000 * USD - 1, 67),
        (100_000 * USD, 35),
        (i64::MAX, 35),
    ] {
        assert_eq!(newest(&heads, minor), Some(height), "{minor}");
    }
    // If the node does not report it, or the chain is too short, nothing is deep enough.
    let young = Heads { latest: Block { number: 10, ..latest }, safe: None, finalized: None };
    for minor in [1, 1_000 * USD, 100_000 * USD] {
        assert_eq!(newest(&young, minor), None, "{minor}");
    }
}

#[test]
fn it_is_pending_below_the_depth_and_received_and_reported_once_at_it() {
    let mut world = World::for_request();
    world.seen_in(100);
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Pending));
    assert!(world.told.is_empty());
    assert_eq!(world.holds(DepositBucket::Escrow), 0);
    world.counted();
    world.counted();
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::ReceivedInEscrow));
    assert_eq!(world.kinds(), [WalletEventKind::PaymentReceived]);
    assert_eq!(
        (world.holds(DepositBucket::Escrow), world.books.account(&external()).balance().minor),
        (MINOR, -MINOR)
    );
    assert_eq!(world.case.request.as_ref().map(|request| request.state), Some(RequestState::Paid));
}

#[test]
fn a_counted_deposit_leaves_its_block_only_when_the_block_is_lost() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    // From a process that was paused since before a reorganisation.
    world.seen_in(99);
    assert_eq!(world.case.deposit.place, Some(place(100)));
    world.lost_from(99);
    assert_eq!(
        (world.case.deposit.place, world.holds(DepositBucket::Escrow)),
        (Some(place(100)), MINOR)
    );
    world.lost_from(100);
    world.seen_in(101);
    assert_eq!(world.case.deposit.place, Some(place(101)));
}

#[test]
fn a_pending_orphan_disappears_and_returns_as_the_same_deposit() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.lost_from(100);
    assert_eq!(world.case.deposit.status(), None);
    assert_eq!(world.case.request.as_ref().map(|request| request.confirming), Some(0));
    let id = world.case.deposit.id;
    world.seen_in(101);
    assert_eq!((world.case.deposit.id, world.state()), (id, DepositState::Seen));
    world.counted();
    assert_eq!(world.holds(DepositBucket::Escrow), MINOR);
    assert_eq!(world.kinds(), [WalletEventKind::PaymentReceived]);
}

#[test]
fn losing_a_former_block_changes_nothing() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.seen_in(101);
    world.lost_from(100);
    assert_eq!(world.state(), DepositState::Seen);
}

#[test]
fn a_deep_reorganisation_stops_the_release_and_freezes_the_amount() {
    let mut world = World::for_request();
    world.approved();
    world.lost_from(100);
    assert_eq!(world.state(), DepositState::Suspended);
    assert_eq!(world.case.deposit.kind(), DepositKind::Blocked);
    assert_eq!(
        (world.holds(DepositBucket::Escrow), world.holds(DepositBucket::Suspense)),
        (0, MINOR)
    );
    assert_eq!(
        world.books.account(&world.case.deposit.account(DepositBucket::Escrow)).debits_pending,
        0
    );
    assert_eq!(world.case.intents[0].state, IntentState::Cancelled);
    assert!(!world.case.may_release());
    assert_eq!(world.alerts, 1);
}

#[test]
fn re_inclusion_reuses_the_same_credit() {
    let mut world = World::for_request();
    world.approved();
    world.lost_from(100);
    world.seen_in(103);
    assert_eq!(world.state(), DepositState::Suspended, "not before it is deep enough again");
    world.counted();
    assert_eq!(world.state(), DepositState::Approved);
    assert_eq!(
        (world.holds(DepositBucket::Escrow), world.holds(DepositBucket::Suspense)),
        (MINOR, 0)
    );
    assert_eq!((world.alerts, world.open.len()), (1, 0), "the alert has ended");
    world.released();
    assert_eq!(world.holds(DepositBucket::Wallet), MINOR);
    let told = [
        WalletEventKind::PaymentReceived,
        WalletEventKind::RiskCheckComplete,
        WalletEventKind::TransferComplete,
    ];
    assert_eq!(world.kinds(), told, "each once");
}

#[test]
fn a_completed_deposit_returns_to_the_wallet_and_is_reported_once() {
    let mut world = World::for_request();
    world.approved();
    world.released();
    world.lost_from(100);
    assert_eq!(
        (world.holds(DepositBucket::Wallet), world.holds(DepositBucket::Suspense)),
        (0, MINOR)
    );
    // It is no longer in the wallet.
    let shown = (world.case.deposit.kind(), world.case.deposit.status());
    assert_eq!(shown, (DepositKind::Blocked, Some(DepositStatus::ReceivedInEscrow)));
    world.seen_in(101);
    world.counted();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR)
    );
    assert_eq!(
        world.kinds().iter().filter(|kind| **kind == WalletEventKind::TransferComplete).count(),
        1
    );
}

#[test]
fn a_release_undone_by_the_reorganisation_is_executed_again() {
    let mut world = World::for_request();
    world.approved();
    world.released();
    world.lost_from(100);
    let (now, release) = (world.now, world.case.deposit.release);
    world.case.intent(release).expect("a release").undone(now);
    world.seen_in(101);
    world.counted();
    assert_eq!((world.state(), world.case.deposit.release), (DepositState::Approved, release));
    world.released();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR)
    );
    assert_eq!(
        world.kinds().iter().filter(|kind| **kind == WalletEventKind::TransferComplete).count(),
        1
    );
}

/// Debits the wallet, or ends a reservation of it, as an order does; a shortfall is covered at once.
fn order(
    world: &mut World,
    kind: TransferKind,
    minor: i64,
    hold: Option<TransferId>,
) -> TransferId {
    let coin = StableCoin::Usdc;
    let codes = [AccountCode::Wallet(WALLET, coin), AccountCode::Shortfall(WALLET, coin)];
    let mut cx = Cx { now: world.now, ids: &mut world.ids };
    let id = cx.transfer_id();
    let transfer = Transfer {
        id,
        tenant: TENANT,
        debit: codes[0].clone(),
        credit: AccountCode::Unswept(ChainNumber::FIRST, coin),
        amount: Money::new(minor, coin.currency()),
        kind,
        pending: hold,
        set: id,
        reason: "exchange.test",
        subject: None,
        at: cx.now,
    };
    world.books.book(&[transfer]).expect("the wallet has it");
    let [has, lacks] = codes.map(|code| world.books.account(&code));
    let covered = cover_shortfall(&has, &lacks, &mut cx);
    world.books.book(covered.as_slice()).expect("it is available");
    id
}

fn completed() -> World {
    let mut world = World::for_request();
    world.approved();
    world.released();
    world
}

fn of_wallet(world: &World) -> (i64, i64, i64) {
    let code = AccountCode::Shortfall(WALLET, StableCoin::Usdc);
    let wallet = world.books.account(&world.case.deposit.account(DepositBucket::Wallet));
    let lacks = world.books.account(&code).balance().minor;
    (wallet.balance().minor, wallet.available().minor, lacks)
}

fn dropped(world: &mut World) {
    world.does(|case, _, cx| case.dropped(1_000, cx));
}

#[test]
fn a_reorganised_deposit_that_an_order_has_reserved_is_taken_when_the_reservation_ends() {
    for reserved in [1, MINOR / 2, MINOR] {
        for is_dropped_first in [false, true] {
            let mut world = completed();
            let hold = order(&mut world, TransferKind::Pending, reserved, None);
            world.lost_from(100);
            assert_eq!((world.state(), world.alerts), (DepositState::Suspended, 1));
            assert_eq!(world.holds(DepositBucket::Suspense), MINOR, "all of it is frozen");
            assert_eq!(of_wallet(&world), (reserved, 0, -reserved));
            if is_dropped_first {
                dropped(&mut world);
            }
            order(&mut world, TransferKind::VoidPending, reserved, Some(hold));
            assert_eq!(of_wallet(&world), (0, 0, 0), "{reserved} reserved");
            dropped(&mut world);
            assert_eq!(world.state(), DepositState::Failed);
            assert_eq!(failures(&world.told), ["TRANSACTION_DROPPED"]);
            assert!(world.books.show().is_empty(), "{:?}", world.books.show());
        }
    }
}

#[test]
fn a_reserved_deposit_that_returns_is_the_wallets_again() {
    let mut world = completed();
    let hold = order(&mut world, TransferKind::Pending, MINOR, None);
    world.lost_from(100);
    world.seen_in(103);
    world.counted();
    assert_eq!((world.state(), world.open.len()), (DepositState::Completed, 0));
    let [has, lacks] = [
        AccountCode::Wallet(WALLET, StableCoin::Usdc),
        AccountCode::Shortfall(WALLET, StableCoin::Usdc),
    ]
    .map(|code| world.books.account(&code));
    let mut cx = Cx { now: world.now, ids: &mut world.ids };
    let covered = cover_shortfall(&has, &lacks, &mut cx);
    world.books.book(covered.as_slice()).expect("it is available");
    assert_eq!(of_wallet(&world), (MINOR, 0, 0), "the order has it");
    order(&mut world, TransferKind::VoidPending, MINOR, Some(hold));
    assert_eq!(of_wallet(&world), (MINOR, MINOR, 0));
}

#[test]
fn a_spent_deposit_that_is_dropped_leaves_a_shortfall_and_is_reported() {
    let mut world = completed();
    let hold = order(&mut world, TransferKind::Pending, MINOR, None);
    order(&mut world, TransferKind::PostPending, MINOR, Some(hold));
    world.lost_from(100);
    assert_eq!((world.state(), world.alerts), (DepositState::Suspended, 1));
    assert_eq!(of_wallet(&world), (0, 0, -MINOR));
    dropped(&mut world);
    assert_eq!(failures(&world.told), ["TRANSACTION_DROPPED"]);
    assert_eq!((world.holds(DepositBucket::Suspense), of_wallet(&world)), (0, (0, 0, -MINOR)));
}

/// `fee` of its release was deducted by the token's contract.
fn released_less(world: &mut World, fee: i64) {
    let release = world.case.deposit.release;
    let now = world.now;
    let intent = world.case.intent(release).expect("a release");
    (intent.state, intent.tx) = (IntentState::Assigned, None);
    assert!(intent.done(now), "it was in progress");
    world.does(|case, _, cx| case.released(TxHash([8; 32]), fee, cx));
}

/// What has left the books as a fee, of one deposit that is in them.
fn fees(world: &World) -> i64 {
    let external = world.case.deposit.account(DepositBucket::Nowhere);
    world.books.account(&external).balance().minor + MINOR
}

#[test]
fn the_fee_of_a_release_is_booked_as_long_as_its_deposit_is_in_the_wallet() {
    const FEE: i64 = 25_000;
    for is_released_again in [false, true] {
        for fee in [0, FEE, 3 * FEE] {
            let mut world = World::for_request();
            world.approved();
            released_less(&mut world, FEE);
            assert_eq!(of_wallet(&world), (MINOR - FEE, MINOR - FEE, 0));
            world.lost_from(100);
            assert_eq!(world.holds(DepositBucket::Suspense), MINOR);
            assert_eq!(of_wallet(&world), (0, 0, 0), "the fee is not a claim on the wallet");
            if is_released_again {
                let (now, release) = (world.now, world.case.deposit.release);
                world.case.intent(release).expect("a release").undone(now);
            }
            world.seen_in(103);
            world.counted();
            let arrived = if is_released_again {
                assert_eq!(
                    (world.holds(DepositBucket::Escrow), of_wallet(&world)),
                    (MINOR, (0, 0, 0))
                );
                released_less(&mut world, fee);
                MINOR - fee
            } else {
                MINOR - FEE
            };
            assert_eq!(of_wallet(&world), (arrived, arrived, 0));
            assert_eq!(fees(&world), MINOR - arrived, "once");
            world.lost_from(103);
            dropped(&mut world);
            assert_eq!(world.state(), DepositState::Failed);
            assert!(world.books.show().is_empty(), "{:?}", world.books.show());
        }
    }
}

#[test]
fn what_a_wallet_has_spent_of_a_deposit_with_a_fee_is_lent_without_the_fee() {
    const FEE: i64 = 25_000;
    let mut world = World::for_request();
    world.approved();
    released_less(&mut world, FEE);
    let hold = order(&mut world, TransferKind::Pending, MINOR - FEE, None);
    order(&mut world, TransferKind::PostPending, MINOR - FEE, Some(hold));
    world.lost_from(100);
    assert_eq!(of_wallet(&world), (0, 0, FEE - MINOR));
}

#[test]
fn the_fee_of_a_release_that_was_executed_again_replaces_the_first() {
    const FEE: i64 = 25_000;
    for (fee, wallet, lacks) in [(0, MINOR, 0), (FEE, MINOR - FEE, 0), (FEE + 1, MINOR - FEE, -1)] {
        let mut world = World::for_request();
        world.approved();
        released_less(&mut world, FEE);
        let (now, release) = (world.now, world.case.deposit.release);
        world.case.intent(release).expect("a release").undone(now);
        released_less(&mut world, fee);
        let shown = of_wallet(&world);
        assert_eq!((world.state(), shown.0, shown.2), (DepositState::Completed, wallet, lacks));
        assert_eq!(fees(&world), fee);
    }
}

#[test]
fn a_deposit_that_stays_away_fails_as_dropped_and_leaves_the_books() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    world.lost_from(100);
    let lost = world.case.deposit.lost_at.expect("lost");
    world.does(|case, _, cx| case.dropped(lost + DROPPED_AFTER_BLOCKS - 1, cx));
    assert_eq!(world.state(), DepositState::Suspended);
    world.does(|case, _, cx| case.dropped(lost + DROPPED_AFTER_BLOCKS, cx));
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
    assert_eq!(failures(&world.told), ["TRANSACTION_DROPPED"]);
    assert!(world.books.show().is_empty(), "{:?}", world.books.show());
}

#[test]
fn a_given_up_deposit_that_returns_goes_to_suspense() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    world.lost_from(100);
    world.does(|case, _, cx| case.dropped(1_000, cx));
    let alerts = world.alerts;
    assert_eq!(world.case.deposit.height(), None, "it is no longer awaited");
    world.seen_in(1_001);
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
    assert_eq!((world.case.deposit.height(), world.alerts), (Some(1_001), alerts + 1));
    world.counted();
    world.counted();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Suspense)),
        (DepositState::Failed, MINOR)
    );
    assert_eq!(failures(&world.told), ["TRANSACTION_DROPPED"], "reported once");
}

#[test]
fn it_is_not_given_up_while_its_release_is_in_progress() {
    let mut world = World::for_request();
    world.approved();
    world.case.intents[0].state = IntentState::Assigned;
    world.lost_from(100);
    world.does(|case, _, cx| case.dropped(1_000, cx));
    assert_eq!(world.state(), DepositState::Suspended);
    world.released();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR),
        "its only possible account"
    );
}

#[test]
fn a_vault_with_a_different_balance_is_disputed_once_and_does_not_count() {
    let mut world = World::for_request();
    world.seen_in(100);
    world.does(|case, _, _| case.dispute("holds 1, its logs add up to 2".to_owned()));
    world.does(|case, _, _| case.dispute("holds 1, its logs add up to 2".to_owned()));
    assert_eq!((world.state(), world.alerts), (DepositState::Seen, 1));
}

#[test]
fn direct_payments_to_the_wallet_wait_in_suspense_and_are_blocked_until_screened() {
    let mut world = World::direct();
    world.seen_in(100);
    world.counted();
    assert_eq!(world.case.deposit.kind(), DepositKind::Blocked);
    assert_eq!(
        (world.holds(DepositBucket::Suspense), world.holds(DepositBucket::Wallet), world.alerts),
        (MINOR, 0, 1)
    );
    assert!(world.told.is_empty(), "they are for no payment request");
    world.screened(RiskResult::Approved, None);
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR)
    );
    assert_eq!(world.case.deposit.kind(), DepositKind::Received);
    assert!(world.case.intents.is_empty(), "they are already there");
    assert_eq!(world.kinds(), [WalletEventKind::RiskCheckComplete]);
}

#[test]
fn the_alert_of_a_direct_payment_ends_when_its_tokens_are_in_the_wallet() {
    use crate::deposit::ReviewVerdict::{Approve, Block, LegalHold, Reject};
    for (verdict, left) in [(Approve, 0), (Reject, 1), (LegalHold, 1), (Block, 1)] {
        let mut world = World::direct();
        world.seen_in(100);
        world.counted();
        let other = Alert { what: "another alert".to_owned(), ..world.open[0].clone() };
        world.open.push(other.clone());
        world.screened(RiskResult::ManualReview, None);
        assert_eq!((world.state(), world.open.len()), (DepositState::InReview, 2));
        world
            .tries(|case, terms, cx| case.reviewed(verdict, "ayesha", "seen", terms, cx))
            .expect("it is in review");
        assert_eq!(world.open.len(), left + 1, "{verdict:?}");
        assert!(world.open.contains(&other), "{verdict:?}");
        assert_eq!(world.holds(DepositBucket::Suspense) != 0, left == 1, "{verdict:?}");
    }
}

#[test]
fn a_different_stablecoin_than_requested_needs_review() {
    let mut world = World::asked(Asked::Crypto { coin: StableCoin::Usdt, minor: MINOR });
    world.seen_in(100);
    world.counted();
    assert_eq!(world.case.deposit.concern, Some(ReasonCode::WrongAsset));
    assert_eq!(
        world.case.request.as_ref().map(|request| request.state),
        Some(RequestState::Active)
    );
}
