//! Which answer each refusal of the engine gets (`decisions.md`, "Payment Service v2", the table of errors).

use domain::payment::accept::Refusal;
use engine::batcher::EngineError;
use engine::command::Refused;
use engine::payments::Denied;

use crate::problem::Problem;

/// Seconds after which a busy or unreachable service may be asked again.
const RETRY_AFTER_S: i64 = 1;

/// The answer to a request that was not served.
pub fn problem(denied: Denied) -> Problem {
    match denied {
        Denied::Invalid(faults) => Problem::invalid(faults),
        Denied::CorridorUnavailable(_) => Problem::bad_request("corridor_unavailable", denied.to_string()),
        Denied::CorridorNotEnabled(_) => Problem::forbidden("corridor_not_enabled", denied.to_string()),
        Denied::RateUnavailable(..) => Problem::bad_request("rate_unavailable", denied.to_string()),
        Denied::Refused(refused) => refused_problem(refused),
        Denied::Engine(EngineError::Internal) => Problem::internal(),
        Denied::Engine(EngineError::Busy | EngineError::Unavailable | EngineError::CommitUnknown) => {
            Problem::unavailable(RETRY_AFTER_S)
        }
        Denied::Store(error) => {
            tracing::error!(%error, "a read failed");
            Problem::unavailable(RETRY_AFTER_S)
        }
    }
}

fn refused_problem(refused: Refused) -> Problem {
    match refused {
        Refused::Order(refusal) => order_problem(refusal),
        Refused::OpenQuoteLimit { limit, .. } => {
            Problem::bad_request("open_quote_limit", refused.to_string()).with("limit", limit)
        }
        Refused::IdempotencyMismatch => Problem::invalid_header(
            "idempotency-key",
            "idempotency_mismatch",
            "The key was used with another body; use a new key for a new request",
        ),
        refused => {
            tracing::error!(%refused, "a request was refused for a reason that no client can cause");
            Problem::internal()
        }
    }
}

fn order_problem(refusal: Refusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        Refusal::ExternalIdConflict(payment) => {
            let fault = domain::fault::Fault::new("external_id", "external_id_conflict", "This id is taken already");
            Problem::invalid(vec![fault.with("payment_id", payment)])
        }
        Refusal::QuoteNotFound => Problem::bad_request("quote_not_found", message),
        Refusal::QuoteUsed(payment) => Problem::bad_request("quote_used", message).with("payment_id", payment),
        Refusal::QuoteExpired => Problem::bad_request("quote_expired", message),
        Refusal::Mismatch(faults) => Problem::invalid(faults),
        Refusal::InsufficientBalance { .. } => Problem::bad_request("insufficient_balance", message),
    }
}
