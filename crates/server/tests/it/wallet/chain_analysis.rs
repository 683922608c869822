//! The chain analysis provider (`decisions.md`, "Risk": hop to a listed one): a test double of the
//! contract in the compliance guide, and the effects of its answers, silence and invalid responses.

use std::sync::{Arc, Mutex};

use domain::chain::Address;
use domain::deposit::Deposit;
use domain::ids::WalletId;
use domain::risk::Hold;
use domain::time::Span;
use testkit::wait::AT_MOST;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::acts::id;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_payer_near_a_listed_address_is_for_a_person
    a_listed_payer_that_only_the_provider_knows_is_refused_for_good
    an_unavailable_or_invalid_provider_approves_no_deposit
    a_provider_that_is_down_for_a_moment_is_asked_again
}

const KEY: &str = "analysis-key";

#[derive(Clone, Copy, Debug)]
enum Says {
    /// This many hops; `None` for nothing nearby.
    Hops(Option<u8>),
    /// Answers with the status 503.
    Down,
    /// 200 with this body.
    Nonsense(&'static str),
}

struct Double {
    url: String,
    says: Arc<Mutex<Says>>,
    /// Head and body of each request.
    asked: Arc<Mutex<Vec<(String, Json)>>>,
}

impl Double {
    async fn start(says: Says) -> Double {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/v1/proximity", listener.local_addr().expect("bound"));
        let (says, asked) = (Arc::new(Mutex::new(says)), Arc::<Mutex<Vec<_>>>::default());
        let double = Double { url, says: says.clone(), asked: asked.clone() };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (says, asked) = (says.clone(), asked.clone());
                tokio::spawn(async move { answer(socket, &says, &asked).await });
            }
        });
        double
    }

    fn say(&self, says: Says) {
        *self.says.lock().expect("not poisoned") = says;
    }

    fn asked(&self) -> Vec<(String, Json)> {
        self.asked.lock().expect("not poisoned").clone()
    }

    /// A bank on a service that uses the double.
    async fn bank(&self, on: On, review_after_s: &str) -> WalletBank {
        let setup = Setup::with_wallets()
            .set("screening.chain_analysis.url", &self.url)
            .set("screening.chain_analysis.api_key", KEY)
            .set("screening.chain_analysis.review_after_s", review_after_s);
        WalletBank::alone(on, setup).await
    }
}

/// Answers one request per connection.
async fn answer(mut socket: TcpStream, says: &Mutex<Says>, asked: &Mutex<Vec<(String, Json)>>) {
    let mut read = Vec::new();
    let (head, body) = loop {
        let mut more = [0; 2_048];
        let count = socket.read(&mut more).await.expect("a question");
        if count == 0 {
            return;
        }
        read.extend_from_slice(&more[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break (head.to_owned(), body.to_owned());
        }
    };
    let question = Json::read(body.as_bytes());
    let address = question["address"].text().to_owned();
    asked.lock().expect("not poisoned").push((head, question));
    let says = *says.lock().expect("not poisoned");
    let (status, said) = match says {
        Says::Down => ("503 Service Unavailable", String::new()),
        Says::Nonsense(text) => ("200 OK", text.to_owned()),
        Says::Hops(hops) => {
            let nearest = match hops {
                Some(hops) => format!(
                    r#""hops":{hops},"category":"sanctions","source":"OFAC SDN","evidence_reference":"case 4711""#
                ),
                None => r#""hops":null"#.to_owned(),
            };
            let said = format!(
                r#"{{"version":"1","provider_version":"acme 2026-11-22","address":"{address}",{nearest},"risk_score":3}}"#
            );
            ("200 OK", said)
        }
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
        said.len()
    );
    // A client that disconnected asks again.
    let _sent = socket.write_all(answer.as_bytes()).await;
}

/// The latest deposit of a wallet, as stored.
async fn kept(bank: &WalletBank, wallet: &str) -> Deposit {
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let id = WalletId::parse(wallet).expect("a wallet's id");
    let page = store
        .transactions(tenant, id, None, store::Page { page: 0, limit: 1 })
        .await
        .expect("read");
    match page.rows.into_iter().next() {
        Some(store::Transaction::Deposit(deposit)) => *deposit,
        other => panic!("no deposit: {other:?}"),
    }
}

fn evidence(deposit: &Deposit) -> String {
    deposit.assessment.as_ref().expect("it was assessed").evidence.join("; ")
}

fn code(review: &Json) -> (&str, &str) {
    let code = review["decision_reason"].text().split(':').next().expect("a code");
    (code, review["risk_level"].text())
}

async fn a_payer_near_a_listed_address_is_for_a_person(on: On) {
    let double = Double::start(Says::Hops(None)).await;
    let bank = double.bank(on, "300").await;
    for (hops, found) in
        [(None, "no listed address nearby"), (Some(9), "sanctions (OFAC SDN) 9 hops away")]
    {
        double.say(Says::Hops(hops));
        let wallet = bank.wallet(&format!("clean-{}", hops.unwrap_or(0))).await;
        bank.deposit(&wallet, "25.00", "COMPLETED").await;
        let evidence = evidence(&kept(&bank, &wallet).await);
        assert!(evidence.starts_with(&format!("ON_CHAIN_ANALYSIS: {found}")), "{evidence}");
        assert!(evidence.ends_with("provider acme 2026-11-22"), "{evidence}");
    }
    let mut last_tx = String::new();
    for (hops, level, found) in [(1, "HIGH", "1 hop away"), (3, "MEDIUM", "3 hops away")] {
        double.say(Says::Hops(Some(hops)));
        let wallet = bank.wallet(&format!("near-{hops}")).await;
        let request = bank.request(&wallet, "25.00", "USDC").await;
        bank.paid(&request, "").await;
        let review = bank.review(&wallet).await;
        assert_eq!((id(&review), code(&review)), (id(&request), ("LISTED_ADDRESS_NEARBY", level)));
        let evidence = review["evidence"].to_string();
        assert!(evidence.contains(found) && evidence.contains("evidence case 4711"), "{evidence}");
        assert!(evidence.contains("provider acme 2026-11-22"), "{evidence}");
        last_tx = kept(&bank, &wallet).await.tx.to_string();
    }
    let asked = double.asked();
    assert!(
        asked.iter().all(|(head, _)| head.contains(&format!("authorization: Bearer {KEY}"))),
        "{asked:?}"
    );
    let (_, question) = asked.last().expect("asked");
    assert_eq!(question.names(), ["version", "chain_id", "token", "address", "transaction_hash"]);
    assert_eq!(Address::parse(question["address"].text()), Some(bank.minter()));
    assert_eq!(question["transaction_hash"].text(), last_tx);
    bank.finish().await;
}

async fn a_listed_payer_that_only_the_provider_knows_is_refused_for_good(on: On) {
    let double = Double::start(Says::Hops(Some(0))).await;
    let bank = double.bank(on, "300").await;
    let wallet = bank.wallet("listed").await;
    bank.deposit(&wallet, "25.00", "REJECTED").await;
    let deposit = kept(&bank, &wallet).await;
    let assessment = deposit.assessment.as_ref().expect("it was assessed");
    assert_eq!(
        (assessment.reason.name(), assessment.level().name()),
        ("SANCTIONED_ADDRESS", "CRITICAL")
    );
    assert_eq!(assessment.hold, Some(Hold::Legal));
    assert!(
        evidence(&deposit).contains("sanctions (OFAC SDN) the payer itself, evidence case 4711")
    );
    bank.finish().await;
}

async fn an_unavailable_or_invalid_provider_approves_no_deposit(on: On) {
    let double = Double::start(Says::Down).await;
    let bank = double.bank(on, "0").await;
    for (name, says, why) in [
        ("down", Says::Down, "did not answer: HTTP 503"),
        ("html", Says::Nonsense("<html>welcome</html>"), "is invalid"),
        ("silent", Says::Nonsense("{}"), "is invalid"),
    ] {
        double.say(says);
        let wallet = bank.wallet(name).await;
        let request = bank.request(&wallet, "25.00", "USDC").await;
        bank.paid(&request, "").await;
        let review = bank.review(&wallet).await;
        assert_eq!(
            (id(&review), code(&review)),
            (id(&request), ("ANALYSIS_UNAVAILABLE", "MEDIUM")),
            "{name}"
        );
        assert!(review["evidence"].to_string().contains(why), "{review}");
    }
    double.say(Says::Hops(None));
    let wallet = bank.wallet("again").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    bank.finish().await;
}

async fn a_provider_that_is_down_for_a_moment_is_asked_again(on: On) {
    let double = Double::start(Says::Down).await;
    let bank = double.bank(on, "3600").await;
    let wallet = bank.wallet("patient").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.paid(&request, "").await;
    assert!(testkit::wait::until_async(AT_MOST, || async { !double.asked().is_empty() }).await);
    bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    assert!(kept(&bank, &wallet).await.assessment.is_none(), "no decision was made");
    double.say(Says::Hops(None));
    // The longest delay between retries.
    bank.bank.advance(Span::secs(60)).await;
    bank.newest(&wallet, "COMPLETED").await;
    assert!(double.asked().len() >= 2);
    bank.finish().await;
}
