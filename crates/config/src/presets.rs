//! Presets of chains: a public network's facts by its name. A preset fills in keys that no other
//! source sets. Also the defaults of `[chains.<name>]`.

use std::collections::btree_map::Entry;

use toml::{Table, Value};

use super::ConfigError;
use super::layers::{Merged, Origin, REFERENCE};

/// All presets, with the sources of their values.
pub const PRESETS: &str = include_str!("../presets.toml");

/// The presets by name.
fn all() -> Table {
    PRESETS.parse().unwrap_or_default()
}

/// The names of all presets.
pub fn preset_names() -> Vec<String> {
    all().keys().cloned().collect()
}

/// The preset of the network with this id.
fn of_chain(chain_id: u64) -> Option<Table> {
    let is_it = |preset: &Table| {
        preset
            .get("chain_id")
            .and_then(Value::as_integer)
            .is_some_and(|id| id.cast_unsigned() == chain_id)
    };
    all().into_iter().filter_map(|(_, preset)| preset.as_table().cloned()).find(is_it)
}

/// The block time of a known network.
pub fn known_block_time_ms(chain_id: u64) -> Option<u64> {
    let known = of_chain(chain_id)?.get("block_time_ms")?.as_integer()?;
    u64::try_from(known).ok()
}

/// The native currency of a known network.
pub(super) fn known_gas_coin(chain_id: u64) -> Option<String> {
    Some(of_chain(chain_id)?.get("gas_coin")?.as_str()?.to_owned())
}

/// Keys of `[chains.<name>]` that have the values of `[chain]` unless they are set: all chains may use
/// one key store. Each chain has its own of everything else.
const SHARED: &str = "keys";

impl Merged {
    /// Sets the keys of presets that no source sets, for each chain.
    pub(super) fn lay_presets(&mut self) -> Result<(), ConfigError> {
        let named = self.table.get("chains").and_then(Value::as_table);
        let named: Vec<String> = named.into_iter().flat_map(Table::keys).cloned().collect();
        self.lay_preset(&["chain"])?;
        named.iter().try_for_each(|name| self.lay_preset(&["chains", name]))
    }

    fn lay_preset(&mut self, path: &[&str]) -> Result<(), ConfigError> {
        let mut chain = Some(&mut self.table);
        for name in path {
            chain = chain.and_then(|table| table.get_mut(*name)?.as_table_mut());
        }
        let Some(chain) = chain else { return Ok(()) };
        let section = path.join(".");
        // A value of another type is refused with the other keys.
        let Some(name) = chain.get("preset").and_then(Value::as_str).map(str::to_owned) else {
            return Ok(());
        };
        if name.is_empty() {
            return Ok(());
        }
        let Some(Value::Table(preset)) = all().remove(&name) else {
            let known = preset_names().join(", ");
            let rule = format!("must be one of {known}, or \"\"");
            return Err(ConfigError::one(self.locate(&format!("{section}.preset"), &rule)));
        };
        for (key, value) in preset {
            if let Entry::Vacant(origin) = self.origins.entry(format!("{section}.{key}")) {
                chain.insert(key, value);
                origin.insert(Origin::Preset(name.clone()));
            }
        }
        Ok(())
    }
}

/// Completes `[chains.<name>]` with the name, the defaults of `[chain]`, and its keys.
pub(super) fn complete(config: &mut Table) {
    let defaults: Table = REFERENCE.parse().unwrap_or_default();
    let Some(Value::Table(defaults)) = defaults.get("chain") else { return };
    let shared = config.get("chain").and_then(|chain| chain.get(SHARED)).cloned();
    let Some(Value::Table(chains)) = config.get_mut("chains") else { return };
    for (name, chain) in chains.iter_mut() {
        let Some(chain) = chain.as_table_mut() else { continue };
        chain.insert("name".to_owned(), Value::String(name.clone()));
        for (key, value) in defaults {
            let usual = shared.as_ref().filter(|_| key == SHARED).unwrap_or(value);
            match (chain.get_mut(key).and_then(Value::as_table_mut), usual) {
                (Some(own), Value::Table(usual)) => {
                    for (key, value) in usual {
                        own.entry(key.clone()).or_insert_with(|| value.clone());
                    }
                }
                (Some(_), _) => {}
                (None, _) => _ = chain.entry(key.clone()).or_insert_with(|| usual.clone()),
            }
        }
    }
}
