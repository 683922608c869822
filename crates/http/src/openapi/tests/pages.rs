//! The pages: served paths, no external content, and no dead links.

use axum::body::Body;
use http::Request;
use serde_json::Value;
use tower::ServiceExt as _;

use super::*;

async fn got(path: &str) -> (http::response::Parts, String) {
    let request = Request::get(path).body(Body::empty()).expect("a request");
    let (parts, body) = router().oneshot(request).await.expect("an answer").into_parts();
    let body = axum::body::to_bytes(body, 1024 * 1024).await.expect("a body");
    (parts, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

#[tokio::test]
async fn the_documents_and_their_pages_are_served() {
    for service in SERVICES {
        let (parts, body) = got(service.document_path).await;
        assert_eq!(
            (parts.status.as_u16(), &parts.headers["content-type"]),
            (200, &"application/json".parse().expect("a value"))
        );
        assert_eq!(body, service.document);
        let (parts, page) = got(service.page_path).await;
        assert_eq!(parts.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(parts.headers["content-security-policy"], CONTENT_SECURITY_POLICY);
        assert!(page.contains(&format!("<link rel=\"stylesheet\" href=\"{}\">", docs::STYLE_PATH)));
    }
    let (parts, style) = got(docs::STYLE_PATH).await;
    assert_eq!(
        (parts.headers["content-type"].to_str().expect("text"), style.as_str()),
        ("text/css; charset=utf-8", docs::STYLE)
    );
}

#[tokio::test]
async fn the_first_page_leads_to_every_operation_of_both_services() {
    let (_, index) = got("/docs").await;
    for service in SERVICES {
        let page = docs::page(&service).expect("JSON");
        let document: Value = serde_json::from_str(service.document).expect("JSON");
        assert!(index.contains(&format!("<a href=\"{}\">", service.document_path)));
        for (path, item) in document["paths"].as_object().expect("an object") {
            for operation in item.as_object().expect("an object").values() {
                let id = operation["operationId"].as_str().expect("an id");
                assert!(
                    index.contains(&format!("href=\"{}#{id}\"", service.page_path))
                        && index.contains(path)
                );
                assert!(
                    page.contains(&format!("<section id=\"{id}\">")) && page.contains(path),
                    "{id}"
                );
            }
        }
    }
    check_markup(&index);
}

#[test]
fn the_pages_tell_every_schema_and_error_and_load_nothing_from_elsewhere() {
    for service in SERVICES {
        let page = docs::page(&service).expect("JSON");
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!(" id=\"{target}\"")), "#{target} leads nowhere");
        }
        check_markup(&page);
    }
    let [payment, wallet] = SERVICES.map(|service| docs::page(&service).expect("JSON"));
    for code in ["quote_expired", "insufficient_balance", "external_id_conflict", "IFSC"] {
        assert!(payment.contains(code), "{code}");
    }
    for code in
        ["WALLET_EXISTS", "INSUFFICIENT_BALANCE", "usdc_contract_blacklist_applied", "sender_info"]
    {
        assert!(wallet.contains(code), "{code}");
    }
}

/// Nothing external is loaded or run, and every element is closed.
fn check_markup(page: &str) {
    let page =
        &page.replacen(&format!("<script src=\"{}\" defer></script>", docs::SCRIPT_PATH), "", 1);
    for forbidden in
        ["<script", "<img", "<iframe", " style=", " onclick", "href=\"http:", "src=", "<form"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let opened = |tag: &str| {
        page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count()
    };
    for tag in [
        "section", "table", "tr", "td", "p", "code", "pre", "details", "a", "ul", "li", "main",
        "body",
    ] {
        assert_eq!(opened(tag), page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_documents_text_never_becomes_markup() {
    let hostile = r#"{"info":{"title":"<script>","summary":"<i>","version":"\"'&"},"paths":{"/<b>":{"get":{"operationId":"a\" onclick=\"x","summary":"<i>","description":"`<u>`"}}}}"#;
    let service =
        Described { document: hostile, document_path: "/openapi/x.json", page_path: "/docs/x" };
    for page in [docs::page(&service).expect("JSON"), docs::index(&[service]).expect("JSON")] {
        for forbidden in ["<script>", "<i>", "<u>", "/<b>", "\" onclick"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}

/// Every served page by its path.
async fn pages() -> Vec<(String, String)> {
    let mut paths = vec!["/docs".to_owned(), docs::SIGNING_PATH.to_owned()];
    paths.extend(SERVICES.iter().map(|service| service.page_path.to_owned()));
    paths.extend(
        docs::GUIDES.iter().chain(&docs::REFERENCE).map(|guide| guide.page_path.to_owned()),
    );
    let mut pages = Vec::new();
    for path in paths {
        let (parts, body) = got(&path).await;
        assert_eq!(parts.status, 200, "{path}");
        assert_eq!(parts.headers["content-security-policy"], CONTENT_SECURITY_POLICY, "{path}");
        pages.push((path, body));
    }
    pages
}

#[tokio::test]
async fn every_page_is_whole_and_every_link_leads_somewhere() {
    let pages = pages().await;
    for (path, page) in &pages {
        check_markup(page);
        assert!(page.contains("<main id=\"main\">") && page.matches("<h1").count() == 1, "{path}");
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "{path}: an id stands there twice"
        );
        for target in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let (to, anchor) =
                target.split_once('#').map_or((target, None), |(to, anchor)| (to, Some(anchor)));
            let to = if to.is_empty() { path } else { to };
            let found = pages.iter().find(|(known, _)| known == to).map(|(_, body)| body);
            let elsewhere =
                to.starts_with("https://") || to.starts_with("/openapi/") || to == docs::STYLE_PATH;
            assert!(found.is_some() || elsewhere, "{path}: {target} leads nowhere");
            if let (Some(body), Some(anchor)) = (found, anchor) {
                assert!(
                    body.contains(&format!(" id=\"{anchor}\"")),
                    "{path}: {target} leads nowhere"
                );
            }
        }
    }
    let listed = &pages[0].1;
    for name in [
        "quote_expired",
        "WALLET_EXISTS",
        "wallet.blocked",
        "corridor_ledger_imbalance",
        "quote_ttl_s",
        "corridor ledger verify",
    ] {
        assert!(listed.contains(name), "a search does not find {name}");
    }
    for (path, _) in pages.iter().filter(|(path, _)| path != "/docs") {
        assert!(listed.contains(&format!("href=\"{path}\"")), "/docs does not lead to {path}");
    }
}

#[test]
fn every_link_between_files_of_the_guides_leads_to_a_file() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for guide in docs::GUIDES.iter().chain(&docs::REFERENCE) {
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
    assert!(
        CONTENT_SECURITY_POLICY
            .contains("default-src 'none'; connect-src 'none'; script-src 'self';")
    );
    assert!(CONTENT_SECURITY_POLICY.contains("form-action 'none'"));
    let (parts, script) = got(docs::SCRIPT_PATH).await;
    assert_eq!(parts.headers["content-type"], "text/javascript; charset=utf-8");
    for forbidden in [
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
        "WebSocket",
        "EventSource",
        "Storage",
        "cookie",
        "innerHTML",
        "eval(",
    ] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
    let (_, page) = got(docs::SIGNING_PATH).await;
    let noscript = page
        .split("<noscript>")
        .nth(1)
        .and_then(|rest| rest.split("</noscript>").next())
        .expect("a recipe");
    assert!(noscript.contains("openssl dgst") && noscript.contains("curl"), "{noscript}");
}
