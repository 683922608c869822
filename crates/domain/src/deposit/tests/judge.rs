//! Decisions by screening, reviewers and the wallet's state, and their effect on the release.

use super::*;
use crate::payment_request::RequestState;
use crate::wallet_event::FailureReason;

fn counted() -> World {
    let mut world = World::for_request();
    world.seen_in(100);
    world.counted();
    world
}

fn in_review() -> World {
    let mut world = counted();
    world.screened(RiskResult::ManualReview, None);
    world
}

fn review(world: &mut World, verdict: ReviewVerdict) -> Result<(), DepositRefusal> {
    world.tries(|case, terms, cx| case.reviewed(verdict, "ann", "seen the invoice", terms, cx))
}

#[test]
fn each_risk_result_leads_to_the_decided_state() {
    for (result, hold, state, failed, wallet) in [
        (RiskResult::Approved, None, DepositState::Approved, 0, WalletState::Active),
        (RiskResult::ManualReview, None, DepositState::InReview, 0, WalletState::Active),
        (
            RiskResult::Rejected,
            Some(Hold::Refundable),
            DepositState::Rejected,
            1,
            WalletState::Active,
        ),
        (RiskResult::Rejected, Some(Hold::Legal), DepositState::LegalHold, 1, WalletState::Active),
        (RiskResult::Blocked, None, DepositState::Held, 0, WalletState::Blocked),
        (
            RiskResult::Blocked,
            Some(Hold::Refundable),
            DepositState::Rejected,
            1,
            WalletState::Blocked,
        ),
        (RiskResult::Blocked, Some(Hold::Legal), DepositState::LegalHold, 1, WalletState::Blocked),
    ] {
        let mut world = counted();
        world.screened(result, hold);
        assert_eq!(
            (world.state(), world.case.wallet.state),
            (state, wallet),
            "{result:?} {hold:?}"
        );
        assert_eq!(
            failures(&world.told),
            vec!["COMPLIANCE_REJECTED"; failed],
            "{result:?} {hold:?}"
        );
        let kinds = world.kinds();
        assert_eq!(
            kinds[..2],
            [WalletEventKind::PaymentReceived, WalletEventKind::RiskCheckComplete]
        );
        let blocked = kinds.contains(&WalletEventKind::WalletBlocked);
        assert_eq!(blocked, result == RiskResult::Blocked, "{result:?}");
        assert_eq!(world.holds(DepositBucket::Escrow), MINOR, "it stays in escrow");
    }
}

#[test]
fn an_approved_deposit_is_reserved_and_released_once_to_the_wallet_of_its_escrow() {
    let mut world = counted();
    world.screened(RiskResult::Approved, None);
    let escrow = world.books.account(&world.case.deposit.account(DepositBucket::Escrow));
    assert_eq!((escrow.debits_pending, escrow.available().minor), (MINOR, 0));
    let intent = world.case.intents[0].clone();
    let crate::chain::Plan::Release(movement) = intent.plan else { panic!("a movement") };
    assert_eq!(movement.recipient, wallet().address);
    assert_eq!(movement.reference, world.case.request.as_ref().expect("a request").reference);
    assert_eq!(movement.amount, 25_000_000);
    world.released();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet), world.holds(DepositBucket::Escrow)),
        (DepositState::Completed, MINOR, 0)
    );
    world.does(|case, _, cx| case.released(TxHash([8; 32]), 0, cx));
    assert_eq!(world.holds(DepositBucket::Wallet), MINOR, "a second report changes nothing");
}

#[test]
fn a_deposit_for_a_blocked_wallet_is_held_and_screened_after_the_block() {
    let mut world = World::for_request();
    block_wallet(&mut world.case.wallet);
    world.seen_in(100);
    world.counted();
    assert_eq!(
        (world.state(), world.case.deposit.kind()),
        (DepositState::Held, DepositKind::Blocked)
    );
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::ReceivedInEscrow));
    assert_eq!(world.kinds(), [WalletEventKind::PaymentReceived]);
    world.case.wallet.unblock(monday()).expect("blocked");
    world.does(|case, _, cx| case.wallet_changed(cx));
    assert_eq!(
        (world.state(), world.case.deposit.kind()),
        (DepositState::Screening, DepositKind::Received)
    );
}

#[test]
fn a_deposit_for_a_blacklisted_wallet_is_rejected() {
    let mut world = World::for_request();
    set_wallet(&mut world, WalletState::Blacklisted);
    world.seen_in(100);
    world.counted();
    assert_eq!(world.case.deposit.status(), Some(DepositStatus::Rejected));
    let kinds = [WalletEventKind::PaymentReceived, WalletEventKind::TransactionFailed];
    assert_eq!(world.kinds(), kinds);
    assert_eq!(failures(&world.told), ["ADDRESS_BLACKLISTED"]);
    assert_eq!(world.holds(DepositBucket::Escrow), MINOR);
}

#[test]
fn a_wallet_blocked_during_screening_holds_the_deposit_whatever_the_result() {
    let mut world = counted();
    block_wallet(&mut world.case.wallet);
    world.screened(RiskResult::Approved, None);
    assert_eq!(world.state(), DepositState::Held);
    assert_eq!(world.kinds(), [WalletEventKind::PaymentReceived]);
}

#[test]
fn a_blacklisting_rejects_held_screened_and_reviewed_deposits() {
    for prepare in [in_review, counted] {
        let mut world = prepare();
        set_wallet(&mut world, WalletState::Blacklisted);
        world.does(|case, _, cx| case.wallet_changed(cx));
        assert_eq!(world.state(), DepositState::Rejected);
        assert_eq!(failures(&world.told), ["ADDRESS_BLACKLISTED"]);
    }
}

#[test]
fn a_reviewer_approves_rejects_holds_or_blocks() {
    for (verdict, state, wallet) in [
        (ReviewVerdict::Approve, DepositState::Approved, WalletState::Active),
        (ReviewVerdict::Reject, DepositState::Rejected, WalletState::Active),
        (ReviewVerdict::LegalHold, DepositState::LegalHold, WalletState::Active),
        (ReviewVerdict::Block, DepositState::Rejected, WalletState::Blocked),
    ] {
        let mut world = in_review();
        review(&mut world, verdict).expect("it is in review");
        assert_eq!((world.state(), world.case.wallet.state), (state, wallet), "{verdict:?}");
        let decided = world.case.deposit.assessment.as_ref().and_then(|it| it.decided_by.clone());
        assert_eq!(decided.as_deref(), Some("ann"));
        assert_eq!(
            world
                .kinds()
                .iter()
                .filter(|kind| **kind == WalletEventKind::RiskCheckComplete)
                .count(),
            2
        );
    }
}

#[test]
fn a_reviewer_s_block_replaces_an_earlier_one_and_has_no_automatic_end() {
    let mut world = in_review();
    let earlier = BlockOrder {
        reason: BlockReason::PendingInvestigation,
        details: "lost telephone".to_owned(),
        auto_unblock_hours: Some(1),
        triggered_by: TriggeredBy::Manual,
    };
    world.case.wallet.block(earlier, monday()).expect("active");
    world.now = monday() + Span::mins(30);
    review(&mut world, ReviewVerdict::Block).expect("it is in review");
    let block = world.case.wallet.block.clone().expect("blocked");
    assert_eq!(
        (block.reason, block.at, block.auto_unblock_at),
        (BlockReason::SuspiciousActivity, world.now, None)
    );
    assert!(world.kinds().contains(&WalletEventKind::WalletBlocked), "{:?}", world.kinds());
    world.case.wallet.time_passed(monday() + Span::hours(2));
    assert_eq!(world.case.wallet.state, WalletState::Blocked);

    let mut listed = in_review();
    set_wallet(&mut listed, WalletState::Blacklisted);
    review(&mut listed, ReviewVerdict::Block).expect("it is in review");
    assert_eq!(listed.case.wallet.state, WalletState::Blacklisted);
    assert!(!listed.kinds().contains(&WalletEventKind::WalletBlocked), "{:?}", listed.kinds());
}

#[test]
fn a_frozen_wallet_gets_no_approval_and_decisions_are_final() {
    let mut world = in_review();
    block_wallet(&mut world.case.wallet);
    let refused = review(&mut world, ReviewVerdict::Approve);
    assert_eq!(refused, Err(DepositRefusal::Frozen(WalletState::Blocked)));
    review(&mut world, ReviewVerdict::Reject).expect("a rejection is allowed");
    let refused = review(&mut world, ReviewVerdict::Approve);
    assert_eq!(refused, Err(DepositState::Rejected.refused()));
    review(&mut world, ReviewVerdict::LegalHold).expect("a rejection can become a legal hold");
    assert_eq!(failures(&world.told), ["COMPLIANCE_REJECTED"], "reported once");
}

#[test]
fn a_wallet_blocked_in_flight_holds_stopped_releases_and_completes_mined_ones() {
    let mut world = counted();
    world.screened(RiskResult::Approved, None);
    block_wallet(&mut world.case.wallet);
    assert!(!world.case.may_release(), "nothing is signed after the block");
    let mut stopped =
        World { case: world.case.clone(), books: world.books.clone(), ..World::for_request() };
    stopped.case.intents[0].state = IntentState::Cancelled;
    stopped.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!(
        (stopped.state(), stopped.holds(DepositBucket::Escrow)),
        (DepositState::Held, MINOR)
    );
    assert_eq!(
        stopped
            .books
            .account(&stopped.case.deposit.account(DepositBucket::Escrow))
            .available()
            .minor,
        MINOR
    );
    world.released();
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, MINOR)
    );
}

/// Its release is stopped by a block, and reviewers see it again after the block.
#[test]
fn what_reviewers_approve_twice_counts_once_towards_its_request() {
    let asked = Asked::Crypto { coin: StableCoin::Usdt, minor: 2 * MINOR };
    let mut world = World::asked(asked);
    world.seen_in(100);
    world.counted();
    let taken = |world: &World| world.case.request.as_ref().and_then(|it| it.other_taken);
    let in_review_again = |world: &mut World| {
        block_wallet(&mut world.case.wallet);
        world.case.intents.last_mut().expect("a release").state = IntentState::Cancelled;
        world.does(|case, terms, cx| case.release_stopped(terms, cx));
        world.case.wallet.unblock(monday()).expect("blocked");
        world.does(|case, _, cx| case.wallet_changed(cx));
        world.screened(RiskResult::ManualReview, None);
    };
    world.screened(RiskResult::ManualReview, None);
    for _ in 0..2 {
        review(&mut world, ReviewVerdict::Approve).expect("in review");
        assert_eq!(taken(&world), Some(MINOR));
        in_review_again(&mut world);
    }
    review(&mut world, ReviewVerdict::Reject).expect("in review");
    assert_eq!(taken(&world), Some(0));
    assert_eq!(world.case.request.map(|it| it.state), Some(RequestState::Active));
}

#[test]
fn a_release_stopped_for_an_active_wallet_is_requested_again() {
    let mut world = counted();
    world.screened(RiskResult::Approved, None);
    world.case.intents[0].state = IntentState::Cancelled;
    world.does(|case, terms, cx| case.release_stopped(terms, cx));
    assert_eq!((world.state(), world.case.intents.len()), (DepositState::Approved, 2));
    assert_eq!(world.case.deposit.release, Some(world.case.intents[1].id));
}

#[test]
fn a_release_that_fails_for_good_leaves_the_money_in_escrow_with_a_reason() {
    for (reason, name) in [
        (FailureReason::OnChainRevert, "ON_CHAIN_REVERT"),
        (FailureReason::TokenPaused, "TOKEN_PAUSED"),
        (FailureReason::AddressBlacklisted, "ADDRESS_BLACKLISTED"),
    ] {
        let mut world = counted();
        world.screened(RiskResult::Approved, None);
        world.does(|case, _, cx| case.release_failed(reason, cx));
        assert_eq!(world.case.deposit.status(), Some(DepositStatus::Failed));
        assert_eq!(failures(&world.told), [name]);
        let escrow = world.books.account(&world.case.deposit.account(DepositBucket::Escrow));
        assert_eq!((escrow.balance().minor, escrow.debits_pending), (MINOR, 0));
    }
}

#[test]
fn a_release_stopped_by_a_halted_token_reports_the_cause() {
    for (halt, words) in [
        (Halt::Paused, "the token's issuer has paused transfers"),
        (Halt::CodeChanged, "the token's issuer has changed its contract's code"),
    ] {
        let mut world = counted();
        world.screened(RiskResult::Approved, None);
        world.does(|case, _, cx| case.release_halted(halt, cx));
        assert_eq!(world.state(), DepositState::Failed);
        let told = world.told.last().expect("the bank is notified");
        let WalletEvent::TransactionFailed { reason, message, .. } = told else {
            panic!("{told:?}")
        };
        assert_eq!((*reason, message.as_str()), (FailureReason::TokenPaused, words));
    }
}

#[test]
fn a_pause_or_changed_code_halts_a_token() {
    let halt = |paused, code_changed| {
        let (chain, coin) = (crate::chain::ChainNumber::FIRST, StableCoin::Usdt);
        TokenState { chain, coin, paused, code_changed, at_block: 9 }.halt()
    };
    assert_eq!([halt(false, false), halt(true, false)], [None, Some(Halt::Paused)]);
    assert_eq!([halt(false, true), halt(true, true)], [Some(Halt::CodeChanged); 2]);
}

#[test]
fn sandbox_cents_04_request_more_than_the_balance() {
    let asked = Asked::Crypto { coin: StableCoin::Usdc, minor: 25_040_000 };
    for (world, spoiled) in [(World::asked(asked).in_sandbox(), true), (World::asked(asked), false)]
    {
        let mut world = world;
        world.seen_in(100);
        world.counted();
        world.screened(RiskResult::Approved, None);
        let intent = &world.case.intents[0];
        assert_eq!(intent.unchecked, spoiled);
        let crate::chain::Plan::Release(movement) = intent.plan else { panic!("a movement") };
        assert_eq!(movement.amount > 25_000_000, spoiled);
        assert_eq!(intent.is_last_try(), spoiled, "an intended failure is attempted once");
    }
}

#[test]
fn the_wallet_is_credited_with_the_arrived_amount() {
    let mut world = World::for_request();
    world.approved();
    let fee = 25_000;
    world.does(|case, _, cx| case.released(TxHash([8; 32]), fee, cx));
    assert_eq!(
        (world.state(), world.holds(DepositBucket::Escrow), world.holds(DepositBucket::Wallet)),
        (DepositState::Completed, 0, MINOR - fee)
    );
    let told = world.told.iter().find_map(|event| match event {
        WalletEvent::TransferComplete { minor, .. } => Some(*minor),
        _ => None,
    });
    assert_eq!((told, world.alerts), (Some(MINOR - fee), 0));
    let outside = world.books.account(&external()).balance().minor;
    assert_eq!(outside, fee - MINOR, "the fee has left the books");
    world.does(|case, _, cx| case.released(TxHash([8; 32]), fee, cx));
    assert_eq!((world.holds(DepositBucket::Wallet), world.alerts), (MINOR - fee, 0), "once");
    let again = TxHash([9; 32]);
    world.does(|case, _, cx| case.released(again, fee, cx));
    assert_eq!(world.case.deposit.release_tx, Some(again), "a reorganisation moved it");
    assert_eq!((world.holds(DepositBucket::Wallet), world.alerts), (MINOR - fee, 0), "once");
}

/// Until it counts, the time of its block is one node's word.
#[test]
fn the_agreed_time_of_its_block_decides_whether_a_payment_is_in_time() {
    let late = monday() + Span::days(30);
    for (said, agreed, in_time) in [(late, monday(), true), (monday(), late, false)] {
        let mut world = World::for_request();
        world.does(|case, _, cx| case.included(place(100), said, cx));
        world.does(|case, _, _| {
            case.paid(agreed);
            WalletEffects::default()
        });
        let request = world.case.request.as_ref().expect("a request");
        assert_eq!(request.confirming, i32::from(in_time));
        world.counted();
        assert_eq!(world.case.deposit.paid_at, agreed);
        let request = world.case.request.as_ref().expect("a request");
        let exception = if in_time { "NONE" } else { "LATE" };
        assert_eq!((request.confirming, request.exception().name()), (0, exception));
    }
}
