//! Expiry, pruning, and open work.

use domain::decision::IdSource;
use domain::payment::Discrepancy;
use domain::time::Span;
use store::KeptAnswer;
use store::need::IdempotencyKey;
use store::working_set::{IdempotencyRecord, Made, WorkingSet};

use crate::world::{World, payment_need, put_quote, tenant_need};

pub async fn idempotency_is_kept_and_replaced(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let key = IdempotencyKey { scope: "POST /v2/quote".to_owned(), key: "k-1".to_owned() };
    let mut need = tenant_need(tenant);
    need.idempotency.insert((tenant, key.clone()));
    let mut seen = Vec::new();
    for hash in [1_u8, 2] {
        let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
            seen.push(ws.idempotency.get(&(tenant, key.clone())).cloned());
            let quote = put_quote(ws, tenant, ids);
            let record = IdempotencyRecord {
                body_hash: [hash; 32],
                made: Made::Quote(quote.id),
                at: ws.now,
            };
            ws.idempotency.put((tenant, key.clone()), record);
            ws.keep();
        };
        world.execute(&need, decide).await.expect("saved");
        world.pass(Span::secs(1)).await;
    }
    world
        .execute(&need, |ws, _| seen.push(ws.idempotency.get(&(tenant, key.clone())).cloned()))
        .await
        .expect("read");
    let hashes: Vec<Option<u8>> =
        seen.iter().map(|record| record.as_ref().map(|it| it.body_hash[0])).collect();
    assert_eq!(hashes, [None, Some(1), Some(2)]);
    let other = world.tenant("other", 0).await;
    let mut need = tenant_need(other);
    need.idempotency.insert((other, key.clone()));
    let unseen = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert!(
            ws.idempotency.get(&(other, key.clone())).is_none(),
            "keys are scoped to their tenant"
        );
    };
    world.execute(&need, unseen).await.expect("read");
}

pub async fn the_answer_under_a_key_is_kept_sealed(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let key = |key: &str| IdempotencyKey {
        scope: "POST /v1/sdk/wallets/provision".to_owned(),
        key: key.to_owned(),
    };
    assert_eq!(world.store.kept_answer(tenant, &key("k-1")).await, Ok(None));
    for (hash, body) in [(1, &b"{\"customer_email\":\"first@example.com\"}"[..]), (2, b"{}")] {
        let answer = KeptAnswer { body_hash: [hash; 32], body: body.to_vec() };
        world.store.keep_answer(tenant, &key("k-1"), &answer).await.expect("kept");
        assert_eq!(world.store.kept_answer(tenant, &key("k-1")).await, Ok(Some(answer)));
    }
    assert_eq!(world.store.kept_answer(tenant, &key("k-2")).await, Ok(None));
    assert_eq!(
        world.store.kept_answer(other, &key("k-1")).await,
        Ok(None),
        "keys are scoped to their tenant"
    );
    // Another row's answer does not open here: it is bound to its key.
    let moved = "UPDATE kept_answer SET idem_key = 'k-2' WHERE idem_key = 'k-1'";
    if let Some(moved) = world.sql(moved).await {
        assert_eq!(moved, Ok(1));
        let refused = world.store.kept_answer(tenant, &key("k-2")).await;
        assert!(matches!(refused, Err(store::StoreError::Corrupt(_))), "{refused:?}");
    }
}

pub async fn old_rows_are_removed_and_young_ones_kept(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let key = IdempotencyKey { scope: "POST /v2/quote".to_owned(), key: "k".to_owned() };
    let put = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        let quote = put_quote(ws, tenant, ids);
        let record =
            IdempotencyRecord { body_hash: [0; 32], made: Made::Quote(quote.id), at: ws.now };
        ws.idempotency.put((tenant, key.clone()), record);
        ws.keep();
    };
    let mut need = tenant_need(tenant);
    need.idempotency.insert((tenant, key.clone()));
    let old = world.execute(&need, put).await.expect("saved");
    let answer = KeptAnswer { body_hash: [0; 32], body: b"{}".to_vec() };
    world.store.keep_answer(tenant, &key, &answer).await.expect("kept");
    world.pass(Span::days(20)).await;
    assert_eq!(world.store.kept_answer(tenant, &key).await, Ok(None), "too old to be replayed");
    let young = world.quote(tenant).await;
    let now = world.now().await;
    let gone = world.store.prune(now).await.expect("pruned");
    assert_eq!((gone.idempotency, gone.answers, gone.batches, gone.events), (1, 1, 1, 0));
    world.pass(Span::days(11)).await;
    let now = world.now().await;
    let gone = world.store.prune(now).await.expect("pruned");
    assert_eq!((gone.idempotency, gone.batches, gone.events), (0, 1, 1));
    assert_eq!(world.store.prune(now).await, Ok(store::Pruned::default()));
    assert_eq!(world.store.oldest_event(tenant).await.expect("read").map(|(seq, _)| seq), Some(2));
    assert_eq!(world.store.event_head(tenant).await, Ok(2), "numbering continues");
    assert!(world.store.quote(tenant, young.id).await.expect("read").is_some());
    assert_eq!(world.store.was_committed(old).await, Ok(false), "no query comes that late");
}

pub async fn pruning_says_whether_more_may_be_left(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    // As much as one run removes.
    let most = 5_000;
    let key = |number: usize| {
        (tenant, IdempotencyKey { scope: "POST /v2/quote".to_owned(), key: number.to_string() })
    };
    let mut need = tenant_need(tenant);
    need.idempotency.extend((0..=most).map(key));
    let put = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        let quote = put_quote(ws, tenant, ids);
        for number in 0..=most {
            let made = Made::Quote(quote.id);
            let record = IdempotencyRecord { body_hash: [0; 32], made, at: ws.now };
            ws.idempotency.put(key(number), record);
        }
        ws.keep();
    };
    world.execute(&need, put).await.expect("saved");
    world.pass(Span::days(4)).await;
    let now = world.now().await;
    for (removed, is_full) in [(5_000, true), (1, false), (0, false)] {
        let gone = world.store.prune(now).await.expect("pruned");
        assert_eq!((gone.idempotency, gone.is_full), (removed, is_full));
    }
}

pub async fn quotes_that_ran_out_are_found(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (first, used) = (world.quote(tenant).await, world.payment(tenant, None).await);
    world.pass(Span::mins(4)).await;
    let second = world.quote(tenant).await;
    let at = |quote: &domain::quote::Quote, shift: i64| {
        domain::time::Timestamp(quote.expires_at.0 + shift)
    };
    let past = |now, limit| world.store.expired_quotes(now, limit);
    assert_eq!(past(at(&first, -1), 9).await, Ok(Vec::new()));
    assert_eq!(past(at(&first, 0), 9).await, Ok(vec![(tenant, first.id)]));
    assert_eq!(past(at(&second, 0), 9).await, Ok(vec![(tenant, first.id), (tenant, second.id)]));
    assert_eq!(past(at(&second, 0), 1).await, Ok(vec![(tenant, first.id)]));
    assert!(used.quote != first.id && used.quote != second.id);
}

pub async fn discrepancies_are_noted_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    for what in ["amount differs", "amount differs", "status contradicts"] {
        let attempt = domain::ids::AttemptId(payment.id.0);
        let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
            ws.add_discrepancy(
                tenant,
                Discrepancy { payment: payment.id, attempt, what: what.to_owned() },
            );
            ws.keep();
        };
        world.execute(&payment_need(&payment), decide).await.expect("saved");
        world.pass(Span::secs(1)).await;
    }
    let found = world.store.discrepancies(tenant, 10).await.expect("read");
    let words: Vec<&str> = found.iter().map(|(_, it)| it.what.as_str()).collect();
    assert_eq!(words, ["status contradicts", "amount differs"]);
    assert!(found.iter().all(|(_, it)| it.payment == payment.id));
}

pub async fn a_payment_without_a_job_is_found(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    assert_eq!(world.store.payments_without_job(10).await, Ok(Vec::new()));
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.set_job(tenant, payment.id.0, domain::decision::JobChange::Done);
        ws.keep();
    };
    world.execute(&payment_need(&payment), decide).await.expect("saved");
    assert_eq!(world.store.payments_without_job(10).await, Ok(vec![(tenant, payment.id)]));
}
