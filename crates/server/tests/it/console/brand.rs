//! How a tenant's payment pages look.

use domain::user::{Role, Scope};

use super::wallets::officer::Officer;
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    colour_contact_and_logo_are_set_and_previewed
    only_administrators_of_the_tenant_change_it
}

const LOGO: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><path d='M0 0h9v9z'/></svg>";

async fn officer(bank: &Bank, roles: &[Role]) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, roles).await
}

async fn colour_contact_and_logo_are_set_and_previewed(on: On) {
    let bank = Bank::new(on).await;
    let admin = officer(&bank, &[Role::Admin, Role::Auditor]).await;
    let page = admin.get("/brand").await.page();
    assert!(
        page.contains("No colour: the page&#39;s own.")
            || page.contains("No colour: the page's own."),
        "{page}"
    );
    let page = admin.get("/brand?colour=%230b6b3a").await.page();
    for part in
        ["not saved", "preview.css?colour=%230b6b3a", "contrast of 5.8 : 1", "value=\"#0b6b3a\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("style="), "the policy allows no inline style");
    let style = admin.get("/brand/preview.css?colour=%230b6b3a").await;
    assert_eq!(
        (style.header("content-type"), style.text.as_str()),
        ("text/css; charset=utf-8", ":root { --brand: #0b6b3a; }\n")
    );
    admin.get("/brand/preview.css?colour=red;%7D").await.refused(422);
    for (form, rule) in [
        ([("colour", "#ffff00"), ("contact", ""), ("why", "x")], "too light for white text"),
        ([("colour", "green"), ("contact", ""), ("why", "x")], "must be of the form #0b6b3a"),
        ([("colour", ""), ("contact", "a\tb"), ("why", "x")], "Contact: must be 1 to 80"),
        ([("colour", "#0b6b3a"), ("contact", ""), ("why", "")], "Please enter a reason"),
    ] {
        let page = admin.post("/brand/set", &form).await.refused(422);
        assert!(page.contains(rule), "{rule}: {page}");
    }
    let form = [("colour", "#0b6b3a"), ("contact", "+971 4 123 4567"), ("why", "brand book")];
    admin.post("/brand/set", &form).await.done();
    let wrong =
        admin.upload("/brand/upload", &[("why", "x")], ("a.gif", b"GIF89a")).await.refused(422);
    assert!(wrong.contains("Logo: must be a PNG or an SVG image."), "{wrong}");
    admin.upload("/brand/upload", &[("why", "brand book")], ("logo.svg", LOGO)).await.done();
    let brand = bank.running.store().brand(bank.tenant.id).await.expect("read").expect("set");
    assert_eq!(brand.colour.map(|colour| colour.to_string()).as_deref(), Some("#0b6b3a"));
    assert_eq!(brand.contact.as_deref(), Some("+971 4 123 4567"));
    assert_eq!(brand.logo.map(|logo| logo.bytes).as_deref(), Some(LOGO));
    let page = admin.get("/brand").await.page();
    assert!(page.contains("<img src=") && !page.contains("not saved"), "{page}");
    let logo = admin.get("/brand/logo").await;
    assert_eq!((logo.header("content-type"), logo.text.as_bytes()), ("image/svg+xml", LOGO));
    assert!(logo.header("content-security-policy").ends_with("sandbox"), "{logo:?}");
    let log = admin.fetch("/console/audit?action=tenant.brand").await.page();
    assert!(
        log.contains("changed how the tenant\u{2019}s payment pages look")
            && log.contains("brand book"),
        "{log}"
    );
    admin.post("/brand/remove-logo", &[("why", "old")]).await.done();
    admin.get("/brand/logo").await.refused(404);
    let brand = bank.running.store().brand(bank.tenant.id).await.expect("read").expect("set");
    assert!(brand.logo.is_none() && brand.colour.is_some(), "the rest stays: {brand:?}");
}

async fn only_administrators_of_the_tenant_change_it(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let viewer = officer(&bank, &[Role::Viewer, Role::Operator]).await;
    assert!(!viewer.get("/brand").await.page().contains("Save logo"));
    let form = [("colour", "#0b6b3a"), ("contact", ""), ("why", "x")];
    viewer.post("/brand/set", &form).await.refused(403);
    viewer.upload("/brand/upload", &[("why", "x")], ("logo.svg", LOGO)).await.refused(403);
    let path = format!("/console/t/{}/brand", bank.tenant.tag);
    officer(&other, &[Role::Admin]).await.fetch(&path).await.refused(404);
    assert_eq!(bank.running.store().brand(bank.tenant.id).await, Ok(None));
}
