//! The pages as HTML: what stands on each, and what may never stand on any.

use domain::deposit::DepositState;
use domain::payment_request::{Asked, PaymentRequest, RequestState};

use super::*;
use crate::wallet_v1::samples::{self, T0, deposit, request};

const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}=HYPERLINK";

fn frame(request: &PaymentRequest) -> Frame {
    Frame::of(request, "Demo Bank", true)
}

fn shown(request: &PaymentRequest, states: &[DepositState], known: bool) -> String {
    let arrived = states.iter().filter_map(|state| Incoming::of(&deposit(*state), Some((3, 12)))).collect();
    let view = View::of(request, arrived, true, known, T0);
    let target = match &view {
        View::Send { offers, .. } => {
            Target::of(offers, Some("USDT"), "Ethereum", request.escrow.to_string(), "/pay/t/s".to_owned())
        }
        _ => None,
    };
    page(&view, &frame(request), &Form::default(), target.as_ref()).expect("written")
}

/// Every page that there is.
fn every_page() -> Vec<String> {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let flexible = PaymentRequest { asked: Asked::Flexible, purpose: Some(HOSTILE.to_owned()), ..request() };
    let mut pages = vec![closed().expect("written")];
    for link in [&request(), &paid, &flexible] {
        for known in [false, true] {
            pages.push(shown(link, &[], known));
            pages.extend(DepositState::ALL.map(|state| shown(link, &[state], known)));
        }
    }
    let form = Form::read(format!("first_name={HOSTILE}&email={HOSTILE}").as_bytes()).expect_err("wrong");
    pages.push(page(&View::Details { arrived: vec![] }, &frame(&request()), &form, None).expect("written"));
    pages
}

#[test]
fn no_page_tells_the_wallet_its_customer_or_why_something_is_looked_at() {
    let wallet = samples::wallet();
    let address = wallet.address.to_string();
    for page in every_page() {
        let lower = page.to_lowercase();
        for canary in [
            address.to_lowercase().as_str(),
            &wallet.id.to_string(),
            &wallet.customer_id.to_lowercase(),
            &wallet.email,
            &wallet.phone,
            &request().id.to_string(),
            "bilal",
            "ahmed",
            "+971501234567",
        ] {
            assert!(!lower.contains(canary), "{canary} stands in {page}");
        }
        for word in ["risk", "sanction", "block", "complian", "suspicio", "legal", "fraud", "blacklist", "review"] {
            // The one class of ours that has such a word in it.
            assert!(!lower.contains(word), "{word} stands in {page}");
        }
    }
}

#[test]
fn the_address_stands_on_the_page_that_asks_to_send_and_on_no_other() {
    let escrow = request().escrow.to_string();
    assert!(shown(&request(), &[], true).contains(&format!("<bdi class=\"address\" dir=\"ltr\">{escrow}</bdi>")));
    for page in [
        closed().expect("written"),
        shown(&request(), &[], false),
        shown(&request(), &[DepositState::Seen], true),
        shown(&PaymentRequest { state: RequestState::Expired, ..request() }, &[DepositState::Completed], true),
    ] {
        assert!(!page.contains(&escrow), "{page}");
    }
}

#[test]
fn pages_load_nothing_run_nothing_and_style_nothing_by_themselves() {
    for page in every_page() {
        for forbidden in ["<script", " style=", "<style", " on", "src=", "http://", "https://", "javascript:", "<img"] {
            let found = page.match_indices(forbidden).any(|(at, _)| forbidden != " on" || is_handler(&page[at..]));
            assert!(!found, "{forbidden} stands in {page}");
        }
        assert!(page.len() < 60 * 1024 && page.contains("<html lang=\"en\" dir=\"ltr\">"));
        assert!(page.contains("<link rel=\"stylesheet\" href=\"/pay/style.css\">"));
        let opened = |tag: &str| page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        for tag in ["bdi", "p", "li", "ol", "ul", "section", "form", "header", "main", "body", "dd", "dl", "svg", "a"] {
            assert_eq!(opened(tag), page.matches(&format!("</{tag}>")).count(), "{tag} in {page}");
        }
    }
}

/// Whether ` on…` begins an attribute like ` onclick=`.
fn is_handler(text: &str) -> bool {
    let name: String = text.trim_start().chars().take_while(char::is_ascii_lowercase).collect();
    text.trim_start()[name.len()..].starts_with('=')
}

#[test]
fn what_people_write_never_becomes_markup() {
    let link = PaymentRequest { purpose: Some(HOSTILE.to_owned()), ..request() };
    let frame = Frame { payee: HOSTILE.to_owned(), ..Frame::of(&link, "", false) };
    let form =
        Form { first_name: super::super::form::Field { value: HOSTILE.to_owned(), fault: None }, ..Form::default() };
    let page = page(&View::Details { arrived: vec![] }, &frame, &form, None).expect("written");
    assert_eq!(page.matches("alert(1)").count(), 3);
    assert!(!page.contains("<script") && !page.contains("value=\"<"), "{page}");
    let escaped = page.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a value");
    assert!(escaped.ends_with("=HYPERLINK"), "{escaped}");
}

#[test]
fn a_faulty_form_keeps_what_was_typed_and_says_what_is_wrong_beside_each_field() {
    let form = Form::read(b"first_name=Asha&email=asha&phone_number=&custodial_provider=Binance").expect_err("wrong");
    let page = page(&View::Details { arrived: vec![] }, &frame(&request()), &form, None).expect("written");
    assert!(page.contains("value=\"Asha\"") && page.contains("value=\"asha\"") && page.contains("role=\"alert\""));
    for (field, wrong) in [
        ("first_name", false),
        ("last_name", true),
        ("email", true),
        ("phone_number", true),
        ("custodial_provider", false),
    ] {
        let row = page.split(&format!("<label for=\"{field}\">")).nth(1).and_then(|rest| rest.split("</p>").next());
        let row = row.expect("a row");
        assert_eq!(row.contains("aria-invalid=\"true\""), wrong, "{row}");
        assert_eq!(row.contains(&format!("id=\"{field}-fault\"")), wrong, "{row}");
    }
}

#[test]
fn the_sending_page_names_token_network_amount_expiry_and_the_warning() {
    let page = shown(&request(), &[], true);
    for text in [
        "<bdi>25.50 USDC</bdi>",
        "<dt>Network</dt><dd><bdi>Ethereum</bdi></dd>",
        "Send only <bdi>USDC</bdi>, and only on the network <bdi>Ethereum</bdi>.",
        "2026-11-22 06:57 UTC",
        "Sandbox: no real money",
        "<meta http-equiv=\"refresh\" content=\"10\">",
        "<li aria-current=\"step\">Send</li>",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let flexible = shown(&PaymentRequest { asked: Asked::Flexible, ..request() }, &[], true);
    assert!(flexible.contains("any amount of <bdi>USDT</bdi>"), "{flexible}");
    assert!(flexible.contains("<a href=\"/pay/t/s?coin=USDC\"><bdi>USDC</bdi></a>"), "{flexible}");
}

#[test]
fn a_status_says_how_far_the_money_is_and_looks_again_until_it_is_over() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    for (state, words, refreshed) in [
        (DepositState::Seen, "On its way: confirmation 3 of 12.", true),
        (DepositState::Screening, "Received. We are checking it now.", true),
        (DepositState::InReview, "longer than usual", true),
        (DepositState::Completed, "it has reached the recipient", false),
        (DepositState::Rejected, "could not be completed", false),
        (DepositState::LegalHold, "could not be completed", false),
        (DepositState::Refunded, "has been sent back", false),
    ] {
        let page = shown(&paid, &[state], false);
        assert!(page.contains(words) && page.contains("<bdi>25.50 USDC</bdi>"), "{state:?}: {page}");
        assert_eq!(page.contains("http-equiv=\"refresh\""), refreshed, "{state:?}");
    }
    assert_eq!(shown(&paid, &[DepositState::Rejected], false), shown(&paid, &[DepositState::LegalHold], false));
    assert!(!shown(&request(), &[], false).contains("http-equiv"), "a form that is filled in must not be reloaded");
}
