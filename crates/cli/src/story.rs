//! Events as a story: one line per event, for `events tail`, `listen` and `trigger`.

use client::{Exact, PaymentRecord, Quote, printable};
use console::{measure_text_width, truncate_str};
use domain::country::Country;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::colour::{Tone, dim};
use super::local_time;
use super::payments::short_name;
use super::table::{grouped, short_id};

/// Width of the longest common event type, `risk_check.complete`.
pub const KIND_WIDTH: usize = 19;

/// The service that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Payment,
    Wallet,
}

impl Service {
    /// Its name in the path of a webhook.
    pub const fn name(self) -> &'static str {
        match self {
            Service::Payment => "payment",
            Service::Wallet => "wallet",
        }
    }
}

/// One event of a log.
#[derive(Clone, Debug)]
pub struct Logged {
    pub service: Service,
    pub id: String,
    /// The event's type, as in `payment.succeeded`.
    pub kind: String,
    /// The event as its webhook has it.
    pub json: String,
}

/// An event for people.
#[derive(Debug, PartialEq, Eq)]
struct Story {
    tone: Tone,
    /// The id of what it is about.
    about: String,
    what: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    occurred_at: Option<String>,
    timestamp: Option<String>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Logged {
    fn envelope(&self) -> Option<Envelope<'_>> {
        serde_json::from_str(&self.json).ok()
    }

    fn time(&self) -> Option<String> {
        let envelope = self.envelope()?;
        envelope.occurred_at.or(envelope.timestamp)
    }

    pub fn at(&self) -> Option<Timestamp> {
        self.time()?.parse().ok()
    }

    /// The line, within this width: `14:32:11  payment.succeeded  c5cddba4  37,910.68 PKR …`
    pub fn line(&self, width: usize) -> String {
        let at = local_time::on_the_clock(&self.time().unwrap_or_default());
        let Story { tone, about, what } = self.story();
        let kind = printable(&self.kind);
        let (subject, verb) = kind.rsplit_once('.').unwrap_or(("", &kind));
        let subject = if subject.is_empty() { String::new() } else { format!("{subject}.") };
        let padding = KIND_WIDTH.saturating_sub(measure_text_width(&kind));
        let about = format!("{:<8}", short_id(&printable(&about)));
        let taken = measure_text_width(&at) + KIND_WIDTH.max(kind.len()) + about.len() + 6;
        let what = printable(&what);
        let what = truncate_str(&what, width.saturating_sub(taken), "…");
        let (at, verb, about) = (dim(&at), tone.paint(verb), dim(&about));
        format!("{at}  {subject}{verb}{:padding$}  {about}  {what}", "").trim_end().to_owned()
    }

    fn story(&self) -> Story {
        let data = self.envelope().map_or("{}", |envelope| envelope.data.get());
        let told = match self.service {
            Service::Payment if self.kind.starts_with("quote.") => of_quote(&self.kind, data),
            Service::Payment => of_payment(&self.kind, data),
            Service::Wallet => of_wallet(&self.kind, data),
        };
        told.unwrap_or(Story { tone: Tone::Plain, about: String::new(), what: String::new() })
    }
}

/// What a quote exchanges: `500.00 AED → 37,910.68 PKR`
pub fn exchange(quote: &Quote) -> String {
    let paid = grouped(&quote.amount.in_currency(&quote.currency));
    format!("{paid} → {}", received(&quote.amount_destination, &quote.country))
}

fn received(amount: &Exact, country: &str) -> String {
    let code = Country::parse(country).map_or("", |country| country.currency().code());
    grouped(&amount.in_currency(code))
}

fn of_quote(kind: &str, data: &str) -> Option<Story> {
    let quote: Quote = serde_json::from_str(data).ok()?;
    let what = match kind {
        "quote.used" => "a payment uses it".to_owned(),
        "quote.expired" => "not used in time".to_owned(),
        _ => exchange(&quote),
    };
    Some(Story { tone: Tone::Plain, about: quote.id, what })
}

fn of_payment(kind: &str, data: &str) -> Option<Story> {
    let record: PaymentRecord = serde_json::from_str(data).ok()?;
    let state = kind.rsplit('.').next().unwrap_or_default();
    let response = record.response.as_ref();
    let message = response.and_then(|response| response.msg.clone()).filter(|msg| !msg.is_empty());
    let payee = short_name(&record.order.text("beneficiary_name"));
    let amount = received(&record.quote.amount_destination, &record.quote.country);
    let what = match state {
        "queued" => format!("{} to {payee}", exchange(&record.quote)),
        "succeeded" => {
            let accepted = record.order.text("timestamp");
            let took = response.and_then(|response| took(&accepted, &response.timestamp));
            format!("{amount} to {payee}{}", took.map(|it| format!(" in {it}")).unwrap_or_default())
        }
        "processing" => message.unwrap_or_else(|| "sent to the bank".to_owned()),
        "unknown" => message.unwrap_or_else(|| "no confirmation from the bank".to_owned()),
        _ => message.unwrap_or_else(|| format!("{amount} to {payee}")),
    };
    let tone = if state == "updated" { Tone::Waits } else { Tone::of_state(state) };
    Some(Story { tone, about: record.id, what })
}

/// The time between two instants: `1.8 s`
fn took(from: &str, to: &str) -> Option<String> {
    let at = |text: &str| Some(text.parse::<Timestamp>().ok()?.as_millisecond());
    let ms = at(to)? - at(from)?;
    Some(match ms / 1_000 {
        ..0 => return None,
        0..60 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60..3_600 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    })
}

fn of_wallet(kind: &str, data: &str) -> Option<Story> {
    let data: Value = serde_json::from_str(data).ok()?;
    let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let money =
        |amount: &str, currency: &str| grouped(&format!("{} {}", text(amount), text(currency)));
    let count = |name: &str| data.get(name).map(Value::to_string).unwrap_or_default();
    let (tone, what) = match kind {
        "payment.received" => {
            let count = count("confirmations");
            let noun = if count == "1" { "confirmation" } else { "confirmations" };
            (Tone::Moves, format!("{} seen, {count} {noun}", money("amount", "currency")))
        }
        "risk_check.complete" => {
            let (tone, end) = match text("risk_check_result").as_str() {
                "APPROVED" => (Tone::Done, "accepted"),
                "MANUAL_REVIEW_REQUIRED" => (Tone::Waits, "waits for a reviewer"),
                "BLOCKED" => (Tone::Failed, "rejected, wallet blocked"),
                _ => (Tone::Failed, "rejected"),
            };
            (tone, format!("score {}: {end}", count("risk_score")))
        }
        "transfer.complete" => {
            (Tone::Done, format!("{} in the wallet", money("amount", "currency")))
        }
        "exchange.complete" => (
            Tone::Done,
            format!(
                "{} → {} paid out",
                money("from_amount", "from_currency"),
                money("to_amount", "to_currency")
            ),
        ),
        "transaction.failed" => (Tone::Failed, text("error_message")),
        "order.failed" | "order.cancelled" => {
            let tone = if kind == "order.failed" { Tone::Failed } else { Tone::Plain };
            (tone, format!("{}: {}", money("from_amount", "from_currency"), text("error_message")))
        }
        "payment_request.expired" => (Tone::Plain, "not paid in time".to_owned()),
        "wallet.blocked" => (Tone::Waits, text("details")),
        "wallet.unblocked" => {
            let why = text("unblock_reason");
            (Tone::Done, if why.is_empty() { "its block has ended".to_owned() } else { why })
        }
        "wallet.blacklisted" => (
            Tone::Failed,
            format!("{}, {}", text("regulatory_authority"), text("regulatory_reference")),
        ),
        _ => (Tone::Plain, String::new()),
    };
    let subjects = match kind.starts_with("wallet.") {
        true => ["wallet_id"].as_slice(),
        false => &["transaction_id", "order_id", "payment_request_id", "wallet_id"],
    };
    let about =
        subjects.iter().map(|name| text(name)).find(|id| !id.is_empty()).unwrap_or_default();
    Some(Story { tone, about, what })
}

#[cfg(test)]
mod tests {
    use domain::event::EventKind;
    use domain::wallet_event::WalletEventKind;

    use super::*;

    const QUOTE: &str = r#"{"id":"c5cddba4-c8b0-4b1e-9d0e-2c8f0a7b1c2d","country":"PAK","currency":"AED","amount":500,
        "amount_destination":37910.68,"rate":75.8,"timestamp":"t","expires":"t","wallet_rate":278.75}"#;

    fn payment(kind: &str, response: &str) -> Logged {
        let order = r#"{"country":"PAK","beneficiary_name":"Bilal Samplekhan","timestamp":"2020-11-21T06:57:48.000Z"}"#;
        let data = match kind.starts_with("quote.") {
            true => QUOTE.to_owned(),
            false => {
                format!(r#"{{"id":"p-1","order":{order},"response":{response},"quote":{QUOTE}}}"#)
            }
        };
        let json = format!(
            r#"{{"id":"e","seq":1,"type":"{kind}","occurred_at":"2020-11-21T06:57:50.512Z","data":{data}}}"#
        );
        Logged { service: Service::Payment, id: "e".to_owned(), kind: kind.to_owned(), json }
    }

    fn wallet(kind: &str, data: &str) -> Logged {
        let json = format!(
            r#"{{"event_id":"e","event_type":"{kind}","timestamp":"2020-11-21T06:57:50.512Z","data":{data}}}"#
        );
        Logged { service: Service::Wallet, id: "e".to_owned(), kind: kind.to_owned(), json }
    }

    #[test]
    fn payments_tell_amounts_payees_and_durations() {
        let response = |status: &str, msg: &str| {
            format!(
                r#"{{"id":"p-1","timestamp":"2020-11-21T06:57:49.870Z","status":"{status}","msg":{msg}}}"#
            )
        };
        for (kind, msg, tone, what) in [
            ("quote.created", "null", Tone::Plain, "500.00 AED → 37,910.68 PKR"),
            ("payment.queued", "null", Tone::Moves, "500.00 AED → 37,910.68 PKR to Bilal S."),
            ("payment.processing", "null", Tone::Moves, "sent to the bank"),
            ("payment.succeeded", "null", Tone::Done, "37,910.68 PKR to Bilal S. in 1.8 s"),
            ("payment.failed", "\"AC04: account closed\"", Tone::Failed, "AC04: account closed"),
            ("payment.unknown", "null", Tone::Waits, "no confirmation from the bank"),
            ("payment.updated", "\"in review\"", Tone::Waits, "in review"),
        ] {
            let story = payment(kind, &response("x", msg)).story();
            assert_eq!((story.tone, story.what.as_str()), (tone, what), "{kind}");
        }
    }

    #[test]
    fn deposits_tell_what_the_check_decided() {
        for (result, tone, what) in [
            ("APPROVED", Tone::Done, "score 5: accepted"),
            ("MANUAL_REVIEW_REQUIRED", Tone::Waits, "score 5: waits for a reviewer"),
            ("REJECTED", Tone::Failed, "score 5: rejected"),
        ] {
            let data = format!(
                r#"{{"risk_check_result":"{result}","risk_score":5,"transaction_id":null,"payment_request_id":"r-1"}}"#
            );
            let story = wallet("risk_check.complete", &data).story();
            assert_eq!(
                (story.tone, story.what.as_str(), story.about.as_str()),
                (tone, what, "r-1")
            );
        }
        let data =
            r#"{"amount":"1025.50","currency":"USDC","confirmations":12,"transaction_id":"t-1"}"#;
        assert_eq!(
            wallet("payment.received", data).story().what,
            "1,025.50 USDC seen, 12 confirmations"
        );
    }

    #[test]
    fn every_event_has_a_line_within_the_width() {
        let long = "x".repeat(200);
        let response =
            format!(r#"{{"id":"p-1","timestamp":"t","status":"failed","msg":"{long}\u001b[2J"}}"#);
        let data = format!(r#"{{"error_message":"{long}","details":"{long}","wallet_id":"w-1"}}"#);
        let payments = EventKind::ALL.into_iter().map(|kind| payment(kind.name(), &response));
        let wallets = WalletEventKind::ALL.into_iter().map(|kind| wallet(kind.name(), &data));
        for event in payments.chain(wallets) {
            let line = event.line(80);
            assert!(measure_text_width(&line) <= 80 && !line.contains('\u{1b}'), "{line}");
            assert!(line.contains(&event.kind), "{line}");
        }
    }

    #[test]
    fn an_event_of_a_later_version_is_shown_by_its_type() {
        let event = wallet("wallet.renamed", "7");
        assert!(event.line(80).ends_with("wallet.renamed"), "{}", event.line(80));
    }
}
