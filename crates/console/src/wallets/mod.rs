//! The wallet side of the console: wallets, payment requests, orders, the review queue, webhooks
//! and keys, system health, and sandbox tools.
//!
//! Pages read what the APIs read and make changes through the same commands. The access table
//! defines who may do what; actions that require two users become proposals.

use domain::attempt::UnresolvedAttempt;
use domain::deposit::{Deposit, DepositState};
use domain::exchange::{ExchangeOrder, ExchangeState};
use domain::payment_request::{
    Asked, PaymentRequest, Received, RequestException, RequestMoney, RequestState,
};
use domain::ports::BoxFuture;
use engine::payments::StoreError;
use engine::wallets::{KeysetFrom, KeysetPage, KeysetWanted};
use uuid::Uuid;

use super::{Cell, Routes, Stop, Tone, Visit};
use crate::audit;
use crate::parts::{grouped, when};
use crate::view::{Section, coins, coins_text};

pub(super) mod access;
mod alerts;
mod delivery;
mod delivery_chart;
pub(super) mod deposit;
mod deposit_list;
pub(super) mod evidence;
mod history;
pub(super) mod keys;
pub(super) mod order;
mod orders;
mod outcome;
pub(super) mod policy;
pub(super) mod receiver;
mod requests;
mod rescans;
pub(super) mod review;
mod sandbox;
pub(super) mod system;
mod wallet;
pub(super) mod wallet_list;
mod wanted;
mod webhooks;

pub(super) use webhooks::tone as delivery_tone;

/// Rows per read of an export.
const EXPORT_ROWS: usize = 1_000;
/// Maximum number of rows in an export; for more, use the API.
const EXPORT_MAX: usize = 50_000;

/// The routes of the wallet side.
pub(super) fn routes() -> Routes {
    things().merge(decisions()).merge(connections()).merge(installation())
}

/// Wallets, payment requests, orders.
fn things() -> Routes {
    Routes::new()
        .get("/console/t/{tenant}/wallets", wallet_list::list)
        .get("/console/t/{tenant}/wallets/export.csv", wallet_list::export)
        .get("/console/t/{tenant}/wallets/{id}", wallet::show)
        .post("/console/t/{tenant}/wallets/{id}/block", wallet::block)
        .post("/console/t/{tenant}/wallets/{id}/unblock", wallet::unblock)
        .post("/console/t/{tenant}/wallets/{id}/blacklist", wallet::blacklist)
        .get("/console/t/{tenant}/requests", requests::list)
        .get("/console/t/{tenant}/requests/export.csv", requests::export)
        .get("/console/t/{tenant}/requests/{id}", requests::show)
        .post("/console/t/{tenant}/requests/{id}/cancel", requests::cancel)
        .get("/console/t/{tenant}/orders", orders::list)
        .get("/console/t/{tenant}/orders/export.csv", orders::export)
        .get("/console/t/{tenant}/orders/{id}", order::show)
        .get("/console/t/{tenant}/orders/{id}/decide", order::confirm)
        .post("/console/t/{tenant}/orders/{id}/decide", order::decide)
        .post("/console/t/{tenant}/orders/{id}/resolve", order::resolve)
        .post("/console/t/{tenant}/orders/{id}/recredit", order::recredit)
}

/// Routes of the review queue.
fn decisions() -> Routes {
    Routes::new()
        .get("/console/t/{tenant}/review", review::queue)
        .get("/console/t/{tenant}/review/payments/{id}", review::show_payment)
        .get("/console/t/{tenant}/review/payments/{id}/decide", review::confirm_payment)
        .post("/console/t/{tenant}/review/payments/{id}/decide", review::decide_payment)
        .post("/console/t/{tenant}/review/payments/{id}/resolve", review::resolve_payment)
        .get("/console/t/{tenant}/deposits", deposit_list::list)
        .get("/console/t/{tenant}/deposits/export.csv", deposit_list::export)
        .get("/console/t/{tenant}/deposits/{id}", deposit::show)
        .get("/console/t/{tenant}/deposits/{id}/decide", deposit::confirm)
        .post("/console/t/{tenant}/deposits/{id}/decide", deposit::decide)
        .post("/console/t/{tenant}/deposits/{id}/refund", deposit::propose_refund)
        .post("/console/t/{tenant}/deposits/{id}/lift-hold", deposit::lift_hold)
        .post("/console/t/{tenant}/deposits/{id}/refund/approve", deposit::approve_refund)
        .post("/console/t/{tenant}/deposits/{id}/refund/withdraw", deposit::withdraw_refund)
        .get("/console/t/{tenant}/alerts", alerts::list)
        .get("/console/t/{tenant}/alerts/export.csv", alerts::export)
        .post("/console/t/{tenant}/alerts/close", alerts::close)
}

/// Webhooks, policy and keys.
fn connections() -> Routes {
    Routes::new()
        .get("/console/t/{tenant}/webhooks", webhooks::list)
        .get("/console/t/{tenant}/webhooks/deliveries/export.csv", webhooks::export)
        .post("/console/t/{tenant}/webhooks/recover", webhooks::recover)
        .post("/console/t/{tenant}/webhooks/example", webhooks::example)
        .post("/console/t/{tenant}/webhooks/url", receiver::set_url)
        .post("/console/t/{tenant}/webhooks/payments", receiver::set_payments)
        .post("/console/t/{tenant}/webhooks/subscribe", receiver::subscribe)
        .post("/console/t/{tenant}/webhooks/rotate", receiver::rotate)
        .post("/console/t/{tenant}/webhooks/disable", receiver::disable)
        .post("/console/t/{tenant}/webhooks/enable", receiver::enable)
        .get("/console/t/{tenant}/webhooks/deliveries/{id}", delivery::show)
        .post("/console/t/{tenant}/webhooks/deliveries/{id}/resend", delivery::resend)
        .get("/console/t/{tenant}/policy", policy::show)
        .post("/console/t/{tenant}/policy/propose", policy::propose)
        .get("/console/t/{tenant}/keys", keys::list)
        .post("/console/t/{tenant}/keys/create", keys::create)
        .post("/console/t/{tenant}/keys/rotate", keys::rotate)
        .post("/console/t/{tenant}/keys/networks", keys::networks)
        .post("/console/t/{tenant}/keys/suspend", keys::suspend)
        .post("/console/t/{tenant}/keys/resume", keys::resume)
        .post("/console/t/{tenant}/keys/revoke", keys::revoke)
}

/// Health, and sandbox tools.
fn installation() -> Routes {
    Routes::new()
        .get("/console/system", system::show)
        .post("/console/system/coins", system::accept_coin)
        .get("/console/system/rescans", rescans::show)
        .post("/console/system/rescans", rescans::request)
        .get("/console/t/{tenant}/sandbox", sandbox::show)
        .post("/console/t/{tenant}/sandbox/clock", sandbox::clock)
        .post("/console/t/{tenant}/sandbox/faucet", sandbox::faucet)
        .post("/console/t/{tenant}/sandbox/pay", sandbox::pay)
        .post("/console/t/{tenant}/sandbox/steer", sandbox::steer)
        .post("/console/t/{tenant}/sandbox/trigger", sandbox::trigger)
}

/// Reads all pages of a list.
///
/// # Errors
/// [`Stop::Refused`]: more rows than a file may have.
pub(crate) async fn every_page<'a, T>(
    read: impl Fn(KeysetWanted) -> BoxFuture<'a, Result<KeysetPage<T>, StoreError>>,
    mut each: impl FnMut(T),
) -> Result<(), Stop> {
    let (mut count, mut from) = (0, None);
    loop {
        let found = read(KeysetWanted { from, limit: EXPORT_ROWS }).await?;
        count += found.rows.len();
        found.rows.into_iter().for_each(&mut each);
        let Some(next) = found.next else { return Ok(()) };
        if count >= EXPORT_MAX {
            return Err(Stop::Refused(format!(
                "More than {EXPORT_MAX} rows match. Narrow the filter."
            )));
        }
        from = Some(KeysetFrom::After(next));
    }
}

/// The hidden field with the state that the page showed.
pub(crate) const SEEN: &str = "seen";

/// Whether the state is still as shown. Without the field, the current state counts, which the
/// proposal displays.
fn is_as_shown(visit: &Visit, now: &str) -> bool {
    let seen = visit.form().given(SEEN).or(visit.query().given(SEEN));
    // Fields are read trimmed.
    seen.is_none_or(|seen| seen == now.trim())
}

/// The same for a change.
///
/// # Errors
/// [`Stop::Refused`]: it has changed since.
pub(crate) async fn as_shown(visit: &Visit, now: impl ToString) -> Result<(), Stop> {
    match is_as_shown(visit, &now.to_string()) {
        true => Ok(()),
        false => Err(Stop::Refused(modified(visit).await?)),
    }
}

/// That the record in the path has changed since the page was loaded, and what was done about it.
async fn modified(visit: &Visit) -> Result<String, Stop> {
    let done = audit::about(visit, &[visit.param("id").to_owned()]).await?;
    let latest = done.last().map(|entry| {
        format!(" Latest action: {}, {} UTC.", audit::plain_sentence(entry), when(entry.at))
    });
    Ok(format!(
        "The record was modified after this page was loaded. Nothing was changed now.{}",
        latest.unwrap_or_default()
    ))
}

/// An unresolved outcome in the format of [`SEEN`].
fn doubt_shown(doubt: UnresolvedAttempt) -> String {
    format!("{} {}", doubt.attempt, doubt.since.0)
}

/// Open proposals about a record.
async fn waiting(visit: &Visit, subject: Uuid) -> Result<Section, Stop> {
    waiting_words(visit, &subject.to_string()).await
}

/// The same for a record known by a word.
pub(super) async fn waiting_words(visit: &Visit, subject: &str) -> Result<Section, Stop> {
    let found = visit.console().desk.waiting_about(Some(visit.tenant_id()?), subject).await?;
    let link = |approval: engine::console::Approval| {
        let words = format!(
            "{}, proposed by {}: {}",
            approval.deed.title(),
            approval.maker.login,
            approval.why
        );
        (format!("/console/approvals/{}", approval.id), words)
    };
    let links: Vec<_> = found.into_iter().map(link).collect();
    Ok(Section { title: "Waiting for approval".to_owned(), links, ..Section::default() })
}

/// A deposit's state in people's words; the API's word is on its page.
pub(super) const fn deposit_people(state: DepositState) -> &'static str {
    match state {
        DepositState::Seen | DepositState::Screening => "Arriving",
        DepositState::InReview => "In review",
        DepositState::Held => "On hold",
        DepositState::Suspended => "Suspended",
        DepositState::Approved => "Being released",
        DepositState::Completed => "Accepted",
        DepositState::Rejected => "Rejected",
        DepositState::LegalHold => "Legal hold",
        DepositState::Refunding => "Being refunded",
        DepositState::Refunded => "Refunded",
        DepositState::Failed => "Failed",
        DepositState::Orphaned => "Dropped from the chain",
        DepositState::Dust => "Dust",
    }
}

const fn deposit_tone(state: DepositState) -> Tone {
    match state {
        DepositState::Completed => Tone::Good,
        DepositState::Seen
        | DepositState::Screening
        | DepositState::Approved
        | DepositState::Refunding => Tone::Busy,
        DepositState::InReview | DepositState::Held | DepositState::Suspended => Tone::Warn,
        DepositState::Rejected | DepositState::LegalHold | DepositState::Failed => Tone::Bad,
        DepositState::Refunded | DepositState::Orphaned | DepositState::Dust => Tone::Plain,
    }
}

fn order_tone(order: &ExchangeOrder) -> Tone {
    let asks = order.is_withheld() || order.unclear_beyond_window || order.awaits_recredit();
    match order.state {
        _ if asks => Tone::Warn,
        ExchangeState::Settled => Tone::Good,
        ExchangeState::Pending
        | ExchangeState::Debiting
        | ExchangeState::Debited
        | ExchangeState::Paying => Tone::Busy,
        ExchangeState::Returning => Tone::Warn,
        ExchangeState::Failed => Tone::Bad,
        ExchangeState::Cancelled => Tone::Plain,
    }
}

/// A request's state in people's words: money that was rejected or refunded was not paid. The API's
/// word is on its page.
pub(super) fn request_state(request: &PaymentRequest, money: &RequestMoney) -> Cell {
    let (word, tone) = match (request.exception_for_bank(money), request.state) {
        (RequestException::Held, _) if !money.failed.is_nothing() => ("Release failed", Tone::Bad),
        (RequestException::Held, _) => ("In review", Tone::Warn),
        (RequestException::Rejected, _) => ("Rejected", Tone::Bad),
        (RequestException::Refunded, _) => ("Refunded", Tone::Plain),
        (RequestException::WrongAsset, _) => ("Wrong token", Tone::Warn),
        (RequestException::Partial, RequestState::Active) => ("Part paid", Tone::Busy),
        (RequestException::Partial, _) => ("Part paid", Tone::Warn),
        (RequestException::Overpaid, RequestState::Paid) => ("Overpaid", Tone::Good),
        (RequestException::Late, RequestState::Paid) => ("Paid late", Tone::Good),
        (RequestException::Late, RequestState::Cancelled) => ("Paid after the end", Tone::Warn),
        (_, RequestState::Paid) => ("Paid", Tone::Good),
        (_, RequestState::Active) => ("Waiting", Tone::Busy),
        (_, RequestState::Expired) => ("Expired", Tone::Plain),
        (_, RequestState::Cancelled) => ("Cancelled", Tone::Plain),
    };
    Cell::state(word, tone)
}

/// Where the money of requests is; nothing of those without deposits.
pub(super) async fn money_of(
    visit: &Visit,
    requests: &[PaymentRequest],
) -> Result<impl Fn(&PaymentRequest) -> RequestMoney, Stop> {
    let money = visit.console().store().money_of_requests(visit.tenant_id()?, requests).await?;
    Ok(move |request: &PaymentRequest| money.get(&request.id).copied().unwrap_or_default())
}

/// An order's state in people's words; the API's word is on its page.
pub(super) fn order_people(order: &ExchangeOrder) -> &'static str {
    match order.state {
        _ if order.is_withheld() => "In review",
        ExchangeState::Pending | ExchangeState::Debiting | ExchangeState::Debited => "Exchanging",
        ExchangeState::Paying if order.unclear_beyond_window => "Unconfirmed",
        ExchangeState::Paying => "Sending",
        ExchangeState::Returning => "Being returned",
        ExchangeState::Settled if order.came_back => "Returned",
        ExchangeState::Settled => "Paid",
        ExchangeState::Failed => "Failed",
        ExchangeState::Cancelled => "Cancelled",
    }
}

/// Id, state, amount, last change, first seen, wallet.
pub(super) fn deposit_row(visit: &Visit, deposit: &Deposit) -> Vec<Cell> {
    vec![
        Cell::id_link(visit.href(&format!("/deposits/{}", deposit.id)), deposit.id),
        Cell::state(deposit_people(deposit.state), deposit_tone(deposit.state)),
        coins(deposit.minor, deposit.coin),
        Cell::When(deposit.state_at),
        Cell::When(deposit.seen_at),
        Cell::id_link(visit.href(&format!("/wallets/{}", deposit.wallet)), deposit.wallet),
    ]
}

/// Id, state, amount, last change, creation, wallet.
pub(super) fn order_row(visit: &Visit, order: &ExchangeOrder) -> Vec<Cell> {
    vec![
        Cell::id_link(visit.href(&format!("/orders/{}", order.id)), order.id),
        Cell::state(order_people(order), order_tone(order)),
        coins(order.minor, order.coin),
        Cell::When(order.state_at),
        Cell::When(order.created_at),
        Cell::id_link(visit.href(&format!("/wallets/{}", order.wallet)), order.wallet),
    ]
}

/// Id, state, requested amount, received amount, creation, expiry.
pub(super) fn request_row(
    visit: &Visit,
    request: &PaymentRequest,
    money: &RequestMoney,
) -> Vec<Cell> {
    vec![
        Cell::id_link(visit.href(&format!("/requests/{}", request.id)), request.id),
        request_state(request, money),
        asked_for(request),
        both_coins(&request.received),
        Cell::When(request.created_at),
        Cell::When(request.expires_at),
    ]
}

fn asked_for(request: &PaymentRequest) -> Cell {
    Cell::number(asked_text(request))
}

fn asked_text(request: &PaymentRequest) -> String {
    match request.asked {
        Asked::Crypto { coin, minor } => coins_text(minor, coin),
        Asked::Fiat { currency, micros, .. } => {
            grouped(&format!("{} {}", domain::coin_amount::show(micros), currency.code()))
        }
        Asked::Flexible => "any amount".to_owned(),
    }
}

fn both_coins(received: &Received) -> Cell {
    let each = domain::currency::StableCoin::ALL.map(|coin| (received.of(coin), coin));
    let came: Vec<String> = each
        .into_iter()
        .filter(|(minor, _)| *minor > 0)
        .map(|(minor, coin)| coins_text(minor, coin))
        .collect();
    Cell::number(if came.is_empty() { "0.00".to_owned() } else { came.join(", ") })
}
