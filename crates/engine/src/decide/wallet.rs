//! Commands about wallets.

use domain::decision::{Cx, JobChange};
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::job::JobKind;
use domain::payment_request::{self, NewRequest};
use domain::time::Span;
use domain::wallet::{self, Provision, Wallet, WalletState};
use domain::wallet_effects::WalletEffects;
use domain::wallet_event::Aggregate;
use store::need::Customer;
use store::working_set::{Made, WorkingSet};

use super::quote::{remember, replayed};
use super::{as_seen, effects, holds};
use crate::command::wallets::{Followed, NewWallet, WalletAction};
use crate::command::{Idempotency, Outcome, Refused};

/// Retry delay if a wallet's dependents could not be synchronized.
const FOLLOW_RETRY: Span = Span::secs(1);

pub(super) fn provision(
    ws: &mut WorkingSet,
    tenant: TenantId,
    new: &NewWallet,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let idempotency = new.idempotency.as_ref();
    if let Some(made) = replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let asked = &new.provision;
    let customer = Customer { customer_id: asked.customer_id.clone(), chain: asked.chain };
    let existing = ws.customers.get(&(tenant, customer.clone())).copied();
    let record = ws.customer_records.get(&(tenant, asked.customer_id.clone())).copied();
    let asked = Provision { kyc_level: asked.kyc_level.or(record), ..asked.clone() };
    let (wallet, effects) = wallet::provision(asked, new.minimum_kyc, existing, cx.now)?;
    ws.customers.put((tenant, customer), wallet.id);
    effects::write(ws, tenant, effects)?;
    remember(ws, tenant, idempotency, Made::Wallet(wallet.id), cx);
    Ok(keep(ws, wallet))
}

fn keep(ws: &mut WorkingSet, wallet: Wallet) -> Outcome {
    ws.wallets.put((wallet.tenant, wallet.id), wallet.clone());
    Outcome::Wallet(Box::new(wallet))
}

pub(super) fn act(
    ws: &mut WorkingSet,
    key: (TenantId, WalletId),
    action: &WalletAction,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let (tenant, id) = key;
    let mut wallet = ws.wallets.get(&key).cloned().ok_or(Refused::NotFound)?;
    if let WalletAction::Request { new, idempotency } = action {
        return request(ws, &wallet, new, idempotency.as_ref(), cx);
    }
    let idempotency = match action {
        WalletAction::Block { idempotency, .. }
        | WalletAction::Unblock { idempotency, .. }
        | WalletAction::Blacklist { idempotency, .. } => idempotency.as_ref(),
        _ => None,
    };
    if let Some(made) = replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let effects = match action {
        WalletAction::Block { order, .. } => wallet.block(order.clone(), cx.now)?,
        WalletAction::Unblock { seen, reason, .. } => {
            let blocked_at = wallet.block.as_ref().map(|block| block.at);
            let effects = wallet.unblock_because(reason.clone(), cx.now)?;
            as_seen(seen.as_ref(), blocked_at.as_ref())?;
            effects
        }
        WalletAction::Blacklist { order, tokens, .. } => {
            let before = wallet.state;
            let ordered = match tokens {
                Some(_) => wallet.blacklist(order.clone(), cx.now)?,
                None => wallet.blacklist_with_chain(order.clone(), cx.now)?,
            };
            let tokens = tokens.as_deref().unwrap_or_default();
            entered(ws, before, &wallet, tokens, ordered.unwrap_or_default(), cx)
        }
        WalletAction::ChainSays { blacklisted } => {
            wallet.chain_says(*blacklisted);
            WalletEffects::default()
        }
        WalletAction::Follow(followed) => {
            holds(ws, tenant, id.0, followed.fence)?;
            follow(ws, &mut wallet, followed, cx)
        }
        WalletAction::Request { .. } => WalletEffects::default(),
    };
    // Rows first: an optional event takes its number from them.
    ws.wallets.put(key, wallet.clone());
    effects::write(ws, tenant, effects)?;
    let made = match action {
        // The wallet keeps only its latest block; the event records this one permanently.
        WalletAction::Block { .. } => {
            Made::Event(Aggregate::Wallet(id).event_id(tenant, wallet.events))
        }
        _ => Made::Wallet(id),
    };
    remember(ws, tenant, idempotency, made, cx);
    Ok(Outcome::Wallet(Box::new(wallet)))
}

/// Adds a newly blacklisted wallet to the tokens' blacklists.
fn entered(
    ws: &mut WorkingSet,
    before: WalletState,
    wallet: &Wallet,
    tokens: &wallet::BlacklistTokens,
    mut effects: WalletEffects,
    cx: &mut Cx<'_>,
) -> WalletEffects {
    if before != wallet.state {
        let (intents, more) = wallet.blacklist_on_chain(tokens, cx);
        for intent in intents {
            ws.intents.put((wallet.tenant, intent.id), intent);
        }
        effects.merge(more);
    }
    effects
}

/// Applies a worker's results, expiries, and the on-chain actions that its state requires. Its job
/// comes last.
fn follow(
    ws: &mut WorkingSet,
    wallet: &mut Wallet,
    followed: &Followed,
    cx: &mut Cx<'_>,
) -> WalletEffects {
    let before = wallet.state;
    let mut effects = WalletEffects::default();
    if followed.in_line {
        wallet.followed_up(&followed.seen, cx.now);
    }
    if followed.chain_ready {
        effects.merge(wallet.chain_ready(cx.now));
    }
    effects.merge(wallet.time_passed(cx.now));
    let mut effects = entered(ws, before, wallet, &followed.tokens, effects, cx);
    let under_way =
        wallet.freeze.and_then(|intent| ws.intents.get(&(wallet.tenant, intent))).cloned();
    if wallet.freeze.is_none() || under_way.is_some() {
        let (intents, more) = wallet.align_freeze(under_way, cx);
        effects.merge(more);
        for intent in intents {
            ws.intents.put((wallet.tenant, intent.id), intent);
        }
    }
    effects.merge(wallet.waiting(cx.now));
    if wallet.follow_up && !followed.in_line {
        effects
            .jobs
            .push((wallet.id.0, JobChange::Set(JobKind::WalletTimer, cx.now + FOLLOW_RETRY)));
    }
    effects
}

fn request(
    ws: &mut WorkingSet,
    wallet: &Wallet,
    new: &NewRequest,
    idempotency: Option<&Idempotency>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let tenant = wallet.tenant;
    if let Some(made) = replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let (request, effects) = payment_request::create(new.clone(), wallet, cx.now)?;
    effects::write(ws, tenant, effects)?;
    let id: PaymentRequestId = request.id;
    remember(ws, tenant, idempotency, Made::Request(id), cx);
    ws.requests.put((tenant, id), request.clone());
    Ok(Outcome::Request(Box::new(request)))
}
