//! Operators' switches, shared by all nodes. Stored among the installation's named values; a switch
//! that is on leaves only its audit log entry.

use domain::audit::{AuditContext, INSTALLATION, Note};

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

/// Prefix of a switch's name.
const PREFIX: &str = "off:";

static OFF: Stmt = Stmt::written(
    "switch.off",
    "SELECT m.name, m.value FROM meta m WHERE m.name >= 'off:' AND m.name < 'off;' ORDER BY m.name",
);
static TURN_OFF: Stmt = Stmt::written(
    "switch.turn_off",
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
static TURN_ON: Stmt = Stmt::written("switch.turn_on", "DELETE FROM meta WHERE name = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&OFF, &TURN_OFF, &TURN_ON];

impl Store {
    /// Everything switched off, by name, each with its reason.
    pub async fn switched_off(&self) -> Result<Vec<(String, String)>, StoreError> {
        let off: Vec<(String, String)> = self.many(&OFF, ()).await?;
        let named = |(name, why): (String, _)| (name.trim_start_matches(PREFIX).to_owned(), why);
        Ok(off.into_iter().map(named).collect())
    }

    /// Switches something on or off, and records actor and reason.
    pub async fn set_switch(
        &self,
        name: &str,
        on: bool,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let (key, by) = (format!("{PREFIX}{name}"), by.into());
        let (action, step) = match on {
            true => ("switch.on", Step::any(&TURN_ON, vec![key.into()])),
            false => (
                "switch.off",
                Step::any(
                    &TURN_OFF,
                    vec![key.into(), format!("{}: {}", by.person(), by.why).into()],
                ),
            ),
        };
        self.noted(INSTALLATION, by, Note::new(action, "switch", name), vec![step]).await
    }
}
