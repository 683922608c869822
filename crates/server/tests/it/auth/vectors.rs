//! Every token of `crates/http/data/jwt_vectors.json`, sent to a running service: here to the payment API, and from
//! `wallet::tokens` to the other one.

use domain::policy::Environment;
use domain::ports::Clock as _;
use http_api::auth::AuthFault;
use reqwest::Method;
use service::clock::WallClock;
use service::tenancy::{IssuedKey, KeyService};

#[path = "../../../../http/tests/recipe/mod.rs"]
mod recipe;

use crate::harness::{Answer, Bank, On, on_both_stores};
use recipe::{Party, Vector};

on_both_stores! {
    every_vector_gets_its_verdict
}

/// Whole recipes in the file; a shrunken file must not go unnoticed.
const VECTORS_MIN: usize = 322;
/// The longest life of a token outside production.
const MAX_LIFETIME_S: i64 = 3_600;
/// A head beyond this is refused before anybody looks at the token.
const HEAD_MAX_BYTES: usize = 16 * 1024;
/// Nothing that any operation wants: whoever gets through is told of its faults.
const BODY: &str = r#"{"amount": 500}"#;
/// Some vectors are right for one second only; that one may pass between signing and looking.
const TRIES: usize = 4;

const FAULTS: [AuthFault; 26] = [
    AuthFault::Missing,
    AuthFault::Repeated,
    AuthFault::TooLong,
    AuthFault::Scheme,
    AuthFault::Parts,
    AuthFault::Base64,
    AuthFault::Json,
    AuthFault::HeaderMember,
    AuthFault::Alg,
    AuthFault::Typ,
    AuthFault::Kid,
    AuthFault::KeyUse,
    AuthFault::Signature,
    AuthFault::Sub,
    AuthFault::Exp,
    AuthFault::Iat,
    AuthFault::Nbf,
    AuthFault::Expired,
    AuthFault::IssuedInFuture,
    AuthFault::Lifetime,
    AuthFault::Aud,
    AuthFault::Iss,
    AuthFault::Roles,
    AuthFault::Hmac,
    AuthFault::HmacRequired,
    AuthFault::HmacMismatch,
];

/// A service that every vector is sent to, and what its answers are like.
pub struct Stage<'a> {
    pub bank: &'a Bank,
    /// Whose tokens they are.
    pub key: &'a IssuedKey,
    /// Another tenant's.
    pub other: &'a IssuedKey,
    /// Good for the other service.
    pub other_service_kid: &'a str,
    pub max_lifetime_s: i64,
    /// Where they are sent to, in turn.
    pub doors: &'a [&'a str],
    /// Whether somebody was let through, and refused for his body alone.
    pub passed: fn(&Answer) -> bool,
    /// Whether the body of a 401 has the service's form and this message.
    pub told: fn(&Answer, &str) -> bool,
}

impl Stage<'_> {
    /// Sends all of them.
    pub async fn every_vector_gets_its_verdict(&self) {
        let count = self.vectors().len();
        assert!(count >= VECTORS_MIN, "{count} vectors");
        let mut wrong = Vec::new();
        for (at, vector) in self.vectors().iter().enumerate() {
            let mut verdict = self.wrong(at, vector).await;
            for _ in 1..TRIES {
                if verdict.is_some() {
                    verdict = self.wrong(at, &self.vectors()[at]).await;
                }
            }
            wrong.extend(verdict);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn vectors(&self) -> Vec<Vector> {
        recipe::vectors(&Party {
            kid: self.key.access_key.clone(),
            secret: self.key.secret_key.clone(),
            other_kid: self.other.access_key.clone(),
            other_secret: self.other.secret_key.clone(),
            other_service_kid: self.other_service_kid.to_owned(),
            other_environment_kid: self.key.access_key.replace("-test_", "-live_"),
            url: self.bank.running.url.clone(),
            max_lifetime_s: self.max_lifetime_s,
            now: WallClock.now().unix_seconds(),
            body: BODY.to_owned(),
        })
    }

    /// What is wrong about the answer to a vector, if anything.
    async fn wrong(&self, at: usize, vector: &Vector) -> Option<String> {
        let door = self.doors[at % self.doors.len()];
        let call = self.bank.unsigned(Method::POST, door, Some(BODY.as_bytes().to_vec()));
        let call = call.header("content-type", "application/json");
        let call = vector.authorization.iter().fold(call, |call, line| call.line("authorization", line));
        let length: usize = vector.authorization.iter().map(String::len).sum();
        if length > HEAD_MAX_BYTES - 1_024 {
            let status = call.open().await.status().as_u16();
            return (![401, 431].contains(&status)).then(|| format!("{}: {status}", vector.name));
        }
        let answer = call.send().await;
        let right = match FAULTS.iter().find(|fault| fault.name() == vector.expect) {
            None => vector.expect == "ok" && (self.passed)(&answer),
            Some(fault) => {
                answer.status == 401
                    && answer.header("www-authenticate") == Some("Bearer")
                    && (self.told)(&answer, &format!("Authentication failed: {fault}"))
            }
        };
        (!right).then(|| format!("{}: {answer:?}, not {}", vector.name, vector.expect))
    }
}

async fn every_vector_gets_its_verdict(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let wallet = bank.another_key(Environment::Mock, KeyService::Wallet).await;
    let stage = Stage {
        bank: &bank,
        key: &bank.key,
        other: &other.key,
        other_service_kid: &wallet.access_key,
        max_lifetime_s: MAX_LIFETIME_S,
        doors: &["/v2/quote"],
        passed: |answer| answer.status == 422,
        told: |answer, message| answer.refused(401, "unauthorized")["message"].text() == message,
    };
    stage.every_vector_gets_its_verdict().await;
}
