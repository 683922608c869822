//! What users keep for themselves: saved views, colours and density.

use domain::country::Country;
use domain::user::{Role, Scope};

use super::wallets::officer::Officer;
use crate::harness::{Bank, On, WalletBank, on_both_stores};

on_both_stores! {
    a_view_is_saved_opened_first_and_deleted
    every_list_takes_views
    colours_and_density_are_remembered
}

async fn officer(bank: &Bank, roles: &[Role]) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, roles).await
}

async fn a_view_is_saved_opened_first_and_deleted(on: On) {
    let bank = Bank::new(on).await;
    let paid = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &paid, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let list = format!("/console/t/{}/payments", bank.tenant.tag);
    let query = "country=PAK&account=6702&page=3&after=1.2&status=";
    let form = |name: &'static str, default: &'static str| {
        [("list", "payments"), ("query", query), ("name", name), ("default", default)]
    };
    for wrong in ["", "  ", "a\nb"] {
        let page = viewer.post_from("/payments?country=PAK", "/views/save", &form(wrong, "")).await;
        assert!(page.refused(422).contains("Name: enter 1 to 40 printable characters."));
    }
    let to = viewer.post("/views/save", &form("Mine <1>", "")).await.done();
    assert_eq!(to, format!("{list}?country=PAK&account=6702"), "without the place in the list");
    let page = viewer.fetch(&to).await.page();
    let tab = format!(
        "<a href=\"{list}?country=PAK&#38;account=6702\" aria-current=\"page\">Mine &#60;1&#62;</a>"
    );
    assert!(page.contains(&tab), "{page}");
    assert!(viewer.get("/payments").await.page().contains("aria-current=\"page\">All</a>"));
    viewer.post("/views/save", &form("Mine <1>", "yes")).await.done();
    assert_eq!(viewer.get("/payments").await.done(), to, "the list opens with it");
    assert!(viewer.get("/payments?").await.page().contains("aria-current=\"page\">All</a>"));
    let other = officer(&bank, &[Role::Viewer]).await;
    assert!(!other.get("/payments").await.page().contains("Mine"), "views are the user's own");
    viewer
        .post("/views/save", &[("list", "users"), ("query", ""), ("name", "x")])
        .await
        .refused(404);
    let long = "x".repeat(1_001);
    let form = [("list", "payments"), ("query", long.as_str()), ("name", "x")];
    viewer
        .post("/views/save", &[form[0], ("query", &format!("account={long}")), form[2]])
        .await
        .refused(422);
    let form = [("list", "payments"), ("query", ""), ("name", "Mine <1>")];
    viewer.post("/views/delete", &form).await.done();
    assert!(!viewer.get("/payments").await.page().contains("Mine"));
    for number in 0..20 {
        let name = number.to_string();
        viewer.post("/views/save", &[form[0], form[1], ("name", &name)]).await.done();
    }
    let page = viewer.post("/views/save", &form).await.refused(409);
    assert!(page.contains("at most 20 saved views"), "{page}");
}

async fn every_list_takes_views(on: On) {
    let bank = WalletBank::new(on).await;
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    for list in ["payments", "deposits", "orders", "wallets", "requests"] {
        let form = [("list", list), ("query", "hide=1"), ("name", "short"), ("default", "yes")];
        let to = viewer.post("/views/save", &form).await.done();
        assert_eq!(viewer.get(&format!("/{list}")).await.done(), to);
        let page = viewer.fetch(&to).await.page();
        assert!(page.contains("aria-current=\"page\">short</a>"), "{list}: {page}");
    }
}

async fn colours_and_density_are_remembered(on: On) {
    let bank = Bank::new(on).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let html = |page: &str| {
        page.split_once("<html").expect("a page").1.split_once('>').expect("its end").0.to_owned()
    };
    let page = viewer.fetch("/console/account").await.page();
    assert_eq!(html(&page), " lang=\"en\"");
    for (theme, density, attributes) in [
        ("dark", "compact", " lang=\"en\" data-theme=\"dark\" data-density=\"compact\""),
        ("light", "normal", " lang=\"en\" data-theme=\"light\""),
        ("<b>", "huge", " lang=\"en\""),
    ] {
        let form = [("theme", theme), ("density", density)];
        let answer = viewer.send("/console/account/look", &form).await;
        let kept = |cookie: &reqwest::header::HeaderValue| {
            let cookie = cookie.to_str().expect("text");
            cookie.contains("corridor-look=") && cookie.contains("; Max-Age=31536000")
        };
        assert!(answer.headers.get_all("set-cookie").iter().any(kept), "{answer:?}");
        viewer.fetch(&answer.done()).await.page();
        for path in ["/payments", "/overview"] {
            assert_eq!(html(&viewer.get(path).await.page()), attributes, "{path}");
        }
    }
}
