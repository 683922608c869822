//! Concurrent orders, orders of a frozen wallet, orders that screening withholds, and those that a bank
//! reports unsent.

use std::future::ready;
use std::sync::atomic::Ordering;

use domain::audit::{AuditContext, Via};
use domain::currency::Currency;
use domain::exchange::{
    BankAccount, ExchangeOrder, ExchangeState, Fate, NewOrder, OrderFailure, OrderRefusal,
    OrderStatus, Price,
};
use domain::ids::{ExchangeId, PaymentId, TransferId};
use domain::money::Money;
use domain::ports::{BoxFuture, Rail};
use domain::rail::{
    About, BankReport, Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RailStatus,
    ReportContent, Reports, Submission,
};
use domain::rail_ids::ReportIds;
use domain::screening::Screened;
use domain::time::Span;
use domain::wallet::{BlacklistOrder, BlockOrder, BlockReason, TriggeredBy, Wallet, WalletState};
use engine::command::exchange::{ExchangeAction, OrderKey};
use engine::command::{Action, Command, Outcome, Refused};
use engine::payments::AuditFilter;
use engine::wallets::Denied;
use futures_util::future::join_all;

use crate::world::{COIN, Setup, TENANT, USDC, World, with};

async fn order(world: &World, wallet: &Wallet, minor: i64) -> Outcome {
    screened(world, wallet, minor, 0).await
}

/// An order whose account holder's name had this score.
async fn screened(world: &World, wallet: &Wallet, minor: i64, score: u8) -> Outcome {
    to_holder(world, wallet, minor, ("Asha", score)).await
}

async fn to_holder(
    world: &World,
    wallet: &Wallet,
    minor: i64,
    (holder, score): (&str, u8),
) -> Outcome {
    let mut ids = world.store.ids();
    let new = NewOrder {
        id: ExchangeId(ids.next()),
        hold: TransferId(ids.next()),
        coin: USDC,
        minor,
        price: Price::new(Currency::Pkr, "278.75".parse().expect("a number"), 50),
        lock: false,
        bank: BankAccount {
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            account_number: None,
            bank_code: None,
            holder: holder.to_owned(),
            bic: None,
            bank_name: None,
        },
        expected: Span::mins(10),
        fate: Fate::Open,
        screened: Screened {
            score,
            evidence: None,
            list_version: "lists-1".to_owned(),
            stale: false,
        },
    };
    let key =
        OrderKey { order: new.id, wallet: wallet.id, chain: None, coin: USDC, intents: Vec::new() };
    let action = ExchangeAction::Create { order: Box::new(new), idempotency: None };
    let command = Command { tenant: TENANT, action: Action::Exchange(key, action) };
    world.engine.execute(command).await.expect("answered")
}

pub async fn made(world: &World, wallet: &Wallet, minor: i64) -> ExchangeOrder {
    an_order(order(world, wallet, minor).await)
}

pub async fn withheld(world: &World, wallet: &Wallet, minor: i64) -> ExchangeOrder {
    an_order(screened(world, wallet, minor, 90).await)
}

/// An order whose account holder's name was a near match at its creation.
pub async fn withheld_to(world: &World, wallet: &Wallet, holder: &str) -> ExchangeOrder {
    an_order(to_holder(world, wallet, COIN, (holder, 90)).await)
}

fn an_order(outcome: Outcome) -> ExchangeOrder {
    match outcome {
        Outcome::Exchange(order) => *order,
        other => panic!("{other:?}"),
    }
}

pub async fn now(world: &World, order: &ExchangeOrder) -> ExchangeOrder {
    world.store.exchange(TENANT, order.id).await.expect("readable").expect("there")
}

#[test]
fn one_of_eight_concurrent_orders_for_one_balance_succeeds() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        world.fund(&wallet, 100 * COIN).await;
        let outcomes = join_all((0..8).map(|_| order(&world, &wallet, 60 * COIN))).await;
        let accepted =
            outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Exchange(_))).count();
        assert_eq!(accepted, 1);
        for outcome in outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Exchange(_))) {
            let Outcome::Refused(Refused::Exchange(OrderRefusal::InsufficientBalance {
                requested,
                available,
            })) = outcome
            else {
                panic!("{outcome:?}")
            };
            let usdc = |minor| Money::new(minor, Currency::Usdc);
            assert_eq!((*requested, *available), (usdc(60 * COIN), usdc(40 * COIN)));
        }
        let (_, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
        assert_eq!((held[0].minor, held[0].available_minor), (100 * COIN, 40 * COIN));
    });
}

#[test]
fn a_pending_order_is_cancelled_when_its_wallet_is_blocked_or_blacklisted_and_its_coins_are_free_again()
 {
    for blacklisted in [false, true] {
        with(Setup::default(), async |world| {
            let wallet = world.wallet().await;
            world.fund(&wallet, 100 * COIN).await;
            let order = made(&world, &wallet, 60 * COIN).await;
            assert_eq!(order.state.status(), OrderStatus::Pending);
            if blacklisted {
                let order = BlacklistOrder {
                    authority: "FIA".to_owned(),
                    reference: "R-1".to_owned(),
                    reason: "court".to_owned(),
                    effective_date: jiff::civil::date(2026, 1, 1),
                };
                world
                    .wallets
                    .blacklist(&world.caller(), wallet.id, order, "test", None)
                    .await
                    .expect("may be");
            } else {
                let order = BlockOrder {
                    reason: BlockReason::PendingInvestigation,
                    details: "odd".to_owned(),
                    auto_unblock_hours: None,
                    triggered_by: TriggeredBy::Manual,
                };
                world
                    .wallets
                    .block(&world.caller(), wallet.id, order, "test", None)
                    .await
                    .expect("may be");
            }
            world.later(Span::secs(1)).await;
            let ended = now(&world, &order).await;
            let why = if blacklisted {
                OrderFailure::WalletBlacklisted
            } else {
                OrderFailure::WalletBlocked
            };
            assert_eq!((ended.state, ended.failure), (ExchangeState::Cancelled, Some(why)));
            let (_, held) = world.wallets.find(&world.caller(), wallet.id).await.expect("there");
            assert_eq!((held[0].minor, held[0].available_minor), (100 * COIN, 100 * COIN));
        });
    }
}

#[test]
fn a_frozen_wallet_exchanges_nothing_and_is_refused_before_its_balance() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let block = BlockOrder {
            reason: BlockReason::BankPolicyViolation,
            details: "odd".to_owned(),
            auto_unblock_hours: None,
            triggered_by: TriggeredBy::Manual,
        };
        world.wallets.block(&world.caller(), wallet.id, block, "test", None).await.expect("may be");
        let refused = order(&world, &wallet, 1_000_000 * COIN).await;
        let frozen = OrderRefusal::Frozen(WalletState::Blocked);
        assert!(matches!(refused, Outcome::Refused(Refused::Exchange(why)) if why == frozen));
    });
}

#[test]
fn a_withheld_order_is_decided_once_and_the_decision_is_recorded() {
    for approve in [true, false] {
        with(Setup::default(), async |world| {
            let (wallet, caller) = (world.wallet().await, world.caller());
            world.fund(&wallet, 100 * COIN).await;
            made(&world, &wallet, COIN).await;
            let order = withheld(&world, &wallet, 60 * COIN).await;
            let waiting =
                async || world.store.orders_in_review(TENANT, None, 9).await.expect("read").rows;
            assert_eq!(
                waiting().await,
                std::slice::from_ref(&order),
                "a clean order does not wait"
            );
            let alerts = async || world.store.alerts(TENANT, 9).await.expect("read").len();
            assert_eq!(alerts().await, 1);
            let by = AuditContext::new(Via::Console, "amal")
                .with_role("compliance")
                .because("a near miss")
                .of_request("r-7");
            let decided = world
                .wallets
                .review_order(&caller, order.id, approve, Some(order.version), &by)
                .await
                .expect("withheld")
                .made;
            assert_eq!((now(&world, &order).await, alerts().await), (decided.clone(), 0));
            assert_eq!(decided.debit.is_some(), approve, "only a released order moves its tokens");
            let available = if approve { 39 } else { 99 };
            let (_, held) = world.wallets.find(&caller, wallet.id).await.expect("there");
            assert_eq!((held[0].minor, held[0].available_minor), (100 * COIN, available * COIN));
            assert_eq!(waiting().await, []);
            for again in [true, false] {
                let again =
                    world.wallets.review_order(&caller, order.id, again, None, "test").await;
                let why = OrderRefusal::NotWithheld;
                assert!(
                    matches!(&again, Err(Denied::Refused(Refused::Exchange(found))) if *found == why),
                    "{again:?}"
                );
            }
            let subject = Some(order.id.to_string());
            let filter = AuditFilter { tenant: Some(TENANT), subject, ..AuditFilter::default() };
            let noted = world.store.audit_entries(&filter, 9).await.expect("read");
            let [entry] = &noted[..] else { panic!("a refusal leaves no entry: {noted:?}") };
            let action = if approve { "review.approve" } else { "review.reject" };
            assert_eq!(
                (&entry.deed, &entry.note.action[..], &entry.note.kind[..]),
                (&by, action, "order")
            );
            let (before, after) = (entry.note.before.as_deref(), entry.note.after.as_deref());
            let state = if approve { "pending" } else { "failed" };
            let is = |facts: Option<&str>, state: &str, withheld: bool| {
                let facts = facts.expect("noted");
                facts.contains(&format!(r#""state":"{state}""#))
                    && facts.contains(&format!(r#""withheld":{withheld}"#))
            };
            assert!(is(before, "pending", true) && is(after, state, false), "{entry:?}");
        });
    }
}

#[test]
fn a_release_rests_on_a_screening_against_the_lists_in_force() {
    with(Setup::default(), async |world| {
        let (wallet, caller) = (world.wallet().await, world.caller());
        world.fund(&wallet, 100 * COIN).await;
        let release = async |order: &ExchangeOrder| {
            let released = world.wallets.review_order(&caller, order.id, true, None, "test").await;
            released.map(|reply| reply.made.is_withheld())
        };
        // Released on the lists of now, not on those of its creation.
        let order = withheld(&world, &wallet, COIN).await;
        world.lists.stale.store(true, Ordering::SeqCst);
        let early = release(&order).await;
        assert!(matches!(early, Err(Denied::ListsStale)), "{early:?}");
        assert_eq!(now(&world, &order).await, order, "nothing is decided on outdated lists");
        world.lists.stale.store(false, Ordering::SeqCst);
        assert!(matches!(release(&order).await, Ok(false)));
        let found = now(&world, &order).await.screened.map(|it| it.score);
        assert_eq!(found, Some(0), "the screening that it rests on");
        // Listed since: refused, recorded with the alert, and left to a rejection.
        let order = withheld_to(&world, &wallet, "Edgar Evil").await;
        for _ in 0..2 {
            let refused = release(&order).await;
            let Err(Denied::Refused(Refused::Exchange(OrderRefusal::Listed))) = refused else {
                panic!("{refused:?}")
            };
        }
        let listed = now(&world, &order).await;
        assert_eq!((listed.version, listed.debit), (order.version + 1, None));
        let alerts = world.store.alerts(TENANT, 9).await.expect("read");
        let alerts: Vec<_> = alerts.into_iter().map(|(_, alert)| alert).collect();
        assert_eq!(alerts, listed.withheld_alert().into_iter().collect::<Vec<_>>());
        assert!(alerts[0].what.contains("scored 100 against TEST 1 EVIL"), "{alerts:?}");
        world.wallets.review_order(&caller, order.id, false, None, "test").await.expect("withheld");
        assert_eq!(world.store.alerts(TENANT, 9).await, Ok(Vec::new()));
    });
}

/// A rail without transport: its reports come by hand.
pub struct Reporting(pub RailId);

impl Rail for Reporting {
    fn id(&self) -> &RailId {
        &self.0
    }
    fn submit<'a>(&'a self, _: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        Box::pin(ready(Vec::new()))
    }
    fn inquire<'a>(&'a self, _: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        Box::pin(ready(Vec::new()))
    }
    fn collect<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        Box::pin(ready(Ok(Reports::default())))
    }
}

pub fn said(status: RailStatus, amount: Option<Money>) -> ReportContent {
    ReportContent {
        status,
        reasons: Vec::new(),
        info: None,
        bank_reference: Some("BANK-7".to_owned()),
        return_id: None,
        account: None,
        amount,
        other_amounts: Vec::new(),
        charges: None,
        source: "camt.054 B-1".to_owned(),
    }
}

/// As after the restore of a backup from before its payout, which the client did not wait for.
#[test]
fn an_order_that_a_bank_pays_after_its_end_is_work_for_a_person() {
    for (status, is_paid) in [
        (RailStatus::Settled, true),
        (RailStatus::Accepted, true),
        (RailStatus::Rejected, false),
        (RailStatus::Returned, false),
    ] {
        with(Setup::default(), async |world| {
            let (wallet, rail) = (world.wallet().await, Reporting(RailId::new("pak-raast")));
            world.fund(&wallet, 100 * COIN).await;
            let order = made(&world, &wallet, COIN).await;
            let cancelled = world.wallets.cancel_order(&world.caller(), order.id, None).await;
            cancelled.expect("it has not begun");
            let id = PaymentId(order.id.0);
            let ids = ReportIds { end_to_end: Some(id.end_to_end_id()), ..ReportIds::default() };
            let said = said(status.clone(), Some(order.payout));
            let report = BankReport { about: About::One(ids), said };
            let page = Reports { reports: vec![report], ..Reports::default() };
            for _ in 0..2 {
                assert!(world.workers.take_in(&rail, &page).await);
            }
            let alerts = world.store.alerts(TENANT, 9).await.expect("readable");
            let of_order = alerts.iter().filter(|(_, it)| it.subject == order.id.0);
            let texts: Vec<&str> = of_order.map(|(_, it)| it.what.as_str()).collect();
            assert_eq!(texts.len(), usize::from(is_paid), "{status}: {texts:?}");
            assert!(texts.iter().all(|it| it.contains("cancelled here")), "{texts:?}");
            assert_eq!(now(&world, &order).await.state, ExchangeState::Cancelled);
        });
    }
}

/// As after the restore of a backup from before its payout.
#[test]
fn an_order_that_a_bank_reports_although_it_was_not_sent_is_held() {
    with(Setup::default(), async |world| {
        let (wallet, rail) = (world.wallet().await, Reporting(RailId::new("pak-raast")));
        world.fund(&wallet, 100 * COIN).await;
        let [order, other] = [made(&world, &wallet, COIN).await, made(&world, &wallet, COIN).await];
        let id = PaymentId(order.id.0);
        // The rate moved by then, within the band.
        let paid = Money::new(order.payout.minor * 1_005 / 1_000, order.payout.currency);
        let said = said(RailStatus::Settled, Some(paid));
        let ids = ReportIds { end_to_end: Some(id.end_to_end_id()), ..ReportIds::default() };
        let report = BankReport { about: About::One(ids), said };
        let page = Reports { reports: vec![report], ..Reports::default() };
        for round in ["first", "again"] {
            assert!(world.workers.take_in(&rail, &page).await, "{round}");
            let attempts = world.store.attempts(TENANT, id).await.expect("readable");
            let [held] = &attempts[..] else { panic!("{attempts:?}") };
            assert!(held.is_unrecorded() && held.rail == rail.0, "{round}");
            let order = now(&world, &order).await;
            assert_eq!((order.attempt, order.is_reported()), (Some(held.id), true), "{round}");
            assert_eq!((order.payout, held.amount), (paid, paid), "{round}");
            let refused = world.wallets.cancel_order(&world.caller(), order.id, None).await;
            assert!(refused.is_err(), "the bank has paid it: {refused:?}");
        }
        let strays = world.store.strays(TENANT, 9).await.expect("readable");
        let what = format!("have not sent exchange order {}: it is held", order.id);
        assert!(strays.iter().any(|stray| stray.report.what.contains(&what)), "{strays:?}");
        assert_eq!(now(&world, &other).await, other, "it was not reported");
        let held = now(&world, &order).await;
        let in_review = world.store.orders_in_review(TENANT, None, 9).await.expect("readable");
        assert_eq!(in_review.rows, std::slice::from_ref(&held));
        let (seen, why) = (held.doubt().expect("in doubt"), "statement 7".to_owned());
        let caller = world.caller();
        let finding = RailStatus::Settled;
        let resolved = world.wallets.resolve_order(&caller, held.id, seen, finding, why, "test");
        resolved.await.expect("its outcome is unknown");
        let settled = now(&world, &order).await;
        assert_eq!((settled.state, settled.doubt()), (ExchangeState::Settled, None));
        let alerts = world.store.alerts(TENANT, 9).await.expect("readable");
        assert!(alerts.iter().all(|(_, it)| !it.what.contains("is unknown")), "{alerts:?}");
    });
}
