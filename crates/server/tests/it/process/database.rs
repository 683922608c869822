//! The connection to PostgreSQL breaks around COMMITs, and PostgreSQL itself is killed: the service
//! finds out what was committed before it answers, and neither loses nor repeats anything.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use testkit::postgres::{Cluster, Options};
use testkit::proxy::{Cut, Proxy};
use testkit::wait;

use super::judge::judge;
use super::load::Load;
use super::random::Random;
use super::rig::Rig;
use super::{faults, seed};

const CLIENTS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_decided_and_nothing_is_done_twice() {
    let cluster = testkit::postgres::for_tests("COMMITs whose answer is lost").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let seed = seed(0xC033);
    let (random, begun) = (Random::new(seed), Instant::now());
    let url = cluster.database("commits").expect("a database");
    let (proxy, through) = proxied(&url).await;
    let rig = Rig::start(seed, Some(&through)).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    let cuts = faults(60, 1_000);
    for made in 0..cuts {
        let passed = proxy.commits() + random.below(12);
        let come =
            wait::until_async(wait::AT_MOST, || std::future::ready(proxy.commits() >= passed))
                .await;
        assert!(come, "seed {seed}: no commits: {}", node.process.log_tail());
        proxy.cut_next_commit(*random.pick(&[Cut::Before, Cut::Behind, Cut::Answer, Cut::Answer]));
        if random.chance(10) {
            proxy.cut_all();
        }
        let cut =
            wait::until_async(wait::AT_MOST, || std::future::ready(proxy.cuts() > made)).await;
        assert!(cut, "seed {seed}: no commit came: {}", node.process.log_tail());
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &node.address, &notes).await;
    let unclear = notes.unclear();
    eprintln!(
        "{cuts} commits cut in {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}",
        begun.elapsed()
    );
    assert!(node.process.ended().is_none(), "the service sat it all out");
    node.process.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_hangs_does_not_hang_the_service_for_ever() {
    let cluster = testkit::postgres::for_tests("a hanging line to PostgreSQL").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let seed = seed(0xF0F0);
    let (proxy, through) = proxied(&cluster.database("hanging").expect("a database")).await;
    let rig = Rig::start(seed, Some(&through)).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    let begun = Instant::now();
    for ready in [false, true] {
        let enough = load.accepted() + 20;
        let moved =
            wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough))
                .await;
        assert!(moved, "seed {seed}: no progress: {}", node.process.log_tail());
        proxy.freeze(!ready);
        // It reports so while the connection still hangs.
        let said =
            wait::until_async(wait::AT_MOST, async || is_ready(&node.address).await == Some(ready))
                .await;
        assert!(said, "seed {seed}: /readyz does not say {ready}: {}", node.process.log_tail());
        proxy.freeze(false);
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let (verdict, unclear) = (judge(&rig, &node.address, &notes).await, notes.unclear());
    eprintln!(
        "a hanging line, {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}",
        begun.elapsed()
    );
    node.process.stop();
}

/// The answer of `/readyz`; `None` without one.
async fn is_ready(address: &str) -> Option<bool> {
    let client = client::http_client().expect("a client");
    let asked = client.get(format!("{address}/readyz")).timeout(Duration::from_secs(15));
    asked.send().await.ok().map(|answer| answer.status().is_success())
}

/// A proxy for the server of `url`, and the URL through it.
async fn proxied(url: &str) -> (Proxy, String) {
    let authority = url
        .split_once('@')
        .and_then(|(_, rest)| rest.split_once('/'))
        .expect("user@host:port/database")
        .0;
    let upstream: SocketAddr =
        authority.to_socket_addrs().expect("an address").next().expect("an address");
    let proxy = Proxy::start(upstream).await.expect("a proxy");
    let through = url.replacen(&format!("@{authority}/"), &format!("@{}/", proxy.address()), 1);
    (proxy, through)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_postgresql_comes_back_and_nothing_is_lost_or_done_twice() {
    if !testkit::postgres::wanted() {
        // Reported like other omitted tests.
        assert!(testkit::postgres::for_tests("kill -9 of PostgreSQL").expect("left out").is_none());
        return;
    }
    // A dedicated server, because the test kills it. Durable, because durability is tested.
    let cluster =
        Cluster::start(&Options { durable: true, ..Options::default() }).expect("PostgreSQL");
    let seed = seed(0x9090);
    let (random, begun) = (Random::new(seed), Instant::now());
    let rig = Rig::start(seed, Some(&cluster.database("killed_server").expect("a database"))).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    let kills = faults(3, 30);
    for kill in 0..kills {
        let enough = load.accepted() + 20 + usize::try_from(random.below(40)).expect("a number");
        let moved =
            wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough))
                .await;
        assert!(moved, "seed {seed}, kill {kill}: no progress: {}", node.process.log_tail());
        cluster.kill().expect("PostgreSQL is killed");
        cluster.restart().expect("PostgreSQL comes back");
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &node.address, &notes).await;
    let unclear = notes.unclear();
    eprintln!(
        "{kills} kills in {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}",
        begun.elapsed()
    );
    assert!(node.process.ended().is_none(), "the service sat it all out");
    node.process.stop();
}
