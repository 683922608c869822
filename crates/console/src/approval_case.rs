//! What a proposal is about, for the user who decides on it: a link, and the case in a few facts.

use domain::approval::{Approval, ProposedAction};
use domain::ids::{DepositId, ExchangeId, PaymentId, WalletId};
use engine::wallets::Tenant;

use super::answer::Stop;
use super::parts::Cell;
use super::payments::people_state;
use super::view::{amount_text, coins, words};
use super::visit::Visit;
use super::wallets::evidence::sender_card;
use super::wallets::{deposit_people, order_people};
use http_api::wallet_v1::render::masked_account;

type Facts = Vec<(&'static str, Cell)>;

pub(super) struct Case {
    /// The page of the record.
    pub(super) href: String,
    pub(super) facts: Facts,
}

/// The case of a proposal; `None` if it concerns no record that the user may see.
pub(super) async fn of(visit: &Visit, approval: &Approval) -> Result<Option<Case>, Stop> {
    let installation = |href: String| Ok(Some(Case { href, facts: Facts::new() }));
    let known = visit.tenants().iter().find(|tenant| Some(tenant.id) == approval.tenant);
    let (tenant, below, facts) = match (&approval.deed, known) {
        (ProposedAction::SetUserAccess { user, .. }, _) => {
            return installation(format!("/console/users/{user}"));
        }
        (ProposedAction::AcceptCoinCode { .. }, _) => {
            return installation("/console/system".to_owned());
        }
        (_, None) => return Ok(None),
        (
            ProposedAction::ReleaseDeposit { deposit: id, .. }
            | ProposedAction::LiftHold { deposit: id, .. },
            Some(of),
        ) => (of, format!("/deposits/{id}"), deposit(visit, of, *id).await?),
        (
            ProposedAction::ReleasePayment { payment: id, .. }
            | ProposedAction::ResolvePayment { payment: id, .. },
            Some(of),
        ) => (of, format!("/payments/{id}"), payment(visit, of, *id).await?),
        (
            ProposedAction::ReleaseOrder { order: id, .. }
            | ProposedAction::ResolveOrder { order: id, .. },
            Some(of),
        ) => (of, format!("/orders/{id}"), order(visit, of, *id).await?),
        (
            ProposedAction::UnblockWallet { wallet: id, .. }
            | ProposedAction::BlacklistWallet { wallet: id, .. },
            Some(of),
        ) => (of, format!("/wallets/{id}"), wallet(visit, of, *id).await?),
        (ProposedAction::SetPricing(_), Some(of)) => (of, "/rates".to_owned(), Facts::new()),
        (ProposedAction::SetPolicy { .. }, Some(of)) => (of, "/policy".to_owned(), Facts::new()),
        (
            ProposedAction::SetWebhookUrl { .. } | ProposedAction::SetPaymentWebhooks { .. },
            Some(of),
        ) => (of, "/webhooks".to_owned(), Facts::new()),
    };
    Ok(Some(Case { href: format!("/console/t/{}{below}", tenant.tag), facts }))
}

async fn deposit(visit: &Visit, tenant: &Tenant, id: DepositId) -> Result<Facts, Stop> {
    let found = visit.console().store().deposit(tenant.id, id).await?.ok_or(Stop::NotFound)?;
    let mut facts = vec![
        ("Amount", coins(found.minor, found.coin)),
        ("Status", Cell::text(deposit_people(found.state))),
    ];
    facts.extend(sender_card(&found).facts);
    facts.extend(wallet(visit, tenant, found.wallet).await?);
    if let Some(assessed) = &found.assessment {
        let score = format!("{} of 100: {}", assessed.score, words(assessed.reason.name()));
        facts.push(("Screening", Cell::text(score)));
    }
    Ok(facts)
}

async fn payment(visit: &Visit, tenant: &Tenant, id: PaymentId) -> Result<Facts, Stop> {
    let store = visit.console().store();
    let record = store.payment_record(tenant.id, id).await?.ok_or(Stop::NotFound)?;
    let (payment, order) = (&record.payment, &record.order);
    let rail = store.attempts(tenant.id, id).await?.pop().map(|attempt| attempt.rail.to_string());
    Ok(vec![
        ("Amount", Cell::number(amount_text(payment.amount))),
        ("Status", Cell::text(people_state(payment).0)),
        ("Sender", Cell::text(order.sender_name.as_str())),
        ("Beneficiary", Cell::text(order.beneficiary_name.as_str())),
        ("Rail", Cell::maybe(rail)),
        ("Accepted", Cell::When(payment.accepted_at)),
    ])
}

async fn order(visit: &Visit, tenant: &Tenant, id: ExchangeId) -> Result<Facts, Stop> {
    let order = visit.console().store().exchange(tenant.id, id).await?.ok_or(Stop::NotFound)?;
    let mut facts = vec![
        ("Pays out", Cell::number(amount_text(order.payout))),
        ("Status", Cell::text(order_people(&order))),
        ("Account holder", Cell::text(order.bank.holder.as_str())),
        ("Account", Cell::text(masked_account(&order.bank))),
    ];
    if let Some(screened) = &order.screened {
        facts.push(("Screening", Cell::text(format!("{} of 100", screened.score))));
    }
    Ok(facts)
}

async fn wallet(visit: &Visit, tenant: &Tenant, id: WalletId) -> Result<Facts, Stop> {
    let found = visit.console().store().wallet(tenant.id, id).await?.ok_or(Stop::NotFound)?;
    Ok(vec![
        ("Customer", Cell::text(found.customer_id)),
        ("Wallet", Cell::text(words(found.state.name()))),
    ])
}
