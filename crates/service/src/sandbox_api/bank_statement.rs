//! `POST /sandbox/bank/statement`: has the simulated bank send the statements of its accounts now,
//! with one mistake if requested.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http_api::problem::Problem;
use http_api::request_id::RequestId;
use http_api::write;
use reqwest::StatusCode;
use serde::Deserialize;
use testkit::bank::Mistake;

use super::{Reach, SandboxApi, failed, json, reachable, unreadable_query};

/// The mistake, and the payment concerned.
#[derive(Deserialize)]
pub(super) struct StatementQuery {
    mistake: Option<String>,
    payment_id: Option<String>,
}

pub(super) async fn close(
    State(api): State<Arc<SandboxApi>>,
    Extension(reach): Extension<Reach>,
    id: RequestId,
    query: Result<Query<StatementQuery>, QueryRejection>,
) -> Response {
    match closed(&api, reach, query).await {
        Ok(()) => json(StatusCode::OK, write::object(|out| out.text("statements", "sent"))),
        Err(problem) => problem.respond(&id),
    }
}

async fn closed(
    api: &SandboxApi,
    reach: Reach,
    query: Result<Query<StatementQuery>, QueryRejection>,
) -> Result<(), Problem> {
    let Query(query) = query.map_err(|rejection| unreadable_query(&rejection))?;
    let bank = api.bank()?;
    let wanted = match (&query.mistake, &query.payment_id) {
        (None, None) => None,
        (Some(name), Some(payment)) => {
            let known = Mistake::ALL.iter().find(|(known, _)| known == name);
            let mistake = known.map(|(_, mistake)| *mistake).ok_or_else(|| {
                let legal = Mistake::ALL.map(|(name, _)| name).join(", ");
                Problem::bad_request("unknown_mistake", format!("Must be one of {legal}"))
            })?;
            Some((mistake, reachable(&api.payments, reach, payment).await?.end_to_end_id()))
        }
        _ => {
            return Err(Problem::bad_request(
                "missing_query",
                "Give both mistake and payment_id, or neither",
            ));
        }
    };
    let wanted = wanted.as_ref().map(|(mistake, id)| (*mistake, id.as_str()));
    match bank.close_statements(wanted) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = "The bank has no booking of this payment since its last statements";
            Err(Problem::new(StatusCode::CONFLICT, "nothing_booked", message.to_owned()))
        }
        Err(error) => Err(failed(&error)),
    }
}
