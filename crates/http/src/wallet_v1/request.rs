//! Payment requests, and the transaction history.

use std::sync::Arc;

use domain::ids::{DepositId, PaymentRequestId};
use domain::payment_request::{PaymentRequest, RequestMoney};
use engine::wallets::{Caller, NewRequestAsked};

use super::guard::{Admitted, Answer};
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
        recipient_name: asked.recipient_name,
        expires_in_hours: asked.expires_in_hours,
    };
    let reply = api.wallets.create_request(&admitted.caller, asked, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, |out, request| {
        render::created_request(out, request, &api.links)
    }))
}

pub(super) async fn list(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let query = decode::requests(admitted.parts.uri.query())?;
    let (wallet, page) = (wallet_id(&query.wallet_id)?, query.page);
    let listed =
        api.wallets.list_requests(&admitted.caller, wallet, query.status, page.wanted()).await;
    let listed = listed.map_err(denied)?;
    let money = api.wallets.money_of(&admitted.caller, &listed.rows).await.map_err(denied)?;
    Ok(Answer::listed("payment_requests", page, &listed, |out, request| {
        let money = money.get(&request.id).copied().unwrap_or_default();
        render::listed_request(out, request, &money, &api.links);
    }))
}

pub(super) async fn get(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let request = api
        .wallets
        .find_request(&admitted.caller, request_id(&admitted.id)?)
        .await
        .map_err(denied)?;
    let money = money(&api, &admitted.caller, &request).await?;
    Ok(Answer::object(|out| render::found_request(out, &request, &money, &api.links)))
}

/// The payment request that a path names; a malformed id matches none.
fn request_id(text: &str) -> Result<PaymentRequestId, WalletProblem> {
    PaymentRequestId::parse(text).ok_or_else(|| Named::PaymentRequest.not_found())
}

async fn money(
    api: &Api,
    caller: &Caller,
    request: &PaymentRequest,
) -> Result<RequestMoney, WalletProblem> {
    let found =
        api.wallets.money_of(caller, std::slice::from_ref(request)).await.map_err(denied)?;
    Ok(found.get(&request.id).copied().unwrap_or_default())
}

pub(super) async fn cancel(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    decode::no_fields(&admitted.body)?;
    let id = request_id(&admitted.id)?;
    let reply = api
        .wallets
        .cancel_request(&admitted.caller, id, admitted.idempotency)
        .await
        .map_err(denied)?;
    let money = money(&api, &admitted.caller, &reply.made).await?;
    Ok(Answer::made(reply, |out, request| render::listed_request(out, request, &money, &api.links)))
}

pub(super) async fn transactions(
    api: Arc<Api>,
    admitted: Admitted,
) -> Result<Answer, WalletProblem> {
    let query = decode::transactions(admitted.parts.uri.query())?;
    let (wallet, page) = (wallet_id(&query.wallet_id)?, query.page);
    let listed =
        api.wallets.transactions(&admitted.caller, wallet, query.kind, page.wanted()).await;
    let listed = listed.map_err(denied)?;
    Ok(Answer::listed("transactions", page, &listed, |out, entry| {
        render::listed_transaction(out, entry, api.explorer(entry.chain()))
    }))
}

pub(super) async fn transaction(
    api: Arc<Api>,
    admitted: Admitted,
) -> Result<Answer, WalletProblem> {
    // Deposits and orders differ by where they are found.
    let DepositId(id) =
        DepositId::parse(&admitted.id).ok_or_else(|| Named::Transaction.not_found())?;
    let found = api.wallets.find_transaction(&admitted.caller, id).await.map_err(denied)?;
    let explorer = api.explorer(found.chain());
    Ok(Answer::object(|out| render::found_transaction(out, &found, explorer)))
}
