//! The checker finds every violation that it exists for, in histories that contain just that one; and
//! nothing in a good history.

use std::collections::{BTreeMap, BTreeSet};

use chaos::book::Booking;
use chaos::checker::{Event, Evidence, Order, Payment, Prefund, Wallet, check};
use chaos::history::{About, Act, Entry, Outcome};

fn sent(remarks: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("remarks".to_owned(), remarks.to_owned())])
}

fn write(act: Act, outcome: Outcome) -> Entry {
    let id = (outcome == Outcome::Ok).then(|| "pay-1".to_owned());
    Entry {
        outcome,
        id,
        sent: sent("first"),
        from_ms: 10,
        to_ms: 20,
        ..Entry::of(About::Payment, act, "ext-1")
    }
}

fn read(state: &str, from_ms: u64) -> Entry {
    Entry {
        outcome: Outcome::Ok,
        id: Some("pay-1".to_owned()),
        state: Some(state.to_owned()),
        from_ms,
        to_ms: from_ms + 1,
        ..Entry::of(About::Payment, Act::Read, "ext-1")
    }
}

fn event(seq: i64, status: &str) -> Event {
    Event {
        seq,
        kind: format!("payment.{status}"),
        subject: "pay-1".to_owned(),
        status: status.to_owned(),
    }
}

fn booking(end_to_end_id: &str, minor: i64) -> Booking {
    Booking {
        end_to_end_id: end_to_end_id.to_owned(),
        rail: "pak-raast".to_owned(),
        account: "PK1".to_owned(),
        minor,
        is_return: false,
    }
}

/// One payment and one order of a wallet, both paid.
fn good() -> Evidence {
    let payment = Payment {
        id: "pay-1".to_owned(),
        end_to_end_id: "e1".to_owned(),
        external_id: "ext-1".to_owned(),
        quote: "quote-1".to_owned(),
        status: "succeeded".to_owned(),
        account: "PK1".to_owned(),
        minor: 500,
        debit_minor: 7,
        fee_minor: 1,
        members: sent("first"),
    };
    let order = Order {
        id: "ord-1".to_owned(),
        end_to_end_id: "e2".to_owned(),
        wallet: "w-1".to_owned(),
        status: "SETTLED".to_owned(),
        from_minor: 10,
        to_minor: 300,
        in_review: false,
    };
    let made = Entry {
        outcome: Outcome::Ok,
        id: Some("ord-1".to_owned()),
        sent: BTreeMap::from([("amount".to_owned(), "10".to_owned())]),
        ..Entry::of(About::Order, Act::Create, "key-1")
    };
    let told = ["queued", "processing", "succeeded"]
        .map(|status| ("pay-1".to_owned(), format!("payment.{status}")));
    Evidence {
        history: vec![
            write(Act::Create, Outcome::Ok),
            read("queued", 30),
            read("succeeded", 40),
            made,
        ],
        payments: vec![payment],
        orders: vec![order],
        events: vec![event(1, "queued"), event(2, "processing"), event(3, "succeeded")],
        wallet_events: Vec::new(),
        bookings: vec![booking("e1", 500), booking("e2", 300)],
        received: Some(BTreeSet::from(told)),
        prefund: Some(Prefund { topped_up: 100, balance: 93, reserved: 0 }),
        nostros: BTreeMap::from([("pak-raast".to_owned(), 800)]),
        wallets: vec![Wallet {
            id: "w-1".to_owned(),
            balance: 15,
            on_chain: 15,
            paid_in: BTreeMap::from([("0x1".to_owned(), 25)]),
            listed: vec![("0x1".to_owned(), 25)],
            left_in_escrow: 0,
        }],
        self_checks: Vec::new(),
    }
}

#[test]
fn a_good_history_is_good() {
    assert_eq!(check(&good()), Vec::<String>::new());
}

#[test]
fn an_unclear_write_may_have_happened_or_not() {
    let mut happened = good();
    happened.history[0] = write(Act::Create, Outcome::Unknown);
    assert_eq!(check(&happened), Vec::<String>::new());
    let mut not = good();
    not.history.push(Entry { key: "ext-2".to_owned(), ..write(Act::Create, Outcome::Unknown) });
    assert_eq!(check(&not), Vec::<String>::new());
}

#[test]
fn a_repeat_with_another_body_is_a_conflict() {
    let conflict = |why: &str| {
        let refused = write(Act::RepeatOther, Outcome::Fail);
        let (id, why) = (Some("pay-1".to_owned()), Some(why.to_owned()));
        Entry { id, why, sent: sent("second"), from_ms: 21, to_ms: 25, ..refused }
    };
    let mut documented = good();
    documented.history.push(conflict("409 external_id_conflict"));
    assert_eq!(check(&documented), Vec::<String>::new());
    let mut strange = good();
    strange.history.push(conflict("422 something_else"));
    assert_eq!(check(&strange).len(), 1);
}

/// Damages good evidence.
type Damage = fn(&mut Evidence);

/// Each damage is one violation, found by the words that name it.
const VIOLATIONS: [(&str, Damage); 30] = [
    ("accepted as pay-1, found None", |it| {
        it.payments.clear();
        it.events.clear();
        it.bookings.remove(0);
        it.nostros.insert("pak-raast".to_owned(), 300);
        it.prefund = Some(Prefund { topped_up: 100, balance: 100, reserved: 0 });
        it.history.truncate(1);
    }),
    ("is none of the orders sent", |it| it.payments[0].members = sent("another")),
    ("was accepted as {", |it| {
        // Another body than the acknowledged one, though one that was sent.
        it.history
            .insert(0, Entry { sent: sent("second"), ..write(Act::Create, Outcome::Unknown) });
        it.payments[0].members = sent("second");
    }),
    ("was refused", |it| {
        it.history = vec![Entry {
            why: Some("422 quote_expired".to_owned()),
            ..write(Act::Create, Outcome::Fail)
        }];
        it.orders.clear();
        it.wallets.clear();
        it.bookings.pop();
        it.nostros.insert("pak-raast".to_owned(), 500);
    }),
    ("a good Payment", |it| {
        let refused = Entry { key: "ext-2".to_owned(), ..write(Act::Create, Outcome::Fail) };
        it.history.push(Entry { why: Some("422 bad".to_owned()), ..refused });
    }),
    ("which no client sent", |it| it.history.retain(|entry| entry.about == About::Order)),
    ("is there twice", |it| {
        let again = Payment {
            id: "pay-2".to_owned(),
            end_to_end_id: "e3".to_owned(),
            ..it.payments[0].clone()
        };
        it.payments.push(again);
    }),
    ("was used twice", |it| {
        let again = Payment {
            id: "pay-2".to_owned(),
            external_id: "ext-2".to_owned(),
            ..it.payments[0].clone()
        };
        it.payments.push(again);
    }),
    ("answered with several ids", |it| {
        it.history.push(Entry { id: Some("pay-9".to_owned()), ..write(Act::Repeat, Outcome::Ok) });
    }),
    ("with another body was accepted", |it| {
        let other =
            Entry { sent: sent("second"), from_ms: 21, ..write(Act::RepeatOther, Outcome::Ok) };
        it.history.push(other);
    }),
    ("was paid 2 times", |it| it.bookings.push(booking("e1", 500))),
    ("the bank paid 0", |it| drop(it.bookings.remove(0))),
    ("is processing, the bank paid", |it| it.payments[0].status = "processing".to_owned()),
    ("the bank moved", |it| it.bookings[0].minor = 501),
    ("the bank moved", |it| it.bookings[0].account = "PK2".to_owned()),
    ("which the service does not list", |it| it.bookings.push(booking("e9", 1))),
    ("order ord-1 is SETTLED, the bank paid 2", |it| it.bookings.push(booking("e2", 300))),
    ("order ord-1 is PROCESSING", |it| it.orders[0].status = "PROCESSING".to_owned()),
    ("has seq 4", |it| it.events[2].seq = 4),
    ("went [", |it| drop(it.events.remove(1))),
    ("its events say", |it| drop(it.events.pop())),
    ("which no list has", |it| {
        it.events.push(Event { subject: "pay-9".to_owned(), ..event(4, "queued") })
    }),
    ("was seen failed", |it| it.history.push(read("failed", 50))),
    ("and queued after that", |it| it.history.push(read("queued", 50))),
    ("had been accepted and was answered", |it| {
        it.history.push(Entry { outcome: Outcome::Fail, ..read("", 50) });
    }),
    ("the endpoint was not sent", |it| drop(it.received.as_mut().and_then(BTreeSet::pop_first))),
    ("the ledger says", |it| it.nostros = BTreeMap::from([("pak-raast".to_owned(), 799)])),
    ("the prefund was", |it| {
        it.prefund = Some(Prefund { topped_up: 100, balance: 92, reserved: 0 })
    }),
    ("wait for 0", |it| {
        it.prefund = Some(Prefund { topped_up: 100, balance: 93, reserved: 7 });
    }),
    ("ledger verify", |it| it.self_checks.push("ledger verify: WRONG".to_owned())),
];

/// The same for wallets.
const WALLET_VIOLATIONS: [(&str, Damage); 7] = [
    ("found None", |it| it.orders[0].id = "ord-2".to_owned()),
    ("found Some(\"11\")", |it| it.orders[0].from_minor = 11),
    ("orders exist, at most 1", |it| {
        let more = Order {
            id: "ord-2".to_owned(),
            end_to_end_id: "e3".to_owned(),
            ..it.orders[0].clone()
        };
        it.orders.push(more);
    }),
    ("the wallet got 50", |it| it.wallets[0].listed.push(("0x1".to_owned(), 25))),
    ("counts and was never paid", |it| it.wallets[0].listed.push(("0x2".to_owned(), 5))),
    ("the chain 14", |it| it.wallets[0].on_chain = 14),
    ("is left in escrow", |it| it.wallets[0].left_in_escrow = 1),
];

#[test]
fn every_violation_is_found() {
    for (words, damage) in VIOLATIONS.into_iter().chain(WALLET_VIOLATIONS) {
        let mut evidence = good();
        damage(&mut evidence);
        let broken = check(&evidence);
        assert!(broken.iter().any(|it| it.contains(words)), "{words}: {broken:?}");
    }
}

#[test]
fn a_payment_that_came_back_has_cost_its_fee() {
    let mut evidence = good();
    evidence.payments[0].status = "reversed".to_owned();
    evidence.events.push(event(4, "reversed"));
    evidence.bookings.push(Booking { is_return: true, ..booking("e1", 500) });
    evidence.nostros.insert("pak-raast".to_owned(), 300);
    evidence.received = None;
    evidence.prefund = Some(Prefund { topped_up: 100, balance: 99, reserved: 0 });
    assert_eq!(check(&evidence), Vec::<String>::new());
}

#[test]
fn an_order_in_review_is_not_lost() {
    let mut evidence = good();
    evidence.orders[0].status = "PROCESSING".to_owned();
    evidence.orders[0].in_review = true;
    evidence.bookings.pop();
    evidence.nostros.insert("pak-raast".to_owned(), 500);
    assert_eq!(check(&evidence), Vec::<String>::new());
}
