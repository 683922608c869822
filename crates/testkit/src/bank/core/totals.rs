//! The sums of the book, for comparing with the ledger. They never influence what the bank does.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::money::Money;
use serde::{Deserialize, Serialize};

use super::model::{BookKind, money_text};

/// One movement of money, as the sums need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booked {
    /// The rail.
    #[serde(rename = "l")]
    pub rail: Box<str>,
    /// How much.
    #[serde(rename = "m", with = "money_text")]
    pub amount: Money,
    /// Paid or returned.
    #[serde(rename = "k")]
    pub kind: BookKind,
    /// Whether it paid an EndToEndId that was already paid and not returned.
    #[serde(rename = "a", default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// The sums of one rail and currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RailTotals {
    /// Number of pay-outs.
    pub paid: u64,
    /// Their sum in minor units.
    pub paid_minor: i128,
    /// Number of returns.
    pub returned: u64,
    /// Their sum in minor units.
    pub returned_minor: i128,
}

/// The sums of the book.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BookTotals {
    /// By rail and currency.
    pub rails: BTreeMap<(Box<str>, Currency), RailTotals>,
    /// Pay-outs of an EndToEndId that was already paid and not returned: must be 0 wherever the client is right.
    pub paid_again: u64,
}

impl BookTotals {
    /// Adds one movement.
    pub fn add(&mut self, booked: &Booked) {
        let sums = self.rails.entry((booked.rail.clone(), booked.amount.currency)).or_default();
        let minor = i128::from(booked.amount.minor);
        match booked.kind {
            BookKind::Paid => (sums.paid, sums.paid_minor) = (sums.paid + 1, sums.paid_minor + minor),
            BookKind::Returned => {
                (sums.returned, sums.returned_minor) = (sums.returned + 1, sums.returned_minor + minor);
            }
        }
        self.paid_again += u64::from(booked.again);
    }
}
