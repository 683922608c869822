//! Tenant policies and customer records, set on the command line and visible in the APIs; and that
//! production and test environments never share a database.

use std::time::Duration;

use serde_json::Value;
use testkit::wait;

use super::super::api::{Answer, Api};
use super::super::harness::{Finished, Installation};
use super::super::sandbox::Sandbox;

/// Poll interval: each poll is a call, and the service allows fifty a minute.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);
const KEK: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

fn set(installation: &Installation, values: &[&str], people: [&str; 2]) -> Finished {
    let [by, other] = people;
    let who =
        ["--by", by, "--approved-by", other, "--why", "agreement of November", "--output", "json"];
    installation.run(&[&["tenants", "policy", "set", "demobank"], values, &who].concat())
}

fn agreed(installation: &Installation, values: &[&str]) -> Value {
    let done = set(installation, values, ["ayesha", "omar"]);
    assert_eq!(done.code, 0, "{done:?}");
    serde_json::from_str(done.stdout.trim()).expect("JSON")
}

fn provision(installation: &Installation, customer: &str) -> Finished {
    let who = ["--customer", customer, "--email", "a@example.com", "--phone", "+923001234567"];
    installation.run(&[&["wallets", "provision", "--output", "json"], &who[..]].concat())
}

#[test]
fn a_minimum_set_by_two_users_applies_and_a_customers_record_satisfies_it() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    assert_eq!(provision(&installation, "before").code, 0);
    let before = installation.json(&["tenants", "policy", "get", "demobank"]).remove(0);
    assert_eq!(
        (&before["version"], &before["policy"]["minimum_kyc"]),
        (&1.into(), &"BASIC".into())
    );

    for (values, people, code, told) in [
        (
            &["minimum_kyc=LOW", "colour=blue"][..],
            ["ayesha", "omar"],
            2,
            "minimum_kyc: must be BASIC, ENHANCED or",
        ),
        (&["minimum_kyc=LOW", "colour=blue"][..], ["ayesha", "omar"], 2, "colour: unknown field"),
        (&["minimum_kyc=ENHANCED"][..], ["ayesha", "Ayesha"], 1, "must be a different user"),
        (
            &["minimum_kyc=ENHANCED", "--seen", "7"][..],
            ["ayesha", "omar"],
            1,
            "outdated; the current version",
        ),
        (&["minimum_kyc=BASIC"][..], ["ayesha", "omar"], 1, "no change"),
    ] {
        let done = set(&installation, values, people);
        assert!(done.code == code && done.stderr.contains(told), "{values:?}: {done:?}");
    }
    let done = agreed(&installation, &["minimum_kyc=ENHANCED", "--seen", "1"]);
    assert_eq!((&done["version"], &done["changes"][0]["after"]), (&2.into(), &"ENHANCED".into()));

    let (mut asked, mut told) = (0, String::new());
    let refused = wait::until_every(LOOK_EVERY, wait::AT_MOST, || {
        asked += 1;
        let done = provision(&installation, &format!("c-{asked}"));
        told = format!("{}{}", done.stdout, done.stderr);
        done.code == 1 && told.contains("KYC_REQUIRED")
    });
    assert!(refused && told.contains("ENHANCED"), "{told}");
    let set = [
        "customers",
        "set",
        "demobank",
        "known",
        "--kyc-level",
        "enhanced",
        "--by",
        "ayesha",
        "--why",
        "passport",
    ];
    installation.ok(&set);
    let known = installation.json(&["customers", "get", "demobank", "known"]).remove(0);
    assert_eq!(known["kyc_level"], "ENHANCED");
    assert_eq!(installation.json(&["customers", "list", "demobank"]), [known]);
    assert_eq!(installation.run(&["customers", "get", "demobank", "unknown"]).code, 1);
    let made = provision(&installation, "known");
    assert_eq!(made.code, 0, "{made:?}");
    let made: Value = serde_json::from_str(made.stdout.trim()).expect("JSON");
    assert_eq!(made["kyc_level"], "ENHANCED");

    let of = |action: &str| {
        installation
            .json(&["audit", "search", "--tenant", "demobank", "--action", action])
            .remove(0)
            .to_string()
    };
    let policy = of("tenant.set_policy");
    for part in ["ayesha", "omar", "agreement of November", "BASIC", "ENHANCED"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(of("customer.set").contains("passport"));
    installation.ok(&["audit", "verify"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corridor_that_is_not_agreed_on_is_refused() {
    let installation = Installation::new();
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    agreed(&installation, &["countries=PAK,IND"]);
    let url = sandbox.text("base_url");
    let api = Api::of(url, &sandbox.printed, "payment_");
    let ask = async |country: &str| {
        let body = format!(r#"{{"country":"{country}","currency":"AED","amount":100}}"#);
        api.post(url, "/v2/quote", &body, None).await
    };
    let refused = async || matches!(ask("NPL").await, Answer::Refused { status: 403, .. });
    assert!(wait::until_async(wait::AT_MOST, refused).await, "NPL is not agreed on");
    assert!(matches!(ask("PAK").await, Answer::Done(_)));
}

#[test]
fn real_money_and_play_money_share_no_database() {
    let mut installation = Installation::new();
    installation.set("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", KEK);
    installation.ok(&["migrate"]);
    let production =
        |args: &[&str]| installation.run(&[args, &["--set", "environment=production"]].concat());
    for args in
        [&["migrate"][..], &["tenants", "list"], &["keys", "create", "--tenant", "demobank"]]
    {
        let done = production(args);
        assert!(
            done.code == 2
                && done
                    .stderr
                    .contains("created by a test service, but this service is production"),
            "{done:?}"
        );
    }
    let mut other = Installation::new();
    other.set("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", KEK);
    other.ok(&["migrate", "--set", "environment=production"]);
    let listen = ["serve", "--set", "http.listen=127.0.0.1:0"];
    for args in [&listen[..], &["sandbox", "--port", "0"], &["tenants", "list"]] {
        let done = other.run(args);
        assert!(
            done.code != 0 && done.stderr.contains("created by a production service"),
            "{args:?}: {done:?}"
        );
    }
}
