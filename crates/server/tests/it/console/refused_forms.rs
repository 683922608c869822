//! A refused form comes back on its own page, with the message and what was typed.

use domain::deposit::DepositState;
use domain::user::{Role, Scope};

use super::wallets::officer::{Officer, Shown};
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    a_wrong_value_comes_back_with_the_rest_of_the_form
    a_refusal_comes_back_on_the_page_that_was_used
    a_confirmation_comes_back_as_a_confirmation
    passwords_are_never_shown_again
    a_form_of_an_earlier_session_comes_back
    ticks_and_notes_are_kept
}

/// The input with this id.
fn input<'a>(page: &'a str, id: &str) -> &'a str {
    let rest = page.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("{id}: {page}")).1;
    rest.split_once('>').expect("its end").0
}

/// Asserts that the page is the form's own, with a message that links to the field.
#[track_caller]
fn returns(shown: Shown, status: u16, title: &str, at: &str, kept: &[(&str, &str)]) -> String {
    let page = shown.refused(status);
    let heading = page.split_once("<h1").expect("a heading").1;
    let heading = heading.split_once("</h1>").expect("its end").0;
    assert!(heading.contains(&format!(">{title}")), "{title}: {heading}");
    let link = format!("role=\"alert\" tabindex=\"-1\" autofocus><a href=\"#{at}\">");
    assert!(page.contains(&link), "{link}: {page}");
    // Tests side by side may put the number of waiting cases in front of it.
    let named = page.split_once("<title>").expect("a title").1;
    let named = named.split_once("</title>").expect("its end").0;
    assert!(named.contains("Error: "), "{named}");
    assert!(!page.contains("data-live="), "its address cannot be read again: {page}");
    for (id, value) in kept {
        assert!(input(&page, id).contains(&format!("value=\"{value}\"")), "{id}: {page}");
    }
    page
}

async fn a_wrong_value_comes_back_with_the_rest_of_the_form(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("refused").await;
    let roles = [Role::Compliance, Role::Treasury, Role::Admin, Role::Operator];
    let officer = Officer::of(&bank, &roles).await;
    let block = format!("/wallets/{wallet}/block");
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call"), ("hours", "0")];
    let page = returns(
        officer.post(&block, &form).await,
        422,
        "Wallet of refused",
        "block-hours",
        &[("block-why", "a call"), ("block-hours", "0")],
    );
    assert!(page.contains("value=\"SUSPICIOUS_ACTIVITY\" selected"), "{page}");
    assert!(input(&page, "block-hours").contains("aria-invalid"), "{page}");
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "")];
    returns(officer.post(&block, &form).await, 422, "Wallet of refused", "block-why", &[]);
    let form = [("premium", "99999"), ("margin", "45"), ("spread", "50"), ("why", "agreed")];
    returns(
        officer.post("/rates/pricing", &form).await,
        422,
        "Rates and spread",
        "pricing-premium",
        &[("pricing-premium", "99999"), ("pricing-margin", "45"), ("pricing-why", "agreed")],
    );
    let form = [("url", "not a URL"), ("why", "moved")];
    returns(
        officer.post("/webhooks/url", &form).await,
        422,
        "Webhooks",
        "url-url",
        &[("url-url", "not a URL"), ("url-why", "moved")],
    );
    let form = [("since", "2026-01-02"), ("why", "")];
    returns(
        officer.post("/webhooks/recover", &form).await,
        422,
        "Webhooks",
        "recover-why",
        &[("recover-since", "2026-01-02")],
    );
    let form = [("minimum_kyc", "ENHANCED"), ("why", "")];
    let page = officer.post("/policy/propose", &form).await;
    returns(page, 422, "Policy", "policy-why", &[]);
}

async fn a_refusal_comes_back_on_the_page_that_was_used(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("already").await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let form = [("why", "cleared")];
    let page = officer.post(&format!("/wallets/{wallet}/unblock"), &form).await.refused(409);
    assert!(
        page.contains(">Wallet of already <span") && page.contains("id=\"fault\" role=\"alert\""),
        "{page}"
    );
    // A page that the user may not see, and an action that does not exist, keep their own answers.
    officer.post("/keys/create", &form).await.refused(403);
    officer.post("/wallets/nothing/unblock", &form).await.refused(404);
}

async fn a_confirmation_comes_back_as_a_confirmation(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("confirmed").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::InReview).await.id;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let page = format!("/deposits/{deposit}/decide?verdict=reject");
    let shown = officer.get(&page).await.page();
    let seen = shown.split_once("name=\"seen\" value=\"").expect("a state").1;
    let seen = seen.split_once('"').expect("its end").0;
    let form = [("verdict", "reject"), ("seen", seen), ("why", " ")];
    let shown = officer.post_from(&page, &format!("/deposits/{deposit}/decide"), &form).await;
    let page = shown.refused(422);
    assert!(page.contains("<a href=\"#confirm-why\">"), "{page}");
    assert!(page.contains("name=\"verdict\" value=\"reject\""), "{page}");
}

async fn passwords_are_never_shown_again(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Viewer]).await;
    let form = [("current", "never shown 1"), ("new", "never shown 2"), ("again", "never shown 3")];
    let page = officer.send("/console/account/password", &form).await.refused(422);
    assert!(!page.contains("never shown"), "{page}");
}

async fn a_form_of_an_earlier_session_comes_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("earlier").await;
    let mut officer = Officer::of(&bank, &[Role::Compliance, Role::Admin]).await;
    let earlier = officer.sign_in_again().await;
    let current = std::mem::replace(&mut officer.csrf, earlier);
    let block = format!("/wallets/{wallet}/block");
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call"), ("hours", "5")];
    let page = officer.post(&block, &form).await.refused(409);
    assert!(page.contains(">Wallet of earlier") && page.contains("Nothing was saved."), "{page}");
    for (id, value) in [("block-why", "a call"), ("block-hours", "5")] {
        assert!(input(&page, id).contains(&format!("value=\"{value}\"")), "{id}: {page}");
    }
    // Its pages have the token of the current session, and none of them the earlier one.
    assert!(page.contains(&current) && !page.contains(&officer.csrf), "{page}");
    let secret = [("current", "never shown 1"), ("new", "never shown 2"), ("again", "x")];
    let page = officer.send("/console/account/password", &secret).await.refused(409);
    assert!(page.contains("Nothing was saved.") && !page.contains("never shown"), "{page}");
    officer.post("/keys/create", &[("use", "pay")]).await.refused(409);
    officer.post("/rates/pricing", &[("margin", "45")]).await.refused(403);
    officer.csrf = current;
    assert!(!officer.get(&format!("/wallets/{wallet}")).await.page().contains("a call"));
    officer.post(&block, &form).await.done();
}

async fn ticks_and_notes_are_kept(on: On) {
    let bank = WalletBank::new(on).await;
    let (running, tag) = (&bank.bank.running, &bank.bank.tenant.tag);
    let admin = Officer::sign_in(running, tag, Scope::All, &[Role::Admin]).await;
    let other = Officer::sign_in(running, tag, Scope::All, &[Role::Viewer]).await;
    let login = [("login", "Not A Name!")];
    returns(
        admin.send("/console/users", &login).await,
        422,
        "Users",
        "login",
        &[("login", "Not A Name!")],
    );
    let user = running.store().user_by_login(&other.login).await.expect("read").expect("there");
    let id = user.user.id;
    let access = format!("/console/users/{id}/access");
    let form = [("role", "auditor"), ("role", "treasury"), ("scope", "all"), ("why", "")];
    let page = returns(admin.send(&access, &form).await, 422, &other.login, "why", &[]);
    for (role, is_ticked) in [("auditor", true), ("treasury", true), ("viewer", false)] {
        let ticked = page.contains(&format!("value=\"{role}\" checked"));
        assert_eq!(ticked, is_ticked, "{role}: {page}");
    }
    let form = [("role", "auditor"), ("scope", "all"), ("why", "joins")];
    let proposal = admin.send(&access, &form).await.done();
    let checker = Officer::sign_in(running, tag, Scope::All, &[Role::Admin]).await;
    let shown = checker.send(&format!("{proposal}/reject"), &[("note", "")]).await;
    let page = shown.refused(422);
    assert!(page.contains("<a href=\"#note\">") && page.contains("Approve</button>"), "{page}");
}
