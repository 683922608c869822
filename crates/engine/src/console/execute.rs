//! Executes approved proposals with the same commands as everything else.
//!
//! The decision is saved first. A transient failure (database, port) leaves the proposal approved,
//! to be retried; a definite refusal ends it. A retry is harmless: each command names the state
//! that was reviewed and is refused for any other, and completed work is already in the audit log
//! under the proposal's id.

use std::sync::Arc;

use domain::approval::{Approval, ApprovalState, Change, ProposedAction};
use domain::attempt::evidence_of;
use domain::audit::{self, INSTALLATION, Note, Via};
use domain::deposit::{DepositRefusal, ReviewVerdict};
use domain::exchange::OrderRefusal;
use domain::ids::TenantId;
use domain::policy::fields;
use domain::time::Span;
use store::{StoreError, UserChange};

use super::propose::{
    access_changes, payment_webhook_changes, policy_changes, pricing_changes, webhook_changes,
};
use super::{Console, Denied};
use crate::command::{Idempotency, Refused};
use crate::payments::{Caller, IdempotencyKey};
use crate::wallets::ReviewAsked;
use crate::{payments, wallets};

/// Idempotency scope of commands that execute approvals.
const SCOPE: &str = "console approval";
/// Approvals read per retry pass.
const AGAIN_ROWS: usize = 100;
/// Age of an approval before it is retried; a younger one is still being executed by its approver.
const AGAIN_AFTER: Span = Span::mins(1);

impl Denied {
    /// Whether a retry may succeed: a dependency does not answer, or a concurrent change has to be
    /// read first.
    pub const fn is_passing(&self) -> bool {
        match self {
            Denied::Store(error) => {
                matches!(error, StoreError::Unavailable(_) | StoreError::Conflict(_))
            }
            Denied::Payments(denied) => matches!(
                denied,
                payments::Denied::Store(_)
                    | payments::Denied::Engine(_)
                    | payments::Denied::Refused(Refused::Moved)
            ),
            Denied::Wallets(denied) => matches!(
                denied,
                wallets::Denied::Store(_)
                    | wallets::Denied::Engine(_)
                    | wallets::Denied::Keys(_)
                    | wallets::Denied::Chain(_)
                    | wallets::Denied::ChainNotInUse
                    | wallets::Denied::Refused(
                        Refused::Moved
                            | Refused::Exchange(OrderRefusal::OlderLists)
                            | Refused::Deposit(DepositRefusal::OlderLists)
                    )
            ),
            _ => false,
        }
    }
}

impl Console {
    /// Executes an approved proposal and records the result.
    ///
    /// # Errors
    /// Any transient failure: the proposal stays approved, to be retried.
    pub async fn execute(&self, approval: &Approval) -> Result<(), Denied> {
        if approval.state != ApprovalState::Approved {
            return Ok(());
        }
        let (store, by) = (self.payments.store(), audit_context_of(approval));
        let first = match self.act_once(approval).await {
            Ok(()) => store.finish_approval(approval, true, &approval.outcome, by).await?,
            Err(denied) if denied.is_passing() => return Err(denied),
            Err(denied) => store.finish_approval(approval, false, &denied.to_string(), by).await?,
        };
        tracing::info!(approval = %approval.id, kind = approval.deed.kind(), first, "approval executed");
        Ok(())
    }

    /// Retries an approved proposal now, once its approver's own execution must have ended.
    ///
    /// # Errors
    /// [`Denied::Refused`] if it is too early; otherwise as [`Console::execute`].
    pub async fn execute_again(
        &self,
        approval: &Approval,
        by: audit::AuditContext,
    ) -> Result<(), Denied> {
        if self.is_left(approval) {
            let tenant = approval.tenant.unwrap_or(INSTALLATION);
            let note = Note::new("approval.again", "approval", approval.id);
            self.payments.store().append_audit(tenant, by, note).await?;
            return self.execute(approval).await;
        }
        Err(Denied::Refused("this approval is being executed: try again in a minute".to_owned()))
    }

    /// Whether it was approved long enough ago to be retried.
    pub fn is_left(&self, approval: &Approval) -> bool {
        let late = self.now() - AGAIN_AFTER;
        approval.state == ApprovalState::Approved
            && approval.decided.as_ref().is_some_and(|(_, at)| *at <= late)
    }

    /// Retries approved proposals that are not executed; returns how many remain.
    pub async fn execute_rest(&self) -> Result<usize, Denied> {
        let (mut left, mut last) = (0, None);
        loop {
            let page = self
                .payments
                .store()
                .approvals_left(AGAIN_AFTER, last.as_ref(), AGAIN_ROWS)
                .await?;
            for approval in &page {
                if let Err(denied) = self.execute(approval).await {
                    tracing::warn!(approval = %approval.id, %denied, "approval execution failed, will retry");
                    left += 1;
                }
            }
            let is_last = page.len() < AGAIN_ROWS;
            last = page.into_iter().last();
            if is_last {
                return Ok(left);
            }
        }
    }

    /// Executes it unless it is done already: by another node, or by one that crashed before
    /// recording it.
    async fn act_once(&self, approval: &Approval) -> Result<(), Denied> {
        if self.is_done(approval).await? {
            return Ok(());
        }
        match self.act(approval).await {
            // A concurrent execution changes the state, so that this one is refused.
            Err(denied) if !denied.is_passing() && self.is_done(approval).await? => Ok(()),
            acted => acted,
        }
    }

    /// Whether the audit log records it as done.
    async fn is_done(&self, approval: &Approval) -> Result<bool, Denied> {
        let store = self.payments.store();
        // The subject that the log's entries about this action carry.
        let subject = match (&approval.deed, approval.tenant) {
            (ProposedAction::SetUserAccess { user, .. }, _) => {
                store.user(*user).await?.ok_or(Denied::NotFound)?.user.login
            }
            (
                ProposedAction::SetPricing(_)
                | ProposedAction::SetPolicy { .. }
                | ProposedAction::SetWebhookUrl { .. }
                | ProposedAction::SetPaymentWebhooks { .. },
                Some(tenant),
            ) => tenant.to_string(),
            (deed, _) => deed.subject(),
        };
        Ok(store.is_carried_out(approval, &subject).await?)
    }

    async fn act(&self, approval: &Approval) -> Result<(), Denied> {
        let (store, by) = (self.payments.store(), audit_context_of(approval));
        match (&approval.deed, approval.tenant) {
            (ProposedAction::AcceptCoinCode { chain, coin, at_block }, None) => {
                let states = store.token_states().await?;
                let reviewed = (*chain, *coin, *at_block);
                let seen = states.iter().find(|it| (it.chain, it.coin, it.at_block) == reviewed);
                let seen = seen.ok_or_else(|| moved("the token's state has changed since"))?;
                if !seen.code_changed {
                    return Ok(());
                }
                Ok(store.accept_token_code(seen, by).await?)
            }
            (ProposedAction::SetUserAccess { user, roles, scope }, None) => {
                // Read once: the version compared is the version changed.
                let found = store.user(*user).await?.ok_or(Denied::NotFound)?;
                let words =
                    (self.scope_words(found.user.scope).await?, self.scope_words(*scope).await?);
                if !is_as_seen(approval, access_changes(&found, roles, *scope, words))? {
                    return Ok(());
                }
                let roles = roles.iter().copied().collect();
                let change = UserChange::Access { roles, scope: *scope, version: found.version };
                let now = self.payments.world().wall_clock.now();
                Ok(store.change_user(&found.user, &change, now, by).await?)
            }
            (_, None) => Err(Denied::NotFound),
            (deed, Some(tenant)) => self.act_for(tenant, deed, approval, by).await,
        }
    }

    async fn act_for(
        &self,
        id: TenantId,
        deed: &ProposedAction,
        approval: &Approval,
        by: audit::AuditContext,
    ) -> Result<(), Denied> {
        let tenant = self.tenant(id).await?;
        let caller = Caller { tenant: id, policy: Arc::new(tenant.policy.clone()) };
        let (store, once) = (self.payments.store(), Some(once(approval)));
        match deed {
            ProposedAction::UnblockWallet { wallet, blocked_at, reason } => {
                let seen = Some(*blocked_at);
                self.wallets
                    .unblock_as_seen(&caller, *wallet, seen, reason.clone(), by, once)
                    .await?;
            }
            // A regulator's order is passed on whatever the wallet's state is.
            ProposedAction::BlacklistWallet { wallet, order } => {
                self.wallets.blacklist(&caller, *wallet, order.clone(), by, once).await?;
            }
            ProposedAction::ReleaseDeposit { deposit, waits_since } => {
                let (seen, verdict) = (Some(*waits_since), ReviewVerdict::Approve);
                let asked = ReviewAsked {
                    deposit: *deposit,
                    seen,
                    verdict,
                    by: by.on_behalf_of(names(approval)),
                };
                self.wallets.decide_review(&caller, asked, once).await?;
            }
            ProposedAction::ReleaseOrder { order, version } => {
                self.wallets.review_order(&caller, *order, true, *version, by).await?;
            }
            ProposedAction::ReleasePayment { payment, version } => {
                self.payments.review(id, *payment, true, Some(*version), by).await?;
            }
            ProposedAction::LiftHold { deposit, held_since } => {
                self.wallets.lift_hold(&caller, *deposit, Some(*held_since), by, once).await?;
            }
            ProposedAction::ResolvePayment { payment, doubt, became } => {
                self.payments
                    .resolve(id, *payment, *doubt, became.clone(), evidence(approval), by)
                    .await?;
            }
            ProposedAction::ResolveOrder { order, doubt, became } => {
                self.wallets
                    .resolve_order(&caller, *order, *doubt, became.clone(), evidence(approval), by)
                    .await?;
            }
            ProposedAction::SetPricing(pricing) => {
                if is_as_seen(approval, pricing_changes(&tenant, pricing))? {
                    let mut policy = tenant.policy.clone();
                    policy.premium_bps = pricing.premium_bps;
                    policy.margin_bps = pricing.margin_bps;
                    policy.margin_bps_by_country = pricing.margin_bps_by_country.clone();
                    policy.wallet.spread_bps = pricing.spread_bps;
                    store.set_tenant_policy_as_seen(id, &tenant.policy, &policy, by).await?;
                }
            }
            ProposedAction::SetPolicy { values, .. } => {
                if is_as_seen(approval, policy_changes(&tenant, values))? {
                    let wanted = fields::with(&tenant.policy, values)
                        .map_err(|fault| moved(&fault.to_string()))?;
                    store.set_tenant_policy_as_seen(id, &tenant.policy, &wanted, by).await?;
                }
            }
            ProposedAction::SetWebhookUrl { url } => {
                let seen = store.webhook(id).await?.ok_or(Denied::NotFound)?.url;
                if is_as_seen(approval, webhook_changes(&seen, url))? {
                    store.set_webhook_url_as_seen(id, &seen, url, by).await?;
                }
            }
            ProposedAction::SetPaymentWebhooks { on } => {
                let seen = store.webhook(id).await?.ok_or(Denied::NotFound)?.payment_events;
                if is_as_seen(approval, payment_webhook_changes(seen, *on))? {
                    store.set_payment_webhooks(id, *on, by).await?;
                }
            }
            ProposedAction::AcceptCoinCode { .. } | ProposedAction::SetUserAccess { .. } => {
                return Err(Denied::NotFound);
            }
        }
        Ok(())
    }
}

/// Whether a setting still has to be changed; `false` if it already has the value. The approval
/// covers the change from the state that was reviewed, not from another one.
fn is_as_seen(approval: &Approval, changes: Result<Vec<Change>, Denied>) -> Result<bool, Denied> {
    match changes {
        Err(Denied::NoChange) => Ok(false),
        Ok(changes) if changes != approval.changes => {
            Err(moved("it has changed since it was proposed"))
        }
        changes => changes.map(|_| true),
    }
}

/// The actor for the audit log: the approver together with the proposer.
pub fn audit_context_of(approval: &Approval) -> audit::AuditContext {
    let deed = audit::AuditContext::new(Via::Console, checker(approval))
        .together_with(&approval.maker.login);
    deed.because(&approval.why).of_request(approval.request_id())
}

fn checker(approval: &Approval) -> &str {
    approval.decided.as_ref().map_or("", |(person, _)| person.login.as_str())
}

/// The logins of both users, as a decision stores them.
fn names(approval: &Approval) -> String {
    format!("{}, {}", approval.maker.login, checker(approval))
}

/// Their evidence, with both names.
fn evidence(approval: &Approval) -> String {
    evidence_of(&approval.why, &approval.maker.login, checker(approval))
}

fn moved(why: &str) -> Denied {
    Denied::Refused(why.to_owned())
}

/// A command of an approval takes effect once, however often it is retried.
fn once(approval: &Approval) -> Idempotency {
    let key = IdempotencyKey { scope: SCOPE.to_owned(), key: approval.id.to_string() };
    Idempotency { key, body_hash: [0; 32] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_the_chain_is_tried_again() {
        let fault = domain::chain::ChainFault::Unreachable("silent".to_owned());
        for denied in [wallets::Denied::ChainNotInUse, wallets::Denied::Chain(fault)] {
            assert!(Denied::Wallets(denied).is_passing());
        }
        for denied in [wallets::Denied::NotOffered, wallets::Denied::Refused(Refused::NotFound)] {
            assert!(!Denied::Wallets(denied).is_passing());
        }
    }
}
