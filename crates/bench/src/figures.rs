//! Figures of a report. Quantiles leave the histogram as whole microseconds and are shown as exact
//! decimals.

use std::time::Duration;

use domain::decimal::Decimal;
use hdrhistogram::Histogram;
use http_api::write::ObjectWriter;

/// Latencies have three significant digits, up to this many microseconds.
const LATENCY_MAX_US: u64 = 600_000_000;

/// Quantiles of durations, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantiles {
    pub(super) p50: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) max: u64,
}

impl Quantiles {
    pub(super) fn of(histogram: &Histogram<u64>) -> Quantiles {
        Quantiles {
            p50: histogram.value_at_quantile(0.5),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }

    /// Formats them for display.
    pub(super) fn told(&self) -> String {
        format!(
            "p50 {} ms, p99 {} ms, p99.9 {} ms, max {} ms",
            ms(self.p50),
            ms(self.p99),
            ms(self.p999),
            ms(self.max)
        )
    }
}

/// Converts microseconds to milliseconds.
pub(super) fn ms(micros: u64) -> Decimal {
    Decimal::new(micros.into(), 3)
}

/// `count` in `span`, per second, to one decimal.
pub(super) fn per_second(count: u64, span: Duration) -> Decimal {
    let tenths = u128::from(count) * 10_000_000 / span.as_micros().max(1);
    Decimal::new(i128::try_from(tenths).unwrap_or(i128::MAX), 1)
}

/// An empty histogram of latencies.
pub(super) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_MAX_US, 3).expect("bounds that a histogram can have")
}

/// Adds a whole-number member.
pub(super) fn whole(out: &mut ObjectWriter<'_>, name: &str, value: u64) {
    out.number(name, Decimal::new(value.into(), 0));
}

/// A check's result for display.
pub(super) const fn yes(flag: bool) -> &'static str {
    if flag { "yes" } else { "NO" }
}

/// A kind of error as a member name: names are written without escaping.
pub(super) fn plain(kind: &str) -> String {
    kind.chars()
        .map(|c| if c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ' { c } else { '?' })
        .collect()
}
