//! What a process does besides its work: it ends orderly, keeps its files to itself, answers probes on a
//! listener of their own, and says what is away instead of letting clients wait.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chaos::run::faults::locks;
use reqwest::StatusCode;
use serde_json::Value;
use testkit::wait;

use super::harness::{Installation, Process, finish, program};
use super::load::Load;
use super::rig::Rig;

const CONFIG: &str = "environment = \"test\"\n[http]\nlisten = \"127.0.0.1:0\"\n[rates]\nsource = \"frozen\"\n\
                      [telemetry]\nlog_format = \"json\"\n[wallets]\nenabled = false\n";
/// A request's deadline, and some of a loaded machine's time.
const DEADLINE_AT_MOST: Duration = Duration::from_secs(8);

async fn get(url: &str) -> (StatusCode, String) {
    let client = client::http_client().expect("a client");
    let answer = client.get(url).send().await.expect("an answer");
    (answer.status(), answer.text().await.expect("a body"))
}

#[test]
fn a_hangup_drains_as_a_termination_does() {
    let installation = Installation::configured(CONFIG);
    let mut node = installation.serve("node", &[]);
    node.process.signal("HUP");
    let status = node.process.wait_for_end();
    assert!(status.success(), "{status}: {}", node.process.log_tail());
    assert!(node.process.log().contains("draining"), "{}", node.process.log_tail());
}

#[test]
fn its_files_are_its_owners_alone_whatever_the_mask_of_its_starter() {
    let mut installation = Installation::configured(CONFIG);
    let data = installation.path().join("data");
    installation.set("CORRIDOR_DATA_DIR", data.display().to_string());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "umask 000; exec \"$0\" serve"]).arg(program()).stdin(Stdio::null());
    installation.environment(&mut command);
    let mut process = Process::spawn(command, installation.path(), "node");
    assert!(process.serves().is_some(), "{}", process.log_tail());
    process.stop();
    let mut open = vec![data];
    let mut files = 0;
    while let Some(path) = open.pop() {
        let meta = std::fs::metadata(&path).expect("it is there");
        assert_eq!(meta.permissions().mode() & 0o077, 0, "{}", path.display());
        files += 1;
        if meta.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
    }
    assert!(files > 2, "the database is there");
}

#[tokio::test]
async fn probes_have_a_listener_of_their_own_if_it_is_configured() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let ops = free.local_addr().expect("bound").to_string();
    drop(free);
    let mut installation = Installation::configured(CONFIG);
    installation.set("CORRIDOR_HTTP__OPS_LISTEN", &ops);
    let mut node = installation.serve("node", &[]);
    for path in ["livez", "readyz", "metrics"] {
        assert_eq!(get(&format!("http://{ops}/{path}")).await.0, 200, "{path}");
        assert_eq!(get(&format!("{}/{path}", node.address)).await.0, 404, "{path}");
    }
    assert_eq!(finish(&mut installation.command(&["healthcheck"])).code, 0);
    node.process.stop();
}

/// Nothing can be written for a while: clients get an answer within the deadline, probes at once, the log
/// once; and all goes on afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_store_is_reported_in_time_and_once() {
    if !super::present("a locked store", &["sqlite3"]) {
        return;
    }
    let rig = Rig::start(7, None).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], 2, 7);
    let goes_on = async |more: usize| {
        let enough = load.accepted() + more;
        wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough)).await
    };
    assert!(goes_on(5).await, "{}", node.process.log_tail());
    let mut lock = locks(&rig.installation.path().join("corridor.db")).expect("sqlite3 runs");
    let ready = format!("{}/readyz", node.address);
    let unready = async || get(&ready).await.0 == StatusCode::SERVICE_UNAVAILABLE;
    assert!(wait::until_async(wait::AT_MOST, unready).await, "it says that it cannot write");
    let said: Value = serde_json::from_str(&get(&ready).await.1).expect("JSON");
    assert_ne!(said["checks"]["write"], "ok", "{said}");
    let body = r#"{"country":"PAK","currency":"AED","amount":10}"#;
    let asked = Instant::now();
    let told = rig.api.status(&node.address, "/v2/quote", body).await;
    assert_eq!(told, (503, true), "with Retry-After");
    assert!(asked.elapsed() < DEADLINE_AT_MOST, "{:?}", asked.elapsed());
    lock.kill().expect("killed");
    lock.wait().expect("ended");
    assert!(goes_on(5).await, "{}", node.process.log_tail());
    let is_ready = async || get(&ready).await.0 == StatusCode::OK;
    assert!(wait::until_async(wait::AT_MOST, is_ready).await, "it is ready again");
    load.stop().await;
    node.process.stop();
    let failures = node.process.log().matches("batch commit failed").count();
    assert!(failures <= 1, "one line an outage: {}", node.process.log());
}
