//! Payment requests.

use domain::currency::StableCoin;
use domain::ids::PaymentRequestId;
use domain::payment_request::{Asked, PaymentRequest, Received, RequestMoney, RequestState};

use super::amounts::coin;
use crate::write::ObjectWriter;

/// The base of payment links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// URL of the service without a trailing slash.
    pub base_url: String,
}

impl Links {
    /// `payment_link`: reveals neither wallet nor request.
    pub fn payment_link(&self, token: &str) -> String {
        format!("{}/pay/{token}", self.base_url)
    }

    /// The permanent link of a receipt, which reveals neither the payment link nor a sender.
    pub fn receipt(&self, tag: &str, request: PaymentRequestId, check_code: &str) -> String {
        format!("{}/pay/receipt/{tag}/{request}/{check_code}", self.base_url)
    }

    /// Whether browsers reach the pages over TLS.
    pub fn is_secure(&self) -> bool {
        self.base_url.starts_with("https:")
    }

    /// `qr_code_url`: an image of the link.
    pub fn qr_code_url(&self, token: &str) -> String {
        format!("{}/pay/{token}/qr.svg", self.base_url)
    }
}

/// The response to a new payment request: always as created, whatever the current state.
pub fn created_request(out: &mut ObjectWriter<'_>, request: &PaymentRequest, links: &Links) {
    out.plain("payment_request_id", request.id);
    out.text("payment_link", &links.payment_link(&request.token));
    out.text("qr_code_url", &links.qr_code_url(&request.token));
    out.plain("escrow_address", request.escrow);
    amount(out, &request.asked);
    out.text("status", RequestState::Active.name());
    out.time("created_at", request.created_at);
    out.time("expires_at", request.expires_at);
}

/// A payment request in its current state.
pub fn found_request(
    out: &mut ObjectWriter<'_>,
    request: &PaymentRequest,
    money: &RequestMoney,
    links: &Links,
) {
    listed_request(out, request, money, links);
    out.plain("wallet_id", request.wallet);
    out.text_or_null("purpose", request.purpose.as_deref());
    out.text_or_null("recipient_name", request.recipient_name.as_deref());
}

/// A payment request in a list: without escrow and QR code, but with received amounts and
/// exceptions.
pub fn listed_request(
    out: &mut ObjectWriter<'_>,
    request: &PaymentRequest,
    money: &RequestMoney,
    links: &Links,
) {
    out.plain("payment_request_id", request.id);
    out.text("payment_link", &links.payment_link(&request.token));
    amount(out, &request.asked);
    out.text("status", request.state.name());
    out.time("created_at", request.created_at);
    out.time("expires_at", request.expires_at);
    let (received, _) = paid(&request.asked, &request.arrived());
    // What was refused is due again, unless the request is paid.
    let (_, due) = paid(&request.asked, &request.counted());
    let (released, _) = paid(&request.asked, &money.released.at_par(&request.asked));
    out.text("amount_received", &coin(received));
    out.text_or_null("amount_due", due.map(coin).as_deref());
    out.array("received", |coins| {
        for each in StableCoin::ALL {
            coins.object(|out| {
                out.text("currency", each.currency().code());
                out.text("amount", &coin(request.received.of(each)));
            });
        }
    });
    out.time_or_null("paid_at", request.paid_at);
    out.text("exception", request.exception_for_bank(money).name());
    out.text("amount_released", &coin(released));
}

fn amount(out: &mut ObjectWriter<'_>, asked: &Asked) {
    let (value, currency) = match asked {
        Asked::Crypto { coin, minor } => (Some(*minor), Some(coin.currency().code())),
        Asked::Fiat { currency, micros, .. } => (Some(*micros), Some(currency.code())),
        Asked::Flexible => (None, None),
    };
    out.object("amount", |out| {
        out.text("type", asked.kind());
        out.text_or_null("value", value.map(coin).as_deref());
        out.text_or_null("currency", currency);
    });
}

/// Received and due amounts, in millionths of the requested currency. Flexible requests sum all
/// tokens and have nothing due.
fn paid(asked: &Asked, received: &Received) -> (i64, Option<i64>) {
    let both = received.usdc.saturating_add(received.usdt);
    match asked {
        Asked::Flexible => (both, None),
        Asked::Crypto { coin, minor } => {
            let received = received.of(*coin);
            (received, Some((minor - received).max(0)))
        }
        Asked::Fiat { micros, usdc, usdt, .. } => {
            // Each token counts by its share of the due amount, rounded down to the currency's
            // cents unless the due amount has smaller parts.
            let share = |minor: i64, due: i64| match due {
                0 => 0,
                due => i128::from(*micros) * i128::from(minor) / i128::from(due),
            };
            let value = share(received.usdc, *usdc) + share(received.usdt, *usdt);
            let unit = if i128::from(*micros) % MICROS_PER_CENT == 0 { MICROS_PER_CENT } else { 1 };
            let value = i64::try_from(value - value % unit).unwrap_or(i64::MAX);
            let mut left = StableCoin::ALL.into_iter();
            let due = left
                .find_map(|coin| asked.outstanding(received, coin))
                .map(|left| if left == 0 { 0 } else { micros - value });
            (value, due)
        }
    }
}

const MICROS_PER_CENT: i128 = 10_000;

#[cfg(test)]
mod tests {
    use domain::currency::Currency;

    use super::*;
    use crate::wallet_v1::samples::request;

    const PKR_2800: Asked = Asked::Fiat {
        currency: Currency::Pkr,
        micros: 2_800_000_000,
        usdc: 10_000_000,
        usdt: 10_050_000,
    };

    #[test]
    fn received_amounts_are_in_the_requested_currency() {
        let crypto = Asked::Crypto { coin: StableCoin::Usdc, minor: 10_050_000 };
        let fine = Asked::Fiat { currency: Currency::Usd, micros: 4_000, usdc: 4_000, usdt: 4_020 };
        for (asked, usdc, usdt, received, due) in [
            (crypto, 0, 0, 0, Some(10_050_000)),
            (crypto, 5_025_000, 0, 5_025_000, Some(5_025_000)),
            (crypto, 0, 7_000_000, 0, Some(10_050_000)),
            (crypto, 20_100_000, 0, 20_100_000, Some(0)),
            (PKR_2800, 5_000_000, 0, 1_400_000_000, Some(1_400_000_000)),
            (PKR_2800, 0, 10_050_000, 2_800_000_000, Some(0)),
            (PKR_2800, 5_000_000, 5_025_000, 2_800_000_000, Some(0)),
            (PKR_2800, 1, 0, 0, Some(2_800_000_000)),
            (fine, 4_000, 0, 4_000, Some(0)),
            (fine, 1_000, 0, 1_000, Some(3_000)),
            (Asked::Flexible, 1_000_000, 2_000_000, 3_000_000, None),
        ] {
            assert_eq!(
                paid(&asked, &Received { usdc, usdt }),
                (received, due),
                "{asked:?} {usdc} {usdt}"
            );
        }
    }

    /// Of an open request only: a paid one asks for nothing again.
    #[test]
    fn what_was_refused_has_come_and_is_due_again() {
        let refused = Received { usdc: 10_000_000, usdt: 0 };
        for (state, due) in [
            (RequestState::Active, "25.50"),
            (RequestState::Expired, "25.50"),
            (RequestState::Cancelled, "25.50"),
            (RequestState::Paid, "15.50"),
        ] {
            let request = PaymentRequest { state, received: refused, refused, ..request() };
            let links = Links { base_url: String::new() };
            let money = RequestMoney { refunded: refused, ..RequestMoney::default() };
            let shown = crate::write::object(|out| listed_request(out, &request, &money, &links));
            let shown = String::from_utf8(shown).expect("text");
            for member in [
                "\"amount_received\":\"10.00\"".to_owned(),
                format!("\"amount_due\":\"{due}\""),
                "\"exception\":\"REFUNDED\"".to_owned(),
            ] {
                assert!(shown.contains(&member), "{state:?}: {member} in {shown}");
            }
        }
    }
}
