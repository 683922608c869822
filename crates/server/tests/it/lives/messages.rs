//! Messages to rails: a message with a lost answer is repeated only if the rail detects duplicates.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use domain::country::Country;
use domain::ports::Clock as _;
use domain::time::Span;
use service::clock::WallClock;
use testkit::bank::Standing;
use testkit::bank::iso::{Header, Original, status_document};
use testkit::wait::AT_MOST;
use tokio::net::TcpListener;

use crate::harness::{Bank, On, Order, Setup, on_both_stores};

on_both_stores! {
    the_corridors_purpose_stands_in_the_message
    the_purpose_of_an_order_replaces_the_corridors
    names_go_out_in_the_rails_characters
    the_corridors_source_of_funds_and_split_names_stand_in_the_message
    only_a_rail_that_detects_duplicates_gets_a_repeat
}

/// Pause between clock advances, so that the service keeps up.
const PACE: Duration = Duration::from_millis(100);

/// A bank that loses every payment message and knows nothing when asked.
#[derive(Clone, Default)]
struct Forgetful {
    told: Arc<Mutex<Vec<String>>>,
    asked: Arc<AtomicUsize>,
}

impl Forgetful {
    /// The bank, and the address of its rail.
    async fn listen() -> (Forgetful, String) {
        let bank = Forgetful::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new().route("/payments", post(lose)).route("/inquiries", post(deny));
        let router = router.with_state(bank.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (bank, url)
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().expect("not poisoned").clone()
    }

    /// The first payment message, once it arrived.
    async fn first_told(&self) -> String {
        let told = || async { !self.told().is_empty() };
        assert!(testkit::wait::until_async(AT_MOST, told).await);
        self.told().remove(0)
    }

    /// The number of inquiries.
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn lose(State(bank): State<Forgetful>, message: String) -> StatusCode {
    bank.told.lock().expect("not poisoned").push(message);
    StatusCode::SERVICE_UNAVAILABLE
}

async fn deny(State(bank): State<Forgetful>) -> String {
    bank.asked.fetch_add(1, Ordering::SeqCst);
    let header = Header { id: "REPLY".to_owned(), created_at: WallClock.now() };
    status_document::<Standing>(&header, Original { id: "ASKED", name: "pacs.028.001.03" }, &[])
}

/// The same with a rail to the bank at `url`.
fn connected(setup: Setup, rail: &str, url: &str) -> Setup {
    let keys = [("transport", "https"), ("url", url), ("debtor_name", "Demo Bank")];
    let keys = keys.into_iter().chain([("debtor_account", "1"), ("debtor_agent", "DEMOAEAD")]);
    keys.fold(setup, |setup, (key, value)| setup.set(&format!("rails.{rail}.{key}"), value))
}

async fn the_corridors_purpose_stands_in_the_message(on: On) {
    let (raast, url) = Forgetful::listen().await;
    let setup = connected(Setup::new(), "pak-raast", &url).set("corridors.PAK.purpose", "SALA");
    let bank = Bank::alone(on, setup).await;
    bank.paid(Country::Pak, |order| order).await;
    let message = raast.first_told().await;
    assert!(message.contains("<Purp><Cd>SALA</Cd></Purp>"), "{message}");
    bank.finish().await;
}

async fn the_purpose_of_an_order_replaces_the_corridors(on: On) {
    let (imps, url) = Forgetful::listen().await;
    let bank = Bank::alone(on, connected(Setup::new(), "ind-imps", &url)).await;
    let id = bank.paid(Country::Ind, |order| order.text("purpose_code", "SALA")).await;
    let message = imps.first_told().await;
    assert!(message.contains("<Purp><Cd>SALA</Cd></Purp>"), "{message}");
    let record = bank.record(Country::Ind, &id).await;
    assert_eq!(record["order"]["purpose_code"].text(), "SALA");
    bank.finish().await;
}

/// `corridors.md`: fields that the order lacks are "filled from corridor config".
async fn the_corridors_source_of_funds_and_split_names_stand_in_the_message(on: On) {
    let (raast, raast_url) = Forgetful::listen().await;
    let (napas, napas_url) = Forgetful::listen().await;
    let setup =
        connected(connected(Setup::new(), "pak-raast", &raast_url), "vnm-napas247", &napas_url)
            .set("corridors.PAK.source_of_funds", "Salary")
            .set("corridors.PAK.split_names", "apart")
            .set("corridors.VNM.split_names", "family_first");
    let bank = Bank::alone(on, setup).await;
    let named = |order: Order, beneficiary: &str| {
        order.text("sender_name", "Omar Farooq Siddiqui").text("beneficiary_name", beneficiary)
    };
    bank.paid(Country::Pak, |order| named(order, "Asha Khan")).await;
    bank.paid(Country::Vnm, |order| named(order, "Nguyễn Thị Đào")).await;
    let (pakistan, vietnam) = (raast.first_told().await, napas.first_told().await);
    for part in [
        "<RgltryRptg><Dtls><Tp>SOURCE OF FUNDS</Tp><Inf>Salary</Inf></Dtls></RgltryRptg>",
        "<UltmtDbtr><FrstNm>Omar Farooq</FrstNm><LastNm>Siddiqui</LastNm></UltmtDbtr>",
        "<Cdtr><FrstNm>Asha</FrstNm><LastNm>Khan</LastNm></Cdtr>",
    ] {
        assert!(pakistan.contains(part), "{part}: {pakistan}");
    }
    for part in ["<UltmtDbtr><Nm>Siddiqui, Omar Farooq</Nm>", "<Cdtr><Nm>Nguyen, Thi Dao</Nm>"] {
        assert!(vietnam.contains(part), "{part}: {vietnam}");
    }
    assert!(!vietnam.contains("RgltryRptg") && !vietnam.contains("SplmtryData"), "{vietnam}");
    bank.finish().await;
}

/// `corridors.md`: "text is stored as sent; towards a rail it is transliterated to that rail's
/// set".
async fn names_go_out_in_the_rails_characters(on: On) {
    let (raast, raast_url) = Forgetful::listen().await;
    let (npsb, npsb_url) = Forgetful::listen().await;
    let setup = connected(connected(Setup::new(), "pak-raast", &raast_url), "bgd-npsb", &npsb_url)
        .set("rails.bgd-npsb.character_set", "unicode");
    let bank = Bank::alone(on, setup).await;
    let name = "আবদুল করিম";
    for (country, rail, said) in [(Country::Pak, &raast, "abdul krim"), (Country::Bgd, &npsb, name)]
    {
        let id = bank.paid(country, |order| order.text("beneficiary_name", name)).await;
        let message = rail.first_told().await;
        assert!(message.contains(&format!("<Cdtr><Nm>{said}</Nm>")), "{message}");
        assert_eq!(
            bank.record(country, &id).await["order"]["beneficiary_name"].text(),
            name,
            "stored as sent"
        );
    }
    bank.finish().await;
}

/// "Not found" proves nothing: if a repeat might be paid twice, only further inquiries remain.
async fn only_a_rail_that_detects_duplicates_gets_a_repeat(on: On) {
    let (raast, raast_url) = Forgetful::listen().await;
    let (npsb, npsb_url) = Forgetful::listen().await;
    let setup = connected(connected(Setup::new(), "pak-raast", &raast_url), "bgd-npsb", &npsb_url)
        .set("rails.pak-raast.duplicate_detection", "true")
        .set("rails.bgd-npsb.duplicate_detection", "false")
        .set("rails.bgd-npsb.window_s", "60");
    let bank = Bank::alone(on, setup).await;
    let repeated = bank.paid(Country::Pak, |order| order).await;
    let inquired = bank.paid(Country::Bgd, |order| order).await;
    let come_so_far = || async {
        bank.advance(Span::secs(15)).await;
        let record = bank.record(Country::Bgd, &inquired).await;
        record["response"]["status"].text() == "unknown"
            && npsb.asked() >= 3
            && raast.told().len() >= 3
    };
    let there = testkit::wait::until_async_every(PACE, AT_MOST, come_so_far).await;
    assert!(there, "{} inquiries, {} messages", npsb.asked(), raast.told().len());
    assert_eq!(npsb.told().len(), 1, "never sent again");
    let told = raast.told();
    assert!(told[0].contains(&repeated.replace('-', "")), "{}", told[0]);
    assert!(told.iter().all(|message| *message == told[0]), "a repetition is identical: {told:?}");
    bank.finish().await;
}
