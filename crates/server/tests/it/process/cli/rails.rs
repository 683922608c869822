//! `corridor rails preview`, without a server.

use std::collections::BTreeSet;

use crate::process::harness::Installation;

fn files(installation: &Installation) -> BTreeSet<std::path::PathBuf> {
    let entries = std::fs::read_dir(installation.path()).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_message_is_previewed_and_nothing_is_stored() {
    let installation = Installation::new();
    let before = files(&installation);
    let shown = installation.ok(&["rails", "preview", "--country", "PAK", "--amount", "25000"]);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for part in ["pak-raast", "pain.001.001.09", "(Asia/Karachi)", "IBAN  PK36SCBL0000001123456702"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let args = ["rails", "preview", "--rail", "npl-nchl-ips", "--at", "2026-11-27T18:15:00Z"];
    let with = |more: &[&str]| installation.ok(&[&args, more].concat());
    let xml = with(&["--format", "xml"]);
    let json: serde_json::Value = serde_json::from_str(&with(&["--output", "json"])).expect("JSON");
    assert_eq!(json["xml"].as_str(), Some(xml.as_str()), "the same bytes");
    assert_eq!(json["execution_date"], "2026-11-29", "Sunday in Kathmandu");
    let set = [
        "--set",
        "rails.npl-nchl-ips.directory=exchange",
        "--set",
        "rails.npl-nchl-ips.profile.file_name={rail}-{date}-{sequence}.xml",
    ];
    let numbered = with(&[&set[..], &["--output", "json"]].concat());
    let numbered: serde_json::Value = serde_json::from_str(&numbered).expect("JSON");
    assert_eq!(numbered["file_name"], "npl-nchl-ips-20261128-000001.xml");
    let sent_to = numbered["sent_to"].as_str().expect("text");
    assert!(sent_to.ends_with("exchange/out/npl-nchl-ips-20261128-000001.xml"), "{sent_to}");
    assert_eq!(files(&installation), before);
}

#[test]
fn an_order_of_ones_own_is_previewed() {
    let installation = Installation::new();
    let file = installation.path().join("order.json");
    let path = file.to_str().expect("UTF-8");
    let order = r#"{"country": "IND", "amount": 1000.5, "bank_name": "HDFC Bank", "bank_branch_code": "HDFC0000001",
        "beneficiary_name": "Müller & Söhne", "beneficiary_city": "Mumbai", "beneficiary_address": "1 Example Road",
        "beneficiary_account_number": "50100012345678", "sender_name": "Omar Testwell",
        "sender_identity_doc_type": "passport", "sender_identity_doc": "N1", "sender_city": "Dubai",
        "sender_address": "12 Example Street", "sender_country": "ARE", "sender_relation": "brother",
        "purpose_code": "SALA"}"#;
    std::fs::write(&file, order).expect("written");
    let preview = |more: &[&str]| {
        installation
            .run(&[&["rails", "preview", "--order", path, "--format", "xml"], more].concat())
    };
    let done = preview(&[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for part in [
        "<InstdAmt Ccy=\"INR\">1000.50</InstdAmt>",
        "<Nm>Muller + Sohne</Nm>",
        "<ClrSysId><Cd>INFSC</Cd></ClrSysId><MmbId>HDFC0000001</MmbId>",
        "<Purp><Cd>SALA</Cd></Purp>",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let other = preview(&["--amount", "7", "--rail", "ind-neft"]);
    assert!(other.stdout.contains("<InstdAmt Ccy=\"INR\">7.00</InstdAmt>"), "{}", other.stdout);
    let above = preview(&["--amount", "600000", "--rail", "ind-imps"]);
    assert_eq!(above.code, 0, "{}", above.stderr);
    let words = "ind-imps would not take this order: amount outside its limits";
    assert!(above.stderr.contains(words), "{}", above.stderr);

    std::fs::write(&file, order.replace("\"brother\"", "\"foe\"").replace("Mumbai", "\\u0000"))
        .expect("written");
    let wrong = preview(&[]);
    assert_ne!(wrong.code, 0);
    assert!(
        wrong.stderr.contains("beneficiary_city") || wrong.stderr.contains("sender_relation"),
        "{}",
        wrong.stderr
    );
    assert_eq!(wrong.stdout, "");
}

#[test]
fn what_cannot_be_previewed_is_named() {
    let installation = Installation::new();
    for (args, code, words) in [
        (vec![], 2, "--country: required"),
        (vec!["--rail", "pak-rast"], 2, "pak-rast is not one of ind-imps"),
        (vec!["--rail", "pak-raast", "--country", "IND"], 1, "pays to PAK, the order to IND"),
        (vec!["--country", "PAK", "--amount", "0.001"], 1, "amount"),
        (
            vec!["--country", "PHL", "--amount", "90000000000"],
            1,
            "phl-pesonet: amount outside its limits",
        ),
        (vec!["--order", "/nowhere.json"], 2, "/nowhere.json"),
        (
            vec!["--country", "PAK", "--set", "corridors.PAK.profile.version=9"],
            2,
            "corridors.PAK.profile.version",
        ),
    ] {
        let done = installation.run(&[&["rails", "preview"], args.as_slice()].concat());
        assert_eq!(done.code, code, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(words), "{args:?}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{args:?}");
    }
}
