//! Families of spellings in which the bearers of listed names, or those who pay them, write them, each
//! with names that are alike and are paid.

use super::load::{Document, load};
use super::*;
use domain::ports::NameScreen as _;
use domain::screening::{HIT_FROM, Party, REVIEW_FROM, Verdict};
use domain::time::Timestamp;
use jiff::civil::date;
use std::sync::{Arc, LazyLock};

const LIST: &str = r#"#corridor-sanctions name=FAMILIES published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"SHCHERBANSKY, Oleksandr",,,,UKR,
2,person,"LUKASHARENKA, Volha Mikalaeuna",,,,BLR,
3,person,"PETROSHVILIN, Yekaterina Ivanovna",,,,RUS,
4,person,"SHCHERBYNETS, Oleksiy Yuriiovych",,,,UKR,
5,person,"BARQOUNISI, Gamal Hussein",,,,EGY,
6,person,"VALIZADEHGAN, Amir Hossein Mehdi",,,,IRN,
7,person,"ZARDAKHEL, Ghulam Mustafa Shabbir",,,1970-01-12,AFG,
8,person,"DELA CRUZANA, Juan Miguel Antonio",,,,PHL,
9,person,"DOSTMANDZAI, Gul Agha Sherzamin",,,,AFG,
10,person,"ABU HAMDUNAWI, Ibrahim Yusuf Khalil",,,,IRQ,
11,person,"SERRAFIOGLU, Mehmet Ali",,,1970-01-12,TUR,
12,person,"AL-MUTLAQANI, Faisal bin Nasser bin Abdulaziz",,,,SAU,
13,person,"BANTILINGAN, Maria Teresa Lourdes",,,,PHL,
14,person,"KOIRALAVAL, Ram Prasad Hari",,,,NPL,
15,person,ګلاب ځدراڼ,,,,AFG,
16,person,"JATOIWAL, Ghulam Qadir Bux",,,,PAK,
17,person,ரவிச்சந்திரன் கந்தசாமிப்பிள்ளையார்,,,,LKA,
18,person,ராமசாமி வேலுச்சந்திரன்,,,,LKA,
19,person,முருகன் செல்வராசேந்திரன்,,,,LKA,
20,person,ਬਲਵਿੰਦਰ ਸਿੰਘਾਣਾਵਾਲਾ,,,,IND,
21,person,"KAUR, Gurpreetindar",,,,IND,
22,person,عبد الرؤوف القنطراوي,,,,IRQ,
23,person,मनमोहन त्रिवेदियाल,,,,IND,
24,person,"ZHAVORONKOVSKAYA, Lyudmila Petrovna",,,,RUS,
25,person,"TSVETAYEVSKY, Fyodor Ivanovich",,,,RUS,
26,person,"ISKANDAROVZOD, Dzhumaboy Karimovich",,,,TJK,
27,person,"JAVAKHISHVILANI, Zurab Giorgi",,,,GEO,
28,person,"BHATTAMISHRA, Abhishek Kumar",,,,IND,
29,person,"CHAKRADEBNATH, Subhash Ranjan",,,,BGD,
30,person,"PATWARDHEKAR, Vimal Anand",,,,IND,
31,person,"QARZANDARI, Dhu al-Fiqar Hasan",,,,IRQ,
32,organisation,Harakat ul-Mujtabidin,,,,PAK,
33,organisation,Jamiat Falahulqawm Trust,,,,PAK,
34,organisation,Z.K.V. Exchange,,,,AFG,
35,organisation,Zarqon Petro Industries,ZPI,,,ARE,
36,organisation,Korea Ryongbonghwa General Trading Corporation,,,,PRK,
37,person,"NURZHANOBEK, Zhumabek Serikuly",,,,KAZ,
38,person,"SHARIFZADRANI, Dhu al-Kifl",,,,IRQ,
39,person,"SERRAFOVIC, Mehmet Ali Kerem",,,,TUR,
40,person,"ҒАЗЗОЛИЁНОВ, Ҷумабой",,,,TJK,
41,person,"HARISHCHANDREKAR, Vikram Bhavesh Dev",,,,IND,
42,person,"ZHIVKOBORSKI, Yulia Yakovlevna",,,,RUS,
43,person,"CHEREPKHANOV, Khariton Tsezarevich",,,,RUS,
"#;

static BOOK: LazyLock<ListBook> = LazyLock::new(|| {
    let bytes = LIST.into();
    let document = Document { origin: "families.csv".to_owned(), bytes, modified: None };
    ListBook::of(vec![Arc::new(load(&[document]).expect("a list"))], Timestamp(0))
});

fn verdict(name: &str) -> Verdict {
    // Another country than that of the entries.
    BOOK.screen(&[Party { name, birthdate: None, country: Some("VNM") }], Timestamp(0)).verdict()
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
fn an_initial_is_that_of_any_spelling_of_the_name() {
    assert_stopped(&[
        "I. Petroshvilin",
        "Y. Petroshvilin",
        "J. Petroshvilin",
        "O Lukasharenka",
        "V.M. Lukasharenka",
        "O.N. Lukasharenka",
        "A.Y. Shcherbynets",
        "Ю. Живкоборски",
        "Y. Y. Zhivkoborski",
        "J. J. Zhivkoborski",
        "Ju. Ja. Zhivkoborski",
        "D. Iskandarovzod",
        "J. Iskandarovzod",
        "Zh. Nurzhanobek",
        "J. Nurzhanobek",
        "Z. Nurzhanobek",
        "B. Patwardhekar",
        "V. Patwardhekar",
        "Z. Qarzandari",
        "D. Qarzandari",
        "M. A. Serrafioglu",
        "M.A. Serrafovic",
        "Gh. Zardakhel",
        "G. M. Zardakhel",
        "GM Zardakhel",
        "Dr V. Lukasharenka",
        "O. Shcherbansky",
        "A. Shcherbansky",
        "V. Lukasharenka",
        "O. Lukasharenka",
        "E. Petroshvilin",
        "K. Petroshvilin",
        "E.I. Petroshvilin",
        "O. Y. Shcherbynets",
        "O. Yu. Shcherbynets",
        "O.Yu. Shcherbynets",
        "О.Ю. Щербинець",
        "А.Ю. Щербинець",
        "G. Barqounisi",
        "J. Barqounisi",
        "G. H. Barqounisi",
        "Barqounisi G H",
        "Yu. Zhivkoborski",
        "Yu.Ya. Zhivkoborski",
        "I. Zhivkoborski",
        "Ю.Я. Живкоборски",
        "Kh. Cherepkhanov",
        "Х.Ц. Черепханов",
        "H. Cherepkhanov",
        "F. Tsvetayevsky",
    ]);
    assert_paid(&["P. Shcherbansky", "M. Lukasharenka", "Z. Barqounisi", "O. Y. Shcherbakov"]);
}

#[test]
fn joined_words_hide_no_name_in_short() {
    assert_stopped(&[
        "Amirhossein Mehdi Valizadehgan",
        "AmirHosseinMehdi Valizadehgan",
        "Amir Hosseinmehdi Valizadehgan",
        "Amirhosseinmehdi Valizadehgan",
        "Valizadehgan Amirhossein",
        "Valizadehgan, Amirhossein",
        "VALIZADEHGANAMIRHOSSEIN",
        "Amirmehdi Valizadehgan",
        "Amir-Hossein Valizadehgan",
        "Ghulam Mustafashabbir Zardakhel",
        "Zar Dakhel Ghulam Mustafa",
        "Zar-Dakhel, Ghulammustafa",
        "Juan Antonio Delacruzana",
        "Juanantonio Dela Cruzana",
        "Delacruzana Juanmiguel",
        "Juan Miguel De La Cruzana",
        "Juan Miguel dela-Cruzana",
        "Juanmiguel D. Cruzana",
        "J. Miguel Delacruzana",
        "J.M. Delacruzana",
        "J. Delacruzana",
        "Juan Delacruzana",
        "G. Dost Mandzai",
        "G.A. Dost Mandzai",
        "Gul A. Dost Mandzai",
        "Gulagha S. Dostmandzai",
        "I. Abuhamdunawi",
        "Ibrahim Y. Abuhamdunawi",
        "Ibrahim Khalil Abu Hamdunawi",
        "Ibrahim Abu-Hamdunawi",
        "Mustafa Zardakhel Ghulam",
        "Mr Ghulam Mustafa Zar Dakhel",
        "Ghulam Mustafa Zar Dakhel Khan",
        "Ghulam Zar Dakhel",
        "Ghulam M. Zar Dakhel",
        "G. M. Zar Dakhel",
        "Prince Gulagha Dostmandzai",
        "Amirhossein Valizadehgan",
        "Amir Hossein Valizadehgan",
        "Amirhosein Mehdi Valizadehgan",
        "GhulamMustafaZardakhel",
        "Ghulammustafa Zardakhel",
        "Gulammustafa Zardakhel",
        "Ghulam Mustafa Zar Dakhel",
        "Ghulam MustafaZardakhel",
        "Zardakhel GhulamMustafa",
        "Juanmiguel Dela Cruzana",
        "Juan Miguel Delacruzana",
        "JuanMiguel DelaCruzana",
        "Gulagha Dostmandzai",
        "Gul Agha Dost Mandzai",
        "GULAGHADOSTMANDZAI",
        "Ibrahim Abuhamdunawi",
        "Ibrahim Abu Hamdunawi",
        "Ibrahim Yusuf Abuhamdunawi",
        "Ibrahimyusuf Abu Hamdunawi",
        "Mr Gulagha Dostmandzai Khan",
        "Amirhossein Valizadegan",
    ]);
    assert_paid(&["Juan Reyes Santos", "Ghulam Mustafa Khan", "Gul Khan", "Amir Hossein Karimi"]);
}

#[test]
fn joined_given_names_hide_no_name() {
    assert_stopped(&[
        "SerrafiogluMehmetAli",
        "MehmetSerrafioglu",
        "Mehmet Serrafioglu",
        "Muhammad Ali Serrafioglu",
        "M. Ali Serrafioglu",
        "Gamal Barqounisi",
        "GamalBarqounisi",
        "Gamalhusain Barqounisi",
        "Barqounisi Gamalhussein",
        "Barqounisi, Gamalhussein",
        "MehmetAliSerrafioglu",
        "Mehmetali Serrafioglu",
        "Serrafioglu Mehmetali",
        "Mohammedali Serrafioglu",
        "Muhammadali Serrafioglu",
        "Gamalhussein Barqounisi",
        "GamalHusseinBarqounisi",
        "Jamalhusain Barqounisi",
        "Mehmetali Serrafovic",
        "MehmetAliSerrafovic",
    ]);
    assert_paid(&["Mehmetali Yildiz", "Mohammedali Khan"]);
}

#[test]
fn titles_short_forms_and_further_words_hide_no_name_in_short() {
    assert_stopped(&[
        "HRH Faisal bin Nasser Al Mutlaqani",
        "HRH Prince Faisal bin Nasser bin Abdulaziz Al Mutlaqani",
        "H.R.H. Prince Faisal Al Mutlaqani",
        "H.E. Minister Faisal Al Mutlaqani",
        "Honorable Ambassador Faisal Al Mutlaqani",
        "The Hon. Senator Faisal Al Mutlaqani",
        "Sardar Faisal Al Mutlaqani",
        "Sheikh Sultan Faisal Al Mutlaqani",
        "Raja Faisal Al Mutlaqani",
        "Al Amir Faisal Al Mutlaqani",
        "Al-Emir Faisal Al Mutlaqani",
        "Crown Prince Faisal Al Mutlaqani Al Saud",
        "Faisal Al Mutlaqani Trading Account",
        "Faisal Al Mutlaqani AED Account",
        "Faisal Al Mutlaqani (Riyadh)",
        "Mr and Mrs Faisal Al Mutlaqani",
        "Molvi Ghulam Zardakhel",
        "Maulvi Ghulam Zardakhel",
        "Moulavi Ghulam Mustafa Zardakhel",
        "Ghulam Zardakhel Khan Sahib",
        "Malik Ghulam Khan Zardakhel",
        "Ma. T. Bantilingan",
        "Ma.Teresa Bantilingan",
        "M. Teresa Bantilingan",
        "Ma. Lourdes Bantilingan",
        "Hari Pd. Koiralaval",
        "Ram P. Koiralaval",
        "Ram Prasad Koiralaval",
        "Ram Pd.Koiralaval",
        "Gh. Mustafa Zardakhel",
        "Gh. Qadir Jatoiwal",
        "Faisal Al Mutlaqani",
        "Prince Faisal Al Mutlaqani",
        "Princess Faisal Al Mutlaqani",
        "Crown Prince Faisal Al Mutlaqani",
        "HRH Prince Faisal Al Mutlaqani",
        concat!("H", "is Royal Highness Prince Faisal Al Mutlaqani"),
        concat!("H", "is Royal Highness Faisal Al Mutlaqani"),
        "King Faisal Al Mutlaqani",
        "Amir Faisal Al Mutlaqani",
        "Emir Faisal Al Mutlaqani",
        "Sultan Faisal Al Mutlaqani",
        "Honourable Faisal Al Mutlaqani",
        "The Honourable Faisal Al Mutlaqani",
        "Ambassador Faisal Al Mutlaqani",
        "Minister Faisal Al Mutlaqani",
        "Senator Faisal Al Mutlaqani",
        "Nawab Faisal Al Mutlaqani",
        "Pir Faisal Al Mutlaqani",
        "Mirza Faisal Al Mutlaqani",
        "Rana Faisal Al Mutlaqani",
        "Chaudhry Faisal Al Mutlaqani",
        "Chowdhury Faisal Al Mutlaqani",
        "Moulvi Faisal Al Mutlaqani",
        "Faisal Bhai Al Mutlaqani",
        "Faisal Mutlaqani Bhai",
        "Faisal Al Mutlaqani Retd",
        "Major (Retd) Faisal Al Mutlaqani",
        "Faisal Al Mutlaqani Al-Qahtani",
        "Faisal Al Mutlaqani Al Saud",
        "Faisal Al Mutlaqani Account",
        "Faisal Almutlaqani Alqahtani",
        "H.H. Sheikh Faisal Al Mutlaqani",
        "Ma. Teresa Bantilingan",
        "Ma Teresa Bantilingan",
        "MA. TERESA BANTILINGAN",
        "Ma. Bantilingan",
        "Ram Pd. Koiralaval",
        "Ram Pr. Koiralaval",
        "Ram Pd Koiralaval",
        "R. Pd. Koiralaval",
        "Juan Reyes Dela Cruzana",
    ]);
    assert_paid(&[
        "Faisal Reyes Al Qahtani",
        "Maria Santos Reyes",
        "Prince Kumar",
        "King Reyes",
        "Faisal Reyes Al Otaibi",
        "Amir Khan",
        "Ram Pd. Sharma",
        "Sultan Ahmed Rana",
    ]);
}

#[test]
fn letters_of_pashto_and_sindhi_are_read() {
    assert_stopped(&[
        "Gulab Zadran",
        "Gulab Dzadran",
        "Golab Zadran",
        "ګلاب ځدراڼ",
        "گلاب زدران",
        "غلام قادر جتوئيوال",
        "غلام قادر ڄتوئيوال",
    ]);
}

#[test]
fn names_in_scripts_of_india_and_with_a_joined_article_are_found_in_latin_letters() {
    assert_stopped(&[
        "R. Kandasamipillaiyar",
        "Ravichandran K.",
        "Ravi Chandran Kandasamipillaiyar",
        "Ravichanthiran Kandasamipillaiyar",
        "Ravichandiran Kanthasamippillaiyar",
        "Rama Samy Veluchandran",
        "Ramasamy Velu Chandran",
        "Veluchandran Ramasamy",
        "Murugan Selva Rajendran",
        "M. Selvarajendran",
        "Murugan Selvaraajenthiran",
        "Balwinder Singh Anawala",
        "Balwinder Singhana Wala",
        "Balvindar Singhana-Wala",
        "B. Singhanawala",
        "Gurpreet Indar Kaur",
        "ਗੁਰਪ੍ਰੀਤ ਇੰਦਰ ਕੌਰ",
        "गुरप्रीतिंदर कौर",
        "Abdelraouf Alqantrawi",
        "Abd El Raouf El Kantrawi",
        "Abdul Raof Qantrawi",
        "AbdulRauf AlQantrawi",
        "Abdoulraouf Kantraoui",
        "Abderraouf Kantraoui",
        "A. Qantrawi",
        "Man Mohan Trivedi Yal",
        "M. Trivediyal",
        "Manmohan Trivedyal",
        "ManMohanTrivediyal",
        "Ravichandran Kandasamipillaiyar",
        "Ravichandran Kandaswamipillaiyar",
        "Ravichandran Kandasamypillaiyar",
        "Ramasamy Veluchandran",
        "Ramasami Veluchandran",
        "Ramaswamy Veluchandran",
        "Murugan Selvarajendran",
        "Murukan Selvarasendran",
        "Balwinder Singhanawala",
        "Balvinder Singhanavala",
        "Balwindar Singhanawala",
        "ਗੁਰਪ੍ਰੀਤਿੰਦਰ ਕੌਰ",
        "ਗੁਰਪ੍ਰੀਤਇੰਦਰ ਕੌਰ",
        "Abdul Rauf Alqantrawi",
        "Abdelraouf Elkantrawy",
        "Abdul Raouf al-Qantrawi",
        "Abd al-Rauf Al Kantrawi",
        "Abdurrauf Qantarawi",
        "Man Mohan Trivediyal",
        "Manmohan Trivediyal",
        "Man Mohan Trivedial",
    ]);
    assert_paid(&["Ravichandran Murugan", "Balwinder Singh", "Man Mohan Singh", "Abdul Rauf"]);
}

#[test]
fn spellings_of_other_languages_hide_no_name_in_short() {
    assert_stopped(&[
        "Oleksii Shcherbinets",
        "Oleksij Schtscherbinez",
        "Alexej Schtscherbynez",
        "Olexiy Shcherbynets",
        "Aleksey Sherbinets",
        "A. Scherbinets",
        "Ljudmila Žavoronkovskaja",
        "Lyudmila Javoronkovskaya",
        "Ludmila Zhavoronkovskaja",
        "L. Schaworonkowskaja",
        "Fyodor Zvetaevsky",
        "Feodor Tsvetaevskiy",
        "Theodor Zwetajewski",
        "F. Zwetajewski",
        "F. I. Cvetaevskij",
        "Фёдор Цветаевский",
        "Dzhumabay Iskandarovzod",
        "Jumaboi Iskandarovzod",
        "Dschumaboj Iskandarowsod",
        "Zhumabek Nurjanobek",
        "Dschumabek Nurschanobek",
        "Z. Javakhishvilani",
        "Zurab Giorgi Dzhavaxishvilani",
        "Abhisek Bhattamishra",
        "Obhishek Bhattamishra",
        "Avisek Bhattamisra",
        "Subhas Chakradebnath",
        "Shubhash Chakradebnath",
        "Suvas Chokrodebnath",
        "Bimal Ananda Patwardhekar",
        "Vikram Harishchandrekar",
        "Bikrom Harishchandrekar",
        "Vicram Harishchandrekar",
        "Zulfeqar Qarzandari",
        "Zulfiqar Hasan Qarzandari",
        "Zul-Fiqar Qarzandari",
        "Dhu'l-Fiqar Qarzandari",
        "Dhulfikar al Qarzandari",
        "Thulfiqar Qarzandari",
        "ذو الفقار قرزنداري",
        "ذوالفقار قرزنداری",
        "Zul Kifl Sharifzadrani",
        "Oleksiy Scherbinets",
        "Oleksiy Chtcherbinets",
        "Alexey Scherbinets",
        "Aleksej Ščerbinec",
        "Oleksij Schtscherbynez",
        "Oleksii Szczerbyneć",
        "Lyudmila Zhavoronkovskaya",
        "Ljudmila Schaworonkowskaja",
        "Lioudmila Javoronkovskaïa",
        "Lioudmila Javoronkovskaia",
        "Ludmila Žavoronkovskaja",
        "Liudmila Zhavoronkovskaia",
        "Ludmiła Żaworonkowska",
        "Fjodor Zwetajewski",
        "Fedor Cvetaevskij",
        "Fëdor Cvetaevskij",
        "Fjodor Cvetajevski",
        "Fedor Tsvetaevskii",
        "Fiodor Cwietajewski",
        "Fédor Tsvetaïevski",
        "Jumaboy Iskandarovzod",
        "Zhumaboy Iskandarovzod",
        "Djumaboy Iskandarovzod",
        "Jumabek Nurzhanobek",
        "Dzhumabek Nurjanobek",
        "Zurab Javakhishvilani",
        "Zurab Dzhavakhishvilani",
        "Zurab Djavakhichvilani",
        "Zurab Dschawachischwilani",
        "Avishek Bhattamishra",
        "Abhishek Vattamishra",
        "Suvash Chakradebnath",
        "Subash Chakradebnath",
        "Suvash Chakradevnath",
        "Bimal Patwardhekar",
        "Vimal Patvardhekar",
        "Bimol Patwardhekar",
        "Bikram Harishchandrekar",
        "Vikram Harischandrekar",
        "Vikram Bhavesh Harishchandrekar",
        "Bikram Bavesh Deb Harishchandrekar",
        "Dhulfiqar Qarzandari",
        "Zulfiqar Qarzandari",
        "Zulfikar Qarzandari",
        "Dhu al-Fiqar Qarzandari",
        "Dhul Fiqar Qarzandari",
        "Zul Fiqar Qarzandari",
        "Zolfaghar Qarzandari",
        "Dhulkifl Sharifzadrani",
        "Zulkifl Sharifzadrani",
        "Zulkifli Sharifzadrani",
    ]);
    assert_paid(&[
        "Bimal Das",
        "Vimal Sharma",
        "Zulfiqar Ali",
        "Fedor Petrov",
        "Jumabek Karimov",
        "Abhishek Kumar",
        "Subhash Roy",
    ]);
}

#[test]
fn businesses_and_movements_are_found_by_their_names_in_short() {
    assert_stopped(&[
        "Harkat ul Mujtabideen",
        "Harakat-ul-Mujtabidin Pakistan",
        "Harkatul-Mujtabideen",
        "Harkat al Mujtabidin",
        "HarkatUlMujtabideen",
        "Harakatulmujtabidin",
        "Harkat-ulMujtabidin",
        "Harakah Mujtabidin",
        "Jamiat-ul-Falahulqawm Trust",
        "Jamiat e Falah al Qawm",
        "Jamiyat Falah-ul-Qawm Trust",
        "Jamiat Falahul Qawm Trust Karachi",
        "Z.K.V Exchange",
        "ZKV Exchange Company",
        "Z K V Sarafi",
        "ZKV Sarrafi Kabul",
        "Z.K.V. Money Exchange Dubai",
        "ZKV Money Services",
        "ZKV LLC",
        "ZPI Branch",
        "ZPI FZE (Dubai)",
        "Z.P.I. FZE Dubai Branch",
        "ZPI Trading FZE Sharjah",
        "Zarqon Petro Dubai",
        "RyongBongHwa General Corporation",
        "Ryong Bonghwa General Trading",
        "Ryong-Bong-Hwa Corporation",
        "Korea Ryongbong Hwa Trading Corporation",
        "Ryongbonghwa",
        "Harakat ul-Mujtabidin",
        "Harkatul Mujtabideen",
        "Harkatulmujtabidin",
        "Harkat-ul-Mujtabideen",
        "Harakat al-Mujtabidin",
        "Harakatul Mujtabidin",
        "Jamiat Falah ul Qawm",
        "Jamiat-e-Falah-ul-Qaum Trust",
        "Jamiat Falahul Qaum",
        "Jamiat Falah-ul-Qaum",
        "ZKV Sarafi",
        "Z.K.V. Money Service",
        "ZKV Exchange",
        "ZKV Money Exchange LLC",
        "Z K V Exchange",
        "ZKV Hawala",
        "Z.K.V.",
        "ZPI FZE Branch Dubai",
        "ZPI FZE",
        "ZPI Dubai",
        "ZPI (Dubai Branch)",
        "Z.P.I. FZE",
        "Ryong Bong Hwa General Corporation",
        "Ryongbonghwa General Corporation",
        "Ryongbonghwa Trading",
        "Korea Ryong Bong Hwa General Corp",
    ]);
    assert_paid(&[
        "Korea General Trading Corporation",
        "Exchange Trust",
        "Al Ansari Exchange",
        "Money Service",
        "ABC FZE Branch Dubai",
    ]);
}

#[test]
fn a_name_in_short_or_beside_others_is_never_a_hit() {
    for (name, country) in [
        ("Ghulam Zardakhel", "AFG"),
        ("GhulamZardakhel", "AFG"),
        ("Zardakhelghulam", "AFG"),
        ("Ghulammustafa Zardakhel", "AFG"),
        ("GHULAMMUSTAFAZARDAKHEL", "AFG"),
        ("Ghulam Mustafa Zar Dakhel", "AFG"),
        ("Prince Ghulam Zardakhel Khan", "AFG"),
        ("G. Zardakhel", "AFG"),
        ("Amir Mehmet Ali Serrafioglu", "TUR"),
        ("Anwar MehmetAliSerrafioglu", "TUR"),
        ("MehmetAliSerrafioglu Anwar", "TUR"),
        ("Mehmetali Serrafioglu Anwar", "TUR"),
    ] {
        let party = Party { name, birthdate: Some(date(1970, 1, 12)), country: Some(country) };
        let score = BOOK.screen(&[party], Timestamp(0)).score;
        assert!((REVIEW_FROM..HIT_FROM).contains(&score), "{name}: {score}");
    }
    for name in ["MehmetAliSerrafioglu", "Mehmetali Serrafioglu", "ZardakhelGhulamMustafaShabbir"] {
        assert_eq!(verdict(name), Verdict::Hit, "{name}");
    }
}

#[test]
fn a_letter_that_no_table_has_goes_to_review() {
    for name in ["ولاࢠ خان", "Ꙙ Иванов", "Анна ꙮетрова"] {
        assert_eq!(verdict(name), Verdict::Review, "{name}");
    }
    assert_paid(&[
        "ښاد خان",
        "ڄام خان",
        "Ҷамшед Раҳимов",
        "Ѓорѓи Петров",
        "ئۆمەر خان",
        "ਗੁਰਮੀਤ ਸਿੰਘ",
    ]);
}

#[test]
fn ordinary_names_are_paid_beside_these_entries() {
    let names = super::disguise_tests::ordinary_names();
    let held: Vec<&String> = names.iter().filter(|name| verdict(name) != Verdict::Clean).collect();
    println!("{} of {} ordinary names in review: {held:?}", held.len(), names.len());
    assert!(held.len() * 200 <= names.len(), "{} of {}: {held:?}", held.len(), names.len());
}
