//! Deliveries of the payment service's events: the switch, their reads, unsubscribed events, and
//! pruning.

use domain::decision::IdSource;
use domain::delivery::{Delivery, DeliveryState, DeliveryStream};
use domain::event::EventKind;
use domain::ids::TenantId;
use domain::payment::Payment;
use domain::time::{Span, Timestamp};
use domain::wallet_event::Aggregate;
use store::working_set::{Head, WorkingSet};
use store::{DeliveredEvent, DeliveryFilter, EventSubject, EventsOf, Page, StoreError};

use crate::wallet_office::turned;
use crate::world::{World, tenant_need};

const FIRST: Page = Page { page: 0, limit: 100 };

async fn head(world: &World, tenant: TenantId) -> Head {
    let mut found = None;
    let look = |ws: &mut WorkingSet, _: &mut dyn IdSource| found = ws.heads.get(&tenant).copied();
    world.execute(&tenant_need(tenant), look).await.expect("read");
    found.expect("a head")
}

pub async fn payment_events_are_switched_where_batches_see_it(world: World) {
    let (tenant, other) =
        (world.tenant("demobank", 1_000_000_000).await, world.tenant("other", 0).await);
    let store = &world.store;
    let nobody = store.set_payment_webhooks(tenant, true, "op").await;
    assert!(matches!(nobody, Err(StoreError::Conflict(_))), "{nobody:?}");
    store
        .add_webhook(tenant, "https://bank.example", "whsec_a".to_owned().into(), "op")
        .await
        .expect("added");
    assert!(!head(&world, tenant).await.payment_webhooks, "off by default");
    assert!(!store.webhook(tenant).await.expect("read").expect("there").payment_events);
    store.set_payment_webhooks(tenant, true, "op").await.expect("switched");
    assert!(head(&world, tenant).await.payment_webhooks);
    assert!(store.webhook(tenant).await.expect("read").expect("there").payment_events);
    assert!(!head(&world, other).await.payment_webhooks);
    assert!(matches!(
        store.set_payment_webhooks(tenant, true, "op").await,
        Err(StoreError::Conflict(_))
    ));
    // A batch numbers events and leaves the switch unchanged.
    world.payment(tenant, None).await;
    assert!(
        head(&world, tenant).await.payment_webhooks && head(&world, tenant).await.payment_seq > 0
    );
    store.set_payment_webhooks(tenant, false, "op").await.expect("switched");
    assert!(!head(&world, tenant).await.payment_webhooks);
    let audited = world.audited(tenant).await;
    let deeds =
        audited.iter().filter(|entry| entry.note.action == "webhook.set_payment_events").count();
    assert_eq!(deeds, 2);
}

/// Sets the deliveries of a payment's events with these numbers to this state.
pub async fn delivered(
    world: &World,
    payment: &Payment,
    versions: &[i64],
    state: DeliveryState,
) -> Vec<Delivery> {
    let (tenant, aggregate) = (payment.tenant, Aggregate::Payment(payment.id));
    let mut made = Vec::new();
    let write = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        made.clear();
        for version in versions {
            made.push(Delivery {
                event: aggregate.event_id(tenant, *version),
                tenant,
                aggregate,
                version: *version,
                state,
                tries: 1,
                attempts: 1,
                created_at: ws.now,
                next_at: None,
                delivered_at: (state == DeliveryState::Delivered).then_some(ws.now),
                last_status: Some(500),
                last_fault: None,
                revision: 1,
            });
        }
        made.iter().for_each(|it| ws.deliveries.put((tenant, it.event), it.clone()));
        let newest = versions.iter().max().copied().unwrap_or(1);
        let open = if state == DeliveryState::Pending { newest } else { newest + 1 };
        let stream = DeliveryStream::after((aggregate, open - 1), tenant);
        ws.streams.put((tenant, payment.id.0), DeliveryStream { newest, ..stream });
        ws.keep();
    };
    world.execute(&tenant_need(tenant), write).await.expect("saved");
    made
}

pub async fn deliveries_of_payment_events_are_read_with_their_events(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (payment, quiet) = (world.payment(tenant, None).await, world.payment(tenant, None).await);
    let store = &world.store;
    let since = Timestamp(0);
    let untold = store.untold_payment_events(tenant, since, 99).await.expect("read");
    // For each: quote created, quote used, payment queued.
    assert_eq!(untold.len(), 6, "{untold:?}");
    assert!(untold.iter().all(|it| it.aggregate.event_id(tenant, it.version) == it.id));
    let dead = delivered(&world, &payment, &[1], DeliveryState::Dead).await.remove(0);
    let record = store.delivery(tenant, dead.event).await.expect("read").expect("there");
    assert_eq!(
        (&record.delivery, record.event.id(), record.event.kind_name()),
        (&dead, dead.event, "payment.queued")
    );
    assert_eq!(record.event.path(), "/webhooks/payment/payment-queued");
    let DeliveredEvent::Payment(event) = &record.event else {
        panic!("a wallet event: {record:?}")
    };
    let logged = store.events_after(tenant, 0, 99).await.expect("read");
    assert!(logged.contains(event), "as in the log");
    assert!(matches!(&event.subject, EventSubject::Payment(of) if of.payment.id == payment.id));
    let left = store.untold_payment_events(tenant, since, 99).await.expect("read");
    assert_eq!(left.len(), 5);
    assert!(left.iter().all(|it| it.id != dead.event));
    assert_eq!(
        store.untold_payment_events(tenant, since, 2).await.expect("read"),
        left[..2],
        "the oldest first"
    );
    let later = world.now().await + Span::secs(1);
    assert_eq!(store.untold_payment_events(tenant, later, 9).await, Ok(Vec::new()));

    let of = |of| DeliveryFilter { of, ..DeliveryFilter::default() };
    let listed = store.deliveries(tenant, &of(EventsOf::Payments), FIRST).await.expect("read");
    assert_eq!((listed.rows, listed.total), (vec![record.clone()], 1));
    assert_eq!(
        store.deliveries(tenant, &of(EventsOf::Wallets), FIRST).await.expect("read").total,
        0
    );
    let kinds = vec![EventKind::PaymentFailed.name()];
    let failed = DeliveryFilter { kinds, ..of(EventsOf::Payments) };
    assert_eq!(store.deliveries(tenant, &failed, FIRST).await.expect("read").total, 0);
    assert_eq!(store.lost_payment_deliveries(tenant, since, 9).await, Ok(vec![record]));
    assert_eq!(store.lost_payment_deliveries(tenant, later, 9).await, Ok(Vec::new()));
    assert_eq!(store.lost_deliveries(tenant, since, 9).await, Ok(Vec::new()));
    let done = delivered(&world, &quiet, &[1], DeliveryState::Delivered).await.remove(0);
    assert_eq!(store.lost_payment_deliveries(tenant, since, 9).await.expect("read").len(), 1);
    let newest = store.deliveries(tenant, &of(EventsOf::Payments), FIRST).await.expect("read");
    assert_eq!(newest.rows.len(), 2);
    assert!(newest.rows.iter().any(|it| it.delivery == done));
    let third = world.payment(tenant, None).await;
    delivered(&world, &third, &[1], DeliveryState::Dead).await;
    let all = store.deliveries(tenant, &of(EventsOf::Payments), FIRST).await.expect("read").rows;
    let office = turned(async |page| {
        store.office_deliveries(tenant, &of(EventsOf::Payments), page).await.expect("read")
    });
    assert_eq!(office.await, all);
}

pub async fn old_payment_events_go_with_their_deliveries_but_not_before_them(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (done, stuck) = (world.payment(tenant, None).await, world.payment(tenant, None).await);
    let through = delivered(&world, &done, &[1], DeliveryState::Delivered).await.remove(0);
    let waits = delivered(&world, &stuck, &[1], DeliveryState::Pending).await.remove(0);
    let store = &world.store;
    let prune = async || {
        let now = world.now().await;
        world.store.prune(now).await.expect("pruned").events
    };
    world.pass(Span::days(31)).await;
    let mut pruned = 0;
    loop {
        match prune().await {
            0 => break,
            count => pruned += count,
        }
    }
    assert_eq!(pruned, 5, "everything before the first undelivered one");
    assert_eq!(store.delivery(tenant, through.event).await, Ok(None));
    assert_eq!(
        store.delivery_stream(tenant, through.aggregate).await,
        Ok(None),
        "the next one starts over"
    );
    assert!(store.delivery(tenant, waits.event).await.expect("read").is_some());
    assert!(store.delivery_stream(tenant, waits.aggregate).await.expect("read").is_some());
}
