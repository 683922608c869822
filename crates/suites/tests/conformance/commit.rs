//! Batches: all or nothing, decided again after a conflicting commit, unknown after a lost answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::chain::{ChainNumber, KeyRole};
use domain::decision::IdSource;
use domain::ids::BatchId;
use store::options::{FaultAction, FaultPoint, Faults};
use store::working_set::{SignerRow, WorkingSet};
use store::{ExecuteError, TRIES_MAX};

use crate::wallet_world::SIGNER;
use crate::world::{Side, World, put_payment, put_quote, tenant_need};

/// Injects one fault into the first batch that passes a point.
struct Once(FaultPoint, FaultAction, AtomicUsize);

impl Faults for Once {
    fn at(&self, point: FaultPoint, _: BatchId) -> FaultAction {
        let first = point == self.0 && self.2.fetch_add(1, Ordering::SeqCst) == 0;
        if first { self.1 } else { FaultAction::Proceed }
    }
}

fn once(point: FaultPoint, action: FaultAction) -> Arc<dyn Faults> {
    Arc::new(Once(point, action, AtomicUsize::new(0)))
}

pub async fn a_conflict_is_decided_again_on_fresh_rows(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let taken = world.payment(tenant, Some("mine")).await;
    let quote = world.quote(tenant).await;
    let mut need = tenant_need(tenant);
    need.quotes.insert((tenant, quote.id));
    need.external_ids.insert((tenant, "mine".to_owned()));
    let mut runs = 0;
    let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        runs += 1;
        // The first run ignores that the external id is taken.
        if runs == 1 {
            put_payment(ws, &quote, Some("mine"), ids);
            ws.external_ids = store::working_set::Table::default();
            ws.external_ids.put((tenant, "mine".to_owned()), taken.id);
            ws.keep();
        } else {
            assert_eq!(ws.external_ids.get(&(tenant, "mine".to_owned())), Some(&taken.id));
        }
    };
    world.execute(&need, decide).await.expect("decided again");
    assert_eq!(runs, 2);
    let left = world.store.quote(tenant, quote.id).await.expect("read").expect("there");
    assert_eq!(left, quote, "nothing of the first run is left");
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}

pub async fn a_conflict_that_stays_is_contended(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, Some("mine")).await;
    let mut runs = 0;
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        runs += 1;
        ws.external_ids.put((tenant, "mine".to_owned()), payment.id);
        ws.keep();
    };
    // The need does not name it, so the batch never learns that it is taken.
    assert_eq!(world.execute(&tenant_need(tenant), decide).await, Err(ExecuteError::Contended));
    assert_eq!(runs, TRIES_MAX);
    world.payment(tenant, Some("another")).await;
}

pub async fn a_refused_batch_leaves_nothing(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let mut made = Vec::new();
    let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        made.push(put_quote(ws, tenant, ids).id);
        let mut bad = put_quote(ws, tenant, ids);
        bad.offer.amount.minor = 0;
        ws.quotes.put((tenant, bad.id), bad);
        ws.keep();
    };
    let refused = world.execute(&tenant_need(tenant), decide).await;
    assert!(matches!(refused, Err(ExecuteError::Rejected(_))), "{refused:?}");
    for id in made {
        assert_eq!(world.store.quote(tenant, id).await, Ok(None));
    }
    assert_eq!(world.store.event_head(tenant).await, Ok(0));
}

async fn one_quote_under(
    world: &World,
    faults: Arc<dyn Faults>,
) -> (World, BatchId, Result<BatchId, ExecuteError>, bool) {
    let world = world.with_faults(faults).await;
    let mut ids = world.store.ids();
    // Creating a tenant is not a batch and passes no fault point.
    let tenant = world.tenant("faulty", 0).await;
    let batch = BatchId(ids.next());
    let mut made = None;
    let result = world
        .store
        .execute(batch, &tenant_need(tenant), &mut |ws| {
            made = Some(put_quote(ws, tenant, ids.as_mut()).id)
        })
        .await
        .map(|_| batch);
    let there = world.store.quote(tenant, made.expect("made")).await.expect("read").is_some();
    (world, batch, result, there)
}

pub async fn a_lost_acknowledgement_is_found_to_be_committed(world: World) {
    let (world, batch, result, there) =
        one_quote_under(&world, once(FaultPoint::AfterCommit, FaultAction::LoseAck)).await;
    assert_eq!((result, there), (Err(ExecuteError::CommitUnknown(batch)), true));
    assert_eq!(world.store.was_committed(batch).await, Ok(true));
}

pub async fn a_lost_commit_is_found_never_to_land(world: World) {
    let (world, batch, result, there) =
        one_quote_under(&world, once(FaultPoint::BeforeCommit, FaultAction::LoseCommit)).await;
    assert_eq!((result, there), (Err(ExecuteError::CommitUnknown(batch)), false));
    assert_eq!(world.store.was_committed(batch).await, Ok(false));
    // From now on it can no longer land.
    let tenant = world.tenant("later", 0).await;
    let mut ids = world.store.ids();
    let late = world
        .store
        .execute(batch, &tenant_need(tenant), &mut |ws| _ = put_quote(ws, tenant, ids.as_mut()))
        .await;
    assert_eq!(late.map(|committed| committed.at), Err(ExecuteError::Contended));
    assert_eq!(world.store.event_head(tenant).await, Ok(0));
}

pub async fn a_failure_before_the_commit_leaves_nothing(world: World) {
    let (world, batch, result, there) =
        one_quote_under(&world, once(FaultPoint::BeforeCommit, FaultAction::FailBefore)).await;
    assert!(matches!(result, Err(ExecuteError::Unavailable(_))), "{result:?}");
    assert!(!there);
    assert_eq!(world.store.was_committed(batch).await, Ok(false));
    // The writer is free for the next batch.
    let tenant = world.tenant("next", 1_000_000_000).await;
    world.payment(tenant, None).await;
}

pub async fn asking_again_gives_the_same_answer(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let landed = world
        .execute(&tenant_need(tenant), |ws, ids| _ = put_quote(ws, tenant, ids))
        .await
        .expect("saved");
    let never = BatchId(world.store.ids().next());
    for _ in 0..3 {
        assert_eq!(world.store.was_committed(landed).await, Ok(true));
        assert_eq!(
            world.store.was_committed(never).await,
            Ok(false),
            "the question itself does not count as a commit"
        );
    }
}

pub async fn event_numbers_have_no_gaps_under_concurrent_batches(world: World) {
    const BATCHES: usize = 24;
    let tenants = [world.tenant("one", 0).await, world.tenant("two", 0).await];
    let other = match world.reopened(|_| {}).await {
        Some(store) => {
            store.ready().await.expect("ready");
            World { store, ..world.clone() }
        }
        None => world.clone(),
    };
    let work = (0..BATCHES).map(|at| {
        let world = if at % 2 == 0 { &world } else { &other };
        let mut need = tenant_need(tenants[at % tenants.len()]);
        // Every third batch concerns both tenants.
        if at % 3 == 0 {
            tenants.iter().for_each(|tenant| need.merge(tenant_need(*tenant)));
        }
        async move {
            let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
                for tenant in need.tenants.clone() {
                    put_quote(ws, tenant, ids);
                    put_quote(ws, tenant, ids);
                }
            };
            world.execute(&need.clone(), decide).await.map(|_| need.tenants.len())
        }
    });
    let made: Vec<usize> = futures_util::future::join_all(work)
        .await
        .into_iter()
        .map(|done| done.expect("committed"))
        .collect();
    let mut found = 0;
    for tenant in tenants {
        let events = world.store.events_after(tenant, 0, 1_000).await.expect("read");
        let numbers: Vec<i64> = events.iter().map(|entry| entry.event.seq).collect();
        let expected: Vec<i64> = (1..=i64::try_from(numbers.len()).expect("few")).collect();
        assert_eq!(numbers, expected);
        assert!(events.is_sorted_by_key(|entry| entry.event.at), "time does not go back");
        found += events.len();
    }
    assert_eq!(found, made.iter().sum::<usize>() * 2);
}

pub async fn a_cancelled_caller_leaves_nothing(world: World) {
    if matches!(world.side, Side::Memory) {
        return;
    }
    let tenant = world.tenant("demobank", 0).await;
    // Cancelled at any of its first waits, the batch either committed as a whole or left nothing.
    for polls in 0..8 {
        let mut ids = world.store.ids();
        let batch = BatchId(ids.next());
        let need = tenant_need(tenant);
        let mut decide = |ws: &mut WorkingSet| _ = put_quote(ws, tenant, ids.as_mut());
        let mut future = Box::pin(world.store.execute(batch, &need, &mut decide));
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

pub async fn a_batch_must_lock_every_tenant_that_it_names(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let mut need = tenant_need(tenant);
    need.tenants.clear();
    let refused = world.execute(&need, |_, _| panic!("not decided")).await;
    assert!(matches!(refused, Err(ExecuteError::Corrupt(_))), "{refused:?}");
}

/// Rows are encoded while earlier ones are on their way to the database.
pub async fn a_row_that_cannot_be_encoded_rolls_back_its_batch(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let quote = world.quote(tenant).await;
    let mut need = tenant_need(tenant);
    need.quotes.insert((tenant, quote.id));
    let mut ids = world.store.ids();
    let batch = BatchId(ids.next());
    let mut decide = |ws: &mut WorkingSet| {
        put_payment(ws, &quote, Some("mine"), ids.as_mut());
        ws.signers.put(
            (tenant, (ChainNumber::FIRST, SIGNER)),
            SignerRow { role: KeyRole::Operator, next_nonce: u64::MAX },
        );
        ws.keep();
    };
    let refused = world.store.execute(batch, &need, &mut decide).await;
    assert!(
        matches!(&refused, Err(ExecuteError::Corrupt(why)) if why.contains("chain_signer.next_nonce")),
        "{refused:?}"
    );
    assert_eq!(world.store.was_committed(batch).await, Ok(false));
    assert_eq!(world.store.quote(tenant, quote.id).await, Ok(Some(quote)), "not used");
    world.payment(tenant, Some("mine")).await;
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}
