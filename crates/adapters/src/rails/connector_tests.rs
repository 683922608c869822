//! The contract of connectors against a scripted one, and its callbacks.

use domain::country::Country;
use domain::currency::Currency;
use domain::ids::{RecallId, TenantId};
use domain::money::Money;
use domain::rail::{InstructionParty, NameForm, RailStatus, RecallAnswer, SplitName};
use domain::recall::RecallReason;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::rails::scripted::{Bank, http, inquiry, instruction};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_c3VwZXJzZWNyZXRzdXBlcnNlY3JldA==";
/// The sample instruction's InstrId.
const INSTRUCTION: &str = "00000000000000000000000000000001";

fn config(url: &str) -> ConnectorConfig {
    ConnectorConfig {
        rail: RailId::new("pak-raast"),
        url: url.to_owned(),
        outbound: outbound::Settings {
            authentication: outbound::Authentication::Bearer("s3cret".to_owned().into()),
            ..outbound::Settings::default()
        },
        character_set: CharacterSet::SwiftX,
        callback_secret: SECRET.to_owned().into(),
        report_wait: Some(Duration::from_secs(3)),
    }
}

fn rail(url: &str) -> ConnectorRail {
    ConnectorRail::new(config(url)).expect("a rail")
}

fn recall_request() -> RecallRequest {
    let one = instruction(1);
    RecallRequest {
        recall: RecallId(Uuid::from_u128(7)),
        created_at: Timestamp(0),
        tenant: TenantId(Uuid::nil()),
        payment: one.payment,
        attempt: one.attempt,
        message: None,
        amount: one.amount,
        reason: RecallReason::Fraud,
        text: Some("the payer was deceived".to_owned()),
        format: "connector".to_owned(),
    }
}

fn question() -> AccountQuestion {
    AccountQuestion {
        country: Country::Pak,
        account: "PK36SCBL0000001123456702".to_owned(),
        is_iban: true,
        bic: None,
        local_code: None,
        name: "Asha Khan".to_owned(),
    }
}

/// The body after its head, as JSON.
fn sent(request: &str) -> Value {
    let (_, body) = request.split_once("\r\n\r\n").expect("a whole request");
    serde_json::from_str(body).expect("JSON")
}

async fn submitted(answer: Option<Vec<u8>>) -> Submission {
    let bank = Bank::answering(answer).await;
    rail(&bank.url).submit(&[instruction(1)]).await.pop().expect("one answer")
}

fn word(submission: &Submission) -> String {
    match submission {
        Submission::Reported(report) => format!("{:?}", report.status),
        Submission::Taken => "taken".to_owned(),
        Submission::NotSent(_) => "not sent".to_owned(),
        Submission::Indeterminate(_) => "?".to_owned(),
    }
}

#[tokio::test]
async fn a_payment_is_sent_once_with_everything_a_bank_may_need() {
    let bank = Bank::answering(http("202 Accepted", "", "")).await;
    let asha = InstructionParty {
        name: "Asha Bibi Khan".to_owned(),
        split: SplitName::of("Asha Bibi Khan", false),
        address: "Straße 1\nHof".to_owned(),
        city: "Lahore".to_owned(),
        country: "PAK".to_owned(),
        mobile: Some("+923001234567".to_owned()),
        email: None,
        birthdate: Some(jiff::civil::date(1990, 2, 3)),
        document: Some(("passport".to_owned(), "A 1/2".to_owned(), Some("PAK".to_owned()))),
    };
    let one = Instruction {
        debtor: asha.clone(),
        creditor: InstructionParty {
            name: "আবদুল করিম".to_owned(), ..InstructionParty::default()
        },
        amount: Money::new(3_791_205, Currency::Pkr),
        creditor_account: "PK36SCBL0000001123456702".to_owned(),
        creditor_bic: Some("SCBLPKKX".to_owned()),
        creditor_local_code: Some(String::new()),
        names: NameForm::FamilyFirst,
        remittance: "gift".to_owned(),
        ..instruction(1)
    };
    let rail = rail(&bank.url);
    assert_eq!(rail.split(&[one.clone(), instruction(2)]), [1, 1]);
    assert_eq!(rail.submit(std::slice::from_ref(&one)).await, [Submission::Taken]);
    let requests = bank.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    let (head, _) = request.split_once("\r\n\r\n").expect("a whole request");
    assert!(head.starts_with("POST /api/payments HTTP/1.1\r\n"), "{head}");
    for line in [
        "content-type: application/json",
        "authorization: Bearer s3cret",
        &format!("idempotency-key: {INSTRUCTION}"),
    ] {
        assert!(head.lines().any(|one| one == line), "{line} is missing in {head}");
    }
    assert_eq!(
        sent(request),
        json!({
            "instruction_id": INSTRUCTION,
            "end_to_end_id": "00000000000000000000000000000065",
            "uetr": "00000000-0000-0000-0000-000000000001",
            "created_at": "1970-01-01T00:00:00.000Z",
            "amount": { "value": "37912.05", "currency": "PKR" },
            "sender": {
                "name": "Khan, Asha Bibi",
                "given_name": "Asha Bibi",
                "family_name": "Khan",
                "address": "Strasse 1 Hof",
                "city": "Lahore",
                "country": "PK",
                "mobile": "+923001234567",
                "birthdate": "1990-02-03",
                "document": { "type": "passport", "number": "A 1/2", "country": "PK" },
            },
            "beneficiary": { "name": "abdul krim" },
            "beneficiary_account": {
                "number": "PK36SCBL0000001123456702",
                "is_iban": true,
                "type": "SVGS",
                "bic": "SCBLPKKX",
            },
            "purpose": "FAMI",
            "remittance_information": "gift",
        })
    );
    let preview = super::preview(CharacterSet::SwiftX, &one);
    assert_eq!(serde_json::from_str::<Value>(&preview.xml).expect("JSON"), sent(request));
}

#[tokio::test]
async fn only_a_statement_of_the_contract_decides_about_a_payment() {
    let own = format!("\"instruction_id\":\"{INSTRUCTION}\"");
    for (answer, expected) in [
        (http("200 OK", "", &format!("{{{own},\"status\":\"accepted\"}}")), "Accepted"),
        (http("200 OK", "", r#"{"status":"paid","future_member":[{}]}"#), "Settled"),
        (http("200 OK", "", r#"{"status":"received","reasons":null,"info":null}"#), "Received"),
        (http("200 OK", "", r#"{"status":"rejected","reasons":["AC01"]}"#), "Rejected"),
        (http("200 OK", "", r#"{"status":"unknown"}"#), "Unknown"),
        (http("200 OK", "", r#"{"status":"not_sent","info":"no token"}"#), "not sent"),
        (http("202 Accepted", "", "whatever"), "taken"),
        // Of another payment, of a recall, unknown, or contradicting themselves.
        (
            http(
                "200 OK",
                "",
                r#"{"status":"paid","uetr":"00000000-0000-0000-0000-000000000002"}"#,
            ),
            "?",
        ),
        (
            http(
                "200 OK",
                "",
                r#"{"status":"not_sent","uetr":"00000000-0000-0000-0000-000000000002"}"#,
            ),
            "?",
        ),
        (http("200 OK", "", r#"{"status":"not_sent","bank_reference":"B-1"}"#), "?"),
        (http("200 OK", "", r#"{"status":"recall_accepted"}"#), "?"),
        (http("200 OK", "", r#"{"status":"ACSC"}"#), "?"),
        (http("200 OK", "", r#"{"status":"not_found"}"#), "?"),
        (http("200 OK", "", r#"{"status":"paid","status":"rejected"}"#), "?"),
        (
            http("200 OK", "", r#"{"status":"paid","amount":{"value":37912.05,"currency":"PKR"}}"#),
            "?",
        ),
        (
            http("200 OK", "", r#"{"status":"paid","amount":{"value":"1.001","currency":"PKR"}}"#),
            "?",
        ),
        (http("200 OK", "", r#"{"status":"paid","amount":{"value":"1","currency":"XXX"}}"#), "?"),
        (http("200 OK", "", "[]"), "?"),
        (http("200 OK", "", ""), "?"),
        (http("400 Bad Request", "", r#"{"status":"rejected"}"#), "?"),
        (http("401 Unauthorized", "", ""), "?"),
        (http("401 Unauthorized", "www-authenticate: Bearer error=\"invalid_token\"\r\n", ""), "?"),
        (http("500 Oops", "", r#"{"status":"rejected"}"#), "?"),
        (http("302 Found", "location: /payments\r\n", ""), "?"),
        (Some(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"status\":\"rej".to_vec()), "?"),
        (Some(Vec::new()), "?"),
    ] {
        let shown = String::from_utf8_lossy(answer.as_deref().unwrap_or_default()).into_owned();
        assert_eq!(word(&submitted(answer).await), expected, "{shown}");
    }
}

#[tokio::test]
async fn a_report_keeps_all_that_the_connector_states() {
    let body = r#"{"status":"rejected","reasons":[" AM05 ","AC01"],"info":" twice\u0007 ",
        "bank_reference":"B-17","amount":{"value":"1.00","currency":"PKR"},
        "charges":{"value":"0.00","currency":"PKR"}}"#;
    let Submission::Reported(report) = submitted(http("200 OK", "", body)).await else {
        panic!("no report")
    };
    assert_eq!(report.attempt, instruction(1).attempt);
    assert_eq!(report.reason.as_deref(), Some("AM05"));
    assert_eq!(report.further_reasons, ["AC01"]);
    assert!(report.proves_possession(None));
    assert_eq!(report.info.as_deref(), Some("twice "));
    assert_eq!(report.bank_reference.as_deref(), Some("B-17"));
    assert_eq!(report.amount, Some(Money::new(100, Currency::Pkr)));
    assert_eq!(report.charges, None);
    assert_eq!(report.source, "connector answer");
}

#[tokio::test]
async fn an_unreachable_connector_has_sent_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let rail = rail(&url);
    let answers = rail.submit(&[instruction(1)]).await;
    assert!(matches!(answers.as_slice(), [Submission::NotSent(_)]), "{answers:?}");
    let answers = rail.inquire(&[inquiry(1)]).await;
    assert!(matches!(answers.as_slice(), [InquiryAnswer::NoAnswer(_)]), "{answers:?}");
    assert!(matches!(rail.recall(&recall_request()).await, Submission::NotSent(_)));
    assert!(rail.collect(None).await.is_err() && rail.probe().await.is_err());
}

#[tokio::test]
async fn an_inquiry_is_answered_by_its_body_alone() {
    for (answer, expected) in [
        (http("200 OK", "", r#"{"status":"not_found"}"#), "not found"),
        (http("200 OK", "", r#"{"status":"paid"}"#), "Settled"),
        (http("202 Accepted", "", ""), "asked"),
        (http("404 Not Found", "", r#"{"status":"not_found"}"#), "no answer"),
        (
            http(
                "200 OK",
                "",
                r#"{"status":"paid","end_to_end_id":"00000000000000000000000000000099"}"#,
            ),
            "no answer",
        ),
        (http("200 OK", "", "{}"), "no answer"),
    ] {
        let bank = Bank::answering(answer).await;
        let answers = rail(&bank.url).inquire(&[inquiry(1)]).await;
        let words = match &answers[0] {
            InquiryAnswer::Reported(report) => format!("{:?}", report.status),
            InquiryAnswer::NotFound => "not found".to_owned(),
            InquiryAnswer::Asked => "asked".to_owned(),
            InquiryAnswer::NoAnswer(_) => "no answer".to_owned(),
            InquiryAnswer::WithRecall(_) => "of a recall, too".to_owned(),
        };
        assert_eq!(words, expected);
        let body = sent(&bank.requests()[0]);
        assert_eq!(body["instruction_id"], INSTRUCTION);
    }
}

#[tokio::test]
async fn a_recall_is_answered_by_a_recalls_status() {
    for (answer, expected) in [
        (http("200 OK", "", r#"{"status":"recall_accepted"}"#), "Recall(Accepted)"),
        (
            http("200 OK", "", r#"{"status":"recall_refused","reasons":["LEGL"]}"#),
            "Recall(Refused)",
        ),
        (http("202 Accepted", "", ""), "taken"),
        // A status of the payment: the request has arrived.
        (http("200 OK", "", r#"{"status":"cancelled"}"#), "Cancelled"),
        (http("200 OK", "", r#"{"status":"returned"}"#), "Returned"),
        (http("200 OK", "", r#"{"status":"rejected"}"#), "Rejected"),
        (http("200 OK", "", r#"{"status":"paid"}"#), "Settled"),
        (http("200 OK", "", r#"{"status":"done"}"#), "?"),
        (http("200 OK", "", r#"{"status":"not_found"}"#), "?"),
        (http("200 OK", "", r#"{"status":"not_sent"}"#), "not sent"),
        (http("501 Not Implemented", "", ""), "?"),
        (http("404 Not Found", "", ""), "?"),
        (
            http(
                "200 OK",
                "",
                r#"{"status":"returned","uetr":"00000000-0000-0000-0000-000000000002"}"#,
            ),
            "?",
        ),
    ] {
        let bank = Bank::answering(answer).await;
        assert_eq!(word(&rail(&bank.url).recall(&recall_request()).await), expected);
        let request = &bank.requests()[0];
        assert!(request.starts_with("POST /api/recalls "), "{request}");
        let body = sent(request);
        assert_eq!(
            (&body["reason"], &body["instruction_id"]),
            (&json!("FRAD"), &json!(INSTRUCTION))
        );
        assert!(
            request.contains(&format!(
                "idempotency-key: {}",
                body["recall_id"].as_str().unwrap_or("?")
            ))
        );
    }
}

#[tokio::test]
async fn reports_are_fetched_in_pages_and_a_bad_one_is_named() {
    let body = r#"{"reports":[{"status":"paid","uetr":"00000000-0000-0000-0000-000000000001"},
        {"status":"paid","amount":{"value":"x","currency":"PKR"}},{"status":"lost"}],"cursor":"17"}"#;
    let bank = Bank::answering(http("200 OK", "", body)).await;
    let page = rail(&bank.url).collect(Some("a&b")).await.expect("a page");
    assert_eq!(page.cursor.as_deref(), Some("17"));
    assert_eq!((page.reports.len(), page.unreadable.len()), (2, 1), "{page:?}");
    assert_eq!(page.reports[1].said.status, RailStatus::Unrecognised("lost".to_owned()));
    assert!(page.unreadable[0].starts_with("connector report 2 before 17: amount"), "{page:?}");
    assert!(bank.requests()[0].starts_with("GET /api/reports?wait=3&after=a%26b "));
    for (answer, is_empty) in [
        (http("204 No Content", "", ""), true),
        (http("200 OK", "", r#"{"reports":[],"cursor":""}"#), false),
        (http("200 OK", "", r#"{"reports":[]}"#), false),
        (http("503 Busy", "", ""), false),
    ] {
        let bank = Bank::answering(answer).await;
        assert_eq!(rail(&bank.url).collect(None).await == Ok(Reports::default()), is_empty);
    }
}

#[tokio::test]
async fn an_account_is_checked_by_the_body_alone() {
    let question = question();
    for (answer, expected) in [
        (http("200 OK", "", r#"{"result":"match","name":"ASHA KHAN"}"#), AccountAnswer::Match),
        (
            http("200 OK", "", r#"{"result":"close_match","name":"A*** K***"}"#),
            AccountAnswer::CloseMatch(Some("A*** K***".to_owned())),
        ),
        (http("200 OK", "", r#"{"result":"close_match"}"#), AccountAnswer::CloseMatch(None)),
        (http("200 OK", "", r#"{"result":"no_match"}"#), AccountAnswer::NoMatch),
        (http("200 OK", "", r#"{"result":"closed"}"#), AccountAnswer::Closed),
        (http("200 OK", "", r#"{"result":"not_found"}"#), AccountAnswer::NotFound),
        (http("200 OK", "", r#"{"result":"not_supported"}"#), AccountAnswer::NotSupported),
        (http("501 Not Implemented", "", ""), AccountAnswer::NotSupported),
    ] {
        let bank = Bank::answering(answer).await;
        assert_eq!(rail(&bank.url).verify_account(&question).await, expected);
        assert_eq!(
            sent(&bank.requests()[0]),
            json!({ "country": "PK", "account": question.account, "is_iban": true, "name": "Asha Khan" })
        );
    }
    for answer in [
        http("404 Not Found", "", r#"{"result":"not_found"}"#),
        http("200 OK", "", r#"{"result":"perhaps"}"#),
        http("200 OK", "", ""),
        Some(Vec::new()),
    ] {
        let bank = Bank::answering(answer).await;
        let answer = rail(&bank.url).verify_account(&question).await;
        assert!(matches!(answer, AccountAnswer::Unavailable(_)), "{answer:?}");
    }
}

fn signed(secret: &str, id: &str, at_s: i64, body: &[u8]) -> String {
    webhooks::sign(&callback_secrets(secret).expect("a secret"), id, at_s, body)
}

#[test]
fn a_callback_is_believed_if_its_rails_secret_signed_it_lately() {
    let rail = rail("http://127.0.0.1:1");
    let now = Timestamp(1_700_000_000_000_000);
    let body = br#"{"status":"paid","instruction_id":"00000000000000000000000000000001"}"#;
    let at = |at_s: i64, signature: &str, body: &[u8]| {
        let timestamp = at_s.to_string();
        let callback = Callback { id: "m-1", timestamp: &timestamp, signature, body };
        rail.read_callback(&callback, now)
    };
    let now_s = now.unix_seconds();
    let own = signed(SECRET, "m-1", now_s, body);
    let reports = at(now_s, &own, body).expect("a report");
    assert_eq!(reports.reports[0].said.source, "callback m-1");
    assert_eq!(reports.reports[0].said.status, RailStatus::Settled);
    for (at_s, signature, body) in [
        (now_s, signed(OTHER_SECRET, "m-1", now_s, body), &body[..]),
        (now_s, signed(SECRET, "m-2", now_s, body), body),
        (now_s, own.clone(), b"{}"),
        (now_s, String::new(), body),
        (now_s - 301, signed(SECRET, "m-1", now_s - 301, body), body),
        (now_s + 301, signed(SECRET, "m-1", now_s + 301, body), body),
    ] {
        let refused = at(at_s, &signature, body);
        assert!(matches!(refused, Err(CallbackRefusal::Unauthenticated(_))), "{refused:?}");
    }
    // During a rotation both secrets are valid.
    let both = ConnectorConfig {
        callback_secret: format!("{OTHER_SECRET} {SECRET}").into(),
        ..config("http://127.0.0.1:1")
    };
    let both = ConnectorRail::new(both).expect("a rail");
    let timestamp = now_s.to_string();
    let callback = Callback { id: "m-1", timestamp: &timestamp, signature: &own, body };
    assert!(both.read_callback(&callback, now).is_ok());
    let none = ConnectorConfig { callback_secret: "".into(), ..config("http://127.0.0.1:1") };
    let none = ConnectorRail::new(none).expect("a rail").read_callback(&callback, now);
    assert_eq!(none, Err(CallbackRefusal::NotTaken));
}

#[test]
fn a_callback_that_cannot_be_read_is_refused_and_one_with_an_unknown_status_is_not() {
    for wrong in [
        "",
        "[]",
        "{}",
        r#"{"status":"paid"}"#,
        r#"{"status":"paid","uetr":"  ","bank_reference":"NOTPROVIDED"}"#,
        r#"{"status":"paid","uetr":"x","amount":{"value":"-1","currency":"PKR"}}"#,
        r#"{"status":1,"uetr":"x"}"#,
    ] {
        assert!(incoming::callback("m", wrong.as_bytes()).is_err(), "{wrong}");
    }
    let unknown = incoming::callback("m", br#"{"status":"on_its_way","uetr":"x"}"#).expect("read");
    let status = &unknown.reports[0].said.status;
    assert_eq!(*status, RailStatus::Unrecognised("on_its_way".to_owned()));
    let recall =
        incoming::callback("m", br#"{"status":"recall_pending","uetr":"x"}"#).expect("read");
    assert_eq!(recall.reports[0].said.status, RailStatus::Recall(RecallAnswer::Pending));
}

/// The names in a list of the document.
fn names(value: &Value) -> Vec<&str> {
    let items = value.as_array().map(|items| items.iter().filter_map(Value::as_str).collect());
    let keys = value.as_object().map(|members| members.keys().map(String::as_str).collect());
    items.or(keys).unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn the_contract_is_as_documented() {
    let document: Value =
        serde_json::from_str(include_str!("../../../../docs/openapi/connector.json"))
            .expect("JSON");
    let schema = |name: &str| &document["components"]["schemas"][name];
    let statuses: Vec<&str> = incoming::STATUSES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names(&schema("Status")["enum"]), statuses);
    let mut members = names(&schema("Report")["properties"]);
    members.sort_unstable();
    let all = [
        "amount",
        "bank_reference",
        "charges",
        "end_to_end_id",
        "info",
        "instruction_id",
        "reasons",
        "status",
        "uetr",
    ];
    assert_eq!(members, all);
    let set = CharacterSet::SwiftX;
    let question = AccountQuestion {
        country: Country::Pak,
        account: "1".to_owned(),
        is_iban: false,
        bic: Some("SCBLPKKX".to_owned()),
        local_code: Some("1".to_owned()),
        name: "Asha".to_owned(),
    };
    for (name, sent) in [
        ("Payment", outgoing::payment(set, &instruction(1))),
        ("Inquiry", outgoing::inquiry(&inquiry(1))),
        ("Recall", outgoing::recall(set, &recall_request())),
        ("AccountQuestion", outgoing::account(set, &question)),
    ] {
        let (described, sent) = (names(&schema(name)["properties"]), names(&sent));
        assert!(sent.iter().all(|member| described.contains(member)), "{name}: {sent:?}");
        let required = names(&schema(name)["required"]);
        assert!(required.iter().all(|member| sent.contains(member)), "{name}: {required:?}");
    }
    // The document's examples read as what they state.
    let example = |path: &str, name: &str| {
        let of = document["paths"][path]["post"]["responses"]["200"]["content"].clone();
        of["application/json"]["examples"][name]["value"].to_string().into_bytes()
    };
    let asked = Asked { payment: instruction(1).payment, attempt: instruction(1).attempt };
    let paid = |name| incoming::submission(&example("/payments", name), Sent::Payment, asked);
    assert_eq!(
        ["accepted", "rejected", "not_sent"].map(|name| word(&paid(name))),
        ["Accepted", "Rejected", "not sent"]
    );
    let answer = incoming::account(&example("/account-checks", "close_match"));
    assert_eq!(answer, AccountAnswer::CloseMatch(Some("A*** K***".to_owned())));
}

/// The token that the question needs counts, too: a client waits for all of it.
#[tokio::test]
async fn an_account_check_with_a_silent_token_endpoint_ends_in_time() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let oauth = outbound::OAuth2 {
        token_url: format!("http://{address}/token"),
        grant: outbound::Grant::ClientCredentials,
        client_id: "corridor".to_owned(),
        client_secret: "secret".to_owned().into(),
        client_authentication: outbound::ClientAuthentication::Basic,
        scope: String::new(),
        audience: String::new(),
    };
    let mut config = config(&format!("http://{address}"));
    config.outbound.authentication = outbound::Authentication::OAuth2(Box::new(oauth));
    config.outbound.request_timeout = ACCOUNT_TIMEOUT * 20;
    let rail = ConnectorRail::new(config).expect("a rail");
    let began = std::time::Instant::now();
    let answer = rail.verify_account(&question()).await;
    let late = AccountAnswer::Unavailable("no answer within 5000 ms".to_owned());
    assert_eq!((answer, began.elapsed() < ACCOUNT_TIMEOUT * 4), (late, true));
}
