//! `corridor relay run` with a real broker: broker and relay are killed under load. What the broker
//! has stored is compared with the event API, and the events of wallets with the webhooks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use chaos::chain::Kind;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use testkit::nats::{self, NatsServer};
use testkit::receiver::Book;
use testkit::wait;

use super::harness::{Installation, Process, READY_AT_MOST};
use super::load::Load;
use super::random::Random;
use super::rig::{Rig, TENANT};
use super::wallets::world::{Setup, Signer, World};
use super::{faults, seed};

const CLIENTS: usize = 3;

/// Lets the installation's relay send to this server, in small batches.
fn configure(installation: &mut Installation, server: &NatsServer) {
    for (key, value) in [
        ("SERVERS", format!("[\"{}\"]", server.url())),
        ("CREATE_STREAM", "true".to_owned()),
        ("BATCH", "16".to_owned()),
        ("ACK_TIMEOUT_MS", "1000".to_owned()),
        ("LISTEN", "127.0.0.1:0".to_owned()),
    ] {
        installation.set(&format!("CORRIDOR_RELAY__WAREHOUSE__{key}"), value);
    }
}

/// A running relay and the address of its health.
struct Relay {
    process: Process,
    address: String,
}

fn start(installation: &Installation, name: &str, env: &[(&str, &str)]) -> Relay {
    let process = installation.start(name, &["relay", "run"], env);
    let mut address = None;
    wait::until(READY_AT_MOST, || {
        address = process.log().lines().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            (line["message"] == "relaying")
                .then(|| line["address"].as_str().map(|address| format!("http://{address}")))?
        });
        address.is_some()
    });
    let address = address.unwrap_or_else(|| panic!("no relay: {}", process.log_tail()));
    Relay { process, address }
}

fn unsent(installation: &Installation) -> i64 {
    let logs = installation.json(&["relay", "status"]);
    logs.iter().map(|log| log["unsent"].as_i64().unwrap_or(i64::MAX)).sum()
}

/// Waits until everything is sent.
fn catch_up(installation: &Installation, relay: &Process) {
    let caught_up =
        wait::until_every(Duration::from_millis(200), wait::AT_MOST, || unsent(installation) == 0);
    assert!(caught_up, "{}", relay.log_tail());
}

/// A server holds messages back while a thousand are not acknowledged.
fn unacknowledged() -> pull::Config {
    pull::Config { ack_policy: AckPolicy::None, ..pull::Config::default() }
}

/// Subject, id and body of a message.
type Stored = (String, String, String);

/// What the stream has, in its order.
async fn stored(server: &NatsServer) -> Vec<Stored> {
    let client = async_nats::connect(server.url()).await.expect("connected");
    let stream = jetstream::new(client).get_stream("CORRIDOR").await.expect("the stream");
    let count = usize::try_from(stream.cached_info().state.messages).expect("a count");
    let consumer = stream.create_consumer(unacknowledged()).await.expect("a consumer");
    let read = |it: Result<jetstream::Message, _>| {
        let it = it.expect("a message");
        let id = it.headers.as_ref().and_then(|all| all.get("Nats-Msg-Id")).expect("an id");
        let body = String::from_utf8(it.payload.to_vec()).expect("UTF-8");
        (it.subject.to_string(), id.to_string(), body)
    };
    consumer.messages().await.expect("messages").take(count).map(read).collect().await
}

/// The quote or payment of an event.
fn aggregate(event: &Value) -> String {
    let data = &event["data"];
    data["id"].as_str().unwrap_or_else(|| panic!("{event}")).to_owned()
}

/// The stream has exactly the API's events: the same bodies, each once, and in order for each quote and payment.
fn assert_same(events: &[Value], stored: &[Stored]) {
    let mut expected: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for event in events {
        expected.entry(aggregate(event)).or_default().push(event);
    }
    let bodies: Vec<Value> =
        stored.iter().map(|(_, _, body)| serde_json::from_str(body).expect("JSON")).collect();
    let mut found: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for ((subject, id, _), body) in stored.iter().zip(&bodies) {
        let kind = body["type"].as_str().expect("a type");
        assert_eq!(*subject, format!("corridor.payment.{TENANT}.{kind}"));
        assert_eq!(body["id"], **id);
        found.entry(aggregate(body)).or_default().push(body);
    }
    assert_eq!(stored.len(), events.len(), "none lost, none stored twice");
    assert!(found == expected, "the bodies differ, or their order within an aggregate");
}

/// Whether a message is of the wallet log.
fn is_of_wallets(message: &Stored) -> bool {
    message.0.starts_with("corridor.wallet.")
}

/// Provisions wallets, blocks and unblocks them, until it is stopped.
async fn manage_wallets(world: &World, node: &str, stop: &AtomicBool) {
    let reason = json!({
        "reason": "SUSPICIOUS_ACTIVITY", "details": "Three senders", "auto_unblock_hours": 72,
    });
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        number += 1;
        let (wallet, _) = world.wallet(node, &format!("RELAYED-{number}")).await;
        for _ in 0..3 {
            world.post(node, &format!("/v1/sdk/wallets/{wallet}/block"), &reason).await;
            world.post(node, &format!("/v1/sdk/wallets/{wallet}/unblock"), &json!({})).await;
        }
    }
}

/// The wallet log of the stream has the events of the webhooks, besides their positions: each once, and
/// in order for each subject.
fn assert_same_as_webhooks(book: &Book, stored: &[Stored]) {
    let mut expected: BTreeMap<&str, Vec<(&str, Value)>> = BTreeMap::new();
    for entry in book.entries().iter().filter(|entry| entry.taken && !entry.repeated) {
        let subject = entry.subject.as_deref().expect("a subject");
        let body = serde_json::from_slice(&entry.arrival.body).expect("JSON");
        expected.entry(subject).or_default().push((entry.id(), body));
    }
    let subjects: BTreeMap<&str, &str> = expected
        .iter()
        .flat_map(|(subject, all)| all.iter().map(|(id, _)| (*id, *subject)))
        .collect();
    let mut found: BTreeMap<&str, Vec<(&str, Value)>> = BTreeMap::new();
    for (subject, id, body) in stored.iter().filter(|message| is_of_wallets(message)) {
        let mut event: Value = serde_json::from_str(body).expect("JSON");
        let position = event.as_object_mut().and_then(|event| event.remove("seq"));
        assert!(position.is_some_and(|it| it.is_i64()), "{body}");
        let kind = event["event_type"].as_str().unwrap_or_else(|| panic!("{body}"));
        assert_eq!(*subject, format!("corridor.wallet.{TENANT}.{kind}"));
        assert_eq!(event["event_id"], **id);
        let about = subjects.get(&**id).unwrap_or_else(|| panic!("no webhook of {body}"));
        found.entry(about).or_default().push((id, event));
    }
    assert_eq!(found, expected, "lost, doubled, changed, or in another order within a subject");
}

/// The parts that a run kills.
struct Killed<'a> {
    world: &'a World,
    server: &'a mut NatsServer,
    load: &'a Load,
    random: &'a Random,
}

impl Killed<'_> {
    async fn progress(&self, more: u64) {
        let enough = self.load.requests() + more;
        let come = || std::future::ready(self.load.requests() >= enough);
        assert!(wait::until_async(wait::AT_MOST, come).await, "no progress");
    }

    /// Kills the broker, the relay, or a relay between the broker's acknowledgement and its cursor.
    async fn kill(&mut self, round: u64, mut relay: Relay) -> Relay {
        let installation = &self.world.rig.installation;
        self.progress(5 + self.random.below(40)).await;
        match round % 3 {
            0 => {
                self.server.kill().expect("killed");
                self.progress(5 + self.random.below(20)).await;
                self.server.start().expect("restarted");
                relay
            }
            1 => {
                relay.process.kill();
                start(installation, "relay", &[])
            }
            _ => {
                relay.process.stop();
                let point = format!("before_relay_cursor:{}", 1 + self.random.below(3));
                let mut doomed = start(installation, "doomed", &[("CORRIDOR_FAILPOINT", &point)]);
                self.progress(5).await;
                let status = doomed.process.wait_for_end();
                assert!(!status.success(), "{status}");
                start(installation, "relay", &[])
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn broker_and_relay_are_killed_and_nothing_is_lost_reordered_or_doubled() {
    let dir = tempfile::tempdir().expect("a directory");
    let Some(mut server) = nats::for_tests("the relay", dir.path(), "").expect("NATS") else {
        return;
    };
    let seed = seed(0x4e41);
    let random = Random::new(seed);
    let (kind, signer) = (Kind::BuiltIn, Signer::Seed);
    let mut world = World::start(Setup { kind, circle: None, store_url: None, signer, seed }).await;
    configure(&mut world.rig.installation, &server);
    let mut node = world.node().await;
    let first = start(&world.rig.installation, "relay", &[]);
    let load = Load::start(world.rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    let begun = Instant::now();
    let kills = faults(6, 100);
    let stop = AtomicBool::new(false);
    let killing = async {
        let mut killed =
            Killed { world: &world, server: &mut server, load: &load, random: &random };
        let mut relay = first;
        for round in 0..kills {
            relay = killed.kill(round, relay).await;
        }
        stop.store(true, Ordering::SeqCst);
        relay
    };
    let (mut relay, ()) =
        futures_util::future::join(killing, manage_wallets(&world, &node.address, &stop)).await;
    load.stop().await;
    world.rig.heal_bank();
    catch_up(&world.rig.installation, &relay.process);
    let of_wallets = stored(&server).await.iter().filter(|it| is_of_wallets(it)).count();
    let delivered = || std::future::ready(world.receiver.book().taken().len() >= of_wallets);
    assert!(wait::until_async(wait::AT_MOST, delivered).await, "{}", node.process.log_tail());
    // The bank may still report: the log is compared once it stands still.
    relay.process.stop();
    node.process.stop();
    let mut quiet = world.api_alone();
    let mut last = start(&world.rig.installation, "relay", &[]);
    catch_up(&world.rig.installation, &last.process);
    let events = world.rig.api.all_events(&quiet.address).await;
    let stored = stored(&server).await;
    eprintln!(
        "{kills} kills in {:?}, {} events of payments, {of_wallets} of wallets (seed {seed})",
        begun.elapsed(),
        events.len()
    );
    assert!(events.len() > 100 && of_wallets > 20, "too few events for a verdict");
    assert_same_as_webhooks(&world.receiver.book(), &stored);
    let of_payments: Vec<_> = stored.into_iter().filter(|it| !is_of_wallets(it)).collect();
    assert_same(&events, &of_payments);
    last.process.stop();
    quiet.process.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_relays_sends_and_health_status_and_metrics_say_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let Some(mut server) = nats::for_tests("two relays", dir.path(), "").expect("NATS") else {
        return;
    };
    let mut rig = Rig::start(seed(0x4e42), None).await;
    configure(&mut rig.installation, &server);
    let mut node = rig.node("node");
    let (mut first, mut second) =
        (start(&rig.installation, "first", &[]), start(&rig.installation, "second", &[]));
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, 7);
    let paid = || std::future::ready(load.requests() > 60);
    assert!(wait::until_async(wait::AT_MOST, paid).await, "{}", node.process.log_tail());
    load.stop().await;
    node.process.stop();
    catch_up(&rig.installation, &first.process);
    let http = reqwest::Client::builder().timeout(wait::AT_MOST).no_proxy();
    let http = http.redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let get = async |url: String| {
        let answer = http.get(url).send().await.expect("answers");
        (answer.status().as_u16(), answer.text().await.expect("a body"))
    };
    let health = async |relay: &Relay| {
        let (status, body) = get(format!("{}/readyz", relay.address)).await;
        (status, serde_json::from_str::<Value>(&body).expect("JSON"))
    };
    let (one, two) = (health(&first).await.1, health(&second).await.1);
    let mut roles = [one["role"].as_str(), two["role"].as_str()];
    roles.sort_unstable();
    assert_eq!(roles, [Some("active"), Some("standby")]);
    let (active, standby) =
        if one["role"] == "active" { (&mut first, &mut second) } else { (&mut second, &mut first) };
    let (status, body) = health(active).await;
    let payments =
        body["logs"].as_array().expect("logs").iter().find(|log| log["log"] == "payment");
    let payments = payments.expect("the payment log");
    assert_eq!(
        (status, &payments["unsent"], &payments["tenant"]),
        (200, &0.into(), &TENANT.into())
    );
    let stored = stored(&server).await;
    assert_eq!(payments["last_seq"], stored.len());
    assert_eq!(payments["last_event"], *stored.last().expect("some").1);
    let (_, metrics) = get(format!("{}/metrics", active.address)).await;
    let sent = format!(
        "corridor_relay_events_total{{relay=\"warehouse\",log=\"payment\"}} {}",
        stored.len()
    );
    for line in [sent.as_str(), "corridor_relay_unsent_events{relay=\"warehouse\"} 0"] {
        assert!(metrics.lines().any(|found| found == line), "missing {line}");
    }
    server.kill().expect("killed");
    let mut node = rig.node("node");
    let (_, body) = get(format!("{}/metrics", node.address)).await;
    assert!(
        body.contains("corridor_relay_lag_seconds{relay=\"warehouse\"}"),
        "serve measures it, too"
    );
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], 1, 8);
    // Later it may have handed its role on, and then has nothing to do with the broker.
    let faulty = async || {
        let (status, body) = health(active).await;
        status == 503 && body["checks"]["broker"].as_str().is_some_and(|why| why != "ok")
    };
    assert!(wait::until_async(wait::AT_MOST, faulty).await, "{}", active.process.log_tail());
    load.stop().await;
    node.process.stop();
    let report = rig.installation.run(&["doctor", "--deep", "--output", "json"]);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let result = |name: &str| {
        let found = report["findings"].as_array().expect("findings").iter();
        let found = found.filter(|it| it["name"] == name).map(|it| it["result"].to_string());
        found.collect::<Vec<_>>()
    };
    assert_eq!(result("relay brokers"), ["\"wrong\""]);
    assert_eq!(result("relays"), ["\"ok\""], "late, but not for long");
    // The active one is gone: the other one sends once the lease has expired.
    server.start().expect("restarted");
    active.process.kill();
    catch_up(&rig.installation, &standby.process);
    assert_eq!(health(standby).await.1["role"], "active");
    standby.process.stop();
}

#[test]
fn a_relay_says_what_is_wrong_with_its_start() {
    let none = Installation::new();
    none.ok(&["migrate"]);
    let refused = none.run(&["relay", "run"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("[relay.NAME]"), "{}", refused.stderr);
    let one = Installation::configured(
        "[relay.warehouse]\nservers = [\"nats://127.0.0.1:1\"]\nlisten = \"127.0.0.1:0\"\n",
    );
    let unmigrated = one.run(&["relay", "run"]);
    assert_eq!(unmigrated.code, 2, "{}", unmigrated.stderr);
    assert!(unmigrated.stderr.contains("corridor migrate"), "{}", unmigrated.stderr);
    one.ok(&["migrate"]);
    let other = one.run(&["relay", "run", "lake"]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("configured: warehouse"), "{}", other.stderr);
    let listed = one.json(&["relay", "status"]).remove(0);
    assert_eq!((&listed["relay"], &listed["unsent"]), (&"warehouse".into(), &Value::Null));
    let remark = one.run(&["relay", "status"]).stderr;
    assert!(remark.contains("warehouse was never started"), "{remark}");
    let unknown = one.run(&["relay", "forget", "warehouse", "--why", "test"]);
    let words = "no relay warehouse has a position";
    assert!(unknown.code == 1 && unknown.stderr.contains(words), "{}", unknown.stderr);
}
