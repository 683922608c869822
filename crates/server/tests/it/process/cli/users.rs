//! Console users, created and changed on the command line: with a password, or at the identity
//! provider.

use serde_json::Value;

use super::super::harness::Installation;

fn refused(installation: &Installation, args: &[&str], words: &str) {
    let done = installation.run(args);
    assert!(done.code != 0 && done.stderr.contains(words), "{args:?}: {done:?}");
}

#[test]
fn a_user_is_moved_to_the_identity_provider_and_back() {
    let mut installation = Installation::new();
    installation.ok(&["migrate"]);
    let by = ["--by", "amal", "--why", "asked by e-mail"];
    let by_amal = |args: &[&'static str]| [args, &by].concat();
    let create = |login, name| {
        by_amal(&["users", "create", login, "--oidc", name, "--role", "viewer", "--all-tenants"])
    };
    refused(
        &installation,
        &create("omar", "omar@bank.example"),
        "no identity provider is configured",
    );
    installation.set("CORRIDOR_CONSOLE__OIDC__ISSUER", "https://id.bank.example");
    installation.set("CORRIDOR_CONSOLE__OIDC__CLIENT_ID", "corridor");
    let made = installation.json(&create("omar", "Omar@Bank.Example")).remove(0);
    assert_eq!(made, serde_json::json!({ "login": "omar", "provider_name": "omar@bank.example" }));
    refused(&installation, &create("omar2", "omar@bank.example"), "is already used by omar");
    refused(
        &installation,
        &create("omar2", "two words"),
        "is not a valid value of the claim \"email\"",
    );
    refused(
        &installation,
        &by_amal(&["users", "reset", "omar"]),
        "signs in at the identity provider",
    );
    refused(&installation, &by_amal(&["users", "unbind", "omar"]), "is not bound to an identity");
    let listed = installation.json(&["users", "list"]).remove(0);
    assert_eq!(
        listed["provider"],
        serde_json::json!({ "name": "omar@bank.example", "issuer": null, "subject": null })
    );
    let back = installation.json(&by_amal(&["users", "sign-in", "omar", "--password"])).remove(0);
    assert!(back["password"].as_str().is_some_and(|password| password.len() > 12), "{back}");
    refused(
        &installation,
        &by_amal(&["users", "sign-in", "omar", "--password"]),
        "already signs in with a password",
    );
    assert!(installation.json(&["users", "list"]).remove(0)["provider"].is_null());
    installation.ok(&by_amal(&["users", "reset", "omar"]));
    installation.ok(&by_amal(&["users", "sign-in", "omar", "--oidc", "o.farooq@bank.example"]));
    let table = installation.ok(&["users", "list"]);
    assert!(table.contains("o.farooq@bank.example, not bound yet"), "{table}");
    let log = installation.json(&["audit", "search", "--action", "user"]);
    let actions: Vec<&str> = log.iter().filter_map(|entry| entry["action"].as_str()).collect();
    for action in ["user.create", "user.leave_provider", "user.set_provider"] {
        assert!(actions.contains(&action), "{actions:?}");
    }
    let left = log.iter().find(|entry| entry["action"] == "user.leave_provider").expect("noted");
    assert_eq!(left["before"]["provider_name"], "omar@bank.example", "{left}");
    let why = |it: &Value| it["on_behalf_of"] == "amal" && it["why"] == "asked by e-mail";
    assert!(log.iter().all(why), "{log:?}");
}

#[test]
fn once_there_is_an_administrator_only_one_may_be_named() {
    let installation = Installation::new();
    installation.ok(&["migrate"]);
    let by = |args: &[&'static str], name| {
        [&["users"], args, &["--by", name, "--why", "asked by e-mail"]].concat()
    };
    let create = ["create", "vera", "--role", "viewer", "--all-tenants"];
    let alone = installation.run(&[&["users"], &create[..], &["--by", "amal"]].concat());
    assert_eq!((alone.code, alone.stderr.contains("--why")), (2, true), "{}", alone.stderr);
    installation.ok(&by(&create, "amal"));
    installation.ok(&by(&["create", "ayesha", "--role", "admin", "--all-tenants"], "amal"));
    for (name, words) in [
        ("amal", "--by: amal is not a user of the console"),
        ("vera", "--by: vera needs the role admin"),
    ] {
        for change in ["reset", "disable", "enable"] {
            refused(&installation, &by(&[change, "vera"], name), words);
        }
    }
    installation.ok(&by(&["disable", "vera"], "ayesha"));
    // A locked-out installation is restored.
    installation.ok(&by(&["disable", "ayesha"], "ayesha"));
    installation.ok(&by(&["enable", "ayesha"], "amal"));
    refused(&installation, &by(&["enable", "vera"], "amal"), "amal is not a user");
    // Everything about users is answered for by one.
    for change in [
        &["enable", "vera"][..],
        &["disable", "ayesha"],
        &["reset", "ayesha"],
        &["unbind", "ayesha"],
        &["sign-in", "ayesha", "--password"],
        &["roles", "vera", "--role", "admin", "--all-tenants"],
        &["create", "omar", "--role", "viewer", "--all-tenants"],
    ] {
        let alone = installation.run(&[&["users"], change].concat());
        assert_eq!(alone.code, 2, "{change:?}: {}", alone.stderr);
        assert!(alone.stderr.contains("--by, --why: required"), "{}", alone.stderr);
    }
    // Until there is one, it is the machine's user.
    installation.ok(&by(&["disable", "ayesha"], "ayesha"));
    installation.ok(&["users", "enable", "vera"]);
    let log = installation.json(&["audit", "search", "--action", "user.enable"]);
    let behalf: Vec<bool> = log.iter().map(|entry| entry["on_behalf_of"].is_string()).collect();
    assert_eq!(behalf.iter().filter(|is_named| !**is_named).count(), 1, "{log:?}");
}

#[test]
fn every_change_prints_one_json_object() {
    let installation = Installation::new();
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "bank", "--name", "Bank"]);
    installation.create_users(&["ayesha", "omar"]);
    let url = "https://hooks.bank.example/corridor";
    let by = ["--by", "ayesha", "--approved-by", "omar"];
    let why = ["--by", "omar", "--why", "w"];
    let with = |args: &[&'static str], more: &[&'static str]| [args, more].concat();
    let brand = ["tenants", "brand", "set", "bank", "--contact", "+971 4 123 4567"];
    let customer = ["customers", "set", "bank", "CUST-1", "--kyc-level", "ENHANCED"];
    for (args, member, value) in [
        (with(&brand, &["--by", "ayesha", "--why", "w"]), "contact", "+971 4 123 4567".into()),
        (with(&customer, &["--by", "ayesha", "--why", "w"]), "kyc_level", "ENHANCED".into()),
        (vec!["webhooks", "set", "--url", url, "--events", "all"], "url", url.into()),
        (vec!["webhooks", "set", "--events", "none"], "optional_events", serde_json::json!([])),
        (with(&["webhooks", "payments", "on"], &by), "payment_events", true.into()),
        (vec!["webhooks", "payments", "off"], "payment_events", false.into()),
        (vec!["webhooks", "disable", "--why", "maintenance"], "enabled", false.into()),
        (vec!["webhooks", "enable"], "enabled", true.into()),
        (
            with(&["users", "roles", "ayesha", "--role", "auditor", "--all-tenants"], &why),
            "roles",
            serde_json::json!(["auditor"]),
        ),
        (with(&["users", "disable", "ayesha"], &why), "disabled", true.into()),
        (with(&["users", "enable", "ayesha"], &why), "disabled", false.into()),
    ] {
        let printed = installation.json(&args);
        assert_eq!(printed.len(), 1, "{args:?}: {printed:?}");
        assert_eq!(printed[0][member], value, "{args:?}: {printed:?}");
    }
}
