//! One table per rule of `corridors.md`, named after the rule.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};
use proptest::prelude::*;
use uuid::Uuid;

use super::example::{self, account_ending};
use super::*;
use crate::bank::{BankDirectory, Branch};
use crate::bic::Bic;
use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::ids::QuoteId;
use crate::policy::{CorridorConfig, Corridors};
use crate::time::Span;

mod route;

const TODAY: Date = date(2026, 11, 21);

fn directory() -> BankDirectory {
    let row = |country, bic, local: &str, name: &str| Branch {
        country,
        bic: Bic::parse(bic),
        local_code: (!local.is_empty()).then(|| local.to_owned()),
        bank_name: bic.to_owned(),
        branch_name: (!name.is_empty()).then(|| name.to_owned()),
    };
    BankDirectory::from_branches([
        row(Country::Pak, "SCBLPKKX", "SCBL", "Karachi main"),
        row(Country::Pak, "HABBPKKA", "HABB", "Head office"),
        row(Country::Egy, "NBEGEGCX", "00030001", "Cairo main"),
        row(Country::Egy, "CIBEEGCX", "00100001", "Giza"),
        row(Country::Ind, "HDFCINBB", "HDFC0000001", "Mumbai"),
        row(Country::Bgd, "DBBLBDDH", "090271365", "Motijheel"),
        row(Country::Npl, "NARBNPKA", "0401-1", "Kathmandu"),
        row(Country::Phl, "BOPIPHMM", "", "Makati"),
        row(Country::Vnm, "BFTVVNVX", "970436", "Ha Noi"),
    ])
    .expect("distinct rows")
}

fn corridors(default_local_code: Option<&str>) -> Corridors {
    let india = CorridorConfig {
        open: true,
        quote_ttl: Span::secs(300),
        step_minor: 1,
        max_rate_age: Span::mins(10),
        weekend_margin_bps: None,
        open_quote_cap: None,
        purpose: "FAMT".to_owned(),
        source_of_funds: None,
        names: crate::rail::NameForm::Whole,
        family_name_first: false,
        default_local_code: default_local_code.map(str::to_owned),
    };
    Corridors {
        corridors: BTreeMap::from([(Country::Ind, india)]),
        rails: Vec::new(),
        relations: ["brother", "self", "wife"].map(str::to_owned).into(),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    }
}

fn valid(country: Country) -> Order {
    example::order(country, QuoteId(Uuid::nil()), Currency::Aed, Decimal::from_int(100)).0
}

fn check(order: Order) -> Result<Order, Vec<Fault>> {
    UncheckedOrder(order).check(&directory(), &corridors(None), TODAY)
}

fn accept(order: Order) -> Order {
    check(order).expect("a valid order")
}

/// Changes one value of a valid order and returns the faults as `field rule`.
fn faults_of(country: Country, change: impl FnOnce(&mut Order)) -> Vec<String> {
    let mut order = valid(country);
    change(&mut order);
    let faults = check(order).err().unwrap_or_default();
    assert!(
        faults.iter().all(|fault| fault.message.contains(fault.field)),
        "each message names its field: {faults:?}"
    );
    faults.iter().map(|fault| format!("{} {}", fault.field, fault.rule)).collect()
}

/// Checks one field of `country`: the first values pass, the others violate `rule` only.
fn check_field(
    country: Country,
    field: &str,
    rule: &str,
    set: impl Fn(&mut Order, &str),
    right: &[&str],
    wrong: &[&str],
) {
    for text in right {
        assert_eq!(
            faults_of(country, |order| set(order, text)),
            [""; 0],
            "{country:?} {field} {text:?}"
        );
    }
    for text in wrong {
        let found = faults_of(country, |order| set(order, text));
        assert_eq!(found, [format!("{field} {rule}")], "{country:?} {field} {text:?}");
    }
}

fn check_mobile(country: Country, right: &[&str], wrong: &[&str]) {
    let set = |order: &mut Order, text: &str| order.beneficiary_mobile = Some(text.to_owned());
    check_field(country, "beneficiary_mobile", "invalid_mobile", set, right, wrong);
}

#[test]
fn examples_of_every_country_are_valid_with_the_requested_ending() {
    for country in Country::ALL {
        accept(valid(country));
        for ending in ["0001", "0003", "0008", "6702"] {
            let mut order = valid(country);
            order.beneficiary_account_number = account_ending(country, ending);
            let number = accept(order).beneficiary_account_number;
            assert!(account_part(&number).ends_with(ending), "{number}");
        }
    }
    assert_eq!(account_ending(Country::Pak, "6702"), "PK36SCBL0000001123456702");
}

#[test]
fn beneficiary_mobile_has_the_pattern_of_its_country_or_is_null() {
    check_mobile(
        Country::Ind,
        &["+919812345678", "+916000000000"],
        &["+915812345678", "9812345678", "+923001234567"],
    );
    check_mobile(
        Country::Pak,
        &["+923001234567"],
        &["+924001234567", "+92300123456", "+919812345678", ""],
    );
    check_mobile(
        Country::Bgd,
        &["+8801312345678", "+8801912345678"],
        &["+8801212345678", "+880171234567"],
    );
    check_mobile(
        Country::Npl,
        &["+9779612345678", "+9779812345678"],
        &["+9779512345678", "+977981234567"],
    );
    check_mobile(Country::Phl, &["+639171234567"], &["+638171234567", "+6391712345678"]);
    check_mobile(
        Country::Egy,
        &["+201001234567", "+201512345678"],
        &["+201301234567", "+20100123456"],
    );
    check_mobile(
        Country::Vnm,
        &["+84312345678", "+84912345678"],
        &["+84412345678", "+849123456789", "+84 912345678"],
    );
    for country in Country::ALL {
        assert_eq!(faults_of(country, |order| order.beneficiary_mobile = None), [""; 0]);
    }
}

#[test]
fn sender_mobile_is_any_e164_number() {
    let set = |order: &mut Order, text: &str| order.sender_mobile = Some(text.to_owned());
    let right = ["+971501234567", "+12025550123", "+923001234567"];
    check_field(
        Country::Pak,
        "sender_mobile",
        "invalid_mobile",
        set,
        &right,
        &["0501234567", "+0971501234567", "+9"],
    );
    assert_eq!(faults_of(Country::Pak, |order| order.sender_mobile = None), [""; 0]);
}

#[test]
fn sender_identity_doc_exp_in_the_past_is_refused() {
    for (expiry, expected) in [
        (Some(date(2026, 11, 20)), vec!["sender_identity_doc_exp document_expired"]),
        (Some(TODAY), vec![]),
        (Some(date(2040, 1, 1)), vec![]),
        (None, vec![]),
    ] {
        assert_eq!(
            faults_of(Country::Pak, |order| order.sender_identity_doc_exp = expiry),
            expected
        );
    }
}

#[test]
fn sender_birthdate_is_in_the_past() {
    let found = |birth| faults_of(Country::Pak, |order| order.sender_birthdate = birth);
    assert_eq!(found(Some(TODAY)), ["sender_birthdate date_past"]);
    assert_eq!(found(Some(date(2026, 11, 20))), [""; 0]);
    assert_eq!(found(Some(date(1900, 1, 1))), [""; 0]);
    for early in [date(0, 1, 1), date(1, 1, 1), date(1800, 1, 1), date(1899, 12, 31)] {
        assert_eq!(found(Some(early)), ["sender_birthdate greater_than_equal"]);
    }
    assert_eq!(found(None), [""; 0]);
}

#[test]
fn countries_of_sender_and_document_are_iso_3166_alpha_3() {
    let set = |order: &mut Order, text: &str| order.sender_country = text.to_owned();
    check_field(
        Country::Pak,
        "sender_country",
        "invalid_country",
        set,
        &["ARE", "MYS"],
        &["XXX", "are", "UAE"],
    );
    let set =
        |order: &mut Order, text: &str| order.sender_identity_doc_country = Some(text.to_owned());
    check_field(
        Country::Pak,
        "sender_identity_doc_country",
        "invalid_country",
        set,
        &["PAK"],
        &["PKK", "ZZZ"],
    );
}

#[test]
fn sender_relation_is_one_of_the_configured_in_any_case() {
    let set = |order: &mut Order, text: &str| order.sender_relation = text.to_owned();
    check_field(
        Country::Pak,
        "sender_relation",
        "invalid_relation",
        set,
        &["brother", "SELF", "Wife"],
        &["boss", "aunt"],
    );
    let order = accept(Order { sender_relation: "BroTher".to_owned(), ..valid(Country::Pak) });
    assert_eq!(order.sender_relation, "brother");
}

#[test]
fn purpose_code_is_an_iso_20022_code_in_orders_to_india() {
    let set = |order: &mut Order, text: &str| order.purpose_code = Some(text.to_owned());
    let right = ["FAMI", "SALA", "P3", "1"];
    let wrong = ["fami", "FAM-", "F I", "É", "FAMIL", ""];
    check_field(Country::Ind, "purpose_code", "string_pattern_mismatch", set, &right, &wrong);
    for country in Country::ALL.into_iter().filter(|country| *country != Country::Ind) {
        assert_eq!(valid(country).purpose_code, None);
        check_field(country, "purpose_code", "unsupported_field", set, &[], &["FAMI", "fami"]);
    }
}

#[test]
fn beneficiary_email_is_an_address() {
    let set = |order: &mut Order, text: &str| order.beneficiary_email = Some(text.to_owned());
    let right =
        ["a@b.co", "first.last+tag@sub.example.com", "o'neil@example.org", "नाम@उदाहरण.भारत"];
    let wrong = [
        "a",
        "@b.co",
        "a@",
        "a@b",
        "a@@b.co",
        "a b@c.co",
        ".a@b.co",
        "a.@b.co",
        "a..b@c.co",
        "a@b..co",
        "a@-b.co",
        "a@b.co.",
        "a@127.0.0.1",
    ];
    check_field(Country::Pak, "beneficiary_email", "invalid_email", set, &right, &wrong);
    let long = format!("{}@example.com", "a".repeat(65));
    check_field(Country::Pak, "beneficiary_email", "invalid_email", set, &[], &[&long]);
}

#[test]
fn texts_are_counted_in_characters_and_stored_as_sent() {
    let name = "म".repeat(128);
    let order = accept(Order { beneficiary_name: name.clone(), ..valid(Country::Npl) });
    assert_eq!(order.beneficiary_name, name);
    let found = faults_of(Country::Npl, |order| {
        order.beneficiary_name = "म".repeat(129);
        order.beneficiary_address = "é".repeat(71);
        order.sender_address = "é".repeat(71);
        order.external_id = Some("x".repeat(129));
    });
    assert_eq!(
        found,
        [
            "beneficiary_name string_too_long",
            "beneficiary_address string_too_long",
            "sender_address string_too_long",
            "external_id string_too_long",
        ]
    );
    assert_eq!(
        faults_of(Country::Npl, |order| order.external_id = Some(String::new())),
        ["external_id string_too_short"]
    );
}

#[test]
fn amount_is_above_zero() {
    for amount in [Decimal::ZERO, Decimal::from_int(-1)] {
        assert_eq!(faults_of(Country::Ind, |order| order.amount = amount), ["amount greater_than"]);
    }
}

/// Networks refuse an address without a town, and the beginning of a number is another one.
#[test]
fn what_a_message_would_lose_is_refused() {
    let no_towns = ["-", "--", "?", ".", "—", "🏙", "🇵🇰", "12", "\u{3200C}"];
    let towns = ["Hà Nội", "6th of October", "কক্সবাজার", "كراتشي", "北京", "Ho 🏙"];
    let country = Country::Pak;
    let rule = "unsupported_characters";
    let of_sender = |order: &mut Order, text: &str| text.clone_into(&mut order.sender_city);
    check_field(country, "sender_city", rule, of_sender, &towns, &no_towns);
    let of_payee = |order: &mut Order, text: &str| text.clone_into(&mut order.beneficiary_city);
    check_field(country, "beneficiary_city", rule, of_payee, &towns, &no_towns);
}

#[test]
fn faults_of_shape_hide_faults_of_rule_in_the_same_field() {
    let shape = vec![
        Fault::new("sender_name", "missing", ""),
        Fault::new("bank_branch_code", "missing", ""),
    ];
    let rules = vec![
        Fault::new("bank_branch_code", "invalid_ifsc", ""),
        Fault::new("sender_country", "x", ""),
    ];
    let merged: Vec<(&str, &str)> =
        merge_faults(shape, rules).iter().map(|fault| (fault.field, fault.rule)).collect();
    assert_eq!(
        merged,
        [("bank_branch_code", "missing"), ("sender_name", "missing"), ("sender_country", "x")]
    );
}

/// One violation per field with a rule, in no particular order.
const BREAKS: [fn(&mut Order); 15] = [
    |order| order.purpose_code = Some("?".to_owned()),
    |order| order.external_id = Some(String::new()),
    |order| order.amount = Decimal::ZERO,
    |order| order.bank_branch_code = "?".to_owned(),
    |order| order.sender_relation = "?".to_owned(),
    |order| order.beneficiary_name = "x".repeat(129),
    |order| order.beneficiary_account_number = "?".to_owned(),
    |order| order.sender_mobile = Some("?".to_owned()),
    |order| order.beneficiary_mobile = Some("?".to_owned()),
    |order| order.sender_country = "???".to_owned(),
    |order| order.beneficiary_email = Some("?".to_owned()),
    |order| order.sender_identity_doc_exp = Some(date(2020, 1, 1)),
    |order| order.sender_identity_doc_country = Some("???".to_owned()),
    |order| order.sender_birthdate = Some(date(2030, 1, 1)),
    |order| order.sender_address = "x".repeat(71),
];

proptest! {
    #[test]
    fn all_faults_are_found_in_the_order_of_the_field_table(
        country in prop::sample::select(Country::ALL.to_vec()),
        chosen in prop::collection::btree_set(0..BREAKS.len(), 1..=BREAKS.len()),
    ) {
        let mut order = valid(country);
        chosen.iter().for_each(|at| BREAKS[*at](&mut order));
        let faults = check(order).expect_err("an invalid order");
        let place = |fault: &Fault| member_names().position(|field| field == fault.field).expect("a known field");
        let places: Vec<usize> = faults.iter().map(place).collect();
        prop_assert_eq!(places.len(), chosen.len());
        prop_assert!(places.is_sorted_by(|a, b| a < b), "{:?}", places);
    }

    #[test]
    fn no_text_makes_a_check_panic(country in prop::sample::select(Country::ALL.to_vec()), text in "\\PC{0,40}") {
        let mut order = valid(country);
        order.bank_branch_code = text.clone();
        order.beneficiary_account_number = text.clone();
        order.beneficiary_email = Some(text.clone());
        order.beneficiary_mobile = Some(text.clone());
        order.sender_mobile = Some(text.clone());
        let faults = check(order).err().unwrap_or_default();
        prop_assert!(faults.iter().all(|fault| member_names().any(|field| field == fault.field)));
        prop_assert!(text.ends_with(account_part(&text)));
        prop_assert!(same_branch(country, &text, &text, &directory()));
    }
}
