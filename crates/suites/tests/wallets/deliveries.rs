//! Deliveries to the bank's endpoint: order, retries, giving up, replay.

use domain::delivery::{DeliveryState, SCHEDULE};
use domain::ids::EventId;
use domain::ports::Clock as _;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use domain::webhook::DeliveryResult;
use engine::command::{Idempotency, Refused};
use engine::payments::IdempotencyKey;
use engine::wallets::{DeliveredEvent, DeliveryFilter, Denied, Page};
use uuid::Uuid;

use crate::world::{COIN, OTHER, Setup, TENANT, World, with};

fn failed() -> DeliveryResult {
    DeliveryResult::NotReceived("HTTP 503".to_owned())
}

fn all() -> DeliveryFilter {
    DeliveryFilter::default()
}

/// Asks for every event again.
async fn redeliver_all(world: &World) {
    for event in world.events().await {
        world.wallets.redeliver(&world.caller(), event.id, "test", None).await.expect("disabled");
    }
}

/// An approved deposit: two events of one request.
async fn two_events(world: &World) {
    let wallet = world.wallet().await;
    let request = world.request(&wallet, COIN).await;
    world.pay(&request, COIN).await;
}

async fn states(world: &World) -> Vec<DeliveryState> {
    let page = Page { page: 0, limit: 100 };
    let listed = world.wallets.deliveries(&world.caller(), &all(), page).await.expect("readable");
    listed.rows.iter().rev().map(|record| record.delivery.state).collect()
}

#[test]
fn an_event_is_delivered_at_once_and_every_attempt_is_stored() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.bank.say(&[failed(), failed()]);
        world.work().await;
        assert_eq!(world.bank.kinds(), ["payment-received"], "the second waits for the first");
        world.later(Span::secs(7)).await;
        world.later(Span::secs(40)).await;
        assert_eq!(
            world.bank.kinds(),
            ["payment-received", "payment-received", "payment-received", "risk-check-complete"]
        );
        let events = world.events().await;
        let (record, attempts) =
            world.wallets.find_delivery(&world.caller(), events[0].id).await.expect("there");
        assert_eq!(
            (record.delivery.state, record.delivery.attempts),
            (DeliveryState::Delivered, 3)
        );
        let statuses: Vec<_> =
            attempts.iter().map(|it| (it.number, it.status, it.fault.is_some())).collect();
        assert_eq!(statuses, [(1, Some(503), true), (2, Some(503), true), (3, Some(200), false)]);
    });
}

#[test]
fn every_attempt_carries_the_same_id_and_bytes() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.bank.say(&[failed(), failed()]);
        world.work().await;
        world.later(Span::secs(7)).await;
        world.later(Span::secs(40)).await;
        let got = world.bank.got();
        assert!(got.len() >= 3);
        for message in &got[1..3] {
            assert_eq!((message.id, &message.body), (got[0].id, &got[0].body));
        }
        assert!(got[0].at < got[1].at, "the timestamp is that of the attempt");
        assert_eq!(got[0].path, "/webhooks/wallet/payment-received");
    });
}

#[test]
fn twelve_failures_give_up_the_event_with_an_alert_and_the_next_one_proceeds() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.bank.say(&vec![failed(); 12]);
        world.work().await;
        for delay in &SCHEDULE[1..] {
            // Each delay may be a fifth longer.
            world.later(Span(delay.0 / 4 * 5 + 1)).await;
        }
        assert_eq!(states(&world).await, [DeliveryState::Dead, DeliveryState::Delivered]);
        assert_eq!(world.bank.kinds().len(), 13);
        let mut alerts = world.store.alerts(TENANT, 10).await.expect("readable");
        alerts.retain(|(_, alert)| alert.kind != AlertKind::Transaction);
        assert!(
            matches!(&alerts[..], [(_, alert)] if alert.kind == AlertKind::DeliveryDead),
            "{alerts:?}"
        );

        let events = world.events().await;
        world.wallets.redeliver(&world.caller(), events[0].id, "test", None).await.expect("dead");
        world.work().await;
        assert_eq!(states(&world).await, [DeliveryState::Delivered; 2]);
    });
}

#[test]
fn events_of_different_aggregates_do_not_wait_for_each_other() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let (one, two) = (world.request(&wallet, COIN).await, world.request(&wallet, COIN).await);
        world.pay(&one, COIN).await;
        world.pay(&two, COIN).await;
        world.bank.say(&[failed()]);
        world.work().await;
        let delivered =
            states(&world).await.iter().filter(|state| **state == DeliveryState::Delivered).count();
        assert_eq!(delivered, 2, "both events of the other request");
    });
}

#[test]
fn gone_disables_the_endpoint_and_the_rest_waits_for_a_replay() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.bank.say(&[DeliveryResult::Gone]);
        world.work().await;
        assert_eq!(states(&world).await, [DeliveryState::Disabled; 2]);
        assert_eq!(world.bank.kinds(), ["payment-received"]);
        let webhook = world.store.webhook(TENANT).await.expect("readable").expect("there");
        assert!(webhook.disabled.is_some());
        world.store.enable_webhook(TENANT, "test").await.expect("disabled");
        redeliver_all(&world).await;
        world.work().await;
        assert_eq!(states(&world).await, [DeliveryState::Delivered; 2]);
    });
}

#[test]
fn a_repeated_request_to_redeliver_is_answered_while_webhooks_are_off() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.work().await;
        let event = world.events().await[0].id;
        let key = IdempotencyKey { scope: "redeliver".to_owned(), key: "k".to_owned() };
        let once = Idempotency { key, body_hash: [1; 32] };
        let redeliver = async |idempotency| {
            world.wallets.redeliver(&world.caller(), event, "test", Some(idempotency)).await
        };
        assert!(!redeliver(once.clone()).await.expect("delivered before").replayed);
        world.work().await;
        world.bank.say(&[DeliveryResult::Gone]);
        world.wallets.redeliver(&world.caller(), event, "test", None).await.expect("in use");
        world.work().await;
        let off = world.store.webhook(TENANT).await.expect("readable").expect("there").disabled;
        assert!(off.is_some(), "the endpoint is gone");
        assert!(redeliver(once.clone()).await.expect("answered before").replayed);
        let other = redeliver(Idempotency { body_hash: [2; 32], ..once.clone() }).await;
        assert!(matches!(other, Err(Denied::Refused(Refused::IdempotencyMismatch))), "{other:?}");
        let key = IdempotencyKey { key: "new".to_owned(), ..once.key };
        let new = redeliver(Idempotency { key, body_hash: [1; 32] }).await;
        assert!(matches!(new, Err(Denied::WebhooksOff)), "{new:?}");
    });
}

#[test]
fn gone_from_the_address_before_disables_no_other_one() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        let store = world.store.clone();
        let moved = async move {
            let to = "https://bank.example/moved";
            store.set_webhook_url(TENANT, to, "test").await.expect("set");
        };
        *world.bank.before_answer.lock().expect("not poisoned") = Some(Box::pin(moved));
        world.bank.say(&[DeliveryResult::Gone]);
        world.work().await;
        let webhook = world.store.webhook(TENANT).await.expect("readable").expect("there");
        assert_eq!(webhook.disabled, None);
        world.later(Span::secs(7)).await;
        assert_eq!(states(&world).await, [DeliveryState::Delivered; 2]);
    });
}

#[test]
fn without_an_endpoint_the_log_is_written_and_can_be_delivered_later() {
    with(Setup { webhook: false, ..Setup::default() }, async |world| {
        two_events(&world).await;
        world.work().await;
        assert_eq!((world.events().await.len(), world.bank.got().len()), (2, 0));
        assert_eq!(states(&world).await, [DeliveryState::Disabled; 2]);
        let secret = "whsec_dGVzdA==".to_owned().into();
        world
            .store
            .add_webhook(TENANT, "https://bank.example", secret, "test")
            .await
            .expect("is new");
        let events = world.events().await;
        world
            .wallets
            .redeliver(&world.caller(), events[1].id, "test", None)
            .await
            .expect("disabled");
        world.work().await;
        assert_eq!(world.bank.kinds(), ["risk-check-complete"]);
    });
}

#[test]
fn replayed_events_of_a_request_follow_one_another() {
    with(Setup { webhook: false, ..Setup::default() }, async |world| {
        two_events(&world).await;
        world.work().await;
        let secret = "whsec_dGVzdA==".to_owned().into();
        world
            .store
            .add_webhook(TENANT, "https://bank.example", secret, "test")
            .await
            .expect("is new");
        world.bank.say(&[failed()]);
        redeliver_all(&world).await;
        world.work().await;
        assert_eq!(world.bank.kinds(), ["payment-received"], "the second waits for the first");
        world.later(Span::secs(7)).await;
        assert_eq!(
            world.bank.kinds(),
            ["payment-received", "payment-received", "risk-check-complete"]
        );
        assert_eq!(states(&world).await, [DeliveryState::Delivered; 2]);
    });
}

#[test]
fn a_foreign_delivery_answers_like_an_unknown_one() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        let id = world.events().await[0].id;
        let unknown = EventId(Uuid::from_u128(0x4000_8000_0000_0000_ffff));
        for (caller, event) in [(world.caller_of(OTHER), id), (world.caller(), unknown)] {
            assert!(matches!(
                world.wallets.redeliver(&caller, event, "test", None).await,
                Err(Denied::NotFound("event_id"))
            ));
            assert!(matches!(
                world.wallets.find_delivery(&caller, event).await,
                Err(Denied::NotFound("event_id"))
            ));
        }
        assert_eq!(
            world.wallets.events_after(&world.caller_of(OTHER), 0, 10).await.expect("readable"),
            []
        );
    });
}

#[test]
fn the_log_continues_after_a_number_without_gaps() {
    with(Setup::default(), async |world| {
        two_events(&world).await;
        world.work().await;
        let all = world.wallets.events_after(&world.caller(), 0, 10).await.expect("readable");
        assert_eq!(all.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2]);
        let rest = world.wallets.events_after(&world.caller(), 1, 10).await.expect("readable");
        assert_eq!(rest, all[1..]);
        let first = DeliveredEvent::Wallet(Box::new(all[0].clone()));
        assert_eq!(world.wallets.envelope(&first).expect("offered"), world.bank.got()[0].body);
    });
}

#[test]
fn how_long_the_oldest_event_waits_is_known() {
    with(Setup::default(), async |world| {
        assert_eq!(world.store.oldest_pending_delivery().await.expect("readable"), None);
        two_events(&world).await;
        let made = world.clock.now();
        world.bank.say(&[failed()]);
        world.later(Span::secs(1)).await;
        assert_eq!(world.store.oldest_pending_delivery().await.expect("readable"), Some(made));
        world.later(Span::secs(10)).await;
        assert_eq!(world.store.oldest_pending_delivery().await.expect("readable"), None);
    });
}
