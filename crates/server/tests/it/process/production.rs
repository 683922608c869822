//! A production installation from nothing: `corridor init`, PostgreSQL, a bank's directory, the first
//! payment; each command of the guide in order.

use std::sync::Arc;

use domain::time::Span;
use serde_json::Value;
use testkit::bank::{BankConfig, Behaviour, DirectoryConfig, SimulatedBank, SystemClock};

use super::guides::runnable;
use super::harness::Installation;
use super::readme::{bash, present};

/// The step at whose beginning the service has to run.
const SERVED_FROM: &str = "corridor tenants create";

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_leads_to_a_first_payment_over_a_directory_on_postgresql() {
    const GUIDE: &str = "first-production-payment";
    if !present(&format!("docs/guides/{GUIDE}.md"), &["bash", "sed"]) {
        return;
    }
    let cluster = testkit::postgres::for_tests("the guide to a first payment").expect("PostgreSQL");
    let Some(cluster) = cluster else { return };
    let mut installation = Installation::new();
    let root = installation.path().to_owned();
    let directory = root.join("reader");
    std::fs::create_dir_all(directory.join("bin")).expect("a directory");
    std::os::unix::fs::symlink(super::harness::program(), directory.join("bin/corridor"))
        .expect("a link");
    let bank_files = root.join("bank");
    let _bank = SimulatedBank::start(BankConfig {
        behaviour: Behaviour::default(),
        directories: vec![DirectoryConfig {
            rail: "pak-raast".to_owned(),
            path: bank_files.clone(),
            poll: Span::millis(100),
        }],
        clock: Arc::new(SystemClock),
        ..BankConfig::default()
    })
    .await
    .expect("a bank");
    let config = root.join("etc");
    let port = free_port();
    for (name, value) in [
        ("CONFIG", config.display().to_string()),
        ("BANK", bank_files.display().to_string()),
        ("PORT", port.to_string()),
        ("DATABASE_URL", cluster.database("first_payment").expect("a database")),
    ] {
        installation.set(name, value);
    }

    let blocks = runnable(GUIDE);
    let served_from =
        blocks.iter().position(|block| block.contains(SERVED_FROM)).expect("the step");
    let script =
        |blocks: &[String]| format!("export PATH=\"$PWD/bin:$PATH\"\n{}", blocks.join("\n"));
    let done = bash(&installation, &directory, &script(&blocks[..served_from]));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("valid: environment production, corridors PAK, 1 rail"),
        "{}",
        done.stdout
    );

    // What the guide exports and a unit sets.
    let secrets = config.join("secrets").display().to_string();
    installation.set("CORRIDOR_CONFIG", config.join("corridor.toml").display().to_string());
    installation.set("CORRIDOR_SECRETS_DIR", secrets);
    let node = installation.serve("serve", &[]);
    let done = bash(&installation, &directory, &script(&blocks[served_from..]));
    assert_eq!(done.code, 0, "{}{}\n{}", done.stdout, done.stderr, node.process.log_tail());
    assert!(done.stdout.contains("succeeded"), "{}", done.stdout);
    assert!(!done.stdout.contains("-test_pay-"), "a key of production: {}", done.stdout);

    // Nothing but the public URL, which no name server knows, is wrong.
    let doctor = installation.run(&["doctor", "--deep", "--output", "json"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stderr);
    let report: Value = serde_json::from_str(doctor.stdout.trim()).expect("a report");
    let findings = report["findings"].as_array().expect("findings");
    let wrong: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["result"] == "wrong")
        .filter_map(|finding| finding["name"].as_str())
        .collect();
    assert_eq!(wrong, ["public URL"], "{findings:#?}");
    for name in ["rate pairs", "rail round trip", "database TLS", "backup", "screening lists"] {
        assert!(findings.iter().any(|finding| finding["name"] == name), "{name}: {findings:#?}");
    }
}

/// A port that no one listens on.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}
