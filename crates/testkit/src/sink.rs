//! A broker in memory that can misbehave: it stores a message once by its id, loses
//! acknowledgements, stores nothing during an outage.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::EventId;
use domain::ports::{BoxFuture, EventSink};
use domain::relay::{EventMessage, SinkFault};

/// The broker. Messages are kept in the order in which they were stored.
#[derive(Debug, Default)]
pub struct MemorySink(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stored: Vec<EventMessage>,
    known: BTreeSet<EventId>,
    /// Repetitions that were not stored.
    repeated: usize,
    /// Message after which the broker does not answer any more, counted from now.
    outage_after: Option<usize>,
    /// One of this many acknowledgements is lost; 0 = none is.
    loses_one_of: usize,
    arrived: usize,
}

impl MemorySink {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has stored.
    pub fn stored(&self) -> Vec<EventMessage> {
        self.state().stored.clone()
    }

    /// How many repetitions arrived.
    pub fn repeated(&self) -> usize {
        self.state().repeated
    }

    /// Stops after this many more messages, until [`MemorySink::recover`].
    pub fn fail_after(&self, messages: usize) {
        self.state().outage_after = Some(messages);
    }

    pub fn recover(&self) {
        self.state().outage_after = None;
    }

    /// From now on one of `n` acknowledgements is lost, although the message is stored.
    pub fn lose_one_of(&self, n: usize) {
        self.state().loses_one_of = n;
    }
}

impl State {
    fn take(&mut self, message: &EventMessage) -> Result<(), SinkFault> {
        match &mut self.outage_after {
            Some(0) => return Err(SinkFault("the broker does not answer".to_owned())),
            Some(left) => *left -= 1,
            None => {}
        }
        if self.known.insert(message.id) {
            self.stored.push(message.clone());
        } else {
            self.repeated += 1;
        }
        self.arrived += 1;
        match self.loses_one_of > 0 && self.arrived.is_multiple_of(self.loses_one_of) {
            true => Err(SinkFault("the acknowledgement was lost".to_owned())),
            false => Ok(()),
        }
    }
}

impl EventSink for MemorySink {
    fn check(&self) -> BoxFuture<'_, Result<(), SinkFault>> {
        let answers = match self.state().outage_after {
            Some(0) => Err(SinkFault("the broker does not answer".to_owned())),
            _ => Ok(()),
        };
        Box::pin(std::future::ready(answers))
    }

    fn publish<'a>(
        &'a self,
        messages: &'a [EventMessage],
    ) -> BoxFuture<'a, Vec<Result<(), SinkFault>>> {
        let mut state = self.state();
        let answers = messages.iter().map(|message| state.take(message)).collect();
        Box::pin(std::future::ready(answers))
    }
}
