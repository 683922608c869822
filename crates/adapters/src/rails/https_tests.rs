//! The HTTPS rail against a scripted bank over plain TCP.

use domain::ports::Rail as _;
use domain::rail::{InquiryAnswer, RailId, RailStatus, Submission};
use domain::rail_text::CharacterSet;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::*;
use crate::outbound;
use crate::rails::MAX_MESSAGE_BYTES;
use crate::rails::profile::{Account, Agent, Profile};
use crate::rails::scripted::{Bank, http, inquiry, instruction};
use crate::rails::{IsoRail, OurSide};

fn rail(url: &str) -> IsoRail {
    rail_within(url, Duration::from_secs(20), Duration::from_secs(7))
}

fn rail_within(url: &str, request_timeout: Duration, report_wait: Duration) -> IsoRail {
    IsoRail::https(config(url, request_timeout, report_wait)).expect("a rail")
}

fn config(url: &str, request_timeout: Duration, report_wait: Duration) -> HttpsConfig {
    HttpsConfig {
        rail: RailId::new("pak-raast"),
        url: url.to_owned(),
        outbound: outbound::Settings {
            authentication: outbound::Authentication::Bearer("s3cret".to_owned().into()),
            request_timeout,
            ..outbound::Settings::default()
        },
        ours: OurSide {
            debtor_name: "Us".into(),
            debtor_account: Account::Other("1".into()),
            debtor_agent: Agent::Other("B".into()),
            character_set: CharacterSet::SwiftX,
            profile: Profile::default(),
        },
        report_wait,
    }
}

fn impatient(url: &str) -> IsoRail {
    rail_within(url, Duration::from_millis(150), Duration::ZERO)
}

fn transaction(number: u128, status: &str) -> String {
    let (attempt, payment) = (Uuid::from_u128(number), Uuid::from_u128(100 + number));
    format!(
        "<TxInfAndSts><OrgnlInstrId>{}</OrgnlInstrId><OrgnlEndToEndId>{}</OrgnlEndToEndId>\
         <OrgnlUETR>{attempt}</OrgnlUETR><TxSts>{status}</TxSts></TxInfAndSts>",
        attempt.simple(),
        payment.simple()
    )
}

fn pain002(transactions: &[String]) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr><MsgId>B1</MsgId>\
         </GrpHdr><OrgnlPmtInfAndSts>{}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>",
        transactions.concat()
    )
}

/// A status of the whole message.
fn group(message: &str, status: &str) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.03\"><CstmrPmtStsRpt><OrgnlGrpInfAndSts>{message}\
         <GrpSts>{status}</GrpSts></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>"
    )
}

/// The answers to two instructions in short form: the status, `taken`, `not sent`, `?`.
async fn submitted(answer: Option<Vec<u8>>) -> [String; 2] {
    let bank = Bank::answering(answer).await;
    let batch = [instruction(1), instruction(2)];
    short(rail(&bank.url).submit(&batch).await)
}

fn short(answers: Vec<Submission>) -> [String; 2] {
    let words: Vec<String> = answers
        .into_iter()
        .map(|answer| match answer {
            Submission::Reported(report) => format!("{:?}", report.status),
            Submission::Taken => "taken".into(),
            Submission::NotSent(_) => "not sent".into(),
            Submission::Indeterminate(_) => "?".into(),
        })
        .collect();
    words.try_into().expect("an answer for each")
}

#[tokio::test]
async fn instructions_are_answered_one_by_one() {
    let (settled, rejected) = (transaction(1, "ACSC"), transaction(2, "RJCT"));
    let foreign = transaction(77, "ACSC");
    let wrong_payment = transaction(1, "ACSC").replace("065<", "066<");
    for (answer, said) in [
        (
            http("200 OK", "", &pain002(&[rejected.clone(), settled.clone()])),
            ["Settled", "Rejected"],
        ),
        (http("200 OK", "", &pain002(std::slice::from_ref(&rejected))), ["taken", "Rejected"]),
        (http("200 OK", "", &pain002(&[])), ["taken", "taken"]),
        // The unknown id may refer to either instruction.
        (http("200 OK", "", &pain002(&[foreign])), ["?", "?"]),
        (
            http("200 OK", "", &pain002(&[settled.clone(), "<TxInfAndSts/>".into()])),
            ["Settled", "?"],
        ),
        (http("200 OK", "", &pain002(&[settled.clone(), transaction(1, "RJCT")])), ["?", "taken"]),
        (http("200 OK", "", &pain002(&[settled.clone(), settled.clone()])), ["Settled", "taken"]),
        (http("200 OK", "", &pain002(&[wrong_payment])), ["?", "?"]),
        (http("200 OK", "", &group("", "RJCT")), ["Rejected", "Rejected"]),
        (http("400 Bad Request", "", &group("", "RJCT")), ["Rejected", "Rejected"]),
        (http("200 OK", "", &group("", "ACTC")), ["Accepted", "Accepted"]),
        (http("200 OK", "", &group("<OrgnlMsgId>OTHER</OrgnlMsgId>", "RJCT")), ["?", "?"]),
        (
            http("409 Conflict", "content-type: application/json\r\n", "{\"code\":\"DUPL\"}"),
            ["?", "?"],
        ),
        (http("202 Accepted", "", "whatever"), ["taken", "taken"]),
        (http("422 Unprocessable", "", &pain002(&[rejected])), ["taken", "Rejected"]),
        (http("400 Bad Request", "", "no"), ["?", "?"]),
        (http("401 Unauthorized", "", ""), ["?", "?"]),
        (http("500 Oops", "", &pain002(&[settled])), ["?", "?"]),
        (http("302 Found", "location: /payments\r\n", ""), ["?", "?"]),
        (http("200 OK", "", "<html>"), ["?", "?"]),
        (http("200 OK", "", &"x".repeat(MAX_MESSAGE_BYTES + 1)), ["?", "?"]),
        (Some(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<Document".to_vec()), ["?", "?"]),
        (Some(b"HTTP/1.1 20".to_vec()), ["?", "?"]),
        (Some(b"\x16\x03\x01 garbage".to_vec()), ["?", "?"]),
        (Some(Vec::new()), ["?", "?"]),
    ] {
        let shown: String = String::from_utf8_lossy(answer.as_deref().unwrap_or_default())
            .chars()
            .take(300)
            .collect();
        assert_eq!(submitted(answer).await, said, "{shown}");
    }
}

#[tokio::test]
async fn the_request_is_as_agreed_and_is_sent_once() {
    let bank = Bank::answering(http("500 Oops", "", "")).await;
    let batch = [instruction(1)];
    let rail = rail(&bank.url);
    assert!(
        matches!(rail.submit(&batch).await.as_slice(), [Submission::Indeterminate(why)] if why.contains("500"))
    );
    let requests = bank.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    let (head, body) = request.split_once("\r\n\r\n").expect("a whole request");
    let id =
        body.split_once("<MsgId>").and_then(|(_, rest)| rest.split_once('<')).expect("a MsgId").0;
    assert!(head.starts_with("POST /api/payments HTTP/1.1\r\n"), "{head}");
    for line in [
        "content-type: application/xml",
        "authorization: Bearer s3cret",
        &format!("idempotency-key: {id}"),
    ] {
        assert!(head.lines().any(|one| one == line), "{line} is missing in {head}");
    }
    assert!(rail.submit(&[]).await.is_empty() && rail.inquire(&[]).await.is_empty());
    assert_eq!(bank.requests().len(), 1);
}

#[tokio::test]
async fn only_a_refused_connection_counts_as_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let batch = [instruction(1), instruction(2)];
    assert_eq!(short(rail(&url).submit(&batch).await), ["not sent", "not sent"]);
    assert!(matches!(
        rail(&url).inquire(&[inquiry(1)]).await.as_slice(),
        [InquiryAnswer::NoAnswer(_)]
    ));
    assert!(rail(&url).collect(None).await.is_err());
}

#[tokio::test]
async fn a_timeout_leaves_every_outcome_open() {
    let bank = Bank::answering(None).await;
    let batch = [instruction(1), instruction(2)];
    assert_eq!(short(impatient(&bank.url).submit(&batch).await), ["?", "?"]);
    assert!(matches!(
        impatient(&bank.url).inquire(&[inquiry(1)]).await.as_slice(),
        [InquiryAnswer::NoAnswer(_)]
    ));
    assert!(impatient(&bank.url).collect(None).await.is_err());
}

#[tokio::test]
async fn inquiries_are_answered_one_by_one() {
    for (answer, said) in [
        (http("200 OK", "", &pain002(&[transaction(2, "ACSC")])), ["NotFound", "Settled"]),
        (http("200 OK", "", &pain002(&["<TxInfAndSts/>".into()])), ["NoAnswer", "NoAnswer"]),
        (http("202 Accepted", "", ""), ["Asked", "Asked"]),
        (http("404 Not Found", "", ""), ["NoAnswer", "NoAnswer"]),
        (http("200 OK", "", ""), ["NoAnswer", "NoAnswer"]),
    ] {
        let bank = Bank::answering(answer).await;
        let answers: Vec<String> = rail(&bank.url)
            .inquire(&[inquiry(1), inquiry(2)])
            .await
            .into_iter()
            .map(|answer| match answer {
                InquiryAnswer::Reported(report) => format!("{:?}", report.status),
                InquiryAnswer::NoAnswer(_) => "NoAnswer".into(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(answers, said);
        assert!(bank.requests()[0].starts_with("POST /api/inquiries HTTP/1.1\r\n"));
    }
}

#[tokio::test]
async fn reports_are_fetched_after_the_cursor() {
    let answer = http(
        "200 OK",
        "x-report-cursor: 18\r\n",
        &pain002(&[transaction(1, "ACSC"), "<TxInfAndSts/>".into()]),
    );
    let bank = Bank::answering(answer).await;
    let rail = rail(&bank.url);
    let page = rail.collect(Some("1 7&x=")).await.expect("a page");
    assert_eq!(page.cursor.as_deref(), Some("18"));
    assert_eq!(
        page.reports.iter().map(|r| &r.said.status).collect::<Vec<_>>(),
        [&RailStatus::Settled]
    );
    assert_eq!(page.unreadable.len(), 1);
    rail.collect(None).await.expect("a page");
    let requests = bank.requests();
    assert!(
        requests[0].starts_with("GET /api/reports?wait=7&after=1+7%26x%3D HTTP/1.1\r\n"),
        "{}",
        requests[0]
    );
    assert!(requests[1].starts_with("GET /api/reports?wait=7 HTTP/1.1\r\n"), "{}", requests[1]);
}

#[tokio::test]
async fn an_unreadable_page_is_reported_and_skipped() {
    for body in ["<html></html>", &"x".repeat(MAX_MESSAGE_BYTES + 1)] {
        let bank = Bank::answering(http("200 OK", "x-report-cursor: 18\r\n", body)).await;
        let page = rail(&bank.url).collect(Some("17")).await.expect("a page");
        assert_eq!((page.cursor.as_deref(), page.reports.len()), (Some("18"), 0));
        // Two such messages are not one.
        let [why] = page.unreadable.as_slice() else { panic!("{page:?}") };
        assert!(why.starts_with("the message before cursor \"18\": "), "{why}");
    }
    let bank = Bank::answering(http("204 No Content", "", "")).await;
    assert_eq!(rail(&bank.url).collect(Some("17")).await, Ok(Reports::default()));
}

#[tokio::test]
async fn a_truncated_page_is_fetched_again() {
    let cut =
        b"HTTP/1.1 200 OK\r\nx-report-cursor: 18\r\ncontent-length: 1000\r\n\r\n<Document".to_vec();
    for answer in [
        Some(cut),
        http("200 OK", "", &pain002(&[])),
        http("200 OK", "x-report-cursor: \r\n", &pain002(&[])),
        http("503 Busy", "", ""),
        http("200 OK", "x-report-cursor: 18\r\ncontent-encoding: gzip\r\n", &pain002(&[])),
        http("302 Found", "location: /reports\r\n", ""),
    ] {
        let bank = Bank::answering(answer).await;
        let fault = rail(&bank.url).collect(Some("17")).await.expect_err("a fault");
        assert!(!fault.to_string().contains("127.0.0.1"), "{fault}");
    }
}

/// A body without a length ends wherever the connection does.
#[tokio::test]
async fn a_message_that_ends_early_is_fetched_again_before_it_is_skipped() {
    let whole = pain002(&[transaction(1, "ACSC")]);
    let two = format!("{whole}{}", pain002(&[transaction(2, "ACSC")]));
    for (body, reports) in [
        (&whole[..0], 0),
        (&whole[..whole.len() / 2], 0),
        (&whole[..whole.len() - 2], 0),
        (&two[..whole.len() + 200], 1),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\nx-report-cursor: 18\r\n\r\n{body}");
        let bank = Bank::answering(Some(answer.into_bytes())).await;
        let config = config(&bank.url, Duration::from_secs(20), Duration::ZERO);
        let rail = HttpsTransport::new(&config).expect("a rail");
        let begun = Instant::now();
        for seconds in [0, 2, 299] {
            let now = begun + Duration::from_secs(seconds);
            let fault = rail.collect_at(Some("17"), now).await.expect_err("perhaps cut");
            assert!(fault.starts_with("the message before cursor \"18\": "), "{fault}");
        }
        let now = begun + CUT_MAX;
        let page = rail.collect_at(Some("17"), now).await.expect("a page");
        assert_eq!((page.cursor.as_deref(), page.reports.len()), (Some("18"), reports));
        assert_eq!(page.unreadable.len(), 1, "{page:?}");
        // Another one has its own time.
        assert!(rail.collect_at(Some("17"), now).await.is_err());
    }
}

#[test]
fn urls_and_tokens_are_checked_at_the_start() {
    let config = |url: &str, bearer: &str| HttpsConfig {
        rail: RailId::new("r"),
        url: url.to_owned(),
        outbound: outbound::Settings {
            authentication: outbound::Authentication::Bearer(bearer.to_owned().into()),
            ..outbound::Settings::default()
        },
        ours: OurSide {
            debtor_name: String::new(),
            debtor_account: Account::Other(String::new()),
            debtor_agent: Agent::Other(String::new()),
            character_set: CharacterSet::SwiftX,
            profile: Profile::default(),
        },
        report_wait: Duration::from_secs(1),
    };
    for url in ["", "bank", "ftp://bank", "https://u:p@bank", "https://bank?x=1", "https://bank#x"]
    {
        assert!(matches!(IsoRail::https(config(url, "t")), Err(SetupError::Url { .. })), "{url}");
    }
    assert!(matches!(
        IsoRail::https(config("https://bank", "a\nb")),
        Err(SetupError::Outbound { .. })
    ));
    assert!(!format!("{:?}", config("https://bank", "s3cret")).contains("s3cret"));
}
