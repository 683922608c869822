//! Totals of the book, for comparison with the ledger. They never influence the bank's behaviour.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::money::Money;
use serde::{Deserialize, Serialize};

use super::model::{BookKind, money_text};

/// One movement of money, as input of the totals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booked {
    #[serde(rename = "l")]
    pub rail: Box<str>,
    #[serde(rename = "m", with = "money_text")]
    pub amount: Money,
    /// Whether it was paid or returned.
    #[serde(rename = "k")]
    pub kind: BookKind,
    /// Whether the EndToEndId was already paid and not returned.
    #[serde(rename = "a", default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// Totals of one rail and currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RailTotals {
    pub paid: u64,
    /// Sum of the payouts in minor units.
    pub paid_minor: i128,
    pub returned: u64,
    /// Sum of the returns in minor units.
    pub returned_minor: i128,
}

/// Totals of the book.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BookTotals {
    /// By rail and currency.
    pub rails: BTreeMap<(Box<str>, Currency), RailTotals>,
    /// Payouts of an EndToEndId that was already paid and not returned: 0 for a correct client.
    pub paid_again: u64,
}

impl BookTotals {
    pub fn add(&mut self, booked: &Booked) {
        let sums = self.rails.entry((booked.rail.clone(), booked.amount.currency)).or_default();
        let minor = i128::from(booked.amount.minor);
        match booked.kind {
            BookKind::Paid => {
                (sums.paid, sums.paid_minor) = (sums.paid + 1, sums.paid_minor + minor)
            }
            BookKind::Returned => {
                (sums.returned, sums.returned_minor) =
                    (sums.returned + 1, sums.returned_minor + minor);
            }
        }
        self.paid_again += u64::from(booked.again);
    }
}
