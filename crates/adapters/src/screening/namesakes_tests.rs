//! Ordinary names that share words with listed ones: given names alone, the family alone, and the trade
//! of a business alone lead to no review, and hide no listed name.

use super::test_list::TestList;
use std::sync::LazyLock;

const LIST: &str = r#"#corridor-sanctions name=NAMESAKES published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"NGUYEN, Phuong Hong",,,,VNM,
2,person,"TRAN, Xuan Dung",,,,VNM,
3,person,Le Quoc Thanh,,,,VNM,
4,person,"LOPEZ TORRES, Jose",,,,COL,
5,person,"RAMIREZ SOTO, Maria",,,,MEX,
6,person,"KHALIL, Ali Hassan",,,1964-05-14,LBN,
7,person,"MOHAMMADI, Mohammad",,,1964-05-14,IRN,
8,person,"JO, Kyong Chol",,,,PRK,
9,organisation,Shield Consultancy,,,,MYS,
10,organisation,Roshan Money Exchange,,,,AFG,
11,organisation,Haji Barakzai Haji Sattar Money Exchange,,,,AFG,
12,organisation,Zenith Marine Engineering Works,,,,IRN,
13,organisation,Al Rashid Trust,,,,PAK,
14,person,"MILLSON, Heather Marine",,,,GBR,
15,person,"ZARDAKHEL BARQAZAI, Muhammad",,,,AFG,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn given_names_with_another_family_name_are_paid() {
    let mut names = Vec::new();
    for family in
        ["Ly", "Dang", "Bui", "Vo", "Ngo", "Duong", "Truong", "Phạm", "Trịnh", "Mai", "Ho"]
    {
        names.push(format!("{family} Hong Phuong"));
        names.push(format!("{family} Phuong Hong"));
        names.push(format!("{} HONG PHUONG", family.to_uppercase()));
        names.push(format!("Hong Phuong {family}"));
        names.push(format!("Mr. Hong Phuong {family}"));
        // `Tran` is in the list.
        if !family.starts_with("Tr") {
            names.push(format!("{family} Xuan Dung"));
        }
        // `Le` and `Ly` sound alike.
        if family != "Ly" {
            names.push(format!("{family} Quoc Thanh"));
            names.push(format!("Quoc Thanh {family}"));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    TEST.assert_paid(&names);
    TEST.assert_stopped(&[
        "Nguyen Phuong Hong",
        "Phuong Hong Nguyen",
        "Nguyễn Phượng Hồng",
        "Phuong Nguyen",
        "Phuong Hong",
        "Tran Xuan Dung",
        "Dung Xuan Tran",
        "Xuan Dung",
        "Le Quoc Thanh",
        "Quoc Thanh Le",
        "Mr. Lê Quốc Thành",
        "Nguyen Phuong Hong Ly",
    ]);
}

#[test]
fn the_family_of_a_listed_person_is_paid() {
    let mut names = Vec::new();
    for given in
        ["Daniela", "Alejandro", "Gabriela", "Wilson P.", "Juana Paola", "Mr. Paolo", "Khan"]
    {
        names.push(format!("{given} López Torres"));
        names.push(format!("{given} López Torres Romero"));
        names.push(format!("LÓPEZ TORRES {}", given.to_uppercase()));
        names.push(format!("{given} Ramírez Soto"));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    TEST.assert_paid(&names);
    TEST.assert_stopped(&[
        "José López Torres",
        "López Torres José",
        "J. López Torres",
        "J. M. López Torres",
        "Jose Luis Lopez Torres",
        "López Torres",
        "Maria Ramirez Soto",
        "Maria Fernanda Ramírez Soto",
        "M. Ramirez Soto",
        "Muhammad Zardakhel Barqazai",
        "M. Zardakhel Barqazai",
        "Zardakhel Barqazai",
    ]);
}

#[test]
fn well_known_names_of_one_letter_more_or_less_are_others() {
    TEST.assert_paid(&[
        "Khaled Tawfik Ali",
        "Amr Khaled Ali",
        "Khalid Hassan Amr",
        "Ahmad Mohammadi",
        "Chi Keung Zhou",
        "Kyong Min Cho",
    ]);
    TEST.assert_stopped(&[
        "Ali Khalil",
        "Khalil Ali Hassan",
        "Ali Hassan Khaleel",
        "Mohamed Mohammadi",
        "Mohammad Mohamadi",
        "Jo Kyong Chol",
        "Kyong Chol Jo",
    ]);
}

#[test]
fn the_trade_of_a_business_alone_is_paid() {
    let mut names = Vec::new();
    for core in
        ["Rehman", "Royal", "Santos", "Al Amin", "Star", "Pearl", "Everest", "Nguyen", "Garcia"]
    {
        for trade in [
            "Consultancy",
            "Money Exchange",
            "Money Exchange LLC",
            "Marine Engineering Works",
            "Engineering Works",
            "Trust",
            "Consultancy & Trading",
        ] {
            names.push(format!("{core} {trade}"));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    TEST.assert_paid(&names);
    TEST.assert_stopped(&[
        "Shield Consultancy",
        "Shield Consultancy Sdn Bhd",
        "Roshan Money Exchange",
        "Roshan Exchange Money",
        "Roshan Money Exchangers",
        "Haji Barakzai Haji Sattar Exchange",
        "Zenith Marine Engineering Works",
        "Zenith Marine Works",
        "Al-Rashid Trust",
        "Heather Millson",
        "Heather Marine Millson",
    ]);
}
