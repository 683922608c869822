//! The payment side of the console: overview, search, payments with timelines, quotes, ledger,
//! reconciliation, rates and prices, corridors and rails.
//!
//! Pages read; changes go through the same commands as everywhere, and actions that require two
//! users become proposals. Lists mask names and account numbers; the payment's page shows them.

use domain::payment::{Payment, PaymentState, ReviewState};
use domain::time::{Span, Timestamp};

use super::{Routes, Stop, Tone, Visit};
use crate::lists::day_of;

pub(super) mod access;
mod asked;
pub(super) mod chart;
pub(super) mod corridors;
mod figures;
mod ledger;
pub(super) mod masked;
pub(super) mod overview;
mod payment_list;
mod quotes;
pub(super) mod rates;
mod recall;
mod receipt;
mod reconciliation;
pub(super) mod search;
mod search_results;
mod statements;
pub(super) mod timeline;

/// The routes of the payment side.
pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/console/t/{tenant}/overview", overview::show)
        .get("/console/t/{tenant}/search", search::show)
        .get("/console/t/{tenant}/payments", payment_list::list)
        .get("/console/t/{tenant}/payments/export.csv", payment_list::export)
        .get("/console/t/{tenant}/payments/{id}", timeline::show)
        .get("/console/t/{tenant}/payments/{id}/receipt", receipt::show)
        .get("/console/t/{tenant}/payments/{id}/cancel", recall::ask_to_cancel)
        .post("/console/t/{tenant}/payments/{id}/cancel", recall::cancel)
        .get("/console/t/{tenant}/payments/{id}/recall", recall::ask_to_recall)
        .post("/console/t/{tenant}/payments/{id}/recall", recall::recall)
        .post("/console/t/{tenant}/payments/{id}/recall/close", recall::close)
        .get("/console/t/{tenant}/quotes", quotes::list)
        .get("/console/t/{tenant}/quotes/export.csv", quotes::export)
        .get("/console/t/{tenant}/quotes/{id}", quotes::show)
        .get("/console/t/{tenant}/ledger", ledger::balance)
        .get("/console/t/{tenant}/ledger/account", ledger::account)
        .get("/console/t/{tenant}/ledger/transfers/{id}", ledger::transfer)
        .get("/console/t/{tenant}/statements", statements::show)
        .get("/console/t/{tenant}/statements/file", statements::file)
        .get("/console/t/{tenant}/reconciliation", reconciliation::show)
        .post("/console/t/{tenant}/reconciliation/compare", reconciliation::compare)
        .get("/console/t/{tenant}/rates", rates::show)
        .post("/console/t/{tenant}/rates/pricing", rates::propose)
        .get("/console/t/{tenant}/corridors", corridors::show)
        .get("/console/t/{tenant}/corridors/switch", corridors::ask_to_switch)
        .post("/console/t/{tenant}/corridors/switch", corridors::switch)
}

/// A payment's state in people's words; the API's word is on its page.
pub(super) fn people_state(payment: &Payment) -> (&'static str, Tone) {
    match (payment.review, payment.standing.state) {
        (ReviewState::Waiting, _) => ("In review", Tone::Warn),
        (_, PaymentState::Succeeded) => ("Paid", Tone::Good),
        (_, PaymentState::Queued | PaymentState::Pending | PaymentState::Processing) => {
            ("Sending", Tone::Busy)
        }
        (_, PaymentState::Unknown) => ("Unconfirmed", Tone::Warn),
        (_, PaymentState::Rejected) => ("Rejected", Tone::Bad),
        (_, PaymentState::Failed) => ("Failed", Tone::Bad),
        (_, PaymentState::Reversed | PaymentState::Canceled) => match payment.settled_at {
            Some(_) => ("Returned", Tone::Bad),
            None => ("Cancelled", Tone::Bad),
        },
    }
}

/// A duration in its two largest units, of seconds to a tenth.
pub(super) fn duration_text(span: Span) -> String {
    let seconds = (span.0 / 1_000_000).max(0);
    let tenths = (span.0 / 100_000 % 10).max(0);
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, 0) if tenths == 0 => "< 0.1 s".to_owned(),
        (0, 0, 0, seconds) => format!("{seconds}.{tenths} s"),
        (0, 0, minutes, 0) => format!("{minutes} min"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

/// The start of the query's day in UTC; `None` without one.
///
/// # Errors
/// [`Stop::Wrong`]: it is not a day.
pub(super) fn day(visit: &Visit, name: &'static str) -> Result<Option<Timestamp>, Stop> {
    let Some(text) = visit.query().given(name) else { return Ok(None) };
    let no_day = || Stop::wrong(name, format!("{name}: enter a day such as 2026-11-22."));
    day_of(text).ok_or_else(no_day).map(Some)
}

/// A ratio such as `12.5 %`, rounded down; "–" of zero.
pub(super) fn share(part: u64, whole: u64) -> String {
    match (u128::from(part) * 1_000).checked_div(u128::from(whole)) {
        Some(permille) => format!("{}.{} %", permille / 10, permille % 10),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        for (span, told) in [
            (Span::millis(1_234), "1.2 s"),
            (Span::millis(99), "< 0.1 s"),
            (Span::secs(61), "1 min 1 s"),
            (Span::mins(5), "5 min"),
            (Span::mins(62), "1 h 2 min"),
            (Span::hours(50), "2 d 2 h"),
            (Span(-5), "< 0.1 s"),
        ] {
            assert_eq!(duration_text(span), told);
        }
    }

    #[test]
    fn shares_are_rounded_down() {
        assert_eq!(
            (share(999, 1_000), share(1_999, 2_000), share(1, 1)),
            ("99.9 %".into(), "99.9 %".into(), "100.0 %".into())
        );
        assert_eq!(share(0, 0), "–");
    }
}
