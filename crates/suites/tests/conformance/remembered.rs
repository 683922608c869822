//! Batches decided on cached rows: saved without loading, refused if a row is stale.

use std::future::Future as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::currency::StableCoin;
use domain::decision::IdSource;
use domain::ids::{BatchId, TenantId};
use domain::ledger::{Account, AccountCode};
use domain::payment::Payment;
use domain::quote::{Quote, QuoteState};
use domain::time::Timestamp;
use store::need::{IdempotencyKey, Need};
use store::options::{FaultAction, FaultPoint, Faults};
use store::working_set::{IdempotencyRecord, Made, WorkingSet};
use store::{Committed, ExecuteError};

use crate::world::{Side, World, put_payment, put_quote, tenant_need, top_up};

/// Which of a tenant's cached rows are stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    Nothing,
    Everything,
    Heads,
    Accounts,
    OpenQuotes,
    Quotes,
}

/// The rows as of `now`, some of them as of `before`: the cache of a node.
fn recall(now: &WorkingSet, before: &WorkingSet, old: Old) -> WorkingSet {
    let of = |these| if old == these || old == Old::Everything { before } else { now };
    let mut rows = WorkingSet::new(now.now);
    of(Old::Heads).heads.all().for_each(|(tenant, head)| rows.heads.load(*tenant, *head));
    of(Old::Accounts)
        .accounts
        .all()
        .for_each(|(key, account)| rows.accounts.load(key.clone(), account.clone()));
    of(Old::OpenQuotes)
        .open_quotes
        .all()
        .for_each(|(key, count)| rows.open_quotes.load(*key, *count));
    of(Old::Quotes).quotes.all().for_each(|(key, quote)| rows.quotes.load(*key, quote.clone()));
    rows
}

fn remembered(left: &WorkingSet) -> WorkingSet {
    recall(left, left, Old::Nothing)
}

fn need(quote: &Quote) -> Need {
    let mut need = tenant_need(quote.tenant);
    need.quotes.insert((quote.tenant, quote.id));
    need
}

/// The rows of an order that uses `quote`, loaded by a batch that changes nothing.
async fn rows(world: &World, quote: &Quote) -> WorkingSet {
    let batch = BatchId(world.store.ids().next());
    world.store.execute(batch, &need(quote), &mut |_| {}).await.expect("loaded").rows
}

fn key() -> IdempotencyKey {
    IdempotencyKey { scope: "POST /v2/payment".to_owned(), key: "k-1".to_owned() }
}

/// Accepts an order with an external_id and an Idempotency-Key.
fn put_order(ws: &mut WorkingSet, quote: &Quote, ids: &mut dyn IdSource) -> Payment {
    let payment = put_payment(ws, quote, Some("mine"), ids);
    let record =
        IdempotencyRecord { body_hash: [1; 32], made: Made::Payment(payment.id), at: ws.now };
    ws.idempotency.put((quote.tenant, key()), record);
    ws.keep();
    payment
}

/// Same on cached rows.
async fn save_order(
    world: &World,
    mut rows: WorkingSet,
    quote: &Quote,
) -> (BatchId, Payment, Result<Committed, ExecuteError>) {
    let mut ids = world.store.ids();
    let batch = BatchId(ids.next());
    let payment = put_order(&mut rows, quote, ids.as_mut());
    (batch, payment, world.store.save(batch, rows).await)
}

fn at(saved: Result<Committed, ExecuteError>) -> Result<Timestamp, ExecuteError> {
    saved.map(|committed| committed.at)
}

async fn prefund(world: &World, tenant: TenantId) -> Account {
    let accounts = world.store.accounts(tenant).await.expect("read");
    accounts
        .into_iter()
        .find(|it| it.code == AccountCode::Prefund(StableCoin::Usdt))
        .expect("there")
}

pub async fn a_decision_on_cached_rows_is_saved(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let first = world.quote(tenant).await;
    // Each on the rows that the previous one left.
    let mut ws = remembered(&rows(&world, &first).await);
    let mut ids = world.store.ids();
    let made = put_quote(&mut ws, tenant, ids.as_mut());
    let left = world.store.save(BatchId(ids.next()), ws).await.expect("saved").rows;
    assert_eq!(world.store.quote(tenant, made.id).await, Ok(Some(made.clone())));
    let (batch, payment, saved) = save_order(&world, remembered(&left), &made).await;
    let saved = saved.expect("saved");
    assert_eq!(
        (saved.at, saved.rows.heads.get(&tenant).map(|head| head.payment_seq)),
        (left.now, Some(4))
    );
    assert_eq!(world.store.was_committed(batch).await, Ok(true));

    let used = world.store.quote(tenant, made.id).await.expect("read").expect("there");
    assert_eq!((used.state, used.payment), (QuoteState::Used, Some(payment.id)));
    let record =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    assert_eq!((&record.payment, record.quote.id), (&payment, made.id));
    assert_eq!(world.store.payment_id_by_external(tenant, "mine").await, Ok(Some(payment.id)));
    let kept = world.store.made_before(tenant, &key()).await.expect("read").expect("there");
    assert_eq!(kept.made, Made::Payment(payment.id));
    let events = world.store.events_after(tenant, 0, 99).await.expect("read");
    let subjects: Vec<_> =
        events.iter().map(|entry| (entry.event.seq, entry.event.subject)).collect();
    assert_eq!(subjects, [(1, first.id.0), (2, made.id.0), (3, made.id.0), (4, payment.id.0)]);
    assert_eq!(
        prefund(&world, tenant).await.debits_pending,
        payment.charge.total().expect("fits").minor
    );
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    // A fresh load returns the same rows.
    let fresh = rows(&world, &first).await;
    assert_eq!(fresh.heads.get(&tenant), saved.rows.heads.get(&tenant));
    let counted = |ws: &WorkingSet| {
        ws.open_quotes.all().map(|(key, count)| (*key, *count)).collect::<Vec<_>>()
    };
    assert_eq!(counted(&fresh), counted(&saved.rows));
}

/// A concurrent change by another node.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Quoted,
    ToppedUp,
    Paid,
    UsedTheQuote,
    TookTheExternalId,
    TookTheKey,
    WantsPaymentEvents,
}

impl Meanwhile {
    async fn happen(self, world: &World, quote: &Quote) {
        let tenant = quote.tenant;
        let mut need = need(quote);
        need.idempotency.insert((tenant, key()));
        match self {
            Meanwhile::Quoted => _ = world.quote(tenant).await,
            Meanwhile::Paid => _ = world.payment(tenant, None).await,
            Meanwhile::TookTheExternalId => _ = world.payment(tenant, Some("mine")).await,
            Meanwhile::WantsPaymentEvents => {
                world.store.set_payment_webhooks(tenant, true, "op").await.expect("switched");
            }
            Meanwhile::ToppedUp => {
                let book = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
                    ws.book(vec![top_up(tenant, 1, ws.now, ids)]).expect("booked");
                    ws.keep();
                };
                world.execute(&need, book).await.expect("topped up");
            }
            Meanwhile::UsedTheQuote => {
                let accept = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
                    _ = put_payment(ws, quote, None, ids)
                };
                world.execute(&need, accept).await.expect("accepted");
            }
            Meanwhile::TookTheKey => {
                let take = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
                    let record = IdempotencyRecord {
                        body_hash: [2; 32],
                        made: Made::Quote(quote.id),
                        at: ws.now,
                    };
                    ws.idempotency.put((tenant, key()), record);
                    ws.keep();
                };
                world.execute(&need, take).await.expect("taken");
            }
        }
    }
}

pub async fn a_stale_cache_is_refused_and_leaves_nothing(world: World) {
    for (number, (meanwhile, old)) in [
        // The usual case: all rows are stale.
        (Meanwhile::Quoted, Old::Everything),
        (Meanwhile::ToppedUp, Old::Everything),
        (Meanwhile::UsedTheQuote, Old::Everything),
        (Meanwhile::TookTheExternalId, Old::Everything),
        (Meanwhile::TookTheKey, Old::Everything),
        (Meanwhile::WantsPaymentEvents, Old::Everything),
        // Each row has a guard of its own.
        (Meanwhile::Quoted, Old::Heads),
        (Meanwhile::WantsPaymentEvents, Old::Heads),
        (Meanwhile::Quoted, Old::OpenQuotes),
        (Meanwhile::Paid, Old::Accounts),
        (Meanwhile::UsedTheQuote, Old::Quotes),
        (Meanwhile::TookTheExternalId, Old::Nothing),
        (Meanwhile::TookTheKey, Old::Nothing),
    ]
    .into_iter()
    .enumerate()
    {
        let told = format!("{meanwhile:?}, {old:?}");
        let tenant = world.tenant(&format!("bank{number}"), 1_000_000_000).await;
        let secret = "whsec_a".to_owned().into();
        world.store.add_webhook(tenant, "https://bank.example", secret, "op").await.expect("added");
        let quote = world.quote(tenant).await;
        let before = rows(&world, &quote).await;
        meanwhile.happen(&world, &quote).await;
        let now = rows(&world, &quote).await;
        let (batch, payment, saved) = save_order(&world, recall(&now, &before, old), &quote).await;
        assert_eq!(at(saved), Err(ExecuteError::Contended), "{told}");
        assert_eq!(world.store.payment_record(tenant, payment.id).await, Ok(None), "{told}");
        let found = world.store.quote(tenant, quote.id).await.expect("read").expect("there");
        assert_eq!(now.quotes.get(&(tenant, quote.id)), Some(&found), "{told}");
        let head = now.heads.get(&tenant).expect("loaded").payment_seq;
        assert_eq!(world.store.event_head(tenant).await, Ok(head), "{told}");
        assert_eq!(
            world.store.events_after(tenant, 0, 99).await.expect("read").len() as i64,
            head,
            "{told}"
        );
        let known = now.accounts.get(&(tenant, AccountCode::Prefund(StableCoin::Usdt)));
        assert_eq!(known, Some(&prefund(&world, tenant).await), "{told}");
        assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()), "{told}");
        // The same batch is decided again, on loaded rows.
        let mut ids = world.store.ids();
        let again = &mut |ws: &mut WorkingSet| _ = put_quote(ws, tenant, ids.as_mut());
        world.store.execute(batch, &tenant_need(tenant), again).await.expect("nothing blocks it");
        assert_eq!(world.store.was_committed(batch).await, Ok(true), "{told}");
        assert_eq!(world.store.event_head(tenant).await, Ok(head + 1), "{told}");
    }
}

pub async fn an_account_that_was_not_there_is_not_made_twice(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let quote = world.quote(tenant).await;
    let before = rows(&world, &quote).await;
    let transit = (tenant, AccountCode::InTransit(StableCoin::Usdt));
    assert!(before.accounts.get(&transit).is_none());
    world.payment(tenant, None).await;
    let now = rows(&world, &quote).await;
    let mut stale = recall(&now, &before, Old::Nothing);
    stale.accounts = store::working_set::Table::default();
    now.accounts.all().filter(|(key, _)| **key != transit).for_each(|(key, it)| {
        stale.accounts.load(key.clone(), it.clone());
    });
    let (_, _, saved) = save_order(&world, stale, &quote).await;
    assert_eq!(at(saved), Err(ExecuteError::Contended));
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    let (_, _, saved) = save_order(&world, remembered(&now), &quote).await;
    assert_eq!(at(saved), Ok(now.now));
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}

/// Injects one fault into the next batch that passes a point.
struct Armed(FaultPoint, FaultAction, AtomicBool);

impl Faults for Armed {
    fn at(&self, point: FaultPoint, _: BatchId) -> FaultAction {
        let strikes = point == self.0 && self.2.swap(false, Ordering::SeqCst);
        if strikes { self.1 } else { FaultAction::Proceed }
    }
}

pub async fn a_commit_of_cached_rows_can_have_an_unknown_outcome(world: World) {
    for (number, (point, action, is_there)) in [
        (FaultPoint::AfterCommit, FaultAction::LoseAck, true),
        (FaultPoint::BeforeCommit, FaultAction::LoseCommit, false),
        (FaultPoint::BeforeCommit, FaultAction::FailBefore, false),
    ]
    .into_iter()
    .enumerate()
    {
        let faults = Arc::new(Armed(point, action, AtomicBool::new(false)));
        let world = world.with_faults(faults.clone()).await;
        let tenant = world.tenant(&format!("faulty{number}"), 1_000_000_000).await;
        let quote = world.quote(tenant).await;
        let left = rows(&world, &quote).await;
        faults.2.store(true, Ordering::SeqCst);
        let (batch, payment, saved) = save_order(&world, remembered(&left), &quote).await;
        match at(saved) {
            Err(ExecuteError::CommitUnknown(unknown)) => assert_eq!(unknown, batch),
            Err(ExecuteError::Unavailable(_)) => assert_eq!(action, FaultAction::FailBefore),
            other => panic!("{action:?}: {other:?}"),
        }
        for _ in 0..2 {
            assert_eq!(world.store.was_committed(batch).await, Ok(is_there), "{action:?}");
        }
        let found = world.store.payment_record(tenant, payment.id).await.expect("read");
        assert_eq!(found.map(|record| record.payment), is_there.then_some(payment), "{action:?}");
        assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()), "{action:?}");
        // From now on it can no longer land.
        let mut late = remembered(&rows(&world, &quote).await);
        put_quote(&mut late, tenant, world.store.ids().as_mut());
        assert_eq!(
            at(world.store.save(batch, late).await),
            Err(ExecuteError::Contended),
            "{action:?}"
        );
        world.quote(tenant).await;
    }
}

pub async fn a_cancelled_save_of_cached_rows_lands_whole_or_not_at_all(world: World) {
    if matches!(world.side, Side::Memory) {
        return;
    }
    let tenant = world.tenant("demobank", 0).await;
    let quote = world.quote(tenant).await;
    for polls in 0..8 {
        let mut ws = remembered(&rows(&world, &quote).await);
        let mut ids = world.store.ids();
        put_quote(&mut ws, tenant, ids.as_mut());
        let batch = BatchId(ids.next());
        let mut future = Box::pin(world.store.save(batch, ws));
        for _ in 0..polls {
            let polled = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())
            });
            if polled.await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(future);
        let before = world.store.event_head(tenant).await.expect("read");
        let landed = world.store.was_committed(batch).await.expect("asked");
        let after = world.store.event_head(tenant).await.expect("read");
        assert!(landed || before == after, "nothing lands after it was reported as lost");
    }
    world.quote(tenant).await;
    let events = world.store.events_after(tenant, 0, 100).await.expect("read");
    assert_eq!(events.len() as i64, world.store.event_head(tenant).await.expect("read"));
}

/// A handle on the database with its cache.
struct Node {
    world: World,
    rows: WorkingSet,
}

impl Node {
    /// Commits on cached rows; on loaded rows if the cache is stale.
    async fn commit<T: Send>(
        &mut self,
        need: &Need,
        decide: impl Fn(&mut WorkingSet, &mut dyn IdSource) -> T + Send + Sync,
    ) -> T {
        let store = &self.world.store;
        let mut ids = store.ids();
        let batch = BatchId(ids.next());
        let mut rows = remembered(&self.rows);
        let mut made = decide(&mut rows, ids.as_mut());
        let committed = match store.save(batch, rows).await {
            Err(ExecuteError::Contended) => store
                .execute(batch, need, &mut |ws| made = decide(ws, ids.as_mut()))
                .await
                .expect("committed"),
            saved => saved.expect("saved or refused"),
        };
        self.rows = committed.rows;
        made
    }

    /// Creates and pays quotes; returns the reserved amount.
    async fn work(mut self, tenant: TenantId, rounds: usize) -> i64 {
        let mut reserved = 0;
        for _ in 0..rounds {
            let quote =
                self.commit(&tenant_need(tenant), |ws, ids| put_quote(ws, tenant, ids)).await;
            let payment =
                self.commit(&need(&quote), |ws, ids| put_payment(ws, &quote, None, ids)).await;
            reserved += payment.charge.total().expect("fits").minor;
        }
        reserved
    }
}

pub async fn batches_on_cached_rows_write_one_after_the_other(world: World) {
    const ROUNDS: usize = 12;
    let tenant = world.tenant("demobank", 100_000_000_000).await;
    let quote = world.quote(tenant).await;
    let mut work = Vec::new();
    for _ in 0..3 {
        let world = match world.reopened(|_| {}).await {
            Some(store) => {
                store.ready().await.expect("ready");
                World { store, ..world.clone() }
            }
            None => world.clone(),
        };
        let rows = rows(&world, &quote).await;
        work.push(Node { world, rows }.work(tenant, ROUNDS));
    }
    let top_ups = async {
        for _ in 0..ROUNDS {
            Meanwhile::ToppedUp.happen(&world, &quote).await;
        }
    };
    let (reserved, ()) =
        futures_util::future::join(futures_util::future::join_all(work), top_ups).await;
    let events = world.store.events_after(tenant, 0, 1_000).await.expect("read");
    let numbers = events.iter().map(|entry| entry.event.seq);
    assert!(numbers.eq((1..).take(1 + 3 * 3 * ROUNDS)), "{} events", events.len());
    let account = prefund(&world, tenant).await;
    let paid_in = 100_000_000_000 + ROUNDS as i64;
    assert_eq!(
        (account.credits_posted, account.debits_pending),
        (paid_in, reserved.iter().sum::<i64>())
    );
    let open =
        rows(&world, &quote).await.open_quotes.all().map(|(_, count)| *count).collect::<Vec<_>>();
    assert_eq!(open, [1]);
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}
