//! What the published lists have many of: very common names, one-word entries, compounds with `Abdul`,
//! names in their own script. All entries are invented, or names that thousands of people have.

use std::sync::LazyLock;

use domain::ports::NameScreen as _;
use domain::screening::{Party, Verdict};
use domain::time::Timestamp;
use jiff::civil::Date;

use super::test_list::TestList;

const LIST: &str = r#"#corridor-sanctions name=PUBLISHED published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"AZIZ, Abdul",,,,AFG,
2,person,"ABDILLAH, Abdul",,,,IDN,
3,person,Abdul Manan,,,,AFG,
4,person,"AL-'UTAYBI, 'Ali Quormahi 'Ali al-Zorbaydali",,,,SAU,
5,person,"AYERASIN, Ricardo Zorb",,,,PHL,
6,organisation,HURRAS AL-DIN,,,,SYR,
7,organisation,VISHNU INC.,,,,IND,
8,organisation,ASMA MONEY EXCHANGERS,,,,AFG,
9,organisation,ANSARUL ISLAM,,,,MLI,
10,person,Tariq,,,,IRQ,
11,person,"OMER, Muhammad",,,,SOM,
12,person,"SAEED, Muhammad",,,,PAK,
13,person,"RAZA, Syed Ali",,,,PAK,
14,person,"NAEEM, Mullah Muhammad",,,,,
15,person,"BILAL, Muhammad",,,,PAK,
16,person,"ALAM, Mohammad Jahangir",,,,BGD,
17,person,"IQBAL, Zafar",,,,PAK,
18,person,"RASHID, Abdul",,,,PAK,
19,person,"QORBANEK, Muhammad",,,,IRN,
20,person,"DOSTZAREF, Faysal",,,,IRN,
21,person,"TILMARIQ, Tariq",,,,IRN,
22,person,"HISSENOV, Abdoulaye",,,,TCD,
23,person,"ZUTIN, Vladimir Vladimirovich",,,,RUS,
24,person,"ZEHRI, Roland",,,,LIE,
25,person,Aamir Quibbleton Zorb,عامر علی زوربلی;عمر محمد قدیرزور,,1986-08-03,PAK,
26,person,"AL-HARBI, Mansur",,,,SAU,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn ordinary_names_beside_a_compound_or_a_single_word_are_paid() {
    TEST.assert_paid(&[
        "Abdulaziz Ibrahim Al Busaidi",
        "Turki Abdulaziz Al Zahrani",
        "Abdul Aziz Macaraegov",
        "Abdullah Butt",
        "Abdullah Al Maktoum",
        "Abdullah Al Mamun",
        "Abdullah Siddiqui",
        "Abdul Mannan Howlader",
        "Abdul Manan Talukder",
        "Hussain Al Otaibi",
        "Sara Al-Otaibi",
        "Bandar Alotaibi",
        "Omar Salem Al Oteibi",
        "Ricardo Reyesin",
        "Danilo Reyes",
        "Bishnu KC",
        "Vishnu Sharma",
        "Asma Anwar",
        "Asma Ahmed",
        "Anwarul Islam Chowdhury",
        "Muhammad Tariq",
        "Tariq Mehmood",
        "Mohammed Kumar",
        "Muhammad Bilal Macaraegov",
        "Abdul Rashid Howlader",
    ]);
    TEST.assert_stopped(&[
        "Abdul Aziz",
        "Abdulaziz",
        "Abdel Azeez",
        "Abdul Abdillah",
        "Abdul Mannan",
        "Ali Al Otaibi",
        "Ricardo Ayerasin",
        "Hurras al-Din",
        "Vishnu Inc",
        "Vishnu",
        "Asma Exchangers",
        "Ansar ul Islam",
        "Tariq",
        "Muhammad Bilal Qureshi",
        "Muhammad Umar",
        "Muhammad Saeed",
    ]);
}

#[test]
fn a_name_of_very_common_words_is_reviewed_and_never_rejected() {
    for name in [
        "Ali Raza",
        "Syed Ali Raza",
        "Muhammad Naeem",
        "Muhammad Bilal",
        "Bilal Muhammad",
        "Abdul Rashid",
        "Zafar Iqbal",
        "Md Jahangir Alam",
        "Jahangir Alam Mohammad",
        "Abdul Aziz",
        "Mansour Al Harbi",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
}

#[test]
fn other_spellings_of_common_given_names_hide_no_rare_family_name() {
    for given in [
        "Mohmad",
        "Mohmed",
        "Mahamad",
        "Mohamoud",
        "Mohamud",
        "Muhammadd",
        "Mahamat",
        "Mahomed",
        "Mhamed",
        "Moohammed",
        "Mohammud",
    ] {
        TEST.assert_stopped(&[&format!("{given} Qorbanek"), &format!("Qorbanek {given}")]);
    }
    TEST.assert_stopped(&[
        "Faizal Dostzaref",
        "Feisal Dostzaref",
        "Tarique Tilmariq",
        "Tareque Tilmariq",
        "Abdoulaye Hissenov",
        "Adoulaye Hissenov",
        "Abdoulaye Hisenov",
    ]);
    TEST.assert_paid(&["Mahmud Qorbanekov", "Mohmand Khan", "Mahmood Ahmed"]);
}

#[test]
fn an_initial_beside_a_short_family_name_is_reviewed() {
    for name in ["V. Zutin", "ZUTIN V.V.", "V Zutin", "В. Зутин", "R. Zehri", "Zehri R."] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
    TEST.assert_paid(&["K. Zutin", "A. Singh", "M. Bilal", "M. Iqbal", "K. Zehri"]);
}

/// Of the words in Arabic letters some have one consonant only.
#[test]
fn a_name_as_listed_in_its_own_script_is_reviewed_whatever_the_birth_date() {
    let other = Some(Date::constant(1958, 4, 12));
    for name in ["عامر علی زوربلی", "زوربلی عامر علی", "عمر محمد قدیرزور"]
    {
        for (birthdate, country) in [(other, "ARE"), (None, "ARE"), (None, "PAK")] {
            let party = Party { name, birthdate, country: Some(country) };
            let screened = TEST.book.screen(&[party], Timestamp(0));
            assert_ne!(screened.verdict(), Verdict::Clean, "{name} {screened:?}");
        }
    }
}

const RESPELLED: &str = r#"#corridor-sanctions name=RESPELLED published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"KARIM, Nadim",,,1971-02-03,LBN,
2,person,"MUSTAFA, Khalid Sheikh",,,,PAK,
3,person,"ZAHIR, Mahmud Khalid",,,,LBN,
4,person,"YASIN, Ahmad Ali Hamid",,,,YEM,
5,person,"GHANI, Ismail",,,,IRN,
6,person,"HAMZA, Amir",,,,PAK,
7,person,"ZORBANEK, Mahmud",,,,IRN,
8,person,"YUSUF, Isse Mohamoud",,,,SOM,
9,person,"ZAKRINEV, Ibragim Salmanovich",,,,RUS,
10,person,"HASHIMI, Muzammil Iqbal",,,,PAK,
11,person,"MURTAZA, Zorbek Ghulam",,,,AFG,
12,person,"KHALIM, Quormek",,,,RUS,
13,person,"QUORMADI, Fazal",,,,AFG,
14,person,"QUORMALI, Salah",,,,IRQ,
15,person,ZORBALI,,,1964-04-04,IDN,
16,person,"QORBANA, Sulayman",,,,ISR,
17,person,"AL-AZZIZ, Wasim",,,,SYR,
18,person,"AL-AZZIZ, Bashar",,,,SYR,
19,person,"TAHIR, Muhammad",,,1971-02-03,PAK,
20,person,"JABBAR, Abdul",,,,YEM,
"#;

static RESPELLED_TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(RESPELLED, "ARE"));

#[test]
fn one_word_more_hides_no_listed_name_of_very_common_words() {
    RESPELLED_TEST.assert_stopped(&[
        "Nadim Mohammed Karim",
        "Muhammad Nadim Karim",
        "Md. Nadim Karim",
        "Nadim Karim Mohammad",
        "Nadim K. Karim",
        "Haji Nadim Karim",
        "Nadim Karim Khan",
        "Nadim Karim Ali",
        "Nadimkarim Khan",
        "Nadim Karim Tehrani",
        "Tehrani Nadim Karim",
        "Nadim Tehrani Karim",
        "Nadimkarim Tehrani",
        "Ismail Ghani Macaraegov",
        "Amir Hamza Howlader",
        "Khalid Shaikh Mustafa Khan",
        "Khalid Sheikh Mustafa Tehrani",
        "Khalid Sheikh K. Mustafa",
        "Muhammad Khalid Sheikh Mustafa",
        "Mahmoud Khaled Zahir Ali",
        "Mahmoud Khaled Zahir Tehrani",
        "Ahmed Ali Hamid Yasin Khan",
        "Ahmed Ali Hamid Yasin Shah Khan",
        "Esmail Ghani Khan",
        "Amir Hamza Butt",
    ]);
    // `Muhammad` and `Abdul` beside one very common word are other people's, and so is a part of the name.
    RESPELLED_TEST.assert_paid(&[
        "Muhammad Tahir Tehrani",
        "Muhammadtahir Tehrani",
        "Abdul Jabbar Macaraegov",
        "Khalid Mustafa Tehrani",
    ]);
    RESPELLED_TEST.assert_stopped(&["Muhammad Tahir Khan", "Abdul Jabbar K.", "Jabbar Abdul"]);
}

#[test]
fn usual_spellings_of_one_name_hide_no_listed_name() {
    RESPELLED_TEST.assert_stopped(&[
        "Mahamoud Zorbanek",
        "Mohamoud Zorbanek",
        "Mahamud Zorbanek",
        "Mohamud Khan Zorbanek",
        "Isse Mahmoud Yusuf",
        "Isse Mohamed Yusuf",
        "Isse Mahamud Yusuf",
        "Isse Mohamoud Yusuf",
        "Ibrahim Zakrinev",
        "Ibrahim Salmanovich Zakrinev",
        "Muzammil Iqbal Hashmi",
        "Muzammil Iqbal Hashemi",
        "Zorbek Ghulam Murtada",
        "Quormek Halim",
        "Halim Quormek",
        "Fazil Quormadi",
        "Saleh Quormali",
        "Salih Quormali",
    ]);
}

#[test]
fn a_rare_family_name_in_another_spelling_is_found_beside_one_more_word() {
    RESPELLED_TEST.assert_stopped(&[
        "Sulaiman Qorbani Khan",
        "Sulaiman Qorbane Khan",
        "Muhammad Sulaiman Qorbani",
        "Wassim Aziz Khan",
        "Muhammad Bashar Aziz",
    ]);
}

#[test]
fn an_equal_birth_date_takes_no_cap_below_review() {
    let birth = |year, month, day| Some(Date::constant(year, month, day));
    for (name, birthdate, is_found) in [
        ("Muhammad Zorbali", birth(1964, 4, 4), true),
        ("Muhammad Zorbali", birth(1964, 4, 5), false),
        ("Muhammad Zorbali", None, false),
        ("Muhammad Tahir Tehrani", birth(1971, 2, 3), true),
        ("Muhammad Tahir Tehrani", birth(1971, 2, 4), false),
    ] {
        let party = Party { name, birthdate, country: Some("ARE") };
        let verdict = RESPELLED_TEST.book.screen(&[party], Timestamp(0)).verdict();
        let expected = if is_found { Verdict::Review } else { Verdict::Clean };
        assert_eq!(verdict, expected, "{name} {birthdate:?}");
    }
}

const ALIKE: &str = r#"#corridor-sanctions name=ALIKE published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"AL-KAANI, Mohamed",,,,LBN,
2,person,"ABU DHASS, Mohamed",,,,SYR,
3,person,"QORIM MOALLA, Mohammad",,,,IRN,
4,person,"MOHAMMED, Fazul",,,,KEN,
5,person,"KARIM, Abdul",,,,AFG,
6,person,"SHAHZAD, Quormek",,,,PAK,
7,person,"FERNANDEZ ZORBAN, Dora",,,,ECU,
"#;

static ALIKE_TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(ALIKE, "ARE"));

/// `Muhammad` says nothing, and a well-known name is not the listed one that sounds or looks like it.
#[test]
fn muhammad_and_a_well_known_name_are_not_another_of_its_sound() {
    ALIKE_TEST.assert_paid(&[
        "Muhammad Irfan Kiani",
        "Muhammad Talha Kiani",
        "Imran Muhammad Kiani",
        "Md Jahangir Das",
        "Mohammad Rafiqul Das",
        "Md. Rahim Mollah",
        "Md Saiful Molla",
        "Mohamed Fazil Gunawardena",
        "Mohamed Fazil De Silva",
        "Mohamed Rizwan Fazil",
        "Abdul Careem Rajapaksa",
        "Abdul Kareem Perera",
        "Fernando De Guzman",
    ]);
    ALIKE_TEST.assert_stopped(&[
        "Mohamed Kaani",
        "Muhammad Irfan Kaani",
        "Muhammad Kiani",
        "Muhammad Kiani Khan",
        "Mohamed Dhass",
        "Muhammad Abu Das",
        "Mohammad Qorim Mollah",
        "Mohammad Qorim Rahim Mollah",
        "Mohamed Fazil",
        "Fazil Mohamed Khan",
        "Mohamed Fazul Gunawardena",
        "Abdul Careem",
        "Abdul Kareem Khan",
        "Quormek Shahzaad",
        "Dora Fernandes",
    ]);
}

const ONE_NAME: &str = r#"#corridor-sanctions name=ONE-NAME published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"FAHIM, Muhammad",,,,PAK,
2,person,"OWAIS, Muhammad",,,,PAK,
3,person,"NAZIR, Mohammad",,,,AFG,
4,person,"AQIL, Mohammed",,,,IRQ,
5,person,"ATEF, Mohamed",,,,EGY,
6,person,"KALIM, Muhammad",,,,PAK,
7,person,"VASIM, Muhammad",,,,PAK,
"#;

/// `Faheem` is `Fahim` in another spelling, and not another name: only that makes another person of
/// `Muhammad`.
#[test]
fn muhammad_and_a_well_known_name_in_another_spelling_are_the_listed_one() {
    let test = TestList::of(ONE_NAME, "ARE");
    test.assert_stopped(&[
        "Muhammad Sohail Faheem",
        "Muhammad Ali Awais",
        "Muhammad Ali Uwais",
        "Mohammad Tariq Owais",
        "Muhammad Akbar Nazeer",
        "Muhammad Bilal Aqeel",
        "Mohamed Sobhi Atif",
        "Muhammad Rizwan Kaleem",
        "Muhammad Imran Waseem",
    ]);
    let uways = ONE_NAME.replace("OWAIS", "UWAYS");
    TestList::of(&uways, "ARE").assert_stopped(&["Muhammad Ali Awais", "Muhammad Tariq Owais"]);
}
