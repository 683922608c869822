//! All faults of a configuration are reported at once, in the words of the documentation.

use super::*;

#[test]
fn every_fault_is_reported_at_once() {
    let file = r#"
        environment = "prod"
        rails_enabled = "pak-raast"
        [http]
        listn = "127.0.0.1:1"
        listen = 5
        trusted_proxies = "10.0.0.0/8"
        [store]
        url = "mysql://u@db/corridor"
        [security]
        key_encryption_key = "c2hvcnQ="
        [corridors.USA]
        open = true
        [[rails]]
        id = "pak-raast"
        max_batch = "ten"
        [[rails]]
        id = "new-one"
        kind = "swift"
    "#;
    let variables = ["STORE_URL", "RAILS__NONE__ENABLED"].map(|name| format!("CORRIDOR_{name}"));
    let message = refused(file, &[(&variables[0], "x"), (&variables[1], "true")]);
    for part in [
        "CORRIDOR_STORE_URL: unknown variable",
        "rails.none (from CORRIDOR_RAILS__NONE__ENABLED): unknown rail",
        "`prod`, expected one of `production`, `test`, `mock`",
        "expected a list such as [",
        "http.listn (in ",
        "unknown key `listn`",
        "http.listen (in ",
        "expected a list such as [\"10.0.0.0/8\"]",
        "must be \"sqlite:PATH\"",
        "security.key_encryption_key (in ",
        "unknown country; the corridors are BGD, EGY, IND, NPL, PAK, PHL, VNM",
        "rails.pak-raast.max_batch (in ",
        "expected a whole number, 0 or more",
        "rails.new-one.kind (in ",
    ] {
        assert!(message.contains(part), "{message:?} should name {part:?}");
    }
    assert!(!message.contains("missing field"), "what follows from a fault is none: {message}");
    assert_eq!(message.lines().count(), 12, "{message}");
    assert!(message.lines().all(|line| line.starts_with("configuration: ")), "{message}");
}

#[test]
fn a_new_rail_without_its_keys_hides_no_other_fault() {
    let message = refused("[[rails]]\nid = \"own\"\n[engine]\nlease_s = 4", &[]);
    assert!(message.contains("rails.own (in ") && message.contains("missing field"), "{message}");
    assert!(message.contains("engine.lease_s"), "{message}");
}

#[test]
fn a_section_in_place_of_a_list_of_tables_is_explained() {
    for (file, part) in [
        ("[rails.pak-raast]\nenabled = false", "write [[rails]] with id = \"pak-raast\""),
        ("[rails]\nenabled = false", "write [[rails]] with its id"),
        ("[rates.sources.ecb]\nlocation = \"/r\"", "write [[rates.sources]] with name = \"ecb\""),
        ("[screening.lists]\nlocations = []", "write [[screening.lists]]"),
        ("[chain.tenants.bank]\noperator = \"o\"", "write [[chain.tenants]] with tag = \"bank\""),
    ] {
        let message = refused(file, &[]);
        assert!(message.contains(part), "{file}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    for (id, meant) in
        [("pak-rast", true), ("PAK-RAAST", true), ("pak-raasst", true), ("own-bank", false)]
    {
        let message = refused(&format!("[[rails]]\nid = {id:?}\nenabled = false"), &[]);
        let hint = "if \"pak-raast\" is meant, its id is misspelt";
        assert_eq!(message.contains(hint), meant, "{id}: {message}");
    }
}

#[test]
fn urls_name_possible_ports_and_no_path() {
    let check = |key: &str, url: &str| load("", &[], &[(key, url)]).is_ok();
    for url in [
        "postgres://u:p@host/x",
        "postgres://u:p%40@a:1,b:65535/x?sslmode=require",
        "postgres://u:p/w@[::1]:5432/x",
        "postgres:///x?host=/run/postgresql",
        "postgres://u@h/db?sslmode=verify-full&sslcert=/c.pem&sslkey=/k.pem",
    ] {
        assert!(check("store.url", url), "{url}");
    }
    for url in [
        "postgres://u:p@host:99999/x",
        "postgres://u:p@a:1,b:0/x",
        "postgres://u@h:x/db",
        "postgres://u@h/db?sslmode=verify_full",
        "postgres://u@h/db?sslcrl=x",
        "postgres://u@h/db?sslmode",
    ] {
        assert!(!check("store.url", url), "{url}");
    }
    for key in ["http.public_url", "console.public_url"] {
        assert!(check(key, "https://x.example") && check(key, "https://x.example:8443/"), "{key}");
        for url in [
            "http://x/path",
            "https://x.example/?a=b",
            "https://x.example?",
            "https://x.example/#a",
            "https://user:password@x.example",
            "https://user@x.example",
            "https://@x.example",
            " https://x.example",
            "https:x.example",
            "https:\\\\x.example",
            "https://x.example:0",
            "https://x.example:99999",
        ] {
            assert!(!check(key, url), "{key} {url}");
        }
    }
}

#[test]
fn no_part_of_a_database_password_is_in_a_message_or_shown() {
    let parts = ["qfx", "zsv", "wjt"];
    let between = ["?", "#", "/", "@", "%", ":", "&", "=", "'", "?sslmode=", "@h?"];
    for (one, other) in between.iter().flat_map(|one| between.map(|other| (one, other))) {
        let password = format!("{}{one}{}{other}{}", parts[0], parts[1], parts[2]);
        for url in [
            format!("postgres://me:{password}@db/c"),
            format!("postgres://me:{password}@db/c?sslmode=require"),
            format!("postgres://db/c?user=me&password={password}"),
            format!("host=db user=me password={password}"),
            format!("host=db password='{password}'"),
        ] {
            let (_file, sources) = sources("", &[], &[("store.url", &url)]);
            let merged = Merged::read(&sources).expect("read");
            let message = Config::from_merged(&merged).err().map(|error| error.to_string());
            let shown = print(&merged);
            for text in message.iter().chain(url.starts_with("postgres").then_some(&shown)) {
                assert!(!parts.iter().any(|part| text.contains(part)), "{url}: {text}");
            }
        }
    }
    for password in ["p?w", "p@w", "p?w=x", "p@w?x=y", "p@w/x?y=z", "p@h:1/x"] {
        let message =
            refused("", &[("CORRIDOR_STORE__URL", &format!("postgres://me:{password}@db/c"))]);
        assert!(message.contains("%40"), "{password}: {message}");
    }
}
