//! The bytes of an entry, and six ways to tamper with a chain.

use super::*;
use crate::hex::hex;

const TENANT: TenantId = TenantId(Uuid::from_bytes([7; 16]));
const AT: Timestamp = Timestamp(1_795_244_268_123_456);

fn deed(seq: i64) -> (AuditContext, Note) {
    (
        AuditContext::new(Via::Cli, "root").because(format!("reason {seq}")),
        Note::new("key.create", "key", seq),
    )
}

/// A chain of eight entries and its head.
fn chain() -> (Vec<Entry>, Head) {
    let mut head = Head::default();
    let entries = (1..=8).map(|seq| {
        let (deed, note) = deed(seq);
        head.append(TENANT, AT, deed, note)
    });
    (entries.collect(), head)
}

fn walk(entries: &[Entry], head: Head, marks: &[Mark]) -> Result<i64, ChainFault> {
    let mut walk = Walk::new(marks.to_vec());
    entries.iter().try_for_each(|entry| walk.pass(entry))?;
    walk.end(head).map(|()| walk.proven())
}

fn mark(entry: &Entry) -> Mark {
    Mark { seq: entry.seq, hash: entry.hash }
}

/// Recomputes all hashes, as an attacker who knows the algorithm would.
fn rehashed(entries: &[Entry]) -> (Vec<Entry>, Head) {
    let mut head = Head::default();
    let entries =
        entries.iter().map(|it| head.append(it.tenant, it.at, it.deed.clone(), it.note.clone()));
    (entries.collect(), head)
}

#[test]
fn hashes_can_be_recomputed_independently() {
    let mut head = Head::default();
    let note = Note::new("tenant.create", "tenant", "demobank")
        .after(Facts::new().text("name", "Demo Bank"));
    let first = head.append(TENANT, AT, AuditContext::new(Via::Cli, "root"), note);
    assert_eq!(first.bytes().len(), 135);
    assert_eq!(
        hex(&first.hash),
        "b8649d4f327f75b7d122447612029eefa3bed09683b711965ff4fc8077ab18c3"
    );
    let deed = AuditContext::new(Via::Api, "demobank-test_wallet-Q1T9sVb0")
        .with_role("compliance_officer")
        .because("other birth date")
        .of_request("r-1");
    let note = Note::new("review.approve", "deposit", "d-1")
        .before(Facts::new().text("state", "in_review"))
        .after(Facts::new().text("state", "approved"));
    let second = head.append(TENANT, Timestamp(AT.0 + 1), deed, note);
    assert_eq!(
        hex(&second.hash),
        "50f716d6662e1745a9bfcaad718e8fc579d5684496698762eff3594f832ca22c"
    );
    assert_eq!(head, Head { seq: 2, hash: second.hash });
}

#[test]
fn no_two_entries_have_the_same_bytes() {
    let base = chain().0.remove(0);
    let moved =
        AuditContext { who: "roo".to_owned(), role: Some("t".to_owned()), ..base.deed.clone() };
    let absent = AuditContext { role: Some(String::new()), ..base.deed.clone() };
    for deed in [moved, absent] {
        assert_ne!(Entry { deed, ..base.clone() }.bytes(), base.bytes());
    }
}

#[test]
fn an_untouched_chain_is_intact() {
    let (entries, head) = chain();
    assert_eq!(walk(&entries, head, &[]), Ok(0));
    assert_eq!(
        walk(&entries, head, &[mark(&entries[6]), mark(&entries[2]), mark(&entries[2])]),
        Ok(7)
    );
    assert_eq!(walk(&[], Head::default(), &[]), Ok(0));
}

#[test]
fn an_edited_entry_is_found() {
    let (mut entries, head) = chain();
    entries[3].deed.why = "another reason".to_owned();
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Changed(4)));
}

#[test]
fn a_deleted_entry_is_found_even_if_the_others_are_renumbered() {
    let (mut entries, head) = chain();
    entries.remove(3);
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Missing { from: 4, to: 4 }));
    entries[3..].iter_mut().for_each(|entry| entry.seq -= 1);
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Changed(4)));
}

#[test]
fn an_inserted_entry_is_found() {
    let (mut entries, head) = chain();
    let mut put_in = entries[3].clone();
    put_in.note.subject = "slipped in".to_owned();
    put_in.hash = put_in.hash_after(&entries[2].hash);
    entries.insert(3, put_in);
    entries[4..].iter_mut().for_each(|entry| entry.seq += 1);
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Changed(5)));
}

#[test]
fn reordered_entries_are_found() {
    let (mut entries, head) = chain();
    entries.swap(3, 4);
    (entries[3].seq, entries[4].seq) = (4, 5);
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Changed(4)));
}

#[test]
fn a_truncated_tail_is_found_by_the_head_and_by_a_checkpoint() {
    let (mut entries, head) = chain();
    let signed = mark(&entries[6]);
    entries.truncate(5);
    assert_eq!(walk(&entries, head, &[]), Err(ChainFault::Missing { from: 6, to: 8 }));
    let put_back = Head { seq: 5, hash: entries[4].hash };
    assert_eq!(walk(&entries, put_back, &[]), Ok(0), "the head alone does not reveal it");
    assert_eq!(walk(&entries, put_back, &[signed]), Err(ChainFault::Missing { from: 6, to: 7 }));
    assert_eq!(walk(&[], Head::default(), &[signed]), Err(ChainFault::Missing { from: 1, to: 7 }));
}

#[test]
fn a_rewritten_chain_is_found_by_a_checkpoint() {
    let (mut entries, _) = chain();
    let signed = [mark(&entries[1]), mark(&entries[6])];
    entries[3].deed.who = "another user".to_owned();
    let (entries, head) = rehashed(&entries);
    assert_eq!(walk(&entries, head, &[]), Ok(0), "the hashes alone do not reveal it");
    assert_eq!(walk(&entries, head, &signed), Err(ChainFault::Rewritten { from: 3, to: 7 }));
}

#[test]
fn a_chain_is_followed_in_parts() {
    let (mut entries, head) = chain();
    let marks = vec![mark(&entries[1]), mark(&entries[6])];
    let on = |entries: &[Entry]| {
        let mut walk = Walk::resumed(mark(&entries[3]), marks.clone());
        assert_eq!((walk.head().seq, walk.proven()), (4, 2));
        entries[4..].iter().try_for_each(|entry| walk.pass(entry))?;
        walk.end(head).map(|()| walk.proven())
    };
    assert_eq!(on(&entries), Ok(7));
    entries[5].deed.why = "another reason".to_owned();
    assert_eq!(on(&entries), Err(ChainFault::Changed(6)));
    let (short, _) = chain();
    let cut = Walk::resumed(mark(&short[3]), vec![mark(&short[6])]);
    let put_back = Head { seq: 4, hash: short[3].hash };
    assert_eq!(cut.end(put_back), Err(ChainFault::Missing { from: 5, to: 7 }));
}

#[test]
fn a_mismatched_head_is_found() {
    let (entries, head) = chain();
    let short = Head { seq: 6, hash: entries[5].hash };
    assert_eq!(walk(&entries, short, &[]), Err(ChainFault::BeyondHead { entry: 7, head: 6 }));
    assert_eq!(walk(&entries, Head { hash: [9; 32], ..head }, &[]), Err(ChainFault::Head(8)));
}

#[test]
fn documents_are_json_without_zero_characters() {
    let facts = Facts::new()
        .text("why", "a \"quote\"\\\n")
        .number("count", -3)
        .flag("on", true)
        .opt_text("x", None::<&str>);
    assert_eq!(
        facts.document().as_deref(),
        Some(r#"{"why":"a \"quote\"\\\u000a","count":-3,"on":true}"#)
    );
    assert_eq!(Facts::new().document(), None);
    let entry = Head::default().append(
        TENANT,
        AT,
        AuditContext::new(Via::Cli, "a\0b"),
        Note::new("x", "y", "z\0"),
    );
    assert_eq!((entry.deed.who.as_str(), entry.note.subject.as_str()), ("a\u{fffd}b", "z\u{fffd}"));
    assert_eq!(entry.hash, entry.hash_after(&[0; 32]), "the stored text is hashed");
}

#[test]
fn personal_values_show_at_most_their_end() {
    for (value, shown) in [("PK36SCBL0000001123456702", "…6702"), ("12345678", "…"), ("", "…")]
    {
        assert_eq!(masked(value), shown);
    }
}
