//! The audit log's pages: the list, an entry with its hashes, verification of the chains; and
//! downloads are recorded.

use domain::audit::{Mark, Note};
use domain::hex::hex;
use domain::user::{Role, Scope};
use store::{AuditChain, AuditFilter};

use super::wallets::officer::Officer;
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    a_whole_chain_is_verified_to_its_head
    a_long_chain_is_verified_in_parts_of_one_session
    a_broken_chain_is_reported_with_its_position
    an_entry_shows_its_hashes_and_what_changed
    entries_are_found_by_request_and_day
    entries_of_people_are_apart_from_those_of_the_program
    the_log_is_paged_both_ways_and_saved
    the_log_is_readable_by_authorized_users_only
}

/// An officer who may read this bank's log only.
async fn auditor(bank: &Bank) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Auditor]).await
}

async fn noted(bank: &Bank, subject: &str) {
    let note = Note::new("thing.change", "thing", subject);
    bank.running.store().append_audit(bank.tenant.id, "test", note).await.expect("noted");
}

async fn chain(bank: &Bank) -> AuditChain {
    let chains = bank.running.store().audit_chains().await.expect("read");
    chains.into_iter().find(|chain| chain.tenant == bank.tenant.id).expect("there")
}

/// The target of the first link with this text.
fn link<'a>(page: &'a str, words: &str) -> Option<&'a str> {
    let before = page.split_once(words)?.0;
    before.rsplit_once("href=\"")?.1.split_once('"').map(|(href, _)| href)
}

async fn a_whole_chain_is_verified_to_its_head(on: On) {
    let bank = Bank::new(on).await;
    let officer = auditor(&bank).await;
    noted(&bank, "one").await;
    let page = officer.fetch("/console/audit/verify").await.page();
    let head = chain(&bank).await.head;
    assert!(page.contains("intact") && !page.contains("WRONG"), "{page}");
    assert!(page.contains(&hex(&head.hash)) && page.contains("not signed"), "{page}");
    assert!(
        page.contains(&bank.tenant.name) && !page.contains("the installation"),
        "only the tenant's own chain: {page}"
    );
    let signer = bank.running.store().audit_signer(None).await.expect("a key");
    let signed =
        bank.running.store().sign_audit_chain(&chain(&bank).await, &signer).await.expect("read");
    bank.running.store().keep_checkpoint(&signed.expect("whole")).await.expect("kept");
    let page = officer.fetch("/console/audit/verify").await.page();
    assert!(!page.contains("not signed") && page.contains("intact"), "{page}");
}

async fn a_long_chain_is_verified_in_parts_of_one_session(on: On) {
    let bank = Bank::new(on).await;
    for subject in ["one", "two", "three"] {
        noted(&bank, subject).await;
    }
    let (officer, other) = (auditor(&bank).await, auditor(&bank).await);
    let mut page = officer.fetch("/console/audit/verify?entries=1").await.page();
    let mut parts = 1;
    while page.contains("intact so far") {
        let on = link(&page, "Continue after entry").expect("a link").replace("&#38;", "&");
        if parts == 1 {
            let foreign = other.fetch(&on).await.refused(409);
            assert!(foreign.contains("belongs to another session"), "{foreign}");
            officer.fetch(&on.replace("seq=1&", "seq=2&")).await.refused(409);
        }
        page = officer.fetch(&on).await.page();
        assert!(page.contains("verified entries 1 to"), "{page}");
        parts += 1;
    }
    assert!(page.contains("intact") && parts > 3, "{parts} parts: {page}");
    assert!(page.contains(&hex(&chain(&bank).await.head.hash)), "{page}");
}

async fn a_broken_chain_is_reported_with_its_position(on: On) {
    let bank = Bank::new(on).await;
    noted(&bank, "one").await;
    let (store, officer) = (bank.running.store(), auditor(&bank).await);
    // Alters a checkpoint in the store, as an attacker with database access would.
    let signer = store.audit_signer(None).await.expect("a key");
    let mut signed =
        store.sign_audit_chain(&chain(&bank).await, &signer).await.expect("read").expect("whole");
    signed.hash[0] ^= 1;
    store.keep_checkpoint(&signed).await.expect("kept");
    let page = officer.fetch("/console/audit/verify").await.page();
    let wrong = format!("WRONG: the signature of the checkpoint at {} is invalid", signed.seq);
    assert!(page.contains(&wrong) && !page.contains("intact"), "{page}");
    let behind = Mark::default();
    let part = store
        .verify_audit_part(bank.tenant.id, behind, &[], &[signer.public_key()], 100)
        .await
        .expect("read");
    assert!(!part.whole && part.fault.is_some(), "{part:?}");
}

async fn an_entry_shows_its_hashes_and_what_changed(on: On) {
    let bank = Bank::new(on).await;
    let officer = auditor(&bank).await;
    noted(&bank, "hashed").await;
    let list = officer.fetch("/console/audit?subject=hashed").await.page();
    let newest = chain(&bank).await;
    let path = format!("/console/audit/entries/{}/{}", bank.tenant.id, newest.head.seq);
    assert!(list.contains(&path), "{list}");
    let page = officer.fetch(&path).await.page();
    assert!(
        page.contains(&hex(&newest.head.hash))
            && page.contains("follows")
            && page.contains("thing.change"),
        "{page}"
    );
    assert!(page.contains("Previous entry") && !page.contains("Next entry"), "{page}");
    let first = officer.fetch(&format!("/console/audit/entries/{}/1", bank.tenant.id)).await.page();
    assert!(
        first.contains(&"0".repeat(64))
            && first.contains("tenant.create")
            && first.contains("Changes"),
        "{first}"
    );
    for path in [format!("{path}0"), format!("/console/audit/entries/{}/x", bank.tenant.id)] {
        officer.fetch(&path).await.refused(404);
    }
}

async fn entries_are_found_by_request_and_day(on: On) {
    let bank = Bank::new(on).await;
    let officer = auditor(&bank).await;
    let deed =
        domain::audit::AuditContext::new(domain::audit::Via::Api, "key").of_request("r-found.1");
    let note = Note::new("thing.change", "thing", "by request");
    bank.running.store().append_audit(bank.tenant.id, deed, note).await.expect("noted");
    noted(&bank, "without request").await;
    let page = officer.fetch("/console/audit?request=r-found.1").await.page();
    assert!(page.contains("by request") && !page.contains("without request"), "{page}");
    let today = bank.running.now().date();
    let page = officer.fetch(&format!("/console/audit?from={today}&to={today}")).await.page();
    assert!(page.contains("by request") && page.contains("without request"), "{page}");
    assert!(
        officer.fetch("/console/audit?to=2020-01-01").await.page().contains("No entries match.")
    );
    officer.fetch("/console/audit?from=yesterday").await.refused(422);
    let found = officer.get("/search?q=r-found.1").await.page();
    assert!(found.contains("Actions of the request") && found.contains("thing.change"), "{found}");
}

async fn entries_of_people_are_apart_from_those_of_the_program(on: On) {
    let bank = Bank::new(on).await;
    noted(&bank, "of-the-program").await;
    let officer = auditor(&bank).await;
    let by = domain::audit::AuditContext::new(domain::audit::Via::Cli, "op");
    let note = Note::new("thing.change", "thing", "of-a-person");
    bank.running.store().append_audit(bank.tenant.id, by, note).await.expect("noted");
    let all = officer.fetch("/console/audit").await.page();
    assert!(all.contains("of-the-program") && all.contains("of-a-person"), "{all}");
    assert!(all.contains("?by=people\">People only</a>"), "{all}");
    let people = officer.fetch("/console/audit?by=people").await.page();
    assert!(people.contains("of-a-person") && !people.contains("of-the-program"), "{people}");
    assert!(people.contains("aria-current=\"page\">People only</a>"), "{people}");
}

async fn the_log_is_paged_both_ways_and_saved(on: On) {
    let bank = Bank::new(on).await;
    for number in 0..101 {
        noted(&bank, &format!("turned-{number:03}")).await;
    }
    let officer = auditor(&bank).await;
    let turned = |page: &str, way: &str| {
        let before = page.split_once(&format!("\" rel=\"{way}\""))?.0;
        Some(before.rsplit_once("href=\"")?.1.replace("&#38;", "&"))
    };
    let first = officer.fetch("/console/audit?action=thing.change").await.page();
    assert!(first.contains("turned-100") && first.contains("turned-001"), "{first}");
    assert!(!first.contains("turned-000") && turned(&first, "prev").is_none());
    let second = officer.fetch(&turned(&first, "next").expect("a link")).await.page();
    assert!(second.contains("turned-000") && !second.contains("turned-001"), "{second}");
    assert!(turned(&second, "next").is_none() && second.contains("Back to the latest"));
    let back = officer.fetch(&turned(&second, "prev").expect("a link back")).await.page();
    assert!(back.contains("turned-100") && back.contains("turned-001"), "{back}");
    assert!(turned(&back, "prev").is_none() && turned(&back, "next").is_some());
    // The file has all of them, newest first, with the filters of the page.
    let file = "/console/audit/export.csv?action=thing.change";
    assert!(first.contains(&format!("{file}\">Download as CSV")), "{first}");
    let file = officer.fetch(file).await.page();
    let lines: Vec<&str> = file.lines().collect();
    assert!(lines[0].starts_with("at,chain,number,tenant,user,"), "{}", lines[0]);
    assert_eq!(lines.len(), 102);
    assert!(lines[1].contains(",turned-100,") && lines[101].contains(",turned-000,"));
    let none = officer.fetch("/console/audit/export.csv?subject=none").await.page();
    assert_eq!(none.lines().count(), 1);
}

async fn the_log_is_readable_by_authorized_users_only(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    noted(&bank, "secret deed").await;
    let stranger = auditor(&other).await;
    stranger.fetch(&format!("/console/audit/entries/{}/1", bank.tenant.id)).await.refused(404);
    stranger.fetch(&format!("/console/audit/verify?chain={}", bank.tenant.id)).await.refused(404);
    assert!(
        stranger
            .fetch("/console/audit?subject=secret+deed")
            .await
            .page()
            .contains("No entries match.")
    );
    let scope = Scope::Tenant(bank.tenant.id);
    let operator =
        Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Operator]).await;
    for path in [
        "/console/audit",
        "/console/audit/export.csv",
        "/console/audit/verify",
        &format!("/console/audit/entries/{}/1", bank.tenant.id),
    ] {
        operator.fetch(path).await.refused(403);
    }
    // A download is recorded with the user.
    operator.get("/payments/export.csv?country=PAK").await.page();
    let action = Some("export".to_owned());
    let filter = AuditFilter { tenant: Some(bank.tenant.id), action, ..AuditFilter::default() };
    let [taken] = &bank.running.store().audit_entries(&filter, 10).await.expect("read")[..] else {
        panic!("one export")
    };
    assert_eq!(
        (taken.note.action.as_str(), taken.deed.who.as_str()),
        ("export.csv", operator.login.as_str())
    );
    assert!(
        taken.note.after.as_ref().is_some_and(|after| after.contains("country=PAK")),
        "{taken:?}"
    );
}
