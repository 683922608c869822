//! Exchange rates and orders.

use domain::currency::StableCoin;
use domain::exchange::price::RateQuote;
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState};

use super::amounts::{coin, money};
use crate::write::ObjectWriter;

/// The only value of `order_type`.
const EXCHANGE: &str = "EXCHANGE";
/// Visible characters at the end of a masked account.
const MASK_LEAVES: usize = 4;
/// Visible characters at the start of a masked IBAN: country and check digits.
const IBAN_HEAD: usize = 4;

/// The response to a rate request.
pub fn quoted(out: &mut ObjectWriter<'_>, from: StableCoin, quote: &RateQuote) {
    out.text("from_currency", from.currency().code());
    out.text("to_currency", quote.estimated.currency.code());
    out.plain("rate", quote.price.rate);
    out.plain("spread", quote.price.spread);
    out.text("estimated_amount", &money(quote.estimated));
    out.time("valid_until", quote.valid_until);
    // A rate request locks nothing; an order does.
    out.flag("rate_locked", false);
}

/// The response to a new order: always as created, whatever the current state.
pub fn created_order(out: &mut ObjectWriter<'_>, made: &ExchangeOrder) {
    let payout = made.quoted().payout(made.minor).unwrap_or(made.payout);
    let as_made = ExchangeOrder {
        state: ExchangeState::Pending,
        rate: made.quoted_rate,
        payout,
        failure: None,
        ..made.clone()
    };
    order(out, &as_made);
}

fn order(out: &mut ObjectWriter<'_>, order: &ExchangeOrder) {
    out.plain("order_id", order.id);
    out.text("order_type", EXCHANGE);
    out.text("from_amount", &coin(order.minor));
    out.text("from_currency", order.coin.currency().code());
    out.text("to_amount", &money(order.payout));
    out.text("to_currency", order.payout.currency.code());
    out.plain("exchange_rate", order.rate);
    out.plain("spread", order.spread);
    out.text("status", order.state.status().name());
    out.flag("rate_locked", order.locked_until.is_some());
    out.time("created_at", order.created_at);
    out.time("estimated_settlement", order.estimated_settlement);
    // A failure becomes visible once the tokens are returned.
    if let Some(failure) = order.failure.filter(|_| order.state.is_terminal()) {
        out.text("failure_reason", failure.name());
        out.text("error_message", failure.message());
    }
}

/// An order in a list: with its outcome, and its account masked.
pub fn listed_order(out: &mut ObjectWriter<'_>, listed: &ExchangeOrder) {
    order(out, listed);
    out.object("bank_account", |out| masked(out, &listed.bank));
    out.text_or_null("settlement_reference", listed.settlement_reference.as_deref());
    out.time_or_null("settled_at", listed.settled_at);
}

/// An order in its current state.
pub fn found_order(out: &mut ObjectWriter<'_>, found: &ExchangeOrder) {
    listed_order(out, found);
    out.plain("wallet_id", found.wallet);
}

fn masked(out: &mut ObjectWriter<'_>, account: &BankAccount) {
    out.text_or_null("iban", account.iban.as_deref().map(|iban| mask(iban, IBAN_HEAD)).as_deref());
    out.text_or_null(
        "account_number",
        account.account_number.as_deref().map(|number| mask(number, 0)).as_deref(),
    );
    out.text_or_null("bank_code", account.bank_code.as_deref());
    out.text("account_holder_name", &account.holder);
}

/// The masked account: its IBAN or number with stars.
pub fn masked_account(account: &BankAccount) -> String {
    let iban = account.iban.as_deref().map(|iban| mask(iban, IBAN_HEAD));
    iban.or_else(|| account.account_number.as_deref().map(|number| mask(number, 0)))
        .unwrap_or_default()
}

/// Masks all but the first `head` and the last four characters; a short text becomes all stars.
fn mask(text: &str, head: usize) -> String {
    let chars = text.chars().count();
    if chars <= head + 2 * MASK_LEAVES {
        return "*".repeat(chars);
    }
    let shown = |at: usize| at < head || at >= chars - MASK_LEAVES;
    text.chars().enumerate().map(|(at, c)| if shown(at) { c } else { '*' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_leaves_the_ends_of_long_numbers_only() {
        assert_eq!(mask("PK36SCBL0000001123456702", 4), "PK36****************6702");
        assert_eq!(mask("001123456702", 0), "********6702");
        assert_eq!(mask("12345678", 0), "********");
        assert_eq!(mask("7", 0), "*");
    }
}
