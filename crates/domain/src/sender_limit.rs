//! Limits on a sender's payouts over a rail per calendar day and month. Attempts that have paid or
//! still may are counted; a definite refusal, a failure or a return restores the headroom.

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

/// Pseudonymous digest of a tenant's customer: equal for the same person, and meaningless to a
/// reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender(pub Uuid);

impl Sender {
    /// The sender of an order, by the kind and the letters and digits of the identity document.
    /// Names have many spellings, and the issuing country is optional: neither changes the sender.
    pub fn of_order(tenant: TenantId, order: &Order) -> Sender {
        let number = order.sender_identity_doc.chars().filter(|letter| letter.is_alphanumeric());
        let number: String = number.flat_map(char::to_uppercase).collect();
        Sender::digest(tenant, &["document", order.sender_identity_doc_type.name(), &number])
    }

    /// A customer of the wallet service, who is payer and payee of an exchange order's payout.
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

/// Maximum payouts of a rail per sender; at least one of the two is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderLimits {
    /// Maximum per calendar day in `zone`; `None` means no limit.
    pub daily_max: Option<Money>,
    /// Maximum per calendar month in `zone`; `None` means no limit.
    pub monthly_max: Option<Money>,
    /// Time zone of the rail's days and months.
    pub zone: TimeZone,
}

/// A rail's day with its month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// Start of the day.
    pub day: Timestamp,
    /// Start of the month.
    pub month: Timestamp,
    /// End of the day.
    pub end: Timestamp,
}

/// A sender's payouts in minor units of the destination currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderUsage {
    /// Sum since the start of the calendar day.
    pub day: i64,
    /// Sum since the start of the calendar month.
    pub month: i64,
}

/// A sender's usage of each rail, to compare with the limits.
pub type UsageByRail = BTreeMap<RailId, SenderUsage>;

/// Key of a usage: a sender's attempts over one rail in a day and its month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsageKey {
    /// Rail whose limits the usage counts against.
    pub rail: RailId,
    /// Sender whose attempts are counted, as a digest.
    pub sender: Sender,
    /// The day and month.
    pub window: Window,
}

/// The limit that a payment would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The rail's maximum per sender and calendar day.
    Daily(Money),
    /// The rail's maximum per sender and calendar month.
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
        // No calendar covers this clock: everything counts.
        let always = Window {
            day: Timestamp(i64::MIN),
            month: Timestamp(i64::MIN),
            end: Timestamp(i64::MAX),
        };
        self.calendar(now).unwrap_or(always)
    }

    fn calendar(&self, now: Timestamp) -> Result<Window, jiff::Error> {
        let here = jiff::Timestamp::from_microsecond(now.0)?.to_zoned(self.zone.clone());
        let begin =
            |at: Zoned| at.start_of_day().map(|at| Timestamp(at.timestamp().as_microsecond()));
        let (month, end) = (begin(here.first_of_month()?)?, begin(here.tomorrow()?)?);
        Ok(Window { day: begin(here)?, month, end })
    }

    /// The limit that an additional `amount` would exceed, the daily one first.
    pub fn exceeded_by(&self, spent: SenderUsage, amount: Money) -> Option<Exceeded> {
        let above = |most: Option<Money>, spent: i64| {
            most.filter(|most| spent.saturating_add(amount.minor) > most.minor)
        };
        let daily = above(self.daily_max, spent.day).map(Exceeded::Daily);
        daily.or_else(|| above(self.monthly_max, spent.month).map(Exceeded::Monthly))
    }
}

impl RailConfig {
    /// The usage to count for a sender at an instant; `None` if the rail has no sender limits.
    pub fn usage_key(&self, sender: Sender, now: Timestamp) -> Option<UsageKey> {
        let window = self.sender_limits.as_ref()?.window(now);
        Some(UsageKey { rail: self.id.clone(), sender, window })
    }
}

impl Corridors {
    /// The usages to count for a sender over the rails of a country; empty if none has sender
    /// limits.
    pub fn usage_keys(&self, country: Country, sender: Sender, now: Timestamp) -> Vec<UsageKey> {
        self.rails_of(country).filter_map(|rail| rail.usage_key(sender, now)).collect()
    }
}

impl UsageKey {
    /// An attempt's part of the usage.
    pub fn share(&self, attempt: &Attempt) -> SenderUsage {
        let counts = attempt.sender == Some(self.sender)
            && attempt.rail == self.rail
            && attempt.state.may_have_paid();
        let since = |begin: Timestamp| {
            if counts && attempt.created_at >= begin { attempt.amount.minor } else { 0 }
        };
        SenderUsage { day: since(self.window.day), month: since(self.window.month) }
    }
}

impl AttemptState {
    /// Whether an attempt has paid or still may and thus counts towards its sender's limits. The
    /// store's sums use the same rule.
    pub const fn may_have_paid(self) -> bool {
        matches!(
            self,
            AttemptState::Sending
                | AttemptState::Indeterminate
                | AttemptState::Accepted
                | AttemptState::Settled
        )
    }
}

impl Add for SenderUsage {
    type Output = SenderUsage;
    fn add(self, more: SenderUsage) -> SenderUsage {
        SenderUsage {
            day: self.day.saturating_add(more.day),
            month: self.month.saturating_add(more.month),
        }
    }
}

impl Sub for SenderUsage {
    type Output = SenderUsage;
    fn sub(self, less: SenderUsage) -> SenderUsage {
        SenderUsage {
            day: self.day.saturating_sub(less.day),
            month: self.month.saturating_sub(less.month),
        }
    }
}

#[cfg(test)]
mod tests;
