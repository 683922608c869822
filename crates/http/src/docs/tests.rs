//! The pages: served paths, no external content, no dead links, and nothing secret outside of a
//! sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use serde_json::Value;
use tower::ServiceExt as _;

use super::assets::{ASSETS, SIGNING_SCRIPT_PATH, TOKENS_PATH, TRY_PATH};
use super::guides::{GUIDES, REFERENCE};
use super::pages::{Pages, of_service};
use super::*;

fn keys() -> SandboxKeys {
    SandboxKeys {
        base_url: "http://127.0.0.1:8480".to_owned(),
        access_key: "demo-test_pay-ACCESS".to_owned(),
        secret_key: "cGF5LXNlY3JldA==".to_owned(),
        wallet_access_key: "demo-test_wallet-ACCESS".to_owned(),
        wallet_secret_key: "d2FsbGV0LXNlY3JldA==".to_owned(),
        wallet_id: "0197ce3c-0000-7000-8000-000000000001".to_owned(),
    }
}

fn sandbox() -> Arc<Site> {
    let site = Site::default();
    site.fill_in(keys());
    Arc::new(site)
}

async fn got_of(site: &Arc<Site>, path: &str) -> (http::response::Parts, String) {
    let routes = router(site.clone()).merge(openapi::router(&[domain::country::Country::Pak], &[]));
    let routes = routes.route("/", axum::routing::get(landing).with_state(site.clone()));
    let request =
        Request::get(path).header("accept", "text/html").body(Body::empty()).expect("a request");
    let (parts, body) = routes.oneshot(request).await.expect("an answer").into_parts();
    let body = axum::body::to_bytes(body, 4 * 1024 * 1024).await.expect("a body");
    (parts, String::from_utf8_lossy(&body).into_owned())
}

async fn got(path: &str) -> (http::response::Parts, String) {
    got_of(&Arc::new(Site::default()), path).await
}

fn pages_of(keys: Option<&SandboxKeys>) -> Pages {
    Pages::render(keys).expect("the documents are JSON")
}

#[tokio::test]
async fn documents_and_assets_are_served() {
    for service in SERVICES {
        let (parts, body) = got(service.document_path).await;
        assert_eq!(
            (parts.status.as_u16(), &parts.headers["content-type"]),
            (200, &"application/json".parse().expect("a value"))
        );
        assert_eq!(body, service.document);
    }
    for asset in ASSETS {
        let (parts, body) = got(asset.path).await;
        assert_eq!(
            (parts.status.as_u16(), parts.headers["content-type"].to_str().expect("text")),
            (200, asset.content_type)
        );
        assert_eq!(body, String::from_utf8_lossy(asset.body), "{}", asset.path);
    }
    let (parts, _) = got("/favicon.ico").await;
    assert_eq!(parts.headers["content-type"], "image/svg+xml");
    let (parts, _) = got("/docs/none").await;
    assert_eq!(parts.status, 404);
}

#[tokio::test]
async fn a_trailing_slash_redirects_to_the_address_without_it() {
    for (path, to) in [
        ("/docs/", "/docs"),
        ("/docs/payment/", "/docs/payment"),
        ("/docs/guides/first-call/", "/docs/guides/first-call"),
        ("/docs/signing//?a=1&b=2", "/docs/signing?a=1&b=2"),
    ] {
        let (parts, _) = got(path).await;
        let location = parts.headers["location"].to_str().expect("text");
        assert_eq!((parts.status.as_u16(), location), (308, to), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_page_is_html_for_browsers_and_json_for_others() {
    let site = Arc::new(Site::default());
    for path in ["/docs/guides", "/docs/reference", "/docs/nope", "/docs/nope.md"] {
        let (parts, body) = got_of(&site, path).await;
        let content_type = parts.headers["content-type"].to_str().expect("text");
        assert_eq!(
            (parts.status.as_u16(), content_type),
            (404, "text/html; charset=utf-8"),
            "{path}"
        );
        assert!(body.contains("<h1>Page not found</h1>") && body.contains("role=\"search\""));
        check_markup(path, &body);
        for accept in ["*/*", "application/json"] {
            let request =
                Request::get(path).header("accept", accept).body(Body::empty()).expect("a request");
            let response = router(site.clone()).oneshot(request).await.expect("an answer");
            let content_type = response.headers()["content-type"].to_str().expect("text");
            assert_eq!(
                (response.status().as_u16(), content_type),
                (404, "application/json"),
                "{path} {accept}"
            );
        }
    }
}

#[test]
fn every_operation_has_a_page_with_samples_in_seven_languages() {
    let pages = pages_of(None);
    let index = &pages.by_path["/docs"].html;
    for service in SERVICES {
        let overview = &pages.by_path[service.page_path].html;
        let document: Value = serde_json::from_str(service.document).expect("JSON");
        for (path, item) in document["paths"].as_object().expect("an object") {
            for operation in item.as_object().expect("an object").values() {
                let id = operation["operationId"].as_str().expect("an id");
                let address = format!("{}/{id}", service.page_path);
                for listing in [index, overview] {
                    assert!(listing.contains(&format!("href=\"{address}\"")), "{address}");
                }
                assert!(overview.contains(&format!("id=\"{id}\"")), "{address}");
                let page = &pages.by_path[&address].html;
                assert!(page.contains(&format!("<code>{path}</code>")), "{address}");
                let samples = page.matches(" data-l=\"").count();
                let programs =
                    pages.programs.keys().filter(|known| known.starts_with(&format!("{address}.")));
                assert_eq!((samples, programs.count()), (7, 7), "{address}");
            }
        }
    }
}

#[test]
fn the_samples_of_the_two_calls_of_the_snippets_are_the_snippets() {
    let pages = pages_of(None);
    for snippet in &snippets::SNIPPETS {
        let (file, text) = snippet.sign;
        let extension = file.rsplit('.').next().expect("an extension");
        let quote = &pages.programs[&format!("/docs/payment/createQuote.{extension}")];
        let wallet = &pages.programs[&format!("/docs/wallet/getWallet.{extension}")];
        // Its functions stand unchanged before the call.
        let functions = text.split("POST: the claim").next().expect("functions");
        for program in [quote, wallet] {
            assert!(program.starts_with(functions), "{file}: {program}");
        }
        assert!(quote.contains("/v2/quote") && !quote.contains("WALLET_"), "{file}: {quote}");
        let id = format!("/v1/sdk/wallets/{}", samples::EXAMPLE_WALLET);
        assert!(wallet.contains(&id) && wallet.contains("wallet_manager"), "{file}: {wallet}");
    }
}

#[test]
fn a_sample_carries_the_claims_of_its_service() {
    let pages = pages_of(None);
    for snippet in &snippets::SNIPPETS {
        let extension = snippet.sign.0.rsplit('.').next().expect("an extension");
        let call = |path: &str| {
            let program = &pages.programs[&format!("{path}.{extension}")];
            let at = program.find("POST: the claim").or_else(|| program.find("GET: no body"));
            program[at.expect("a call")..].to_owned()
        };
        let read = call("/docs/payment/getPayment");
        assert!(read.contains("?country=PAK"), "{read}");
        for of_wallets in ["wallet_manager", "WALLET_", "wallets", "roles"] {
            assert!(!read.contains(of_wallets), "{extension}: {of_wallets}: {read}");
        }
        let created = call("/docs/wallet/createOrder");
        assert!(created.contains("/v1/sdk/orders") && created.contains("hmac"), "{created}");
        assert!(created.contains("wallet_manager") && created.contains("EXCHANGE"), "{created}");
        for of_payments in ["/v2/quote", "\"ACCESS_KEY", "'ACCESS_KEY", "$CORRIDOR_ACCESS"] {
            assert!(!created.contains(of_payments), "{extension}: {of_payments}: {created}");
        }
        let paid = call("/docs/payment/createPayment");
        assert!(paid.contains("PK36SCBL0000001123456702"), "{extension}: {paid}");
    }
}

#[test]
fn the_pages_show_every_schema_and_error() {
    let pages = pages_of(None);
    for service in SERVICES {
        let objects = &pages.by_path[&format!("{}/objects", service.page_path)].html;
        let document: Value = serde_json::from_str(service.document).expect("JSON");
        for (name, schema) in document["components"]["schemas"].as_object().expect("an object") {
            let is_object = schema.get("properties").or_else(|| schema.get("oneOf")).is_some();
            assert_eq!(objects.contains(&format!("id=\"{name}\"")), is_object, "{name}");
        }
        let webhooks = &pages.by_path[&format!("{}/webhooks", service.page_path)].html;
        for name in document["webhooks"].as_object().expect("an object").keys() {
            assert!(webhooks.contains(&format!("id=\"{name}\"")), "{name}");
        }
    }
}

/// Nothing external is loaded or run, every element is closed, and no id stands there twice.
fn check_markup(path: &str, page: &str) {
    let mut page = page.to_owned();
    for script in [assets::SCRIPT_PATH, TOKENS_PATH, SIGNING_SCRIPT_PATH, TRY_PATH] {
        page = page.replace(&format!("<script src=\"{script}\" defer></script>"), "");
    }
    for forbidden in [
        "<script",
        "<img",
        "<iframe",
        " style=",
        " onclick",
        "href=\"http:",
        " src=",
        "<form method",
        "<th></th>",
    ] {
        assert!(!page.contains(forbidden), "{path}: {forbidden}");
    }
    let opened = |tag: &str| {
        page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count()
    };
    for tag in [
        "section", "article", "div", "figure", "table", "tr", "td", "p", "code", "pre", "details",
        "summary", "a", "ul", "li", "dl", "dt", "dd", "main", "nav", "body", "span",
    ] {
        assert_eq!(opened(tag), page.matches(&format!("</{tag}>")).count(), "{path}: {tag}");
    }
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{path}: an id stands there twice");
}

#[test]
fn a_documents_text_never_becomes_markup() {
    let hostile = r#"{"info":{"title":"<script>","summary":"<i>","version":"\"'&"},"tags":[{"name":"<u>"}],
        "paths":{"/<b>":{"post":{"operationId":"a\" onclick=\"x","tags":["<u>"],"summary":"<i>","description":"`<u>`",
        "requestBody":{"content":{"a":{"examples":{"a":{"summary":"<i>","value":{"<b>":"</code><b>'`\"\\"}}}}}}}}}}"#;
    let described = Described { document: hostile, ..SERVICES[0] };
    let (mut pages, mut programs) = (Vec::new(), BTreeMap::new());
    of_service(&described, Some(&keys()), &mut pages, &mut programs).expect("JSON");
    assert_eq!((pages.len(), programs.len()), (4, 7));
    for page in pages {
        for forbidden in ["<script>", "<i></", "<i> ", "<u>", "/<b>", "<b>'", "\" onclick"] {
            assert!(!page.html.contains(forbidden), "{forbidden}: {}", page.html);
        }
    }
}

#[tokio::test]
async fn every_page_is_whole_and_every_link_leads_somewhere() {
    for site in [Arc::new(Site::default()), sandbox()] {
        let rendered = site.pages();
        let mut pages: BTreeMap<&str, &str> = rendered
            .by_path
            .iter()
            .map(|(path, page)| (path.as_str(), page.html.as_str()))
            .collect();
        let (_, landing) = got_of(&site, "/").await;
        let (_, found) = got_of(&site, "/docs/search?q=sign").await;
        pages.extend([("/", landing.as_str()), (SEARCH_PATH, found.as_str())]);
        let ids = |page: &str| -> BTreeSet<String> {
            let ids = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
            ids.map(str::to_owned).collect()
        };
        let ids: BTreeMap<&str, BTreeSet<String>> =
            pages.iter().map(|(path, page)| (*path, ids(page))).collect();
        let mut followed = BTreeSet::new();
        for (path, page) in &pages {
            check_markup(path, page);
            let is_whole = page.contains("<main id=\"main\">") && page.matches("<h1").count() == 1;
            assert!(is_whole, "{path}");
            for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let (to, anchor) =
                    link.split_once('#').map_or((link, None), |(to, anchor)| (to, Some(anchor)));
                let to = if to.is_empty() { path } else { to };
                // The same links stand in every page's navigation.
                if !followed.insert((to, anchor)) {
                    continue;
                }
                if let Some(ids) = ids.get(to) {
                    let there = anchor.is_none_or(|id| ids.contains(id));
                    assert!(there, "{path}: {link} leads nowhere");
                } else if !to.starts_with("https://") && to != "/console" {
                    let (parts, _) = got_of(&site, to).await;
                    assert_eq!(parts.status, 200, "{path}: {link} leads nowhere");
                }
            }
        }
        for path in rendered.by_path.keys().filter(|path| *path != "/docs") {
            assert!(pages["/docs"].contains(&format!("href=\"{path}\"")), "/docs lacks {path}");
        }
    }
}

#[tokio::test]
async fn every_page_is_plain_markdown_as_well() {
    let site = Arc::new(Site::default());
    let (parts, llms) = got_of(&site, "/llms.txt").await;
    assert_eq!(parts.headers["content-type"], "text/plain; charset=utf-8");
    for (path, page) in &site.pages().by_path {
        let address = format!("{path}.md");
        assert!(llms.contains(&format!("({address})")), "{address}");
        let (parts, markdown) = got_of(&site, &address).await;
        assert_eq!(parts.headers["content-type"], "text/markdown; charset=utf-8", "{address}");
        assert!(
            markdown.starts_with("# ") || path.contains("/reference/"),
            "{address}: {markdown}"
        );
        // A title may contain code.
        assert!(markdown.replace('`', "").contains(&page.title), "{address}: {markdown}");
        let outside: String = markdown.split("```").step_by(2).collect();
        for tag in ["<p>", "<code", "<div", "<a ", "<span", "&lt;"] {
            assert!(!outside.contains(tag), "{address}: {tag}");
        }
        assert_eq!(markdown.matches("\n```").count() % 2, 0, "{address}: an open block");
        for link in
            markdown.split("](/docs").skip(1).filter_map(|rest| rest.split([')', '#']).next())
        {
            let (parts, _) = got_of(&site, &format!("/docs{link}")).await;
            assert_eq!(parts.status, 200, "{address}: /docs{link}");
        }
    }
    let (_, quote) = got_of(&site, "/docs/payment/createQuote.md").await;
    for part in [
        "POST `/v2/quote`",
        "# Create a quote for one payment\n",
        "\n## Body\n\n- `country` (",
        ", required): ",
        "```python\n",
    ] {
        assert!(quote.contains(part), "{part:?}: {quote}");
    }
}

/// Why a link in the Markdown of the page at `path` leads nowhere.
async fn dead_end(site: &Arc<Site>, path: &str, link: &str) -> Option<String> {
    let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
    let to = if to.is_empty() { format!("{path}.md") } else { to.to_owned() };
    if !to.starts_with('/') {
        return Some(format!("{path}.md: {link} is relative"));
    }
    let (parts, body) = got_of(site, &to).await;
    if parts.status != 200 {
        return Some(format!("{path}.md: {link}: {}", parts.status));
    }
    let has_anchor = markdown::headings(&body).iter().any(|heading| heading.id == anchor);
    (!anchor.is_empty() && !has_anchor).then(|| format!("{path}.md: {link} has no such heading"))
}

#[tokio::test]
async fn every_link_of_the_markdown_leads_somewhere() {
    use pulldown_cmark::{Event, Tag};

    let site = Arc::new(Site::default());
    let mut followed = BTreeSet::new();
    for (path, page) in &site.pages().by_path {
        for event in markdown::parser(&page.markdown) {
            let Event::Start(Tag::Link { dest_url: link, .. }) = event else { continue };
            let from = if link.starts_with('#') { path.as_str() } else { "" };
            if link.starts_with("https://") || !followed.insert((from, link.to_string())) {
                continue;
            }
            assert_eq!(dead_end(&site, path, &link).await, None);
        }
    }
    let (own, of_others): (Vec<_>, Vec<_>) =
        followed.iter().partition(|(from, _)| !from.is_empty());
    let with_anchors = of_others.iter().filter(|(_, link)| link.contains('#')).count();
    assert!(
        own.len() > 3 && with_anchors > 30 && of_others.len() > 100,
        "{} {with_anchors} {}",
        own.len(),
        of_others.len()
    );
}

#[tokio::test]
async fn a_link_of_the_markdown_that_leads_nowhere_is_seen() {
    let site = Arc::new(Site::default());
    for link in [
        "/docs/runbook.md",
        "/CHANGELOG.md",
        "runbook.md",
        "#none",
        "/docs/guides/keys.md#none",
        "/docs/signing.md#csharp",
    ] {
        assert!(dead_end(&site, "/docs/guides/keys", link).await.is_some(), "{link}");
    }
    for link in ["#access-keys", "/docs/guides/keys.md#access-keys", "/openapi/payment.json"] {
        assert_eq!(dead_end(&site, "/docs/guides/keys", link).await, None);
    }
}

#[test]
fn every_link_between_files_of_the_guides_leads_to_a_file() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for guide in GUIDES.iter().chain(REFERENCE) {
        let directory = root.join(guide.file).parent().expect("a directory").to_owned();
        let targets = guide.markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in
            targets.filter(|target| !target.starts_with("https://") && !target.starts_with('#'))
        {
            let file = target.split('#').next().unwrap_or_default();
            assert!(directory.join(file).exists(), "{}: {target}", guide.file);
        }
    }
}

#[tokio::test]
async fn the_signing_helper_cannot_send_data() {
    for site in [Arc::new(Site::default()), sandbox()] {
        let (parts, page) = got_of(&site, SIGNING_PATH).await;
        let policy = parts.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("connect-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("form-action 'none'"), "{policy}");
        assert!(!page.contains("<form") && !page.contains(TRY_PATH));
        let noscript = page
            .split("<noscript>")
            .nth(1)
            .and_then(|rest| rest.split("</noscript>").next())
            .expect("a recipe");
        assert!(noscript.contains("openssl dgst") && noscript.contains("curl"), "{noscript}");
    }
    const SENDING: [&str; 7] = [
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
        "WebSocket",
        "EventSource",
        "innerHTML",
        "eval(",
    ];
    for path in [assets::SCRIPT_PATH, TOKENS_PATH, SIGNING_SCRIPT_PATH] {
        let (_, script) = got(path).await;
        for forbidden in SENDING {
            assert!(!script.contains(forbidden), "{path}: {forbidden}");
        }
        let stores = script.contains("Storage") || script.contains("cookie");
        assert_eq!(stores, path == assets::SCRIPT_PATH, "{path}");
    }
}

#[tokio::test]
async fn keys_and_trying_are_only_in_a_sandbox() {
    let SandboxKeys { access_key, secret_key, wallet_access_key, wallet_secret_key, .. } = keys();
    let (plain, filled) = (Arc::new(Site::default()), sandbox());
    for (path, access, secret) in [
        ("/docs/payment/createQuote", &access_key, &secret_key),
        ("/docs/wallet/createOrder", &wallet_access_key, &wallet_secret_key),
        ("/docs/wallet/getWallet", &wallet_access_key, &wallet_secret_key),
    ] {
        let (parts, page) = got_of(&plain, path).await;
        assert_eq!(parts.headers["cache-control"], "no-cache");
        let policy = &parts.headers["content-security-policy"];
        assert!(policy.to_str().expect("text").contains("connect-src 'none'"), "{policy:?}");
        for secret in [access.as_str(), secret, TRY_PATH, "id=\"try\""] {
            assert!(!page.contains(secret), "{path}: {secret}");
        }
        let (parts, page) = got_of(&filled, path).await;
        assert_eq!(parts.headers["cache-control"], "no-store");
        let policy = &parts.headers["content-security-policy"];
        assert!(policy.to_str().expect("text").contains("connect-src 'self'"), "{policy:?}");
        // In each language, and in the form that tries the operation.
        assert!(page.matches(&format!("<mark>{access}</mark>")).count() >= 7, "{path}");
        assert!(page.matches(&format!("<mark>{secret}</mark>")).count() >= 7, "{path}");
        assert!(page.contains(&format!("data-secret=\"{secret}\"")), "{path}");
        let (parts, program) = got_of(&filled, &format!("{path}.py")).await;
        assert_eq!(parts.headers["cache-control"], "no-store");
        assert!(program.contains(&format!("\"{access}\"")), "{program}");
        assert!(!program.contains(samples::EXAMPLE_WALLET), "{program}");
    }
    // Reading on must not end the sandbox's wallet for good.
    let (_, page) = got_of(&filled, "/docs/wallet/blacklistWallet").await;
    assert!(!page.contains(&keys().wallet_id), "{page}");
}

#[tokio::test]
async fn the_first_page_has_three_doors_and_no_version() {
    for site in [Arc::new(Site::default()), sandbox()] {
        let (parts, page) = got_of(&site, "/").await;
        assert_eq!(
            (parts.status.as_u16(), &parts.headers["vary"]),
            (200, &"accept".parse().expect("a value"))
        );
        assert_eq!(page.matches("<section class=\"door\">").count(), 3);
        assert!(!page.contains(env!("CARGO_PKG_VERSION")), "{page}");
        let is_sandbox = site.keys().is_some();
        assert_eq!(page.contains("/console"), is_sandbox);
    }
}
