//! Statements: the bookings, across restarts and pages, with mistakes on request.

use std::path::Path;

use domain::currency::Currency;
use domain::money::Money;
use domain::time::{Span, Timestamp};

use super::{instruction_id, texts};
use crate::bank::Journal;
use crate::bank::core::{BankCore, Behaviour, InstructionView, Mistake, Outcome, StatementPage};
use crate::bank::iso::{Header, statement_document};

const RAIL: &str = "pak-raast";
const START: Timestamp = Timestamp(1_795_244_268_000_000);

fn open(path: &Path) -> BankCore<Journal> {
    let (journal, restored) = Journal::open(path, START).expect("a book");
    BankCore::resume(Behaviour { statements: true, ..Behaviour::instant() }, journal, restored)
}

fn pay(core: &mut BankCore<Journal>, number: u128) {
    let view = InstructionView {
        instruction_id: instruction_id(number).into(),
        end_to_end_id: instruction_id(number).into(),
        uetr: "".into(),
        amount: Money::new(1_500, Currency::Pkr),
        account: "6702".into(),
        beneficiary: "A".into(),
    };
    core.receive(RAIL, &view, START).expect("taken");
    core.due(START).expect("settled");
}

/// The next page after `cursor`, skipping reports.
fn next(core: &mut BankCore<Journal>, cursor: &mut Option<String>) -> StatementPage {
    loop {
        let page = core.collect(RAIL, cursor.as_deref(), 10).expect("a page");
        *cursor = Some(page.cursor.expect("an item"));
        if let Some(statement) = page.statement {
            return (*statement).clone();
        }
    }
}

fn amounts(page: &StatementPage) -> Vec<i64> {
    page.lines
        .iter()
        .map(|line| if line.is_credit { line.amount.minor } else { -line.amount.minor })
        .collect()
}

#[test]
fn a_statement_has_the_bookings_across_a_restart_and_follows_the_previous_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("book.jsonl");
    let mut core = open(&path);
    pay(&mut core, 1);
    core.commit().expect("written");
    drop(core);
    let mut core = open(&path);
    pay(&mut core, 2);
    core.steer(&instruction_id(1), Outcome::Return, START).expect("returned");
    assert!(core.close_statements(START + Span::hours(1), None).expect("made"));
    core.commit().expect("written");
    drop(core);
    let mut core = open(&path);
    let mut cursor = None;
    let first = next(&mut core, &mut cursor);
    assert_eq!((amounts(&first), first.page, first.last), (vec![-1_500, -1_500, 1_500], 1, true));
    assert_eq!(first.closing, first.opening - 1_500);
    core.close_statements(START + Span::hours(2), None).expect("made");
    let second = next(&mut core, &mut cursor);
    assert_eq!(
        (amounts(&second), second.opening, second.closing),
        (vec![], first.closing, first.closing)
    );
    assert_eq!(second.from, first.to);
    assert_ne!(second.id, first.id);
}

#[test]
fn each_mistake_is_where_requested_and_corrected_as_by_a_bank() {
    for (mistake, wrong, then) in [
        (Mistake::Missing, vec![-1_500], vec![-1_500]),
        (Mistake::Amount, vec![-1_501, -1_500], vec![1_501, -1_500]),
        (Mistake::Twice, vec![-1_500, -1_500, -1_500], vec![1_500]),
        (Mistake::Unknown, vec![-1_500, -1_500, -1_500], vec![]),
        (Mistake::Balance, vec![-1_500, -1_500], vec![]),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut core = open(&dir.path().join("book.jsonl"));
        pay(&mut core, 1);
        pay(&mut core, 2);
        let id = instruction_id(1);
        assert!(!core.close_statements(START, Some((mistake, "unknown"))).expect("no fault"));
        assert!(core.close_statements(START, Some((mistake, &id))).expect("made"));
        let mut cursor = None;
        let page = next(&mut core, &mut cursor);
        assert_eq!(amounts(&page), wrong, "{mistake:?}");
        let adds_up = page.opening + amounts(&page).iter().sum::<i64>() == page.closing;
        assert_eq!(adds_up, mistake != Mistake::Balance);
        core.close_statements(START + Span::hours(1), None).expect("made");
        let after = next(&mut core, &mut cursor);
        assert_eq!((amounts(&after), after.opening), (then, page.closing), "{mistake:?}");
    }
}

#[test]
fn a_long_statement_has_consecutive_pages() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut core = open(&dir.path().join("book.jsonl"));
    for number in 1..=1_001 {
        pay(&mut core, number);
    }
    core.close_statements(START + Span::hours(1), None).expect("made");
    let mut cursor = None;
    let (first, second) = (next(&mut core, &mut cursor), next(&mut core, &mut cursor));
    assert_eq!((first.lines.len(), first.page, first.last), (1_000, 1, false));
    assert_eq!((second.lines.len(), second.page, second.last), (1, 2, true));
    assert_eq!((&first.id, first.closing), (&second.id, second.opening));
    let header = Header { id: "SB-1".to_owned(), created_at: START };
    let text = statement_document(&header, &second);
    assert_eq!(texts(&text, "PgNb"), ["2"]);
    assert_eq!(texts(&text, "LastPgInd"), ["true"]);
    assert_eq!(texts(&text, "EndToEndId"), [instruction_id(1_001)]);
}

#[test]
fn days_end_at_midnight() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut core = open(&dir.path().join("book.jsonl"));
    pay(&mut core, 1);
    let midnight = core.next_due().expect("the end of the day");
    assert_eq!(midnight.0 % Span::days(1).0, 0);
    assert!(!core.close_due(midnight - Span::secs(1)).expect("not yet"));
    assert!(core.close_due(midnight).expect("made"));
    assert!(!core.close_due(midnight).expect("once"));
    assert_eq!(amounts(&next(&mut core, &mut None)), [-1_500]);
}
