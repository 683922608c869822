//! Matching against the sample and the golden files, hostile input, staleness and refresh.

use super::book::is_shrunk;
use super::load::{Document, LoadError, load};
use super::*;
use crate::fetch::tests::{client, serve_once};
use domain::chain::Address;
use domain::ports::NameScreen as _;
use domain::screening::{Party, Verdict};
use domain::time::{Span, Timestamp};
use jiff::civil::{Date, date};
use std::path::PathBuf;
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_795_244_268_123_999);

fn document(origin: &str, bytes: impl Into<Vec<u8>>) -> Document {
    Document { origin: origin.to_owned(), bytes: bytes.into(), modified: None }
}

fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "data", "test", name].iter().collect()
}

fn golden_document(name: &str) -> Document {
    document(name, std::fs::read(golden(name)).expect(name))
}

fn screen_one(
    book: &ListBook,
    name: &str,
    birthdate: Option<Date>,
    country: Option<&str>,
) -> domain::screening::Screened {
    book.screen(&[Party { name, birthdate, country }], NOW)
}

fn score(name: &str) -> u8 {
    screen_one(&ListBook::sample().expect("sample"), name, None, None).score
}

#[test]
fn names_of_the_sample_lead_to_the_right_verdicts() {
    use Verdict::{Clean, Hit, Review};
    let book = ListBook::sample().expect("sample");
    for (name, verdict) in [
        // exact, case, punctuation, honorific, order
        ("Zorblax Quibbleton", Hit),
        ("QUIBBLETON, ZORBLAX", Hit),
        ("Mr. Zorblax Quibbleton", Hit),
        ("Dr Haji Zorblax  Quibbleton", Hit),
        ("Fakename Grimwald Sanctionovich", Hit),
        ("Boguslaw Nieistniejack", Hit),
        // transliteration
        ("Mohammed Zaffarbogus Mockistani", Hit),
        ("Md Zafarbogus Mokistani", Hit),
        ("Zorblacks Quibbleton", Hit),
        ("Abdul Invented Pretendani", Hit),
        ("Abdelinvented al Pretendany", Hit),
        ("Shaikh Fantomullah Neverborn", Hit),
        // other spaces
        ("Xiao Fake Zhang Neverwas", Hit),
        ("Zhangneverwas Xiaofake", Hit),
        ("Totally Invented Trading", Hit),
        // typing errors
        ("Zorblax Quibleton", Hit),
        ("Zorblax Quibbletno", Hit),
        ("Zorblax Qibbletan", Review),
        // a part, an addition, an initial
        ("Grimwald Fakename", Hit),
        ("Zorblax Michael Quibbleton", Review),
        ("Muhammad Mockistani", Clean),
        ("Z. Quibbleton", Review),
        ("Z. Q.", Clean),
        ("Quibbleton", Clean),
        ("Zorblax", Clean),
        // a weak alias leads to manual review at most
        ("Mother Dummy", Review),
        // different persons
        ("Muhammad Ali Khan", Clean),
        ("Ahmed Raza Qureshi", Clean),
        ("Omar Farooq", Clean),
        ("Nguyen Van Hoa", Clean),
        ("Maria Santos", Clean),
        ("Rajesh Kumar Sharma", Clean),
        ("Ltd Company", Clean),
        ("", Clean),
        ("\u{202e}\u{0}…", Clean),
    ] {
        let found = screen_one(&book, name, None, None);
        assert_eq!(found.verdict(), verdict, "{name}: {} {:?}", found.score, found.evidence);
        assert!(!found.stale);
    }
}

#[test]
fn the_evidence_names_list_entry_and_listed_name() {
    let book = ListBook::sample().expect("sample");
    let parties = ["Maria Santos", "Kwibbleton Zorblaks"].map(|name| Party {
        name,
        birthdate: None,
        country: None,
    });
    let found = book.screen(&parties, NOW);
    assert_eq!(
        (found.score, found.evidence.as_deref()),
        (100, Some("SAMPLE S-1 Zorblaks Kwibbleton (100)"))
    );
    assert!(found.list_version.starts_with("SAMPLE 2026-11-01 "), "{}", found.list_version);
    assert_eq!(found.list_version.len(), "SAMPLE 2026-11-01 ".len() + 12);
}

#[test]
fn the_evidence_names_every_match_that_needs_a_decision() {
    let own = |name: &str, people: &[String]| {
        let header = "uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses";
        let entries = (1..).zip(people).map(|(uid, name)| format!("{uid},person,{name},,,,,\n"));
        let entries: String = entries.collect();
        let text =
            format!("#corridor-sanctions name={name} published=2026-11-01\n{header}\n{entries}");
        Arc::new(load(&[document(name, text)]).expect("a list"))
    };
    let people = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let first = own("ONE", &people(&["Zorblax Michael Quibbleton", "Unrelated Person"]));
    let second = own("TWO", &people(&["Zorblax Quibbleton", "Grimwald Zorblax Quibbleton"]));
    let book = ListBook::of(vec![first.clone(), second], NOW);
    let found = screen_one(&book, "Zorblax Quibbleton", None, None);
    let named: Vec<&str> = found.matches().map(|(entry, _)| entry).collect();
    assert_eq!(
        named,
        [
            "TWO 1 Zorblax Quibbleton",
            "ONE 1 Zorblax Michael Quibbleton",
            "TWO 2 Grimwald Zorblax Quibbleton"
        ],
        "{found:?}"
    );
    assert!(found.matches().all(|(_, score)| (85..=100).contains(&score)), "{found:?}");

    // A bounded number, with the rest counted and distinguished.
    let many = |last: &str| {
        let names = ["Ada", "Bea", "Cyr", "Dan", "Eli", "Fay", "Gus", "Hal", "Ian", "Joe", "Kim"];
        let names = names.iter().chain([&last]).map(|it| format!("Zorblax {it} Quibbleton"));
        let book = ListBook::of(vec![own("ONE", &names.collect::<Vec<_>>())], NOW);
        screen_one(&book, "Zorblax Quibbleton", None, None)
    };
    let (found, other) = (many("Leo"), many("Mia"));
    let named: Vec<&str> = found.matches().map(|(entry, _)| entry).collect();
    assert_eq!(named.len(), 11, "{found:?}");
    assert!(named[10].starts_with("2 more matches, digest "), "{found:?}");
    assert!(other.is_beyond(&found) && !found.is_beyond(&found.clone()), "{other:?}");
}

#[test]
fn birth_date_and_country_break_ties() {
    let book = ListBook::sample().expect("sample");
    for (name, born, country, expected) in [
        ("Zorblax Quibbleton", Some(date(1970, 1, 12)), Some("PAK"), 100),
        ("Zorblax Quibbleton", Some(date(1999, 9, 9)), None, 100 - 15),
        ("Zorblax Quibbleton", None, Some("VNM"), 100 - 2),
        // nothing clears a near-identical name
        ("Zorblax Quibbleton", Some(date(1999, 9, 9)), Some("VNM"), 85),
        // 1970-12-01 is 1970-01-12 with day and month swapped
        ("Zorblax Quibbleton", Some(date(1970, 12, 1)), None, 100),
        // a range of years only makes a match possible
        ("Muhammad Zaffarbogus Mockistani", Some(date(1976, 5, 5)), None, 100),
        ("Muhammad Zaffarbogus Mockistani", Some(date(1978, 1, 1)), None, 85),
        // tie-breakers make no match of names that are not similar
        ("Maria Santos", Some(date(1970, 1, 12)), Some("PAK"), 0),
        // nor a hit of an initial
        ("Z. Quibbleton", Some(date(1970, 1, 12)), Some("PAK"), 94),
    ] {
        assert_eq!(
            screen_one(&book, name, born, country).score,
            expected,
            "{name} {born:?} {country:?}"
        );
    }
}

#[test]
fn a_name_of_very_common_words_goes_to_review_unless_the_birth_date_matches() {
    let text = "#corridor-sanctions name=X published=2026-11-01\nuid,kind,name,aliases,weak_aliases,birthdates,\
                countries,addresses\n1,person,Muhammad Ali Khan,,,1970-01-01,,\n2,person,Ali,,,,,\n3,person,Qorb,,,,,\n";
    let lists = SanctionLists::build(vec![Arc::new(load(&[document("x", text)]).expect("list"))]);
    let score = |name: &str, birthdate: Option<Date>| {
        lists.best_match(&Party { name, birthdate, country: None }).map_or(0, |found| found.score)
    };
    assert_eq!(score("Mohd Ali Khan", None), 94);
    assert_eq!(score("Mohd Ali Khan", Some(date(1970, 1, 1))), 100);
    assert_eq!(score("Mohd Ali Khan", Some(date(1980, 1, 1))), 85);
    // Short single words are not distinctive enough.
    assert_eq!(score("Ali", None), 94);
    assert_eq!(score("Qorb", None), 94);
    assert!(score("Qorbi", None) < 85);
    assert!(score("Ali Zafar", None) < 85);
}

#[test]
fn listed_addresses_are_found_exactly_whatever_their_case() {
    let book = ListBook::sample().expect("sample");
    let screen = |text: &str| {
        domain::ports::AddressScreen::screen(
            &book,
            &Address::parse(text).expect("address"),
            Timestamp(0),
        )
    };
    let hit = screen("0xBAD0000000000000000000000000000000000001");
    assert_eq!((hit.score, hit.evidence.as_deref()), (100, Some("SAMPLE S-1 Zorblax Quibbleton")));
    assert!(hit.list_version.starts_with("SAMPLE"));
    let other = screen("0xbad0000000000000000000000000000000000000");
    assert_eq!((other.score, other.evidence, other.stale), (0, None, false));
}

#[test]
fn every_form_is_recognised_by_its_content_and_read_alike() {
    let csv = load(&[golden_document("alt.csv"), golden_document("sdn.csv")]).expect("csv");
    let xml = load(&[golden_document("sdn.xml")]).expect("xml");
    assert_eq!((csv.name.as_str(), csv.published), ("OFAC-SDN", None));
    assert_eq!((xml.name.as_str(), xml.published), ("OFAC-SDN", Some(date(2026, 11, 20))));
    for list in [&csv, &xml] {
        let [person, company, craft] = &list.entries[..] else { panic!("{list:?}") };
        assert_eq!((person.uid.as_str(), person.kind), ("101", Kind::Person));
        assert_eq!(person.names.iter().filter(|name| name.weak).count(), 1, "{person:?}");
        assert_eq!(person.names.iter().filter(|name| !name.weak).count(), 2, "{person:?}");
        assert_eq!(person.births[0], BirthSpan { from: date(1970, 1, 12), to: date(1970, 1, 12) });
        assert_eq!(person.births.len(), 2);
        assert_eq!(person.countries, ["PAK"]);
        assert_eq!(person.addresses[0].asset, "ETH");
        assert_eq!(company.kind, Kind::Organisation);
        assert_eq!(craft.kind, Kind::Craft);
    }
    assert_eq!(csv.entries[0].addresses[1].address, "0xbad00000000000000000000000000000000000a2");
    assert_eq!(csv.entries[1].names[1].text, "IMAGINARY HOLDINGS & SONS");
    assert_eq!(xml.entries[1].names[0].text, "INVENTED HOLDINGS & SONS");
}

#[test]
fn the_un_list_is_read() {
    let list = load(&[golden_document("un.xml")]).expect("un");
    assert_eq!((list.name.as_str(), list.published), ("UN-SC", Some(date(2026, 11, 19))));
    let [grimwald, phantom, front] = &list.entries[..] else { panic!("{list:?}") };
    let names: Vec<(&str, bool)> =
        grimwald.names.iter().map(|name| (name.text.as_str(), name.weak)).collect();
    assert_eq!(
        names,
        [
            ("GRIMWALD SANCTIONOVICH FAKENAME", false),
            ("Grimvald Fakenam", false),
            ("Grimbo Blotto", true),
            ("The Fakester", true)
        ]
    );
    assert_eq!(grimwald.countries, ["IRN", "AFG"]);
    assert_eq!(grimwald.births.len(), 2);
    assert_eq!(phantom.births[0], BirthSpan { from: date(1947, 1, 1), to: date(1949, 12, 31) });
    assert_eq!(
        (front.kind, front.countries.as_slice()),
        (Kind::Organisation, &["SYR".to_owned()][..])
    );
    let lists = SanctionLists::build(vec![Arc::new(list)]);
    let arabic = Party { name: "فانتوم الله", birthdate: None, country: None };
    assert_eq!(lists.best_match(&arabic).map(|found| found.score), Some(100));
}

#[test]
fn craft_are_not_matched_by_name() {
    let list = load(&[golden_document("sdn.xml")]).expect("xml");
    let lists = SanctionLists::build(vec![Arc::new(list)]);
    assert!(
        lists
            .best_match(&Party { name: "SS Neverfloats", birthdate: None, country: None })
            .is_none()
    );
}

#[test]
fn hostile_and_broken_documents_are_refused_with_the_place_of_the_fault() {
    let deep = format!("<sdnList>\n<sdnEntry>{}", "<a>".repeat(50));
    let long = format!("<sdnList><sdnEntry><uid>{}</uid></sdnEntry></sdnList>", "9".repeat(70_000));
    let attributes: String = (0..65).map(|number| format!(" a{number}=''")).collect();
    let wide = format!("<sdnList>\n<sdnEntry{attributes}/></sdnList>");
    let laughs =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE sdnList [<!ENTITY a \"b\">]>\n<sdnList>&a;</sdnList>";
    for (text, expected) in [
        (laughs, "x, line 2: a document type declaration is not allowed"),
        (
            "<sdnList>\n<sdnEntry><uid>&boo;</uid></sdnEntry></sdnList>",
            "x, line 2: the entity &boo; is not allowed",
        ),
        (&deep, "x, line 2: <a> is nested deeper than 16"),
        (&wide, "x, line 2: an element has more than 64 attributes"),
        (&long, "x, line 1: <uid> has more than 65536 bytes of text"),
        (
            "<sdnList>\n<sdnEntry>\n<uid>1</uid></sdnEntry></sdnList>",
            "x, line 2: <sdnEntry> without <uid> or <lastName>",
        ),
        ("<sdnList>\n", "x, line 2: ends before </sdnList>"),
        ("<sdnList></sdnList>", "x: the list has no entries"),
        ("1,A,individual,,,,,,,,,\n2,B,individual\n", "x, line 2: has 3 columns instead of 12"),
        (
            "1,A,individual,,,,,,,,,\nx,B,individual,,,,,,,,,",
            "x, line 2: ent_num \"x\" is not a number",
        ),
        ("#corridor-sanctions name=X", "x, line 1: the first line lacks name= or published="),
        (
            "#corridor-sanctions name=X published=2026-11-01\nuid,name\n1,2",
            "x, line 2: the columns are not uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses",
        ),
    ] {
        assert_eq!(load(&[document("x", text)]).expect_err(text).to_string(), expected);
    }
    let broken =
        load(&[document("x", "<sdnList>\n<sdnEntry></uid>")]).expect_err("broken").to_string();
    assert!(broken.starts_with("x, line 2: is not well-formed XML"), "{broken}");
    for text in ["", "<html/>", "<html><sdnList></sdnList></html>", "hello", "1,2,3"] {
        assert_eq!(
            load(&[document("x", text)]).expect_err(text),
            LoadError::UnknownForm { origin: "x".into() }
        );
    }
    let orphan = load(&[golden_document("sdn.csv"), document("alt", "999,1,aka,NEMO,-0-")])
        .expect_err("orphan");
    assert_eq!(orphan.to_string(), "alt, line 1: ent_num 999 is not in SDN.CSV");
    assert!(load(&[golden_document("alt.csv")]).is_err());
    assert!(load(&[golden_document("sdn.csv"), golden_document("sdn.xml")]).is_err());
}

fn file_source(name: &std::path::Path) -> ListSource {
    ListSource { locations: vec![Location::File(name.to_owned())] }
}

#[tokio::test]
async fn a_failed_refresh_keeps_the_old_list_which_grows_stale() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("list.xml");
    std::fs::copy(golden("sdn.xml"), &file).expect("copy");
    let (client, un) = (client(), file_source(&golden("un.xml")));
    let book = ListBook::load(vec![file_source(&file), un], ListSettings::default(), &client, NOW)
        .await
        .expect("load");
    let version = book.current().version().to_owned();
    assert!(
        version.starts_with("OFAC-SDN 2026-11-20 ") && version.contains("; UN-SC 2026-11-19 "),
        "{version}"
    );
    assert!(!book.current().is_sample());
    assert!(!book.is_stale(NOW + STALE_AFTER));
    assert!(book.is_stale(NOW + STALE_AFTER + Span(1)));

    std::fs::write(&file, "<sdnList>").expect("write");
    let later = NOW + Span::hours(20);
    let refreshed = book.refresh(&client, later).await;
    assert!(refreshed.outcomes[0].is_err() && refreshed.outcomes[1].is_ok());
    assert_eq!(book.current().version(), version);
    assert_eq!(book.oldest_load(), Some(NOW), "the list that failed keeps its time");
    let party = [Party { name: "Maria Santos", birthdate: None, country: None }];
    let found = book.screen(&party, later + Span::hours(5));
    assert!(found.stale && found.verdict() == Verdict::Review, "a stale list clears no party");

    std::fs::copy(golden("sdn.xml"), &file).expect("copy");
    assert!(book.refresh(&client, later + Span::hours(5)).await.is_complete());
    assert_eq!(book.screen(&party, later + Span::hours(5)).verdict(), Verdict::Clean);
}

#[tokio::test]
async fn a_list_that_lost_most_of_its_entries_is_not_taken() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("list.xml");
    std::fs::copy(golden("sdn.xml"), &file).expect("copy");
    let book = ListBook::load(vec![file_source(&file)], ListSettings::default(), &client(), NOW)
        .await
        .expect("load");
    std::fs::write(
        &file,
        "<sdnList><sdnEntry><uid>1</uid><lastName>Zed</lastName></sdnEntry></sdnList>",
    )
    .expect("write");
    let refreshed = book.refresh(&client(), NOW).await;
    assert!(
        matches!(refreshed.outcomes[0], Err(RefreshError::Shrunk { before: 3, now: 1, .. })),
        "{refreshed:?}"
    );
    assert_eq!(book.current().entries(), 3);
}

/// Entries that stay may have lost their aliases or their addresses.
#[tokio::test]
async fn a_list_that_lost_most_of_its_names_or_addresses_is_not_taken() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("list.csv");
    let write = |aliases: &str, addresses: u8| {
        let addresses: Vec<String> = (0..addresses).map(|at| format!("ETH:0x{at:040}")).collect();
        let text = format!(
            "#corridor-sanctions name=X published=2026-11-01\nuid,kind,name,aliases,weak_aliases,birthdates,\
             countries,addresses\n1,person,Zorblax Quibbleton,{aliases},,,,{}\n",
            addresses.join(";")
        );
        std::fs::write(&file, text).expect("write");
    };
    write("Zorb One;Zorb Two;Zorb Three", 12);
    let book = ListBook::load(vec![file_source(&file)], ListSettings::default(), &client(), NOW)
        .await
        .expect("load");
    for (aliases, addresses, refused) in [
        ("", 12, Some("only 1 names, previously 4")),
        ("Zorb One;Zorb Two;Zorb Three", 5, Some("only 5 addresses, previously 12")),
        ("Zorb One", 9, None),
        ("Zorb One", 0, None),
    ] {
        write(aliases, addresses);
        let refreshed = book.refresh(&client(), NOW).await;
        match (refused, &refreshed.outcomes[0]) {
            (None, Ok(_)) => {}
            (Some(why), Err(error)) => {
                let error = error.to_string();
                assert!(error.starts_with(&format!("X ({}): {why}", file.display())), "{error}");
                assert!(error.ends_with("configure it under another file name"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A long list loses few entries at a time: a quarter less is a broken download.
#[test]
fn a_long_downloaded_list_may_lose_a_fifth_of_its_entries() {
    assert!(is_shrunk(200, 159, true) && !is_shrunk(200, 160, true));
    assert!(is_shrunk(99, 49, true) && !is_shrunk(99, 50, true), "a short one half of them");
    assert!(is_shrunk(200, 99, false) && !is_shrunk(200, 100, false), "and a file");
}

#[tokio::test]
async fn lists_come_over_http_from_this_machine_and_otherwise_only_over_https() {
    let body = std::fs::read(golden("sdn.csv")).expect("golden");
    let url = serve_once("last-modified: Fri, 20 Nov 2026 08:00:00 GMT", body).await;
    let source =
        ListSource { locations: vec![Location::Http(url), Location::File(golden("alt.csv"))] };
    let book =
        ListBook::load(vec![source], ListSettings::default(), &client(), NOW).await.expect("load");
    assert!(
        book.current().version().starts_with("OFAC-SDN 2026-11-20 "),
        "{}",
        book.current().version()
    );

    let plain =
        ListSource { locations: vec![Location::Http("http://lists.example/sdn.xml".to_owned())] };
    let refused = ListBook::load(vec![plain], ListSettings::default(), &client(), NOW)
        .await
        .expect_err("plain http")
        .to_string();
    assert!(refused.contains("only https is allowed"), "{refused}");
}

#[test]
fn the_sample_never_ages_and_says_what_it_is() {
    let book = ListBook::sample().expect("sample");
    assert!(book.current().is_sample());
    assert!(!book.is_stale(NOW + Span::days(4000)));
    assert_eq!(book.oldest_load(), None);
    assert_eq!(score("Loremius Ipsumdolor"), 100);
}

/// The index misses nothing: every listed name of a generated list is found under small changes,
/// and scores equal those of comparing with every single name.
#[test]
fn the_index_finds_what_comparing_with_everything_finds() {
    let lists = SanctionLists::build(vec![Arc::new(generated(2_000))]);
    let probes = generated(2_000);
    for entry in probes.entries.iter().step_by(37) {
        let name = entry.primary_name();
        for changed in [
            name.to_owned(),
            name.replacen('a', "e", 1),
            format!("{name} extra"),
            name[1..].to_owned(),
        ] {
            let party = Party { name: &changed, birthdate: None, country: None };
            let quick = lists.best_match(&party).map_or(0, |found| found.score);
            assert_eq!(quick, lists.best_by_brute_force(&party), "{changed}");
        }
    }
}

/// Invented names with the frequencies of real ones: a third of the words are very common, the
/// others pronounceable.
fn generated(entries: u64) -> List {
    let common = [
        "muhammad", "ahmad", "ali", "khan", "abdul", "rahman", "hasan", "husayn", "singh", "kumar",
    ];
    let syllables = [
        "ba", "ra", "zo", "kim", "tu", "lan", "qui", "dor", "mes", "ha", "fir", "ny", "gal", "su",
        "vet",
    ];
    let mut state = 7_u64;
    let mut draw = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let mut list = load(&[golden_document("un.xml")]).expect("un");
    list.entries.clear();
    for uid in 0..entries {
        let words: Vec<String> = (0..2 + draw(3))
            .map(|_| match draw(3) {
                0 => common[draw(common.len())].to_owned(),
                _ => (0..2 + draw(3)).map(|_| syllables[draw(syllables.len())]).collect(),
            })
            .collect();
        list.entries.push(ListEntry::new(uid.to_string(), Kind::Person, words.join(" ")));
    }
    list
}

/// Several common names in one field match many entries in each of its forms.
#[test]
fn a_field_that_takes_too_long_to_compare_goes_to_review() {
    const WORDS: [&str; 12] = [
        "Khan", "Ali", "Hassan", "Omar", "Maria", "Jose", "Garcia", "Kim", "Li", "Wang", "Rahman",
        "Karim",
    ];
    let mut rows = String::new();
    for at in 0..5_184 {
        let word = |place: usize| WORDS[at / 12_usize.pow(u32::try_from(place).expect("few")) % 12];
        rows.push_str(&format!(
            "{at},person,\"{}, {} {}\",,,1930,USA,\n",
            word(0),
            word(1),
            word(2)
        ));
    }
    let text = format!(
        "#corridor-sanctions name=X published=2026-11-01\n\
         uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n{rows}"
    );
    let list = Arc::new(load(&[document("x", text)]).expect("a list"));
    let book = ListBook::of(vec![list], NOW);
    let long =
        "M.A.K. Rahman and Maria Jose Garcia s/o Ali Hassan (Omar Khan) & Kim Li Wang e/o Karim Li";
    let of = |name| book.current().compared(&Party { name, birthdate: None, country: None }).words;
    assert!(of(long) <= super::index::COMPARED_WORDS_MAX + 40, "{}", of(long));
    assert_ne!(screen_one(&book, long, None, None).verdict(), Verdict::Clean);
    let evidence = screen_one(&book, long, None, None).evidence.expect("evidence");
    assert!(evidence.contains("matches") || evidence.contains("too long"), "{evidence}");
    assert!(of("Asha Gurung") < 100, "{}", of("Asha Gurung"));
}

#[test]
fn a_hit_is_the_whole_name_in_a_possible_order() {
    use Verdict::{Hit, Review};
    let text = "#corridor-sanctions name=X published=2026-11-01\n\
        uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n\
        1,person,Jose Maria Salgueras,,,,,\n2,person,\"KHALILZAD, Alim Hassanov\",,,,,\n\
        3,person,\"LIN, Meiyan Lingwei\",,,,,\n4,person,Rosalinda Dimaano,,,,,\n\
        5,person,Zhang Wenqiang,,,,,\n6,person,Rashid Al Nuaimi,,,,,\n";
    let book = ListBook::of(vec![Arc::new(load(&[document("x", text)]).expect("list"))], NOW);
    for (name, verdict) in [
        ("Jose Maria Salgueras", Hit),
        ("Salgueras Jose Maria", Hit),
        ("SALGUERAS, Jose Maria", Hit),
        ("Maria Jose Salgueras", Review),
        ("Salgueras Maria Jose", Review),
        ("Alim Hassanov Khalilzad", Hit),
        ("Khalilzad Alim Hassanov", Hit),
        ("Hassanov Alim Khalilzad", Review),
        ("Khalilzad Hassanov Alim", Review),
        ("Meiyan Lingwei Lin", Hit),
        ("Lingwei Meiyan Lin", Review),
        ("Rosalinda Dimaano", Hit),
        ("Dimaano Rosalinda", Hit),
        ("Roslainda Dimaano", Hit),
        ("Rosalina Dimaano", Review),
        ("Rosalinde Dimaanu", Review),
        ("Zhang Wenqiang", Hit),
        ("Wenqiang Zhang", Hit),
        ("Zhang Wenqian", Review),
        ("Rasheed Al Nuaimi", Hit),
        ("Rashida Al Nuaimi", Review),
    ] {
        let found = screen_one(&book, name, None, None);
        assert_eq!(found.verdict(), verdict, "{name}: {} {:?}", found.score, found.evidence);
    }
}
