//! Records a user's action in the tenant's audit log, in the commit of the action itself: its
//! subject, before and after.

use domain::audit::{Facts, Note};
use domain::chain::ChainNumber;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ledger::{AccountCode, Funding};
use domain::rail::{Finding, RailStatus};
use domain::screening::Screened;
use domain::sponsor::SponsorOrder;
use store::working_set::WorkingSet;

use crate::command::deposits::{DepositAction, DepositRef};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::wallets::{DeliveryAction, DeliveryRef, RequestAction, WalletAction};
use crate::command::{Action, Command, PaymentAction, RecallAction};

/// The entry to record, with the subject's state before the action.
pub(super) struct Noting {
    note: Note,
    /// Version of the wallet that the action is about, before it.
    wallet_version: Option<i64>,
}

/// Begins the entry of an action before it is decided; `None` if it is not recorded.
pub(super) fn begin(ws: &WorkingSet, command: &Command) -> Option<Noting> {
    command.action.deed()?;
    let note = note(command)?;
    Some(Noting {
        note: note.before(facts(ws, command)),
        wallet_version: wallet_version(ws, command),
    })
}

/// Each change of a wallet raises its version.
fn wallet_version(ws: &WorkingSet, command: &Command) -> Option<i64> {
    let Action::Wallet(id, _) = &command.action else { return None };
    ws.wallets.get(&(command.tenant, *id)).map(|wallet| wallet.version)
}

impl Noting {
    /// Adds the entry after the action. A repeated order to blacklist a wallet changes nothing: its
    /// first entry stands.
    pub(super) fn end(self, ws: &mut WorkingSet, command: &Command) {
        let Some(deed) = command.action.deed() else { return };
        if self.wallet_version.is_some() && self.wallet_version == wallet_version(ws, command) {
            return;
        }
        let after = added(facts(ws, command), &command.action);
        ws.note(command.tenant, deed.clone(), self.note.after(after));
    }
}

/// The action and its subject.
fn note(command: &Command) -> Option<Note> {
    Some(match &command.action {
        Action::Fund { funding, .. } => {
            let name = match funding {
                Funding::TopUp => "prefund.top_up",
                Funding::Withdrawal => "prefund.withdrawal",
                Funding::Controller(_) => "controller.fund",
                Funding::ControllerReversal(_) => "controller.reverse_funding",
            };
            Note::new(name, "tenant", command.tenant)
        }
        Action::Payment(id, action) => {
            let name = match action {
                PaymentAction::ScreenedAgain { .. } | PaymentAction::Cleared { .. } => {
                    "payment.screened"
                }
                PaymentAction::Review { approve: true, .. } => "review.approve",
                PaymentAction::Review { approve: false, .. } => "review.reject",
                PaymentAction::Resolve { .. } => "payment.resolve",
                PaymentAction::Cancel { .. } => "payment.cancel",
                PaymentAction::Recall { .. } => "payment.recall",
                PaymentAction::OfRecall(_, RecallAction::Close { .. }) => "recall.close",
                _ => return None,
            };
            Note::new(name, "payment", id)
        }
        Action::Wallet(id, action) => {
            let name = match action {
                WalletAction::Block { .. } => "wallet.block",
                WalletAction::Unblock { .. } => "wallet.unblock",
                WalletAction::Blacklist { .. } => "wallet.blacklist",
                _ => return None,
            };
            Note::new(name, "wallet", id)
        }
        Action::Deposit(named, action) => {
            let name = match action {
                DepositAction::Reviewed { verdict, .. } => format!("review.{}", verdict.name()),
                DepositAction::FoundMatch { .. } => "review.other_match".to_owned(),
                DepositAction::LiftHold { .. } => "hold.lift".to_owned(),
                DepositAction::ProposeRefund { .. } => "refund.propose".to_owned(),
                DepositAction::ApproveRefund { .. } => "refund.approve".to_owned(),
                DepositAction::RefundListed { .. } => "refund.not_approved".to_owned(),
                DepositAction::WithdrawRefund { .. } => "refund.withdraw".to_owned(),
                _ => return None,
            };
            Note::new(&name, "transaction", named.id)
        }
        Action::Exchange(key, action) => {
            let name = match action {
                ExchangeAction::Review { release: Some(_), .. } => "review.approve",
                ExchangeAction::Review { release: None, .. } => "review.reject",
                ExchangeAction::FoundMatch { .. } => "review.other_match",
                ExchangeAction::HolderMatched { .. } | ExchangeAction::Cleared { .. } => {
                    "order.screened"
                }
                ExchangeAction::Resolve { .. } => "order.resolve",
                ExchangeAction::Recredit { .. } => "order.recredit",
                _ => return None,
            };
            Note::new(name, "order", key.order)
        }
        Action::Request(id, RequestAction::Cancel { .. }) => {
            Note::new("request.cancel", "request", id)
        }
        Action::Request(id, RequestAction::RefundTo(_)) => {
            Note::new("refund.address", "request", id)
        }
        Action::Request(id, RequestAction::Sponsor(_)) => {
            Note::new("transfer.sponsor", "request", id)
        }
        Action::Delivery(named, DeliveryAction::Replay { .. }) => {
            Note::new("webhook.redeliver", "event", named.event)
        }
        Action::Backfill { aggregate, .. } => {
            Note::new("webhook.make_up_for", aggregate.kind(), aggregate.id())
        }
        _ => return None,
    })
}

/// The subject as the current command sees it.
fn facts(ws: &WorkingSet, command: &Command) -> Facts {
    let tenant = command.tenant;
    match &command.action {
        Action::Fund { funding, coin, .. } => match funding {
            Funding::TopUp | Funding::Withdrawal => prefund(ws, tenant, *coin),
            Funding::Controller(chain) | Funding::ControllerReversal(chain) => {
                unswept(ws, tenant, *chain, *coin)
            }
        },
        Action::Payment(id, _) => match ws.payments.get(&(tenant, *id)) {
            Some(payment) => {
                let state = Facts::new().text("state", payment.standing.state.name());
                let recall = payment.standing.recall.map(|recall| recall.name().to_owned());
                let facts = state.text("review", payment.review.name()).opt_text("recall", recall);
                screened(facts, &payment.screened)
            }
            None => Facts::new(),
        },
        Action::Wallet(id, _) => match ws.wallets.get(&(tenant, *id)) {
            Some(wallet) => Facts::new().text("state", wallet.state.name()),
            None => Facts::new(),
        },
        Action::Request(id, _) => match ws.requests.get(&(tenant, *id)) {
            Some(request) => Facts::new().text("state", request.state.name()),
            None => Facts::new(),
        },
        Action::Deposit(named, _) => deposit(ws, tenant, named),
        Action::Exchange(key, _) => order(ws, tenant, key),
        Action::Delivery(named, _) => delivery(ws, tenant, *named),
        _ => Facts::new(),
    }
}

/// Details of the action itself, in addition to the state after it.
fn added(facts: Facts, action: &Action) -> Facts {
    match action {
        Action::Fund { funding, minor, reference, .. } => {
            let way = match funding {
                Funding::TopUp | Funding::Controller(_) => "paid_in",
                Funding::Withdrawal | Funding::ControllerReversal(_) => "paid_out",
            };
            let facts = facts.text(way, coin_amount::show(*minor));
            facts.opt_text("reference", reference.clone())
        }
        Action::Wallet(_, WalletAction::Block { order, .. }) => {
            let hours = order.auto_unblock_hours.map(|hours| hours.to_string());
            facts.text("reason", order.reason.name()).opt_text("auto_unblock_hours", hours)
        }
        Action::Wallet(_, WalletAction::Blacklist { order, .. }) => {
            let facts =
                facts.text("authority", &order.authority).text("reference", &order.reference);
            facts.text("effective_date", order.effective_date)
        }
        Action::Payment(_, PaymentAction::Resolve { evidence, finding, .. })
        | Action::Exchange(_, ExchangeAction::Resolve { evidence, finding, .. }) => {
            established(facts.text("evidence", evidence), finding)
        }
        Action::Payment(_, PaymentAction::Recall { new, .. }) => {
            facts.text("recall_id", new.id).text("recall_reason", new.reason.name())
        }
        Action::Backfill { versions, .. } => {
            let numbers: Vec<String> = versions.iter().map(i64::to_string).collect();
            facts.text("events", numbers.join(", "))
        }
        Action::Request(_, RequestAction::RefundTo(answer)) => {
            screened(facts.text("refund_to", answer.to), &answer.screened)
        }
        Action::Request(_, RequestAction::Sponsor(sponsoring)) => {
            let SponsorOrder { coin, authorization, .. } = &sponsoring.order;
            let minor = i64::try_from(authorization.value).unwrap_or(i64::MAX);
            let facts = facts.text("from", authorization.from).text("to", authorization.to);
            facts.text("coin", coin.currency().code()).text("amount", coin_amount::show(minor))
        }
        Action::Deposit(
            _,
            DepositAction::RefundListed { screened: found, .. }
            | DepositAction::Reviewed { screened: Some(found), .. },
        ) => screened(facts, found),
        _ => facts,
    }
}

/// What two users established, beyond the state that follows from it.
fn established(facts: Facts, finding: &Finding) -> Facts {
    let charges = (finding.charges != 0).then(|| finding.charges.to_string());
    let facts =
        if finding.status == RailStatus::Returned { facts.flag("returned", true) } else { facts };
    facts.opt_text("bank_reference", finding.reference.clone()).opt_text("charges_minor", charges)
}

/// The screening result of an address or a name, with the lists used.
fn screened(facts: Facts, found: &Screened) -> Facts {
    let facts = facts.text("screening", found.verdict().name()).text("score", found.score);
    facts.text("list_version", &found.list_version)
}

fn prefund(ws: &WorkingSet, tenant: TenantId, coin: StableCoin) -> Facts {
    let account = ws.account(tenant, &AccountCode::Prefund(coin));
    let balance = coin_amount::show(account.balance().minor);
    Facts::new().text("coin", coin.currency().code()).text("prefund", balance)
}

fn unswept(ws: &WorkingSet, tenant: TenantId, chain: ChainNumber, coin: StableCoin) -> Facts {
    let account = ws.account(tenant, &AccountCode::Unswept(chain, coin));
    let balance = coin_amount::show(account.balance().minor);
    Facts::new().text("coin", coin.currency().code()).text("unswept", balance)
}

fn deposit(ws: &WorkingSet, tenant: TenantId, named: &DepositRef) -> Facts {
    let Some(deposit) = ws.deposits.get(&(tenant, named.id)) else { return Facts::new() };
    let facts = Facts::new().text("state", deposit.state.name());
    let Some(refund) = &deposit.refund else { return facts };
    let facts = facts.text("refund_to", refund.to).text("proposed_by", &refund.proposed_by);
    let facts = screened(facts, refund.screened_again.as_ref().unwrap_or(&refund.screened));
    facts.opt_text("approved_by", refund.approved_by.as_ref())
}

fn order(ws: &WorkingSet, tenant: TenantId, key: &OrderKey) -> Facts {
    match ws.exchanges.get(&(tenant, key.order)) {
        Some(order) => {
            let facts = Facts::new()
                .text("state", order.state.name())
                .flag("gives_back", order.give_back.is_some());
            match &order.screened {
                Some(found) => screened(facts.flag("withheld", order.is_withheld()), found),
                None => facts,
            }
        }
        None => Facts::new(),
    }
}

fn delivery(ws: &WorkingSet, tenant: TenantId, named: DeliveryRef) -> Facts {
    match ws.deliveries.get(&(tenant, named.event)) {
        Some(delivery) => Facts::new().text("state", delivery.state.name()),
        None => Facts::new(),
    }
}
