//! Behaviour of real list servers: redirects, user agent checks, outages at startup.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;
use crate::fetch::tests::{client, serve};
use crate::outbound::{self, Client};
use domain::ports::{BoxFuture, NameScreen as _};
use domain::screening::{Party, Verdict};
use domain::time::{Span, Timestamp};
use testkit::wait;

const NOW: Timestamp = Timestamp(1_795_244_268_123_999);
const SDN: &str = r#"<?xml version="1.0"?><sdnList xmlns="http://tempuri.org/sdnList.xsd"><publshInformation><Publish_Date>11/20/2026</Publish_Date></publshInformation><sdnEntry><uid>99001</uid><firstName>Zorblax</firstName><lastName>QUIBBLETON</lastName><sdnType>Individual</sdnType></sdnEntry></sdnList>"#;

#[derive(Debug, Default)]
struct Copies {
    copies: Mutex<HashMap<String, KeptCopy>>,
    /// What another node stores just before the next write.
    first: Mutex<Option<KeptCopy>>,
}

impl KeptLists for Copies {
    fn kept<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeptCopy>, String>> {
        let copy = self.copies.lock().expect("lock").get(key).cloned();
        Box::pin(async { Ok(copy) })
    }

    fn digest<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        let digest = self.copies.lock().expect("lock").get(key).map(|copy| copy.digest.clone());
        Box::pin(async { Ok(digest) })
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        copy: KeptCopy,
        replaces: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, String>> {
        let mut copies = self.copies.lock().expect("lock");
        // A node that stores its list between another one's comparison and its write.
        if let Some(first) = self.first.lock().expect("lock").take() {
            copies.insert(key.to_owned(), first);
        }
        let stored = copies.get(key).map(|copy| copy.digest.as_str());
        let is_as_read = stored == replaces || stored == Some(copy.digest.as_str());
        if is_as_read {
            copies.insert(key.to_owned(), copy);
        }
        Box::pin(async move { Ok(is_as_read) })
    }
}

fn kept(copies: &Arc<Copies>) -> ListSettings {
    ListSettings { kept: Some(copies.clone()) }
}

fn at(url: String) -> ListSource {
    ListSource { locations: vec![Location::Http(url)] }
}

fn verdict(book: &ListBook, name: &str, now: Timestamp) -> Verdict {
    book.screen(&[Party { name, birthdate: None, country: None }], now).verdict()
}

/// The list server of `18-redirecting-list-server.py`: 403 for unknown clients, 302 to a signed
/// URL.
async fn redirecting_server() -> String {
    serve(|head| {
        let knows = head.to_ascii_lowercase().contains("user-agent: mozilla/");
        match head.split(' ').nth(1) {
            _ if !knows => "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n".to_owned(),
            Some(path) if path.starts_with("/api/") => {
                "HTTP/1.1 302 Found\r\nlocation: /bucket/SDN.XML?X-Amz-Signature=abc\r\ncontent-length: 0\r\n\r\n"
                    .to_owned()
            }
            _ => format!(
                "HTTP/1.1 200 OK\r\nlast-modified: Fri, 20 Nov 2026 10:00:00 GMT\r\ncontent-length: {}\r\n\r\n{SDN}",
                SDN.len()
            ),
        }
    })
    .await
}

fn client_named(user_agent: &str) -> Client {
    let user_agent = Some(user_agent.to_owned());
    let settings = outbound::Settings {
        user_agent,
        redirects: REDIRECTS_MAX,
        ..outbound::Settings::default()
    };
    Client::new(&settings, "screening.lists", &[]).expect("a client")
}

#[tokio::test]
async fn case_18_redirecting_list_server_py() {
    let url = redirecting_server().await;
    let source = at(format!("{url}/api/exports/SDN.XML"));
    let known = client_named(&user_agent());
    let book = ListBook::load(vec![source.clone()], ListSettings::default(), &known, NOW)
        .await
        .expect("loaded");
    assert!(
        book.current().version().starts_with("OFAC-SDN 2026-11-20 "),
        "{}",
        book.current().version()
    );
    assert_eq!(verdict(&book, "Zorblax Quibbleton", NOW), Verdict::Hit);
    let unknown = client_named("curl");
    let refused = ListBook::load(vec![source], ListSettings::default(), &unknown, NOW)
        .await
        .expect_err("unknown")
        .to_string();
    assert!(refused.contains("403"), "{refused}");
}

#[tokio::test]
async fn redirects_are_followed_to_allowed_urls_up_to_a_limit() {
    for (location, why) in [
        (
            "http://lists.example/sdn.xml?secret=1",
            "http://lists.example/sdn.xml: only https is allowed",
        ),
        ("file:///etc/passwd", "only https is allowed"),
        ("/again?secret=1", "more than 5 redirects"),
        ("http://[", "not a URL"),
    ] {
        let url = serve(move |_| {
            format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
        })
        .await;
        let source = at(format!("{url}/list?secret=1"));
        let refused =
            ListBook::load(vec![source], ListSettings::default(), &client_named("any"), NOW)
                .await
                .expect_err("refused");
        let refused = refused.to_string();
        assert!(refused.contains(why) && !refused.contains("secret"), "{refused}");
    }
}

/// `19-list-server-down.toml`: a second list whose server is down at a restart.
#[tokio::test]
async fn case_19_list_server_down_toml() {
    let client = || client_named(&user_agent());
    let copies = Arc::new(Copies::default());
    let own: PathBuf = [env!("CARGO_MANIFEST_DIR"), "data", "test", "17-list.csv"].iter().collect();
    let sources = |url: &str| {
        vec![ListSource { locations: vec![Location::File(own.clone())] }, at(url.to_owned())]
    };
    let url = redirecting_server().await;
    let address = format!("{url}/consolidated.xml");
    ListBook::load(sources(&address), kept(&copies), &client(), NOW)
        .await
        .expect("the first start");

    // Nothing listens there any more; the stored copy is kept under the URL.
    let away = "http://127.0.0.1:9/consolidated.xml";
    let never = ListBook::load(sources(away), kept(&copies), &client(), NOW).await;
    assert!(never.is_err(), "without a stored copy");
    let copy = {
        let key_of_server = |copy: &&KeptCopy| copy.name == "OFAC-CONS";
        copies.copies.lock().expect("lock").values().find(key_of_server).cloned().expect("kept")
    };
    assert_eq!((copy.read_at, copy.digest.len()), (NOW, 64));
    let moved = Arc::new(Copies::default());
    let at_away = at(away.to_owned());
    moved.copies.lock().expect("lock").insert(at_away.key(), copy);

    // An hour later: no waiting, and screening works as before. A day later: still from the copy,
    // which clears no party.
    for (age, clears) in [(Span::hours(1), true), (Span::hours(30), false)] {
        let now = NOW + age;
        let book =
            ListBook::load(sources(away), kept(&moved), &client(), now).await.expect("starts");
        assert!(book.wants_refresh());
        assert_eq!(verdict(&book, "Zorblax Quibbleton", now), Verdict::Hit);
        let ordinary = if clears { Verdict::Clean } else { Verdict::Review };
        assert_eq!(verdict(&book, "Maria Santos", now), ordinary, "{age:?}");
        assert_eq!(book.oldest_load(), Some(NOW));
        let names: Vec<(String, Option<Timestamp>)> =
            book.states().into_iter().map(|state| (state.name, state.read_at)).collect();
        assert_eq!(names, [("OWN".to_owned(), Some(now)), ("OFAC-CONS".to_owned(), Some(NOW))]);
        let refreshed = book.refresh(&client(), now).await;
        assert!(
            refreshed.outcomes[0].is_ok() && refreshed.outcomes[1].is_err(),
            "the failed source is reported"
        );
    }
    let old =
        ListBook::load(sources(away), kept(&moved), &client(), NOW + KEPT_FOR + Span(1)).await;
    assert!(matches!(old, Err(RefreshError::KeptTooOld { read_at: NOW, .. })), "{old:?}");
}

/// Serves the list with a date of publication that the test changes.
async fn serve_edition_of(day: &'static str) -> (Arc<Mutex<&'static str>>, String) {
    let day = Arc::new(Mutex::new(day));
    let shown = Arc::clone(&day);
    let url = serve(move |_| {
        let list = SDN.replace("11/20/2026", &shown.lock().expect("lock"));
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{list}", list.len())
    });
    (day, url.await)
}

/// Indexing takes a second for large lists: what has not changed is not indexed again.
#[tokio::test]
async fn an_unchanged_list_keeps_its_index() {
    let (day, url) = serve_edition_of("11/20/2026").await;
    let sources = vec![at(format!("{url}/sdn.xml"))];
    let copies = Arc::new(Copies::default());
    let book = ListBook::load(sources, kept(&copies), &client(), NOW).await.expect("loads");
    let before = book.current();
    assert!(book.refresh(&client(), NOW + Span::hours(1)).await.is_complete());
    assert!(Arc::ptr_eq(&before, &book.current()));
    assert_eq!(book.oldest_load(), Some(NOW + Span::hours(1)));
    *day.lock().expect("lock") = "11/21/2026";
    assert!(book.refresh(&client(), NOW + Span::hours(1)).await.is_complete());
    assert!(!Arc::ptr_eq(&before, &book.current()));
}

/// A mirror that falls behind clears no name: not on the node that has the newer list, not on
/// another one, and not after a restart.
#[tokio::test]
async fn an_older_list_is_not_taken() {
    let (day, url) = serve_edition_of("11/20/2026").await;
    let sources = || vec![at(format!("{url}/sdn.xml"))];
    let copies = Arc::new(Copies::default());
    let first = ListBook::load(sources(), kept(&copies), &client(), NOW).await.expect("loads");
    let second = ListBook::load(sources(), kept(&copies), &client(), NOW).await.expect("loads");
    *day.lock().expect("lock") = "11/21/2026";
    assert!(first.refresh(&client(), NOW).await.is_complete());
    for older in ["11/19/2026", "11/20/2026"] {
        *day.lock().expect("lock") = older;
        for (book, version) in [(&first, "OFAC-SDN 2026-11-21 "), (&second, "OFAC-SDN 2026-11-20 ")]
        {
            let refused = book.refresh(&client(), NOW + Span::hours(1)).await;
            assert!(
                matches!(refused.outcomes[..], [Err(RefreshError::Older { .. })]),
                "{refused:?}"
            );
            assert!(book.current().version().starts_with(version), "{}", book.current().version());
            assert_eq!(book.oldest_load(), Some(NOW));
        }
        for age in [Span::hours(1), Span::hours(30)] {
            let now = NOW + age;
            let started =
                ListBook::load(sources(), kept(&copies), &client(), now).await.expect("starts");
            assert!(started.refresh(&client(), now).await.outcomes[0].is_err());
            assert!(started.current().version().starts_with("OFAC-SDN 2026-11-21 "));
            assert_eq!(started.is_stale(now), age > Span::hours(24));
        }
    }
    *day.lock().expect("lock") = "11/21/2026";
    assert!(second.refresh(&client(), NOW).await.is_complete());
    for day_of_mistake in ["11/21/2062", "11/22/2026"] {
        *day.lock().expect("lock") = day_of_mistake;
        assert!(second.refresh(&client(), NOW).await.is_complete(), "{day_of_mistake}");
    }
    *day.lock().expect("lock") = "11/21/2026";
    let much_later = NOW + Span::days(31);
    let started = ListBook::load(sources(), kept(&copies), &client(), much_later).await;
    assert!(!started.expect("a copy that is too old keeps nothing out").is_stale(much_later));
}

/// Two nodes read two editions of a list at once: the later one stays stored, whichever node is
/// last to write.
#[tokio::test]
async fn of_two_lists_stored_at_once_the_later_stays() {
    let (day, url) = serve_edition_of("11/18/2026").await;
    let sources = || vec![at(format!("{url}/sdn.xml"))];
    let copies = Arc::new(Copies::default());
    let stored = || copies.copies.lock().expect("lock").values().next().cloned().expect("a copy");
    let book = ListBook::load(sources(), kept(&copies), &client(), NOW).await.expect("loads");
    *day.lock().expect("lock") = "11/20/2026";
    assert!(book.refresh(&client(), NOW).await.is_complete());
    let newest = stored();
    for (read_on, is_taken) in [("11/19/2026", false), ("11/21/2026", true)] {
        *copies.copies.lock().expect("lock") = HashMap::new();
        *day.lock().expect("lock") = "11/18/2026";
        let book = ListBook::load(sources(), kept(&copies), &client(), NOW).await.expect("loads");
        *copies.first.lock().expect("lock") = Some(newest.clone());
        *day.lock().expect("lock") = read_on;
        let refreshed = book.refresh(&client(), NOW).await;
        assert_eq!(refreshed.is_complete(), is_taken, "{refreshed:?}");
        assert_eq!(stored().digest == newest.digest, !is_taken, "{read_on}");
    }
}

/// A list that lost most of its entries is as suspect after a restart.
#[tokio::test]
async fn a_list_that_shrank_is_held_to_the_stored_copy_at_a_start() {
    let entries = Arc::new(Mutex::new(3));
    let shown = Arc::clone(&entries);
    let url = serve(move |_| {
        let entry =
            |uid| format!("<sdnEntry><uid>{uid}</uid><lastName>QUIBBLETON</lastName></sdnEntry>");
        let entries: String = (0..*shown.lock().expect("lock")).map(entry).collect();
        let list = format!("<sdnList>{entries}</sdnList>");
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{list}", list.len())
    })
    .await;
    let sources = |path: &str| vec![at(format!("{url}/{path}"))];
    let copies = Arc::new(Copies::default());
    ListBook::load(sources("sdn.xml"), kept(&copies), &client(), NOW).await.expect("loads");
    *entries.lock().expect("lock") = 1;
    for age in [Span::hours(1), Span::hours(30)] {
        let now = NOW + age;
        let book = ListBook::load(sources("sdn.xml"), kept(&copies), &client(), now).await;
        let book = book.expect("starts with the copy");
        let refreshed = book.refresh(&client(), now).await;
        assert!(
            matches!(refreshed.outcomes[..], [Err(RefreshError::Shrunk { before: 3, now: 1, .. })]),
            "{refreshed:?}"
        );
        assert_eq!((book.current().entries(), book.oldest_load()), (3, Some(NOW)));
    }
    // An operator who has checked it gives it another address; a copy that is too old keeps nothing out.
    let book = ListBook::load(sources("sdn.xml?checked"), kept(&copies), &client(), NOW).await;
    assert_eq!(book.expect("starts").current().entries(), 1);
    let later = NOW + KEPT_FOR + Span(1);
    let book = ListBook::load(sources("sdn.xml"), kept(&copies), &client(), later).await;
    assert_eq!(book.expect("starts").current().entries(), 1);
}

/// A document of another publisher would clear every name of the first, however long it is.
#[tokio::test]
async fn another_list_at_the_same_place_is_not_taken() {
    const UN: &str = "<CONSOLIDATED_LIST dateGenerated=\"2026-11-21T00:00:00.000Z\"><INDIVIDUALS><INDIVIDUAL>\
         <DATAID>6999001</DATAID><FIRST_NAME>MARLOBIN</FIRST_NAME><SECOND_NAME>FAKENAME</SECOND_NAME></INDIVIDUAL>\
         </INDIVIDUALS><ENTITIES></ENTITIES></CONSOLIDATED_LIST>";
    const OPEN: &str = "\"id\",\"schema\",\"name\",\"aliases\",\"birth_date\",\"countries\"\n\
         \"NK-9\",\"Person\",\"Testina Fakename\",\"\",\"\",\"\"\n";
    const OWN: &str = "#corridor-sanctions name=BANK published=2026-11-21\nuid,kind,name,aliases,weak_aliases,\
         birthdates,countries,addresses\n1,person,Rajnonsense Fictionapur,,,,,\n";
    for (other, name) in [(UN, "UN-SC"), (OPEN, "OPENSANCTIONS"), (OWN, "BANK")] {
        let text = Arc::new(Mutex::new(SDN));
        let shown = Arc::clone(&text);
        let url = serve(move |_| {
            let list = *shown.lock().expect("lock");
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{list}", list.len())
        })
        .await;
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("list");
        std::fs::write(&file, SDN).expect("write");
        let on_disk = ListSource { locations: vec![Location::File(file.clone())] };
        let sources = || vec![at(format!("{url}/list")), on_disk.clone()];
        let copies = Arc::new(Copies::default());
        let book = ListBook::load(sources(), kept(&copies), &client(), NOW).await.expect("loads");
        *text.lock().expect("lock") = other;
        std::fs::write(&file, other).expect("write");
        for age in [Span::hours(1), Span::hours(30)] {
            let now = NOW + age;
            let started = ListBook::load(sources(), kept(&copies), &client(), now).await;
            let started = started.expect("starts with the copies");
            for book in [&book, &started] {
                let refreshed = book.refresh(&client(), now).await;
                for (outcome, remedy) in
                    refreshed.outcomes.iter().zip(["under another address", "another file name"])
                {
                    let error = outcome.as_ref().expect_err(name).to_string();
                    let is_said = [name, "other entries than OFAC-SDN", remedy];
                    assert!(is_said.iter().all(|it| error.contains(it)), "{error}");
                }
                assert_ne!(verdict(book, "Zorblax Quibbleton", now), Verdict::Clean, "{name}");
                assert_eq!(book.oldest_load(), Some(NOW), "{name}");
            }
        }
        // Another address is another list.
        let moved = vec![at(format!("{url}/list?checked"))];
        let moved = ListBook::load(moved, kept(&copies), &client(), NOW).await.expect("loads");
        assert!(moved.current().version().starts_with(name), "{}", moved.current().version());
    }
}

/// An own list may bear the year in its name; all of OpenSanctions have one name.
#[tokio::test]
async fn an_own_list_with_another_name_is_taken_as_long_as_it_keeps_its_entries() {
    let own = |name: &str, rows: &[(u32, &str)]| {
        let rows = rows.iter().map(|(uid, person)| format!("{uid},person,{person},,,,,\n"));
        format!(
            "#corridor-sanctions name={name} published=2026-11-21\nuid,kind,name,aliases,weak_aliases,\
             birthdates,countries,addresses\n{}",
            rows.collect::<String>()
        )
    };
    let open = |rows: &[(u32, &str)]| {
        let rows = rows
            .iter()
            .map(|(uid, person)| format!("\"NK-{uid}\",\"Person\",\"{person}\",\"\",\"\",\"\"\n"));
        let head = "\"id\",\"schema\",\"name\",\"aliases\",\"birth_date\",\"countries\"\n";
        format!("{head}{}", rows.collect::<String>())
    };
    let first = [(1, "Zorblax Quibbleton"), (2, "Rajnonsense Fictionapur")];
    let half = [(1, "Zorblax Quibbleton"), (3, "Testina Fakename")];
    let others = [(1, "Testina Fakename"), (2, "Marlobin Fakename")];
    for (before, now, is_taken) in [
        (own("BANK-2026", &first), own("BANK-2027", &first), true),
        (own("BANK-2026", &first), own("BANK-2027", &half), true),
        (own("BANK-2026", &first), own("OTHER", &others), false),
        (own("BANK-2026", &first), own("BANK-2026", &others), true),
        (own("BANK-2026", &first), own("OFAC-SDN", &first), false),
        (open(&first), open(&half), true),
        (open(&first), open(&others), false),
        (open(&first), own("BANK-2026", &first), false),
    ] {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("list");
        std::fs::write(&file, &before).expect("write");
        let source = ListSource { locations: vec![Location::File(file.clone())] };
        let copies = Arc::new(Copies::default());
        let book =
            ListBook::load(vec![source], kept(&copies), &client(), NOW).await.expect("loads");
        std::fs::write(&file, &now).expect("write");
        let refreshed = book.refresh(&client(), NOW + Span::hours(1)).await;
        assert_eq!(refreshed.is_complete(), is_taken, "{before}{now}");
    }
}

#[tokio::test]
async fn the_same_list_from_a_server_with_an_older_file_is_taken() {
    let day = Arc::new(Mutex::new("Wed, 18 Nov 2026 08:00:00 GMT"));
    let shown = Arc::clone(&day);
    let url = serve(move |_| {
        let (list, day) = (
            "99001,\"QUIBBLETON, Zorblax\",\"individual\",\"SDGT\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \n",
            *shown.lock().expect("lock"),
        );
        format!(
            "HTTP/1.1 200 OK\r\nlast-modified: {day}\r\ncontent-length: {}\r\n\r\n{list}",
            list.len()
        )
    })
    .await;
    let source = at(format!("{url}/SDN.CSV"));
    let copies = Arc::new(Copies::default());
    let book = ListBook::load(vec![source], kept(&copies), &client(), NOW).await.expect("loads");
    *day.lock().expect("lock") = "Mon, 16 Nov 2026 08:00:00 GMT";
    let now = NOW + Span::hours(1);
    assert!(book.refresh(&client(), now).await.is_complete());
    assert_eq!(book.oldest_load(), Some(now));
}

/// A transport whose answers for one server come when the test allows them.
struct Hanging {
    client: Client,
    hangs: String,
    released: tokio::sync::Notify,
}

impl crate::fetch::Transport for Hanging {
    fn get<'a>(
        &'a self,
        url: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<crate::fetch::Served, crate::fetch::FetchError>> {
        Box::pin(async move {
            if url.starts_with(&self.hangs) {
                self.released.notified().await;
            }
            crate::fetch::Transport::get(&self.client, url, max_bytes).await
        })
    }
}

#[tokio::test]
async fn a_list_whose_server_hangs_delays_no_other() {
    let name = Arc::new(Mutex::new("Zorblax"));
    let listing = |name: Arc<Mutex<&'static str>>| {
        serve(move |_| {
            let list = SDN.replace("Zorblax", *name.lock().expect("lock"));
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{list}", list.len())
        })
    };
    let (quick, slow) =
        (listing(name.clone()).await, listing(Arc::new(Mutex::new("Marlobin"))).await);
    let sources = [&slow, &quick].map(|url| at(format!("{url}/sdn.xml"))).to_vec();
    let book = ListBook::load(sources, ListSettings::default(), &client(), NOW).await;
    let book = book.expect("loaded");
    *name.lock().expect("lock") = "Quorvex";
    let hanging = Hanging { client: client(), hangs: slow, released: tokio::sync::Notify::new() };
    let later = NOW + Span::hours(1);
    assert_eq!(verdict(&book, "Quorvex Quibbleton", later), Verdict::Clean);
    let is_in_force = async {
        let is_found = async || verdict(&book, "Quorvex Quibbleton", later) == Verdict::Hit;
        let is_read = wait::until_async(wait::AT_MOST, is_found).await;
        let read: Vec<_> = book.states().into_iter().map(|state| state.read_at).collect();
        hanging.released.notify_one();
        (is_read, read)
    };
    let (refreshed, (is_read, read)) = tokio::join!(book.refresh(&hanging, later), is_in_force);
    assert!(is_read);
    assert_eq!(read, [Some(NOW), Some(later)]);
    assert!(refreshed.is_complete() && refreshed.outcomes.len() == 2, "{refreshed:?}");
    assert_eq!(book.oldest_load(), Some(later));
}
