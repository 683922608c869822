//! `POST /v2/quote`: valid and invalid values of every field.

use domain::country::Country;
use domain::currency::Currency;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    each_field_is_held_to_its_rule
    all_errors_are_reported_at_once_in_field_order
    the_context_of_an_error_names_the_accepted_values
}

/// A value for one field of an otherwise valid body, and the expected error: `loc type`, or none.
const CASES: [(&str, &str, &str); 62] = [
    ("country", "null", "body.country missing"),
    ("country", "\"\"", "body.country missing"),
    ("country", "\"  \"", "body.country missing"),
    ("country", "\"USA\"", "body.country enum"),
    ("country", "\"pak\"", "body.country enum"),
    ("country", "5", "body.country enum"),
    ("country", "[\"PAK\"]", "body.country enum"),
    ("country", "\" PAK \"", ""),
    ("currency", "null", "body.currency missing"),
    ("currency", "\"USD\"", "body.currency enum"),
    ("currency", "\"INR\"", "body.currency enum"),
    ("currency", "\"aed\"", "body.currency enum"),
    ("currency", "true", "body.currency enum"),
    ("currency", "\"\\tAED\"", ""),
    ("amount", "null", "body.amount missing"),
    ("amount", "\"500\"", "body.amount decimal_type"),
    ("amount", "\"\"", "body.amount missing"),
    ("amount", "true", "body.amount decimal_type"),
    ("amount", "[1]", "body.amount decimal_type"),
    ("amount", "{}", "body.amount decimal_type"),
    ("amount", "0", "body.amount greater_than"),
    ("amount", "-0", "body.amount greater_than"),
    ("amount", "0.000", "body.amount greater_than"),
    ("amount", "-1", "body.amount greater_than"),
    ("amount", "0.001", "body.amount decimal_max_places"),
    ("amount", "500.123", "body.amount decimal_max_places"),
    ("amount", "500.120", ""),
    ("amount", "5e1", ""),
    ("amount", "5.0E+1", ""),
    ("amount", "0.01", "body.amount amount_below_min"),
    ("amount", "99999999", "body.amount amount_above_max"),
    ("amount", "100000000", "body.amount less_than"),
    ("amount", "9007199254740993", "body.amount less_than"),
    ("amount", "12345678901234567890", "body.amount less_than"),
    ("amount", "123456789012345678901", "body.amount decimal_max_digits"),
    ("amount", "0.0000000000001", "body.amount decimal_max_digits"),
    ("amount", "1e999999999999", "body.amount decimal_max_digits"),
    ("amount", "1e-999999999999", "body.amount decimal_max_digits"),
    ("amount", "1e21", "body.amount decimal_max_digits"),
    ("beneficiary_account_number", "5", "body.beneficiary_account_number string_type"),
    ("beneficiary_account_number", "{}", "body.beneficiary_account_number string_type"),
    ("beneficiary_account_number", "false", "body.beneficiary_account_number string_type"),
    (
        "beneficiary_account_number",
        "\"PK36\\u0000SCBL\"",
        "body.beneficiary_account_number control_character",
    ),
    (
        "beneficiary_account_number",
        "\"PK37SCBL0000001123456702\"",
        "body.beneficiary_account_number invalid_iban",
    ),
    ("beneficiary_account_number", "\"PK36SCBL\"", "body.beneficiary_account_number invalid_iban"),
    (
        "beneficiary_account_number",
        "\"12-34\"",
        "body.beneficiary_account_number invalid_account_number",
    ),
    ("beneficiary_account_number", "\"PK36SCBL0000001123456702\"", ""),
    ("beneficiary_account_number", "\"pk36 scbl 0000 0011 2345 6702\"", ""),
    ("beneficiary_account_number", "\"12345678901234567890\"", ""),
    ("beneficiary_account_number", "null", ""),
    ("beneficiary_account_number", "\"\"", ""),
    ("bank_branch_code", "7", "body.bank_branch_code string_type"),
    ("bank_branch_code", "\"SCBL\\u0007KKX\"", "body.bank_branch_code control_character"),
    ("bank_branch_code", "\"HDFCINBB\"", "body.bank_branch_code invalid_bic"),
    ("bank_branch_code", "\"SCBLPKK\"", "body.bank_branch_code invalid_bic"),
    ("bank_branch_code", "\"??\"", "body.bank_branch_code invalid_branch_code"),
    ("bank_branch_code", "\"SCBLPKKX\"", ""),
    ("bank_branch_code", "\"SCBLPKKXXXX\"", ""),
    ("bank_branch_code", "\"scbl\"", ""),
    ("bank_branch_code", "null", ""),
    ("bank_branch_code", "\" \"", ""),
    ("unknown", "{\"nested\":[1,2,{}]}", ""),
];

async fn each_field_is_held_to_its_rule(on: On) {
    let bank = Bank::new(on).await;
    let mut wrong = Vec::new();
    let long = [
        (
            "beneficiary_account_number",
            format!("\"{}\"", "1".repeat(65)),
            "body.beneficiary_account_number string_too_long",
        ),
        (
            "bank_branch_code",
            format!("\"{}\"", "A".repeat(36)),
            "body.bank_branch_code string_too_long",
        ),
    ];
    let cases = CASES.into_iter().map(|(field, raw, expected)| (field, raw.to_owned(), expected));
    for (field, raw, expected) in cases.chain(long) {
        let answer = bank.post("/v2/quote", body(field, &raw)).send().await;
        let told =
            if answer.status == 200 { String::new() } else { answer.fault_kinds().join(", ") };
        if told != expected {
            wrong.push(format!("{field} = {raw}: {told:?}, not {expected:?}"));
        }
    }
    for field in ["country", "currency", "amount"] {
        bank.post("/v2/quote", without(field))
            .send()
            .await
            .fault(&format!("body.{field}"), "missing");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const GOOD: [(&str, &str); 3] =
    [("country", "\"PAK\""), ("currency", "\"AED\""), ("amount", "500")];

fn body(field: &str, raw: &str) -> String {
    let kept = GOOD.iter().filter(|(name, _)| *name != field);
    let edited = (field, raw);
    let members = kept.chain([&edited]).map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn without(field: &str) -> String {
    let kept = GOOD.iter().filter(|(name, _)| *name != field);
    format!(
        "{{{}}}",
        kept.map(|(name, value)| format!("\"{name}\":{value}")).collect::<Vec<_>>().join(",")
    )
}

async fn all_errors_are_reported_at_once_in_field_order(on: On) {
    let bank = Bank::new(on).await;
    let missing = bank.post("/v2/quote", "{}").send().await;
    assert_eq!(
        missing.fault_kinds(),
        ["body.country missing", "body.currency missing", "body.amount missing"]
    );
    let body = r#"{"bank_branch_code":1,"beneficiary_account_number":[],"amount":"x","currency":"XXX","country":""}"#;
    assert_eq!(
        bank.post("/v2/quote", body).send().await.fault_kinds(),
        [
            "body.country missing",
            "body.currency enum",
            "body.amount decimal_type",
            "body.beneficiary_account_number string_type",
            "body.bank_branch_code string_type"
        ]
    );
    let hints = r#"{"country":"IND","currency":"AED","amount":100,"beneficiary_account_number":"12","bank_branch_code":"12"}"#;
    assert_eq!(
        bank.post("/v2/quote", hints).send().await.fault_kinds(),
        [
            "body.beneficiary_account_number invalid_account_number",
            "body.bank_branch_code invalid_ifsc"
        ]
    );
    // Errors of different kinds: of the JSON value, of the country, of the currency, of the price.
    for (amount, rule) in [
        ("-1", "greater_than"),
        ("1.234", "decimal_max_places"),
        ("0.000001", "decimal_max_places"),
        ("99999999", "amount_above_max"),
    ] {
        let body = format!(
            r#"{{"country":"IND","currency":"AED","amount":{amount},"bank_branch_code":"12"}}"#
        );
        assert_eq!(
            bank.post("/v2/quote", body).send().await.fault_kinds(),
            [format!("body.amount {rule}"), "body.bank_branch_code invalid_ifsc".to_owned()]
        );
    }
    let body = r#"{"country":"IND","currency":"USD","amount":1.2345,"bank_branch_code":"12"}"#;
    assert_eq!(
        bank.post("/v2/quote", body).send().await.fault_kinds(),
        ["body.currency enum", "body.bank_branch_code invalid_ifsc"]
    );
}

async fn the_context_of_an_error_names_the_accepted_values(on: On) {
    let bank = Bank::new(on).await;
    let fault = |field: &'static str, raw: &'static str| {
        let call = bank.post("/v2/quote", body(field, raw));
        async move { call.send().await.faults().remove(0) }
    };
    let countries = "'BGD', 'EGY', 'IND', 'NPL', 'PAK', 'PHL' or 'VNM'";
    let country = fault("country", "\"USA\"").await;
    assert_eq!(country.ctx["expected"].text(), countries);
    assert_eq!(country.msg, format!("Input should be {countries}"));
    assert_eq!(fault("amount", "0").await.ctx.to_string(), r#"{"gt":0}"#);
    assert_eq!(fault("amount", "0.001").await.ctx.to_string(), r#"{"decimal_places":2}"#);
    assert_eq!(fault("amount", "100000000").await.ctx.to_string(), r#"{"lt":100000000}"#);
    let most = fault("amount", "1e21").await.ctx.to_string();
    assert_eq!(most, r#"{"max_digits":20,"decimal_places":12}"#);
    // Amounts in messages are text, which no client rounds.
    assert_eq!(fault("amount", "0.01").await.ctx.to_string(), r#"{"min":1}"#);
    assert_eq!(fault("amount", "99999999").await.ctx.to_string(), r#"{"max":1000000000}"#);
    let kuwait = bank.quote_call(Country::Pak, Currency::Kwd, "1.0001").send().await;
    assert_eq!(
        kuwait.fault("body.amount", "decimal_max_places").ctx.to_string(),
        r#"{"decimal_places":3}"#
    );
}
