//! The operations of Payment Service v2: the six of the specification, then the additions.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{any, get, post};
use domain::account_check::AccountAnswer;
use domain::country::Country;
use engine::payments::{
    AccountRequest, CHECK_AT_MOST, CHECK_BESIDE_AT_MOST, ListFilter, QuoteRequest, Record, Search,
};
use futures_util::StreamExt as _;
use http::{HeaderMap, Request};

use super::decode::{self, EventsMode, ListQuery, PaymentKey, SearchType, SortingOrder};
use super::events::{self, Follow, Framing};
use super::guard::{Admitted, Answer, Api};
use super::{refusals, render};
use crate::accept::Accepted;
use crate::limits::Operation;
use crate::problem::Problem;
use crate::write;

/// The routes under the base URL, and the errors of all other paths under `/v2`.
pub fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/v2/quote", post(create_quote))
        .route("/v2/quote/{id}", get(get_quote))
        .route("/v2/payment", post(create_payment))
        .route("/v2/payments/{id}", get(get_payment))
        .route("/v2/payments/{id}/cancel", post(cancel_payment))
        .route("/v2/payments/{id}/recalls", post(create_recall).get(list_recalls))
        .route("/v2/payments", get(list_payments))
        .route("/v2/account-checks", post(check_account))
        .route("/v2/events", get(follow_events))
        .method_not_allowed_fallback(no_such_method)
        .route("/v2", any(no_such_path))
        .route("/v2/", any(no_such_path))
        .route("/v2/{*path}", any(no_such_path))
        .with_state(api)
}

async fn no_such_path(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.refuse(&request, Problem::no_such_route())
}

async fn no_such_method(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.refuse(&request, Problem::method_not_allowed())
}

async fn create_quote(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.handle(Operation::CreateQuote, "create_quote", request, |api, admitted| async move {
        match decode::quote_request(&admitted.body)? {
            (asked, Some(account), _) => quote_with_check(&api, &admitted, asked, account).await,
            (asked, None, faults) => {
                let key = admitted.idempotency;
                let reply = api.payments.quote(&admitted.caller, asked, faults, key).await;
                let reply = reply.map_err(refusals::problem)?;
                let body = write::object(|out| render::quote(out, &reply.made));
                Ok(Answer::made(body, reply.replayed))
            }
        }
    })
    .await
}

/// A quote with the bank's answer about its account. The bank is asked last: neither a repetition nor
/// a request that is refused anyway uses up a check.
async fn quote_with_check(
    api: &Api,
    admitted: &Admitted,
    asked: QuoteRequest,
    account: AccountRequest,
) -> Result<Answer, Problem> {
    if let Some(answer) = api.answered_before(admitted).await? {
        return Ok(answer);
    }
    let (payments, caller, key) = (&api.payments, &admitted.caller, &admitted.idempotency);
    payments.preview_quote(caller, &asked, key.as_ref()).await.map_err(refusals::problem)?;
    api.takes_account_check(admitted)?;
    let checked = payments.check_account(caller, account, Vec::new(), CHECK_BESIDE_AT_MOST).await;
    let checked = checked.map_err(refusals::problem)?.answer;
    let reply = payments.quote(caller, asked, Vec::new(), key.clone()).await;
    let reply = reply.map_err(refusals::problem)?;
    let body = write::object(|out| {
        render::quote(out, &reply.made);
        out.object("account_check", |out| render::account_check(out, &checked));
    });
    if !reply.replayed {
        api.keep_answer(admitted, &body).await;
    }
    Ok(Answer::made(body, reply.replayed))
}

/// The id in a path; an error if it is not percent-encoded UTF-8, reported after 401 in the
/// service's format.
type Id = Result<Path<String>, PathRejection>;

fn text(id: Id) -> Option<String> {
    id.ok().map(|Path(id)| id)
}

async fn get_quote(State(api): State<Arc<Api>>, id: Id, request: Request<Body>) -> Response {
    api.handle(Operation::GetOne, "get_quote", request, |api, admitted| async move {
        let (country, id) = decode::quote_lookup(text(id).as_deref(), admitted.parts.uri.query())?;
        let found =
            api.payments.find_quote(&admitted.caller, id).await.map_err(refusals::problem)?;
        let quote = found.filter(|quote| quote.offer.country == country).ok_or_else(|| {
            let message = format!("No quote with this id to {}", country.alpha3());
            Problem::bad_request("quote_not_found", message)
        })?;
        Ok(Answer::json(write::object(|out| render::quote(out, &quote))))
    })
    .await
}

async fn create_payment(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.handle(Operation::CreatePayment, "create_payment", request, |api, admitted| async move {
        let (order, faults) = decode::payment_order(&admitted.body)?;
        let reply = api.payments.pay(&admitted.caller, order, faults, admitted.idempotency).await;
        let reply = reply.map_err(refusals::problem)?;
        Ok(Answer::made(write::object(|out| render::accepted(out, &reply.made)), reply.replayed))
    })
    .await
}

async fn get_payment(State(api): State<Arc<Api>>, id: Id, request: Request<Body>) -> Response {
    api.handle(Operation::GetOne, "get_payment", request, |api, admitted| async move {
        let record = named(&api, &admitted, id).await?;
        Ok(Answer::json(current(&record)))
    })
    .await
}

/// The payment that path and query name.
async fn named(api: &Api, admitted: &Admitted, id: Id) -> Result<Record, Problem> {
    let (country, key) = decode::payment_lookup(text(id).as_deref(), admitted.parts.uri.query())?;
    let found = match key {
        PaymentKey::Id(id) => api.payments.find_payment(&admitted.caller, id).await,
        PaymentKey::External(id) => api.payments.find_by_external_id(&admitted.caller, &id).await,
    };
    of_country(found.map_err(refusals::problem)?, country)
}

fn current(record: &Record) -> Vec<u8> {
    write::object(|out| render::record(out, record, &record.payment.standing))
}

async fn cancel_payment(State(api): State<Arc<Api>>, id: Id, request: Request<Body>) -> Response {
    api.handle(Operation::CreatePayment, "cancel_payment", request, |api, admitted| async move {
        let why = decode::cancellation(&admitted.body)?.unwrap_or_default();
        let id = named(&api, &admitted, id).await?.payment.id;
        let (tenant, by) = (admitted.caller.tenant, admitted.audit_context(&why));
        let reply = api.payments.cancel(tenant, id, by, admitted.idempotency).await;
        let reply = reply.map_err(refusals::problem)?;
        Ok(Answer::made(current(&reply.made), reply.replayed))
    })
    .await
}

async fn create_recall(State(api): State<Arc<Api>>, id: Id, request: Request<Body>) -> Response {
    api.handle(Operation::CreatePayment, "create_recall", request, |api, admitted| async move {
        let asked = decode::recall(&admitted.body)?;
        let id = named(&api, &admitted, id).await?.payment.id;
        let by = admitted.audit_context(asked.1.as_deref().unwrap_or_default());
        let tenant = admitted.caller.tenant;
        let reply = api.payments.recall(tenant, id, asked, by, admitted.idempotency).await;
        let reply = reply.map_err(refusals::problem)?;
        let body = write::object(|out| render::recall(out, &reply.made));
        Ok(Answer::made(body, reply.replayed))
    })
    .await
}

async fn list_recalls(State(api): State<Arc<Api>>, id: Id, request: Request<Body>) -> Response {
    api.handle(Operation::GetOne, "list_recalls", request, |api, admitted| async move {
        let id = named(&api, &admitted, id).await?.payment.id;
        let recalls = api.payments.recalls(admitted.caller.tenant, id).await;
        let recalls = recalls.map_err(refusals::problem)?;
        Ok(Answer::json(write::array(|out| {
            recalls.iter().for_each(|recall| out.object(|out| render::recall(out, recall)));
        })))
    })
    .await
}

async fn check_account(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.handle(Operation::CheckAccount, "check_account", request, |api, admitted| async move {
        let (asked, faults) = decode::account_check(&admitted.body)?;
        if let Some(answer) = api.answered_before(&admitted).await? {
            return Ok(answer);
        }
        let checked = api.payments.check_account(&admitted.caller, asked, faults, CHECK_AT_MOST);
        let checked = checked.await.map_err(refusals::problem)?;
        let body = write::object(|out| render::account_check(out, &checked.answer));
        // With the same key a bank may be asked again that did not answer, or that rested.
        if checked.rail.is_some() && !matches!(checked.answer, AccountAnswer::Unavailable(_)) {
            api.keep_answer(&admitted, &body).await;
        }
        Ok(Answer::json(body))
    })
    .await
}

fn of_country(found: Option<Record>, country: Country) -> Result<Record, Problem> {
    found.filter(|record| record.payment.country == country).ok_or_else(|| {
        let message = format!("No payment with this id to {}", country.alpha3());
        Problem::bad_request("payment_not_found", message)
    })
}

async fn list_payments(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.handle(Operation::List, "list_payments", request, |api, admitted| async move {
        let query = decode::list_query(admitted.parts.uri.query())?;
        let Some(filter) = filter(query) else { return Ok(Answer::json(write::array(|_| {}))) };
        let found =
            api.payments.list(&admitted.caller, &filter).await.map_err(refusals::problem)?;
        Ok(Answer::json(write::array(|out| render::records(out, &found))))
    })
    .await
}

/// The store's filter; `None` if nothing can match.
fn filter(query: ListQuery) -> Option<ListFilter> {
    if query.limit == 0 {
        return None;
    }
    let search = match query.search {
        None => None,
        Some((SearchType::Id, term)) => Some(Search::Id(term)),
        Some((SearchType::ExternalId, term)) => Some(Search::ExternalId(term)),
        Some((SearchType::LinkedTxn, term)) => Some(Search::LinkedTxn(term)),
    };
    Some(ListFilter {
        country: query.country,
        states: query.status,
        start: query.start_ts,
        end: query.end_ts,
        search,
        newest_first: query.sorting_order == SortingOrder::Desc,
        limit: query.limit as usize,
        offset: usize::try_from(query.offset).ok()?,
    })
}

async fn follow_events(State(api): State<Arc<Api>>, request: Request<Body>) -> Response {
    api.handle(Operation::List, "stream_events", request, |api, admitted| async move {
        let query = decode::events_query(admitted.parts.uri.query(), &admitted.parts.headers)?;
        let after = position(&api, &admitted, query.after).await?;
        let framing = framing(&admitted.parts.headers);
        let follow = Follow {
            api: api.clone(),
            access_key: admitted.access_key.clone(),
            peer: admitted.peer(),
            payments: api.payments.clone(),
            tenant: admitted.caller.tenant,
            after,
            framing,
            heartbeat: api.settings.heartbeat,
            stopping: api.settings.stopping.clone(),
        };
        if let EventsMode::Poll { limit, wait_s } = query.mode {
            return events::poll(follow, limit, wait_s).await.map(Answer::json);
        }
        let permit = api.take_stream(&admitted.access_key)?;
        let chunks = events::stream(follow).map(move |chunk| {
            // The stream holds the permit until it ends.
            let _held = &permit;
            chunk
        });
        Ok(Answer::stream(Body::from_stream(chunks), framing.content_type()))
    })
    .await
}

/// Whether the client prefers server-sent events to JSON.
fn framing(headers: &HeaderMap) -> Framing {
    let accepted = Accepted::of(headers);
    let sse = accepted.named(Framing::Sse.content_type());
    let prefers = sse > 0 && sse >= accepted.quality(Framing::JsonLines.content_type());
    if prefers { Framing::Sse } else { Framing::JsonLines }
}

/// The start position: the given one, or the end of the log. A position older than the stored
/// events is refused, except 0, which means all stored events. So is one beyond the log, whose
/// reader would miss every event up to it.
async fn position(api: &Api, admitted: &Admitted, given: Option<i64>) -> Result<i64, Problem> {
    let store = api.payments.store();
    let tenant = admitted.caller.tenant;
    let failed = |error: engine::payments::StoreError| refusals::problem(error.into());
    let Some(after) = given else { return store.event_head(tenant).await.map_err(failed) };
    if after == 0 {
        return Ok(0);
    }
    let head = store.event_head(tenant).await.map_err(failed)?;
    if after > head {
        let message = format!(
            "The log ends at {head}: this position belongs to a different or a reset log; start again from 0, or without a position"
        );
        return Err(Problem::bad_request("cursor_ahead", message).with("head", head));
    }
    // If the log is empty now, all of its events have expired.
    let gone =
        store.oldest_event(tenant).await.map_err(failed)?.map_or(head, |(oldest, _)| oldest - 1);
    if after < gone {
        let message = format!("Events up to {gone} are no longer kept; start again from 0");
        return Err(Problem::bad_request("cursor_expired", message));
    }
    Ok(after)
}
