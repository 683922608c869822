//! Metrics of a batch's commit. Collected while it is decided, recorded after the commit: a batch
//! that never lands counts nothing.

use std::collections::BTreeSet;

use domain::attempt::AttemptState;
use domain::chain::{Address, KeyRole};
use domain::country::Country;
use domain::job::JobKind;
use domain::payment::PaymentState;
use domain::quote::QuoteState;
use domain::rail::RailId;
use domain::time::Span;
use domain::wallet_effects::Alert;
use store::working_set::WorkingSet;

use crate::pace::RailPace;

/// Logs and counts an operator alert.
pub(crate) fn alert(alert: &Alert) {
    tracing::warn!(kind = alert.kind.name(), subject = %alert.subject, what = %alert.what, "operator alert raised");
    metrics::counter!("corridor_alerts_total", "kind" => alert.kind.name()).increment(1);
}

/// Counts a failed call to a rail.
pub(crate) fn rail_fault(rail: &RailId) {
    metrics::counter!("corridor_rail_faults_total", "rail" => rail.to_string()).increment(1);
}

/// Records a signer's gas balance.
pub(crate) fn gas(chain: &str, role: KeyRole, signer: Address, wei: u128) {
    let microether = u32::try_from(wei / 1_000_000_000_000).unwrap_or(u32::MAX);
    let labels = [
        ("chain", chain.to_owned()),
        ("role", role.name().to_owned()),
        ("signer", signer.to_string()),
    ];
    metrics::gauge!("corridor_signer_gas_microether", &labels).set(microether);
}

/// The counted changes of one batch, and the jobs that it creates.
#[derive(Debug, Default)]
pub struct Seen {
    quotes: Vec<(Country, &'static str)>,
    payments: Vec<(Country, PaymentState)>,
    settled: Vec<(Country, Span)>,
    /// Rails that paid, with the time since submission.
    paid: Vec<(RailId, Span)>,
    /// Kinds of jobs that become due at once.
    pub due: BTreeSet<JobKind>,
}

impl Seen {
    /// Collects the metrics of a decided batch.
    pub fn of(ws: &WorkingSet) -> Seen {
        let mut seen = Seen::default();
        for (_, before, quote) in ws.quotes.changes() {
            if before.is_none_or(|before| before.state != quote.state) {
                seen.quotes.push((quote.offer.country, quote_status(quote.state)));
            }
        }
        for (_, before, payment) in ws.payments.changes() {
            let state = payment.standing.state;
            if before.is_none_or(|before| before.standing.state != state) {
                seen.payments.push((payment.country, state));
                if state == PaymentState::Succeeded {
                    seen.settled
                        .push((payment.country, payment.standing.state_at - payment.accepted_at));
                }
            }
        }
        for (_, before, attempt) in ws.attempts.changes() {
            let was_settled = before.is_some_and(|before| before.state == AttemptState::Settled);
            if attempt.state == AttemptState::Settled && !was_settled {
                seen.paid.push((attempt.rail.clone(), attempt.state_at - attempt.created_at));
            }
        }
        let due = ws
            .jobs
            .changes()
            .filter_map(|(_, _, job)| job.as_ref())
            .filter(|job| job.run_at <= ws.now);
        seen.due.extend(due.map(|job| job.kind));
        seen
    }

    /// Records the metrics of a committed batch.
    pub fn record(&self, pace: &RailPace) {
        for (rail, took) in &self.paid {
            pace.paid(rail, *took);
        }
        for (country, status) in &self.quotes {
            metrics::counter!("corridor_quotes_total", "country" => country.alpha3(), "status" => *status).increment(1);
        }
        for (country, state) in &self.payments {
            let (country, status) = (country.alpha3(), state.name());
            metrics::counter!("corridor_payments_total", "country" => country, "status" => status)
                .increment(1);
        }
        for (country, span) in &self.settled {
            let took = span.to_duration();
            metrics::histogram!("corridor_payment_settle_seconds", "country" => country.alpha3())
                .record(took);
        }
    }
}

const fn quote_status(state: QuoteState) -> &'static str {
    match state {
        QuoteState::Active => "created",
        QuoteState::Used => "used",
        QuoteState::Expired => "expired",
    }
}
