//! The wallet service's event log and its deliveries; endpoints; pruning.

use std::collections::BTreeMap;

use domain::chain::{Address, TxHash};
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::decision::IdSource;
use domain::delivery::{Delivery, DeliveryAttempt, DeliveryState, DeliveryStream, Replays};
use domain::ids::{EventId, ExchangeId, TenantId};
use domain::money::Money;
use domain::payment_request::{PaymentRequest, SenderDetails};
use domain::risk::{Check, NextAction, ReasonCode, RiskLevel, RiskResult};
use domain::time::{Span, Timestamp};
use domain::wallet::{BlockReason, TriggeredBy, Wallet};
use domain::wallet_event::{
    Aggregate, NewWalletEvent, Subscriptions, WalletEvent, WalletEventEntry, WalletEventKind,
};
use futures_util::future::join_all;
use secrecy::SecretString;
use store::working_set::WorkingSet;
use store::{DeliveryFilter, Page, Permits, StoreError};
use uuid::Uuid;

use crate::wallet_office::turned;
use crate::wallet_world::{about, failed, word};
use crate::world::{World, tenant_need};

const FIRST: Page = Page { page: 0, limit: 100 };

/// One event of each kind, each of a separate aggregate.
fn one_of_each(wallet: &Wallet, request: &PaymentRequest, at: Timestamp) -> Vec<NewWalletEvent> {
    let (minor, coin, tx, customer) = (5, StableCoin::Usdt, TxHash(word(1)), "C-1".to_owned());
    let (order, about) = (ExchangeId(Uuid::new_v4()), about(request));
    let of_request = Aggregate::Request(request.id);
    let sender = SenderDetails { first_name: Some("Ali".to_owned()), ..SenderDetails::default() };
    let received = WalletEvent::PaymentReceived {
        about: about.clone(),
        minor,
        coin,
        blockchain: "ethereum".to_owned(),
        tx,
        from: Address([1; 20]),
        to: request.escrow,
        confirmations: 12,
        sender,
    };
    let checked = WalletEvent::RiskCheckComplete {
        about: about.clone(),
        result: RiskResult::ManualReview,
        score: 61,
        level: RiskLevel::High,
        checks: Check::ALL.to_vec(),
        reason: ReasonCode::PossibleMatch,
        next: NextAction::AwaitManualReview,
    };
    let settled = WalletEvent::ExchangeComplete {
        order,
        wallet: wallet.id,
        customer: customer.clone(),
        minor,
        coin,
        paid: Money::new(277_356, Currency::Pkr),
        rate: Decimal::new(27_875, 2),
        reference: "FT-1".to_owned(),
        iban: Some("PK36SCBL0000001123456702".to_owned()),
        holder: "Sana Samplekhan".to_owned(),
        at,
    };
    let blocked = WalletEvent::WalletBlocked {
        wallet: wallet.id,
        customer,
        reason: BlockReason::BankPolicyViolation,
        details: "d".to_owned(),
        at,
        auto_unblock_at: Some(at),
        triggered_by: TriggeredBy::Manual,
        deposit: None,
    };
    let event = |aggregate, version, event| NewWalletEvent { aggregate, version, event };
    vec![
        event(of_request, 1, received),
        event(of_request, 2, checked),
        event(of_request, 3, WalletEvent::TransferComplete { about, minor, coin, tx, at }),
        event(Aggregate::Order(order), 1, settled),
        event(Aggregate::Wallet(wallet.id), 1, blocked),
        failed(request, 4, at),
    ]
}

pub async fn wallet_events_are_numbered_and_kept(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let entries = world
        .put(tenant, |ws, _| {
            ws.append_wallet(tenant, vec![failed(&request, 9, ws.now)]);
            ws.discard();
            ws.append_wallet(tenant, one_of_each(&wallet, &request, ws.now))
        })
        .await;
    assert_eq!(entries.iter().map(|it| it.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(entries.iter().map(|it| it.event.kind()).eq(WalletEventKind::SPECIFIED));
    assert!(entries.iter().all(|it| it.id == it.aggregate.event_id(tenant, it.version)));
    let after = |seq, limit| world.store.wallet_events_after(tenant, seq, limit);
    assert_eq!(after(0, 99).await, Ok(entries.clone()));
    assert_eq!(after(4, 99).await, Ok(entries[4..].to_vec()));
    assert_eq!(after(0, 1).await, Ok(entries[..1].to_vec()));
    assert_eq!(world.store.wallet_event_head(tenant).await, Ok(6));
    assert_eq!(world.store.oldest_wallet_event(tenant).await, Ok(Some((1, entries[0].at))));
    assert_eq!(world.store.wallet_event_head(other).await, Ok(0));
    assert_eq!(world.store.oldest_wallet_event(other).await, Ok(None));
    assert_eq!(world.store.wallet_events_after(other, 0, 9).await, Ok(Vec::new()));
    // Each service numbers its own events.
    world.quote(tenant).await;
    assert_eq!(
        (world.store.event_head(tenant).await, world.store.wallet_event_head(tenant).await),
        (Ok(1), Ok(6))
    );
}

fn pending(entry: &WalletEventEntry) -> Delivery {
    Delivery {
        event: entry.id,
        tenant: entry.tenant,
        aggregate: entry.aggregate,
        version: entry.version,
        state: DeliveryState::Pending,
        tries: 0,
        attempts: 0,
        created_at: entry.at,
        next_at: Some(entry.at),
        delivered_at: None,
        last_status: None,
        last_fault: None,
        revision: 1,
    }
}

/// Events of a request, each with its delivery.
async fn announced(
    world: &World,
    request: &PaymentRequest,
    versions: std::ops::RangeInclusive<i64>,
) -> Vec<Delivery> {
    let (tenant, aggregate) = (request.tenant, Aggregate::Request(request.id));
    let newest = *versions.end();
    let mut need = tenant_need(tenant);
    need.streams.insert((tenant, request.id.0));
    let mut made = Vec::new();
    let announce = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let events = versions.clone().map(|version| failed(request, version, ws.now)).collect();
        made = ws.append_wallet(tenant, events).iter().map(pending).collect();
        for delivery in &made {
            ws.deliveries.put((tenant, delivery.event), delivery.clone());
        }
        let stream = ws.streams.get(&(tenant, request.id.0)).cloned();
        let stream = stream.unwrap_or_else(|| DeliveryStream::after((aggregate, 0), tenant));
        ws.streams.put((tenant, request.id.0), DeliveryStream { newest, ..stream });
        ws.keep();
    };
    world.execute(&need, announce).await.expect("saved");
    made
}

async fn end(world: &World, delivery: &Delivery, state: DeliveryState) -> Delivery {
    let tenant = delivery.tenant;
    let mut need = tenant_need(tenant);
    need.deliveries.insert((tenant, delivery.event));
    need.streams.insert((tenant, delivery.aggregate.id()));
    let mut ended = None;
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let mut it = ws.deliveries.get(&(tenant, delivery.event)).cloned().expect("loaded");
        assert_eq!(&it, delivery);
        (it.state, it.tries, it.attempts, it.revision) = (state, 2, 3, it.revision + 1);
        (it.next_at, it.last_status, it.last_fault) = (None, Some(503), Some("busy".to_owned()));
        it.delivered_at = (state == DeliveryState::Delivered).then_some(ws.now);
        ws.deliveries.put((tenant, it.event), it.clone());
        let key = (tenant, delivery.aggregate.id());
        let mut stream = ws.streams.get(&key).cloned().expect("loaded");
        stream.open = delivery.version + 1;
        stream.replays.due.insert(delivery.version);
        stream.replays.waiting.extend([7, 31]);
        ws.streams.put(key, stream);
        ws.add_delivery_attempt(DeliveryAttempt {
            tenant,
            event: it.event,
            number: it.attempts,
            at: ws.now,
            status: it.last_status,
            body: "{\"received\":false} \u{1f600}".to_owned(),
            fault: it.last_fault.clone(),
            took: Span::millis(15),
        });
        ws.keep();
        ended = Some(it);
    };
    world.execute(&need, decide).await.expect("saved");
    ended.expect("ended")
}

pub async fn deliveries_are_followed_by_aggregate_and_in_the_log(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let (one, two) = (world.request(&wallet).await, world.request(&wallet).await);
    let first = announced(&world, &one, 1..=3).await;
    world.pass(Span::mins(1)).await;
    let second = announced(&world, &two, 1..=1).await;
    let delivered = end(&world, &first[0], DeliveryState::Delivered).await;
    let dead = end(&world, &first[1], DeliveryState::Dead).await;
    let store = &world.store;
    let of = Aggregate::Request(one.id);
    let replays = Replays { due: [1, 2].into(), waiting: [7, 31].into() };
    let stream = DeliveryStream { newest: 3, replays, ..DeliveryStream::after((of, 2), tenant) };
    assert_eq!(store.delivery_stream(tenant, of).await, Ok(Some(stream)));
    let undelivered = store.undelivered(tenant, of).await.expect("read");
    assert_eq!(
        undelivered.iter().map(|it| it.delivery.clone()).collect::<Vec<_>>(),
        [dead.clone(), first[2].clone()]
    );
    let record = store.delivery(tenant, delivered.event).await.expect("read").expect("there");
    assert_eq!(
        (&record.delivery, record.event.id(), record.event.kind_name()),
        (&delivered, delivered.event, "transaction.failed")
    );
    assert_eq!(store.delivery(tenant, EventId(Uuid::new_v4())).await, Ok(None));
    let foreign = TenantId(Uuid::new_v4());
    assert_eq!(store.delivery(foreign, delivered.event).await, Ok(None));
    let tries = store.delivery_attempts(tenant, dead.event).await.expect("read");
    assert_eq!(
        tries.iter().map(|it| (it.number, it.status, it.took)).collect::<Vec<_>>(),
        [(3, Some(503), Span::millis(15))]
    );
    assert_eq!(tries[0].body, "{\"received\":false} \u{1f600}");

    let list = async |filter: DeliveryFilter, page| {
        let listed = world.store.deliveries(tenant, &filter, page).await.expect("read");
        (listed.rows.into_iter().map(|it| it.delivery).collect::<Vec<_>>(), listed.total)
    };
    let all = [second[0].clone(), first[2].clone(), dead.clone(), delivered.clone()];
    assert_eq!(list(DeliveryFilter::default(), FIRST).await, (all.to_vec(), 4));
    assert_eq!(
        list(DeliveryFilter::default(), Page { page: 1, limit: 3 }).await,
        (all[3..].to_vec(), 4)
    );
    let filter = DeliveryFilter::default();
    let office = turned(async |page| {
        world.store.office_deliveries(tenant, &filter, page).await.expect("read")
    });
    let office: Vec<_> = office.await.into_iter().map(|it| it.delivery).collect();
    assert_eq!(office, all);
    let states = |states: &[DeliveryState]| DeliveryFilter {
        states: states.to_vec(),
        ..DeliveryFilter::default()
    };
    assert_eq!(list(states(&[DeliveryState::Dead]), FIRST).await, (vec![dead.clone()], 1));
    assert_eq!(list(states(&[DeliveryState::Pending]), FIRST).await, (all[..2].to_vec(), 2));
    let kinds = DeliveryFilter {
        kinds: vec![WalletEventKind::PaymentReceived.name()],
        ..DeliveryFilter::default()
    };
    assert_eq!(list(kinds, FIRST).await, (Vec::new(), 0));
    let since = DeliveryFilter { start: Some(second[0].created_at), ..DeliveryFilter::default() };
    assert_eq!(list(since, FIRST).await, (all[..1].to_vec(), 1));
    let until = DeliveryFilter { end: Some(second[0].created_at), ..DeliveryFilter::default() };
    assert_eq!(list(until, FIRST).await, (all[1..].to_vec(), 3));
    assert_eq!(
        store.undelivered_counts(tenant).await,
        Ok(vec![(DeliveryState::Dead, 1), (DeliveryState::Pending, 2)])
    );
    let jobless: Vec<Uuid> = store
        .wallet_things_without_job(9)
        .await
        .expect("read")
        .into_iter()
        .filter(|it| it.0 == "delivery")
        .map(|it| it.2)
        .collect();
    assert_eq!(jobless.len(), 2, "the first pending one of each aggregate: {jobless:?}");
    assert!(jobless.contains(&first[2].event.0) && jobless.contains(&second[0].event.0));
    end(&world, &second[0], DeliveryState::Disabled).await;
    let lost = async |since, limit| {
        let found = world.store.lost_deliveries(tenant, since, limit).await.expect("read");
        found.into_iter().map(|it| it.delivery.event).collect::<Vec<_>>()
    };
    assert_eq!(lost(dead.created_at, 9).await, [dead.event, second[0].event], "the oldest first");
    assert_eq!(lost(dead.created_at, 1).await, [dead.event]);
    assert_eq!(lost(second[0].created_at, 9).await, [second[0].event]);
    assert_eq!(lost(second[0].created_at + Span::secs(1), 9).await, []);
    assert_eq!(store.failing_deliveries(tenant).await, Ok(0));
    end(&world, &first[2], DeliveryState::Pending).await;
    assert_eq!(store.failing_deliveries(tenant).await, Ok(1), "it was attempted");
    let payment = world.payment(tenant, None).await;
    let paid = crate::payment_deliveries::delivered(&world, &payment, &[1], DeliveryState::Pending);
    let paid = paid.await.remove(0);
    let counted = async |tenant, start| {
        let found = store.deliveries_by_period(tenant, start, Span::mins(1)).await.expect("read");
        found.iter().map(|it| (it.period, it.state, it.is_retried, it.count)).collect::<Vec<_>>()
    };
    let start = first[0].created_at;
    let minute_of = |delivery: &Delivery| {
        u64::try_from((delivery.created_at - start).0 / Span::mins(1).0).expect("later")
    };
    let of_payments = (minute_of(&paid), DeliveryState::Pending, false, 1);
    assert_eq!(
        counted(tenant, start).await,
        [
            (0, DeliveryState::Dead, true, 1),
            (0, DeliveryState::Delivered, true, 1),
            (0, DeliveryState::Pending, true, 1),
            (minute_of(&second[0]), DeliveryState::Disabled, true, 1),
            of_payments,
        ]
    );
    assert_eq!(counted(tenant, paid.created_at + Span::secs(1)).await, []);
    assert_eq!(counted(foreign, start).await, []);
    assert_eq!(store.oldest_pending_delivery_of(tenant).await, Ok(Some(start)));
    assert_eq!(store.oldest_pending_delivery_of(foreign).await, Ok(None));
    let wanted = [(tenant, dead.event), (foreign, delivered.event), (tenant, paid.event)];
    let together = store.deliveries_of(&wanted).await.expect("read");
    assert_eq!(
        together.into_iter().map(|it| (it.event.id(), it.delivery)).collect::<BTreeMap<_, _>>(),
        [(dead.event, dead.clone()), (paid.event, paid)].into()
    );
}

pub async fn old_events_go_with_their_deliveries_but_not_before_them(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let (one, two) = (world.request(&wallet).await, world.request(&wallet).await);
    let first = announced(&world, &one, 1..=2).await;
    let stuck = announced(&world, &two, 1..=1).await;
    let last = announced(&world, &one, 3..=3).await;
    for delivery in first.iter().chain(&last) {
        end(&world, delivery, DeliveryState::Delivered).await;
    }
    let prune = async || {
        let now = world.now().await;
        world.store.prune(now).await.expect("pruned").wallet_events
    };
    world.pass(Span::days(29)).await;
    assert_eq!(prune().await, 0, "young");
    world.pass(Span::days(2)).await;
    let young = announced(&world, &one, 4..=4).await;
    assert_eq!(prune().await, 2, "up to the first undelivered one");
    assert_eq!(
        world.store.oldest_wallet_event(tenant).await.expect("read").map(|(seq, _)| seq),
        Some(3)
    );
    assert_eq!(world.store.delivery(tenant, first[0].event).await, Ok(None));
    assert_eq!(world.store.delivery_attempts(tenant, first[0].event).await, Ok(Vec::new()));
    assert_eq!(prune().await, 0);
    end(&world, &stuck[0], DeliveryState::Dead).await;
    assert_eq!(prune().await, 2);
    let left =
        world.store.deliveries(tenant, &DeliveryFilter::default(), FIRST).await.expect("read");
    assert_eq!(left.rows.into_iter().map(|it| it.delivery).collect::<Vec<_>>(), young);
    assert_eq!(world.store.wallet_event_head(tenant).await, Ok(5), "numbering continues");
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

async fn signs(world: &World, tenant: TenantId, at: Timestamp) -> Option<(String, Vec<String>)> {
    let webhook = world.store.webhook(tenant).await.expect("read").expect("there");
    let endpoint = webhook.endpoint(at)?;
    Some((endpoint.url, endpoint.secrets.into_iter().map(|secret| secret.0).collect()))
}

pub async fn the_first_url_of_an_endpoint_enables_it(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let store = &world.store;
    store.add_webhook(tenant, "", secret("whsec_a"), "op").await.expect("added");
    store.disable_webhook(tenant, "no endpoint yet", "op").await.expect("disabled");
    let disabled = async || {
        let webhook = store.webhook(tenant).await.expect("read").expect("there");
        webhook.disabled.map(|(_, why)| why)
    };
    store.set_webhook_url(tenant, "https://bank.example/hooks", "op").await.expect("set");
    assert_eq!(disabled().await, None);
    // A user's switch outlives a move to another URL.
    store.disable_webhook(tenant, "maintenance", "op").await.expect("disabled");
    store.set_webhook_url(tenant, "https://bank.example/v2", "op").await.expect("set");
    assert_eq!(disabled().await.as_deref(), Some("maintenance"));
}

pub async fn receivers_are_sealed_rotated_and_switched_off(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let store = &world.store;
    assert!(store.webhook(tenant).await.expect("read").is_none());
    let nobody = store.rotate_webhook_secret(tenant, secret("whsec_b"), Span::hours(1), "op").await;
    assert_eq!(nobody, Err(StoreError::NotFound("webhook endpoint")));
    assert!(matches!(
        store.set_webhook_url(tenant, "https://x.example", "op").await,
        Err(StoreError::Conflict(_))
    ));
    store
        .add_webhook(tenant, "https://bank.example/hooks", secret("whsec_a"), "op")
        .await
        .expect("added");
    let again = store.add_webhook(tenant, "https://other.example", secret("whsec_x"), "op").await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let webhook = store.webhook(tenant).await.expect("read").expect("there");
    assert!(!format!("{webhook:?}").contains("whsec_a"), "never in debug output");
    let now = webhook.created_at;
    assert_eq!(
        signs(&world, tenant, now).await,
        Some(("https://bank.example/hooks".to_owned(), vec!["whsec_a".to_owned()]))
    );
    store.set_webhook_url(tenant, "https://bank.example/v2", "op").await.expect("set");
    store
        .rotate_webhook_secret(tenant, secret("whsec_b"), Span::hours(1), "op")
        .await
        .expect("rotated");
    let rotated = store.webhook(tenant).await.expect("read").expect("there").secrets[0].created_at;
    let both = vec!["whsec_b".to_owned(), "whsec_a".to_owned()];
    assert_eq!(
        signs(&world, tenant, rotated).await,
        Some(("https://bank.example/v2".to_owned(), both))
    );
    let later = signs(&world, tenant, rotated + Span::hours(1)).await.expect("enabled");
    assert_eq!(later.1, ["whsec_b"]);
    assert!(matches!(store.enable_webhook(tenant, "op").await, Err(StoreError::Conflict(_))));
    let two = Subscriptions::parse("order.failed,wallet.unblocked").expect("two");
    store.subscribe_webhook(tenant, &two, "op").await.expect("subscribed");
    assert_eq!(store.webhook(tenant).await.expect("read").expect("there").subscriptions, two);
    let other = world.tenant("without", 0).await;
    assert!(matches!(
        store.subscribe_webhook(other, &two, "op").await,
        Err(StoreError::Conflict(_))
    ));
    store.disable_webhook(tenant, "maintenance", "op").await.expect("disabled");
    assert_eq!(signs(&world, tenant, now).await, None);
    assert!(matches!(
        store.disable_webhook(tenant, "again", "op").await,
        Err(StoreError::Conflict(_))
    ));
    store.enable_webhook(tenant, "op").await.expect("enabled");
    assert!(signs(&world, tenant, now).await.is_some());
    let actions: Vec<String> =
        world.audited(tenant).await.into_iter().map(|it| it.note.action).collect();
    let expected = ["enable", "disable", "subscribe", "rotate", "set_url", "add"]
        .map(|act| format!("webhook.{act}"));
    assert_eq!(actions[..6], expected);
}

pub async fn a_batch_switches_a_receiver_off(world: World) {
    let (tenant, without) = (world.tenant("demobank", 0).await, world.tenant("without", 0).await);
    world
        .store
        .add_webhook(tenant, "https://bank.example", secret("whsec_a"), "op")
        .await
        .expect("added");
    let mut need = tenant_need(tenant);
    need.receivers.insert((tenant, ()));
    need.merge(tenant_need(without));
    need.receivers.insert((without, ()));
    let gone = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        assert!(ws.receivers.get(&tenant).is_some_and(|row| row.disabled.is_none()));
        assert!(ws.receivers.get(&without).is_none(), "no endpoint");
        ws.disable_receiver(tenant, "410");
        ws.disable_receiver(without, "410");
        ws.keep();
    };
    world.execute(&need, gone).await.expect("saved");
    let disabled = world.store.webhook(tenant).await.expect("read").expect("there").disabled;
    assert_eq!(disabled.map(|(_, why)| why).as_deref(), Some("410"));
    let seen = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let row = ws.receivers.get(&tenant).cloned().expect("loaded");
        assert_eq!(row.disabled.map(|(_, why)| why).as_deref(), Some("410"));
        ws.disable_receiver(tenant, "again");
        ws.keep();
        assert!(ws.is_unchanged(), "once is enough");
    };
    world.execute(&need, seen).await.expect("loaded");
}

pub async fn permits_never_exceed_the_limit(world: World) {
    const LIMIT: u32 = 100;
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let second = match world.reopened(|_| {}).await {
        Some(store) => {
            store.ready().await.expect("ready");
            store
        }
        None => world.store.clone(),
    };
    let window = Timestamp(60_000_000);
    let draws = (0..24_u32).map(|at| {
        let store = if at % 2 == 0 { &world.store } else { &second };
        store.draw_permits(tenant, "wallets", window, 1 + at % 9, LIMIT)
    });
    let drawn: Vec<Permits> =
        join_all(draws).await.into_iter().map(|drawn| drawn.expect("drawn")).collect();
    assert_eq!(drawn.iter().map(|it| it.granted).sum::<u32>(), LIMIT, "{drawn:?}");
    assert_eq!(drawn.iter().map(|it| it.drawn).max(), Some(LIMIT));
    let draw = async |tenant, group: &str, window, want, limit| {
        let it = world.store.draw_permits(tenant, group, window, want, limit).await.expect("drawn");
        (it.granted, it.drawn)
    };
    assert_eq!(draw(tenant, "wallets", window, 1, LIMIT).await, (0, LIMIT), "used up");
    assert_eq!(world.store.drawn_permits(tenant, "wallets", window).await, Ok(LIMIT));
    assert_eq!(world.store.drawn_permits(tenant, "wallets", window + Span::mins(1)).await, Ok(0));
    assert_eq!(
        draw(tenant, "wallets", window, 9, LIMIT - 50).await,
        (0, LIMIT),
        "a lowered limit revokes nothing"
    );
    assert_eq!(
        draw(tenant, "wallets", window, 9, LIMIT + 5).await,
        (5, LIMIT + 5),
        "a raised one grants the rest"
    );
    assert_eq!(draw(tenant, "orders", window, 9, 50).await, (9, 9));
    assert_eq!(draw(other, "wallets", window, 200, LIMIT).await, (LIMIT, LIMIT));
    assert_eq!(draw(tenant, "wallets", window + Span::mins(1), 3, LIMIT).await, (3, 3));
    let gone =
        world.store.prune(window + Span::hours(1) + Span::secs(1)).await.expect("pruned").windows;
    assert_eq!(gone, 3, "of both tenants; the newer window stays");
}
