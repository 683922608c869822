//! Money that is booked on the command line: who booked it, why, and once per reference.

use serde_json::{Value, json};

use super::super::harness::Installation;

/// A transaction's hash.
const HASH: &str = "0x9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c";

fn installed() -> Installation {
    let installation = Installation::configured("environment = \"test\"\n[store]\n");
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "demobank", "--name", "Demo Bank"]);
    installation.create_users(&["ayesha"]);
    installation.create_user("vera", &["--role", "viewer", "--all-tenants"]);
    installation
}

fn noted(installation: &Installation, action: &str) -> Vec<Value> {
    installation.json(&["audit", "search", "--tenant", "demobank", "--action", action])
}

#[test]
fn a_reference_is_booked_once() {
    let installation = installed();
    let command = |amount: &'static str, reference: &'static str, by: &'static str| {
        let money = ["--coin", "USDT", "--amount", amount, "--reference", reference];
        [&["tenants", "top-up"][..], &money, &["--by", by, "--why", "received"]].concat()
    };
    let first = installation.json(&command("100", "FT26", "ayesha")).remove(0);
    assert_eq!((&first["repeated"], &first["amount"]), (&json!(false), &json!("100.00")));
    let again = installation.json(&command("100.00", " FT26 ", "ayesha")).remove(0);
    assert_eq!(again["repeated"], true);
    for member in ["transfer_id", "booked_at", "amount", "reference"] {
        assert_eq!(again[member], first[member], "{member}");
    }
    let shown = installation.run(&command("100", "FT26", "ayesha")).stderr;
    assert!(shown.contains("was already paid into"), "{shown}");
    let at = first["booked_at"].as_str().expect("a time");
    for (args, words) in [
        (command("1", "FT26", "ayesha"), format!("FT26 was booked with 100.00 USDT at {at}")),
        (command("1", "FT27", "vera"), "vera needs the role treasury or admin".to_owned()),
        (command("1", "FT27", "bilal"), "bilal is not a user of the console".to_owned()),
    ] {
        let refused = installation.run(&args);
        assert!(refused.code == 1 && refused.stderr.contains(&words), "{refused:?}");
    }
    let notes = noted(&installation, "prefund.top_up");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["after"]["reference"], "FT26");
    let accounts = installation.json(&["ledger", "trial-balance"]);
    let prefund = accounts.iter().find(|it| it["account"] == "prefund:USDT").expect("booked");
    assert_eq!(prefund["balance"], "100");
}

#[test]
fn real_money_is_booked_with_a_reference_a_user_and_a_reason() {
    let installation = installed();
    let money = ["tenants", "top-up", "--coin", "USDT", "--amount", "5"];
    let who = ["--by", "ayesha", "--why", "received"];
    for (given, missing) in [
        (&[][..], "--reference, --by, --why: required outside a sandbox"),
        (&["--reference", "FT26"], "--by, --why: required outside a sandbox"),
        (&who, "--reference: required outside a sandbox"),
    ] {
        let refused = installation.run(&[&money[..], given].concat());
        assert!(refused.code == 2 && refused.stderr.contains(missing), "{refused:?}");
    }
    assert_eq!(noted(&installation, "prefund.top_up"), Vec::<Value>::new());
}

#[test]
fn what_is_withdrawn_was_available_and_is_booked_once() {
    let installation = installed();
    installation.top_up("ayesha", "demobank", "USDT", "1000");
    let command = |amount: &'static str, reference: &'static str| {
        let money = ["--coin", "USDT", "--amount", amount, "--reference", reference];
        [&["tenants", "withdraw"][..], &money].concat()
    };
    let by = |amount, reference| {
        [&command(amount, reference)[..], &["--by", "ayesha", "--why", "typed a zero too many"]]
            .concat()
    };
    assert_eq!(installation.run(&command("900", "X1")).code, 2, "someone answers for it");
    let first = installation.json(&by("900", "X1")).remove(0);
    assert_eq!((&first["repeated"], &first["amount"]), (&json!(false), &json!("900.00")));
    let again = installation.json(&by("900", "X1")).remove(0);
    assert_eq!((&again["repeated"], &again["transfer_id"]), (&json!(true), &first["transfer_id"]));
    for (args, words) in [
        (by("1", "X1"), "X1 was booked with 900.00 USDT at"),
        (
            by("100.000001", "X2"),
            "prefund:USDT has 100.000000 USDT available, 100.000001 USDT needed",
        ),
    ] {
        let refused = installation.run(&args);
        assert!(refused.code == 1 && refused.stderr.contains(words), "{refused:?}");
    }
    let notes = noted(&installation, "prefund.withdrawal");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["after"]["paid_out"], "900.00");
    let accounts = installation.json(&["ledger", "trial-balance"]);
    let prefund = accounts.iter().find(|it| it["account"] == "prefund:USDT").expect("booked");
    assert_eq!(prefund["balance"], "100");
    assert_eq!(installation.run(&["ledger", "verify"]).code, 0);
}

#[test]
fn tokens_are_booked_only_for_a_controller_that_exists() {
    let mut installation = installed();
    let fund = ["tenants", "fund-controller", "--coin", "USDC", "--amount", "250"];
    let who = ["--by", "ayesha", "--why", "for refunds"];
    let referred = [&fund[..], &["--reference", HASH]].concat();
    assert_eq!(installation.run(&referred).code, 2, "someone answers for it");
    assert_eq!(installation.run(&[&fund[..], &who].concat()).code, 2, "it has a reference");
    let refused = |installation: &Installation, words: &str| {
        let refused = installation.run(&[&referred[..], &who].concat());
        assert!(refused.code == 1 && refused.stderr.contains(words), "{refused:?}");
    };
    refused(&installation, "tenant demobank has no controller on this chain yet");
    installation.set("CORRIDOR_WALLETS__ENABLED", "false".to_owned());
    refused(&installation, "wallets are not enabled");
    assert_eq!(noted(&installation, "controller.fund"), Vec::<Value>::new());
}
