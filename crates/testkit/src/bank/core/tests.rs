//! Outcomes of orders by ending, and effects of repetitions.

use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::payment::report::INQUIRY_DELAYS;
use domain::rail::{
    BankReport, Inquiry, InquiryAnswer, Instruction, InstructionParty, RailId, RailStatus,
    Submission,
};
use domain::time::{Span, Timestamp};
use uuid::Uuid;

use super::*;
use crate::bank::BankConfig;

const START: Timestamp = Timestamp(1_795_244_268_000_000);
const RAIL: &str = "pak-raast";

fn bank(behaviour: Behaviour) -> BankCore<MemoryBook> {
    BankCore::new(behaviour, MemoryBook::default(), START)
}

fn view(number: u128, account: &str) -> InstructionView {
    let id = Uuid::from_u128(number);
    InstructionView {
        instruction_id: id.simple().to_string().into(),
        end_to_end_id: id.simple().to_string().into(),
        uetr: id.to_string().into(),
        amount: Money::new(3_791_205, Currency::Pkr),
        account: account.into(),
        beneficiary: "Ayesha Khan".into(),
    }
}

fn query(view: &InstructionView) -> QueryView {
    QueryView {
        instruction_id: view.instruction_id.clone(),
        end_to_end_id: view.end_to_end_id.clone(),
        uetr: view.uetr.clone(),
    }
}

/// Executes all events and returns `(message, code, reason, seconds since the start)` of each
/// report.
fn run(core: &mut BankCore<MemoryBook>) -> Vec<(&'static str, &'static str, Option<String>, i64)> {
    let mut reports = Vec::new();
    while let Some(at) = core.next_due() {
        let Ok(new) = core.due(at);
        reports.extend(new);
    }
    let told = |report: &Arc<Report>| {
        let standing = &report.standing;
        let seconds = (standing.at - START).0 / 1_000_000;
        let reason = standing.reason.as_deref().map(str::to_owned);
        (feed::message_kind(standing), standing.status.code(), reason, seconds)
    };
    reports.iter().map(told).collect()
}

fn check(
    account: &str,
    answer: Option<&str>,
    reports: &[(&str, &str)],
    book: &[BookKind],
    later: &str,
) {
    let mut core = bank(Behaviour::default());
    let order = view(7, account);
    let Ok(answered) = core.receive(RAIL, &order, START);
    let code = match &answered {
        Answer::Reported(standing) => Some(standing.status.code()),
        Answer::Withheld => None,
    };
    assert_eq!(code, answer, "{account}: answer");
    let told = run(&mut core);
    let kinds: Vec<(&str, &str)> = told.iter().map(|(kind, code, ..)| (*kind, *code)).collect();
    assert_eq!(kinds, reports, "{account}: reports");
    assert!(told.iter().all(|(.., seconds)| *seconds < 10), "{account}: {told:?}");
    let Ok(lines) = core.lines(&order.end_to_end_id);
    assert_eq!(lines.iter().map(|line| line.kind).collect::<Vec<_>>(), book, "{account}: book");
    let Ok(standing) = core.inquire(RAIL, &query(&order));
    assert_eq!(standing.map(|known| known.status.code()), Some(later), "{account}: inquiry");
}

#[test]
fn the_account_selects_the_ending() {
    use BookKind::{Paid, Returned};
    check("PK36SCBL0000001123456702", Some("ACSP"), &[("camt.054", "ACSC")], &[Paid], "ACSC");
    let failed = [("pain.002", "ACSP"), ("pain.002", "RJCT")];
    check("PK36SCBL0000001123450001", Some("ACSP"), &failed, &[], "RJCT");
    check("PK36SCBL0000001123450002", Some("RJCT"), &[], &[], "RJCT");
    check(
        "12340003",
        Some("ACSP"),
        &[("camt.054", "ACSC"), ("pacs.004", "ACSC")],
        &[Paid, Returned],
        "ACSC",
    );
    check("0004", Some("UNKN"), &[], &[], "UNKN");
    check("12340005", Some("ACSP"), &[], &[], "ACSP");
    check("12340006", None, &[("camt.054", "ACSC")], &[Paid], "ACSC");
    check("12340007", Some("ACSP"), &[("camt.054", "ACSC"), ("camt.054", "ACSC")], &[Paid], "ACSC");
    check("12340008", Some("ACSP"), &[("camt.054", "ACSC"), ("pain.002", "RJCT")], &[Paid], "ACSC");
    check("004", Some("ACSP"), &[("camt.054", "ACSC")], &[Paid], "ACSC");
}

#[test]
fn refusals_carry_their_reasons() {
    let mut core = bank(Behaviour::default());
    let Ok(answer) = core.receive(RAIL, &view(1, "0002"), START);
    assert!(
        matches!(answer, Answer::Reported(standing) if standing.reason.as_deref() == Some("AC01"))
    );
    let Ok(_) = core.receive(RAIL, &view(2, "0001"), START);
    let Ok(_) = core.receive(RAIL, &view(3, "0003"), START);
    let reasons: Vec<Option<String>> =
        run(&mut core).into_iter().map(|(_, _, reason, _)| reason).collect();
    assert_eq!(reasons.iter().filter(|reason| reason.as_deref() == Some("AC04")).count(), 2);
}

#[test]
fn orders_settle_within_the_promised_times() {
    let mut core = bank(Behaviour::default());
    for number in 0..200 {
        let Ok(_) = core.receive(RAIL, &view(number, "1"), START);
    }
    let Ok(early) = core.due(START + Span::millis(999));
    assert_eq!(early.len(), 0);
    let Ok(all) = core.due(START + Span::millis(2_000));
    assert_eq!(all.len(), 200);
}

#[test]
fn returns_happen_within_ten_seconds() {
    let mut core = bank(Behaviour::default());
    for number in 0..200 {
        let Ok(_) = core.receive(RAIL, &view(number, "0003"), START);
    }
    let Ok(reports) = core.due(START + Span::millis(9_999));
    let returned = reports.iter().filter(|report| report.standing.status == TxStatus::Returned);
    assert_eq!(returned.count(), 200);
}

/// The connection hangs, then breaks, and the first inquiry follows: by then the order is paid, but
/// not reported.
#[test]
fn a_withheld_order_is_inquired_about_within_ten_seconds_and_found_paid() {
    let asked = START + BankConfig::default().hang + INQUIRY_DELAYS[0];
    assert!(asked < START + Span::secs(10), "{asked}");
    let mut core = bank(Behaviour::default());
    for number in 0..200 {
        let Ok(_) = core.receive(RAIL, &view(number, "0006"), START);
    }
    let Ok(reports) = core.due(asked);
    assert_eq!(reports.len(), 0);
    for number in 0..200 {
        let Ok(known) = core.inquire(RAIL, &query(&view(number, "0006")));
        assert_eq!(known.expect("known").status, TxStatus::Settled);
    }
}

#[test]
fn the_withheld_settlement_is_reported_late_but_known_to_an_inquiry() {
    let mut core = bank(Behaviour::default());
    let order = view(1, "0006");
    let Ok(answer) = core.receive(RAIL, &order, START);
    assert_eq!(answer, Answer::Withheld);
    let Ok(reports) = core.due(START + Span::secs(3));
    assert_eq!(reports.len(), 0);
    let Ok(known) = core.inquire(RAIL, &query(&order));
    assert_eq!(known.expect("known").status, TxStatus::Settled);
    let Ok(late) = core.due(START + Span::secs(60));
    assert_eq!(late.len(), 1);
    let Ok(again) = core.receive(RAIL, &order, START + Span::secs(61));
    assert!(matches!(again, Answer::Reported(standing) if standing.status == TxStatus::Settled));
}

#[test]
fn a_repetition_never_pays_twice() {
    let mut core = bank(Behaviour::default());
    let order = view(1, "1");
    for at in [0, 1, 5] {
        let Ok(_) = core.receive(RAIL, &order, START + Span::secs(at));
        let Ok(_) = core.due(START + Span::secs(at));
    }
    let Ok(lines) = core.lines(&order.end_to_end_id);
    assert_eq!(lines.len(), 1);
    let other =
        InstructionView { instruction_id: "another".into(), uetr: "".into(), ..order.clone() };
    let Ok(answer) = core.receive(RAIL, &other, START + Span::secs(9));
    let Answer::Reported(refused) = answer else { panic!("withheld") };
    assert_eq!((refused.status, refused.reason.as_deref()), (TxStatus::Rejected, Some("AM05")));
    assert!(run(&mut core).is_empty());
    assert_eq!(core.totals().paid_again, 0);
}

#[test]
fn a_refused_order_may_be_sent_again_as_another_attempt() {
    let mut core = bank(Behaviour::instant());
    let Ok(_) = core.receive(RAIL, &view(1, "0002"), START);
    let second = InstructionView { instruction_id: "second".into(), ..view(1, "9") };
    let Ok(_) = core.receive(RAIL, &second, START);
    run(&mut core);
    let Ok(lines) = core.lines(&second.end_to_end_id);
    assert_eq!(lines.len(), 1);
    assert_eq!(&*lines[0].instruction_id, "second");
}

#[test]
fn without_duplicate_detection_a_repetition_pays_again_and_the_book_shows_it() {
    let mut behaviour = Behaviour::instant();
    behaviour.without_duplicate_detection.insert(RAIL.into());
    let mut core = bank(behaviour);
    let order = view(1, "1");
    for _ in 0..2 {
        let Ok(_) = core.receive(RAIL, &order, START);
        run(&mut core);
    }
    let Ok(lines) = core.lines(&order.end_to_end_id);
    assert_eq!(lines.len(), 2);
    assert_ne!(lines[0].reference, lines[1].reference);
    assert_eq!(core.totals().paid_again, 1);
    let Ok(_) = core.receive_resumed(RAIL, &order, START);
    assert!(run(&mut core).is_empty());
}

#[test]
fn the_same_seed_repeats_and_another_differs() {
    let times = |seed| {
        let mut core = bank(Behaviour { seed, ..Behaviour::default() });
        let Ok(_) = core.receive(RAIL, &view(1, "0003"), START);
        let mut due = Vec::new();
        while let Some(at) = core.next_due() {
            due.push(at);
            let Ok(_) = core.due(at);
        }
        due
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

#[test]
fn reports_wait_until_they_are_acknowledged() {
    let mut core = bank(Behaviour::instant());
    for (number, account) in [(1, "1"), (2, "2"), (3, "0001"), (4, "3")] {
        let Ok(_) = core.receive(RAIL, &view(number, account), START);
    }
    let Ok(_) = core.due(START);
    let Ok(first) = core.collect(RAIL, None, 10);
    assert_eq!((first.reports.len(), first.kind()), (2, Some("camt.054")));
    let Ok(again) = core.collect(RAIL, None, 10);
    assert_eq!(again, first);
    let Ok(second) = core.collect(RAIL, first.cursor.as_deref(), 10);
    assert_eq!((second.reports.len(), second.kind()), (2, Some("pain.002")));
    assert!(second.cursor > first.cursor);
    let Ok(third) = core.collect(RAIL, second.cursor.as_deref(), 10);
    assert_eq!(third.reports.len(), 1);
    let Ok(end) = core.collect(RAIL, third.cursor.as_deref(), 10);
    assert_eq!(end, Page::default());
    let Ok(other) = core.collect("other-rail", None, 10);
    assert_eq!(other, Page::default());
}

#[test]
fn faults_double_and_delay_reports() {
    let faults =
        Faults { duplicate_report_per_mille: 1_000, late_report_per_mille: 1_000, ..Faults::NONE };
    let behaviour =
        Behaviour { faults, return_after: DelayRange::millis(1, 1), ..Behaviour::default() };
    let mut core = bank(behaviour);
    let Ok(_) = core.receive(RAIL, &view(1, "0003"), START);
    let kinds: Vec<&str> = run(&mut core).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["pacs.004", "pacs.004", "camt.054", "camt.054"]);
}

#[test]
fn only_legal_outcomes_can_be_requested() {
    let mut core = bank(Behaviour::default());
    let order = view(1, "0004");
    let key = order.end_to_end_id.clone();
    assert!(matches!(core.steer(&key, Outcome::Settle, START), Err(SteerFault::NotFound)));
    let Ok(_) = core.receive(RAIL, &order, START);
    let refused = core.steer(&key, Outcome::Return, START).expect_err("not paid");
    assert_eq!(
        refused.to_string(),
        "an order with status UNKN cannot be changed to return; possible: settle, fail, cancel"
    );
    assert_eq!(
        core.steer(&key, Outcome::Settle, START).expect("settled").status,
        TxStatus::Settled
    );
    assert_eq!(
        core.steer(&key, Outcome::Return, START).expect("returned").status,
        TxStatus::Returned
    );
    assert!(matches!(
        core.steer(&key, Outcome::Settle, START),
        Err(SteerFault::Illegal { legal: [], .. })
    ));
    let stuck = view(2, "0005");
    let Ok(_) = core.receive(RAIL, &stuck, START);
    assert_eq!(
        core.steer(&stuck.end_to_end_id, Outcome::Cancel, START).expect("cancelled").status,
        TxStatus::Cancelled
    );
    let waiting = view(3, "1");
    let Ok(_) = core.receive(RAIL, &waiting, START);
    assert_eq!(
        core.steer(&waiting.end_to_end_id, Outcome::Fail, START).expect("failed").status,
        TxStatus::Rejected
    );
    assert!(run(&mut core).is_empty(), "planned events are dropped");
    let Ok(page) = core.collect(RAIL, None, 10);
    assert_eq!(page.kind(), Some("camt.054"));
}

fn instruction(account: &str) -> Instruction {
    let id = Uuid::from_u128(42);
    Instruction {
        rail: RailId::new(RAIL),
        tenant: TenantId(id),
        payment: PaymentId(id),
        attempt: AttemptId(id),
        amount: Money::new(100, Currency::Pkr),
        created_at: START,
        debtor: InstructionParty::default(),
        creditor: InstructionParty { name: "Ayesha Khan".into(), ..InstructionParty::default() },
        creditor_account: account.into(),
        creditor_account_is_iban: false,
        creditor_account_type: "CACC",
        creditor_bic: None,
        creditor_local_code: None,
        creditor_bank: "HBL".into(),
        purpose: "FAMI".into(),
        names: domain::rail::NameForm::Whole,
        source_of_funds: None,
        remittance: String::new(),
    }
}

#[test]
fn the_engine_s_terms_are_equivalent() {
    let mut core = bank(Behaviour::instant());
    let order = instruction("0003");
    let rail = order.rail.clone();
    let inquiry = Inquiry {
        payment: order.payment,
        attempt: order.attempt,
        created_at: START,
        recalls: Vec::new(),
    };
    let Ok(before) = core.inquire_attempt(&rail, &inquiry);
    assert_eq!(before, InquiryAnswer::NotFound);
    let Ok(Submission::Reported(report)) = core.receive_instruction(&order, START) else {
        panic!("no report")
    };
    assert_eq!((report.attempt, report.status), (order.attempt, RailStatus::Accepted));
    let Ok(reports) = core.due_rail_reports(START);
    let statuses: Vec<&RailStatus> = reports.iter().map(|(_, report)| &report.status).collect();
    assert_eq!(statuses, [&RailStatus::Settled, &RailStatus::Returned]);
    assert!(reports.iter().all(|(of, report)| *of == rail && report.amount == Some(order.amount)));
    let Ok(page) = core.collect_reports(&rail, None, 10);
    assert_eq!(page.reports, [BankReport::from(reports[0].1.clone())]);
    let Ok(InquiryAnswer::Reported(now)) = core.inquire_attempt(&rail, &inquiry) else {
        panic!("unknown")
    };
    assert_eq!(now.status, RailStatus::Settled);
    let withheld = Instruction { payment: PaymentId(Uuid::from_u128(43)), ..instruction("0006") };
    let Ok(answer) = core.receive_instruction(&withheld, START);
    assert!(matches!(answer, Submission::Indeterminate(_)));
}

/// The answer to a recall of an order with this ending, and what the bank then reports.
fn recalled(
    ending: &str,
    after_settlement: bool,
) -> (RecallReply, Vec<(&'static str, &'static str)>) {
    let mut core = bank(Behaviour::default());
    let order = view(1, &format!("PK36SCBL000000112345{ending}"));
    let Ok(_) = core.receive(RAIL, &order, START);
    let mut now = START;
    if after_settlement {
        run(&mut core);
        now = START + Span::secs(60);
    }
    let Ok(reply) = core.recall(RAIL, &query(&order), now);
    let Ok(again) = core.recall(RAIL, &query(&order), now);
    assert_eq!(again, reply, "{ending}: the same request has the same answer");
    let reports = run(&mut core).into_iter().map(|(message, code, ..)| (message, code)).collect();
    (reply, reports)
}

#[test]
fn a_recall_has_the_outcome_that_the_account_selects() {
    let said = |reply: RecallReply| match reply {
        RecallReply::Answered(note) => (note.word.code(), note.reason.unwrap_or_default()),
        RecallReply::Silent => ("", Box::default()),
    };
    let returned = ("pacs.004", "ACSC");
    let settled = ("camt.054", "ACSC");
    for (ending, is_paid, word, reason, reports) in [
        ("6702", true, "CNCL", "", vec![returned]),
        ("6702", false, "CNCL", "", vec![]),
        ("0012", true, "CNCL", "", vec![]),
        ("0012", false, "CNCL", "", vec![settled]),
        ("0013", true, "RJCR", "LEGL", vec![]),
        ("0014", true, "PDCR", "", vec![("camt.029", "ACSC"), returned]),
        ("0015", true, "", "", vec![]),
        ("0001", true, "RJCR", "NOOR", vec![]),
        ("0003", true, "RJCR", "ARDT", vec![]),
        ("0004", true, "PDCR", "", vec![]),
    ] {
        let (reply, seen) = recalled(ending, is_paid);
        assert_eq!((said(reply), seen), ((word, reason.into()), reports), "{ending} {is_paid}");
    }
    let Ok(unknown) = bank(Behaviour::instant()).recall(RAIL, &query(&view(9, "1")), START);
    assert_eq!(said(unknown), ("RJCR", "NOOR".into()));
}
