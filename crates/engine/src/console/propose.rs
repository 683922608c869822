//! Proposals: what they would change, and who decides on them.

use std::collections::BTreeMap;

use domain::approval::{
    APPROVAL_LIFETIME, Approval, ApprovalUser, Change, Pricing, ProposedAction,
};
use domain::attempt::UnresolvedAttempt;
use domain::audit;
use domain::coin_amount;
use domain::currency::{Currency, StableCoin};
use domain::deposit::DepositState;
use domain::exchange::{ExchangeOrder, ExchangeState, OrderRefusal};
use domain::ids::{ApprovalId, TenantId};
use domain::money::Money;
use domain::names::state_phrase;
use domain::payment::{Payment, PaymentState, ReviewState};
use domain::policy::fields::{self, Field};
use domain::rail::{Finding, RailStatus};
use domain::user::{Role, Scope, User};
use domain::wallet::WalletState;
use domain::webhook::shown_url;
use store::{NewApproval, StoreError, StoredUser, Tenant};

use super::{Console, Denied, Proposal};

/// Outcomes of a payment that reviewers can record, with their labels.
pub const PAYMENT_ENDS: [(RailStatus, &str); 5] = [
    (RailStatus::Accepted, "processing"),
    (RailStatus::Settled, "succeeded"),
    (RailStatus::Rejected, "failed"),
    (RailStatus::Cancelled, "reversed"),
    (RailStatus::Returned, "reversed"),
];

/// Outcomes of an order's payout that reviewers can record, with their labels.
pub const ORDER_ENDS: [(RailStatus, &str); 5] = [
    (RailStatus::Accepted, "processing"),
    (RailStatus::Settled, "settled"),
    (RailStatus::Rejected, "failed"),
    (RailStatus::Cancelled, "reversed"),
    (RailStatus::Returned, "returned"),
];

/// Reviewers resolve a payout only after the rail's own response window is over.
pub const EARLY: &str = "the rail may still report the payout's outcome";

/// Returns the label of an outcome that reviewers can record.
fn word(ends: &[(RailStatus, &'static str)], became: &RailStatus) -> Result<&'static str, Denied> {
    let known = ends.iter().find(|(status, _)| status == became);
    known
        .map(|(_, word)| *word)
        .ok_or_else(|| Denied::Refused("this outcome cannot be recorded manually".to_owned()))
}

fn change(what: &str, before: impl ToString, after: impl ToString) -> Change {
    Change { what: what.to_owned(), before: before.to_string(), after: after.to_string() }
}

fn shown_amount(minor: i64, coin: StableCoin) -> String {
    format!("{} {}", coin_amount::show(minor), coin.currency().code())
}

fn state_must_be<T: PartialEq + Copy>(state: T, wanted: &[T], name: &str) -> Result<(), Denied> {
    if wanted.contains(&state) {
        Ok(())
    } else {
        Err(Denied::Refused(format!("it {} by now", state_phrase(name))))
    }
}

/// A proposal applies to the state that its maker reviewed.
fn must_be_as_seen(is: bool) -> Result<(), Denied> {
    if is {
        Ok(())
    } else {
        Err(Denied::Refused("it has changed since it was reviewed".to_owned()))
    }
}

/// What a finding changes about a payment.
fn payment_changes(
    payment: &Payment,
    doubt: UnresolvedAttempt,
    became: &Finding,
) -> Result<Vec<Change>, Denied> {
    let (standing, amount) = (&payment.standing, payment.amount.to_string());
    let is_unknown = standing.state == PaymentState::Unknown;
    let mut changes = vec![
        change("amount", &amount, &amount),
        change("attempt", doubt.attempt, doubt.attempt),
        change(if is_unknown { "unknown since" } else { "paid" }, doubt.since, doubt.since),
        change("status", standing.state.name(), end(&PAYMENT_ENDS, became)?),
    ];
    changes.extend(details(became, standing.bank_reference.as_deref(), payment.amount.currency));
    Ok(changes)
}

/// What the release of a payment in review changes.
fn payment_release_changes(payment: &Payment) -> Result<Vec<Change>, Denied> {
    if payment.review != ReviewState::Waiting {
        return Err(Denied::Refused("no decision about the payment is pending".to_owned()));
    }
    let (amount, found) = (payment.amount.to_string(), &payment.screened);
    let entry = found.evidence.as_deref().unwrap_or("outdated lists");
    Ok(vec![
        change("amount", &amount, &amount),
        change("score", found.score, found.score),
        change("list entry", entry, entry),
        change("waits since", payment.accepted_at, payment.accepted_at),
        change("in review", "yes", "no"),
    ])
}

/// What the release of a withheld order changes.
fn order_release_changes(order: &ExchangeOrder) -> Result<Vec<Change>, Denied> {
    if !order.is_withheld() {
        return Err(Denied::Refused(OrderRefusal::NotWithheld.to_string()));
    }
    if !order.is_releasable() {
        return Err(Denied::Refused(OrderRefusal::Listed.to_string()));
    }
    let amount = shown_amount(order.minor, order.coin);
    let found = order.screened.as_ref();
    let score = found.map_or(0, |found| found.score);
    let entry = found.and_then(|found| found.evidence.as_deref()).unwrap_or("outdated lists");
    Ok(vec![
        change("amount", &amount, &amount),
        change("pays out", order.payout, order.payout),
        change("score", score, score),
        change("list entry", entry, entry),
        change("waits since", order.created_at, order.created_at),
        change("withheld", "yes", "no"),
    ])
}

/// What a finding changes about an order's payout.
fn order_changes(
    order: &ExchangeOrder,
    doubt: UnresolvedAttempt,
    became: &Finding,
) -> Result<Vec<Change>, Denied> {
    let (payout, is_unknown) = (order.payout.to_string(), order.state == ExchangeState::Paying);
    let mut changes = vec![
        change("payout", &payout, &payout),
        change("attempt", doubt.attempt, doubt.attempt),
        change(if is_unknown { "unclear since" } else { "paid" }, doubt.since, doubt.since),
        change("status", order.state.status().name(), end(&ORDER_ENDS, became)?),
    ];
    changes.extend(details(became, order.settlement_reference.as_deref(), order.payout.currency));
    Ok(changes)
}

/// Returns the label of a finding's outcome.
fn end(ends: &[(RailStatus, &'static str)], became: &Finding) -> Result<&'static str, Denied> {
    if became.never_accepted {
        Ok(PaymentState::Rejected.name())
    } else {
        word(ends, &became.status)
    }
}

/// The bank's reference and charges in a finding.
fn details(became: &Finding, reference: Option<&str>, currency: Currency) -> Vec<Change> {
    let reference_now = became.reference.as_ref();
    let reference =
        reference_now.map(|now| change("bank reference", reference.unwrap_or_default(), now));
    let charges = (became.charges > 0).then(|| Money::new(became.charges, currency));
    reference
        .into_iter()
        .chain(charges.map(|charges| change("kept by the bank", "", charges)))
        .collect()
}

/// The user as a decision stores them.
pub(super) fn person(user: &User) -> ApprovalUser {
    ApprovalUser { id: user.id, login: user.login.clone() }
}

impl Console {
    /// Stores a proposal for another user to decide on.
    ///
    /// # Errors
    /// The subject does not exist, nothing changes, the action is not possible now, or it is
    /// proposed already.
    pub async fn propose(&self, proposal: Proposal) -> Result<ApprovalId, Denied> {
        let Proposal { tenant, deed, maker, why, by } = proposal;
        let changes = self.changes(tenant, &deed).await?;
        let maker = person(&maker);
        let new = NewApproval {
            tenant,
            deed: &deed,
            changes: &changes,
            maker: &maker,
            why: &why,
            lifetime: APPROVAL_LIFETIME,
        };
        match self.payments.store().propose(&new, by).await {
            Err(StoreError::Conflict(_)) => Err(Denied::Proposed),
            made => Ok(made?),
        }
    }

    /// What an action would change now.
    ///
    /// # Errors
    /// As [`Console::propose`].
    pub async fn changes(
        &self,
        tenant: Option<TenantId>,
        deed: &ProposedAction,
    ) -> Result<Vec<Change>, Denied> {
        match (deed, tenant) {
            (ProposedAction::AcceptCoinCode { chain, coin, at_block }, None) => {
                let states = self.payments.store().token_states().await?;
                let seen = states.iter().find(|it| (it.chain, it.coin) == (*chain, *coin));
                let seen = seen.filter(|it| it.code_changed && it.at_block == *at_block);
                let seen = seen.ok_or(Denied::NoChange)?;
                let block = format!("halted: code changed in block {}", seen.at_block);
                let known = self.payments.store().known_chains().await?;
                let known = known.into_iter().find(|known| known.number == *chain);
                let name = known.map_or_else(|| chain.0.to_string(), |known| known.name);
                Ok(vec![
                    change("coin", coin.currency().code(), coin.currency().code()),
                    change("chain", &name, &name),
                    change("moves", block, "yes"),
                ])
            }
            (ProposedAction::SetUserAccess { user, roles, scope }, None) => {
                let found = self.payments.store().user(*user).await?.ok_or(Denied::NotFound)?;
                let words =
                    (self.scope_words(found.user.scope).await?, self.scope_words(*scope).await?);
                access_changes(&found, roles, *scope, words)
            }
            (_, None) => Err(Denied::NotFound),
            (deed, Some(tenant)) => self.tenant_changes(tenant, deed).await,
        }
    }

    async fn tenant_changes(
        &self,
        tenant: TenantId,
        deed: &ProposedAction,
    ) -> Result<Vec<Change>, Denied> {
        let store = self.payments.store();
        match deed {
            ProposedAction::UnblockWallet { wallet, blocked_at, .. } => {
                let wallet = store.wallet(tenant, *wallet).await?.ok_or(Denied::NotFound)?;
                state_must_be(wallet.state, &[WalletState::Blocked], wallet.state.name())?;
                must_be_as_seen(wallet.block.map(|block| block.at) == Some(*blocked_at))?;
                Ok(vec![
                    change("blocked since", blocked_at, blocked_at),
                    change("state", wallet.state.name(), WalletState::Active.name()),
                ])
            }
            ProposedAction::BlacklistWallet { wallet, order } => {
                let wallet = store.wallet(tenant, *wallet).await?.ok_or(Denied::NotFound)?;
                if wallet.state == WalletState::Blacklisted {
                    return Err(Denied::NoChange);
                }
                Ok(vec![
                    change("state", wallet.state.name(), WalletState::Blacklisted.name()),
                    change("authority", "", &order.authority),
                    change("reference", "", &order.reference),
                    change("reason", "", &order.reason),
                    change("effective date", "", order.effective_date),
                ])
            }
            ProposedAction::ReleaseDeposit { .. }
            | ProposedAction::ReleaseOrder { .. }
            | ProposedAction::ReleasePayment { .. } => self.release_changes(tenant, deed).await,
            ProposedAction::LiftHold { deposit, held_since } => {
                let deposit = store.deposit(tenant, *deposit).await?.ok_or(Denied::NotFound)?;
                if !deposit.has_hold_to_lift() {
                    return Err(Denied::Refused(format!(
                        "it {} by now",
                        state_phrase(deposit.state.name())
                    )));
                }
                must_be_as_seen(deposit.state_at == *held_since)?;
                let amount = shown_amount(deposit.minor, deposit.coin);
                let after = match deposit.state {
                    DepositState::LegalHold => DepositState::Rejected,
                    state => state,
                };
                Ok(vec![
                    change("amount", &amount, &amount),
                    change("on hold since", held_since, held_since),
                    change("state", deposit.state.name(), after.name()),
                    change("on legal hold", "yes", "no"),
                ])
            }
            ProposedAction::ResolvePayment { payment, doubt, became } => {
                let record =
                    store.payment_record(tenant, *payment).await?.ok_or(Denied::NotFound)?;
                let state = record.payment.standing.state;
                let open = record.payment.open_to(became);
                let open = open.ok_or_else(|| {
                    Denied::Refused(format!("it {} by now", state_phrase(state.name())))
                })?;
                must_be_as_seen(open == *doubt)?;
                payment_changes(&record.payment, *doubt, became)
            }
            ProposedAction::ResolveOrder { order, doubt, became } => {
                let order = store.exchange(tenant, *order).await?.ok_or(Denied::NotFound)?;
                let early = order.state == ExchangeState::Paying;
                let why = if early {
                    EARLY.to_owned()
                } else {
                    format!("it {} by now", state_phrase(order.state.status().name()))
                };
                let open = order.open_to(became).ok_or(Denied::Refused(why))?;
                must_be_as_seen(open == *doubt)?;
                order_changes(&order, *doubt, became)
            }
            ProposedAction::SetPricing(pricing) => {
                pricing_changes(&self.tenant(tenant).await?, pricing)
            }
            ProposedAction::SetPolicy { version, values } => {
                let tenant = self.tenant(tenant).await?;
                must_be_as_seen(tenant.policy.wallet.version == *version)?;
                policy_changes(&tenant, values)
            }
            ProposedAction::SetWebhookUrl { url } => {
                let webhook = store.webhook(tenant).await?;
                webhook_changes(&webhook.map_or_else(String::new, |webhook| webhook.url), url)
            }
            ProposedAction::SetPaymentWebhooks { on } => {
                let webhook = store.webhook(tenant).await?.ok_or(Denied::NotFound)?;
                payment_webhook_changes(webhook.payment_events, *on)
            }
            ProposedAction::AcceptCoinCode { .. } | ProposedAction::SetUserAccess { .. } => {
                Err(Denied::NotFound)
            }
        }
    }

    /// What the release of something held by screening changes.
    async fn release_changes(
        &self,
        tenant: TenantId,
        deed: &ProposedAction,
    ) -> Result<Vec<Change>, Denied> {
        let store = self.payments.store();
        match deed {
            ProposedAction::ReleaseDeposit { deposit, waits_since } => {
                let deposit = store.deposit(tenant, *deposit).await?.ok_or(Denied::NotFound)?;
                state_must_be(deposit.state, &[DepositState::InReview], deposit.state.name())?;
                must_be_as_seen(deposit.state_at == *waits_since)?;
                let amount = shown_amount(deposit.minor, deposit.coin);
                Ok(vec![
                    change("amount", &amount, &amount),
                    change("waits since", waits_since, waits_since),
                    change("state", deposit.state.name(), DepositState::Approved.name()),
                ])
            }
            ProposedAction::ReleaseOrder { order, version } => {
                let order = store.exchange(tenant, *order).await?.ok_or(Denied::NotFound)?;
                let changes = order_release_changes(&order)?;
                must_be_as_seen(version.is_none_or(|seen| seen == order.version))?;
                Ok(changes)
            }
            ProposedAction::ReleasePayment { payment, version } => {
                let record =
                    store.payment_record(tenant, *payment).await?.ok_or(Denied::NotFound)?;
                let changes = payment_release_changes(&record.payment)?;
                must_be_as_seen(record.payment.version == *version)?;
                Ok(changes)
            }
            _ => Err(Denied::NotFound),
        }
    }

    pub(super) async fn tenant(&self, id: TenantId) -> Result<Tenant, Denied> {
        self.payments.store().tenant(id).await?.ok_or(Denied::NotFound)
    }

    /// The display name of a scope.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if the tenant does not exist.
    pub async fn scope_words(&self, scope: Scope) -> Result<String, Denied> {
        match scope {
            Scope::All => Ok("every tenant".to_owned()),
            Scope::Tenant(tenant) => Ok(self.tenant(tenant).await?.name),
        }
    }

    /// Approves or rejects a proposal as [`Console::record_decision`], and executes it if approved.
    ///
    /// # Errors
    /// As [`Console::record_decision`]. A proposal that is approved but cannot be executed now stays
    /// approved and is retried.
    pub async fn decide(
        &self,
        id: ApprovalId,
        approve: bool,
        checker: &User,
        by: audit::AuditContext,
    ) -> Result<Approval, Denied> {
        let decided = self.record_decision(id, approve, checker, by).await?;
        if !approve {
            return Ok(decided);
        }
        match self.execute(&decided).await {
            // The approval is stored; execution is retried.
            Err(denied) if denied.is_passing() => {
                tracing::warn!(approval = %id, %denied, "approval execution failed, will retry")
            }
            done => done?,
        }
        self.payments.store().approval(id).await?.ok_or(Denied::NotFound)
    }

    /// Approves or rejects a proposal, once, and leaves its execution to the running service. `by` is
    /// the checker's audit context; its reason is the note to the decision.
    ///
    /// # Errors
    /// [`Denied::SamePerson`], [`Denied::NotAllowed`], [`Denied::Decided`], or [`Denied::Refused`]
    /// if its maker can no longer sign in, or may no longer propose it.
    pub async fn record_decision(
        &self,
        id: ApprovalId,
        approve: bool,
        checker: &User,
        by: audit::AuditContext,
    ) -> Result<Approval, Denied> {
        let store = self.payments.store();
        let approval = store.approval(id).await?.ok_or(Denied::NotFound)?;
        let own = approval.maker.id == checker.id || approval.maker.login == checker.login;
        if own || approval.deed.is_about_user(checker.id) {
            return Err(Denied::SamePerson);
        }
        if !checker.has_any(approval.deed.control().checkers)
            || !checker.scope.covers_all_of(scope_of(&approval))
        {
            return Err(Denied::NotAllowed);
        }
        if approve {
            let maker = store.user(approval.maker.id).await?;
            let Some(maker) = maker.filter(|maker| maker.disabled_at.is_none()) else {
                return Err(Denied::Refused(
                    "the user who proposed it can no longer sign in".to_owned(),
                ));
            };
            if !maker.user.has_any(approval.deed.control().makers)
                || !maker.user.scope.covers_all_of(scope_of(&approval))
            {
                return Err(Denied::Refused(
                    "the user who proposed it may no longer propose it".to_owned(),
                ));
            }
        }
        let by = by.together_with(&approval.maker.login);
        let note = by.why.clone();
        match store.decide(&approval, approve, &person(checker), &note, by).await {
            Err(StoreError::Conflict(_)) => return Err(Denied::Decided),
            decided => decided?,
        }
        store.approval(id).await?.ok_or(Denied::NotFound)
    }

    /// Withdraws a user's own proposal.
    ///
    /// # Errors
    /// [`Denied::Decided`] if it is no longer waiting or belongs to another user.
    pub async fn withdraw(
        &self,
        id: ApprovalId,
        maker: &User,
        by: audit::AuditContext,
    ) -> Result<(), Denied> {
        let store = self.payments.store();
        let approval = store.approval(id).await?.ok_or(Denied::NotFound)?;
        match store.withdraw(&approval, &person(maker), by).await {
            Err(StoreError::Conflict(_)) => Err(Denied::Decided),
            withdrawn => Ok(withdrawn?),
        }
    }
}

/// The scope of a proposal.
pub fn scope_of(approval: &Approval) -> Scope {
    approval.tenant.map_or(Scope::All, Scope::Tenant)
}

/// The display names of roles.
fn role_words(roles: &[Role]) -> String {
    roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ")
}

/// What a proposal changes about a user's access; `words` are the display names of the old and new
/// scope.
pub(super) fn access_changes(
    found: &StoredUser,
    roles: &[Role],
    scope: Scope,
    words: (String, String),
) -> Result<Vec<Change>, Denied> {
    let before: Vec<Role> = found.user.roles.iter().copied().collect();
    if before == roles && found.user.scope == scope {
        return Err(Denied::NoChange);
    }
    let mut changes = vec![
        change("user", &found.user.login, &found.user.login),
        change("roles", role_words(&before), role_words(roles)),
        change("scope", words.0, words.1),
    ];
    // The identity provider's account is part of what is approved. The binding is not: it may
    // change before the decision.
    if let Some(provider) = &found.provider {
        changes.push(change(
            "signs in at the identity provider as",
            &provider.name,
            &provider.name,
        ));
    }
    Ok(changes)
}

/// What a proposal changes about an endpoint's URL.
pub(super) fn webhook_changes(before: &str, url: &str) -> Result<Vec<Change>, Denied> {
    if before == url {
        return Err(Denied::NoChange);
    }
    let (seen, mut wanted) = (shown_url(before), shown_url(url));
    if seen == wanted {
        wanted.push_str(" (with other values)");
    }
    Ok(vec![change("url", &seen, &wanted)])
}

/// What a switch of payment events changes.
pub(super) fn payment_webhook_changes(before: bool, on: bool) -> Result<Vec<Change>, Denied> {
    let word = |on: bool| if on { "on" } else { "off" };
    if before == on {
        Err(Denied::NoChange)
    } else {
        Ok(vec![change("payment events", word(before), word(on))])
    }
}

/// What a proposal changes about a tenant's prices.
pub(super) fn pricing_changes(tenant: &Tenant, new: &Pricing) -> Result<Vec<Change>, Denied> {
    let (old, bps) = (pricing_of(tenant), |bps: u32| format!("{bps} bps"));
    let mut changes = Vec::new();
    for (what, before, after) in [
        ("premium", old.premium_bps, new.premium_bps),
        ("margin", old.margin_bps, new.margin_bps),
        ("exchange spread", old.spread_bps, new.spread_bps),
    ] {
        if before != after {
            changes.push(change(what, bps(before), bps(after)));
        }
    }
    let both = [&old.margin_bps_by_country, &new.margin_bps_by_country];
    let countries: std::collections::BTreeSet<_> =
        both.iter().flat_map(|by_country| by_country.keys()).collect();
    for country in countries {
        let shown = |by: &Pricing| {
            by.margin_bps_by_country
                .get(country)
                .map_or_else(|| "as margin".to_owned(), |it| bps(*it))
        };
        let (before, after) = (shown(&old), shown(new));
        if before != after {
            changes.push(change(&format!("margin for {}", country.alpha3()), before, after));
        }
    }
    if changes.is_empty() { Err(Denied::NoChange) } else { Ok(changes) }
}

/// What a proposal changes about a tenant's policy. The policy's version is included, so that the
/// approval holds for no other one.
pub(super) fn policy_changes(
    tenant: &Tenant,
    values: &BTreeMap<Field, String>,
) -> Result<Vec<Change>, Denied> {
    let policy = &tenant.policy;
    let wanted =
        fields::with(policy, values).map_err(|fault| Denied::Refused(fault.to_string()))?;
    let differences = fields::differences(policy, &wanted);
    if differences.is_empty() {
        return Err(Denied::NoChange);
    }
    let number = change("policy", policy.wallet.version, policy.wallet.version + 1);
    let changes =
        differences.into_iter().map(|(field, before, after)| change(field.name(), before, after));
    Ok(std::iter::once(number).chain(changes).collect())
}

/// The tenant's current prices.
pub fn pricing_of(tenant: &Tenant) -> Pricing {
    let policy = &tenant.policy;
    Pricing {
        premium_bps: policy.premium_bps,
        margin_bps: policy.margin_bps,
        margin_bps_by_country: policy.margin_bps_by_country.clone(),
        spread_bps: policy.wallet.spread_bps,
    }
}
