//! Rows in memory, by key or append-only. A row that a refused command wrote never becomes part of
//! the batch.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// A batch has a few hundred rows at most: colliding keys are no attack.
type Rows<K, V> = HashMap<K, V, FxBuildHasher>;

/// Rows of one table: as loaded, as of the batch, and the current command's draft.
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
    /// Adds a row from the database.
    pub fn load(&mut self, key: K, row: V) {
        self.loaded.insert(key, row);
    }

    /// The row as loaded from the database.
    pub fn loaded(&self, key: &K) -> Option<&V> {
        self.loaded.get(key)
    }

    /// The row as the current command sees it.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.draft.get(key).or_else(|| self.changed.get(key)).or_else(|| self.loaded.get(key))
    }

    /// Writes a new or changed row.
    pub fn put(&mut self, key: K, row: V) {
        self.draft.insert(key, row);
    }

    /// Every row as the current command sees it, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = (&K, &V)> {
        let changed = self.changed.iter().filter(|(key, _)| !self.draft.contains_key(key));
        let hidden = |key: &K| self.draft.contains_key(key) || self.changed.contains_key(key);
        let loaded = self.loaded.iter().filter(move |(key, _)| !hidden(key));
        self.draft.iter().chain(changed).chain(loaded)
    }

    /// A loaded row, while it is assembled from several tables.
    pub(crate) fn loaded_mut(&mut self, key: &K) -> Option<&mut V> {
        self.loaded.get_mut(key)
    }

    /// Every changed row with the row as loaded (`None` = new).
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

    /// Whether the batch leaves every row as loaded.
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }
}

/// Append-only rows; the current command appends after `kept`.
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

    /// The rows that the current command adds.
    pub fn draft(&self) -> &[T] {
        &self.rows[self.kept..]
    }

    /// The rows that the batch adds.
    pub fn added(&self) -> &[T] {
        &self.rows[..self.kept]
    }
}
