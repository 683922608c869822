//! Changes by another node or an administrator are seen by a node with a stale cache.

use domain::chain::ChainNumber;
use domain::delivery::DeliveryState;
use domain::ids::QuoteId;
use domain::ledger::Funding;
use domain::payment::accept::Refusal;
use domain::wallet_event::Aggregate;
use engine::command::{Action, Outcome, Refused};
use store::working_set::Made;

use crate::world::{CHARGE, Node, Rows, TENANT, USDT, World, keyed, with};

/// The available amount reported to an order that the prefund account cannot cover.
fn short(paid: Result<impl std::fmt::Debug, Refusal>) -> i64 {
    match paid {
        Err(Refusal::InsufficientBalance { available, .. }) => available.minor,
        other => panic!("not refused for insufficient funds: {other:?}"),
    }
}

#[test]
fn a_top_up_on_another_node_is_seen_by_an_order_that_the_cache_would_refuse() {
    with(async |world| {
        let quote = world.remembering(&world.a).await.remove(0);
        // A top-up emits no event.
        world.top_up(&world.b, CHARGE / 2).await;
        assert_eq!(
            short(world.pay(&world.a, &quote).await),
            CHARGE / 2,
            "refused by the current balance"
        );
        world.remembering(&world.a).await;
        world.top_up(&world.b, CHARGE).await;
        let (_, rows) = world.pay(&world.a, &quote).await.expect("sufficient funds");
        assert_eq!((rows, world.available().await), (Rows::Loaded, CHARGE / 2));
        world.verified().await;
    });
}

#[test]
fn a_top_up_on_another_node_is_not_lost_by_an_order_that_the_cache_would_accept() {
    with(async |world| {
        world.top_up(&world.a, 3 * CHARGE).await;
        let quotes = world.remembering(&world.a).await;
        assert_eq!(world.pay(&world.a, &quotes[0]).await.expect("enough").1, Rows::Remembered);
        world.top_up(&world.b, CHARGE).await;
        assert_eq!(world.pay(&world.a, &quotes[1]).await.expect("enough").1, Rows::Loaded);
        assert_eq!(world.available().await, 2 * CHARGE);
        world.verified().await;
    });
}

#[test]
fn money_with_a_reference_is_booked_once_on_whichever_node() {
    with(async |world| {
        let reference = Some("FT2611200014");
        let booked = world.top_up_for(&world.a, 3 * CHARGE, reference).await;
        assert!(matches!(booked, Outcome::Done), "{booked:?}");
        for node in [&world.a, &world.b] {
            let again = world.top_up_for(node, 3 * CHARGE, reference).await;
            assert!(matches!(again, Outcome::Unchanged), "{again:?}");
            let other = world.top_up_for(node, CHARGE, reference).await;
            let Outcome::Refused(Refused::ReferenceUsed { booked, .. }) = other else {
                panic!("{other:?}")
            };
            assert_eq!(booked.minor, 3 * CHARGE);
        }
        assert_eq!(world.available().await, 3 * CHARGE);
        let others = Some("FT2611200015");
        let booked = world.top_up_for(&world.b, CHARGE, others).await;
        assert!(matches!(booked, Outcome::Done), "{booked:?}");
        assert_eq!(world.available().await, 4 * CHARGE);
        world.verified().await;
    });
}

#[test]
fn a_booking_for_the_controller_is_reversed_in_full_and_once_on_whichever_node() {
    with(async |world| {
        let fund = async |node: &Node, funding, minor| {
            let (reference, by) = (Some("0x9f2c".to_owned()), Box::new("test".into()));
            let action = Action::Fund { funding, coin: USDT, minor, reference, by };
            node.run(action).await.expect("decided")
        };
        let chain = ChainNumber::FIRST;
        let (booking, reversal) = (Funding::Controller(chain), Funding::ControllerReversal(chain));
        let (a, b) = (&world.a, &world.b);
        let early = fund(a, reversal, CHARGE).await;
        assert!(matches!(early, Outcome::Refused(Refused::NotBooked { .. })), "{early:?}");
        assert!(matches!(fund(a, booking, CHARGE).await, Outcome::Done));
        assert!(matches!(fund(b, booking, CHARGE).await, Outcome::Unchanged));
        let more = fund(b, reversal, CHARGE + 1).await;
        assert!(matches!(more, Outcome::Refused(Refused::ReferenceUsed { .. })), "{more:?}");
        assert!(matches!(fund(b, reversal, CHARGE).await, Outcome::Done));
        assert!(matches!(fund(a, reversal, CHARGE).await, Outcome::Unchanged));
        let again = fund(a, booking, CHARGE).await;
        assert!(matches!(again, Outcome::Refused(Refused::Reversed { .. })), "{again:?}");
        let accounts = world.store.accounts(TENANT).await.expect("readable");
        assert!(accounts.iter().all(|account| account.balance().minor == 0), "{accounts:?}");
        world.verified().await;
    });
}

#[test]
fn a_prefund_that_another_node_has_spent_is_not_spent_again() {
    with(async |world| {
        world.top_up(&world.a, CHARGE).await;
        let quotes = world.remembering(&world.a).await;
        world.pay(&world.b, &quotes[0]).await.expect("sufficient funds");
        assert_eq!(short(world.pay(&world.a, &quotes[1]).await), 0);
        assert_eq!(world.available().await, 0);
        world.verified().await;
    });
}

#[test]
fn keys_and_ids_taken_on_another_node_stay_taken() {
    with(async |world| {
        world.top_up(&world.a, 10 * CHARGE).await;
        let quotes = world.remembering(&world.a).await;
        let made = world.b.quote(keyed("k-1")).await;
        let Ok(Outcome::Quoted(made)) = made else { panic!("no quote: {made:?}") };
        let first = world.b.pay(&quotes[0], Some("mine")).await;
        let Ok(Outcome::Accepted(first)) = first else { panic!("not accepted: {first:?}") };
        let again = world.a.quote(keyed("k-1")).await;
        assert!(
            matches!(&again, Ok(Outcome::Replayed(record)) if record.made == Made::Quote(made.id)),
            "{again:?}"
        );
        world.remembering(&world.a).await;
        let again = world.a.pay(&quotes[1], Some("mine")).await;
        let Ok(Outcome::Refused(Refused::Order(refusal))) = again else {
            panic!("not refused: {again:?}")
        };
        assert_eq!(refusal, Refusal::ExternalIdConflict(first.id));
        let used = world.pay(&world.a, &quotes[0]).await.map(|(payment, _)| payment.id);
        assert_eq!(used, Err(Refusal::QuoteUsed(first.id)));
        world.verified().await;
    });
}

async fn delivery(world: &World, quote: QuoteId, version: i64) -> Option<DeliveryState> {
    let event = Aggregate::Quote(quote).event_id(TENANT, version);
    world.store.delivery(TENANT, event).await.expect("readable").map(|record| record.delivery.state)
}

#[test]
fn subscribed_events_are_delivered_despite_a_stale_cache() {
    with(async |world| {
        world.top_up(&world.a, 10 * CHARGE).await;
        let before = world.remembering(&world.a).await;
        let (url, secret) = ("https://bank.example", "whsec_dGVzdA==".to_owned().into());
        world.store.add_webhook(TENANT, url, secret, "test").await.expect("is new");
        world.store.set_payment_webhooks(TENANT, true, "test").await.expect("switched");
        let mut after = Vec::new();
        for _ in 0..5 {
            after.push(world.quote(&world.a).await.0);
        }
        assert_eq!(delivery(&world, before[0].id, 1).await, None, "no subscription at that time");
        for quote in &after {
            assert_eq!(delivery(&world, quote.id, 1).await, Some(DeliveryState::Pending));
            let (payment, _) = world.pay(&world.a, quote).await.expect("sufficient funds");
            assert_eq!(delivery(&world, quote.id, 2).await, Some(DeliveryState::Pending));
            let queued = Aggregate::Payment(payment.id).event_id(TENANT, 1);
            let queued =
                world.store.delivery(TENANT, queued).await.expect("readable").expect("there");
            assert_eq!(queued.delivery.state, DeliveryState::Pending);
        }
        world.verified().await;
    });
}
