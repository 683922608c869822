//! The report of `bench deposits`, as text and as JSON.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use domain::decimal::Decimal;
use domain::ids::PaymentRequestId;
use http_api::write;

use super::super::figures::{Quantiles, histogram, ms, per_second, whole, yes};
use super::checks::Checks;
use super::{DepositsSettings, Watched};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct DepositsReport {
    store: &'static str,
    per_block: u64,
    block_ms: u64,
    deposits: u64,
    blocks: u64,
    /// From the first block to the last completed deposit.
    span: Duration,
    /// From the first block to the last credited deposit.
    credited_span: Duration,
    credited: u64,
    completed: u64,
    credited_us: Quantiles,
    completed_us: Quantiles,
    batches: u64,
    batch_p50: Option<u64>,
    checks: Checks,
}

impl DepositsReport {
    pub(super) fn new(
        settings: &DepositsSettings,
        store: &'static str,
        watched: &Watched,
        checks: Checks,
    ) -> DepositsReport {
        let first = watched.mined.first().copied();
        let span = |ends: &HashMap<PaymentRequestId, Instant>| {
            let last = ends.values().max().copied();
            first
                .zip(last)
                .map_or(Duration::ZERO, |(first, last)| last.saturating_duration_since(first))
        };
        DepositsReport {
            store,
            per_block: settings.per_block as u64,
            block_ms: settings.block_ms,
            deposits: watched.block_of.len() as u64,
            blocks: watched.mined.len() as u64,
            span: span(&watched.completed),
            credited_span: span(&watched.credited),
            credited: watched.credited.len() as u64,
            completed: watched.completed.len() as u64,
            credited_us: latencies(watched, &watched.credited),
            completed_us: latencies(watched, &watched.completed),
            batches: watched.batches.count(),
            batch_p50: watched.batches.median(),
            checks,
        }
    }

    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        self.checks.failure()
    }

    pub fn json(&self) -> Vec<u8> {
        write::object(|out| {
            out.text("bench", "deposits");
            out.text("store", self.store);
            whole(out, "deposits", self.deposits);
            whole(out, "blocks", self.blocks);
            whole(out, "per_block", self.per_block);
            whole(out, "block_ms", self.block_ms);
            out.number("deposits_per_s", per_second(self.completed, self.span));
            out.number("credited_per_s", per_second(self.credited, self.credited_span));
            for (name, quantiles) in
                [("credited", &self.credited_us), ("completed", &self.completed_us)]
            {
                out.number(&format!("{name}_p50_ms"), ms(quantiles.p50));
                out.number(&format!("{name}_p99_ms"), ms(quantiles.p99));
                out.number(&format!("{name}_max_ms"), ms(quantiles.max));
            }
            whole(out, "credited", self.credited);
            whole(out, "completed", self.completed);
            out.number_or_null(
                "batch_p50",
                self.batch_p50.map(|size| Decimal::new(size.into(), 0)),
            );
            whole(out, "batches", self.batches);
            whole(out, "vaults_compared", self.checks.vaults);
            out.flag("completed_once", self.checks.once());
            out.flag("ledger_is_chain", self.checks.is_chain());
            out.flag("ledger_balances", self.checks.balanced());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let vaults = self.checks.vaults;
        vec![
            ("store", self.store.to_owned()),
            (
                "load",
                format!(
                    "{} deposits in {} blocks, one every {} ms",
                    self.deposits, self.blocks, self.block_ms
                ),
            ),
            ("deposits/s", per_second(self.completed, self.span).to_string()),
            ("credited/s", per_second(self.credited, self.credited_span).to_string()),
            ("credited", format!("{}, {}", self.credited, self.credited_us.told())),
            ("completed", format!("{}, {}", self.completed, self.completed_us.told())),
            (
                "batch",
                format!("p50 {} commands, {} batches", self.batch_p50.unwrap_or(0), self.batches),
            ),
            ("completed once", yes(self.checks.once()).to_owned()),
            (
                "ledger = chain",
                format!("{}, {vaults} balances compared", yes(self.checks.is_chain())),
            ),
            ("ledger balances", yes(self.checks.balanced()).to_owned()),
        ]
    }
}

/// Time from a deposit's block to its log entry.
fn latencies(watched: &Watched, ends: &HashMap<PaymentRequestId, Instant>) -> Quantiles {
    let mut histogram = histogram();
    for (request, end) in ends {
        let block = watched.block_of.get(request).and_then(|block| watched.mined.get(*block));
        // The log may be read before the block is detected.
        let took = block.map_or(Duration::ZERO, |mined| end.saturating_duration_since(*mined));
        histogram.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }
    Quantiles::of(&histogram)
}
