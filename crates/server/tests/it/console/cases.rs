//! Work on cases: notes, assignment, the case file.

use domain::country::Country;
use domain::time::Span;
use domain::user::{Role, Scope};
use store::{AuditFilter, CaseRef};

use super::wallets::officer::Officer;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    notes_stay_with_the_case
    a_case_is_assigned_with_a_due_time
    work_of_another_tenant_is_shown
    a_case_file_has_everything_and_no_forms
    each_match_has_a_comparison_of_its_own
    files_are_evidence_and_never_pages
}

/// A near match of the sample list, for review.
const ALIKE: &str = "Zorblax Qibbletan";
/// A near match of another of its entries.
const ALIKE_TOO: &str = "Testina Bloklistava";

async fn officer(bank: &Bank, roles: &[Role]) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, roles).await
}

async fn held(bank: &Bank) -> String {
    bank.paid(Country::Pak, |order| order.from(ALIKE)).await
}

async fn each_match_has_a_comparison_of_its_own(on: On) {
    let bank = Bank::new(on).await;
    let both =
        bank.paid(Country::Pak, |order| order.from(ALIKE).text("beneficiary_name", ALIKE_TOO));
    let both = both.await;
    let compliance = officer(&bank, &[Role::Compliance]).await;
    let page = compliance.get(&format!("/review/payments/{both}")).await.page();
    for part in ["Sender and list entry S-1", "Beneficiary and list entry S-3"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // A finding that names no list entry is shown as it is (the first letter is Cyrillic).
    let mixed = bank.paid(Country::Pak, |order| order.from("\u{410}li Khan")).await;
    let page = compliance.get(&format!("/review/payments/{mixed}")).await.page();
    assert!(page.contains("letters mixed. Lists: "), "{page}");
    assert!(!page.contains("and list entry"), "{page}");
}

async fn notes_stay_with_the_case(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let id = held(&bank).await;
    let compliance = officer(&bank, &[Role::Compliance, Role::Auditor]).await;
    let home = format!("/review/payments/{id}");
    assert!(compliance.get(&home).await.page().contains("No notes yet."));
    let add = format!("/cases/payment/{id}/note");
    for wrong in ["", " ", &"x".repeat(501), "a\nb"] {
        let page = compliance.post(&add, &[("note", wrong)]).await.refused(422);
        assert!(page.contains("Note: enter 1 to 500 printable characters."), "{page}");
    }
    let to = compliance.post(&add, &[("note", "passport <seen>, born 1991")]).await.done();
    compliance.post(&add, &[("note", "passport <seen>, born 1991")]).await.done();
    let page = compliance.fetch(&to).await.page();
    let shown = page.matches("passport &#60;seen&#62;, born 1991").count();
    assert_eq!(shown, 1, "a form that was sent twice adds one note: {page}");
    let (store, tenant) = (bank.running.store(), bank.tenant.id);
    let subject = uuid::Uuid::parse_str(&id).expect("an id");
    for number in 1..200 {
        let case = CaseRef { tenant, kind: "payment", subject };
        store.add_case_note(case, &number.to_string(), "test").await.expect("is added");
    }
    let page = compliance.post(&add, &[("note", "one more")]).await.refused(422);
    assert!(page.contains("A case has at most 200 notes"), "{page}");
    let log = compliance.fetch("/console/audit?action=case").await.page();
    assert!(log.contains("added a note to ") && !log.contains("1991"), "{log}");
    let viewer = officer(&bank, &[Role::Viewer]).await;
    viewer.post(&add, &[("note", "x")]).await.refused(403);
    assert!(!viewer.get(&home).await.page().contains("Add a note"));
    let stranger = officer(&other, &[Role::Compliance]).await;
    stranger.post(&add, &[("note", "x")]).await.refused(404);
    for wrong in [format!("/cases/wallet/{id}/note"), "/cases/payment/1/note".to_owned()] {
        compliance.post(&wrong, &[("note", "x")]).await.refused(404);
    }
}

/// What the form of the assignment on a page says that the page showed.
fn seen(page: &str) -> &str {
    let form = page.split("/assign\"").nth(1).and_then(|rest| rest.split("</form>").next());
    let field = form.and_then(|form| form.split("name=\"seen\" value=\"").nth(1));
    field.and_then(|field| field.split('"').next()).expect("the field of the form")
}

async fn a_case_is_assigned_with_a_due_time(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let id = held(&bank).await;
    let maker = officer(&bank, &[Role::Compliance]).await;
    let (colleague, viewer) =
        (officer(&bank, &[Role::Operator]).await, officer(&bank, &[Role::Viewer]).await);
    let assign = format!("/cases/payment/{id}/assign");
    let page = maker.get(&format!("/review/payments/{id}")).await.page();
    assert!(page.contains(&colleague.login) && !page.contains(&viewer.login), "{page}");
    // The page of a case that has no assignee: its form assigns it.
    assert_eq!(seen(&page), "0");
    for (assignee, due) in [(viewer.login.as_str(), "4h"), ("", "soon")] {
        let form = [("assignee", assignee), ("due", due)];
        maker.post(&assign, &form).await.refused(422);
    }
    viewer.post(&assign, &[("assignee", ""), ("due", "keep")]).await.refused(403);
    let form = [("assignee", colleague.login.as_str()), ("due", "4h"), ("seen", "0")];
    maker.post(&assign, &form).await.done();
    let inbox = maker.get("/inbox").await.page();
    let assigned = format!("Assigned to {}, due in 3 h 59 min.", colleague.login);
    assert!(inbox.contains(&assigned), "{assigned}: {inbox}");
    assert!(maker.get("/review").await.page().contains(&assigned));
    // A page that still shows no one does not take the case away.
    let old = [("assignee", ""), ("due", "keep"), ("seen", "0")];
    maker.post(&assign, &old).await.refused(409);
    assert!(maker.get("/inbox").await.page().contains(&assigned));
    bank.advance(Span::hours(5)).await;
    let page = maker.get(&format!("/review/payments/{id}")).await.page();
    let form = [("assignee", ""), ("due", "keep"), ("seen", seen(&page))];
    maker.post(&assign, &form).await.done();
    let inbox = maker.get("/inbox").await.page();
    assert!(inbox.contains("Not assigned, overdue since 1 h 0 min."), "{inbox}");
    maker.post(&assign, &[("assignee", ""), ("due", "none")]).await.done();
    assert!(!maker.get("/inbox").await.page().contains("overdue"));
    drop((maker, colleague, viewer));
    bank.finish().await;
}

async fn work_of_another_tenant_is_shown(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    held(&bank).await;
    let (tag, roles) = (bank.tenant.tag.as_str(), [Role::Admin, Role::Compliance]);
    let officer = Officer::sign_in(&bank.running, tag, Scope::All, &roles).await;
    // The first by tag has no work.
    let form = [("name", "Idle Bank"), ("tag", "a0"), ("coin", "USDT"), ("why", "agreed")];
    officer.send("/console/tenants", &form).await.done();
    let inbox = format!("/console/t/{tag}/inbox");
    let chief = Officer::sign_in(&bank.running, tag, Scope::All, &roles).await;
    assert_eq!(chief.fetch("/console").await.done(), inbox, "the tenant that was opened last");
    let page = chief.fetch("/console/t/a0/inbox").await.page();
    let main = page.split_once("<main").expect("the content").1;
    assert!(main.contains("Nothing waits at Idle Bank"), "{page}");
    assert!(
        main.contains(&format!("href=\"{inbox}\"")) && main.contains(" waiting</span>"),
        "{page}"
    );
    assert!(page.contains(" waiting at other tenants"), "{page}");
    assert_eq!(chief.fetch("/console").await.done(), "/console/t/a0/inbox", "the last one now");
    let tenants = chief.fetch("/console/tenants").await.page();
    assert!(tenants.contains(&format!("href=\"{inbox}\"")), "{tenants}");
    drop((officer, chief));
    bank.finish().await;
}

async fn a_case_file_has_everything_and_no_forms(on: On) {
    let bank = Bank::new(on).await;
    let earlier = bank.paid(Country::Pak, |order| order.from(ALIKE)).await;
    let compliance = officer(&bank, &[Role::Compliance]).await;
    let decide = format!("/review/payments/{earlier}/decide");
    compliance.post(&decide, &[("verdict", "approve"), ("why", "other birth date")]).await.done();
    let id = held(&bank).await;
    compliance.post(&format!("/cases/payment/{id}/note"), &[("note", "called")]).await.done();
    let path = format!("/cases/payment/{id}");
    let page = compliance.get(&path).await.page();
    for part in [
        "Case file: ",
        "compiled by",
        "Sender and list entry S-1",
        "same list entry, approved",
        "called",
        "id=\"timeline\"",
        "Order accepted",
        &format!("/payments/{earlier}"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let main = page.split_once("<main").expect("the content").1;
    assert!(!main.contains("<form") && !main.contains("data-live"), "{main}");
    let action = Some("export.case".to_owned());
    let filter = AuditFilter { tenant: Some(bank.tenant.id), action, ..AuditFilter::default() };
    let entries = bank.running.store().audit_entries(&filter, 10).await.expect("read");
    let opened: Vec<_> = entries.iter().map(|it| it.note.subject.as_str()).collect();
    assert_eq!(opened, [id.as_str()]);
    officer(&bank, &[Role::Viewer]).await.get(&path).await.refused(403);
}

async fn files_are_evidence_and_never_pages(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let id = held(&bank).await;
    let compliance = officer(&bank, &[Role::Compliance, Role::Auditor]).await;
    let add = format!("/cases/payment/{id}/files");
    let home = format!("/review/payments/{id}");
    has_words(
        &compliance.get(&home).await.page(),
        &["No files yet.", "enctype=\"multipart/form-data\""],
    );
    let pdf = b"%PDF-1.7 \xff\x00 passport";
    for (file, rule) in [
        (("", &b""[..]), "File: choose a file."),
        (("a.pdf", b"<html><script>alert(1)</script>"), "File: must be a PDF, PNG or JPEG file."),
        (("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "File: must be a PDF"),
    ] {
        let page = compliance.upload(&add, &[], file).await.refused(422);
        assert!(page.contains(rule), "{rule}: {page}");
    }
    let mut large = pdf.to_vec();
    large.resize(4 * 1024 * 1024 + 1, b' ');
    for size in [large.len(), 5 * 1024 * 1024] {
        large.resize(size, b' ');
        let page = compliance.upload(&add, &[], ("a.pdf", &large)).await.refused(422);
        assert!(page.contains("must have at most 4 MiB"), "{size}");
    }
    let to = compliance.upload(&add, &[], ("id <b>\u{e9}.pdf", pdf)).await.done();
    let page = compliance.fetch(&to).await.page();
    has_words(&page, &["id &#60;b&#62;\u{e9}.pdf", "PDF", "1 KiB", &compliance.login]);
    let path =
        page.split_once(&format!("{add}/")).expect("a link").1.split_once('"').expect("its end").0;
    let file = compliance.get(&format!("{add}/{path}")).await;
    assert_eq!((file.status, file.header("content-type")), (200, "application/pdf"));
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"id _b__.pdf\"");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert_eq!(file.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(file.header("cache-control"), "no-store");
    assert!(file.text.starts_with("%PDF-1.7 "), "{file:?}");
    let log = compliance.fetch("/console/audit?action=case").await.page();
    assert!(log.contains("added a file to ") && !log.contains("id &#60;b"), "{log}");
    let log = compliance.fetch("/console/audit?action=export.case_file").await.page();
    assert!(log.contains("downloaded a file of "), "{log}");
    assert!(compliance.get(&format!("/cases/payment/{id}")).await.page().contains("SHA-256"));
    let viewer = officer(&bank, &[Role::Viewer]).await;
    viewer.upload(&add, &[], ("a.pdf", pdf)).await.refused(403);
    viewer.get(&format!("{add}/{path}")).await.refused(403);
    assert!(!viewer.get(&home).await.page().contains(path), "no link that is refused");
    let stranger = officer(&other, &[Role::Compliance]).await;
    stranger.get(&format!("{add}/{path}")).await.refused(404);
    stranger.upload(&add, &[], ("a.pdf", pdf)).await.refused(404);
    compliance.get(&format!("{add}/{id}")).await.refused(404);
    compliance.post(&add, &[]).await.refused(422);
}

#[track_caller]
fn has_words(page: &str, words: &[&str]) {
    for word in words {
        assert!(page.contains(word), "no {word:?} in {page}");
    }
}
