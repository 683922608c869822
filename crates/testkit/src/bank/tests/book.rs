//! The book across restarts.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use domain::currency::Currency;
use domain::money::Money;
use domain::time::{Span, Timestamp};

use super::instruction_id;
use crate::bank::core::{BankCore, Behaviour, InstructionView, Outcome, QueryView, TxStatus};
use crate::bank::{BookFault, BookKind, Journal};

const RAIL: &str = "pak-raast";
const START: Timestamp = Timestamp(1_795_244_268_000_000);

fn open(path: &Path) -> BankCore<Journal> {
    // Another start has another clock: the book's creation time counts.
    let (journal, restored) = Journal::open(path, START + Span::days(1)).expect("a book");
    BankCore::resume(Behaviour::default(), journal, restored)
}

fn view(number: u128, account: &str) -> InstructionView {
    InstructionView {
        instruction_id: instruction_id(number).into(),
        end_to_end_id: instruction_id(number).into(),
        uetr: "".into(),
        amount: Money::new(1_500, Currency::Kwd),
        account: account.into(),
        beneficiary: "A \"quoted\" name\n".into(),
    }
}

fn status(core: &mut BankCore<Journal>, number: u128) -> Option<TxStatus> {
    let id: Box<str> = instruction_id(number).into();
    let query = QueryView { instruction_id: id.clone(), end_to_end_id: id, uetr: "".into() };
    core.inquire(RAIL, &query).expect("readable").map(|standing| standing.status)
}

#[test]
fn everything_continues_after_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("bank").join("book.jsonl");
    let mut core = open(&path);
    for (number, account) in [(1, "1"), (2, "0003"), (3, "0004"), (4, "0002"), (5, "0005")] {
        core.receive(RAIL, &view(number, account), START).expect("taken");
    }
    core.due(START + Span::secs(2)).expect("settled");
    let page = core.collect(RAIL, None, 1).expect("reports");
    let rest = core.collect(RAIL, page.cursor.as_deref(), 10).expect("reports");
    core.commit().expect("written");
    let (lines, totals) = (core.lines(&instruction_id(1)).expect("lines"), core.totals().clone());
    drop(core);

    let mut core = open(&path);
    assert_eq!(core.lines(&instruction_id(1)).expect("lines"), lines);
    assert_eq!(lines.len(), 1);
    assert_eq!(core.totals(), &totals);
    assert_eq!(core.collect(RAIL, None, 10).expect("reports"), rest, "the first was acknowledged");
    let statuses: Vec<_> = (1..=6).map(|number| status(&mut core, number)).collect();
    assert_eq!(
        statuses,
        [
            Some(TxStatus::Settled),
            Some(TxStatus::Settled),
            Some(TxStatus::Unknown),
            Some(TxStatus::Rejected),
            Some(TxStatus::Accepted),
            None
        ]
    );
    core.receive(RAIL, &view(1, "1"), START).expect("known");
    core.due(START + Span::secs(60)).expect("returned");
    let kinds: Vec<BookKind> =
        core.lines(&instruction_id(2)).expect("lines").iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [BookKind::Paid, BookKind::Returned]);
    assert_eq!(core.lines(&instruction_id(1)).expect("lines").len(), 1);
    core.steer(&instruction_id(3), Outcome::Settle, START).expect("legal");
    core.commit().expect("written");
    let references: Vec<Box<str>> = (1..=3)
        .flat_map(|number| core.lines(&instruction_id(number)).expect("lines"))
        .map(|line| line.reference)
        .collect();
    let unique: std::collections::BTreeSet<_> = references.iter().collect();
    assert_eq!((references.len(), unique.len()), (4, 4), "{references:?}");
}

#[test]
fn a_torn_last_line_is_truncated() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("book.jsonl");
    let mut core = open(&path);
    core.receive(RAIL, &view(1, "1"), START).expect("taken");
    core.commit().expect("written");
    let whole = fs::read(&path).expect("readable");
    core.receive(RAIL, &view(2, "1"), START).expect("taken");
    core.commit().expect("written");
    drop(core);
    let longer = fs::read(&path).expect("readable");
    for length in whole.len()..longer.len() {
        fs::write(&path, &longer[..length]).expect("writable");
        let mut core = open(&path);
        assert_eq!(status(&mut core, 1), Some(TxStatus::Accepted), "{length}");
        assert_eq!(status(&mut core, 2), None, "{length}");
        assert_eq!(fs::read(&path).expect("readable"), whole, "{length}");
    }
    let mut core = open(&path);
    core.receive(RAIL, &view(2, "1"), START).expect("taken");
    core.commit().expect("written");
    drop(core);
    assert_eq!(status(&mut open(&path), 2), Some(TxStatus::Accepted));
    for length in 0..whole.iter().position(|byte| *byte == b'\n').expect("a line") {
        fs::write(&path, &whole[..length]).expect("writable");
        assert_eq!(status(&mut open(&path), 1), None, "{length}");
    }
}

#[test]
fn a_damaged_line_in_the_middle_and_a_second_opener_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("book.jsonl");
    let first = open(&path);
    assert!(matches!(Journal::open(&path, START), Err(BookFault::InUse(_))));
    drop(first);
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("a file");
    file.write_all(b"{\"k\":\n{\"ack\":[\"r\",1]}\n").expect("writable");
    assert!(matches!(Journal::open(&path, START), Err(BookFault::Damaged { .. })));
}

#[test]
fn uncommitted_changes_are_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("book.jsonl");
    let mut core = open(&path);
    core.receive(RAIL, &view(1, "0002"), START).expect("refused");
    assert_eq!(status(&mut core, 1), Some(TxStatus::Rejected), "found before it is written");
    drop(core);
    assert_eq!(status(&mut open(&path), 1), None);
}
