//! The golden pain.001 and the properties of its MsgId.

use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::rail_text::CharacterSet;
use jiff::civil::date;
use uuid::Uuid;

use super::*;

fn ours() -> OurSide {
    OurSide {
        initiating_party: "Corridor Exchange LLC".into(),
        debtor_account: "0123456789".into(),
        debtor_agent: "BANK-1 & <Co>".into(),
        local_instrument: Some("RAAST".into()),
        character_set: CharacterSet::SwiftX,
    }
}

fn instruction(number: u128) -> Instruction {
    Instruction {
        rail: RailId::new("pak-raast"),
        tenant: TenantId(Uuid::from_u128(9)),
        payment: PaymentId(Uuid::from_u128(0x0190_0000_0000_4000_8000_0000_0000_0000 + number)),
        attempt: AttemptId(Uuid::from_u128(0x0190_0000_0000_4000_9000_0000_0000_0000 + number)),
        amount: Money::new(3_791_205, Currency::Pkr),
        created_at: Timestamp(1_795_244_268_123_000),
        debtor: InstructionParty {
            name: "Đặng Thị Müller <x>".into(),
            split: None,
            address: "Sheikh Zayed Rd. 1 & 2".into(),
            city: "Dubai".into(),
            country: "ARE".into(),
            mobile: Some("+971501234567".into()),
            email: None,
            birthdate: Some(date(1980, 2, 29)),
            document: Some(("passport".into(), "N1234567".into(), Some("VNM".into()))),
        },
        creditor: InstructionParty {
            name: "A".repeat(141),
            city: "Karachi".into(),
            country: "PK".into(),
            mobile: Some("+923001234567".into()),
            email: Some("a&b@example.com".into()),
            ..InstructionParty::default()
        },
        creditor_account: "PK36SCBL0000001123456702".into(),
        creditor_account_is_iban: true,
        creditor_account_type: "SVGS",
        creditor_bic: Some("SCBLPKKX".into()),
        creditor_local_code: None,
        creditor_bank: "Standard Chartered Bank (Pakistan)".into(),
        purpose: "FAMI".into(),
        names: domain::rail::NameForm::Whole,
        source_of_funds: None,
        remittance: "gift; daughter".into(),
    }
}

fn local(number: u128) -> Instruction {
    Instruction {
        amount: Money::new(1_000, Currency::Vnd),
        created_at: Timestamp(0),
        debtor: InstructionParty {
            document: Some(("other".into(), "77".into(), None)),
            ..InstructionParty::default()
        },
        creditor: InstructionParty {
            name: "আ".into(),
            country: "XXX".into(),
            ..InstructionParty::default()
        },
        creditor_account: "000123456".into(),
        creditor_account_is_iban: false,
        creditor_account_type: "CACC",
        creditor_bic: None,
        creditor_local_code: Some("970436".into()),
        purpose: "FAMILY".into(),
        remittance: String::new(),
        ..instruction(number)
    }
}

#[test]
fn the_message_is_the_golden_one() {
    let message = write(&RailId::new("pak-raast"), &ours(), &[instruction(1), local(2)]);
    let golden = include_str!("../../tests/data/rails/pain.001.xml");
    // The golden file has one element per line, for readability.
    let golden: String = golden.lines().map(str::trim_start).collect();
    assert_eq!(message.xml.replace('\n', ""), golden);
    assert!(message.xml.contains(&format!("<MsgId>{}</MsgId>", message.id)));
}

#[test]
fn a_repetition_is_identical_and_another_batch_is_not() {
    let rail = RailId::new("pak-raast");
    let id = |batch: &[Instruction]| write(&rail, &ours(), batch).id;
    let (one, two, three) = (instruction(1), instruction(2), instruction(3));
    let batch = [one.clone(), two.clone()];
    assert_eq!(write(&rail, &ours(), &batch).xml, write(&rail, &ours(), &batch.clone()).xml);
    let others =
        [id(&batch), id(std::slice::from_ref(&one)), id(&[one.clone(), three]), id(&[two, one])];
    for (at, id) in others.iter().enumerate() {
        assert!(id.len() <= MAX_ID_CHARS && !others[..at].contains(id), "{id}");
    }
    assert_ne!(write(&RailId::new("pak-ibft"), &ours(), &batch).id, id(&batch));
}

#[test]
fn the_control_sum_is_exact() {
    let mut batch = vec![instruction(1); 10];
    for (at, instruction) in batch.iter_mut().enumerate() {
        instruction.amount.minor = i64::MAX - at as i64;
    }
    let xml = write(&RailId::new("r"), &ours(), &batch).xml;
    assert!(xml.contains("<CtrlSum>922337203685477580.25</CtrlSum>"), "{xml}");
}

/// `corridors.md`: "purpose code, source of funds, split names". Positions follow the sequence of
/// pain.001.001.09.
#[test]
fn source_of_funds_and_split_names_are_in_their_elements() {
    let split =
        |given: &str, family: &str| Some(SplitName { given: given.into(), family: family.into() });
    let mut told = instruction(1);
    told.source_of_funds = Some("Salary".into());
    told.debtor.split = split("Asha Bibi", "Khan");
    told.creditor.split = split("", "Sukarno");
    let write =
        |names| write(&RailId::new("r"), &ours(), &[Instruction { names, ..told.clone() }]).xml;
    let source = "<RgltryRptg><Dtls><Tp>SOURCE OF FUNDS</Tp><Inf>Salary</Inf></Dtls></RgltryRptg>";
    let apart = write(NameForm::Apart);
    let end = format!(
        "</Purp>{source}<RmtInf><Ustrd>gift. daughter</Ustrd></RmtInf><SplmtryData><Envlp>\
         <PrtyNms xmlns=\"urn:corridor:party-names:1\">\
         <UltmtDbtr><FrstNm>Asha Bibi</FrstNm><LastNm>Khan</LastNm></UltmtDbtr>\
         <Cdtr><LastNm>Sukarno</LastNm></Cdtr></PrtyNms></Envlp></SplmtryData></CdtTrfTxInf>"
    );
    assert!(apart.contains(&end), "{apart}");
    assert!(
        apart.contains("<UltmtDbtr><Nm>Dang Thi Muller .x.</Nm>"),
        "the name stays whole: {apart}"
    );
    let first = write(NameForm::FamilyFirst);
    assert!(
        first.contains("<UltmtDbtr><Nm>Khan, Asha Bibi</Nm>") && !first.contains("SplmtryData"),
        "{first}"
    );
    assert!(
        first.contains(&format!("<Cdtr><Nm>{}</Nm>", "A".repeat(140))),
        "one word is the whole name: {first}"
    );
    let whole = write(NameForm::Whole);
    assert!(
        whole.contains("<Nm>Dang Thi Muller .x.</Nm>") && !whole.contains("SplmtryData"),
        "{whole}"
    );
}
