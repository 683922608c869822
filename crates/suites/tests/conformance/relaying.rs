//! A relay over a real store, with a broker that fails.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::ids::{EventId, TenantId};
use domain::relay::{EventLog, SubjectTemplate};
use domain::time::Span;
use domain::wallet_effects::{Alert, AlertKind};
use engine::relay::{
    LateAlerts, Relay, RelayBodies, RelayFault, RelayRole, RelaySettings, RelayStart, RelayState,
    late_alerts,
};
use testkit::sink::MemorySink;

use crate::world::World;

fn settings() -> RelaySettings {
    RelaySettings {
        name: "warehouse".to_owned(),
        subject: SubjectTemplate::parse("corridor.{service}.{tenant}.{type}").expect("valid"),
        logs: EventLog::ALL.to_vec(),
        tenants: Vec::new(),
        start: RelayStart::Oldest,
        batch: 4,
        lease: Span::mins(1),
        poll: Span::millis(10),
    }
}

fn relay(world: &World, sink: &Arc<MemorySink>, owner: &str, settings: RelaySettings) -> Relay {
    let bodies = RelayBodies {
        payment: |it| it.event.seq.to_string().into_bytes(),
        wallet: |it| it.seq.to_string().into_bytes(),
    };
    let (store, clock) = (world.store.clone(), world.clock.clone());
    Relay::new(store, sink.clone(), clock, owner.to_owned(), settings, bodies)
}

/// The log: id and aggregate of each event.
async fn log(world: &World, tenant: TenantId) -> Vec<(EventId, uuid::Uuid)> {
    let events = world.store.events_after(tenant, 0, 1_000).await.expect("read");
    events.iter().map(|it| (it.event.id, it.event.subject)).collect()
}

fn stored(sink: &MemorySink, tag: &str) -> Vec<EventId> {
    let of = format!(".{tag}.");
    let stored = sink.stored();
    stored.iter().filter(|it| it.subject.contains(&of)).map(|it| it.id).collect()
}

/// What a broker stored is the log, and in the log's order within each aggregate.
fn assert_same(log: &[(EventId, uuid::Uuid)], stored: &[EventId]) {
    let by_aggregate = |ids: &mut dyn Iterator<Item = EventId>| {
        let mut all: BTreeMap<uuid::Uuid, Vec<EventId>> = BTreeMap::new();
        for id in ids {
            let (_, aggregate) = log.iter().find(|(known, _)| *known == id).expect("a known id");
            all.entry(*aggregate).or_default().push(id);
        }
        all
    };
    let (expected, found) = (
        by_aggregate(&mut log.iter().map(|(id, _)| *id)),
        by_aggregate(&mut stored.iter().copied()),
    );
    assert_eq!(found, expected);
}

pub async fn every_event_arrives_in_its_aggregates_order_despite_outages(world: World) {
    let (one, two) =
        (world.tenant("one", 1_000_000_000).await, world.tenant("two", 1_000_000_000).await);
    for _ in 0..4 {
        world.payment(one, None).await;
        world.quote(two).await;
        world.payment(two, None).await;
    }
    let sink = Arc::new(MemorySink::default());
    sink.lose_one_of(5);
    let mut faults = 0;
    for round in 0_usize.. {
        // Every time the process is another one; the cursor is all that it knows.
        let relay = relay(&world, &sink, "node", settings());
        if round % 3 == 0 {
            sink.fail_after(3);
        }
        match relay.send_once().await {
            Ok(0) if world.store.relay_behind("warehouse").await.expect("read").is_empty() => break,
            Ok(_) => {}
            Err(RelayFault::Sink(_)) => faults += 1,
            Err(other) => panic!("{other}"),
        }
        sink.recover();
        assert!(round < 200, "no progress: {:?}", world.store.relay_cursors().await);
    }
    for (tag, tenant) in [("one", one), ("two", two)] {
        assert_same(&log(&world, tenant).await, &stored(&sink, tag));
    }
    // How many there are depends on which of the logs, sent side by side, a fault meets.
    assert!(faults > 0 && sink.repeated() > 0, "{faults} faults, {} repeated", sink.repeated());
    let first = &sink.stored()[0];
    assert!(first.subject.starts_with("corridor.payment."), "{first:?}");
    world.payment(one, None).await;
    sink.recover();
    sink.lose_one_of(0);
    let sent = relay(&world, &sink, "node", settings()).send_once().await.expect("sent");
    assert!(sent > 0);
    assert_same(&log(&world, one).await, &stored(&sink, "one"));
}

pub async fn one_of_two_relays_sends_and_the_other_takes_over(world: World) {
    let tenant = world.tenant("one", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let sink = Arc::new(MemorySink::default());
    let (first, second) =
        (relay(&world, &sink, "a", settings()), relay(&world, &sink, "b", settings()));
    let sent = first.send_once().await.expect("sent");
    assert_eq!(sent, log(&world, tenant).await.len());
    world.payment(tenant, None).await;
    assert_eq!(second.send_once().await.expect("waits"), 0, "the first one has the role");
    world.pass(Span::mins(2)).await;
    assert!(second.send_once().await.expect("takes over") > 0);
    assert_eq!(first.send_once().await.expect("waits"), 0);
    assert_same(&log(&world, tenant).await, &stored(&sink, "one"));
    assert_eq!(sink.repeated(), 0);
}

pub async fn a_relay_sends_what_it_is_configured_for(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    world.quote(one).await;
    world.quote(two).await;
    let sink = Arc::new(MemorySink::default());
    let only_two = RelaySettings { tenants: vec!["two".to_owned()], ..settings() };
    assert_eq!(relay(&world, &sink, "a", only_two).send_once().await.expect("sent"), 1);
    assert!(stored(&sink, "one").is_empty());
    let wallets =
        RelaySettings { name: "wallets".to_owned(), logs: vec![EventLog::Wallet], ..settings() };
    assert_eq!(relay(&world, &sink, "a", wallets).send_once().await.expect("sent"), 0);
    let newest =
        || RelaySettings { name: "newest".to_owned(), start: RelayStart::Newest, ..settings() };
    assert_eq!(relay(&world, &sink, "a", newest()).send_once().await.expect("begun"), 0);
    world.quote(one).await;
    assert_eq!(relay(&world, &sink, "a", newest()).send_once().await.expect("sent"), 1);
    let log = log(&world, one).await;
    assert_eq!(stored(&sink, "one"), [log[1].0], "the next one and not the first");
}

pub async fn missing_events_stop_the_log_and_raise_an_alert(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let sink = Arc::new(MemorySink::default());
    let relay = relay(&world, &sink, "a", settings());
    world.quote(one).await;
    assert_eq!(relay.send_once().await.expect("sent"), 1);
    for tenant in [one, one, two] {
        world.quote(tenant).await;
    }
    let Some(gone) = world.sql("DELETE FROM event WHERE seq = 2").await else { return };
    assert_eq!(gone, Ok(1));
    for _ in 0..2 {
        relay.send_once().await.expect("the other tenant's log goes on");
    }
    assert_eq!((stored(&sink, "one").len(), stored(&sink, "two").len()), (1, 1));
    let cursors = world.store.relay_cursors().await.expect("read");
    let of_one = cursors.iter().find(|it| it.tag == "one" && it.log == EventLog::Payment);
    assert_eq!(of_one.map(|it| (it.seq, it.unsent())), Some((1, 2)), "it never skips");
    let alerts = world.store.alerts(one, 10).await.expect("read");
    let [(_, alert)] = alerts.as_slice() else { panic!("{alerts:?}") };
    assert_eq!(alert.kind, AlertKind::Relay);
    assert!(alert.what.contains("after number 1"), "{}", alert.what);
    world.store.forget_relay("warehouse", Some(one), "ayesha").await.expect("forgotten");
    world.store.prune(world.now().await).await.expect("pruned");
    world.sql("DELETE FROM event WHERE seq = 1").await.expect("beside").expect("deleted");
    assert_eq!(relay.send_once().await.expect("sent"), 1, "it begins with what is there");
    let last = log(&world, one).await[0].0;
    assert_eq!(stored(&sink, "one").last(), Some(&last));
}

pub async fn a_late_relay_is_an_alert_of_its_tenant(world: World) {
    let (one, _) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let sink = Arc::new(MemorySink::default());
    let relay = relay(&world, &sink, "a", settings());
    world.quote(one).await;
    relay.send_once().await.expect("sent");
    world.pass(Span::hours(1)).await;
    let limit = Span::mins(15);
    let late = async || late_alerts(&world.store, world.now().await, limit).await.expect("read");
    assert!(late().await.is_empty(), "everything is sent, however long ago");
    world.quote(one).await;
    sink.fail_after(0);
    relay.send_once().await.expect_err("an outage");
    world.pass(Span::mins(14)).await;
    assert!(late().await.is_empty());
    world.pass(Span::mins(2)).await;
    let found: Vec<_> = late().await.into_iter().collect();
    let [(tenant, alert)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((*tenant, alert.kind), (one, AlertKind::Relay));
    assert!(alert.what.contains("warehouse") && alert.what.contains("payment log"), "{alert:?}");
    sink.recover();
    relay.send_once().await.expect("sent");
    assert!(late().await.is_empty());
}

pub async fn the_alert_of_a_late_relay_ends_with_its_delay(world: World) {
    let (one, limit) = (world.tenant("one", 0).await, Span::mins(15));
    let sink = Arc::new(MemorySink::default());
    let relay = relay(&world, &sink, "a", settings());
    relay.send_once().await.expect("begun");
    let other = Alert { kind: AlertKind::Relay, subject: one.0, what: "the events".to_owned() };
    world.store.raise_alert(one, &other).await.expect("raised");
    let open = async |late: &mut LateAlerts| {
        late.update(&world.store, world.now().await, limit).await.expect("read");
        world.store.alerts(one, 10).await.expect("read").len() - 1
    };
    let mut late = LateAlerts::default();
    let stalls = async || {
        world.quote(one).await;
        world.pass(Span::mins(16)).await;
    };
    for _ in 0..2 {
        assert_eq!(open(&mut late).await, 0);
        stalls().await;
        assert_eq!(open(&mut late).await, 1);
        assert_eq!(open(&mut late).await, 1);
        relay.send_once().await.expect("sent");
        assert_eq!(open(&mut late).await, 0, "it has caught up, and the next one is another");
    }
    stalls().await;
    assert_eq!(open(&mut late).await, 1);
    let mut restarted = LateAlerts::default();
    assert_eq!(open(&mut restarted).await, 1);
    relay.send_once().await.expect("sent");
    assert_eq!(open(&mut LateAlerts::default()).await, 0, "sent while no node looked");
    assert_eq!(open(&mut restarted).await, 0);
    stalls().await;
    assert_eq!(open(&mut restarted).await, 1);
    world.store.forget_relay("warehouse", Some(one), "ayesha").await.expect("forgotten");
    assert_eq!(open(&mut restarted).await, 0, "it has no position");
}

/// Without a position it would not be measured, and its events would be pruned.
pub async fn a_relay_whose_broker_never_answered_has_positions(world: World) {
    let tenant = world.tenant("one", 0).await;
    world.quote(tenant).await;
    let sink = Arc::new(MemorySink::default());
    sink.fail_after(0);
    let relay = relay(&world, &sink, "a", settings());
    relay.send_once().await.expect_err("an outage");
    world.tenant("two", 0).await;
    relay.send_once().await.expect_err("an outage");
    let cursors = world.store.relay_cursors().await.expect("read");
    let found: Vec<_> =
        cursors.iter().map(|it| (it.tag.as_str(), it.log, it.unsent(), it.event)).collect();
    let begun =
        |tag, unsent| [(tag, EventLog::Payment, unsent, None), (tag, EventLog::Wallet, 0, None)];
    assert_eq!(found, [begun("one", 1), begun("two", 0)].concat());
    world.pass(Span::days(31)).await;
    let now = world.now().await;
    assert!(!late_alerts(&world.store, now, Span::mins(15)).await.expect("read").is_empty());
    assert_eq!(world.store.prune(now).await.expect("pruned").events, 0);
}

/// The state that a relay comes to, which has to be another one than `before`.
async fn next_state(relay: &Arc<Relay>, before: &RelayState) -> RelayState {
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let running = tokio::spawn({
        let relay = relay.clone();
        async move { relay.run(stopping).await }
    });
    let changed = || std::future::ready(relay.state() != *before);
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, changed).await, "{before:?}");
    stop.send_replace(true);
    running.await.expect("ends");
    relay.state()
}

pub async fn a_relay_that_cannot_ask_for_its_role_does_not_say_that_another_has_it(world: World) {
    if world.sql("SELECT 1").await.is_none() {
        return;
    }
    world.tenant("one", 0).await;
    let sink = Arc::new(MemorySink::default());
    let first = relay(&world, &sink, "a", settings());
    let second = Arc::new(relay(&world, &sink, "b", settings()));
    assert_eq!(second.state(), RelayState::default());
    assert_eq!(second.state().role, RelayRole::Unknown);
    first.send_once().await.expect("has the role");
    let waiting = next_state(&second, &RelayState::default()).await;
    assert_eq!((waiting.role, &waiting.store_fault), (RelayRole::Standby, &None));
    // The lease is over, and nothing can be written: it is not known who has the role.
    world.pass(Span::mins(2)).await;
    let refuse = [
        "CREATE TRIGGER refused BEFORE INSERT ON role_lease \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
        "ALTER TABLE role_lease ADD CONSTRAINT refused CHECK (fence < 0) NOT VALID",
    ];
    if !one_of(&world, refuse).await {
        return;
    }
    let unknown = next_state(&second, &waiting).await;
    assert_eq!(unknown.role, RelayRole::Unknown);
    assert!(unknown.store_fault.is_some() && unknown.fault.is_none(), "{unknown:?}");
    first.send_once().await.expect_err("it has to renew its lease");
    let allow = ["DROP TRIGGER refused", "ALTER TABLE role_lease DROP CONSTRAINT refused"];
    assert!(one_of(&world, allow).await);
    let active = next_state(&second, &unknown).await;
    assert_eq!((active.role, active.store_fault), (RelayRole::Active, None));
}

/// Runs the statement that the database understands; `false` if it is in memory.
async fn one_of(world: &World, statements: [&str; 2]) -> bool {
    let mut faults = Vec::new();
    for statement in statements {
        match world.sql(statement).await {
            None => return false,
            Some(Ok(_)) => return true,
            Some(Err(fault)) => faults.push(fault),
        }
    }
    panic!("{faults:?}")
}
