//! Webhooks and keys: deliveries, resending, endpoints, secrets that are shown once.

use domain::user::Role;
use reqwest::Method;

use super::Officer;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    a_delivery_shows_every_try_and_is_sent_again
    what_a_switched_off_receiver_missed_is_recovered
    an_example_reaches_the_receiver
    another_endpoint_requires_two_users_and_a_secret_is_shown_once
    a_key_is_made_used_and_revoked
    another_banks_key_is_out_of_reach
}

/// The latest delivery of a wallet's block event, once it was attempted this often.
async fn delivered(bank: &WalletBank, tries: i32) -> String {
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let filter = store::DeliveryFilter::default();
    let newest = || async {
        let page = store::Page { page: 0, limit: 1 };
        let found = store.deliveries(tenant, &filter, page).await.expect("read");
        found.rows.into_iter().next().map(|record| record.delivery)
    };
    let there = || async {
        newest().await.is_some_and(|it| it.attempts >= tries && it.delivered_at.is_some())
    };
    assert!(
        testkit::wait::until_async(testkit::wait::AT_MOST, there).await,
        "{:?}",
        newest().await
    );
    newest().await.expect("there").event.to_string()
}

async fn block(bank: &WalletBank, customer: &str) -> String {
    let wallet = bank.in_use(customer).await;
    let order = r#"{"reason":"PENDING_INVESTIGATION","details":"A test"}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), order).send().await.ok();
    wallet
}

async fn a_delivery_shows_every_try_and_is_sent_again(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    let page = officer.get("/webhooks").await.page();
    assert!(page.contains("No deliveries yet.") && page.contains("Last 24 hours"), "{page}");
    assert!(!page.contains("<svg viewBox=\"0 0 2400 1000\""), "nothing to draw: {page}");
    let wallet = block(&bank, "delivery").await;
    let event = delivered(&bank, 1).await;
    let listed = officer.get("/webhooks?status=delivered&event=wallet.blocked").await.page();
    assert!(listed.contains(&event) && listed.contains(&bank.receiver.url()), "{listed}");
    assert!(officer.get("/webhooks?status=dead").await.page().contains("No deliveries match."));
    assert!(
        officer.get("/webhooks?until=2020-01-01").await.page().contains("No deliveries match.")
    );
    officer.get("/webhooks?from=yesterday").await.refused(422);
    // The same numbers as figures, bars and a table.
    for shown in [
        "<h3>At the first attempt</h3><p class=\"big\">100.0 %</p>",
        "aria-label=\"Deliveries by hour, events an hour (UTC)\"",
        "<caption class=\"unseen\">Deliveries by hour</caption>",
        "\nAt the first attempt: 1</title>",
    ] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
    let narrow = officer.get("/webhooks?status=delivered&hide=3").await.page();
    assert!(!narrow.contains("<th scope=\"col\">Attempts"), "{narrow}");
    let file = "/webhooks/deliveries/export.csv?status=delivered&#38;hide=3\">Download as CSV";
    assert!(narrow.contains(file), "{narrow}");
    let file = officer.get("/webhooks/deliveries/export.csv?status=delivered&hide=3").await.page();
    let mut lines = file.lines();
    let head = "event_id,event,status,created_at,next_attempt_at,delivered_at,last_status,last_failure,sequence";
    assert_eq!(lines.next(), Some(head));
    assert!(
        lines.any(|line| line.starts_with(&format!("{event},wallet.blocked,delivered,"))),
        "{file}"
    );
    let none = officer.get("/webhooks/deliveries/export.csv?status=dead").await.page();
    assert_eq!(none.lines().count(), 1);
    let path = format!("/webhooks/deliveries/{event}");
    let page = officer.get(&path).await.page();
    for shown in ["wallet.blocked", &wallet, "PENDING_INVESTIGATION", "received", "200"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    officer.post(&format!("{path}/resend"), &[("why", "lost by the bank")]).await.done();
    assert_eq!(delivered(&bank, 2).await, event);
    let page = officer.get(&path).await.page();
    assert_eq!(page.matches("<span class=\"state good\">received</span>").count(), 2, "{page}");
}

async fn what_a_switched_off_receiver_missed_is_recovered(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Admin]).await;
    officer.post("/webhooks/disable", &[("why", "maintenance")]).await.done();
    officer.post("/webhooks/disable", &[("why", "maintenance")]).await.refused(409);
    let wallet = block(&bank, "missed").await;
    let missed = || async {
        officer.get("/webhooks?status=disabled").await.page().contains("wallet.blocked")
    };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, missed).await);
    assert!(officer.get("/webhooks").await.page().contains("maintenance"));
    let since = [("since", "2020-01-01"), ("why", "over")];
    let refused = officer.post("/webhooks/recover", &since).await.refused(409);
    assert!(refused.contains("Webhooks are off, so nothing would be sent"), "{refused}");
    officer.post("/webhooks/enable", &[]).await.done();
    officer.post("/webhooks/recover", &[("since", "soon"), ("why", "over")]).await.refused(422);
    officer.post("/webhooks/recover", &[("since", "2020-01-01"), ("why", "over")]).await.done();
    assert_eq!(bank.webhooks(&wallet, 1).await, ["wallet.blocked"]);
    delivered(&bank, 1).await;
}

async fn an_example_reaches_the_receiver(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    let page = officer.post("/webhooks/example", &[("event", "transfer.complete")]).await.page();
    assert!(
        page.contains("transfer.complete") && page.contains("received") && page.contains("EXAMPLE"),
        "{page}"
    );
    let taken = bank.receiver.book();
    assert!(
        taken.entries().iter().any(|entry| entry.event_type == "transfer.complete"),
        "{taken:?}"
    );
    assert!(
        officer.get("/webhooks").await.page().contains("No deliveries yet."),
        "nothing of it is kept"
    );
    officer.post("/webhooks/example", &[("event", "nothing")]).await.refused(422);
}

async fn another_endpoint_requires_two_users_and_a_secret_is_shown_once(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Admin, Role::Approver]).await;
    let url = bank.receiver.url();
    for wrong in ["", "gopher://bank.example", "http://user:secret@127.0.0.1/"] {
        officer.post("/webhooks/url", &[("url", wrong), ("why", "moved")]).await.refused(422);
    }
    officer.post("/webhooks/url", &[("url", &url), ("why", "moved")]).await.refused(409);
    let to = officer
        .post("/webhooks/url", &[("url", "http://127.0.0.1:9/new"), ("why", "moved")])
        .await
        .done();
    assert!(to.starts_with("/console/approvals/"), "{to}");
    let kept = || async {
        bank.bank.running.store().webhook(bank.bank.tenant.id).await.expect("read").expect("there")
    };
    assert_eq!(kept().await.url, url, "nothing happens by one person");
    officer.post("/webhooks/rotate", &[("hours", "-1"), ("why", "yearly")]).await.refused(422);
    let shown =
        officer.post("/webhooks/rotate", &[("hours", "24"), ("why", "yearly")]).await.page();
    let secret = shown
        .split_once("whsec_")
        .and_then(|(_, rest)| rest.split_once('<'))
        .expect("a secret")
        .0
        .to_owned();
    assert_eq!(kept().await.secrets.len(), 2, "both sign");
    assert!(!officer.get("/webhooks").await.page().contains(&secret), "it is shown once");
}

fn between(text: &str, before: &str) -> String {
    let found = text
        .split_once(before)
        .and_then(|(_, rest)| rest.split_once("class=\"id\">"))
        .expect("an id")
        .1;
    found
        .split_once('<')
        .expect("its end")
        .0
        .replace("&#43;", "+")
        .replace("&#61;", "=")
        .replace("&#47;", "/")
}

async fn a_key_is_made_used_and_revoked(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Admin]).await;
    officer.post("/keys/create", &[("use", "bank")]).await.refused(422);
    let shown = officer.post("/keys/create", &[("use", "wallet")]).await.page();
    let (key, secret) = (between(&shown, "<dt>Access key"), between(&shown, "<dt>Secret key"));
    let listed = officer.get("/keys").await.page();
    assert!(listed.contains(&key) && !listed.contains(&secret), "{listed}");
    let works = async || {
        let url = &bank.bank.running.url;
        let minter = http_api::auth::mint::Minter::new(key.clone(), secret.as_bytes(), url);
        let now = domain::ports::Clock::now(&service::clock::WallClock);
        let grant = http_api::auth::mint::Grant {
            roles: &["wallet_manager"],
            ..http_api::auth::mint::Grant::new(now, 300)
        };
        let call = bank.bank.unsigned(Method::GET, "/v1/sdk/reviews", None);
        call.header("authorization", &minter.authorization(grant)).send().await.status
    };
    assert_eq!(works().await, 200);
    officer
        .post("/keys/networks", &[("key", &key), ("networks", "10.0.0.0/8 nonsense")])
        .await
        .refused(422);
    officer.post("/keys/networks", &[("key", &key), ("networks", "127.0.0.0/8")]).await.done();
    let changing = officer
        .get(&format!("/keys?key={}", key.replace('+', "%2B").replace('=', "%3D")))
        .await
        .page();
    assert!(
        changing.contains("Revoke permanently") && changing.contains("127.0.0.0/8"),
        "{changing}"
    );
    let rotated = officer.post("/keys/rotate", &[("key", &key)]).await.page();
    assert_ne!(between(&rotated, "<dt>Secret key"), secret);
    let mut too_soon = officer.post("/keys/rotate", &[("key", &key)]).await;
    for _ in 0..4 {
        if too_soon.status == 200 {
            too_soon = officer.post("/keys/rotate", &[("key", &key)]).await;
        }
    }
    let too_soon = too_soon.refused(409);
    assert!(too_soon.contains("rotate again after"), "{too_soon}");
    officer.post("/keys/suspend", &[("key", &key)]).await.done();
    assert!(officer.get("/keys").await.page().contains("suspended"));
    officer.post("/keys/resume", &[("key", &key)]).await.done();
    officer.post("/keys/revoke", &[("key", &key)]).await.done();
    for deed in ["revoke", "rotate", "suspend", "networks"] {
        officer.post(&format!("/keys/{deed}"), &[("key", &key)]).await.refused(409);
    }
    let refused = || async { works().await == 401 };
    assert!(
        testkit::wait::until_async(testkit::wait::AT_MOST, refused).await,
        "nodes keep keys for a moment"
    );
}

async fn another_banks_key_is_out_of_reach(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let officer = Officer::of(&bank, &[Role::Admin]).await;
    let theirs = &other.key.access_key;
    for deed in ["rotate", "networks", "suspend", "resume", "revoke"] {
        officer.post(&format!("/keys/{deed}"), &[("key", theirs)]).await.refused(404);
    }
    assert!(!officer.get("/keys").await.page().contains(theirs.as_str()));
    let kept = other.bank.running.store().key(theirs).await.expect("read").expect("there");
    assert!(kept.revoked_at.is_none() && !kept.suspended && kept.secrets.len() == 1);
}
