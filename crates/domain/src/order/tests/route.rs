//! The destination account: account numbers, branch codes, and whether they match.

use super::*;

fn check_account(country: Country, rule: &str, right: &[&str], wrong: &[&str]) {
    let set = |order: &mut Order, text: &str| order.beneficiary_account_number = text.to_owned();
    check_field(country, "beneficiary_account_number", rule, set, right, wrong);
}

/// Like [`check_field`] for branch codes, with an account number that contradicts none of them.
fn check_branch(country: Country, rule: &str, right: &[&str], wrong: &[&str]) {
    let set = |order: &mut Order, text: &str| {
        order.bank_branch_code = text.to_owned();
        if country == Country::Pak {
            order.beneficiary_account_number = "0123456702".to_owned();
        }
    };
    check_field(country, "bank_branch_code", rule, set, right, wrong);
}

#[test]
fn ind_account_numbers_are_6_to_20_digits_or_capitals() {
    let right = ["123456", "12345678901234567890", "SB0012345"];
    let wrong = ["12345", "123456789012345678901", "sb0012345", "1234 5678", "12-34567", "१२३४५६"];
    check_account(Country::Ind, "invalid_account_number", &right, &wrong);
}

#[test]
fn pak_account_numbers_are_ibans_or_local_numbers_of_5_to_20() {
    let right = [
        "PK36SCBL0000001123456702",
        "pk36 scbl 0000 0011 2345 6702",
        "12345",
        "0123456789",
        "AB345678901234567890",
    ];
    check_account(
        Country::Pak,
        "invalid_iban",
        &right,
        &[
            "PK37SCBL0000001123456702",
            "PK36SCBL000000112345670",
            "PK36SCBL00000011234567022",
            "PK36SC1L0000001123456702",
            "PK36",
            "GB82WEST12345698765432",
            "EG380019000500000000263180002",
        ],
    );
    check_account(
        Country::Pak,
        "invalid_account_number",
        &[],
        &["123456789012345678901", "1234-5678", "é"],
    );
}

#[test]
fn bgd_account_numbers_are_6_to_20_letters_or_digits() {
    let wrong = ["12345", "123456789012345678901", "1234 567", "1234.567"];
    check_account(
        Country::Bgd,
        "invalid_account_number",
        &["123456", "aB345678901234567890"],
        &wrong,
    );
}

#[test]
fn npl_account_numbers_are_5_to_20_letters_or_digits() {
    check_account(
        Country::Npl,
        "invalid_account_number",
        &["12345", "aB345678901234567890"],
        &["123456789012345678901", "1234", "0", "12 34", ""],
    );
}

#[test]
fn phl_account_numbers_are_6_to_17_digits() {
    check_account(
        Country::Phl,
        "invalid_account_number",
        &["123456", "12345678901234567"],
        &["12345", "123456789012345678", "12345A"],
    );
}

#[test]
fn egy_account_numbers_are_ibans_of_29() {
    let right = account_ending(Country::Egy, "0042");
    check_account(
        Country::Egy,
        "invalid_iban",
        &[&right, &right.to_lowercase()],
        &[
            "EG390019000500000000263180002",
            "EG38001900050000000026318000",
            "EG38001900050000000026318000A",
            "PK36SCBL0000001123456702",
            "00000000263180002",
        ],
    );
}

#[test]
fn vnm_account_numbers_are_6_to_30_letters_or_digits() {
    let longest = "123456789012345678901234567890";
    let beyond = "1234567890123456789012345678901";
    check_account(
        Country::Vnm,
        "invalid_account_number",
        &["123456", "abC123", longest],
        &["12345", beyond, "123 456"],
    );
}

#[test]
fn ind_branch_codes_are_bics_or_ifsc() {
    let right =
        ["HDFC0000001", "hdfc0000001", "SBIN0A12345", "HDFCINBB", "HDFCINBBXXX", "hdfcinbb"];
    check_branch(
        Country::Ind,
        "invalid_ifsc",
        &right,
        &["HDFC1000001", "HDFC000001", "HDF00000001", "1", "400240002"],
    );
    check_branch(
        Country::Ind,
        "invalid_bic",
        &[],
        &["HDFCINB", "HDFCINBBXX", "SCBLPKKX", "HDFCINBB-XX"],
    );
}

#[test]
fn pak_branch_codes_are_bics_or_the_banks_4_letters() {
    check_branch(
        Country::Pak,
        "invalid_branch_code",
        &["SCBL", "scbl", "SCBLPKKX", "HABBPKKA007", "ZZZZ"],
        &["SCB", "SCB1", "SCBLP", "0042"],
    );
    check_branch(Country::Pak, "invalid_bic", &[], &["HDFCINBB", "SCBLPK", "SCBLPKKXX"]);
}

#[test]
fn bgd_branch_codes_are_bics_or_routing_numbers_whatever_their_check_digit() {
    let right = ["090271365", "090271360", "090271361", "DBBLBDDH"];
    check_branch(
        Country::Bgd,
        "invalid_routing_number",
        &right,
        &["09027136", "0902713655", "09027136A"],
    );
    check_branch(Country::Bgd, "invalid_bic", &[], &["HDFCINBB"]);
}

#[test]
fn npl_branch_codes_are_bics_or_ids_of_bank_and_branch() {
    let wrong = ["04", "04011", "0401-", "0401-12345", "-1", "0401/1"];
    check_branch(Country::Npl, "invalid_branch_code", &["0401", "0401-1", "NARBNPKA"], &wrong);
}

#[test]
fn phl_branch_codes_are_bics_alone() {
    check_branch(
        Country::Phl,
        "invalid_bic",
        &["BOPIPHMM", "BOPIPHMMXXX"],
        &["010040018", "BOPI", "HDFCINBB"],
    );
}

#[test]
fn egy_branch_codes_are_bics_or_8_digits_of_bank_and_branch() {
    check_branch(
        Country::Egy,
        "invalid_branch_code",
        &["NBEGEGCX", "00030001"],
        &["0003001", "000300011", "0003"],
    );
}

#[test]
fn vnm_branch_codes_are_bics_or_napas_bins() {
    let wrong = ["97043", "9704360", "980436", "97O436"];
    check_branch(Country::Vnm, "invalid_branch_code", &["970436", "970999", "BFTVVNVX"], &wrong);
}

#[test]
fn a_branch_is_resolved_through_the_directory_from_either_code() {
    for (country, given, bic, local, name) in [
        (Country::Ind, "HDFCINBB", Some("HDFCINBB"), Some("HDFC0000001"), Some("Mumbai")),
        (Country::Ind, "HDFC0000001", Some("HDFCINBB"), Some("HDFC0000001"), Some("Mumbai")),
        (Country::Bgd, "dbblbddhxxx", Some("DBBLBDDHXXX"), Some("090271365"), Some("Motijheel")),
        (Country::Phl, "BOPIPHMM", Some("BOPIPHMM"), None, Some("Makati")),
        (Country::Vnm, "BFTVVNVX008", Some("BFTVVNVX008"), Some("970436"), None),
        // Unknown, so accepted as given. The head office's routing number would be wrong for a
        // branch.
        (Country::Bgd, "DBBLBDDH123", Some("DBBLBDDH123"), None, None),
        (Country::Ind, "SBININBB", Some("SBININBB"), None, None),
        (Country::Ind, "SBIN0000300", None, Some("SBIN0000300"), None),
        // The IBAN identifies the bank, and in Egypt the branch.
        (Country::Pak, "SCBLPKKX", Some("SCBLPKKX"), Some("SCBL"), Some("Karachi main")),
        (Country::Pak, "SCBLPKKX002", Some("SCBLPKKX002"), Some("SCBL"), None),
        (Country::Egy, "NBEGEGCX", Some("NBEGEGCX"), Some("00030001"), Some("Cairo main")),
    ] {
        let order = accept(Order { bank_branch_code: given.to_owned(), ..valid(country) });
        let found = (
            order.branch_bic.as_deref(),
            order.branch_local_code.as_deref(),
            order.bank_branch_name.as_deref(),
        );
        assert_eq!(found, (bic, local, name), "{given}");
        assert_eq!(order.bank_branch_code, given.to_uppercase());
        assert_eq!(order.branch_code(), local.unwrap_or(&order.bank_branch_code));
    }
}

#[test]
fn an_egyptian_iban_names_the_branch_better_than_the_bic_does() {
    let national = "0003009700000000000123456";
    let digits = crate::iban::check_digits("EG", national).expect("plain digits");
    let number = format!("EG{digits}{national}");
    let order = accept(Order { beneficiary_account_number: number, ..valid(Country::Egy) });
    assert_eq!(order.branch_local_code.as_deref(), Some("00030097"));
    assert_eq!((order.branch_bic.as_deref(), order.bank_branch_name), (Some("NBEGEGCX"), None));
}

#[test]
fn a_configured_default_ifsc_stands_in_for_a_bic_only() {
    let with_default = corridors(Some("HDFC0000001"));
    let check = |code: &str| {
        let order = Order { bank_branch_code: code.to_owned(), ..valid(Country::Ind) };
        UncheckedOrder(order)
            .check(&directory(), &with_default, TODAY)
            .expect("valid")
            .branch_local_code
    };
    assert_eq!(check("SBININBB").as_deref(), Some("HDFC0000001"));
    assert_eq!(check("SBIN0000300").as_deref(), Some("SBIN0000300"));
}

#[test]
fn an_iban_that_contradicts_the_branch_code_is_refused() {
    let eg_iban = account_ending(Country::Egy, "6702");
    for (country, code, account, clashes) in [
        (Country::Pak, "HABBPKKA", "PK36SCBL0000001123456702", true),
        (Country::Pak, "HABB", "PK36SCBL0000001123456702", true),
        (Country::Pak, "MEZNPKKA", "PK36SCBL0000001123456702", true),
        (Country::Pak, "SCBLPKKXXXX", "PK36SCBL0000001123456702", false),
        (Country::Pak, "HABBPKKA", "0123456702", false),
        (Country::Egy, "CIBEEGCX", &eg_iban, true),
        (Country::Egy, "00030002", &eg_iban, true),
        (Country::Egy, "00030001", &eg_iban, false),
        (Country::Egy, "BMISEGCX", &eg_iban, false),
        (Country::Egy, "CIBEEGCX001", &eg_iban, true),
        (Country::Egy, "CIBEEGCA", &eg_iban, true),
        (Country::Egy, "NBEGEGCX123", &eg_iban, false),
    ] {
        let found = faults_of(country, |order| {
            order.bank_branch_code = code.to_owned();
            order.beneficiary_account_number = account.to_owned();
        });
        let expected: &[&str] =
            if clashes { &["bank_branch_code branch_iban_mismatch"] } else { &[] };
        assert_eq!(found, expected, "{code} {account}");
        let hints = check_route_hints(country, Some(account), Some(code), &directory());
        let hints: Vec<String> =
            hints.iter().map(|fault| format!("{} {}", fault.field, fault.rule)).collect();
        assert_eq!(hints, expected, "{code} {account}");
    }
}

#[test]
fn hints_of_a_quote_obey_the_same_patterns() {
    let rules = |account, branch| -> Vec<String> {
        let faults = check_route_hints(Country::Ind, account, branch, &directory());
        faults.iter().map(|fault| format!("{} {}", fault.field, fault.rule)).collect()
    };
    assert_eq!(rules(None, None), [""; 0]);
    assert_eq!(rules(Some("50100123456702"), Some("HDFC0000001")), [""; 0]);
    let both =
        ["beneficiary_account_number invalid_account_number", "bank_branch_code invalid_ifsc"];
    assert_eq!(rules(Some("1"), Some("1")), both);
}

#[test]
fn a_quotes_branch_names_the_bank_that_the_payment_goes_to() {
    for (country, branch, bank) in [
        (Country::Egy, "NBEGEGCX", Some("NBEG")),
        (Country::Egy, "00030001", Some("NBEG")),
        (Country::Egy, "99990001", None),
        (Country::Pak, "SCBL", Some("SCBL")),
        (Country::Ind, "hdfc0000001", Some("HDFC")),
    ] {
        let found = bank_of_branch(country, Some(branch), &directory());
        assert_eq!(found.as_deref(), bank, "{branch}");
    }
    assert_eq!(bank_of_branch(Country::Egy, None, &directory()), None);
}

#[test]
fn a_payment_is_compared_with_its_quotes_account_and_branch() {
    assert!(same_account("PK36SCBL0000001123456702", "pk36 scbl 0000 0011 2345 6702"));
    assert!(!same_account("0123", "123"));
    for (country, a, b, same) in [
        (Country::Ind, "HDFCINBB", "HDFC0000001", true),
        (Country::Ind, "hdfc0000001", "HDFCINBBXXX", true),
        (Country::Ind, "HDFCINBB", "HDFCINBBXXX", true),
        (Country::Ind, "HDFCINBB", "HDFC0000240", false),
        (Country::Ind, "HDFC0000240", "HDFC0000001", false),
        (Country::Ind, "SBININBB", "sbininbb", true),
        (Country::Ind, "SBININBB", "SBIN0000300", false),
        (Country::Pak, "SCBLPKKX", "SCBL", true),
        (Country::Pak, "SCBLPKKX", "HABBPKKA", false),
        (Country::Vnm, "970436", "BFTVVNVX", true),
    ] {
        assert_eq!(same_branch(country, a, b, &directory()), same, "{a} {b}");
        assert_eq!(same_branch(country, b, a, &directory()), same, "{b} {a}");
    }
}

#[test]
fn the_account_part_follows_the_bank_in_an_iban() {
    for (number, part) in [
        ("PK36SCBL0000001123456702", "0000001123456702"),
        ("EG380019000500000000263180002", "00000000263180002"),
        ("50100123450003", "50100123450003"),
        ("PKABSCBL0000001123456702", "PKABSCBL0000001123456702"),
        ("", ""),
    ] {
        assert_eq!(account_part(number), part);
    }
}
