//! Sends every token of `crates/http/data/jwt_vectors.json` and its families to a running service: here to the
//! payment API, and from `wallet::tokens` to the wallet API.

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

/// The expected number of recipes, so that a truncated file is noticed.
const VECTORS_MIN: usize = 740;
/// The maximum lifetime of a token outside production.
const MAX_LIFETIME_S: i64 = 3_600;
/// A longer head is refused before the token is read.
const HEAD_MAX_BYTES: usize = 16 * 1024;
/// A body that no operation accepts: authenticated callers get its errors.
const BODY: &str = r#"{"amount": 500}"#;
/// Some vectors are valid for one second only, which may pass between signing and verification.
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
    AuthFault::Lifetime { lives_s: 0, max_s: 0 },
    AuthFault::Aud,
    AuthFault::Iss,
    AuthFault::Roles,
    AuthFault::Hmac,
    AuthFault::HmacRequired,
    AuthFault::HmacMismatch,
];

/// A service that receives every vector, and the format of its answers.
pub struct Stage<'a> {
    pub bank: &'a Bank,
    /// The party that signs.
    pub key: &'a IssuedKey,
    /// A party of another tenant.
    pub other: &'a IssuedKey,
    /// A party with a key for the other service.
    pub other_service_kid: &'a str,
    pub max_lifetime_s: i64,
    /// The operations to call, in turn.
    pub doors: &'a [&'a str],
    /// Whether a caller was authenticated, and refused only for the body.
    pub passed: fn(&Answer) -> bool,
    /// Whether the body of a 401 has the service's format and a message that begins like this.
    pub told: fn(&Answer, &str) -> bool,
}

impl Stage<'_> {
    pub async fn every_vector_gets_its_verdict(&self) {
        self.vectors_get_their_verdicts(0, 1).await;
    }

    /// Sends one of `parts` parts of the vectors.
    pub async fn vectors_get_their_verdicts(&self, part: usize, parts: usize) {
        let count = self.vectors().len();
        assert!(count >= VECTORS_MIN, "{count} vectors");
        let mut wrong = Vec::new();
        for (at, vector) in self.vectors().iter().enumerate().skip(part).step_by(parts) {
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

    /// The discrepancy in the answer to a vector, if any.
    async fn wrong(&self, at: usize, vector: &Vector) -> Option<String> {
        let door = self.doors[at % self.doors.len()];
        let call = self.bank.unsigned(Method::POST, door, Some(BODY.as_bytes().to_vec()));
        let call = call.header("content-type", "application/json");
        let call =
            vector.authorization.iter().fold(call, |call, line| call.line("authorization", line));
        let length: usize = vector.authorization.iter().map(String::len).sum();
        if length > HEAD_MAX_BYTES - 1_024 {
            let status = call.open().await.status().as_u16();
            return (![401, 431].contains(&status)).then(|| format!("{}: {status}", vector.name));
        }
        let answer = call.send().await;
        // The figures of a lifetime are those of the vector.
        let message = |fault: &AuthFault| match fault {
            AuthFault::Lifetime { .. } => "Authentication failed: exp: exp − iat is ".to_owned(),
            fault => format!("Authentication failed: {fault}"),
        };
        let right = match FAULTS.iter().find(|fault| fault.name() == vector.expect) {
            None => vector.expect == "ok" && (self.passed)(&answer),
            Some(fault) => {
                answer.status == 401
                    && answer.header("www-authenticate") == Some("Bearer")
                    && (self.told)(&answer, &message(fault))
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
        told: |answer, message| {
            answer.refused(401, "unauthorized")["message"].text().starts_with(message)
        },
    };
    stage.every_vector_gets_its_verdict().await;
}
