//! Runtime switches set by operators: corridors that accept no new quotes and payments, rails that
//! nothing is sent over. Stored for all nodes; each node polls them every few seconds.
//!
//! A rail switched off here has rejected nothing: payments that only it can pay wait, as they do
//! for a rail that does not answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use domain::audit::AuditContext;
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
    /// The name in the store and in the audit log.
    pub fn name(&self) -> String {
        match self {
            Switch::Corridor(country) => format!("{CORRIDOR}{}", country.alpha3()),
            Switch::Rail(rail) => format!("{RAIL}{rail}"),
        }
    }

    /// Parses what [`Switch::name`] returns.
    pub fn parse(name: &str) -> Option<Switch> {
        match name.strip_prefix(CORRIDOR) {
            Some(country) => Country::parse(country).map(Switch::Corridor),
            None => Some(Switch::Rail(RailId::new(
                name.strip_prefix(RAIL).filter(|rail| !rail.is_empty())?,
            ))),
        }
    }
}

/// The active switches, as last read by this node. Cheap to read.
#[derive(Debug, Default)]
pub struct Switches {
    off: Mutex<Arc<BTreeMap<Switch, String>>>,
}

impl Switches {
    /// Everything switched off, each with actor and reason.
    pub fn off(&self) -> Arc<BTreeMap<Switch, String>> {
        Arc::clone(&self.off.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a country accepts no new quotes and payments.
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

    /// Reads the switches from the store.
    ///
    /// # Errors
    /// The store cannot be reached; the last known state stays in effect.
    pub async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let off = store.switched_off().await?;
        // Unknown names belong to other versions of this program.
        let known = off.into_iter().filter_map(|(name, why)| Some((Switch::parse(&name)?, why)));
        *self.off.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(known.collect());
        Ok(())
    }

    /// Switches something on or off for every node; actor and reason are recorded in the same
    /// commit.
    pub async fn set(
        &self,
        store: &Store,
        switch: &Switch,
        on: bool,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
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
