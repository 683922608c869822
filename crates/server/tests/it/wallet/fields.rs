//! Every field of every body and query of the wallet service: missing, null, blank, of another
//! type, too long, out of bounds, not an allowed name (specification: the tables of "Endpoints";
//! `decisions.md`: "Amounts", "Bounds", "bank_account", "Strings are trimmed; blank is missing.
//! Unknown fields … are ignored"). Allowed values come from the OpenAPI document, so that new
//! fields are tested automatically.

use serde_json::{Value, json};

use super::table::{MANAGER, MISSING, Op, document, resolved};
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, Json, On, WalletBank, on_both_stores};

on_both_stores! {
    every_field_of_every_body_is_judged
    all_errors_of_a_body_are_reported_in_field_order
    amounts_are_texts_of_12_digits_and_6_decimals
    bank_accounts_are_pakistani
    customers_have_real_addresses
    every_parameter_of_every_query_is_judged
    strings_are_trimmed_and_unknown_fields_ignored
}

/// A member of a body: its path, its schema, whether it is required.
struct Field {
    /// Dotted path, as in `amount.value`.
    path: String,
    /// JSON pointer, as in `/amount/value`.
    pointer: String,
    schema: Value,
    required: bool,
}

/// The members of an object's schema below a path.
fn members(document: &Value, schema: &Value, above: &str) -> Vec<Field> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().expect("an object's schema");
    let mut fields = Vec::new();
    for (name, property) in properties {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let property = resolved(document, property);
        if property["properties"].is_object() {
            fields.extend(members(document, &property, &path));
        }
        let pointer = format!("/{}", path.replace('.', "/"));
        let schema =
            property["oneOf"][0].is_object().then(|| resolved(document, &property["oneOf"][0]));
        let schema = schema.unwrap_or(property);
        fields.push(Field { path, pointer, schema, required: required.contains(&json!(name)) });
    }
    fields
}

/// Every field of an operation's body; the amount's as in its first sample.
fn fields_of(op: &Op) -> Vec<Field> {
    let document = document();
    let Some(schema) = &op.schema else { return Vec::new() };
    let mut fields = members(&document, schema, "");
    if op.bodies[0]["amount"].is_object() {
        fields.retain(|field| field.path != "amount");
        let crypto = &document["components"]["schemas"]["CryptoAmount"];
        fields.extend(members(&document, crypto, "amount"));
        let object = json!({"type": "object"});
        fields.push(Field {
            path: "amount".to_owned(),
            pointer: "/amount".to_owned(),
            schema: object,
            required: true,
        });
    }
    fields
}

impl Field {
    fn is(&self, kind: &str) -> bool {
        self.schema["type"] == kind
            || self.schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
    }

    /// Invalid values, each with the violated rule.
    fn wrong(&self) -> Vec<(Value, &'static str)> {
        let schema = &self.schema;
        let mut wrong = Vec::new();
        if self.required {
            wrong.push((Value::Null, "missing"));
        }
        if self.is("object") {
            wrong.extend(
                [json!("text"), json!(7), json!([]), json!(true)].map(|value| (value, "dict_type")),
            );
        } else if schema["enum"].is_array() || schema["const"].is_string() {
            let known = schema["enum"][0].as_str().or(schema["const"].as_str()).expect("a name");
            let other_case = if known == known.to_lowercase() {
                known.to_uppercase()
            } else {
                known.to_lowercase()
            };
            let names = [
                json!("NO_SUCH_NAME"),
                json!(other_case),
                json!(7),
                json!(true),
                json!([]),
                json!({}),
            ];
            wrong.extend(names.map(|value| (value, "enum")));
        } else if schema["format"] == "date" {
            wrong.extend(
                [json!(20_261_121), json!(true), json!({})].map(|value| (value, "date_type")),
            );
            let days =
                ["2026-02-30", "2026-13-01", "21-11-2026", "2026-11-21T00:00:00Z", "tomorrow"];
            wrong.extend(days.map(|day| (json!(day), "date_parsing")));
        } else if self.is("string") {
            wrong.extend(
                [json!(7), json!(true), json!([]), json!({})].map(|value| (value, "string_type")),
            );
            if let Some(max) = schema["maxLength"].as_u64().filter(|_| schema["format"] != "email")
            {
                let long = "x".repeat(usize::try_from(max).expect("fits") + 1);
                wrong.push((json!(long), "string_too_long"));
                wrong.push((json!("a\u{7}b"), "control_character"));
                // Names, addresses and ids may not contain direction marks; free texts may.
                if !EXPLANATIONS.contains(&self.path.as_str()) {
                    wrong.push((json!("a\u{202E}b"), "forbidden_character"));
                }
            }
        } else if self.is("integer") {
            wrong.extend([json!("24"), json!(true), json!([])].map(|value| (value, "int_type")));
            wrong.push((json!(1.5), "int_parsing"));
            wrong.push((
                json!(schema["minimum"].as_i64().expect("a bound") - 1),
                "greater_than_equal",
            ));
            wrong
                .push((json!(schema["maximum"].as_i64().expect("a bound") + 1), "less_than_equal"));
        } else {
            assert!(self.is("boolean"), "{}: {schema}", self.path);
            wrong.extend([json!("true"), json!(1), json!([])].map(|value| (value, "bool_type")));
        }
        if self.required
            && (self.is("string") || schema["enum"].is_array() || schema["const"].is_string())
        {
            wrong.extend([json!(""), json!(" \t ")].map(|value| (value, "missing")));
        }
        wrong
    }
}

const EXPLANATIONS: [&str; 4] = ["details", "unblock_reason", "reason", "note"];

/// A sample body with a changed value.
fn with(op: &Op, pointer: &str, value: Value) -> String {
    let mut body: Value = serde_json::from_str(&op.body(MISSING)).expect("JSON");
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = if parent.is_empty() { Some(&mut body) } else { body.pointer_mut(parent) };
    parent.expect("an object")[name] = value;
    body.to_string()
}

/// A sample body without a member.
fn without(op: &Op, pointer: &str) -> String {
    let mut body: Value = serde_json::from_str(&op.body(MISSING)).expect("JSON");
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = if parent.is_empty() { Some(&mut body) } else { body.pointer_mut(parent) };
    parent.and_then(Value::as_object_mut).expect("an object").remove(name);
    body.to_string()
}

/// Field and rule of every error of a 400, whose format is checked.
#[track_caller]
fn faults(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 400, "{answer:?}");
    let body = answer.json();
    assert_eq!(
        body.names(),
        ["error", "message", "field", "details", "request_id", "timestamp"],
        "{answer:?}"
    );
    assert_eq!(body["details"].names(), ["faults"]);
    let items = body["details"]["faults"].items();
    let first = &items[0];
    refused(answer, 400, "INVALID_REQUEST", Some(first["field"].text()));
    assert_eq!(
        body["message"].text(),
        format!("{}: {}", first["field"].text(), first["message"].text())
    );
    let each = items.iter().map(|item| {
        let names = item.names();
        assert!(
            names == ["field", "rule", "message"] || names == ["field", "rule", "message", "ctx"],
            "{names:?}"
        );
        assert!(!item["message"].text().is_empty());
        (item["field"].text().to_owned(), item["rule"].text().to_owned())
    });
    each.collect()
}

/// The operation's response to a body.
async fn asks(bank: &WalletBank, op: &Op, body: String) -> Answer {
    bank.call_as(MANAGER, op.method.clone(), &op.url(MISSING), Some(body)).send().await
}

/// The structure was valid: the named resource is missing, or the operation succeeded.
#[track_caller]
fn passes(answer: &Answer) {
    assert!([200, 404, 409].contains(&answer.status), "{answer:?}");
}

async fn every_field_of_every_body_is_judged(on: On) {
    let mut judged = 0;
    for op in Op::posts() {
        for field in fields_of(&op) {
            // One tenant each, because rate limits are low.
            let bank = WalletBank::new(on).await;
            passes(&asks(&bank, &op, op.body(MISSING)).await);
            for (value, rule) in field.wrong() {
                let answer = asks(&bank, &op, with(&op, &field.pointer, value.clone())).await;
                let told = faults(&answer);
                let first = (field.path.clone(), rule.to_owned());
                assert_eq!(
                    told.first(),
                    Some(&first),
                    "{} {} = {value}: {answer:?}",
                    op.path,
                    field.path
                );
            }
            let absent = asks(&bank, &op, without(&op, &field.pointer)).await;
            // An account needs its IBAN, or bank and number as in the sample.
            let one_of_two = ["bank_account.account_number", "bank_account.bank_code"]
                .contains(&field.path.as_str());
            if field.required || one_of_two {
                assert_eq!(
                    faults(&absent),
                    [(field.path.clone(), "missing".to_owned())],
                    "{}",
                    op.path
                );
            } else {
                passes(&absent);
                passes(&asks(&bank, &op, with(&op, &field.pointer, Value::Null)).await);
            }
            judged += 1;
        }
    }
    assert_eq!(judged, 5 + 8 + 11 + 3 + 1 + 4 + 2);
}

async fn all_errors_of_a_body_are_reported_in_field_order(on: On) {
    let bank = WalletBank::new(on).await;
    for (path, body, expected) in [
        (
            "/v1/sdk/wallets/provision",
            json!({"kyc_level": "GOLD", "customer_phone": "0300", "customer_email": "invalid"}),
            vec![
                "customer_id missing",
                "customer_email invalid_email",
                "customer_phone invalid_phone",
                "kyc_level enum",
            ],
        ),
        (
            "/v1/sdk/payment-requests",
            json!({"expires_in_hours": 0, "purpose": 1, "recipient_name": 1, "amount": {"type": "crypto", "value": "0", "currency": "PKR"}}),
            vec![
                "wallet_id missing",
                "amount.value invalid_amount",
                "amount.currency enum",
                "purpose string_type",
                "recipient_name string_type",
                "expires_in_hours greater_than_equal",
            ],
        ),
        (
            "/v1/sdk/orders",
            json!({"lock_rate": "no", "bank_account": {"iban": "PK00"}, "to_currency": "USD", "amount": 5}),
            vec![
                "order_type missing",
                "wallet_id missing",
                "amount string_type",
                "from_currency missing",
                "to_currency enum",
                "bank_account.account_holder_name missing",
                "bank_account.iban invalid_iban",
                "lock_rate bool_type",
            ],
        ),
    ] {
        let told = faults(&bank.post(path, body.to_string()).send().await);
        let told: Vec<String> =
            told.into_iter().map(|(field, rule)| format!("{field} {rule}")).collect();
        assert_eq!(told, expected, "{path}");
    }
}

async fn amounts_are_texts_of_12_digits_and_6_decimals(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("amounts").await;
    let asks = |kind: &str, value: &str, currency: &str| {
        let amount = json!({"type": kind, "value": value, "currency": currency});
        bank.post(
            "/v1/sdk/payment-requests",
            json!({"wallet_id": wallet, "amount": amount}).to_string(),
        )
        .send()
    };
    for wrong in [
        "0",
        "0.00",
        "0.000000",
        "-1",
        "+1",
        "1.",
        ".5",
        "1.0000001",
        "1234567890123",
        "1e3",
        "1,5",
        "1_000",
        "0x10",
        "NaN",
        "Infinity",
        "١٢",
        "1 000",
    ] {
        let told = faults(&asks("crypto", wrong, "USDC").await);
        assert_eq!(told, [("amount.value".to_owned(), "invalid_amount".to_owned())], "{wrong}");
    }
    for (value, shown) in [
        ("25", "25.00"),
        ("25.5", "25.50"),
        ("25.50", "25.50"),
        ("0025.500000", "25.50"),
        ("0.000001", "0.000001"),
        ("1.234500", "1.2345"),
        ("999999999999.999999", "999999999999.999999"),
        (" 7.10 ", "7.10"),
    ] {
        let made = asks("crypto", value, "USDT").await.ok();
        assert_eq!(made["amount"].names(), ["type", "value", "currency"]);
        assert_eq!(made["amount"]["value"].text(), shown, "{value}");
    }
    for currency in ["PKR", "USD", "AED", "SAR"] {
        let made = asks("fiat", "1000.00", currency).await.ok();
        assert_eq!(
            (made["amount"]["type"].text(), made["amount"]["value"].text()),
            ("fiat", "1000.00")
        );
    }
    for (kind, currency) in [
        ("fiat", "USDC"),
        ("fiat", "EUR"),
        ("crypto", "PKR"),
        ("crypto", "usdc"),
        ("crypto", "DAI"),
    ] {
        let told = faults(&asks(kind, "1000.00", currency).await);
        assert_eq!(told, [("amount.currency".to_owned(), "enum".to_owned())], "{kind} {currency}");
    }
    let flexible = bank.post(
        "/v1/sdk/payment-requests",
        json!({"wallet_id": wallet, "amount": {"type": "flexible"}}).to_string(),
    );
    let made = flexible.send().await.ok();
    assert_eq!(made["amount"].to_string(), r#"{"type":"flexible","value":null,"currency":null}"#);
    // An amount that no chain could pay gets an error message, not a failure.
    for (kind, currency) in [("fiat", "PKR"), ("fiat", "USD"), ("fiat", "AED")] {
        let answer = asks(kind, "999999999999.999999", currency).await;
        assert!([200, 400, 422].contains(&answer.status), "{answer:?}");
    }
}

async fn bank_accounts_are_pakistani(on: On) {
    let bank = WalletBank::new(on).await;
    let holder = "Asha Khan";
    let asks = |account: Value| {
        let body = json!({"order_type": "EXCHANGE", "wallet_id": MISSING, "amount": "1.00", "from_currency": "USDC",
            "to_currency": "PKR", "bank_account": account});
        bank.post("/v1/sdk/orders", body.to_string()).send()
    };
    for (account, expected) in [
        (json!({"account_holder_name": holder}), vec!["bank_account.iban missing"]),
        (
            json!({"account_holder_name": holder, "account_number": "001123456702"}),
            vec!["bank_account.bank_code missing"],
        ),
        (
            json!({"account_holder_name": holder, "bank_code": "SCBL"}),
            vec!["bank_account.account_number missing"],
        ),
        (
            json!({"iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name missing"],
        ),
        (
            json!({"account_holder_name": "x".repeat(129), "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name string_too_long"],
        ),
        (
            // An ideograph that no rail can transliterate.
            json!({"account_holder_name": "\u{3200C}", "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name unsupported_characters"],
        ),
        // The bank could not identify its customer by these after the tokens moved.
        (
            json!({"account_holder_name": "عائشہ خان", "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name unsupported_characters"],
        ),
        (
            json!({"account_holder_name": "李小龙", "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name unsupported_characters"],
        ),
        (
            json!({"account_holder_name": "123", "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name unsupported_characters"],
        ),
        (
            json!({"account_holder_name": "<b>x</b>", "iban": "PK36SCBL0000001123456702"}),
            vec!["bank_account.account_holder_name unsupported_characters"],
        ),
        // Another bank, another account.
        (
            json!({"account_holder_name": holder, "iban": "PK36SCBL0000001123456702", "bank_code": "HABB"}),
            vec!["bank_account.bank_code branch_iban_mismatch"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "PK36SCBL0000001123456702", "bank_code": "HABBPKKA"}),
            vec!["bank_account.bank_code branch_iban_mismatch"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "PK36SCBL0000001123456702", "account_number": "998877665544"}),
            vec!["bank_account.account_number account_iban_mismatch"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "PK37SCBL0000001123456702"}),
            vec!["bank_account.iban invalid_iban"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "PK36SCBL000000112345670"}),
            vec!["bank_account.iban invalid_iban"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "AE070331234567890123456"}),
            vec!["bank_account.iban invalid_iban"],
        ),
        (
            json!({"account_holder_name": holder, "iban": "PK36SCBL00000011234567\u{660}2"}),
            vec!["bank_account.iban invalid_iban"],
        ),
        (
            json!({"account_holder_name": holder, "account_number": "12-34", "bank_code": "SCBL"}),
            vec!["bank_account.account_number invalid_account_number"],
        ),
        (
            json!({"account_holder_name": holder, "account_number": "001123456702", "bank_code": "1"}),
            vec!["bank_account.bank_code invalid_branch_code"],
        ),
    ] {
        let told = faults(&asks(account.clone()).await);
        let told: Vec<String> =
            told.into_iter().map(|(field, rule)| format!("{field} {rule}")).collect();
        assert_eq!(told, expected, "{account}");
    }
    for account in [
        json!({"account_holder_name": holder, "iban": "PK36SCBL0000001123456702"}),
        json!({"account_holder_name": holder, "iban": "pk36 scbl 0000 0011 2345 6702"}),
        json!({"account_holder_name": holder, "account_number": "001123456702", "bank_code": "SCBL"}),
        json!({"account_holder_name": holder, "iban": "PK36SCBL0000001123456702", "bank_code": "SCBL"}),
    ] {
        refused(&asks(account).await, 404, "NOT_FOUND", Some("wallet_id"));
    }
}

async fn customers_have_real_addresses(on: On) {
    let bank = WalletBank::new(on).await;
    let asks = |email: &str, phone: &str| {
        let body = json!({"customer_id": "c", "customer_email": email, "customer_phone": phone});
        bank.post("/v1/sdk/wallets/provision", body.to_string()).send()
    };
    for wrong in [
        "asha",
        "asha@",
        "@example.com",
        "a b@example.com",
        "asha@example",
        "a@b@c.com",
        &format!("{}@example.com", "x".repeat(250)),
    ] {
        let told = faults(&asks(wrong, "+923001234567").await);
        assert_eq!(told[0].0, "customer_email", "{wrong}");
        assert!(
            ["invalid_email", "string_too_long"].contains(&told[0].1.as_str()),
            "{wrong}: {told:?}"
        );
    }
    for wrong in [
        "03001234567",
        "+0300123456",
        "+92 300 1234567",
        "+92300123456789012",
        "+12345",
        "00923001234567",
        "+٩٢٣",
    ] {
        let told = faults(&asks("asha@example.com", wrong).await);
        assert_eq!(told, [("customer_phone".to_owned(), "invalid_phone".to_owned())], "{wrong}");
    }
    // The shortest and longest E.164 numbers, and an address with every allowed character class.
    for (at, (email, phone)) in
        [("a.b+c@sub.example.co", "+1234567"), ("x@example.com", "+123456789012345")]
            .iter()
            .enumerate()
    {
        let body = json!({"customer_id": format!("c{at}"), "customer_email": email, "customer_phone": phone});
        bank.post("/v1/sdk/wallets/provision", body.to_string()).send().await.ok();
    }
}

/// `field rule` of every error of a query.
async fn query_faults(bank: &WalletBank, path: &str) -> Vec<String> {
    let told = faults(&bank.get(path).send().await);
    told.into_iter().map(|(field, rule)| format!("{field} {rule}")).collect()
}

async fn every_parameter_of_every_query_is_judged(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("queries").await;
    for list in ["payment-requests", "transactions", "orders"] {
        let path = |query: &str| format!("/v1/sdk/{list}?{query}");
        assert_eq!(query_faults(&bank, &format!("/v1/sdk/{list}")).await, ["wallet_id missing"]);
        assert_eq!(query_faults(&bank, &path("wallet_id=")).await, ["wallet_id missing"]);
        assert_eq!(
            query_faults(&bank, &path(&format!("wallet_id={wallet}&wallet_id={wallet}"))).await,
            ["wallet_id multiple_values"]
        );
        assert_eq!(query_faults(&bank, &path("wallet_id=%ff")).await, ["wallet_id url_encoding"]);
    }
    let owned = |list: &str| format!("/v1/sdk/{list}?wallet_id={wallet}");
    let lists = [
        owned("payment-requests"),
        owned("transactions"),
        owned("orders"),
        "/v1/sdk/reviews?".to_owned(),
        "/v1/sdk/webhooks/deliveries?".to_owned(),
    ];
    for list in &lists {
        for (query, fault) in [
            ("page=-1", "page greater_than_equal"),
            ("page=x", "page int_parsing"),
            ("page=1.5", "page int_parsing"),
            ("limit=0", "limit greater_than_equal"),
            ("limit=101", "limit less_than_equal"),
            ("limit=x", "limit int_parsing"),
            ("page=0&page=1", "page multiple_values"),
        ] {
            assert_eq!(query_faults(&bank, &format!("{list}&{query}")).await, [fault], "{list}");
        }
        bank.get(&format!("{list}&page=0&limit=100&unknown=1")).send().await.ok();
        // Blank is missing.
        bank.get(&format!("{list}&page=&limit=%20")).send().await.ok();
    }
    for (list, name, wrong) in [
        (&lists[0], "status", ["active", "OPEN"]),
        (&lists[1], "type", ["SENT", "received"]),
        (&lists[2], "order_type", ["SWAP", "exchange"]),
        (&lists[4], "status", ["DEAD", "lost"]),
    ] {
        for value in wrong {
            assert_eq!(
                query_faults(&bank, &format!("{list}&{name}={value}")).await,
                [format!("{name} enum")]
            );
        }
    }
    for (query, fault) in [
        ("after=-1", "after greater_than_equal"),
        ("after=x", "after int_parsing"),
        ("limit=0", "limit greater_than_equal"),
        ("limit=1001", "limit less_than_equal"),
    ] {
        assert_eq!(query_faults(&bank, &format!("/v1/sdk/events?{query}")).await, [fault]);
    }
    let rate = "/v1/sdk/orders/exchange-rate";
    assert_eq!(query_faults(&bank, rate).await, ["from_currency missing", "to_currency missing"]);
    for (query, fault) in [
        ("from_currency=PKR&to_currency=PKR", "from_currency enum"),
        ("from_currency=USDC&to_currency=USD", "to_currency enum"),
        ("from_currency=usdc&to_currency=PKR", "from_currency enum"),
        ("from_currency=USDC&to_currency=PKR&amount=0", "amount invalid_amount"),
        ("from_currency=USDC&to_currency=PKR&amount=1e2", "amount invalid_amount"),
    ] {
        assert_eq!(query_faults(&bank, &format!("{rate}?{query}")).await, [fault], "{query}");
    }
    let most = bank
        .get(&format!("{rate}?from_currency=USDC&to_currency=PKR&amount=999999999999.999999"))
        .send()
        .await;
    assert!([200, 400, 422].contains(&most.status), "{most:?}");
}

async fn strings_are_trimmed_and_unknown_fields_ignored(on: On) {
    let bank = WalletBank::new(on).await;
    let body = json!({
        "customer_id": "  trimmed ", "customer_email": " asha@example.com ", "customer_phone": " +923001234567",
        "kyc_level": " BASIC ", "blockchain": " ", "timestamp": "yesterday", "wallet_id": 7, "status": {"a": [1]},
    });
    let made = bank.post("/v1/sdk/wallets/provision", body.to_string()).send().await.ok();
    let shown =
        bank.get(&format!("/v1/sdk/wallets/{}", made["wallet_id"].text())).send().await.ok();
    assert_eq!((shown["customer_id"].text(), shown["kyc_level"].text()), ("trimmed", "BASIC"));
    assert_eq!(shown["blockchain"].text(), "ethereum", "blank is missing");
    let details = r#"{"reason":"SUSPICIOUS_ACTIVITY","details":"two\nlines\tof it","auto_unblock_hours":null}"#;
    let blocked = bank
        .post(&format!("/v1/sdk/wallets/{}/block", made["wallet_id"].text()), details)
        .send()
        .await
        .ok();
    assert_eq!(blocked["auto_unblock_at"], Json::Null);
}
