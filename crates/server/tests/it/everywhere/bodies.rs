//! Invalid bodies: not JSON, almost JSON, hostile JSON, too large, of another type.

use domain::country::Country;
use domain::currency::Currency;

use crate::harness::client::quote_body;
use crate::harness::hostile::{Malformed, malformed_json};
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    malformed_json_is_reported_with_its_byte
    a_body_that_is_not_an_object_is_reported
    hostile_json_is_refused
    a_body_of_another_type_is_unsupported
    a_body_with_a_content_encoding_is_unsupported
    a_body_beyond_the_limit_is_too_large
    a_body_that_does_not_end_in_time_is_given_up
    numbers_are_read_as_decimals_in_any_notation
    a_get_with_a_body_is_answered_all_the_same
}

const PATHS: [&str; 2] = ["/v2/quote", "/v2/payment"];

async fn malformed_json_is_reported_with_its_byte(on: On) {
    let bank = Bank::new(on).await;
    for path in PATHS {
        for Malformed { body, offset, reason } in malformed_json() {
            let answer = bank.post(path, body).send().await;
            let fault = answer.fault(&format!("body.{offset}"), "json_invalid");
            assert_eq!(fault.msg, "JSON decode error");
            assert_eq!(fault.ctx["error"].text(), reason, "{answer:?}");
            let loc = &answer.json()["detail"][0]["loc"];
            assert_eq!(loc.to_string(), format!("[\"body\",{offset}]"), "the offset is a number");
        }
    }
}

async fn a_body_that_is_not_an_object_is_reported(on: On) {
    let bank = Bank::new(on).await;
    for path in PATHS {
        for body in ["", " \n"] {
            bank.post(path, body).send().await.fault("body", "missing");
        }
        for body in ["null", "[]", "[{}]", "\"text\"", "5", "true"] {
            bank.post(path, body).send().await.fault("body", "dict_type");
        }
    }
}

async fn hostile_json_is_refused(on: On) {
    let bank = Bank::new(on).await;
    let good = quote_body(Country::Pak, Currency::Aed, "100");
    let nested = |depth: usize| {
        format!("{},\"deep\":{}{}}}", &good[..good.len() - 1], "[".repeat(depth), "]".repeat(depth))
    };
    bank.post("/v2/quote", nested(31)).send().await.ok();
    let deep = bank.post("/v2/quote", nested(32)).send().await;
    assert_eq!(deep.faults()[0].ctx["error"].text(), "nested deeper than 32 levels");
    let deepest = bank.post("/v2/quote", "[".repeat(60_000)).send().await;
    assert_eq!(
        deepest.fault("body.32", "json_invalid").ctx["error"].text(),
        "nested deeper than 32 levels"
    );
    for (body, offset) in [
        (r#"{"amount":1,"amount":2}"#, 12),
        (r#"{"amount":1,"\u0061mount":2}"#, 12),
        (r#"{"x":{"a":1,"a":1}}"#, 12),
        (r#"{"":1,"":1}"#, 6),
    ] {
        let fault = bank
            .post("/v2/quote", body)
            .send()
            .await
            .fault(&format!("body.{offset}"), "json_invalid");
        assert_eq!(fault.ctx["error"].text(), "duplicate member name", "{body}");
    }
    let many: Vec<String> = (0..4_000).map(|number| format!("\"m{number}\":{number}")).collect();
    let many = format!("{},{}}}", &good[..good.len() - 1], many.join(","));
    bank.post("/v2/quote", many).send().await.ok();
    for huge in [
        "1e999999999999",
        "-1e999999999999",
        "1e-999999999999",
        &"9".repeat(50_000),
        &format!("0.{}1", "0".repeat(50_000)),
    ] {
        let answer =
            bank.post("/v2/quote", quote_body(Country::Pak, Currency::Aed, huge)).send().await;
        assert_eq!(answer.fault_kinds(), ["body.amount decimal_max_digits"], "{huge:.20}");
        // Even ignored fields must contain valid numbers.
        let unread = format!("{},\"unread\":{huge}}}", &good[..good.len() - 1]);
        bank.post("/v2/quote", unread).send().await.ok();
    }
    // Undeclared gzip is not JSON.
    let gzip: &[u8] =
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    let gzipped = bank.post("/v2/quote", gzip).send().await;
    assert_eq!(gzipped.faults()[0].kind, "json_invalid");
}

async fn a_body_of_another_type_is_unsupported(on: On) {
    let bank = Bank::new(on).await;
    let body = quote_body(Country::Pak, Currency::Aed, "100");
    for path in PATHS {
        for other in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/json5",
            "application/problem+json",
            "json",
            "",
        ] {
            let answer = bank.post(path, body.clone()).header("content-type", other).send().await;
            answer.refused(415, "unsupported_media_type");
        }
        bank.post(path, body.clone())
            .without("content-type")
            .send()
            .await
            .refused(415, "unsupported_media_type");
    }
    for json in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;x=y",
    ] {
        bank.post("/v2/quote", body.clone()).header("content-type", json).send().await.ok();
    }
}

async fn a_body_with_a_content_encoding_is_unsupported(on: On) {
    let bank = Bank::new(on).await;
    let body = quote_body(Country::Pak, Currency::Aed, "100");
    for coding in ["gzip", "br", "deflate", "identity, gzip"] {
        for path in PATHS {
            let answer =
                bank.post(path, body.clone()).header("content-encoding", coding).send().await;
            let detail = answer.refused(415, "unsupported_media_type");
            assert!(detail["message"].text().contains("Content-Encoding"), "{detail:?}");
        }
    }
    bank.post("/v2/quote", body).header("content-encoding", "identity").send().await.ok();
}

async fn a_body_beyond_the_limit_is_too_large(on: On) {
    let bank = Bank::new(on).await;
    let good = quote_body(Country::Pak, Currency::Aed, "100");
    let padded = |bytes: usize| format!("{good}{}", " ".repeat(bytes - good.len()));
    bank.post("/v2/quote", padded(65_536)).send().await.ok();
    for path in PATHS {
        bank.post(path, padded(65_537)).send().await.refused(413, "body_too_large");
        bank.post(path, padded(200_000)).send().await.refused(413, "body_too_large");
    }
}

async fn numbers_are_read_as_decimals_in_any_notation(on: On) {
    let bank = Bank::new(on).await;
    for (raw, shown) in [
        ("100", "100"),
        ("100.00", "100"),
        ("1e2", "100"),
        ("1.0000000000E+2", "100"),
        ("10000e-2", "100"),
        ("100.10", "100.1"),
        ("0.1e3", "100"),
        ("100.000000000000", "100"),
    ] {
        assert_eq!(
            bank.quote(Country::Pak, Currency::Aed, raw).await.0["amount"].number(),
            shown,
            "{raw}"
        );
    }
}

async fn a_get_with_a_body_is_answered_all_the_same(on: On) {
    let bank = Bank::new(on).await;
    let call = bank.call(reqwest::Method::GET, "/v2/payments?country=PAK", Some(b"{".to_vec()));
    call.send().await.ok();
}

async fn a_body_that_does_not_end_in_time_is_given_up(on: On) {
    let bank = Bank::alone(on, Setup::new().set("http.body_timeout_s", "1")).await;
    for path in PATHS {
        bank.post(path, "").dribbling().await.refused(408, "body_too_slow");
    }
    bank.finish().await;
}
