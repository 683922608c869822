//! Events: envelope and data, the same bytes in a webhook and in the log (specification: "Events").

use domain::wallet_event::{About, WalletEvent, WalletEventEntry};

use super::amounts::{coin, money};
use super::transaction::sender;
use crate::write::{self, ObjectWriter};

/// The body of an event's webhook.
pub fn event_body(entry: &WalletEventEntry) -> Vec<u8> {
    write::object(|out| event(out, entry))
}

/// An event as its webhook shows it.
pub fn event(out: &mut ObjectWriter<'_>, entry: &WalletEventEntry) {
    out.plain("event_id", entry.id);
    out.text("event_type", entry.event.kind().name());
    out.time("timestamp", entry.at);
    out.object("data", |out| data(out, &entry.event));
}

/// An event as the log shows it: with its place there.
pub fn logged_event(out: &mut ObjectWriter<'_>, entry: &WalletEventEntry) {
    event(out, entry);
    out.integer("seq", entry.seq);
}

fn data(out: &mut ObjectWriter<'_>, event: &WalletEvent) {
    match event {
        WalletEvent::PaymentReceived {
            about,
            minor,
            coin: of,
            blockchain,
            tx,
            from,
            to,
            confirmations,
            sender: said,
        } => {
            subject(out, about);
            out.text("amount", &coin(*minor));
            out.text("currency", of.currency().code());
            out.text("blockchain", blockchain);
            out.plain("tx_hash", tx);
            out.plain("from_address", from);
            out.plain("to_address", to);
            out.integer("confirmations", i64::try_from(*confirmations).unwrap_or(i64::MAX));
            sender(out, "sender_info", said);
            out.text("status", "RECEIVED_IN_ESCROW");
        }
        WalletEvent::RiskCheckComplete { about, result, score, level, checks, reason, next } => {
            subject(out, about);
            out.text("risk_check_result", result.name());
            out.integer("risk_score", (*score).into());
            out.text("risk_level", level.name());
            out.array("checks_performed", |items| checks.iter().for_each(|check| items.text(check.name())));
            out.text("decision_reason", &reason.decision_reason());
            out.text("next_action", next.name());
        }
        WalletEvent::TransferComplete { about, minor, coin: of, tx, at } => {
            subject(out, about);
            out.text("amount", &coin(*minor));
            out.text("currency", of.currency().code());
            out.plain("transfer_tx_hash", tx);
            out.text("status", "COMPLETED");
            out.time("completed_at", *at);
        }
        WalletEvent::ExchangeComplete {
            order,
            wallet,
            customer,
            minor,
            coin: of,
            paid,
            rate,
            reference,
            iban,
            holder,
            at,
        } => {
            out.plain("order_id", order);
            out.text("order_type", "EXCHANGE");
            out.plain("wallet_id", wallet);
            out.text("customer_id", customer);
            out.text("from_amount", &coin(*minor));
            out.text("from_currency", of.currency().code());
            out.text("to_amount", &money(*paid));
            out.text("to_currency", paid.currency.code());
            out.plain("exchange_rate", rate);
            out.text("settlement_reference", reference);
            out.object("bank_account", |out| {
                out.text_or_null("iban", iban.as_deref());
                out.text("account_holder_name", holder);
            });
            out.text("status", "SETTLED");
            out.time("settled_at", *at);
        }
        WalletEvent::WalletBlocked { wallet, customer, reason, details, at, auto_unblock_at, triggered_by } => {
            out.plain("wallet_id", wallet);
            out.text("customer_id", customer);
            out.text("reason", reason.name());
            out.text("details", details);
            out.time("blocked_at", *at);
            out.time_or_null("auto_unblock_at", *auto_unblock_at);
            out.text("triggered_by", triggered_by.name());
        }
        WalletEvent::TransactionFailed { about, reason, message, at } => {
            subject(out, about);
            out.text("failure_reason", reason.name());
            out.text("error_message", message);
            out.time("failed_at", *at);
        }
    }
}

fn subject(out: &mut ObjectWriter<'_>, about: &About) {
    out.plain_or_null("payment_request_id", about.request);
    out.plain("wallet_id", about.wallet);
    out.text("customer_id", &about.customer);
}
