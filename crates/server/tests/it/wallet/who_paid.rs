//! Identifying the payer, from form to chain (`decisions.md`, "Incoming transaction"): an escrow
//! per submission of sender's details, and dust without effect.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositState};
use domain::payment_request::SUBMISSIONS_MAX;
use domain::wallet::WalletState;
use testkit::wait::AT_MOST;

use super::acts::{calls, id, sender, word};
use super::pay_page::{Link, text};
use crate::harness::{Answer, Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    each_sender_is_shown_an_address_of_their_own
    the_same_details_from_the_same_browser_lead_to_the_same_address
    a_link_with_too_many_submissions_is_full
    a_strangers_payment_under_a_listed_name_stops_no_other
    three_strangers_with_dust_block_nothing
    dust_is_released_with_what_comes_later
}

const FORM: &str = "first_name=Imran&last_name=Aslam&email=&phone_number=%2B971500000000&custodial_provider=Some-Exchange";

/// The payment address on a page.
fn payable(page: &str) -> &str {
    page.split("data-to=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an address")
}

async fn shown(link: &Link<'_>, submission: &str) -> String {
    let page = link.get(submission).send().await;
    assert_eq!(page.status, 200, "{page:?}");
    payable(&text(&page)).to_owned()
}

/// Waits until a wallet has deposits in exactly these states, oldest first.
async fn are(bank: &WalletBank, wallet: &str, states: &[DepositState]) -> Vec<Deposit> {
    let now = || async {
        let mut all = bank.stored_deposits(wallet).await;
        all.sort_by_key(|deposit| (deposit.seen_at, deposit.id));
        all
    };
    let all = || async { now().await.iter().map(|it| it.state).collect::<Vec<_>>() == states };
    assert!(testkit::wait::until_async(AT_MOST, all).await, "{:?}", now().await);
    now().await
}

async fn each_sender_is_shown_an_address_of_their_own(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.in_use("shown").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let (one, two) = (link.introduced_as(FORM).await, link.introduced_as(FORM).await);
    let (first, second) = (shown(&link, &one).await, shown(&link, &two).await);
    assert!(
        first != second
            && ![&first, &second].contains(&&request["escrow_address"].text().to_owned())
    );
    let visitor = text(&link.get("").send().await);
    assert!(!visitor.contains(&first) && !visitor.contains(&second));
    // Each payment belongs to its own submission, and both count for the request.
    bank.coins(StableCoin::Usdc, &first, 10_000_000).await;
    bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    assert_eq!(shown(&link, &two).await, second);
    bank.coins(StableCoin::Usdc, &second, 15_000_000).await;
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    let paid = bank.all_become(&wallet, 2, "COMPLETED").await;
    assert!(paid.iter().all(|it| it["sender"]["first_name"].text() == "Imran"), "{paid:?}");
    let told = bank.told(id(&request), 6).await;
    let received = told.iter().filter(|event| event["event_type"].text() == "payment.received");
    let to: Vec<_> = received.map(|event| event["data"]["to_address"].text().to_owned()).collect();
    assert_eq!(to, [first.clone(), second.clone()]);
    for address in [first, second] {
        assert_eq!(bank.holds(StableCoin::Usdc, &address).await, 0);
    }
    bank.books_are_right().await;
    bank.finish().await;
}

async fn submitted(link: &Link<'_>, bank: &WalletBank, form: &str, cookie: &str) -> Answer {
    let call =
        bank.bank.unsigned(reqwest::Method::POST, &link.path, Some(form.as_bytes().to_vec()));
    let call = call.header("content-type", "application/x-www-form-urlencoded");
    call.header("cookie", cookie).send().await
}

async fn the_same_details_from_the_same_browser_lead_to_the_same_address(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("again").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let first = link.submit("", FORM).await;
    let cookie = first.header("set-cookie").expect("a cookie").to_owned();
    for part in [&format!("; Path={}; ", link.path), "; HttpOnly", "; SameSite=Lax"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().expect("a pair");
    let led = |answer: &Answer| answer.header("location").expect("where to").to_owned();
    let again = submitted(&link, &bank, FORM, cookie).await;
    assert_eq!((again.status, led(&again)), (303, led(&first)));
    let changed = submitted(&link, &bank, &FORM.replace("Imran", "Omar"), cookie).await;
    let phone = link.submit("", FORM).await;
    assert!(led(&changed) != led(&first) && led(&phone) != led(&first));
    bank.finish().await;
}

async fn a_link_with_too_many_submissions_is_full(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.in_use("full").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let first = link.introduced_as(FORM).await;
    for _ in 1..SUBMISSIONS_MAX {
        bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    }
    let full = link.submit("?lang=en", FORM).await;
    assert_eq!(full.status, 409);
    assert!(text(&full).contains("This link has been used too many times"), "{full:?}");
    // A sender who already has an address can still pay to it.
    bank.coins(StableCoin::Usdc, &shown(&link, &first).await, 25_000_000).await;
    bank.newest(&wallet, "COMPLETED").await;
    bank.finish().await;
}

async fn a_strangers_payment_under_a_listed_name_stops_no_other(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("stranger").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let honest = bank.introduced(&request, sender("Imran", "Aslam")).await;
    let stranger = bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    bank.coins(StableCoin::Usdc, &stranger, 2_000_000).await;
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    let controller = bank.controller(&wallet).await;
    let is_held = |address: &str| {
        let address = Address::parse(address).expect("an address");
        let asked = calls("legalHold(address)", &[word(address)]);
        let answer =
            bank.devchain().ask(address.0.into(), controller.0.into(), asked).expect("an answer");
        answer.last() == Some(&1)
    };
    assert!(testkit::wait::until_async(AT_MOST, || std::future::ready(is_held(&stranger))).await);
    assert!(!is_held(&honest) && !is_held(request["escrow_address"].text()));
    bank.coins(StableCoin::Usdc, &honest, 25_000_000).await;
    let came = are(&bank, &wallet, &[DepositState::LegalHold, DepositState::Completed]).await;
    assert_eq!(came[1].sender.first_name.as_deref(), Some("Imran"));
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    assert_eq!(bank.holds(StableCoin::Usdc, &stranger).await, 2_000_000);
    bank.books_are_right().await;
}

async fn three_strangers_with_dust_block_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("dust").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let honest = bank.introduced(&request, sender("Imran", "Aslam")).await;
    for count in 1..=3 {
        let stranger = bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
        bank.coins(StableCoin::Usdc, &stranger, 1).await;
        are(&bank, &wallet, &vec![DepositState::Dust; count]).await;
    }
    // The last form before the honest payment contains a listed name as well.
    bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    bank.coins(StableCoin::Usdc, &honest, 25_000_000).await;
    let mut states = vec![DepositState::Dust; 3];
    states.push(DepositState::Completed);
    are(&bank, &wallet, &states).await;
    assert_eq!(bank.stored_wallet(&wallet).await.state, WalletState::Active);
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    let told = bank.told(id(&request), 6).await;
    let kinds: Vec<_> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "risk_check.complete").count(), 1, "{kinds:?}");
    assert_eq!(bank.alerts().await, ["listed_dust"]);
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    bank.books_are_right().await;
}

async fn dust_is_released_with_what_comes_later(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("later").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let address = bank.introduced(&request, sender("Imran", "Aslam")).await;
    bank.coins(StableCoin::Usdc, &address, 1).await;
    let dust = are(&bank, &wallet, &[DepositState::Dust]).await.remove(0);
    let listed: Json = bank.newest(&wallet, "RECEIVED_IN_ESCROW").await;
    assert_eq!((listed["amount"].text(), listed["type"].text()), ("0.000001", "RECEIVED"));
    bank.becomes(&wallet, &request, "ACTIVE", "NONE").await;
    bank.coins(StableCoin::Usdc, &address, 25_000_000).await;
    let both = are(&bank, &wallet, &[DepositState::Completed; 2]).await;
    assert_eq!((both[1].riders.as_slice(), both[0].id), (&[dust.id][..], dust.id));
    assert_eq!(both[0].release_tx, both[1].release_tx, "one transaction moves both");
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.000001");
    assert_eq!(bank.holds(StableCoin::Usdc, &address).await, 0);
    bank.books_are_right().await;
}
