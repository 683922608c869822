//! Queries a chain analysis provider over HTTPS for the distance between a payer's address and a
//! listed one. The contract is Corridor's own and documented in the compliance guide: operators
//! place a vendor's API behind an adapter for it.
//!
//! Answers are untrusted: bounded in size and time, parsed strictly, and logged with their text
//! shortened to one line. It makes no decision.

use domain::hex::hex;

use domain::chain::Address;
use domain::ports::{AnalysisFault, BoxFuture, ChainAnalysis};
use domain::risk::proximity::{NearestListed, ProximityAnswer, ProximityQuestion};
use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderValue};
use serde::{Deserialize, Deserializer};
use tokio::sync::Semaphore;

use crate::outbound::{self, BodyFault, Client, Request, SetupError};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Version of the contract, in request and answer.
const VERSION: &str = "1";
/// Maximum size of an answer, in bytes.
const ANSWER_MAX_BYTES: usize = 16 * 1024;
/// Maximum length of a text in an answer.
const TEXT_MAX_CHARS: usize = 200;
/// Maximum number of concurrent requests: with the longest timeout a round of jobs ends before its
/// leases expire.
const ASKED_AT_ONCE: usize = 16;

/// Settings of the provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// The URL for POST requests: https, or this machine.
    pub url: String,
    /// Its client; the timeout is that of one request.
    pub outbound: outbound::Settings,
}

/// A provider over HTTPS.
#[derive(Debug)]
pub struct HttpChainAnalysis {
    client: Client,
    url: Url,
    turns: Semaphore,
}

/// An answer in JSON form. Unknown members are ignored.
#[derive(Deserialize)]
struct Written {
    version: String,
    provider_version: String,
    address: String,
    /// `null` = no listed address found; the member is mandatory.
    #[serde(deserialize_with = "required")]
    hops: Option<u8>,
    category: Option<String>,
    source: Option<String>,
    evidence_reference: Option<String>,
    risk_score: Option<u8>,
}

/// A mandatory member, which may be `null`.
fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    Option::deserialize(deserializer)
}

impl HttpChainAnalysis {
    pub fn new(settings: &ProviderSettings) -> Result<HttpChainAnalysis, SetupError> {
        const KEY: &str = "screening.chain_analysis.url";
        let client = Client::new(&settings.outbound, KEY, &[&settings.url])?;
        let url = Url::parse(&settings.url)
            .map_err(|error| SetupError { key: KEY.to_owned(), rule: error.to_string() })?;
        Ok(HttpChainAnalysis { client, url, turns: Semaphore::new(ASKED_AT_ONCE) })
    }

    async fn ask(&self, question: &ProximityQuestion) -> Result<ProximityAnswer, AnalysisFault> {
        let turn = self.turns.acquire().await;
        let _turn = turn.map_err(|_| AnalysisFault::Silent("shutting down".to_owned()))?;
        let body = self.exchange(question).await?;
        read(&body, question.payer)
    }

    async fn exchange(&self, question: &ProximityQuestion) -> Result<Vec<u8>, AnalysisFault> {
        let request = Request::post(self.url.clone(), JSON, written(question));
        let request = request.header(ACCEPT, JSON).repeatable();
        let answer = self.client.send(request).await;
        let answer = answer.map_err(|fault| AnalysisFault::Silent(fault.to_string()))?;
        if answer.status() != reqwest::StatusCode::OK {
            return Err(AnalysisFault::Silent(format!("HTTP {}", answer.status().as_u16())));
        }
        answer.body(ANSWER_MAX_BYTES).await.map_err(|fault| match fault {
            BodyFault::TooLarge => {
                AnalysisFault::Nonsense(format!("more than {ANSWER_MAX_BYTES} bytes"))
            }
            BodyFault::Broken(why) => AnalysisFault::Silent(why),
        })
    }
}

impl ChainAnalysis for HttpChainAnalysis {
    fn proximity<'a>(
        &'a self,
        question: &'a ProximityQuestion,
    ) -> BoxFuture<'a, Result<ProximityAnswer, AnalysisFault>> {
        Box::pin(self.ask(question))
    }
}

/// The request as JSON: hexadecimal digits and numbers, nothing to be escaped.
fn written(question: &ProximityQuestion) -> String {
    let ProximityQuestion { chain_id, token, payer, tx } = question;
    let (token, payer) = (plain(token), plain(payer));
    format!(
        r#"{{"version":"{VERSION}","chain_id":{chain_id},"token":"{token}","address":"{payer}","transaction_hash":"{tx}"}}"#
    )
}

/// An address in lower case: the checksum is not part of the request.
fn plain(address: &Address) -> String {
    format!("0x{}", hex(&address.0))
}

pub(super) fn read(body: &[u8], payer: Address) -> Result<ProximityAnswer, AnalysisFault> {
    let nonsense = |why: &str| AnalysisFault::Nonsense(why.to_owned());
    let said: Written = serde_json::from_slice(body).map_err(|error| {
        AnalysisFault::Nonsense(format!("line {} column {}", error.line(), error.column()))
    })?;
    if said.version != VERSION {
        return Err(nonsense("another version of the contract"));
    }
    if Address::parse(&said.address) != Some(payer) {
        return Err(nonsense("about another address"));
    }
    if said.risk_score.is_some_and(|score| score > 100) {
        return Err(nonsense("risk_score beyond 100"));
    }
    let nearest = match said.hops {
        None => None,
        Some(hops) => Some(NearestListed {
            hops,
            category: text("category", said.category)?,
            source: text("source", said.source)?,
            reference: text("evidence_reference", said.evidence_reference)?,
        }),
    };
    let provider_version = text("provider_version", Some(said.provider_version))?;
    Ok(ProximityAnswer { provider_version, nearest, risk_score: said.risk_score })
}

/// A non-empty text of one line.
fn text(name: &str, given: Option<String>) -> Result<String, AnalysisFault> {
    let fits = |text: &String| {
        !text.trim().is_empty()
            && text.chars().count() <= TEXT_MAX_CHARS
            && !text.chars().any(char::is_control)
    };
    given
        .filter(fits)
        .ok_or_else(|| AnalysisFault::Nonsense(format!("{name} is missing, too long or not text")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::chain::TxHash;

    use super::*;
    use crate::fetch::tests::serve_once;
    use crate::outbound::Authentication;

    const PAYER: Address = Address([0xab; 20]);

    fn question() -> ProximityQuestion {
        ProximityQuestion {
            chain_id: 1,
            token: Address([7; 20]),
            payer: PAYER,
            tx: TxHash([9; 32]),
        }
    }

    fn provider(url: &str, timeout: Duration) -> HttpChainAnalysis {
        let outbound = outbound::Settings {
            authentication: Authentication::Bearer("key".to_owned().into()),
            request_timeout: timeout,
            ..outbound::Settings::default()
        };
        let settings = ProviderSettings { url: url.to_owned(), outbound };
        HttpChainAnalysis::new(&settings).expect("a provider")
    }

    fn answer(members: &str) -> String {
        format!(
            r#"{{"version":"1","provider_version":"acme 9","address":"0x{}",{members}}}"#,
            "AB".repeat(20)
        )
    }

    async fn told(body: &str) -> Result<ProximityAnswer, AnalysisFault> {
        let url = serve_once("content-type: application/json", body.as_bytes().to_vec()).await;
        provider(&url, Duration::from_secs(5)).proximity(&question()).await
    }

    #[test]
    fn the_request_matches_the_contract() {
        let expected = format!(
            r#"{{"version":"1","chain_id":1,"token":"0x{}","address":"0x{}","transaction_hash":"0x{}"}}"#,
            "07".repeat(20),
            "ab".repeat(20),
            "09".repeat(32)
        );
        assert_eq!(written(&question()), expected);
    }

    #[tokio::test]
    async fn answers_are_read_strictly() {
        let near = answer(
            r#""hops":2,"category":"mixer","source":"acme","evidence_reference":"case 7","risk_score":61,"extra":{"a":[1]}"#,
        );
        let nearest = NearestListed {
            hops: 2,
            category: "mixer".to_owned(),
            source: "acme".to_owned(),
            reference: "case 7".to_owned(),
        };
        let expected = ProximityAnswer {
            provider_version: "acme 9".to_owned(),
            nearest: Some(nearest),
            risk_score: Some(61),
        };
        assert_eq!(told(&near).await, Ok(expected));
        let clean = ProximityAnswer {
            provider_version: "acme 9".to_owned(),
            nearest: None,
            risk_score: None,
        };
        assert_eq!(told(&answer(r#""hops":null"#)).await, Ok(clean));
        let long = "x".repeat(201);
        for nonsense in [
            String::new(),
            "[]".to_owned(),
            "{}".to_owned(),
            answer(r#""risk_score":1"#),
            answer(r#""hops":-1"#),
            answer(r#""hops":256"#),
            answer(r#""hops":1.5"#),
            answer(r#""hops":"1""#),
            answer(r#""hops":1"#),
            answer(r#""hops":1,"category":"c","source":"s""#),
            answer(r#""hops":1,"category":"c","source":"s","evidence_reference":" ""#),
            answer(r#""hops":1,"category":"c\n","source":"s","evidence_reference":"e""#),
            answer(&format!(
                r#""hops":1,"category":"{long}","source":"s","evidence_reference":"e""#
            )),
            answer(r#""hops":null,"risk_score":101"#),
            answer(r#""hops":null,"hops":3"#),
            answer(r#""hops":null"#).replace("\"1\"", "\"2\""),
            answer(r#""hops":null"#).replace("ABAB", "ABAC"),
            answer(r#""hops":null"#).replace("acme 9", ""),
            format!("{}{}", answer(r#""hops":null"#), "x"),
            answer(r#""hops":null"#) + &" ".repeat(ANSWER_MAX_BYTES),
        ] {
            let got = told(&nonsense).await;
            assert!(matches!(got, Err(AnalysisFault::Nonsense(_))), "{nonsense}: {got:?}");
        }
    }

    /// Serves one complete answer on a local port.
    async fn saying(head: &'static str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
        let url = format!("http://{}/", listener.local_addr().expect("address"));
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("accept");
            let mut request = [0; 4096];
            let _ = socket.read(&mut request).await.expect("request");
            socket.write_all(head.as_bytes()).await.expect("written");
            // An answer that never ends.
            std::future::pending::<()>().await;
        });
        url
    }

    #[tokio::test]
    async fn a_silent_slow_or_redirecting_provider_counts_as_no_answer() {
        let redirect =
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n";
        let drip = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
        for (head, said) in [(redirect, "HTTP 302"), (busy, "HTTP 503"), (drip, "")] {
            let url = saying(head).await;
            let got = provider(&url, Duration::from_millis(500)).proximity(&question()).await;
            let Err(AnalysisFault::Silent(why)) = got else { panic!("{head}: {got:?}") };
            assert!(why.contains(said) && !why.contains("127.0.0.1"), "{why}");
        }
        let got = provider("http://127.0.0.1:1/", Duration::from_secs(1));
        let got = got.proximity(&question()).await;
        assert!(matches!(got, Err(AnalysisFault::Silent(_))), "{got:?}");
    }
}
