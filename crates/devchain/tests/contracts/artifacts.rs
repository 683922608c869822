//! The committed artifacts, and the names of the hashes in contracts' answers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use revm::primitives::{B256, hex, keccak256};
use serde_json::Value;

use crate::abi;

const CONTROLLER: &str = include_str!("../../../../contracts/artifacts/CorridorController.json");
const VAULT: &str = include_str!("../../../../contracts/artifacts/Vault.json");
const USDC: &str = include_str!("../../../../contracts/artifacts/SandboxUsdc.json");
const USDT: &str = include_str!("../../../../contracts/artifacts/SandboxUsdt.json");

static ALL: LazyLock<[Value; 4]> = LazyLock::new(|| {
    [CONTROLLER, VAULT, USDC, USDT].map(|text| serde_json::from_str(text).unwrap())
});
static ERRORS: LazyLock<BTreeMap<[u8; 4], String>> = LazyLock::new(|| {
    entries("error").map(|(name, signature)| (abi::selector(&signature), name)).collect()
});
static EVENTS: LazyLock<BTreeMap<B256, String>> = LazyLock::new(|| {
    entries("event").map(|(name, signature)| (keccak256(signature), name)).collect()
});

/// Creation code of the controller; its constructor arguments follow.
pub fn controller() -> Vec<u8> {
    code(0)
}

pub fn usdc() -> Vec<u8> {
    code(2)
}

pub fn usdt() -> Vec<u8> {
    code(3)
}

fn code(at: usize) -> Vec<u8> {
    hex::decode(ALL[at]["bytecode"].as_str().unwrap()).unwrap()
}

/// Name and signature of each error or event.
fn entries(kind: &str) -> impl Iterator<Item = (String, String)> {
    let all = ALL.iter().flat_map(|artifact| artifact["abi"].as_array().unwrap());
    all.filter(move |entry| entry["type"] == kind).map(|entry| {
        let name = entry["name"].as_str().unwrap();
        let types: Vec<&str> = entry["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|input| input["type"].as_str().unwrap())
            .collect();
        (name.to_owned(), format!("{name}({})", types.join(",")))
    })
}

/// Names of the controller's functions that change state.
pub fn controller_functions() -> Vec<&'static str> {
    let abi = ALL[0]["abi"].as_array().unwrap();
    let functions = abi.iter().filter(|entry| {
        entry["type"] == "function"
            && !matches!(entry["stateMutability"].as_str(), Some("view" | "pure"))
    });
    functions.map(|entry| entry["name"].as_str().unwrap()).collect()
}

/// Name of a refusal: the error's name, the text of `require`, `Panic`, or empty.
pub fn refusal(output: &[u8]) -> String {
    let Some((selector, data)) = output.split_first_chunk::<4>() else { return String::new() };
    if *selector == abi::selector("Error(string)") {
        return String::from_utf8(abi::text(data, 0).to_vec()).unwrap();
    }
    if *selector == abi::selector("Panic(uint256)") {
        return "Panic".to_owned();
    }
    ERRORS
        .get(selector)
        .cloned()
        .unwrap_or_else(|| format!("unknown error {}", hex::encode(selector)))
}

/// The name of an event by its first topic.
pub fn event(topic: &B256) -> &'static str {
    EVENTS.get(topic).map_or("?", String::as_str)
}
