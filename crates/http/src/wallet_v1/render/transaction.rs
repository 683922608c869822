//! Entries of the transaction history.

use domain::deposit::Deposit;
use domain::exchange::{ExchangeOrder, OrderStatus};
use domain::payment_request::SenderDetails;
use engine::wallets::Transaction;

use super::amounts::{coin, money};
use crate::wallet_v1::decode::EXCHANGED;
use crate::write::ObjectWriter;

/// The sender's details, as submitted.
pub(super) fn sender(out: &mut ObjectWriter<'_>, name: &str, details: &SenderDetails) {
    out.object(name, |out| {
        out.text_or_null("first_name", details.first_name.as_deref());
        out.text_or_null("last_name", details.last_name.as_deref());
        out.text_or_null("email", details.email.as_deref());
        out.text_or_null("phone_number", details.phone_number.as_deref());
        out.text_or_null("custodial_provider", details.custodial_provider.as_deref());
    });
}

fn received(out: &mut ObjectWriter<'_>, deposit: &Deposit, explorer: &str) {
    out.plain("transaction_id", deposit.id);
    out.text("type", deposit.kind().name());
    out.text("amount", &coin(deposit.minor));
    out.text("currency", deposit.coin.currency().code());
    out.text_or_null("status", deposit.status().map(|status| status.name()));
    out.time("timestamp", deposit.seen_at);
    sender(out, "sender", &deposit.sender);
    out.plain("tx_hash", deposit.tx);
    out.text("blockchain_explorer_url", &format!("{explorer}{}", deposit.tx));
}

/// An entry of the history; the status of a hidden deposit is null. `explorer` is the prefix of
/// transaction links.
pub fn listed_transaction(out: &mut ObjectWriter<'_>, listed: &Transaction, explorer: &str) {
    match listed {
        Transaction::Deposit(deposit) => received(out, deposit, explorer),
        Transaction::Exchange(order) => exchanged(out, order),
    }
}

/// An entry in its current state.
pub fn found_transaction(out: &mut ObjectWriter<'_>, found: &Transaction, explorer: &str) {
    listed_transaction(out, found, explorer);
    match found {
        Transaction::Deposit(deposit) => {
            out.plain("wallet_id", deposit.wallet);
            out.plain_or_null("payment_request_id", deposit.request);
        }
        Transaction::Exchange(order) => out.plain("wallet_id", order.wallet),
    }
}

/// Status of an order that paid nothing, in the history.
const FAILED: &str = "FAILED";

fn exchanged(out: &mut ObjectWriter<'_>, order: &ExchangeOrder) {
    let status = history_status(order.state.status());
    out.plain("transaction_id", order.id);
    out.text("type", EXCHANGED);
    out.text("amount", &coin(order.minor));
    out.text("currency", order.coin.currency().code());
    out.text("status", status);
    out.time("timestamp", order.created_at);
    out.plain("exchange_rate", order.rate);
    let received = (status != FAILED).then(|| money(order.payout));
    out.text_or_null("received_amount", received.as_deref());
    out.text("received_currency", order.payout.currency.code());
    out.text_or_null("settlement_reference", order.settlement_reference.as_deref());
}

/// An order's status in the history, which has fewer states.
const fn history_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Pending | OrderStatus::Processing => "PENDING",
        OrderStatus::Settled => "SETTLED",
        OrderStatus::Failed | OrderStatus::Cancelled => FAILED,
    }
}
