//! Relays: what they have sent, and what pruning leaves for them.

use domain::audit::INSTALLATION;
use domain::ids::{EventId, TenantId};
use domain::relay::EventLog;
use domain::time::Span;
use store::{HeldRole, StoreError};

use crate::world::World;

const RELAY: &str = "warehouse";
const ROLE: &str = "relay:warehouse";

async fn role(world: &World, owner: &str) -> HeldRole {
    let fence = world.store.lease_role(ROLE, owner, Span::mins(1)).await.expect("asked");
    HeldRole { name: ROLE.to_owned(), owner: owner.to_owned(), fence: fence.expect("free") }
}

async fn ids(world: &World, tenant: TenantId) -> Vec<(i64, EventId)> {
    let events = world.store.events_after(tenant, 0, 100).await.expect("read");
    events.iter().map(|it| (it.event.seq, it.event.id)).collect()
}

pub async fn a_cursor_moves_only_forward_and_only_for_the_roles_holder(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.quote(tenant).await;
    world.quote(tenant).await;
    let events = ids(&world, tenant).await;
    let (log, store) = ((tenant, EventLog::Payment), &world.store);
    let behind = store.relay_behind(RELAY).await.expect("read");
    let found: Vec<_> = behind.iter().map(|it| (it.log, it.head, it.seq)).collect();
    assert_eq!(found, [(EventLog::Payment, 2, None), (EventLog::Wallet, 0, None)]);
    let held = role(&world, "a").await;
    store.begin_relay(&held, RELAY, log, 0).await.expect("begun");
    store.begin_relay(&held, RELAY, log, 2).await.expect("begun before");
    store.advance_relay(&held, RELAY, log, 0, events[0]).await.expect("moved");
    let again = store.advance_relay(&held, RELAY, log, 0, events[1]).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let cursors = store.relay_cursors().await.expect("read");
    let [cursor] = cursors.as_slice() else { panic!("{cursors:?}") };
    assert_eq!((cursor.seq, cursor.event, cursor.unsent()), (1, Some(events[0].1), 1));
    let at = cursor.next_at.expect("one is unsent");
    assert_eq!(cursor.lag(at + Span::secs(9)), Span::secs(9));
    world.pass(Span::mins(2)).await;
    let successor = role(&world, "b").await;
    for late in [
        store.advance_relay(&held, RELAY, log, 1, events[1]).await,
        store.begin_relay(&held, RELAY, (tenant, EventLog::Wallet), 0).await,
    ] {
        assert!(matches!(late, Err(StoreError::Conflict(_))), "{late:?}");
    }
    store.advance_relay(&successor, RELAY, log, 1, events[1]).await.expect("moved");
    let behind = store.relay_behind(RELAY).await.expect("read");
    assert!(behind.iter().all(|it| it.log == EventLog::Wallet), "{behind:?}");
    assert_eq!(store.relay_cursors().await.expect("read")[0].lag(at), Span(0));
}

pub async fn unsent_events_are_not_pruned_until_the_relay_is_forgotten(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    for tenant in [tenant, tenant, tenant, other] {
        world.quote(tenant).await;
    }
    let (log, store) = ((tenant, EventLog::Payment), &world.store);
    let events = ids(&world, tenant).await;
    let held = role(&world, "a").await;
    store.begin_relay(&held, RELAY, log, 0).await.expect("begun");
    store.begin_relay(&held, "lake", log, 2).await.expect("begun");
    store.begin_relay(&held, RELAY, (tenant, EventLog::Wallet), 0).await.expect("begun");
    store.advance_relay(&held, RELAY, log, 0, events[0]).await.expect("moved");
    world.pass(Span::days(31)).await;
    let now = world.now().await;
    assert_eq!(store.prune(now).await.expect("pruned").events, 2, "one each: the slower relay's");
    assert_eq!(ids(&world, tenant).await, events[1..]);
    assert!(ids(&world, other).await.is_empty(), "no relay has begun the other tenant's log");
    store.forget_relay(RELAY, Some(other), "ayesha").await.expect("nothing to forget");
    assert_eq!(store.prune(now).await.expect("pruned").events, 0);
    store.forget_relay(RELAY, None, "ayesha").await.expect("forgotten");
    assert_eq!(store.prune(now).await.expect("pruned").events, 1, "up to the other relay's");
    let left: Vec<_> = store.relay_cursors().await.expect("read");
    assert_eq!(left.iter().map(|it| it.relay.as_str()).collect::<Vec<_>>(), ["lake"]);
    let noted = world.audited(INSTALLATION).await;
    assert!(noted.iter().any(|it| it.note.action == "relay.forget"), "{noted:?}");
}
