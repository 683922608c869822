//! Presets of `[chain]`: a public network's facts by its name. A preset fills in keys that no other
//! source sets.

use std::collections::btree_map::Entry;

use toml::{Table, Value};

use super::ConfigError;
use super::layers::{Merged, Origin};

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

impl Merged {
    /// Sets the keys of `chain.preset` that no source sets.
    pub(super) fn lay_preset(&mut self) -> Result<(), ConfigError> {
        const KEY: &str = "chain.preset";
        let Some(chain) = self.table.get_mut("chain").and_then(Value::as_table_mut) else {
            return Ok(());
        };
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
            return Err(ConfigError::one(self.locate(KEY, &rule)));
        };
        for (key, value) in preset {
            let path = format!("chain.{key}");
            if let Entry::Vacant(origin) = self.origins.entry(path) {
                chain.insert(key, value);
                origin.insert(Origin::Preset(name.clone()));
            }
        }
        Ok(())
    }
}
