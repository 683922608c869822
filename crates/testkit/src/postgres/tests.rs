//! The harness on the real server: only in runs that include PostgreSQL, and reported as skipped in
//! others.

use std::path::Path;
use std::process::{Command, Stdio};

use super::binaries::{User, first_complete, pick_user, version_dirs};
use super::*;
use crate::wait;

/// Enables [`holds_a_server_until_killed`]; only the test that starts it sets this.
const ENV_HOLD: &str = "CORRIDOR_TEST_HOLD_A_SERVER";

fn run(url: &str, statement: &str) -> Result<String, PostgresFault> {
    Cluster::external(url)?.admin(statement)
}

#[test]
fn each_test_has_its_own_database() {
    let Some(cluster) = for_tests("harness: databases").unwrap() else { return };
    let (one, other) = (cluster.database("one").unwrap(), cluster.database("one").unwrap());
    assert_ne!(one, other);
    run(&one, "CREATE TABLE seen (x bigint)").unwrap();
    assert_eq!(run(&one, "SELECT count(*) FROM pg_tables WHERE tablename = 'seen'").unwrap(), "1");
    assert_eq!(
        run(&other, "SELECT count(*) FROM pg_tables WHERE tablename = 'seen'").unwrap(),
        "0"
    );
}

#[test]
fn a_template_is_prepared_once_and_copied() {
    let Some(cluster) = for_tests("harness: templates").unwrap() else { return };
    let mut prepared = 0;
    let mut ask = || {
        cluster.template("harness", |url| {
            prepared += 1;
            run(url, "CREATE TABLE migrated (x bigint)")
                .map(|_| ())
                .map_err(|fault| fault.to_string())
        })
    };
    let template = ask().unwrap();
    assert_eq!(template, ask().unwrap());
    assert_eq!(prepared, 1);
    let copy = cluster.database_from(&template, "copy").unwrap();
    assert_eq!(run(&copy, "SELECT count(*) FROM migrated").unwrap(), "0");
}

#[test]
fn a_template_that_cannot_be_prepared_is_a_failure_and_not_kept() {
    let Some(cluster) = for_tests("harness: failing template").unwrap() else { return };
    let failed = cluster.template("failing", |_| Err("no such migration".to_owned()));
    assert!(
        matches!(failed, Err(PostgresFault::Template { reason, .. }) if reason == "no such migration")
    );
    assert!(cluster.template("failing", |_| Ok(())).is_ok());
}

#[test]
fn a_kill_loses_no_commits() {
    if for_tests("harness: kill and restart").unwrap().is_none() {
        return;
    }
    let cluster = Cluster::start(&Options::default()).unwrap();
    let url = cluster.database("killed").unwrap();
    run(&url, "CREATE TABLE kept (x bigint); INSERT INTO kept VALUES (7)").unwrap();
    cluster.kill().unwrap();
    assert!(run(&url, "SELECT 1").is_err());
    cluster.restart().unwrap();
    assert_eq!(run(&url, "SELECT x FROM kept").unwrap(), "7");
    cluster.restart().unwrap();
    assert_eq!(run(&url, "SELECT x FROM kept").unwrap(), "7");
}

#[test]
fn a_durable_server_has_durable_settings() {
    if for_tests("harness: durable settings").unwrap().is_none() {
        return;
    }
    let options = Options {
        durable: true,
        settings: vec![("work_mem".into(), "1234kB".into())],
        ..Options::default()
    };
    let cluster = Cluster::start(&options).unwrap();
    for (name, value) in [("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on")]
    {
        assert_eq!(cluster.admin(&format!("SHOW {name}")).unwrap(), value, "{name}");
    }
    assert_eq!(cluster.admin("SHOW work_mem").unwrap(), "1234kB");
}

#[test]
fn a_dropped_cluster_leaves_neither_server_nor_files() {
    if for_tests("harness: clean end").unwrap().is_none() {
        return;
    }
    let cluster = Cluster::start(&Options::default()).unwrap();
    let dir = cluster.admin("SHOW data_directory").unwrap();
    let port = cluster.port().unwrap();
    drop(cluster);
    assert!(!Path::new(&dir).exists());
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Run by [`a_killed_test_process_leaves_neither_server_nor_files`] in its own process, which never
/// ends by itself.
#[test]
fn holds_a_server_until_killed() {
    let Ok(note) = std::env::var(ENV_HOLD) else { return };
    let cluster = Cluster::start(&Options::default()).unwrap();
    let dir = cluster.admin("SHOW data_directory").unwrap();
    std::fs::write(&note, format!("{dir}\n{}\n", cluster.port().unwrap())).unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
fn a_killed_test_process_leaves_neither_server_nor_files() {
    if for_tests("harness: killed test process").unwrap().is_none() {
        return;
    }
    let note = scratch_dir();
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "postgres::tests::holds_a_server_until_killed"])
        .env(ENV_HOLD, &note)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let read = || std::fs::read_to_string(&note).unwrap_or_default();
    assert!(
        wait::until(wait::AT_MOST, || read().lines().count() == 2),
        "the other process did not start a server"
    );
    let text = read();
    let (dir, port) = text.trim_end().split_once('\n').unwrap();
    let address: std::net::SocketAddr = format!("127.0.0.1:{port}").parse().unwrap();
    assert!(std::net::TcpStream::connect(address).is_ok());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(wait::until(wait::AT_MOST, || !Path::new(dir).exists()), "{dir} is still there");
    assert!(std::net::TcpStream::connect(address).is_err());
    std::fs::remove_file(&note).unwrap();
}

#[test]
fn an_external_server_is_neither_killed_nor_restarted() {
    let cluster = Cluster::external("postgresql://u:p@127.0.0.1:1/admin").unwrap();
    assert!(matches!(cluster.kill(), Err(PostgresFault::NotOurs { action: "kill" })));
    assert!(matches!(cluster.restart(), Err(PostgresFault::NotOurs { .. })));
    assert_eq!(cluster.port(), None);
}

#[test]
fn the_newest_version_comes_first_and_must_be_complete() {
    let root = scratch_dir();
    for version in ["9", "15", "17", "none"] {
        std::fs::create_dir_all(root.join(version).join("bin")).unwrap();
    }
    for program in ["postgres", "initdb", "psql"] {
        std::fs::write(root.join("15/bin").join(program), "").unwrap();
    }
    std::fs::write(root.join("17/bin/postgres"), "").unwrap();
    let dirs = version_dirs(&root);
    let found = first_complete(&dirs).unwrap();
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(dirs, ["17", "15", "9"].map(|version| root.join(version).join("bin")));
    assert_eq!(found.program("initdb"), root.join("15/bin/initdb"));
    assert!(version_dirs(&root).is_empty());
}

#[test]
fn the_server_runs_as_an_ordinary_user() {
    let both = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65533::/:/bin/false\npostgres:x:101:102::/:/bin/sh\n";
    assert_eq!(pick_user(both), Some(User { uid: 101, gid: 102 }));
    assert_eq!(
        pick_user("nobody:x:65534:65533::/:/bin/false"),
        Some(User { uid: 65534, gid: 65533 })
    );
    assert_eq!(pick_user("postgres:x:0:0::/:/bin/sh"), None);
    assert_eq!(pick_user("root:x:0:0::/:/bin/sh\nbroken"), None);
}

#[test]
fn only_an_explicit_yes_includes_postgresql() {
    for (value, yes) in [
        (None, false),
        (Some(""), false),
        (Some("0"), false),
        (Some("1"), true),
        (Some("yes"), true),
    ] {
        assert_eq!(is_yes(value), yes, "{value:?}");
    }
}
