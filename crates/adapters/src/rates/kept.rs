//! The last accepted rates of the sources, as JSON that outlives the process: after a start, the first
//! statement of a source is compared with them. Nothing is quoted from them.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ports::Mid;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::sheet::pair;
use super::table::{DirectRate, RateTable};

/// An older rate says nothing about what a currency may be worth now, unless its source may be older.
pub(super) const KEPT_FOR: Span = Span::days(14);
/// Rates of a source that is no longer read are dropped after this.
const DROPPED_AFTER: Span = Span::days(400);

/// By the source's title and the pair (`USD/PKR`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptRates(BTreeMap<String, BTreeMap<String, Kept>>);

/// A mid rate as a decimal, and its time in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    rate: String,
    as_of: i64,
}

impl KeptRates {
    /// Reads what [`KeptRates::text`] wrote.
    pub fn read(text: &str) -> Result<KeptRates, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// These rates, and those of `known` that are of other sources and pairs, or newer: several nodes
    /// read the same sources.
    #[must_use]
    pub fn with(mut self, known: &KeptRates, now: Timestamp) -> KeptRates {
        for (title, pairs) in &known.0 {
            let own = self.0.entry(title.clone()).or_default();
            for (pair, kept) in pairs {
                if own.get(pair).is_none_or(|own| own.as_of < kept.as_of) {
                    own.insert(pair.clone(), kept.clone());
                }
            }
        }
        for pairs in self.0.values_mut() {
            pairs.retain(|_, kept| now - Timestamp(kept.as_of) <= DROPPED_AFTER);
        }
        self.0.retain(|_, pairs| !pairs.is_empty());
        self
    }

    pub(super) fn add(&mut self, title: &str, rate: &DirectRate) {
        let kept = Kept { rate: rate.mid.rate.to_string(), as_of: rate.mid.as_of.0 };
        let pairs = self.0.entry(title.to_owned()).or_default();
        pairs.insert(pair(rate.base, rate.quote), kept);
    }

    /// A source's rates that can be read.
    pub(super) fn of(&self, title: &str) -> RateTable {
        let mut table = RateTable::default();
        for (pair, kept) in self.0.get(title).into_iter().flatten() {
            let codes = pair.split_once('/');
            let codes = codes
                .and_then(|(base, quote)| Some((Currency::parse(base)?, Currency::parse(quote)?)));
            let rate = Decimal::parse_exact(&kept.rate).filter(|rate| rate.is_positive());
            if let (Some((base, quote)), Some(rate)) = (codes, rate) {
                let mid = Mid { rate, as_of: Timestamp(kept.as_of) };
                table.set(DirectRate::at_mid(base, quote, mid));
            }
        }
        table
    }
}
