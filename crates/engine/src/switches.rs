//! What operators have switched off while the service runs: corridors that take no new quotes and payments, rails that
//! nothing is sent over. The store keeps it for every node; each node looks again every few seconds.
//!
//! A rail that is switched off here has refused nothing: payments that only it can take wait for it as they wait for a
//! rail that does not answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use domain::audit::Deed;
use domain::country::Country;
use domain::rail::RailId;
use store::{Store, StoreError};

const CORRIDOR: &str = "corridor:";
const RAIL: &str = "rail:";

/// Something that can be switched off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    /// New quotes and payments to a country.
    Corridor(Country),
    /// Sending over a rail.
    Rail(RailId),
}

impl Switch {
    /// The name in the store and in the administration log.
    pub fn name(&self) -> String {
        match self {
            Switch::Corridor(country) => format!("{CORRIDOR}{}", country.alpha3()),
            Switch::Rail(rail) => format!("{RAIL}{rail}"),
        }
    }

    /// Reads [`Switch::name`].
    pub fn parse(name: &str) -> Option<Switch> {
        match name.strip_prefix(CORRIDOR) {
            Some(country) => Country::parse(country).map(Switch::Corridor),
            None => Some(Switch::Rail(RailId::new(name.strip_prefix(RAIL).filter(|rail| !rail.is_empty())?))),
        }
    }
}

/// What is switched off, as this node last heard of it. Cheap to read.
#[derive(Debug, Default)]
pub struct Switches {
    off: Mutex<Arc<BTreeMap<Switch, String>>>,
}

impl Switches {
    /// Everything that is off, each with who switched it off and why.
    pub fn off(&self) -> Arc<BTreeMap<Switch, String>> {
        Arc::clone(&self.off.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether nothing new is taken for a country.
    pub fn is_closed(&self, country: Country) -> bool {
        self.off().contains_key(&Switch::Corridor(country))
    }

    /// The rails that nothing is sent over.
    pub fn rails_off(&self) -> BTreeSet<RailId> {
        let rail = |switch: &Switch| match switch {
            Switch::Rail(rail) => Some(rail.clone()),
            Switch::Corridor(_) => None,
        };
        self.off().keys().filter_map(rail).collect()
    }

    /// Looks into the store again.
    ///
    /// # Errors
    /// The store cannot be reached; what was known stays.
    pub async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let off = store.switched_off().await?;
        // A name that this program does not know is another version's.
        let known = off.into_iter().filter_map(|(name, why)| Some((Switch::parse(&name)?, why)));
        *self.off.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(known.collect());
        Ok(())
    }

    /// Switches something on or off, for every node; who does it and why is noted in the same commit.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn set(&self, store: &Store, switch: &Switch, on: bool, by: impl Into<Deed>) -> Result<(), StoreError> {
        store.set_switch(&switch.name(), on, by).await?;
        self.refresh(store).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_read_back_by_name() {
        for switch in [Switch::Corridor(Country::Pak), Switch::Rail(RailId::new("pak-raast"))] {
            assert_eq!(Switch::parse(&switch.name()), Some(switch));
        }
        for wrong in ["", "corridor:", "corridor:XXX", "rail:", "x:y"] {
            assert_eq!(Switch::parse(wrong), None, "{wrong}");
        }
    }
}
