//! Names as they stand on published lists (long, in another script, with articles and initials) against
//! the names in which their bearers, or those who pay them, write them.

use super::load::{Document, load};
use super::*;
use domain::ports::NameScreen as _;
use domain::screening::{Party, Verdict};
use domain::time::Timestamp;
use std::sync::Arc;

const LIST: &str = r#"#corridor-sanctions name=KINDS published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"VORBINSKI, Mikhail Aleksandrovich",,,,RUS,
2,person,Abd al-Rahman bin Hamad al-Zawbari,,,,YEM,
3,person,"AL-QURNAWI, Ayman Muhammad Rabi'",,,1970-01-12,EGY,
4,person,Nguyễn Đặng Phượng,,,,VNM,
5,person,Сергей Дубравинцев,,,,RUS,
6,person,عبد الواحد الزنجراني,,,,IRQ,
7,person,王晓渟,,,,CHN,
8,person,Jose Maria Del Rosario Bantiling,,,,PHL,
9,person,हरिप्रसाद कोइरालेकर,,,,NPL,
10,person,অনিরুদ্ধ চট্টোপালিত,,,,BGD,
11,person,"VON HÖGENDORFER, Carl-Friedrich",,,,,
12,organisation,Al-Barqawi Exchange,,,,ARE,
13,person,Javed Alzandrani,,,,AFG,
14,person,Sukumaran s/o Velupandian,,,,,
15,person,Γεώργιος Κορδαλέφτης,,,,GRC,
17,person,Jose Quezonario (Pepe),,,,,
18,person,Gamal Chowdhury Zandiqui,,,,,
19,person,"BENALIOUI, Abdessalam",,,,,
20,person,"ALTARQANI, Ahmad Nasir Idris",,,,,
16,person,Mikheil Dzhavakhadze,მიხეილ ჯავახაძიშვილი,,,GEO,
"#;

fn verdict(name: &str) -> Verdict {
    let document = Document { origin: "kinds.csv".to_owned(), bytes: LIST.into(), modified: None };
    let list = Arc::new(load(&[document]).expect("a list"));
    let book = ListBook::of(vec![list], Timestamp(0));
    // Another country than that of the entries.
    book.screen(&[Party { name, birthdate: None, country: Some("PAK") }], Timestamp(0)).verdict()
}

#[track_caller]
fn assert_stopped(names: &[&str]) {
    let paid: Vec<_> = names.iter().filter(|name| verdict(name) == Verdict::Clean).collect();
    assert!(paid.is_empty(), "paid: {paid:#?}");
}

#[track_caller]
fn assert_paid(names: &[&str]) {
    let stopped: Vec<_> = names.iter().filter(|name| verdict(name) != Verdict::Clean).collect();
    assert!(stopped.is_empty(), "stopped: {stopped:#?}");
}

#[test]
fn a_name_that_the_list_has_in_another_script_only_is_found_in_latin_letters() {
    assert_stopped(&[
        "Sergey Dubravintsev",
        "Sergei Dubravintsev",
        "Dubravintsev Sergej",
        "Serhii Dubravyntsev",
        "Sergey P. Dubravintsev",
        "Dubravincev Sergey",
        "SERGEYDUBRAVINTSEV",
        "Сергей Дубравинцев",
        "Abdul Wahid Zanjarani",
        "Abdulwahid Al-Zanjarani",
        "Abd al-Wahid al-Zanjarani",
        "Abdul Wahed Zanjrani",
        "عبدالواحد الزنجراني",
        "Wang Xiaoting",
        "Xiaoting Wang",
        "WANG Xiao Ting",
        "王曉渟",
        "Hari Prasad Koiraleker",
        "Hariprasad Koiralekar",
        "Aniruddha Chattopalit",
        "Anirudh Chattopalita",
        "Georgios Kordaleftis",
        "Mikheil Javakhadzishvili",
    ]);
    assert_paid(&["Abdul Wahid Khan", "Sergey Ivanov", "Wang Xiaoming", "Hari Prasad Sharma"]);
}

#[test]
fn a_listed_name_in_short_goes_to_review() {
    for name in [
        "Mikhail Vorbinski",
        "Mykhailo Vorbinskyi",
        "Michael Vorbinski",
        "Worbinski Michail",
        "MikhailVorbinski",
        "Vorbinskimikhail",
        "M i k h a i l V o r b i n s k i",
        "Mi kha il Vor bin ski",
        "Abdurrahman Zawbari",
        "Abdur Rehman Zobari",
        "Abd-al Rahman Zaubari",
        "Abderahman Zaoubari",
        "AbdulRahmanZawbari",
        "Eymen Kurnavi",
        "Jose Bantiling",
        "Ahmad Tarqani",
        "Jose Quezonario",
        "Karl Högendorfer",
        "Phuong Nguyen",
    ] {
        assert_eq!(verdict(name), Verdict::Review, "{name}");
    }
    // Prefixes that many people share do not stand for a name, nor do two middle names.
    assert_paid(&[
        "Maria Rosario Santos",
        "Jose Maria Santos",
        "Muhammad Rabi",
        "Muhammad Rabi Ahmad",
        "Muhammad Hamad",
        "Abdul Rahman Khan",
        "Ahmad Vorbinski",
    ]);
}

#[test]
fn initials_for_the_other_names_hide_no_rare_family_name() {
    for name in [
        "M. Vorbinski",
        "M. A. Vorbinski",
        "M.A. Vorbinski",
        "Vorbinski M A",
        "Ворбинский М.А.",
        "Qurnawi, A. M. R.",
        "Jose M. Bantiling",
        "Jose Maria D. Bantiling",
        "Bantiling, Jose Maria D.R.",
        "V. Sukumaran",
    ] {
        assert_eq!(verdict(name), Verdict::Review, "{name}");
    }
    assert_paid(&["P. Vorbinski", "M. Khan", "M. Vorbanov", "Z. A. Vorbinski", "A. Rahman"]);
}

#[test]
fn articles_are_found_joined_spoken_and_left_out() {
    assert_stopped(&[
        "Ayman Alqurnawi",
        "Ayman Elqurnawi",
        "AymanAlQurnawi",
        "Albarqawi Money Exchange LLC",
        "Abdurrahman az-Zawbari",
        "Abdeslam Benalioui",
        "Abdesselam Benalioui",
        "Abdussalam Benalioui",
        "Abdurrahman Azzawbari",
        "Javed Zandrani",
        "Javed al Zandrani",
        "Javed az-Zandrani",
        "Jawed Alzandrani",
    ]);
    assert_paid(&["Javed Alexander", "Al Ansari Exchange", "Javed Albert", "An Nguyen"]);
}

#[test]
fn each_of_several_people_in_a_field_is_screened() {
    for name in [
        "Mikhail Vorbinski and Anna Petrova",
        "Anna Petrova or Mikhail Vorbinski",
        "Mr M Vorbinski & Mrs A Vorbinski",
        "Anna Petrova/Mikhail Vorbinski",
        "Anna Petrova c/o Mikhail Vorbinski",
        "Anna Petrova a.k.a. M. Vorbinski",
        "Wife of Mikhail Vorbinski",
        "Estate of M. Vorbinski",
    ] {
        assert_eq!(verdict(name), Verdict::Review, "{name}");
    }
    assert_paid(&["Anna Petrova and Mikhail Ivanov", "Ali & Sons Trading", "Bilal Khan s/o Omar"]);
}

#[test]
fn other_countries_spellings_hide_no_name() {
    assert_stopped(&[
        "Jamal Chaudhry Zandiqui",
        "Djamel Choudhary Zandiqui",
        "Gamal Zandikui",
        "Mehmet Ayman Qurnawi",
    ]);
    assert_paid(&["Jamal Haque", "Kamal Chowdhury", "Mykhailo Shevchenko"]);
}
