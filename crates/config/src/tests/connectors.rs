//! Rails over connectors: what they need, and what production demands of them.

use super::*;
use crate::RailSetup;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn rail(id: &str, more: &str) -> String {
    format!(
        "[[rails]]\nid = \"{id}\"\ntransport = \"connector\"\nurl = \"http://127.0.0.1:8090\"\n{more}\n"
    )
}

#[test]
fn a_connector_needs_a_url_and_a_way_to_report() {
    let secret = format!("callback_secret = \"{SECRET}\"");
    for (file, parts) in [
        (rail("pak-raast", ""), vec!["rails.pak-raast.callback_secret", "poll_reports"]),
        (
            "[[rails]]\nid = \"pak-raast\"\ntransport = \"connector\"\npoll_reports = true".to_owned(),
            vec!["rails.pak-raast.url", "connector"],
        ),
        (
            rail("pak-raast", "callback_secret = \"whsec_c2hvcnQ=\""),
            vec!["rails.pak-raast.callback_secret", "16 bytes"],
        ),
        (
            rail("pak-raast", &secret) + &rail("pak-rtgs", &secret),
            vec!["rails.pak-rtgs.callback_secret", "another rail's"],
        ),
        (
            rail("pak-raast", &secret)
                + &rail("pak-rtgs", &secret.replace("whsec_", "")),
            vec!["rails.pak-rtgs.callback_secret", "another rail's"],
        ),
        (
            format!("[[rails]]\nid = \"pak-raast\"\n{secret}"),
            vec!["rails.pak-raast.callback_secret", "no effect"],
        ),
        (
            rail("pak-raast", &format!("{secret}\nrecalls = \"camt.056.001.08\"")),
            vec!["rails.pak-raast.recalls", "connector"],
        ),
        (
            "[[rails]]\nid = \"pak-raast\"\ntransport = \"directory\"\ndirectory = \"d\"\ndebtor_name = \"a\"\n\
             debtor_account = \"b\"\ndebtor_agent = \"c\"\nverify_account = \"inform\""
                .to_owned(),
            vec!["rails.pak-raast.verify_account", "connector"],
        ),
    ] {
        let message = refused(&file, &[]);
        for part in parts {
            assert!(message.contains(part), "{message:?} should name {part:?}");
        }
    }
}

#[test]
fn a_connector_is_set_up_without_a_debtor() {
    let both = format!("callback_secret = \"{SECRET} whsec_c3VwZXJzZWNyZXRzdXBlcnNlY3JldA==\"");
    let file = rail(
        "pak-raast",
        &format!("{both}\nrecalls = \"connector\"\nverify_account = \"require\""),
    );
    let config = load(&file, &[], &[]).expect("valid");
    assert!(config.takes_callbacks());
    let own = config.rail_setups().into_iter().find_map(|setup| match setup {
        RailSetup::Connector(own) => Some(own),
        _ => None,
    });
    let own = own.expect("a connector");
    assert_eq!((own.url.as_str(), own.report_wait), ("http://127.0.0.1:8090", None));
    let rails = config.to_corridors().expect("valid").rails;
    let is = |id: &str| {
        let rail = rails.iter().find(|rail| &*rail.id.0 == id).expect("a rail");
        (rail.recalls.clone(), rail.verify_account)
    };
    use domain::account_check::AccountChecks;
    assert_eq!(is("pak-raast"), (Some("connector".to_owned()), AccountChecks::Require));
    assert_eq!(is("pak-rtgs").1, AccountChecks::Inform, "simulated");
    assert!(!load("", &[], &[]).expect("valid").takes_callbacks());
}

#[test]
fn production_demands_a_connector_that_knows_us_over_a_safe_way() {
    let reasons = |url: &str, token: &str| {
        let mut env = production_env();
        env.retain(|(name, _)| name != "CORRIDOR_RAILS__PAK_RAAST__TOKEN");
        env.extend([
            ("CORRIDOR_RAILS__PAK_RAAST__TRANSPORT".to_owned(), "connector".to_owned()),
            ("CORRIDOR_RAILS__PAK_RAAST__URL".to_owned(), url.to_owned()),
            ("CORRIDOR_RAILS__PAK_RAAST__CALLBACK_SECRET".to_owned(), SECRET.to_owned()),
            ("CORRIDOR_RAILS__PAK_RAAST__TOKEN".to_owned(), token.to_owned()),
        ]);
        let env: Vec<(&str, &str)> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        refuse_in_production(&load(PRODUCTION, &env, &[]).expect("valid"))
    };
    for url in ["https://connector.bank.example", "http://127.0.0.1:8090", "http://[::1]:8090"] {
        assert_eq!(reasons(url, "token"), Vec::<String>::new(), "{url}");
    }
    for (url, token, key) in [
        ("http://10.0.0.7:8090", "token", "rails.pak-raast.url"),
        ("http://127.0.0.1.example", "token", "rails.pak-raast.url"),
        ("http://127.0.0.1:8090", "", "rails.pak-raast.token"),
    ] {
        let reasons = reasons(url, token);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].starts_with(key), "{reasons:?}");
    }
}
