//! A webhook endpoint's requests in order of arrival, with queries for tests. It judges nothing.

use std::collections::BTreeMap;

use domain::time::Timestamp;

use super::core::Arrival;
use super::proof::Verdict;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub arrival: Arrival,
    /// `event_type` of the body; empty if missing.
    pub event_type: String,
    /// Subject of its data: `payment_request_id`, else `order_id`, else `wallet_id`, else the
    /// payment or quote.
    pub subject: Option<String>,
    pub at: Timestamp,
    /// Whether it is genuine.
    pub verdict: Verdict,
    /// Whether the endpoint accepted it and intends to keep it.
    pub taken: bool,
    /// Whether an earlier attempt with the same id was already accepted.
    pub repeated: bool,
}

impl Entry {
    /// `webhook-id`; empty if missing.
    pub fn id(&self) -> &str {
        self.arrival.id.as_deref().unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Book(Vec<Entry>);

impl Book {
    pub(super) fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// All arrivals, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The accepted ids, each once, in the order of their first acceptance.
    pub fn taken(&self) -> Vec<&str> {
        self.0.iter().filter(|entry| entry.taken && !entry.repeated).map(Entry::id).collect()
    }

    /// The same for one subject.
    pub fn taken_about(&self, subject: &str) -> Vec<&Entry> {
        let about = |entry: &&Entry| entry.subject.as_deref() == Some(subject);
        self.0.iter().filter(about).filter(|entry| entry.taken && !entry.repeated).collect()
    }

    /// Acceptances per id; more than one is a duplicate that the endpoint had to recognise.
    pub fn times_taken(&self) -> BTreeMap<&str, usize> {
        let mut times = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| entry.taken) {
            *times.entry(entry.id()).or_default() += 1;
        }
        times
    }

    /// Ids whose body or path differed between attempts: there must be none.
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
