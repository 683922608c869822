//! Exchange rates and orders.

use std::sync::Arc;

use domain::ids::ExchangeId;
use engine::wallets::NewOrderAsked;

use super::guard::{Admitted, Answer};
use super::refusals::{Named, denied};
use super::routes::Api;
use super::wallet::wallet_id;
use super::{decode, render};
use crate::problem::WalletProblem;

pub(super) async fn rate(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::rate_query(admitted.parts.uri.query(), api.wallets.exchange_to())?;
    let quote = api
        .wallets
        .exchange_rate(&admitted.caller, query.from, query.to, query.minor)
        .map_err(denied)?;
    Ok(Answer::object(|out| render::quoted(out, query.from, &quote)))
}

pub(super) async fn create(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::order(&admitted.body, api.wallets.exchange_to())?;
    let order = NewOrderAsked {
        wallet: wallet_id(&asked.wallet_id)?,
        coin: asked.from,
        minor: asked.minor,
        to: asked.to,
        lock: asked.lock_rate,
        iban: asked.bank_account.iban,
        account_number: asked.bank_account.account_number,
        bank_code: asked.bank_account.bank_code,
        holder: asked.bank_account.account_holder_name,
    };
    let reply = api.wallets.create_order(&admitted.caller, order, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::created_order))
}

pub(super) async fn list(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::orders(admitted.parts.uri.query())?;
    let (wallet, page) = (wallet_id(&query.wallet_id)?, query.page);
    let listed =
        api.wallets.list_orders(&admitted.caller, wallet, page.wanted()).await.map_err(denied)?;
    Ok(Answer::listed("orders", page, &listed, render::listed_order))
}

pub(super) async fn get(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let found =
        api.wallets.find_order(&admitted.caller, order_id(&admitted.id)?).await.map_err(denied)?;
    Ok(Answer::object(|out| render::found_order(out, &found)))
}

/// The order that a path names; a malformed id matches no order.
fn order_id(text: &str) -> Result<ExchangeId, WalletProblem> {
    ExchangeId::parse(text).ok_or_else(|| Named::Order.not_found())
}

pub(super) async fn cancel(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    decode::no_fields(&admitted.body)?;
    let id = order_id(&admitted.id)?;
    let reply = api.wallets.cancel_order(&admitted.caller, id, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::listed_order))
}
