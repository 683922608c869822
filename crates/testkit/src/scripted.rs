//! A local server that answers each path from a script and records its requests.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};

/// An access key in the service's format.
pub const ACCESS_KEY: &str = "demo-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sVb0";
pub const SECRET_KEY: &str = "c2VjcmV0";

#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    /// Path of its URL.
    pub path: String,
    /// Query of its URL, without the question mark.
    pub query: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Asked {
    /// A header as text; empty if missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct Script {
    answers: HashMap<String, VecDeque<(u16, String)>>,
    asked: Vec<Asked>,
}

/// A running server. An unscripted path returns 400 `unscripted`; the last answer of a path
/// repeats; a 429 has `Retry-After: 0`.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
    /// Of the form `http://127.0.0.1:port`.
    pub base_url: String,
}

impl Scripted {
    /// Starts it with answers by path.
    pub async fn start(answers: &[(&str, &[(u16, &str)])]) -> Scripted {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}", listener.local_addr().expect("bound"));
        let answers = answers.iter().map(|(path, answers)| {
            (
                (*path).to_owned(),
                answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect(),
            )
        });
        let script = Arc::new(Mutex::new(Script { answers: answers.collect(), asked: Vec::new() }));
        let app = Router::new().fallback(answer).with_state(script.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves for ever") });
        Scripted { script, base_url }
    }

    /// Requests so far, in order of arrival.
    pub fn asked(&self) -> Vec<Asked> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }
}

async fn answer(
    State(script): State<Arc<Mutex<Script>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
    let path = uri.path().to_owned();
    let query = uri.query().unwrap_or_default().to_owned();
    script.asked.push(Asked { method, path: path.clone(), query, headers, body: body.to_vec() });
    let (status, body) = match script.answers.get_mut(&path) {
        Some(answers) if answers.len() > 1 => answers.pop_front().expect("more than one"),
        Some(answers) => answers.front().cloned().expect("scripted"),
        None => (400, r#"{"detail":{"code":"unscripted","message":"no such path"}}"#.to_owned()),
    };
    let mut response = Response::new(Body::from(body));
    if status == 429 {
        response.headers_mut().insert("retry-after", axum::http::HeaderValue::from_static("0"));
    }
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
}
