//! What one sender may have paid out over a rail within a calendar day and month. Counted are the attempts that have paid
//! or still may; a definite refusal, a failure or a return gives the room back.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, Sub};

use jiff::Zoned;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::attempt::{Attempt, AttemptState};
use crate::country::Country;
use crate::ids::TenantId;
use crate::money::Money;
use crate::order::Order;
use crate::policy::{Corridors, RailConfig};
use crate::rail::RailId;
use crate::time::Timestamp;

/// Whom a tenant pays out for, as limits count it: a digest that names the same person again and nobody to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender(pub Uuid);

impl Sender {
    /// The sender of an order: the identity document that it names, its kind and its letters and digits. Names are spelled
    /// in many ways, and whether the issuing country is said is the caller's choice: neither makes another sender.
    pub fn of_order(tenant: TenantId, order: &Order) -> Sender {
        let number = order.sender_identity_doc.chars().filter(|letter| letter.is_alphanumeric());
        let number: String = number.flat_map(char::to_uppercase).collect();
        Sender::digest(tenant, &["document", order.sender_identity_doc_type.name(), &number])
    }

    /// A customer of the wallet service, who is the payer and the payee of what an exchange order pays out.
    pub fn of_customer(tenant: TenantId, customer_id: &str) -> Sender {
        Sender::digest(tenant, &["customer", customer_id])
    }

    fn digest(tenant: TenantId, parts: &[&str]) -> Sender {
        let mut hash = Sha256::new();
        hash.update(tenant.0.as_bytes());
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        Sender(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }
}

/// What a rail pays out for one sender at most; at least one of the two is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderLimits {
    /// In a calendar day.
    pub daily_max: Option<Money>,
    /// In a calendar month.
    pub monthly_max: Option<Money>,
    /// Where the rail's days and months begin.
    pub zone: TimeZone,
}

/// A day of a rail and the month that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// When the day begins.
    pub day: Timestamp,
    /// When the month begins.
    pub month: Timestamp,
    /// When the day is over.
    pub end: Timestamp,
}

/// Minor units of the destination currency that a sender has had paid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// In the day.
    pub day: i64,
    /// In the month.
    pub month: i64,
}

/// What senders' limits are held against: for each rail that has any, what the sender at hand has had paid out over it.
pub type Spendings = BTreeMap<RailId, Spent>;

/// What is counted: one sender's attempts over one rail in a day and its month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tally {
    /// Over which rail.
    pub rail: RailId,
    /// Whose.
    pub sender: Sender,
    /// When.
    pub window: Window,
}

/// The limit that a payment would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The one of the day.
    Daily(Money),
    /// The one of the month.
    Monthly(Money),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Daily(most) => write!(out, "{most} a day"),
            Exceeded::Monthly(most) => write!(out, "{most} a month"),
        }
    }
}

impl SenderLimits {
    /// The rail's day and month at an instant.
    pub fn window(&self, now: Timestamp) -> Window {
        // No calendar reaches as far as such a clock: everything counts.
        let always = Window { day: Timestamp(i64::MIN), month: Timestamp(i64::MIN), end: Timestamp(i64::MAX) };
        self.calendar(now).unwrap_or(always)
    }

    fn calendar(&self, now: Timestamp) -> Result<Window, jiff::Error> {
        let here = jiff::Timestamp::from_microsecond(now.0)?.to_zoned(self.zone.clone());
        let begin = |at: Zoned| at.start_of_day().map(|at| Timestamp(at.timestamp().as_microsecond()));
        let (month, end) = (begin(here.first_of_month()?)?, begin(here.tomorrow()?)?);
        Ok(Window { day: begin(here)?, month, end })
    }

    /// The limit that `amount` more would exceed, the day's first.
    pub fn exceeded_by(&self, spent: Spent, amount: Money) -> Option<Exceeded> {
        let above =
            |most: Option<Money>, spent: i64| most.filter(|most| spent.saturating_add(amount.minor) > most.minor);
        let daily = above(self.daily_max, spent.day).map(Exceeded::Daily);
        daily.or_else(|| above(self.monthly_max, spent.month).map(Exceeded::Monthly))
    }
}

impl RailConfig {
    /// What is counted of a sender over the rail at an instant; `None` where it limits no sender.
    pub fn tally(&self, sender: Sender, now: Timestamp) -> Option<Tally> {
        let window = self.sender_limits.as_ref()?.window(now);
        Some(Tally { rail: self.id.clone(), sender, window })
    }
}

impl Corridors {
    /// What is counted of a sender over the rails of a country; nothing where none of them limits a sender.
    pub fn tallies(&self, country: Country, sender: Sender, now: Timestamp) -> Vec<Tally> {
        self.rails_of(country).filter_map(|rail| rail.tally(sender, now)).collect()
    }
}

impl Tally {
    /// What an attempt counts for in it.
    pub fn share(&self, attempt: &Attempt) -> Spent {
        let counts = attempt.sender == Some(self.sender) && attempt.rail == self.rail && attempt.state.may_have_paid();
        let since = |begin: Timestamp| if counts && attempt.created_at >= begin { attempt.amount.minor } else { 0 };
        Spent { day: since(self.window.day), month: since(self.window.month) }
    }
}

impl AttemptState {
    /// Whether an attempt has paid or still may, so that it takes of its sender's limits. The store's sums say the same.
    pub const fn may_have_paid(self) -> bool {
        matches!(
            self,
            AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted | AttemptState::Settled
        )
    }
}

impl Add for Spent {
    type Output = Spent;
    fn add(self, more: Spent) -> Spent {
        Spent { day: self.day.saturating_add(more.day), month: self.month.saturating_add(more.month) }
    }
}

impl Sub for Spent {
    type Output = Spent;
    fn sub(self, less: Spent) -> Spent {
        Spent { day: self.day.saturating_sub(less.day), month: self.month.saturating_sub(less.month) }
    }
}

#[cfg(test)]
mod tests;
