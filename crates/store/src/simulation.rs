//! For the simulator only (feature `simulation`): its auditor looks into the database behind the store's back.
//! Nothing of the service is built with this.

use rusqlite::Connection;
use uuid::Uuid;

use crate::driver::Driver;
use crate::store::Store;

impl Store {
    /// Works on the one connection of a database in memory; `None` for any other database.
    pub fn in_place<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        match self.driver() {
            Driver::Sqlite(sqlite) => sqlite.in_place(work),
            Driver::Postgres(_) => None,
        }
    }

    /// Forgets the ids that were given out, so that the next ones depend on the clock and the entropy alone.
    pub fn forget_ids(&self) {
        self.last_id().forget();
    }

    /// The key under which the thing with this public id is stored; the same id before the schema is there.
    pub fn stored_id(&self, public: Uuid) -> Uuid {
        self.known_keys().map_or(public, |keys| keys.stored(public))
    }

    /// The public id of what is stored under this key; the same id before the schema is there.
    pub fn public_id(&self, stored: Uuid) -> Uuid {
        self.known_keys().map_or(stored, |keys| keys.public(stored))
    }
}
