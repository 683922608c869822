//! A browser for console tests: keeps cookies, follows no redirects, and sends the last page's form
//! token.

use std::collections::BTreeMap;

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn to(&self) -> &str {
        self.headers.get("location").map_or("", |to| to.to_str().expect("text"))
    }

    /// The text between two others.
    pub fn between(&self, before: &str, after: &str) -> Option<&str> {
        self.text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
    }
}

pub struct Browser {
    http: reqwest::Client,
    url: String,
    pub cookies: BTreeMap<String, String>,
    /// The form token of the last page that had one.
    pub csrf: String,
    /// The `Origin` sent with forms.
    pub origin: String,
}

impl Browser {
    pub fn new(url: &str) -> Browser {
        let http = reqwest::Client::builder().redirect(Policy::none()).build().expect("a client");
        Browser {
            http,
            url: url.to_owned(),
            cookies: BTreeMap::new(),
            csrf: String::new(),
            origin: url.to_owned(),
        }
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        let call = self.http.get(format!("{}{path}", self.url));
        self.take(call).await
    }

    /// Refreshes a page, as its script does.
    pub async fn refresh(&mut self, path: &str) -> Answer {
        let call = self.http.get(format!("{}{path}", self.url)).header("x-corridor-refresh", "1");
        self.take(call).await
    }

    /// Sends a form with the token.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.csrf.clone();
        let fields: Vec<(&str, &str)> =
            fields.iter().copied().chain([("csrf", token.as_str())]).collect();
        self.post_bare(path, &fields).await
    }

    /// Sends a form unchanged.
    pub async fn post_bare(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let call = self.form(path, fields);
        self.take(call).await
    }

    /// The same, naming the page of the form.
    pub async fn post_from(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let call = self.form(path, fields).header("referer", format!("{}{page}", self.url));
        self.take(call).await
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let call = self.http.post(format!("{}{path}", self.url)).header("origin", &self.origin);
        call.header("content-type", "application/x-www-form-urlencoded").body(pairs.join("&"))
    }

    /// Opens the form and enters name and password.
    pub async fn sign_in(&mut self, login: &str, password: &str) -> Answer {
        self.get("/console/login").await;
        self.post("/console/login", &[("login", login), ("password", password)]).await
    }

    async fn take(&mut self, call: reqwest::RequestBuilder) -> Answer {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = call.header("cookie", pairs.join("; ")).send().await.expect("an answer");
        for cookie in answer.headers().get_all("set-cookie") {
            let text = cookie.to_str().expect("text");
            let (name, value) =
                text.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let answer = Answer { status, headers, text: answer.text().await.expect("text") };
        if let Some(token) = answer.between(r#"name="csrf" value=""#, "\"") {
            self.csrf = token.to_owned();
        }
        answer
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
