//! Outcomes of deposits that count.

use std::sync::atomic::Ordering;

use domain::chain::{Address, ChainNumber};
use domain::deposit::DepositState;
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::ports::Clock as _;
use domain::risk::{Hold, ReasonCode, RiskResult};
use domain::time::Span;
use domain::wallet::{TriggeredBy, WalletState};
use domain::wallet_event::{FailureReason, WalletEvent, WalletEventKind};
use domain::wallet_policy::{VelocityLimit, WalletPolicy};
use engine::command::deposits::{DepositAction, DepositRef};
use engine::command::{Action, Command, Outcome, Refused};

use crate::outside::LISTED;
use crate::world::{COIN, Setup, TENANT, USDC, World, with};

const PAYER: Address = Address([0xaa; 20]);

async fn screened(
    world: &World,
    first: &str,
    last: &str,
    from: Address,
    minor: i64,
) -> domain::deposit::Deposit {
    let wallet = match world
        .store
        .wallet_of_customer(TENANT, "C-1", ChainNumber::FIRST)
        .await
        .expect("readable")
    {
        Some(wallet) => wallet,
        None => world.wallet().await,
    };
    let request = world.request(&wallet, minor).await;
    let deposit = world.pay_by(&request, first, last, from, minor).await;
    world.work().await;
    world.deposit_now(deposit.id).await
}

fn told(
    deposit: &domain::deposit::Deposit,
) -> (DepositState, Option<(RiskResult, ReasonCode, Option<Hold>)>) {
    (deposit.state, deposit.assessment.as_ref().map(|it| (it.result, it.reason, it.hold)))
}

#[test]
fn a_clean_deposit_is_approved_with_events_in_order() {
    with(Setup::default(), async |world| {
        let deposit = screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN).await;
        let approved = Some((RiskResult::Approved, ReasonCode::ChecksPassed, None));
        assert_eq!(told(&deposit), (DepositState::Approved, approved));
        let assessment = deposit.assessment.as_ref().expect("assessed");
        assert_eq!((&*assessment.list_version, &*assessment.policy_version), ("lists-1", "1"));
        assert_eq!(world.bank.kinds(), ["payment-received", "risk-check-complete"]);
        let events = world.events().await;
        let versions: Vec<i64> = events.iter().map(|entry| entry.version).collect();
        assert_eq!(versions, [1, 2], "of the request, without gaps");
        let WalletEvent::PaymentReceived { minor, confirmations, sender, from, .. } =
            &events[0].event
        else {
            panic!("{events:?}")
        };
        assert_eq!((*minor, *confirmations, *from), (25 * COIN, 3, PAYER));
        assert_eq!(sender.first_name.as_deref(), Some("Ayesha"));
        // The release is reserved: the escrow cannot spend it twice.
        let request = deposit.request.expect("paid to a request");
        let escrow = AccountCode::Escrow(request, USDC);
        let books = world.store.accounts(TENANT).await.expect("readable");
        let books = books.into_iter().find(|account| account.code == escrow).expect("there");
        assert_eq!((books.balance().minor, books.available().minor), (25 * COIN, 0));
    });
}

#[test]
fn a_listed_name_or_address_is_rejected_and_reported_as_compliance_rejected() {
    with(Setup::default(), async |world| {
        let by_name = screened(&world, "Edgar", "Evil", PAYER, 25 * COIN).await;
        let expected = Some((RiskResult::Rejected, ReasonCode::SanctionedName, Some(Hold::Legal)));
        assert_eq!(told(&by_name), (DepositState::LegalHold, expected));
        let by_address = screened(&world, "Ayesha", "Khan", LISTED, 26 * COIN).await;
        let expected =
            Some((RiskResult::Rejected, ReasonCode::SanctionedAddress, Some(Hold::Legal)));
        assert_eq!(told(&by_address), (DepositState::LegalHold, expected));
        assert_eq!(
            world.bank.kinds(),
            ["payment-received", "risk-check-complete", "transaction-failed"].repeat(2)
        );
        let failures = world.events().await.into_iter().filter_map(|entry| match entry.event {
            WalletEvent::TransactionFailed { reason, .. } => Some(reason),
            _ => None,
        });
        assert_eq!(failures.collect::<Vec<_>>(), [FailureReason::ComplianceRejected; 2]);
    });
}

#[test]
fn a_payer_on_a_tokens_blacklist_is_rejected() {
    with(Setup::default(), async |world| {
        world.chain.blacklisted.lock().expect("not poisoned").insert(PAYER);
        let deposit = screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN).await;
        let expected = Some((RiskResult::Rejected, ReasonCode::FlaggedAddress, Some(Hold::Legal)));
        assert_eq!(told(&deposit), (DepositState::LegalHold, expected));
    });
}

#[test]
fn a_near_name_and_outdated_lists_go_to_review() {
    with(Setup::default(), async |world| {
        let near = screened(&world, "Edgar", "Evin", PAYER, 25 * COIN).await;
        let expected = Some((RiskResult::ManualReview, ReasonCode::PossibleMatch, None));
        assert_eq!(told(&near), (DepositState::InReview, expected));
        world.lists.stale.store(true, Ordering::SeqCst);
        let stale = screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN).await;
        let expected = Some((RiskResult::ManualReview, ReasonCode::ListsOutdated, None));
        assert_eq!(told(&stale), (DepositState::InReview, expected));
    });
}

#[test]
fn nothing_is_decided_while_the_chain_is_unreachable() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        world.chain.silent.store(true, Ordering::SeqCst);
        let deposit = world.pay(&request, 25 * COIN).await;
        world.later(Span::mins(5)).await;
        assert_eq!(told(&world.deposit_now(deposit.id).await), (DepositState::Screening, None));
        world.chain.silent.store(false, Ordering::SeqCst);
        world.later(Span::mins(5)).await;
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Approved);
    });
}

#[test]
fn a_deposit_that_could_not_be_screened_is_retried_long_before_its_lease_ends() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        world.chain.silent.store(true, Ordering::SeqCst);
        let deposit = world.pay(&request, 25 * COIN).await;
        let next = async || {
            world.store.next_job_at(&[JobKind::Screen]).await.expect("readable").expect("waits")
        };
        for (tries, delay) in [2, 4, 8, 16, 32, 60, 60].into_iter().enumerate() {
            world.work().await;
            let left = next().await - world.clock.now();
            assert!(
                left > Span::secs(delay - 1) && left <= Span::secs(delay),
                "retry {tries}: {left:?}"
            );
            world.clock.pass(left);
        }
        world.chain.silent.store(false, Ordering::SeqCst);
        world.work().await;
        assert_eq!(world.deposit_now(deposit.id).await.state, DepositState::Approved);
    });
}

#[test]
fn only_the_holder_of_a_screening_job_puts_it_off_and_only_while_it_waits_for_that() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let deposit = world.pay(&request, 25 * COIN).await;
        let (now, lease) = (world.clock.now(), Span::mins(1));
        let lease = async || {
            world.store.lease_jobs(&[JobKind::Screen], "slow", lease, 9).await.expect("leased")
        };
        let stale = lease().await.remove(0);
        world.clock.pass(Span::mins(2));
        let held = lease().await.remove(0);
        let put_off = async |fence, hours| {
            let action = DepositAction::PutOff { fence, until: now + Span::hours(hours) };
            let action = Action::Deposit(DepositRef::of(&deposit, None), action);
            world.engine.execute(Command { tenant: TENANT, action }).await.expect("answered")
        };
        let next = async || world.store.next_job_at(&[JobKind::Screen]).await.expect("readable");
        let fenced = Refused::Fenced { held: stale.fence, current: held.fence };
        assert!(
            matches!(put_off(stale.fence, 1).await, Outcome::Refused(refused) if refused == fenced)
        );
        assert!(matches!(put_off(held.fence, 1).await, Outcome::Deposit(_)));
        assert_eq!(next().await, Some(now + Span::hours(1)));
        // The lease has ended with that: the job stays as it is.
        assert!(matches!(put_off(held.fence, 2).await, Outcome::Deposit(_)));
        assert_eq!(next().await, Some(now + Span::hours(1)));
    });
}

#[test]
fn velocity_counts_what_the_wallet_received_before() {
    let velocity = Some(VelocityLimit { count: 2, minor: 1_000 * COIN });
    let policy = WalletPolicy { velocity, ..WalletPolicy::default() };
    with(Setup { policy, ..Setup::default() }, async |world| {
        for _ in 0..2 {
            let deposit = screened(&world, "Ayesha", "Khan", PAYER, COIN).await;
            assert_eq!(deposit.state, DepositState::Approved);
        }
        let third = screened(&world, "Ayesha", "Khan", PAYER, COIN).await;
        let expected = Some((RiskResult::ManualReview, ReasonCode::VelocityExceeded, None));
        assert_eq!(told(&third), (DepositState::InReview, expected));
        world.later(Span::hours(25)).await;
        let next_day = screened(&world, "Ayesha", "Khan", PAYER, COIN).await;
        assert_eq!(next_day.state, DepositState::Approved);
    });
}

#[test]
fn repeated_rejections_block_the_wallet_automatically() {
    let policy = WalletPolicy { block_after_rejections: Some(2), ..WalletPolicy::default() };
    with(Setup { policy, ..Setup::default() }, async |world| {
        screened(&world, "Ayesha", "Khan", LISTED, COIN).await;
        let second = screened(&world, "Ayesha", "Khan", LISTED, COIN).await;
        let expected =
            Some((RiskResult::Blocked, ReasonCode::RepeatedRejections, Some(Hold::Legal)));
        assert_eq!(told(&second), (DepositState::LegalHold, expected));
        let wallet = world.wallet_now(second.wallet).await;
        let by = wallet.block.as_ref().map(|block| block.triggered_by);
        assert_eq!((wallet.state, by), (WalletState::Blocked, Some(TriggeredBy::Automatic)));
        assert!(world.bank.kinds().contains(&"wallet-blocked".to_owned()));
    });
}

#[test]
fn sandbox_cents_decide_and_blocked_goes_to_review_after_unblock() {
    with(Setup { sandbox: true, ..Setup::default() }, async |world| {
        for (cents, state) in [
            (0, DepositState::Approved),
            (1, DepositState::Rejected),
            (2, DepositState::InReview),
            (4, DepositState::Approved),
            (8, DepositState::Approved),
        ] {
            let deposit =
                screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN + cents * COIN / 100).await;
            assert_eq!(deposit.state, state, "{cents}");
        }
        let deposit = screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN + 3 * COIN / 100).await;
        let expected = Some((RiskResult::Blocked, ReasonCode::SandboxValue, None));
        assert_eq!(told(&deposit), (DepositState::Held, expected));
        assert_eq!(world.wallet_now(deposit.wallet).await.state, WalletState::Blocked);
        world
            .wallets
            .unblock(&world.caller(), deposit.wallet, None, "test", None)
            .await
            .expect("blocked");
        world.later(Span::secs(1)).await;
        let expected = Some((RiskResult::ManualReview, ReasonCode::BlockedBefore, None));
        assert_eq!(told(&world.deposit_now(deposit.id).await), (DepositState::InReview, expected));
    });
}

#[test]
fn sandbox_values_never_override_a_list_hit_and_have_no_effect_in_production() {
    with(Setup { sandbox: true, ..Setup::default() }, async |world| {
        let deposit = screened(&world, "Edgar", "Evil", PAYER, 25 * COIN).await;
        assert_eq!(deposit.state, DepositState::LegalHold);
    });
    with(Setup::default(), async |world| {
        let deposit = screened(&world, "Ayesha", "Khan", PAYER, 25 * COIN + COIN / 100).await;
        assert_eq!(deposit.state, DepositState::Approved);
    });
}

#[test]
fn partial_payments_are_screened_individually() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 10 * COIN).await;
        let good = world.pay(&request, 4 * COIN).await;
        let bad = world.pay_by(&request, "Edgar", "Evil", PAYER, 6 * COIN).await;
        world.work().await;
        let states =
            (world.deposit_now(good.id).await.state, world.deposit_now(bad.id).await.state);
        assert_eq!(states, (DepositState::Approved, DepositState::LegalHold));
        let received = world
            .kinds()
            .await
            .into_iter()
            .filter(|kind| *kind == WalletEventKind::PaymentReceived)
            .count();
        assert_eq!(received, 2);
    });
}
