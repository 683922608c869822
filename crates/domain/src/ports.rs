//! What the engine needs from the outside, as traits: adapters, the testkit and the simulator implement them.
//!
//! An implementation never decides anything about money: it carries a message out and a report back.

use std::future::Future;
use std::pin::Pin;

use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::rail::{Inquiry, InquiryAnswer, Instruction, RailFault, RailId, Reports, Submission};
use crate::screening::{Party, Screened};
use crate::time::Timestamp;

/// A boxed future, so that ports can be used behind `dyn`.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What time it is, and waiting.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
    /// Completes at `until` or at once if that is past.
    fn sleep_until(&self, until: Timestamp) -> Answer<'static, ()>;
}

/// One rail: a bank's or a network's interface for pay-outs.
pub trait Rail: Send + Sync {
    /// Which rail of the configuration this is.
    fn id(&self) -> &RailId;
    /// Sends instructions; answers one [`Submission`] for each, in the same order. Never panics, never blocks
    /// longer than the transport's own time-out; anything unclear is [`Submission::Indeterminate`].
    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> Answer<'a, Vec<Submission>>;
    /// Asks what became of attempts; answers one [`InquiryAnswer`] for each, in the same order.
    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> Answer<'a, Vec<InquiryAnswer>>;
    /// Fetches the reports behind `cursor` (all that the bank keeps for `None`), waiting a while where there are none.
    /// Passing the cursor of an earlier answer says that its reports are safely stored.
    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> Answer<'a, Result<Reports, RailFault>>;
}

/// A mid-market rate and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mid {
    /// Units of the second currency for one of the first.
    pub rate: Decimal,
    /// When the source published it.
    pub as_of: Timestamp,
}

/// The rate book: mid-market rates, held in memory.
pub trait RateBook: Send + Sync {
    /// The mid rate of `quote` units for one `base`, directly, by inversion, or crossed over USD; `None` where the
    /// sources know no way.
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid>;
}

/// Screening of names against the loaded sanction lists, in memory.
pub trait NameScreen: Send + Sync {
    /// Compares every party with every listed name and answers with the highest score.
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened;
}
