//! A newer version migrates the database while nodes of this version run on it: they go on, say that
//! they are to be replaced, and do not start again.

use std::process::Command;

use testkit::wait;

use super::judge::judge;
use super::load::Load;
use super::rig::Rig;
use super::seed;

const CLIENTS: usize = 3;
/// What a later migration may do beside nodes of this version.
const LATER: &str = "BEGIN; ALTER TABLE payment ADD COLUMN later BIGINT NOT NULL DEFAULT 7;
    ALTER TABLE event ADD COLUMN later TEXT; CREATE TABLE later (id BIGINT PRIMARY KEY);
    INSERT INTO schema_version (version, name, checksum, at)
    SELECT max(version) + 1, 'later', 'of a later version', 0 FROM schema_version; COMMIT;";
const BACK: &str = "DELETE FROM schema_version WHERE name = 'later'";

#[tokio::test(flavor = "multi_thread")]
async fn nodes_go_on_while_a_newer_version_migrates_and_do_not_start_on_its_schema() {
    let cluster = testkit::postgres::for_tests("a newer schema").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let url = cluster.database("upgraded").expect("a database");
    let rig = Rig::start(seed(0x0933), Some(&url)).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, 0x0933);
    let goes_on = async |more: usize| {
        let enough = load.accepted() + more;
        wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough)).await
    };
    assert!(goes_on(20).await, "{}", node.process.log_tail());
    sql(&url, LATER);
    let unready = async || {
        let (status, body) = readyz(&node.address).await;
        status == 503 && body.contains("newer than this program")
    };
    assert!(wait::until_async(wait::AT_MOST, unready).await, "it is to be replaced");
    assert!(goes_on(40).await, "{}", node.process.log_tail());
    let (mut second, address) = rig.installation.serve_or_end("second", &[]);
    assert_eq!(address, None, "it serves a schema that it does not know");
    assert!(!second.wait_for_end().success());
    assert!(second.log().contains("newer than this program"), "{}", second.log_tail());
    // Nothing of what was written in between is lost to the version that knows it.
    let notes = load.stop().await;
    sql(&url, BACK);
    rig.heal_bank();
    let verdict = judge(&rig, &node.address, &notes).await;
    assert!(verdict.payments >= 60, "{verdict:?}");
    node.process.stop();
}

async fn readyz(address: &str) -> (u16, String) {
    let client = client::http_client().expect("a client");
    let answer = client.get(format!("{address}/readyz")).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a body"))
}

fn sql(url: &str, script: &str) {
    let psql = testkit::postgres::Binaries::find().expect("PostgreSQL").program("psql");
    let done = Command::new(psql)
        .args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", script, url])
        .output()
        .expect("psql runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
