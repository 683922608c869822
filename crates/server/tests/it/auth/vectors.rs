//! Every token of `crates/http/data/jwt_vectors.json`, sent to a running service.

use domain::policy::Environment;
use domain::ports::Clock as _;
use http_api::auth::AuthFault;
use reqwest::Method;
use server::service::clock::WallClock;
use server::service::tenancy::KeyService;

#[path = "../../../../http/tests/recipe/mod.rs"]
pub mod recipe;

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

struct Stage {
    bank: Bank,
    other: Bank,
    other_service_kid: String,
}

impl Stage {
    fn vectors(&self) -> Vec<Vector> {
        recipe::vectors(&Party {
            kid: self.bank.key.access_key.clone(),
            secret: self.bank.key.secret_key.clone(),
            other_kid: self.other.key.access_key.clone(),
            other_secret: self.other.key.secret_key.clone(),
            other_service_kid: self.other_service_kid.clone(),
            other_environment_kid: self.bank.key.access_key.replace("-test_", "-live_"),
            url: self.bank.running.url.clone(),
            max_lifetime_s: MAX_LIFETIME_S,
            now: WallClock.now().unix_seconds(),
            body: BODY.to_owned(),
        })
    }

    /// What is wrong about the answer to a vector, if anything.
    async fn wrong(&self, vector: &Vector) -> Option<String> {
        let call = self.bank.unsigned(Method::POST, "/v2/quote", Some(BODY.as_bytes().to_vec()));
        let call = call.header("content-type", "application/json");
        let call = vector.authorization.iter().fold(call, |call, line| call.line("authorization", line));
        let length: usize = vector.authorization.iter().map(String::len).sum();
        if length > HEAD_MAX_BYTES - 1_024 {
            let status = call.open().await.status().as_u16();
            return (![401, 431].contains(&status)).then(|| format!("{}: {status}", vector.name));
        }
        let answer = call.send().await;
        let right = match FAULTS.iter().find(|fault| fault.name() == vector.expect) {
            None => answer.status == 422 && vector.expect == "ok",
            Some(fault) => is_refused_for(&answer, *fault),
        };
        (!right).then(|| format!("{}: {answer:?}, not {}", vector.name, vector.expect))
    }
}

/// No quote request: whoever gets through is told of its faults.
const BODY: &str = r#"{"amount": 500}"#;

fn is_refused_for(answer: &Answer, fault: AuthFault) -> bool {
    answer.status == 401
        && answer.header("www-authenticate") == Some("Bearer")
        && answer.refused(401, "unauthorized")["message"].text() == format!("Authentication failed: {fault}")
}

async fn every_vector_gets_its_verdict(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let wallet = bank.another_key(Environment::Mock, KeyService::Wallet).await;
    let stage = Stage { bank, other, other_service_kid: wallet.access_key };
    let count = stage.vectors().len();
    assert!(count >= VECTORS_MIN, "{count} vectors");
    let mut wrong = Vec::new();
    for (at, vector) in stage.vectors().iter().enumerate() {
        let mut verdict = stage.wrong(vector).await;
        for _ in 1..TRIES {
            if verdict.is_some() {
                verdict = stage.wrong(&stage.vectors()[at]).await;
            }
        }
        wrong.extend(verdict);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
