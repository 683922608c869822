//! The rails' client against the simulated bank: two independent implementations of ISO 20022 that
//! must agree, over HTTP and over a directory.

use std::path::Path;
use std::time::Duration;

use adapters::outbound::Settings;
use adapters::rails::profile::{Account, Agent, FileName, IdForm, Profile, Version};
use adapters::rails::{Exchange, FILE_GRACE, FilesConfig, HttpsConfig, IsoRail, OurSide};
use domain::attempt::AttemptState;
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::ports::Rail;
use domain::rail::{
    BankReport, Inquiry, InquiryAnswer, Instruction, InstructionParty, RailId, RailStatus,
    Submission,
};
use domain::rail_ids::{Candidate, Candidates, SentIn};
use domain::rail_text::CharacterSet;
use domain::time::{Span, Timestamp};
use testkit::bank::{self, BankConfig, Behaviour, SimulatedBank};
use uuid::Uuid;

const RAIL: &str = "pak-raast";
/// Maximum number of polls per test; each waits for reports.
const LOOKS_MAX: usize = 50;

fn ours() -> OurSide {
    OurSide {
        debtor_name: "Demo Bank".into(),
        debtor_account: Account::Other("NOSTRO-1".into()),
        debtor_agent: Agent::Other("DEMOBANK".into()),
        character_set: CharacterSet::SwiftX,
        profile: Profile::default(),
    }
}

fn instruction(number: u128, account: &str) -> Instruction {
    Instruction {
        rail: RailId::new(RAIL),
        tenant: TenantId(Uuid::nil()),
        payment: PaymentId(Uuid::from_u128(1_000 + number)),
        attempt: AttemptId(Uuid::from_u128(number)),
        amount: Money::new(3_791_205, Currency::Pkr),
        created_at: Timestamp(1_795_244_268_000_000),
        debtor: InstructionParty {
            name: "Omar <&> Ali".into(),
            country: "ARE".into(),
            ..InstructionParty::default()
        },
        creditor: InstructionParty {
            name: "Ayesha Khan".into(),
            country: "PAK".into(),
            ..InstructionParty::default()
        },
        creditor_account: account.into(),
        creditor_account_is_iban: account.starts_with("PK"),
        creditor_account_type: "SVGS",
        creditor_bic: Some("SCBLPKKX".into()),
        creditor_local_code: None,
        creditor_bank: "Standard Chartered".into(),
        purpose: "FAMI".into(),
        names: domain::rail::NameForm::Whole,
        source_of_funds: None,
        remittance: "family \"support\"".into(),
    }
}

fn inquiry(of: &Instruction) -> Inquiry {
    Inquiry {
        payment: of.payment,
        attempt: of.attempt,
        created_at: of.created_at,
        recalls: Vec::new(),
    }
}

fn bank_config() -> BankConfig {
    BankConfig { behaviour: Behaviour::instant(), hang: Span::millis(20), ..BankConfig::default() }
}

fn https(bank: &SimulatedBank) -> IsoRail {
    IsoRail::https(HttpsConfig {
        rail: RailId::new(RAIL),
        url: bank.url(RAIL).expect("it listens"),
        outbound: Settings::default(),
        ours: ours(),
        report_wait: Duration::from_secs(1),
    })
    .expect("a rail")
}

fn directory(path: &Path) -> IsoRail {
    directory_as(path, ours())
}

fn directory_as(path: &Path, ours: OurSide) -> IsoRail {
    IsoRail::files(FilesConfig {
        rail: RailId::new(RAIL),
        exchange: Exchange::Directory(path.to_owned()),
        ours,
        report_files: vec!["*.xml".to_owned()],
        report_wait: Duration::from_secs(1),
        grace: FILE_GRACE,
        pgp: None,
        acknowledgements: None,
    })
    .expect("a rail")
}

/// The result of a submission, in short.
fn word(answer: &Submission) -> String {
    match answer {
        Submission::Reported(report) => format!("{:?}", report.status),
        Submission::Taken => "taken".into(),
        Submission::NotSent(_) => "not sent".into(),
        Submission::Indeterminate(_) => "?".into(),
    }
}

/// Collects after `cursor`, and advances it, until `count` reports have arrived, none of them
/// unreadable.
async fn reports(rail: &IsoRail, cursor: &mut Option<String>, count: usize) -> Vec<BankReport> {
    let mut all = Vec::new();
    for _ in 0..LOOKS_MAX {
        let page = rail.collect(cursor.as_deref()).await.expect("a page");
        assert_eq!(page.unreadable, Vec::<String>::new());
        all.extend(page.reports);
        *cursor = page.cursor.or(cursor.take());
        if all.len() >= count {
            break;
        }
    }
    assert_eq!(all.len(), count, "{all:?}");
    all
}

fn told(reports: &[BankReport], of: &Instruction) -> Vec<RailStatus> {
    reports
        .iter()
        .filter(|report| is_about(report, of))
        .map(|report| report.said.status.clone())
        .collect()
}

fn is_about(report: &BankReport, order: &Instruction) -> bool {
    let uetr = Some(order.attempt.to_string());
    report.ids().any(|ids| ids.uetr == uetr)
}

#[tokio::test]
async fn over_http_every_outcome_is_understood() {
    let bank = SimulatedBank::start(bank_config()).await.expect("a bank");
    let rail = https(&bank);
    let accounts = [
        "PK36SCBL0000001123456702",
        "10001",
        "10002",
        "10003",
        "10004",
        "10005",
        "10006",
        "10007",
        "10008",
    ];
    let batch: Vec<Instruction> =
        (1_u128..).zip(accounts).map(|(number, account)| instruction(number, account)).collect();
    let words: Vec<String> = rail.submit(&batch).await.iter().map(word).collect();
    let accepted = "Accepted";
    assert_eq!(
        words,
        [
            accepted, accepted, "Rejected", accepted, "Unknown", accepted, "taken", accepted,
            accepted
        ]
    );
    let reports = reports(&rail, &mut None, 10).await;
    use RailStatus::{Accepted, Rejected, Returned, Settled};
    let expected = [
        vec![Settled],
        vec![Accepted, Rejected],
        vec![],
        vec![Settled, Returned],
        vec![],
        vec![],
        vec![Settled],
        vec![Settled, Settled],
        vec![Settled, Rejected],
    ];
    for (order, expected) in batch.iter().zip(expected) {
        assert_eq!(told(&reports, order), expected, "{}", order.creditor_account);
    }
    assert!(
        reports
            .iter()
            .all(|report| report.said.amount.is_none_or(|amount| amount == batch[0].amount))
    );
    let lines = bank.book(&batch[0].payment.end_to_end_id()).expect("a book");
    let settled = reports.iter().find(|report| is_about(report, &batch[0])).expect("reported");
    assert_eq!(settled.said.bank_reference.as_deref(), Some(&*lines[0].reference));
    assert_eq!((&*lines[0].account, &*lines[0].beneficiary), (accounts[0], "Ayesha Khan"));

    let unknown = instruction(99, "1");
    let asked: Vec<Inquiry> = batch.iter().chain([&unknown]).map(inquiry).collect();
    let answers = rail.inquire(&asked).await;
    let InquiryAnswer::Reported(first) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((&first.status, first.amount), (&Settled, Some(batch[0].amount)));
    assert_eq!(first.bank_reference.as_deref(), Some(&*lines[0].reference));
    assert!(matches!(&answers[6], InquiryAnswer::Reported(report) if report.status == Settled));
    assert_eq!(answers.last(), Some(&InquiryAnswer::NotFound));
    bank.stop().await;
}

#[tokio::test]
async fn over_http_a_hanging_answer_is_indeterminate_and_a_repetition_harmless() {
    let bank = SimulatedBank::start(bank_config()).await.expect("a bank");
    let rail = https(&bank);
    let batch = [instruction(1, "10006")];
    assert_eq!(rail.submit(&batch).await.iter().map(word).collect::<Vec<_>>(), ["?"]);
    reports(&rail, &mut None, 1).await;
    assert_eq!(rail.submit(&batch).await.iter().map(word).collect::<Vec<_>>(), ["Settled"]);
    assert_eq!(bank.book(&batch[0].payment.end_to_end_id()).expect("a book").len(), 1);
    bank.stop().await;
}

/// A bank that serves a directory alone.
async fn bank_of(root: &Path) -> SimulatedBank {
    let served =
        bank::DirectoryConfig { rail: RAIL.into(), path: root.to_owned(), poll: Span::millis(5) };
    let config = BankConfig { listen: None, directories: vec![served], ..bank_config() };
    SimulatedBank::start(config).await.expect("a bank")
}

#[tokio::test]
async fn over_a_directory_answers_come_among_the_reports() {
    let root = tempfile::tempdir().expect("a directory");
    let bank = bank_of(root.path()).await;
    let rail = directory(root.path());
    let batch = [instruction(1, "1"), instruction(2, "10002"), instruction(3, "10003")];
    assert_eq!(rail.submit(&batch).await.iter().map(word).collect::<Vec<_>>(), ["taken"; 3]);
    let mut cursor = None;
    let first = reports(&rail, &mut cursor, 6).await;
    use RailStatus::{Accepted, Rejected, Returned, Settled};
    assert_eq!(told(&first, &batch[0]), [Accepted, Settled]);
    assert_eq!(told(&first, &batch[1]), [Rejected]);
    assert_eq!(told(&first, &batch[2]), [Accepted, Settled, Returned]);
    assert_eq!(rail.inquire(&[inquiry(&batch[0])]).await, [InquiryAnswer::Asked]);
    let answer = reports(&rail, &mut cursor, 1).await;
    assert_eq!(told(&answer, &batch[0]), [Settled]);
    bank.stop().await;
}

/// A bank of the older version that takes short ids in capitals: its reports name them, and lead to the
/// attempts and the message.
#[tokio::test]
async fn reports_with_short_ids_are_matched() {
    let root = tempfile::tempdir().expect("a directory");
    let bank = bank_of(root.path()).await;
    let profile = Profile {
        version: Version::V03,
        ids: IdForm { max_chars: 16, upper_case: true },
        file_name: FileName::parse("PAIN_{date}_{sequence}.XML").expect("a template"),
        ..Profile::default()
    };
    let rail = directory_as(root.path(), OurSide { profile, ..ours() });
    let random = |seed: u8| uuid::Builder::from_random_bytes([seed * 37; 16]).into_uuid();
    let batch: Vec<Instruction> = (1_u8..)
        .zip(["1", "10002", "10003"])
        .map(|(seed, account)| Instruction {
            payment: PaymentId(random(seed)),
            attempt: AttemptId(random(seed)),
            ..instruction(seed.into(), account)
        })
        .collect();
    let message = rail.message_id(&batch).expect("messages have ids");
    let sent = |(at, one): (usize, &Instruction)| Candidate {
        tenant: one.tenant,
        payment: one.payment,
        attempt: one.attempt,
        number: 1,
        state: AttemptState::Sending,
        amount: one.amount,
        reference: None,
        sent: vec![SentIn { message: message.clone(), position: at + 1 }],
        recalls: Vec::new(),
    };
    let candidates = Candidates::new(batch.iter().enumerate().map(sent).collect());
    assert_eq!(rail.submit(&batch).await.iter().map(word).collect::<Vec<_>>(), ["taken"; 3]);
    let mut cursor = None;
    let heard = reports(&rail, &mut cursor, 6).await;
    let statuses = |of: &Instruction| -> Vec<RailStatus> {
        let about = |report: &BankReport| {
            let found = report.of_attempts(&candidates).expect("matched");
            let own = found.into_iter().find(|(candidate, _)| candidate.attempt == of.attempt);
            own.map(|(_, report)| report.status)
        };
        heard.iter().filter_map(about).collect()
    };
    use RailStatus::{Accepted, Rejected, Returned, Settled};
    assert_eq!(statuses(&batch[0]), [Accepted, Settled]);
    assert_eq!(statuses(&batch[1]), [Rejected]);
    assert_eq!(statuses(&batch[2]), [Accepted, Settled, Returned]);
    // An inquiry names the attempt as it was sent.
    assert_eq!(rail.inquire(&[inquiry(&batch[0])]).await, [InquiryAnswer::Asked]);
    let answer = reports(&rail, &mut cursor, 1).await;
    assert_eq!(answer[0].of_attempts(&candidates).expect("matched")[0].0.attempt, batch[0].attempt);
    bank.stop().await;
}
