//! Two nodes on PostgreSQL behind PgBouncer in transaction mode, where each transaction may have another
//! server session: settings, prepared statements and locks must not outlive it.

use std::process::Command;

use testkit::pgbouncer;
use testkit::wait;

use super::harness::Node;
use super::judge::judge;
use super::load::Load;
use super::rig::Rig;
use super::seed;

const CLIENTS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_behind_a_pooler_lose_nothing_and_leave_nothing_in_its_sessions() {
    let cluster = testkit::postgres::for_tests("two nodes behind PgBouncer").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let url = cluster.database("pooled").expect("a database");
    let dir = tempfile::tempdir().expect("a directory");
    let pooler = pgbouncer::for_tests("two nodes", dir.path(), &url).expect("PgBouncer");
    let Some(mut pooler) = pooler else { return };
    let seed = seed(0xB04C);
    let through = pooler.through(&url);
    let rig = Rig::with(seed, Some(&through), &[("CORRIDOR_STORE__POOLER", "true")]).await;
    let (mut first, mut second) = (rig.node("first"), rig.node("second"));
    let addresses = vec![first.address.clone(), second.address.clone()];
    let load = Load::start(rig.api.clone(), addresses, CLIENTS, seed);
    progress(&load, 80, &first).await;
    let database = url.rsplit('/').next().expect("a name").split('?').next().expect("a name");
    cluster.disconnect(database).expect("all server sessions end");
    progress(&load, 40, &first).await;
    pooler.kill().expect("the pooler is killed");
    pooler.start().expect("the pooler comes back");
    progress(&load, 40, &second).await;
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &first.address, &notes).await;
    eprintln!("behind PgBouncer (seed {seed}): {verdict:?}");
    assert!(verdict.payments >= 160, "{verdict:?}");
    first.process.stop();
    second.process.stop();
    left_nothing(&through);
    says_what_to_set(&rig);
}

/// Without the option a session finds the statements of an earlier client of the pooler.
fn says_what_to_set(rig: &Rig) {
    let mut answers = (0..40).map(|_| {
        let mut command = rig.installation.command(&["tenants", "list"]);
        let output = command.env("CORRIDOR_STORE__POOLER", "false").output().expect("it runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    });
    let said = answers.any(|answer| answer.contains("store.pooler has to be true"));
    assert!(said, "no session met another client's statements");
}

async fn progress(load: &Load, payments: usize, node: &Node) {
    let enough = load.accepted() + payments;
    let moved =
        wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough)).await;
    assert!(moved, "no progress: {}", node.process.log_tail());
}

/// Looks into each server session, which the pooler uses in turn.
fn left_nothing(through: &str) {
    let psql = testkit::postgres::Binaries::find().expect("PostgreSQL").program("psql");
    for _ in 0..20 {
        let output = Command::new(&psql)
            .args(["--no-psqlrc", "--tuples-only", "--no-align", "--command"])
            .arg(
                "SELECT (SELECT count(*) FROM pg_prepared_statements), current_setting('jit'), \
                 current_setting('enable_seqscan'), current_setting('statement_timeout'), \
                 current_setting('transaction_read_only')",
            )
            .arg(through)
            .output()
            .expect("psql runs");
        let answer = String::from_utf8_lossy(&output.stdout);
        assert_eq!(answer.trim(), "0|on|on|0|off", "{}", String::from_utf8_lossy(&output.stderr));
    }
}
