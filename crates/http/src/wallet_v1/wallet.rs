//! Provisioning, reading, blocking and blacklisting of wallets.

use std::sync::Arc;

use domain::ids::WalletId;
use domain::wallet::{BlacklistOrder, BlockOrder, TriggeredBy};
use engine::wallets::NewCustomer;

use super::guard::{Admitted, Answer};
use super::refusals::{Named, denied};
use super::routes::Api;
use super::{decode, render};
use crate::problem::WalletProblem;

pub(super) async fn provision(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::provision(&admitted.body)?;
    let customer = NewCustomer {
        customer_id: asked.customer_id,
        email: asked.customer_email,
        phone: asked.customer_phone,
        blockchain: asked.blockchain,
        kyc_level: asked.kyc_level,
    };
    let reply = api.wallets.provision(&admitted.caller, customer, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::provisioned))
}

pub(super) async fn get(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let found = api.wallets.find(&admitted.caller, wallet_id(&admitted.id)?).await;
    let (wallet, held) = found.map_err(denied)?;
    Ok(Answer::object(|out| render::found_wallet(out, &wallet, &held)))
}

pub(super) async fn block(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::block(&admitted.body)?;
    let order = BlockOrder {
        reason: asked.reason,
        details: asked.details,
        auto_unblock_hours: asked.auto_unblock_hours,
        triggered_by: TriggeredBy::Manual,
    };
    let (id, by) = (wallet_id(&admitted.id)?, admitted.audit_context(&order.details));
    let reply = api.wallets.block(&admitted.caller, id, order, by, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::blocked))
}

pub(super) async fn unblock(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let reason = decode::unblock(&admitted.body)?;
    let (id, by) =
        (wallet_id(&admitted.id)?, admitted.audit_context(reason.as_deref().unwrap_or_default()));
    let reply = api
        .wallets
        .unblock(&admitted.caller, id, reason, by, admitted.idempotency)
        .await
        .map_err(denied)?;
    Ok(Answer::made(reply, render::unblocked))
}

pub(super) async fn blacklist(api: Arc<Api>, admitted: Admitted) -> Result<Answer, WalletProblem> {
    let asked = decode::blacklist(&admitted.body)?;
    let order = BlacklistOrder {
        authority: asked.regulatory_authority,
        reference: asked.regulatory_reference_number,
        reason: asked.reason,
        effective_date: asked.effective_date,
    };
    let (id, by) = (wallet_id(&admitted.id)?, admitted.audit_context(&order.reason));
    let reply = api.wallets.blacklist(&admitted.caller, id, order, by, admitted.idempotency).await;
    Ok(Answer::made(reply.map_err(denied)?, render::blacklisted))
}

/// The wallet that a request names; a malformed id matches none.
pub(super) fn wallet_id(text: &str) -> Result<WalletId, WalletProblem> {
    WalletId::parse(text).ok_or_else(|| Named::Wallet.not_found())
}
