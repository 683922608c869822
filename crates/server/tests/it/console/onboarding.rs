//! A tenant's onboarding: the guided setup and the go-live checklist.

use std::collections::BTreeSet;

use domain::user::{Role, Scope};

use super::wallets::officer::Officer;
use crate::harness::{Bank, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_tenant_is_added_and_led_through_its_setup
    the_checklist_shows_what_is_so
    a_tenant_needs_a_name_and_a_free_tag
    setup_is_as_open_as_its_parts
}

const STEPS: [&str; 8] =
    ["tenant", "policy", "keys", "prefund", "webhooks", "corridors", "chain", "people"];

async fn head_office(bank: &Bank, roles: &[Role]) -> Officer {
    Officer::sign_in(&bank.running, &bank.tenant.tag, Scope::All, roles).await
}

/// A line of the checklist: its state and its facts.
fn line(page: &str, title: &str) -> (String, String) {
    // A link, if the user may open its page.
    let after = ["a", "span"]
        .iter()
        .find_map(|tag| page.split_once(&format!(">{title}</{tag}><p>")))
        .unwrap_or_else(|| panic!("no {title} in {page}"))
        .1;
    let (facts, rest) = after.split_once("</p>").expect("facts");
    let state = rest.split_once("class=\"state\">").expect("a state").1;
    (state.split_once('<').expect("its end").0.to_owned(), facts.to_owned())
}

async fn a_tenant_is_added_and_led_through_its_setup(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let admin = head_office(&bank, &[Role::Admin, Role::Auditor]).await;
    let form = [("name", "New Bank"), ("tag", "newbank"), ("coin", "USDT"), ("why", "agreement 7")];
    let first = admin.send("/console/tenants", &form).await.done();
    assert_eq!(first, "/console/t/newbank/setup/tenant");
    let log = admin.fetch("/console/audit?action=tenant.create").await.page();
    assert!(log.contains("created the tenant") && log.contains("agreement 7"), "{log}");
    let at = |below: &str| format!("/console/t/newbank{below}");
    // Each step leads to the next, and the last to the checklist.
    let mut path = first;
    for step in STEPS {
        assert_eq!(path, at(&format!("/setup/{step}")));
        let page = admin.fetch(&path).await.page();
        assert!(page.contains("aria-current=\"step\""), "{page}");
        let next = page.split_once("class=\"btn primary\" href=\"").expect("a next step").1;
        path = next.split_once('"').expect("its end").0.to_owned();
    }
    assert_eq!(path, at("/setup"));
    let page = admin.fetch(&path).await.page();
    assert_eq!(line(&page, "Key for payments").0, "missing");
    assert_eq!(line(&page, "Prefund above the low mark").0, "missing");
    assert!(page.contains(&format!("href=\"{}\">Continue with Keys", at("/setup/keys"))), "{page}");
    // A form of a step leads back to it, and what it made counts.
    let keys = admin.fetch(&at("/setup/keys")).await.page();
    assert!(keys.contains("name=\"step\" value=\"keys\""), "{keys}");
    let form = [("use", "pay"), ("step", "keys")];
    let shown = admin.send(&at("/keys/create"), &form).await.page();
    assert!(
        shown.contains(&format!("href=\"{}\">Back to the setup", at("/setup/keys"))),
        "{shown}"
    );
    let (state, facts) = line(&admin.fetch(&at("/setup")).await.page(), "Key for payments");
    assert!(state == "done" && facts.starts_with("1 active, the newest made "), "{state}: {facts}");
    let policy = [("countries", "PAK"), ("seen", "1"), ("why", "agreement 7"), ("step", "policy")];
    let to = admin.send(&at("/policy/propose"), &policy).await.done();
    assert_eq!(to, at("/setup/policy"));
    let page = admin.fetch(&to).await.page();
    assert!(page.contains("Waiting for approval") && page.contains("proposed by"), "{page}");
    assert_eq!(line(&page, "Policy agreed").0, "check");
    // A refused form comes back on its step.
    let wrong = [("step", "webhooks"), ("url", "gopher://x"), ("why", "x")];
    let page =
        admin.submit_from(&at("/setup/webhooks"), &at("/webhooks/url"), &wrong).await.refused(422);
    assert!(
        page.contains("aria-current=\"step\"") && page.contains("value=\"gopher://x\""),
        "{page}"
    );
    assert!(admin.fetch("/console/tenants").await.page().contains(&at("/setup")));
    admin.fetch(&at("/setup/nothing")).await.refused(404);
    drop(admin);
    bank.finish().await;
}

async fn the_checklist_shows_what_is_so(on: On) {
    let bank = WalletBank::new(on).await;
    let admin = Officer::of(&bank, &[Role::Admin]).await;
    let page = admin.get("/setup").await.page();
    for (title, state, fact) in [
        ("Brand", "not used", "the name alone"),
        ("Key for wallets", "done", "1 active"),
        ("Key for payments", "done", "1 active"),
        ("Endpoint answers", "check", "has not accepted an event"),
        ("Corridors open", "done", "Rails in use"),
        ("Rails live", "missing", "Simulated, no real payments: "),
        ("Rates fresh", "done", "old."),
        ("A payment was paid", "check", "None yet."),
        ("Operator key has gas", "done", "can pay gas"),
        ("Two users for approvals", "missing", "No two users can decide about "),
        ("Sanction lists fresh", "missing", "The shipped sample"),
        ("Backup of today", "missing", "store.backup_file is not set"),
        ("Console behind its own host", "check", "console.public_url"),
    ] {
        let found = line(&page, title);
        assert!(found.0 == state && found.1.contains(fact), "{title}: {found:?}");
    }
    for title in ["Nodes agree", "Controller deployed", "More than one process", "No open alerts"] {
        line(&page, title);
    }
    // A test event that the endpoint accepts counts, and so does a second user.
    admin.post("/webhooks/example", &[("event", "transfer.complete")]).await.page();
    let all = [Role::Operator, Role::Approver, Role::Compliance, Role::Treasury, Role::Admin];
    Officer::of(&bank, &all).await;
    Officer::of(&bank, &[Role::Approver]).await;
    let page = admin.get("/setup").await.page();
    let endpoint = line(&page, "Endpoint answers");
    assert!(endpoint.0 == "done" && endpoint.1.contains("to a test event"), "{endpoint:?}");
    assert_eq!(line(&page, "Two users for approvals").0, "done");
    admin.post("/webhooks/disable", &[("why", "maintenance")]).await.done();
    let endpoint = line(&admin.get("/setup").await.page(), "Endpoint answers");
    assert!(endpoint.0 == "missing" && endpoint.1.contains("are off"), "{endpoint:?}");
}

async fn a_tenant_needs_a_name_and_a_free_tag(on: On) {
    let bank = Bank::new(on).await;
    let admin = head_office(&bank, &[Role::Admin]).await;
    for (name, tag, coin, why, rule) in [
        ("", "x1", "USDT", "y", "Name: enter 1 to 80 printable characters."),
        ("X", "Not ok", "USDT", "y", "must be 1 to 32 of a-z, 0-9 and _"),
        ("X", bank.tenant.tag.as_str(), "USDT", "y", "Tag: another tenant has it."),
        ("X", "x1", "PKR", "y", "Please choose the stablecoin."),
        ("X", "x1", "USDT", "", "Please enter a reason"),
    ] {
        let form = [("name", name), ("tag", tag), ("coin", coin), ("why", why)];
        let page = admin.send("/console/tenants", &form).await.refused(422);
        assert!(page.contains(rule), "{rule}: {page}");
    }
    assert_eq!(bank.running.store().tenant_by_tag("x1").await, Ok(None));
}

async fn setup_is_as_open_as_its_parts(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let scope = Scope::Tenant(bank.tenant.id);
    let viewer = Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Viewer]).await;
    for step in STEPS {
        let page = viewer.get(&format!("/setup/{step}")).await.page();
        let main = page.split_once("<main").expect("the content").1;
        assert!(!main.contains("method=\"post\""), "{step}: {main}");
        let is_closed = ["keys", "prefund", "chain", "people"].contains(&step);
        assert_eq!(main.contains("Users with other roles see"), is_closed, "{step}: {main}");
    }
    // No line leads to a page that its reader may not open.
    for role in Role::ALL {
        let reader = Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[role]).await;
        for path in ["/setup", "/setup/chain", "/setup/people"] {
            let page = reader.get(path).await.page();
            let main = page.split_once("<main").expect("the content").1;
            let lines = main.split("class=\"go\" href=\"").skip(1);
            let links: BTreeSet<&str> = lines.filter_map(|rest| rest.split('"').next()).collect();
            for link in links.into_iter().filter(|link| link.starts_with("/console")) {
                reader.fetch(link).await.page();
            }
            if path == "/setup" {
                line(&page, "Sanction lists fresh");
            }
        }
    }
    viewer.fetch(&format!("/console/t/{}/setup", other.tenant.tag)).await.refused(404);
    viewer.fetch("/console/tenants").await.refused(403);
    let admin = Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Admin]).await;
    let form = [("name", "X"), ("tag", "x2"), ("coin", "USDT"), ("why", "y")];
    admin.send("/console/tenants", &form).await.refused(403);
    let auditor = head_office(&bank, &[Role::Auditor]).await;
    auditor.send("/console/tenants", &form).await.refused(403);
}
