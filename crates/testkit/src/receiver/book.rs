//! What a receiver was sent, in the order of arrival, and the questions that a test asks of it. It judges nobody.

use std::collections::BTreeMap;

use domain::time::Timestamp;

use super::core::Arrival;
use super::proof::Verdict;

/// One arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What arrived.
    pub arrival: Arrival,
    /// `event_type` of the body; empty where there is none.
    pub event_type: String,
    /// What its data are about: `payment_request_id`, else `order_id`, else `wallet_id`, else the payment or quote.
    pub subject: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Whether it is genuine.
    pub verdict: Verdict,
    /// Whether the receiver took it, and means to keep it.
    pub taken: bool,
    /// Whether an earlier try of the same id was taken already.
    pub repeated: bool,
}

impl Entry {
    /// `webhook-id`; empty where there is none.
    pub fn id(&self) -> &str {
        self.arrival.id.as_deref().unwrap_or_default()
    }
}

/// All arrivals.
#[derive(Clone, Debug, Default)]
pub struct Book(Vec<Entry>);

impl Book {
    pub(super) fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Every arrival, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The ids that were taken, each once, in the order in which each was taken first.
    pub fn taken(&self) -> Vec<&str> {
        self.0.iter().filter(|entry| entry.taken && !entry.repeated).map(Entry::id).collect()
    }

    /// The same of one subject.
    pub fn taken_about(&self, subject: &str) -> Vec<&Entry> {
        let about = |entry: &&Entry| entry.subject.as_deref() == Some(subject);
        self.0.iter().filter(about).filter(|entry| entry.taken && !entry.repeated).collect()
    }

    /// How often each id was taken; more than once is a duplicate that the receiver had to recognise.
    pub fn times_taken(&self) -> BTreeMap<&str, usize> {
        let mut times = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| entry.taken) {
            *times.entry(entry.id()).or_default() += 1;
        }
        times
    }

    /// The ids whose body or path was not the same at every try: there must be none.
    pub fn changed(&self) -> Vec<&str> {
        let mut first: BTreeMap<&str, &Arrival> = BTreeMap::new();
        let mut changed = Vec::new();
        for entry in &self.0 {
            let before = *first.entry(entry.id()).or_insert(&entry.arrival);
            if (&before.body, &before.path) != (&entry.arrival.body, &entry.arrival.path)
                && !changed.contains(&entry.id())
            {
                changed.push(entry.id());
            }
        }
        changed
    }
}
