//! `corridor audit …`: lists actions, and detects a restored old log through external checkpoints.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::harness::Installation;

fn installed() -> Installation {
    let installation = Installation::configured("environment = \"test\"\n[store]\n");
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", "demobank", "--name", "Demo Bank"]);
    installation
}

fn key(installation: &Installation) -> String {
    let made = installation.json(&["keys", "create", "--tenant", "demobank"]).remove(0);
    made["access_key"].as_str().expect("a key").to_owned()
}

fn words<'a>(entries: &'a [Value], name: &str) -> Vec<&'a str> {
    entries.iter().map(|entry| entry[name].as_str().unwrap_or_default()).collect()
}

#[test]
fn actions_are_listed_with_actor_and_reason() {
    let mut installation = installed();
    installation.set("SUDO_USER", "amal");
    let access_key = key(&installation);
    installation.create_users(&["ayesha", "omar"]);
    installation.top_up("ayesha", "demobank", "USDT", "100");
    let set = ["webhooks", "set", "--tenant", "demobank", "--url"];
    installation.ok(&[&set[..], &["https://hooks.bank.example/a"]].concat());
    let by = ["--by", "ayesha", "--approved-by", "omar"];
    installation.ok(&[&set[..], &["https://hooks.bank.example/b"], &by[..]].concat());
    installation.ok(&["keys", "revoke", &access_key]);

    let entries = installation.json(&["audit", "search", "--tenant", "demobank"]);
    let actions = [
        "key.revoke",
        "webhook.set_url",
        "webhook.add",
        "prefund.top_up",
        "key.create",
        "tenant.create",
    ];
    assert_eq!(words(&entries, "action"), actions);
    assert!(words(&entries, "who")[..5].iter().all(|who| *who == "amal"), "{entries:?}");
    assert_eq!(entries[0]["before"]["state"], "active");
    assert_eq!(entries[0]["after"]["state"], "revoked");
    assert_eq!(entries[3]["after"]["prefund"], "100.00");
    assert_eq!(entries[3]["after"]["reference"], "received");
    let of_top_up = (&entries[3]["on_behalf_of"], &entries[3]["why"]);
    assert_eq!(of_top_up, (&"ayesha".into(), &"seen in the treasury".into()));
    let two_people = installation.json(&["audit", "search", "--who", "omar"]);
    assert_eq!(words(&two_people, "action"), ["webhook.set_url"]);
    assert_eq!(
        (&two_people[0]["on_behalf_of"], &two_people[0]["second_person"]),
        (&"ayesha".into(), &"omar".into())
    );
    let of_key = installation.json(&["audit", "search", "--subject", &access_key, "--limit", "1"]);
    assert_eq!(words(&of_key, "action"), ["key.revoke"]);
    assert_eq!(installation.json(&["audit", "search", "--action", "key"]).len(), 2);
    let of_installation = installation.json(&["audit", "search", "--installation"]);
    assert_eq!(words(&of_installation, "action"), ["user.create"; 2]);
    let shown = installation.ok(&["audit", "search", "--from", "2026-01-01T00:00:00Z"]);
    assert!(shown.contains("cli:amal for ayesha with omar"), "{shown}");
    assert_eq!(installation.run(&["audit", "search", "--tenant", "unknown"]).code, 1);
}

/// The files of the database in a directory.
fn database(dir: &Path) -> Vec<PathBuf> {
    let paths =
        std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    let is_database = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("corridor.db"))
    };
    paths.filter(is_database).collect()
}

/// Replaces the database of one directory with another's, while neither is in use.
fn copy(from: &Path, to: &Path) {
    database(to).iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
    let files = database(from);
    assert!(!files.is_empty(), "there is no database in {}", from.display());
    for path in files {
        std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
    }
}

#[test]
fn a_log_that_was_put_back_is_found_by_what_lies_outside() {
    let mut installation = installed();
    let outside = tempfile::tempdir().expect("a directory");
    installation.set("CORRIDOR_AUDIT__CHECKPOINT_DIR", outside.path().display().to_string());
    let access_key = key(&installation);
    // The signing key is older than the restored state.
    installation.ok(&["audit", "key"]);
    let before = tempfile::tempdir().expect("a directory");
    copy(installation.path(), before.path());

    installation.ok(&["keys", "revoke", &access_key]);
    let signed = installation.json(&["audit", "checkpoint"]);
    assert_eq!(
        (signed.len(), &signed[0]["seq"]),
        (1, &3.into()),
        "the installation's chain is empty"
    );
    assert!(installation.ok(&["audit", "checkpoint"]).is_empty(), "nothing is new");
    let file = outside.path().join("checkpoints.jsonl");
    let lines = std::fs::read_to_string(&file).expect("written");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    let verified = installation.json(&["audit", "verify"]);
    let bank = verified.iter().find(|chain| chain["chain"] == "demobank").expect("there");
    assert_eq!(
        (&bank["entries"], &bank["signed_up_to"], &bank["fault"]),
        (&3.into(), &3.into(), &Value::Null)
    );

    // Emptied or rotated away, the checkpoints prove nothing.
    let (whole, emptied) = (file.display().to_string(), outside.path().join("emptied.jsonl"));
    assert_eq!(installation.run(&["audit", "verify", "--checkpoints", &whole]).code, 0);
    std::fs::write(&emptied, "").expect("written");
    let emptied = emptied.display().to_string();
    let blind = installation.run(&["audit", "verify", "--checkpoints", &emptied]);
    assert_eq!(
        (blind.code, blind.stderr.contains("none of the chain of demobank")),
        (1, true),
        "{blind:?}"
    );

    // The revoked key works again, and the log shows no revocation.
    copy(before.path(), installation.path());
    let found = installation.run(&["audit", "verify"]);
    assert_eq!(
        (found.code, found.stderr.contains("demobank: entries 3 to 3 are missing")),
        (1, true),
        "{found:?}"
    );
    let elsewhere = outside.path().join("kept.jsonl");
    std::fs::rename(&file, &elsewhere).expect("moved");
    let blind = installation.run(&["audit", "verify"]);
    assert_eq!(
        (blind.code, blind.stderr.contains("no external checkpoints")),
        (0, true),
        "{blind:?}"
    );
    let path = elsewhere.display().to_string();
    assert_eq!(installation.run(&["audit", "verify", "--checkpoints", &path]).code, 1);
    std::fs::write(&elsewhere, lines.replace("\"seq\":3", "\"seq\":2")).expect("written");
    let forged = installation.run(&["audit", "verify", "--checkpoints", &path]);
    assert_eq!((forged.code, forged.stderr.contains("signature")), (1, true), "{forged:?}");
    std::fs::write(&elsewhere, "no checkpoint\n").expect("written");
    let unreadable = installation.run(&["audit", "verify", "--checkpoints", &path]);
    assert_eq!(
        (unreadable.code, unreadable.stderr.contains("line 1")),
        (2, true),
        "{unreadable:?}"
    );
}

#[test]
fn the_key_stays_and_may_be_given_and_replaced() {
    let mut installation = installed();
    let own = installation.ok(&["audit", "key"]).trim().to_owned();
    assert_eq!((own.len(), installation.ok(&["audit", "key"]).trim()), (64, own.as_str()));
    installation.ok(&["audit", "checkpoint"]);
    assert_eq!(installation.json(&["audit", "key"])[0]["public_key"], own.as_str());

    installation.set("CORRIDOR_AUDIT__SIGNING_KEY", "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=");
    let given = installation.ok(&["audit", "key"]).trim().to_owned();
    assert_ne!(given, own);
    // In the file, and in the database alone.
    let empty = installation.path().join("empty.jsonl");
    std::fs::write(&empty, "").expect("written");
    let empty = empty.display().to_string();
    for files in [&[][..], &["--checkpoints", &empty]] {
        let unknown = installation.run(&[&["audit", "verify"], files].concat());
        let names_key = unknown.stderr.contains(&format!("signed by an unknown key, {own}"));
        assert_eq!((unknown.code, names_key), (1, true), "{unknown:?}");
        assert!(!unknown.stderr.contains("was altered"), "{unknown:?}");
    }
    installation.ok(&["audit", "verify", "--public-key", &given, "--public-key", &own]);
    let file: PathBuf = installation.path().join("corridor.toml");
    let config = format!("environment = \"test\"\n[audit]\nformer_public_keys = [\"{own}\"]\n");
    std::fs::write(file, config).expect("written");
    installation.ok(&["audit", "verify"]);
    key(&installation);
    installation.ok(&["audit", "checkpoint"]);
    installation.ok(&["audit", "verify"]);
}
