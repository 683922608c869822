//! The golden pain.001 and the properties of its MsgId.

use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::{InstructionParty, SplitName};
use jiff::civil::date;
use uuid::Uuid;

use super::super::profile::{Address, AddressForm, ChargeBearer, IdForm, MIN_MESSAGE_BYTES};
use super::*;

fn ours() -> OurSide {
    let local_instrument = Some(Code::Proprietary("RAAST".into()));
    OurSide {
        debtor_name: "Corridor Exchange LLC".into(),
        debtor_account: Account::Other("0123456789".into()),
        debtor_agent: Agent::Other("BANK-1 & <Co>".into()),
        character_set: CharacterSet::SwiftX,
        profile: Profile { local_instrument, ..Profile::default() },
    }
}

fn write(rail: &RailId, ours: &OurSide, batch: &[Instruction]) -> Message {
    PaymentWriter { rail: rail.clone(), ours: ours.clone() }.write(batch)
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

/// The text of the first element at a path of names.
fn at<'a>(xml: &'a str, path: &str) -> Option<&'a str> {
    let inside = path.split('/').try_fold(xml, |rest, name| {
        rest.split_once(&format!("<{name}>")).map(|(_, inside)| inside)
    })?;
    let (_, last) = path.rsplit_once('/').unwrap_or(("", path));
    inside.split_once(&format!("</{last}>")).map(|(text, _)| text)
}

fn with(change: impl FnOnce(&mut OurSide)) -> String {
    let mut ours = ours();
    change(&mut ours);
    write(&RailId::new("r"), &ours, &[instruction(1)]).xml
}

#[test]
fn the_debtor_is_written_as_the_profile_states() {
    let xml = with(|ours| {
        ours.debtor_account = Account::Iban("PK36SCBL0000001123456702".into());
        ours.debtor_agent = Agent::Bic("SCBLPKKX".into());
        ours.profile.debtor_currency = Some("PKR".into());
        ours.profile.initiating_party = Some("Corridor Group".into());
        let scheme = Some(Code::External("CUST".into()));
        ours.profile.initiating_party_id = Some(("C-77".into(), scheme));
        ours.profile.batch_booking = Some(false);
        ours.profile.charge_bearer = Some(ChargeBearer::Debtor);
        ours.profile.service_level = Some(Code::External("URGP".into()));
        ours.profile.category_purpose = Some(Code::External("CASH".into()));
        ours.profile.debtor_address = Some(Address {
            street: "Main Road".into(),
            building: "7".into(),
            post_code: "74000".into(),
            town: "Karachi".into(),
            subdivision: "Sindh".into(),
            country: "PK".into(),
        });
    });
    for (path, text) in [
        ("GrpHdr/InitgPty/Nm", "Corridor Group"),
        ("GrpHdr/InitgPty/Id/OrgId/Othr/Id", "C-77"),
        ("GrpHdr/InitgPty/Id/OrgId/Othr/SchmeNm/Cd", "CUST"),
        ("PmtInf/BtchBookg", "false"),
        ("PmtInf/PmtTpInf/SvcLvl/Cd", "URGP"),
        ("PmtInf/PmtTpInf/LclInstrm/Prtry", "RAAST"),
        ("PmtInf/PmtTpInf/CtgyPurp/Cd", "CASH"),
        ("PmtInf/Dbtr/Nm", "Corridor Exchange LLC"),
        (
            "PmtInf/Dbtr/PstlAdr",
            "<StrtNm>Main Road</StrtNm><BldgNb>7</BldgNb><PstCd>74000</PstCd>\
             <TwnNm>Karachi</TwnNm><CtrySubDvsn>Sindh</CtrySubDvsn><Ctry>PK</Ctry>",
        ),
        ("PmtInf/DbtrAcct/Id/IBAN", "PK36SCBL0000001123456702"),
        ("PmtInf/DbtrAcct/Ccy", "PKR"),
        ("PmtInf/DbtrAgt/FinInstnId/BICFI", "SCBLPKKX"),
        ("PmtInf/ChrgBr", "DEBT"),
    ] {
        assert_eq!(at(&xml, path), Some(text), "{path}: {xml}");
    }
}

#[test]
fn the_older_version_has_its_own_elements() {
    let xml = with(|ours| {
        ours.profile.version = Version::V03;
        ours.debtor_agent = Agent::Bic("SCBLPKKX".into());
    });
    assert!(xml.contains("<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.001.001.03\">"));
    assert_eq!(at(&xml, "PmtInf/ReqdExctnDt"), Some("2026-11-21"));
    assert_eq!(at(&xml, "PmtInf/DbtrAgt/FinInstnId/BIC"), Some("SCBLPKKX"));
    assert_eq!(at(&xml, "CdtrAgt/FinInstnId/BIC"), Some("SCBLPKKX"));
    assert!(!xml.contains("UETR") && !xml.contains("BICFI"), "{xml}");
    let mut apart = instruction(1);
    apart.names = NameForm::Apart;
    apart.debtor.split = Some(SplitName { given: "A".into(), family: "B".into() });
    let mut ours = ours();
    ours.profile.version = Version::V03;
    let xml = write(&RailId::new("r"), &ours, &[apart]).xml;
    assert!(!xml.contains("SplmtryData"), "the version has no such element: {xml}");
}

/// Networks refuse an address without the town and the country. A town is never invented.
#[test]
fn an_address_needs_a_town_and_a_country() {
    let street = "<StrtNm>12 Example Street</StrtNm>";
    let line = "<AdrLine>12 Example Street</AdrLine>";
    let place = "<TwnNm>Karachi</TwnNm><Ctry>PK</Ctry>";
    for (form, city, country, address) in [
        (AddressForm::Structured, "Karachi", "PAK", Some(format!("{street}{place}"))),
        (AddressForm::Hybrid, "Karachi", "PAK", Some(format!("{place}{line}"))),
        (AddressForm::Structured, "", "PAK", None),
        (AddressForm::Hybrid, "", "PAK", None),
        (AddressForm::Structured, "--", "PAK", None),
        (AddressForm::Hybrid, " - ", "PAK", None),
        (AddressForm::Structured, "🏙", "PAK", None),
        (AddressForm::Structured, "Karachi", "XXX", None),
        (AddressForm::Hybrid, "Karachi", "XXX", None),
    ] {
        let mut one = instruction(1);
        one.creditor.address = "12 Example Street".into();
        one.creditor.city = city.into();
        one.creditor.country = country.into();
        let mut ours = ours();
        ours.profile.address = form;
        let xml = write(&RailId::new("r"), &ours, &[one]).xml;
        assert_eq!(at(&xml, "Cdtr/PstlAdr"), address.as_deref(), "{form:?} {city:?} {country}");
    }
}

/// The beginning of a number is the number of another document.
#[test]
fn a_documents_number_is_never_cut() {
    for (number, written) in [
        ("N".repeat(35), true),
        ("N".repeat(36), false),
        // Four letters become eight.
        (format!("{}{}", "N".repeat(29), "ß".repeat(4)), false),
    ] {
        let mut one = instruction(1);
        one.debtor.document = Some(("passport".into(), number.clone(), None));
        let xml = write(&RailId::new("r"), &ours(), &[one]).xml;
        assert_eq!(xml.contains("CCPT"), written, "{number}");
        assert!(written || !xml.contains("NNNN"), "{number}");
    }
}

#[test]
fn local_codes_name_their_clearing_system() {
    for (system, written) in [
        (None, "<MmbId>970436</MmbId>"),
        (
            Some(Code::External("INFSC".into())),
            "<ClrSysId><Cd>INFSC</Cd></ClrSysId><MmbId>970436</MmbId>",
        ),
        (
            Some(Code::Proprietary("NAPAS".into())),
            "<ClrSysId><Prtry>NAPAS</Prtry></ClrSysId><MmbId>970436</MmbId>",
        ),
    ] {
        let mut ours = ours();
        ours.profile.clearing_system = system;
        ours.debtor_agent = Agent::Member("970436".into());
        let xml = write(&RailId::new("r"), &ours, &[local(1)]).xml;
        for agent in ["DbtrAgt", "CdtrAgt"] {
            assert_eq!(at(&xml, &format!("{agent}/FinInstnId/ClrSysMmbId")), Some(written));
        }
    }
}

/// An account that is an IBAN is never written as another account, whatever the order's mark.
#[test]
fn an_iban_without_its_mark_is_one_all_the_same() {
    for (account, is_iban) in [
        ("PK36SCBL0000001123456702", true),
        ("EG380019000500000000263180002", true),
        ("PK37SCBL0000001123456702", false),
        ("pk36scbl0000001123456702", false),
        ("000123456", false),
    ] {
        let one = Instruction {
            creditor_account: account.into(),
            creditor_account_is_iban: false,
            ..instruction(1)
        };
        let xml = write(&RailId::new("r"), &ours(), &[one]).xml;
        let form = if is_iban { "CdtrAcct/Id/IBAN" } else { "CdtrAcct/Id/Othr/Id" };
        assert_eq!(at(&xml, form), Some(account), "{xml}");
    }
}

#[test]
fn regulatory_reporting_is_omitted_unless_configured() {
    assert!(!with(|_| {}).contains("RgltryRptg"));
    let xml = with(|ours| ours.profile.regulatory_code = Some("P1301".into()));
    assert_eq!(at(&xml, "RgltryRptg"), Some("<Dtls><Cd>P1301</Cd></Dtls>"));
}

#[test]
fn an_email_address_outside_the_character_set_is_omitted() {
    assert!(!with(|_| {}).contains("EmailAdr"));
    for set in [CharacterSet::Ascii, CharacterSet::Latin1, CharacterSet::Unicode] {
        let xml = with(|ours| ours.character_set = set);
        assert_eq!(at(&xml, "Cdtr/CtctDtls/EmailAdr"), Some("a&amp;b@example.com"), "{set:?}");
    }
}

#[test]
fn ids_have_the_profiles_form() {
    let form = IdForm { max_chars: 16, upper_case: true };
    let mut ours = ours();
    ours.profile.ids = form;
    let rail = RailId::new("r");
    let writer = PaymentWriter { rail: rail.clone(), ours: ours.clone() };
    let batch = [instruction(1), instruction(2)];
    let message = writer.write(&batch);
    assert_eq!(writer.message_id(&batch), message.id, "as it is stored before it is sent");
    assert_eq!(message.id.len(), 16);
    for path in ["GrpHdr/MsgId", "PmtInf/PmtInfId"] {
        assert_eq!(at(&message.xml, path), Some(message.id.as_str()));
    }
    assert_eq!(at(&message.xml, "InstrId"), Some("0190000000004000"));
    assert_eq!(at(&message.xml, "UETR"), Some("01900000-0000-4000-9000-000000000001"));
    let sent = crate::rails::pacs028::write(
        &ours.profile,
        &[domain::rail::Inquiry {
            payment: batch[0].payment,
            attempt: batch[0].attempt,
            created_at: batch[0].created_at,
            recalls: Vec::new(),
        }],
    );
    assert_eq!(at(&sent.xml, "OrgnlInstrId"), Some("0190000000004000"), "named as it was sent");
}

/// Every instruction is in exactly one message, and no message is too large.
#[test]
fn a_large_batch_is_split_completely() {
    let mut ours = ours();
    ours.profile.max_bytes = MIN_MESSAGE_BYTES;
    ours.character_set = CharacterSet::Ascii;
    let writer = PaymentWriter { rail: RailId::new("r"), ours };
    let worst = Instruction {
        debtor: InstructionParty {
            name: "'".repeat(200) + "x",
            address: "x".to_owned() + &"'".repeat(80),
            city: "x".to_owned() + &"'".repeat(40),
            email: Some("'@".repeat(120)),
            split: Some(SplitName { given: "x''".repeat(60), family: "x''".repeat(60) }),
            ..instruction(1).debtor
        },
        creditor_bank: "x''".repeat(60),
        remittance: "x''".repeat(60),
        names: NameForm::Apart,
        source_of_funds: Some("x''".repeat(12)),
        ..instruction(1)
    };
    let worst = Instruction { creditor: worst.debtor.clone(), ..worst };
    assert_eq!(writer.split(std::slice::from_ref(&worst)), [1]);
    assert!(writer.write(&[worst]).xml.len() <= MAX_INSTRUCTION_BYTES, "the bound holds");
    for count in [0, 1, 2, 19, 20, 21, 150] {
        let batch: Vec<Instruction> = (0..count)
            .map(|number| if number % 3 == 0 { local(number) } else { instruction(number) })
            .collect();
        let sizes = writer.split(&batch);
        assert_eq!(sizes.iter().sum::<usize>(), batch.len());
        let (mut rest, mut ids) = (batch.as_slice(), Vec::new());
        for size in &sizes {
            let (part, after) = rest.split_at(*size);
            let message = writer.write(part);
            assert!(*size > 0 && message.xml.len() <= MIN_MESSAGE_BYTES);
            assert_eq!(message.xml.matches("<CdtTrfTxInf>").count(), *size);
            assert_eq!(at(&message.xml, "GrpHdr/NbOfTxs"), Some(size.to_string().as_str()));
            ids.push(message.id);
            rest = after;
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), sizes.len(), "each message has its own id");
        assert!(count < 150 || sizes.len() > 1);
    }
}
