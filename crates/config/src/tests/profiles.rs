//! Profiles of payment messages: layers, defaults, and the faults of wrong combinations.

use std::collections::BTreeSet;

use adapters::rails::OurSide;
use adapters::rails::profile::{
    Account, Address, AddressForm, Agent, ChargeBearer, Code, Profile, Version,
};
use domain::calendar::BankCalendar;
use domain::country::Country;

use super::{load, refused};
use crate::{Config, ConfigError};

fn side(config: &Config, rail: &str) -> OurSide {
    config.our_side(config.rails.iter().find(|entry| entry.id == rail).expect(rail))
}

fn profile(flags: &[(&str, &str)], rail: &str) -> Profile {
    side(&load("", &[], flags).expect("valid"), rail).profile
}

/// `rails.pak-rtgs` with a debtor; keys that begin with `profile.` are its own.
fn rtgs(keys: &[(&str, &str)]) -> Result<OurSide, ConfigError> {
    let debtor = [
        ("transport", "directory"),
        ("directory", "/nowhere"),
        ("debtor_name", "Demo Remittance Ltd"),
        ("debtor_account", "0123456789"),
        ("debtor_agent", "SCBLPKKX"),
    ];
    let keys: Vec<(String, &str)> = debtor
        .iter()
        .chain(keys)
        .map(|(key, value)| (format!("rails.pak-rtgs.{key}"), *value))
        .collect();
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    load("", &[], &keys).map(|config| side(&config, "pak-rtgs"))
}

/// The first corridor states every key: with the defaults that the others rely on.
#[test]
fn the_stated_defaults_are_the_defaults() {
    let (stated, silent) = (profile(&[], "bgd-rtgs"), profile(&[], "pak-rtgs"));
    assert_ne!(stated.calendar, silent.calendar, "the countries' own data");
    let currencies = [&stated, &silent].map(|it| it.debtor_currency.as_deref());
    assert_eq!(currencies, [Some("BDT"), Some("PKR")]);
    let (calendar, debtor_currency) = (silent.calendar.clone(), silent.debtor_currency.clone());
    assert_eq!(Profile { calendar, debtor_currency, ..stated }, silent);
    assert_eq!(silent.charge_bearer, Some(ChargeBearer::ServiceLevel));
    assert_eq!((silent.version, silent.batch_booking), (Version::V09, Some(false)));
}

/// `corridors.md`, weekends; Monday = 0.
#[test]
fn each_country_has_its_working_days_with_a_source() {
    let config = load("", &[], &[]).expect("valid");
    for country in Country::ALL {
        let code = country.alpha3();
        let shared = &config.corridors[code].profile;
        assert!(shared.source.as_ref().is_some_and(|source| !source.is_empty()), "{code}");
        let dated = shared.as_of.as_ref().map(|date| date.parse::<jiff::civil::Date>());
        assert!(matches!(dated, Some(Ok(_))), "{code}");
        let days: BTreeSet<u8> = match country {
            Country::Bgd | Country::Egy => [6, 0, 1, 2, 3].into(),
            Country::Npl => [6, 0, 1, 2, 3, 4].into(),
            Country::Ind | Country::Pak | Country::Phl | Country::Vnm => (0..5).collect(),
        };
        for rail in config.rails.iter().filter(|rail| rail.country == code) {
            let profile = config.our_side(rail).profile;
            let is_batch = rail.kind == crate::Kind::Batch && country != Country::Ind;
            let expected = if is_batch { days.clone() } else { (0..7).collect() };
            assert_eq!(profile.calendar.days, expected, "{}", rail.id);
            assert_eq!(profile.calendar.zone.iana_name(), Some(country.time_zone()), "{}", rail.id);
            let system = (country == Country::Ind).then(|| Code::External("INFSC".into()));
            assert_eq!(profile.clearing_system, system, "{}", rail.id);
        }
    }
}

#[test]
fn a_rails_keys_precede_its_countrys() {
    let file = "[corridors.PAK.profile]\nversion = \"pain.001.001.03\"\ncharge_bearer = \"SHAR\"\n\
                [[rails]]\nid = \"pak-rtgs\"\n[rails.profile]\ncharge_bearer = \"\"\n";
    let config = load(file, &[], &[]).expect("valid");
    let of = |rail: &str| side(&config, rail).profile;
    assert_eq!((of("pak-rtgs").version, of("pak-rtgs").charge_bearer), (Version::V03, None));
    assert_eq!(of("pak-ibft").charge_bearer, Some(ChargeBearer::Shared));
    assert_eq!(of("ind-neft").version, Version::V09);
    assert_eq!(of("pak-rtgs").service_level, Some(Code::External("URGP".into())), "as shipped");
}

/// Texts that look like numbers, times or dates stay texts in every layer.
#[test]
fn the_environment_reaches_profiles() {
    let env = [
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__DEBTOR_ADDRESS__POST_CODE", "74000"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__DEBTOR_ADDRESS__TOWN", "Karachi"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__DEBTOR_ADDRESS__COUNTRY", "PK"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__CUT_OFF", "15:30"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__INITIATING_PARTY_ID", "12345"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__ID_MAX_CHARS", "16"),
        ("CORRIDOR_RAILS__PAK_RTGS__PROFILE__HOLIDAYS", "[\"2026-12-25\"]"),
        ("CORRIDOR_CORRIDORS__PAK__PROFILE__REGULATORY_CODE", "1301"),
    ];
    let profile = side(&load("", &env, &[]).expect("valid"), "pak-rtgs").profile;
    let address = Address {
        post_code: "74000".into(),
        town: "Karachi".into(),
        country: "PK".into(),
        ..Address::default()
    };
    assert_eq!(profile.debtor_address, Some(address));
    assert_eq!(profile.calendar.cut_off, Some(jiff::civil::time(15, 30, 0, 0)));
    assert_eq!(profile.initiating_party_id, Some(("12345".into(), None)));
    assert_eq!((profile.ids.max_chars, profile.regulatory_code.as_deref()), (16, Some("1301")));
    assert!(profile.calendar.holidays.contains(&jiff::civil::date(2026, 12, 25)));
}

#[test]
fn a_countrys_rest_days_are_not_those_of_instant_rails() {
    let file = "[corridors.PAK.profile]\nholidays = [\"2026-12-25\"]\ncut_off = \"12:00\"\n";
    let of = |rail: &str| side(&load(file, &[], &[]).expect("valid"), rail).profile.calendar;
    let instant = of("pak-raast");
    assert_eq!(BankCalendar::every_day(instant.zone.clone()), instant);
    assert!(of("pak-rtgs").cut_off.is_some() && of("pak-rtgs").holidays.len() == 1);
    let own = [("rails.pak-raast.profile.working_days", "[\"mon\"]")];
    assert_eq!(profile(&own, "pak-raast").calendar.days, [0].into());
}

/// An IBAN and a BIC have elements of their own, wherever the configuration has one.
#[test]
fn accounts_and_banks_are_recognised() {
    let of = |account: &str, agent: &str| {
        let side = rtgs(&[("debtor_account", account), ("debtor_agent", agent)]).expect("valid");
        (side.debtor_account, side.debtor_agent)
    };
    let iban = |text: &str| Account::Iban(text.into());
    let other = |text: &str| Account::Other(text.into());
    for (account, expected) in [
        ("PK36SCBL0000001123456702", iban("PK36SCBL0000001123456702")),
        ("pk36 scbl 0000 0011 2345 6702", iban("PK36SCBL0000001123456702")),
        ("DE89370400440532013000", iban("DE89370400440532013000")),
        ("ZZ68370400440532013000", other("ZZ68370400440532013000")),
        ("0123456789", other("0123456789")),
    ] {
        assert_eq!(of(account, "SCBLPKKX").0, expected, "{account}");
    }
    for (agent, expected) in [
        ("scblpkkx", Agent::Bic("SCBLPKKX".into())),
        ("SCBLPKKXKHI", Agent::Bic("SCBLPKKXKHI".into())),
        ("DEMOZZBK", Agent::Other("DEMOZZBK".into())),
        ("0012", Agent::Other("0012".into())),
    ] {
        assert_eq!(of("1", agent).1, expected, "{agent}");
    }
    let keys = [
        ("rails.ind-neft.debtor_name", "A"),
        ("rails.ind-neft.debtor_account", "1"),
        ("rails.ind-neft.debtor_agent", "HDFC0000001"),
    ];
    let side = side(&load("", &[], &keys).expect("valid"), "ind-neft");
    assert_eq!(side.debtor_agent, Agent::Member("HDFC0000001".into()));
}

#[test]
fn wrong_values_and_combinations_are_named() {
    let long = "x".repeat(71);
    for (keys, named, rule) in [
        (vec![("profile.version", "pain.001.001.11")], "version", "pain.001.001.03 or"),
        (vec![("profile.charge_bearer", "OUR")], "charge_bearer", "DEBT, CRED, SHAR, SLEV"),
        (vec![("profile.service_level", "URGENT")], "service_level", "1 to 4 capitals"),
        (vec![("profile.service_level", "prtry:")], "service_level", "a code after"),
        (vec![("profile.category_purpose", "prtry:a_b")], "category_purpose", "character_set"),
        (vec![("profile.purpose", "family")], "purpose", "1 to 4 capitals"),
        (vec![("profile.regulatory_code", "12345678901")], "regulatory_code", "at most 10"),
        (
            vec![("profile.clearing_system", "INFSC")],
            "clearing_system",
            "another country than Pakistan",
        ),
        (vec![("profile.clearing_system", "PK-1")], "clearing_system", "1 to 5 capitals"),
        (vec![("profile.debtor_currency", "rupee")], "debtor_currency", "a currency code"),
        (
            vec![("profile.debtor_address.street", "Main Road")],
            "debtor_address.town",
            "without them",
        ),
        (vec![("profile.debtor_address.street", "Main Road")], "debtor_address.country", "alpha-2"),
        (
            vec![
                ("profile.debtor_address.town", "Karachi"),
                ("profile.debtor_address.country", "PAK"),
            ],
            "debtor_address.country",
            "at most 2",
        ),
        (vec![("profile.debtor_address.street", &long)], "debtor_address.street", "at most 70"),
        (
            vec![("profile.debtor_address.street", "Straße")],
            "debtor_address.street",
            "character_set",
        ),
        (vec![("profile.initiating_party_scheme", "CUST")], "initiating_party_scheme", "requires"),
        (vec![("profile.initiating_party", "A_B")], "initiating_party", "character_set"),
        (vec![("profile.id_max_chars", "15")], "id_max_chars", "16 to 35"),
        (vec![("profile.id_max_chars", "36")], "id_max_chars", "16 to 35"),
        (vec![("profile.max_bytes", "32767")], "max_bytes", "32768 to"),
        (vec![("profile.file_name", "{date}.xml")], "file_name", "must be unique"),
        (vec![("profile.file_name", "../{message_id}")], "file_name", "only letters"),
        (
            vec![
                ("profile.file_name", "{message_id}.xml"),
                ("transport", "https"),
                ("url", "https://bank.example"),
            ],
            "file_name",
            "no meaning while transport",
        ),
        (vec![("profile.time_zone", "Asia/Karatschi")], "time_zone", "must be a name"),
        (vec![("profile.working_days", "[]")], "working_days", "must contain days"),
        (vec![("profile.working_days", "[\"friday\"]")], "working_days", "must contain days"),
        (vec![("profile.holidays", "[\"25.12.2026\"]")], "holidays", "must be a date"),
        (vec![("profile.cut_off", "24:00")], "cut_off", "must be a time"),
        (vec![("profile.cut_off", "3 pm")], "cut_off", "must be a time"),
        (
            vec![("profile.local_instrument", "INST"), ("local_instrument", "RTGS")],
            "local_instrument",
            "the same element",
        ),
        (vec![("profile.address", "free")], "address", "unknown variant"),
        (vec![("profile.colour", "blue")], "colour", "unknown key"),
    ] {
        let fault = rtgs(&keys).expect_err(named).to_string();
        let key = format!("rails.pak-rtgs.profile.{named}");
        assert!(fault.contains(&key) && fault.contains(rule), "{key} {rule}: {fault}");
    }
    for (key, value, rule) in [
        ("debtor_account", "PK37SCBL0000001123456702", "wrong check digits"),
        ("debtor_account", "DE88370400440532013000", "wrong check digits"),
        ("debtor_account", "AE07033123456789012345", "22 characters: AE has 23"),
        ("debtor_account", "12_34", "character_set"),
        ("debtor_agent", "Bank & Co", "character_set"),
    ] {
        let fault = rtgs(&[(key, value)]).expect_err(value).to_string();
        assert!(
            fault.contains(&format!("rails.pak-rtgs.{key}")) && fault.contains(rule),
            "{fault}"
        );
    }
    let older = "[corridors.PAK]\nsplit_names = \"apart\"\n[[rails]]\nid = \"pak-rtgs\"\n\
                 profile.version = \"pain.001.001.03\"\n";
    let fault = refused(older, &[]);
    assert!(
        fault.contains("rails.pak-rtgs.profile.version") && fault.contains("split_names"),
        "{fault}"
    );
    // A country's fault is named once, where it is set.
    let fault = refused("[corridors.PAK.profile]\nversion = \"09\"\n", &[]);
    assert_eq!(fault.lines().count(), 1, "{fault}");
    assert!(fault.contains("corridors.PAK.profile.version"), "{fault}");
}

#[test]
fn wider_character_sets_take_more() {
    let keys = [
        ("character_set", "latin_1"),
        ("profile.debtor_address.street", "Straße"),
        ("profile.debtor_address.town", "Karachi"),
        ("profile.debtor_address.country", "PK"),
        ("profile.address", "hybrid"),
        ("profile.local_instrument", "prtry:A_B"),
    ];
    let profile = rtgs(&keys).expect("valid").profile;
    assert_eq!(profile.local_instrument, Some(Code::Proprietary("A_B".into())));
    assert_eq!(profile.address, AddressForm::Hybrid);
    let purpose = [("rails.pak-rtgs.profile.purpose", "SALA")];
    let policy = load("", &[], &purpose).expect("valid").to_corridors().expect("converts");
    for rail in policy.rails_of(Country::Pak) {
        let expected = (&*rail.id.0 == "pak-rtgs").then_some("SALA");
        assert_eq!(rail.purpose.as_deref(), expected, "{}", rail.id);
    }
}
