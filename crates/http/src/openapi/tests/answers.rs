//! The sample responses of the document: the output of `payments_v2::render`.

use std::collections::{BTreeMap, BTreeSet};

use domain::account_check::AccountAnswer;
use domain::bank::{BankDirectory, Branch};
use domain::bic::Bic;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::event::{Event, EventKind};
use domain::ids::{AttemptId, EventId, PaymentId, QuoteId, RecallId, TenantId, TransferId};
use domain::money::Money;
use domain::order::{Order, UncheckedOrder, example};
use domain::payment::cancel::CANCELLED;
use domain::payment::{Payment, PaymentSnapshot, PaymentState, ReviewState};
use domain::policy::Corridors;
use domain::quote::{Charge, Offer, Quote, QuoteState};
use domain::rail::RailId;
use domain::recall::{Recall, RecallReason, RecallState};
use domain::screening::Screened;
use domain::time::{Span, Timestamp};
use engine::payments::{EventRecord, EventSubject, Record};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::payments_v2::render;
use crate::write;

const QUOTED_AT: Timestamp = Timestamp(1_795_244_251_004_000);
const ACCEPTED_AT: Timestamp = Timestamp(1_795_244_268_123_000);
const SETTLED_AT: Timestamp = Timestamp(1_795_244_270_512_000);
const RECALLED_AT: Timestamp = Timestamp(1_795_244_400_000_000);

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    components: Components<'a>,
}

#[derive(Deserialize)]
struct Components<'a> {
    #[serde(borrow)]
    examples: BTreeMap<String, Example<'a>>,
}

#[derive(Deserialize)]
struct Example<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
}

/// The text of an example without insignificant white space.
pub(super) fn sample(document: &str, name: &str) -> String {
    let document: Document<'_> = serde_json::from_str(document).expect("the document is JSON");
    let text = document.components.examples[name].value.get();
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        if quoted || !c.is_ascii_whitespace() {
            out.push(c);
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    out
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a number")
}

fn coin(minor: i64) -> Money {
    Money::new(minor, Currency::Usdt)
}

fn quote() -> Quote {
    Quote {
        id: QuoteId::parse("6f0c7ac6-53b5-4d3a-9d9e-0123456789ab").expect("an id"),
        tenant: TenantId(Uuid::nil()),
        offer: Offer {
            country: Country::Pak,
            amount: Money::new(50_000, Currency::Aed),
            amount_destination: Money::new(3_791_205, Currency::Pkr),
            rate: decimal("75.8241"),
            wallet_rate: decimal("278.75"),
            coin: StableCoin::Usdt,
            charge: charge(),
            remainder: Money::new(0, Currency::Pkr),
            min_destination: Money::new(100, Currency::Pkr),
            max_destination: Money::new(100_000_000_000, Currency::Pkr),
            account: None,
            branch: None,
        },
        created_at: QUOTED_AT,
        expires_at: QUOTED_AT + Span::secs(300),
        state: QuoteState::Used,
        payment: None,
    }
}

fn charge() -> Charge {
    Charge { amount: coin(136_007_355), premium: coin(340_019), cost: coin(500_000) }
}

fn payment() -> Payment {
    let quote = quote();
    Payment {
        id: PaymentId::parse("0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3").expect("an id"),
        tenant: quote.tenant,
        country: Country::Pak,
        quote: quote.id,
        external_id: Some("INV-2026-000117".to_owned()),
        amount: quote.offer.amount_destination,
        base: quote.offer.amount,
        charge: charge(),
        remainder: quote.offer.remainder,
        hold: TransferId(Uuid::nil()),
        accepted_at: ACCEPTED_AT,
        standing: PaymentSnapshot {
            state: PaymentState::Succeeded,
            state_at: SETTLED_AT,
            msg: None,
            bank_reference: Some("RAAST-2026112100042".to_owned()),
            recall: None,
        },
        version: 3,
        review: ReviewState::NotNeeded,
        screened: Screened { score: 0, evidence: None, list_version: String::new(), stale: false },
        unclear_since: None,
        settled_at: Some(SETTLED_AT),
        attempt: None,
        recall: None,
    }
}

/// The example order to Pakistan, checked, with its branch from a directory.
fn order() -> Order {
    let directory = BankDirectory::from_branches([Branch {
        country: Country::Pak,
        bic: Bic::parse("SCBLPKKX"),
        local_code: Some("SCBL".to_owned()),
        bank_name: "Standard Chartered Bank (Pakistan)".to_owned(),
        branch_name: Some("Main Branch, Karachi".to_owned()),
    }]);
    let corridors = Corridors {
        corridors: BTreeMap::new(),
        rails: Vec::new(),
        relations: BTreeSet::from(["brother".to_owned()]),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    };
    let payment = payment();
    let example =
        example::order(Country::Pak, payment.quote, Currency::Aed, payment.amount.decimal());
    let given = UncheckedOrder(Order { external_id: payment.external_id, ..example.0 });
    let order = given.check(&directory.expect("a directory"), &corridors, ACCEPTED_AT.date());
    order.expect("the example order is valid")
}

fn record() -> Record {
    Record { payment: payment(), order: order(), quote: quote() }
}

fn recall() -> Recall {
    let payment = payment();
    Recall {
        id: RecallId::parse("5b7a1c52-31c4-4b57-9a6e-5a0a51c5d3f4").expect("an id"),
        tenant: payment.tenant,
        payment: payment.id,
        attempt: AttemptId(payment.id.0),
        rail: RailId::new("pak-raast"),
        state: RecallState::Requested,
        state_at: RECALLED_AT,
        created_at: RECALLED_AT,
        reason: RecallReason::Fraud,
        text: Some("The payer was deceived".to_owned()),
        sent_at: None,
        bank_reason: None,
        bank_text: None,
        source: None,
    }
}

fn answered_recall() -> Recall {
    Recall {
        state: RecallState::Refused,
        state_at: RECALLED_AT + Span::secs(5),
        sent_at: Some(RECALLED_AT + Span::secs(1)),
        bank_reason: Some("LEGL".to_owned()),
        ..recall()
    }
}

fn event(id: &str, seq: i64, kind: EventKind, at: Timestamp, subject: EventSubject) -> EventRecord {
    let event = Event {
        id: EventId::parse(id).expect("an id"),
        tenant: TenantId(Uuid::nil()),
        seq,
        kind,
        subject: Uuid::nil(),
        version: 1,
        at,
        standing: None,
    };
    EventRecord { event, subject }
}

/// The samples by their names in the document.
pub(super) fn samples() -> [(&'static str, Vec<u8>); 10] {
    let record = record();
    let standing = &record.payment.standing;
    let paid = event(
        "c1f0b7de-0f0e-4d15-9a53-7a1f6f1f8d10",
        128,
        EventKind::PaymentSucceeded,
        SETTLED_AT,
        EventSubject::Payment(Box::new(self::record())),
    );
    let quoted = event(
        "7d3f2a52-6b0e-4a8b-8a63-5e0c6a5f1c22",
        127,
        EventKind::QuoteCreated,
        QUOTED_AT,
        EventSubject::Quote(Box::new(quote())),
    );
    let mut unpaid = self::record();
    unpaid.payment.settled_at = None;
    let cancelled = PaymentSnapshot {
        state: PaymentState::Reversed,
        state_at: SETTLED_AT,
        msg: Some(CANCELLED.to_owned()),
        bank_reference: None,
        recall: None,
    };
    let page = write::object(|out| {
        out.array("events", |events| events.object(|out| render::event(out, &quoted)));
        out.plain("next", quoted.event.seq);
    });
    [
        ("quote", write::object(|out| render::quote(out, &quote()))),
        ("accepted", write::object(|out| render::accepted(out, &record.payment))),
        ("record", write::object(|out| render::record(out, &record, standing))),
        ("list", write::array(|out| render::records(out, std::slice::from_ref(&record)))),
        ("event", write::object(|out| render::event(out, &paid))),
        ("page", page),
        ("cancelled", write::object(|out| render::record(out, &unpaid, &cancelled))),
        ("recall", write::object(|out| render::recall(out, &recall()))),
        (
            "accountCheck",
            write::object(|out| {
                let name = Some("A*** R***".to_owned());
                render::account_check(out, &AccountAnswer::CloseMatch(name));
            }),
        ),
        ("recalls", write::array(|out| out.object(|out| render::recall(out, &answered_recall())))),
    ]
}
