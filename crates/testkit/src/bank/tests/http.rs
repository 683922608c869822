//! The bank over HTTP, through plain sockets.

use std::net::SocketAddr;
use std::sync::Arc;

use domain::time::Span;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{HandClock, instruction_id, pacs_028, pain_001, texts};
use crate::bank::{BankConfig, Behaviour, BookKind, Faults, Outcome, SimulatedBank};
use crate::wait;

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn cursor(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("x-report-cursor: "));
        line.expect("a cursor").to_owned()
    }
}

/// One request on its own connection; `None` if it closed without an answer.
async fn request(address: SocketAddr, line: &str, body: &str) -> Option<Response> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "{line} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream.write_all(body.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    if stream.read_to_string(&mut answer).await.is_err() || answer.is_empty() {
        return None;
    }
    let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP response");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Some(Response { status, head: head.to_owned(), body: body.to_owned() })
}

async fn start(config: BankConfig) -> (SimulatedBank, SocketAddr) {
    let bank = SimulatedBank::start(config).await.expect("a bank");
    let address = bank.address().expect("it listens");
    (bank, address)
}

fn instant() -> BankConfig {
    BankConfig { behaviour: Behaviour::instant(), hang: Span::millis(50), ..BankConfig::default() }
}

#[tokio::test]
async fn a_payment_completes() {
    let (bank, address) = start(instant()).await;
    let message = pain_001(&[(1, "1"), (2, "0002"), (3, "0003")]);
    let answer = request(address, "POST /pak-raast/payments", &message).await.expect("an answer");
    assert_eq!(
        (answer.status, texts(&answer.body, "TxSts")),
        (200, vec!["ACSP".into(), "RJCT".into(), "ACSP".into()])
    );
    assert_eq!(texts(&answer.body, "OrgnlMsgId"), ["M"]);

    let (mut cursor, mut messages) = (String::new(), Vec::new());
    for _ in 0..2 {
        let line = format!("GET /pak-raast/reports?after={cursor}&wait=20");
        let page = request(address, &line, "").await.expect("a page");
        assert_eq!(page.status, 200);
        cursor = page.cursor();
        messages.push(page.body);
    }
    assert!(
        messages[0].contains("camt.054.001.08") && messages[1].contains("pacs.004.001.09"),
        "{messages:?}"
    );
    assert_eq!(texts(&messages[0], "EndToEndId"), [instruction_id(1), instruction_id(3)]);
    assert_eq!(texts(&messages[1], "OrgnlInstrId"), [instruction_id(3)]);
    let line = format!("GET /pak-raast/reports?after={cursor}&wait=0");
    let rest = request(address, &line, "").await.expect("an answer");
    assert_eq!(rest.status, 204, "{}", rest.body);

    let known = request(address, "POST /pak-raast/inquiries", &pacs_028(&[1, 2, 9]))
        .await
        .expect("an answer");
    assert_eq!(texts(&known.body, "TxSts"), ["ACSC", "RJCT"]);
    assert!(texts(&known.body, "AcctSvcrRef")[0].starts_with("SB"));
    let elsewhere =
        request(address, "POST /other/inquiries", &pacs_028(&[1])).await.expect("an answer");
    assert!(texts(&elsewhere.body, "TxSts").is_empty());

    let line = format!("GET /pak-raast/book?end_to_end_id={}", instruction_id(3));
    let book = request(address, &line, "").await.expect("a book").body;
    let lines: serde_json::Value = serde_json::from_str(&book).expect("JSON");
    assert_eq!(lines[0]["amount"], "379.12");
    assert_eq!(
        (&lines[0]["currency"], &lines[0]["kind"], &lines[1]["kind"]),
        (&"PKR".into(), &"paid".into(), &"returned".into())
    );
    bank.stop().await;
}

#[tokio::test]
async fn messages_at_the_wrong_path_are_refused() {
    let (bank, address) = start(instant()).await;
    for (line, body) in [
        ("POST /r/payments", "garbage"),
        ("POST /r/payments", &pacs_028(&[1])),
        ("POST /r/inquiries", &pain_001(&[(1, "1")])),
    ] {
        assert_eq!(request(address, line, body).await.expect("an answer").status, 400, "{line}");
    }
    assert_eq!(bank.book_totals().expect("totals").rails.len(), 0);
    bank.stop().await;
}

#[tokio::test]
async fn a_withheld_answer_hangs_and_closes_although_the_order_was_accepted() {
    let (bank, address) = start(instant()).await;
    assert!(request(address, "POST /r/payments", &pain_001(&[(1, "0006")])).await.is_none());
    let batch = request(address, "POST /r/payments", &pain_001(&[(2, "0006"), (3, "1")]))
        .await
        .expect("an answer");
    assert_eq!(texts(&batch.body, "OrgnlInstrId"), [instruction_id(3)]);
    for number in [1, 2] {
        let paid = || bank.book(&instruction_id(number)).expect("a book").len() == 1;
        assert!(wait::until_async(wait::AT_MOST, || std::future::ready(paid())).await, "{number}");
        let known =
            request(address, "POST /r/inquiries", &pacs_028(&[number])).await.expect("an answer");
        assert_eq!(texts(&known.body, "TxSts"), ["ACSC"]);
    }
    let again =
        request(address, "POST /r/payments", &pain_001(&[(1, "0006")])).await.expect("an answer");
    assert_eq!(texts(&again.body, "TxSts"), ["ACSC"]);
    assert_eq!(bank.book(&instruction_id(1)).expect("a book").len(), 1);
    bank.stop().await;
}

#[tokio::test]
async fn lost_answers_and_repetitions_never_pay_twice() {
    let (bank, address) = start(instant()).await;
    bank.set_faults(Faults { drop_answer_per_mille: 1_000, ..Faults::NONE }).expect("running");
    for _ in 0..3 {
        assert!(request(address, "POST /r/payments", &pain_001(&[(1, "1")])).await.is_none());
    }
    bank.set_faults(Faults::NONE).expect("running");
    let paid = || bank.book(&instruction_id(1)).expect("a book").len() == 1;
    assert!(wait::until_async(wait::AT_MOST, || std::future::ready(paid())).await);
    let answer =
        request(address, "POST /r/payments", &pain_001(&[(1, "1")])).await.expect("an answer");
    assert_eq!(texts(&answer.body, "TxSts"), ["ACSC"]);
    assert_eq!(bank.book_totals().expect("totals").paid_again, 0);
    bank.stop().await;
}

#[tokio::test]
async fn a_bank_that_is_down_refuses_connections_and_returns_at_its_address() {
    let (bank, address) = start(instant()).await;
    bank.set_faults(Faults { down: true, ..Faults::NONE }).expect("running");
    let refused = || async { TcpStream::connect(address).await.is_err() };
    assert!(wait::until_async(wait::AT_MOST, refused).await);
    bank.set_faults(Faults::NONE).expect("running");
    let back = || async { TcpStream::connect(address).await.is_ok() };
    assert!(wait::until_async(wait::AT_MOST, back).await);
    let answer =
        request(address, "POST /r/payments", &pain_001(&[(1, "1")])).await.expect("an answer");
    assert_eq!(answer.status, 200);
    bank.stop().await;
}

#[tokio::test]
async fn time_comes_from_the_clock_and_stopping_ends_a_waiting_request() {
    let clock = Arc::new(HandClock::new());
    let (bank, address) = start(BankConfig { clock: clock.clone(), ..BankConfig::default() }).await;
    request(address, "POST /r/payments", &pain_001(&[(1, "1")])).await.expect("an answer");
    let early = request(address, "GET /r/reports?wait=0", "").await.expect("an answer");
    assert_eq!(early.status, 204);
    clock.advance(Span::secs(3));
    let page = request(address, "GET /r/reports?wait=20", "").await.expect("an answer");
    assert_eq!(texts(&page.body, "EndToEndId"), [instruction_id(1)]);
    let line = format!("GET /r/reports?after={}&wait=60", page.cursor());
    let waiting =
        tokio::spawn(async move { request(address, &line, "").await.map(|answer| answer.status) });
    bank.stop().await;
    let ended = tokio::time::timeout(wait::AT_MOST, waiting).await.expect("in time");
    assert!(matches!(ended, Ok(Some(204) | None) | Err(_)), "{ended:?}");
}

#[tokio::test]
async fn a_bank_continues_after_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let book = Some(dir.path().join("book.jsonl"));
    let clock = Arc::new(HandClock::new());
    let config = BankConfig { book, clock: clock.clone(), ..BankConfig::default() };
    let (bank, address) = start(config.clone()).await;
    request(address, "POST /r/payments", &pain_001(&[(1, "1"), (2, "0004")]))
        .await
        .expect("an answer");
    bank.stop().await;
    let (bank, address) = start(config).await;
    bank.steer(&instruction_id(2), Outcome::Settle).expect("legal");
    clock.advance(Span::secs(3));
    let paid = || bank.book(&instruction_id(1)).expect("a book").len() == 1;
    assert!(wait::until_async(wait::AT_MOST, || std::future::ready(paid())).await);
    let page = request(address, "GET /r/reports?wait=20", "").await.expect("an answer");
    assert_eq!(texts(&page.body, "EndToEndId"), [instruction_id(2), instruction_id(1)]);
    assert_eq!(bank.book(&instruction_id(2)).expect("a book")[0].kind, BookKind::Paid);
    bank.stop().await;
}
