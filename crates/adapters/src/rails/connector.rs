//! A rail through a connector: a small program, written by the bank's integrator, that translates
//! between Corridor's contract (docs/openapi/connector.json) and a bank's own API.
//!
//! A connector is trusted as much as a bank on a rail of its own: its answers and callbacks are reports
//! about that rail's payments, and nothing else.

#[cfg(any(test, feature = "fuzz"))]
pub(super) mod fuzz;
mod incoming;
mod outgoing;

use std::time::Duration;

use domain::account_check::{AccountAnswer, AccountQuestion};
use domain::ports::{BoxFuture, Rail};
use domain::rail::{
    Callback, CallbackRefusal, Inquiry, InquiryAnswer, Instruction, RailFault, RailId,
    RecallRequest, Reports, Submission,
};
use domain::rail_text::CharacterSet;
use domain::time::Timestamp;
use futures_util::future::join_all;
use reqwest::header::HeaderValue;
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::answers::Delivery;
use super::{Preview, SetupError, exchange};
use crate::outbound::{self, Client, Request};
use crate::webhooks::{self, Arrived, WebhookSecret};
use incoming::{Asked, Request as Sent};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Timeout of a question about an account: a client waits for it.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(5);

/// A rail through a connector.
#[derive(Clone, Debug)]
pub struct ConnectorConfig {
    pub rail: RailId,
    /// Base URL; `/payments`, `/inquiries`, `/recalls`, `/account-checks` and `/reports` are appended.
    pub url: String,
    /// How it is reached.
    pub outbound: outbound::Settings,
    /// The characters that the bank accepts.
    pub character_set: CharacterSet,
    /// What signs its callbacks: one secret, or several separated by spaces during a rotation; empty if
    /// it sends none.
    pub callback_secret: SecretString,
    /// Whether it also keeps reports to be fetched, and how long it may hold a request for them.
    pub report_wait: Option<Duration>,
}

pub struct ConnectorRail {
    rail: RailId,
    client: Client,
    payments: Url,
    inquiries: Url,
    recalls: Url,
    account_checks: Url,
    /// With the timeout of a request; `None` if reports only come as callbacks.
    reports: Option<(Url, Duration)>,
    character_set: CharacterSet,
    callback_secrets: Vec<WebhookSecret>,
}

impl ConnectorRail {
    /// Opens no connection yet.
    pub fn new(config: ConnectorConfig) -> Result<ConnectorRail, SetupError> {
        let rail = config.rail;
        let at = |path: &str| {
            exchange::endpoint(&config.url, path)
                .ok_or_else(|| SetupError::Url { rail: rail.clone() })
        };
        let (payments, inquiries, recalls) = (at("/payments")?, at("/inquiries")?, at("/recalls")?);
        let account_checks = at("/account-checks")?;
        let mut reports = None;
        if let Some(wait) = config.report_wait {
            let mut url = at("/reports")?;
            url.query_pairs_mut().append_pair("wait", &wait.as_secs().to_string());
            reports = Some((url, wait.saturating_add(config.outbound.request_timeout)));
        }
        let key = format!("rails.{rail}.url");
        let client = Client::new(&config.outbound, &key, &[payments.as_str()])
            .map_err(|cause| SetupError::Outbound { rail: rail.clone(), cause })?;
        let callback_secrets = callback_secrets(config.callback_secret.expose_secret())
            .map_err(|cause| SetupError::CallbackSecret { rail: rail.clone(), cause })?;
        let character_set = config.character_set;
        Ok(ConnectorRail {
            rail,
            client,
            payments,
            inquiries,
            recalls,
            account_checks,
            reports,
            character_set,
            callback_secrets,
        })
    }

    async fn pay(&self, instruction: &Instruction) -> Submission {
        let body = outgoing::payment(self.character_set, instruction);
        let asked = Asked { payment: instruction.payment, attempt: instruction.attempt };
        let id = instruction.attempt.instruction_id();
        self.submit_one((&self.payments, Sent::Payment), &body, &id, asked).await
    }

    async fn ask_back(&self, recall: &RecallRequest) -> Submission {
        let body = outgoing::recall(self.character_set, recall);
        let asked = Asked { payment: recall.payment, attempt: recall.attempt };
        let id = outgoing::recall_id(recall);
        self.submit_one((&self.recalls, Sent::Recall), &body, &id, asked).await
    }

    async fn submit_one(
        &self,
        (url, sent): (&Url, Sent),
        body: &Value,
        id: &str,
        asked: Asked,
    ) -> Submission {
        let delivery = match exchange::deliver(&self.client, post(url, body), id).await {
            Ok(answer) => exchange::delivered(answer).await,
            Err(delivery) => delivery,
        };
        match delivery {
            Delivery::Answered(bytes) => incoming::submission(&bytes, sent, asked),
            Delivery::Taken => Submission::Taken,
            Delivery::NotSent(why) => Submission::NotSent(why),
            Delivery::Unclear(why) => Submission::Indeterminate(why),
        }
    }

    async fn ask(&self, inquiry: &Inquiry) -> InquiryAnswer {
        let request = post(&self.inquiries, &outgoing::inquiry(inquiry)).repeatable();
        let delivery = match self.client.send(request).await {
            Ok(answer) => exchange::delivered(answer).await,
            Err(fault) => Delivery::Unclear(fault.to_string()),
        };
        match delivery {
            Delivery::Answered(bytes) => {
                let asked = Asked { payment: inquiry.payment, attempt: inquiry.attempt };
                incoming::inquiry(&bytes, asked)
            }
            Delivery::Taken => InquiryAnswer::Asked,
            Delivery::NotSent(why) | Delivery::Unclear(why) => InquiryAnswer::NoAnswer(why),
        }
    }

    /// The login, if one is needed, included.
    async fn check_account(&self, question: &AccountQuestion) -> AccountAnswer {
        let timeout = self.client.settings().request_timeout.min(ACCOUNT_TIMEOUT);
        let late = || format!("no answer within {} ms", timeout.as_millis());
        tokio::time::timeout(timeout, self.ask_about_account(question))
            .await
            .unwrap_or_else(|_| AccountAnswer::Unavailable(late()))
    }

    async fn ask_about_account(&self, question: &AccountQuestion) -> AccountAnswer {
        let body = outgoing::account(self.character_set, question);
        let request = post(&self.account_checks, &body).repeatable();
        let answer = match self.client.send(request).await {
            Ok(answer) => answer,
            Err(fault) => return AccountAnswer::Unavailable(fault.to_string()),
        };
        match answer.status() {
            StatusCode::OK => match exchange::answered(answer).await {
                Delivery::Answered(bytes) => incoming::account(&bytes),
                Delivery::Unclear(why) | Delivery::NotSent(why) => AccountAnswer::Unavailable(why),
                Delivery::Taken => AccountAnswer::Unavailable("it has no answer yet".to_owned()),
            },
            StatusCode::NOT_IMPLEMENTED => AccountAnswer::NotSupported,
            status => AccountAnswer::Unavailable(format!("HTTP {status}")),
        }
    }

    async fn fetch(&self, cursor: Option<&str>) -> Result<Reports, RailFault> {
        let Some((url, timeout)) = &self.reports else { return std::future::pending().await };
        let page = async {
            let mut url = url.clone();
            if let Some(cursor) = cursor {
                url.query_pairs_mut().append_pair("after", cursor);
            }
            let answer = self.client.send(Request::get(url).timeout(*timeout)).await;
            let answer = answer.map_err(|fault| fault.to_string())?;
            match answer.status() {
                StatusCode::NO_CONTENT => Ok(Reports::default()),
                StatusCode::OK => match exchange::answered(answer).await {
                    Delivery::Answered(bytes) => incoming::page(&bytes),
                    Delivery::Unclear(why) | Delivery::NotSent(why) => Err(why),
                    Delivery::Taken => Err("HTTP 202".to_owned()),
                },
                status => Err(format!("HTTP {status}")),
            }
        };
        page.await.map_err(|reason| RailFault { rail: self.rail.clone(), reason })
    }

    fn authenticated(
        &self,
        callback: &Callback<'_>,
        now: Timestamp,
    ) -> Result<(), CallbackRefusal> {
        if self.callback_secrets.is_empty() {
            return Err(CallbackRefusal::NotTaken);
        }
        let Callback { id, timestamp, signature, body } = *callback;
        let arrived = Arrived { id, timestamp, signature, body };
        webhooks::verify(&self.callback_secrets, &arrived, now.unix_seconds())
            .map_err(|why| CallbackRefusal::Unauthenticated(why.to_string()))
    }

    /// The HTTP status of the answer to an inquiry, whatever it says.
    pub async fn inquiry_status(&self, inquiry: &Inquiry) -> Result<StatusCode, String> {
        let request = post(&self.inquiries, &outgoing::inquiry(inquiry));
        let answer = self.client.send(request).await.map_err(|fault| fault.to_string())?;
        Ok(answer.status())
    }

    /// Whether the connector answers `GET /health`, which has no effect at the bank.
    pub async fn probe(&self) -> Result<(), String> {
        let mut url = self.payments.clone();
        let path = url.path().trim_end_matches("/payments").to_owned();
        url.set_path(&format!("{path}/health"));
        let answer = self.client.send(Request::get(url)).await.map_err(|it| it.to_string())?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("HTTP {status}")),
        }
    }
}

/// The secrets in a text that separates them by spaces.
pub fn callback_secrets(text: &str) -> Result<Vec<WebhookSecret>, webhooks::SecretFault> {
    text.split_whitespace().map(WebhookSecret::parse).collect()
}

/// The request that would carry an instruction.
pub fn preview(set: CharacterSet, instruction: &Instruction) -> Preview {
    Preview {
        message_id: instruction.attempt.instruction_id(),
        xml: outgoing::payment(set, instruction).to_string(),
        payments: 1,
        execution_date: instruction.created_at.date(),
        file_name: None,
    }
}

fn post(url: &Url, body: &Value) -> Request {
    Request::post(url.clone(), JSON, body.to_string())
}

impl Rail for ConnectorRail {
    fn id(&self) -> &RailId {
        &self.rail
    }

    /// Each instruction is a request of its own.
    fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        vec![1; batch.len()]
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        Box::pin(join_all(batch.iter().map(|instruction| self.pay(instruction))))
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        Box::pin(join_all(attempts.iter().map(|inquiry| self.ask(inquiry))))
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        Box::pin(self.ask_back(request))
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        Box::pin(self.fetch(cursor))
    }

    fn read_callback(
        &self,
        callback: &Callback<'_>,
        now: Timestamp,
    ) -> Result<Reports, CallbackRefusal> {
        self.authenticated(callback, now)?;
        incoming::callback(callback.id, callback.body).map_err(CallbackRefusal::Unreadable)
    }

    fn verify_account<'a>(&'a self, question: &'a AccountQuestion) -> BoxFuture<'a, AccountAnswer> {
        Box::pin(self.check_account(question))
    }
}

#[cfg(test)]
#[path = "connector_tests.rs"]
mod tests;
