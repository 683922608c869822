//! Maps the engine's refusals to responses (`decisions.md`, "Payment Service v2", the table of
//! errors).

use domain::payment::accept::Refusal;
use domain::payment::cancel::CancelRefusal;
use domain::recall::RecallRefusal;
use engine::command::Refused;
use engine::error::EngineError;
use engine::payments::Denied;

use crate::problem::Problem;

/// `Retry-After` in seconds of a busy or unreachable service.
const RETRY_AFTER_S: i64 = 1;

/// The response to a request that was not served.
pub fn problem(denied: Denied) -> Problem {
    match denied {
        Denied::Invalid(faults) => Problem::invalid(faults),
        Denied::CorridorUnavailable(_) => {
            Problem::bad_request("corridor_unavailable", denied.to_string())
        }
        Denied::CorridorNotEnabled(_) => {
            Problem::forbidden("corridor_not_enabled", denied.to_string())
        }
        Denied::RateUnavailable(..) => Problem::bad_request("rate_unavailable", denied.to_string()),
        Denied::Refused(refused) => refused_problem(refused),
        Denied::Engine(EngineError::Internal) => Problem::internal(),
        Denied::Engine(EngineError::Busy) => Problem::unavailable(RETRY_AFTER_S),
        Denied::Engine(EngineError::Unavailable | EngineError::CommitUnknown) => {
            Problem::store_away(RETRY_AFTER_S)
        }
        Denied::Store(error) => {
            tracing::error!(%error, "reading from the store failed");
            Problem::store_away(RETRY_AFTER_S)
        }
    }
}

fn refused_problem(refused: Refused) -> Problem {
    match refused {
        Refused::Order(refusal) => order_problem(refusal),
        Refused::Cancel(refusal) => {
            let problem = Problem::conflict("payment_not_cancellable", refusal.to_string());
            match refusal {
                CancelRefusal::State(state) => problem.with("status", state.name()),
                CancelRefusal::Sent => problem,
            }
        }
        Refused::Recall(refusal) => recall_problem(refusal),
        Refused::OpenQuoteLimit { limit, .. } => {
            Problem::bad_request("open_quote_limit", refused.to_string()).with("limit", limit)
        }
        Refused::IdempotencyMismatch => Problem::invalid_header(
            "idempotency-key",
            "idempotency_mismatch",
            "The key was already used with a different body; use a new key for a new request",
        ),
        refused => {
            tracing::error!(%refused, "request refused for an internal reason");
            Problem::internal()
        }
    }
}

fn recall_problem(refusal: RecallRefusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        RecallRefusal::State(state) => {
            Problem::conflict("payment_not_recallable", message).with("status", state.name())
        }
        RecallRefusal::NotSent => Problem::conflict("payment_not_recallable", message),
        RecallRefusal::Open(id) => Problem::conflict("recall_open", message).with("recall_id", id),
        RecallRefusal::RailCannot(rail) => {
            Problem::conflict("rail_cannot_recall", message).with("rail", rail)
        }
        // Only users close recalls, in the console and on the command line.
        RecallRefusal::NotClosable(_) => Problem::internal(),
    }
}

fn order_problem(refusal: Refusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        Refusal::ExternalIdConflict(payment) => {
            let fault = domain::fault::Fault::new(
                "external_id",
                "external_id_conflict",
                "This id is already in use",
            );
            Problem::invalid(vec![fault.with("payment_id", payment)])
        }
        Refusal::QuoteNotFound => Problem::bad_request("quote_not_found", message),
        Refusal::QuoteUsed(payment) => {
            Problem::bad_request("quote_used", message).with("payment_id", payment)
        }
        Refusal::QuoteExpired => Problem::bad_request("quote_expired", message),
        Refusal::Mismatch(faults) => Problem::invalid(faults),
        Refusal::InsufficientBalance { available, needed } => {
            let problem = Problem::bad_request("insufficient_balance", message);
            problem
                .with("currency", needed.currency.code())
                .with("available", available.decimal())
                .with("needed", needed.decimal())
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::country::Country;
    use domain::ids::{PaymentId, RecallId};
    use domain::rail::RailId;
    use uuid::Uuid;

    use super::*;
    use crate::request_id::RequestId;

    /// Status, Retry-After and code of a response.
    async fn told(denied: Denied) -> (u16, Option<String>, String) {
        let answer = problem(denied).respond(&RequestId::of(&http::HeaderMap::new()));
        let retry_after = answer
            .headers()
            .get("retry-after")
            .map(|value| value.to_str().expect("a number").to_owned());
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 10_000).await.expect("a body");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        let code =
            body["detail"]["code"].as_str().or(body["detail"][0]["type"].as_str()).expect("a code");
        (status, retry_after, code.to_owned())
    }

    #[tokio::test]
    async fn each_refusal_has_its_status_and_code() {
        let order = |refusal| Denied::Refused(Refused::Order(refusal));
        let payment = PaymentId(Uuid::nil());
        for (denied, status, retry_after, code) in [
            (Denied::CorridorUnavailable(Country::Pak), 400, None, "corridor_unavailable"),
            (Denied::CorridorNotEnabled(Country::Pak), 403, None, "corridor_not_enabled"),
            (order(Refusal::QuoteNotFound), 400, None, "quote_not_found"),
            (order(Refusal::QuoteUsed(payment)), 400, None, "quote_used"),
            (order(Refusal::QuoteExpired), 400, None, "quote_expired"),
            (order(Refusal::ExternalIdConflict(payment)), 422, None, "external_id_conflict"),
            (
                Denied::Refused(Refused::OpenQuoteLimit { limit: 1, country: Country::Pak }),
                400,
                None,
                "open_quote_limit",
            ),
            (Denied::Refused(CancelRefusal::Sent.into()), 409, None, "payment_not_cancellable"),
            (Denied::Refused(RecallRefusal::NotSent.into()), 409, None, "payment_not_recallable"),
            (
                Denied::Refused(RecallRefusal::Open(RecallId(Uuid::nil())).into()),
                409,
                None,
                "recall_open",
            ),
            (
                Denied::Refused(RecallRefusal::RailCannot(RailId::new("pak-raast")).into()),
                409,
                None,
                "rail_cannot_recall",
            ),
            (Denied::Refused(Refused::IdempotencyMismatch), 422, None, "idempotency_mismatch"),
            (Denied::Refused(Refused::Moved), 500, None, "internal_error"),
            (Denied::Engine(EngineError::Internal), 500, None, "internal_error"),
            (Denied::Engine(EngineError::Busy), 503, Some("1"), "unavailable"),
            (Denied::Engine(EngineError::Unavailable), 503, Some("1"), "unavailable"),
            (Denied::Engine(EngineError::CommitUnknown), 503, Some("1"), "unavailable"),
        ] {
            let shown = denied.to_string();
            assert_eq!(
                told(denied).await,
                (status, retry_after.map(str::to_owned), code.to_owned()),
                "{shown}"
            );
        }
    }
}
