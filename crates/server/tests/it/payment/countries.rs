//! `POST /v2/payment`: the seven country variants.

use domain::country::Country;
use domain::currency::Currency;
use domain::order::example;

use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    every_country_pays_its_example_order
    the_output_shows_the_local_branch_code_and_name
    each_countrys_mobile_numbers_are_held_to_its_form
    each_countrys_account_numbers_are_held_to_its_form
    each_countrys_branch_codes_are_held_to_its_form
}

async fn every_country_pays_its_example_order(on: On) {
    let bank = Bank::new(on).await;
    for (country, destination) in [
        (Country::Bgd, "BDT"),
        (Country::Egy, "EGP"),
        (Country::Ind, "INR"),
        (Country::Npl, "NPR"),
        (Country::Pak, "PKR"),
        (Country::Phl, "PHP"),
        (Country::Vnm, "VND"),
    ] {
        let quote = bank.quote(country, Currency::Eur, "75.25").await;
        let accepted = bank.pay(&quote.order()).await.ok();
        assert_eq!(accepted["amount_currency"].text(), destination);
        let record = bank.reaches(country, accepted["id"].text(), "succeeded").await;
        assert_eq!(record["order"]["country"].text(), country.alpha3());
        let book = bank.book(accepted["id"].text()).await;
        assert_eq!(
            (book.len(), &book[0]["amount"], book[0]["currency"].text()),
            (1, &accepted["amount"], destination)
        );
    }
}

async fn the_output_shows_the_local_branch_code_and_name(on: On) {
    let bank = Bank::new(on).await;
    for (country, given, code, name) in [
        (Country::Ind, "HDFCINBB", "HDFC0000001", "\"Tulsiani Chambers, Nariman Point, Mumbai\""),
        (Country::Ind, "hdfc0000240", "HDFC0000240", "\"Sandoz House, Worli, Mumbai\""),
        (Country::Ind, "ABCD0123456", "ABCD0123456", "null"),
        (Country::Bgd, "DBBLBDDH", "090271365", "\"Local Office, Dhaka\""),
        (Country::Bgd, "090150136", "090150136", "\"Agrabad, Chattogram\""),
        (Country::Npl, "NARBNPKA", "0401-1", "\"Head Office, Kathmandu\""),
        (Country::Vnm, "BFTVVNVX", "970436", "\"Head Office, Ha Noi\""),
        (Country::Phl, "BOPIPHMM", "BOPIPHMM", "\"Head Office, Makati\""),
        (Country::Phl, "XXXXPHMM", "XXXXPHMM", "null"),
        (Country::Egy, "NBEGEGCX", "00030001", "\"Main Branch, Cairo\""),
    ] {
        let id = bank.paid(country, |order| order.text("bank_branch_code", given)).await;
        let order = &bank.record(country, &id).await["order"];
        assert_eq!(
            (order["bank_branch_code"].text(), order["bank_branch_name"].to_string().as_str()),
            (code, name),
            "{given}"
        );
    }
}

/// A country, texts that its order accepts, and texts that it refuses, with the violated rule.
type Texts<'a> = (Country, &'a [&'a str], &'a [(&'a str, &'a str)]);

/// Checks texts for one field of each country's order.
async fn tried(on: On, field: &str, table: &[Texts<'_>]) {
    let bank = Bank::new(on).await;
    let mut wrong = Vec::new();
    for (country, right, refused) in table {
        for text in *right {
            let quote = bank.quote(*country, Currency::Sar, "100").await;
            let answer = bank.pay(&quote.order().text(field, text)).await;
            if answer.status != 200 {
                wrong.push(format!("{country:?} {text}: {answer:?}"));
            }
        }
        let order = bank.quote(*country, Currency::Sar, "100").await.order();
        for (text, rule) in *refused {
            let answer = bank.pay(&order.clone().text(field, text)).await;
            if answer.status != 422 || answer.fault_kinds() != [format!("body.{field} {rule}")] {
                wrong.push(format!("{country:?} {text}: not {rule}: {answer:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn each_countrys_mobile_numbers_are_held_to_its_form(on: On) {
    const BAD: &str = "invalid_mobile";
    tried(
        on,
        "beneficiary_mobile",
        &[
            (
                Country::Ind,
                &["+919812345678", "+916000000000"],
                &[("+915812345678", BAD), ("+9198123456789", BAD), ("9812345678", BAD)],
            ),
            (Country::Pak, &["+923001234567"], &[("+924001234567", BAD), ("+919812345678", BAD)]),
            (
                Country::Bgd,
                &["+8801312345678", "+8801912345678"],
                &[("+8801212345678", BAD), ("+880171234567", BAD)],
            ),
            (
                Country::Npl,
                &["+9779612345678", "+9779812345678"],
                &[("+9779512345678", BAD), ("+977981234567", BAD)],
            ),
            (Country::Phl, &["+639171234567"], &[("+638171234567", BAD), ("+6391712345678", BAD)]),
            (
                Country::Egy,
                &["+201001234567", "+201501234567"],
                &[("+201301234567", BAD), ("+20100123456", BAD)],
            ),
            (
                Country::Vnm,
                &["+84312345678", "+84912345678"],
                &[("+84412345678", BAD), ("+8491234567", BAD)],
            ),
        ],
    )
    .await;
}

async fn each_countrys_account_numbers_are_held_to_its_form(on: On) {
    const BAD: &str = "invalid_account_number";
    let egyptian = example::account_ending(Country::Egy, "1234");
    let spaced = format!("{} {}", &egyptian[..4], &egyptian[4..]);
    tried(
        on,
        "beneficiary_account_number",
        &[
            (
                Country::Ind,
                &["501001", "ABCDEF12345678901234"],
                &[("12345", BAD), ("abcdef", BAD), ("123456789012345678901", BAD)],
            ),
            (
                Country::Pak,
                &["PK36SCBL0000001123456702", "0112345", "a1234"],
                &[
                    ("PK36SCBL0000001123456703", "invalid_iban"),
                    ("123456789012345678901", BAD),
                    ("1-2", BAD),
                ],
            ),
            (
                Country::Bgd,
                &["117151", "a1B2c3D4e5F6g7H8i9J0"],
                &[("11715", BAD), ("117 151", BAD), ("123456789012345678901", BAD)],
            ),
            (
                Country::Npl,
                &["12345", "a1B2c3D4e5F6g7H8i9J0"],
                &[("123456789012345678901", BAD), ("1.2", BAD)],
            ),
            (
                Country::Phl,
                &["108912", "12345678901234567"],
                &[("10891", BAD), ("123456789012345678", BAD), ("A08912", BAD)],
            ),
            (
                Country::Egy,
                &[&egyptian, &spaced, &egyptian.to_lowercase()],
                &[("EG380019000500000000263180003", "invalid_iban"), ("12345678", "invalid_iban")],
            ),
            (
                Country::Vnm,
                &["007100", "a12345678901234567890123456789"],
                &[("00710", BAD), ("a123456789012345678901234567890", BAD)],
            ),
        ],
    )
    .await;
}

async fn each_countrys_branch_codes_are_held_to_its_form(on: On) {
    const BIC: &str = "invalid_bic";
    const CODE: &str = "invalid_branch_code";
    tried(
        on,
        "bank_branch_code",
        &[
            (
                Country::Ind,
                &["HDFC0000001", "HDFCINBB", "HDFCINBBXXX", "hdfcinbb"],
                &[("HDFC1000001", "invalid_ifsc"), ("SCBLPKKX", BIC), ("HDFC", "invalid_ifsc")],
            ),
            (
                Country::Pak,
                &["SCBLPKKX", "SCBL", "SCBLPKKXXXX"],
                &[("HABBPKKA", "branch_iban_mismatch"), ("SCBLPKK1X", BIC), ("1234", CODE)],
            ),
            (
                Country::Bgd,
                &["DBBLBDDH", "090271365", "123456789"],
                &[("12345678", "invalid_routing_number"), ("DBBLBDD", BIC)],
            ),
            (Country::Npl, &["NARBNPKA", "0401", "0401-1"], &[("04-1", CODE), ("NARBINKA", BIC)]),
            (Country::Phl, &["BOPIPHMM", "BNORPHMMXXX"], &[("0101", BIC), ("BOPIVNMM", BIC)]),
            (
                Country::Egy,
                &["NBEGEGCX", "00030001"],
                &[
                    ("CIBEEGCX", "branch_iban_mismatch"),
                    ("00100001", "branch_iban_mismatch"),
                    ("0003", CODE),
                ],
            ),
            (
                Country::Vnm,
                &["BFTVVNVX", "970436"],
                &[("980436", CODE), ("97043", CODE), ("BFTVPHVX", BIC)],
            ),
        ],
    )
    .await;
}
