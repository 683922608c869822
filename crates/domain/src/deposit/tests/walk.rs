//! Random walks: under any sequence of acts, the books follow the deposit.

use proptest::prelude::*;

use super::*;
use crate::chain_tx::{Ended, RetryPolicy};
use crate::ledger::AccountCode;
use crate::payment_request::Received;
use crate::screening::Screened;
use crate::wallet_event::FailureReason;

#[derive(Clone, Debug)]
enum Act {
    Seen(u64),
    Lost,
    Counted,
    Screened(RiskResult, Option<Hold>),
    Reviewed(ReviewVerdict),
    Block,
    Unblock,
    Blacklist,
    FollowWallet,
    Take,
    Ends(Ended),
    GiveUp,
    Refund,
    RefundEnds(bool),
    Drop,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let risk = prop_oneof![
        4 => Just((RiskResult::Approved, None)),
        1 => Just((RiskResult::ManualReview, None)),
        1 => Just((RiskResult::Rejected, Some(Hold::Refundable))),
        1 => Just((RiskResult::Rejected, Some(Hold::Legal))),
        1 => Just((RiskResult::Blocked, None)),
    ];
    let ended = prop_oneof![
        3 => Just(Ended::Done(TxHash([8; 32]))),
        1 => Just(Ended::Failed),
        1 => Just(Ended::NotTried),
        1 => Just(Ended::Undone),
    ];
    let act = prop_oneof![
        4 => (100_u64..104).prop_map(Act::Seen),
        3 => Just(Act::Lost),
        5 => Just(Act::Counted),
        5 => risk.prop_map(|(result, hold)| Act::Screened(result, hold)),
        2 => proptest::sample::select(ReviewVerdict::ALL.to_vec()).prop_map(Act::Reviewed),
        1 => Just(Act::Block),
        2 => Just(Act::Unblock),
        1 => Just(Act::Blacklist),
        2 => Just(Act::FollowWallet),
        4 => Just(Act::Take),
        4 => ended.prop_map(Act::Ends),
        1 => Just(Act::GiveUp),
        1 => Just(Act::Refund),
        1 => any::<bool>().prop_map(Act::RefundEnds),
        1 => Just(Act::Drop),
    ];
    proptest::collection::vec(act, 1..60)
}

/// Performs one act, if the context allows it.
fn act(world: &mut World, act: Act) {
    let (now, release) = (world.now, world.case.deposit.release);
    match act {
        Act::Seen(number) => world.seen_in(number),
        Act::Lost => {
            if let Some(place) = world.case.deposit.place {
                let spendable = world
                    .books
                    .account(&world.case.deposit.account(DepositBucket::Wallet))
                    .available();
                world.does(|case, _, cx| case.lost(place, 120, spendable, cx));
            }
        }
        Act::Counted => world.counted(),
        Act::Screened(result, hold) => {
            let _refused =
                world.tries(|case, terms, cx| case.screened(assessment(result, hold), terms, cx));
        }
        Act::Reviewed(verdict) => {
            let _refused =
                world.tries(|case, terms, cx| case.reviewed(verdict, "ann", "", terms, cx));
        }
        Act::Block => {
            if world.case.wallet.state == WalletState::Active {
                block_wallet(&mut world.case.wallet);
            }
        }
        Act::Unblock => _ = world.case.wallet.unblock(now),
        Act::Blacklist => world.case.wallet.state = WalletState::Blacklisted,
        Act::FollowWallet => world.does(|case, _, cx| case.wallet_changed(cx)),
        Act::Take => {
            let wanted = world.case.may_release() || world.state() == DepositState::Completed;
            if let Some(intent) =
                world.case.intent(release).filter(|intent| intent.state == IntentState::Waiting)
            {
                if wanted {
                    intent.enter(IntentState::Assigned, now);
                } else {
                    intent.withdraw(now);
                    world.does(|case, terms, cx| case.release_stopped(terms, cx));
                }
            }
        }
        Act::Ends(ended) => ends(world, ended),
        Act::GiveUp => {
            let under_way =
                world.case.intent(release).filter(|intent| intent.state == IntentState::Assigned);
            if let Some(intent) = under_way {
                intent.failed("reverted", RetryPolicy::NoRetry, now);
                world.does(|case, _, cx| case.release_failed(FailureReason::OnChainRevert, cx));
            }
        }
        Act::Refund => {
            let screened =
                Screened { score: 0, evidence: None, list_version: String::new(), stale: false };
            let to = Address([0x55; 20]);
            let _refused =
                world.tries(|case, terms, cx| case.propose_refund(to, screened, "ann", terms, cx));
        }
        Act::RefundEnds(done) if world.state() == DepositState::Refunding => {
            if done {
                world.does(|case, _, cx| case.refunded(TxHash([3; 32]), cx));
            } else {
                world.does(|case, _, cx| case.refund_failed("reverted", cx));
            }
        }
        Act::RefundEnds(_) => {}
        Act::Drop => world.does(|case, _, cx| case.dropped(1_000, cx)),
    }
}

/// Applies the engine's reaction to the end of a release.
fn ends(world: &mut World, ended: Ended) {
    let (now, release) = (world.now, world.case.deposit.release);
    let Some(intent) = world.case.intent(release) else { return };
    match (ended, intent.state) {
        (Ended::Done(tx), IntentState::Assigned) => {
            intent.done(now);
            world.does(|case, _, cx| case.released(tx, 0, cx));
        }
        (Ended::Failed, IntentState::Assigned) => {
            _ = intent.failed("reverted", RetryPolicy::Limited, now)
        }
        (Ended::NotTried, IntentState::Assigned) => _ = intent.not_tried(now),
        (Ended::Undone, IntentState::Done) => _ = intent.undone(now),
        _ => {}
    }
}

proptest! {
    /// I3, I4, I11: transfers balance, no customer account goes negative (the ledger refuses), the
    /// amount is in exactly the deposit's book account, and it is credited, reported and released
    /// once.
    #[test]
    fn the_books_follow_the_deposit(direct in any::<bool>(), sequence in acts()) {
        let mut world = if direct { World::direct() } else { World::for_request() };
        for step in sequence {
            let before = world.case.deposit.clone();
            act(&mut world, step.clone());
            let deposit = &world.case.deposit;
            let pots = [DepositBucket::Escrow, DepositBucket::Suspense, DepositBucket::Wallet];
            let mut codes: Vec<AccountCode> = pots.into_iter().map(|pot| deposit.account(pot)).collect();
            codes.dedup();
            let held: i64 = codes.iter().map(|code| world.books.account(code).balance().minor).sum();
            let expected = if deposit.pot == DepositBucket::Nowhere { 0 } else { MINOR };
            prop_assert_eq!(held, expected, "{:?} after {:?}", deposit.state, step);
            if deposit.pot != DepositBucket::Nowhere {
                prop_assert_eq!(world.holds(deposit.pot), MINOR, "{:?} after {:?}", deposit.state, step);
            }
            prop_assert_eq!(world.books.accounts().map(|it| it.balance().minor).sum::<i64>(), 0);
            let reserved: i64 = world.books.accounts().map(|it| it.debits_pending).sum();
            let approved = deposit.state == DepositState::Approved && deposit.request.is_some();
            prop_assert_eq!(reserved, if approved { MINOR } else { 0 }, "{:?} after {:?}", deposit.state, step);
            prop_assert_eq!(deposit.hold.is_some(), approved);
            prop_assert!(deposit.version > before.version || *deposit == before, "a change without a version");
            let once = [WalletEventKind::PaymentReceived, WalletEventKind::TransferComplete];
            for kind in once {
                prop_assert!(world.kinds().iter().filter(|told| **told == kind).count() <= 1, "{:?}", kind);
            }
            if let Some(request) = &world.case.request {
                let refused = Received { usdc: if deposit.is_refused() && deposit.counts() { MINOR } else { 0 }, usdt: 0 };
                prop_assert_eq!(request.refused, refused, "{:?} after {:?}", deposit.state, step);
            }
            let live = world.case.intents.iter().filter(|it| {
                it.kind() == crate::chain::IntentKind::Release
                    && !matches!(it.state, IntentState::Failed | IntentState::Cancelled)
            });
            prop_assert!(live.count() <= 1, "two releases of one deposit");
        }
    }
}
