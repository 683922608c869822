//! Why a call reverted, as text: strings, panics, and the errors that Corridor's contracts define.

use std::collections::HashMap;

use domain::chain::Word;
use domain::coin_amount;

use super::abi::{self, Selector};
use super::artifact::{self, Artifact, ArtifactError, Entry};
use super::rpc::clean;

const ERROR: Selector = [0x08, 0xc3, 0x79, 0xa0];
const PANIC: Selector = [0x4e, 0x48, 0x7b, 0x71];

/// The errors known by name.
pub(super) struct Reverts(HashMap<Selector, Entry>);

impl Reverts {
    /// The errors of the controller and its vaults.
    pub(super) fn new() -> Result<Reverts, ArtifactError> {
        let mut known = Artifact::parse(artifact::VAULT)?.errors();
        known.extend(Artifact::parse(artifact::CONTROLLER)?.errors());
        Ok(Reverts(known))
    }

    /// The meaning of `data`.
    pub(super) fn describe(&self, data: &[u8]) -> String {
        self.known(data).unwrap_or_else(|| match data.first_chunk::<4>() {
            Some(selector) => format!("unknown error {}", super::hex::data(selector)),
            None => "reverted without a reason".to_owned(),
        })
    }

    /// The meaning of `data` if it is a string, a panic, or an error known by name.
    pub(super) fn known(&self, data: &[u8]) -> Option<String> {
        let (selector, arguments) = data.split_first_chunk::<4>()?;
        match *selector {
            ERROR => abi::only_bytes(arguments).map(|text| clean(&String::from_utf8_lossy(text))),
            PANIC => {
                abi::word_at(arguments, 0).map(|code| format!("panic {:#04x}", abi::capped(code)))
            }
            _ => self.0.get(selector).map(|entry| named(entry, arguments)),
        }
    }
}

fn named(entry: &Entry, arguments: &[u8]) -> String {
    let values = entry.inputs.iter().enumerate().map(|(at, input)| {
        let word = abi::word_at(arguments, at)?;
        Some(match input.kind.as_str() {
            "address" => abi::address(word)?.to_string(),
            kind if kind.starts_with("uint") => abi::capped(word).to_string(),
            _ => Word(*word).to_string(),
        })
    });
    let values: Vec<String> = values.collect::<Option<_>>().unwrap_or_default();
    sentence(&entry.name, &values)
        .unwrap_or_else(|| format!("{}({})", entry.name, values.join(", ")))
}

/// The errors that operators may see in an alert, in words.
fn sentence(name: &str, values: &[String]) -> Option<String> {
    let amount = |units: &String| units.parse().map_or_else(|_| units.clone(), coin_amount::show);
    Some(match (name, values) {
        ("AccountFrozen", [account]) => format!("{account} is frozen"),
        ("HoldsLess", [account, held, asked]) => {
            format!("{account} holds {}, {} were asked for", amount(held), amount(asked))
        }
        ("NotEnoughGas", []) => "the transaction had too little gas".to_owned(),
        ("OnLegalHold", [account]) => format!("{account} is on legal hold"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use domain::chain::Address;

    use super::super::abi::Input;
    use super::*;

    #[test]
    fn reasons_are_rendered_as_text() {
        let reverts = Reverts::new().expect("artifacts");
        let account = Address([0x11; 20]);
        let mut text = Input::call("Error(string)").number(32).number(16).finish();
        text.extend(b"Pausable: paused");
        text.extend([0; 16]);
        for (data, expected) in [
            (vec![], "reverted without a reason"),
            (vec![1, 2, 3], "reverted without a reason"),
            (text, "Pausable: paused"),
            (Input::call("Error(string)").number(7).finish(), "unknown error 0x08c379a0"),
            (Input::call("Panic(uint256)").number(0x11).finish(), "panic 0x11"),
            (
                Input::call("AccountFrozen(address)").address(&account).finish(),
                "0x1111111111111111111111111111111111111111 is frozen",
            ),
            (
                Input::call("HoldsLess(address,uint256,uint256)")
                    .address(&account)
                    .number(11_040_000)
                    .number(1_000_000_000)
                    .finish(),
                "0x1111111111111111111111111111111111111111 holds 11.04, 1000.00 were asked for",
            ),
            (Input::call("EnforcedPause()").finish(), "EnforcedPause()"),
            (Input::call("NotController()").finish(), "NotController()"),
            (Input::call("AccountFrozen(address)").finish(), "AccountFrozen()"),
            (vec![0xde, 0xad, 0xbe, 0xef], "unknown error 0xdeadbeef"),
        ] {
            assert_eq!(reverts.describe(&data), expected);
            let is_known = !expected.contains("unknown") && !expected.contains("without");
            assert_eq!(reverts.known(&data).is_some(), is_known, "{expected}");
        }
    }
}
