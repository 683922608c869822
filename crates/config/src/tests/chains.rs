//! `[chains.<name>]`: further chains.

use domain::chain::{ChainNumber, Depth};
use domain::currency::StableCoin;

use super::{load, refused, sources};
use crate::{KeySource, Merged, print, refuse_in_production};

const NODES: &str = "node_url = \"https://one.example\"\nsecond_node_url = \"https://two.example\"";

#[test]
fn a_further_chain_has_the_defaults_of_chain_but_not_its_values() {
    let file = format!(
        "[chain]\npreset = \"ethereum\"\n{NODES}\nbatch_max = 3\nsmall_below = \"7\"\n\
         [chain.keys]\nsource = \"keystore\"\nkeystore_password = \"p\"\n\
         [chains.base]\npreset = \"base\"\nnode_url = \"https://base.example/key\"\nsmall_depth = \"70\"\n\
         [chains.own]\nchain_id = 31338\n[chains.own.keys]\nseed_operators = 2\nsource = \"seed\""
    );
    let config = load(&file, &[], &[]).expect("valid");
    let chains = config.by_chain();
    let sections: Vec<&str> = chains.iter().map(|it| it.section.as_str()).collect();
    assert_eq!(sections, ["chain", "chains.base", "chains.own"]);
    let [first, base, own] = [0, 1, 2].map(|at| &chains[at].config);
    assert_eq!((first.chain.batch_max, base.chain.batch_max, own.chain.batch_max), (3, 16, 16));
    let of_base = base.chain_config(ChainNumber(2), &[], String::new());
    assert_eq!((of_base.name.as_str(), of_base.chain_id, of_base.number.0), ("base", 8_453, 2));
    assert_eq!((of_base.small_depth, of_base.small_below), (Depth::Blocks(70), 1_000_000_000));
    assert!(of_base.token(StableCoin::Usdc).is_some());
    assert_eq!(base.nodes()[0].key, "chain.node_url");
    assert_eq!((base.node_urls().len(), own.node_urls().len()), (1, 0));
    assert!(own.chain_is_embedded() && !base.chain_is_embedded());
    // One key store for all, unless a chain names another.
    assert_eq!(base.chain.keys.source, KeySource::Keystore);
    assert_eq!((own.chain.keys.source, own.chain.keys.seed_operators), (KeySource::Seed, 2));
    assert_eq!(own.chain.keys.keystore_password.expose(), "p");
    assert!(base.chain.tenants.is_empty(), "tenants are named for each chain");
}

#[test]
fn the_environment_sets_further_chains_and_their_secrets_are_masked() {
    let file = "[chains.base-sepolia]\npreset = \"base-sepolia\"";
    let env = [
        ("CORRIDOR_CHAINS__BASE_SEPOLIA__NODE_URL", "https://node.example/v2/hunter2"),
        ("CORRIDOR_CHAINS__BASE_SEPOLIA__REPLACE_AFTER_S", "30"),
        ("CORRIDOR_CHAINS__BASE_SEPOLIA__MAX_TIP_GWEI", "0.2"),
    ];
    let (_file, all) = sources(file, &env, &[]);
    let merged = Merged::read(&all).expect("read");
    let config = crate::Config::from_merged(&merged).expect("valid");
    let chain = &config.chains["base-sepolia"];
    assert_eq!(chain.node_url.expose(), "https://node.example/v2/hunter2");
    assert_eq!((chain.replace_after_s, chain.chain_id), (30, 84_532));
    let shown = format!("{}{config:?}", print(&merged));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("chains.base-sepolia.usdc (from preset base-sepolia)"), "{shown}");
    let in_file = "[chains.base]\npreset = \"base\"\nnode_url = \"https://node.example\"";
    let config = load(in_file, &[], &[]).expect("valid");
    assert_eq!(config.plain_text_secrets, ["chains.base.node_url"]);
}

#[test]
fn faults_name_the_section_of_their_chain() {
    for (file, parts) in [
        ("[chains.base]\npreset = \"base\"", vec!["chains.base.preset", "its node_url"]),
        ("[chains.base]\npreset = \"bass\"", vec!["chains.base.preset (in ", "base-sepolia"]),
        ("[chains.base]\nchain_id = 2\nbatch_max = 17", vec!["chains.base.batch_max", "1 to 16"]),
        ("[chains.base]\nchain_id = 2\nbatch = 1", vec!["chains.base.batch", "unknown key"]),
        ("[chains.Base]\nchain_id = 2", vec!["chains.Base", "lower-case"]),
        ("[chains.ethereum]\nchain_id = 2", vec!["chains.ethereum", "not chain.name"]),
        ("[chains.base]\nchain_id = 31337", vec!["chains.base.chain_id", "another chain"]),
        (
            "[chains.a]\nchain_id = 2\n[chains.b]\nchain_id = 2",
            vec!["chains.b.chain_id", "another chain"],
        ),
        (
            "[chains.base]\nchain_id = 2\nnode_outbounds = [\"none\"]",
            vec!["chains.base.node_outbounds", "none"],
        ),
    ] {
        let message = refused(file, &[]);
        for part in parts {
            assert!(message.contains(part), "{message:?} should name {part:?}");
        }
    }
}

#[test]
fn production_demands_the_same_of_every_chain() {
    let env = [
        ("CORRIDOR_ENVIRONMENT", "production"),
        ("CORRIDOR_CHAINS__BASE__NODE_URL", "https://node.example"),
    ];
    let config = load("[chains.base]\npreset = \"base\"", &env, &[]).expect("valid");
    let reasons = refuse_in_production(&config).join("\n");
    for part in [
        "chain.node_url: the built-in chain",
        "chains.base.second_node_url: is missing",
        "chains.base.keys.source: \"seed\"",
        "chains.base.tenants: is empty",
    ] {
        assert!(reasons.contains(part), "{part}: {reasons}");
    }
    assert!(!reasons.contains("chains.base.node_url"), "{reasons}");
}

#[test]
fn production_refuses_two_nodes_on_one_host() {
    let refused = |urls: [&str; 3]| {
        let env = [
            ("CORRIDOR_ENVIRONMENT", "production"),
            ("CORRIDOR_CHAIN__NODE_URL", urls[0]),
            ("CORRIDOR_CHAIN__SECOND_NODE_URL", urls[1]),
            ("CORRIDOR_CHAIN__FURTHER_NODE_URLS", urls[2]),
        ];
        let reasons = refuse_in_production(&load("", &env, &[]).expect("valid")).join("\n");
        reasons.contains("several nodes have the same host")
    };
    let one = "https://one.example/v2/key";
    for (second, further) in [
        ("https://one.example/v2/other-key", ""),
        ("https://ONE.example.:8545", ""),
        ("https://two.example", "https://user:key@one.example:443/"),
        ("https://two.example", "https://three.example https://two.example/b"),
    ] {
        assert!(refused([one, second, further]), "{second} {further}");
    }
    for (second, further) in
        [("https://two.example", ""), ("https://eth.one.example", "https://three.example")]
    {
        assert!(!refused([one, second, further]), "{second} {further}");
    }
}

/// A token's contract.
const USDC: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

#[test]
fn accounts_that_are_never_the_same_are_distinct() {
    let address = |byte: &str| format!("0x{}", byte.repeat(20));
    let (usdc, usdt) = (USDC.to_owned(), address("0b"));
    let (admin, treasury) = (address("0c"), address("0d"));
    let (controller, implementation) = (address("0e"), address("0f"));
    let load_with = |section: &str, named: [&str; 6]| {
        let [usdc, usdt, admin, treasury, controller, implementation] = named;
        let first = match section {
            "chain" => "",
            _ => "[chain]\nnode_url = \"https://first.example\"\n",
        };
        let file = format!(
            "[wallets]\nenabled = true\n{first}[{section}]\nname = \"one\"\nchain_id = 5\n\
             node_url = \"https://node.example\"\nusdc = \"{usdc}\"\nusdt = \"{usdt}\"\n\
             [[{section}.tenants]]\ntag = \"demobank\"\noperator = \"o\"\ncompliance = \"c\"\napprover = \"a\"\n\
             admin = \"{admin}\"\ntreasury = \"{treasury}\"\ncontroller = \"{controller}\"\n\
             implementation = \"{implementation}\"\nversion = 1\n"
        );
        load(&file, &[], &[]).err().map(|error| error.to_string())
    };
    let good = [&usdc, &usdt, &admin, &treasury, &controller, &implementation].map(String::as_str);
    assert_eq!(load_with("chain", good), None);
    let lower = usdc.to_lowercase();
    let of = "chain.tenants.demobank";
    for (at, value, key, rule) in [
        (1, &*lower, "chain.usdt".to_owned(), "is the contract of chain.usdc"),
        (2, &*lower, format!("{of}.admin"), "is the contract of chain.usdc"),
        (3, &*usdt, format!("{of}.treasury"), "is the contract of chain.usdt"),
        (4, &*usdc, format!("{of}.controller"), "is the contract of chain.usdc"),
        (5, &*usdt, format!("{of}.implementation"), "is the contract of chain.usdt"),
        (5, &*controller, format!("{of}.implementation"), "is the tenant's controller"),
        (2, &*controller, format!("{of}.admin"), "is the tenant's controller"),
        (3, &*controller, format!("{of}.treasury"), "is the tenant's controller"),
        (3, &*implementation, format!("{of}.treasury"), "is the tenant's implementation"),
    ] {
        let mut named = good;
        named[at] = value;
        let refused = load_with("chain", named).expect("refused");
        assert!(refused.contains(&key) && refused.contains(rule), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
    let mut same = good;
    same[3] = good[2];
    assert_eq!(load_with("chain", same), None, "a treasury may be its own admin");
    let mut twice = good;
    twice[1] = &lower;
    let refused = load_with("chains.one", twice).expect("refused");
    assert!(refused.contains("chains.one.usdt"), "{refused}");
}

#[test]
fn addresses_that_cannot_be_changed_later_are_as_they_were_meant() {
    const CHECKED: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    let (plain, mistyped) = (CHECKED.to_lowercase(), CHECKED.replace("BeAed", "BeAeD"));
    let zero = format!("0x{}", "0".repeat(40));
    let of = |admin: &str, treasury: &str, usdc: &str| {
        let file = format!(
            "[wallets]\nenabled = true\n[chain]\nnode_url = \"https://node.example\"\nusdc = \"{usdc}\"\n\
             [[chain.tenants]]\ntag = \"demobank\"\noperator = \"o\"\ncompliance = \"c\"\napprover = \"a\"\n\
             admin = \"{admin}\"\ntreasury = \"{treasury}\"\n"
        );
        load(&file, &[], &[]).err().map(|error| error.to_string())
    };
    assert_eq!(of(CHECKED, &plain, USDC), None);
    for (admin, treasury, usdc, key) in [
        (&*mistyped, &*plain, USDC, "chain.tenants.demobank.admin"),
        (CHECKED, &*mistyped, USDC, "chain.tenants.demobank.treasury"),
        (CHECKED, &zero, USDC, "chain.tenants.demobank.treasury"),
        (&*zero, CHECKED, USDC, "chain.tenants.demobank.admin"),
        (CHECKED, CHECKED, &*zero, "chain.usdc"),
        (CHECKED, CHECKED, &*mistyped, "chain.usdc"),
    ] {
        let refused = of(admin, treasury, usdc).expect("refused");
        assert!(refused.contains(key) && refused.contains("EIP-55"), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
}
