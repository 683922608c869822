//! Reviewers' decisions about deposits that screening held.

use std::sync::atomic::Ordering;

use domain::audit::AuditContext;
use domain::chain::{Address, BlockHash, ChainNumber, IntentKind, Plan};
use domain::chain_tx::{BlockRef, IntentState, Mined};
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositRefusal, DepositState, ReviewVerdict, hold};
use domain::ids::{DepositId, WalletId};
use domain::payment_request::PaymentRequest;
use domain::risk::{Hold, ReasonCode, RiskResult};
use domain::time::{Span, Timestamp};
use domain::wallet::{TriggeredBy, Wallet, WalletState};
use domain::wallet_effects::AlertKind;
use domain::wallet_event::{WalletEvent, WalletEventKind};
use engine::command::chain::{ChainAction, TxKey};
use engine::command::deposits::{DepositAction, DepositRef, EscrowSeen};
use engine::command::{Action, Command, Outcome, Refused};
use engine::wallets::{Denied, Page, ReviewAsked};
use uuid::Uuid;

use crate::outside::{LISTED, NEAR};
use crate::world::{COIN, OTHER, Setup, TENANT, World, token, with};

async fn in_review(world: &World) -> Deposit {
    let wallet =
        match world.store.wallet_of_customer(crate::world::TENANT, "C-1", ChainNumber::FIRST).await
        {
            Ok(Some(wallet)) => wallet,
            _ => world.wallet().await,
        };
    world.clock.pass(Span::secs(1));
    let request = world.request(&wallet, COIN).await;
    let deposit = world.pay_by(&request, "Edgar", "Evin", Address([1; 20]), COIN).await;
    world.work().await;
    let deposit = world.deposit_now(deposit.id).await;
    assert_eq!(deposit.state, DepositState::InReview);
    deposit
}

fn asked(deposit: DepositId, verdict: ReviewVerdict) -> ReviewAsked {
    ReviewAsked {
        deposit,
        seen: None,
        verdict,
        by: AuditContext::from("officer-1").because("reviewed"),
    }
}

async fn decide(world: &World, deposit: &Deposit, verdict: ReviewVerdict) -> Deposit {
    let made = world.wallets.decide_review(&world.caller(), asked(deposit.id, verdict), None).await;
    made.expect("may be decided").made
}

#[test]
fn reviews_are_listed_longest_waiting_first_per_tenant() {
    with(Setup::default(), async |world| {
        let (one, two) = (in_review(&world).await, in_review(&world).await);
        let page = Page { page: 0, limit: 1 };
        let listed = world.wallets.reviews(&world.caller(), page).await.expect("readable");
        assert_eq!((listed.total, listed.rows[0].id), (2, one.id));
        let second = world
            .wallets
            .reviews(&world.caller(), Page { page: 1, limit: 1 })
            .await
            .expect("readable");
        assert_eq!(second.rows[0].id, two.id);
        assert_eq!(
            world.wallets.reviews(&world.caller_of(OTHER), page).await.expect("readable").total,
            0
        );
        for (caller, id) in [
            (world.caller_of(OTHER), one.id),
            (world.caller(), DepositId(Uuid::from_u128(0x4000_8000_0000_0000_ffff))),
        ] {
            let foreign =
                world.wallets.decide_review(&caller, asked(id, ReviewVerdict::Approve), None).await;
            assert!(matches!(foreign, Err(Denied::NotFound("transaction_id"))));
        }
    });
}

#[test]
fn an_approval_counts_for_the_matches_that_were_shown() {
    for (score, evidence) in [
        (90, "TEST 1 EVIL, Edgar (90); TEST 2 EVIN, Edgar (86)"),
        (100, "TEST 2 EVIN, Edgar (100); TEST 1 EVIL, Edgar (90)"),
    ] {
        with(Setup::default(), async |world| {
            let deposit = in_review(&world).await;
            *world.lists.later.lock().expect("not poisoned") = Some((score, evidence));
            world.clock.pass(Span::secs(1));
            let approve = async || {
                let asked = asked(deposit.id, ReviewVerdict::Approve);
                world.wallets.decide_review(&world.caller(), asked, None).await
            };
            let is = |why: DepositRefusal, refused: &Result<_, Denied>| matches!(refused, Err(Denied::Refused(Refused::Deposit(found))) if *found == why);
            let listed = score == 100;
            let first = approve().await.map(|_| ());
            let why = if listed { DepositRefusal::Listed } else { DepositRefusal::OtherMatch };
            assert!(is(why, &first), "{first:?}");
            let held = world.deposit_now(deposit.id).await;
            let lines = &held.assessment.as_ref().expect("assessed").evidence;
            assert!(lines.iter().any(|line| line.ends_with(evidence)), "{lines:?}");
            assert_eq!(held.state, DepositState::InReview);
            assert!(held.state_at > deposit.state_at, "who looked before has not seen it");
            let again = approve().await.map(|_| ());
            if listed {
                assert!(is(DepositRefusal::Listed, &again), "{again:?}");
                assert_eq!(world.deposit_now(deposit.id).await, held, "recorded once");
                decide(&world, &held, ReviewVerdict::LegalHold).await;
            } else {
                assert!(again.is_ok(), "{again:?}");
            }
        });
    }
}

#[test]
fn each_verdict_has_its_effect_and_records_the_reviewer() {
    for (verdict, state, result, hold) in [
        (ReviewVerdict::Approve, DepositState::Approved, RiskResult::Approved, None),
        (
            ReviewVerdict::Reject,
            DepositState::Rejected,
            RiskResult::Rejected,
            Some(Hold::Refundable),
        ),
        (
            ReviewVerdict::LegalHold,
            DepositState::LegalHold,
            RiskResult::Rejected,
            Some(Hold::Legal),
        ),
        (ReviewVerdict::Block, DepositState::Rejected, RiskResult::Blocked, Some(Hold::Refundable)),
    ] {
        with(Setup::default(), async |world| {
            let deposit = in_review(&world).await;
            let decided = decide(&world, &deposit, verdict).await;
            let assessment = decided.assessment.as_ref().expect("assessed");
            assert_eq!(
                (decided.state, assessment.result, assessment.hold),
                (state, result, hold),
                "{verdict:?}"
            );
            assert_eq!(assessment.decided_by.as_deref(), Some("officer-1"));
            let decision = decided.decision.as_ref().map(|it| (it.verdict, &*it.by, &*it.note));
            assert_eq!(decision, Some((verdict, "officer-1", "reviewed")));
            let results: Vec<RiskResult> = world
                .events()
                .await
                .iter()
                .filter_map(|entry| match &entry.event {
                    WalletEvent::RiskCheckComplete { result, .. } => Some(*result),
                    _ => None,
                })
                .collect();
            assert_eq!(results, [RiskResult::ManualReview, result]);
            let wallet = world.wallet_now(deposit.wallet).await;
            if verdict == ReviewVerdict::Block {
                let by = wallet.block.as_ref().map(|block| block.triggered_by);
                assert_eq!((wallet.state, by), (WalletState::Blocked, Some(TriggeredBy::Manual)));
            } else {
                assert_eq!(wallet.state, WalletState::Active);
            }
        });
    }
}

/// Waiting calls that put an escrow on hold.
async fn holds(world: &World, wallet: WalletId) -> Vec<Plan> {
    let open = world.store.open_intents(TENANT, wallet).await.expect("readable");
    open.into_iter()
        .filter(|intent| intent.kind() == IntentKind::SetLegalHold)
        .map(|intent| intent.plan)
        .collect()
}

/// Two payments to one request, both held for review.
async fn two_to_one_escrow(world: &World) -> (Wallet, PaymentRequest, [Deposit; 2]) {
    let wallet = world.wallet().await;
    world.clock.pass(Span::secs(1));
    let request = world.request(&wallet, 3 * COIN).await;
    let pay = async || world.pay_unnamed(&request, NEAR, COIN).await;
    let deposits = [pay().await, pay().await];
    (wallet, request, deposits)
}

#[test]
fn a_legal_hold_queues_one_call_and_holds_everything_in_the_escrow() {
    with(Setup::default(), async |world| {
        let (wallet, request, [first, second]) = two_to_one_escrow(&world).await;
        let good = world.pay_unnamed(&request, Address([1; 20]), COIN).await;
        world.work().await;
        let releasing = world.deposit_now(good.id).await;
        assert_eq!(releasing.state, DepositState::Approved);

        decide(&world, &first, ReviewVerdict::LegalHold).await;
        world.later(Span::secs(60)).await;
        let held = world.deposit_now(first.id).await;
        let told =
            Plan::SetLegalHold { vault: request.escrow, held: true, case: hold::case_of(first.id) };
        assert_eq!(
            (held.state, holds(&world, wallet.id).await),
            (DepositState::LegalHold, vec![told])
        );
        // Other deposits in the escrow stay: no approval, no refund.
        let caller = world.caller();
        let approved = world
            .wallets
            .decide_review(&caller, asked(second.id, ReviewVerdict::Approve), None)
            .await;
        assert!(matches!(
            approved,
            Err(Denied::Refused(Refused::Deposit(DepositRefusal::EscrowHeld)))
        ));
        decide(&world, &second, ReviewVerdict::Reject).await;
        let back =
            world.wallets.propose_refund(&caller, second.id, Address([3; 20]), "officer-1").await;
        assert!(matches!(back, Err(Denied::Refused(Refused::Deposit(DepositRefusal::EscrowHeld)))));
        let late = world.pay_unnamed(&request, Address([1; 20]), COIN).await;
        world.work().await;
        let late = world.deposit_now(late.id).await;
        let reason = late.assessment.as_ref().map(|assessment| assessment.reason);
        assert_eq!((late.state, reason), (DepositState::InReview, Some(ReasonCode::EscrowHeld)));
        assert_eq!(holds(&world, wallet.id).await.len(), 1, "queued once");
    });
}

#[test]
fn a_refund_that_waits_when_its_escrow_goes_on_hold_is_not_sent() {
    with(Setup::default(), async |world| {
        let (wallet, _, [first, second]) = two_to_one_escrow(&world).await;
        world.work().await;
        decide(&world, &second, ReviewVerdict::Reject).await;
        let proposed = world
            .wallets
            .propose_refund(&world.caller(), second.id, Address([3; 20]), "officer-1")
            .await;
        assert_eq!(proposed.expect("may be").made.state, DepositState::Refunding);
        decide(&world, &first, ReviewVerdict::LegalHold).await;
        world.chain.works.store(true, Ordering::SeqCst);
        world.later(Span::secs(60)).await;
        let kept = world.deposit_now(second.id).await;
        assert_eq!((kept.state, kept.refund), (DepositState::Rejected, None));
        let open = world.store.open_intents(TENANT, wallet.id).await.expect("readable");
        assert!(open.iter().all(|intent| intent.kind() == IntentKind::SetLegalHold), "{open:?}");
        let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
        assert!(
            alerts
                .iter()
                .any(|(_, alert)| alert.what == "a refund failed: its escrow is on legal hold")
        );
    });
}

#[test]
fn a_hold_without_a_compliance_key_is_retried_and_an_operator_alerted() {
    with(Setup::default(), async |world| {
        let held = in_review(&world).await;
        world.keys.no_compliance.store(true, Ordering::SeqCst);
        decide(&world, &held, ReviewVerdict::LegalHold).await;
        for _ in 0..3 {
            world.later(Span::mins(10)).await;
        }
        assert_eq!(holds(&world, held.wallet).await.len(), 1, "still queued");
        let alerts = world.store.alerts(TENANT, 10).await.expect("readable");
        let told: Vec<_> =
            alerts.iter().map(|(_, alert)| (alert.kind, alert.subject, &*alert.what)).collect();
        let what = "set_legal_hold failed, will retry: no compliance key is configured";
        assert_eq!(told, [(AlertKind::Transaction, held.id.0, what)]);
        // The alert was acknowledged: further attempts do not raise it again.
        let alert = alerts.into_iter().next().expect("the alert").1;
        world
            .store
            .close_alert(TENANT, &alert, AuditContext::from("ops").because("the key is on its way"))
            .await
            .expect("open");
        for _ in 0..7 {
            world.later(Span::mins(10)).await;
        }
        assert_eq!(world.store.alerts(TENANT, 10).await.expect("readable"), []);
        assert_eq!(holds(&world, held.wallet).await.len(), 1, "still queued");
    });
}

async fn lift(
    world: &World,
    deposit: &Deposit,
    seen: Option<Timestamp>,
) -> Result<Deposit, Denied> {
    let by = AuditContext::from("officer-1")
        .together_with("officer-2")
        .because("a different person with the same name");
    world
        .wallets
        .lift_hold(&world.caller(), deposit.id, seen, by, None)
        .await
        .map(|reply| reply.made)
}

#[test]
fn lifting_the_last_hold_queues_one_call_and_cancels_the_earlier_one() {
    with(Setup::default(), async |world| {
        let (wallet, request, [first, second]) = two_to_one_escrow(&world).await;
        world.work().await;
        for deposit in [&first, &second] {
            decide(&world, deposit, ReviewVerdict::LegalHold).await;
        }
        let on =
            |id| Plan::SetLegalHold { vault: request.escrow, held: true, case: hold::case_of(id) };
        assert_eq!(holds(&world, wallet.id).await.len(), 2);
        let lifted = lift(&world, &first, None).await.expect("on hold");
        assert_eq!((lifted.state, lifted.legal_hold), (DepositState::Rejected, None));
        assert_eq!(holds(&world, wallet.id).await.len(), 2, "still held by the other one");
        let kept = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_eq!((kept.held_at.is_some(), kept.lift), (true, None));
        let back = world
            .wallets
            .propose_refund(&world.caller(), first.id, Address([3; 20]), "officer-1")
            .await;
        assert!(matches!(back, Err(Denied::Refused(Refused::Deposit(DepositRefusal::EscrowHeld)))));

        lift(&world, &second, None).await.expect("on hold");
        let kept = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert!(kept.held_at.is_some() && kept.lift.is_some(), "until it took effect on the chain");
        world.chain.works.store(true, Ordering::SeqCst);
        world.later(Span::secs(60)).await;
        let off = Plan::SetLegalHold {
            vault: request.escrow,
            held: false,
            case: hold::case_of(second.id),
        };
        assert_eq!(holds(&world, wallet.id).await, [off], "the earlier call is cancelled");

        // Held again before that took effect: the latest decision applies.
        decide(&world, &first, ReviewVerdict::LegalHold).await;
        let kept = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_eq!((kept.held_at.is_some(), kept.lift), (true, None));
        assert!(holds(&world, wallet.id).await.contains(&on(first.id)));
    });
}

#[test]
fn a_hold_is_lifted_once_and_as_reviewed() {
    with(Setup::default(), async |world| {
        let held = in_review(&world).await;
        let early = lift(&world, &held, None).await;
        let not_held = DepositState::InReview.refused();
        assert!(matches!(early, Err(Denied::Refused(Refused::Deposit(why))) if why == not_held));
        world.clock.pass(Span::secs(1));
        let held = decide(&world, &held, ReviewVerdict::LegalHold).await;
        let before = lift(&world, &held, Some(held.state_at - Span::secs(1))).await;
        assert!(matches!(before, Err(Denied::Refused(Refused::NotAsSeen))), "{before:?}");
        lift(&world, &held, Some(held.state_at)).await.expect("as it is");
        let again = lift(&world, &held, None).await;
        let lifted = DepositState::Rejected.refused();
        assert!(matches!(again, Err(Denied::Refused(Refused::Deposit(why))) if why == lifted));
        assert_eq!(world.deposit_now(held.id).await.status().map(|it| it.name()), Some("REJECTED"));
        let kinds = world.kinds().await;
        let told = kinds.iter().filter(|kind| **kind == WalletEventKind::TransactionFailed).count();
        assert_eq!(told, 1, "it was rejected before: no event");
    });
}

#[test]
fn a_lift_counts_holds_again_after_a_new_one() {
    with(Setup::default(), async |world| {
        let (_, request, [first, second]) = two_to_one_escrow(&world).await;
        world.work().await;
        let first = decide(&world, &first, ReviewVerdict::LegalHold).await;
        let version = world
            .store
            .request(TENANT, request.id)
            .await
            .expect("readable")
            .expect("there")
            .version;
        decide(&world, &second, ReviewVerdict::LegalHold).await;
        let escrow = EscrowSeen { version: Some(version), others_hold: false };
        let by = Box::new(AuditContext::from("officer-1").because("alone in there"));
        let action = DepositAction::LiftHold { seen: None, escrow, by, idempotency: None };
        let action = Action::Deposit(DepositRef::of(&first, None), action);
        let told = world.engine.execute(Command { tenant: TENANT, action }).await.expect("decided");
        assert!(matches!(told, Outcome::Refused(Refused::Moved)), "{told:?}");
        assert_eq!(world.deposit_now(first.id).await.state, DepositState::LegalHold);
    });
}

#[test]
fn a_decision_is_made_once() {
    with(Setup::default(), async |world| {
        let deposit = in_review(&world).await;
        decide(&world, &deposit, ReviewVerdict::Approve).await;
        let again = world
            .wallets
            .decide_review(&world.caller(), asked(deposit.id, ReviewVerdict::Reject), None)
            .await;
        let refused = DepositState::Approved.refused();
        assert!(matches!(again, Err(Denied::Refused(Refused::Deposit(why))) if why == refused));
    });
}

#[test]
fn nothing_is_approved_for_a_frozen_wallet() {
    with(Setup::default(), async |world| {
        let (first, second) = (in_review(&world).await, in_review(&world).await);
        decide(&world, &first, ReviewVerdict::Block).await;
        world.work().await;
        let refused = world
            .wallets
            .decide_review(&world.caller(), asked(second.id, ReviewVerdict::Approve), None)
            .await;
        let frozen = DepositRefusal::Frozen(WalletState::Blocked);
        assert!(matches!(refused, Err(Denied::Refused(Refused::Deposit(why))) if why == frozen));
    });
}

#[test]
fn only_refundable_deposits_are_refunded_and_never_to_a_listed_address() {
    with(Setup::default(), async |world| {
        let held = in_review(&world).await;
        decide(&world, &held, ReviewVerdict::LegalHold).await;
        let caller = world.caller();
        let refused =
            world.wallets.propose_refund(&caller, held.id, Address([3; 20]), "officer-1").await;
        assert!(matches!(
            refused,
            Err(Denied::Refused(Refused::Deposit(DepositRefusal::State { .. })))
        ));

        let rejected = in_review(&world).await;
        decide(&world, &rejected, ReviewVerdict::Reject).await;
        let listed = world.wallets.propose_refund(&caller, rejected.id, LISTED, "officer-1").await;
        assert!(matches!(
            listed,
            Err(Denied::Refused(Refused::Deposit(DepositRefusal::AddressRefused)))
        ));
        let proposed =
            world.wallets.propose_refund(&caller, rejected.id, Address([3; 20]), "officer-1").await;
        assert_eq!(proposed.expect("refundable").made.state, DepositState::Refunding);
        let kinds = world.kinds().await;
        assert_eq!(
            kinds.iter().filter(|kind| **kind == WalletEventKind::TransactionFailed).count(),
            2
        );
    });
}

/// Also for an address that an operator enters: nothing could be returned from there.
#[test]
fn a_refund_goes_to_no_token_precompile_or_vault() {
    with(Setup::default(), async |world| {
        let (caller, refused) = (world.caller(), |answer: &Result<_, Denied>| {
            matches!(answer, Err(Denied::Refused(Refused::Deposit(DepositRefusal::AddressRefused))))
        });
        let deposit = in_review(&world).await;
        decide(&world, &deposit, ReviewVerdict::Reject).await;
        let wallet = world.wallet_now(deposit.wallet).await;
        let another = world.request(&wallet, COIN).await;
        let mut precompile = [0; 20];
        precompile[19] = 1;
        for to in [
            token(StableCoin::Usdc),
            Address(precompile),
            another.escrow,
            wallet.controller,
            wallet.implementation,
        ] {
            let told = world.wallets.propose_refund(&caller, deposit.id, to, "officer-1").await;
            assert!(refused(&told.map(drop)), "{to}");
        }
        let to = Address([3; 20]);
        let told = world.wallets.propose_refund(&caller, deposit.id, to, "officer-1").await;
        assert_eq!(told.expect("refundable").made.state, DepositState::Refunding);
    });
}

#[test]
fn a_payer_that_a_token_blacklisted_since_the_screening_is_not_approved() {
    with(Setup::default(), async |world| {
        let deposit = in_review(&world).await;
        let approve = async || {
            let asked = asked(deposit.id, ReviewVerdict::Approve);
            world.wallets.decide_review(&world.caller(), asked, None).await.map(drop)
        };
        world.chain.silent.store(true, Ordering::SeqCst);
        let unseen = approve().await;
        assert!(matches!(unseen, Err(Denied::Chain(_))), "{unseen:?}");
        assert!(engine::console::Denied::Wallets(unseen.expect_err("refused")).is_passing());
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::InReview);
        world.chain.silent.store(false, Ordering::SeqCst);
        let other = in_review(&world).await;
        world.chain.silent.store(true, Ordering::SeqCst);
        let by_lists = asked(other.id, ReviewVerdict::Approve);
        let by_lists = world.wallets.decide_review_without_node(&world.caller(), by_lists).await;
        assert_eq!(by_lists.expect("commands ask no node").made.state, DepositState::Approved);
        world.chain.silent.store(false, Ordering::SeqCst);
        world.chain.blacklisted.lock().expect("not poisoned").insert(deposit.from);
        let mut recorded = Vec::new();
        for _ in 0..2 {
            let refused = approve().await;
            let listed = Denied::Refused(Refused::Deposit(DepositRefusal::Listed));
            assert!(
                matches!(&refused, Err(denied) if denied.to_string() == listed.to_string()),
                "{refused:?}"
            );
            let held = world.deposit_now(deposit.id).await;
            assert_eq!(held.state, DepositState::InReview);
            recorded.push(held.assessment.expect("assessed").evidence);
        }
        assert!(recorded[0].iter().any(|line| line.contains("blacklist of the")), "{recorded:?}");
        assert_eq!(recorded[0], recorded[1], "recorded once");
    });
}

#[test]
fn a_release_refused_because_of_a_hold_goes_to_review_and_has_not_failed() {
    with(Setup { sandbox: true, ..Setup::default() }, async |world| {
        world.keys.signs.store(true, Ordering::SeqCst);
        world.chain.works.store(true, Ordering::SeqCst);
        let wallet = world.wallet().await;
        world.clock.pass(Span::secs(1));
        // By its cents: the first attempt at its release is the last one.
        let minor = 25 * COIN + 40_000;
        let request = world.request(&wallet, minor).await;
        let releasing = world.pay_unnamed(&request, Address([1; 20]), minor).await;
        world.work().await;
        let release = world.deposit_now(releasing.id).await.release.expect("approved");
        let intents = world.store.intents(TENANT, &[release]).await.expect("readable");
        let tx = world
            .store
            .chain_tx(TENANT, intents[0].tx.expect("sent"))
            .await
            .expect("readable")
            .expect("there");
        assert!(intents[0].is_last_try() && !tx.attempts.is_empty(), "{tx:?}");
        let evil = world.pay_unnamed(&request, LISTED, COIN).await;
        world.work().await;
        assert_eq!(world.deposit_now(evil.id).await.state, DepositState::LegalHold);
        let mined = Mined {
            place: BlockRef { number: 9, block: BlockHash([9; 32]) },
            attempt: 1,
            succeeded: true,
            failed: vec![release],
        };
        for over in [false, true] {
            let (tx, mined, refusals) =
                (TxKey::of(&tx, &intents), Box::new(mined.clone()), Vec::new());
            let action = Action::Chain(ChainAction::Mined {
                tx,
                mined,
                over,
                refusals,
                fees: Vec::new(),
                executed: Vec::new(),
            });
            let told =
                world.engine.execute(Command { tenant: TENANT, action }).await.expect("decided");
            assert!(matches!(told, Outcome::Done), "{told:?}");
        }
        let kept = world.deposit_now(releasing.id).await;
        assert_eq!((kept.state, kept.failure), (DepositState::InReview, None));
        let intents = world.store.intents(TENANT, &[release]).await.expect("readable");
        assert_eq!(intents[0].state, IntentState::Cancelled);
    });
}
