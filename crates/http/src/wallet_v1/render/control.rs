//! Blocks, blacklists, reviews and webhook deliveries.

use domain::delivery::Delivery;
use domain::deposit::{Decision, Deposit, DepositStatus, ReviewVerdict};
use domain::risk::Assessment;
use domain::wallet::{Wallet, WalletState};
use domain::wallet_event::Aggregate;

use super::amounts::coin;
use super::transaction::sender;
use crate::write::ObjectWriter;

/// The response to a block: the latest block, whatever the current state.
pub fn blocked(out: &mut ObjectWriter<'_>, wallet: &Wallet) {
    out.plain("wallet_id", wallet.id);
    out.text("status", WalletState::Blocked.name());
    let block = wallet.block.as_ref();
    out.text_or_null("reason", block.map(|block| block.reason.name()));
    out.time_or_null("blocked_at", block.map(|block| block.at));
    out.time_or_null("auto_unblock_at", block.and_then(|block| block.auto_unblock_at));
}

/// The response to an unblock: the latest unblock, whatever the current state.
pub fn unblocked(out: &mut ObjectWriter<'_>, wallet: &Wallet) {
    let state = if wallet.state == WalletState::Pending {
        WalletState::Pending
    } else {
        WalletState::Active
    };
    out.plain("wallet_id", wallet.id);
    out.text("status", state.name());
    out.time_or_null("unblocked_at", wallet.unblocked_at);
    out.text_or_null("unblock_reason", wallet.unblock_reason.as_deref());
}

/// The response to a blacklist: BLOCKED and without `blacklisted_at` until its effective date.
pub fn blacklisted(out: &mut ObjectWriter<'_>, wallet: &Wallet) {
    let order = wallet.blacklisting.as_ref();
    out.plain("wallet_id", wallet.id);
    out.plain("wallet_address", wallet.address);
    out.text("status", wallet.state.name());
    out.text_or_null("regulatory_authority", order.map(|order| order.authority.as_str()));
    out.text_or_null("regulatory_reference", order.map(|order| order.reference.as_str()));
    out.time_or_null("blacklisted_at", order.and_then(|order| order.at));
    out.plain_or_null("effective_date", order.map(|order| order.effective_date));
    out.flag("usdc_contract_blacklist_applied", wallet.chain_blacklisted);
}

/// A deposit held for review, with full details for the bank's staff.
pub fn review(out: &mut ObjectWriter<'_>, deposit: &Deposit, explorer: &str) {
    out.plain("transaction_id", deposit.id);
    out.plain("wallet_id", deposit.wallet);
    out.plain_or_null("payment_request_id", deposit.request);
    out.text("amount", &coin(deposit.minor));
    out.text("currency", deposit.coin.currency().code());
    out.text_or_null("status", deposit.status().map(|status| status.name()));
    out.time("timestamp", deposit.seen_at);
    out.plain("from_address", deposit.from);
    sender(out, "sender", &deposit.sender);
    out.plain("tx_hash", deposit.tx);
    out.text("blockchain_explorer_url", &format!("{explorer}{}", deposit.tx));
    if let Some(assessment) = &deposit.assessment {
        risk(out, assessment);
    }
    decided(out, deposit.decision.as_ref());
}

/// The response to a decision: as decided, whatever the deposit's current state.
pub fn reviewed(out: &mut ObjectWriter<'_>, deposit: &Deposit) {
    let status = deposit.decision.as_ref().map(|decision| match decision.verdict {
        ReviewVerdict::Approve => DepositStatus::ReceivedInEscrow,
        ReviewVerdict::Reject | ReviewVerdict::LegalHold | ReviewVerdict::Block => {
            DepositStatus::Rejected
        }
    });
    out.plain("transaction_id", deposit.id);
    out.plain("wallet_id", deposit.wallet);
    out.text_or_null("status", status.map(|status| status.name()));
    decided(out, deposit.decision.as_ref());
}

fn decided(out: &mut ObjectWriter<'_>, decision: Option<&Decision>) {
    out.text_or_null("decision", decision.map(|decision| decision.verdict.name()));
    out.text_or_null("decided_by", decision.map(|decision| decision.by.as_str()));
    out.text_or_null("note", decision.map(|decision| decision.note.as_str()));
    out.time_or_null("decided_at", decision.map(|decision| decision.at));
}

fn risk(out: &mut ObjectWriter<'_>, assessment: &Assessment) {
    out.text("risk_check_result", assessment.result.name());
    out.integer("risk_score", assessment.score.into());
    out.text("risk_level", assessment.level().name());
    out.array("checks_performed", |checks| {
        assessment.checks.iter().for_each(|check| checks.text(check.name()))
    });
    out.text("decision_reason", &assessment.reason.decision_reason());
    out.array("evidence", |items| assessment.evidence.iter().for_each(|item| items.text(item)));
    out.text("list_version", &assessment.list_version);
    out.text("policy_version", &assessment.policy_version);
    out.time("assessed_at", assessment.at);
}

/// The delivery of an event, by the name of its kind.
pub fn delivery(out: &mut ObjectWriter<'_>, delivery: &Delivery, kind: &str) {
    out.plain("delivery_id", delivery.event);
    out.plain("event_id", delivery.event);
    out.text("event_type", kind);
    let (about, id) = match delivery.aggregate {
        Aggregate::Request(id) => ("payment_request_id", id.0),
        Aggregate::Order(id) => ("order_id", id.0),
        Aggregate::Wallet(id) => ("wallet_id", id.0),
        Aggregate::Payment(id) => ("payment_id", id.0),
        Aggregate::Quote(id) => ("quote_id", id.0),
    };
    out.object("subject", |out| out.plain(about, id.hyphenated()));
    out.integer("position", delivery.version);
    out.text("status", delivery.state.name());
    out.integer("attempts", delivery.attempts.into());
    out.time("created_at", delivery.created_at);
    out.time_or_null("next_attempt_at", delivery.next_at);
    out.time_or_null("delivered_at", delivery.delivered_at);
    match delivery.last_status {
        Some(status) => out.integer("last_status", status.into()),
        None => out.null("last_status"),
    }
    out.text_or_null("last_error", delivery.last_fault.as_deref());
}
