//! `[rails.sftp]`, `[rails.pgp]` and `[rails.acknowledgements]`.

use std::time::Duration;

use adapters::pgp::Protection;
use adapters::rails::{Exchange, FilesConfig};
use secrecy::ExposeSecret as _;

use super::load;
use crate::secret::is_secret;
use crate::{Config, RailSetup, refuse_in_production};

const KEY: &str = "SHA256:uNiVztksCsDhcc0u9e8BrOqu5UmMQmfTEDZxT1UzoNo";

/// The least that a rail over SFTP needs, and more of it.
fn file(more: &str) -> String {
    format!(
        "[[rails]]\nid = \"pak-raast\"\ntransport = \"sftp\"\ndebtor_name = \"Demo Bank\"\ndebtor_account = \"1\"\n\
         debtor_agent = \"DEMOAEAD\"\n[rails.sftp]\nhost = \"sftp.bank.example\"\nuser = \"remit01\"\n\
         key_file = \"/etc/key\"\nhost_keys = [\"{KEY}\"]\n{more}"
    )
}

fn files(config: &Config) -> FilesConfig {
    let setup = config.rail_setups().into_iter().find_map(|setup| match setup {
        RailSetup::Files(files) => Some(*files),
        _ => None,
    });
    setup.expect("a rail over files")
}

#[test]
fn a_server_is_reached_as_configured() {
    let env = [
        ("CORRIDOR_RAILS__PAK_RAAST__SFTP__PASSWORD", "12345"),
        ("CORRIDOR_RAILS__PAK_RAAST__SFTP__PORT", "2222"),
        ("CORRIDOR_RAILS__PAK_RAAST__SFTP__USER", "17"),
    ];
    let config = load(&file("out = \"/inbox\"\n"), &env, &[]).expect("valid");
    let files = files(&config);
    let Exchange::Sftp(sftp) = &files.exchange else { panic!("{files:?}") };
    let server = &sftp.server;
    assert_eq!((server.host.as_str(), server.port), ("sftp.bank.example", 2222));
    assert_eq!(server.user, "17", "a text may look like a number");
    assert_eq!(server.password.as_ref().map(|it| it.expose_secret()), Some("12345"));
    assert_eq!(server.host_keys, [KEY]);
    let paths = [&sftp.out, &sftp.reports, &sftp.archive, &sftp.unreadable];
    assert_eq!(
        paths.map(|path| path.display().to_string()),
        ["/inbox", "in", "in/archive", "in/unreadable"]
    );
    assert_eq!((sftp.poll, &sftp.state), (Duration::from_secs(10), &None));
    assert!(files.pgp.is_none() && files.acknowledgements.is_none());
    assert!(!format!("{config:?}").contains("12345"));
}

#[test]
fn rails_share_no_place() {
    let two = |first: &str, more: &str| {
        let second = file(more).replace("pak-raast", "pak-ibft");
        let places = [("rails.pak-raast.directory", "/s/a"), ("rails.pak-ibft.directory", "/s/b")];
        load(&format!("{}{second}", file(first)), &[], &places).map_err(|error| error.to_string())
    };
    let fault = two("", "").expect_err("the same reports");
    assert!(fault.contains("rails.pak-ibft.sftp.in") && !fault.contains("sftp.out"), "{fault}");
    assert!(two("", "in = \"ibft\"\n").is_ok());
    let names = "[rails.profile]\nfile_name = \"{date}_{sequence}.xml\"\n";
    let fault = two(names, &format!("in = \"ibft\"\n{names}")).expect_err("the same names");
    assert!(fault.contains("rails.pak-ibft.sftp.out"), "{fault}");
    let both = [("rails.pak-raast.directory", "/s"), ("rails.pak-ibft.directory", "/s")];
    let transports = "[[rails]]\nid = \"ID\"\ntransport = \"directory\"\ndebtor_name = \"D\"\ndebtor_account = \"1\"\n\
                      debtor_agent = \"DEMOAEAD\"\n";
    let text = ["pak-raast", "pak-ibft"].map(|id| transports.replace("ID", id)).concat();
    let fault = load(&text, &[], &both).expect_err("the same directory").to_string();
    assert!(fault.contains("rails.pak-ibft.directory"), "{fault}");
    // However it is written.
    let dir = tempfile::tempdir().expect("a directory");
    let real = dir.path().join("real");
    std::fs::create_dir(&real).expect("made");
    std::os::unix::fs::symlink(&real, dir.path().join("link")).expect("linked");
    for (name, same) in [
        ("real/", true),
        ("./real", true),
        ("real/../real", true),
        ("none/../real", true),
        ("link", true),
        ("link/.", true),
        ("link/new", false),
        ("other", false),
    ] {
        let other = format!("{}/{name}", dir.path().display());
        let places = [
            ("rails.pak-raast.directory", real.to_str().expect("text")),
            ("rails.pak-ibft.directory", other.as_str()),
        ];
        assert_eq!(load(&text, &[], &places).is_err(), same, "{name}");
    }
    for (name, same) in [("./in/", true), ("a/../in", true), ("/in", false), ("../in", false)] {
        assert_eq!(two("", &format!("in = \"{name}\"\n")).is_err(), same, "{name}");
    }
}

#[test]
fn pgp_and_acknowledgements_are_optional() {
    let more = "[rails.pgp]\nkey_file = \"/etc/pgp\"\nbank_key_files = [\"/etc/bank\"]\nincoming = \"signed\"\n\
                [rails.acknowledgements]\nwait_s = 60\npositive = [\"{stem}.ok\"]\n";
    let directory = [("rails.pak-raast.directory", "/var/lib/raast")];
    let files = files(&load(&file(more), &[], &directory).expect("valid"));
    let pgp = files.pgp.expect("PGP");
    assert_eq!(pgp.outgoing, Protection { signed: true, encrypted: true });
    assert_eq!(pgp.incoming, Protection { signed: true, encrypted: false });
    assert_eq!((pgp.armor, pgp.suffix.as_str()), (true, ".pgp"));
    let acknowledgements = files.acknowledgements.expect("acknowledgements");
    assert_eq!(acknowledgements.wait, Duration::from_secs(60));
    assert!(!acknowledgements.negative_rejects);
}

#[test]
fn what_cannot_work_is_named() {
    for (more, fault) in [
        ("port = 0\n", "sftp.port"),
        ("out = \"in\"\n", "sftp.in (in"),
        ("poll_s = 0\n", "sftp.poll_s"),
        ("[rails.pgp]\nkey_file = \"/etc/pgp\"\n", "pgp.bank_key_files"),
        ("[rails.pgp]\nbank_key_files = [\"/etc/bank\"]\n", "pgp.key_file"),
        (
            "[rails.pgp]\nkey_file = \"/etc/pgp\"\noutgoing = \"plain\"\nincoming = \"plain\"\n",
            "pgp.outgoing",
        ),
        (
            "[rails.pgp]\nkey_file = \"/etc/pgp\"\nbank_key_files = [\"/b\"]\nsuffix = \"/x\"\n",
            "pgp.suffix",
        ),
        ("[rails.acknowledgements]\npositive = [\"{name}.ack\"]\n", "acknowledgements.wait_s"),
        (
            "[rails.acknowledgements]\nwait_s = 60\npositive = [\"ack\"]\n",
            "acknowledgements.positive",
        ),
        (
            "[rails.acknowledgements]\nwait_s = 60\npositive = [\"{name}.a\"]\nnegative = [\"{name}.a\"]\n",
            "acknowledgements.negative",
        ),
        ("[rails.acknowledgements]\nwait_s = 60\n", "directory"),
        ("[rails.profile]\nfile_name = \"P_{date}_{sequence}.xml\"\n", "directory"),
        ("fingerprint = \"x\"\n", "sftp.fingerprint"),
    ] {
        let refused = load(&file(more), &[], &[]).expect_err(more).to_string();
        assert!(refused.contains(&format!("rails.pak-raast.{fault}")), "{more}: {refused}");
    }
    let keys = |keys: &str| file("").replace(&format!("[\"{KEY}\"]"), keys);
    for (text, fault) in [
        (keys("[]"), "sftp.host_keys"),
        (keys("[\"MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48\"]"), "sftp.host_keys"),
        (keys("[\"SHA256:short\"]"), "sftp.host_keys"),
        (file("").replace("key_file = \"/etc/key\"\n", ""), "sftp.key_file"),
        (file("").replace("sftp.bank.example", ""), "sftp.host"),
        (file("").replace("remit01", ""), "sftp.user"),
    ] {
        let refused = load(&text, &[], &[]).expect_err(&text).to_string();
        assert!(refused.contains(&format!("rails.pak-raast.{fault}")), "{refused}");
    }
    let https = "[[rails]]\nid = \"pak-raast\"\n[rails.acknowledgements]\nwait_s = 60\n";
    let refused = load(https, &[], &[]).expect_err("refused").to_string();
    assert!(
        refused.contains("has a meaning only while transport is \"directory\" or \"sftp\""),
        "{refused}"
    );
}

#[test]
fn a_password_in_the_file_is_refused_in_production() {
    let set = [("environment", "production")];
    let config = load(&file("password = \"secret\"\n"), &[], &set).expect("valid");
    let reasons = refuse_in_production(&config).join("\n");
    assert!(
        reasons.contains("rails.pak-raast.sftp.password: is in plain text")
            && reasons.contains("CORRIDOR_RAILS__PAK_RAAST__SFTP__PASSWORD_FILE"),
        "{reasons}"
    );
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    assert!(is_secret(&path("rails.pak-raast.pgp.key_passphrase")));
}
