//! The shipped profiles of pain.001, each in both versions: valid in structure, and read back to the
//! same facts by another reader. The preview shows the bytes that are sent.

use adapters::rails::profile::Version;
use config::{Config, Sources};
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::QuoteId;
use domain::money::Money;
use domain::order::example;
use domain::time::Timestamp;
use service::rail_preview::{RailPreview, preview};
use testkit::pain001;
use testkit::wait::AT_MOST;
use uuid::Uuid;

use super::schemas::lint;
use crate::harness::{Bank, On, Setup, run};
use crate::process::present;

/// A Friday noon in UTC.
const NOW: &str = "2026-11-27T12:00:00Z";
/// The payment of every preview.
const SAMPLE: &str = "6f0c8a52-5d7e-4c57-9d3e-0a4f7f3f9f10";

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
}

fn load(keys: &[(String, &str)]) -> Config {
    let overrides = keys.iter().map(|(key, value)| (key.clone(), (*value).to_owned())).collect();
    Config::load(&Sources { overrides, ..Sources::default() }).expect("valid")
}

/// The least that a rail over a directory needs.
const DEBTOR: [(&str, &str); 5] = [
    ("transport", "directory"),
    ("directory", "/nowhere/exchange"),
    ("debtor_name", "Demo Remittance Ltd"),
    ("debtor_account", "PK36SCBL0000001123456702"),
    ("debtor_agent", "SCBLPKKX"),
];

/// The shipped configuration with one rail as a bank would have it.
fn with_rail(rail: &str, more: &[(&str, &str)]) -> Config {
    let keys = [
        ("profile.initiating_party_id", "CUSTOMER-1"),
        ("profile.initiating_party_scheme", "CUST"),
        ("profile.debtor_address.street", "Main Road"),
        ("profile.debtor_address.building", "7"),
        ("profile.debtor_address.post_code", "74000"),
        ("profile.debtor_address.town", "Karachi"),
        ("profile.debtor_address.country", "PK"),
    ];
    let keys: Vec<(String, &str)> = DEBTOR
        .iter()
        .chain(&keys)
        .chain(more)
        .map(|(key, value)| (format!("rails.{rail}.{key}"), *value))
        .collect();
    load(&keys)
}

fn shown(config: &Config, rail: &str, now: &str) -> RailPreview {
    let entry = config.rails.iter().find(|entry| entry.id == rail).expect(rail);
    let country = Country::parse(&entry.country).expect("a country");
    let order = example::order(country, QuoteId(Uuid::nil()), Currency::Aed, entry.min.0);
    preview(config, "/nowhere".as_ref(), order, Some(rail), at(now)).expect("a message")
}

fn rails() -> Vec<(String, Country)> {
    let config = load(&[]);
    let country = |code: &str| Country::parse(code).expect("a country");
    config.rails.iter().map(|rail| (rail.id.clone(), country(&rail.country))).collect()
}

#[test]
fn every_shipped_profile_is_valid_in_both_versions() {
    if !present("profiles of pain.001 against their structures", &["xmllint"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    for (rail, country) in rails() {
        for version in Version::ALL {
            for form in ["structured", "hybrid"] {
                let keys = [("profile.version", version.name()), ("profile.address", form)];
                let config = with_rail(&rail, &keys);
                let shown = shown(&config, &rail, NOW);
                assert_eq!((shown.version, &shown.unfit), (version.name(), &None), "{rail}");
                assert_eq!(
                    lint(version.name(), dir.path(), &shown.message.xml),
                    "",
                    "{rail} {form}"
                );
                read_back(&shown, country, version, form);
            }
        }
    }
}

/// The facts of the example order, as `domain::order::example` has them.
fn read_back(shown: &RailPreview, country: Country, version: Version, form: &str) {
    let message = pain001::read(&shown.message.xml);
    let get = |path: &str| message.leaves.get(path);
    let order = example::order(country, QuoteId(Uuid::nil()), Currency::Aed, Decimal::ONE).0;
    let rail = &shown.rail;
    assert_eq!((message.name.as_str(), message.payments.len()), (version.name(), 1), "{rail}");
    assert_eq!((&message.id, &message.block), (&shown.message.message_id, &message.id));
    assert_eq!(message.debtor, "Demo Remittance Ltd");
    for (path, text) in [
        ("InitgPty/Nm", "Demo Remittance Ltd"),
        ("InitgPty/Id/OrgId/Othr/Id", "CUSTOMER-1"),
        ("InitgPty/Id/OrgId/Othr/SchmeNm/Cd", "CUST"),
        ("PmtInf/BtchBookg", "false"),
        ("PmtInf/Dbtr/PstlAdr/StrtNm", "Main Road"),
        ("PmtInf/Dbtr/PstlAdr/BldgNb", "7"),
        ("PmtInf/Dbtr/PstlAdr/PstCd", "74000"),
        ("PmtInf/Dbtr/PstlAdr/TwnNm", "Karachi"),
        ("PmtInf/Dbtr/PstlAdr/Ctry", "PK"),
        ("PmtInf/DbtrAcct/Id/IBAN", "PK36SCBL0000001123456702"),
        ("PmtInf/DbtrAcct/Ccy", country.currency().code()),
        ("PmtInf/ChrgBr", "SLEV"),
    ] {
        assert_eq!(get(path).as_deref(), Some(text), "{rail} {path}");
    }
    let level = match &*rail.0 {
        "ind-rtgs" | "pak-rtgs" | "bgd-rtgs" | "egy-rtgs" | "vnm-citad" => "URGP",
        "ind-neft" | "bgd-beftn" | "npl-nchl-ips" | "phl-pesonet" | "egy-ach" => "NURG",
        _ => "URNS",
    };
    assert_eq!(get("PmtInf/PmtTpInf/SvcLvl/Cd").as_deref(), Some(level), "{rail}");
    let payment = &message.payments[0];
    assert_eq!(payment.end_to_end_id, SAMPLE.replace('-', ""));
    let uetr = (version == Version::V09).then(|| SAMPLE.to_owned());
    assert_eq!(payment.uetr, uetr, "{rail}");
    let config = load(&[]);
    let entry = config.rails.iter().find(|entry| entry.id == *rail.0).expect("known");
    let amount = Money::exact(entry.min.0, country.currency()).expect("an amount").to_string();
    assert_eq!(format!("{} {}", payment.amount, payment.currency), amount, "{rail}");
    let sums = message.totals.each_ref().map(|(count, sum)| (count.as_str(), Decimal::parse(sum)));
    assert_eq!(sums, [("1", Ok(entry.min.0)), ("1", Ok(entry.min.0))], "{rail}");
    assert_eq!((&payment.debtor, &payment.creditor), (&order.sender_name, &order.beneficiary_name));
    let kind = if matches!(country, Country::Pak | Country::Egy) { "IBAN" } else { "Othr" };
    assert_eq!(payment.account, (kind.to_owned(), order.beneficiary_account_number), "{rail}");
    assert_eq!(payment.bank.as_deref(), Some(order.bank_name.as_str()));
    assert_eq!(payment.purpose.as_deref(), Some("FAMI"));
    let system = (country == Country::Ind).then(|| "INFSC".to_owned());
    assert_eq!(payment.member.0, system.filter(|_| payment.member.1.is_some()), "{rail}");
    assert!(payment.bic.is_some() || payment.member.1.is_some(), "{rail}: the bank is named");
    let (line, other) = match form {
        "hybrid" => ("AdrLine", "StrtNm"),
        _ => ("StrtNm", "AdrLine"),
    };
    for (party, address, town, code) in [
        ("UltmtDbtr", &order.sender_address, &order.sender_city, "AE"),
        ("Cdtr", &order.beneficiary_address, &order.beneficiary_city, country.alpha2()),
    ] {
        let part = |name: &str| get(&format!("CdtTrfTxInf/{party}/PstlAdr/{name}"));
        assert_eq!(part(line).as_ref(), Some(address), "{rail} {party}");
        assert_eq!(part(other), None, "{rail} {party}");
        assert_eq!((part("TwnNm").as_ref(), part("Ctry").as_deref()), (Some(town), Some(code)));
    }
}

/// `corridors.md`: BGD and EGY work Sunday to Thursday, NPL Sunday to Friday. Instant rails work every
/// day, and so do India's.
#[test]
fn a_payment_is_executed_on_its_banks_next_working_day() {
    for (rail, now, day) in [
        // Friday afternoon in Dhaka and Cairo; Saturday there, too.
        ("bgd-beftn", "2026-11-27T12:00:00Z", "2026-11-29"),
        ("bgd-beftn", "2026-11-28T17:59:59Z", "2026-11-29"),
        ("bgd-beftn", "2026-11-29T18:00:00Z", "2026-11-30"),
        ("egy-ach", "2026-11-26T21:59:59Z", "2026-11-26"),
        ("egy-ach", "2026-11-26T22:00:00Z", "2026-11-29"),
        ("npl-nchl-ips", "2026-11-27T18:14:59Z", "2026-11-27"),
        ("npl-nchl-ips", "2026-11-27T18:15:00Z", "2026-11-29"),
        ("pak-rtgs", "2026-11-27T18:59:59Z", "2026-11-27"),
        ("pak-rtgs", "2026-11-27T19:00:00Z", "2026-11-30"),
        ("phl-pesonet", "2026-11-27T15:59:59Z", "2026-11-27"),
        ("phl-pesonet", "2026-11-27T16:00:00Z", "2026-11-30"),
        ("vnm-citad", "2026-11-27T17:00:00Z", "2026-11-30"),
        ("ind-neft", "2026-11-27T18:30:00Z", "2026-11-28"),
        ("pak-raast", "2026-11-27T19:00:00Z", "2026-11-28"),
        ("bgd-npsb", "2026-11-27T12:00:00Z", "2026-11-27"),
    ] {
        for version in Version::ALL {
            let config = with_rail(rail, &[("profile.version", version.name())]);
            let message = pain001::read(&shown(&config, rail, now).message.xml);
            assert_eq!(message.execution_date, day, "{rail} {now}");
        }
    }
    let own = [
        ("profile.cut_off", "15:30"),
        ("profile.holidays", "[\"2026-11-30\"]"),
        ("profile.time_zone", "Asia/Dubai"),
    ];
    let config = with_rail("pak-rtgs", &own);
    for (now, day) in [
        ("2026-11-27T11:29:59Z", "2026-11-27"),
        ("2026-11-27T11:30:00Z", "2026-12-01"),
        ("2026-11-28T09:00:00Z", "2026-12-01"),
    ] {
        let message = pain001::read(&shown(&config, "pak-rtgs", now).message.xml);
        assert_eq!(message.execution_date, day, "{now}");
    }
}

#[test]
fn the_preview_is_what_is_sent() {
    run(On::Sqlite, preview_is_sent);
}

async fn preview_is_sent(on: On) {
    const RAIL: &str = "pak-raast";
    let setup = Setup::new()
        .set("rails_enabled", "[\"pak-raast\"]")
        .set("rails.pak-raast.directory", "exchange")
        .set("rails.pak-raast.report_wait_s", "1")
        .set("rails.pak-raast.profile.version", "pain.001.001.03")
        .set("rails.pak-raast.profile.id_max_chars", "30")
        .set("rails.pak-raast.profile.id_letters", "capital")
        .set("rails.pak-raast.profile.file_name", "OUT_{date}_{sequence}_{rail}.XML");
    let bank = Bank::alone(on, setup).await;
    let out = bank.running.data_dir.join("exchange/out/done");
    let sent = || {
        let names = std::fs::read_dir(&out).into_iter().flatten().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.path()).collect();
        names.sort();
        names
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = bank.paid(Country::Pak, |order| order).await;
        bank.reaches(Country::Pak, &id, "succeeded").await;
        ids.push(id);
    }
    assert!(testkit::wait::until_async(AT_MOST, || async { sent().len() == 2 }).await);
    for (at_file, (path, id)) in sent().iter().zip(&ids).enumerate() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let text = std::fs::read_to_string(path).expect("a message");
        let message = pain001::read(&text);
        let created = message.leaves.get("GrpHdr/CreDtTm").expect("a time");
        let date = message.execution_date.replace('-', "");
        assert_eq!(name, format!("OUT_{date}_{:06}_pak-raast.XML", at_file + 1));
        let amount = Decimal::parse(&message.payments[0].amount).expect("an amount");
        let order = example::order(Country::Pak, QuoteId(Uuid::nil()), Currency::Aed, amount);
        let data_dir = &bank.running.data_dir;
        let shown = preview(bank.running.config(), data_dir, order, Some(RAIL), at(&created))
            .expect("a message");
        // The next number: nothing was reserved by the preview before.
        assert_eq!(
            shown.message.file_name.as_deref(),
            Some(&*format!("OUT_{date}_000003_pak-raast.XML"))
        );
        let cut = |id: &str| id.replace('-', "").to_uppercase()[..30].to_owned();
        let as_sample =
            text.replace(&cut(id), &cut(SAMPLE)).replace(&message.id, &shown.message.message_id);
        assert_eq!(shown.message.xml, as_sample);
    }
    bank.finish().await;
}

/// A structure of the older version that accepts the newer one's elements would prove nothing.
/// As `cases/11-expected-debtor.xml` has it, without a key of the profile.
#[test]
fn case_11_expected_debtor() {
    let config = load(&DEBTOR.map(|(key, value)| (format!("rails.pak-raast.{key}"), value)));
    let xml = shown(&config, "pak-raast", NOW).message.xml;
    let expected = "<Dbtr><Nm>Demo Remittance Ltd</Nm></Dbtr>\
        <DbtrAcct><Id><IBAN>PK36SCBL0000001123456702</IBAN></Id><Ccy>PKR</Ccy></DbtrAcct>\
        <DbtrAgt><FinInstnId><BICFI>SCBLPKKX</BICFI></FinInstnId></DbtrAgt>\
        <ChrgBr>SLEV</ChrgBr>";
    assert!(xml.contains(expected), "{xml}");
}

/// As `cases/12-execution-date.txt` has it: 20:53 UTC is 01:53 of the next day in Karachi.
#[test]
fn case_12_execution_date() {
    let config = with_rail("pak-raast", &[]);
    let xml = shown(&config, "pak-raast", "2026-11-25T20:53:00Z").message.xml;
    assert!(xml.contains("<ReqdExctnDt><Dt>2026-11-26</Dt></ReqdExctnDt>"), "{xml}");
}

#[test]
fn the_older_structure_refuses_what_only_the_newer_has() {
    if !present("the structure of pain.001.001.03 against wrong messages", &["xmllint"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let name = Version::V03.name();
    let config = with_rail("pak-raast", &[("profile.version", name)]);
    let right = shown(&config, "pak-raast", NOW).message.xml;
    assert_eq!(lint(name, dir.path(), &right), "");
    let date = format!("<ReqdExctnDt>{}</ReqdExctnDt>", pain001::read(&right).execution_date);
    let dated = date.replace("Dt>2", "Dt><Dt>2").replace("</Req", "</Dt></Req");
    for (what, from, to) in [
        ("a UETR", "</EndToEndId>".to_owned(), format!("</EndToEndId><UETR>{SAMPLE}</UETR>")),
        ("BICFI", "<BIC>SCBLPKKX</BIC>".to_owned(), "<BICFI>SCBLPKKX</BICFI>".to_owned()),
        ("a choice of date and time", date, dated),
        (
            "charges before the debtor",
            "<Dbtr>".to_owned(),
            "<ChrgBr>SLEV</ChrgBr><Dbtr>".to_owned(),
        ),
        ("a line before the country", "<Ctry>".to_owned(), "<AdrLine>x</AdrLine><Ctry>".to_owned()),
        ("another bearer", "<ChrgBr>SLEV".to_owned(), "<ChrgBr>OURS".to_owned()),
        (
            "an IBAN's account beside it",
            "</IBAN>".to_owned(),
            "</IBAN><Othr><Id>1</Id></Othr>".to_owned(),
        ),
    ] {
        let wrong = right.replacen(&from, &to, 1);
        assert_ne!(wrong, right, "{what}: {from} is not in it");
        assert_ne!(lint(name, dir.path(), &wrong), "", "{what}");
    }
}
