//! A rail, a payment for it, and a bank that is a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::rails::profile::{Account, Agent, Profile};
use adapters::rails::{Exchange, FilesConfig, IsoRail, OurSide};
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::ports::Rail as _;
use domain::rail::{Instruction, InstructionParty, RailId, Reports, Submission};
use domain::rail_text::CharacterSet;
use domain::time::Timestamp;
use uuid::Uuid;

pub const RAIL: &str = "pak-raast";
/// Greatest number of looks at the bank's files.
const LOOKS_MAX: usize = 50;
/// Longer than the pause between two looks at a directory of this machine.
const WAIT: Duration = Duration::from_millis(700);

pub fn config(exchange: Exchange) -> FilesConfig {
    FilesConfig {
        rail: RailId::new(RAIL),
        exchange,
        ours: OurSide {
            debtor_name: "Demo Bank".into(),
            debtor_account: Account::Other("NOSTRO-1".into()),
            debtor_agent: Agent::Other("DEMOBANK".into()),
            character_set: CharacterSet::SwiftX,
            profile: Profile::default(),
        },
        report_files: ["*.xml", "*.xml.pgp"].map(str::to_owned).to_vec(),
        report_wait: WAIT,
        grace: Duration::ZERO,
        pgp: None,
        acknowledgements: None,
    }
}

pub fn rail(config: &FilesConfig) -> IsoRail {
    IsoRail::files(config.clone()).expect("a rail")
}

pub fn instruction(number: u128) -> Instruction {
    Instruction {
        rail: RailId::new(RAIL),
        tenant: TenantId(Uuid::nil()),
        payment: PaymentId(Uuid::from_u128(1_000 + number)),
        attempt: AttemptId(Uuid::from_u128(number)),
        amount: Money::new(3_791_205, Currency::Pkr),
        created_at: Timestamp(1_795_244_268_000_000),
        debtor: InstructionParty { name: "Omar Ali".into(), ..InstructionParty::default() },
        creditor: InstructionParty { name: "Ayesha Khan".into(), ..InstructionParty::default() },
        creditor_account: "PK36SCBL0000001123456702".into(),
        creditor_account_is_iban: true,
        creditor_account_type: "SVGS",
        creditor_bic: Some("SCBLPKKX".into()),
        creditor_local_code: None,
        creditor_bank: "Standard Chartered".into(),
        purpose: "FAMI".into(),
        names: domain::rail::NameForm::Whole,
        source_of_funds: None,
        remittance: "family support".into(),
    }
}

/// Sends one payment.
pub async fn pay(rail: &IsoRail, number: u128) -> Submission {
    rail.submit(&[instruction(number)]).await.pop().expect("an answer")
}

/// The id of the message that carries it.
pub fn message(rail: &IsoRail, number: u128) -> String {
    rail.message_id(&[instruction(number)]).expect("a message")
}

/// The first page that holds anything.
pub async fn page(rail: &IsoRail, cursor: Option<&str>) -> Reports {
    for _ in 0..LOOKS_MAX {
        let page = rail.collect(cursor).await.expect("readable");
        if page != Reports::default() {
            return page;
        }
    }
    panic!("nothing was found after {cursor:?}");
}

/// A pain.002 with the status of a whole message.
pub fn status(id: &str, message: &str, status: &str) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr><MsgId>{id}</MsgId>\
         </GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>\
         <GrpSts>{status}</GrpSts></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>"
    )
}

/// Puts a complete file into a directory.
pub fn put(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    let hidden = dir.join(format!(".{name}"));
    fs::write(&hidden, content).expect("written");
    fs::rename(hidden, dir.join(name)).expect("renamed");
}

/// The names of a directory's files, in order.
pub fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).filter(|entry| entry.path().is_file());
    let mut names: Vec<String> =
        files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub fn exchange(dir: &Path) -> (Exchange, PathBuf, PathBuf) {
    (Exchange::Directory(dir.to_owned()), dir.join("out"), dir.join("in"))
}
