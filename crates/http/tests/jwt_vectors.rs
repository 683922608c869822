//! Runs every vector of `data/jwt_vectors.json` through the verifier, for both services.

mod recipe;

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::ids::TenantId;
use domain::policy::Environment;
use domain::time::Timestamp;
use http::{HeaderMap, HeaderValue, header};
use http_api::auth::{Found, KeyRing, Refused, Rules, Service, SigningKey, VerifiedKey, Verifier};
use recipe::{Party, Vector};

const VECTORS_MIN: usize = 740;
const NOW_S: i64 = 1_800_000_000;
const RANDOM: &str = "Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";

struct Ring(Vec<Arc<VerifiedKey>>);

impl KeyRing for Ring {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        let found = self.0.iter().find(|key| &*key.access_key == access_key).cloned();
        Box::pin(std::future::ready(Ok(found)))
    }
}

fn party(service: Service, max_lifetime_s: i64) -> Party {
    let (own, other) = match service {
        Service::Pay => ("pay", "wallet"),
        Service::Wallet => ("wallet", "pay"),
    };
    Party {
        kid: format!("demobank-test_{own}-{RANDOM}"),
        secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMQ==".to_owned(),
        other_kid: format!("otherbank-test_{own}-{RANDOM}"),
        other_secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMg==".to_owned(),
        other_service_kid: format!("demobank-test_{other}-{RANDOM}"),
        other_environment_kid: format!("demobank-live_{own}-{RANDOM}"),
        url: "https://api.example.com".to_owned(),
        max_lifetime_s,
        now: NOW_S,
        body: r#"{"amount": 500}"#.to_owned(),
    }
}

fn key(access_key: &str, secret: &str) -> Arc<VerifiedKey> {
    Arc::new(VerifiedKey {
        access_key: access_key.into(),
        tenant: TenantId(uuid::Uuid::nil()),
        secret: SigningKey::new(secret.as_bytes()),
        other_secrets: Vec::new(),
        suspended: false,
        allowed_networks: Vec::new(),
        require_hmac: false,
        max_lifetime_s: None,
    })
}

async fn outcome(verifier: &Verifier, vector: &Vector, party: &Party) -> String {
    let mut headers = HeaderMap::new();
    for line in &vector.authorization {
        let value = HeaderValue::from_bytes(line.as_bytes()).expect("a header value");
        headers.append(header::AUTHORIZATION, value);
    }
    let verdict = verifier.verify(&headers, None, Timestamp(NOW_S * 1_000_000)).await;
    match verdict
        .and_then(|caller| caller.vouches_for(party.body.as_bytes()).map_err(Refused::from))
    {
        Ok(()) => "ok".to_owned(),
        Err(Refused::Unauthorized(fault)) => fault.name().to_owned(),
        Err(other) => other.to_string(),
    }
}

async fn run(service: Service) {
    let rules = Rules::new(Environment::Mock, service, "https://api.example.com/");
    let party = party(service, rules.max_lifetime_s);
    let ring =
        Ring(vec![key(&party.kid, &party.secret), key(&party.other_kid, &party.other_secret)]);
    let verifier = Verifier::new(Arc::new(ring), rules);
    let vectors = recipe::vectors(&party);
    let mut wrong = Vec::new();
    for vector in &vectors {
        let outcome = outcome(&verifier, vector, &party).await;
        if outcome != vector.expect {
            wrong.push(format!("{}: {outcome}, not {}", vector.name, vector.expect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: BTreeSet<&str> = vectors.iter().map(|vector| vector.name.as_str()).collect();
    assert!(
        names.len() == vectors.len() && names.len() >= VECTORS_MIN,
        "{} distinct names",
        names.len()
    );
}

#[tokio::test]
async fn every_vector_gets_its_verdict_from_the_payment_service() {
    run(Service::Pay).await;
}

#[tokio::test]
async fn every_vector_gets_its_verdict_from_the_wallet_service() {
    run(Service::Wallet).await;
}
