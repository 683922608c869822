//! Saved rows equal loaded rows.

use domain::attempt::AttemptState;
use domain::decision::Cx;
use domain::event::EventKind;
use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId};
use domain::payment::PaymentState;
use domain::payment::report::{apply, begin_attempt};
use domain::quote::QuoteState;
use domain::rail::{RailId, RailReport, RailStatus};
use domain::time::Span;
use futures_util::FutureExt;
use store::EventSubject;
use store::need::Need;
use uuid::Uuid;

use crate::world::{
    World, order, payment_need, put_bound_quote, put_effects, put_quote, tenant_need,
};

pub async fn a_payment_lives_through_all_its_rows(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, Some("order-1")).await;
    let record =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    assert_eq!(record.payment, payment);
    assert_eq!(record.order, order(&record.quote, Some("order-1")));
    assert_eq!((record.quote.state, record.quote.payment), (QuoteState::Used, Some(payment.id)));
    assert_eq!(world.store.quote(tenant, payment.quote).await, Ok(Some(record.quote.clone())));
    assert_eq!(world.store.payment_id_by_external(tenant, "order-1").await, Ok(Some(payment.id)));

    let rail = RailId::new("pak-raast");
    let mut begun = None;
    let begin = |ws: &mut store::working_set::WorkingSet,
                 ids: &mut dyn domain::decision::IdSource| {
        let mut it = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
        assert_eq!(it, payment, "the working set has what was saved");
        assert!(
            ws.jobs.get(&(tenant, payment.id.0)).cloned().flatten().is_some(),
            "its job is loaded with it"
        );
        let attempt = begin_attempt(&mut it, None, (&rail, None), &mut Cx { now: ws.now, ids })
            .expect("begun");
        ws.attempts.put((tenant, attempt.id), attempt.clone());
        ws.payments.put((tenant, payment.id), it);
        ws.keep();
        begun = Some(attempt);
    };
    world.execute(&payment_need(&payment), begin).await.expect("saved");
    let attempt = begun.expect("begun");
    assert_eq!(world.store.attempts(tenant, payment.id).await, Ok(vec![attempt.clone()]));
    let owners =
        world.store.attempt_owners(&rail, [attempt.id, AttemptId(uuid::Uuid::nil())]).await;
    assert_eq!(owners, Ok([(attempt.id, (tenant, payment.id))].into()));
    let other = RailId::new("pak-ibft");
    let owners = world.store.attempt_owners(&other, [attempt.id]).await;
    assert_eq!(owners, Ok([].into()), "another rail's reports do not match it");

    settle(&world, &payment, &attempt, "REF-77").await;
    let record =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    assert_eq!(record.payment.standing.state, PaymentState::Succeeded);
    assert_eq!(record.payment.standing.bank_reference.as_deref(), Some("REF-77"));
    assert_eq!(
        world.store.attempts(tenant, payment.id).await.expect("read")[0].state,
        AttemptState::Settled
    );
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    assert!(
        world.store.job_counts().await.expect("read").is_empty(),
        "a payment in a terminal state has no job"
    );
    assert_eq!(world.store.payments_without_job(10).await, Ok(Vec::new()));
}

async fn settle(
    world: &World,
    payment: &domain::payment::Payment,
    attempt: &domain::attempt::Attempt,
    reference: &str,
) {
    let tenant = payment.tenant;
    let report = RailReport {
        attempt: attempt.id,
        status: RailStatus::Settled,
        reason: None,
        info: None,
        bank_reference: Some(reference.to_owned()),
        return_id: None,
        amount: None,
        source: "camt.054".to_owned(),
        further_reasons: Vec::new(),
        charges: None,
    };
    let decide = |ws: &mut store::working_set::WorkingSet,
                  ids: &mut dyn domain::decision::IdSource| {
        let mut it = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
        let mut last = ws
            .attempts
            .get(&(tenant, attempt.id))
            .cloned()
            .expect("the newest attempt is loaded with it");
        let cx = &mut Cx { now: ws.now, ids };
        let effects = apply(&mut it, &mut last, &report, None, Span::days(5), cx);
        ws.attempts.put((tenant, last.id), last);
        put_effects(ws, &it, effects);
        ws.keep();
    };
    world.execute(&payment_need(payment), decide).await.expect("saved");
}

pub async fn discarded_changes_leave_no_trace(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (mut kept, mut dropped) = (None, None);
    let decide = |ws: &mut store::working_set::WorkingSet,
                  ids: &mut dyn domain::decision::IdSource| {
        kept = Some(put_quote(ws, tenant, ids).id);
        let mut again = ws.quotes.get(&(tenant, kept.expect("made"))).cloned().expect("there");
        again.id = QuoteId(ids.next());
        dropped = Some(again.id);
        ws.quotes.put((tenant, again.id), again);
        ws.append(tenant, Vec::new());
        ws.discard();
    };
    world.execute(&tenant_need(tenant), decide).await.expect("saved");
    assert!(world.store.quote(tenant, kept.expect("made")).await.expect("read").is_some());
    assert_eq!(world.store.quote(tenant, dropped.expect("made")).await, Ok(None));
    assert_eq!(world.store.event_head(tenant).await, Ok(1));
}

pub async fn a_batch_that_changes_nothing_writes_nothing(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let batch = world.execute(&tenant_need(tenant), |_, _| {}).await.expect("done");
    assert_eq!(world.store.was_committed(batch).await, Ok(false), "not even the batch's own row");
}

pub async fn a_foreign_or_unknown_id_is_not_found(world: World) {
    let (one, two) = (world.tenant("one", 1_000_000_000).await, world.tenant("two", 0).await);
    let payment = world.payment(one, Some("x")).await;
    assert_eq!(world.store.payment_record(two, payment.id).await, Ok(None));
    assert_eq!(world.store.quote(two, payment.quote).await, Ok(None));
    assert_eq!(world.store.payment_id_by_external(two, "x").await, Ok(None));
    assert_eq!(world.store.attempts(two, payment.id).await, Ok(Vec::new()));
    for strange in [
        Uuid::nil(),
        Uuid::max(),
        Uuid::new_v4(),
        Uuid::from_u128(payment.id.0.as_u128() ^ (1 << 77)),
    ] {
        assert_eq!(
            world.store.payment_record(one, PaymentId(strange)).await,
            Ok(None),
            "{strange}"
        );
    }
    let mut need = tenant_need(two);
    need.payments.insert((two, payment.id));
    need.external_ids.insert((two, "x".to_owned()));
    let seen = |ws: &mut store::working_set::WorkingSet, _: &mut dyn domain::decision::IdSource| {
        assert!(ws.payments.get(&(two, payment.id)).is_none());
        assert!(ws.external_ids.get(&(two, "x".to_owned())).is_none());
    };
    world.execute(&need, seen).await.expect("done");
}

pub async fn a_quote_keeps_its_bound_account_to_itself(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let mut made = None;
    world
        .execute(&tenant_need(tenant), |ws, ids| made = Some(put_bound_quote(ws, tenant, ids)))
        .await
        .expect("saved");
    let made = made.expect("made");
    assert_eq!(world.store.quote(tenant, made.id).await, Ok(Some(made.clone())));
    let mut need: Need = tenant_need(tenant);
    need.quotes.insert((tenant, made.id));
    let same = |ws: &mut store::working_set::WorkingSet, _: &mut dyn domain::decision::IdSource| {
        assert_eq!(ws.quotes.get(&(tenant, made.id)), Some(&made));
    };
    world.execute(&need, same).await.expect("done");
}

pub async fn events_come_with_what_they_are_about(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let events = world.store.events_after(tenant, 0, 100).await.expect("read");
    let kinds: Vec<EventKind> = events.iter().map(|entry| entry.event.kind).collect();
    assert_eq!(kinds, [EventKind::QuoteCreated, EventKind::QuoteUsed, EventKind::PaymentQueued]);
    assert_eq!(events.iter().map(|entry| entry.event.seq).collect::<Vec<_>>(), [1, 2, 3]);
    let record =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    for entry in &events {
        match &entry.subject {
            EventSubject::Quote(quote) => {
                assert_eq!((&**quote, entry.event.subject), (&record.quote, quote.id.0))
            }
            EventSubject::Payment(of) => {
                assert_eq!(**of, record);
                assert_eq!(entry.event.standing.as_ref(), Some(&payment.standing));
            }
        }
    }
    assert_eq!(world.store.events_after(tenant, 2, 100).await.expect("read"), events[2..]);
    assert_eq!(world.store.events_after(tenant, 0, 1).await.expect("read"), events[..1]);
    assert_eq!(world.store.event_head(tenant).await, Ok(3));
    assert_eq!(world.store.oldest_event(tenant).await, Ok(Some((1, events[0].event.at))));
    let nobody = TenantId(Uuid::new_v4());
    assert_eq!(
        world.store.events_after(nobody, 0, 9).now_or_never().unwrap_or(Ok(Vec::new())),
        Ok(Vec::new())
    );
    assert_eq!(
        (world.store.event_head(nobody).await, world.store.oldest_event(nobody).await),
        (Ok(0), Ok(None))
    );
}

pub async fn ids_are_random_outside_and_ordered_inside(world: World) {
    let mut ids = world.store.ids();
    let made: Vec<Uuid> = (0..50).map(|_| ids.next()).collect();
    assert!(made.iter().all(|id| id.get_version_num() == 4));
    assert!(!made.is_sorted(), "public ids are not in order");
    let mut again = world.store.ids();
    assert!(!made.contains(&again.next()));
}
