//! The provider's endpoints. They refuse what a strict provider refuses: another client, another
//! redirect URI, a repeated code, a verifier that does not match the challenge.

use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Form, Query, State as Handed};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::signing::{SigningKey, with_shared_secret, without_signature};
use super::{CLIENT_ID, CLIENT_SECRET, Fault, Grant, Shared, State};
use crate::bank::server::connection::{Cut, Door};

/// Lifetime of an ID token.
const LIFE_S: i64 = 300;
const DAY_S: i64 = 86_400;

pub(super) async fn serve(door: Door, shared: Arc<Shared>) {
    let routes = Router::new()
        .route("/realms/bank/.well-known/openid-configuration", get(description))
        .route("/realms/bank/keys", get(keys))
        .route("/realms/bank/authorize", get(authorize))
        .route("/realms/bank/token", post(token))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), outage))
        .with_state(shared);
    if let Err(fault) = axum::serve(door, routes.into_make_service_with_connect_info::<Cut>()).await
    {
        tracing::error!(%fault, "simulated identity provider server failed");
    }
}

/// While it is down, open connections are cut too.
async fn outage(
    Handed(shared): Handed<Arc<Shared>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: axum::extract::Request,
    next: Next,
) -> Response {
    if *shared.down.borrow() {
        cut.cut();
        return Response::default();
    }
    next.run(request).await
}

async fn description(Handed(shared): Handed<Arc<Shared>>) -> Json<Value> {
    let mut state = shared.state();
    state.asked.description += 1;
    let issuer = &shared.issuer;
    let said = if state.fault == Some(Fault::Description) {
        "https://id.example"
    } else {
        issuer.as_str()
    };
    Json(json!({
        "issuer": said,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "PS256", "ES256", "EdDSA"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn keys(Handed(shared): Handed<Arc<Shared>>) -> Json<Value> {
    let mut state = shared.state();
    state.asked.keys += 1;
    Json(state.key_set())
}

#[derive(Deserialize)]
struct Question {
    response_type: String,
    client_id: String,
    redirect_uri: String,
    scope: String,
    state: String,
    nonce: String,
    code_challenge: String,
    code_challenge_method: String,
}

async fn authorize(Handed(shared): Handed<Arc<Shared>>, Query(asked): Query<Question>) -> Response {
    let mut state = shared.state();
    let known = state.redirect_uri.as_ref().is_none_or(|uri| *uri == asked.redirect_uri);
    let fine = asked.response_type == "code"
        && asked.client_id == CLIENT_ID
        && asked.scope.split(' ').any(|word| word == "openid")
        && asked.code_challenge_method == "S256"
        && !asked.nonce.is_empty();
    if !known || !fine {
        return (StatusCode::BAD_REQUEST, "invalid client or redirect URI").into_response();
    }
    state.scope = asked.scope;
    let issuer = if state.fault == Some(Fault::AnswerIssuer) {
        "https://id.example"
    } else {
        &shared.issuer
    };
    let answer = if state.fault == Some(Fault::Denied) {
        "error=access_denied&error_description=no".to_owned()
    } else {
        let code = uuid::Uuid::new_v4().to_string();
        let grant = Grant {
            redirect_uri: asked.redirect_uri.clone(),
            nonce: asked.nonce,
            challenge: asked.code_challenge,
            account: state.account.clone(),
        };
        state.grants.insert(code.clone(), grant);
        format!("code={code}")
    };
    let to =
        format!("{}?{answer}&state={}&iss={}", asked.redirect_uri, asked.state, escaped(issuer));
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

fn escaped(text: &str) -> String {
    text.replace(':', "%3A").replace('/', "%2F")
}

#[derive(Deserialize)]
struct Redeeming {
    grant_type: String,
    code: String,
    redirect_uri: String,
    code_verifier: String,
}

async fn token(
    Handed(shared): Handed<Arc<Shared>>,
    headers: HeaderMap,
    Form(asked): Form<Redeeming>,
) -> Result<Json<Value>, (StatusCode, Json<Value>)> {
    let refused = |status, error: &str| (status, Json(json!({ "error": error })));
    let mut state = shared.state();
    state.asked.tokens += 1;
    if state.fault == Some(Fault::TokenEndpoint) {
        return Err(refused(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"));
    }
    if !is_our_client(&headers) {
        return Err(refused(StatusCode::UNAUTHORIZED, "invalid_client"));
    }
    if asked.grant_type != "authorization_code" {
        return Err(refused(StatusCode::BAD_REQUEST, "unsupported_grant_type"));
    }
    let grant = state.grants.remove(&asked.code);
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(asked.code_verifier.as_bytes()));
    let grant = grant
        .filter(|grant| grant.redirect_uri == asked.redirect_uri && grant.challenge == challenge);
    let Some(grant) = grant else { return Err(refused(StatusCode::BAD_REQUEST, "invalid_grant")) };
    let now = shared.clock.now().unix_seconds();
    let mut answer =
        json!({ "access_token": "unused", "token_type": "Bearer", "expires_in": LIFE_S });
    if state.fault != Some(Fault::NoToken) {
        answer["id_token"] = state.id_token(&shared.issuer, &grant, now).into();
    }
    Ok(Json(answer))
}

/// `client_secret_basic`, with both parts form-encoded.
fn is_our_client(headers: &HeaderMap) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let secret = CLIENT_SECRET.replace(' ', "%20").replace(':', "%3A");
    given == format!("Basic {}", STANDARD.encode(format!("{CLIENT_ID}:{secret}")))
}

impl State {
    fn id_token(&self, issuer: &str, grant: &Grant, now: i64) -> String {
        let account = &grant.account;
        let mut claims = json!({
            "iss": issuer,
            "sub": account.subject,
            "aud": CLIENT_ID,
            "exp": now + LIFE_S,
            "iat": now,
            "auth_time": now,
            "nonce": grant.nonce,
            "email": account.email,
            "preferred_username": account.username,
        });
        if let Some(verified) = account.email_verified {
            claims["email_verified"] = verified.into();
        }
        match self.fault {
            Some(Fault::Nonce) => claims["nonce"] = "another".into(),
            Some(Fault::Audience) => claims["aud"] = "another-client".into(),
            Some(Fault::Party) => {
                claims["aud"] = json!([CLIENT_ID, "another-client"]);
                claims["azp"] = "another-client".into();
            }
            Some(Fault::Issuer) => claims["iss"] = "https://id.example".into(),
            Some(Fault::Expired) => claims["exp"] = (now - LIFE_S).into(),
            Some(Fault::Old) => {
                claims["iat"] = (now - DAY_S).into();
                claims["exp"] = (now + DAY_S).into();
            }
            Some(Fault::Future) => claims["iat"] = (now + DAY_S).into(),
            _ => {}
        }
        let key = &self.keys[0];
        match self.fault {
            Some(Fault::Unsigned) => without_signature(&claims),
            Some(Fault::SharedSecret) => {
                with_shared_secret(&claims, &key.id, CLIENT_SECRET.as_bytes())
            }
            Some(Fault::ForeignKey) => {
                SigningKey::new(self.signing, "unknown".to_owned()).sign(self.signing, &claims)
            }
            Some(Fault::Signature) => {
                let signed = key.sign(self.signing, &claims);
                claims["sub"] = "another subject".into();
                let other = key.sign(self.signing, &claims);
                let body = other.rsplit_once('.').map_or("", |(body, _)| body);
                format!("{body}.{}", signed.rsplit('.').next().unwrap_or_default())
            }
            _ => key.sign(self.signing, &claims),
        }
    }
}
