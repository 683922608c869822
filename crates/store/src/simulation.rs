//! For the simulator only (feature `simulation`): its auditor reads the database directly. Not part
//! of any build of the service.

use rusqlite::Connection;
use uuid::Uuid;

use crate::driver::Driver;
use crate::store::Store;

impl Store {
    /// Runs `work` on the connection of an in-memory database; `None` for any other database.
    pub fn in_place<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        match self.driver() {
            Driver::Sqlite(sqlite) => sqlite.in_place(work),
            Driver::Postgres(_) => None,
        }
    }

    /// Resets the id sequence, so that the next ids depend on clock and entropy alone.
    pub fn forget_ids(&self) {
        self.last_id().forget();
    }

    /// The stored key of a public id; the same id before the schema exists.
    pub fn stored_id(&self, public: Uuid) -> Uuid {
        self.known_keys().map_or(public, |keys| keys.stored(public))
    }

    /// The public id of a stored key; the same id before the schema exists.
    pub fn public_id(&self, stored: Uuid) -> Uuid {
        self.known_keys().map_or(stored, |keys| keys.public(stored))
    }
}
