//! Users' work on cases: notes, and who decides until when.

use domain::audit::{AuditContext, Via};
use domain::case_file::{CASE_FILES_MAX, CaseFile, FileKind};
use domain::ids::TenantId;
use domain::time::Span;
use store::{CaseRef, CaseWork, StoreError};
use uuid::Uuid;

use crate::world::World;

fn by(user: &str) -> AuditContext {
    AuditContext::new(Via::Console, user)
}

pub async fn notes_are_added_and_sealed(world: World) {
    let store = &world.store;
    let tenant = world.tenant("demobank", 0).await;
    let case = CaseRef { tenant, kind: "payment", subject: Uuid::new_v4() };
    assert_eq!(store.case_notes(tenant, case.subject).await, Ok(Vec::new()));
    store
        .add_case_note(case, "Asked for a passport, born 1991.", by("ayesha"))
        .await
        .expect("added");
    world.pass(Span::mins(5)).await;
    store.add_case_note(case, "Received.", by("omar")).await.expect("added");
    let notes = store.case_notes(tenant, case.subject).await.expect("read");
    let told: Vec<(&str, &str)> =
        notes.iter().map(|note| (note.author.as_str(), note.text.as_str())).collect();
    assert_eq!(told, [("ayesha", "Asked for a passport, born 1991."), ("omar", "Received.")]);
    assert!(notes[1].at - notes[0].at >= Span::mins(5), "{notes:?}");
    for (tenant, subject) in [(tenant, Uuid::new_v4()), (TenantId(Uuid::new_v4()), case.subject)] {
        assert_eq!(store.case_notes(tenant, subject).await, Ok(Vec::new()), "another case");
    }
    let entries = store.audit_about(tenant, &case.subject.to_string()).await.expect("read");
    let actions: Vec<&str> = entries.iter().map(|entry| entry.note.action.as_str()).collect();
    assert_eq!((actions, entries[0].deed.who.as_str()), (vec!["case.note"; 2], "omar"));
    let text = format!("{entries:?}");
    assert!(!text.contains("passport"), "the log has no text of a note: {text}");
    let plain = "SELECT COUNT(*) FROM case_note WHERE CAST(body AS TEXT) LIKE '%passport%'";
    if let Some(answer) = world.sql(&format!("DELETE FROM case_note WHERE 0 < ({plain})")).await {
        assert_eq!(answer, Ok(0), "notes are sealed");
    }
}

pub async fn a_case_has_one_assignee_and_one_due_time(world: World) {
    let store = &world.store;
    let tenant = world.tenant("demobank", 0).await;
    let of = |subject| CaseRef { tenant, kind: "transaction", subject };
    let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
    let known = async || store.case_work(tenant, &[one, other]).await.expect("read");
    assert_eq!(known().await, []);
    let work =
        |assignee: Option<&str>, due_at| CaseWork { assignee: assignee.map(str::to_owned), due_at };
    let first = work(Some("ayesha"), Some(world.now().await + Span::hours(4)));
    store.set_case_work(of(one), &first, by("omar")).await.expect("set");
    assert_eq!(known().await, [(one, first.clone())]);
    let second = work(None, first.due_at);
    store.set_case_work(of(one), &second, by("ayesha")).await.expect("set");
    assert_eq!(known().await, [(one, second)]);
    let foreign = store.case_work(TenantId(Uuid::new_v4()), &[one]).await;
    assert_eq!(foreign, Ok(Vec::new()));
    let entries = store.audit_about(tenant, &one.to_string()).await.expect("read");
    let note = &entries[0].note;
    assert_eq!((note.action.as_str(), note.kind.as_str()), ("case.assign", "transaction"));
    assert!(note.before.as_ref().is_some_and(|it| it.contains("ayesha")), "{note:?}");
    assert!(note.after.as_ref().is_some_and(|it| !it.contains("ayesha")), "{note:?}");
}

pub async fn files_are_sealed_and_their_number_is_bounded(world: World) {
    let store = &world.store;
    let tenant = world.tenant("demobank", 0).await;
    let case = CaseRef { tenant, kind: "payment", subject: Uuid::new_v4() };
    let bytes = b"%PDF-1.7 passport of A. Sample".to_vec();
    let file = CaseFile::parse("passport.pdf", bytes.clone()).expect("accepted");
    store.add_case_file(case, &file, by("ayesha")).await.expect("added");
    let known = store.case_files(tenant, case.subject).await.expect("read");
    let [first] = known.as_slice() else { panic!("{known:?}") };
    assert_eq!((first.name.as_str(), first.author.as_str()), ("passport.pdf", "ayesha"));
    assert_eq!((first.kind, first.size), (FileKind::Pdf, 30));
    assert_eq!(store.case_file_content(tenant, case.subject, first).await, Ok(bytes));
    for (tenant, subject) in [(tenant, Uuid::new_v4()), (TenantId(Uuid::new_v4()), case.subject)] {
        assert_eq!(store.case_files(tenant, subject).await, Ok(Vec::new()), "another case");
        let content = store.case_file_content(tenant, subject, first).await;
        assert!(content.is_err(), "{content:?}");
    }
    let entries = store.audit_about(tenant, &case.subject.to_string()).await.expect("read");
    let note = &entries[0].note;
    let after = note.after.as_deref().unwrap_or_default();
    assert!(note.action == "case.file" && after.contains(&first.hash), "{note:?}");
    assert!(!after.contains("passport"), "the log has no name of a file: {after}");
    for plain in ["name", "body"] {
        let found =
            format!("SELECT COUNT(*) FROM case_file WHERE CAST({plain} AS TEXT) LIKE '%passport%'");
        let deleted = format!("DELETE FROM case_file WHERE 0 < ({found})");
        if let Some(answer) = world.sql(&deleted).await {
            assert_eq!(answer, Ok(0), "{plain} is sealed");
        }
    }
    for _ in 1..CASE_FILES_MAX {
        store.add_case_file(case, &file, by("omar")).await.expect("added");
    }
    let refused = store.add_case_file(case, &file, by("omar")).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    assert_eq!(store.case_files(tenant, case.subject).await.expect("read").len(), CASE_FILES_MAX);
}
