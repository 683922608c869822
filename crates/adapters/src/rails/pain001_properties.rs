//! Properties of every message, whatever the order and the profile: read back by another reader.

use std::collections::BTreeSet;

use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::{InstructionParty, SplitName};
use proptest::prelude::*;
use testkit::pain001;
use uuid::Uuid;

use super::super::profile::{AddressForm, IdForm, MIN_MESSAGE_BYTES};
use super::*;

/// SWIFT's x set, written independently.
const X: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-?:().,'+ ";
/// Greatest lengths by the end of an element's path.
const LENGTHS: [(&str, usize); 18] = [
    ("MsgId", 35),
    ("PmtInfId", 35),
    ("InstrId", 35),
    ("EndToEndId", 35),
    ("UETR", 36),
    ("Nm", 140),
    ("FrstNm", 140),
    ("LastNm", 140),
    ("StrtNm", 70),
    ("AdrLine", 70),
    ("TwnNm", 35),
    ("Ctry", 2),
    ("Othr/Id", 35),
    ("Issr", 35),
    ("Prtry", 35),
    ("Purp/Cd", 4),
    ("Inf", 35),
    ("Ustrd", 140),
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z '&<>@_#]{0,200}",
        "\\PC{0,90}",
        "[\u{0}-\u{1F}\u{80}-\u{9F}\u{202A}-\u{202E}\u{E000}-\u{E010}अ-हা-ৰ一-丁]{0,80}",
        Just(String::new()),
    ]
}

fn party() -> impl Strategy<Value = InstructionParty> {
    let texts = (text(), text(), text(), text(), text());
    let country = prop_oneof![Just("PAK"), Just("AE"), Just("XXX"), Just("")];
    (texts, country, any::<bool>(), prop::option::of(text())).prop_map(
        |((name, address, city, number, given), country, has_split, issuer)| InstructionParty {
            split: has_split.then(|| SplitName { given, family: name.clone() }),
            name,
            address,
            city,
            country: country.into(),
            mobile: Some("+971501234567".into()),
            email: Some("a_b@example.com".into()),
            birthdate: None,
            document: Some(("other".into(), number, issuer)),
        },
    )
}

fn account() -> impl Strategy<Value = String> {
    let iban = |head: &'static str| {
        move |national: String| {
            let digits = domain::iban::check_digits(head, &national).expect("plain");
            format!("{head}{digits}{national}")
        }
    };
    prop_oneof![
        "[0-9A-Z]{6,20}",
        "SCBL[0-9]{16}".prop_map(iban("PK")),
        "[0-9]{25}".prop_map(iban("EG")),
    ]
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let currencies = prop::sample::select(vec![
        Currency::Pkr,
        Currency::Inr,
        Currency::Bdt,
        Currency::Egp,
        Currency::Npr,
        Currency::Php,
        Currency::Vnd,
    ]);
    let names = prop::sample::select(vec![NameForm::Whole, NameForm::FamilyFirst, NameForm::Apart]);
    let texts = (text(), text(), prop::option::of(text()));
    (any::<u128>(), 1..=i64::MAX, currencies, party(), party(), account(), names, texts).prop_map(
        |(id, minor, currency, debtor, creditor, account, names, (bank, remittance, source))| {
            let id = uuid::Builder::from_random_bytes(id.to_be_bytes()).into_uuid();
            Instruction {
                rail: RailId::new("pak-raast"),
                tenant: TenantId(Uuid::nil()),
                payment: PaymentId(id),
                attempt: AttemptId(id),
                amount: Money::new(minor, currency),
                created_at: Timestamp(1_795_244_268_123_000),
                debtor,
                creditor,
                creditor_account_is_iban: false,
                creditor_account: account,
                creditor_account_type: "SVGS",
                creditor_bic: Some("SCBLPKKX".into()),
                creditor_local_code: None,
                creditor_bank: bank,
                purpose: "FAMI".into(),
                names,
                source_of_funds: source,
                remittance,
            }
        },
    )
}

fn ours() -> impl Strategy<Value = OurSide> {
    let ids = (16_usize..=35, any::<bool>());
    (any::<bool>(), any::<bool>(), ids, text()).prop_map(
        |(is_older, is_hybrid, (max_chars, upper_case), debtor_name)| OurSide {
            debtor_name,
            debtor_account: Account::Iban("PK36SCBL0000001123456702".into()),
            debtor_agent: Agent::Bic("SCBLPKKX".into()),
            character_set: CharacterSet::SwiftX,
            profile: Profile {
                version: if is_older { Version::V03 } else { Version::V09 },
                address: if is_hybrid { AddressForm::Hybrid } else { AddressForm::Structured },
                ids: IdForm { max_chars, upper_case },
                max_bytes: MIN_MESSAGE_BYTES,
                ..Profile::default()
            },
        },
    )
}

/// Remainder 1 modulo 97, as ISO 13616 requires.
fn is_iban(text: &str) -> bool {
    let signs = text.get(4..).into_iter().chain(text.get(..4)).flat_map(str::chars);
    let remainder = signs.fold(0_u32, |rest, sign| match sign.to_digit(36) {
        Some(digit @ ..10) => (rest * 10 + digit) % 97,
        Some(letter) => (rest * 100 + letter) % 97,
        None => 0,
    });
    text.len() >= 15
        && (text.starts_with("PK") && text.len() == 24
            || text.starts_with("EG") && text.len() == 29)
        && remainder == 1
}

/// The amount's digits as a number of its least units, with this many decimals.
fn minor(digits: &str, decimals: u32) -> i128 {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = decimals as usize - fraction.len();
    format!("{whole}{fraction}{}", "0".repeat(scale)).parse().expect("digits")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_message_keeps_to_its_limits(
        ours in ours(),
        batch in prop::collection::vec(instruction(), 1..24),
    ) {
        let writer = PaymentWriter { rail: RailId::new("pak-raast"), ours };
        let mut rest = batch.as_slice();
        let mut ids = BTreeSet::new();
        for size in writer.split(&batch) {
            let (part, after) = rest.split_at(size);
            rest = after;
            let written = writer.write(part);
            prop_assert!(written.xml.len() <= MIN_MESSAGE_BYTES);
            let message = pain001::read(&written.xml);
            prop_assert!(ids.insert(message.id.clone()), "each message has its own id");
            prop_assert_eq!(&message.id, &writer.message_id(part));
            prop_assert_eq!(&message.id, &message.block);
            limits(&message)?;
            totals(&message, part)?;
            for (payment, sent) in message.payments.iter().zip(part) {
                same_payment(payment, sent, &writer.ours.profile)?;
            }
        }
        prop_assert!(rest.is_empty(), "a split is complete");
    }
}

fn limits(message: &pain001::Message) -> Result<(), TestCaseError> {
    for (path, text) in &message.leaves.0 {
        prop_assert!(!text.is_empty(), "{} is empty", path);
        prop_assert!(text.chars().all(|sign| X.contains(sign)), "{}: {:?}", path, text);
        for (ending, most) in LENGTHS {
            let is_meant = path.ends_with(&format!("/{ending}"));
            prop_assert!(!is_meant || text.chars().count() <= most, "{}: {:?}", path, text);
        }
        prop_assert!(!(path.ends_with("Othr/Id") && is_iban(text)), "{}: {}", path, text);
    }
    let has = |before: usize, name: &str| {
        let path = &message.leaves.0[before].0;
        let parent = path.strip_suffix("/AdrLine").unwrap_or(path);
        message.leaves.0[..before]
            .iter()
            .rev()
            .take(2)
            .any(|(it, _)| *it == format!("{parent}/{name}"))
    };
    for (at, (path, _)) in message.leaves.0.iter().enumerate() {
        if path.ends_with("/AdrLine") {
            prop_assert!(has(at, "TwnNm") && has(at, "Ctry"), "a free line needs town and country");
        }
    }
    Ok(())
}

fn totals(message: &pain001::Message, part: &[Instruction]) -> Result<(), TestCaseError> {
    let sum: i128 = part
        .iter()
        .map(|one| {
            let decimals = one.amount.currency.minor_units();
            i128::from(one.amount.minor) * 10_i128.pow(2 - decimals)
        })
        .sum();
    for (count, total) in &message.totals {
        prop_assert_eq!(count, &part.len().to_string());
        prop_assert_eq!(minor(total, 2), sum);
    }
    prop_assert_eq!(message.payments.len(), part.len());
    Ok(())
}

fn same_payment(
    payment: &pain001::Payment,
    sent: &Instruction,
    profile: &Profile,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&payment.currency, sent.amount.currency.code());
    let decimals = sent.amount.currency.minor_units();
    prop_assert_eq!(minor(&payment.amount, decimals), i128::from(sent.amount.minor));
    let kind = if is_iban(&sent.creditor_account) { "IBAN" } else { "Othr" };
    prop_assert_eq!(&payment.account, &(kind.to_owned(), sent.creditor_account.clone()));
    let whole = sent.attempt.0.simple().to_string();
    let id = payment.instruction_id.to_ascii_lowercase();
    prop_assert!(whole.starts_with(&id) && id.len() == whole.len().min(profile.ids.max_chars));
    prop_assert_eq!(&payment.end_to_end_id.to_ascii_lowercase(), &id);
    let uetr = (profile.version == Version::V09).then(|| sent.attempt.0.hyphenated().to_string());
    prop_assert_eq!(&payment.uetr, &uetr);
    Ok(())
}
