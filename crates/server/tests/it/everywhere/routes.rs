//! Unknown paths and methods.

use reqwest::Method;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    an_unknown_path_is_not_found
    another_method_is_not_allowed
    a_path_that_is_not_text_is_reported_after_authentication
    a_browser_at_the_root_sees_three_doors_and_a_program_gets_an_error
    the_documentation_needs_no_token_and_holds_no_key_outside_of_a_sandbox
    what_is_served_is_of_release_2_and_stands_under_v2
}

async fn an_unknown_path_is_not_found(on: On) {
    let bank = Bank::new(on).await;
    for path in [
        "/",
        "/v2",
        "/v2/",
        "/v2/quotes",
        "/v2/quote/",
        "/v2/quote/1/2",
        "/v2/payment/1",
        "/v2/payments/1/2",
        "/V2/payments",
        "/v1/payments",
        "/v2/../v2/payments",
        "/v2//payments",
        "/v2/payments;x=1",
        "/wp-login.php",
    ] {
        for answer in
            [bank.get(path).send().await, bank.unsigned(Method::POST, path, None).send().await]
        {
            // The client resolves dot segments before sending.
            if path != "/v2/../v2/payments" {
                answer.refused(404, "not_found");
                let has_limit = answer.header("x-ratelimit-limit").is_some();
                assert_eq!(has_limit, path.starts_with("/v2"), "{path}");
            }
        }
    }
}

async fn another_method_is_not_allowed(on: On) {
    let bank = Bank::new(on).await;
    let id = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
    for (method, path, allow) in [
        (Method::GET, "/v2/quote".to_owned(), "POST"),
        (Method::PUT, "/v2/quote".to_owned(), "POST"),
        (Method::GET, "/v2/payment".to_owned(), "POST"),
        (Method::PATCH, "/v2/payment".to_owned(), "POST"),
        (Method::DELETE, format!("/v2/quote/{id}"), "GET,HEAD"),
        (Method::POST, format!("/v2/payments/{id}"), "GET,HEAD"),
        (Method::POST, "/v2/payments".to_owned(), "GET,HEAD"),
        (Method::POST, "/v2/events".to_owned(), "GET,HEAD"),
        (Method::TRACE, "/v2/events".to_owned(), "GET,HEAD"),
        (Method::POST, "/livez".to_owned(), "GET,HEAD"),
    ] {
        let answer = bank.call(method, &path, None).send().await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
        assert_eq!(answer.header("x-ratelimit-limit").is_some(), path.starts_with("/v2"), "{path}");
    }
}

async fn a_path_that_is_not_text_is_reported_after_authentication(on: On) {
    let bank = Bank::new(on).await;
    for path in [
        "/v2/payments/%ff?country=PAK",
        "/v2/quote/%c0%af?country=PAK",
        "/v2/payments/%ff?country=PAK&external=1",
    ] {
        let unsigned = bank.unsigned(Method::GET, path, None).send().await;
        unsigned.refused(401, "unauthorized");
        let answer = bank.get(path).send().await;
        assert_eq!(answer.fault_kinds(), ["path.id url_encoding"], "{path}");
        assert!(answer.header("x-ratelimit-limit").is_some(), "{path}");
        for told in [unsigned, answer] {
            assert_eq!(told.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    assert_eq!(bank.get("/nowhere").send().await.header("cache-control"), Some("no-store"));
}

async fn a_browser_at_the_root_sees_three_doors_and_a_program_gets_an_error(on: On) {
    let bank = Bank::new(on).await;
    let page =
        bank.unsigned(Method::GET, "/", None).header("accept", "text/html,*/*;q=0.8").send().await;
    assert_eq!((page.status, page.header("vary")), (200, Some("accept")));
    let shown = String::from_utf8_lossy(&page.body);
    for door in ["/docs/guides/first-call", "/docs/guides/going-live", "/docs/guides/senders"] {
        assert!(shown.contains(&format!("<h2><a href=\"{door}\">")), "{door}");
    }
    bank.unsigned(Method::GET, "/", None)
        .header("accept", "*/*")
        .send()
        .await
        .refused(404, "not_found");
}

async fn the_documentation_needs_no_token_and_holds_no_key_outside_of_a_sandbox(on: On) {
    let bank = Bank::new(on).await;
    for (path, words) in [
        ("/docs/payment/createQuote", "env(<i>\"ACCESS_KEY\"</i>)"),
        ("/docs/payment/createQuote.py", "env(\"ACCESS_KEY\")"),
        ("/docs/payment/createQuote.md", "POST `/v2/quote`"),
        ("/docs/search?q=how+do+i+sign", "<li><a href=\"/docs/signing\">Signing</a>"),
        ("/docs/search?q=%ff", "<h1>Search</h1>"),
        ("/llms.txt", "(/docs/signing.md)"),
    ] {
        let page = bank.unsigned(Method::GET, path, None).send().await;
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("connect-src 'none'"), "{path}: {policy}");
        assert_eq!((page.status, page.header("cache-control")), (200, Some("no-cache")), "{path}");
        let shown = String::from_utf8_lossy(&page.body).replace("&quot;", "\"");
        assert!(shown.contains(words), "{path}: {shown}");
    }
    let icon = bank.unsigned(Method::GET, "/favicon.ico", None).send().await;
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
}

/// Specification, "Versions": 2.0.0 is the first release of v2. Its operations exist under its own
/// prefix and under no other.
async fn what_is_served_is_of_release_2_and_stands_under_v2(on: On) {
    let bank = Bank::new(on).await;
    let document = bank.unsigned(Method::GET, "/openapi/payment.json", None).send().await.ok();
    let version: Vec<&str> = document["info"]["version"].text().split('.').collect();
    assert!(version.len() == 3 && version[0] == "2", "{version:?}");
    let paths = document["paths"].names();
    for brought in ["/v2/quote", "/v2/payment", "/v2/payments/{id}"] {
        assert!(paths.contains(&brought), "{brought}");
    }
    for path in paths {
        let rest = path.strip_prefix("/v2/").expect(path).replace("{id}", "none");
        let ask =
            |version: &str| bank.call(Method::TRACE, &format!("/{version}/{rest}"), None).send();
        ask("v2").await.refused(405, "method_not_allowed");
        for other in ["v1", "v3"] {
            ask(other).await.refused(404, "not_found");
        }
    }
}
