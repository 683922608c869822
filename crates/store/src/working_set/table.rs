//! Rows in memory, by key or only added. A row that a refused command wrote never becomes part of the batch.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// A batch has a few hundred rows at most: whoever chooses keys that collide gains nothing.
type Rows<K, V> = HashMap<K, V, FxBuildHasher>;

/// Rows of one table: as loaded, as the batch leaves them, as the command at hand would.
#[derive(Debug)]
pub struct Table<K, V> {
    loaded: Rows<K, V>,
    changed: Rows<K, V>,
    draft: Rows<K, V>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Table<K, V> {
        Table { loaded: Rows::default(), changed: Rows::default(), draft: Rows::default() }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Table<K, V> {
    /// Puts a row as the database has it.
    pub fn load(&mut self, key: K, row: V) {
        self.loaded.insert(key, row);
    }

    /// The row as the database has it.
    pub fn loaded(&self, key: &K) -> Option<&V> {
        self.loaded.get(key)
    }

    /// The row as the command at hand sees it.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.draft.get(key).or_else(|| self.changed.get(key)).or_else(|| self.loaded.get(key))
    }

    /// Writes a row, new or changed.
    pub fn put(&mut self, key: K, row: V) {
        self.draft.insert(key, row);
    }

    /// Every row as the command at hand sees it, in no order.
    pub fn all(&self) -> impl Iterator<Item = (&K, &V)> {
        let changed = self.changed.iter().filter(|(key, _)| !self.draft.contains_key(key));
        let hidden = |key: &K| self.draft.contains_key(key) || self.changed.contains_key(key);
        let loaded = self.loaded.iter().filter(move |(key, _)| !hidden(key));
        self.draft.iter().chain(changed).chain(loaded)
    }

    /// A row as the database has it, while it is being loaded from several tables.
    pub(crate) fn loaded_mut(&mut self, key: &K) -> Option<&mut V> {
        self.loaded.get_mut(key)
    }

    /// Every changed row with the row as it was loaded (`None` = new).
    pub fn changes(&self) -> impl Iterator<Item = (&K, Option<&V>, &V)> {
        self.changed.iter().map(|(key, row)| (key, self.loaded.get(key), row))
    }

    pub(super) fn keep(&mut self) {
        // Of the many tables a command writes into a few, and each command passes here.
        if !self.draft.is_empty() {
            self.changed.extend(self.draft.drain());
        }
    }

    pub(super) fn discard(&mut self) {
        if !self.draft.is_empty() {
            self.draft.clear();
        }
    }

    /// Whether the batch leaves every row as it was loaded.
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }
}

/// Rows that are only ever added; the command at hand adds behind `kept`.
#[derive(Debug)]
pub struct Log<T> {
    rows: Vec<T>,
    kept: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log { rows: Vec::new(), kept: 0 }
    }
}

impl<T> Log<T> {
    pub(super) fn add(&mut self, row: T) {
        self.rows.push(row);
    }

    pub(super) fn keep(&mut self) {
        self.kept = self.rows.len();
    }

    pub(super) fn discard(&mut self) {
        self.rows.truncate(self.kept);
    }

    /// Whether the batch adds nothing.
    pub fn is_unchanged(&self) -> bool {
        self.kept == 0
    }

    /// The rows that the batch adds.
    pub fn added(&self) -> &[T] {
        &self.rows[..self.kept]
    }
}
