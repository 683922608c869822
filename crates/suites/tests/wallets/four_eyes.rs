//! What two users agree on applies to the state that they reviewed, once, even if a node crashes.

use domain::approval::{Approval, ApprovalState, ProposedAction};
use domain::attempt::{Attempt, AttemptState, UnresolvedAttempt};
use domain::audit;
use domain::chain::{Address, ChainNumber};
use domain::currency::{Currency, StableCoin};
use domain::deposit::{DepositState, TokenState};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::ids::{ApprovalId, AttemptId, BatchId, PaymentId, TenantId};
use domain::ledger::AccountCode;
use domain::ports::Clock as _;
use domain::rail::{Finding, RailId, RailStatus};
use domain::time::Span;
use domain::user::{Role, Scope, User};
use domain::wallet::{BlockOrder, BlockReason, TriggeredBy, Wallet, WalletState};
use engine::command::Refused;
use engine::console::{ApprovalUser, Denied, NewUser, Proposal, audit_context_of};
use engine::payments::AuditFilter;
use engine::wallets;
use store::need::Need;
use store::working_set::WorkingSet;
use store::{HeldRole, UserChange};
use uuid::Uuid;

use crate::orders;
use crate::world::{COIN, Setup, TENANT, World, with};

async fn person(world: &World, login: &str) -> User {
    let new = NewUser {
        login: login.to_owned(),
        roles: Role::ALL.into_iter().collect(),
        scope: Scope::All,
        password: "$argon2id$…".to_owned(),
        password_is_initial: false,
        provider_name: None,
    };
    world.store.create_user(&new, world.clock.now(), "test").await.expect("made");
    world.store.user_by_login(login).await.expect("read").expect("there").user
}

async fn propose(world: &World, deed: ProposedAction) -> Result<ApprovalId, Denied> {
    propose_of(world, Some(TENANT), deed).await
}

async fn propose_of(
    world: &World,
    tenant: Option<TenantId>,
    deed: ProposedAction,
) -> Result<ApprovalId, Denied> {
    let maker = match world.store.user_by_login("ayesha").await.expect("read") {
        Some(found) => found.user,
        None => person(world, "ayesha").await,
    };
    let by = audit::AuditContext::from("test");
    world.desk.propose(Proposal { tenant, deed, maker, why: "cleared".to_owned(), by }).await
}

/// A proposal whose approver crashed before executing it.
async fn approved(world: &World, id: ApprovalId) -> Approval {
    let omar = person(world, "omar").await;
    let approval = found(world, id).await;
    let checker = ApprovalUser { id: omar.id, login: omar.login };
    world.store.decide(&approval, true, &checker, "", "test").await.expect("approved");
    found(world, id).await
}

async fn found(world: &World, id: ApprovalId) -> Approval {
    world.store.approval(id).await.expect("read").expect("there")
}

/// The audit log's entries about a subject, newest first.
async fn noted(world: &World, subject: impl ToString) -> Vec<String> {
    let filter = AuditFilter {
        tenant: Some(TENANT),
        subject: Some(subject.to_string()),
        ..AuditFilter::default()
    };
    let entries = world.store.audit_entries(&filter, 100).await.expect("read");
    entries.into_iter().map(|entry| entry.note.action).collect()
}

async fn block(world: &World, wallet: &Wallet) -> Wallet {
    let order = BlockOrder {
        reason: BlockReason::PendingInvestigation,
        details: "odd".to_owned(),
        auto_unblock_hours: None,
        triggered_by: TriggeredBy::Manual,
    };
    world.wallets.block(&world.caller(), wallet.id, order, "test", None).await.expect("may be").made
}

fn unblocking(wallet: &Wallet) -> ProposedAction {
    let blocked_at = wallet.block.as_ref().expect("blocked").at;
    ProposedAction::UnblockWallet { wallet: wallet.id, blocked_at, reason: None }
}

#[test]
fn new_code_of_a_token_is_accepted_on_the_reviewed_chain() {
    with(Setup::default(), async |world| {
        let chains = [ChainNumber::FIRST, ChainNumber(2)];
        let lease = world.store.lease_role("watch", "test", Span::mins(1));
        let fence = lease.await.expect("asked").expect("free");
        let role = HeldRole { name: "watch".to_owned(), owner: "test".to_owned(), fence };
        for chain in chains {
            let (coin, at_block) = (StableCoin::Usdc, 7);
            let state = TokenState { chain, coin, paused: false, code_changed: true, at_block };
            world.store.set_token_state(&role, &state).await.expect("set");
        }
        let halted = async || {
            let states = world.store.token_states().await.expect("read");
            states.iter().map(|state| state.code_changed).collect::<Vec<_>>()
        };
        let accept =
            |chain| ProposedAction::AcceptCoinCode { chain, coin: StableCoin::Usdc, at_block: 7 };
        // One proposal for each chain.
        let mut ids = Vec::new();
        for chain in chains {
            ids.push(propose_of(&world, None, accept(chain)).await.expect("proposed"));
        }
        let omar = person(&world, "omar").await;
        let unknown = propose_of(&world, None, accept(ChainNumber(3))).await;
        assert!(matches!(unknown, Err(Denied::NoChange)), "{unknown:?}");
        let decide = async |id| {
            let by = audit::AuditContext::from("omar");
            world.desk.decide(id, true, &omar, by).await.expect("decided").state
        };
        assert_eq!(decide(ids[1]).await, ApprovalState::Done);
        assert_eq!(halted().await, [true, false], "the first chain's token stays halted");
        assert_eq!(decide(ids[0]).await, ApprovalState::Done);
        assert_eq!(halted().await, [false, false]);
    });
}

#[test]
fn an_unreviewed_block_is_not_lifted() {
    with(Setup::default(), async |world| {
        let blocked = block(&world, &world.wallet().await).await;
        let id = propose(&world, unblocking(&blocked)).await.expect("proposed");
        // Another block replaces the one that they reviewed.
        world
            .wallets
            .unblock(&world.caller(), blocked.id, None, "test", None)
            .await
            .expect("blocked");
        world.clock.pass(Span::secs(1));
        let other = block(&world, &blocked).await;
        let early = propose(&world, unblocking(&blocked)).await;
        assert!(matches!(early, Err(Denied::Refused(_))), "{early:?}");
        let omar = person(&world, "omar").await;
        let decided = world
            .desk
            .decide(id, true, &omar, audit::AuditContext::from("omar"))
            .await
            .expect("decided");
        assert_eq!(
            (decided.state, decided.outcome.as_str()),
            (ApprovalState::Failed, "it has changed since it was reviewed")
        );
        assert_eq!(world.wallet_now(blocked.id).await.block, other.block);
        assert_eq!(
            noted(&world, id).await,
            ["approval.failed", "approval.approve", "approval.propose"]
        );
        let id = propose(&world, unblocking(&other)).await.expect("proposed");
        let decided = world
            .desk
            .decide(id, true, &omar, audit::AuditContext::from("omar"))
            .await
            .expect("decided");
        assert_eq!(decided.state, ApprovalState::Done);
        assert_eq!(world.wallet_now(blocked.id).await.state, WalletState::Active);
        assert_eq!(noted(&world, id).await[0], "approval.done");
    });
}

#[test]
fn a_proposal_whose_maker_lost_the_role_or_the_tenant_is_not_approved() {
    with(Setup::default(), async |world| {
        let blocked = block(&world, &world.wallet().await).await;
        let id = propose(&world, unblocking(&blocked)).await.expect("proposed");
        let omar = person(&world, "omar").await;
        let other = Scope::Tenant(TenantId(Uuid::new_v4()));
        for (role, scope) in [(Role::Treasury, Scope::All), (Role::Operator, other)] {
            let maker = world.store.user_by_login("ayesha").await.expect("read").expect("there");
            let change = UserChange::Access { roles: [role].into(), scope, version: maker.version };
            let now = world.clock.now();
            world.store.change_user(&maker.user, &change, now, "test").await.expect("changed");
            let decided =
                world.desk.decide(id, true, &omar, audit::AuditContext::from("omar")).await;
            assert!(matches!(decided, Err(Denied::Refused(_))), "{decided:?}");
        }
        let by = audit::AuditContext::from("omar");
        let decided = world.desk.decide(id, false, &omar, by).await.expect("rejected");
        assert_eq!(decided.state, ApprovalState::Rejected);
        assert_eq!(world.wallet_now(blocked.id).await.state, WalletState::Blocked);
    });
}

#[test]
fn an_approval_is_retried_once_its_executor_must_have_ended() {
    with(Setup::default(), async |world| {
        let blocked = block(&world, &world.wallet().await).await;
        let id = propose(&world, unblocking(&blocked)).await.expect("proposed");
        let approval = approved(&world, id).await;
        let again = || world.desk.execute_again(&approval, audit::AuditContext::from("sara"));
        let early = again().await;
        assert!(matches!(early, Err(Denied::Refused(_))), "{early:?}");
        assert_eq!(world.desk.execute_rest().await.expect("read"), 0);
        assert_eq!(
            world.wallet_now(blocked.id).await.state,
            WalletState::Blocked,
            "it may still be executing"
        );
        world.clock.pass(Span::mins(1));
        assert!(world.desk.is_left(&approval));
        again().await.expect("executed");
        assert_eq!(noted(&world, id).await[..2], ["approval.done", "approval.again"]);
        assert_eq!(found(&world, id).await.state, ApprovalState::Done);
        assert_eq!(world.wallet_now(blocked.id).await.state, WalletState::Active);
    });
}

/// An order whose payout has an unknown outcome.
async fn in_doubt(world: &World) -> ExchangeOrder {
    let wallet = world.wallet().await;
    world.fund(&wallet, 100 * COIN).await;
    let mut order = orders::made(world, &wallet, 60 * COIN).await;
    let at = world.clock.now();
    let attempt = Attempt {
        id: AttemptId(order.id.0),
        tenant: TENANT,
        payment: PaymentId(order.id.0),
        number: 1,
        rail: RailId::new("pak-raast"),
        state: AttemptState::Indeterminate,
        amount: order.payout,
        charges: 0,
        sender: None,
        created_at: at,
        state_at: at,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: None,
        sent_again: false,
    };
    order.state = ExchangeState::Paying;
    (order.attempt, order.unclear_since, order.unclear_beyond_window) =
        (Some(attempt.id), Some(at), true);
    order.version += 1;
    let mut need = Need { tenants: [TENANT].into(), ..Need::default() };
    need.exchanges.insert((TENANT, order.id));
    need.attempts.insert((TENANT, attempt.id));
    let mut put = |ws: &mut WorkingSet| {
        ws.exchanges.put((TENANT, order.id), order.clone());
        ws.attempts.put((TENANT, attempt.id), attempt.clone());
        ws.keep();
    };
    let batch = BatchId(world.store.ids().next());
    world.store.execute(batch, &need, &mut put).await.expect("committed");
    order
}

fn resolving(order: &ExchangeOrder, became: impl Into<Finding>) -> ProposedAction {
    ProposedAction::ResolveOrder {
        order: order.id,
        doubt: order.doubt().expect("in doubt"),
        became: became.into(),
    }
}

async fn attempt_of(world: &World, order: &ExchangeOrder) -> Attempt {
    world.store.attempts(TENANT, PaymentId(order.id.0)).await.expect("read").pop().expect("there")
}

#[test]
fn an_unreviewed_attempt_is_not_resolved() {
    with(Setup::default(), async |world| {
        let order = in_doubt(&world).await;
        let doubt = order.doubt().expect("in doubt");
        let earlier = UnresolvedAttempt { since: doubt.since - Span::mins(5), ..doubt };
        let another = UnresolvedAttempt { attempt: AttemptId(Uuid::new_v4()), ..doubt };
        for seen in [earlier, another] {
            let resolved = world
                .wallets
                .resolve_order(
                    &world.caller(),
                    order.id,
                    seen,
                    RailStatus::Accepted,
                    "statement".to_owned(),
                    "test",
                )
                .await;
            assert!(
                matches!(resolved, Err(wallets::Denied::Refused(Refused::NotAsSeen))),
                "{resolved:?}"
            );
            let deed = ProposedAction::ResolveOrder {
                order: order.id,
                doubt: seen,
                became: RailStatus::Accepted.into(),
            };
            let proposed = propose(&world, deed).await;
            assert!(matches!(proposed, Err(Denied::Refused(_))), "{proposed:?}");
        }
        assert_eq!(orders::now(&world, &order).await, order);
        assert_eq!(attempt_of(&world, &order).await.state, AttemptState::Indeterminate);
        assert_eq!(noted(&world, order.id).await, [] as [&str; 0]);
    });
}

#[test]
fn a_return_less_charges_is_resolved_as_proposed_and_booked() {
    with(Setup::default(), async |world| {
        let order = in_doubt(&world).await;
        let became = Finding { charges: 25_000, ..RailStatus::Returned.into() };
        let id = propose(&world, resolving(&order, became)).await.expect("proposed");
        let shown = found(&world, id).await.changes;
        let line = |what: &str| {
            shown.iter().find(|change| change.what == what).map(|change| change.after.clone())
        };
        assert_eq!(line("status").as_deref(), Some("returned"));
        assert_eq!(line("kept by the bank").as_deref(), Some("250.00 PKR"));
        let omar = person(&world, "omar").await;
        let decided = world
            .desk
            .decide(id, true, &omar, audit::AuditContext::from("omar"))
            .await
            .expect("decided");
        assert_eq!(decided.state, ApprovalState::Done, "{}", decided.outcome);
        assert_eq!(orders::now(&world, &order).await.state, ExchangeState::Returning);
        let attempt = attempt_of(&world, &order).await;
        assert_eq!((attempt.state, attempt.charges), (AttemptState::Returned, 25_000));
        let accounts = world.store.accounts(TENANT).await.expect("read");
        let booked =
            accounts.iter().find(|account| account.code == AccountCode::RailCharges(Currency::Pkr));
        assert_eq!(booked.map(|account| account.balance().minor), Some(25_000));
    });
}

#[test]
fn the_reference_of_a_resolved_payout_is_the_orders() {
    with(Setup::default(), async |world| {
        let order = in_doubt(&world).await;
        let reference = Some("FT2611200014".to_owned());
        let became = Finding { reference: reference.clone(), ..RailStatus::Settled.into() };
        let id = propose(&world, resolving(&order, became)).await.expect("proposed");
        let omar = person(&world, "omar").await;
        let decided = world
            .desk
            .decide(id, true, &omar, audit::AuditContext::from("omar"))
            .await
            .expect("decided");
        assert_eq!(decided.state, ApprovalState::Done, "{}", decided.outcome);
        let settled = orders::now(&world, &order).await;
        assert_eq!(
            (settled.state, settled.settlement_reference),
            (ExchangeState::Settled, reference.clone())
        );
        assert_eq!(attempt_of(&world, &order).await.bank_reference, reference);
    });
}

#[test]
fn an_action_of_a_node_that_crashed_before_recording_it_counts_as_executed() {
    with(Setup::default(), async |world| {
        let order = in_doubt(&world).await;
        let id = propose(&world, resolving(&order, RailStatus::Accepted)).await.expect("proposed");
        let approval = approved(&world, id).await;
        let (doubt, by) = (order.doubt().expect("in doubt"), audit_context_of(&approval));
        // The command is committed; its sender crashed.
        world
            .wallets
            .resolve_order(
                &world.caller(),
                order.id,
                doubt,
                RailStatus::Accepted,
                "statement".to_owned(),
                by,
            )
            .await
            .expect("resolved");
        let resolved = orders::now(&world, &order).await;
        assert_eq!(
            (resolved.doubt(), attempt_of(&world, &order).await.state),
            (None, AttemptState::Accepted)
        );
        // The order would refuse a repetition: its outcome is no longer unknown.
        let again = world
            .wallets
            .resolve_order(
                &world.caller(),
                order.id,
                doubt,
                RailStatus::Accepted,
                String::new(),
                "test",
            )
            .await;
        assert!(matches!(again, Err(wallets::Denied::Refused(_))), "{again:?}");
        world.clock.pass(Span::days(4));
        assert_eq!(world.desk.execute_rest().await.expect("read"), 0);
        assert_eq!(
            found(&world, id).await.state,
            ApprovalState::Done,
            "{}",
            found(&world, id).await.outcome
        );
        assert_eq!(noted(&world, order.id).await, ["order.resolve"], "done once");
        assert_eq!(noted(&world, id).await[0], "approval.done");
    });
}

#[test]
fn another_users_action_does_not_execute_the_approval() {
    with(Setup::default(), async |world| {
        let order = in_doubt(&world).await;
        let id = propose(&world, resolving(&order, RailStatus::Accepted)).await.expect("proposed");
        approved(&world, id).await;
        let doubt = order.doubt().expect("in doubt");
        world
            .wallets
            .resolve_order(
                &world.caller(),
                order.id,
                doubt,
                RailStatus::Accepted,
                "a call".to_owned(),
                "another user",
            )
            .await
            .expect("resolved");
        world.clock.pass(Span::mins(1));
        world.desk.execute_rest().await.expect("read");
        assert_eq!(found(&world, id).await.state, ApprovalState::Failed);
    });
}

#[test]
fn an_unreviewed_hold_is_not_lifted() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let deposit = world.pay_by(&request, "Edgar", "Evil", Address([1; 20]), COIN).await;
        world.work().await;
        let held = world.deposit_now(deposit.id).await;
        assert_eq!(held.state, DepositState::LegalHold);
        let deed = |since| ProposedAction::LiftHold { deposit: held.id, held_since: since };
        let early = propose(&world, deed(held.state_at - Span::secs(1))).await;
        assert!(matches!(early, Err(Denied::Refused(_))), "{early:?}");
        let id = propose(&world, deed(held.state_at)).await.expect("proposed");
        assert!(matches!(propose(&world, deed(held.state_at)).await, Err(Denied::Proposed)));
        assert_eq!(world.deposit_now(held.id).await, held, "one user alone changes nothing");
        let omar = person(&world, "omar").await;
        let decided = world
            .desk
            .decide(id, true, &omar, audit::AuditContext::from("omar"))
            .await
            .expect("decided");
        assert_eq!(
            (decided.state, world.deposit_now(held.id).await.state),
            (ApprovalState::Done, DepositState::Rejected)
        );
        assert_eq!(noted(&world, held.id).await[0], "hold.lift");
        let late = propose(&world, deed(held.state_at)).await;
        assert!(matches!(late, Err(Denied::Refused(_))), "{late:?}");
    });
}

#[test]
fn a_withheld_order_is_released_once_by_two_unless_it_was_decided_or_is_listed_now() {
    with(Setup::default(), async |world| {
        let (wallet, caller) = (world.wallet().await, world.caller());
        world.fund(&wallet, 100 * COIN).await;
        let release = |order: &ExchangeOrder| ProposedAction::ReleaseOrder {
            order: order.id,
            version: Some(order.version),
        };
        let (maker, omar) = (person(&world, "ayesha").await, person(&world, "omar").await);
        let decide = async |id, by: &User| {
            world.desk.decide(id, true, by, audit::AuditContext::from(&by.login[..])).await
        };
        let clean = orders::made(&world, &wallet, COIN).await;
        let early = propose(&world, release(&clean)).await;
        assert!(matches!(early, Err(Denied::Refused(_))), "{early:?}");

        let order = orders::withheld(&world, &wallet, COIN).await;
        let id = propose(&world, release(&order)).await.expect("proposed");
        assert!(matches!(propose(&world, release(&order)).await, Err(Denied::Proposed)));
        let own = decide(id, &maker).await;
        assert!(matches!(own, Err(Denied::SamePerson)), "{own:?}");
        assert_eq!(orders::now(&world, &order).await, order, "one user alone changes nothing");
        assert_eq!(decide(id, &omar).await.expect("decided").state, ApprovalState::Done);
        assert!(orders::now(&world, &order).await.debit.is_some());
        assert_eq!(noted(&world, order.id).await, ["review.approve"], "done once");

        let decided = orders::withheld(&world, &wallet, COIN).await;
        let listed = orders::withheld_to(&world, &wallet, "Edgar Evil").await;
        let mut waiting = Vec::new();
        for order in [&decided, &listed] {
            waiting.push(propose(&world, release(order)).await.expect("proposed"));
        }
        world
            .wallets
            .review_order(&caller, decided.id, false, None, "test")
            .await
            .expect("withheld");
        for (id, order, why) in [
            (waiting[0], &decided, "no decision about the order is pending"),
            (waiting[1], &listed, "can only be rejected"),
        ] {
            let ended = decide(id, &omar).await.expect("decided");
            assert_eq!(ended.state, ApprovalState::Failed);
            assert!(ended.outcome.contains(why), "{ended:?}");
            assert_eq!(orders::now(&world, order).await.debit, None);
        }
        let late = propose(&world, release(&listed)).await;
        assert!(matches!(late, Err(Denied::Refused(_))), "{late:?}");
    });
}
