//! A console user with a browser that follows no redirects, so that tests see each response.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use engine::console::NewUser;
use operator_console::password;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use service::clock::WallClock;

use crate::harness::WalletBank;
use crate::harness::service::Running;

const PASSWORD: &str = "seven paper lanterns";
static NUMBER: AtomicU32 = AtomicU32::new(0);

pub struct Officer {
    http: reqwest::Client,
    url: String,
    tag: String,
    pub csrf: String,
    cookies: Mutex<BTreeMap<String, String>>,
    pub login: String,
}

#[derive(Debug)]
pub struct Shown {
    pub status: u16,
    pub text: String,
    pub to: String,
    pub headers: HeaderMap,
}

impl Shown {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The page, with status 200 and without an id that stands twice: a live region would take the
    /// content of another.
    #[track_caller]
    pub fn page(self) -> String {
        assert_eq!(self.status, 200, "{self:?}");
        let ids = self.text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut known = BTreeSet::new();
        let twice: Vec<&str> = ids.filter(|id| !known.insert(*id)).collect();
        assert!(twice.is_empty(), "ids that stand twice: {twice:?}");
        self.text
    }

    /// The target of a form's redirect.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.status, 303, "{self:?}");
        self.to
    }

    #[track_caller]
    pub fn refused(self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        self.text
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

impl Officer {
    /// An officer of this bank.
    pub async fn of(bank: &WalletBank, roles: &[Role]) -> Officer {
        let scope = Scope::Tenant(bank.bank.tenant.id);
        Officer::sign_in(&bank.bank.running, &bank.bank.tenant.tag, scope, roles).await
    }

    /// A new officer, signed in, on the pages of the tenant with this tag.
    pub async fn sign_in(
        running: &Arc<Running>,
        tag: &str,
        scope: Scope,
        roles: &[Role],
    ) -> Officer {
        let login = format!("officer{}.{tag}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let salt = [7; password::SALT_BYTES];
        let new = NewUser {
            login: login.clone(),
            roles: roles.iter().copied().collect(),
            scope,
            password: tokio::task::spawn_blocking(move || password::hash(PASSWORD, salt))
                .await
                .expect("hashed"),
            password_is_initial: false,
            provider_name: None,
        };
        running.store().create_user(&new, WallClock.now(), "test").await.expect("a user");
        let http = reqwest::Client::builder().redirect(Policy::none()).build().expect("a client");
        let (url, tag) = (running.url.clone(), tag.to_owned());
        let mut officer =
            Officer { http, url, tag, csrf: String::new(), cookies: Mutex::default(), login };
        officer.enter().await;
        officer
    }

    async fn enter(&mut self) {
        let form = self.fetch("/console/login").await.page();
        self.csrf = self.token(&form);
        let form = [("login", self.login.as_str()), ("password", PASSWORD)];
        assert_eq!(self.send("/console/login", &form).await.done(), "/console");
        let page = self.get("/review").await.page();
        self.csrf = self.token(&page);
    }

    /// Signs out and in again, as in another tab; returns the token of the earlier session's pages.
    pub async fn sign_in_again(&mut self) -> String {
        let earlier = self.csrf.clone();
        self.send("/console/logout", &[]).await.done();
        self.enter().await;
        earlier
    }

    fn token(&self, page: &str) -> String {
        between(page, r#"name="csrf" value=""#, "\"").expect("a form's token").to_owned()
    }

    /// A page of the officer's bank.
    pub async fn get(&self, below: &str) -> Shown {
        self.fetch(&format!("/console/t/{}{below}", self.tag)).await
    }

    pub async fn fetch(&self, path: &str) -> Shown {
        self.answer(self.http.get(format!("{}{path}", self.url))).await
    }

    /// Submits a form on a page of the officer's bank.
    pub async fn post(&self, below: &str, fields: &[(&str, &str)]) -> Shown {
        self.send(&format!("/console/t/{}{below}", self.tag), fields).await
    }

    /// The same, naming the page of the form as browsers do.
    pub async fn post_from(&self, page: &str, below: &str, fields: &[(&str, &str)]) -> Shown {
        let [page, path] = [page, below].map(|below| format!("/console/t/{}{below}", self.tag));
        self.submit(&path, fields, Some(&page)).await
    }

    /// A refresh of a page, as its script asks for it.
    pub async fn refresh(&self, below: &str, kind: &str) -> Shown {
        let call = self.http.get(format!("{}/console/t/{}{below}", self.url, self.tag));
        self.answer(call.header("x-corridor-refresh", kind)).await
    }

    /// Submits a form with a file on a page of the officer's bank.
    pub async fn upload(
        &self,
        below: &str,
        fields: &[(&str, &str)],
        (name, bytes): (&str, &[u8]),
    ) -> Shown {
        let mut body = Vec::new();
        for (field, value) in fields.iter().chain([&("csrf", self.csrf.as_str())]) {
            let part = format!(
                "--b0\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
            );
            body.extend(part.into_bytes());
        }
        let part = format!(
            "--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend(part.into_bytes());
        body.extend(bytes);
        body.extend(b"\r\n--b0--\r\n");
        let call = self.http.post(format!("{}/console/t/{}{below}", self.url, self.tag));
        let kind = "multipart/form-data; boundary=b0";
        self.answer(call.header("origin", &self.url).header("content-type", kind).body(body)).await
    }

    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.submit(path, fields, None).await
    }

    /// As [`Officer::send`], naming the page of the form.
    pub async fn submit_from(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.submit(path, fields, Some(page)).await
    }

    async fn submit(&self, path: &str, fields: &[(&str, &str)], page: Option<&str>) -> Shown {
        let token = ("csrf", self.csrf.as_str());
        let pairs: Vec<String> = fields
            .iter()
            .chain([&token])
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        let call = self
            .http
            .post(format!("{}{path}", self.url))
            .header("origin", &self.url)
            .body(pairs.join("&"));
        let call = match page {
            Some(page) => call.header("referer", format!("{}{page}", self.url)),
            None => call,
        };
        self.answer(call.header("content-type", "application/x-www-form-urlencoded")).await
    }

    async fn answer(&self, call: reqwest::RequestBuilder) -> Shown {
        let cookies = {
            let kept = self.cookies.lock().expect("not poisoned");
            kept.iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join("; ")
        };
        let answer = call.header("cookie", cookies).send().await.expect("an answer");
        for cookie in answer.headers().get_all("set-cookie") {
            let text = cookie.to_str().expect("text");
            let (name, value) =
                text.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            let mut kept = self.cookies.lock().expect("not poisoned");
            kept.insert(name.to_owned(), value.to_owned());
        }
        let status = answer.status().as_u16();
        let to = answer
            .headers()
            .get("location")
            .map(|to| to.to_str().expect("text").to_owned())
            .unwrap_or_default();
        let headers = answer.headers().clone();
        let bytes = answer.bytes().await.expect("a body");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Shown { status, to, headers, text }
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
