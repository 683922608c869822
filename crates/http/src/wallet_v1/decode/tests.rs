//! Decoding every body and query of Wallet Service v1: accepted values, refusals, and the named
//! field.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::delivery::DeliveryState;
use domain::deposit::{DepositKind, ReviewVerdict};
use domain::payment_request::{AmountAsked, RequestState};
use domain::wallet::{BlockReason, KycLevel};
use engine::wallets::TransactionKind;
use serde_json::{Value, json};

use super::*;
use crate::decode::Rejection;

/// Field and rule of every error.
type Told = Vec<(&'static str, &'static str)>;
type Reader = fn(Option<&str>) -> Told;

const PAKISTAN: &[Country] = &[Country::Pak];

fn faults<T: std::fmt::Debug>(result: Result<T, Rejection>) -> Told {
    match result {
        Err(Rejection::Faults { faults, .. }) => {
            faults.iter().map(|fault| (fault.field, fault.rule)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// `base` with `change` applied; null removes a member.
fn with(mut base: Value, change: Value) -> Vec<u8> {
    let members = base.as_object_mut().expect("an object");
    for (name, value) in change.as_object().expect("an object").clone() {
        if value.is_null() {
            members.remove(&name);
        } else {
            members.insert(name, value);
        }
    }
    serde_json::to_vec(&base).expect("writes")
}

fn provisioning() -> Value {
    json!({"customer_id": " CUST-1 ", "customer_email": "asha@example.com", "customer_phone": "+923001234567"})
}

#[test]
fn a_provisioning_is_read() {
    let read = provision(&with(
        provisioning(),
        json!({"kyc_level": "ENHANCED", "blockchain": "ethereum"}),
    ));
    assert_eq!(
        read,
        Ok(Provision {
            customer_id: "CUST-1".to_owned(),
            customer_email: "asha@example.com".to_owned(),
            customer_phone: "+923001234567".to_owned(),
            blockchain: Some("ethereum".to_owned()),
            kyc_level: Some(KycLevel::Enhanced),
        })
    );
    let least =
        provision(&with(provisioning(), json!({"extra": 1}))).expect("unknown fields are ignored");
    assert_eq!((least.blockchain, least.kyc_level), (None, None));
}

#[test]
fn every_error_of_a_provisioning_is_reported_in_field_order() {
    assert_eq!(
        faults(provision(b"{}")),
        [("customer_id", "missing"), ("customer_email", "missing"), ("customer_phone", "missing")]
    );
    for (change, expected) in [
        (json!({"customer_id": " "}), ("customer_id", "missing")),
        (json!({"customer_id": 7}), ("customer_id", "string_type")),
        (json!({"customer_id": "x".repeat(129)}), ("customer_id", "string_too_long")),
        (json!({"customer_id": "a\nb"}), ("customer_id", "control_character")),
        (json!({"customer_email": "asha"}), ("customer_email", "invalid_email")),
        (json!({"customer_phone": "03001234567"}), ("customer_phone", "invalid_phone")),
        (json!({"kyc_level": "basic"}), ("kyc_level", "enum")),
        (json!({"blockchain": 1}), ("blockchain", "string_type")),
    ] {
        assert_eq!(faults(provision(&with(provisioning(), change))), [expected]);
    }
    assert_eq!(provision(b"{"), Err(crate::json::parse(b"{").expect_err("malformed").into()));
    assert_eq!(provision(b" "), Err(Rejection::NoBody));
    assert_eq!(provision(b"[]"), Err(Rejection::NotAnObject));
}

fn request() -> Value {
    json!({"wallet_id": "w-1", "amount": {"type": "crypto", "value": "25.50", "currency": "USDC"}})
}

#[test]
fn a_payment_request_is_read() {
    let read = payment_request(&serde_json::to_vec(&request()).expect("writes"));
    assert_eq!(
        read,
        Ok(RequestAsked {
            wallet_id: "w-1".to_owned(),
            amount: AmountAsked::Crypto(StableCoin::Usdc, 25_500_000),
            purpose: None,
            recipient_name: None,
            expires_in_hours: 24,
        })
    );
    for (amount, expected) in [
        (json!({"type": "flexible"}), AmountAsked::Flexible),
        (json!({"type": "flexible", "value": 7, "currency": "XYZ"}), AmountAsked::Flexible),
        (
            json!({"type": "fiat", "value": "7000", "currency": "PKR"}),
            AmountAsked::Fiat(Currency::Pkr, 7_000_000_000),
        ),
        (
            json!({"type": "fiat", "value": "7000.120000", "currency": "PKR"}),
            AmountAsked::Fiat(Currency::Pkr, 7_000_120_000),
        ),
        (
            json!({"type": "crypto", "value": "1", "currency": "USDT"}),
            AmountAsked::Crypto(StableCoin::Usdt, 1_000_000),
        ),
        (
            json!({"type": "crypto", "value": "10.005", "currency": "USDT"}),
            AmountAsked::Crypto(StableCoin::Usdt, 10_005_000),
        ),
        (
            json!({"type": "fiat", "value": "10.050000", "currency": "AED"}),
            AmountAsked::Fiat(Currency::Aed, 10_050_000),
        ),
    ] {
        let read = payment_request(&with(request(), json!({"amount": amount}))).expect("valid");
        assert_eq!(read.amount, expected);
    }
    for hours in [1, 720] {
        let read = payment_request(&with(
            request(),
            json!({"expires_in_hours": hours, "purpose": "Rent"}),
        ));
        let read = read.expect("valid");
        assert_eq!((read.expires_in_hours, read.purpose.as_deref()), (hours, Some("Rent")));
    }
}

#[test]
fn the_faults_of_a_payment_request_name_the_whole_path() {
    assert_eq!(faults(payment_request(b"{}")), [("wallet_id", "missing"), ("amount", "missing")]);
    for (change, expected) in [
        (json!({"amount": "25"}), vec![("amount", "dict_type")]),
        (json!({"amount": {}}), vec![("amount.type", "missing")]),
        (json!({"amount": {"type": "coin"}}), vec![("amount.type", "enum")]),
        (
            json!({"amount": {"type": "crypto"}}),
            vec![("amount.value", "missing"), ("amount.currency", "missing")],
        ),
        (
            json!({"amount": {"type": "fiat"}}),
            vec![("amount.value", "missing"), ("amount.currency", "missing")],
        ),
        (
            json!({"amount": {"type": "crypto", "value": "1", "currency": "PKR"}}),
            vec![("amount.currency", "enum")],
        ),
        (
            json!({"amount": {"type": "fiat", "value": "1", "currency": "USDC"}}),
            vec![("amount.currency", "enum")],
        ),
        (
            json!({"amount": {"type": "fiat", "value": 1, "currency": "PKR"}}),
            vec![("amount.value", "string_type")],
        ),
        (
            json!({"amount": {"type": "crypto", "value": "-1", "currency": "USDC"}}),
            vec![("amount.value", "invalid_amount")],
        ),
        (
            json!({"amount": {"type": "crypto", "value": "0.00", "currency": "USDC"}}),
            vec![("amount.value", "invalid_amount")],
        ),
        (
            json!({"amount": {"type": "fiat", "value": "10.005", "currency": "PKR"}}),
            vec![("amount.value", "invalid_amount")],
        ),
        (
            json!({"amount": {"type": "fiat", "value": "0.000001", "currency": "USD"}}),
            vec![("amount.value", "invalid_amount")],
        ),
        (json!({"expires_in_hours": 0}), vec![("expires_in_hours", "greater_than_equal")]),
        (json!({"expires_in_hours": 721}), vec![("expires_in_hours", "less_than_equal")]),
        (json!({"expires_in_hours": "24"}), vec![("expires_in_hours", "int_type")]),
        (json!({"expires_in_hours": 1.5}), vec![("expires_in_hours", "int_parsing")]),
        (json!({"wallet_id": 1}), vec![("wallet_id", "string_type")]),
        (json!({"purpose": "x".repeat(257)}), vec![("purpose", "string_too_long")]),
        (json!({"recipient_name": "x".repeat(129)}), vec![("recipient_name", "string_too_long")]),
        (
            json!({"recipient_name": "Ni\u{202e}la"}),
            vec![("recipient_name", "forbidden_character")],
        ),
    ] {
        assert_eq!(faults(payment_request(&with(request(), change))), expected);
    }
}

fn exchange() -> Value {
    json!({
        "order_type": "EXCHANGE", "wallet_id": "w-1", "amount": "100", "from_currency": "USDT", "to_currency": "PKR",
        "bank_account": {"iban": "PK36 SCBL 0000 0011 2345 6702", "account_holder_name": "Asha Khan"}
    })
}

#[test]
fn an_order_is_read() {
    let read = order(&with(exchange(), json!({"lock_rate": true})), PAKISTAN).expect("valid");
    assert_eq!((read.minor, read.from, read.lock_rate), (100_000_000, StableCoin::Usdt, true));
    assert_eq!(read.bank_account.iban.as_deref(), Some("PK36SCBL0000001123456702"));
    let account = json!({"account_number": "1123456702", "bank_code": "SCBL", "account_holder_name": "Asha Khan"});
    let read = order(&with(exchange(), json!({"bank_account": account})), PAKISTAN).expect("valid");
    assert_eq!((read.bank_account.iban, read.lock_rate), (None, false));
    assert_eq!(read.bank_account.bank_code.as_deref(), Some("SCBL"));
}

/// Banks write account numbers with and without leading zeros and branch.
#[test]
fn an_iban_may_come_with_the_bank_and_the_number_that_it_names() {
    for (number, code) in [
        ("1123456702", "SCBL"),
        ("0000001123456702", "scbl"),
        ("001123456702", "SCBLPKKX"),
        ("23456702", "SCBLPKKXXXX"),
        ("99880000001123456702", "SCBL"),
        ("PK36SCBL0000001123456702", "SCBL"),
    ] {
        let account = json!({"iban": "PK36SCBL0000001123456702", "account_number": number, "bank_code": code,
            "account_holder_name": "Asha Khan"});
        let read =
            order(&with(exchange(), json!({"bank_account": account})), PAKISTAN).expect(number);
        assert_eq!(read.bank_account.iban.as_deref(), Some("PK36SCBL0000001123456702"));
    }
}

#[test]
fn the_faults_of_an_order_name_the_whole_path() {
    assert_eq!(
        faults(order(b"{}", PAKISTAN)).iter().map(|(field, _)| *field).collect::<Vec<_>>(),
        ["order_type", "wallet_id", "amount", "from_currency", "to_currency", "bank_account"]
    );
    let account = |change: Value| {
        let base = json!({"iban": "PK36SCBL0000001123456702", "account_holder_name": "Asha Khan"});
        let account: Value = serde_json::from_slice(&with(base, change)).expect("JSON");
        json!({"bank_account": account})
    };
    for (change, expected) in [
        (json!({"order_type": "SWAP"}), ("order_type", "enum")),
        (json!({"amount": 100}), ("amount", "string_type")),
        (json!({"amount": "0"}), ("amount", "invalid_amount")),
        (json!({"from_currency": "PKR"}), ("from_currency", "enum")),
        (json!({"to_currency": "INR"}), ("to_currency", "enum")),
        (json!({"lock_rate": "yes"}), ("lock_rate", "bool_type")),
        (json!({"bank_account": []}), ("bank_account", "dict_type")),
        (
            account(json!({"account_holder_name": null})),
            ("bank_account.account_holder_name", "missing"),
        ),
        (account(json!({"iban": null})), ("bank_account.iban", "missing")),
        (account(json!({"iban": 5})), ("bank_account.iban", "string_type")),
        (
            account(json!({"iban": "PK36SCBL0000001123456703"})),
            ("bank_account.iban", "invalid_iban"),
        ),
        (
            account(json!({"iban": "AE070331234567890123456"})),
            ("bank_account.iban", "invalid_iban"),
        ),
        (
            account(json!({"iban": null, "account_number": "12345"})),
            ("bank_account.bank_code", "missing"),
        ),
        (
            account(json!({"iban": null, "bank_code": "SCBL"})),
            ("bank_account.account_number", "missing"),
        ),
        (
            account(json!({"account_number": "1-2"})),
            ("bank_account.account_number", "invalid_account_number"),
        ),
        (
            account(json!({"account_number": "1123456703"})),
            ("bank_account.account_number", "account_iban_mismatch"),
        ),
        (
            account(json!({"account_number": "0"})),
            ("bank_account.account_number", "invalid_account_number"),
        ),
        (
            account(json!({"account_number": "56702"})),
            ("bank_account.account_number", "account_iban_mismatch"),
        ),
        // The same number at a different bank.
        (
            account(json!({"account_number": "PK13HABB0000001123456702"})),
            ("bank_account.account_number", "account_iban_mismatch"),
        ),
        (account(json!({"bank_code": "HABB"})), ("bank_account.bank_code", "branch_iban_mismatch")),
        (
            account(json!({"bank_code": "HABBPKKAXXX"})),
            ("bank_account.bank_code", "branch_iban_mismatch"),
        ),
        (account(json!({"bank_code": "1"})), ("bank_account.bank_code", "invalid_branch_code")),
    ] {
        let faults = faults(order(&with(exchange(), change.clone()), PAKISTAN));
        assert_eq!(faults, [expected], "{change}");
    }
}

#[test]
fn no_fault_of_an_account_speaks_of_other_fields_or_repeats_what_was_sent() {
    let account =
        json!({"account_number": "77-41", "bank_code": "9", "account_holder_name": "Asha Khan"});
    let Err(Rejection::Faults { faults, .. }) =
        order(&with(exchange(), json!({"bank_account": account})), PAKISTAN)
    else {
        panic!("must be refused");
    };
    for fault in &faults {
        let told = format!("{} {:?}", fault.message, fault.context);
        assert!(
            !told.contains("beneficiary")
                && !told.contains("branch_code")
                && !told.contains("77-41"),
            "{told}"
        );
    }
    assert_eq!(faults.len(), 2);
}

#[test]
fn an_account_is_judged_by_the_rules_of_the_currencys_country() {
    let to = |currency: &str, account: Value| {
        with(exchange(), json!({"to_currency": currency, "bank_account": account}))
    };
    let named = |mut account: Value| {
        account["account_holder_name"] = json!("Rahim Sampleuddin");
        account
    };
    let several = &[Country::Pak, Country::Bgd, Country::Egy];
    let taka = named(json!({"account_number": "1171510121234", "bank_code": "090270009"}));
    let read = order(&to("BDT", taka), several).expect("valid");
    assert_eq!((read.to, read.bank_account.iban), (Country::Bgd, None));
    let pounds = named(json!({"iban": "eg38 0019 0005 0000 0000 2631 8000 2"}));
    let read = order(&to("EGP", pounds), several).expect("valid");
    assert_eq!(read.bank_account.iban.as_deref(), Some("EG380019000500000000263180002"));
    let pakistani = named(json!({"iban": "PK36SCBL0000001123456702"}));
    for (currency, account, expected) in [
        ("BDT", pakistani.clone(), vec![("bank_account.iban", "invalid_iban")]),
        ("EGP", pakistani.clone(), vec![("bank_account.iban", "invalid_iban")]),
        // Several destinations: the account's country is unknown.
        ("NPR", pakistani, vec![("to_currency", "enum")]),
        (
            "BDT",
            named(json!({})),
            vec![("bank_account.account_number", "missing"), ("bank_account.bank_code", "missing")],
        ),
        (
            "BDT",
            named(json!({"account_number": "1171510121234", "bank_code": "SCBL"})),
            vec![("bank_account.bank_code", "invalid_routing_number")],
        ),
    ] {
        assert_eq!(faults(order(&to(currency, account), several)), expected, "{currency}");
    }
}

#[test]
fn a_rate_query_is_read() {
    let query = |text| rate_query(Some(text), PAKISTAN).expect("valid");
    let read = query("from_currency=USDC&to_currency=PKR&amount=100.5");
    let minor = Some(100_500_000);
    assert_eq!(read, RateQuery { from: StableCoin::Usdc, to: Country::Pak, minor });
    assert_eq!(query("from_currency=USDT&to_currency=PKR").minor, None);
    for (query, expected) in [
        ("", vec![("from_currency", "missing"), ("to_currency", "missing")]),
        (
            "from_currency=PKR&to_currency=USDC",
            vec![("from_currency", "enum"), ("to_currency", "enum")],
        ),
        ("from_currency=&to_currency=PKR&amount=", vec![("from_currency", "missing")]),
        ("from_currency=USDC&to_currency=PKR&amount=1e2", vec![("amount", "invalid_amount")]),
        (
            "from_currency=USDC&from_currency=USDT&to_currency=PKR",
            vec![("from_currency", "multiple_values")],
        ),
    ] {
        assert_eq!(faults(rate_query(Some(query), PAKISTAN)), expected, "{query}");
    }
}

#[test]
fn blocks_unblocks_and_blacklists_are_read() {
    let read = block(br#"{"reason":"SUSPICIOUS_ACTIVITY","details":"Two lines\nof words","auto_unblock_hours":72}"#);
    let read = read.expect("valid");
    assert_eq!((read.reason, read.auto_unblock_hours), (BlockReason::SuspiciousActivity, Some(72)));
    assert_eq!(read.details, "Two lines\nof words");
    assert_eq!(unblock(b""), Ok(None));
    assert_eq!(unblock(b"{}"), Ok(None));
    assert_eq!(unblock(br#"{"unblock_reason":"cleared"}"#), Ok(Some("cleared".to_owned())));
    let order = br#"{"regulatory_authority":"FIA","regulatory_reference_number":"FIA-1","reason":"Court order","effective_date":"2026-11-21"}"#;
    let read = blacklist(order).expect("valid");
    assert_eq!(
        (read.regulatory_reference_number.as_str(), read.effective_date),
        ("FIA-1", jiff::civil::date(2026, 11, 21))
    );
}

#[test]
fn the_faults_of_blocks_unblocks_and_blacklists() {
    assert_eq!(faults(block(b"{}")), [("reason", "missing"), ("details", "missing")]);
    for (body, expected) in [
        (r#"{"reason":"OTHER","details":"x"}"#, ("reason", "enum")),
        (r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"  "}"#, ("details", "missing")),
        (
            r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x","auto_unblock_hours":0}"#,
            ("auto_unblock_hours", "greater_than_equal"),
        ),
        (
            r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"x","auto_unblock_hours":8761}"#,
            ("auto_unblock_hours", "less_than_equal"),
        ),
    ] {
        assert_eq!(faults(block(body.as_bytes())), [expected], "{body}");
    }
    let long = serde_json::to_vec(&json!({"unblock_reason": "x".repeat(501)})).expect("writes");
    assert_eq!(faults(unblock(&long)), [("unblock_reason", "string_too_long")]);
    assert_eq!(
        faults(blacklist(b"{}")).iter().map(|(field, _)| *field).collect::<Vec<_>>(),
        ["regulatory_authority", "regulatory_reference_number", "reason", "effective_date"]
    );
    let order = br#"{"regulatory_authority":"FIA","regulatory_reference_number":"1","reason":"x","effective_date":"2026-02-30"}"#;
    assert_eq!(faults(blacklist(order)), [("effective_date", "date_parsing")]);
    for (day, rule) in [
        ("0000-01-01", Some("greater_than_equal")),
        ("1999-12-31", Some("greater_than_equal")),
        ("2000-01-01", None),
        ("2099-12-31", None),
        ("2100-01-01", Some("less_than_equal")),
        ("9999-12-31", Some("less_than_equal")),
    ] {
        let order = json!({"regulatory_authority": "FIA", "regulatory_reference_number": "1", "reason": "x",
            "effective_date": day});
        let expected: Vec<_> = rule.map(|rule| ("effective_date", rule)).into_iter().collect();
        let read = blacklist(order.to_string().as_bytes());
        let found = if read.is_ok() { Vec::new() } else { faults(read) };
        assert_eq!(found, expected, "{day}");
    }
}

#[test]
fn a_review_is_decided_by_one_of_four_words() {
    for verdict in ReviewVerdict::ALL {
        let body = format!(r#"{{"decision":"{}","note":"Called the sender"}}"#, verdict.name());
        let read = review(body.as_bytes()).expect("valid");
        assert_eq!((read.verdict, read.note.as_deref()), (verdict, Some("Called the sender")));
    }
    assert_eq!(faults(review(b"{}")), [("decision", "missing")]);
    assert_eq!(faults(review(br#"{"decision":"maybe"}"#)), [("decision", "enum")]);
}

#[test]
fn lists_are_paged_from_0_by_20_and_at_most_100() {
    let page = |query: &str| requests(Some(query)).expect("valid").page;
    assert_eq!(page("wallet_id=w"), Page { page: 0, limit: 20 });
    assert_eq!(page("wallet_id=w&page=3&limit=100"), Page { page: 3, limit: 100 });
    let wanted = |query: &str| page(query).wanted();
    assert_eq!(
        wanted("wallet_id=w&page=9007199254740991"),
        engine::wallets::Page { page: u32::MAX, limit: 20 }
    );
    assert_eq!(wanted("wallet_id=w&page=3"), engine::wallets::Page { page: 3, limit: 20 });
    for (entries, pages) in [(0, 0), (1, 1), (20, 1), (21, 2)] {
        assert_eq!((Page { page: 0, limit: 20 }).pages_of(entries), pages);
    }
    let readers: [(&str, Reader); 5] = [
        ("requests", |query| faults(requests(query))),
        ("transactions", |query| faults(transactions(query))),
        ("orders", |query| faults(orders(query))),
        ("reviews", |query| faults(reviews(query))),
        ("deliveries", |query| faults(deliveries(query))),
    ];
    for (list, read) in readers {
        for (query, expected) in [
            ("wallet_id=w&page=-1", ("page", "greater_than_equal")),
            ("wallet_id=w&page=x", ("page", "int_parsing")),
            ("wallet_id=w&page=9007199254740992", ("page", "less_than_equal")),
            ("wallet_id=w&page=100000000000000000000", ("page", "less_than_equal")),
            ("wallet_id=w&limit=0", ("limit", "greater_than_equal")),
            ("wallet_id=w&limit=101", ("limit", "less_than_equal")),
        ] {
            assert_eq!(read(Some(query)), [expected], "{list} {query}");
        }
    }
}

#[test]
fn the_filters_of_lists_are_closed_sets() {
    for state in RequestState::ALL {
        let query = format!("wallet_id=w&status={}", state.name());
        assert_eq!(requests(Some(&query)).expect("valid").status, Some(state));
    }
    for (name, kind) in [
        ("RECEIVED", TransactionKind::Deposit(DepositKind::Received)),
        ("BLOCKED", TransactionKind::Deposit(DepositKind::Blocked)),
        ("EXCHANGED", TransactionKind::Exchanged),
    ] {
        assert_eq!(
            transactions(Some(&format!("wallet_id=w&type={name}"))).expect("valid").kind,
            Some(kind)
        );
    }
    for state in DeliveryState::ALL {
        let query = format!("status={}", state.name());
        assert_eq!(deliveries(Some(&query)).expect("valid").status, Some(state));
    }
    assert!(orders(Some("wallet_id=w&order_type=EXCHANGE")).is_ok());
    assert_eq!(faults(orders(Some("wallet_id=w&order_type=SWAP"))), [("order_type", "enum")]);
    assert_eq!(faults(requests(Some("wallet_id=w&status=active"))), [("status", "enum")]);
    assert_eq!(faults(transactions(Some("wallet_id=w&type=SENT"))), [("type", "enum")]);
    assert_eq!(faults(deliveries(Some("status=x"))), [("status", "enum")]);
    for missing in [faults(requests(None)), faults(transactions(None)), faults(orders(None))] {
        assert_eq!(missing, [("wallet_id", "missing")]);
    }
}

#[test]
fn events_are_read_from_a_position_on() {
    assert_eq!(events(None).expect("valid"), EventList { after: 0, limit: 100 });
    assert_eq!(
        events(Some("after=7&limit=1000")).expect("valid"),
        EventList { after: 7, limit: 1_000 }
    );
    assert_eq!(faults(events(Some("after=&limit="))).len(), 1, "a position is not left out");
    assert_eq!(
        faults(events(Some("after=-1&limit=1001"))),
        [("after", "greater_than_equal"), ("limit", "less_than_equal")]
    );
}
