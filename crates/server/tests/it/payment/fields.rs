//! `POST /v2/payment`: valid and invalid values of every field.

use domain::country::Country;
use domain::currency::Currency;

use crate::harness::json::quoted;
use crate::harness::{Bank, On, Order, on_both_stores};

on_both_stores! {
    each_required_field_must_be_there
    each_field_must_be_of_its_type
    each_length_is_bounded
    each_closed_set_of_values_is_kept
    each_form_is_kept
    all_errors_are_reported_at_once_in_field_order
    faults_of_shape_and_of_the_country_come_together
    the_context_of_an_error_names_the_accepted_values
    the_longest_values_are_accepted
}

/// The shape of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text { min: usize, max: usize },
    OneOf,
    Number,
    Uuid,
    Date,
}

/// Every field of the request in the order of the specification: name, required, shape.
const FIELDS: [(&str, bool, Shape); 26] = [
    ("country", true, Shape::OneOf),
    ("currency", true, Shape::OneOf),
    ("quote", true, Shape::Uuid),
    ("amount", true, Shape::Number),
    ("bank_name", true, Shape::Text { min: 0, max: 256 }),
    ("bank_branch_code", true, Shape::Text { min: 0, max: 35 }),
    ("beneficiary_name", true, Shape::Text { min: 0, max: 128 }),
    ("beneficiary_city", true, Shape::Text { min: 0, max: 256 }),
    ("beneficiary_address", true, Shape::Text { min: 0, max: 70 }),
    ("beneficiary_account_number", true, Shape::Text { min: 0, max: 64 }),
    ("beneficiary_account_type", false, Shape::OneOf),
    ("beneficiary_mobile", false, Shape::Text { min: 0, max: 256 }),
    ("beneficiary_email", false, Shape::Text { min: 0, max: 254 }),
    ("remarks", false, Shape::Text { min: 0, max: 2_000 }),
    ("sender_name", true, Shape::Text { min: 0, max: 256 }),
    ("sender_birthdate", false, Shape::Date),
    ("sender_identity_doc_type", true, Shape::OneOf),
    ("sender_identity_doc", true, Shape::Text { min: 0, max: 35 }),
    ("sender_identity_doc_exp", false, Shape::Date),
    ("sender_identity_doc_country", false, Shape::Text { min: 3, max: 3 }),
    ("sender_city", true, Shape::Text { min: 0, max: 256 }),
    ("sender_address", true, Shape::Text { min: 0, max: 70 }),
    ("sender_country", true, Shape::Text { min: 3, max: 3 }),
    ("sender_mobile", false, Shape::Text { min: 0, max: 256 }),
    ("sender_relation", true, Shape::Text { min: 0, max: 256 }),
    ("external_id", false, Shape::Text { min: 1, max: 128 }),
];

impl Shape {
    /// The rule that a value of a different JSON type violates.
    const fn type_rule(self) -> &'static str {
        match self {
            Shape::Text { .. } => "string_type",
            Shape::OneOf => "enum",
            Shape::Number => "decimal_type",
            Shape::Uuid => "uuid_type",
            Shape::Date => "date_type",
        }
    }
}

/// Sends orders that differ from a valid one in one field, collects unexpected answers, and checks
/// that none of the orders used the quote.
struct Table {
    bank: Bank,
    good: Order,
    wrong: Vec<String>,
}

impl Table {
    async fn new(on: On) -> Table {
        let bank = Bank::new(on).await;
        let good = bank.any_quote().await.order();
        Table { bank, good, wrong: Vec::new() }
    }

    /// `expected` is the rule.
    async fn expect(&mut self, field: &str, raw: &str, expected: &str) {
        self.expect_order(self.good.clone().with(field, raw), field, raw, expected).await;
    }

    async fn expect_order(&mut self, order: Order, field: &str, what: &str, expected: &str) {
        let answer = self.bank.pay(&order).await;
        let told = if answer.status == 422 {
            answer.fault_kinds().join(", ")
        } else {
            format!("{answer:?}")
        };
        if told != format!("body.{field} {expected}") {
            self.wrong.push(format!("{field} = {what:.60}: {told}, not {expected}"));
        }
    }

    async fn finish(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        self.bank.pay(&self.good).await.ok();
    }
}

async fn each_required_field_must_be_there(on: On) {
    let mut table = Table::new(on).await;
    for (field, required, _) in FIELDS {
        if required {
            table.expect_order(table.good.clone().without(field), field, "absent", "missing").await;
            for raw in ["null", "\"\"", "\" \\n \""] {
                table.expect(field, raw, "missing").await;
            }
        }
    }
    table.finish().await;
}

async fn each_field_must_be_of_its_type(on: On) {
    let mut table = Table::new(on).await;
    for (field, _, shape) in FIELDS {
        let others: &[&str] = if shape == Shape::Number {
            &["\"5\"", "true", "[]", "{}"]
        } else {
            &["5", "true", "[]", "{}"]
        };
        for raw in others {
            table.expect(field, raw, shape.type_rule()).await;
        }
    }
    table.finish().await;
}

async fn each_length_is_bounded(on: On) {
    let mut table = Table::new(on).await;
    for (field, required, shape) in FIELDS {
        let Shape::Text { min, max } = shape else { continue };
        // Counted in characters, not bytes.
        table.expect(field, &quoted(&"আ".repeat(max + 1)), "string_too_long").await;
        if min > 1 {
            table.expect(field, &quoted(&"A".repeat(min - 1)), "string_too_short").await;
        }
        if min > 0 && !required {
            table.expect(field, "\"\"", "string_too_short").await;
        }
    }
    table.finish().await;
}

async fn each_closed_set_of_values_is_kept(on: On) {
    let mut table = Table::new(on).await;
    for (field, raws) in [
        ("country", ["\"USA\"", "\"pak\"", "\"PK\""]),
        ("currency", ["\"USD\"", "\"INR\"", "\"aed\""]),
        ("beneficiary_account_type", ["\"checking\"", "\"SAVINGS\"", "\"0\""]),
        ("sender_identity_doc_type", ["\"visa\"", "\"Passport\"", "\"id card\""]),
    ] {
        for raw in raws {
            table.expect(field, raw, "enum").await;
        }
    }
    for relation in ["boss", "brother-in-law", "none", "brother sister"] {
        table.expect("sender_relation", &quoted(relation), "invalid_relation").await;
    }
    table.finish().await;
    let bank = Bank::new(on).await;
    for relation in [
        "aunt",
        "brother",
        "colleague",
        "cousin",
        "daughter",
        "father",
        "friend",
        "husband",
        "inlaws",
        "mother",
        "nephew",
        "niece",
        "relative",
        "self",
        "sister",
        "son",
        "uncle",
        "wife",
        "other",
    ] {
        let id = bank
            .paid(Country::Pak, |order| order.text("sender_relation", &relation.to_uppercase()))
            .await;
        assert_eq!(
            bank.record(Country::Pak, &id).await["order"]["sender_relation"].text(),
            relation
        );
    }
    for (field, values) in [
        ("beneficiary_account_type", &["savings", "current"][..]),
        ("sender_identity_doc_type", &["idcard", "passport", "other"]),
    ] {
        for value in values {
            let id = bank.paid(Country::Pak, |order| order.text(field, value)).await;
            assert_eq!(bank.record(Country::Pak, &id).await["order"][field].text(), *value);
        }
    }
}

const FORMS: [(&str, &str, &str); 63] = [
    ("quote", "1", "uuid_parsing"),
    ("quote", "6f0c7ac653b54d3a9d9e0123456789ab", "uuid_parsing"),
    ("quote", "6f0c7ac6-53b5-4d3a-9d9e-0123456789ag", "uuid_parsing"),
    ("quote", "{6f0c7ac6-53b5-4d3a-9d9e-0123456789ab}", "uuid_parsing"),
    ("bank_branch_code", "HDFCINBB", "invalid_bic"),
    ("bank_branch_code", "SCBLPKK", "invalid_bic"),
    ("bank_branch_code", "12", "invalid_branch_code"),
    ("bank_branch_code", "HABBPKKA", "branch_iban_mismatch"),
    ("bank_branch_code", "HABB", "branch_iban_mismatch"),
    ("beneficiary_account_number", "PK37SCBL0000001123456702", "invalid_iban"),
    ("beneficiary_account_number", "PK36SCBL000000112345670", "invalid_iban"),
    ("beneficiary_account_number", "EG380019000500000000263180002", "invalid_iban"),
    ("beneficiary_account_number", "12 34 - 5", "invalid_account_number"),
    ("beneficiary_mobile", "+913001234567", "invalid_mobile"),
    ("beneficiary_mobile", "+92300123456", "invalid_mobile"),
    ("beneficiary_mobile", "03001234567", "invalid_mobile"),
    ("beneficiary_mobile", "+92 300 1234567", "invalid_mobile"),
    ("beneficiary_mobile", "+922001234567", "invalid_mobile"),
    ("beneficiary_email", "asha", "invalid_email"),
    ("beneficiary_email", "@example.com", "invalid_email"),
    ("beneficiary_email", "asha@", "invalid_email"),
    ("beneficiary_email", "asha@example", "invalid_email"),
    ("beneficiary_email", "a b@example.com", "invalid_email"),
    ("beneficiary_email", "asha..khan@example.com", "invalid_email"),
    ("beneficiary_email", "asha@-example.com", "invalid_email"),
    ("sender_birthdate", "28.02.1990", "date_parsing"),
    ("sender_birthdate", "1990-02-29", "date_parsing"),
    ("sender_birthdate", "1990-2-9", "date_parsing"),
    ("sender_birthdate", "1990-02-09T00:00:00Z", "date_parsing"),
    ("sender_birthdate", "2999-01-01", "date_past"),
    ("sender_identity_doc_exp", "tomorrow", "date_parsing"),
    ("sender_identity_doc_exp", "2035-13-01", "date_parsing"),
    ("sender_identity_doc_exp", "2020-01-01", "document_expired"),
    ("sender_identity_doc_country", "XYZ", "invalid_country"),
    ("sender_identity_doc_country", "are", "invalid_country"),
    ("sender_country", "XXX", "invalid_country"),
    ("sender_country", "pak", "invalid_country"),
    ("sender_mobile", "00971501234567", "invalid_mobile"),
    ("sender_mobile", "+0971501234567", "invalid_mobile"),
    ("sender_mobile", "+971 50 123", "invalid_mobile"),
    ("sender_mobile", "+9715012345678901", "invalid_mobile"),
    ("bank_name", "a\u{0}b", "control_character"),
    ("beneficiary_name", "a\tb", "control_character"),
    ("beneficiary_name", "a\nb", "control_character"),
    ("beneficiary_city", "a\u{1b}[31m", "control_character"),
    ("beneficiary_address", "a\r\nb", "control_character"),
    ("remarks", "a\u{7}b", "control_character"),
    ("remarks", "a\rb", "control_character"),
    ("sender_name", "a\u{7f}b", "control_character"),
    ("sender_identity_doc", "a\u{85}b", "control_character"),
    ("sender_city", "a\u{9f}b", "control_character"),
    ("sender_relation", "a\u{2}", "control_character"),
    ("external_id", "a\nb", "control_character"),
    ("beneficiary_name", "Asha\u{202E}nahK", "forbidden_character"),
    ("sender_name", "a\u{200F}b", "forbidden_character"),
    ("sender_address", "a\u{2028}b", "forbidden_character"),
    ("external_id", "a\u{FFFF}", "forbidden_character"),
    ("external_id", "a\u{E0042}", "forbidden_character"),
    ("sender_identity_doc", "\u{E123}", "forbidden_character"),
    ("beneficiary_city", "\u{200B}", "missing"),
    ("beneficiary_address", "\u{2800}\u{115F}", "missing"),
    ("sender_birthdate", "0000-01-01", "greater_than_equal"),
    ("sender_birthdate", "1899-12-31", "greater_than_equal"),
];

async fn each_form_is_kept(on: On) {
    let mut table = Table::new(on).await;
    for (field, text, expected) in FORMS {
        table.expect(field, &quoted(text), expected).await;
    }
    for (raw, expected) in [
        ("0", "greater_than"),
        ("-0.0", "greater_than"),
        ("-37950", "greater_than"),
        ("1e999999999999", "decimal_max_digits"),
        ("12345678901234567890123456789012345678901", "decimal_max_digits"),
        ("7590.0000000000000000000000000000001", "decimal_max_digits"),
        ("0.00004", "greater_than"),
        ("123456789012345678901", "amount_mismatch"),
        ("7590.00006", "amount_mismatch"),
        ("7589.99", "amount_mismatch"),
        ("7590.0001", "amount_mismatch"),
        ("9007199254740993", "amount_mismatch"),
        ("99999999999999999999", "amount_mismatch"),
    ] {
        table.expect("amount", raw, expected).await;
    }
    table.finish().await;
}

async fn all_errors_are_reported_at_once_in_field_order(on: On) {
    let bank = Bank::new(on).await;
    let required = FIELDS.iter().filter(|(_, required, _)| *required);
    let missing: Vec<String> =
        required.map(|(field, ..)| format!("body.{field} missing")).collect();
    assert_eq!(bank.post("/v2/payment", "{}").send().await.fault_kinds(), missing);
    let reversed: Vec<String> = FIELDS
        .iter()
        .rev()
        .map(|(field, _, shape)| {
            format!("\"{field}\":{}", if *shape == Shape::Number { "\"1\"" } else { "[1]" })
        })
        .collect();
    let every: Vec<String> = FIELDS
        .iter()
        .map(|(field, _, shape)| format!("body.{field} {}", shape.type_rule()))
        .collect();
    let answer = bank.post("/v2/payment", format!("{{{}}}", reversed.join(","))).send().await;
    assert_eq!(answer.fault_kinds(), every);
}

async fn faults_of_shape_and_of_the_country_come_together(on: On) {
    let bank = Bank::new(on).await;
    let quote = bank.quote(Country::Ind, Currency::Aed, "100").await;
    let order = quote
        .order()
        .text("external_id", "")
        .text("sender_relation", "boss")
        .without("sender_address")
        .text("sender_country", "ZZZ")
        .text("sender_identity_doc_exp", "2000-01-01")
        .text("beneficiary_mobile", "+923001234567")
        .text("beneficiary_account_number", "12")
        .text("beneficiary_address", &"x".repeat(71))
        .text("bank_branch_code", "HDFC")
        .with("amount", "\"1\"");
    assert_eq!(
        bank.pay(&order).await.fault_kinds(),
        [
            "body.amount decimal_type",
            "body.bank_branch_code invalid_ifsc",
            "body.beneficiary_address string_too_long",
            "body.beneficiary_account_number invalid_account_number",
            "body.beneficiary_mobile invalid_mobile",
            "body.sender_identity_doc_exp document_expired",
            "body.sender_address missing",
            "body.sender_country invalid_country",
            "body.sender_relation invalid_relation",
            "body.external_id string_too_short",
        ]
    );
    bank.pay(&quote.order()).await.ok();
}

async fn the_context_of_an_error_names_the_accepted_values(on: On) {
    let bank = Bank::new(on).await;
    let good = bank.any_quote().await.order();
    for (field, raw, kind, ctx) in [
        ("beneficiary_name", quoted(&"x".repeat(129)), "string_too_long", r#"{"max_length":128}"#),
        ("external_id", "\"\"".to_owned(), "string_too_short", r#"{"min_length":1}"#),
        ("amount", "0".to_owned(), "greater_than", r#"{"gt":0}"#),
        ("amount", "7590.01".to_owned(), "amount_mismatch", r#"{"expected":7590}"#),
        ("currency", "\"SAR\"".to_owned(), "currency_mismatch", r#"{"expected":"AED"}"#),
        (
            "beneficiary_account_type",
            "\"x\"".to_owned(),
            "enum",
            r#"{"expected":"'savings' or 'current'"}"#,
        ),
        ("bank_branch_code", "\"HDFCINBB\"".to_owned(), "invalid_bic", r#"{"country":"PK"}"#),
        (
            "bank_branch_code",
            "\"HABB\"".to_owned(),
            "branch_iban_mismatch",
            r#"{"iban_branch":"SCBL"}"#,
        ),
    ] {
        let fault =
            bank.pay(&good.clone().with(field, raw)).await.fault(&format!("body.{field}"), kind);
        assert_eq!(fault.ctx.to_string(), ctx, "{field}");
        assert!(!fault.msg.is_empty());
    }
}

async fn the_longest_values_are_accepted(on: On) {
    let bank = Bank::new(on).await;
    let long = |chars: usize| "আ".repeat(chars);
    let id = bank
        .paid(Country::Pak, |order| {
            FIELDS.into_iter().fold(order, |order, (field, _, shape)| match shape {
                Shape::Text { min: 0 | 1, max } if !formed(field) => order.text(field, &long(max)),
                _ => order,
            })
        })
        .await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(record["order"]["beneficiary_name"].text(), long(128));
    assert_eq!(record["order"]["remarks"].text(), long(2_000));
    assert_eq!(record["order"]["external_id"].text(), long(128));
}

/// Fields whose text must also have a certain format.
fn formed(field: &str) -> bool {
    [
        "bank_branch_code",
        "beneficiary_account_number",
        "beneficiary_mobile",
        "beneficiary_email",
        "sender_mobile",
        "sender_relation",
    ]
    .contains(&field)
}
