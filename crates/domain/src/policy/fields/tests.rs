//! Each field parses its display format, and nothing else.

use super::*;
use crate::wallet_policy::WalletPolicy;

fn policy() -> TenantPolicy {
    TenantPolicy {
        settlement_coin: StableCoin::Usdt,
        premium_bps: 25,
        margin_bps: 10,
        margin_bps_by_country: [(Country::Pak, 30)].into(),
        countries: [Country::Pak, Country::Ind].into(),
        require_hmac: false,
        wallet: WalletPolicy::default(),
    }
}

#[test]
fn every_field_round_trips_by_name_and_value() {
    let policy = policy();
    let names: BTreeSet<&str> = Field::all().into_iter().map(Field::name).collect();
    assert_eq!(names.len(), Field::all().len(), "names are unique");
    for field in Field::all() {
        assert_eq!(Field::parse(field.name()), Some(field));
        let mut same = policy.clone();
        field.set(&mut same, &field.shown(&policy)).expect("its own format");
        assert_eq!(same, policy, "{}", field.name());
    }
}

#[test]
fn each_field_is_changed_alone() {
    for (name, text, shown) in [
        ("countries", "NPL, PAK", "NPL,PAK"),
        ("countries", "none", "none"),
        ("settlement_coin", "USDC", "USDC"),
        ("require_hmac", "true", "true"),
        ("strict_roles", "true", "true"),
        ("minimum_kyc", "ENHANCED", "ENHANCED"),
        ("kyc_limit_BASIC", "500/1,000", "500.00/1000.00"),
        ("kyc_limit_COMPREHENSIVE", "1000000/9000000.5", "1000000.00/9000000.50"),
        ("kyc_limit_ENHANCED", "none", "none"),
        ("velocity", "3/100", "3/100.00"),
        ("velocity", "none", "none"),
        ("auto_approve_max", "none", "none"),
        ("sender_details_from", "0", "0.00"),
        ("second_person_above", "0.000001", "0.000001"),
        ("second_person_above", "12,345.5", "12345.50"),
        ("block_after_rejections", "1", "1"),
        ("accept_late_hours", "8760", "8760"),
        ("accept_late_hours", "none", "none"),
        ("premium_bps", "0", "0"),
        ("margin_bps", "9999", "9999"),
        ("margin_bps_PAK", "none", "none"),
        ("margin_bps_VNM", "7", "7"),
        ("spread_bps", "51", "51"),
    ] {
        let before = policy();
        let values = read([(name, text)], &before).expect("taken");
        let after = with(&before, &values).expect("valid values");
        let field = Field::parse(name).expect("known");
        assert_eq!(
            differences(&before, &after),
            [(field, field.shown(&before), shown.to_owned())],
            "{name}={text}"
        );
    }
}

#[test]
fn an_invalid_value_is_rejected_with_field_and_rule() {
    for (name, wrong) in [
        ("countries", vec!["", "USA", "PAK;IND", "PAK,,IND", "NONE"]),
        ("settlement_coin", vec!["", "usdt", "DAI"]),
        ("require_hmac", vec!["yes", "1", "TRUE"]),
        ("minimum_kyc", vec!["basic", "FULL", "none"]),
        ("kyc_limit_BASIC", vec!["1000", "2/1", "0/1", "1/", "-1/1", "1/2/3"]),
        ("velocity", vec!["20", "0/1", "3/1,00", "1/0", "1000001/1", "+1/1"]),
        ("auto_approve_max", vec!["0", "-1", "1e3", "0.0000001", "1,00"]),
        ("sender_details_from", vec!["none", "-1", "00.0000000"]),
        ("block_after_rejections", vec!["0", "1.5", "+3", "4294967296"]),
        ("accept_late_hours", vec!["0", "8761", "7d"]),
        ("premium_bps", vec!["10000", "-1", "", "none", "2.5"]),
        ("margin_bps_PAK", vec!["10000", ""]),
        ("version", vec!["2"]),
    ] {
        for text in wrong {
            let faults = read([(name, text)], &policy()).expect_err(&format!("{name}={text}"));
            let told = faults[0].to_string();
            let rule = Field::parse(name).map_or("unknown field", Field::rule);
            assert!(told.starts_with(name) && told.contains(rule), "{told}");
        }
    }
}

#[test]
fn all_faults_are_reported_at_once() {
    let asked =
        [("minimum_kyc", "LOW"), ("colour", "blue"), ("margin_bps", "1"), ("margin_bps", "2")];
    let faults = read(asked, &policy()).expect_err("three faults");
    let unknown = FieldFault::Unknown("colour".to_owned());
    assert_eq!(
        faults,
        [FieldFault::Invalid(Field::MinimumKyc), unknown, FieldFault::Twice(Field::MarginBps)]
    );
    assert!(faults[1].to_string().contains("minimum_kyc"), "the fields are listed");
}
