//! The systemd unit and its related files.

use super::{known, tree};

const UNIT: &str = "ops/debian/corridor.service";

/// The values of a key, in order.
fn values(text: &str, key: &str) -> Vec<String> {
    let lines =
        text.lines().filter_map(|line| line.split_once('=')).filter(|(name, _)| *name == key);
    lines.map(|(_, value)| value.to_owned()).collect()
}

fn value(text: &str, key: &str) -> String {
    let [value] = <[String; 1]>::try_from(values(text, key))
        .unwrap_or_else(|found| panic!("{key}: {found:?}"));
    value
}

#[test]
fn the_unit_starts_the_program_as_the_program_can_be_started() {
    let unit = tree(UNIT);
    let start = value(&unit, "ExecStart");
    let args = start.strip_prefix("/usr/bin/corridor ").expect("the packaged program");
    known::command_line(&args.split_whitespace().collect::<Vec<_>>());
    let variables: Vec<(String, String)> = values(&unit, "Environment")
        .iter()
        .map(|pair| pair.split_once('=').expect("NAME=VALUE"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    known::environment(&variables);
    let of = |name: &str| {
        variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(of(known::SECRETS_DIR), Some("%d"), "the directory of credentials");
    // Credentials from a directory get a prefix: `CORRIDOR` and the file's name form the variable.
    assert_eq!(value(&unit, "LoadCredential"), "CORRIDOR:/etc/corridor/secrets");
    assert_eq!(of("CORRIDOR_DATA_DIR"), Some("/var/lib/corridor"));
    assert_eq!(value(&unit, "StateDirectory"), "corridor");
    assert_eq!(of("CORRIDOR_CONFIG"), Some("/etc/corridor/corridor.toml"));
}

#[test]
fn stopping_takes_longer_than_draining_and_a_wrong_configuration_is_not_tried_again() {
    let unit = tree(UNIT);
    let drain_s = known::configuration(&tree("ops/debian/corridor.toml")).http.drain_timeout_s;
    let stop_s: u64 = value(&unit, "TimeoutStopSec").parse().expect("seconds");
    assert!(stop_s >= 2 * drain_s, "{stop_s} s to stop, {drain_s} s to drain");
    assert_eq!(value(&unit, "Type"), "notify");
    assert_eq!(value(&unit, "RestartPreventExitStatus"), "2", "what `Failure::Usage` ends with");
}

#[test]
fn the_unit_gives_no_right_that_the_service_does_not_need() {
    let unit = tree(UNIT);
    for (key, expected) in [
        ("User", "corridor"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("RestrictNamespaces", "yes"),
        ("LockPersonality", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("SystemCallArchitectures", "native"),
        ("UMask", "0077"),
    ] {
        assert_eq!(value(&unit, key), expected, "{key}");
    }
    assert_eq!(values(&unit, "SystemCallFilter"), ["@system-service", "~@privileged @resources"]);
}

#[test]
fn administration_uses_what_the_service_uses() {
    let (unit, admin) = (tree(UNIT), tree("ops/debian/corridor-admin"));
    for name in ["CORRIDOR_CONFIG", "CORRIDOR_DATA_DIR"] {
        let pair = values(&unit, "Environment")
            .into_iter()
            .find(|pair| pair.starts_with(name))
            .expect(name);
        let (_, path) = pair.split_once('=').expect("NAME=VALUE");
        assert!(admin.contains(&format!("export {name}=\"${{{name}:-{path}}}\"")), "{name}");
    }
    assert!(
        admin.contains(&format!(
            "export {0}=\"${{{0}:-/etc/corridor/secrets}}\"",
            known::SECRETS_DIR
        ))
    );
    known::secrets(&["SECURITY__KEY_ENCRYPTION_KEY"]);
    let made = "key=/etc/corridor/secrets/SECURITY__KEY_ENCRYPTION_KEY";
    assert!(
        tree("ops/debian/postinst").contains(made),
        "the key that the installation makes is one that is read"
    );
    let readme = tree("ops/debian/README.Debian");
    for name in ["STORE__URL", "RATES__TOKEN", "CHAIN__NODE_URL", "RAILS__PAK_RAAST__TOKEN"] {
        assert!(readme.contains(name), "{name}");
        known::secrets(&[name]);
    }
}

#[test]
fn a_relay_has_the_same_rights_as_the_service_and_starts_as_the_program_can_be_started() {
    let (service, relay) = (tree(UNIT), tree("ops/debian/corridor-relay@.service"));
    let args = value(&relay, "ExecStart").replace("%i", "warehouse");
    let args = args.strip_prefix("/usr/bin/corridor ").expect("the packaged program").to_owned();
    known::command_line(&args.split_whitespace().collect::<Vec<_>>());
    let rights = |unit: &str| {
        let assigned = unit.lines().filter(|line| line.contains('=') && !line.starts_with('#'));
        let own = ["ExecStart=", "Description=", "Documentation=", "After=", "TimeoutStartSec="];
        let shared = assigned.filter(|line| !own.iter().any(|key| line.starts_with(key)));
        shared.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rights(&relay), rights(&service));
}
