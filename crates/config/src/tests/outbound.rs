//! `[outbound.<name>]`: inheritance, who refers to a table, wrong combinations, and masked secrets.

use adapters::outbound::{
    Authentication, ClientAuthentication, JwsAlgorithm, Proxy, Settings, Signing,
};

use super::super::secret::SECRET_KEYS;
use super::*;

const CANARY: &str = "canary";

/// A rail to a bank by the table `outbound.bank`.
const RAIL: &str = "[[rails]]\nid = \"pak-raast\"\ntransport = \"https\"\nurl = \"https://bank.example\"\n\
                    outbound = \"bank\"\ndebtor_name = \"Us\"\ndebtor_account = \"1\"\ndebtor_agent = \"B\"\n";

fn rail_settings(config: &Config) -> Settings {
    let setups = config.rail_setups().into_iter();
    let https = setups.filter_map(|setup| match setup {
        RailSetup::Https(https) => Some(https.outbound.clone()),
        RailSetup::Simulated(_) | RailSetup::Files(_) | RailSetup::Connector(_) => None,
    });
    https.last().expect("a rail over https")
}

#[test]
fn a_table_has_the_keys_that_it_omits_from_the_default() {
    let file = format!(
        "{RAIL}[outbound.default]\nproxy = \"http://proxy:3128\"\nretries = 2\n\
         [outbound.bank]\nretries = 1\nrequest_timeout_ms = 500\nauthentication = \"bearer\"\ntoken = \"t\"\n"
    );
    let config = load(&file, &[], &[]).expect("valid");
    let bank = rail_settings(&config);
    assert_eq!((bank.table.as_str(), bank.retries), ("outbound.bank", 1));
    assert!(matches!(bank.proxy, Proxy::Url(_)), "inherited");
    assert!(matches!(bank.authentication, Authentication::Bearer(_)));
    assert_eq!((bank.request_timeout.as_millis(), bank.connect_timeout.as_secs()), (500, 3));
    let lists = [("screening.lists", "[{ locations = [\"https://lists.example\"] }]")];
    let config = load(&file, &[], &lists).expect("valid");
    let (_, lists) = config.list_servers().remove(0);
    assert_eq!((lists.table.as_str(), lists.retries), ("outbound.default", 2));
    assert!(lists.user_agent.is_some_and(|agent| agent.starts_with("Mozilla/")));
    assert!(matches!(lists.authentication, Authentication::None));
}

#[test]
fn old_keys_keep_their_meaning_without_a_table() {
    let file = RAIL.replace("outbound = \"bank\"", "token = \"t\"\nrequest_timeout_ms = 700");
    let bank = rail_settings(&load(&file, &[], &[]).expect("valid"));
    assert!(matches!(bank.authentication, Authentication::Bearer(_)));
    assert!(matches!(bank.proxy, Proxy::Environment));
    assert_eq!(bank.request_timeout.as_millis(), 700);
}

#[test]
fn sources_lists_and_nodes_have_tables_of_their_own() {
    let file = "[outbound.one]\nretries = 1\n[outbound.two]\nretries = 2\n\
                [rates]\nsource = \"live\"\ntoken = \"t\"\nsources = [{ location = \"https://a\", outbound = \"one\" }, { location = \"https://b\" }]\n\
                [chain]\nnode_url = \"https://n1\"\nsecond_node_url = \"https://n2\"\nnode_outbounds = [\"\", \"two\"]\n\
                [chain.keys]\nsource = \"seed\"\n";
    let config = load(file, &[], &[]).expect("valid");
    let rates: Vec<_> = config.rate_servers();
    let of = |address: &str| {
        let found = rates.iter().find(|(addresses, _)| addresses == &[address.to_owned()]);
        found.expect(address).1.clone()
    };
    assert!(matches!(of("https://b").authentication, Authentication::Bearer(_)));
    assert!(matches!(of("https://a").authentication, Authentication::None), "another host");
    assert_eq!(of("https://a").retries, 1);
    let nodes = config.nodes();
    let of_nodes = |at: usize| (nodes[at].key.as_str(), nodes[at].outbound.table.as_str());
    assert_eq!(of_nodes(0), ("chain.node_url", "outbound.default"));
    assert_eq!(of_nodes(1), ("chain.second_node_url", "outbound.two"));
}

/// The table of defaults does not lead webhooks through a proxy by itself.
#[test]
fn webhooks_use_a_table_only_by_its_name() {
    let file = "[outbound.default]\nproxy = \"http://proxy:3128\"\ncertificate_file = \"c\"\nkey_file = \"k\"\n\
                [outbound.hooks]\nuser_agent = \"bank\"\nrequest_timeout_ms = 700\n";
    let of = |name: &str| {
        let set = [("webhooks.outbound", name)];
        load(file, &[], &set).expect("valid").webhook_settings(Vec::new()).outbound
    };
    let direct = of("");
    assert!(matches!(direct.proxy, Proxy::Direct) && direct.identity.is_none(), "{direct:?}");
    for name in ["default", "hooks"] {
        let named = of(name);
        assert!(matches!(named.proxy, Proxy::Url(_)) && named.identity.is_some(), "{named:?}");
    }
    let hooks = of("hooks");
    assert_eq!(
        (hooks.user_agent.as_deref(), hooks.request_timeout.as_millis()),
        (Some("bank"), 700)
    );
    let usual = of("default");
    assert!(usual.user_agent.is_some_and(|agent| agent.starts_with("corridor-webhooks/")));
    assert_eq!((usual.connect_timeout.as_secs(), usual.request_timeout.as_secs()), (5, 15));
}

#[test]
fn wrong_combinations_are_named() {
    let oauth = "authentication = \"oauth2\"\nclient_id = \"c\"\n";
    let with_url = format!("{oauth}token_url = \"https://i\"\n");
    let of = |base: &str, rest: &str| format!("{base}{rest}");
    let header = |name: &str, value: &str| {
        let kind = "authentication = \"header\"\n";
        format!("{kind}header_name = \"{name}\"\nheader_value = \"{value}\"")
    };
    for (table, key, rule) in [
        ("certificate_file = \"c.pem\"".to_owned(), "key_file", "a certificate needs its key"),
        ("key_file = \"k.pem\"".to_owned(), "certificate_file", "a key needs its certificate"),
        ("system_authorities = false".to_owned(), "authority_file", "nothing would be trusted"),
        ("proxy = \"socks5://secret@proxy\"".to_owned(), "proxy", "the URL of an HTTP proxy"),
        ("proxy = \"\"".to_owned(), "proxy", "the URL of an HTTP proxy"),
        ("user_agent = \"\\u0007\"".to_owned(), "user_agent", "must be printable ASCII"),
        ("retries = 6".to_owned(), "retries", "must be 0 to 5"),
        ("redirects = 11".to_owned(), "redirects", "must be 0 to 10"),
        ("request_timeout_ms = 99".to_owned(), "request_timeout_ms", "100 to 120000, or 0"),
        ("authentication = \"digest\"".to_owned(), "authentication", "unknown variant"),
        ("authentication = \"bearer\"".to_owned(), "token", "is missing while"),
        (
            "authentication = \"bearer\"\ntoken = \"t\"\npassword = \"p\"".to_owned(),
            "password",
            "has no effect while authentication is \"bearer\"",
        ),
        ("token = \"t\"".to_owned(), "token", "has no effect while authentication is \"none\""),
        ("authentication = \"basic\"\nuser = \"u\"".to_owned(), "password", "is missing while"),
        (header("a b", "v"), "header_name", "is not the name of a header"),
        (header("a", "é"), "header_value", "a header cannot carry"),
        (oauth.to_owned(), "token_url", "is missing while"),
        (of(oauth, "token_url = \"id.example\""), "token_url", "must be an https URL"),
        (of(&with_url, "grant = \"password\""), "user", "is missing while"),
        (of(&with_url, "user = \"u\""), "user", "has no effect while"),
        (
            of(&with_url, "assertion_audience = \"a\""),
            "assertion_audience",
            "has no effect unless client_authentication is",
        ),
        (
            of(&with_url, "client_authentication = \"private_key_jwt\""),
            "signature_key_file",
            "is missing while client_authentication is",
        ),
        (
            of(
                &with_url,
                "client_authentication = \"private_key_jwt\"\nsignature_key_file = \"k\"\nclient_secret = \"s\"",
            ),
            "client_secret",
            "has no effect while client_authentication is",
        ),
        (
            of(&with_url, "signature_key_file = \"k\""),
            "signature_key_file",
            "has no effect while signature is \"none\"",
        ),
        ("signature = \"jws\"".to_owned(), "signature_key_file", "while signature is \"jws\""),
        (
            "signature = \"hmac\"\nsignature_secret = \"s\"\nsignature_unencoded = true".to_owned(),
            "signature_unencoded",
            "has no effect while signature is \"hmac\"",
        ),
        ("tokn = \"t\"".to_owned(), "tokn", "unknown key"),
    ] {
        let said = refused(&format!("{RAIL}[outbound.bank]\n{table}\n"), &[]);
        let line = said.lines().find(|line| line.contains(&format!("outbound.bank.{key} (in ")));
        assert!(line.is_some_and(|line| line.contains(rule)), "{table}: {said}");
        assert!(!said.contains("secret@"), "{said}");
    }
    let bearer = "authentication = \"bearer\"\ntoken = \"t\"\n";
    for (file, fault) in [
        (RAIL.to_owned(), "\"bank\" is not one of the tables default"),
        (format!("[outbound.default]\n{bearer}"), "outbound.default.authentication"),
        (format!("[outbound.Bank]\n{bearer}"), "the name must be 1 to 64 lower-case letters"),
        (format!("{RAIL}token = \"x\"\n[outbound.bank]\n{bearer}"), "two kinds of authentication"),
        (
            format!("[rates]\ntoken = \"x\"\noutbound = \"b\"\n[outbound.b]\n{bearer}"),
            "rates.outbound",
        ),
        (
            format!("[console.oidc]\noutbound = \"b\"\n[outbound.b]\n{bearer}"),
            "console.oidc.outbound",
        ),
        (
            format!("[chain.keys]\nkms_outbound = \"b\"\n[outbound.b]\n{bearer}"),
            "chain.keys.kms_outbound",
        ),
        ("[chain]\nnode_outbounds = [\"x\"]".to_owned(), "chain.node_outbounds"),
        ("[webhooks]\noutbound = \"x\"".to_owned(), "webhooks.outbound"),
        (
            format!("[webhooks]\noutbound = \"b\"\n[outbound.b]\n{bearer}"),
            "must name a table without authentication and signature",
        ),
        (
            "[webhooks]\noutbound = \"b\"\n[outbound.b]\nsignature = \"hmac\"\nsignature_secret = \"s\""
                .to_owned(),
            "must name a table without authentication and signature",
        ),
    ] {
        let said = refused(&file, &[]);
        assert!(said.contains(fault), "{file}: {said}");
    }
}

#[test]
fn one_key_signs_assertions_and_bodies() {
    let file = format!(
        "{RAIL}[outbound.bank]\nauthentication = \"oauth2\"\ntoken_url = \"https://i\"\nclient_id = \"c\"\n\
         client_authentication = \"private_key_jwt\"\nsignature = \"jws\"\nsignature_algorithm = \"PS256\"\n\
         signature_key_file = \"k.pem\"\nsignature_key_id = \"k1\"\nassertion_audience = \"https://issuer\"\n"
    );
    let bank = rail_settings(&load(&file, &[], &[]).expect("valid"));
    let Authentication::OAuth2(oauth) = bank.authentication else { panic!("oauth2") };
    let ClientAuthentication::PrivateKeyJwt { key, audience } = oauth.client_authentication else {
        panic!("private_key_jwt");
    };
    assert_eq!(audience, "https://issuer");
    let Some(Signing::Jws { key: of_bodies, .. }) = bank.signing else { panic!("jws") };
    for key in [key, of_bodies] {
        assert_eq!((key.algorithm, key.id.as_str()), (JwsAlgorithm::Ps256, "k1"));
        assert_eq!(key.file, std::path::Path::new("k.pem"));
    }
}

#[test]
fn the_environment_reaches_a_table_as_text() {
    let file = format!("{RAIL}[outbound.bank]\nauthentication = \"bearer\"\n");
    let env =
        [("CORRIDOR_OUTBOUND__BANK__TOKEN", "12345"), ("CORRIDOR_OUTBOUND__BANK__RETRIES", "3")];
    let config = load(&file, &env, &[]).expect("valid");
    assert_eq!(config.outbound["bank"].token.expose(), "12345");
    assert_eq!(config.outbound["bank"].retries, 3);
}

#[test]
fn production_finds_secrets_of_a_table_in_the_file() {
    let file = format!(
        "environment = \"production\"\n{RAIL}[outbound.bank]\nproxy = \"http://me:pw@proxy\"\n\
         authentication = \"bearer\"\ntoken = \"t\"\n[outbound.default]\nproxy = \"http://proxy\"\n"
    );
    let reasons = refuse_in_production(&load(&file, &[], &[]).expect("valid")).join("\n");
    for key in ["outbound.bank.token", "outbound.bank.proxy"] {
        assert!(reasons.contains(&format!("{key}: is in plain text")), "{key}: {reasons}");
    }
    assert!(!reasons.contains("outbound.default"), "{reasons}");
    assert!(!reasons.contains("rails.pak-raast.token"), "the table authenticates: {reasons}");
}

/// Each mark stands for one secret among the keys below its comment, and each secret has a mark.
#[test]
fn the_reference_marks_the_secrets_and_nothing_else() {
    let (mut section, mut comment, mut keys) = (String::new(), String::new(), Vec::new());
    let mut marked = std::collections::BTreeSet::new();
    let mut check = |comment: &str, keys: &[String]| {
        let found = SECRET_KEYS.iter().filter(|key| keys.iter().any(|own| own == *key));
        let found: Vec<&str> = found.copied().collect();
        assert_eq!(comment.matches("(secret)").count(), found.len(), "{comment}\n{keys:?}");
        marked.extend(found);
    };
    for line in REFERENCE.lines().skip_while(|line| !line.starts_with('[')) {
        // The keys of a relay are an example in comments.
        let text = match section.starts_with("relay") || line.starts_with("# [relay.") {
            true => line.trim_start_matches("# "),
            false => line,
        };
        let key = text.split_once(" = ").map(|(key, _)| key);
        let key = key.filter(|key| !key.contains(' ') && !key.starts_with('#'));
        if let Some(named) = text.strip_prefix('[').filter(|_| text.ends_with(']')) {
            let name = named.trim_matches(['[', ']']);
            section = match name.split('.').collect::<Vec<_>>()[..] {
                ["rails"] => "rails.*".to_owned(),
                ["rails", sub] => format!("rails.*.{sub}"),
                ["outbound", _] => "outbound.*".to_owned(),
                ["relay", _] => "relay.*".to_owned(),
                _ => name.to_owned(),
            };
        } else if let Some(key) = key {
            keys.push(format!("{section}.{key}"));
            continue;
        }
        if !keys.is_empty() {
            check(&comment, &keys);
            keys.clear();
            comment.clear();
        }
        comment.push_str(line);
        comment.push('\n');
        if line.is_empty() {
            comment.clear();
        }
    }
    let unmarked = SECRET_KEYS.iter().filter(|key| !marked.contains(*key));
    // A further chain has the keys of the first one.
    let unmarked: Vec<_> = unmarked.filter(|key| !key.starts_with("chains.*.")).collect();
    assert!(unmarked.is_empty(), "{unmarked:?}");
    for key in SECRET_KEYS.iter().filter_map(|key| key.strip_prefix("chains.*.")) {
        assert!(marked.contains(&*format!("chain.{key}")), "{key}");
    }
}

#[test]
fn no_secret_is_printed() {
    let mut table = Merged::read(&Sources::default()).expect("merged").table;
    for key in SECRET_KEYS {
        let value = match key.rsplit('.').next() {
            Some("proxy") => format!("http://user:{CANARY}@proxy:3128"),
            Some("url") => format!("postgres://user:{CANARY}@db/x?password={CANARY}"),
            _ => CANARY.to_owned(),
        };
        let parts: Vec<&str> = key.split('.').collect();
        let mut at = &mut table;
        for part in &parts[..parts.len() - 1] {
            at = match (*part, at) {
                ("*", inner) => inner,
                ("rails", inner) => inner
                    .get_mut("rails")
                    .and_then(|rails| rails.as_array_mut()?.first_mut()?.as_table_mut())
                    .expect("a rail"),
                ("outbound", inner) => inner
                    .get_mut("outbound")
                    .and_then(|tables| tables.get_mut("default")?.as_table_mut())
                    .expect("the default table"),
                ("relay", inner) => {
                    let relays = inner.get_mut("relay").and_then(|relays| relays.as_table_mut());
                    let relay = relays.expect("relays").entry("nats");
                    relay.or_insert(toml::Table::new().into()).as_table_mut().expect("a relay")
                }
                ("chains", inner) => {
                    let chains = inner.get_mut("chains").and_then(|chains| chains.as_table_mut());
                    let chain = chains.expect("chains").entry("base");
                    let mut keys = toml::Table::new();
                    keys.insert("keys".to_owned(), toml::Table::new().into());
                    chain.or_insert(keys.into()).as_table_mut().expect("a chain")
                }
                (part, inner) => {
                    inner.get_mut(part).and_then(|next| next.as_table_mut()).expect(part)
                }
            };
        }
        at.insert(parts[parts.len() - 1].to_owned(), value.into());
    }
    let addresses = format!(
        "otlp_endpoint = \"https://user:{CANARY}@c.example/v1/traces?key={CANARY}\"\n\
         lists = [{{ locations = [\"https://l.example/sdn.xml?key={CANARY}\"] }}]\n"
    );
    let addresses: toml::Table = addresses.parse().expect("TOML");
    table.insert("addresses".to_owned(), addresses.into());
    let merged = Merged { table, origins: Default::default(), faults: Vec::new() };
    let printed = print(&merged);
    assert!(!printed.contains(CANARY), "{printed}");
    assert!(!format!("{:?}", masked_table(&merged)).contains(CANARY));
    for shown in [
        "http://***@proxy:3128",
        "https://***@c.example/v1/traces?key=***",
        "https://l.example/sdn.xml?key=***",
    ] {
        assert!(printed.contains(shown), "{shown}: {printed}");
    }
}
