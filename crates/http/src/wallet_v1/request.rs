//! Payment requests, and the history of transactions.

use std::sync::Arc;

use domain::ids::PaymentRequestId;
use engine::wallets::{NewRequestAsked, Transaction};

use super::gate::{Admitted, Answer};
use super::refusals::{Named, denied};
use super::routes::Api;
use super::wallet::wallet_id;
use super::{decode, render};
use crate::problem::WalletProblem;

pub(super) async fn create(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::payment_request(&admitted.body)?;
    let asked = NewRequestAsked {
        wallet: wallet_id(&asked.wallet_id)?,
        amount: asked.amount,
        purpose: asked.purpose,
        expires_in_hours: asked.expires_in_hours,
    };
    let reply = api.wallets.create_request(&admitted.caller, asked, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, |out, request| render::created_request(out, request, &api.links)))
}

pub(super) async fn list(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::requests(admitted.parts.uri.query())?;
    let (wallet, page) = (wallet_id(&query.wallet_id)?, query.page);
    let listed = api.wallets.list_requests(&admitted.caller, wallet, query.status, page.wanted()).await;
    let listed = listed.map_err(denied)?;
    Ok(Answer::listed("payment_requests", page, &listed, |out, request| {
        render::listed_request(out, request, &api.links);
    }))
}

pub(super) async fn cancel(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let id = PaymentRequestId::parse(&admitted.id).ok_or_else(|| Named::PaymentRequest.not_found())?;
    let reply = api.wallets.cancel_request(&admitted.caller, id, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, |out, request| render::listed_request(out, request, &api.links)))
}

pub(super) async fn transactions(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::transactions(admitted.parts.uri.query())?;
    let (wallet, page) = (wallet_id(&query.wallet_id)?, query.page);
    let listed = api.wallets.transactions(&admitted.caller, wallet, query.kind, page.wanted()).await;
    let listed = listed.map_err(denied)?;
    let explorer = api.explorer();
    Ok(Answer::listed("transactions", page, &listed, |out, entry| match entry {
        Transaction::Deposit(deposit) => render::received(out, deposit, &explorer),
        Transaction::Exchange(order) => render::exchanged(out, order),
    }))
}
