//! The event log and the deliveries of its webhooks.

use std::sync::Arc;

use domain::ids::EventId;
use engine::wallets::{DeliveryFilter, Denied};

use super::guard::{Admitted, Answer};
use super::refusals::{Named, denied};
use super::routes::Api;
use super::{decode, render};
use crate::problem::WalletProblem;

pub(super) async fn deliveries(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::deliveries(admitted.parts.uri.query())?;
    let states = query.status.into_iter().collect();
    let filter = DeliveryFilter { of: query.service, states, ..DeliveryFilter::default() };
    let listed = api
        .wallets
        .deliveries(&admitted.caller, &filter, query.page.wanted())
        .await
        .map_err(denied)?;
    Ok(Answer::listed("deliveries", query.page, &listed, |out, record| {
        render::delivery(out, &record.delivery, record.event.kind_name());
    }))
}

pub(super) async fn redeliver(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    decode::no_fields(&admitted.body)?;
    let id = EventId::parse(&admitted.id).ok_or_else(|| Named::Delivery.not_found())?;
    let reply = api
        .wallets
        .redeliver(&admitted.caller, id, admitted.audit_context(""), admitted.idempotency)
        .await;
    let reply = reply.map_err(|refused| match refused {
        // A delivery has its event's id.
        Denied::NotFound(_) => Named::Delivery.not_found(),
        refused => denied(refused),
    })?;
    Ok(Answer::made(reply, |out, record| {
        render::delivery(out, &record.delivery, record.event.kind_name())
    }))
}

pub(super) async fn events(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::events(admitted.parts.uri.query())?;
    let head = head_at(&api, &admitted, query.after).await?;
    let page = api
        .wallets
        .events_after(&admitted.caller, query.after, query.limit)
        .await
        .map_err(denied)?;
    // The log has no gaps: events missing after the reader's position have expired.
    let gone = page.first().map_or(head, |entry| entry.seq - 1);
    if query.after > 0 && query.after < gone {
        return Err(expired(gone));
    }
    let next = page.last().map_or(query.after, |entry| entry.seq);
    Ok(Answer::object(|out| {
        out.array("events", |items| {
            for entry in &page {
                items.object(|out| render::logged_event(out, entry));
            }
        });
        out.plain("next", next);
    }))
}

fn expired(gone: i64) -> WalletProblem {
    let message = format!("after: events up to {gone} are no longer kept; start again from 0");
    WalletProblem::invalid_request(message).of_field("after").with("reason", "cursor_expired")
}

/// The end of the log. A position beyond it is refused: its reader would miss every event up to it.
async fn head_at(api: &Api, admitted: &Admitted, after: i64) -> Result<i64, WalletProblem> {
    if after == 0 {
        return Ok(0);
    }
    let head = api.wallets.event_head(&admitted.caller).await.map_err(denied)?;
    if after <= head {
        return Ok(head);
    }
    let message = format!(
        "after: the log ends at {head}: this position belongs to a different or a reset log; \
         start again from 0"
    );
    Err(WalletProblem::invalid_request(message)
        .of_field("after")
        .with("reason", "cursor_ahead")
        .number("head", head))
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;
    use crate::request_id::RequestId;

    #[test]
    fn an_expired_position_has_its_reason() {
        let answer = expired(7).into_bytes(&RequestId::fresh(), Timestamp(0)).into_body();
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["field"], "after");
        assert_eq!(answer["details"]["reason"], "cursor_expired");
    }
}
