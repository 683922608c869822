//! Discrepancies with bank statements on the command line.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::wait;

use super::super::harness::Installation;
use super::super::sandbox::Sandbox;

const LOOK_EVERY: Duration = Duration::from_millis(500);

fn pay(installation: &Installation) -> String {
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    let paid = installation.json(&["pay"]);
    let id = paid[0]["id"].as_str().expect("an id").to_owned();
    installation.ok(&["payments", "watch", &id, "--country", "PAK", "--timeout", "60"]);
    id
}

fn reconcile(installation: &Installation) -> (i32, Value) {
    let compared = installation.run(&["ledger", "reconcile", "--output", "json"]);
    (compared.code, serde_json::from_str(compared.stdout.trim()).expect("JSON"))
}

/// Lets the bank send its statements, and waits until the service has stored them.
async fn close(installation: &Installation, sandbox: &Sandbox, query: &str) {
    let reaches = || reconcile(installation).1["statements"][0]["to"].clone();
    let before = reaches();
    let url = format!("{}/sandbox/bank/statement{query}", sandbox.text("base_url"));
    let client = reqwest::Client::builder()
        .timeout(wait::AT_MOST)
        .redirect(reqwest::redirect::Policy::none());
    let answer = client.build().expect("a client").post(url).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{answer:?}");
    assert!(
        wait::until_every(LOOK_EVERY, wait::AT_MOST, || reaches() != before),
        "the statement does not come"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn breaks_with_statements_are_listed_and_closed() {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let id = pay(&installation);
    close(&installation, &sandbox, "").await;
    let (code, agreed) = reconcile(&installation);
    assert_eq!(
        (code, &agreed["found"], &agreed["statement_breaks"]),
        (0, &json!(0), &json!([])),
        "{agreed}"
    );
    assert_eq!(agreed["statements"][0]["currency"], "PKR", "{agreed}");

    let wrong = pay(&installation);
    close(&installation, &sandbox, &format!("?mistake=amount&payment_id={wrong}")).await;
    let (code, broken) = reconcile(&installation);
    let found = &broken["statement_breaks"][0];
    assert_eq!((code, &broken["found"]), (1, &json!(1)), "{broken}");
    assert_eq!(
        (&found["kind"], &found["about"]),
        (&json!("amount"), &json!(wrong)),
        "{broken} {id}"
    );
    assert_eq!(found["tenant"], "demobank");
    let shown = installation.run(&["ledger", "reconcile", "--last"]);
    let what = found["what"].as_str().expect("a text");
    assert!(
        shown.code == 1
            && shown.stdout.contains("DISCREPANCY: demobank: amount")
            && shown.stdout.contains(what)
    );
    let mut alerts = installation.json(&["review", "alerts", "--tenant", "demobank"]);
    alerts.retain(|alert| alert["kind"] == "rail_mismatch");
    assert_eq!((alerts.len(), &alerts[0]["what"]), (1, &found["what"]), "{alerts:?}");
    let alert = alerts[0]["alert_id"].as_str().expect("an id");
    let close = [
        "review",
        "alerts",
        "close",
        "--tenant",
        "demobank",
        "--by",
        "ayesha",
        "--why",
        "the bank explained it",
    ];
    installation.ok(&[&close[..], &[alert]].concat());
    let (code, closed) = reconcile(&installation);
    assert_eq!((code, &closed["found"]), (0, &json!(0)), "{closed}");
    assert_eq!(
        installation.json(&["review", "discrepancies", "--tenant", "demobank"]),
        Vec::<Value>::new()
    );
    // Contradictions stay listed.
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    let contradicted = installation.json(&["pay", "--account-ending", "0008"]).remove(0);
    let listed = || installation.json(&["review", "discrepancies", "--tenant", "demobank"]);
    assert!(
        wait::until_every(LOOK_EVERY, wait::AT_MOST, || !listed().is_empty()),
        "nothing is listed"
    );
    let listed = listed().remove(0);
    assert_eq!(
        (&listed["sort"], &listed["payment_id"]),
        (&json!("contradiction"), &contradicted["id"]),
        "{listed}"
    );
    assert!(
        installation
            .ok(&["review", "discrepancies", "--tenant", "demobank"])
            .contains("contradiction")
    );
}
