//! Deposits held for review.

use std::sync::Arc;

use domain::ids::DepositId;
use engine::wallets::ReviewAsked;

use super::guard::{Admitted, Answer};
use super::refusals::{Named, denied};
use super::routes::Api;
use super::{decode, render};
use crate::problem::WalletProblem;

pub(super) async fn list(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let page = decode::reviews(admitted.parts.uri.query())?.page;
    let listed = api.wallets.reviews(&admitted.caller, page.wanted()).await.map_err(denied)?;
    Ok(Answer::listed("reviews", page, &listed, |out, deposit| {
        render::review(out, deposit, api.explorer(deposit.chain))
    }))
}

pub(super) async fn get(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let deposit = api
        .wallets
        .find_deposit(&admitted.caller, deposit_id(&admitted.id)?)
        .await
        .map_err(denied)?;
    // Not screened yet, or hidden from the bank.
    if deposit.status().is_none() || deposit.assessment.is_none() {
        return Err(Named::Transaction.not_found());
    }
    let explorer = api.explorer(deposit.chain);
    Ok(Answer::object(|out| render::review(out, &deposit, explorer)))
}

pub(super) async fn decide(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::review(&admitted.body)?;
    let asked = ReviewAsked {
        deposit: deposit_id(&admitted.id)?,
        seen: None,
        verdict: asked.verdict,
        by: admitted.audit_context(asked.note.as_deref().unwrap_or_default()),
    };
    let reply = api.wallets.decide_review(&admitted.caller, asked, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::reviewed))
}

fn deposit_id(text: &str) -> Result<DepositId, WalletProblem> {
    DepositId::parse(text).ok_or_else(|| Named::Transaction.not_found())
}
