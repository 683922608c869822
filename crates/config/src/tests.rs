//! Layering, errors, the environment, conversion and production's refusals.

use domain::chain::{ChainNumber, Depth, Fees, ReleaseMin};
use domain::country::Country;
use domain::policy::Environment;
use domain::sponsor::SponsorTerms;
use domain::time::Span;

use super::*;

mod chains;
mod connectors;
mod files;
mod outbound;
mod presets;
mod profiles;
mod reading;
mod secret_files;
mod shipped;
mod variables;

fn sources(
    file: &str,
    env: &[(&str, &str)],
    flags: &[(&str, &str)],
) -> (Option<tempfile::TempPath>, Sources) {
    let path = (!file.is_empty()).then(|| {
        let mut out = tempfile::NamedTempFile::new().expect("a file");
        std::io::Write::write_all(&mut out, file.as_bytes()).expect("written");
        out.into_temp_path()
    });
    let owned = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let sources = Sources {
        file: path.as_ref().map(|p| p.to_path_buf()),
        env: owned(env),
        overrides: owned(flags),
    };
    (path, sources)
}

fn load(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let (_path, sources) = sources(file, env, flags);
    Config::load(&sources)
}

fn refused(file: &str, env: &[(&str, &str)]) -> String {
    load(file, env, &[]).expect_err("must be refused").to_string()
}

#[test]
fn the_embedded_reference_is_a_complete_valid_configuration() {
    let config = load("", &[], &[]).expect("valid");
    assert_eq!(config.environment, Environment::Test);
    assert_eq!(config.public_url(), "http://127.0.0.1:8480");
    let policy = config.to_corridors().expect("converts");
    assert_eq!(policy.corridors.len(), 7);
    for country in Country::ALL {
        assert_eq!(policy.corridors[&country].quote_ttl, Span::secs(300));
        assert!(
            policy.rails_of(country).any(|rail| rail.hours.is_none()),
            "{country:?} has a rail at any hour"
        );
        assert!(policy.rails_of(country).count() >= 2, "{country:?}");
    }
    assert_eq!(policy.corridors[&Country::Vnm].step_minor, 1);
    assert_eq!(policy.relations.len(), 19);
    assert!(policy.relations.contains("inlaws"));
    assert_eq!(policy.submit_deadline, Span::mins(30));
    let raast = policy.rails_of(Country::Pak).next().expect("a rail");
    assert_eq!((raast.id.to_string().as_str(), raast.cost_minor), ("pak-raast", 500_000));
    assert_eq!(raast.max.to_string(), "200000.00 PKR");
}

#[test]
fn the_reference_explains_every_key() {
    let mut explained = false;
    for line in REFERENCE.lines() {
        let text = line.trim();
        if text == "[corridors.BGD]" {
            break;
        }
        if text.starts_with('#') {
            explained = true;
        } else if text.is_empty() || text.starts_with('[') {
            explained = false;
        } else if text.contains('=') {
            assert!(explained || text.starts_with('"'), "no comment above {text:?}");
        }
    }
}

#[test]
fn later_layers_win() {
    let file = "[http]\nlisten = \"127.0.0.1:1\"\nmax_connections = 7\n[store]\nreaders = 3";
    let env = [("CORRIDOR_HTTP__LISTEN", "127.0.0.1:2"), ("CORRIDOR_HTTP__MAX_CONNECTIONS", "8")];
    let flags = [("http.listen", "127.0.0.1:3")];
    let config = load(file, &env, &flags).expect("valid");
    assert_eq!(config.http.listen.port(), 3);
    assert_eq!(config.http.max_connections, 8);
    assert_eq!(config.store.readers, 3);
    assert_eq!(config.http.header_timeout_s, 10);
}

#[test]
fn two_rails_of_one_id_in_a_file_are_refused() {
    let rail = |id: &str| format!("[[rails]]\nid = \"{id}\"\nenabled = false\n");
    for (one, other, is_refused) in
        [("pak-raast", "pak-raast", true), ("own", "own", true), ("pak-raast", "pak-ibft", false)]
    {
        let loaded = load(&format!("{}{}", rail(one), rail(other)), &[], &[]);
        let fault = loaded.err().map_or_else(String::new, |fault| fault.to_string());
        assert_eq!(
            fault.contains("two of them have the id"),
            is_refused,
            "{one}, {other}: {fault}"
        );
    }
}

#[test]
fn one_list_enables_the_rails() {
    let enabled = |config: &Config| -> Vec<String> {
        let rails = config.rails.iter().filter(|rail| rail.enabled);
        rails.map(|rail| rail.id.clone()).collect()
    };
    let file = "rails_enabled = [\"pak-raast\", \"egy-ach\"]\n[[rails]]\nid = \"egy-ach\"\nenabled = false\n";
    let config = load(file, &[], &[]).expect("valid");
    assert_eq!(enabled(&config), ["pak-raast"], "a listed rail can be disabled");
    assert_eq!(config.served_corridors(), ["PAK"]);
    assert_eq!(config.corridors_without_rails(), ["BGD", "EGY", "IND", "NPL", "PHL", "VNM"]);
    let none = load(file, &[], &[("rails.pak-raast.enabled", "false")]).expect("valid");
    assert!(enabled(&none).is_empty(), "so that nothing is sent after a restore");
    let variable = [("CORRIDOR_RAILS_ENABLED", "[\"ind-imps\"]")];
    assert_eq!(enabled(&load(file, &variable, &[]).expect("valid")), ["ind-imps"]);
    let fault =
        load("rails_enabled = [\"pak-rast\"]", &[], &[]).expect_err("no such rail").to_string();
    assert!(fault.contains("rails_enabled") && fault.contains("pak-raast"), "{fault}");
    assert!(
        enabled(&load("", &[], &[]).expect("valid")).len() > 15,
        "by default each decides for itself"
    );
}

#[test]
fn the_console_may_have_a_host_of_its_own() {
    let url = |file: &str| {
        load(file, &[], &[]).expect("valid").console_url("https://api.example").to_owned()
    };
    assert_eq!(url(""), "https://api.example");
    assert_eq!(url("[console]\npublic_url = \"https://staff.example/\""), "https://staff.example");
    assert!(load("[console]\npublic_url = \"staff.example\"", &[], &[]).is_err());
}

#[test]
fn the_environment_reaches_corridors_rails_and_rates() {
    let env = [
        ("CORRIDOR_ENVIRONMENT", "mock"),
        ("CORRIDOR_CORRIDORS__PAK__QUOTE_TTL_S", "120"),
        ("CORRIDOR_CORRIDORS__IND__DEFAULT_LOCAL_CODE", "hdfc0000001"),
        ("CORRIDOR_RAILS__PAK_RAAST__ENABLED", "false"),
        ("CORRIDOR_RAILS__PAK_IBFT__TOKEN", "12345"),
        ("CORRIDOR_RAILS__PAK_RAAST__MAX", "300000"),
        ("CORRIDOR_RATES__SOURCES", "[{ location = \"rates.toml\" }]"),
        ("CORRIDOR_BASE_URL", "http://elsewhere"),
        ("CORRIDOR_SECRET_KEY", "belongs to the client"),
    ];
    let config = load("", &env, &[]).expect("valid");
    let policy = config.to_corridors().expect("converts");
    let corridor = &policy.corridors[&Country::Pak];
    assert_eq!((corridor.quote_ttl, corridor.open_quote_cap), (Span::secs(120), None));
    assert_eq!(policy.corridors[&Country::Ind].default_local_code.as_deref(), Some("HDFC0000001"));
    let raast = policy.rails_of(Country::Pak).next().expect("a rail");
    assert!(!raast.enabled);
    assert_eq!(raast.max.minor, 30_000_000);
    assert!(
        policy.rails.iter().all(|rail| rail.hours.is_none()),
        "simulated rails of mock are always open"
    );
    let ibft = config.rails.iter().find(|rail| rail.id == "pak-ibft").expect("known");
    assert_eq!(ibft.token.expose(), "12345");
    assert_eq!(config.rates.sources[0].location, "rates.toml");
}

#[test]
fn a_file_changes_single_keys_of_known_rails_and_adds_new_ones() {
    let file = r#"
        [[rails]]
        id = "pak-raast"
        transport = "https"
        url = "https://bank.example/iso"
        debtor_name = "Demo Bank"
        debtor_account = "1"
        debtor_agent = "DEMOAEAD"
        [[rails]]
        id = "pak-other"
        country = "PAK"
        kind = "batch"
        min = "1"
        max = "10"
        cost = "0"
        source = "our bank"
        as_of = "2026-11-01"
    "#;
    let config = load(file, &[], &[]).expect("valid");
    let policy = config.to_corridors().expect("converts");
    let rails: Vec<_> = policy.rails_of(Country::Pak).collect();
    assert_eq!(rails.len(), 4);
    assert_eq!(rails[0].max.minor, 20_000_000, "the other keys keep their seeds");
    assert!(
        !rails[0].duplicate_detection,
        "a real rail recognises duplicates only where the operator says so"
    );
    assert!(rails[1].duplicate_detection);
    assert_eq!((rails[3].window, rails[3].max_batch), (Span::days(2), 1));
}

#[test]
fn an_unknown_key_is_an_error_that_names_it() {
    for (file, env, parts) in [
        ("[http]\nlisen = \"x\"", vec![], vec!["http.lisen", "unknown key"]),
        ("[htp]\nlisten = \"x\"", vec![], vec!["htp", "unknown key"]),
        (
            "",
            vec![("CORRIDOR_HTTP__LISEN", "x")],
            vec!["http.lisen", "CORRIDOR_HTTP__LISEN", "unknown key"],
        ),
        ("", vec![("CORRIDOR_RAILS__NONE__ENABLED", "true")], vec!["rails.none", "unknown rail"]),
        ("[corridors.USA]\nopen = true", vec![], vec!["corridors.USA"]),
        (
            "[[rails]]\nid = \"pak-raast\"\nspeed = 1",
            vec![],
            vec!["rails.pak-raast.speed", "unknown key"],
        ),
    ] {
        let message = refused(file, &env);
        for part in parts {
            assert!(message.contains(part), "{message:?} should name {part:?}");
        }
    }
}

#[test]
fn wrong_values_name_key_origin_and_rule() {
    for (file, parts) in [
        (
            "[corridors.PAK]\nquote_ttl_s = 29",
            vec!["corridors.PAK.quote_ttl_s", "30 to 1800", ".tmp"],
        ),
        ("[corridors.PAK]\nstep = \"0.001\"", vec!["corridors.PAK.step", "PKR"]),
        ("[corridors.PAK]\nstep = 0.01", vec!["corridors.PAK.step", "in quotes"]),
        (
            "[[rails]]\nid = \"pak-raast\"\nmax = \"0.5\"",
            vec!["rails.pak-raast.max", "less than min"],
        ),
        (
            "[[rails]]\nid = \"vnm-napas247\"\nmin = \"0.5\"",
            vec!["rails.vnm-napas247.min", "0 decimals"],
        ),
        (
            "[[rails]]\nid = \"pak-raast\"\ntransport = \"https\"",
            vec!["rails.pak-raast.url", "debtor_name"],
        ),
        (
            "[[rails]]\nid = \"pak-raast\"\nbanks = [\"scb\"]",
            vec!["rails.pak-raast.banks", "\"scb\""],
        ),
        (
            "[[rails]]\nid = \"pak-rtgs\"\nhours.open = \"25:00\"",
            vec!["rails.pak-rtgs.hours.open", "25:00"],
        ),
        (
            "[[rails]]\nid = \"pak-rtgs\"\nhours.close = \"03:00\"",
            vec!["rails.pak-rtgs.hours.close", "later"],
        ),
        (
            "[[rails]]\nid = \"pak-raast\"\nsource = \" \"",
            vec!["rails.pak-raast.source", "where the limits come from"],
        ),
        (
            "[[rails]]\nid = \"pak-raast\"\nas_of = \"last year\"",
            vec!["rails.pak-raast.as_of", "must be a date"],
        ),
        ("environment = \"live\"", vec!["environment", "`live`", "production"]),
        ("[http]\nlisten = 80", vec!["http.listen"]),
        ("[store]\nurl = \"mysql://x\"", vec!["store.url", "sqlite:PATH"]),
        (
            "[security]\nkey_encryption_key = \"c2hvcnQ=\"",
            vec!["security.key_encryption_key", "32 bytes"],
        ),
        ("[security]\nkey_encryption_key_by_kms = \"AQID\"", vec!["chain.keys.kms_region"]),
        (
            "[chain.keys]\nsource = \"aws_kms\"\nkms_access_key_id = \"A\"",
            vec!["chain.keys.kms_secret_access_key", "together"],
        ),
        (
            "[chain.keys]\nsource = \"remote\"\nremote_url = \"http://localhost.evil\"",
            vec!["chain.keys.remote_url", "https"],
        ),
        (
            "[security]\nkey_encryption_key_by_kms = \"?\"",
            vec!["security.key_encryption_key_by_kms", "base64"],
        ),
        ("[audit]\nsigning_key = \"c2hvcnQ=\"", vec!["audit.signing_key", "32 bytes"]),
        ("[audit]\nformer_public_keys = [\"x\"]", vec!["audit.former_public_keys", "audit key"]),
        ("[audit]\ncheckpoint_every_s = 5", vec!["audit.checkpoint_every_s", "60 to"]),
        ("[rates]\nsource = \"live\"", vec!["rates.sources", "live"]),
        ("[rates]\nsources = [{ location = \"http://x/r\" }]", vec!["rates.sources", "https"]),
        (
            "[rates]\nsources = [{ location = \"r.csv\", base = \"/b\" }]",
            vec!["rates.sources", "https address"],
        ),
        ("[screening]\nlists = [{ locations = [] }]", vec!["screening.lists", "location"]),
        ("[limits]\nquote_burst = 1", vec!["limits.quote_burst", "20 to"]),
        ("http = ", vec!["line 1, column 8"]),
    ] {
        let message = refused(file, &[]);
        for part in parts {
            assert!(message.contains(part), "{message:?} should name {part:?}");
        }
    }
}

#[test]
fn two_listeners_do_not_share_a_port() {
    for (listen, ops) in [
        ("127.0.0.1:8480", "127.0.0.1:8480"),
        ("0.0.0.0:8480", "127.0.0.1:8480"),
        ("127.0.0.1:8480", "[::]:8480"),
    ] {
        let message = refused(&format!("http.listen = {listen:?}\nhttp.ops_listen = {ops:?}"), &[]);
        assert!(message.contains("a port other than http.listen"), "{ops}: {message}");
    }
    load("http.ops_listen = \"127.0.0.1:9480\"", &[], &[]).expect("another port");
}

#[test]
fn all_faults_are_reported_at_once() {
    let error =
        load("[store]\nreaders = 0\n[engine]\nlease_max = 0", &[], &[]).expect_err("two faults");
    assert_eq!(error.0.len(), 2, "{error}");
}

#[test]
fn deposits_count_12_blocks_deep_below_1_000_dollars_then_safe_and_from_100_000_on_finalized() {
    const USD: i64 = 1_000_000;
    let amounts = [USD, 1_000 * USD - 1, 1_000 * USD, 100_000 * USD - 1, 100_000 * USD];
    let depths = |node: &str| {
        let config = load("", &[], &[("chain.node_url", node)]).expect("valid").chain_config(
            ChainNumber::FIRST,
            &[],
            String::new(),
        );
        amounts.map(|minor| config.deposit_depth(minor))
    };
    let (small, medium) = (Depth::Blocks(12), Depth::Safe);
    assert_eq!(depths("https://node.example"), [small, small, medium, medium, Depth::Finalized]);
    assert_eq!(depths(""), [Depth::Blocks(1); 5], "the built-in chain needs one block");
}

#[test]
fn the_release_minimum_is_a_cost_or_an_amount() {
    const GWEI: u128 = 1_000_000_000;
    let terms = |more: &[(&str, &str)]| {
        load("", &[], more)
            .map(|it| it.chain_config(ChainNumber::FIRST, &[], String::new()).release_min)
    };
    let node = ("chain.node_url", "https://node.example");
    let cost = terms(&[node]).expect("valid");
    let with_data = |gwei: u128, data_fee| {
        cost.minor(Some((&Fees { max_fee: 2 * gwei * GWEI, max_priority_fee: 0 }, data_fee)))
    };
    let at = |gwei| with_data(gwei, 0);
    // 162,333 gas at 5 gwei and 3,000 dollars.
    assert_eq!((at(5), at(0), at(1_000)), (2_434_995, ReleaseMin::LEAST, ReleaseMin::MOST));
    assert_eq!(cost.minor(None), ReleaseMin::LEAST, "a node that does not answer");
    // Half a million gwei more for the data on a rollup.
    assert_eq!(with_data(5, 500_000 * GWEI), 2_434_995 + 1_500_000);
    assert_eq!(with_data(0, u128::MAX), ReleaseMin::MOST);
    assert_eq!(
        terms(&[]).expect("valid"),
        ReleaseMin::Fixed(1_000),
        "gas costs nothing on the built-in chain"
    );
    for (text, minor) in [("0", 0), ("0.50", 500_000), ("1000", 1_000_000_000)] {
        assert_eq!(
            terms(&[node, ("chain.release_min", text)]).expect("valid"),
            ReleaseMin::Fixed(minor),
            "{text}"
        );
    }
    for wrong in ["", "-1", "0.0000001", "1000.01", "free"] {
        let faults = terms(&[("chain.release_min", wrong)]).expect_err("wrong").to_string();
        assert!(
            faults.contains("chain.release_min") && faults.contains("from 0 to 1000"),
            "{wrong}: {faults}"
        );
    }
    assert!(
        terms(&[("chain.gas_coin_usd", "0")])
            .expect_err("wrong")
            .to_string()
            .contains("chain.gas_coin_usd")
    );
}

#[test]
fn transfers_are_sponsored_only_if_that_is_enabled_and_within_its_limits() {
    let terms = |more: &[(&str, &str)]| {
        load("", &[], more)
            .map(|it| it.chain_config(ChainNumber::FIRST, &[], String::new()).sponsor)
    };
    assert_eq!(terms(&[]).expect("valid"), None);
    let enabled = ("chain.sponsor.enabled", "true");
    let node = ("chain.node_url", "https://node.example");
    let expected = SponsorTerms {
        min_minor: 10_000_000,
        per_request: 3,
        daily_gas: 5_000_000,
        max_fee_percent: 2,
        gas_coin_micros: 3_000_000_000,
    };
    assert_eq!(terms(&[enabled, node]).expect("valid"), Some(expected));
    let free = SponsorTerms { gas_coin_micros: 0, ..expected };
    assert_eq!(terms(&[enabled]).expect("valid"), Some(free), "on the built-in chain");
    for (key, wrong) in [
        ("chain.sponsor.min_amount", "0"),
        ("chain.sponsor.min_amount", "0.0000001"),
        ("chain.sponsor.max_fee_percent", "0"),
        ("chain.sponsor.max_fee_percent", "101"),
        ("chain.sponsor.per_request", "0"),
        ("chain.sponsor.per_request", "11"),
        ("chain.sponsor.daily_gas", "0"),
        ("chain.sponsor.daily_gas", "1000000000001"),
    ] {
        let faults = terms(&[(key, wrong)]).expect_err("wrong").to_string();
        assert!(faults.contains(key), "{key} = {wrong}: {faults}");
    }
}

#[test]
fn a_sandbox_has_a_block_per_second_and_its_sender_pays_after_5() {
    let sandbox = |more: &[(&str, &str)]| load("", &[("CORRIDOR_ENVIRONMENT", "mock")], more);
    let config = sandbox(&[]).expect("valid");
    assert_eq!((config.chain.block_time_ms, config.wallets.simulated_sender_after_s), (1_000, 5));
    for (key, least, most, above) in [
        ("chain.block_time_ms", 10, 60_000, "60001"),
        ("wallets.simulated_sender_after_s", 0, 86_400, "86401"),
    ] {
        for good in [least, most] {
            assert!(sandbox(&[(key, &good.to_string())]).is_ok(), "{key} = {good}");
        }
        let message = sandbox(&[(key, above)]).expect_err("out of bounds").to_string();
        assert!(
            message.contains(key) && message.contains(&format!("must be {least} to {most}")),
            "{message}"
        );
    }
    assert!(sandbox(&[("chain.block_time_ms", "9")]).is_err());
}

#[test]
fn a_fault_near_a_secret_does_not_show_it() {
    for (text, said) in [
        ("[rates]\ntoken = 7712347\n", "rates.token"),
        ("[rates]\ntoken = 771.2347\n", "rates.token"),
        ("[outbound.x]\ntoken = [\"hunter2\"]\n", "outbound.x.token"),
        ("[outbound]\nx = \"hunter2\"\n", "outbound.x"),
        ("rates = \"hunter2\"\n", "rates"),
        ("[rates]\ntoken = \"hunter2\n", "line 2, column"),
        ("[rates]\ntoken = hunter2\n", "line 2, column"),
        ("[rates]\nsource = \"live\"\ntoken = \"hunter2\" source\n", "line 3, column"),
    ] {
        let fault = refused(text, &[]);
        assert!(fault.contains(said), "{fault}");
        assert!(!["hunter2", "7712347", "771.2347"].iter().any(|it| fault.contains(it)), "{fault}");
    }
}

#[test]
fn secrets_are_read_from_files_and_never_shown() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, b"postgres://app:hunter2@db/corridor\n").expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let (_path, both) = sources("", &[("CORRIDOR_STORE__URL_FILE", path)], &[]);
    let merged = Merged::read(&both).expect("read");
    let config = Config::from_merged(&merged).expect("valid");
    assert_eq!(config.store.url.expose(), "postgres://app:hunter2@db/corridor");
    let shown = format!("{}{config:?}{:?}", print(&merged), masked_table(&merged));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("postgres://***@db/corridor"));
    let twice = [("CORRIDOR_STORE__URL_FILE", path), ("CORRIDOR_STORE__URL", "sqlite:x")];
    assert!(refused("", &twice).contains("same key"));
    assert!(
        refused("", &[("CORRIDOR_STORE__URL_FILE", "/nowhere/at/all")])
            .contains("CORRIDOR_STORE__URL_FILE")
    );
    assert!(refused("", &[("CORRIDOR_STORE__READERS_FILE", path)]).contains("store.readers_file"));
}

#[test]
fn a_relative_store_is_in_the_data_directory() {
    let at = |url: &str| {
        load("", &[("CORRIDOR_STORE__URL", url)], &[])
            .expect("valid")
            .store_location(Path::new("/d"))
    };
    assert_eq!(at("sqlite:c.db"), StoreLocation::Sqlite("/d/c.db".into()));
    assert_eq!(at("sqlite:/x/c.db"), StoreLocation::Sqlite("/x/c.db".into()));
    assert_eq!(at("postgres://db/c"), StoreLocation::Postgres("postgres://db/c".to_owned()));
}

/// A configuration that production accepts.
const PRODUCTION: &str = r#"
environment = "production"
[http]
public_url = "https://pay.bank.example"
[rates]
source = "live"
sources = [{ location = "https://rates.example/mid" }]
[screening]
sample_list = false
lists = [{ locations = ["https://lists.example/sdn.csv", "https://lists.example/alt.csv"] }]
[[rails]]
id = "pak-raast"
transport = "https"
url = "https://bank.example/iso"
debtor_name = "Demo Bank"
debtor_account = "1"
debtor_agent = "DEMOAEAD"
"#;
const GOOD_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn production_env() -> Vec<(String, String)> {
    let mut env = vec![
        ("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY".to_owned(), GOOD_KEY.to_owned()),
        ("CORRIDOR_RAILS__PAK_RAAST__TOKEN".to_owned(), "bank-token".to_owned()),
    ];
    // The wallet service's requirements have their own test.
    env.push(("CORRIDOR_WALLETS__ENABLED".to_owned(), "false".to_owned()));
    let others = load("", &[], &[]).expect("valid").rails;
    for rail in others.iter().filter(|rail| rail.id != "pak-raast") {
        let name = rail.id.replace('-', "_").to_uppercase();
        env.push((format!("CORRIDOR_RAILS__{name}__ENABLED"), "false".to_owned()));
    }
    env
}

#[test]
fn production_refuses_simulators_samples_and_unprotected_secrets() {
    let check = |file: &str, change: &[(&str, &str)]| {
        let mut env = production_env();
        for (name, value) in change {
            env.retain(|(known, _)| known != name);
            env.push(((*name).to_owned(), (*value).to_owned()));
        }
        let env: Vec<(&str, &str)> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        refuse_in_production(&load(file, &env, &[]).expect("valid"))
    };
    assert_eq!(check(PRODUCTION, &[]), Vec::<String>::new());
    let weak = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for (change, key) in [
        (("CORRIDOR_RAILS__PAK_IBFT__ENABLED", "true"), "rails.pak-ibft.transport"),
        (("CORRIDOR_RAILS__PAK_RAAST__URL", "http://bank.example"), "rails.pak-raast.url"),
        (("CORRIDOR_RAILS__PAK_RAAST__TOKEN", ""), "rails.pak-raast.token"),
        (("CORRIDOR_RATES__SOURCE", "walk"), "rates.source"),
        (("CORRIDOR_SCREENING__SAMPLE_LIST", "true"), "screening.sample_list"),
        (("CORRIDOR_SCREENING__LISTS", "[]"), "screening.lists"),
        (("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", ""), "security.key_encryption_key"),
        (("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY", weak), "security.key_encryption_key"),
        (("CORRIDOR_HTTP__PUBLIC_URL", "http://pay.bank.example"), "http.public_url"),
    ] {
        let reasons = check(PRODUCTION, &[change]);
        assert_eq!(reasons.len(), 1, "{change:?}: {reasons:?}");
        assert!(reasons[0].starts_with(key), "{reasons:?}");
        assert!(
            check(PRODUCTION, &[change, ("CORRIDOR_ENVIRONMENT", "test")]).is_empty(),
            "{change:?}"
        );
    }
}

#[test]
fn production_refuses_the_built_in_chain_and_keys_in_plain_text() {
    let mut env = production_env();
    env.retain(|(name, _)| name != "CORRIDOR_WALLETS__ENABLED");
    let env: Vec<(&str, &str)> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let reasons = refuse_in_production(&load(PRODUCTION, &env, &[]).expect("valid"));
    let keys: Vec<&str> =
        reasons.iter().map(|reason| reason.split(": ").next().unwrap_or_default()).collect();
    let missing = [
        "chain.node_url",
        "chain.second_node_url",
        "chain.usdc, chain.usdt",
        "chain.keys.source",
        "chain.tenants",
    ];
    assert_eq!(keys, missing, "{reasons:?}");
}

#[test]
fn production_refuses_secrets_in_the_configuration_file() {
    let file = format!(
        "{PRODUCTION}token = \"bank-token\"\n[security]\nkey_encryption_key = \"{GOOD_KEY}\""
    );
    let env = production_env();
    let env: Vec<(&str, &str)> =
        env.iter().skip(2).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let reasons = refuse_in_production(&load(&file, &env, &[]).expect("valid"));
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].contains("CORRIDOR_RAILS__PAK_RAAST__TOKEN_FILE"), "{reasons:?}");
    assert!(reasons[1].contains("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY_FILE"), "{reasons:?}");
}

#[test]
fn a_key_encryption_key_is_generated_once_outside_production_only() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = load("", &[], &[]).expect("valid");
    let first = key_encryption_key(&config, dir.path()).expect("made");
    assert_eq!(key_encryption_key(&config, dir.path()).expect("read"), first);
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(kek_path(dir.path())).expect("there").permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
    let production = load("", &[("CORRIDOR_ENVIRONMENT", "production")], &[]).expect("valid");
    assert!(matches!(key_encryption_key(&production, dir.path()), Err(KeyError::Missing)));
}
