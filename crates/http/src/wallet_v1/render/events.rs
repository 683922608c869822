//! Events: envelope and data, identical in webhooks and the log (specification: "Events").

use domain::ids::WalletId;
use domain::wallet_event::{About, AboutDeposit, WalletEvent, WalletEventEntry};

use super::amounts::{coin, money};
use super::transaction::sender;
use crate::write::{self, ObjectWriter};

/// The body of an event's webhook.
pub fn event_body(entry: &WalletEventEntry) -> Vec<u8> {
    write::object(|out| event(out, entry))
}

/// An event in the form of its webhook.
pub fn event(out: &mut ObjectWriter<'_>, entry: &WalletEventEntry) {
    out.plain("event_id", entry.id);
    out.text("event_type", entry.event.kind().name());
    out.time("timestamp", entry.at);
    out.object("data", |out| data(out, &entry.event));
}

/// An event in the form of the log, with its position.
pub fn logged_event(out: &mut ObjectWriter<'_>, entry: &WalletEventEntry) {
    event(out, entry);
    out.integer("seq", entry.seq);
}

/// The same as bytes.
pub fn logged_event_body(entry: &WalletEventEntry) -> Vec<u8> {
    write::object(|out| logged_event(out, entry))
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
            // Its transaction is the specification's field above.
            out.plain_or_null("transaction_id", about.deposit.map(|it| it.id));
        }
        WalletEvent::RiskCheckComplete { about, result, score, level, checks, reason, next } => {
            subject(out, about);
            out.text("risk_check_result", result.name());
            out.integer("risk_score", (*score).into());
            out.text("risk_level", level.name());
            out.array("checks_performed", |items| {
                checks.iter().for_each(|check| items.text(check.name()))
            });
            out.text("decision_reason", &reason.decision_reason());
            out.text("next_action", next.name());
            transaction(out, about.deposit);
        }
        WalletEvent::TransferComplete { about, minor, coin: of, tx, at } => {
            subject(out, about);
            out.text("amount", &coin(*minor));
            out.text("currency", of.currency().code());
            out.plain("transfer_tx_hash", tx);
            out.text("status", "COMPLETED");
            out.time("completed_at", *at);
            transaction(out, about.deposit);
        }
        WalletEvent::WalletBlocked {
            wallet,
            customer,
            reason,
            details,
            at,
            auto_unblock_at,
            triggered_by,
            deposit,
        } => {
            wallet_subject(out, *wallet, customer);
            out.text("reason", reason.name());
            out.text("details", details);
            out.time("blocked_at", *at);
            out.time_or_null("auto_unblock_at", *auto_unblock_at);
            out.text("triggered_by", triggered_by.name());
            transaction(out, *deposit);
        }
        WalletEvent::TransactionFailed { about, reason, message, at } => {
            subject(out, about);
            out.text("failure_reason", reason.name());
            out.text("error_message", message);
            out.time("failed_at", *at);
            transaction(out, about.deposit);
        }
        other => more_data(out, other),
    }
}

/// The data of `exchange.complete`, and of the optional events of subscribed endpoints.
fn more_data(out: &mut ObjectWriter<'_>, event: &WalletEvent) {
    match event {
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
        WalletEvent::OrderEnded {
            order,
            wallet,
            customer,
            minor,
            coin: of,
            cancelled,
            reason,
            at,
        } => {
            let (status, when) =
                if *cancelled { ("CANCELLED", "cancelled_at") } else { ("FAILED", "failed_at") };
            out.plain("order_id", order);
            out.text("order_type", "EXCHANGE");
            wallet_subject(out, *wallet, customer);
            out.text("from_amount", &coin(*minor));
            out.text("from_currency", of.currency().code());
            out.text("status", status);
            out.text("failure_reason", reason.name());
            out.text("error_message", reason.message());
            out.time(when, *at);
        }
        WalletEvent::RequestExpired { about, expires_at, at } => {
            subject(out, about);
            out.text("status", "EXPIRED");
            out.time("expires_at", *expires_at);
            out.time("expired_at", *at);
        }
        WalletEvent::WalletUnblocked { wallet, customer, reason, at, triggered_by } => {
            wallet_subject(out, *wallet, customer);
            out.text("status", "ACTIVE");
            out.text_or_null("unblock_reason", reason.as_deref());
            out.time("unblocked_at", *at);
            out.text("triggered_by", triggered_by.name());
        }
        WalletEvent::WalletBlacklisted {
            wallet,
            customer,
            authority,
            reference,
            effective_date,
            at,
        } => {
            wallet_subject(out, *wallet, customer);
            // Until its effective date a blacklisting is a block.
            out.text("status", if at.is_some() { "BLACKLISTED" } else { "BLOCKED" });
            out.text("regulatory_authority", authority);
            out.text("regulatory_reference", reference);
            out.plain("effective_date", effective_date);
            out.time_or_null("blacklisted_at", *at);
        }
        // Written by the caller.
        WalletEvent::PaymentReceived { .. }
        | WalletEvent::RiskCheckComplete { .. }
        | WalletEvent::TransferComplete { .. }
        | WalletEvent::WalletBlocked { .. }
        | WalletEvent::TransactionFailed { .. } => {}
    }
}

fn subject(out: &mut ObjectWriter<'_>, about: &About) {
    out.plain_or_null("payment_request_id", about.request);
    wallet_subject(out, about.wallet, &about.customer);
}

fn wallet_subject(out: &mut ObjectWriter<'_>, wallet: WalletId, customer: &str) {
    out.plain("wallet_id", wallet);
    out.text("customer_id", customer);
}

/// The deposit of an event: an addition to the specification, after its own fields.
fn transaction(out: &mut ObjectWriter<'_>, deposit: Option<AboutDeposit>) {
    out.plain_or_null("transaction_id", deposit.map(|it| it.id));
    out.plain_or_null("tx_hash", deposit.map(|it| it.tx));
}
