//! Presets of `[chain]`.

use domain::chain::{Address, ChainNumber, Depth, Fees};
use domain::currency::StableCoin;
use toml::{Table, Value};

use super::{load, refused, sources};
use crate::{Config, Merged, PRESETS, print};

const NODE: (&str, &str) = ("chain.node_url", "https://node.example");

fn presets() -> Table {
    PRESETS.parse().expect("presets are TOML")
}

fn of(name: &str, more: &[(&str, &str)]) -> Config {
    let more: Vec<(&str, &str)> =
        [("chain.preset", name), NODE].into_iter().chain(more.iter().copied()).collect();
    load("", &[], &more).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_preset_is_a_valid_chain_with_usdc() {
    let mut ids = Vec::new();
    for (name, preset) in &presets() {
        let chain = of(name, &[]).chain_config(ChainNumber::FIRST, &[], String::new());
        assert_eq!(chain.name, *name);
        assert!(chain.token(StableCoin::Usdc).is_some(), "{name}");
        assert!(chain.max_tip_cap < chain.max_fee_cap, "{name}");
        // A first transaction offers at most half of the cap.
        assert!(chain.min_tip <= chain.max_tip_cap / 2, "{name}");
        for depth in [chain.small_depth, chain.settled_depth] {
            // Deeper reorganizations are not tracked.
            assert!(matches!(depth, Depth::Blocks(2..=128)), "{name}: {depth:?}");
        }
        let explorer = preset["explorer_tx_url"].as_str().expect("a text");
        assert!(explorer.starts_with("https://") && explorer.ends_with("/tx/"), "{name}");
        ids.push(chain.chain_id);
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "a network is named twice");
}

/// A wrong digit breaks the checksum of EIP-55.
#[test]
fn the_addresses_of_presets_have_their_checksum() {
    let mut checked = 0;
    for (name, preset) in &presets() {
        for key in ["usdc", "usdt"] {
            let text = preset[key].as_str().expect("a text");
            if !text.is_empty() {
                let address = Address::parse(text).map(|address| address.to_string());
                assert_eq!(address.as_deref(), Some(text), "{name}.{key}");
                checked += 1;
            }
        }
    }
    assert!(checked > presets().len(), "USDC everywhere, and USDT on Ethereum");
}

#[test]
fn every_value_of_a_preset_can_be_overridden() {
    let base = of("base", &[]);
    assert_eq!((base.chain.chain_id, base.chain.block_time_ms), (8_453, 2_000));
    let chain = base.chain_config(ChainNumber::FIRST, &[], String::new());
    assert_eq!(
        chain.most_fees(),
        Fees { max_fee: 5_000_000_000, max_priority_fee: 100_000_000 },
        "in wei per gas"
    );
    let file = "[chain]\nmax_fee_gwei = 7\nusdc = \"\"\nusdt = \"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\"";
    let env = [("CORRIDOR_CHAIN__MAX_TIP_GWEI", "0.25"), ("CORRIDOR_CHAIN__SMALL_DEPTH", "90")];
    let flags =
        [("chain.preset", "base"), NODE, ("chain.name", "l2"), ("chain.block_time_ms", "9")];
    let message = load(file, &env, &flags).expect_err("below the bound").to_string();
    assert!(message.contains("chain.block_time_ms (from a flag)"), "{message}");
    let chain = load(file, &env, &flags[..3]).expect("valid").chain_config(
        ChainNumber::FIRST,
        &[],
        String::new(),
    );
    assert_eq!((chain.name.as_str(), chain.chain_id), ("l2", 8_453));
    assert_eq!((chain.token(StableCoin::Usdc), chain.tokens.len()), (None, 1));
    assert_eq!(chain.small_depth, Depth::Blocks(90));
    assert_eq!(chain.most_fees(), Fees { max_fee: 7_000_000_000, max_priority_fee: 250_000_000 });
}

#[test]
fn a_preset_is_known_shown_and_needs_a_node() {
    let message = refused("[chain]\npreset = \"bass\"\nnode_url = \"https://node.example\"", &[]);
    assert!(message.contains("chain.preset (in ") && message.contains("base-sepolia"), "{message}");
    let message = refused("[chain]\npreset = \"base\"", &[]);
    assert!(message.contains("its node_url") && !message.contains("chain.usdc"), "{message}");
    let message = refused("[chain]\npreset = 1", &[]);
    assert!(message.contains("chain.preset"), "{message}");
    let (_file, all) = sources("", &[], &[("chain.preset", "polygon"), NODE]);
    let shown = print(&Merged::read(&all).expect("read"));
    assert!(shown.contains("chain.usdc (from preset polygon)"), "{shown}");
    assert!(shown.contains("gas_coin = \"POL\""), "{shown}");
}

#[test]
fn fee_caps_are_bounded_and_exact_to_a_wei() {
    for good in ["0.000000001", "100000"] {
        assert!(load("", &[], &[("chain.max_fee_gwei", good)]).is_ok(), "{good}");
    }
    for wrong in ["0", "-1", "0.0000000001", "100001"] {
        let message =
            load("", &[], &[("chain.max_tip_gwei", wrong)]).expect_err("wrong").to_string();
        assert!(
            message.contains("chain.max_tip_gwei") && message.contains("at most 100000"),
            "{message}"
        );
    }
    let message = refused("[chain]\nmax_tip_gwei = 0.5", &[]);
    assert!(message.contains("in quotes"), "{message}");
}

#[test]
fn the_lowest_tip_is_that_of_the_network_and_never_above_the_cap() {
    let least =
        |config: Config| config.chain_config(ChainNumber::FIRST, &[], String::new()).min_tip;
    assert_eq!(least(load("", &[], &[]).expect("valid")), 100_000_000);
    assert_eq!(least(of("base", &[])), 1_000_000);
    assert_eq!(least(of("polygon", &[])), 25_000_000_000);
    assert_eq!(least(of("base", &[("chain.min_tip_gwei", "0.02")])), 20_000_000);
    assert_eq!(least(of("ethereum", &[("chain.max_tip_gwei", "0.05")])), 50_000_000);
    let message = load("", &[], &[("chain.min_tip_gwei", "0")]).expect_err("wrong").to_string();
    assert!(message.contains("chain.min_tip_gwei"), "{message}");
}

#[test]
fn the_gas_coin_is_that_of_the_network() {
    let coin = |flags: &[(&str, &str)]| {
        load("", &[], flags)
            .expect("valid")
            .chain_config(ChainNumber::FIRST, &[], String::new())
            .gas_coin
    };
    assert_eq!(coin(&[]), "ETH");
    assert_eq!(coin(&[("chain.chain_id", "137")]), "POL", "without the preset");
    assert_eq!(coin(&[("chain.gas_coin", "XDAI"), ("chain.chain_id", "100")]), "XDAI");
    let names: Vec<String> = presets().keys().cloned().collect();
    assert_eq!(crate::preset_names(), names);
    assert_eq!(
        (crate::known_block_time_ms(42_161), crate::known_block_time_ms(100)),
        (Some(250), None)
    );
    assert!(presets().values().all(|preset| preset.get("gas_coin").is_some_and(Value::is_str)));
}
